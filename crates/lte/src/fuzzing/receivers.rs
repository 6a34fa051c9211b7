//! A subframe of any samples, through all receivers of a terminal and of a base station.

use num_complex::Complex32;
use takt_dsp::lte::Modulation;

use super::Choices;
use crate::{
    Bandwidth, BlockSet, BroadcastDecoder, Cell, CellId, CellSearch, ChannelEstimator, ControlDecoder, ControlEncoder,
    Dci, Demodulator, Direction, DownlinkGrant, Mcs, Mib, Modulator, Numerology, PdschAllocation, PdschReceiver,
    PdschTransmitter, PhichResource, PrachConfig, PrachDetector, PucchReceiver, PuschAllocation, PuschReceiver,
    ResourceGrid, Rnti, Sampling, SearchSpace, SharedChannelDecoder, SoftBuffer, Tracker, Tti, UplinkConfig,
    map_cell_reference, map_synchronisation, transport_block_bits,
};

const BANDWIDTH: Bandwidth = Bandwidth::Prb6;
const RNTI: Rnti = Rnti(0x1234);
const CFI: u8 = 2;
/// Half frames of 5 ms that a search takes, and one more.
const SUBFRAMES_OF_SEARCH: usize = 45;

/// Samples of any kind into every receiver: all that comes out is finite and within its range, and a block has its size.
///
/// The bytes edit a subframe of a cell, of silence or of noise. One in sixteen goes through the cell search too.
pub fn receivers(bytes: &[u8]) {
    let mut choices = Choices(bytes);
    let numerology = Numerology::new(BANDWIDTH, Sampling::Standard).expect("the standard rate always exists");
    let tti = Tti::new(choices.word().into());
    let does_search = choices.byte().is_multiple_of(16);
    let samples = samples(tti, &numerology, &mut choices);
    downlink(tti, &numerology, &samples);
    uplink(tti, &numerology, &samples);
    if does_search {
        search(&numerology, &samples);
    }
}

fn cell() -> Cell {
    let id = CellId::new(301).expect("below 504");
    Cell { id, bandwidth: BANDWIDTH, phich: PhichResource::One }
}

fn allocation(tti: Tti) -> PdschAllocation {
    let (modulation, i_tbs) = Mcs::downlink(4).expect("below 29");
    PdschAllocation {
        tti,
        cfi: CFI,
        rnti: RNTI.0,
        blocks: BlockSet::all(BANDWIDTH),
        modulation,
        block_bits: transport_block_bits(i_tbs, BANDWIDTH.blocks()),
        redundancy_version: 0,
    }
}

/// A subframe to begin with, and its edits: a place, a length, and a kind of sample each.
fn samples(tti: Tti, numerology: &Numerology, choices: &mut Choices<'_>) -> Vec<Complex32> {
    let mut samples = vec![Complex32::default(); numerology.subframe_len()];
    match choices.byte() % 3 {
        0 => {}
        1 => takt_dsp::noise(choices.bits(), 1.0, takt_base::Tick(0), 1, &mut samples),
        _ => sent(tti, numerology, &mut samples),
    }
    while !choices.is_empty() {
        let begin = usize::from(choices.word()) % samples.len();
        let len = usize::from(choices.word()) % (samples.len() - begin);
        edit(&mut samples[begin..=begin + len], choices);
    }
    samples
}

/// Puts an edit in place of these samples, or on them.
fn edit(samples: &mut [Complex32], choices: &mut Choices<'_>) {
    let kind = choices.byte();
    let axis = |choices: &mut Choices<'_>| f32::from(choices.byte() as i8) / 128.0;
    let value = match kind % 4 {
        0 => Complex32::new(axis(choices), axis(choices)),
        // Any bits: numbers of all sizes, infinities, and what is no number.
        1 => Complex32::new(f32::from_bits(choices.bits() as u32), f32::from_bits(choices.bits() as u32)),
        2 => Complex32::from(f32::from(choices.byte()).exp2()),
        _ => Complex32::new(f32::from(choices.byte()) * 1e-38, f32::NEG_INFINITY),
    };
    match kind / 4 % 3 {
        0 => samples.fill(value),
        1 => samples.iter_mut().for_each(|sample| *sample *= value),
        _ => samples.iter_mut().for_each(|sample| *sample += value),
    }
}

/// The subframe of a base station that sends all there is.
fn sent(tti: Tti, numerology: &Numerology, samples: &mut [Complex32]) {
    let (cell, allocation) = (cell(), allocation(tti));
    let mut grid = ResourceGrid::new(BANDWIDTH);
    map_cell_reference(&cell, tti, &mut grid);
    map_synchronisation(cell.id, tti, &mut grid);
    let mib = Mib { bandwidth: BANDWIDTH, phich: cell.phich, frame: tti.frame() };
    crate::BroadcastEncoder::new(cell.id).map(&mib, tti, &mut grid);
    let mut control = ControlEncoder::new(&cell);
    control.begin(tti, CFI);
    let grant = DownlinkGrant { blocks: 6, mcs: 4, ..DownlinkGrant::default() };
    control.add(&Dci::Compact(grant), RNTI, SearchSpace::Own, 2);
    control.map(&mut grid);
    let block = vec![0x5a; allocation.block_bits / 8];
    PdschTransmitter::new(&cell).transmit(&allocation, &block, &mut grid).expect("a block of the table");
    Modulator::new(*numerology, Direction::Downlink, 1.0).modulate(&grid, samples);
}

