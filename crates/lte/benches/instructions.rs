//! Kernels to count instructions of: `instructions KERNEL CALLS` calls one so many times; without arguments each is called once.
//!
//! `tests/instructions/run` runs this under cachegrind, with few calls and with many: the difference is the kernel's. All have 100
//! resource blocks of 16QAM at 20 dB, as `cargo bench -p takt-lte-radio` has.

#[path = "../../../tests/support/kernels.rs"]
mod kernels;

use std::hint::black_box;

use num_complex::Complex32;
use takt_dsp::lte::Modulation;
use takt_lte::{
    Bandwidth, BlockSet, Cell, CellId, ChannelEstimator, ControlDecoder, ControlEncoder, Dci, Demodulator, Direction,
    DownlinkGrant, Mcs, Modulator, Numerology, PdschAllocation, PdschReceiver, PdschTransmitter, PhichResource,
    PuschAllocation, PuschReceiver, PuschTransmitter, ResourceGrid, Rnti, Sampling, SearchSpace, SharedChannelDecoder,
    SharedChannelEncoder, SoftBuffer, Tti, UplinkConfig, map_cell_reference, transport_block_bits,
};

use kernels::{Kernel, Make};

const KERNELS: [(&str, Make); 7] = [
    ("lte-station-send", station_send),
    ("lte-station-receive", station_receive),
    ("lte-terminal-ofdm", terminal_ofdm),
    ("lte-terminal-channel", terminal_channel),
    ("lte-terminal-control", terminal_control),
    ("lte-terminal-pdsch", terminal_pdsch),
    ("lte-terminal-send", terminal_send),
];

const BANDWIDTH: Bandwidth = Bandwidth::Prb100;
/// The highest scheme of 16QAM.
const MCS: u8 = 16;
const RNTI: Rnti = Rnti(0x1234);
const CFI: u8 = 1;
const SNR_DB: f32 = 20.0;

/// An ordinary subframe: neither broadcast nor synchronisation.
fn tti() -> Tti {
    Tti::new(3)
}

fn cell() -> Cell {
    Cell { id: CellId::new(1).expect("below 504"), bandwidth: BANDWIDTH, phich: PhichResource::One }
}

fn numerology() -> Numerology {
    Numerology::new(BANDWIDTH, Sampling::Standard).expect("the standard rate always exists")
}

fn samples() -> Vec<Complex32> {
    vec![Complex32::default(); numerology().subframe_len()]
}

fn add_noise(samples: &mut [Complex32]) {
    let mut noise = vec![Complex32::default(); samples.len()];
    takt_dsp::noise(1, 10f32.powf(-SNR_DB / 10.0), takt_base::Tick(0), 1, &mut noise);
    samples.iter_mut().zip(noise).for_each(|(sample, noise)| *sample += noise);
}

fn pdsch() -> PdschAllocation {
    let (modulation, i_tbs) = Mcs::downlink(MCS).expect("below 29");
    PdschAllocation {
        tti: tti(),
        cfi: CFI,
        rnti: RNTI.0,
        blocks: BlockSet::all(BANDWIDTH),
        modulation,
        block_bits: transport_block_bits(i_tbs, BANDWIDTH.blocks()),
        redundancy_version: 0,
    }
}

fn pusch() -> PuschAllocation {
    let (_, i_tbs) = Mcs::uplink(MCS).expect("below 29");
    let block_bits = transport_block_bits(i_tbs, 96) as u32;
    PuschAllocation { first_block: 2, blocks: 96, modulation: Modulation::Qam16, cyclic_shift: 0, block_bits }
}

fn block(bits: usize) -> Vec<u8> {
    (0..bits / 8).map(|at| (at * 37) as u8).collect()
}

/// Sends a subframe of the base station.
fn send_downlink() -> impl FnMut(&mut [Complex32]) {
    let (cell, allocation) = (cell(), pdsch());
    let block = block(allocation.block_bits);
    let grant = DownlinkGrant { blocks: 100, mcs: MCS, new_data: true, ..DownlinkGrant::default() };
    let (mut transmitter, mut control) = (PdschTransmitter::new(&cell), ControlEncoder::new(&cell));
    let mut modulator = Modulator::new(numerology(), Direction::Downlink, 1.0);
    let mut grid = ResourceGrid::new(BANDWIDTH);
    move |samples| {
        grid.clear();
        map_cell_reference(&cell, allocation.tti, &mut grid);
        control.begin(allocation.tti, CFI);
        control.add(&Dci::Compact(grant), RNTI, SearchSpace::Own, 4);
        transmitter.transmit(&allocation, &block, &mut grid).expect("a block of the table");
        control.map(&mut grid);
        modulator.modulate(&grid, samples);
    }
}

