//! Whether a round counts.

use serde::{Deserialize, Serialize};
use takt_base::words::plural;
use takt_host::accounting::Usage;
use takt_testbed::Lateness;

use crate::experiment::Valid;
use crate::store::RoundState;

/// Conditions beside a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conditions {
    /// Share of the machine's CPU time used by others, 0 to 1.
    pub foreign_cpu_share: f64,
    /// Share of the machine's CPU time that the hypervisor took, 0 to 1.
    pub steal_share: f64,
    /// Datagrams lost because the emulator did not read them in time; 0 with a real radio.
    pub emulator_unread: u64,
    /// Datagrams that the emulator sent later than its limit; 0 with a real radio.
    pub emulator_late: u64,
    pub emulator_limit_us: u64,
    pub emulator_lag_max_us: u64,
    /// Share of the round that is excluded, since the emulator was late or the hypervisor stopped a core, 0 to 1; `None`
    /// without an emulator.
    #[serde(default)]
    pub excluded_share: Option<f64>,
}

impl Conditions {
    /// `usage` names the agents as companions, so that their work is not foreign. Soft interrupts are left out, since no
    /// process pays for them: most are takt's own datagrams. `excluded_share`: how much of the round is excluded.
    pub(crate) fn of(usage: &Usage, emulator: Option<Lateness>, excluded_share: Option<f64>) -> Conditions {
        let total_ns = usage.machine.total_ns().max(1) as f64;
        let devices = emulator.iter().flat_map(|lateness| &lateness.devices);
        let emulator_unread = devices.filter_map(|device| device.datagrams.receive_buffer_drops).sum();
        let lag = emulator.map(|lateness| lateness.lag).unwrap_or_default();
        Conditions {
            foreign_cpu_share: usage.foreign_task_cpu_ns as f64 / total_ns,
            steal_share: usage.machine.steal_ns as f64 / total_ns,
            emulator_late: lag.over_limit,
            emulator_unread,
            emulator_limit_us: lag.limit_us,
            emulator_lag_max_us: lag.max_us,
            excluded_share,
        }
    }
}

impl Valid {
    /// State of a round under these conditions, and why, if it does not count. The result of the round plays no part. A
    /// late emulator is named first: the other load may have made it late, but such a round says nothing about the
    /// host.
    #[must_use]
    pub fn judge(&self, conditions: &Conditions) -> (RoundState, Option<String>) {
        let excluded = conditions.excluded_share.unwrap_or_default();
        if excluded > self.excluded_share_max {
            let [excluded, limit] = [excluded, self.excluded_share_max].map(|share| (share * 100.0).round());
            let why = format!(
                "{excluded} % of it is excluded, because the emulator was late (at most {} ms) or a core stood still (limit \
                 {limit} %)",
                conditions.emulator_lag_max_us as f64 / 1e3
            );
            return (RoundState::EmulatorLate, Some(why));
        }
        if conditions.emulator_unread > 0 {
            let why = format!("the emulator did not read {} in time", plural(conditions.emulator_unread, "datagram"));
            return (RoundState::EmulatorLate, Some(why));
        }
        let over = |share: f64, limit: f64, who: &str| {
            let percent = |share: f64| (share * 1000.0).round() / 10.0;
            (share > limit)
                .then(|| format!("{who} {} % of the machine's CPU time (limit {} %)", percent(share), percent(limit)))
        };
        let why = over(conditions.foreign_cpu_share, self.foreign_cpu_share_max, "other programs used")
            .or_else(|| over(conditions.steal_share, self.steal_share_max, "the hypervisor took"));
        match why {
            Some(why) => (RoundState::Disturbed, Some(why)),
            None => (RoundState::Valid, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_counts_if_nothing_else_went_on() {
        use RoundState::{Disturbed, EmulatorLate, Valid as Counts};
        let valid = Valid { foreign_cpu_share_max: 0.05, steal_share_max: 0.02, ..Valid::default() };
        let quiet = Conditions { foreign_cpu_share: 0.05, steal_share: 0.02, ..Conditions::default() };
        let late = |share| Conditions { emulator_late: 90, excluded_share: Some(share), ..quiet };
        let loaded = Conditions { foreign_cpu_share: 0.2071, ..quiet };
        let used = "other programs used 20.7 % of the machine's CPU time (limit 5 %)";
        let stolen = Conditions { steal_share: 0.03, ..quiet };
        let taken = "the hypervisor took 3 % of the machine's CPU time (limit 2 %)";
        let both = Conditions { foreign_cpu_share: 0.9, emulator_lag_max_us: 1800, ..late(0.7) };
        let excluded = |percent_and_lag: [&str; 2]| {
            let [percent, lag] = percent_and_lag;
            format!(
                "{percent} % of it is excluded, because the emulator was late (at most {lag} ms) or a core stood still (limit \
                 50 %)"
            )
        };
        let unread = Conditions { emulator_unread: 2, ..quiet };
        let not_read = "the emulator did not read 2 datagrams in time";
        for (name, conditions, state, why) in [
            ("quiet", quiet, Counts, None),
            ("other load", loaded, Disturbed, Some(used.into())),
            ("stolen", stolen, Disturbed, Some(taken.into())),
            ("a part excluded", late(0.3), Counts, None),
            ("most of it excluded", late(0.61), EmulatorLate, Some(excluded(["61", "0"]))),
            ("late, and the load that may have made it so", both, EmulatorLate, Some(excluded(["70", "1.8"]))),
            ("not read", unread, EmulatorLate, Some(not_read.into())),
        ] {
            assert_eq!(valid.judge(&conditions), (state, why), "{name}");
        }
    }
}
