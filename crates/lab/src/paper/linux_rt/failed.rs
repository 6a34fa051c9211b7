//! How many answers failed at a point, on this host's account and altogether, and how many may.
//!
//! - **own**: rounds that count, without the subframes that a late radio or a stopped core spoilt.
//! - **all**: every round that ran, whatever else went on, with all of its subframes.
//!
//! A round that could not be run stands in both with every answer failed: under a load that keeps it from running, leaving it
//! out would flatter the host.

use takt_stats::{FailureBound, failure_bound};

use crate::paper::part::at;
use crate::paper::{Figure, RoundValue};
use crate::store::{RoundRow, RoundState};
use crate::workload::deadline::{SEGMENT_SUBFRAMES, Segments};

/// Confidence of the bounds.
pub(super) const LEVEL: f64 = 0.95;

/// On whose account.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Account {
    Own,
    All,
}

impl Account {
    /// The share of a round's answers that failed, if the round stands in this account.
    pub(super) fn ratio(self, round: &RoundRow) -> Option<f64> {
        match (self, round.state) {
            (_, RoundState::Failed) => Some(1.0),
            (Account::Own, _) => at(round, "/own/failure_ratio"),
            (Account::All, _) => at(round, "/failure_ratio"),
        }
    }

    pub(super) fn counts(self, round: &RoundRow) -> bool {
        match self {
            Account::Own => matches!(round.state, RoundState::Valid | RoundState::Failed),
            Account::All => round.state != RoundState::Skipped,
        }
    }

    /// Mean over rounds.
    pub(super) fn figure(self, rounds: &[&RoundRow]) -> Figure {
        let value = |round: &&RoundRow| {
            let value = self.ratio(round)?;
            Some(RoundValue { round_id: round.id, value, counts: self.counts(round) })
        };
        Figure::from_rounds(rounds.iter().filter_map(value).collect())
    }

    /// How large the ratio may be; `None` below two rounds, and for rounds of older versions, which have no segments.
    pub(super) fn bound(self, rounds: &[&RoundRow]) -> Option<FailureBound> {
        let rounds: Vec<&RoundRow> = rounds.iter().filter(|round| self.counts(round)).copied().collect();
        let ran: Vec<Vec<(u64, u64)>> = rounds.iter().filter_map(|round| self.segments(round)).collect();
        let longest = ran.iter().map(Vec::len).max()?;
        let failed = rounds.iter().filter(|round| round.state == RoundState::Failed);
        let failed = failed.map(|_| vec![(SEGMENT_SUBFRAMES, SEGMENT_SUBFRAMES); longest]);
        // A round of which everything is set aside says nothing on the host's account.
        let all: Vec<Vec<(u64, u64)>> =
            ran.into_iter().chain(failed).filter(|round| round.iter().any(|segment| segment.1 > 0)).collect();
        failure_bound(&all, SEGMENT_SUBFRAMES, LEVEL)
    }

    fn segments(self, round: &RoundRow) -> Option<Vec<(u64, u64)>> {
        let segments: Segments = serde_json::from_value(round.record.as_ref()?.result.get("segments")?.clone()).ok()?;
        let segments = match self {
            Account::Own => segments.own,
            Account::All => segments.all,
        };
        (!segments.is_empty()).then_some(segments)
    }
}
