//! What of a round of streaming is this host's own doing, and what may be the radio's.

use takt_emulator::emulate::Summary;

use crate::run::Spoilt;
use crate::workload::rate::{Letter, Outcome};

/// A round, parted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Own {
    /// Nothing went wrong that is not set aside.
    pub(super) clean: bool,
    /// Share of the measured part that is set aside, 0 to 1.
    pub(super) aside_share: f64,
    /// Faults that are.
    pub(super) aside_faults: u64,
}

/// Parts a round by what its radio says of itself. Faults without a time, and those that are no matter of an instant (a
/// reader that falls behind, a count that does not come out), are this host's.
pub(super) fn part(outcome: &Outcome, emulator: Option<&Summary>) -> Own {
    let spoilt = Spoilt::by(emulator);
    let unread: u64 = emulator
        .iter()
        .flat_map(|summary| &summary.devices)
        .filter_map(|device| device.datagrams.receive_buffer_drops)
        .sum();
    let faults = || outcome.rx.faults.list.iter().chain(&outcome.tx.faults.list);
    // What its own socket dropped the radio calls missing: as many, whenever.
    let mut unread_left = unread;
    let mut aside = |letter: Letter| {
        let taken = letter == Letter::S && unread_left > 0;
        unread_left -= u64::from(taken);
        taken
    };
    let aside_faults = faults().filter(|fault| spoilt.covers(fault) || aside(fault.letter)).count() as u64;
    let all_faults = outcome.fault_count().max(faults().count() as u64);
    let own_faults = all_faults - aside_faults + outcome.rx.faults.more + outcome.tx.faults.more;
    Own {
        clean: outcome.clean || (own_faults == 0 && aside_faults > 0 && outcome.is_clean_but_for_faults()),
        aside_share: spoilt.share_of(outcome.span_ticks()),
        aside_faults,
    }
}
