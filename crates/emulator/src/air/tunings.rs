//! Where a receiver is tuned to, since when: samples leave some time after they were taken, and belong to what held then.

use std::collections::VecDeque;

use takt_base::Tick;

/// Tunings that are remembered: a host that makes more of them within the latency has the oldest forgotten.
const REMEMBERED: usize = 64;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Tuning {
    pub(super) from: Tick,
    /// The radio frequency that is 0 Hz in the samples.
    pub(super) centre_hz: f64,
    /// That of the oscillator; `None`: not known, so where the centre is.
    pub(super) oscillator_hz: Option<f64>,
}

pub(super) struct Tunings {
    /// In order; never empty.
    list: VecDeque<Tuning>,
}

impl Tunings {
    pub(super) fn new() -> Tunings {
        let mut list = VecDeque::with_capacity(REMEMBERED + 1);
        list.push_back(Tuning::default());
        Tunings { list }
    }

    fn last(&self) -> Tuning {
        self.list.back().copied().unwrap_or_default()
    }

    pub(super) fn centre(&mut self, from: Tick, centre_hz: f64) {
        self.push(Tuning { from, centre_hz, ..self.last() });
    }

    pub(super) fn oscillator(&mut self, from: Tick, hz: f64) {
        self.push(Tuning { from, oscillator_hz: Some(hz), ..self.last() });
    }

    fn push(&mut self, tuning: Tuning) {
        if self.last().from >= tuning.from {
            self.list.pop_back();
        }
        self.list.push_back(tuning);
        if self.list.len() > REMEMBERED {
            self.list.pop_front();
        }
    }

    /// What holds at a tick, and until when.
    pub(super) fn at(&self, tick: Tick) -> (Tuning, Option<Tick>) {
        let later = self.list.iter().rposition(|tuning| tuning.from <= tick).map_or(1, |at| at + 1);
        let held = self.list.get(later - 1).copied().unwrap_or_default();
        (held, self.list.get(later).map(|next| next.from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tick_has_what_held_then() {
        let mut tunings = Tunings::new();
        tunings.centre(Tick(100), 1e9);
        tunings.oscillator(Tick(100), 0.9e9);
        tunings.centre(Tick(200), 2e9);
        let at = |tick| tunings.at(Tick(tick));
        assert_eq!(at(99), (Tuning::default(), Some(Tick(100))));
        assert_eq!((at(100).0.centre_hz, at(100).0.oscillator_hz, at(100).1), (1e9, Some(0.9e9), Some(Tick(200))));
        assert_eq!((at(500).0.centre_hz, at(500).0.oscillator_hz, at(500).1), (2e9, Some(0.9e9), None));
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let mut tunings = Tunings::new();
        (1..=1000).for_each(|n| tunings.centre(Tick(n), n as f64));
        assert_eq!(tunings.at(Tick(999)).0.centre_hz, 999.0);
        assert_eq!(tunings.at(Tick(3)).0.centre_hz, 937.0, "the oldest still known");
        assert_eq!(tunings.list.capacity(), Tunings::new().list.capacity());
    }
}
