//! Counts samples by their own numbers: what reached the program, without trust in time stamps, in the driver's account of
//! gaps, or in a counter of the kernel.
//!
//! A radio that plays a `counter` sends samples whose 32 bits count them. The time stamp of the very first sample says where
//! in the measured part the counting begins; no other is used.

use serde::{Deserialize, Serialize};
use takt_base::{Complex32, Tick};

use super::account::Span;

/// Between samples that are looked at, beside the first and the last of a call: a prime, so that no size of a datagram is in
/// step with it.
const LOOK_EVERY: usize = 61;

/// Samples of the measured part by their numbers, one channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Numbers that came.
    pub received_samples: u64,
    /// Samples among these after the measured part was over by this host's clock.
    pub late_samples: u64,
    /// Numbers that did not.
    pub missing_samples: u64,
    /// Samples that were no number, not the next one, or came twice.
    pub wrong_samples: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    span: Span,
    samples: u64,
    /// The sample that is due next: its number, and its place in the span, which the warm-up is before.
    due: Option<(u32, i64)>,
    over: bool,
    /// Factor that makes a sample a word again.
    words: f32,
    counted: Counted,
}

impl Numbers {
    /// Counts the measured part `span`, by samples in which one step of the radio's integers is worth `one`.
    pub(super) fn new(span: Span, one: f32) -> Numbers {
        let words = 1.0 / one;
        Numbers { span, samples: span.samples(), due: None, over: false, words, counted: Counted::default() }
    }

    /// Takes samples that came without a gap between them, the first at `tick`.
    pub(super) fn take(&mut self, tick: Tick, samples: &[Complex32]) {
        let [Some(first), Some(last)] = [samples.first(), samples.last()] else { return };
        let number = |sample: &Complex32| number(*sample * self.words);
        let from = number(first);
        let is = |n: usize, sample: &Complex32| number(sample) == from.wrapping_add(n as u32);
        let whole = samples.iter().enumerate().step_by(LOOK_EVERY).all(|(n, sample)| is(n, sample));
        let (due, next) = self.due.unwrap_or_else(|| (from, self.place(tick)));
        let at = next + i64::from(from.wrapping_sub(due).cast_signed());
        let length = samples.len() as i64; // of a buffer in memory
        if !whole || !is(samples.len() - 1, last) || at < next {
            self.counted.wrong_samples += length.unsigned_abs();
            return;
        }
        let end = i64::try_from(self.samples).unwrap_or(i64::MAX);
        let within = (at + length).clamp(0, end) - at.clamp(0, end);
        self.counted.received_samples += within.unsigned_abs();
        self.counted.late_samples += if self.over { within.unsigned_abs() } else { 0 };
        self.due = Some((from.wrapping_add(samples.len() as u32), at + length));
    }

    /// Place of a tick in the span.
    fn place(&self, tick: Tick) -> i64 {
        let samples = i64::try_from(tick.0.abs_diff(self.span.from.0) / self.span.step).unwrap_or(i64::MAX);
        if tick >= self.span.from { samples } else { -samples }
    }

    /// Samples from now on come late.
    pub(super) fn end(&mut self) {
        self.over = true;
    }

    /// The span ends after so many samples.
    pub(super) fn cut(&mut self, samples: u64) {
        self.samples = self.samples.min(samples);
    }

    pub(super) fn close(self) -> Counted {
        let missing_samples = self.samples.saturating_sub(self.counted.received_samples);
        Counted { missing_samples, ..self.counted }
    }
}

/// The 32 bits of a sample in words: I the lower half, Q the upper.
fn number(sample: Complex32) -> u32 {
    let word = |value: f32| value.round() as i16 as u16; // it came from 16 bits, and a float has 24
    u32::from(word(sample.re)) | u32::from(word(sample.im)) << 16
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// One step of a radio whose samples are to be scaled, as at most rates.
    const ONE: f32 = 1.151_3 / 32_767.0;

    fn sample(number: u32) -> Complex32 {
        let half = |bits: u32| f32::from(bits as u16 as i16) * ONE;
        Complex32::new(half(number), half(number >> 16))
    }

    fn run(from: u32, count: u32) -> Vec<Complex32> {
        (0..count).map(|n| sample(from.wrapping_add(n))).collect()
    }

    const BEGIN: Tick = Tick(40_003);
    /// The number of its first sample: they go over the end of 32 bits.
    const START: u32 = 0_u32.wrapping_sub(700);
    /// A time stamp that is wrong.
    const ANY: Tick = Tick(7);

    /// A span of 1000 samples after 200 of warm-up.
    fn numbers() -> Numbers {
        let tick = |number: u64| Tick(BEGIN.0 + 4 * number);
        Numbers::new(Span { from: tick(200), to: tick(1200), step: 4 }, ONE)
    }

    #[test]
    fn a_number_of_any_bits_is_read_as_it_was_sent() {
        for bits in [0, 1, 0x7FFF, 0x8000, 0xFFFF, 0x1_0000, 0x7FFF_FFFF, 0x8000_0000, u32::MAX] {
            assert_eq!(number(sample(bits) * (1.0 / ONE)), bits);
        }
    }

    #[test]
    fn what_comes_whole_is_whole() {
        let mut numbers = numbers();
        numbers.take(BEGIN, &run(START, 1500));
        assert_eq!(numbers.close(), Counted { received_samples: 1000, ..Counted::default() });
    }

    #[test]
    fn what_is_missing_twice_or_no_number_is_counted() {
        let mut numbers = numbers();
        numbers.take(BEGIN, &run(START, 300));
        numbers.take(ANY, &run(START.wrapping_add(350), 100));
        numbers.take(ANY, &run(START.wrapping_add(350), 100));
        let mut mangled = run(START.wrapping_add(450), 500);
        mangled[61] = sample(7);
        numbers.take(ANY, &mangled);
        numbers.cut(800);
        let counted = Counted { received_samples: 200, late_samples: 0, missing_samples: 600, wrong_samples: 600 };
        assert_eq!(numbers.close(), counted);
    }

    #[test]
    fn what_comes_after_the_end_is_late() {
        let mut numbers = numbers();
        numbers.take(BEGIN, &run(START, 900));
        numbers.end();
        numbers.take(ANY, &run(START.wrapping_add(900), 900));
        assert_eq!(numbers.close(), Counted { received_samples: 1000, late_samples: 300, ..Counted::default() });
    }

    proptest! {
        #[test]
        fn every_number_of_the_span_came_or_is_missing(calls in prop::collection::vec((0_u32..90, 1_u32..90), 0..40)) {
            let (mut numbers, mut at, mut expected) = (numbers(), 0_u32, 0_u64);
            for (gap, count) in calls {
                at += gap;
                numbers.take(Tick(BEGIN.0 + 4 * u64::from(at)), &run(START.wrapping_add(at), count));
                expected += (at..at + count).filter(|n| (200..1200).contains(n)).count() as u64;
                at += count;
            }
            let counted = numbers.close();
            prop_assert_eq!((counted.received_samples, counted.wrong_samples), (expected, 0));
            prop_assert_eq!(counted.missing_samples, 1000 - expected);
        }
    }
}
