//! The PUSCH through noise, delays, frequency offsets and echoes.

use num_complex::Complex32;
use proptest::prelude::*;
use takt_dsp::lte::{Modulation, demodulate, modulate};
use takt_lte::{
    Bandwidth, Numerology, PuschAllocation, PuschQuality, PuschReceiver, PuschTransmitter, ResourceGrid, Sampling, Tti,
    UplinkConfig, valid_uplink_blocks,
};

use super::code_word;
use super::link::{Air, Link, Random, add_noise, config};

const QAMS: [Modulation; 3] = [Modulation::Qpsk, Modulation::Qam16, Modulation::Qam64];

fn allocation(first_block: u8, blocks: u8, modulation: Modulation, block_bits: u32) -> PuschAllocation {
    PuschAllocation { first_block, blocks, modulation, cyclic_shift: 3, block_bits }
}

fn many() -> bool {
    std::env::var_os("TAKT_LONG_TESTS").is_some()
}

/// A terminal, a link and a base station with one allocation.
struct Bench {
    allocation: PuschAllocation,
    link: Link,
    transmitter: PuschTransmitter,
    receiver: PuschReceiver,
    sent: ResourceGrid,
    received: ResourceGrid,
}

impl Bench {
    fn new(config: &UplinkConfig, allocation: PuschAllocation) -> Bench {
        let bandwidth = config.cell.bandwidth;
        let link = Link::new(bandwidth);
        Bench {
            allocation,
            transmitter: PuschTransmitter::new(config).unwrap(),
            receiver: PuschReceiver::new(config, &link.numerology).unwrap(),
            link,
            sent: ResourceGrid::new(bandwidth),
            received: ResourceGrid::new(bandwidth),
        }
    }

    fn pass(&mut self, coded: &[u8], ack: Option<bool>, asked: bool, air: &Air, seed: u64) -> (PuschQuality, Vec<i8>) {
        let tti = Tti::new(seed);
        self.sent.clear();
        self.transmitter.map(tti, 77, &self.allocation, coded, ack, &mut self.sent).unwrap();
        self.link.pass(&self.sent, air, seed, &mut self.received);
        let mut llrs = vec![99; coded.len()];
        let quality = self.receiver.receive(tti, 77, &self.allocation, asked, &self.received, &mut llrs);
        (quality, llrs)
    }
}

/// Mutual information of a bit and its soft value, taken at its word: 1 - E log2(1 + exp(-+L)).
fn information(bits: &[u8], llrs: &[i8], of_unit: f32) -> f32 {
    let loss = |(&bit, &llr): (&u8, &i8)| {
        let llr = f32::from(llr) * of_unit * if bit == 0 { 1.0 } else { -1.0 };
        (-llr).exp().ln_1p() / std::f32::consts::LN_2
    };
    1.0 - bits.iter().zip(llrs).map(loss).sum::<f32>() / bits.len() as f32
}

/// The same where channel and noise are known.
fn information_of_genie(modulation: Modulation, bits: &[u8], snr_db: f32, seed: u64) -> f32 {
    let mut symbols = vec![Complex32::default(); bits.len() / modulation.bits()];
    modulate(modulation, bits, &mut symbols);
    let noise_power = 10f32.powf(-snr_db / 10.0);
    let mut noise = vec![Complex32::default(); symbols.len()];
    takt_dsp::noise(seed, noise_power, takt_base::Tick(0), 1, &mut noise);
    symbols.iter_mut().zip(noise).for_each(|(symbol, noise)| *symbol += noise);
    let mut llrs = vec![0; bits.len()];
    demodulate(modulation, 4.0 / noise_power, &symbols, None, &mut llrs);
    information(bits, &llrs, 0.25)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if many() { 300 } else { 40 }))]

    #[test]
    fn what_was_sent_comes_back(
        bandwidth in prop::sample::select(&Bandwidth::ALL[..]),
        id in 0u16..504,
        (at, count) in (0usize..1000, 0usize..1000),
        modulation in prop::sample::select(&QAMS[..]),
        (cyclic_shift, of_cell, group_offset) in (0u8..8, 0u8..8, 0u8..30),
        ack in any::<Option<bool>>(),
        seed in any::<u64>(),
    ) {
        let mut config = config(id, bandwidth);
        (config.cyclic_shift, config.group_offset) = (of_cell, group_offset);
        let counts: Vec<usize> = (1..=bandwidth.blocks()).filter(|&n| valid_uplink_blocks(n)).collect();
        let blocks = counts[count % counts.len()];
        let first_block = (at % (bandwidth.blocks() - blocks + 1)) as u8;
        let allocation = PuschAllocation { first_block, blocks: blocks as u8, modulation, cyclic_shift, block_bits: 144 * blocks as u32 };
        let bits = Random(seed).bits(allocation.coded_bits());
        let mut grid = ResourceGrid::new(bandwidth);
        let tti = Tti::new(seed);
        let rnti = (seed >> 32) as u16;
        PuschTransmitter::new(&config).unwrap().map(tti, rnti, &allocation, &bits, ack, &mut grid).unwrap();
        let power: f32 = grid.elements().iter().map(Complex32::norm_sqr).sum();
        let used = allocation.subcarriers() as f32 * 14.0;
        prop_assert!((power / used - 1.0).abs() < 0.35, "{power} of {used}");

        // In another scale and phase.
        grid.elements_mut().iter_mut().for_each(|element| *element *= Complex32::new(3e-4, -4e-4));
        let numerology = Numerology::new(bandwidth, Sampling::Standard).unwrap();
        let mut receiver = PuschReceiver::new(&config, &numerology).unwrap();
        let mut llrs = vec![99; bits.len()];
        let quality = receiver.receive(tti, rnti, &allocation, ack.is_some(), &grid, &mut llrs);
        prop_assert_eq!(quality.ack, ack);
        prop_assert!(quality.snr_db > 35.0 && quality.timing_samples.abs() < 0.1, "{:?}", quality);
        prop_assert!((quality.power / 25e-8 - 1.0).abs() < 0.01);
        let erased = llrs.iter().filter(|&&llr| llr == 0).count();
        let of_ack = ack.map_or(0, |_| config.ack_symbols(&allocation) * modulation.bits());
        prop_assert_eq!(erased, of_ack);
        prop_assert!(bits.iter().zip(&llrs).all(|(&bit, &llr)| llr == 0 || (llr < 0) == (bit == 1)));
    }
}

