//! A fault as text, and what it means.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;
use std::time::Duration;

use takt_base::parse_duration;

use super::delay_queue::DELAYED_MAX;
use super::stream::Stream;
use crate::text::{self, Grammar, SpecError, Words};

/// One fault. See [the module](super) for the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    pub kind: Kind,
    pub stream: Stream,
    pub when: When,
    /// So many datagrams of the stream are left alone first.
    pub skip: u64,
    /// Nothing happens before this time.
    pub quiet: Moment,
    pub limit: u64,
    /// Seed of its random choices.
    pub seed: u64,
    text: String,
}

/// Effect of a fault on a datagram, or on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It is lost, and so are the next `run - 1`.
    Lose { run: u64 },
    /// It comes later.
    Delay { by: Duration },
    /// It changes places with the next one of its stream.
    Reorder,
    /// It comes twice.
    Duplicate,
    /// It comes damaged.
    Corrupt { damage: Damage },
    /// The wire is blocked from this datagram on.
    Overflow {
        /// For so long; zero: for this datagram only.
        span: Duration,
    },
    /// Nothing of the stream passes.
    Stall { span: Duration },
    /// The host takes nothing from the ring of its network card, which then stops the device by pause frames.
    Ring { span: Duration, frames: u64 },
    /// The device is gone, and then as after power-up.
    Reboot { span: Duration },
}

/// Damaged part of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// A bit behind the header is flipped.
    Payload,
    /// A bit of the first 16 bytes is flipped.
    Header,
    /// Its second half is missing.
    Length,
}

/// Which datagrams of a stream are struck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum When {
    /// Every n-th one.
    Every(NonZeroU64),
    /// The n-th one, from 1.
    Nth(u64),
    /// The first at or after this time.
    At(Moment),
    /// Each with this probability.
    Chance(f64),
}

/// A time of a fault, by what it counts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// From when the device was switched on.
    AfterPowerOn(Duration),
    /// From the first sample packet, in either direction.
    AfterSamples(Duration),
}

