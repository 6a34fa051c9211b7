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
    /// Share of the round that is set aside, since the emulator was late or the hypervisor stopped a core, 0 to 1; `None`
    /// without an emulator.
    #[serde(default)]
    pub aside_share: Option<f64>,
}

impl Valid {
    /// What a round under these conditions is, and why, if it does not count: never by what became of it. A late emulator is
    /// named first: it may be late because of the other load, but what it says about the host is nothing either way.
    #[must_use]
    pub fn judge(&self, seen: &Conditions) -> (RoundState, Option<String>) {
        let aside = seen.aside_share.unwrap_or_default();
        if aside > self.aside_share_max {
            let [aside, limit] = [aside, self.aside_share_max].map(|share| (share * 100.0).round());
            let why = format!(
                "{aside} % of it is set aside, since the emulator was late (at most {} ms) or a core stood still (limit \
                 {limit} %)",
                seen.emulator_lag_max_us as f64 / 1e3
            );
            return (RoundState::EmulatorLate, Some(why));
        }
        if seen.emulator_unread > 0 {
            let why = format!("the emulator did not read {} in time", datagrams(seen.emulator_unread));
            return (RoundState::EmulatorLate, Some(why));
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
        let said =
            "61 % of it is set aside, since the emulator was late (at most 0 ms) or a core stood still (limit 50 %)";
        assert_eq!((state, why.as_deref()), (RoundState::EmulatorLate, Some(said)));
    }

    #[test]
    fn a_late_emulator_is_named_before_the_load_that_may_have_made_it_late() {
        let late = Conditions {
            foreign_cpu_share: 0.9,
            emulator_lag_max_us: 1800,
            aside_share: Some(0.7),
            ..Conditions::default()
        };
        let (state, why) = Valid::default().judge(&late);
        let said =
            "70 % of it is set aside, since the emulator was late (at most 1.8 ms) or a core stood still (limit 50 %)";
        assert_eq!((state, why.as_deref()), (RoundState::EmulatorLate, Some(said)));
        let (state, said) = Valid::default().judge(&Conditions { emulator_unread: 2, ..Conditions::default() });
        assert_eq!(
            (state, said.as_deref()),
            (RoundState::EmulatorLate, Some("the emulator did not read 2 datagrams in time"))
        );
    }
}
