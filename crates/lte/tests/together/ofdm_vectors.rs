//! Grids to samples and back: against the sums of TS 36.211, and against whole subframes of another implementation.

use std::f64::consts::PI;

use num_complex::{Complex32, Complex64};
use takt_lte::{
    Bandwidth, Cell, CellId, Demodulator, Direction, Modulator, Numerology, PhichResource, REFERENCE_SYMBOLS,
    ResourceGrid, SYMBOLS, Sampling, Tti, map_cell_reference, reference_comb,
};

use crate::reference::file;

fn grid_of(bandwidth: Bandwidth, hex: &str) -> ResourceGrid {
    let mut grid = ResourceGrid::new(bandwidth);
    grid.elements_mut().copy_from_slice(&file::complex(hex));
    grid
}

fn rms(values: &[Complex32]) -> f32 {
    (values.iter().map(Complex32::norm_sqr).sum::<f32>() / values.len() as f32).sqrt()
}

/// The largest difference, relative to the root mean square of what is expected.
fn worst(expected: &[Complex32], is: &[Complex32]) -> f32 {
    assert_eq!(expected.len(), is.len());
    let largest = expected.iter().zip(is).map(|(a, b)| (a - b).norm()).fold(0.0, f32::max);
    largest / rms(expected)
}

/// Sections 5.6 and 6.12 as they stand there, sample by sample.
fn by_the_clause(numerology: &Numerology, direction: Direction, grid: &ResourceGrid) -> Vec<Complex32> {
    let half = numerology.subcarriers as i64 / 2;
    let mut samples = Vec::new();
    for symbol in 0..SYMBOLS {
        for time in -(numerology.prefix_of(symbol) as i64)..numerology.fft_len as i64 {
            let wave = |(at, element): (usize, &Complex32)| {
                let at = at as i64 - half;
                // In halves of the distance between subcarriers.
                let frequency = match direction {
                    Direction::Uplink => 2 * at + 1,
                    Direction::Downlink => 2 * (at + i64::from(at >= 0)),
                };
                let turns = (frequency * time) as f64 / (2 * numerology.fft_len) as f64;
                let (sin, cos) = (2.0 * PI * turns).sin_cos();
                Complex64::new(element.re.into(), element.im.into()) * Complex64::new(cos, sin)
            };
            let sum: Complex64 = grid.symbol(symbol).iter().enumerate().map(wave).sum();
            samples.push(Complex32::new(sum.re as f32, sum.im as f32));
        }
    }
    samples
}

#[test]
fn samples_are_the_sum_of_the_clause() {
    for direction in [Direction::Downlink, Direction::Uplink] {
        let numerology = Numerology::new(Bandwidth::Prb6, Sampling::Standard).unwrap();
        let mut grid = ResourceGrid::new(Bandwidth::Prb6);
        for (at, element) in grid.elements_mut().iter_mut().enumerate() {
            *element = Complex32::from_polar(1.0, (at * at % 1009) as f32);
        }
        let expected = by_the_clause(&numerology, direction, &grid);
        let plain = (numerology.subcarriers as f32).sqrt();
        let mut samples = vec![Complex32::default(); numerology.subframe_len()];
        Modulator::new(numerology, direction, plain).modulate(&grid, &mut samples);
        let off = worst(&expected, &samples);
        assert!(off < 1e-5, "{direction:?}: {off}");
        for early in [0, numerology.prefix / 2] {
            let mut back = ResourceGrid::new(Bandwidth::Prb6);
            Demodulator::new(numerology, direction, early).demodulate(&expected, &mut back);
            back.elements_mut().iter_mut().for_each(|element| *element /= plain);
            let off = worst(grid.elements(), back.elements());
            assert!(off < 1e-5, "{direction:?}, {early} early: {off}");
        }
    }
}

/// Their samples have a peak of 1: only the scale is taken from them.
#[test]
fn samples_of_an_uplink_are_those_of_the_vector() {
    let vector = file::open("lte_ul_subframe_c1_sf3_mcs16");
    let bandwidth = Bandwidth::try_from(file::number(&vector, "prb") as u8).unwrap();
    let numerology = Numerology::new(bandwidth, Sampling::Standard).unwrap();
    let grid = grid_of(bandwidth, file::text(&vector, "grid_f32le_hex"));
    let expected = file::complex(file::text(&vector, "iq_f32le_hex"));
    let mut made = vec![Complex32::default(); numerology.subframe_len()];
    Modulator::new(numerology, Direction::Uplink, 1.0).modulate(&grid, &mut made);
    let scale = rms(&expected) / rms(&made);
    made.iter_mut().for_each(|sample| *sample *= scale);
    let off = worst(&expected, &made);
    assert!(off < 1e-4, "{off}");
    let mut back = ResourceGrid::new(bandwidth);
    Demodulator::new(numerology, Direction::Uplink, 10).demodulate(&expected, &mut back);
    back.elements_mut().iter_mut().for_each(|element| *element /= scale);
    let off = worst(grid.elements(), back.elements());
    assert!(off < 1e-3, "{off}");
}

#[test]
fn a_whole_subframe_has_our_pilots_and_comes_back_from_its_samples() {
    let vector = file::open("lte_subframe_c1_sf0_mcs9");
    let bandwidth = Bandwidth::try_from(file::number(&vector, "prb") as u8).unwrap();
    let id = CellId::new(file::number(&vector, "cell") as u16).unwrap();
    let cell = Cell { id, bandwidth, phich: PhichResource::One };
    let tti = Tti::new(file::number(&vector, "tti") as u64);
    let grid = grid_of(bandwidth, file::text(&vector, "grid_f32le_hex"));

    let mut ours = grid.clone();
    let mut places = 0;
    for symbol in REFERENCE_SYMBOLS {
        let comb = reference_comb(id, symbol).unwrap();
        for element in ours.symbol_mut(symbol).iter_mut().skip(comb).step_by(6) {
            *element = Complex32::new(f32::NAN, 0.0);
            places += 1;
        }
    }
    assert_eq!(places, 8 * bandwidth.blocks());
    map_cell_reference(&cell, tti, &mut ours);
    for symbol in 0..SYMBOLS {
        for (at, (theirs, ours)) in grid.symbol(symbol).iter().zip(ours.symbol(symbol)).enumerate() {
            assert!((theirs - ours).norm() < 1e-6, "symbol {symbol}, subcarrier {at}: {theirs}, {ours}");
        }
    }

    let numerology = Numerology::new(bandwidth, Sampling::Standard).unwrap();
    let samples = file::complex(file::text(&vector, "iq_f32le_hex"));
    // Their samples are 0.05 / sqrt(blocks) times the plain transform; ours of amplitude 1 are 1 / sqrt(subcarriers) times it.
    let amplitude = 0.05 * 12f32.sqrt();
    let mut back = ResourceGrid::new(bandwidth);
    Demodulator::new(numerology, Direction::Downlink, 10).demodulate(&samples, &mut back);
    back.elements_mut().iter_mut().for_each(|element| *element /= amplitude);
    let off = worst(grid.elements(), back.elements());
    assert!(off < 1e-4, "{off}");
    let mut made = vec![Complex32::default(); numerology.subframe_len()];
    Modulator::new(numerology, Direction::Downlink, amplitude).modulate(&grid, &mut made);
    let off = worst(&samples, &made);
    assert!(off < 1e-4, "{off}");
}