/// Delays to a quarter of a prefix and offsets to 200 Hz cost little, and both are measured.
#[test]
fn soft_values_are_worth_almost_what_a_known_channel_gives() {
    let bandwidth = Bandwidth::Prb25;
    let quarter = Link::new(bandwidth).numerology.prefix as i32 / 4;
    let airs = [(0, 0.0, None), (quarter, 200.0, None), (-quarter, -200.0, None), (quarter, 0.0, Some(4))];
    let cases =
        [(Modulation::Qpsk, 0.0), (Modulation::Qpsk, 6.0), (Modulation::Qam16, 12.0), (Modulation::Qam64, 20.0)];
    for (blocks, worst) in [(1, 0.1), (3, 0.05), (25, 0.02)] {
        for (modulation, snr_db) in cases {
            let mut bench = Bench::new(&config(11, bandwidth), allocation(25 - blocks, blocks, modulation, 1000));
            let known = information_of_genie(modulation, &Random(5).bits(12_000), snr_db, 5);
            for (late, offset_hz, echo) in airs {
                let air = Air { snr_db, late, offset_hz, echo };
                let (mut sum, mut snr, mut timing, mut hz) = (0.0, 0.0, 0.0, 0.0);
                let count = if many() { 100 } else { 10 } * if blocks == 1 { 4 } else { 1 };
                for seed in 0..count {
                    let bits = Random(seed).bits(bench.allocation.coded_bits());
                    let (quality, llrs) = bench.pass(&bits, None, false, &air, seed);
                    sum += information(&bits, &llrs, 0.25) / count as f32;
                    snr += quality.snr_db / count as f32;
                    timing += (quality.timing_samples - late as f32).powi(2) / count as f32;
                    hz += (quality.frequency_hz - offset_hz).powi(2) / count as f32;
                }
                eprintln!(
                    "{blocks:2} blocks {modulation:?} {snr_db:4} dB, {late:3} samples, {offset_hz:4} Hz, echo {echo:?}: \
                     information {sum:.3} of {known:.3}, said {snr:.1} dB, timing off by {:.2} samples, frequency {:.0} Hz",
                    timing.sqrt(),
                    hz.sqrt(),
                );
                if echo.is_none() {
                    assert!(sum > known - worst, "{blocks} {modulation:?} {air:?}: {sum} of {known}");
                    assert!((snr - snr_db).abs() < 1.5, "{blocks} {modulation:?} {air:?}: {snr}");
                    assert!(timing.sqrt() < 10.0 / f32::from(blocks) && hz.sqrt() < 150.0, "{air:?}: {timing} {hz}");
                }
            }
        }
    }
}

#[test]
fn blocks_are_decoded_where_they_should() {
    // MCS 16 of 25 blocks: 16QAM of rate 0.54. MCS 5 with 4 blocks: QPSK of rate 0.30.
    let cases = [
        (25, Modulation::Qam16, 7736, [6.0, 6.5, 7.0, 7.5, 9.0]),
        (4, Modulation::Qpsk, 328, [-2.0, -1.5, -1.0, -0.5, 1.5]),
    ];
    let quarter = Link::new(Bandwidth::Prb25).numerology.prefix as i32 / 4;
    for (blocks, modulation, size, snrs) in cases {
        let mut bench = Bench::new(&config(300, Bandwidth::Prb25), allocation(0, blocks, modulation, size));
        for (late, offset_hz) in [(0, 0.0), (quarter, 200.0)] {
            let snrs = if many() { &snrs[..] } else { &snrs[4..] };
            for &snr_db in snrs {
                let count = if many() { 200 } else { 10 };
                let right = (0..count).filter(|&seed| {
                    let block = Random(seed).bits(size as usize);
                    let coded = code_word::encode(&block, bench.allocation.coded_bits(), modulation.bits());
                    let (_, llrs) = bench.pass(&coded, None, false, &Air { snr_db, late, offset_hz, echo: None }, seed);
                    code_word::decode(&llrs, size as usize, modulation.bits()) == Some(block)
                });
                let right = right.count();
                eprintln!(
                    "{blocks} blocks {modulation:?} {size} bits, {late} samples, {offset_hz} Hz, {snr_db} dB: {right} of {count} right"
                );
                assert!(snr_db < snrs[snrs.len() - 1] || right >= count as usize * 95 / 100, "{right} of {count}");
            }
        }
    }
}

