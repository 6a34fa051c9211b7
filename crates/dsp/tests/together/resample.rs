//! The resampler judged by tones whose every sample is known, at steps from one end of the range to the other.

use proptest::prelude::*;
use takt_base::{Complex32, Tick, Ticks};
use takt_dsp::{Grid, HALF_SPAN, MAX_STEP, Resampler, Rotation, noise, power_spectrum, tone};

/// Steps of every kind: ends of the range, primes, powers, multiples of each other.
const STEPS: [u32; 15] = [1, 2, 3, 4, 5, 8, 10, 25, 52, 97, 128, 250, 256, 508, 512];

/// The 255 steps of an N200.
fn legal() -> impl Iterator<Item = u32> {
    (2..=128).chain((130..=256).step_by(2)).chain((260..=512).step_by(4))
}

fn pairs() -> impl Iterator<Item = (u32, u32)> {
    STEPS.into_iter().flat_map(|i| STEPS.map(|d| (i, d)))
}

/// An input grid that has begun long enough before `first` and ends long enough after `n` outputs every `d` ticks.
fn around(first: Tick, i: u32, d: u32, n: usize) -> Grid {
    let margin = u64::from(HALF_SPAN + 1) * u64::from(i.max(d));
    let start = Tick(first.0 - margin);
    Grid { first: start, step: i, len: (2 * margin + n as u64 * u64::from(d)) / u64::from(i) }
}

/// Sends a tone of `turns` a tick through the resampler.
fn through(
    resampler: &mut Resampler,
    grid: Grid,
    turns: f64,
    shift: f64,
    first: Tick,
    d: u32,
    n: usize,
) -> Vec<Complex32> {
    let mut out = vec![Complex32::default(); n];
    resampler.add(grid, shift, first, d, &mut out, |m, block| {
        let tick = Tick(grid.first.0 + m * u64::from(grid.step));
        tone(Rotation::from_turns(turns), 1.0, tick, grid.step, block);
    });
    out
}

fn expected(turns: f64, first: Tick, d: u32, n: usize) -> Vec<Complex32> {
    let mut out = vec![Complex32::default(); n];
    tone(Rotation::from_turns(turns), 1.0, first, d, &mut out);
    out
}

fn worst(a: &[Complex32], b: &[Complex32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f32::max)
}

#[test]
fn tones_in_the_pass_band_come_out_at_their_tick_amplitude_and_phase() {
    let mut resampler = Resampler::new();
    let every = legal().flat_map(|k| [(k, k), (k, 4), (4, k), (k, 100), (100, k)]);
    for (i, d) in pairs().chain(every) {
        let edge = 0.8 * 0.5 / f64::from(i.max(d));
        for part in [-1.0, -0.73, 0.0, 0.31, 1.0] {
            let first = Tick(123_456_789);
            let grid = around(first, i, d, 64);
            let out = through(&mut resampler, grid, part * edge, 0.0, first, d, 64);
            // Sample by sample against the ideal: covers amplitude, phase, delay and images at once. 2e-4 is 0.002 dB.
            let error = worst(&out, &expected(part * edge, first, d, 64));
            assert!(error < 2e-4, "I {i} D {d} at {part} of the pass band: {error}");
        }
    }
}

#[test]
fn what_the_slower_receiver_cannot_hold_is_80_db_down() {
    let mut resampler = Resampler::new();
    for (i, d) in pairs().filter(|(i, d)| i < d) {
        let (stop, end) = (0.5 / f64::from(d), 0.5 / f64::from(i));
        for part in [0.0, 0.1, 0.4, 0.8, 1.0] {
            let turns = stop + part * (end - stop);
            let first = Tick(5_000_000);
            let out = through(&mut resampler, around(first, i, d, 32), turns, 0.0, first, d, 32);
            let left = worst(&out, &[Complex32::default(); 32]);
            assert!(left < 1e-4, "I {i} D {d} at {turns} turns a tick: {left}");
        }
    }
}

