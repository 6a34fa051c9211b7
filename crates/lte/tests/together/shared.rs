//! The shared channel beside a third party's subframe and tables, and under strange shapes and values.

use num_complex::Complex32;
use proptest::prelude::*;
use serde_json::Value;
use takt_dsp::lte::Modulation;
use takt_lte::{
    Bandwidth, BlockSet, Cell, CellId, Mcs, PdschAllocation, PdschReceiver, PdschTransmitter, PhichResource,
    ResourceGrid, SharedChannelDecoder, SharedChannelEncoder, SoftBuffer, Tti, pdsch_elements, transport_block_bits,
};

fn vector(name: &str) -> Value {
    let path = format!("{}/tests/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn bytes(hex: &Value) -> Vec<u8> {
    let digits = hex.as_str().unwrap().as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn complex(hex: &Value) -> Vec<Complex32> {
    let floats: Vec<f32> = bytes(hex).as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    floats.chunks(2).map(|pair| Complex32::new(pair[0], pair[1])).collect()
}

fn number(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}

fn cell(id: u16, bandwidth: Bandwidth) -> Cell {
    Cell { id: CellId::new(id).unwrap(), bandwidth, phich: PhichResource::default() }
}

fn ones(bandwidth: Bandwidth) -> ResourceGrid {
    let mut grid = ResourceGrid::new(bandwidth);
    grid.elements_mut().fill(Complex32::new(1.0, 0.0));
    grid
}

#[test]
fn sizes_and_schemes_are_those_of_the_tables() {
    let tables = vector("lte_tbs_mcs");
    let rows = tables["tbs"].as_array().unwrap();
    assert_eq!(rows.len(), 27);
    for (i_tbs, row) in rows.iter().enumerate() {
        let row = row.as_array().unwrap();
        assert_eq!(row.len(), 110);
        for (column, bits) in row.iter().enumerate() {
            assert_eq!(transport_block_bits(i_tbs as u8, column + 1), number(bits), "I_TBS {i_tbs}");
        }
    }
    let schemes = tables["mcs"].as_array().unwrap();
    assert_eq!(schemes.len(), usize::from(Mcs::COUNT));
    for scheme in schemes {
        let index = number(&scheme["mcs"]) as u8;
        let as_numbers = |(modulation, i_tbs): (Modulation, u8)| (modulation.bits(), usize::from(i_tbs));
        let downlink = (number(&scheme["dl_Qm"]), number(&scheme["dl_itbs"]));
        let uplink = (number(&scheme["ul_Qm"]), number(&scheme["ul_itbs"]));
        assert_eq!(Mcs::downlink(index).map(as_numbers), Some(downlink), "index {index}");
        assert_eq!(Mcs::uplink(index).map(as_numbers), Some(uplink), "index {index}");
    }
    for index in 29..=255 {
        assert!(Mcs::downlink(index).is_none() && Mcs::uplink(index).is_none());
    }
    let later = [28, 29, 30, 31, 32].map(Mcs::downlink_retransmission);
    assert_eq!(later, [None, Some(Modulation::Qpsk), Some(Modulation::Qam16), Some(Modulation::Qam64), None]);
    assert_eq!([28, 29, 30, 31, 32].map(Mcs::uplink_redundancy_version), [None, Some(1), Some(2), Some(3), None]);
}

#[test]
fn a_subframe_of_others_is_made_and_received() {
    let subframe = vector("lte_subframe_c1_sf0_mcs9");
    let cell = cell(number(&subframe["cell"]) as u16, Bandwidth::Prb25);
    let (modulation, i_tbs) = Mcs::downlink(number(&subframe["mcs"]) as u8).unwrap();
    let allocation = PdschAllocation {
        tti: Tti::new(subframe["tti"].as_u64().unwrap()),
        cfi: number(&subframe["cfi"]) as u8,
        rnti: number(&subframe["rnti"]) as u16,
        blocks: BlockSet::all(cell.bandwidth),
        modulation,
        block_bits: transport_block_bits(i_tbs, 25),
        redundancy_version: 0,
    };
    let (block, theirs) = (bytes(&subframe["tb_hex"]), complex(&subframe["grid_f32le_hex"]));
    assert_eq!((allocation.elements(&cell), allocation.block_bits), (3030, 4008));

    let (mut transmitter, mut ours) = (PdschTransmitter::new(&cell), ResourceGrid::new(cell.bandwidth));
    transmitter.transmit(&allocation, &block, &mut ours).unwrap();
    let scrambled = transmitter.scrambled_bits(&allocation);
    let expected = bytes(&subframe["pdsch_scrambled_bits_hex"]);
    assert_eq!(scrambled.len(), number(&subframe["G"]));
    for (at, &bit) in scrambled.iter().enumerate() {
        assert_eq!(bit, expected[at / 8] >> (7 - at % 8) & 1, "scrambled bit {at}");
    }
    // Elements of other channels are empty here.
    let used = ours.elements().iter().zip(&theirs).filter(|(ours, _)| ours.norm() > 0.0);
    let differences: Vec<f32> = used.map(|(ours, theirs)| (ours - theirs).norm()).collect();
    assert_eq!(differences.len(), 3030);
    assert!(differences.iter().all(|&difference| difference < 1e-6));

    let mut receiver = PdschReceiver::new(&cell, SharedChannelDecoder::ITERATIONS);
    let mut process = SoftBuffer::new(cell.bandwidth);
    let gains = ones(cell.bandwidth);
    ours.elements_mut().copy_from_slice(&theirs);
    for noise in [0.0, 1e-3, 0.3] {
        let mut noisy = ours.clone();
        let mut disturbance = theirs.clone();
        takt_dsp::noise(3, noise, takt_base::Tick(0), 1, &mut disturbance);
        noisy.elements_mut().iter_mut().zip(&disturbance).for_each(|(element, noise)| *element += noise);
        let received = receiver.receive(&mut process, &allocation, true, &noisy, &gains, noise);
        assert_eq!(received, Some(&block[..]), "noise {noise}");
    }
    let other = PdschAllocation { rnti: allocation.rnti + 1, ..allocation };
    assert_eq!(receiver.receive(&mut process, &other, true, &ours, &gains, 1e-3), None);
}

#[test]
fn a_channel_of_any_scale_and_phase_is_received() {
    let cell = cell(77, Bandwidth::Prb15);
    let (mut transmitter, mut receiver) = (PdschTransmitter::new(&cell), PdschReceiver::new(&cell, 8));
    let mut process = SoftBuffer::new(cell.bandwidth);
    for (index, scale) in [(3, 1e-6), (13, 1.0), (24, 3e4)] {
        let (modulation, i_tbs) = Mcs::downlink(index).unwrap();
        let block_bits = transport_block_bits(i_tbs, 9);
        let blocks = BlockSet::from_bitmap(0b1101_1010, cell.bandwidth);
        let (tti, cfi, rnti, redundancy_version) = (Tti::new(5), 3, 61, 0);
        let allocation = PdschAllocation { tti, cfi, rnti, blocks, modulation, block_bits, redundancy_version };
        let block: Vec<u8> = (0..block_bits / 8).map(|at| (at * at + 7 * at) as u8).collect();
        let mut grid = ResourceGrid::new(cell.bandwidth);
        transmitter.transmit(&allocation, &block, &mut grid).unwrap();
        let mut gains = ones(cell.bandwidth);
        for (at, gain) in gains.elements_mut().iter_mut().enumerate() {
            *gain = Complex32::from_polar(scale * (1.0 + 0.5 * (at as f32 * 0.01).sin()), at as f32 * 0.1);
        }
        grid.elements_mut().iter_mut().zip(gains.elements()).for_each(|(element, gain)| *element *= gain);
        let found = receiver.receive(&mut process, &allocation, true, &grid, &gains, scale * scale * 1e-3);
        assert_eq!(found, Some(&block[..]), "index {index}");
    }
}

/// Soft values as sure as `strength` of coded bits.
fn soft(bits: &[u8], strength: i8) -> Vec<i8> {
    bits.iter().map(|&bit| if bit == 0 { strength } else { -strength }).collect()
}

#[test]
fn every_size_of_a_wide_carrier_comes_through() {
    let bandwidth = Bandwidth::Prb100;
    let (mut encoder, mut decoder) = (SharedChannelEncoder::new(bandwidth), SharedChannelDecoder::new(bandwidth, 4));
    let mut process = SoftBuffer::new(bandwidth);
    let mut sizes: Vec<usize> =
        (0..27).flat_map(|i_tbs| (1..=100).map(move |blocks| transport_block_bits(i_tbs, blocks))).collect();
    sizes.sort_unstable();
    sizes.dedup();
    assert_eq!((sizes.len(), sizes[0], sizes[sizes.len() - 1]), (178, 16, 75_376));
    for (n, bits) in sizes.into_iter().enumerate() {
        let modulation = [Modulation::Qpsk, Modulation::Qam16, Modulation::Qam64][n % 3];
        let block: Vec<u8> = (0..bits / 8).map(|at| (at * 31 + n + (at >> 3)) as u8).collect();
        let mut coded = vec![9; (bits * 3 / 2 + 200).next_multiple_of(modulation.bits())];
        encoder.encode(&block, 0, modulation, &mut coded).unwrap();
        let found = decoder.decode(&mut process, &soft(&coded, 20), 0, modulation, bits, n % 2 == 0);
        assert_eq!(found, Some(&block[..]), "{bits} bits");
    }
}

#[test]
fn transmissions_of_all_versions_add_up_and_a_right_block_stays() {
    let bandwidth = Bandwidth::Prb50;
    let (mut encoder, mut decoder) = (SharedChannelEncoder::new(bandwidth), SharedChannelDecoder::new(bandwidth, 8));
    let mut process = SoftBuffer::new(bandwidth);
    let bits = transport_block_bits(20, 50);
    let block: Vec<u8> = (0..bits / 8).map(|at| (at * 77) as u8).collect();
    // So few bits that no transmission alone can be decoded.
    let mut coded = vec![0; (bits * 3 / 4).next_multiple_of(6)];
    let versions = [0, 2, 3, 1];
    for (n, rv) in versions.into_iter().enumerate() {
        encoder.encode(&block, rv, Modulation::Qam64, &mut coded).unwrap();
        let found = decoder.decode(&mut process, &soft(&coded, 15), rv, Modulation::Qam64, bits, n == 0);
        assert_eq!(found.is_some(), n > 0, "transmission {n}");
    }
    assert_eq!((process.block(), process.block_bits()), (Some(&block[..]), bits));
    // Whatever comes for a block that is right.
    let noise = vec![-3; coded.len()];
    assert_eq!(decoder.decode(&mut process, &noise, 1, Modulation::Qam64, bits, false), Some(&block[..]));
    // Another block has nothing of the one before.
    assert_eq!(decoder.decode(&mut process, &noise, 1, Modulation::Qam64, bits, true), None);
    assert_eq!(process.block(), None);
}

#[test]
fn silence_is_no_transport_block_but_zeros_are_one() {
    let bandwidth = Bandwidth::Prb6;
    let (mut encoder, mut decoder) = (SharedChannelEncoder::new(bandwidth), SharedChannelDecoder::new(bandwidth, 8));
    let mut process = SoftBuffer::new(bandwidth);
    let bits = transport_block_bits(9, 6);
    for silent in [vec![0; 1600], [vec![1; 500], vec![0; 1100]].concat()] {
        assert_eq!(decoder.decode(&mut process, &silent, 0, Modulation::Qpsk, bits, true), None);
    }
    let (zeros, mut coded) = (vec![0; bits / 8], vec![9; 1600]);
    encoder.encode(&zeros, 0, Modulation::Qpsk, &mut coded).unwrap();
    let found = decoder.decode(&mut process, &soft(&coded, 10), 0, Modulation::Qpsk, bits, true);
    assert_eq!(found, Some(&zeros[..]));
}

#[test]
fn a_size_that_the_bandwidth_lacks_is_refused() {
    let bandwidth = Bandwidth::Prb6;
    let (mut encoder, mut decoder) = (SharedChannelEncoder::new(bandwidth), SharedChannelDecoder::new(bandwidth, 1));
    let mut process = SoftBuffer::new(bandwidth);
    for bytes in [0, 1, 6, 5000] {
        let said = encoder.encode(&vec![0; bytes], 0, Modulation::Qpsk, &mut [0; 100]).unwrap_err().to_string();
        assert!(said.contains(&format!("{} bits", 8 * bytes)), "{said}");
        assert_eq!(decoder.decode(&mut process, &[1; 100], 0, Modulation::Qpsk, 8 * bytes, false), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn no_samples_and_no_grant_make_a_receiver_panic(
        seed in any::<u64>(), kind in 0usize..8, tti in 0u64..10_240, cfi in any::<u8>(), rnti in any::<u16>(),
        range in any::<(u8, u8)>(), index in 0u8..29, rv in any::<u8>(), new_data in any::<bool>(), noise in 0usize..6,
        id in 0u16..504,
    ) {
        const STRANGE: [f32; 8] = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN_POSITIVE, 0.0, -1.0, 1e20];
        const NOISE: [f32; 6] = [f32::NAN, f32::INFINITY, -1.0, 0.0, 1.0, f32::MIN_POSITIVE];
        thread_local! {
            static KEPT: std::cell::RefCell<(PdschReceiver, SoftBuffer)> = std::cell::RefCell::new((
                PdschReceiver::new(&cell(3, Bandwidth::Prb6), 2), SoftBuffer::new(Bandwidth::Prb6),
            ));
        }
        let value = |at: usize| STRANGE[(seed.wrapping_mul(at as u64 | 1) >> 40) as usize % (kind + 1)];
        let (mut grid, mut gains) = (ResourceGrid::new(Bandwidth::Prb6), ResourceGrid::new(Bandwidth::Prb6));
        for at in 0..grid.elements().len() {
            grid.elements_mut()[at] = Complex32::new(value(at), value(at + 9));
            gains.elements_mut()[at] = Complex32::new(value(at + 5), value(at + 3));
        }
        let (modulation, i_tbs) = Mcs::downlink(index).unwrap();
        let blocks = BlockSet::from_range(range.0.into(), range.1.into());
        let allocation = PdschAllocation {
            tti: Tti::new(tti), cfi, rnti, blocks, modulation, redundancy_version: rv,
            block_bits: transport_block_bits(i_tbs, blocks.count()),
        };
        prop_assert!(pdsch_elements(&cell(id, Bandwidth::Prb6), allocation.tti, cfi, &blocks) <= 72 * 13);
        let found = KEPT.with_borrow_mut(|(receiver, process)| {
            receiver.receive(process, &allocation, new_data, &grid, &gains, NOISE[noise]).map(<[u8]>::len)
        });
        prop_assert_eq!(found, None);
    }
}
