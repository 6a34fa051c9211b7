//! How late threads wake that should beat once a millisecond.

use std::time::Duration;

use takt_base::Stop;
use takt_host::Host;
use takt_host::affinity::own_cpus;
use takt_host::policy::PolicySpec;
use takt_load::wakeup::{Options, run};

use crate::prove::MeasureError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    /// Nobody of ours; the threads have real-time priority where it is granted.
    Nobody,
    /// Two busy loops a CPU; the threads have normal priority, and no timer slack.
    Loops,
}

const FIFO: u8 = 50;

/// What 99 % of wake-ups of all CPUs do not exceed, from their intended times, nanoseconds.
pub(super) fn lateness_ns(round: Duration, beside: Beside, stop: &Stop) -> Result<f64, MeasureError> {
    let granted = matches!(Host::this().attempt_fifo_of(FIFO), Some(Ok(())));
    let options = match beside {
        Beside::Nobody => {
            let policy = if granted { PolicySpec::Fifo(FIFO) } else { PolicySpec::default() };
            Options { policy, duration: round, ..Options::default() }
        }
        Beside::Loops => Options {
            load: u32::try_from(own_cpus().len() * 2).unwrap_or(u32::MAX),
            slack: Some(Duration::from_nanos(1)),
            duration: round,
            ..Options::default()
        },
    };
    let outcome = run(&options, &mut |_| {}, stop)?;
    outcome.lateness_ns.quantile(0.99).map(|ns| ns as f64).ok_or(MeasureError::Nothing)
}
