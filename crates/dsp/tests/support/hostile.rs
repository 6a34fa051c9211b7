//! Shapes, parameters and values out of a stranger's bytes, for every kernel of the coding. Nothing may panic: what cannot be
//! is refused when it is built, and what is built takes any bits and any soft values.
//!
//! Shared by `tests/together/coding_hostile.rs` and the fuzz target `coding`.

use takt_dsp::crc::Crc;
use takt_dsp::turbo::{BatchDecoder, Decoder};
use takt_dsp::umts::{Coding, ConvolutionalRate, Tti};
use takt_dsp::{lte, umts};

#[path = "stranger.rs"]
mod stranger;
pub use stranger::Stranger;

impl Stranger<'_> {
    /// Mostly what is legal, sometimes far beyond.
    fn length(&mut self) -> usize {
        let number = usize::from(u16::from_le_bytes([self.byte(), self.byte()]));
        match self.byte() {
            255 => usize::MAX - number,
            254 => number << 12,
            scale => number >> (scale % 16),
        }
    }

    fn bits(&mut self, count: usize) -> Vec<u8> {
        self.cycled().take(count).collect()
    }

    fn llrs(&mut self, count: usize) -> Vec<i8> {
        let extremes = self.byte().is_multiple_of(2);
        let limited = |bit: u8| match (extremes, bit % 2) {
            (false, _) => bit as i8,
            (true, 0) => i8::MIN,
            (true, _) => i8::MAX,
        };
        self.bits(count).into_iter().map(limited).collect()
    }
}

/// Longer blocks are built and not run, for the sake of time.
const LONG: usize = 100_000;

/// Runs what `bytes` select.
pub fn coding(bytes: &[u8]) {
    let mut stranger = Stranger::new(bytes);
    match stranger.byte() % 8 {
        0 => checks(&mut stranger),
        1 => umts_matching(&mut stranger),
        2 => turbo(&mut stranger),
        3 => convolutional(&mut stranger),
        4 => interleavers(&mut stranger),
        5 => shares(&mut stranger),
        6 => lte_matching(&mut stranger),
        _ => lte_symbols(&mut stranger),
    }
}

fn checks(stranger: &mut Stranger<'_>) {
    let crc = stranger.pick(&Crc::ALL);
    let count = stranger.length() % LONG;
    let block = stranger.bits(count);
    umts::crc_check(crc, &block);
    lte::crc_check(crc, &block);
    let mut out = vec![0; block.len() + crc.bits()];
    umts::crc_attach(crc, &block, &mut out);
    assert!(umts::crc_check(crc, &out));
    lte::crc_attach(crc, &block, &mut out);
    assert!(lte::crc_check(crc, &out));
}

fn a_coding(stranger: &mut Stranger<'_>) -> Coding {
    let rates = [ConvolutionalRate::Half, ConvolutionalRate::Third].map(Coding::Convolutional);
    stranger.pick(&[Coding::Turbo, rates[0], rates[1]])
}

fn umts_matching(stranger: &mut Stranger<'_>) {
    let (coding, tti) = (a_coding(stranger), stranger.pick(&Tti::ALL));
    let (bits, matched, other) = (stranger.length(), stranger.length(), stranger.length());
    let frame = usize::from(stranger.byte() % 9);
    let uplink = umts::RateMatching::uplink(coding, bits, matched, tti, frame);
    let downlink = umts::RateMatching::downlink(coding, bits, other, matched);
    for matching in [uplink, downlink].into_iter().flatten() {
        if matching.block_len().max(matching.matched_len()) < LONG {
            let block = stranger.bits(matching.block_len());
            let mut sent = vec![0; matching.matched_len()];
            matching.apply(&block, &mut sent);
            let llrs = stranger.llrs(matching.matched_len());
            let mut block = vec![0; matching.block_len()];
            matching.invert(&llrs, &mut block);
        }
    }
    if let Ok(cut) = umts::Segmentation::new(coding, bits)
        && bits < LONG
    {
        let sent = stranger.bits(bits);
        let mut blocks = vec![0; cut.blocks() * cut.block_len()];
        cut.segment(&sent, &mut blocks);
        assert_eq!(cut.join(&blocks), sent);
    }
}

fn turbo(stranger: &mut Stranger<'_>) {
    let length = stranger.length();
    if let Ok(mut encoder) = umts::TurboEncoder::new(length) {
        let mut coded = vec![0; encoder.coded_len()];
        encoder.encode(&stranger.bits(length), &mut coded);
    }
    let iterations = usize::from(stranger.byte() % 4);
    for mut decoder in [Decoder::umts(length).ok(), Decoder::lte(length).ok()].into_iter().flatten() {
        let llrs = stranger.llrs(decoder.coded_len());
        let mut decided = vec![7; decoder.block_len()];
        decoder.decode(&llrs, iterations, &mut decided);
        assert!(decided.iter().all(|&bit| bit < 2));
    }
    for mut decoder in [BatchDecoder::umts(length).ok(), BatchDecoder::lte(length).ok()].into_iter().flatten() {
        let blocks = usize::from(stranger.byte() % 4);
        let llrs = stranger.llrs(blocks * decoder.coded_len());
        let mut decided = vec![7; blocks * decoder.block_len()];
        decoder.decode(&llrs, iterations, &mut decided);
        assert!(decided.iter().all(|&bit| bit < 2));
    }
}