impl Moment {
    /// `3s` or `+3s`.
    fn parse(text: &str) -> Option<Moment> {
        let (text, moment) = match text.strip_prefix('+') {
            Some(text) => (text, Moment::AfterSamples as fn(Duration) -> Moment),
            None => (text, Moment::AfterPowerOn as fn(Duration) -> Moment),
        };
        // A bare number is a datagram's, and a second sign is a mistake.
        let is_time = whole(text).is_none() && !text.starts_with('+');
        parse_duration(text).ok().filter(|_| is_time).map(moment)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

const GRAMMAR: Grammar = Grammar {
    what: "fault",
    kinds: &[
        text::Kind { name: "lose", main: "stream", keys: &["every", "at", "p", "after", "limit", "seed", "run"] },
        text::Kind { name: "delay", main: "stream", keys: &["every", "at", "p", "after", "limit", "seed", "by"] },
        text::Kind { name: "reorder", main: "stream", keys: &["every", "at", "p", "after", "limit", "seed"] },
        text::Kind { name: "duplicate", main: "stream", keys: &["every", "at", "p", "after", "limit", "seed"] },
        text::Kind { name: "corrupt", main: "stream", keys: &["every", "at", "p", "after", "limit", "seed", "where"] },
        text::Kind { name: "overflow", main: "stream", keys: &["every", "at", "p", "after", "limit", "seed", "for"] },
        text::Kind { name: "stall", main: "stream", keys: &["at", "for"] },
        text::Kind { name: "ring", main: "", keys: &["at", "for", "frames"] },
        text::Kind { name: "reboot", main: "", keys: &["at", "for"] },
    ],
    names: "lose, delay, reorder, duplicate, corrupt, overflow, stall, ring and reboot",
    example: "lose:rx,every=1000",
    strict: true,
};

/// Usual ring of a network card, frames, unless a person has set it otherwise (igb, e1000e).
const USUAL_FRAMES: u64 = 256;

impl FromStr for Fault {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Fault, SpecError> {
        let words = Words::read(&GRAMMAR, text)?;
        let streams = Stream::names().collect::<Vec<_>>().join(", ");
        let stream = words.value("stream", &format!("a stream: {streams}"), |name| name.parse().ok())?;
        let stream = stream.unwrap_or(Stream::All);
        let kind = kind(&words, stream)?;
        let when = when(&words, kind)?;
        let (skip, quiet) = after(&words)?;
        Ok(Fault {
            kind,
            stream,
            when,
            skip,
            quiet,
            limit: words.whole_number("limit")?.unwrap_or(u64::MAX),
            seed: words.whole_number("seed")?.unwrap_or(0),
            text: text.to_owned(),
        })
    }
}

fn kind(words: &Words<'_>, stream: Stream) -> Result<Kind, SpecError> {
    let span = |key| words.value(key, "a time such as 2ms or 1s", |text| parse_duration(text).ok());
    Ok(match words.kind.name {
        "lose" => Kind::Lose { run: words.whole_number("run")?.unwrap_or(1) },
        "delay" => Kind::Delay {
            by: span("by")?.ok_or_else(|| lacks(words, "by=TIME, such as by=2ms", "every=100", "by=2ms"))?,
        },
        "reorder" => Kind::Reorder,
        "duplicate" => Kind::Duplicate,
        "corrupt" => Kind::Corrupt { damage: damage(words)? },
        "overflow" => {
            let overflows = matches!(stream, Stream::Rx | Stream::Rx0 | Stream::Rx1);
            words.value("stream", "a stream that can overflow: rx, rx0 or rx1", |_| overflows.then_some(()))?;
            Kind::Overflow { span: span("for")?.unwrap_or(Duration::ZERO) }
        }
        "stall" => Kind::Stall {
            span: span("for")?.ok_or_else(|| lacks(words, "for=TIME, such as for=1s", "at=3s", "for=1s"))?,
        },
        "ring" => {
            let frames = |text: &str| text.parse().ok().filter(|frames| (1..=DELAYED_MAX as u64).contains(frames));
            let expected = format!("a number of datagrams from 1 to {DELAYED_MAX}");
            Kind::Ring {
                span: span("for")?.ok_or_else(|| lacks(words, "for=TIME, such as for=10ms", "at=3s", "for=10ms"))?,
                frames: words.value("frames", &expected, frames)?.unwrap_or(USUAL_FRAMES),
            }
        }
        _ => Kind::Reboot { span: span("for")?.unwrap_or(Duration::from_secs(2)) },
    })
}

/// `expected` is missing, such as `missing`; and so is `when`, unless the text says when.
fn lacks(words: &Words<'_>, expected: &str, when: &str, missing: &str) -> SpecError {
    let says_when = ["every", "at", "p"].iter().any(|key| words.has(key));
    words.lacks(expected, &if says_when { missing.to_owned() } else { format!("{when},{missing}") })
}

fn damage(words: &Words<'_>) -> Result<Damage, SpecError> {
    let damage = words.value("where", "payload, header or length", |text| match text {
        "payload" => Some(Damage::Payload),
        "header" => Some(Damage::Header),
        "length" => Some(Damage::Length),
        _ => None,
    })?;
    Ok(damage.unwrap_or(Damage::Payload))
}

/// Exactly one of `every`, `at`, `p`. A stall, a full ring and a reboot happen at a time, whatever passes.
fn when(words: &Words<'_>, kind: Kind) -> Result<When, SpecError> {
    let timed = matches!(kind, Kind::Stall { .. } | Kind::Ring { .. } | Kind::Reboot { .. });
    let at =
        if timed { "a time such as 3s or +3s" } else { "a datagram's number, from 1, or a time such as 3s or +3s" };
    let found = [
        words.value("every", "a number of datagrams above 0", |text| text.parse().ok().map(When::Every))?,
        words.value("p", "a probability, 0 to 1", |text| {
            text.parse().ok().filter(|p| (0.0..=1.0).contains(p)).map(When::Chance)
        })?,
        words.value("at", at, |text| match (whole(text), Moment::parse(text)) {
            (Some(nth), _) => (!timed && nth > 0).then_some(When::Nth(nth)),
            (None, time) => time.map(When::At),
        })?,
    ];
    let mut found = found.into_iter().flatten();
    match (found.next(), found.next()) {
        (Some(when), None) => Ok(when),
        (None, _) if timed => Err(words.lacks("at=TIME, such as at=3s", "at=3s")),
        (None, _) => Err(words.lacks("every=N, at=N, at=TIME or p=P", "every=1000")),
        (Some(_), Some(_)) => Err(words.lacks("a single one of every, at and p", "")),
    }
}

fn after(words: &Words<'_>) -> Result<(u64, Moment), SpecError> {
    let never = Moment::AfterPowerOn(Duration::ZERO);
    let expected = "a number of datagrams or a time such as 1s or +1s";
    let after = words.value("after", expected, |text| match whole(text) {
        Some(skip) => Some((skip, never)),
        None => Moment::parse(text).map(|quiet| (0, quiet)),
    })?;
    Ok(after.unwrap_or((0, never)))
}

/// Digits alone: a sign makes it a time.
fn whole(text: &str) -> Option<u64> {
    text.parse().ok().filter(|_| !text.starts_with('+'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> Fault {
        text.parse().unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn every_example_of_the_module_page_is_understood() {
        let lost = fault("lose:tx,at=5000,run=3");
        assert_eq!((lost.kind, lost.stream, lost.when), (Kind::Lose { run: 3 }, Stream::Tx, When::Nth(5000)));
        let seeded = fault("lose:rx,p=0.001,seed=7");
        assert_eq!((seeded.when, seeded.seed), (When::Chance(0.001), 7));
        assert_eq!(fault("lose:rx,every=1000").when, When::Every(NonZeroU64::new(1000).unwrap()));
        assert_eq!(fault("delay:rx,every=100,by=2ms").kind, Kind::Delay { by: Duration::from_millis(2) });
        assert_eq!(fault("reorder:tx,every=500").kind, Kind::Reorder);
        assert_eq!(fault("duplicate:acks,every=10").stream, Stream::Acks);
        assert_eq!(fault("corrupt:rx,every=50,where=length").kind, Kind::Corrupt { damage: Damage::Length });
        let overflow = fault("overflow:rx,at=3s,for=1ms");
        assert_eq!(overflow.kind, Kind::Overflow { span: Duration::from_millis(1) });
        assert_eq!(overflow.when, When::At(Moment::AfterPowerOn(Duration::from_secs(3))));
        assert_eq!(fault("stall:all,at=3s,for=1s").kind, Kind::Stall { span: Duration::from_secs(1) });
        let stall = fault("stall:rx,at=+3s,for=1s");
        assert_eq!((stall.stream, stall.when), (Stream::Rx, When::At(Moment::AfterSamples(Duration::from_secs(3)))));
        let span = Duration::from_millis(20);
        assert_eq!(fault("ring:at=3s,for=20ms,frames=64").kind, Kind::Ring { span, frames: 64 });
        assert_eq!(fault("ring:at=+3s,for=20ms").kind, Kind::Ring { span, frames: 256 });
        assert_eq!(fault("reboot:at=5s,for=2s").kind, Kind::Reboot { span: Duration::from_secs(2) });
        let late = fault("lose:rx,every=2,after=10,limit=3");
        assert_eq!((late.skip, late.limit), (10, 3));
        let ten = Duration::from_secs(10);
        assert_eq!(fault("lose:rx,every=2,after=10s").quiet, Moment::AfterPowerOn(ten));
        assert_eq!(fault("lose:rx,every=2,after=+10s").quiet, Moment::AfterSamples(ten));
        assert_eq!(late.to_string(), "lose:rx,every=2,after=10,limit=3");
    }

    #[test]
    fn an_error_points_at_its_piece_and_says_what_could_stand_there() {
        for (text, message) in [
            ("loose:rx,every=2", "unknown fault `loose`".to_owned()),
            ("", "unknown fault ``".to_owned()),
            (
                "lose:rx,evry=2",
                "fault `lose:rx,evry=2`: `evry` (character 9) is not a key of this fault: every, at, p, after, limit, \
                 seed, run"
                    .to_owned(),
            ),
            ("lose:rx", "fault `lose:rx` needs every=N, at=N, at=TIME or p=P".to_owned()),
            (
                "lose:rx,every=2,every=3",
                "fault `lose:rx,every=2,every=3`: `every` (character 17) is not allowed twice".to_owned(),
            ),
            (
                "lose:rx,every=0",
                "fault `lose:rx,every=0`: `0` (character 15) is not a number of datagrams above 0".to_owned(),
            ),
            ("lose:rx,p=1.5", "fault `lose:rx,p=1.5`: `1.5` (character 11) is not a probability, 0 to 1".to_owned()),
            ("delay:rx,every=2", "fault `delay:rx,every=2` needs by=TIME, such as by=2ms".to_owned()),
            (
                "overflow:tx,at=3s",
                "fault `overflow:tx,at=3s`: `tx` (character 10) is not a stream that can overflow: rx, rx0 or rx1"
                    .to_owned(),
            ),
            ("reboot:at=5", "fault `reboot:at=5`: `5` (character 11) is not a time such as 3s or +3s".to_owned()),
            ("reboot:at=+5", "fault `reboot:at=+5`: `+5` (character 11) is not a time such as 3s or +3s".to_owned()),
            (
                "lose:rx,at=+5",
                "fault `lose:rx,at=+5`: `+5` (character 12) is not a datagram's number, from 1, or a time such as 3s or \
                 +3s"
                    .to_owned(),
            ),
            (
                "lose:rx,every=2,after=+5",
                "fault `lose:rx,every=2,after=+5`: `+5` (character 23) is not a number of datagrams or a time such as 1s \
                 or +1s"
                    .to_owned(),
            ),
            (
                "ring:at=1s,for=1ms,frames=0",
                "fault `ring:at=1s,for=1ms,frames=0`: `0` (character 27) is not a number of datagrams from 1 to 4096"
                    .to_owned(),
            ),
            ("lose:rx,at", "fault `lose:rx,at`: `at` (character 9) is not key=value".to_owned()),
        ] {
            assert_eq!(text.parse::<Fault>().unwrap_err().to_string(), message);
        }
        let error = "foo".parse::<Fault>().unwrap_err();
        let faults = "the faults are lose, delay, reorder, duplicate, corrupt, overflow, stall, ring and reboot";
        assert_eq!((error.reason(), error.fix().as_str()), (Some(faults), "give --fault lose:rx,every=1000"));
        for text in
            ["foo", "lose:rx", "delay:rx", "delay:rx,p=0.5", "stall:all", "ring", "ring:", "ring:at=1s", "reboot"]
        {
            let instead = text.parse::<Fault>().unwrap_err().instead().unwrap_or_default();
            assert!(instead.parse::<Fault>().is_ok(), "{text}: {instead}");
        }
        let unknown = "lose:air,every=2".parse::<Fault>().unwrap_err();
        assert_eq!(unknown.at, 5..8);
        assert!("lose:rx,every=2,p=0.1".parse::<Fault>().is_err());
        assert!("stall:all,every=3,for=1s".parse::<Fault>().is_err());
    }
}
