//! Channel quality against what is decoded: blocks of each CQI, at the ratio that it takes, through an estimated channel.

use num_complex::Complex32;
use takt_dsp::lte::{RateMatching, TurboEncoder, demodulate, modulate, turbo_length_at_least};
use takt_dsp::turbo::Decoder;
use takt_lte::{Bandwidth, CellId, ChannelEstimator, Cqi, ResourceGrid, SYMBOLS, Tti, match_filter, reference_comb};

use super::channel::received;
use super::signal::{self, Random};
use super::subframes;

const ITERATIONS: usize = 8;
/// Soft values for a log-likelihood ratio of 1.
const SOFT: f32 = 8.0;

/// The share of blocks lost at a ratio of signal to noise.
fn losses(cqi: Cqi, snr_db: f32, count: u32) -> f32 {
    let (cell, mut random) = (signal::cell(5, Bandwidth::Prb25), Random(11));
    let places: Vec<usize> = data_places(cell.id);
    let bits = ((places.len() as f32 * cqi.efficiency()) as usize).min(6144);
    let block_len = (bits - 63..=bits).rev().find(|&bits| turbo_length_at_least(bits) == Some(bits)).unwrap();
    let places = &places[..(block_len as f32 / cqi.efficiency()) as usize];
    let (mut encoder, mut decoder) = (TurboEncoder::new(block_len).unwrap(), Decoder::lte(block_len).unwrap());
    let mut matching = RateMatching::new(block_len, 0, None).unwrap();
    let mut estimator = ChannelEstimator::new(cell.id, cell.bandwidth);
    let noise = 10f32.powf(-0.1 * snr_db);
    let mut lost = 0;
    for number in 0..count {
        let tti = Tti::new(number.into());
        let block: Vec<u8> = (0..block_len).map(|_| (random.next() >> 63) as u8).collect();
        let (mut coded, mut sent) = (vec![0; 3 * block_len + 12], vec![0; places.len() * cqi.modulation().bits()]);
        encoder.encode(&block, &mut coded);
        matching.apply(&coded, 0, &mut sent);
        let mut symbols = vec![Complex32::default(); places.len()];
        modulate(cqi.modulation(), &sent, &mut symbols);
        let mut grid = signal::subframe(&cell, tti, &mut random);
        places.iter().zip(&symbols).for_each(|(place, symbol)| grid.elements_mut()[*place] = *symbol);
        let mut gains = ResourceGrid::new(cell.bandwidth);
        gains.elements_mut().fill(Complex32::new(0.6, 0.8));
        let grid = received(&grid, &gains, noise, &mut random);

        let estimate = estimator.estimate(tti, &grid);
        let gather = |grid: &ResourceGrid| places.iter().map(|place| grid.elements()[*place]).collect::<Vec<_>>();
        let mut weights = vec![0.0; places.len()];
        match_filter(&gather(&grid), &gather(&estimate.gains), &mut symbols, &mut weights);
        let mut llrs = vec![0; sent.len()];
        demodulate(cqi.modulation(), SOFT / estimate.noise_power, &symbols, Some(&weights), &mut llrs);
        let (mut buffer, mut soft) = (vec![0; matching.buffer_len()], vec![0; coded.len()]);
        matching.combine(&llrs, 0, &mut buffer);
        matching.read(&buffer, &mut soft);
        let mut decided = vec![0; block_len];
        decoder.decode(&soft, ITERATIONS, &mut decided);
        lost += u32::from(decided != block);
    }
    lost as f32 / count as f32
}

/// Elements behind the control channels that hold no pilot.
fn data_places(id: CellId) -> Vec<usize> {
    let subcarriers = Bandwidth::Prb25.subcarriers();
    let is_pilot = |symbol, at| reference_comb(id, symbol).is_some_and(|comb| at % 6 == comb);
    (2 * subcarriers..SYMBOLS * subcarriers)
        .filter(|place| !is_pilot(place / subcarriers, place % subcarriers))
        .collect()
}

#[test]
fn a_tenth_of_blocks_is_lost_at_most_where_a_cqi_begins() {
    let count = subframes(20, 500);
    let mut wrong = Vec::new();
    for cqi in Cqi::ALL {
        let at = |above: f32| losses(cqi, cqi.snr_db() + above, count);
        let lost = [2.0, 1.0, 0.0, -1.0, -2.0, -3.0].map(at);
        println!("CQI {}: {:.1} dB; lost 2, 1, 0, -1, -2, -3 dB above: {lost:.2?}", cqi.index(), cqi.snr_db());
        // It begins where it must, and not far above.
        if lost[2] > 0.1 || lost[5] <= 0.1 {
            wrong.push((cqi, cqi.snr_db(), lost));
        }
    }
    assert!(wrong.is_empty(), "{wrong:.2?}");
}
