//! Place of slot 0 on this machine's clock, by two opinions: PTP's, and takt's own estimate.
//!
//! PTP's opinion counts while its clock is synchronised. While it is not, the last one is held, with a bound that grows; once takt's
//! own estimate is the better one, that one counts until PTP is back. Whichever counts, slots move by small steps.

use std::collections::VecDeque;

use super::PtpError;
use super::error::identity;
use super::service::Synchronised;
use super::system::Ahead;
use crate::clock::offset::STEP_NS;

/// How far a clock may drift that nothing corrects any more: more than any crystal does, and what Linux takes for its own
/// `maxerror` (adjtimex(2)).
const DRIFT_PPM: u64 = 500;

/// Distances to the master that are looked back on.
const KEPT: usize = 16;

/// PTP corrects a clock by less in between, beside what it drifted while it was lost; more means that it was set.
const SET_NS: u64 = 1_000_000;

/// The time that all nodes of a run go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreed {
    /// Start of slot 0 in PTP's time, ns since 1970.
    pub epoch_ptp_ns: u64,
    /// Grandmaster of that time.
    pub grandmaster: u64,
    /// Start of slot 0 on the reference's clock.
    pub epoch_ns: u64,
    /// How far off PTP's time is on the reference at most, ns.
    pub bound_ns: u64,
}

/// The reference's clock less the node's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// That, ns.
    pub offset_ns: i64,
    /// How far off it is at most, ns.
    pub bound_ns: u64,
}

/// Both opinions, further apart than both can be off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Contradiction {
    pub ptp: Measured,
    pub own: Measured,
}

impl Contradiction {
    fn of(ptp: Measured, own: Measured) -> Option<Contradiction> {
        let both = Contradiction { ptp, own };
        (both.apart_ns() > both.bounds_ns()).then_some(both)
    }

    /// How far they are apart.
    #[must_use]
    pub fn apart_ns(&self) -> u64 {
        self.ptp.offset_ns.abs_diff(self.own.offset_ns)
    }

    /// How far they may be.
    #[must_use]
    pub fn bounds_ns(&self) -> u64 {
        self.ptp.bound_ns.saturating_add(self.own.bound_ns)
    }

    fn excess_ns(&self) -> u64 {
        self.apart_ns().saturating_sub(self.bounds_ns())
    }
}

/// How a node's slots are timed, and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PtpStatus {
    /// Grandmaster of that time.
    pub grandmaster: u64,
    /// Whether PTP sets the beat here; otherwise takt's own estimate does.
    pub is_by_ptp: bool,
    /// By PTP. On the reference: since slot 0 was agreed.
    pub ptp: Measured,
    /// By takt's own questions; `None` on the reference, and where that has never answered. While it does not answer, the last
    /// estimate, with a bound that grows.
    pub own: Option<Measured>,
    /// How often both were looked at.
    pub looks: u64,
    /// Looks among these at which the clock was not synchronised, and why it last was not.
    pub lost: u64,
    /// The same.
    pub why_lost: Option<String>,
    /// How often the opinions contradicted each other.
    pub contradicted: u64,
    /// The worst of these.
    pub worst: Option<Contradiction>,
}

impl PtpStatus {
    /// The grandmaster, as linuxptp writes it.
    #[must_use]
    pub fn grandmaster(&self) -> String {
        identity(self.grandmaster)
    }
}

/// One look at PTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) system: Ahead,
    /// How far the system clock is from the card's at most; 0 where stamps are made in software.
    pub(super) card_ns: u64,
    pub(super) status: Synchronised,
}

impl Look {
    /// PTP's time less this machine's clock.
    pub(super) fn ahead_ns(&self) -> i64 {
        self.system.ns.saturating_add(self.status.ahead_s.saturating_mul(1_000_000_000))
    }

    /// How far off that is at most, by this look alone.
    pub(super) fn bound_ns(&self) -> u64 {
        self.system.bound_ns.saturating_add(self.distance_ns())
    }

    fn distance_ns(&self) -> u64 {
        self.status.offset_ns.unsigned_abs().saturating_add(self.status.path_delay_ns).saturating_add(self.card_ns)
    }
}

/// The last look that counts.
#[derive(Clone, Copy, Debug)]
struct Held {
    at_ns: u64,
    ahead_ns: i64,
    bound_ns: u64,
}

