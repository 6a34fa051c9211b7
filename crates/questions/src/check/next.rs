//! The way on from an answer that is open.

use takt_host::call;
use takt_radio::n200::ALLOW_TRANSMIT;

use super::{CheckAnswer, CheckOutcome, RadioSetup};

/// Advice after a run that was interrupted, or could not tell.
pub(super) fn next(outcome: &CheckOutcome) -> Option<String> {
    let rounds = &outcome.rounds;
    if !outcome.about.complete {
        let settled = rounds.valid + rounds.skipped;
        let planned = rounds.planned;
        return Some(format!(
            "Stopped after {settled} of {planned} rounds; they are kept. The same command with --resume runs the rest."
        ));
    }
    if outcome.verdict.answer == CheckAnswer::Unknown && outcome.setup.receive_only.is_some() {
        return Some(format!(
            "Nothing was sent to the radio, since it is not takt's own. To transmit, {ALLOW_TRANSMIT}."
        ));
    }
    (outcome.verdict.answer == CheckAnswer::Unknown).then(|| match &outcome.setup.radio {
        RadioSetup::Given { addr, emulator: true, .. } => format!(
            "The rounds that count do not tell. If the emulator at {addr} was late, start it with --policy fifo:60, as \
             root, and check again."
        ),
        _ => {
            let as_root = call::sudo_again().map_or_else(String::new, |command| format!(", as root: {command}"));
            format!(
                "The rounds that count do not tell. End what else runs on this machine and check again{as_root}\nOr run \
                 `takt emulate` on a second machine and check with --addr."
            )
        }
    })
}
