//! Whether both ends read the same clock, and if not, how far theirs are apart. Pure.

use serde::{Deserialize, Serialize};

/// A question for the time and its answer: the four stamps of RFC 5905, ns. Origin and destination are read from the
/// client's clock, receive and transmit from the server's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    pub origin: u64,
    pub receive: u64,
    pub transmit: u64,
    pub destination: u64,
}

/// How the two ends' monotonic clocks are related.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relation {
    /// Both ends run on one machine, whose clock they share: then offset and uncertainty are 0.
    pub shared: bool,
    /// The server's clock minus the client's, ns.
    pub offset_ns: i64,
    /// By how much that may be wrong, ns: half the shortest round trip.
    pub uncertainty_ns: u64,
    /// The shortest round trip between the ends before the round, ns, without the time the server took to answer.
    #[serde(default)]
    pub round_trip_ns: u64,
    /// How much further the server's clock was ahead after the round, ns, to twice the uncertainty. `None`: not requested, or
    /// one clock.
    #[serde(default)]
    pub drift_ns: Option<i64>,
}

impl Relation {
    /// With what was found after the round: a clock that was shared and is no longer was never.
    pub fn confirmed_by(self, after: &Relation) -> Relation {
        if self.shared && after.shared {
            return self;
        }
        let drift_ns = Some(after.offset_ns.saturating_sub(self.offset_ns));
        let uncertainty_ns = self.uncertainty_ns.max(after.uncertainty_ns);
        Relation { shared: false, uncertainty_ns, drift_ns, ..self }
    }
}

/// Kernel stamps are related to the monotonic clock to about this, ns.
const STAMP_ERROR_NS: u64 = 1000;

/// Judges probes. The clock is shared if both ends claim the same boot of the same machine **and** no probe was received
/// before it was sent, in either direction (a time namespace can shift the clock of one of them). Otherwise
/// the probe with the shortest round trip gives the offset. `None` without a probe.
pub fn relate(same_boot: bool, probes: &[Probe]) -> Option<Relation> {
    let best = probes.iter().min_by_key(|p| p.round_trip_ns())?;
    let round_trip_ns = best.round_trip_ns();
    let causal = |p: &Probe| {
        p.origin <= p.receive.saturating_add(STAMP_ERROR_NS) && p.receive <= p.transmit && p.transmit <= p.destination
    };
    if same_boot && probes.iter().all(causal) {
        return Some(Relation { shared: true, round_trip_ns, ..Relation::default() });
    }
    let [origin, receive, transmit, destination] =
        [best.origin, best.receive, best.transmit, best.destination].map(i128::from);
    let ahead = receive - origin + transmit - destination;
    let offset_ns = i64::try_from(ahead / 2).ok()?;
    Some(Relation { offset_ns, uncertainty_ns: round_trip_ns / 2, round_trip_ns, ..Relation::default() })
}

impl Probe {
    /// Time on the way there and back, without the time the server took.
    fn round_trip_ns(&self) -> u64 {
        let away = self.destination.saturating_sub(self.origin);
        away.saturating_sub(self.transmit.saturating_sub(self.receive))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(offset: i64, there: u64, back: u64) -> Probe {
        let server = |ns: u64| ns.checked_add_signed(offset).unwrap();
        let (origin, receive) = (1_000_000_000, 1_000_000_000 + there);
        let transmit = receive + 500;
        Probe { origin, receive: server(receive), transmit: server(transmit), destination: transmit + back }
    }

    fn two(offset_ns: i64, round_trip_ns: u64) -> Relation {
        Relation { offset_ns, uncertainty_ns: round_trip_ns / 2, round_trip_ns, ..Relation::default() }
    }

    fn one(round_trip_ns: u64) -> Relation {
        Relation { shared: true, round_trip_ns, ..Relation::default() }
    }

    #[test]
    fn one_machine_one_clock() {
        let relation = relate(true, &[probe(0, 30_000, 20_000), probe(0, 9000, 8000)]).unwrap();
        assert_eq!(relation, one(17_000));
        assert_eq!(relation.confirmed_by(&one(50_000)), relation);
    }

    #[test]
    fn the_same_boot_with_a_shifted_clock_is_not_one_clock() {
        for offset in [-1_000_000_000, 5_000_000] {
            let relation = relate(true, &[probe(offset, 30_000, 30_000)]).unwrap();
            assert_eq!(relation, two(offset, 60_000));
        }
    }

    #[test]
    fn another_machine_is_as_far_off_as_the_quickest_probe_says() {
        let relation = relate(false, &[probe(77_000, 900_000, 10_000), probe(77_000, 12_000, 10_000)]).unwrap();
        assert_eq!(relation, two(78_000, 22_000));
        assert_eq!(relate(true, &[]), None);
    }

    #[test]
    fn a_clock_that_moved_meanwhile_is_reported() {
        let (before, after) = (two(78_000, 22_000), two(70_000, 40_000));
        let expected = Relation { uncertainty_ns: 20_000, drift_ns: Some(-8000), ..before };
        assert_eq!(before.confirmed_by(&after), expected);
        assert_eq!(one(9).confirmed_by(&after).drift_ns, Some(70_000), "it was not one clock after all");
    }

    #[test]
    fn hostile_stamps_do_no_harm() {
        let wild = Probe { origin: u64::MAX, receive: 0, transmit: u64::MAX, destination: 0 };
        assert!(relate(false, &[wild]).is_some_and(|r| !r.shared));
        assert!(relate(false, &[Probe { origin: 0, receive: u64::MAX, transmit: u64::MAX, destination: 0 }]).is_none());
    }
}
