//! How many answers failed at a point, on this host's account and altogether, and how many may.
//!
//! - **own**: rounds that count, without the subframes that a late radio or a stopped core spoilt.
//! - **all**: every round that ran, whatever else went on, with all of its subframes.
//!
//! A round that could not be run stands in both with every answer failed: under a load that keeps it from running, leaving it
//! out would flatter the host.

use takt_lab::store::{RoundRow, RoundState};
use takt_load::deadline::{SEGMENT_SUBFRAMES, Segments};
use takt_stats::{FailureBound, failure_bound};

use crate::study::part::at;
use crate::study::{Figure, RoundValue};

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

    /// Mean over rounds. Its interval reaches up to the bound at least: rounds without a failure do not know that there is none.
    pub(super) fn figure(self, rounds: &[&RoundRow]) -> Figure {
        let value = |round: &&RoundRow| {
            let value = self.ratio(round)?;
            Some(RoundValue { round_id: round.id, value, counts: self.counts(round) })
        };
        let figure = Figure::from_rounds(rounds.iter().filter_map(value).collect());
        match self.bound(rounds) {
            Some(bound) => Figure { estimate: figure.estimate.and_then(|mean| mean.reaching(bound.up_to)), ..figure },
            None => figure,
        }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use takt_lab::store::{Record, testing};

    /// A round of twenty subframes, of which as many failed; two of them are set aside, with so many of the failures.
    fn round(state: RoundState, failed: u64, failed_excluded: u64) -> RoundRow {
        let own = failed - failed_excluded;
        let result = json!({
            "failure_ratio": failed as f64 / 20.0,
            "own": { "failure_ratio": own as f64 / 18.0 },
            "segments": { "subframes": 10, "own": [[own, 8], [0, 10]], "all": [[failed, 10], [0, 10]] },
        });
        RoundRow { state, ..testing::round(0, Record { result, ..Record::default() }) }
    }

    fn bounds(rounds: &[RoundRow]) -> [(u64, u64); 2] {
        let rounds: Vec<&RoundRow> = rounds.iter().collect();
        [Account::Own, Account::All].map(|account| {
            let bound = account.bound(&rounds).expect("two rounds");
            (bound.failures, bound.trials)
        })
    }

    #[test]
    fn what_is_set_aside_and_rounds_that_do_not_count_stand_in_one_account() {
        let counted = [round(RoundState::Valid, 3, 1), round(RoundState::Valid, 0, 0)];
        assert_eq!(bounds(&counted), [(2, 36), (3, 40)]);
        let disturbed = [counted[0].clone(), counted[1].clone(), round(RoundState::Disturbed, 5, 0)];
        assert_eq!(bounds(&disturbed), [(2, 36), (8, 60)]);
        let figure = Account::Own.figure(&disturbed.iter().collect::<Vec<_>>());
        assert_eq!((figure.counted(), figure.rounds.len()), (2, 3), "every round is shown");
    }

    #[test]
    fn a_round_that_could_not_be_run_has_failed_in_both() {
        let could_not = RoundRow { record: None, ..round(RoundState::Failed, 0, 0) };
        let rounds = [round(RoundState::Valid, 0, 0), could_not];
        assert_eq!(bounds(&rounds), [(20, 38), (20, 40)]);
        for account in [Account::Own, Account::All] {
            assert_eq!(account.figure(&rounds.iter().collect::<Vec<_>>()).value, Some(0.5));
        }
        let skipped = RoundRow { record: None, ..round(RoundState::Skipped, 0, 0) };
        assert_eq!(Account::All.ratio(&skipped), None, "what can't be had on this host says nothing");
    }

    #[test]
    fn rounds_without_a_failure_do_not_say_that_none_can_fail() {
        let rounds = [round(RoundState::Valid, 0, 0), round(RoundState::Valid, 0, 0)];
        let rounds: Vec<&RoundRow> = rounds.iter().collect();
        for account in [Account::Own, Account::All] {
            let (figure, bound) = (account.figure(&rounds), account.bound(&rounds).expect("two rounds"));
            let interval = figure.estimate.map(|estimate| (estimate.low(), estimate.high()));
            assert_eq!((figure.value, interval), (Some(0.0), Some((0.0, bound.up_to))));
            assert!(bound.up_to > 0.1, "forty subframes: {bound:?}");
        }
    }

    #[test]
    fn rounds_of_older_versions_have_no_bound() {
        let mut old = round(RoundState::Valid, 1, 0);
        old.record.as_mut().and_then(|record| record.result.as_object_mut()).map(|result| result.remove("segments"));
        assert_eq!(Account::Own.bound(&[&old, &old]), None);
    }
}
