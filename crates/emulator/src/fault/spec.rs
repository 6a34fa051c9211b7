//! A fault as text, and what it means.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;
use std::time::Duration;

use takt_base::parse_duration;

use super::delay_queue::DELAYED_MAX;
use super::error::FaultError;
use super::stream::Stream;

/// One fault. See [the module](super) for the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What happens.
    pub kind: Kind,
    /// To which datagrams.
    pub stream: Stream,
    /// To which of them.
    pub when: When,
    /// So many datagrams of the stream are left alone first.
    pub skip: u64,
    /// Nothing happens before this time.
    pub quiet: Moment,
    /// How often at most.
    pub limit: u64,
    /// Of its random choices.
    pub seed: u64,
    text: String,
}

/// What happens to a datagram, or to the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It is lost, and so are the next `run - 1`.
    Lose {
        /// How many in a row.
        run: u64,
    },
    /// It comes later.
    Delay {
        /// By so much.
        by: Duration,
    },
    /// It changes places with the next one of its stream.
    Reorder,
    /// It comes twice.
    Duplicate,
    /// It comes damaged.
    Corrupt {
        /// Where.
        damage: Damage,
    },
    /// The wire is blocked from this datagram on.
    Overflow {
        /// For so long; zero: for this datagram only.
        span: Duration,
    },
    /// Nothing of the stream passes.
    Stall {
        /// For so long.
        span: Duration,
    },
    /// The host takes nothing from the ring of its network card, which then stops the device by pause frames.
    Ring {
        /// For so long.
        span: Duration,
        /// Datagrams that the ring holds.
        frames: u64,
    },
    /// The device is gone, and then as after power-up.
    Reboot {
        /// For so long.
        span: Duration,
    },
}

/// Where a datagram is damaged.
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
    /// Each so-manieth.
    Every(NonZeroU64),
    /// The so-manieth, from 1.
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

impl FromStr for Fault {
    type Err = FaultError;
    fn from_str(text: &str) -> Result<Fault, FaultError> {
        Reader { text, pairs: Vec::new(), at: 0 }.fault()
    }
}

/// The keys of a kind of fault.
fn keys(kind: &str) -> &'static [&'static str] {
    match kind {
        "lose" => &["every", "at", "p", "after", "limit", "seed", "run"],
        "delay" => &["every", "at", "p", "after", "limit", "seed", "by"],
        "corrupt" => &["every", "at", "p", "after", "limit", "seed", "where"],
        "overflow" => &["every", "at", "p", "after", "limit", "seed", "for"],
        "stall" | "reboot" => &["at", "for"],
        "ring" => &["at", "for", "frames"],
        _ => &["every", "at", "p", "after", "limit", "seed"],
    }
}

const KINDS: &str = "lose, delay, reorder, duplicate, corrupt, overflow, stall, ring or reboot";

/// What the ring of a network card holds unless a person has set it otherwise (igb, e1000e).
const USUAL_FRAMES: u64 = 256;

/// Reads the text piece by piece, so that an error can point at its piece.
struct Reader<'a> {
    text: &'a str,
    /// Keys and values not yet used.
    pairs: Vec<(&'a str, &'a str)>,
    at: usize,
}

impl<'a> Reader<'a> {
    fn fault(mut self) -> Result<Fault, FaultError> {
        let (kind, rest) = self.text.split_once(':').unwrap_or((self.text, ""));
        self.at = self.text.len().min(kind.len() + 1);
        let mut pieces = rest.split(',').peekable();
        let stream = match kind {
            "reboot" | "ring" => Stream::All,
            "lose" | "delay" | "reorder" | "duplicate" | "corrupt" | "overflow" | "stall" => {
                self.stream(pieces.next().unwrap_or(""))?
            }
            _ => return Err(self.wrong(kind, format!("a fault: {KINDS}"))),
        };
        for piece in pieces.filter(|piece| !piece.is_empty()) {
            let pair = piece.split_once('=').ok_or_else(|| self.wrong(piece, "key=value".to_owned()))?;
            self.pairs.push(pair);
        }
        let keys = keys(kind);
        if let Some((key, _)) = self.pairs.iter().find(|(key, _)| !keys.contains(key)) {
            return Err(self.wrong(key, format!("a key of this fault: {}", keys.join(", "))));
        }
        let kind = self.kind(kind, stream)?;
        let when = self.when(kind)?;
        let (skip, quiet) = self.after()?;
        let fault = Fault {
            kind,
            stream,
            when,
            skip,
            quiet,
            limit: self.number("limit")?.unwrap_or(u64::MAX),
            seed: self.number("seed")?.unwrap_or(0),
            text: self.text.to_owned(),
        };
        match self.pairs.first() {
            Some((key, _)) => Err(self.wrong(key, "allowed twice".to_owned())),
            None => Ok(fault),
        }
    }

