//! takt's side: `share-peers receive FILE CHANNELS STEP SAMPLES WAY` splits a band of 25 MS/s and prints CPU time and amplitudes as JSON;
//! `share-peers transmit` makes one of channels.
//!
//! FILE has a period of the input as 32-bit complex floats: of the band, or of each channel. SAMPLES are of the band. WAY is `any`,
//! `0.25-ms` (no block is longer) or `direct`.

mod transmit;

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use takt_base::{Complex32, Tick, Ticks};
use takt_dsp::Rotation;
use takt_dsp::shared_band::{BandPlan, BandSplitter, NarrowBand, WideBand};

/// Ticks of a wide sample: 25 MS/s of 100 MHz.
const WIDE: u32 = 4;

/// Samples that a packet's worth of a reader hands over.
const PIECE: usize = 1000;

fn cpu() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}

/// Middle of a channel in the band, in turns a tick: one rate apart, around 0 Hz.
fn centre_turns(k: u32, channels: u32, step: u32) -> f64 {
    (f64::from(k) - f64::from(channels / 2)) / f64::from(step)
}

fn main() {
    let words: [String; 6] = std::env::args().skip(1).collect::<Vec<_>>().try_into().expect("usage: see top");
    let [direction, file, channels, step, samples, way] = words;
    let bytes = std::fs::read(file).expect("the input");
    let part = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().expect("four bytes"));
    let input: Vec<_> = bytes.chunks_exact(8).map(|x| Complex32::new(part(&x[..4]), part(&x[4..]))).collect();
    let (channels, step): (u32, u32) = (channels.parse().expect("channels"), step.parse().expect("a step"));
    let samples: usize = samples.parse().expect("a number of samples");

    let (steps, longest) = match way.as_str() {
        "direct" => (vec![], 4000),
        "0.25-ms" => (vec![step; channels as usize], 25_000),
        _ => (vec![step; channels as usize], 1 << 20),
    };
    let plan = BandPlan::new(WideBand { first: Tick(0), step: WIDE }, &steps, Ticks(longest)).expect("steps in range");
    if direction == "transmit" {
        return transmit::run(&plan, channels, step, samples, &input);
    }
    let mut splitter = BandSplitter::new(&plan);
    let keys: Vec<_> = (0..channels)
        .map(|k| {
            let centre = Rotation::from_turns(centre_turns(k, channels, step));
            splitter.open(NarrowBand { centre, first: Tick(0), step }).expect("room")
        })
        .collect();

    let mut sums = vec![(0.0f64, 0u64); keys.len()];
    let mut at = 0;
    let before = cpu();
    while at < samples {
        let from = at % input.len();
        let piece = &input[from..input.len().min(from + PIECE)];
        splitter
            .feed(Tick(at as u64 * u64::from(WIDE)), piece, |key, tick, samples| {
                // The first and the last channel are judged, behind the filter's beginning.
                if tick.0 > 60 * u64::from(step) && (key == keys[0] || key == keys[keys.len() - 1]) {
                    let sum = &mut sums[usize::from(key != keys[0])];
                    sum.0 += samples.iter().map(|x| f64::from(x.norm())).sum::<f64>();
                    sum.1 += samples.len() as u64;
                }
            })
            .expect("on the grid");
        at += piece.len();
    }
    let spent = cpu() - before;
    println!(
        "{{\"cpu_ns\": {}, \"samples\": {at}, \"amplitudes\": [{}, {}], \"transform\": {}, \"block\": {}}}",
        spent.as_nanos(),
        sums[0].0 / sums[0].1 as f64,
        sums[1].0 / sums[1].1 as f64,
        plan.transform_len().unwrap_or(0),
        plan.block_len(),
    );
}
