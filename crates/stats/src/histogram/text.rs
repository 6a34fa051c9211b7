//! Histograms as text: base64 of `HdrHistogram`'s V2 encoding, which its tools in other languages read too.
//!
//! The text may come from a damaged store or from another machine: the stated length is compared with what is there
//! before anything is allocated from it, and the number of digits is fixed, so memory is bounded by 0.5 MiB.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2Serializer};
use serde::{Deserialize, Deserializer as SerdeDeserializer, Serialize, Serializer as SerdeSerializer};

use super::{Histogram, HistogramError, SIGNIFICANT_DIGITS, Unit};

impl<U: Unit> Histogram<U> {
    /// The counts within the bound, as base64 of `HdrHistogram`'s V2 encoding (starts with `HISTE`). Minimum, maximum
    /// and what lies beyond are not in it; the serde form holds all.
    pub fn to_base64(&self) -> String {
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(&self.counts, &mut bytes).expect("writing to memory; counts of u64 always fit");
        BASE64_STANDARD.encode(bytes)
    }
}

/// The serialised form, as in `--json` and in the store.
#[derive(Serialize, Deserialize)]
struct Raw {
    unit: String,
    count: u64,
    beyond: u64,
    min: Option<u64>,
    max: Option<u64>,
    hdr_v2_base64: String,
}

impl<U: Unit> Serialize for Histogram<U> {
    fn serialize<S: SerdeSerializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Raw {
            unit: U::NAME.to_owned(),
            count: self.len(),
            beyond: self.beyond,
            min: self.min(),
            max: self.max(),
            hdr_v2_base64: self.to_base64(),
        }
        .serialize(serializer)
    }
}

impl<'de, U: Unit> Deserialize<'de> for Histogram<U> {
    fn deserialize<D: SerdeDeserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(Raw::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl<U: Unit> TryFrom<Raw> for Histogram<U> {
    type Error = HistogramError;

    fn try_from(raw: Raw) -> Result<Self, HistogramError> {
        if raw.unit != U::NAME {
            return Err(HistogramError::Unit { found: raw.unit, wanted: U::NAME });
        }
        let counts = decode(&raw.hdr_v2_base64)?;
        let mut histogram = Self::with_bound(counts.high());
        histogram.beyond = raw.beyond;
        histogram.counts = counts;
        if histogram.counts.len().checked_add(raw.beyond) != Some(raw.count) {
            return Err(HistogramError::Text { what: "its counts do not add up to `count`" });
        }
        match (raw.min, raw.max) {
            (Some(min), Some(max)) if raw.count > 0 && min <= max => (histogram.min, histogram.max) = (min, max),
            (None, None) if raw.count == 0 => {}
            _ => return Err(HistogramError::Text { what: "`min` and `max` do not go with its counts" }),
        }
        Ok(histogram)
    }
}

/// Header of the V2 encoding: cookie, payload length, offset, digits (u32 each), low, high, ratio (8 bytes each).
const HEADER_BYTES: usize = 40;

fn decode(text: &str) -> Result<hdrhistogram::Histogram<u64>, HistogramError> {
    let wrong = |what| HistogramError::Text { what };
    let bytes = BASE64_STANDARD.decode(text).map_err(|_| wrong("not base64"))?;
    let word = |at: usize| bytes.get(at..at + 4)?.first_chunk().map(|b| u32::from_be_bytes(*b));
    let payload_bytes = bytes.len().checked_sub(HEADER_BYTES).ok_or(wrong("shorter than its header"))?;
    if word(0) != Some(0x1c84_9313) {
        return Err(wrong("not HdrHistogram's V2 encoding"));
    }
    if word(4).map(|stated| stated as usize) != Some(payload_bytes) {
        return Err(wrong("its stated length is not its length"));
    }
    if word(12) != Some(u32::from(SIGNIFICANT_DIGITS)) {
        return Err(wrong("not three significant digits"));
    }
    let counts: hdrhistogram::Histogram<u64> =
        Deserializer::new().deserialize(&mut bytes.as_slice()).map_err(|_| wrong("damaged inside"))?;
    if counts.low() == 1 { Ok(counts) } else { Err(wrong("does not count from one")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ns, Ticks};

    fn sample() -> Histogram<Ns> {
        let mut h = Histogram::with_bound(1_000_000);
        (1..500_u64).for_each(|i| h.record_n_saturating(i * 131, i));
        h.record_saturating(2_000_000);
        h
    }

    #[test]
    fn text_and_back_is_the_same_histogram() {
        let json = serde_json::to_string(&sample()).expect("plain");
        assert!(json.contains(r#""unit":"ns""#) && json.contains(r#""hdr_v2_base64":"HISTE"#), "{json}");
        let back: Histogram<Ns> = serde_json::from_str(&json).expect("same");
        assert_eq!(back, sample());
        let empty = Histogram::<Ticks>::with_bound(100);
        let json = serde_json::to_string(&empty).expect("plain");
        assert_eq!(serde_json::from_str::<Histogram<Ticks>>(&json).expect("same"), empty);
    }

    #[test]
    fn ticks_are_not_read_as_nanoseconds() {
        let json = serde_json::to_string(&sample()).expect("plain");
        let error = serde_json::from_str::<Histogram<Ticks>>(&json).expect_err("other unit").to_string();
        assert!(error.starts_with("the histogram counts ns; expected: ticks"), "{error}");
    }

    #[test]
    fn every_damaged_byte_is_refused_or_read_without_panic() {
        let good = serde_json::to_value(sample()).expect("plain");
        let text = good["hdr_v2_base64"].as_str().expect("text").to_owned();
        let read = |text: String| {
            let mut json = good.clone();
            json["hdr_v2_base64"] = text.into();
            serde_json::from_value::<Histogram<Ns>>(json)
        };
        for cut in 0..text.len() {
            assert!(read(text[..cut].to_owned()).is_err(), "cut at {cut}");
        }
        let mut bytes = BASE64_STANDARD.decode(&text).expect("ours");
        for at in 0..bytes.len() {
            for flip in [0x01, 0x80, 0xff] {
                bytes[at] ^= flip;
                drop(read(BASE64_STANDARD.encode(&bytes))); // an answer or an error, in bounded memory
                bytes[at] ^= flip;
            }
        }
        bytes[4..8].copy_from_slice(&u32::MAX.to_be_bytes());
        assert!(read(BASE64_STANDARD.encode(&bytes)).is_err(), "4 GiB stated");
    }
}