    fn stream(&self, name: &'a str) -> Result<Stream, FaultError> {
        name.parse().map_err(|()| {
            let names: Vec<_> = Stream::names().collect();
            self.wrong(name, format!("a stream: {}", names.join(", ")))
        })
    }

    fn kind(&mut self, kind: &str, stream: Stream) -> Result<Kind, FaultError> {
        let zero = Duration::ZERO;
        Ok(match kind {
            "lose" => Kind::Lose { run: self.number("run")?.unwrap_or(1) },
            "delay" => Kind::Delay { by: self.span("by")?.ok_or_else(|| self.lacks("by=TIME, such as by=2ms"))? },
            "reorder" => Kind::Reorder,
            "duplicate" => Kind::Duplicate,
            "corrupt" => Kind::Corrupt { damage: self.damage()? },
            "overflow" if !matches!(stream, Stream::Rx | Stream::Rx0 | Stream::Rx1) => {
                let name = self.text.split_once(':').map_or("", |(_, rest)| rest.split(',').next().unwrap_or(""));
                return Err(self.wrong(name, "a stream that can overflow: rx, rx0 or rx1".to_owned()));
            }
            "overflow" => Kind::Overflow { span: self.span("for")?.unwrap_or(zero) },
            "stall" => Kind::Stall { span: self.span("for")?.ok_or_else(|| self.lacks("for=TIME, such as for=1s"))? },
            "ring" => Kind::Ring {
                span: self.span("for")?.ok_or_else(|| self.lacks("for=TIME, such as for=10ms"))?,
                frames: self.frames()?,
            },
            _ => Kind::Reboot { span: self.span("for")?.unwrap_or(Duration::from_secs(2)) },
        })
    }

    fn frames(&mut self) -> Result<u64, FaultError> {
        let Some(text) = self.take("frames") else { return Ok(USUAL_FRAMES) };
        let frames = text.parse().ok().filter(|frames| (1..=DELAYED_MAX as u64).contains(frames));
        frames.ok_or_else(|| self.wrong(text, format!("a number of datagrams from 1 to {DELAYED_MAX}")))
    }

    fn damage(&mut self) -> Result<Damage, FaultError> {
        match self.take("where") {
            None | Some("payload") => Ok(Damage::Payload),
            Some("header") => Ok(Damage::Header),
            Some("length") => Ok(Damage::Length),
            Some(other) => Err(self.wrong(other, "payload, header or length".to_owned())),
        }
    }

    /// Exactly one of `every`, `at`, `p`. A stall, a full ring and a reboot happen at a time, whatever passes.
    fn when(&mut self, kind: Kind) -> Result<When, FaultError> {
        let timed = matches!(kind, Kind::Stall { .. } | Kind::Ring { .. } | Kind::Reboot { .. });
        let mut found = Vec::new();
        if !timed {
            if let Some(text) = self.take("every") {
                let every = text.parse().map_err(|_| self.wrong(text, "a number of datagrams above 0".to_owned()))?;
                found.push(When::Every(every));
            }
            if let Some(text) = self.take("p") {
                let chance = text.parse().ok().filter(|p| (0.0..=1.0).contains(p));
                found.push(When::Chance(chance.ok_or_else(|| self.wrong(text, "a probability, 0 to 1".to_owned()))?));
            }
        }
        if let Some(text) = self.take("at") {
            found.push(match (whole(text), Moment::parse(text)) {
                (Some(nth), _) if !timed && nth > 0 => When::Nth(nth),
                (None, Some(time)) => When::At(time),
                _ if timed => return Err(self.wrong(text, "a time such as 3s or +3s".to_owned())),
                _ => {
                    return Err(self.wrong(text, "a datagram's number, from 1, or a time such as 3s or +3s".to_owned()));
                }
            });
        }
        match (found.as_slice(), timed) {
            ([when], _) => Ok(*when),
            ([], true) => Err(self.lacks("at=TIME, such as at=3s")),
            (_, true) => Err(self.lacks("a single at=TIME")),
            ([], false) => Err(self.lacks("every=N, at=N, at=TIME or p=P")),
            (_, false) => Err(self.lacks("a single one of every, at and p")),
        }
    }

