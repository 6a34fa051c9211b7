//! Whether a round counts.

use serde::{Deserialize, Serialize};

use crate::experiment::Valid;
use crate::store::RoundState;

/// What else went on during a round.
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
    /// That limit, µs.
    pub emulator_limit_us: u64,
    /// Largest lag of the emulator, µs.
    pub emulator_lag_max_us: u64,
    /// Share of what the workload itself set aside, since the emulator was late or the hypervisor stopped a core, 0 to 1;
    /// `None` for a workload that does not.
    #[serde(default)]
    pub aside_share: Option<f64>,
    /// Something went wrong while the emulator had to share the host side's core. It runs at a higher priority, so that
    /// its share of the work is what the host side lacks.
    #[serde(default)]
    pub emulator_in_the_way: bool,
}

impl Valid {
    /// What a round under these conditions is, and why, if it does not count. A late emulator is named first: it may be
    /// late because of the other load, but what it says about the host is nothing either way.
    #[must_use]
    pub fn judge(&self, seen: &Conditions) -> (RoundState, Option<String>) {
        let aside = seen.aside_share.unwrap_or_default();
        if aside > self.aside_share_max {
            let [aside, limit] = [aside, self.aside_share_max].map(|share| (share * 100.0).round());
            let why = format!(
                "{aside} % of it had to be set aside, since the emulator was late or a core stood still (limit {limit} %)"
            );
            return (RoundState::EmulatorLate, Some(why));
        }
        if seen.aside_share.is_none() && seen.emulator_late > self.emulator_late_max {
            let Conditions { emulator_late, emulator_limit_us, emulator_lag_max_us, .. } = seen;
            let datagrams = datagrams(*emulator_late);
            let why = format!(
                "the emulator sent {datagrams} later than its limit of {emulator_limit_us} µs \
                 (at most {emulator_lag_max_us} µs late)"
            );
            return (RoundState::EmulatorLate, Some(why));
        }
        if seen.emulator_unread > 0 {
            let why = format!("the emulator did not read {} in time", datagrams(seen.emulator_unread));
            return (RoundState::EmulatorLate, Some(why));
        }
        if seen.emulator_in_the_way {
            return (RoundState::EmulatorLate, Some(SHARES.into()));
        }
        let over = |share: f64, limit: f64, who: &str| {
            let percent = |share: f64| (share * 1000.0).round() / 10.0;
            (share > limit)
                .then(|| format!("{who} {} % of the machine's CPU time (limit {} %)", percent(share), percent(limit)))
        };
        let why = over(seen.foreign_cpu_share, self.foreign_cpu_share_max, "other programs used")
            .or_else(|| over(seen.steal_share, self.steal_share_max, "the hypervisor took"));
        match why {
            Some(why) => (RoundState::Disturbed, Some(why)),
            None => (RoundState::Valid, None),
        }
    }
}

/// Why a round with [`Conditions::emulator_in_the_way`] does not count.
pub(crate) const SHARES: &str = "the emulator shares the host side's core, and comes first";

fn datagrams(count: u64) -> String {
    if count == 1 { "1 datagram".into() } else { format!("{count} datagrams") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_counts_if_nothing_else_went_on() {
        let valid = Valid { foreign_cpu_share_max: 0.05, steal_share_max: 0.02, ..Valid::default() };
        let quiet = Conditions { foreign_cpu_share: 0.05, steal_share: 0.02, ..Conditions::default() };
        assert_eq!(valid.judge(&quiet), (RoundState::Valid, None));
        let (state, why) = valid.judge(&Conditions { foreign_cpu_share: 0.2071, ..quiet });
        assert_eq!(state, RoundState::Disturbed);
        assert_eq!(why.as_deref(), Some("other programs used 20.7 % of the machine's CPU time (limit 5 %)"));
        let (state, why) = valid.judge(&Conditions { steal_share: 0.03, ..quiet });
        assert_eq!(state, RoundState::Disturbed);
        assert!(why.is_some_and(|why| why.starts_with("the hypervisor took 3 %")));
    }

    #[test]
    fn a_workload_that_sets_aside_what_a_late_emulator_spoilt_is_judged_by_how_much_that_is() {
        let seen = |share| Conditions { emulator_late: 90, aside_share: Some(share), ..Conditions::default() };
        assert_eq!(Valid::default().judge(&seen(0.3)).0, RoundState::Valid);
        let (state, why) = Valid::default().judge(&seen(0.61));
        let said = "61 % of it had to be set aside, since the emulator was late or a core stood still (limit 50 %)";
        assert_eq!((state, why.as_deref()), (RoundState::EmulatorLate, Some(said)));
    }

    #[test]
    fn what_goes_wrong_on_a_core_shared_with_the_emulator_does_not_count() {
        let (state, why) = Valid::default().judge(&Conditions { emulator_in_the_way: true, ..Conditions::default() });
        assert_eq!((state, why.as_deref()), (RoundState::EmulatorLate, Some(SHARES)));
    }

    #[test]
    fn a_late_emulator_is_named_before_the_load_that_may_have_made_it_late() {
        let late = Conditions {
            foreign_cpu_share: 0.9,
            emulator_late: 7,
            emulator_limit_us: 500,
            emulator_lag_max_us: 1800,
            ..Conditions::default()
        };
        let (state, why) = Valid::default().judge(&late);
        assert_eq!(state, RoundState::EmulatorLate);
        let why = why.unwrap_or_default();
        let (state, said) = Valid::default().judge(&Conditions { emulator_unread: 2, ..Conditions::default() });
        assert_eq!(
            (state, said.as_deref()),
            (RoundState::EmulatorLate, Some("the emulator did not read 2 datagrams in time"))
        );
        assert_eq!(why, "the emulator sent 7 datagrams later than its limit of 500 µs (at most 1800 µs late)");
    }
}