/// Both opinions of where slot 0 is.
#[derive(Debug)]
pub(super) struct Beat {
    agreed: Agreed,
    is_reference: bool,
    held: Held,
    distances: VecDeque<u64>,
    /// The reference's clock less ours, as slots are timed by.
    offset_ns: i64,
    standing: PtpStatus,
}

impl Beat {
    /// From a first look.
    pub(super) fn new(agreed: Agreed, is_reference: bool, now_ns: u64, first: &Look) -> Result<Beat, PtpError> {
        let grandmaster = agreed.grandmaster;
        if first.status.grandmaster != grandmaster {
            return Err(PtpError::OtherGrandmaster { agreed: grandmaster, now: first.status.grandmaster });
        }
        let held = Held { at_ns: now_ns, ahead_ns: first.ahead_ns(), bound_ns: first.bound_ns() };
        let ptp = Measured { offset_ns: offset_ns(agreed, held.ahead_ns), bound_ns: 0 };
        let standing = PtpStatus {
            grandmaster,
            is_by_ptp: true,
            ptp,
            own: None,
            looks: 0,
            lost: 0,
            why_lost: None,
            contradicted: 0,
            worst: None,
        };
        let distances = VecDeque::from([first.distance_ns()]);
        Ok(Beat { agreed, is_reference, held, distances, offset_ns: ptp.offset_ns, standing })
    }

    pub(super) fn standing(&self) -> &PtpStatus {
        &self.standing
    }

    pub(super) fn agreed(&self) -> Agreed {
        self.agreed
    }

    /// When slot 0 begins on this machine's clock.
    pub(super) fn begin_ns(&self) -> u64 {
        self.agreed.epoch_ns.saturating_sub_signed(self.offset_ns)
    }

    /// This machine is the reference from now on, as well as it knows PTP's time now.
    pub(super) fn lead(&mut self, now_ns: u64) {
        self.is_reference = true;
        let bound_ns = self.by_ptp(now_ns).bound_ns;
        self.turn_to(self.begin_ns(), bound_ns);
    }

    /// Slot 0 begins at `epoch_ns` of another reference's clock. On this machine's it stays where it is.
    pub(super) fn turn_to(&mut self, epoch_ns: u64, bound_ns: u64) {
        let begin_ns = self.begin_ns();
        (self.agreed.epoch_ns, self.agreed.bound_ns) = (epoch_ns, bound_ns);
        self.offset_ns = epoch_ns.wrapping_sub(begin_ns) as i64;
    }

    /// The reference's clock less ours after one more look at both, and how far off it is at most.
    pub(super) fn after(&mut self, now_ns: u64, own: Option<(i64, u64)>, look: Result<Look, PtpError>) -> Measured {
        let own = own.map(|(offset_ns, bound_ns)| Measured { offset_ns, bound_ns });
        self.standing.looks += 1;
        let lost = look.and_then(|look| self.take(now_ns, &look)).err();
        let ptp = self.by_ptp(now_ns);
        let is_by_ptp = lost.is_none() || own.is_none_or(|own| ptp.bound_ns <= own.bound_ns);
        match (lost, own.and_then(|own| Contradiction::of(ptp, own))) {
            (Some(lost), _) => {
                self.standing.lost += 1;
                self.standing.why_lost = Some(lost.to_string());
            }
            (None, Some(contradiction)) => {
                self.standing.contradicted += 1;
                let worst = self.standing.worst.filter(|worst| worst.excess_ns() >= contradiction.excess_ns());
                self.standing.worst = worst.or(Some(contradiction));
            }
            (None, None) => {}
        }
        (self.standing.is_by_ptp, self.standing.ptp, self.standing.own) = (is_by_ptp, ptp, own);
        let goal = if is_by_ptp { ptp } else { own.unwrap_or(ptp) };
        self.offset_ns += goal.offset_ns.saturating_sub(self.offset_ns).clamp(-STEP_NS, STEP_NS);
        let bound_ns = goal.bound_ns.saturating_add(goal.offset_ns.abs_diff(self.offset_ns));
        Measured { offset_ns: self.offset_ns, bound_ns }
    }

