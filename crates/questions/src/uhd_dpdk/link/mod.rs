//! The study's second part: an LTE link on two radios, whose base station has each engine in turn.
//!
//! ```text
//!   rounds of a point ──┬── in real time: those in which the radios themselves kept up ──> Tables 2 and 3, claims
//!                       └── at lower speeds, where the ends did not keep up ──────────────> a table of its own, no claim
//! ```

mod judge;
pub(crate) mod page;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use takt_lab::StoredRun;
use takt_lab::store::RoundRow;
use takt_stats::{Estimate, proportion};
use takt_testbed::Lateness;

use crate::study::Figure;
use crate::study::part::{Point, part};

pub(super) use judge::{judge, points};

/// Parts of the file, and the host in words.
const PARTS: [(&str, &str); 2] = [("link", "quiet"), ("link-loaded", "loaded")];
/// Level of every interval.
const LEVEL: f64 = 0.95;
/// A round does not count in real time if the radios were late for more of it.
const RADIOS_LATE_MAX: f64 = 0.02;

/// A bandwidth, a load, an engine and a host: what was seen of the link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkCase {
    /// `quiet` or `loaded`.
    pub host: String,
    pub prb: u32,
    /// Offered, of IP packets.
    pub down_bps: f64,
    /// Engine of the base station.
    pub engine: String,
    /// Rounds that count.
    pub rounds: usize,
    /// Among them: those in which the emulators were late themselves. Nothing of them is in `real_time`.
    pub radios_late: usize,
    pub real_time: LinkFigures,
    /// At the speed of most rounds that fell; `None`: the ends kept up in real time.
    pub slower: Option<SlowerFigures>,
    /// Why nothing was run, if nothing was.
    pub skipped: Option<String>,
}

/// Figures at a lower speed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlowerFigures {
    /// Seconds of the radios in a second of this host.
    pub speed: f64,
    pub figures: LinkFigures,
}

/// Figures of rounds. All times are the link's own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkFigures {
    pub rounds: usize,
    /// Among them: those in which both ends were in time.
    pub kept_up: usize,
    pub attempts: u64,
    pub connected: u64,
    /// Clopper-Pearson over all attempts.
    pub connected_share: Option<Estimate>,
    pub attach_s: Figure,
    /// By the host's clock, opening the radios included.
    pub attach_host_s: Figure,
    pub jitter_s: Figure,
    pub lost_share: Figure,
    /// Links lost after they had come up, a round.
    pub losses: Figure,
    pub threads: Vec<ThreadFigure>,
}

/// The share of a core that the threads of one name used while the load ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ThreadFigure {
    pub name: String,
    pub core_share: Figure,
}

impl LinkCase {
    /// `25 PRB at 10 Mb/s on a quiet host`.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{} PRB at {} Mb/s on a {} host", self.prb, self.down_bps / 1e6, self.host)
    }

    /// Whether most of its rounds kept up in real time.
    #[must_use]
    pub fn keeps_up(&self) -> bool {
        self.real_time.kept_up * 2 > self.real_time.rounds
    }
}

impl LinkFigures {
    /// A thread's, if it used a core at all.
    #[must_use]
    pub fn thread(&self, name: &str) -> Option<&Figure> {
        self.threads.iter().find(|thread| thread.name == name).map(|thread| &thread.core_share)
    }
}

/// All cases of a run, in the order of its file.
pub(super) fn cases(stored: &StoredRun) -> Vec<LinkCase> {
    let of_part = |(name, host): (&str, &str)| {
        part(stored, name).iter().filter_map(|point| case(host, point)).collect::<Vec<_>>()
    };
    PARTS.into_iter().flat_map(of_part).collect()
}

fn case(host: &str, point: &Point<'_>) -> Option<LinkCase> {
    let setting = |name: &str| point.settings.get(name);
    let counted: Vec<&RoundRow> = point.counted().collect();
    let (late, in_time): (Vec<&RoundRow>, Vec<&RoundRow>) = counted.iter().partition(|round| radios_were_late(round));
    Some(LinkCase {
        host: host.to_owned(),
        prb: setting("prb")?.as_u64().and_then(|prb| u32::try_from(prb).ok())?,
        down_bps: setting("down_bps").and_then(Value::as_f64).unwrap_or_default(),
        engine: setting("engine").and_then(Value::as_str).unwrap_or("mmsg").to_owned(),
        rounds: counted.len(),
        radios_late: late.len(),
        real_time: figures(&in_time, None),
        slower: slower(&counted),
        skipped: point.skipped().filter(|_| counted.is_empty()),
    })
}

