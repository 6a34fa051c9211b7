//! A file or a recording as a signal.
//!
//! The first sample requested of a radio, by either of its receivers, is the first of the file; from there on time passes in the
//! file as it does outside. A receiver that misses samples (stopped, or after an overflow) misses them of the file as
//! well.
//!
//! A file without a rate has a sample for each of the stream, and goes on with the next one when the rate changes. A
//! recording has its own rate and is resampled where the stream has another; at equal rates its samples go over unchanged.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use takt_base::{Complex32, Tick, Ticks};
use takt_dsp::{Grid, MAX_STEP, Resampler};

use super::Source;
use super::store::Store;

/// The tick at which the file begins, shared by the receivers of a radio.
#[derive(Clone, Debug)]
pub(crate) struct Origin(Arc<AtomicU64>);

impl Origin {
    pub(crate) fn unknown() -> Origin {
        Origin(Arc::new(AtomicU64::new(u64::MAX)))
    }

    /// The origin, which is `now` at the first call.
    fn at(&self, now: Tick) -> Tick {
        match self.0.compare_exchange(u64::MAX, now.0, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => now,
            Err(origin) => Tick(origin),
        }
    }
}

pub(crate) struct Playback {
    store: Store,
    raw: bool,
    origin: Origin,
    rate: Rate,
}

enum Rate {
    /// A sample for each of the stream: sample `index` belongs to `tick`, `step` ticks each.
    OfTheStream { tick: Tick, index: u64, step: u32, next: u64 },
    /// A sample every `step` ticks.
    Own { step: u32, resampler: Box<Resampler> },
}

impl Playback {
    /// `own_step`: ticks from sample to sample; without it, as many as the stream has.
    pub(crate) fn new(store: Store, raw: bool, origin: Origin, own_step: Option<u32>) -> Playback {
        let rate = match own_step {
            Some(step) => Rate::Own { step, resampler: Box::new(Resampler::new()) },
            None => Rate::OfTheStream { tick: Tick(0), index: 0, step: 0, next: 0 },
        };
        Playback { store, raw, origin, rate }
    }
}

impl Source for Playback {
    fn raw(&self) -> bool {
        self.raw
    }

    fn fill(&mut self, first: Tick, step: u32, out: &mut [Complex32]) {
        let origin = self.origin.at(first);
        if step == 0 {
            return out.fill(Complex32::default());
        }
        match &mut self.rate {
            Rate::OfTheStream { tick, index, step: was, next } => {
                if *was != step {
                    (*tick, *index) = if *was == 0 { (origin, 0) } else { (first, *next) };
                    *was = step;
                }
                *next = one_by_one(&mut self.store, *tick, *index, first, step, out);
            }
            Rate::Own { step: own, .. } if *own == step => {
                one_by_one(&mut self.store, origin, 0, first, step, out);
            }
            Rate::Own { step: own, resampler } => {
                out.fill(Complex32::default());
                if step <= MAX_STEP {
                    let grid = Grid { first: origin, step: *own, len: self.store.len() };
                    resampler.add(grid, 0.0, first, step, out, |index, block| self.store.read(index, block));
                }
            }
        }
    }
}