    /// Takes a look, if it is one at the same time as before.
    fn take(&mut self, now_ns: u64, look: &Look) -> Result<(), PtpError> {
        let (agreed, now) = (self.agreed.grandmaster, look.status.grandmaster);
        if now != agreed {
            return Err(PtpError::OtherGrandmaster { agreed, now });
        }
        let by_ns = look.ahead_ns().saturating_sub(self.held.ahead_ns);
        if by_ns.unsigned_abs() > SET_NS.saturating_add(self.drift_ns(now_ns)) {
            return Err(PtpError::Set { by_ns });
        }
        self.distances.push_back(look.distance_ns());
        if self.distances.len() > KEPT {
            self.distances.pop_front();
        }
        let farthest = self.distances.iter().copied().max().unwrap_or(0);
        let bound_ns = look.system.bound_ns.saturating_add(farthest);
        self.held = Held { at_ns: now_ns, ahead_ns: look.ahead_ns(), bound_ns };
        Ok(())
    }

    fn by_ptp(&self, now_ns: u64) -> Measured {
        let of_reference = if self.is_reference { 0 } else { self.agreed.bound_ns };
        let bound_ns = self.held.bound_ns.saturating_add(self.drift_ns(now_ns)).saturating_add(of_reference);
        Measured { offset_ns: offset_ns(self.agreed, self.held.ahead_ns), bound_ns }
    }

    /// Since the last look that counts.
    fn drift_ns(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.held.at_ns).saturating_mul(DRIFT_PPM) / 1_000_000
    }
}