#[test]
fn images_of_a_slower_transmitter_are_80_db_down() {
    let mut resampler = Resampler::new();
    for (i, d) in [(8, 2), (10, 4), (512, 5), (52, 25), (128, 100)] {
        let turns = 0.39 / f64::from(i);
        let first = Tick(1 << 40);
        let out = through(&mut resampler, around(first, i, d, 8192), turns, 0.0, first, d, 8192);
        let power = power_spectrum(&out, 2048);
        let place = ((turns * f64::from(d) + 0.5) * 2048.0).round() as usize;
        let image =
            power.iter().enumerate().filter(|(k, _)| k.abs_diff(place) > 4).map(|(_, p)| *p).fold(0.0, f64::max);
        assert!(image < 1e-8, "I {i} D {d}: {:.1} dB", 10.0 * image.log10());
    }
}

#[test]
fn a_tone_goes_to_the_frequency_that_tuning_apart_gives() {
    let mut resampler = Resampler::new();
    for (i, d) in [(4, 4), (4, 10), (10, 4), (25, 8), (8, 25), (5, 5)] {
        let (in_half, out_half) = (0.5 / f64::from(i), 0.5 / f64::from(d));
        let margin = 0.11 / f64::from(i.max(d));
        for shift in [-0.9, -0.4, -0.05, 0.05, 0.3, 0.8].map(|part| part * (in_half + out_half)) {
            let (low, high) = ((shift - in_half).max(-out_half), (shift + in_half).min(out_half));
            for part in 0..=4 {
                // A tone of the common band, observed from both sides.
                let observed = low + margin + (high - low - 2.0 * margin) * f64::from(part) / 4.0;
                if high - low < 2.0 * margin {
                    continue;
                }
                let first = Tick(77_777_777);
                let out = through(&mut resampler, around(first, i, d, 50), observed - shift, shift, first, d, 50);
                // The phase follows from the ticks: the transmitter's tone times the rotation of the difference.
                let error = worst(&out, &expected(observed, first, d, 50));
                assert!(error < 3e-4, "I {i} D {d} shift {shift} tone {observed}: {error}");
            }
        }
    }
}

#[test]
fn what_the_tuning_puts_outside_the_receivers_band_is_gone_and_not_folded() {
    let mut resampler = Resampler::new();
    for (i, d) in [(4u32, 4u32), (4, 10), (10, 4), (5, 5)] {
        let (in_half, out_half) = (0.5 / f64::from(i), 0.5 / f64::from(d));
        for shift in [0.3, 0.6, 0.9].map(|part| part * (in_half + out_half)) {
            for turns in [-0.99, -0.5, 0.0, 0.5, 0.99].map(|part| part * in_half) {
                if (turns + shift).abs() > out_half {
                    let first = Tick(1_000_001);
                    let out = through(&mut resampler, around(first, i, d, 40), turns, shift, first, d, 40);
                    let left = worst(&out, &[Complex32::default(); 40]);
                    assert!(left < 1e-4, "I {i} D {d} shift {shift} tone {turns}: {left}");
                }
            }
        }
    }
}

#[test]
fn bands_that_do_not_meet_give_nothing_at_all() {
    let mut out = [Complex32::default(); 8];
    let grid = Grid { first: Tick(0), step: 4, len: 1 << 40 };
    for shift in [0.25, 1.0, -24.0, f64::NAN, f64::INFINITY] {
        Resampler::new().add(grid, shift, Tick(10_000), 4, &mut out, |_, _| panic!("nothing is read"));
    }
    assert_eq!(out, [Complex32::default(); 8]);
}

#[test]
fn a_run_of_samples_rings_no_further_than_the_half_span() {
    let (i, d) = (10u32, 25u32);
    let grid = Grid { first: Tick(1_000_000), step: i, len: 1000 };
    let span = Resampler::half_span(grid, 0.0, Tick(0), d);
    assert_eq!(span, Ticks(u64::from(HALF_SPAN) * 25));
    let mut out = vec![Complex32::default(); 2000];
    let first = 1_000_000 - 20_000;
    Resampler::new().add(grid, 0.0, Tick(first), d, &mut out, |_, block| block.fill(Complex32::new(1.0, 0.0)));
    for (n, x) in out.iter().enumerate() {
        let tick = first + n as u64 * u64::from(d);
        let near = tick + span.0 > 1_000_000 && tick < 1_000_000 + 9990 + span.0;
        assert!(near || *x == Complex32::default(), "tick {tick}: {x}");
        let inside = tick > 1_000_000 + span.0 && tick + span.0 < 1_000_000 + 9990;
        assert!(!inside || (x.re - 1.0).abs() < 1e-3);
    }
}

