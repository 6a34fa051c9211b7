//! Channels placed into a wide band, and what a splitter finds there.

use proptest::prelude::*;
use takt_base::{Complex32, Tick, Ticks};
use takt_dsp::shared_band::{BandCombiner, BandPlan, BandSplitter, NarrowBand, SharedBandError};
use takt_dsp::{HALF_SPAN, Rotation, power_spectrum, tone};

use super::support::{bands, hear, ideal, plan, wide};

/// A burst of a tone that rises and falls within the pass band.
fn burst(rotation: Rotation, first: u64, step: u32) -> Vec<Complex32> {
    let bell = |n: usize| (-0.5 * ((n as f64 - 60.0) / 11.0).powi(2)).exp();
    (0..121).map(|n| ideal(rotation, bell(n), first + n as u64 * u64::from(step))).collect()
}

/// Everything that a combiner sends from the block of `from` to that of `to`, and the tick of its first sample.
fn sent(combiner: &mut BandCombiner, to: u64) -> (u64, Vec<Complex32>) {
    let first = combiner.next_tick().0;
    let mut all = Vec::new();
    let mut block = vec![Complex32::default(); combiner.block_len()];
    while combiner.next_tick().0 < to {
        combiner.take(&mut block).unwrap();
        all.extend_from_slice(&block);
    }
    (first, all)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    /// A burst sent in one channel comes back in another of the same step at its tick, with its phase.
    #[test]
    fn a_burst_comes_back_at_its_tick_with_its_phase(
        band in bands(),
        at in -0.3f64..0.3,
        early in 0u64..100_000,
        place in 1u64 << 20..1 << 45,
        ways in 0u8..4,
    ) {
        // The slow channels take long: fewer of them.
        prop_assume!(band.step < 400 || place % 16 == 0);
        let step = u64::from(band.step);
        let first = place + early;
        let rotation = Rotation::from_turns(at / f64::from(band.step));
        let samples = burst(rotation, first, band.step);
        let sending = plan(place % 4, &[band.step], ways & 1 == 1);
        let mut combiner = BandCombiner::new(&sending, Tick(first - step * 60)).unwrap();
        let key = combiner.open(band.step, Ticks(0)).unwrap();
        let (from, mut wide) = (combiner.next_tick().0, Vec::new());
        let mut taken = 0;
        let mut block = vec![Complex32::default(); combiner.block_len()];
        while taken < samples.len() || combiner.next_tick().0 < first + step * 200 {
            if taken < samples.len() {
                let tick = Tick(first + taken as u64 * step);
                taken += combiner.place(key, band.centre, tick, &samples[taken..]).unwrap();
            }
            combiner.take(&mut block).unwrap();
            wide.extend_from_slice(&block);
        }
        let receiving = plan(place % 4, &[band.step], ways & 2 == 2);
        let mut splitter = BandSplitter::new(&receiving);
        let key = splitter.open(NarrowBand { first: Tick(first), ..band }).unwrap();
        // Until the burst has left the last block.
        wide.resize(wide.len() + 2 * receiving.block_len() + 60 * band.step as usize / 4, Complex32::default());
        let heard = hear(&mut splitter, key, from, &wide, band.step);
        prop_assert!(heard.len() >= samples.len());
        for (n, (tick, x)) in heard.iter().enumerate() {
            prop_assert_eq!(*tick, first + n as u64 * step);
            let expected = samples.get(n).copied().unwrap_or_default();
            prop_assert!((x - expected).norm() < 3e-4, "sample {n}: {x}, not {expected}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A tone in the pass band is a tone in the wide band; everything else is 80 dB down.
    #[test]
    fn a_sent_tone_is_the_ideal_tone(band in bands(), at in -0.4f64..0.4, is_shared: bool) {
        let plan = plan(0, &[band.step], is_shared);
        let step = u64::from(band.step);
        let mut combiner = BandCombiner::new(&plan, Tick(1 << 30)).unwrap();
        let key = combiner.open(band.step, Ticks(0)).unwrap();
        let rotation = Rotation::from_turns(at / f64::from(band.step));
        let start = combiner.earliest(key).unwrap().0 + band.first.0;
        let (mut next, mut wide, mut from) = (start, Vec::new(), None);
        let mut block = vec![Complex32::default(); combiner.block_len()];
        while wide.len() < 4096 {
            let until = combiner.needed_until(key).unwrap().0;
            let mut samples = vec![Complex32::default(); (until.saturating_sub(next)).div_ceil(step) as usize];
            tone(rotation, 0.5, Tick(next), band.step, &mut samples);
            prop_assert_eq!(combiner.place(key, band.centre, Tick(next), &samples).unwrap(), samples.len());
            next += step * samples.len() as u64;
            let tick = combiner.take(&mut block).unwrap().0;
            let settled = start + u64::from(HALF_SPAN) * step;
            if tick >= settled {
                from.get_or_insert(tick);
                wide.extend_from_slice(&block);
            }
        }
        for (n, x) in wide.iter().enumerate() {
            let tick = from.unwrap() + 4 * n as u64;
            let error = (x - ideal(band.centre + rotation, 0.5, tick)).norm();
            prop_assert!(error < 0.7e-4, "{error} at {tick}");
        }
    }

    /// Placing earlier, or in pieces, changes no bit.
    #[test]
    fn pieces_change_no_bit(band in bands(), cuts in prop::collection::vec(1usize..300, 1..20), is_shared: bool) {
        let plan = plan(0, &[band.step], is_shared);
        let step = u64::from(band.step);
        let start = (1 << 30) + 5000 * step;
        let mut samples = vec![Complex32::default(); 300];
        takt_dsp::noise(3, 0.1, Tick(start), band.step, &mut samples);
        let send = |cuts: &[usize]| {
            let mut combiner = BandCombiner::new(&plan, Tick(start - 60 * step)).unwrap();
            let key = combiner.open(band.step, Ticks(0)).unwrap();
            let (mut at, mut all) = (0, Vec::new());
            let mut block = vec![Complex32::default(); combiner.block_len()];
            let mut cuts = cuts.iter().cycle();
            while combiner.next_tick().0 < start + 400 * step {
                while at < samples.len() && start + at as u64 * step < combiner.needed_until(key).unwrap().0 {
                    let end = (at + cuts.next().unwrap()).min(samples.len());
                    let taken = combiner.place(key, band.centre, Tick(start + at as u64 * step), &samples[at..end]).unwrap();
                    if taken == 0 { break; }
                    at += taken;
                }
                combiner.take(&mut block).unwrap();
                all.extend_from_slice(&block);
            }
            all
        };
        prop_assert_eq!(send(&cuts), send(&[1]));
    }
}

/// Two bursts on grids of their own, closer than the filter is long, and a third with another centre: each is where it should be.
#[test]
fn bursts_keep_their_own_grid_and_centre() {
    for is_shared in [true, false] {
        let plan = plan(0, &[100], is_shared);
        let mut combiner = BandCombiner::new(&plan, Tick(0)).unwrap();
        let key = combiner.open(100, Ticks(50_000)).unwrap();
        let rotation = Rotation::from_turns(0.001);
        let centres = [0.02, 0.02, -0.05].map(Rotation::from_turns);
        let firsts = [20_000, 32_133, 44_277u64];
        for (centre, first) in centres.into_iter().zip(firsts) {
            let samples = burst(rotation, first, 100);
            assert_eq!(combiner.place(key, centre, Tick(first), &samples), Ok(samples.len()));
        }
        let (from, wide) = sent(&mut combiner, 90_000);
        for (n, x) in wide.iter().enumerate() {
            let tick = from + 4 * n as u64;
            let expected = centres.iter().zip(firsts).fold(Complex32::default(), |sum, (centre, first)| {
                let from_middle = (tick as f64 - first as f64 - 6000.0) / 1100.0;
                sum + ideal(*centre + rotation, (-0.5 * from_middle.powi(2)).exp(), tick)
            });
            assert!((x - expected).norm() < 2e-4, "tick {tick}: {x}, not {expected}");
        }
    }
}

/// Noise of full power in one channel: the rest of the band hears nothing of it.
#[test]
fn a_sent_channel_leaks_nothing() {
    for is_shared in [true, false] {
        let plan = plan(0, &[100], is_shared);
        let mut combiner = BandCombiner::new(&plan, Tick(0)).unwrap();
        let key = combiner.open(100, Ticks(50_000)).unwrap();
        let (mut next, mut wide) = (combiner.earliest(key).unwrap().0, Vec::new());
        let mut block = vec![Complex32::default(); combiner.block_len()];
        while wide.len() < 200_000 {
            let until = combiner.needed_until(key).unwrap().0;
            let mut samples = vec![Complex32::default(); until.saturating_sub(next).div_ceil(100) as usize];
            takt_dsp::noise(3, 0.5, Tick(next), 100, &mut samples);
            combiner.place(key, Rotation::from_turns(0.02), Tick(next), &samples).unwrap();
            next += 100 * samples.len() as u64;
            combiner.take(&mut block).unwrap();
            wide.extend_from_slice(&block);
        }
        let power = power_spectrum(&wide[20_000..], 2500); // bins of 10 kHz, 2 MHz is bin 1250 + 200
        let inside: f64 = power[1410..=1490].iter().sum();
        for (bin, power) in power.iter().enumerate().filter(|(bin, _)| !(1390..=1510).contains(bin)) {
            let db = 10.0 * (power / inside * 81.0).log10();
            assert!(db < -80.0, "{db} dB at bin {bin}, {is_shared}");
        }
    }
}

#[test]
fn what_cannot_be_sent_is_refused() {
    let plan = BandPlan::new(wide(0), &[100], Ticks(100_000)).unwrap();
    let mut combiner = BandCombiner::new(&plan, Tick(1_000_000)).unwrap();
    let (key, one) = (combiner.open(100, Ticks(50_000)).unwrap(), [Complex32::new(1.0, 0.0)]);
    let centre = Rotation::default();
    let earliest = combiner.earliest(key).unwrap();
    assert_eq!(
        combiner.place(key, centre, Tick(earliest.0 - 1), &one),
        Err(SharedBandError::Late { tick: earliest.0 - 1, earliest: earliest.0 })
    );
    assert_eq!(combiner.place(key, centre, Tick(earliest.0 + 50), &one), Ok(1));
    assert_eq!(
        combiner.place(key, centre, earliest, &one),
        Err(SharedBandError::Overlaps { tick: earliest.0, end: earliest.0 + 150 })
    );
    let too_many = vec![Complex32::default(); 1 << 20];
    let taken = combiner.place(key, centre, Tick(earliest.0 + 150), &too_many).unwrap();
    assert!(taken > 0 && taken < too_many.len());
    let block = combiner.block_len();
    assert_eq!(combiner.take(&mut [Complex32::default(); 3]), Err(SharedBandError::BlockLength { block, given: 3 }));
    combiner.close(key);
    assert_eq!(combiner.clear(key), Err(SharedBandError::NoChannel));
    assert_eq!(combiner.open(2, Ticks(0)), Err(SharedBandError::NarrowStep { step: 2, least: 4 }));
}
