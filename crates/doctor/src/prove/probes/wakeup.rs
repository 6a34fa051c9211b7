//! How late threads wake that should wake every millisecond.

use std::time::Duration;

use takt_base::Stop;
use takt_host::Host;
use takt_host::affinity::own_cpus;
use takt_host::policy::PolicySpec;
use takt_wakeup::{WakeupOptions, run};

use crate::prove::MeasureError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Background {
    /// Nobody of ours; the threads have real-time priority where it is granted.
    Idle,
    /// Two busy loops a CPU; the threads have normal priority, and no timer slack.
    Loops,
}

const FIFO: u8 = 50;

/// 99th percentile of the lateness of all CPUs' wake-ups, ns.
pub(super) fn lateness_ns(round: Duration, background: Background, stop: &Stop) -> Result<f64, MeasureError> {
    let granted = matches!(Host::this().attempt_fifo_of(FIFO), Some(Ok(())));
    let options = match background {
        Background::Idle => {
            let policy = if granted { PolicySpec::Fifo(FIFO) } else { PolicySpec::default() };
            WakeupOptions { policy, duration: round, ..WakeupOptions::default() }
        }
        Background::Loops => WakeupOptions {
            load: u32::try_from(own_cpus().len() * 2).unwrap_or(u32::MAX),
            slack: Some(Duration::from_nanos(1)),
            duration: round,
            ..WakeupOptions::default()
        },
    };
    let outcome = run(&options, &mut |_| {}, stop)?;
    outcome.lateness_ns.quantile(0.99).map(|ns| ns as f64).ok_or(MeasureError::Nothing)
}
