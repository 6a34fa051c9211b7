//! What a setting can be set to, and what is refused.

use std::fmt;

use serde_json::{Value, json};
use takt_base::{nearest, parse_bytes, parse_duration, parse_number};
use takt_load::Every;
use takt_load::waveform::library;
use takt_testbed::disturbance::{Load, Spec};
use takt_testbed::environment::Parameters;
use takt_testbed::net::PathSpec;
use takt_wire::n200::rate::Factor;

use super::Setting;

/// What a setting can be set to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Takes {
    /// One of these words.
    Word(&'static [&'static str]),
    /// A whole number in this range.
    Whole(i64, i64),
    /// A time such as `"2s"`, longer than 0 and at most an hour.
    Span,
    /// As `Span`, or `"0s"`.
    SpanOrNone,
    /// A sample rate of an N200, to within a thousandth: `25e6`, `33.33e6`, `"25M"`.
    Rate,
    /// `"flat-out"`, datagrams a second (`20_000`, `"20k"`), or the rate of an Ethernet (`"100Mb/s"`).
    Offered,
    /// `"as-written"`, items a slot, or items a second such as `"5M/s"`.
    Packet,
    /// `"by-duration"`, or a number of slots.
    Slots,
    /// A waveform that comes with the program, or a TOML file.
    Waveform,
    /// `"all"`, or CPUs' worth of time.
    Cpus,
    /// `"all"`, or bytes: `"2GiB"`.
    Memory,
    /// `"none"`, or parameters of a guest's kernel.
    Parameters,
    /// `"usual"`, or what that option of a path takes.
    PathOption(&'static str),
    /// `"none"`, or kinds of load with their counts, such as `"busy:4"`.
    Disturbance,
    /// `"none"`, or per cent from 1 to this.
    Percent(u32),
    /// `"none"`, or a span of every period such as `"4ms every 5ms"`.
    Every,
    /// `"usual"`, or bytes: `"1MiB"`.
    Buffer,
}

impl fmt::Display for Takes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Takes::Word(words) => f.write_str(&words.join(" | ")),
            Takes::Whole(low, high) => write!(f, "{low} to {high}"),
            Takes::Span => f.write_str("a time up to 1h"),
            Takes::SpanOrNone => f.write_str("a time up to 1h, or 0s"),
            Takes::Rate => f.write_str("a rate the radio has"),
            Takes::Offered => f.write_str("flat-out | datagrams a second | the rate of an Ethernet, such as 100Mb/s"),
            Takes::Packet => f.write_str("as-written | items a slot | items a second, such as 5M/s"),
            Takes::Slots => f.write_str("by-duration | a number"),
            Takes::Waveform => write!(f, "{} | a TOML file", library::NAMES.join(" | ")),
            Takes::Cpus => f.write_str("all | a number of CPUs"),
            Takes::Memory => f.write_str("all | bytes, such as 2GiB"),
            Takes::Parameters => write!(f, "none | of these, with spaces between: {}", Parameters::known(" ")),
            Takes::PathOption(option) => write!(f, "usual | {option} of a path"),
            Takes::Disturbance => write!(f, "none | KIND:N, KIND:Nx (N a core), joined by +; {}", Load::words(" | ")),
            Takes::Percent(most) => write!(f, "none | per cent, 1 to {most}"),
            Takes::Every => f.write_str("none | a span of every period, such as 4ms every 5ms"),
            Takes::Buffer => f.write_str("usual | bytes, such as 1MiB"),
        }
    }
}

impl Setting {
    /// What it is if nobody sets it, as it goes into the record.
    #[must_use]
    pub fn default_value(&self) -> Option<Value> {
        let text = self.default?;
        Some(match (self.takes, text.parse::<i64>()) {
            (Takes::Whole(..), Ok(number)) => json!(number),
            _ => json!(text),
        })
    }