/// The reference's clock less ours, where PTP's time is so far ahead of ours.
fn offset_ns(agreed: Agreed, ahead_ns: i64) -> i64 {
    let begin_ns = agreed.epoch_ptp_ns.wrapping_sub(ahead_ns as u64);
    agreed.epoch_ns.wrapping_sub(begin_ns) as i64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GRANDMASTER: u64 = 0x0200_00FF_FE00_0001;
    /// Offset of the reference's PTP to its own clock, and what its PTP may be off.
    const REFERENCE_AHEAD_NS: i64 = 1_800_000_000_000_000_000;
    const REFERENCE_BOUND_NS: u64 = 700;
    const EPOCH_NS: u64 = 60_000_000_000;

    fn agreed() -> Agreed {
        let epoch_ptp_ns = EPOCH_NS.wrapping_add_signed(REFERENCE_AHEAD_NS);
        Agreed { epoch_ptp_ns, grandmaster: GRANDMASTER, epoch_ns: EPOCH_NS, bound_ns: REFERENCE_BOUND_NS }
    }

    /// A node whose clock is `offset_ns` behind the reference's.
    fn look(offset_ns: i64) -> Look {
        let status = Synchronised {
            grandmaster: GRANDMASTER,
            offset_ns: -200,
            path_delay_ns: 2_900,
            ahead_s: 37,
            card: Some("eth0".to_owned()),
        };
        let ns = REFERENCE_AHEAD_NS + offset_ns - 37_000_000_000;
        Look { system: Ahead { ns, bound_ns: 40 }, card_ns: 100, status }
    }

    fn beat(offset_ns: i64) -> Beat {
        Beat::new(agreed(), false, 0, &look(offset_ns)).unwrap()
    }

    /// Nanoseconds of the n-th look.
    fn at(n: u64) -> u64 {
        n * 100_000_000
    }

    fn unsynchronised() -> Result<Look, PtpError> {
        Err(PtpError::Unsynchronised { ports: "port eth0 is Listening".to_owned() })
    }

    #[test]
    fn slot_0_is_where_both_nodes_find_it_in_ptp_time() {
        let mut beat = beat(-123_456_789);
        let measured = beat.after(at(1), Some((-123_450_000, 50_000)), Ok(look(-123_456_789)));
        // Bracket, distance to the master, way from it, the card's distance; and what the reference may be off.
        assert_eq!(measured, Measured { offset_ns: -123_456_789, bound_ns: 40 + 200 + 2_900 + 100 + 700 });
        assert_eq!((beat.standing().contradicted, beat.standing().lost, beat.standing().is_by_ptp), (0, 0, true));
    }

    #[test]
    fn opinions_that_are_further_apart_than_both_can_be_off_are_on_record() {
        let mut beat = beat(0);
        for (own, contradicted) in [((53_940, 50_000), 0), ((53_941, 50_000), 1), ((-90_000, 50_000), 2), ((0, 0), 2)] {
            beat.after(at(1), Some(own), Ok(look(0)));
            assert_eq!(beat.standing().contradicted, contradicted, "{own:?}");
        }
        let worst = beat.standing().worst.unwrap();
        assert_eq!((worst.apart_ns(), worst.bounds_ns()), (90_000, 53_940));
    }

    #[test]
    fn a_clock_that_is_lost_is_held_with_a_bound_that_grows_until_the_own_estimate_is_better() {
        let mut beat = beat(0);
        beat.after(at(1), Some((20_000, 60_000)), Ok(look(0)));
        let held = beat.after(at(2), Some((20_000, 60_000)), unsynchronised());
        assert_eq!(held, Measured { offset_ns: 0, bound_ns: 3_940 + 50_000 }, "500 ppm of 100 ms");
        let own = beat.after(at(3), Some((20_000, 60_000)), unsynchronised());
        assert_eq!(own, Measured { offset_ns: 20_000, bound_ns: 60_000 });
        assert!(!beat.standing().is_by_ptp);
        assert!(beat.standing().why_lost.as_deref().is_some_and(|why| why.contains("eth0 is Listening")));
        let back = beat.after(at(4), Some((20_000, 60_000)), Ok(look(0)));
        assert_eq!((back.offset_ns, beat.standing().is_by_ptp, beat.standing().lost), (0, true, 2));
    }

    #[test]
    fn without_an_own_estimate_a_lost_clock_is_held_for_ever() {
        let mut reference = Beat::new(agreed(), true, 0, &look(0)).unwrap();
        let held = reference.after(at(100), None, unsynchronised());
        assert_eq!(held, Measured { offset_ns: 0, bound_ns: 3_240 + 5_000_000 });
    }

    #[test]
    fn a_clock_that_was_set_and_another_grandmaster_are_not_followed() {
        let mut beat = beat(0);
        let second = beat.after(at(1), None, Ok(look(1_000_000_000)));
        assert_eq!(second.offset_ns, 0);
        let why = beat.standing().why_lost.clone().unwrap();
        assert!(why.contains("jumped by 1000000000 ns"), "{why}");
        let mut other = look(0);
        other.status.grandmaster += 1;
        beat.after(at(2), None, Ok(other.clone()));
        let why = beat.standing().why_lost.clone().unwrap();
        assert!(why.contains("020000.fffe.000002, but it was 020000.fffe.000001"), "{why}");
        assert!(matches!(Beat::new(agreed(), false, 0, &other), Err(PtpError::OtherGrandmaster { .. })));
    }

    #[test]
    fn another_reference_moves_no_slot() {
        let mut beat = beat(-123_456_789);
        beat.after(at(1), None, Ok(look(-123_456_789)));
        let begin_ns = beat.begin_ns();
        assert_eq!(begin_ns, EPOCH_NS + 123_456_789);
        beat.turn_to(70_000_000_000, 900);
        let measured = beat.after(at(2), None, Ok(look(-123_456_789)));
        assert_eq!((beat.begin_ns(), measured.bound_ns), (begin_ns, 3_240 + 900));
        beat.lead(at(3));
        let measured = beat.after(at(3), None, Ok(look(-123_456_789)));
        assert_eq!((beat.begin_ns(), measured), (begin_ns, Measured { offset_ns: 0, bound_ns: 3_240 }));
        assert_eq!(beat.agreed().epoch_ns, begin_ns);
    }

    proptest! {
        /// Slots never jump, and where PTP and the own estimate are true, the truth stays within the bound and nothing is reported.
        #[test]
        fn the_truth_lies_within_the_bound(
            truth in -1_000_000_000_i64..1_000_000_000,
            looks in prop::collection::vec((any::<bool>(), -3_000_i64..3_000, -50_000_i64..50_000), 1..60),
        ) {
            let mut beat = beat(truth);
            let mut before = truth;
            for (n, (lost, ptp_error, own_error)) in looks.into_iter().enumerate() {
                let seen = if lost { unsynchronised() } else { Ok(look(truth + ptp_error)) };
                let measured = beat.after(at(n as u64 + 1), Some((truth + own_error, 50_000)), seen);
                prop_assert!(measured.offset_ns.abs_diff(truth) <= measured.bound_ns, "{measured:?} {truth}");
                prop_assert!(measured.offset_ns.abs_diff(before) <= STEP_NS.unsigned_abs());
                before = measured.offset_ns;
            }
            prop_assert_eq!(beat.standing().contradicted, 0);
        }
    }
}
