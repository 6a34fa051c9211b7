//! The measurements of a round, one file each. Each gives one number; less is better.

mod clock;
pub(super) mod datagram;
mod loss;
mod spin;
mod wakeup;

use std::time::Duration;

use crate::Measure;
use takt_base::Stop;

use super::MeasureError;

/// The shortest round that can tell anything.
pub(super) fn shortest(measure: Measure) -> Duration {
    match measure {
        Measure::SpinGap => spin::AT_LEAST,
        // In a shorter one the reader is not away once, and nothing is lost whatever the buffer.
        Measure::Loss => loss::EVERY,
        Measure::Datagram => datagram::AT_LEAST,
        Measure::WakeUp | Measure::WakeUpLoaded | Measure::ClockReading => Duration::ZERO,
    }
}

/// One round. Raised, `stop` ends it early, and its number is not to be used.
pub(super) fn measure(measure: Measure, round: Duration, stop: &Stop) -> Result<f64, MeasureError> {
    match measure {
        Measure::WakeUp => wakeup::lateness_ns(round, wakeup::Background::Idle, stop),
        Measure::WakeUpLoaded => wakeup::lateness_ns(round, wakeup::Background::Loops, stop),
        Measure::SpinGap => spin::longest_gap_ns(round, stop),
        Measure::Loss => loss::share(round, stop),
        Measure::Datagram => datagram::ns(round, stop),
        Measure::ClockReading => Ok(clock::reading_ns()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_of_a_round_are_counted_by_the_hosts_clock() {
        // On a host that is too busy nothing may arrive in a round, which is then measured again.
        let ns = takt_testing::wait_for("a round in which something arrives", || {
            match measure(Measure::Datagram, shortest(Measure::Datagram), &Stop::new()) {
                Err(MeasureError::Nothing) => None,
                measured => Some(measured.unwrap()),
            }
        });
        assert!(ns > 0.0);
    }

    #[test]
    fn a_round_of_losses_lasts_until_the_reader_has_been_away() {
        assert!(shortest(Measure::Loss) >= loss::EVERY);
        let share = measure(Measure::Loss, Duration::from_millis(1), &Stop::new()).unwrap();
        assert!((0.0..=1.0).contains(&share), "{share}");
    }
}