    /// The value as it goes into the record, or what would have been right.
    ///
    /// # Errors
    /// What is wrong with it and what could stand there, as `(complaint, remedy)`.
    pub fn accept(&self, value: &Value) -> Result<Value, (String, String)> {
        let refuse = |remedy: String| (format!("{} can't be {value}", self.name), remedy);
        match self.takes {
            Takes::Word(words) => match value.as_str() {
                Some(word) if words.contains(&word) => Ok(json!(word)),
                other => Err(refuse(word_remedy(other.unwrap_or_default(), words))),
            },
            Takes::Whole(low, high) => match value.as_i64() {
                Some(n) if (low..=high).contains(&n) => Ok(json!(n)),
                _ => Err(refuse(format!("a whole number from {low} to {high}"))),
            },
            Takes::Span | Takes::SpanOrNone => {
                let span = value.as_str().and_then(|text| parse_duration(text).ok());
                let shortest = if self.takes == Takes::Span { 1 } else { 0 };
                match span.filter(|span| (shortest..=HOUR_NS).contains(&span.as_nanos())) {
                    Some(_) => Ok(value.clone()),
                    None => Err(refuse("a time up to an hour, such as \"2s\" or \"500ms\"".into())),
                }
            }
            Takes::Rate => rate(value).map_err(refuse),
            Takes::Offered => match number(value).filter(|n| (1.0..=1e9).contains(n)) {
                Some(per_s) => Ok(json!(per_s)),
                None if value == "flat-out" || value.as_str().and_then(ethernet_bps).is_some() => Ok(value.clone()),
                None => Err(refuse(
                    "\"flat-out\", datagrams a second, or the rate of an Ethernet such as \"100Mb/s\"".into(),
                )),
            },
            Takes::Packet => packet(value).ok_or_else(|| {
                refuse("\"as-written\", items a slot from 1 to 16777216, or items a second such as \"5M/s\"".into())
            }),
            Takes::Slots => match value.as_u64().filter(|n| (1..=1_000_000_000_000).contains(n)) {
                Some(slots) => Ok(json!(slots)),
                None if value == "by-duration" => Ok(value.clone()),
                None => Err(refuse("\"by-duration\", or a number of slots".into())),
            },
            Takes::Cpus => match value.as_f64() {
                Some(cpus) if (0.01..=1024.0).contains(&cpus) => Ok(json!(cpus)),
                None if value == "all" => Ok(value.clone()),
                _ => Err(refuse("\"all\", or a number of CPUs from 0.01 to 1024".into())),
            },
            Takes::Memory => match value.as_str().map(parse_bytes) {
                Some(Ok(bytes)) if bytes >= 64 << 20 => Ok(value.clone()),
                _ if value == "all" => Ok(value.clone()),
                _ => Err(refuse("\"all\", or 64MiB and more, such as \"2GiB\"".into())),
            },
            Takes::Parameters => match value.as_str().map(str::parse::<Parameters>) {
                // In their own order, so that the same is one level.
                Some(Ok(parameters)) => Ok(json!(parameters.to_string())),
                Some(Err(error)) => Err(refuse(error.remedy)),
                None => Err(refuse("\"none\", or words such as \"highres=off\"".into())),
            },
            Takes::PathOption(option) => {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                match PathSpec::default().set(option, &text) {
                    Ok(()) => Ok(value.clone()),
                    Err(_) if value == "usual" => Ok(value.clone()),
                    Err(error) => Err(refuse(format!("\"usual\"; {error}"))),
                }
            }
            Takes::Disturbance => match value.as_str().map(str::parse::<Spec>) {
                Some(Ok(_)) => Ok(value.clone()),
                Some(Err(error)) => Err(refuse(error.to_string())),
                None => Err(refuse("\"none\", or kinds with counts, such as \"busy:4\"".into())),
            },
            Takes::Percent(most) => match value.as_f64() {
                Some(percent) if (1.0..=f64::from(most)).contains(&percent) => Ok(value.clone()),
                None if value == "none" => Ok(value.clone()),
                _ => Err(refuse(format!("\"none\", or per cent from 1 to {most}"))),
            },
            Takes::Every => match value.as_str().map(str::parse::<Every>) {
                Some(Ok(_)) => Ok(value.clone()),
                _ if value == "none" => Ok(value.clone()),
                Some(Err(error)) => Err(refuse(format!("\"none\"; {error}"))),
                None => Err(refuse("\"none\", or a span of every period such as \"4ms every 5ms\"".into())),
            },
            Takes::Buffer => match value.as_str().map(parse_bytes) {
                Some(Ok(bytes)) if (BUFFER_BYTES.contains(&bytes)) => Ok(value.clone()),
                _ if value == "usual" => Ok(value.clone()),
                _ => Err(refuse("\"usual\", or 16KiB to 1GiB, such as \"1MiB\"".into())),
            },
            Takes::Waveform => match value.as_str() {
                Some(name) if library::NAMES.contains(&name) || is_toml(name) => Ok(value.clone()),
                other => {
                    let near = nearest(other.unwrap_or_default(), library::NAMES.iter().copied());
                    let known = library::NAMES.join(", ");
                    Err(refuse(match near {
                        Some(near) => format!("did you mean \"{near}\"?"),
                        None => format!("a file that ends in .toml, or one of: {known}"),
                    }))
                }
            },
        }
    }
}