fn convolutional(stranger: &mut Stranger<'_>) {
    let rate = stranger.pick(&[ConvolutionalRate::Half, ConvolutionalRate::Third]);
    let length = stranger.length() % 505;
    let mut block = vec![0; length];
    umts::Viterbi::new(rate).decode(&stranger.llrs(Coding::Convolutional(rate).coded_len(length)), &mut block);
    let mut coded = vec![0; Coding::Convolutional(rate).coded_len(length)];
    umts::convolutional_encode(rate, &stranger.bits(length), &mut coded);
}

fn interleavers(stranger: &mut Stranger<'_>) {
    let tti = stranger.pick(&Tti::ALL);
    let count = tti.equalised(stranger.length() % LONG);
    let sent = stranger.bits(count);
    let (mut out, mut back) = (vec![0; count], vec![0; count]);
    umts::interleave_1(tti, &sent, &mut out);
    umts::deinterleave_1(tti, &out, &mut back);
    assert_eq!(back, sent);
    umts::interleave_2(&sent, &mut out);
    umts::deinterleave_2(&out, &mut back);
    assert_eq!(back, sent);
}

fn shares(stranger: &mut Stranger<'_>) {
    let frame = stranger.length();
    let count = usize::from(stranger.byte() % 9);
    let mut demand = |_| umts::Demand {
        attribute: u16::from(stranger.byte()) + u16::from(stranger.byte() % 8),
        bits: stranger.length(),
        tti: stranger.pick(&Tti::ALL),
    };
    let demands: Vec<_> = (0..count).map(&mut demand).collect();
    let mut given = vec![0; count];
    if umts::shares(&demands, frame, &mut given).is_ok() {
        assert!(given.iter().sum::<usize>() <= frame);
    }
    let lengths: Vec<_> = demands.iter().map(|demand| [demand.bits, demand.bits / 2]).collect();
    let channels: Vec<_> = demands
        .iter()
        .zip(&lengths)
        .map(|(demand, bits)| umts::Formats { attribute: demand.attribute, tti: demand.tti, bits })
        .collect();
    let combinations: Vec<Vec<usize>> =
        (0..4).map(|_| (0..count).map(|_| usize::from(stranger.byte() % 3)).collect()).collect();
    let combinations: Vec<&[usize]> = combinations.iter().map(|formats| &formats[..]).collect();
    let _ = umts::flexible_lengths(&channels, &combinations, frame);
}

fn lte_matching(stranger: &mut Stranger<'_>) {
    let length =
        if stranger.byte().is_multiple_of(4) { stranger.length() } else { stranger.pick(&lte::TURBO_LENGTHS).into() };
    if let Ok(mut encoder) = lte::TurboEncoder::new(length) {
        let mut coded = vec![0; encoder.coded_len()];
        encoder.encode(&stranger.bits(length), &mut coded);
    }
    let (fillers, limit) = (stranger.length(), stranger.byte().is_multiple_of(2).then(|| stranger.length()));
    if let Ok(mut matching) = lte::RateMatching::new(length, fillers, limit) {
        let (rv, count) = (usize::from(stranger.byte() % 4), stranger.length() % LONG);
        let coded = stranger.bits(matching.coded_len());
        let (mut sent, mut buffer) = (vec![0; count], vec![0; matching.buffer_len()]);
        matching.apply(&coded, rv, &mut sent);
        matching.combine(&stranger.llrs(count), rv, &mut buffer);
        matching.read(&buffer, &mut vec![0; coded.len()]);
    }
    let bits = stranger.length();
    if let Ok(cut) = lte::Segmentation::new(bits)
        && bits < LONG
    {
        let (mut blocks, mut back) = (vec![0; cut.blocks_len()], vec![0; bits]);
        let sent = stranger.bits(bits);
        cut.segment(&sent, &mut blocks);
        assert!(cut.join(&blocks, &mut back) && back == sent);
        cut.join(&stranger.bits(cut.blocks_len()), &mut back);
    }
}

fn lte_symbols(stranger: &mut Stranger<'_>) {
    let modulation = stranger.pick(&lte::Modulation::ALL);
    let count = stranger.length() % LONG / 8;
    let mut float = |_| f32::from_le_bytes([stranger.byte(), stranger.byte(), stranger.byte(), stranger.byte()]);
    let symbols: Vec<_> = (0..count).map(|n| takt_base::Complex32::new(float(n), float(n))).collect();
    let (weights, scale): (Vec<f32>, f32) = ((0..count).map(&mut float).collect(), float(0));
    let mut llrs = vec![0; modulation.bits() * count];
    lte::demodulate(modulation, scale, &symbols, Some(&weights), &mut llrs);
    assert!(!llrs.contains(&i8::MIN));
    lte::demodulate(modulation, scale, &symbols, None, &mut llrs);
    lte::descramble(u32::from(stranger.byte()) << 20, &mut llrs);
    let (bits, mut sent) = (stranger.bits(llrs.len()), vec![Default::default(); count]);
    lte::modulate(modulation, &bits, &mut sent);
}
