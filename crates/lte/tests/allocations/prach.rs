//! Once built, neither end of random access allocates.

use num_complex::Complex32;
use takt_lte::{Bandwidth, Numerology, PrachConfig, PrachDetector, PrachTransmitter, Sampling};

use crate::allocations;

#[test]
fn a_subframe_with_64_preambles_allocates_nothing() {
    let bandwidth = Bandwidth::Prb25;
    let numerology = Numerology::new(bandwidth, Sampling::ThreeQuarters).unwrap();
    for zero_correlation_zone in [0, 1, 12] {
        let config =
            PrachConfig { root_sequence: 5, zero_correlation_zone, frequency_offset_blocks: 2, config_index: 14 };
        let mut transmitter = PrachTransmitter::new(numerology, bandwidth, config).unwrap();
        let mut detector = PrachDetector::new(numerology, bandwidth, config).unwrap();
        let mut one = vec![Complex32::default(); numerology.subframe_len()];
        let mut all = one.clone();
        let before = allocations::count();
        let mut found = detector.detect(&all).len();
        for preamble in 0..64 {
            transmitter.samples(preamble, &mut one);
            all.iter_mut().zip(&one).for_each(|(sum, sample)| *sum += sample);
            found += detector.detect(&one).len();
        }
        found += detector.detect(&all).len();
        assert_eq!(allocations::count() - before, 0);
        assert!(found >= 64, "{found}");
    }
    let before = allocations::count();
    drop(vec![0_u8; 100]);
    assert!(allocations::count() > before, "the counter counts");
}