fn word_remedy(word: &str, words: &[&'static str]) -> String {
    match nearest(word, words.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("one of: {}", words.join(", ")),
    }
}

/// Items a slot as a number, items a second as a text that ends in `/s`.
fn packet(value: &Value) -> Option<Value> {
    if let Some(items) = value.as_u64() {
        return (1..=16_777_216).contains(&items).then(|| json!(items));
    }
    let text = value.as_str()?;
    (text == "as-written" || per_second(text).is_some()).then(|| value.clone())
}

/// `5M/s` as a number.
pub(crate) fn per_second(text: &str) -> Option<f64> {
    parse_number(text.strip_suffix("/s")?).ok().filter(|per_s| (1.0..=1e12).contains(per_s))
}

/// `100Mb/s` as bits a second.
pub(crate) fn ethernet_bps(text: &str) -> Option<f64> {
    parse_number(text.strip_suffix("b/s")?).ok().filter(|bps| (1e3..=1e12).contains(bps))
}

fn is_toml(name: &str) -> bool {
    std::path::Path::new(name).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"))
}

/// A rate is refused or exact: what lies within a thousandth of one that the radio has becomes that one.
fn rate(value: &Value) -> Result<Value, String> {
    let asked = number(value).filter(|n| *n > 0.0).ok_or("a number of samples a second, such as 25e6 or \"25M\"")?;
    let nearest = Factor::nearest(asked).ok_or("a number of samples a second, such as 25e6")?;
    if (nearest.rate_sps() / asked - 1.0).abs() <= 1e-3 {
        return Ok(json!(nearest.rate_sps()));
    }
    let around = Factor::around(asked).into_iter().flatten().map(|factor| {
        let rate_msps = (factor.rate_sps() / 1e3).round() / 1e3;
        format!("{rate_msps}e6 (100 MHz / {})", factor.get())
    });
    Err(format!("the nearest that an N200 has: {}", around.collect::<Vec<_>>().join(", ")))
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| parse_number(value.as_str()?).ok())
}

/// The least holds some of the largest datagrams; the most is what a socket can have.
const BUFFER_BYTES: std::ops::RangeInclusive<u64> = 16 << 10..=1 << 30;

