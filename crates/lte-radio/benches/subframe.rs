//! How much of its millisecond a subframe takes, by component and for each end's whole receiver: 100 resource blocks, 16QAM, one
//! core, a clear channel.
//!
//! `cargo bench --package takt-lte-radio`; a time of 350 us is 0.35 of the slot. Times are those that the thread had a core, so that
//! others on the machine count little. `peers/phy/README.md` has the table.

use std::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};
use num_complex::Complex32;
use takt_dsp::lte::Modulation;
use takt_host::thread_clock::ThreadClock;
use takt_lte::{
    Bandwidth, BlockSet, Cell, CellId, ChannelEstimator, ControlDecoder, ControlEncoder, Dci, Demodulator, Direction,
    DownlinkGrant, Mcs, Modulator, Numerology, PdschAllocation, PdschReceiver, PdschTransmitter, PhichResource,
    PrachConfig, PrachDetector, PucchReceiver, PuschAllocation, PuschReceiver, PuschTransmitter, ResourceGrid, Rnti,
    Sampling, SearchSpace, SharedChannelDecoder, SharedChannelEncoder, SoftBuffer, Tti, UplinkConfig,
    map_cell_reference, transport_block_bits,
};

const BANDWIDTH: Bandwidth = Bandwidth::Prb100;
/// The highest scheme of 16QAM.
const MCS: u8 = 16;
const RNTI: Rnti = Rnti(0x1234);
/// An ordinary subframe: neither broadcast nor synchronisation.
const TTI: u64 = 3;
const CFI: u8 = 1;

fn cell() -> Cell {
    Cell { id: CellId::new(1).unwrap(), bandwidth: BANDWIDTH, phich: PhichResource::One }
}

fn allocation() -> PdschAllocation {
    let (modulation, i_tbs) = Mcs::downlink(MCS).unwrap();
    assert_eq!(modulation, Modulation::Qam16);
    PdschAllocation {
        tti: Tti::new(TTI),
        cfi: CFI,
        rnti: RNTI.0,
        blocks: BlockSet::all(BANDWIDTH),
        modulation,
        block_bits: transport_block_bits(i_tbs, BANDWIDTH.blocks()),
        redundancy_version: 0,
    }
}

fn noisy(samples: &mut [Complex32], snr_db: f32) {
    let mut noise = vec![Complex32::default(); samples.len()];
    takt_dsp::noise(1, 10f32.powf(-snr_db / 10.0), takt_base::Tick(0), 1, &mut noise);
    samples.iter_mut().zip(noise).for_each(|(sample, noise)| *sample += noise);
}

/// Times `call` by the thread's own clock.
fn time<O>(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, mut call: impl FnMut() -> O) {
    let clock = ThreadClock::of_this_thread();
    group.bench_function(name, |b| {
        b.iter_custom(|calls| {
            let begun = clock.ran();
            for _ in 0..calls {
                black_box(call());
            }
            clock.ran() - begun
        });
    });
}

fn downlink(c: &mut Criterion) {
    let (cell, allocation) = (cell(), allocation());
    let numerology = Numerology::new(BANDWIDTH, Sampling::Standard).unwrap();
    let block: Vec<u8> = (0..allocation.block_bits / 8).map(|at| (at * 37) as u8).collect();
    let grant = DownlinkGrant { blocks: 100, mcs: MCS, new_data: true, ..DownlinkGrant::default() };
    let (mut transmitter, mut control) = (PdschTransmitter::new(&cell), ControlEncoder::new(&cell));
    let mut modulator = Modulator::new(numerology, Direction::Downlink, 1.0);
    let mut grid = ResourceGrid::new(BANDWIDTH);
    let mut samples = vec![Complex32::default(); numerology.subframe_len()];
    let mut send = |samples: &mut [Complex32]| {
        grid.clear();
        map_cell_reference(&cell, allocation.tti, &mut grid);
        control.begin(allocation.tti, CFI);
        assert!(control.add(&Dci::Compact(grant), RNTI, SearchSpace::Own, 4));
        transmitter.transmit(&allocation, &block, &mut grid).unwrap();
        control.map(&mut grid);
        modulator.modulate(&grid, samples);
    };
    let mut group = c.benchmark_group("100-prb-16qam");
    time(&mut group, "station-send", || send(&mut samples));
    noisy(&mut samples, 20.0);
    let mut demodulator = Demodulator::new(numerology, Direction::Downlink, numerology.prefix / 2);
    let mut received = ResourceGrid::new(BANDWIDTH);
    let mut estimator = ChannelEstimator::new(cell.id, BANDWIDTH);
    let mut decoder = ControlDecoder::new(&cell);
    let (mut receiver, mut buffer) = (PdschReceiver::new(&cell, 8), SoftBuffer::new(BANDWIDTH));
    time(&mut group, "terminal-ofdm", || demodulator.demodulate(&samples, &mut received));
    time(&mut group, "terminal-channel", || estimator.estimate(allocation.tti, &received).noise_power);
    let estimate = estimator.latest().clone();
    time(&mut group, "terminal-control", || {
        decoder.receive(allocation.tti, &received, &estimate.gains, estimate.noise_power);
        let common = decoder.find(RNTI, SearchSpace::Common).count();
        assert!(common + decoder.find(RNTI, SearchSpace::Own).count() >= 1, "one place may be in both spaces");
    });
    time(&mut group, "terminal-pdsch", || {
        let (gains, noise) = (&estimate.gains, estimate.noise_power);
        assert!(receiver.receive(&mut buffer, &allocation, true, &received, gains, noise).is_some());
    });
    time(&mut group, "terminal-receive", || {
        demodulator.demodulate(&samples, &mut received);
        let estimate = estimator.estimate(allocation.tti, &received);
        let (gains, noise) = (&estimate.gains, estimate.noise_power);
        decoder.receive(allocation.tti, &received, gains, noise);
        let common = decoder.find(RNTI, SearchSpace::Common).count();
        assert!(common + decoder.find(RNTI, SearchSpace::Own).count() >= 1, "one place may be in both spaces");
        assert!(receiver.receive(&mut buffer, &allocation, true, &received, gains, noise).is_some());
    });
    group.finish();
}

