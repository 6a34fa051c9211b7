//! Channels cut out of a wide band.

use proptest::prelude::*;
use takt_base::{Complex32, Tick, Ticks};
use takt_dsp::shared_band::{BandMethod, BandSplitter, NarrowBand, SharedBandError, WideBand};
use takt_dsp::{HALF_SPAN, Rotation, noise, tone};

use super::support::{Heard, STEPS, bands, hear, ideal, plan, wide};

/// A wide tone that ends where the channel has settled and given some dozens of samples; its first tick.
fn wide_tone(rotation: Rotation, start: u64, step: u32, block: usize) -> Vec<Complex32> {
    let count = (200 * step as usize / 4).max(2 * block) + 2 * block;
    let mut samples = vec![Complex32::default(); count];
    tone(rotation, 1.0, Tick(start), 4, &mut samples);
    samples
}

/// A channel's output for a wide tone, once its filter is full.
fn settled(band: NarrowBand, at: f64, start: u64, is_shared: bool) -> (Rotation, Heard) {
    let plan = plan(start % 4, &[band.step], is_shared);
    let mut splitter = BandSplitter::new(&plan);
    let key = splitter.open(band).unwrap();
    let off_centre = Rotation::from_turns(at / f64::from(band.step));
    let samples = wide_tone(band.centre + off_centre, start, band.step, plan.block_len());
    let mut heard = hear(&mut splitter, key, start, &samples, band.step);
    heard.retain(|(tick, _)| *tick >= start + u64::from(HALF_SPAN * band.step));
    (off_centre, heard)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// At any centre, step, first tick and start of the stream, the phase is that of an oscillator that runs since tick 0.
    #[test]
    fn a_tone_comes_out_as_the_ideal_tone(band in bands(), at in -0.4f64..0.4, start in 0u64..1 << 45, is_shared: bool) {
        let (rotation, heard) = settled(band, at, start, is_shared);
        prop_assert!(heard.len() > 30, "{} samples", heard.len());
        for (n, (tick, x)) in heard.iter().enumerate() {
            prop_assert_eq!((tick + u64::from(band.step) * 5000 - band.first.0) % u64::from(band.step), 0);
            prop_assert_eq!(*tick, heard[0].0 + n as u64 * u64::from(band.step));
            let error = (x - ideal(rotation, 1.0, *tick)).norm();
            prop_assert!(error < 1.2e-4, "{error} at {tick}");
        }
    }

    /// A full-scale tone anywhere beyond the channel's band: at least 80 dB down, whatever it folds to.
    #[test]
    fn a_neighbour_stays_80_db_down(band in bands(), place in 0.0f64..1.0, start in 0u64..1 << 45, is_shared: bool) {
        prop_assume!(band.step > 4);
        let ratio = f64::from(band.step) / 4.0;
        let (_, heard) = settled(band, 0.5 + place * (ratio - 1.0), start, is_shared);
        let loudest = heard.iter().map(|(_, x)| x.norm()).fold(0.0, f32::max);
        prop_assert!(loudest < 1e-4, "{} dB", 20.0 * loudest.log10());
    }

    /// Bit for bit, with gaps too.
    #[test]
    fn pieces_change_no_bit(
        band in bands(),
        cuts in prop::collection::vec(1usize..20_000, 1..20),
        start in 0u64..1 << 45,
        is_shared: bool,
    ) {
        let plan = plan(start % 4, &[band.step], is_shared);
        let mut samples = vec![Complex32::default(); 2 * plan.block_len() + 60 * band.step as usize / 4];
        noise(7, 0.1, Tick(start), 4, &mut samples);
        let mut whole = BandSplitter::new(&plan);
        let key = whole.open(band).unwrap();
        let expected = hear(&mut whole, key, start, &samples, band.step);
        let mut parts = BandSplitter::new(&plan);
        let key = parts.open(band).unwrap();
        let (mut heard, mut at) = (Heard::new(), 0);
        for cut in cuts.iter().cycle() {
            let end = (at + cut).min(samples.len());
            heard.extend(hear(&mut parts, key, start + 4 * at as u64, &samples[at..end], band.step));
            at = end;
            if at == samples.len() { break; }
        }
        prop_assert_eq!(heard, expected);
    }

    /// A stream that began earlier gives the same bits, once the filter is full.
    #[test]
    fn the_start_of_the_stream_does_not_matter(band in bands(), start in 1u64 << 20..1 << 45, later in 0u64..3000, is_shared: bool) {
        let plan = plan(start % 4, &[band.step], is_shared);
        let mut samples = vec![Complex32::default(); later as usize + 3 * plan.block_len() + 120 * band.step as usize / 4];
        noise(3, 0.1, Tick(start), 4, &mut samples);
        let listen = |skipped: u64| {
            let mut splitter = BandSplitter::new(&plan);
            let key = splitter.open(band).unwrap();
            let mut heard = hear(&mut splitter, key, start + 4 * skipped, &samples[skipped as usize..], band.step);
            let settled = start + 4 * later + (plan.transform_len().unwrap_or(0) * 4) as u64 + u64::from(2 * HALF_SPAN * band.step);
            heard.retain(|(tick, _)| *tick >= settled);
            heard
        };
        prop_assert_eq!(listen(later), listen(0));
    }

    #[test]
    fn the_two_ways_agree(band in bands(), start in 0u64..1 << 45) {
        let listen = |is_shared| {
            let plan = plan(start % 4, &[band.step], is_shared);
            let mut splitter = BandSplitter::new(&plan);
            let key = splitter.open(band).unwrap();
            let mut samples = vec![Complex32::default(); 60_000 + 200 * band.step as usize / 4];
            noise(5, 0.1, Tick(start), 4, &mut samples);
            let mut heard = hear(&mut splitter, key, start, &samples, band.step);
            heard.retain(|(tick, _)| *tick >= start + u64::from(HALF_SPAN * band.step));
            heard
        };
        let (fast, direct) = (listen(true), listen(false));
        for (fast, direct) in fast.iter().zip(&direct) {
            prop_assert_eq!(fast.0, direct.0);
            prop_assert!((fast.1 - direct.1).norm() < 3e-5, "{} and {}", fast.1, direct.1);
        }
    }
}