/// Bits of an acknowledgement, and that none was sent, where data of the same format is at its limit.
#[test]
fn acknowledgements_on_the_pusch_are_found() {
    let cases = [
        (25, Modulation::Qam16, 7736, 9.0),
        (25, Modulation::Qpsk, 2216, 0.0),
        (4, Modulation::Qpsk, 328, 0.0),
        (1, Modulation::Qpsk, 56, 0.0),
        (50, Modulation::Qam64, 36_696, 18.0),
    ];
    for (blocks, modulation, size, snr_db) in cases {
        let config = config(2, Bandwidth::Prb50);
        let allocation = allocation(0, blocks, modulation, size);
        let mut bench = Bench::new(&config, allocation);
        let count: usize = if many() { 2000 } else { 60 };
        let (mut missed, mut turned, mut false_ack, mut false_nack) = (0, 0, 0, 0);
        for seed in 0..count as u64 {
            let bits = Random(seed).bits(allocation.coded_bits());
            let sent = seed % 2 == 0;
            let found = bench.pass(&bits, Some(sent), true, &Air::noise(snr_db), seed).0.ack;
            missed += usize::from(found.is_none());
            turned += usize::from(found == Some(!sent));
            let found = bench.pass(&bits, None, true, &Air::noise(snr_db), seed).0.ack;
            false_ack += usize::from(found == Some(true));
            false_nack += usize::from(found == Some(false));
        }
        eprintln!(
            "{blocks} blocks {modulation:?} {size} bits, {} symbols, {snr_db} dB: of {count} missed {missed}, turned {turned}; \
             without: {false_ack} seen as right, {false_nack} as wrong",
            config.ack_symbols(&allocation)
        );
        let most = |percent: usize| 2 + count * percent / 100;
        assert!(missed <= most(1) && turned == 0 && false_ack <= most(2) && false_nack <= most(2));
    }
}

/// A terminal that sent no acknowledgement has data where one was expected: it still counts.
#[test]
fn data_in_place_of_an_acknowledgement_is_kept() {
    let mut bench = Bench::new(&config(2, Bandwidth::Prb25), allocation(0, 25, Modulation::Qam16, 7736));
    let bits = Random(8).bits(bench.allocation.coded_bits());
    let (quality, llrs) = bench.pass(&bits, None, true, &Air::noise(20.0), 4);
    assert_eq!(quality.ack, None);
    assert!(bits.iter().zip(&llrs).all(|(&bit, &llr)| llr != 0 && (llr < 0) == (bit == 1)));
}

#[test]
fn terminals_on_other_blocks_do_not_disturb() {
    let config = config(33, Bandwidth::Prb25);
    let numerology = Numerology::new(Bandwidth::Prb25, Sampling::Standard).unwrap();
    let (one, other) = (allocation(2, 8, Modulation::Qam16, 1000), allocation(10, 12, Modulation::Qam64, 1000));
    let mut transmitter = PuschTransmitter::new(&config).unwrap();
    let mut receiver = PuschReceiver::new(&config, &numerology).unwrap();
    let mut grid = ResourceGrid::new(Bandwidth::Prb25);
    let bits = [one, other].map(|allocation| Random(3).bits(allocation.coded_bits()));
    for (allocation, bits) in [one, other].iter().zip(&bits) {
        transmitter.map(Tti::new(7), 9, allocation, bits, None, &mut grid).unwrap();
    }
    add_noise(&mut grid, 28.0, 3);
    for (allocation, bits) in [one, other].iter().zip(&bits) {
        let mut llrs = vec![0; bits.len()];
        receiver.receive(Tti::new(7), 9, allocation, false, &grid, &mut llrs);
        assert!(bits.iter().zip(&llrs).all(|(&bit, &llr)| (llr < 0) == (bit == 1)));
    }
}

#[test]
fn a_late_signal_is_told_to_come_earlier() {
    let mut bench = Bench::new(&config(1, Bandwidth::Prb25), allocation(0, 25, Modulation::Qpsk, 1000));
    let bits = Random(1).bits(bench.allocation.coded_bits());
    for (late, command) in [(0, 31), (8, 33), (-8, 29)] {
        let air = Air { late, ..Air::noise(10.0) };
        let quality = bench.pass(&bits, None, false, &air, 1).0;
        assert_eq!(quality.timing_command(&bench.link.numerology), command, "{quality:?}");
    }
}
