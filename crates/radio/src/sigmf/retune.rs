//! Changes of a recording's frequency: each at the first sample of its capture, by a command that carries that time.

use std::time::Duration;

use takt_base::{MonoNs, Stop, Tick, Ticks};

use super::runs::Runs;
use crate::board::Side;
use crate::n200::{CLOCK, N200};
use crate::{Radio, RadioError, TuneRequest};

/// Commands are sent so long before their time. Until then they hold back the radio's other settings, and a stop waits for them.
const HORIZON: Duration = Duration::from_millis(250);
/// A command that is sent later than this before its time may reach the radio after it.
const MARGIN: Duration = Duration::from_millis(1);

/// The frequencies that captures name, in the order in which they are due, over all turns. A capture without one changes nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Retunes {
    /// In one turn: the number of the capture, when it begins, counted from the first sample of the turn, and its frequency.
    named: Vec<(usize, Ticks, f64)>,
    /// How long a turn is.
    length: Ticks,
    turns: u64,
    turn: u64,
    next: usize,
    /// The number of the first capture that has samples.
    first: usize,
    current_hz: Option<f64>,
}

impl Retunes {
    /// The changes of a recording that is played `turns` times on a radio tuned to its first frequency. There are none unless it
    /// names two.
    pub(super) fn of(runs: &Runs, turns: u64) -> Retunes {
        let named = runs.captures.iter().filter_map(|c| Some((c.number, c.at, c.frequency_hz?)));
        let named: Vec<(usize, Ticks, f64)> = named.collect();
        let (first, current_hz) = runs.captures.first().map_or((0, None), |first| (first.number, first.frequency_hz));
        let retunes = Retunes { named, length: runs.length, turns, turn: 0, next: 0, first, current_hz };
        if retunes.first_change().is_some() { retunes } else { Retunes::default() }
    }

    /// The first capture that needs another frequency than the radio has: its number, and the frequency.
    fn first_change(&self) -> Option<(usize, f64)> {
        let change = self.named.iter().find(|(_, _, hz)| Some(*hz) != self.current_hz);
        change.map(|(number, _, hz)| (*number, *hz))
    }

    /// Whether the frequency stays as it is.
    pub(super) fn is_empty(&self) -> bool {
        self.named.is_empty()
    }

    /// The lowest and the highest frequency, if any change is due.
    pub(super) fn bounds_hz(&self) -> Option<[f64; 2]> {
        let all = || self.named.iter().map(|(_, _, hz)| *hz);
        Some([all().reduce(f64::min)?, all().reduce(f64::max)?])
    }

    /// Refuses changes that the radio can't make, before anything leaves.
    ///
    /// # Errors
    /// `Hops` for a radio that takt can't tune, `Range` for a frequency that its board does not have.
    pub(super) fn require(&self, radio: &Radio) -> Result<(), RadioError> {
        let (Some((capture, hz)), Some(bounds)) = (self.first_change(), self.bounds_hz()) else { return Ok(()) };
        let Radio::N200(n200) = radio else {
            let (first, first_hz) = (self.first, self.current_hz);
            return Err(RadioError::Hops { first, first_hz, capture, hz, model: radio.model() });
        };
        let Some(range) = n200.board().frequencies_hz(Side::Tx) else { return Ok(()) };
        match bounds.into_iter().find(|hz| !range.contains(*hz)) {
            Some(got) => Err(RadioError::Range { what: "frequency in Hz", got, low: range.low, high: range.high }),
            None => Ok(()),
        }
    }

    /// The next change, if it is due by `until`, counted from the first sample of all: when, and the frequency.
    fn due(&mut self, until: Ticks) -> Option<(Ticks, f64)> {
        while !self.is_empty() && self.turn < self.turns {
            let Some(&(_, at, hz)) = self.named.get(self.next) else {
                if self.first_change().is_none() {
                    self.named.clear(); // all that are left are the one that the radio has
                }
                (self.turn, self.next) = (self.turn + 1, 0);
                continue;
            };
            let at = Ticks(self.length.0.saturating_mul(self.turn)) + at;
            if Some(hz) != self.current_hz {
                if at > until {
                    return None;
                }
                (self.next, self.current_hz) = (self.next + 1, Some(hz));
                return Some((at, hz));
            }
            self.next += 1;
        }
        None
    }
}

/// Tunes an N200 while it plays.
struct Tuner<'a> {
    radio: &'a mut N200,
    retunes: Retunes,
    /// When the first sample leaves, on the radio's clock.
    start: Tick,
    /// The same on this host's, about.
    begins: MonoNs,
    /// Commands sent.
    sent: u64,
    /// Those of them that were sent less than 1 ms before their time, or after it.
    late: u64,
}

impl Tuner<'_> {
    /// Sends the commands that are due soon. Waits while the radio holds as many as it can.
    fn look(&mut self) -> Result<(), RadioError> {
        let speed = self.radio.speed().unwrap_or_default();
        let until = speed.ticks_in(CLOCK, self.now() + HORIZON - self.begins);
        while let Some((at, hz)) = self.retunes.due(until) {
            self.radio.set_command_time(Some(self.start + at))?;
            self.radio.tune_tx(TuneRequest::new(hz))?;
            self.sent += 1;
            self.late += u64::from(self.now() + MARGIN > self.begins + speed.duration_of(CLOCK, at));
        }
        self.radio.set_command_time(None)
    }

    fn now(&self) -> MonoNs {
        self.radio.net().now()
    }
}