/// Channels side by side: opening, closing and retuning others changes no bit of one.
#[test]
fn others_change_no_bit() {
    let plan = plan(0, &[100, 100, 50], true);
    let mut samples = vec![Complex32::default(); 40_000];
    noise(9, 0.1, Tick(0), 4, &mut samples);
    let band = |hz: f64, step| NarrowBand { centre: Rotation::from_turns(hz / 100e6), first: Tick(3), step };
    let mut alone = BandSplitter::new(&plan);
    let key = alone.open(band(1.1e6, 100)).unwrap();
    let expected = hear(&mut alone, key, 0, &samples, 100);

    let mut busy = BandSplitter::new(&plan);
    let other = busy.open(band(-2e6, 50)).unwrap();
    let key = busy.open(band(1.1e6, 100)).unwrap();
    let mut heard = Heard::new();
    for (n, part) in samples.chunks(1000).enumerate() {
        heard.extend(hear(&mut busy, key, 4000 * n as u64, part, 100));
        match n {
            5 => drop(busy.open(band(1.2e6, 7)).unwrap()),
            9 => busy.close(other),
            14 => drop(busy.open(band(4e6, 50)).unwrap()),
            _ => {}
        }
    }
    assert_eq!(heard, expected);
}

/// Samples left out count as zeros, short or long; a step back begins anew.
#[test]
fn gaps_are_zeros() {
    for is_shared in [true, false] {
        let plan = plan(0, &[100], is_shared);
        let band = NarrowBand { centre: Rotation::from_turns(0.01), first: Tick(0), step: 100 };
        let mut samples = vec![Complex32::default(); 100_000];
        noise(9, 0.1, Tick(0), 4, &mut samples);
        samples[20_000..60_000].fill(Complex32::default());
        let mut whole = BandSplitter::new(&plan);
        let key = whole.open(band).unwrap();
        let expected = hear(&mut whole, key, 0, &samples, 100);
        let mut gap = BandSplitter::new(&plan);
        let key = gap.open(band).unwrap();
        let mut heard = hear(&mut gap, key, 0, &samples[..20_000], 100);
        heard.extend(hear(&mut gap, key, 240_000, &samples[60_000..], 100));
        // The stream may begin anew behind the gap: what it left out then is silence, or a pulse before the new beginning.
        assert!(heard.len() > 2000);
        for (tick, x) in &heard {
            let (_, expected) = expected.iter().find(|(expected, _)| expected == tick).unwrap();
            assert_eq!(x, expected, "tick {tick}");
        }
        let again = hear(&mut gap, key, 0, &samples[..20_000], 100);
        assert_eq!(again, expected[..again.len()]);
    }
}

#[test]
fn a_plan_says_why() {
    let plan = plan(0, &[100; 8], true);
    assert_eq!(plan.choose(100).method, BandMethod::FastConvolution);
    for (step, reason) in [(7, "no whole number"), (5000, "longer than a block")] {
        let choice = plan.choose(step);
        assert_eq!(choice.method, BandMethod::Direct);
        assert!(choice.to_string().contains(reason), "{choice}");
    }
    assert!(plan.choose(100).to_string().starts_with("fast convolution: "));
    let short = takt_dsp::shared_band::BandPlan::new(wide(0), &[2000; 100], Ticks(1000)).unwrap();
    assert_eq!((short.transform_len(), short.choose(2000).method), (None, BandMethod::Direct));
    let long = takt_dsp::shared_band::BandPlan::new(wide(0), &[2000; 100], Ticks(1_000_000)).unwrap();
    assert_eq!(long.choose(2000).method, BandMethod::FastConvolution);
}

#[test]
fn what_is_out_of_range_is_refused() {
    use takt_dsp::shared_band::BandPlan;
    let band = NarrowBand { centre: Rotation::default(), first: Tick(0), step: 100 };
    assert_eq!(
        BandPlan::new(WideBand { first: Tick(0), step: 0 }, &[], Ticks(0)),
        Err(SharedBandError::WideStep { step: 0 })
    );
    assert_eq!(BandPlan::new(wide(0), &[3], Ticks(0)), Err(SharedBandError::NarrowStep { step: 3, least: 4 }));
    let mut splitter = BandSplitter::new(&plan(1, &STEPS[..3], true));
    assert_eq!(
        splitter.open(NarrowBand { step: 10_001, ..band }),
        Err(SharedBandError::NarrowStep { step: 10_001, least: 4 })
    );
    assert_eq!(
        splitter.open(NarrowBand { first: Tick(u64::MAX), ..band }),
        Err(SharedBandError::Tick { tick: u64::MAX })
    );
    let key = splitter.open(band).unwrap();
    assert_eq!(
        splitter.feed(Tick(4), &[Complex32::default()], |_, _, _| {}),
        Err(SharedBandError::OffGrid { tick: 4, step: 4, first: 1 })
    );
    assert_eq!(
        splitter.retune(key, NarrowBand { step: 50, ..band }),
        Err(SharedBandError::OtherStep { has: 100, asked: 50 })
    );
    splitter.close(key);
    splitter.close(key);
    let other = splitter.open(band).unwrap();
    assert_eq!(splitter.retune(key, band), Err(SharedBandError::NoChannel), "the slot has another channel");
    assert_eq!(splitter.retune(other, band), Ok(()));
}
