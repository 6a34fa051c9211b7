//! Spans of a radio's clock about which a round says nothing, since the radio itself was late.
//!
//! Only takt's software radio is ever late; it says when. What a host misses in such a span, or right after it, may be the
//! radio's doing; what it misses at any other time is not. A span is set aside for what the radio did and never for what
//! became of it, and it reaches beyond its end by a rule that was fixed before: what has piled up comes all at once, and a
//! host that works twice as fast as the stream has worked it off after as long again.

use takt_base::Ticks;
use takt_load::rate::Fault;
use takt_radio::n200::CLOCK;
use takt_testbed::{Lateness, RadioLateness};

/// A span reaches beyond its own length by this much: samples that are fetched together wait so long at most.
const GATHERING_NS: u64 = 2_000_000;

/// Spans of a radio's clock, in order and apart from each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spoilt(Vec<[u64; 2]>);

impl Spoilt {
    /// By what the radio of a round says; nothing for a radio that is not takt's, or several.
    #[must_use]
    pub fn by(lateness: Option<&Lateness>) -> Spoilt {
        match lateness.map(|lateness| lateness.devices.as_slice()) {
            Some([radio]) => Spoilt::of(radio),
            _ => Spoilt::default(),
        }
    }

    fn of(radio: &RadioLateness) -> Spoilt {
        let ticks = |ns: u64| CLOCK.ticks_in_ns(u128::from(ns)).0;
        Spoilt::joined(radio.lag.late_spans.iter().map(|late| {
            let late_ns = late.to_ns.saturating_sub(late.from_ns);
            let from = ticks(late.from_ns).wrapping_add(radio.clock_offset_ticks);
            // Another machine says so: no number of its may break a sum.
            [from, from.saturating_add(ticks(late_ns.saturating_mul(2).saturating_add(GATHERING_NS)))]
        }))
    }

    /// Spans in order of their begin; those that meet become one.
    fn joined(spans: impl Iterator<Item = [u64; 2]>) -> Spoilt {
        let mut apart: Vec<[u64; 2]> = Vec::new();
        for [from, to] in spans {
            match apart.last_mut() {
                Some(last) if from <= last[1] => last[1] = last[1].max(to),
                _ => apart.push([from, to]),
            }
        }
        Spoilt(apart)
    }

    /// Whether a fault lies in one of them, from its begin to its end. One that began before, or lasted longer, had another
    /// reason; and the longer a fault, the more spans it meets.
    #[must_use]
    pub fn covers(&self, fault: &Fault) -> bool {
        self.0.iter().any(|[from, to]| fault.from_tick >= *from && fault.to_tick <= *to)
    }

    /// The same spans, and what begins so long before one of them: an answer that is due in it.
    #[must_use]
    pub fn and_before(&self, ticks: Ticks) -> Spoilt {
        Spoilt::joined(self.0.iter().map(|&[from, to]| [from.saturating_sub(ticks.0), to]))
    }

    /// Whether an instant lies in one of them.
    #[must_use]
    pub fn holds(&self, tick: u64) -> bool {
        self.0.iter().any(|&[from, to]| (from..=to).contains(&tick))
    }

    /// Share of `[from, to)` that is in them, 0 to 1.
    #[must_use]
    pub fn share_of(&self, [from, to]: [u64; 2]) -> f64 {
        let whole = to.saturating_sub(from);
        let within = |span: &[u64; 2]| span[1].min(to).saturating_sub(span[0].max(from));
        if whole == 0 { 0.0 } else { self.0.iter().map(within).sum::<u64>() as f64 / whole as f64 }
    }

    /// How long all of them are, on the radio's clock.
    #[must_use]
    pub fn ticks(&self) -> Ticks {
        Ticks(self.0.iter().map(|[from, to]| to - from).sum())
    }
}

#[cfg(test)]
mod tests {
    use takt_emulator::drive::wall::LateSpan;

    use super::*;
    use crate::run::testing::lateness;
    use takt_load::rate::Letter;

    /// A radio whose clock is 500 ticks ahead of the monotonic clock, late from 10 to 13 ms and from 16 to 17.
    fn spoilt() -> Spoilt {
        let late = |from_ms: u64, to_ms: u64| LateSpan { from_ns: from_ms * 1_000_000, to_ns: to_ms * 1_000_000 };
        Spoilt::by(Some(&lateness(vec![late(10, 13), late(16, 17), late(100, 102)], 500)))
    }

    #[test]
    fn a_span_lasts_until_what_piled_up_has_been_worked_off() {
        let ms = |ms: u64| ms * 100_000 + 500;
        // 3 ms late and 5 to work it off; 1 ms late and 3, which ends later; 2 ms and 4.
        assert_eq!(spoilt(), Spoilt(vec![[ms(10), ms(20)], [ms(100), ms(106)]]));
        assert_eq!(spoilt().ticks(), Ticks(1_600_000));
        assert!((spoilt().share_of([ms(0), ms(40)]) - 0.25).abs() < 1e-9);
        assert!((spoilt().share_of([ms(15), ms(25)]) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn only_what_happened_in_a_span_is_covered() {
        let fault = |from_ms: u64, to_ms: u64| {
            let [from_tick, to_tick] = [from_ms, to_ms].map(|ms| ms * 100_000 + 500);
            Fault { letter: Letter::D, from_tick, to_tick, samples: 1 }
        };
        let faults = [(0, 5), (5, 11), (11, 19), (19, 30), (20, 21), (50, 50), (103, 103), (0, 200)];
        let covered = faults.map(|(from, to)| spoilt().covers(&fault(from, to)));
        assert_eq!(covered, [false, false, true, false, false, false, true, false]);
    }

    #[test]
    fn an_answer_is_spoilt_by_what_the_radio_did_between_its_samples_and_its_time() {
        let ms = |ms: u64| ms * 100_000 + 500;
        let answers = spoilt().and_before(Ticks(500_000)); // due 5 ms after the samples
        assert_eq!(answers, Spoilt(vec![[ms(5), ms(20)], [ms(95), ms(106)]]));
        assert_eq!([4, 5, 20, 21, 100].map(|at| answers.holds(ms(at))), [false, true, true, false, true]);
        assert_eq!(spoilt().and_before(Ticks(10_000_000)), Spoilt(vec![[0, ms(106)]]), "joined, and none before zero");
    }

    #[test]
    fn no_numbers_that_a_radio_says_break_a_sum() {
        let spans = [[u64::MAX - 1, u64::MAX], [0, u64::MAX], [5, 5]];
        let late = spans.map(|[from_ns, to_ns]| LateSpan { from_ns, to_ns }).to_vec();
        let spoilt = Spoilt::by(Some(&lateness(late, u64::MAX)));
        assert!((0.0..=2.0).contains(&spoilt.share_of([0, u64::MAX])) && spoilt.ticks() >= Ticks(0));
    }

    #[test]
    fn a_radio_that_is_not_ours_was_never_late() {
        assert_eq!(Spoilt::by(None), Spoilt::default());
    }
}
