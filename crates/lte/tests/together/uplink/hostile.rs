//! Grids of anything, settings of anything and grants that nobody sent.

use num_complex::Complex32;
use proptest::prelude::*;
use takt_dsp::lte::Modulation;
use takt_lte::{
    Bandwidth, Error, Numerology, PucchReceiver, PuschAllocation, PuschReceiver, PuschTransmitter, ResourceGrid,
    Sampling, Tti,
};

use super::link::{Random, config};

const STRANGE: [f32; 8] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN_POSITIVE, 1e-45, 0.0, 1e19];

proptest! {
    #[test]
    fn any_elements_give_finite_answers(
        seed in any::<u64>(),
        strange in prop::collection::vec((0usize..14 * 72, 0usize..8, 0usize..8), 0..30),
        fill in prop::sample::select(&[0.0f32, 1e-30, 1e-12, 1.0, 1e12, 1e18, 1e30, f32::NAN][..]),
        (first_block, blocks) in prop::sample::select(&[(0u8, 6u8), (5, 1), (2, 3)][..]),
        resource in any::<u16>(),
    ) {
        let config = config(9, Bandwidth::Prb6);
        let mut random = Random(seed);
        let mut grid = ResourceGrid::new(Bandwidth::Prb6);
        for element in grid.elements_mut() {
            *element = random.phase() * random.share() * fill;
        }
        for (at, re, im) in strange {
            grid.elements_mut()[at] = Complex32::new(STRANGE[re], STRANGE[im]);
        }
        let numerology = Numerology::new(Bandwidth::Prb6, Sampling::Standard).unwrap();
        let modulation = Modulation::Qam64;
        let allocation = PuschAllocation { first_block, blocks, modulation, cyclic_shift: 7, block_bits: 100 };
        let mut receiver = PuschReceiver::new(&config, &numerology).unwrap();
        let mut llrs = vec![0; allocation.coded_bits()];
        let quality = receiver.receive(Tti::new(seed), 1, &allocation, true, &grid, &mut llrs);
        let numbers = [quality.snr_db, quality.timing_samples, quality.frequency_hz, quality.power, quality.noise_power];
        prop_assert!(numbers.iter().all(|number| number.is_finite()), "{:?}", quality);
        prop_assert!(quality.timing_command(&numerology) < 64);

        let pucch = PucchReceiver::new(&config).unwrap();
        let tti = Tti::new(seed);
        let found = [
            pucch.request(tti, resource, &grid),
            pucch.acknowledgement(tti, resource, &grid).map(|found| found.1),
            pucch.report(tti, 5, resource, &grid).map(|found| found.1),
        ];
        prop_assert!(found.iter().flatten().all(|found| found.snr_db.is_finite() && found.power.is_finite()), "{:?}", found);
    }

    #[test]
    fn a_grant_that_fits_no_carrier_is_refused(
        (first_block, blocks, cyclic_shift, block_bits) in any::<(u8, u8, u8, u32)>(),
        modulation in prop::sample::select(&Modulation::ALL[..]),
    ) {
        let config = config(9, Bandwidth::Prb25);
        let allocation = PuschAllocation { first_block, blocks, modulation, cyclic_shift, block_bits };
        let coded = vec![0; allocation.coded_bits()];
        let mut grid = ResourceGrid::new(Bandwidth::Prb25);
        let mapped = PuschTransmitter::new(&config).unwrap().map(Tti::new(0), 1, &allocation, &coded, Some(true), &mut grid);
        prop_assert_eq!(mapped, allocation.check(Bandwidth::Prb25));
        if mapped.is_err() {
            prop_assert!(grid == ResourceGrid::new(Bandwidth::Prb25));
        }
    }
}

#[test]
fn nothing_is_nothing() {
    let config = config(9, Bandwidth::Prb6);
    let numerology = Numerology::new(Bandwidth::Prb6, Sampling::Standard).unwrap();
    let grid = ResourceGrid::new(Bandwidth::Prb6);
    let allocation =
        PuschAllocation { first_block: 0, blocks: 6, modulation: Modulation::Qpsk, cyclic_shift: 0, block_bits: 9 };
    let mut llrs = vec![9; allocation.coded_bits()];
    let quality =
        PuschReceiver::new(&config, &numerology).unwrap().receive(Tti::new(0), 1, &allocation, true, &grid, &mut llrs);
    assert!(llrs.iter().all(|&llr| llr == 0) && quality.ack.is_none() && quality.snr_db == -30.0, "{quality:?}");
    let pucch = PucchReceiver::new(&config).unwrap();
    assert_eq!(pucch.request(Tti::new(0), 0, &grid), None);
    assert_eq!(pucch.report(Tti::new(0), 0, 0, &grid), None);
}

#[test]
fn settings_that_the_standard_lacks_are_refused() {
    let good = config(9, Bandwidth::Prb6);
    let mut refused = [good; 5];
    refused[0].cyclic_shift = 8;
    refused[1].group_offset = 30;
    refused[2].ack_offset = 15;
    refused[3].pucch.shift_distance = 0;
    refused[4].pucch.report_blocks = 7;
    assert_eq!(good.check(), Ok(()));
    for config in refused {
        let said = PuschTransmitter::new(&config).err().unwrap();
        assert!(matches!(said, Error::Uplink { .. }), "{said}");
        assert!(said.to_string().contains(" to "), "{said}");
        assert_eq!(PucchReceiver::new(&config).err(), Some(said));
    }
}
