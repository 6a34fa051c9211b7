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

use crate::workload::waveform::library;

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
    /// A waveform on the beat.
    Waveform,
    /// The longest packet that a waveform holds.
    LongestPacket,
    /// Packets handed from one component to the next.
    Interface,
    /// What the roles of an operating environment cost.
    Roles,
}

impl Kind {
    /// All, by the names of a file.
    pub const ALL: [(&'static str, Kind); 7] = [
        ("udp", Kind::Udp),
        ("rate", Kind::Rate),
        ("round-trip", Kind::RoundTrip),
        ("waveform", Kind::Waveform),
        ("longest-packet", Kind::LongestPacket),
        ("interface", Kind::Interface),
        ("roles", Kind::Roles),
    ];

    /// Its name in a file.
    #[must_use]
    pub fn name(self) -> &'static str {
        Kind::ALL.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    /// Whether it needs another side: a radio, or a server.
    #[must_use]
    pub fn has_path(self) -> bool {
        matches!(self, Kind::Udp | Kind::Rate | Kind::RoundTrip)
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
    /// `"as-written"`, items a slot, or items a second such as `"5M/s"`.
    Packet,
    /// `"by-duration"`, or a number of slots.
    Slots,
    /// A waveform that comes with the program, or a TOML file.
    Waveform,
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
            Takes::Packet => f.write_str("as-written | items a slot | items a second, such as 5M/s"),
            Takes::Slots => f.write_str("by-duration | a number"),
            Takes::Waveform => write!(f, "{} | a TOML file", library::NAMES.join(" | ")),
        }
    }
}

use Kind::{Interface, LongestPacket, Roles, RoundTrip, Udp};
const EVERY: &[Kind] = &[Udp, Kind::Rate, RoundTrip, Kind::Waveform, LongestPacket, Interface, Roles];
const PATHS: &[Kind] = &[Udp, Kind::Rate, RoundTrip];
const RADIO: &[Kind] = &[Kind::Rate, RoundTrip];
const BEAT: &[Kind] = &[Kind::Waveform, LongestPacket];

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
        of: PATHS,
        default: Some("direct"),
        about: "what lies between host and radio; direct is a veth pair where permitted, else loopback",
    },
    Setting { name: "model", takes: Takes::Word(&["n200"]), of: RADIO, default: Some("n200"), about: "the radio" },
    Setting {
        name: "engine",
        takes: Takes::Word(&["mmsg", "socket"]),
        of: PATHS,
        default: Some("mmsg"),
        about: "how datagrams enter and leave the host side",
    },
    Setting {
        name: "duration",
        takes: Takes::Span,
        of: &[Udp, Kind::Rate, RoundTrip, Kind::Waveform, LongestPacket, Roles],
        default: None,
        about: "what of a round is measured; of a search: its confirmation, a trial takes a quarter",
    },
    Setting {
        name: "warm_up",
        takes: Takes::SpanOrNone,
        of: &[Udp, Kind::Rate, RoundTrip, Kind::Waveform],
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
    Setting {
        name: "waveform",
        takes: Takes::Waveform,
        of: BEAT,
        default: Some("bpsk"),
        about: "what runs: a file, or one that comes with takt",
    },
    Setting {
        name: "components",
        takes: Takes::Whole(2, 1024),
        of: &[Kind::Waveform, LongestPacket, Roles],
        default: Some("2"),
        about: "components of a chain, and of the waveform whose loading is timed",
    },
    Setting {
        name: "packet",
        takes: Takes::Packet,
        of: &[Kind::Waveform],
        default: Some("as-written"),
        about: "what each source makes in a slot",
    },
    Setting {
        name: "slot",
        takes: Takes::Span,
        of: &[Kind::Waveform, LongestPacket, Roles],
        default: Some("1ms"),
        about: "length of a slot, whatever the file says",
    },
    Setting {
        name: "slots",
        takes: Takes::Slots,
        of: &[Kind::Waveform],
        default: Some("by-duration"),
        about: "how many slots are measured",
    },
    Setting {
        name: "workers",
        takes: Takes::Whole(1, 64),
        of: BEAT,
        default: Some("1"),
        about: "workers, each on a core of its own",
    },
    Setting {
        name: "latency",
        takes: Takes::Word(&["fixed", "compact"]),
        of: BEAT,
        default: Some("compact"),
        about: "a slot each hop, or only between workers",
    },
    Setting {
        name: "clock",
        takes: Takes::Word(&["wall", "free"]),
        of: &[Kind::Waveform],
        default: Some("wall"),
        about: "the host's clock, or as fast as can be",
    },
    Setting {
        name: "priority",
        takes: Takes::Word(&["highest", "fifo", "normal"]),
        of: BEAT,
        default: Some("highest"),
        about: "scheduling of the workers; highest is fifo where permitted",
    },
    Setting {
        name: "process",
        takes: Takes::Word(&["shared", "fresh"]),
        of: &[Kind::Waveform],
        default: Some("shared"),
        about: "whether each round has a process of its own, as memory needs it",
    },
    Setting {
        name: "packet_bytes",
        takes: Takes::Whole(1, 134_217_728),
        of: &[Interface],
        default: None,
        about: "bytes of a packet",
    },
    Setting {
        name: "count",
        takes: Takes::Whole(1, 100_000_000),
        of: &[Interface],
        default: Some("100000"),
        about: "packets measured",
    },
    Setting {
        name: "reader",
        takes: Takes::Word(&["same-core", "other-core"]),
        of: &[Interface],
        default: Some("same-core"),
        about: "where the reader of the packets is",
    },
];

/// A setting's row by its name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Setting> {
    ALL.iter().find(|setting| setting.name == name)
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
                None if value == "flat-out" => Ok(value.clone()),
                None => Err(refuse("\"flat-out\", or datagrams a second".into())),
            },
            Takes::Packet => packet(value).ok_or_else(|| {
                refuse("\"as-written\", items a slot from 1 to 16777216, or items a second such as \"5M/s\"".into())
            }),
            Takes::Slots => match value.as_u64().filter(|n| (1..=1_000_000_000_000).contains(n)) {
                Some(slots) => Ok(json!(slots)),
                None if value == "by-duration" => Ok(value.clone()),
                None => Err(refuse("\"by-duration\", or a number of slots".into())),
            },
            Takes::Waveform => match value.as_str() {
                Some(name) if library::NAMES.contains(&name) || is_toml(name) => Ok(value.clone()),
                other => {
                    let near = did_you_mean(other.unwrap_or_default(), library::NAMES.iter().copied());
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

/// The settings of a point, all of them, checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Settings(BTreeMap<String, Value>);

impl Settings {
    /// From values that were accepted; the defaults of `kind` fill the rest.
    pub(super) fn complete(mut given: BTreeMap<String, Value>, kind: Kind) -> Settings {
        for setting in ALL.iter().filter(|setting| setting.of.contains(&kind)) {
            if let (Some(default), false) = (setting.default_value(), given.contains_key(setting.name)) {
                given.insert(setting.name.into(), default);
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
