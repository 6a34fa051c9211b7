//! The outcome of a proof: the JSON document of `takt doctor --prove`.

use crate::{Change, Measure, Rule};
use serde::Serialize;

use super::{Gain, ProveOptions};

pub const SCHEMA: u32 = 1;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProveOutcome {
    pub schema: u32,
    pub rule: String,
    /// The measurement; less is better.
    pub measured: String,
    /// `ns` or `share`.
    pub unit: &'static str,
    pub changes: Vec<Change>,
    pub round_s: f64,
    /// The values of each pair of rounds, in order. In odd pairs (the first is 1), the round without came first.
    pub pairs: Vec<Pair>,
    pub gain: Gain,
    /// Stopped before all pairs were measured.
    pub stopped: bool,
    /// The change stays; otherwise it was undone.
    pub kept: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pair {
    pub without: f64,
    pub with: f64,
}

pub(super) fn of(
    rule: &Rule,
    measure: Measure,
    options: ProveOptions,
    changes: Vec<Change>,
    pairs: Vec<Pair>,
    gain: Gain,
    stopped: bool,
) -> ProveOutcome {
    ProveOutcome {
        schema: SCHEMA,
        rule: rule.id.to_owned(),
        measured: measure.what().to_owned(),
        unit: if measure.is_share() { "share" } else { "ns" },
        changes,
        round_s: options.round.as_secs_f64(),
        pairs,
        gain,
        stopped,
        kept: false,
    }
}