    fn after(&mut self) -> Result<(u64, Moment), FaultError> {
        let never = Moment::AfterPowerOn(Duration::ZERO);
        let Some(text) = self.take("after") else { return Ok((0, never)) };
        match (whole(text), Moment::parse(text)) {
            (Some(skip), _) => Ok((skip, never)),
            (None, Some(quiet)) => Ok((0, quiet)),
            _ => Err(self.wrong(text, "a number of datagrams or a time such as 1s or +1s".to_owned())),
        }
    }

    fn number(&mut self, key: &str) -> Result<Option<u64>, FaultError> {
        let Some(text) = self.take(key) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| self.wrong(text, "a whole number".to_owned()))
    }

    fn span(&mut self, key: &str) -> Result<Option<Duration>, FaultError> {
        let Some(text) = self.take(key) else { return Ok(None) };
        parse_duration(text).map(Some).map_err(|_| self.wrong(text, "a time such as 2ms or 1s".to_owned()))
    }

    fn take(&mut self, key: &str) -> Option<&'a str> {
        let index = self.pairs.iter().position(|pair| pair.0 == key)?;
        Some(self.pairs.remove(index).1)
    }

    /// `piece` is a part of the text.
    fn wrong(&self, piece: &str, expected: String) -> FaultError {
        let inside = (piece.as_ptr() as usize).checked_sub(self.text.as_ptr() as usize);
        let start = inside.filter(|start| start + piece.len() <= self.text.len()).unwrap_or(self.at);
        FaultError { text: self.text.to_owned(), at: start..start + piece.len(), expected }
    }

    fn lacks(&self, what: &str) -> FaultError {
        let end = self.text.len();
        FaultError { text: self.text.to_owned(), at: end..end, expected: what.to_owned() }
    }
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
            ("loose:rx,every=2", format!("fault `loose:rx,every=2`: `loose` (character 1) is not a fault: {KINDS}")),
            ("", format!("fault ``: character 1 lacks a fault: {KINDS}")),
            (
                "lose:rx,evry=2",
                "fault `lose:rx,evry=2`: `evry` (character 9) is not a key of this fault: every, at, p, after, limit, \
                 seed, run"
                    .to_owned(),
            ),
            ("lose:rx", "fault `lose:rx`: character 8 lacks every=N, at=N, at=TIME or p=P".to_owned()),
            (
                "lose:rx,every=2,every=3",
                "fault `lose:rx,every=2,every=3`: `every` (character 17) is not allowed twice".to_owned(),
            ),
            (
                "lose:rx,every=0",
                "fault `lose:rx,every=0`: `0` (character 15) is not a number of datagrams above 0".to_owned(),
            ),
            ("lose:rx,p=1.5", "fault `lose:rx,p=1.5`: `1.5` (character 11) is not a probability, 0 to 1".to_owned()),
            ("delay:rx,every=2", "fault `delay:rx,every=2`: character 17 lacks by=TIME, such as by=2ms".to_owned()),
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
        let unknown = "lose:air,every=2".parse::<Fault>().unwrap_err();
        assert_eq!(unknown.at, 5..8);
        assert!("lose:rx,every=2,p=0.1".parse::<Fault>().is_err());
        assert!("stall:all,every=3,for=1s".parse::<Fault>().is_err());
    }
}
