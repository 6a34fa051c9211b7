//! The chains as a whole, forth and back without noise: every block length comes through, in both link directions, and what
//! was sent is what is received. The turbo decoder stands apart; systematic bits are never punctured in UMTS, so they are all
//! there to be read.

use takt_dsp::crc::Crc;
use takt_dsp::umts::{Coding, ConvolutionalRate, Tti};
use takt_dsp::{lte, umts};

fn some_bits(count: usize) -> Vec<u8> {
    (0..count as u32).map(|i| (i.wrapping_mul(2_654_435_761).wrapping_add(count as u32) >> 15 & 1) as u8).collect()
}

fn soft(bits: &[u8]) -> Vec<i8> {
    bits.iter().map(|&bit| if bit == 0 { 9 } else { -9 }).collect()
}

/// The coded block through rate matching, first interleaver, multiplexing with a channel of `other` bits, second interleaver
/// and back, as soft values.
fn through_the_downlink(coding: Coding, coded: &[u8], matched: usize, tti: Tti, other: usize) -> Vec<i8> {
    let matching = umts::RateMatching::downlink(coding, coded.len(), coded.len(), matched).unwrap();
    let (mut sent, mut interleaved) = (vec![0; matched], vec![0; matched]);
    matching.apply(coded, &mut sent);
    umts::interleave_1(tti, &sent, &mut interleaved);
    let mut received = Vec::new();
    for frame in umts::radio_frames(tti, &interleaved) {
        received.extend(through_the_air(frame, other));
    }
    let (mut deinterleaved, mut llrs) = (vec![0; matched], vec![0; coded.len()]);
    umts::deinterleave_1(tti, &received, &mut deinterleaved);
    matching.invert(&deinterleaved, &mut llrs);
    llrs
}

/// The same in the order of the uplink, each radio frame matched to `frame_bits`.
fn through_the_uplink(coding: Coding, coded: &[u8], frame_bits: usize, tti: Tti, other: usize) -> Vec<i8> {
    let mut equalised = coded.to_vec();
    equalised.resize(tti.equalised(coded.len()), 1);
    let mut interleaved = vec![0; equalised.len()];
    umts::interleave_1(tti, &equalised, &mut interleaved);
    let mut received = vec![0; equalised.len()];
    let frames = umts::radio_frames(tti, &interleaved).zip(received.chunks_mut(equalised.len() / tti.frames()));
    for (n, (frame, llrs)) in frames.enumerate() {
        let matching = umts::RateMatching::uplink(coding, frame.len(), frame_bits, tti, n).unwrap();
        let mut sent = vec![0; frame_bits];
        matching.apply(frame, &mut sent);
        matching.invert(&through_the_air(&sent, other), llrs);
    }
    let mut llrs = vec![0; received.len()];
    umts::deinterleave_1(tti, &received, &mut llrs);
    llrs.truncate(coded.len());
    llrs
}

fn through_the_air(frame: &[u8], other: usize) -> Vec<i8> {
    let other = some_bits(other);
    let mut multiplexed = vec![0; frame.len() + other.len() + 7]; // with room for DTX
    umts::multiplex([&other, frame], &mut multiplexed);
    assert_eq!(multiplexed[frame.len() + other.len()..], [umts::DTX; 7]);
    let mut sent = vec![0; multiplexed.len()];
    umts::interleave_2(&multiplexed, &mut sent);
    let mut received = vec![0; sent.len()];
    umts::deinterleave_2(&soft(&sent), &mut received);
    let (mut separate, mut back) = (vec![0; other.len()], vec![0; frame.len()]);
    umts::demultiplex(&received, [&mut separate[..], &mut back]);
    assert_eq!(separate, soft(&other));
    back
}

fn assert_received(llrs: &[i8], coded: &[u8], unknown: usize) {
    let wrong = llrs.iter().zip(coded).filter(|&(&llr, &bit)| llr != 0 && (llr < 0) != (bit == 1)).count();
    assert_eq!((wrong, llrs.iter().filter(|&&llr| llr == 0).count()), (0, unknown), "of {} bits", coded.len());
}

