//! How far a run is.

use std::time::Duration;

use takt_load::{Lost, WorkloadKind};
use takt_radio::n200::Emission;

use crate::store::RoundState;

/// Reports of a run while it goes on.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// Before any round: what a radio that is not takt's own will transmit with.
    OnAir(Emission),
    Begins {
        label: String,
        attempt: u32,
    },
    /// A round has ended and is in the store.
    Ended {
        label: String,
        kind: WorkloadKind,
        state: RoundState,
        why: Option<String>,
        /// The loss, where the workload tells.
        lost: Option<Lost>,
    },
}

/// Receives each event, with the progress at that time.
pub type Report<'a> = &'a mut dyn FnMut(&Event, &Progress);

/// State of the run at an [`Event`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    /// Rounds that count or are skipped; those of earlier sessions included.
    pub done: usize,
    pub planned: usize,
    /// Expected time of the rest, judging by the rounds so far.
    pub remaining: Duration,
}

/// Estimates what remains: the time that rounds should take, times what they have taken over what they should have.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    taken_s: f64,
    nominal_s: f64,
}

impl Pace {
    /// A round that should have taken `nominal` took `taken`.
    pub(super) fn note(&mut self, nominal: Duration, taken: Duration) {
        self.nominal_s += nominal.as_secs_f64();
        self.taken_s += taken.as_secs_f64();
    }

    /// How long rounds take that should take `nominal`.
    pub(crate) fn expect(&self, nominal: Duration) -> Duration {
        let factor = if self.nominal_s > 0.0 { self.taken_s / self.nominal_s } else { FIRST_GUESS };
        nominal.mul_f64(factor.clamp(0.1, 100.0))
    }
}

/// Before any round has ended: bringing up an emulator and a session costs some tenths of a second beside it.
const FIRST_GUESS: f64 = 1.3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_remains_follows_what_was_taken() {
        let mut pace = Pace::default();
        assert_eq!(pace.expect(Duration::from_secs(100)), Duration::from_secs(130));
        pace.note(Duration::from_secs(2), Duration::from_secs(3));
        pace.note(Duration::from_secs(2), Duration::from_secs(5));
        assert_eq!(pace.expect(Duration::from_secs(100)), Duration::from_secs(200));
    }
}
