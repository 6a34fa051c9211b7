//! Bands to draw from, and ideals in f64.

use num_complex::Complex64;
use proptest::prelude::*;
use takt_base::{Complex32, Tick, Ticks};
use takt_dsp::Rotation;
use takt_dsp::shared_band::{BandPlan, BandSplitter, ChannelKey, NarrowBand, WideBand};

/// Steps of 25, 12.5, 10, 6.25, 5, 2, 1 MS/s, 200 and 50 kS/s, and some that no transform suits well.
pub const STEPS: [u32; 13] = [4, 8, 10, 16, 20, 50, 100, 500, 2000, 7, 77, 127, 333];

/// A band of 25 MS/s.
pub fn wide(first: u64) -> WideBand {
    WideBand { first: Tick(first), step: 4 }
}

/// A plan with a shared transform for these steps, or one without.
pub fn plan(first: u64, steps: &[u32], is_shared: bool) -> BandPlan {
    let steps = if is_shared { steps } else { &[] };
    BandPlan::new(wide(first), steps, Ticks(if is_shared { 1_000_000 } else { 4000 })).unwrap()
}

/// A step of the list, a centre that fits the band (in turns a tick) and a first tick.
pub fn bands() -> impl Strategy<Value = NarrowBand> {
    (0..STEPS.len(), -1.0f64..1.0, 0u64..5000).prop_map(|(k, place, first)| {
        let room = 0.125 - 0.5 / f64::from(STEPS[k]);
        NarrowBand { centre: Rotation::from_turns(place * room), first: Tick(first), step: STEPS[k] }
    })
}

/// `amplitude * exp(j 2 pi rotation tick)`, by the exact fraction of a turn.
pub fn ideal(rotation: Rotation, amplitude: f64, tick: u64) -> Complex32 {
    let turns = rotation.phase_at(Tick(tick)) as f64 / 18_446_744_073_709_551_616.0;
    let x = Complex64::from_polar(amplitude, turns * std::f64::consts::TAU);
    Complex32::new(x.re as f32, x.im as f32)
}

/// Output of a channel: tick and sample.
pub type Heard = Vec<(u64, Complex32)>;

/// Feeds it all and collects what the channel gives.
pub fn hear(splitter: &mut BandSplitter, key: ChannelKey, first: u64, wide: &[Complex32], step: u32) -> Heard {
    let mut heard = Heard::new();
    let put = |from, tick: Tick, samples: &[Complex32]| {
        if from == key {
            heard.extend(samples.iter().enumerate().map(|(n, x)| (tick.0 + n as u64 * u64::from(step), *x)));
        }
    };
    splitter.feed(Tick(first), wide, put).unwrap();
    heard
}
