//! Studies that are sweeps: `virtual-sdr`, `routers` and `uhd-dpdk`. Each figure of such a paper shows a quantity over one factor,
//! with a curve for each level of another.
//!
//! ```text
//!   papers/NAME.toml ── figures, claims, numbers ──┐
//!   the study's plan ── which part, axis, curves ──┼──> charts ──> claims ──> Outcome ──> report
//!   records of a run ── rounds of every point ─────┘
//! ```
//!
//! Data hold the differences between studies: the facts of the paper, the plans of its charts, and what a claim is
//! judged by.

mod assemble;
mod chart;
mod claims;
mod compared;
mod facts;
mod noise;
pub(crate) mod page;
mod read;
#[cfg(test)]
pub(super) mod testing;
mod words;

use assemble::assemble;
pub use chart::{Chart, Curve, Measure, Spot};
pub use facts::{ClaimFacts, Facts, FigureFacts};
pub use noise::SiteFacts;
pub use page::report;

pub use takt_lab::aa_pairs::Noise;

pub(super) use chart::{ChartPlan, Read};
pub(super) use claims::{all_above, all_below, surely_more};
pub(super) use compared::Compared;
pub(super) use noise::sites;
pub(super) use read::{
    cpu_cores, dropped_share, end_busy, from_host, guest_cores, hop_cores, limit_used, lost_on_path, others_busy,
    per_datagram, rate, side_cores, stream_busy, to_host,
};
pub(super) use words::{apart, at, list, value};

use serde::{Deserialize, Serialize};
use takt_lab::{Order, StoredRun};

use crate::study::claim::Judged;
use crate::study::{self, StudyRun};
use crate::uhd_dpdk::link::LinkCase;
use crate::{Answered, Asked, Question, QuestionError};

/// Version of the document; raised when a key changes its meaning.
pub const SCHEMA: u32 = 1;

/// Share from which a processor counts as full.
pub(super) const FULL: f64 = 0.85;

pub(super) struct Study {
    pub(super) name: &'static str,
    pub(super) facts: fn() -> Facts,
    pub(super) charts: &'static [ChartPlan],
    /// Further charts from the rounds, to say why: no figures of the paper. Each with its title.
    pub(super) evidence: &'static [(&'static str, ChartPlan)],
    /// By the claim's number and the part: what is seen of it.
    pub(super) judge: fn(u32, &str, &SweepOutcome) -> Judged,
    /// The parts of a claim of which the file does not name them: points that the run was to measure.
    pub(super) points: fn(u32, &SweepOutcome) -> Vec<String>,
    /// Cases of a link on two radios, if the study has some.
    pub(super) link: fn(&StoredRun) -> Vec<LinkCase>,
    /// Limits that no round shows; a sentence each.
    pub(super) caveats: &'static [&'static str],
}

impl Question for Study {
    fn name(&self) -> &'static str {
        self.name
    }

    fn is_of(&self, run: &StoredRun) -> bool {
        study::study_of(run) == self.name
    }

    fn order(&self, asked: &Asked) -> Result<Order, QuestionError> {
        Ok(study::order(asked))
    }

    fn answer(&self, run: StoredRun) -> Result<Answered, QuestionError> {
        let outcome = assemble(self, &run);
        study::answered(&outcome.of, &outcome, report(&outcome))
    }
}

/// Everything such a study found: what `takt paper NAME --json` prints. Keys are stable and carry their units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SweepOutcome {
    #[serde(flatten)]
    pub of: StudyRun,
    /// Sites of rounds: each environment and path, and what was in force there.
    pub sites: Vec<SiteFacts>,
    pub paper: Facts,
    pub charts: Vec<Chart>,
    /// Further measurements, which say why.
    #[serde(default)]
    pub evidence: Vec<Chart>,
    /// A link on two radios, case by case.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub link: Vec<LinkCase>,
    /// How far the same thing measured twice differs: the floor below which no difference means anything.
    pub noise: Vec<Noise>,
    /// Doubts about the rounds: drift, few rounds, a disturbed host.
    pub warnings: Vec<String>,
}

impl SweepOutcome {
    /// A figure, or a piece of evidence, by its name.
    #[must_use]
    pub fn chart(&self, id: &str) -> Option<&Chart> {
        self.charts.iter().chain(&self.evidence).find(|chart| chart.id == id)
    }

    /// A curve of it that has points with a value.
    #[must_use]
    pub fn curve(&self, id: &str, name: &str) -> Option<(&Chart, &Curve)> {
        let chart = self.chart(id)?;
        let curve = chart.curve(name)?;
        curve.measured().next().map(|_| (chart, curve))
    }

    /// A part that no figure tells: nothing was measured in this environment, over this path or with this engine, or no round of
    /// it counts.
    pub(super) fn without(&self, id: &str, name: &str) -> Judged {
        let part = self.chart(id).map_or("", |chart| chart.part.as_str());
        Judged::without(name, self.of.tried(part, Some(name)))
    }

    /// Executor of a guest's instructions, if rounds ran in one: `kvm`, `tcg`.
    #[must_use]
    pub fn accelerator(&self) -> Option<&str> {
        self.sites.iter().find_map(|site| site.in_force.get("accelerator")?.as_str())
    }
}
