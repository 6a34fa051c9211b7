//! A receive stream, cut into subframes that can be moved by whole samples.
//!
//! A sample belongs to the subframe that its time stamp says. Samples that the stream reports as lost are zero in their
//! subframes, and are counted there. A loss costs exactly the subframes that it touches, and moves no later one.

use takt_base::{Complex32, MonoNs, Tick, Ticks};
use takt_radio::{RadioError, RxEvent, RxStream};

/// Samples of a radio by number: number 0 is at `origin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SampleClock {
    /// When sample 0 is taken.
    pub origin: Tick,
    /// From one sample to the next.
    pub step: Ticks,
}

impl SampleClock {
    /// When sample `number` is taken or sent.
    #[must_use]
    pub fn tick(&self, number: u64) -> Tick {
        self.origin + Ticks(self.step.0.saturating_mul(number))
    }
}

/// A subframe that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubframeRead {
    /// The number of its first sample.
    pub begin: u64,
    /// Samples missing of it; 0: it is whole.
    pub lost_samples: u64,
}

/// The place of a stream in its subframes.
#[derive(Clone, Debug)]
pub struct SubframeReader {
    len: usize,
    /// The first sample of the subframe in hand.
    begin: u64,
    /// The sample that comes next.
    at: u64,
    /// Up to where samples are known to be missing.
    resume: u64,
    lost: u64,
    ended: bool,
}

impl SubframeReader {
    /// Subframes of `len` samples from sample 0 on.
    #[must_use]
    pub fn new(len: usize) -> SubframeReader {
        SubframeReader { len, begin: 0, at: 0, resume: 0, lost: 0, ended: false }
    }

    /// Whether the stream has come to its end.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// Lets the subframe in hand begin at sample `begin`; what is before is passed by. Only before any of it was received.
    ///
    /// # Panics
    /// If a sample of the subframe in hand was received already, or `begin` has gone by.
    pub fn begin_at(&mut self, begin: u64) {
        assert!(self.at <= self.begin && begin >= self.at, "sample {begin} has gone by, the next is {}", self.at);
        self.begin = begin;
    }

    /// The first sample of the subframe in hand.
    #[must_use]
    pub fn begin(&self) -> u64 {
        self.begin
    }

    /// The first sample that [`begin_at`](Self::begin_at) can have.
    #[must_use]
    pub fn earliest(&self) -> u64 {
        self.at
    }

    /// Receives into `subframe` until the subframe in hand is over, something happened to the stream, or the clock shows `until`.
    /// The next call after `Some` begins the next subframe.
    ///
    /// # Errors
    /// The stream is over, or did not begin since the command came too late.
    ///
    /// # Panics
    /// If `subframe` has another length.
    pub fn step(
        &mut self,
        rx: &mut dyn RxStream,
        subframe: &mut [Complex32],
        until: MonoNs,
    ) -> Result<Option<SubframeRead>, RadioError> {
        assert_eq!(subframe.len(), self.len, "a buffer of a subframe");
        self.pass_hole(subframe);
        let end = self.begin + self.len as u64;
        if self.at < end && !self.ended {
            // Earlier samples are received into the same buffer, and written over.
            let (from, upto) = match self.at.checked_sub(self.begin) {
                Some(from) => (from as usize, self.len),
                None => (0, self.len.min((self.begin - self.at) as usize)),
            };
            let received = rx.recv(&mut [&mut subframe[from..upto]], until)?;
            self.at += received.samples as u64;
            match received.event {
                Some(RxEvent::Overflow { lost, .. } | RxEvent::Dropped { lost, .. }) => self.resume = self.at + lost,
                Some(RxEvent::EndOfBurst) => self.ended = true,
                Some(RxEvent::Late { by, .. }) => {
                    return Err(RadioError::StartedLate { by: rx.tick_rate().duration_of(by) });
                }
                _ => {}
            }
            self.pass_hole(subframe);
        }
        Ok((self.at >= end).then(|| self.end_subframe()))
    }

    /// Passes by what is missing of the subframe in hand.
    fn pass_hole(&mut self, subframe: &mut [Complex32]) {
        let end = self.begin + self.len as u64;
        let upto = self.resume.min(end);
        if upto <= self.at {
            return;
        }
        if upto > self.begin {
            let from = self.at.max(self.begin);
            subframe[(from - self.begin) as usize..(upto - self.begin) as usize].fill(Complex32::default());
            self.lost += upto - from;
        }
        self.at = upto;
    }

    fn end_subframe(&mut self) -> SubframeRead {
        let read = SubframeRead { begin: self.begin, lost_samples: self.lost };
        self.begin += self.len as u64;
        self.lost = 0;
        read
    }
}

#[cfg(test)]
mod tests {
    use takt_base::TickRate;
    use takt_radio::Received;

    use super::*;

    /// Samples whose value is their number, but for those of `lost`.
    struct Numbers {
        at: u64,
        lost: Vec<std::ops::Range<u64>>,
        /// Samples of a call, at most.
        most: u64,
    }

    impl RxStream for Numbers {
        fn recv(&mut self, out: &mut [&mut [Complex32]], _: MonoNs) -> Result<Received, RadioError> {
            let first = Tick(self.at);
            let upto = self.lost.iter().map(|lost| lost.start).find(|&start| start >= self.at).unwrap_or(u64::MAX);
            let count = (out[0].len() as u64).min(self.most).min(upto - self.at);
            for (value, number) in out[0].iter_mut().zip(self.at..self.at + count) {
                *value = Complex32::new(number as f32, 1.0);
            }
            self.at += count;
            let hole = self.lost.iter().find(|lost| lost.start == self.at).cloned();
            let event = hole.map(|hole| {
                self.at = hole.end;
                RxEvent::Dropped { channel: 0, datagrams: 1, lost: hole.end - hole.start }
            });
            Ok(Received { samples: count as usize, first, event })
        }

        fn channels(&self) -> usize {
            1
        }

        fn rate_sps(&self) -> f64 {
            1e6
        }

        fn tick_rate(&self) -> TickRate {
            TickRate::from_hz(1_000_000).unwrap()
        }

        fn ticks_per_sample(&self) -> Ticks {
            Ticks(1)
        }
    }

    proptest::proptest! {
        #[test]
        fn a_sample_is_where_its_number_says_whatever_is_lost(
            most in 1u64..200,
            holes in proptest::collection::vec((0u64..1500, 1u64..300), 0..4),
            moves in proptest::collection::vec(0u64..40, 20),
        ) {
            let mut lost: Vec<std::ops::Range<u64>> = Vec::new();
            for (gap, len) in holes {
                let start = lost.last().map_or(0, |last| last.end + 1) + gap;
                lost.push(start..start + len);
            }
            let mut rx = Numbers { at: 0, lost: lost.clone(), most };
            let mut reader = SubframeReader::new(100);
            let mut subframe = vec![Complex32::default(); 100];
            for by in moves {
                let begin = reader.begin().max(reader.earliest()) + by;
                reader.begin_at(begin);
                let read = (0..10_000).find_map(|_| reader.step(&mut rx, &mut subframe, MonoNs(0)).unwrap()).unwrap();
                let mut missing = 0;
                for (value, number) in subframe.iter().zip(begin..) {
                    let is_lost = lost.iter().any(|lost| lost.contains(&number));
                    missing += u64::from(is_lost);
                    let expected = if is_lost { Complex32::default() } else { Complex32::new(number as f32, 1.0) };
                    proptest::prop_assert_eq!(*value, expected, "sample {}", number);
                }
                proptest::prop_assert_eq!(read, SubframeRead { begin, lost_samples: missing });
            }
        }
    }
}
