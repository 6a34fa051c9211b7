//! What else went on during a round, from the accounts of the machine and of the emulator.

use serde::Deserialize;
use serde_json::Value;
use takt_emulator::emulate::Summary;
use takt_host::accounting::Usage;

use crate::environment::Placement;
use crate::run::Conditions;

/// `usage` names the agents as companions, so that their work is not foreign. Soft interrupts belong to nobody and are
/// left out: most of them are our own datagrams. `clean`: nothing went wrong. `aside_share`: what the workload itself set aside.
pub(super) fn of(
    usage: &Usage,
    emulator: &Value,
    placement: &Placement,
    clean: bool,
    aside_share: Option<f64>,
) -> Conditions {
    let total_ns = usage.machine.total_ns().max(1) as f64;
    let summary = Summary::deserialize(emulator).ok();
    let unread =
        summary.iter().flat_map(|summary| &summary.devices).filter_map(|d| d.datagrams.receive_buffer_drops).sum();
    let lag = summary.map(|summary| summary.lag).unwrap_or_default();
    Conditions {
        foreign_cpu_share: usage.foreign_task_cpu_ns as f64 / total_ns,
        steal_share: usage.machine.steal_ns as f64 / total_ns,
        emulator_late: lag.over_limit,
        emulator_unread: unread,
        emulator_limit_us: lag.limit_us,
        emulator_lag_max_us: lag.max_us,
        aside_share,
        emulator_in_the_way: placement.shared() && !emulator.is_null() && !clean,
    }
}
