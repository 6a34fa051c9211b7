//! What else went on during a round, from the accounts of the machine and of the emulator.

use takt_host::accounting::Usage;
use takt_testbed::Lateness;

use crate::run::Conditions;

/// `usage` names the agents as companions, so that their work is not foreign. Soft interrupts belong to nobody and are
/// left out: most of them are our own datagrams. `aside_share`: how much of the round is set aside.
pub(super) fn of(usage: &Usage, emulator: Option<Lateness>, aside_share: Option<f64>) -> Conditions {
    let total_ns = usage.machine.total_ns().max(1) as f64;
    let devices = emulator.iter().flat_map(|lateness| &lateness.devices);
    let unread = devices.filter_map(|device| device.datagrams.receive_buffer_drops).sum();
    let lag = emulator.map(|lateness| lateness.lag).unwrap_or_default();
    Conditions {
        foreign_cpu_share: usage.foreign_task_cpu_ns as f64 / total_ns,
        steal_share: usage.machine.steal_ns as f64 / total_ns,
        emulator_late: lag.over_limit,
        emulator_unread: unread,
        emulator_limit_us: lag.limit_us,
        emulator_lag_max_us: lag.max_us,
        aside_share,
    }
}
