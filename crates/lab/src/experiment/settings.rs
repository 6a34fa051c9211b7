//! The words of an experiment file: what can be set, to what, and for which workload.
//!
//! A setting is a factor if it has several levels, else it is fixed; the file decides. Everything that can be set is one
//! row of [`ALL`], from which checking, `takt experiment factors` and the reference page come. A record holds every
//! setting of its workload, those left at their default as well.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use takt_base::{parse_duration, parse_number};
use takt_wire::n200::rate::Factor;

/// What is run at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Datagram load.
    Udp,
    /// A sample stream at a rate.
    Rate,
    /// Answers timed after what they answer.
    RoundTrip,
}

impl Kind {
    /// All, by the names of a file.
    pub const ALL: [(&'static str, Kind); 3] =
        [("udp", Kind::Udp), ("rate", Kind::Rate), ("round-trip", Kind::RoundTrip)];

    /// Its name in a file.
    #[must_use]
    pub fn name(self) -> &'static str {
        Kind::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }
}

/// One thing that can be set.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Its name in a file.
    pub name: &'static str,
    /// What it can be set to.
    pub takes: Takes,
    /// The workloads that know it.
    pub of: &'static [Kind],
    /// What it is if nobody sets it, as in a file; `None`: it must be set.
    pub default: Option<&'static str>,
    /// What it means.
    pub about: &'static str,
}

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
    /// `"flat-out"`, or datagrams a second: `20_000`, `"20k"`.
    Offered,
}

impl fmt::Display for Takes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Takes::Word(words) => f.write_str(&words.join(" | ")),
            Takes::Whole(low, high) => write!(f, "{low} to {high}"),
            Takes::Span => f.write_str("a time up to 1h"),
            Takes::SpanOrNone => f.write_str("a time up to 1h, or 0s"),
            Takes::Rate => f.write_str("a rate the radio has"),
            Takes::Offered => f.write_str("flat-out | datagrams a second"),
        }
    }
}

use Kind::{RoundTrip, Udp};
const EVERY: &[Kind] = &[Udp, Kind::Rate, RoundTrip];
const RADIO: &[Kind] = &[Kind::Rate, RoundTrip];

/// Everything that can be set.
pub const ALL: &[Setting] = &[
    Setting {
        name: "environment",
        takes: Takes::Word(&["native"]),
        of: EVERY,
        default: Some("native"),
        about: "where the host side runs",
    },
    Setting {
        name: "path",
        takes: Takes::Word(&["direct", "loopback"]),
        of: EVERY,
        default: Some("direct"),
        about: "what lies between host and radio; direct is a veth pair where permitted, else loopback",
    },
    Setting { name: "model", takes: Takes::Word(&["n200"]), of: RADIO, default: Some("n200"), about: "the radio" },
    Setting {
        name: "engine",
        takes: Takes::Word(&["mmsg", "socket"]),
        of: EVERY,
        default: Some("mmsg"),
        about: "how datagrams enter and leave the host side",
    },
    Setting { name: "duration", takes: Takes::Span, of: EVERY, default: None, about: "what of a round is measured" },
    Setting {
        name: "warm_up",
        takes: Takes::SpanOrNone,
        of: EVERY,
        default: Some("500ms"),
        about: "runs before it and is not in the record",
    },
    Setting {
        name: "mode",
        takes: Takes::Word(&["rx", "tx", "duplex"]),
        of: &[Kind::Rate],
        default: None,
        about: "which way samples flow",
    },
    Setting {
        name: "rate_sps",
        takes: Takes::Rate,
        of: RADIO,
        default: None,
        about: "samples a second, each direction",
    },
    Setting {
        name: "format",
        takes: Takes::Word(&["sc16", "sc8"]),
        of: &[Kind::Rate],
        default: Some("sc16"),
        about: "sample format on the wire",
    },
    Setting {
        name: "policy",
        takes: Takes::Word(&["normal", "fifo"]),
        of: RADIO,
        default: Some("normal"),
        about: "scheduling of the threads that stream",
    },
    Setting {
        name: "delay",
        takes: Takes::Span,
        of: &[RoundTrip],
        default: None,
        about: "time between the samples and the answer to them",
    },
    Setting {
        name: "payload_bytes",
        takes: Takes::Whole(16, 8972),
        of: &[Udp],
        default: None,
        about: "payload of a datagram",
    },
    Setting {
        name: "direction",
        takes: Takes::Word(&["to-host", "from-host"]),
        of: &[Udp],
        default: None,
        about: "which way datagrams flow",
    },
    Setting {
        name: "offered",
        takes: Takes::Offered,
        of: &[Udp],
        default: Some("flat-out"),
        about: "load: as much as goes, or datagrams a second",
    },
];

/// A setting's row by its name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Setting> {
    ALL.iter().find(|setting| setting.name == name)
}

impl Setting {
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
                None if value == "flat-out" => Ok(value.clone()),
                None => Err(refuse("\"flat-out\", or datagrams a second".into())),
            },
        }
    }
}

/// The settings of a point, all of them, checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Settings(BTreeMap<String, Value>);

impl Settings {
    /// From values that were accepted; the defaults of `kind` fill the rest.
    pub(super) fn complete(mut given: BTreeMap<String, Value>, kind: Kind) -> Settings {
        for setting in ALL.iter().filter(|setting| setting.of.contains(&kind)) {
            if let (Some(default), false) = (setting.default, given.contains_key(setting.name)) {
                given.insert(setting.name.into(), json!(default));
            }
        }
        Settings(given)
    }

    /// A word; empty for a setting this workload does not have.
    #[must_use]
    pub fn word(&self, name: &str) -> &str {
        self.0.get(name).and_then(Value::as_str).unwrap_or_default()
    }

    /// A number; `None` for a setting this workload does not have, or one that is a word.
    #[must_use]
    pub fn number(&self, name: &str) -> Option<f64> {
        self.0.get(name).and_then(Value::as_f64)
    }

    /// A time; zero for a setting this workload does not have.
    #[must_use]
    pub fn span(&self, name: &str) -> Duration {
        parse_duration(self.word(name)).unwrap_or_default()
    }

    /// Every setting by its name.
    #[must_use]
    pub fn all(&self) -> &BTreeMap<String, Value> {
        &self.0
    }
}

/// The nearest of `words`, if `word` looks like a slip of the pen.
#[must_use]
pub fn did_you_mean<'a>(word: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let likeness = |other: &str| strsim::damerau_levenshtein(&word.to_lowercase(), &other.to_lowercase());
    let near = words.into_iter().map(|other| (likeness(other), other)).min_by_key(|(far, _)| *far);
    near.filter(|(far, other)| *far <= 1 + other.len() / 4).map(|(_, other)| other)
}

fn word_remedy(word: &str, words: &[&'static str]) -> String {
    match did_you_mean(word, words.iter().copied()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("one of: {}", words.join(", ")),
    }
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

const HOUR_NS: u128 = 3_600_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn accept(name: &str, value: impl Into<Value>) -> Result<Value, (String, String)> {
        find(name).expect("a setting").accept(&value.into())
    }

    #[test]
    fn every_default_is_a_value_its_setting_accepts() {
        for setting in ALL {
            if let Some(default) = setting.default {
                assert_eq!(setting.accept(&json!(default)), Ok(json!(default)), "{}", setting.name);
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
        assert_eq!(did_you_mean("enviroment", ALL.iter().map(|s| s.name)), Some("environment"));
        assert_eq!(did_you_mean("colour", ALL.iter().map(|s| s.name)), None);
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
    }
}