/// Sample `index` belongs to `origin`, and each block begins at the last sample not after its first tick. Answers the
/// sample that comes after the block.
fn one_by_one(store: &mut Store, origin: Tick, index: u64, first: Tick, step: u32, out: &mut [Complex32]) -> u64 {
    let before = (origin - first).0.div_ceil(u64::from(step)).min(out.len() as u64);
    let (silent, out) = out.split_at_mut(before as usize);
    silent.fill(Complex32::default());
    let Ticks(passed) = (first + Ticks(before * u64::from(step))) - origin;
    let index = index + passed / u64::from(step);
    store.read(index, out);
    index + out.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::loaded::Loaded;
    use proptest::prelude::*;
    use takt_dsp::file::SampleFormat;
    use takt_wire::sample::full_scale;

    fn ramp(n: u16, repeat: bool) -> Store {
        let bytes = (0..n).flat_map(|k| [k.to_le_bytes(), [0, 0]]).flatten().collect();
        Store::Loaded(Arc::new(Loaded::new(bytes, SampleFormat::Sc16)), repeat)
    }

    fn played(source: &mut Playback, first: u64, step: u32, n: usize) -> Vec<i32> {
        let mut out = vec![Complex32::new(9.0, 9.0); n];
        source.fill(Tick(first), step, &mut out);
        out.iter().map(|x| (x.re * full_scale::SC16).round() as i32).collect()
    }

    #[test]
    fn a_file_begins_with_the_stream_and_time_passes_in_it() {
        let mut file = Playback::new(ramp(100, false), false, Origin::unknown(), None);
        assert_eq!(played(&mut file, 1003, 4, 3), [0, 1, 2]);
        assert_eq!(played(&mut file, 1015, 4, 2), [3, 4]);
        assert_eq!(played(&mut file, 1003 + 4 * 50, 4, 2), [50, 51], "a gap is a gap");
        assert_eq!(played(&mut file, 1003 + 4 * 98 + 3, 4, 4), [98, 99, 0, 0], "then silence");
    }

    #[test]
    fn a_file_goes_on_when_the_rate_changes() {
        let mut file = Playback::new(ramp(100, false), false, Origin::unknown(), None);
        assert_eq!(played(&mut file, 1000, 4, 3), [0, 1, 2]);
        assert_eq!(played(&mut file, 5000, 10, 3), [3, 4, 5]);
    }

    #[test]
    fn a_file_may_begin_again() {
        let mut file = Playback::new(ramp(3, true), false, Origin::unknown(), None);
        assert_eq!(played(&mut file, 0, 4, 8), [0, 1, 2, 0, 1, 2, 0, 1]);
        let mut empty = Playback::new(ramp(0, true), false, Origin::unknown(), None);
        assert_eq!(played(&mut empty, 0, 4, 2), [0, 0]);
    }

    #[test]
    fn receivers_of_one_radio_are_at_the_same_place() {
        let origin = Origin::unknown();
        let mut first = Playback::new(ramp(100, false), false, origin.clone(), None);
        let mut second = Playback::new(ramp(100, false), false, origin, None);
        assert_eq!(played(&mut first, 1000, 4, 2), [0, 1]);
        assert_eq!(played(&mut second, 1020, 4, 2), [5, 6]);
        assert_eq!(played(&mut second, 900, 4, 2), [0, 0]);
    }

    #[test]
    fn a_recording_keeps_its_own_time() {
        let mut recording = Playback::new(ramp(2000, false), false, Origin::unknown(), Some(100));
        assert_eq!(played(&mut recording, 1000, 100, 3), [0, 1, 2]);
        // 1 MS/s received at 4 MS/s: a ramp four times as slow, far from its ends.
        let mut out = [Complex32::default(); 5];
        recording.fill(Tick(1000 + 100 * 1000), 25, &mut out);
        for (n, x) in out.iter().enumerate() {
            assert!((x.re * full_scale::SC16 - (1000.0 + n as f32 / 4.0)).abs() < 0.2, "{x}");
        }
    }

    proptest! {
        #[test]
        fn cuts_change_nothing(own in prop::option::of(1u32..=512), step in 1u32..=600, first in 0u64..1000, cut in 0usize..200, repeat in any::<bool>()) {
            let make = || Playback::new(ramp(333, repeat), false, Origin::unknown(), own);
            let whole = played(&mut make(), first, step, 200);
            let mut source = make();
            let mut pieces = played(&mut source, first, step, cut);
            if cut > 0 {
                pieces.extend(played(&mut source, first + cut as u64 * u64::from(step), step, 200 - cut));
                prop_assert_eq!(whole, pieces);
            }
        }
    }
}
