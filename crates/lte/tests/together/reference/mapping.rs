//! Pilots of 19 subframes of another implementation, exact.

use num_complex::Complex32;
use proptest::prelude::*;
use takt_lte::{Bandwidth, REFERENCE_SYMBOLS, ResourceGrid, SYMBOLS, Tti, map_cell_reference, reference_comb};

use super::{file, signal};

/// An element that no pilot has.
const OTHER: Complex32 = Complex32::new(2.0, 3.0);

#[test]
fn pilots_are_those_of_the_vectors() {
    let document = file::open("lte_crs");
    for vector in file::list(&document, "vectors") {
        assert_eq!(file::number(vector, "port"), 0);
        let bandwidth = Bandwidth::try_from(file::number(vector, "n_prb") as u8).unwrap();
        let cell = signal::cell(file::number(vector, "cell") as u16, bandwidth);
        let tti = Tti::of(77, file::number(vector, "subframe") as u8);
        let mut grid = ResourceGrid::new(bandwidth);
        grid.elements_mut().fill(OTHER);
        map_cell_reference(&cell, tti, &mut grid);
        let mut expected = ResourceGrid::new(bandwidth);
        expected.elements_mut().fill(OTHER);
        for (symbol, pilots) in vector["symbols"].as_object().unwrap() {
            let symbol = symbol.parse().unwrap();
            let count = file::number(pilots, "n");
            assert_eq!((file::number(pilots, "step"), count), (6, 2 * bandwidth.blocks()));
            assert_eq!(reference_comb(cell.id, symbol), Some(file::number(pilots, "k0")));
            let axis = |bit: u8| if bit == 0 { 0.5f32.sqrt() } else { -(0.5f32.sqrt()) };
            let bits = file::bits(file::text(pilots, "bits_hex"), 2 * count);
            for (at, pair) in bits.chunks(2).enumerate() {
                expected.symbol_mut(symbol)[file::number(pilots, "k0") + 6 * at] =
                    Complex32::new(axis(pair[0]), axis(pair[1]));
            }
        }
        assert!(grid == expected, "cell {:?}, {bandwidth} blocks, subframe {}", cell.id, tti.subframe());
    }
}

proptest! {
    #[test]
    fn pilots_take_their_places_and_no_other(id in 0u16..504, number in 0u64..10_240, width in 0usize..6) {
        let cell = signal::cell(id, Bandwidth::ALL[width]);
        let mut grid = ResourceGrid::new(cell.bandwidth);
        grid.elements_mut().fill(OTHER);
        map_cell_reference(&cell, Tti::new(number), &mut grid);
        for symbol in 0..SYMBOLS {
            let comb = reference_comb(cell.id, symbol);
            prop_assert_eq!(comb.is_some(), REFERENCE_SYMBOLS.contains(&symbol));
            for (at, element) in grid.symbol(symbol).iter().enumerate() {
                let is_pilot = comb.is_some_and(|comb| at % 6 == comb);
                let is_right = if is_pilot { (element.norm_sqr() - 1.0).abs() < 1e-6 } else { *element == OTHER };
                prop_assert!(is_right, "symbol {}, subcarrier {}", symbol, at);
            }
        }
    }
}