/// Sends a subframe of a terminal.
fn send_uplink() -> impl FnMut(&mut [Complex32]) {
    let allocation = pusch();
    let block = block(allocation.block_bits as usize);
    let mut coded = vec![0; allocation.coded_bits()];
    let mut encoder = SharedChannelEncoder::new(BANDWIDTH);
    let mut transmitter = PuschTransmitter::new(&UplinkConfig::new(cell())).expect("usual settings");
    let mut modulator = Modulator::new(numerology(), Direction::Uplink, 1.0);
    let mut grid = ResourceGrid::new(BANDWIDTH);
    move |samples| {
        grid.clear();
        encoder.encode(&block, 0, allocation.modulation, &mut coded).expect("a block of the table");
        transmitter.map(tti(), RNTI.0, &allocation, &coded, Some(true), &mut grid).expect("an allocation");
        modulator.modulate(&grid, samples);
    }
}

/// The grid that a terminal receives.
fn received_downlink() -> ResourceGrid {
    let (mut samples, mut grid) = (samples(), ResourceGrid::new(BANDWIDTH));
    send_downlink()(&mut samples);
    add_noise(&mut samples);
    let numerology = numerology();
    Demodulator::new(numerology, Direction::Downlink, numerology.prefix / 2).demodulate(&samples, &mut grid);
    grid
}

fn station_send() -> Kernel {
    let (mut samples, mut send) = (samples(), send_downlink());
    Box::new(move || send(black_box(&mut samples)))
}

fn terminal_send() -> Kernel {
    let (mut samples, mut send) = (samples(), send_uplink());
    Box::new(move || send(black_box(&mut samples)))
}

fn station_receive() -> Kernel {
    let (mut samples, allocation, numerology) = (samples(), pusch(), numerology());
    send_uplink()(&mut samples);
    add_noise(&mut samples);
    let mut demodulator = Demodulator::new(numerology, Direction::Uplink, numerology.prefix / 2);
    let mut receiver = PuschReceiver::new(&UplinkConfig::new(cell()), &numerology).expect("usual settings");
    let (mut decoder, mut buffer) = (SharedChannelDecoder::new(BANDWIDTH, 8), SoftBuffer::new(BANDWIDTH));
    let (mut received, mut llrs) = (ResourceGrid::new(BANDWIDTH), vec![0; allocation.coded_bits()]);
    Box::new(move || {
        demodulator.demodulate(black_box(&samples), &mut received);
        receiver.receive(tti(), RNTI.0, &allocation, true, &received, &mut llrs);
        let bits = allocation.block_bits as usize;
        assert!(decoder.decode(&mut buffer, &llrs, 0, allocation.modulation, bits, true).is_some());
    })
}

fn terminal_ofdm() -> Kernel {
    let (mut samples, numerology) = (samples(), numerology());
    send_downlink()(&mut samples);
    let mut demodulator = Demodulator::new(numerology, Direction::Downlink, numerology.prefix / 2);
    let mut received = ResourceGrid::new(BANDWIDTH);
    Box::new(move || demodulator.demodulate(black_box(&samples), black_box(&mut received)))
}

fn terminal_channel() -> Kernel {
    let (received, mut estimator) = (received_downlink(), ChannelEstimator::new(cell().id, BANDWIDTH));
    Box::new(move || {
        black_box(estimator.estimate(tti(), black_box(&received)).noise_power);
    })
}

fn terminal_control() -> Kernel {
    let (received, mut decoder) = (received_downlink(), ControlDecoder::new(&cell()));
    let mut estimator = ChannelEstimator::new(cell().id, BANDWIDTH);
    estimator.estimate(tti(), &received);
    Box::new(move || {
        let estimate = estimator.latest();
        decoder.receive(tti(), black_box(&received), &estimate.gains, estimate.noise_power);
        let common = decoder.find(RNTI, SearchSpace::Common).count();
        assert!(common + decoder.find(RNTI, SearchSpace::Own).count() >= 1, "one place may be in both spaces");
    })
}

fn terminal_pdsch() -> Kernel {
    let (received, mut receiver) = (received_downlink(), PdschReceiver::new(&cell(), 8));
    let (mut estimator, mut buffer) = (ChannelEstimator::new(cell().id, BANDWIDTH), SoftBuffer::new(BANDWIDTH));
    estimator.estimate(tti(), &received);
    Box::new(move || {
        let estimate = estimator.latest();
        let (gains, noise) = (&estimate.gains, estimate.noise_power);
        assert!(receiver.receive(&mut buffer, &pdsch(), true, black_box(&received), gains, noise).is_some());
    })
}

fn main() {
    kernels::run(&KERNELS);
}
