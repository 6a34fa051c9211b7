//! Both signals are those of an independent implementation (`vectors/lte_pss_sss.json`, from srsRAN_4G), and stand where the
//! standard has them.

use num_complex::Complex32;
use serde_json::Value;
use takt_lte::{Bandwidth, CellId, ResourceGrid, SYMBOLS, Tti, map_synchronisation};

/// The value of an element that nobody wrote.
const UNTOUCHED: Complex32 = Complex32::new(7.0, -7.0);

fn mapped(id: u16, bandwidth: Bandwidth, subframe: u8) -> ResourceGrid {
    let mut grid = ResourceGrid::new(bandwidth);
    grid.elements_mut().fill(UNTOUCHED);
    map_synchronisation(CellId::new(id).unwrap(), Tti::of(321, subframe), &mut grid);
    grid
}

/// The 62 elements in the middle of a symbol.
fn middle(grid: &ResourceGrid, symbol: usize) -> &[Complex32] {
    &grid.symbol(symbol)[grid.subcarriers() / 2 - 31..][..62]
}

fn vectors() -> Value {
    serde_json::from_str(include_str!("../../vectors/lte_pss_sss.json")).unwrap()
}

#[test]
fn primary_signals_are_those_of_the_vectors() {
    let vectors = vectors();
    let published = vectors["pss"].as_array().unwrap();
    assert_eq!(published.len(), 3);
    for one in published {
        let values: Vec<f32> =
            one["d"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap() as f32).collect();
        let grid = mapped(one["nid2"].as_u64().unwrap() as u16 + 300, Bandwidth::Prb6, 0);
        assert_eq!(values.len(), 2 * 62);
        for (ours, theirs) in middle(&grid, 6).iter().zip(values.chunks_exact(2)) {
            // They compute the sine of a large float.
            assert!((ours - Complex32::new(theirs[0], theirs[1])).norm() < 3e-4, "{ours} {theirs:?}");
            assert!((ours.norm() - 1.0).abs() < 1e-6);
        }
    }
}

#[test]
fn all_504_secondary_signals_are_those_of_the_vectors() {
    let vectors = vectors();
    let published = vectors["sss"].as_array().unwrap();
    assert_eq!(published.len(), 504);
    for (id, one) in published.iter().enumerate() {
        for (subframe, theirs) in [0, 5].into_iter().zip(one.as_array().unwrap()) {
            let grid = mapped(id as u16, Bandwidth::Prb6, subframe);
            let ours = middle(&grid, 5).iter().map(|element| match (element.re, element.im) {
                (1.0, 0.0) => '0',
                (-1.0, 0.0) => '1',
                _ => '?',
            });
            assert_eq!(ours.collect::<String>(), theirs.as_str().unwrap(), "cell {id}, subframe {subframe}");
        }
    }
}

#[test]
fn only_the_middle_of_two_symbols_of_subframes_0_and_5_is_written() {
    for bandwidth in Bandwidth::ALL {
        for subframe in 0..10 {
            let grid = mapped(77, bandwidth, subframe);
            for symbol in 0..SYMBOLS {
                let row = grid.symbol(symbol);
                let reserved = row.len() / 2 - 36..row.len() / 2 + 36;
                let signal = row.len() / 2 - 31..row.len() / 2 + 31;
                let has_signal = subframe % 5 == 0 && (symbol == 5 || symbol == 6);
                for (at, element) in row.iter().enumerate() {
                    let place = format!("{bandwidth}: subframe {subframe}, symbol {symbol}, element {at}: {element}");
                    match (has_signal && reserved.contains(&at), signal.contains(&at)) {
                        (false, _) => assert_eq!(*element, UNTOUCHED, "{place}"),
                        (true, false) => assert_eq!(*element, Complex32::default(), "{place}"),
                        (true, true) => assert!((element.norm() - 1.0).abs() < 1e-6, "{place}"),
                    }
                }
            }
        }
    }
}