/// A radio that plays, and is tuned on the way if the recording changes its frequency.
pub(super) struct Tuning<'a> {
    tuner: Option<Tuner<'a>>,
    failed: Option<RadioError>,
}

impl<'a> Tuning<'a> {
    /// Begins with a radio that is to send its first sample at `start`: at `begins` on this host's clock, about. Sends the commands
    /// that are due soon after.
    ///
    /// # Errors
    /// The radio does not answer, or can't be tuned there.
    pub(super) fn begin(
        radio: &'a mut Radio,
        retunes: Retunes,
        start: Tick,
        begins: MonoNs,
    ) -> Result<Tuning<'a>, RadioError> {
        let mut tuner = match radio {
            Radio::N200(radio) if !retunes.is_empty() => {
                Some(Tuner { radio, retunes, start, begins, sent: 0, late: 0 })
            }
            _ => None,
        };
        if let Some(tuner) = &mut tuner {
            tuner.look()?;
        }
        Ok(Tuning { tuner, failed: None })
    }

    /// Sends what has become due. If that fails, nothing more may leave: it stops the playing.
    pub(super) fn look(&mut self, stop: &Stop) {
        let Some(tuner) = self.tuner.as_mut().filter(|_| self.failed.is_none()) else { return };
        if let Err(error) = tuner.look() {
            self.failed = Some(error);
            stop.request();
        }
    }

    /// Commands sent, and how many of them were late.
    ///
    /// # Errors
    /// The failure of an earlier look.
    pub(super) fn end(self) -> Result<(u64, u64), RadioError> {
        match self.failed {
            Some(error) => Err(error),
            None => Ok(self.tuner.map_or((0, 0), |tuner| (tuner.sent, tuner.late))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::runs::Placed;
    use super::*;
    use proptest::prelude::*;

    fn retunes(captures: &[(u64, Option<f64>)], length: u64, turns: u64) -> Retunes {
        let placed =
            |(number, (at, hz)): (usize, &(u64, Option<f64>))| Placed { number, at: Ticks(*at), frequency_hz: *hz };
        let captures = captures.iter().enumerate().map(placed).collect();
        Retunes::of(&Runs { captures, length: Ticks(length), ..Runs::default() }, turns)
    }

    fn all(mut retunes: Retunes, until: u64) -> Vec<(u64, f64)> {
        std::iter::from_fn(|| retunes.due(Ticks(until))).map(|(at, hz)| (at.0, hz)).collect()
    }

    #[test] // F6: all was played at the first frequency, without a word
    fn each_capture_gets_its_frequency_in_every_turn() {
        let hops = retunes(&[(0, Some(900e6)), (10, None), (20, Some(950e6)), (30, Some(950e6))], 100, 2);
        assert_eq!(all(hops.clone(), u64::MAX), [(20, 950e6), (100, 900e6), (120, 950e6)]);
        assert_eq!(all(hops.clone(), 100), [(20, 950e6), (100, 900e6)]);
        assert!(all(hops.clone(), 19).is_empty());
        assert_eq!((hops.first_change(), hops.bounds_hz()), (Some((2, 950e6)), Some([900e6, 950e6])));
    }

    #[test]
    fn one_frequency_or_none_is_no_change_however_often_it_is_played() {
        for captures in [&[(0, Some(900e6)), (10, Some(900e6)), (20, None)][..], &[(0, None), (10, None)], &[]] {
            let still = retunes(captures, 100, u64::MAX);
            assert!(still.is_empty() && still.bounds_hz().is_none());
            assert!(all(still, u64::MAX).is_empty());
        }
        // A first capture that names none is played wherever the radio is.
        assert_eq!(all(retunes(&[(0, None), (10, Some(1e9))], 100, u64::MAX), u64::MAX), [(10, 1e9)]);
    }

    proptest! {
        /// However the looks fall, the same commands come in the same order, none before it is due.
        #[test]
        fn looks_change_nothing(
            frequencies in prop::collection::vec(prop::option::of(1u8..4), 0..8), turns in 0u64..5, looks in prop::collection::vec(0u64..60, 0..40),
        ) {
            let captures: Vec<_> =
                (0u64..).zip(&frequencies).map(|(n, hz)| (10 * n, hz.map(|hz| f64::from(hz) * 1e8))).collect();
            let made = || retunes(&captures, 10 * captures.len() as u64, turns);
            let (mut stepwise, mut seen, mut until) = (made(), Vec::new(), 0);
            for look in looks {
                until += look;
                while let Some((at, hz)) = stepwise.due(Ticks(until)) {
                    prop_assert!(at.0 <= until);
                    seen.push((at.0, hz));
                }
            }
            prop_assert_eq!(seen, all(made(), until));
        }
    }
}
