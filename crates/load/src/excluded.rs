//! Spans of a radio's clock about which a round says nothing, since the radio itself was late.
//!
//! Only takt's software radio is ever late; it says when. A host's misses in such a span, or right after it, may be the
//! radio's doing; those at any other time are not. A span is excluded for what the radio did and never for what became
//! of it, and it reaches beyond its end by a rule that was fixed before: what has piled up comes all at once, and a
//! host that works twice as fast as the stream has worked it off after as long again.

use takt_base::{Speed, TickRate, Ticks};

/// A span reaches beyond its own length by this much: samples that are fetched together wait so long at most.
const GATHERING_NS: u64 = 2_000_000;

/// Spans of a radio's clock, in order and apart from each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExcludedSpans(Vec<[u64; 2]>);

impl ExcludedSpans {
    /// By when a radio was late, in nanoseconds of its machine's monotonic clock, in order. Its own clock is that clock, in
    /// ticks of `clock` at the radio's speed, plus `offset_ticks`, modulo 2^64.
    #[must_use]
    pub fn of(
        late_ns: impl Iterator<Item = [u64; 2]>,
        (clock, speed): (TickRate, Speed),
        offset_ticks: u64,
    ) -> ExcludedSpans {
        let ticks = |ns: u64| speed.ticks_in_ns(clock, u128::from(ns)).0;
        ExcludedSpans::joined(late_ns.map(|[from_ns, to_ns]| {
            let length_ns = to_ns.saturating_sub(from_ns);
            let from = ticks(from_ns).wrapping_add(offset_ticks);
            // Another machine says so: no number of its may break a sum.
            [from, from.saturating_add(ticks(length_ns.saturating_mul(2).saturating_add(GATHERING_NS)))]
        }))
    }

    /// Spans in order of their begin; those that meet become one.
    fn joined(spans: impl Iterator<Item = [u64; 2]>) -> ExcludedSpans {
        let mut apart: Vec<[u64; 2]> = Vec::new();
        for [from, to] in spans {
            match apart.last_mut() {
                Some(last) if from <= last[1] => last[1] = last[1].max(to),
                _ => apart.push([from, to]),
            }
        }
        ExcludedSpans(apart)
    }

    /// Whether a fault of that span lies in one of them, from its begin to its end. One that began before, or lasted longer,
    /// had another reason; and the longer a fault, the more spans it meets.
    #[must_use]
    pub fn covers(&self, [begin, end]: [u64; 2]) -> bool {
        self.0.iter().any(|&[from, to]| begin >= from && end <= to)
    }

    /// The same spans, and what begins so long before one of them: an answer that is due in it.
    #[must_use]
    pub fn and_before(&self, ticks: Ticks) -> ExcludedSpans {
        ExcludedSpans::joined(self.0.iter().map(|&[from, to]| [from.saturating_sub(ticks.0), to]))
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
    use takt_radio::Model;

    use super::*;

    const CLOCK: (TickRate, Speed) = (Model::N200.clock(), Speed::WALL);

    /// A radio whose clock is 500 ticks ahead of the monotonic clock, late from 10 to 13 ms and from 16 to 17.
    fn excluded() -> ExcludedSpans {
        let late_ms = [[10, 13], [16, 17], [100, 102]];
        ExcludedSpans::of(late_ms.into_iter().map(|span| span.map(|ms| ms * 1_000_000)), CLOCK, 500)
    }

    #[test]
    fn a_span_lasts_until_what_piled_up_has_been_worked_off() {
        let ms = |ms: u64| ms * 100_000 + 500;
        // 3 ms late and 5 to work it off; 1 ms late and 3, which ends later; 2 ms and 4.
        assert_eq!(excluded(), ExcludedSpans(vec![[ms(10), ms(20)], [ms(100), ms(106)]]));
        assert_eq!(excluded().ticks(), Ticks(1_600_000));
        assert!((excluded().share_of([ms(0), ms(40)]) - 0.25).abs() < 1e-9);
        assert!((excluded().share_of([ms(15), ms(25)]) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn spans_are_on_the_clock_of_their_radio() {
        let late = || [[10_000_000, 13_000_000]].into_iter();
        let of = |model: Model, speed: &str| ExcludedSpans::of(late(), (model.clock(), speed.parse().unwrap()), 7);
        assert_eq!(of(Model::X310, "1"), ExcludedSpans(vec![[2_000_007, 3_600_007]]));
        // 10 ms of the host are 1 ms of a radio that is ten times as slow.
        assert_eq!(of(Model::N200, "0.1"), ExcludedSpans(vec![[100_007, 180_007]]));
    }

    #[test]
    fn only_what_happened_in_a_span_is_covered() {
        let faults = [[0, 5], [5, 11], [11, 19], [19, 30], [20, 21], [50, 50], [103, 103], [0, 200]];
        let covered = faults.map(|span| excluded().covers(span.map(|ms: u64| ms * 100_000 + 500)));
        assert_eq!(covered, [false, false, true, false, false, false, true, false]);
    }

    #[test]
    fn an_answer_is_excluded_by_what_the_radio_did_between_its_samples_and_its_time() {
        let ms = |ms: u64| ms * 100_000 + 500;
        let answers = excluded().and_before(Ticks(500_000)); // due 5 ms after the samples
        assert_eq!(answers, ExcludedSpans(vec![[ms(5), ms(20)], [ms(95), ms(106)]]));
        assert_eq!([4, 5, 20, 21, 100].map(|at| answers.holds(ms(at))), [false, true, true, false, true]);
        let answers = excluded().and_before(Ticks(10_000_000));
        assert_eq!(answers, ExcludedSpans(vec![[0, ms(106)]]), "joined, and none before zero");
    }

    #[test]
    fn no_numbers_that_a_radio_says_break_a_sum() {
        let spans = [[u64::MAX - 1, u64::MAX], [0, u64::MAX], [5, 5]];
        let excluded = ExcludedSpans::of(spans.into_iter(), CLOCK, u64::MAX);
        assert!((0.0..=2.0).contains(&excluded.share_of([0, u64::MAX])) && excluded.ticks() >= Ticks(0));
    }
}