const HOUR_NS: u128 = 3_600_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::settings::{all, find};

    fn accept(name: &str, value: impl Into<Value>) -> Result<Value, (String, String)> {
        find(name).expect("a setting").accept(&value.into())
    }

    #[test]
    fn every_default_is_a_value_its_setting_accepts() {
        for setting in all() {
            if let Some(default) = setting.default_value() {
                assert_eq!(setting.accept(&default), Ok(default.clone()), "{}", setting.name);
            }
        }
    }

    #[test]
    fn a_rate_is_exact_or_refused_with_its_neighbours() {
        assert_eq!(accept("rate_sps", 25e6), Ok(json!(25e6)));
        assert_eq!(accept("rate_sps", "25M"), Ok(json!(25e6)));
        assert_eq!(accept("rate_sps", 33.33e6), Ok(json!(1e8 / 3.0)));
        let (complaint, remedy) = accept("rate_sps", 22e6).unwrap_err();
        assert_eq!(complaint, "rate_sps can't be 22000000.0");
        assert_eq!(remedy, "the nearest that an N200 has: 20e6 (100 MHz / 5), 25e6 (100 MHz / 4)");
        assert!(accept("rate_sps", 1e9).unwrap_err().1.ends_with(": 50e6 (100 MHz / 2)"));
        assert!(accept("rate_sps", -1).is_err());
    }

    #[test]
    fn a_slip_of_the_pen_is_corrected_and_a_foreign_word_gets_the_list() {
        assert_eq!(accept("mode", "dupelx").unwrap_err().1, "did you mean \"duplex\"?");
        assert_eq!(accept("mode", "sideways").unwrap_err().1, "one of: rx, tx, duplex");
        assert_eq!(accept("mode", 3).unwrap_err().1, "one of: rx, tx, duplex");
        assert_eq!(nearest("enviroment", all().map(|s| s.name)), Some("environment"));
        assert_eq!(nearest("colour", all().map(|s| s.name)), None);
    }

    #[test]
    fn ranges_are_kept() {
        assert_eq!(accept("payload_bytes", 1472), Ok(json!(1472)));
        assert!(accept("payload_bytes", 15).is_err());
        assert!(accept("payload_bytes", 1472.5).is_err());
        assert!(accept("duration", "0s").is_err());
        assert!(accept("duration", "2h").is_err());
        assert!(accept("warm_up", "0s").is_ok());
        assert_eq!(accept("offered", "20k"), Ok(json!(20e3)));
        assert!(accept("offered", "fast").is_err());
        assert_eq!(accept("environment_cpus", 1.5), Ok(json!(1.5)));
        assert!(accept("environment_cpus", 0).is_err() && accept("environment_memory", "1KiB").is_err());
        assert_eq!(accept("environment_memory", "2GiB"), Ok(json!("2GiB")));
        assert_eq!(accept("environment_parameters", "nohz=off highres=off"), Ok(json!("highres=off nohz=off")));
        assert_eq!(accept("environment_parameters", "hires=off").unwrap_err().1, "did you mean highres=off?");
        assert_eq!(accept("cap", 40), Ok(json!(40)));
        assert!(accept("cap", 0).is_err() && accept("cap", 101).is_err() && accept("cap", "none").is_ok());
        assert!(accept("cpu_quota", 101).is_ok() && accept("cpu_quota", 1001).is_err());
        assert_eq!(accept("hog", "4ms every 5ms"), Ok(json!("4ms every 5ms")));
        assert!(accept("stall", "6ms every 5ms").unwrap_err().1.contains("the first shorter than the second"));
        assert_eq!(accept("recv_buffer", "1MiB"), Ok(json!("1MiB")));
        assert!(accept("recv_buffer", "1KiB").is_err() && accept("recv_buffer", 65_536).is_err());
        assert!(accept("disturbance", "bussy:4").unwrap_err().1.contains("did you mean busy?"));
        assert_eq!(accept("path_loss", 0.01), Ok(json!(0.01)));
        assert_eq!(accept("path_delay", "5ms"), Ok(json!("5ms")));
        assert!(accept("path_delay", "5 parsec").unwrap_err().1.contains("a time"));
        assert_eq!(accept("offered", "100Mb/s"), Ok(json!("100Mb/s")));
        assert_eq!(ethernet_bps("100Mb/s"), Some(1e8));
    }

    #[test]
    fn packets_slots_and_waveforms_are_words_or_numbers() {
        assert_eq!(accept("packet", 1000), Ok(json!(1000)));
        assert_eq!(accept("packet", "5M/s"), Ok(json!("5M/s")));
        assert_eq!(per_second("5M/s"), Some(5e6));
        assert!(["5M", "0/s", "much"].iter().all(|text| accept("packet", *text).is_err()));
        assert!(accept("packet", 0).is_err());
        assert_eq!(accept("slots", 100), Ok(json!(100)));
        assert!(accept("slots", "100").is_err());
        assert_eq!(accept("waveform", "mine/lte.toml"), Ok(json!("mine/lte.toml")));
        assert_eq!(accept("waveform", "bpks").unwrap_err().1, "did you mean \"bpsk\"?");
        assert!(accept("waveform", "lte").unwrap_err().1.contains(".toml"));
    }
}