#[test]
fn every_turbo_block_length_comes_through_the_umts_chain() {
    for (n, length) in umts::TURBO_LENGTHS.enumerate() {
        let tti = Tti::ALL[n % 4];
        let crc = [Crc::Crc8, Crc::Crc12, Crc::Crc16, Crc::Crc24B][n % 3];
        let mut block = vec![0; length];
        umts::crc_attach(crc, &some_bits(length - crc.bits()), &mut block);
        let mut encoder = umts::TurboEncoder::new(length).unwrap();
        let mut coded = vec![0; encoder.coded_len()];
        encoder.encode(&block, &mut coded);

        // Rates from all parity punctured, by the way of none, to a repetition of some.
        let downlink = (coded.len() * (35 + n % 83) / 100).next_multiple_of(tti.frames());
        let llrs = through_the_downlink(Coding::Turbo, &coded, downlink, tti, n % 50);
        assert_received(&llrs, &coded, coded.len().saturating_sub(downlink));
        let decided: Vec<u8> = llrs.iter().step_by(3).take(length).map(|&llr| u8::from(llr < 0)).collect();
        assert!(decided == block && umts::crc_check(crc, &decided), "K = {length}");

        let frame = tti.equalised(coded.len()) / tti.frames();
        let uplink = (frame * (35 + n % 89) / 100).max(frame - 2 * (frame / 3));
        let llrs = through_the_uplink(Coding::Turbo, &coded, uplink, tti, n % 40);
        let decided: Vec<u8> = llrs.iter().step_by(3).take(length).map(|&llr| u8::from(llr < 0)).collect();
        assert!(decided == block && umts::crc_check(crc, &decided), "K = {length}, uplink");
        let lost = frame.saturating_sub(uplink) * tti.frames();
        let unknown = llrs.iter().filter(|&&llr| llr == 0).count();
        assert!(unknown <= lost && lost < unknown + tti.frames(), "equalisation bits may be among the lost");
        assert_received(&llrs, &coded, unknown);
    }
}

#[test]
fn every_convolutional_block_length_comes_through_the_umts_chain_and_is_decoded() {
    for rate in [ConvolutionalRate::Half, ConvolutionalRate::Third] {
        let coding = Coding::Convolutional(rate);
        let mut decoder = umts::Viterbi::new(rate);
        for length in 1..=504 {
            let tti = Tti::ALL[length % 4];
            let block = some_bits(length);
            let mut coded = vec![0; coding.coded_len(length)];
            umts::convolutional_encode(rate, &block, &mut coded);
            // A tenth punctured, to half repeated.
            let percent = 90 + length % 60;
            let matched = (coded.len() * percent / 100).next_multiple_of(tti.frames());
            let frame = tti.equalised(coded.len()) * percent / 100 / tti.frames();
            for llrs in [
                through_the_downlink(coding, &coded, matched, tti, 30),
                through_the_uplink(coding, &coded, frame, tti, 30),
            ] {
                let mut decided = vec![7; length];
                decoder.decode(&llrs, &mut decided);
                assert_eq!(decided, block, "{length} bits, {rate:?}, {tti:?}");
            }
        }
    }
}

#[test]
fn every_turbo_block_length_comes_through_the_lte_chain() {
    for (n, length) in lte::TURBO_LENGTHS.map(usize::from).into_iter().enumerate() {
        let modulation = lte::Modulation::ALL[n % 4];
        let fillers = if n % 3 == 0 { (length - 24).min(n % 64) } else { 0 };
        let mut block = vec![0; length];
        lte::crc_attach(Crc::Crc24B, &some_bits(length - 24), &mut block);
        block[..fillers].fill(0);
        let mut encoder = lte::TurboEncoder::new(length).unwrap();
        let mut coded = vec![0; encoder.coded_len()];
        encoder.encode(&block, &mut coded);
        let mut matching = lte::RateMatching::new(length, fillers, None).unwrap();
        let mut buffer = vec![0; matching.buffer_len()];
        for rv in [0, 2, 3, 1] {
            let mut sent = vec![0; (length + 100 * n).next_multiple_of(modulation.bits())];
            matching.apply(&coded, rv, &mut sent);
            let c_init = lte::pdsch_c_init(n as u16, 0, rv as u8, 17);
            lte::scramble(c_init, &mut sent);
            let mut symbols = vec![Default::default(); sent.len() / modulation.bits()];
            lte::modulate(modulation, &sent, &mut symbols);
            let mut llrs = vec![0; sent.len()];
            lte::demodulate(modulation, 40.0, &symbols, None, &mut llrs);
            lte::descramble(c_init, &mut llrs);
            matching.combine(&llrs, rv, &mut buffer);
        }
        let mut llrs = vec![0; coded.len()];
        matching.read(&buffer, &mut llrs);
        let unknown = buffer.iter().filter(|&&llr| llr == 0).count();
        assert_received(&llrs, &coded, unknown);
        assert!(length + 100 * n < coded.len() || unknown == 0, "K = {length}: all was sent");
    }
}
