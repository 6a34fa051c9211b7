//! What a round measures, one file a measure. Each gives one number, of which less is better.

mod clock;
mod datagram;
mod loss;
mod spin;
mod wakeup;

use std::time::Duration;

use takt_base::Stop;
use takt_host::doctor::Measure;

use super::MeasureError;

/// The shortest round that can tell anything.
pub(super) fn shortest(measure: Measure) -> Duration {
    match measure {
        Measure::SpinGap => spin::AT_LEAST,
        // In a shorter one the reader is not away once, and nothing is lost whatever the buffer.
        Measure::LossOfLargest | Measure::LossOfDefault => loss::EVERY,
        Measure::Datagram => datagram::AT_LEAST,
        Measure::WakeUp | Measure::WakeUpLoaded | Measure::ClockReading => Duration::ZERO,
    }
}

/// One round. Raised, `stop` ends it early, and its number is not to be used.
pub(super) fn measure(measure: Measure, round: Duration, stop: &Stop) -> Result<f64, MeasureError> {
    match measure {
        Measure::WakeUp => wakeup::lateness_ns(round, wakeup::Beside::Nobody, stop),
        Measure::WakeUpLoaded => wakeup::lateness_ns(round, wakeup::Beside::Loops, stop),
        Measure::SpinGap => spin::longest_gap_ns(round, stop),
        Measure::LossOfLargest => loss::share(round, loss::Buffer::Largest, stop),
        Measure::LossOfDefault => loss::share(round, loss::Buffer::Default, stop),
        Measure::Datagram => datagram::ns(round, stop),
        Measure::ClockReading => Ok(clock::reading_ns()),
    }
}