fn result(round: &RoundRow) -> Option<&Value> {
    Some(&round.record.as_ref()?.result)
}

/// Whether the emulators themselves did not keep up in real time. The record of a round is of its first time.
fn radios_were_late(round: &RoundRow) -> bool {
    let Some(record) = &round.record else { return false };
    let Some(lateness) = Lateness::of(&record.emulator) else { return false };
    let duration_s = record.emulator.get("duration_s").and_then(Value::as_f64).unwrap_or_default();
    let mut spans: Vec<[u64; 2]> = lateness.lag.late_spans.iter().map(|span| [span.from_ns, span.to_ns]).collect();
    spans.sort_unstable();
    let (mut late_ns, mut upto) = (0_u64, 0_u64);
    for [from, to] in spans {
        late_ns += to.saturating_sub(from.max(upto));
        upto = upto.max(to);
    }
    late_ns as f64 * 1e-9 > RADIOS_LATE_MAX * duration_s
}

/// The results of a round at lower speeds, in turn.
fn lower(round: &RoundRow) -> Option<&Vec<Value>> {
    result(round)?.get("slower")?.as_array()
}

fn speed_of(result: &Value) -> Option<f64> {
    result.get("speed")?.as_f64()
}

/// The result of a round at a lower speed; `None`: in real time.
fn at(round: &RoundRow, speed: Option<f64>) -> Option<&Value> {
    match speed {
        None => result(round),
        Some(_) => lower(round)?.iter().find(|result| speed_of(result) == speed),
    }
}

fn figures(rounds: &[&RoundRow], speed: Option<f64>) -> LinkFigures {
    let read = |pointer: &'static str, factor: f64| {
        Figure::of(rounds, |round| Some(at(round, speed)?.pointer(pointer)?.as_f64()? * factor))
    };
    let results: Vec<&Value> = rounds.iter().filter_map(|round| at(round, speed)).collect();
    let sum = |name: &str| results.iter().filter_map(|result| result.get(name)?.as_u64()).sum::<u64>();
    let (attempts, connected) = (sum("attempted"), sum("connected"));
    let is_true = |result: &&&Value| result.get("kept_up").and_then(Value::as_bool) == Some(true);
    LinkFigures {
        rounds: results.len(),
        kept_up: results.iter().filter(is_true).count(),
        attempts,
        connected,
        connected_share: proportion(attempts as usize, connected as usize, LEVEL),
        attach_s: read("/attach_ms", 1e-3),
        attach_host_s: read("/attach_host_ms", 1e-3),
        jitter_s: read("/load/jitter_ms", 1e-3),
        lost_share: read("/load/lost_share", 1.0),
        losses: read("/losses", 1.0),
        threads: threads(rounds, speed),
    }
}

/// By name. A thread that a round with a load does not have used nothing in it.
fn threads(rounds: &[&RoundRow], speed: Option<f64>) -> Vec<ThreadFigure> {
    let of = |round: &RoundRow| -> Option<BTreeMap<String, f64>> {
        let threads = at(round, speed)?.pointer("/load/threads")?.as_array()?;
        let one =
            |thread: &Value| Some((thread.get("name")?.as_str()?.to_owned(), thread.get("core_share")?.as_f64()?));
        Some(threads.iter().filter_map(one).collect())
    };
    let mut names: Vec<String> = rounds.iter().filter_map(|round| of(round)).flat_map(BTreeMap::into_keys).collect();
    names.sort_unstable();
    names.dedup();
    let figure = |name: String| {
        let core_share = Figure::of(rounds, |round| Some(of(round)?.get(&name).copied().unwrap_or_default()));
        ThreadFigure { name, core_share }
    };
    names.into_iter().map(figure).collect()
}

/// At the speed at which most rounds that fell came to rest; of two alike, the lower one.
fn slower(rounds: &[&RoundRow]) -> Option<SlowerFigures> {
    let mut speeds: Vec<(f64, usize)> = Vec::new();
    for speed in rounds.iter().filter_map(|round| speed_of(lower(round)?.last()?)) {
        match speeds.iter_mut().find(|(known, _)| *known == speed) {
            Some((_, count)) => *count += 1,
            None => speeds.push((speed, 1)),
        }
    }
    let (speed, _) = speeds.into_iter().max_by(|a, b| a.1.cmp(&b.1).then(b.0.total_cmp(&a.0)))?;
    Some(SlowerFigures { speed, figures: figures(rounds, Some(speed)) })
}
