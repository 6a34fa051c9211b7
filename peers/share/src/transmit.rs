//! Channels into a band.

use takt_base::{Complex32, Tick, Ticks};
use takt_dsp::Rotation;
use takt_dsp::shared_band::{BandCombiner, BandPlan};

use crate::{WIDE, centre_turns, cpu};

/// Sends the input on every channel, again and again, until the band has so many samples; prints what it took.
pub fn run(plan: &BandPlan, channels: u32, step: u32, samples: usize, input: &[Complex32]) {
    // Its first pulse begins after tick 0.
    let from = Tick(1 << 20);
    let mut combiner = BandCombiner::new(plan, from).expect("a tick in range");
    let centres: Vec<f64> = (0..channels).map(|k| centre_turns(k, channels, step)).collect();
    let mut open: Vec<_> = (0..channels).map(|_| combiner.open(step, Ticks(0)).expect("room")).map(|key| (key, None)).collect();
    let mut block = vec![Complex32::default(); plan.block_len()];
    let mut piece = vec![Complex32::default(); plan.block_len() * WIDE as usize / step as usize + 200];
    let (mut at, mut tick) = (0, from);
    let before = cpu();
    while at < samples {
        for ((key, next), centre) in open.iter_mut().zip(&centres) {
            let first = next.unwrap_or(combiner.earliest(*key).expect("open").0.next_multiple_of(u64::from(step)));
            let until = combiner.needed_until(*key).expect("open").0;
            let count = until.saturating_sub(first).div_ceil(u64::from(step));
            let number = first / u64::from(step);
            for (n, sample) in piece[..count as usize].iter_mut().enumerate() {
                *sample = input[(number as usize + n) % input.len()];
            }
            let samples = &piece[..count as usize];
            let placed = combiner.place(*key, Rotation::from_turns(*centre), Tick(first), samples).expect("in time");
            assert_eq!(placed, samples.len(), "there is room for a block");
            *next = Some(first + count * u64::from(step));
        }
        tick = combiner.take(&mut block).expect("a block");
        at += block.len();
    }
    let spent = cpu() - before;
    // The tone is a tenth of the rate above the middle of its channel.
    let amplitude = |k: usize| tone(&block, tick, centres[k] + 0.1 / f64::from(step));
    println!(
        "{{\"cpu_ns\": {}, \"samples\": {at}, \"amplitudes\": [{}, {}], \"transform\": {}, \"block\": {}}}",
        spent.as_nanos(),
        amplitude(0),
        amplitude(open.len() - 1),
        plan.transform_len().unwrap_or(0),
        plan.block_len(),
    );
}

/// Amplitude of a tone in samples, seen through a Hann window.
fn tone(samples: &[Complex32], first: Tick, turns: f64) -> f64 {
    let (mut re, mut im, mut weights) = (0.0, 0.0, 0.0);
    for (n, x) in samples.iter().enumerate() {
        let weight = 1.0 - (std::f64::consts::TAU * (n as f64 + 0.5) / samples.len() as f64).cos();
        let tick = (first.0 + n as u64 * u64::from(WIDE)) as f64;
        let (sin, cos) = (-(turns * tick).fract() * std::f64::consts::TAU).sin_cos();
        let [x, y] = [x.re, x.im].map(f64::from);
        re += weight * (x * cos - y * sin);
        im += weight * (x * sin + y * cos);
        weights += weight;
    }
    f64::hypot(re, im) / weights
}