fn uplink(c: &mut Criterion) {
    let config = UplinkConfig::new(cell());
    let numerology = Numerology::new(BANDWIDTH, Sampling::Standard).unwrap();
    let (modulation, i_tbs) = Mcs::uplink(MCS).unwrap();
    assert_eq!(modulation, Modulation::Qam16);
    let block_bits = transport_block_bits(i_tbs, 96);
    let allocation =
        PuschAllocation { first_block: 2, blocks: 96, modulation, cyclic_shift: 0, block_bits: block_bits as u32 };
    let block: Vec<u8> = (0..block_bits / 8).map(|at| (at * 41) as u8).collect();
    let mut coded = vec![0; allocation.coded_bits()];
    let mut encoder = SharedChannelEncoder::new(BANDWIDTH);
    let mut transmitter = PuschTransmitter::new(&config).unwrap();
    let mut modulator = Modulator::new(numerology, Direction::Uplink, 1.0);
    let mut grid = ResourceGrid::new(BANDWIDTH);
    let mut samples = vec![Complex32::default(); numerology.subframe_len()];
    let mut group = c.benchmark_group("100-prb-16qam");
    time(&mut group, "terminal-send", || {
        grid.clear();
        encoder.encode(&block, 0, modulation, &mut coded).unwrap();
        transmitter.map(Tti::new(TTI), RNTI.0, &allocation, &coded, Some(true), &mut grid).unwrap();
        modulator.modulate(&grid, &mut samples);
    });
    noisy(&mut samples, 20.0);
    let mut demodulator = Demodulator::new(numerology, Direction::Uplink, numerology.prefix / 2);
    let mut receiver = PuschReceiver::new(&config, &numerology).unwrap();
    let (mut decoder, mut buffer) = (SharedChannelDecoder::new(BANDWIDTH, 8), SoftBuffer::new(BANDWIDTH));
    let (mut received, mut llrs) = (ResourceGrid::new(BANDWIDTH), vec![0; coded.len()]);
    time(&mut group, "station-ofdm", || demodulator.demodulate(&samples, &mut received));
    time(&mut group, "station-pusch", || {
        receiver.receive(Tti::new(TTI), RNTI.0, &allocation, true, &received, &mut llrs)
    });
    time(&mut group, "station-decoding", || {
        assert!(decoder.decode(&mut buffer, &llrs, 0, modulation, block_bits, true).is_some());
    });
    let pucch = PucchReceiver::new(&config).unwrap();
    time(&mut group, "station-pucch", || {
        let tti = Tti::new(TTI);
        (pucch.acknowledgement(tti, 0, &received), pucch.report(tti, RNTI.0, 0, &received))
    });
    let prach =
        PrachConfig { root_sequence: 0, zero_correlation_zone: 1, frequency_offset_blocks: 2, config_index: 14 };
    let mut detector = PrachDetector::new(numerology, BANDWIDTH, prach).unwrap();
    time(&mut group, "station-prach", || detector.detect(&samples).len());
    time(&mut group, "station-receive", || {
        demodulator.demodulate(&samples, &mut received);
        receiver.receive(Tti::new(TTI), RNTI.0, &allocation, true, &received, &mut llrs);
        assert!(decoder.decode(&mut buffer, &llrs, 0, modulation, block_bits, true).is_some());
    });
    group.finish();
}

criterion_group!(benches, downlink, uplink);
criterion_main!(benches);
