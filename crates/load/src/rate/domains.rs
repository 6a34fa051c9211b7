//! Values of the settings of a stream.

use serde_json::{Value, json};
use takt_base::{parse_bytes, parse_number};
use takt_radio::Model;

use crate::setting::{Domain, word_or};

/// A setting of the radio that stays as its driver makes it.
pub(super) const USUAL: &str = "usual";

/// Whether two numbers differ by no more than this share.
pub(super) fn is_within(a: f64, b: f64, share: f64) -> bool {
    (a / b - 1.0).abs() <= share
}

/// Rates of the model around one.
pub(super) fn rates_near(model: Model, rate_sps: f64) -> String {
    let mut rates: Vec<f64> = model.rates_around(rate_sps).into_iter().flatten().collect();
    rates.dedup();
    let words = rates.iter().map(|rate| {
        let rate_msps = (rate / 1e3).round() / 1e3;
        let clock_hz = f64::from(model.clock_making(*rate).hz());
        format!("{rate_msps}e6 ({} MHz / {})", clock_hz / 1e6, (clock_hz / rate).round())
    });
    format!("of an {model} {}", words.collect::<Vec<_>>().join(", "))
}

/// A sample rate of some radio, to within a thousandth: `25e6`, `33.33e6`, `"25M"`.
#[derive(Debug)]
pub(super) struct SampleRate;

impl Domain for SampleRate {
    fn shown(&self) -> String {
        "a rate the radio has".into()
    }

    /// A rate is refused or exact: what lies within a thousandth of one that the radio has becomes that one.
    fn accept(&self, value: &Value) -> Result<Value, String> {
        let number = value.as_f64().or_else(|| parse_number(value.as_str()?).ok());
        let wanted = number.filter(|n| *n > 0.0).ok_or("give samples per second, such as 25e6 or \"25M\"")?;
        // An N200's first: abbreviated rates of its 100 MHz are what files have, and an X310 makes these as well.
        let near = |model: Model| model.nearest_rate(wanted).filter(|rate| is_within(*rate, wanted, 1e-3));
        match Model::ALL.into_iter().find_map(near) {
            Some(rate_sps) => Ok(json!(rate_sps)),
            None => {
                Err(format!("give the nearest rate: {}", Model::ALL.map(|model| rates_near(model, wanted)).join("; ")))
            }
        }
    }
}

/// `"usual"`, or a number of this.
#[derive(Debug)]
pub(super) struct OrNumber(pub(super) &'static str);

impl Domain for OrNumber {
    fn shown(&self) -> String {
        format!("{USUAL} | {}", self.0)
    }

    fn accept(&self, value: &Value) -> Result<Value, String> {
        let number = |value: &Value| value.as_f64().or_else(|| parse_number(value.as_str()?).ok());
        let read = |value: &Value| number(value).filter(|number| number.is_finite()).map(|number| json!(number));
        word_or(value, USUAL, read, format!("give \"{USUAL}\", or {}", self.0))
    }
}

/// `"usual"`, or the name of an antenna.
#[derive(Debug)]
pub(super) struct Antenna;

impl Domain for Antenna {
    fn shown(&self) -> String {
        format!("{USUAL} | an antenna of the radio, such as RX2")
    }

    fn accept(&self, value: &Value) -> Result<Value, String> {
        let is_name = |name: &&str| (1..=16).contains(&name.len()) && name.chars().all(|c| c.is_ascii_graphic());
        let read = |value: &Value| value.as_str().filter(is_name).map(|name| json!(name));
        word_or(value, USUAL, read, format!("give \"{USUAL}\", or an antenna of the radio, such as \"RX2\""))
    }
}

/// `"usual"`, or a number of bytes.
#[derive(Debug)]
pub(super) struct FrameBytes;

impl Domain for FrameBytes {
    fn shown(&self) -> String {
        "usual | 576 to 8000".into()
    }

    fn accept(&self, value: &Value) -> Result<Value, String> {
        let bytes =
            |value: &Value| value.as_u64().filter(|bytes| (576..=8000).contains(bytes)).map(|bytes| json!(bytes));
        word_or(value, "usual", bytes, "give \"usual\", or 576 to 8000 bytes")
    }
}

/// `"usual"`, or bytes: `"1MiB"`.
#[derive(Debug)]
pub(super) struct Buffer;

/// The least holds some of the largest datagrams; the most is what a socket can have.
const BUFFER_BYTES: std::ops::RangeInclusive<u64> = 16 << 10..=1 << 30;

impl Domain for Buffer {
    fn shown(&self) -> String {
        "usual | bytes, such as 1MiB".into()
    }

    fn accept(&self, value: &Value) -> Result<Value, String> {
        let bytes = |value: &Value| parse_bytes(value.as_str()?).ok().filter(|bytes| BUFFER_BYTES.contains(bytes));
        let read = |value: &Value| bytes(value).map(|_| value.clone());
        word_or(value, "usual", read, "give \"usual\", or 16KiB to 1GiB, such as \"1MiB\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate::workload::RATE_SPS;

    #[test]
    fn a_rate_is_exact_or_refused_with_its_neighbours() {
        let accept = |value: Value| RATE_SPS.accept(&value);
        assert_eq!(accept(json!(25e6)), Ok(json!(25e6)));
        assert_eq!(accept(json!("25M")), Ok(json!(25e6)));
        assert_eq!(accept(json!(33.33e6)), Ok(json!(1e8 / 3.0)));
        let (complaint, remedy) = accept(json!(22e6)).unwrap_err();
        assert_eq!(complaint, "rate_sps can't be 22000000.0");
        let n200 = "give the nearest rate: of an N200 20e6 (100 MHz / 5), 25e6 (100 MHz / 4)";
        assert_eq!(remedy, format!("{n200}; of an X310 20.48e6 (184.32 MHz / 9), 22.222e6 (200 MHz / 9)"));
        assert!(accept(json!(1e9)).unwrap_err().1.ends_with("of an X310 200e6 (200 MHz / 1)"));
        assert!(accept(json!(-1)).is_err() && accept(json!(f64::MAX)).is_err());
        assert_eq!(accept(json!(100e6)), Ok(json!(100e6)), "of an X310");
        assert_eq!(accept(json!(1.562e6)), Ok(json!(1.5625e6)), "and not 184.32 MHz / 118");
        for lte in [1.92e6, 3.84e6, 5.76e6, 7.68e6, 11.52e6, 15.36e6, 23.04e6, 30.72e6, 61.44e6] {
            assert_eq!(accept(json!(lte)), Ok(json!(lte)));
        }
    }

    #[test]
    fn settings_of_a_front_end_are_numbers_and_names() {
        let hz = OrNumber("Hz");
        assert_eq!((hz.accept(&json!("900M")), hz.accept(&json!(20))), (Ok(json!(900e6)), Ok(json!(20.0))));
        assert_eq!(hz.accept(&json!("fast")), Err("give \"usual\", or Hz".to_owned()));
        assert_eq!(Antenna.accept(&json!("TX/RX")), Ok(json!("TX/RX")));
        assert!(Antenna.accept(&json!("")).is_err() && Antenna.accept(&json!("a\u{1b}")).is_err());
        assert!(hz.accept(&json!(USUAL)).is_ok() && Antenna.accept(&json!(USUAL)).is_ok());
    }

    #[test]
    fn a_buffer_has_a_size_that_a_socket_can_have() {
        assert_eq!(Buffer.accept(&json!("1MiB")), Ok(json!("1MiB")));
        assert!(Buffer.accept(&json!("1KiB")).is_err() && Buffer.accept(&json!(65_536)).is_err());
    }
}
