//! Options of a path as a person writes them.

use takt_base::{parse_bytes, parse_duration, parse_number};

use super::limit::SHARES;
use super::spec::{Addressing, PathSpec, PathSpecError};

pub const OPTIONS: [&str; 13] = [
    "rate",
    "buffer",
    "mtu",
    "addressing",
    "cpu",
    "seed",
    "delay",
    "jitter",
    "hold",
    "loss",
    "reorder",
    "duplicate",
    "impaired-rate",
];

impl PathSpec {
    /// Sets an option from text: `rate` 100M or none, `buffer` 64KiB, `mtu` 9000, `addressing` static, outside or dhcp,
    /// `cpu` 0.25 or calibrated, `seed` 7, `delay` and `jitter` and `hold` 5ms, `loss` and `reorder` and `duplicate` 0.01 or 1 %,
    /// `impaired-rate` 10M.
    pub fn set(&mut self, option: &str, value: &str) -> Result<(), PathSpecError> {
        let Some(option) = OPTIONS.into_iter().find(|known| *known == option) else {
            return Err(PathSpecError::Option { option: option.into(), nearest: takt_base::nearest(option, OPTIONS) });
        };
        let wrong = |expected| PathSpecError::Value { option, expected, value: value.into() };
        let value = value.trim();
        match option {
            "rate" => self.rate_bps = rate(value).ok_or_else(|| wrong(RATE))?,
            "impaired-rate" => self.impaired_rate_bps = rate(value).ok_or_else(|| wrong(RATE))?,
            "buffer" => self.buffer_bytes = bytes(value, 2048, 64 << 20).ok_or_else(|| wrong("2KiB to 64MiB"))?,
            "mtu" => self.mtu_bytes = bytes(value, 576, 9000).ok_or_else(|| wrong("576 to 9000 bytes"))?,
            "addressing" => self.addressing = addressing(value).ok_or_else(|| wrong("static, outside or dhcp"))?,
            "cpu" if value == "calibrated" => self.cpu_share = None,
            "cpu" => {
                let share = value.parse().ok().filter(|share| SHARES.contains(share));
                self.cpu_share = Some(share.ok_or_else(|| wrong("0.01 to 0.9 of a CPU, or calibrated"))?);
            }
            "seed" => self.seed = value.parse().map_err(|_| wrong("a whole number"))?,
            "delay" => self.impairments.delay_ns = span(value).ok_or_else(|| wrong(SPAN))?,
            "jitter" => self.impairments.jitter_ns = span(value).ok_or_else(|| wrong(SPAN))?,
            "hold" => self.impairments.hold_ns = span(value).ok_or_else(|| wrong(SPAN))?,
            "loss" => self.impairments.loss = share(value).ok_or_else(|| wrong(SHARE))?,
            "duplicate" => self.impairments.duplicate = share(value).ok_or_else(|| wrong(SHARE))?,
            _ => {
                self.impairments.reorder = share(value).ok_or_else(|| wrong(SHARE))?;
                if self.impairments.hold_ns == 0 {
                    self.impairments.hold_ns = HOLD_NS;
                }
            }
        }
        Ok(())
    }
}

const RATE: &str = "64k to 100G bits a second, or none";
const SPAN: &str = "a time up to 10s";
const SHARE: &str = "a share, 0 to 1 or 0 % to 100 %";
/// How long a frame is held back by default.
const HOLD_NS: u64 = 1_000_000;
const LONGEST_NS: u64 = 10_000_000_000;

fn rate(text: &str) -> Option<Option<u64>> {
    if text == "none" {
        return Some(None);
    }
    let bits = parse_number(text).ok()?;
    (64e3..=100e9).contains(&bits).then_some(Some(bits.round() as u64))
}

fn bytes(text: &str, least: u64, most: u64) -> Option<u32> {
    let bytes = parse_bytes(text).ok()?;
    (least..=most).contains(&bytes).then(|| u32::try_from(bytes).ok()).flatten()
}

fn addressing(text: &str) -> Option<Addressing> {
    match text {
        "static" => Some(Addressing::Static),
        "outside" => Some(Addressing::Outside),
        "dhcp" => Some(Addressing::Dhcp),
        _ => None,
    }
}

fn span(text: &str) -> Option<u64> {
    if text == "0" {
        return Some(0);
    }
    let span = parse_duration(text).ok()?;
    u64::try_from(span.as_nanos()).ok().filter(|&ns| ns <= LONGEST_NS)
}

fn share(text: &str) -> Option<f64> {
    let share = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok()? / 100.0,
        None => text.parse().ok()?,
    };
    (0.0..=1.0).contains(&share).then_some(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_takes_what_people_write_and_refuses_the_rest() {
        let good = ["100M", "64KiB", "9000", "dhcp", "0.5", "7", "5ms", "1 ms", "2ms", "1 %", "0.02", "0.5%", "10M"];
        for (option, value) in OPTIONS.into_iter().zip(good) {
            let mut spec = PathSpec::default();
            spec.set(option, value).unwrap_or_else(|error| panic!("{error}"));
            assert_ne!(spec, PathSpec::default(), "{option}");
            let error = spec.set(option, "soon").unwrap_err();
            assert!(matches!(error, PathSpecError::Value { .. }), "{option}: {error}");
        }
        let mut spec = PathSpec::default();
        spec.set("loss", "1 %").unwrap();
        assert_eq!(spec.impairments.loss, 0.01);
        spec.set("rate", "none").unwrap();
        assert_eq!(spec.rate_bps, None);
        let error = spec.set("los", "1").unwrap_err();
        assert!(matches!(error, PathSpecError::Option { nearest: Some("loss"), .. }), "{error}");
        for (option, value) in [("loss", "1.5"), ("mtu", "100"), ("cpu", "0"), ("delay", "11s"), ("rate", "-1")] {
            assert!(spec.set(option, value).is_err(), "{option} {value}");
        }
    }
}