fn downlink(tti: Tti, numerology: &Numerology, samples: &[Complex32]) {
    let cell = cell();
    let mut received = ResourceGrid::new(BANDWIDTH);
    Demodulator::new(*numerology, Direction::Downlink, numerology.prefix / 2).demodulate(samples, &mut received);
    let mut estimator = ChannelEstimator::new(cell.id, BANDWIDTH);
    let estimate = estimator.estimate(tti, &received);
    let figures = [estimate.noise_power, estimate.signal_power, estimate.timing_samples, estimate.frequency_hz];
    assert!(figures.iter().all(|figure| figure.is_finite()) && estimate.snr_db().is_finite());
    assert!(estimate.gains.elements().iter().all(|gain| gain.re.is_finite() && gain.im.is_finite()));
    let correction = Tracker::new(numerology, 0.0).update(estimate);
    assert!(correction.frequency_hz.is_finite());
    let mib = BroadcastDecoder::new(cell.id).decode(&received, &estimate.gains, estimate.noise_power);
    assert!(mib.is_none_or(|mib| mib.frame < 1024));
    let mut control = ControlDecoder::new(&cell);
    let cfi = control.receive(tti, &received, &estimate.gains, estimate.noise_power);
    assert!((1..=3).contains(&cfi));
    for (rnti, space) in [(RNTI, SearchSpace::Own), (Rnti::SI, SearchSpace::Common)] {
        assert!(control.find(rnti, space).count() <= 32);
        assert!(control.found().iter().all(|found| found.level.is_finite() && found.likeness.is_finite()));
    }
    let _ = control.acknowledgement(5, 3);
    let (mut receiver, mut process) = (PdschReceiver::new(&cell, 2), SoftBuffer::new(BANDWIDTH));
    for new_data in [true, false] {
        let allocation = PdschAllocation { cfi, ..allocation(tti) };
        let (gains, noise) = (&estimate.gains, estimate.noise_power);
        let block = receiver.receive(&mut process, &allocation, new_data, &received, gains, noise);
        assert!(block.is_none_or(|block| block.len() == allocation.block_bits / 8));
    }
}

fn uplink(tti: Tti, numerology: &Numerology, samples: &[Complex32]) {
    let config = UplinkConfig::new(cell());
    let mut received = ResourceGrid::new(BANDWIDTH);
    Demodulator::new(*numerology, Direction::Uplink, numerology.prefix / 2).demodulate(samples, &mut received);
    let (modulation, i_tbs) = (Modulation::Qam16, 9);
    let block_bits = transport_block_bits(i_tbs, 4);
    let allocation =
        PuschAllocation { first_block: 1, blocks: 4, modulation, cyclic_shift: 0, block_bits: block_bits as u32 };
    let mut receiver = PuschReceiver::new(&config, numerology).expect("usual settings");
    let mut llrs = vec![0; allocation.coded_bits()];
    let quality = receiver.receive(tti, RNTI.0, &allocation, true, &received, &mut llrs);
    let figures = [quality.snr_db, quality.timing_samples, quality.frequency_hz, quality.power, quality.noise_power];
    assert!(figures.iter().all(|figure| figure.is_finite()), "{quality:?}");
    assert!(quality.timing_command(numerology) < 64);
    let mut process = SoftBuffer::new(BANDWIDTH);
    let mut decoder = SharedChannelDecoder::new(BANDWIDTH, 2);
    let block = decoder.decode(&mut process, &llrs, 0, modulation, block_bits, true);
    assert!(block.is_none_or(|block| block.len() == block_bits / 8));
    let pucch = PucchReceiver::new(&config).expect("usual settings");
    let found = [
        pucch.request(tti, 0, &received),
        pucch.acknowledgement(tti, 1, &received).map(|found| found.1),
        pucch.report(tti, RNTI.0, 0, &received).map(|found| found.1),
    ];
    assert!(found.iter().flatten().all(|found| found.snr_db.is_finite() && found.power.is_finite()));
    let prach =
        PrachConfig { config_index: 14, root_sequence: 0, zero_correlation_zone: 1, frequency_offset_blocks: 0 };
    let mut detector = PrachDetector::new(*numerology, BANDWIDTH, prach).expect("usual settings");
    for found in detector.detect(samples) {
        assert!(found.preamble < 64 && found.delay_samples.is_finite() && found.snr_db.is_finite());
    }
}

fn search(numerology: &Numerology, samples: &[Complex32]) {
    let all: Vec<Complex32> = samples.repeat(SUBFRAMES_OF_SEARCH);
    for found in CellSearch::new(*numerology).search(&all) {
        assert!(found.frame_begin < all.len() && found.snr_db.is_finite() && found.frequency_offset_hz.is_finite());
        assert!(found.power.is_finite());
    }
}
