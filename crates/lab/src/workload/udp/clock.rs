//! Whether both ends read the same clock, and if not, how far theirs are apart. Pure.

use serde::{Deserialize, Serialize};

/// A question for the time and its answer: RFC 5905's four stamps, ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// Asked, on the client's clock.
    pub asked: u64,
    /// Heard, on the server's.
    pub heard: u64,
    /// Answered, on the server's.
    pub answered: u64,
    /// Told, on the client's.
    pub told: u64,
}

/// How the two ends' monotonic clocks are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relation {
    /// Both ends run on one machine, whose clock they share: then offset and uncertainty are 0.
    pub shared: bool,
    /// The server's clock minus the client's, ns.
    pub offset_ns: i64,
    /// By how much that may be wrong, ns: half the shortest round trip.
    pub uncertainty_ns: u64,
}

/// Kernel stamps are related to the monotonic clock to about this, ns.
const STAMP_ERROR_NS: u64 = 1000;

/// Judges probes. The clock is shared if both ends claim the same boot of the same machine **and** no probe was heard
/// before it was asked or told before it was answered (a time namespace can shift the clock of one of them). Otherwise
/// the probe with the shortest round trip gives the offset. `None` without a probe.
#[must_use]
pub fn relate(same_boot: bool, probes: &[Probe]) -> Option<Relation> {
    let best = probes.iter().min_by_key(|p| p.round_trip_ns())?;
    let causal =
        |p: &Probe| p.asked <= p.heard.saturating_add(STAMP_ERROR_NS) && p.heard <= p.answered && p.answered <= p.told;
    if same_boot && probes.iter().all(causal) {
        return Some(Relation { shared: true, offset_ns: 0, uncertainty_ns: 0 });
    }
    let ahead = i128::from(best.heard) - i128::from(best.asked) + i128::from(best.answered) - i128::from(best.told);
    let offset_ns = i64::try_from(ahead / 2).ok()?;
    Some(Relation { shared: false, offset_ns, uncertainty_ns: best.round_trip_ns() / 2 })
}

impl Probe {
    /// Time on the way there and back, without the time the server took.
    fn round_trip_ns(&self) -> u64 {
        let away = self.told.saturating_sub(self.asked);
        away.saturating_sub(self.answered.saturating_sub(self.heard))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(offset: i64, there: u64, back: u64) -> Probe {
        let server = |ns: u64| ns.checked_add_signed(offset).unwrap();
        let (asked, heard) = (1_000_000_000, 1_000_000_000 + there);
        Probe { asked, heard: server(heard), answered: server(heard + 500), told: heard + 500 + back }
    }

    #[test]
    fn one_machine_one_clock() {
        let relation = relate(true, &[probe(0, 30_000, 20_000), probe(0, 9000, 8000)]).unwrap();
        assert_eq!(relation, Relation { shared: true, offset_ns: 0, uncertainty_ns: 0 });
    }

    #[test]
    fn the_same_boot_with_a_shifted_clock_is_not_one_clock() {
        for offset in [-1_000_000_000, 5_000_000] {
            let relation = relate(true, &[probe(offset, 30_000, 30_000)]).unwrap();
            assert_eq!(relation, Relation { shared: false, offset_ns: offset, uncertainty_ns: 30_000 });
        }
    }

    #[test]
    fn another_machine_is_as_far_off_as_the_quickest_probe_says() {
        let relation = relate(false, &[probe(77_000, 900_000, 10_000), probe(77_000, 12_000, 10_000)]).unwrap();
        assert_eq!(relation, Relation { shared: false, offset_ns: 78_000, uncertainty_ns: 11_000 });
        assert_eq!(relate(true, &[]), None);
    }

    #[test]
    fn hostile_stamps_do_no_harm() {
        let wild = Probe { asked: u64::MAX, heard: 0, answered: u64::MAX, told: 0 };
        assert!(relate(false, &[wild]).is_some_and(|r| !r.shared));
        assert!(relate(false, &[Probe { asked: 0, heard: u64::MAX, answered: u64::MAX, told: 0 }]).is_none());
    }
}