/// Noise sampled every `step` ticks as the signal, so that nothing is accidentally smooth.
fn noisy(grid: Grid) -> impl FnMut(u64, &mut [Complex32]) {
    move |m, block| {
        assert!(m + block.len() as u64 <= grid.len, "reads only what exists");
        noise(9, 0.1, Tick(grid.first.0 + m * u64::from(grid.step)), grid.step, block);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn outputs_cut_anywhere_are_the_same(
        i in 1..=MAX_STEP, d in 1..=MAX_STEP, start in 0u64..100_000, len in 0u64..5000, first in 0u64..200_000,
        cut in 0usize..300, shift in prop_oneof![Just(0.0), -0.01f64..0.01],
    ) {
        let grid = Grid { first: Tick(50_000 + start), step: i, len };
        let mut whole = vec![Complex32::default(); 300];
        let mut parts = whole.clone();
        Resampler::new().add(grid, shift, Tick(first), d, &mut whole, noisy(grid));
        let (a, b) = parts.split_at_mut(cut);
        let mut one = Resampler::new();
        one.add(grid, shift, Tick(first + cut as u64 * u64::from(d)), d, b, noisy(grid));
        one.add(grid, shift, Tick(first), d, a, noisy(grid));
        prop_assert_eq!(whole, parts);
    }

    #[test]
    fn a_run_cut_in_two_adds_up_to_the_run(i in 2..=MAX_STEP, d in 2..=MAX_STEP, cut in 0u64..400) {
        let grid = Grid { first: Tick(1_000_000), step: i, len: 400 };
        let (mut whole, mut parts) = (vec![Complex32::default(); 100], vec![Complex32::default(); 100]);
        let mut resampler = Resampler::new();
        resampler.add(grid, 0.0, Tick(1_000_013), d, &mut whole, noisy(grid));
        let second = Grid { first: Tick(grid.first.0 + cut * u64::from(i)), step: i, len: 400 - cut };
        for part in [Grid { len: cut, ..grid }, second] {
            resampler.add(part, 0.0, Tick(1_000_013), d, &mut parts, noisy(part));
        }
        prop_assert!(worst(&whole, &parts) < 1e-5);
    }

    #[test]
    fn samples_on_the_same_grid_go_over_bit_for_bit(step in 1..=MAX_STEP, lead in -50i64..50, len in 0u64..200, n in 0usize..3000) {
        let grid = Grid { first: Tick(1 << 33), step, len };
        let first = Tick((1u64 << 33).wrapping_add_signed(lead * i64::from(step)));
        let mut out = vec![Complex32::default(); n];
        Resampler::new().add(grid, 0.0, first, step, &mut out, noisy(grid));
        prop_assert_eq!(Resampler::half_span(grid, 0.0, first, step), Ticks(0));
        for (n, x) in out.into_iter().enumerate() {
            let m = lead + n as i64;
            let mut sent = [Complex32::default()];
            if (0..len as i64).contains(&m) {
                noisy(grid)(m as u64, &mut sent);
            }
            prop_assert_eq!(x, sent[0]);
        }
    }
}

#[test]
fn a_signal_that_lies_as_far_away_as_ticks_go_is_silence() {
    for (signal, first) in [(0, i64::MAX as u64), (0, 1 << 63), (i64::MAX as u64, 0), (u64::MAX, 1 << 63)] {
        for (step, len) in [(1, u64::MAX), (512, 1 << 40)] {
            let grid = Grid { first: Tick(signal), step, len };
            let mut out = [Complex32::default(); 40];
            Resampler::new().add(grid, 0.0, Tick(first), 5, &mut out, |_, block| block.fill(Complex32::default()));
            assert_eq!(out, [Complex32::default(); 40]);
        }
    }
}

#[test]
#[should_panic(expected = "steps are 1 to 512 ticks")]
fn a_step_out_of_range_is_a_mistake_of_the_caller() {
    let grid = Grid { first: Tick(0), step: 513, len: 1 };
    Resampler::new().add(grid, 0.0, Tick(0), 2, &mut [Complex32::default()], |_, _| {});
}
