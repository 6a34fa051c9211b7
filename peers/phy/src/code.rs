//! Turbo and convolutional codes.

use std::hint::black_box;

use pccc::{Bit, DecodingAlgo};
use takt_dsp::turbo::{BatchDecoder, Decoder};
use takt_dsp::{lte, umts};

use crate::measure::{Case, some_bits};

/// The longest LTE block.
const K: usize = 6144;
/// Blocks that the batch decoder takes at once.
const BATCH: usize = 64;

pub fn cases() -> Vec<Case> {
    vec![encode(), decode(2), decode(8), viterbi(504)]
}

fn encoded(block: &[u8]) -> Vec<u8> {
    let mut encoder = lte::TurboEncoder::new(block.len()).expect("a legal length");
    let mut coded = vec![0; encoder.coded_len()];
    encoder.encode(block, &mut coded);
    coded
}

fn encode() -> Case {
    let block = some_bits(K);
    let theirs: Vec<Bit> = block.iter().map(|&bit| if bit == 1 { Bit::One } else { Bit::Zero }).collect();
    let (ours, found) = (encoded(&block), pccc::lte::encoder(&theirs).expect("a legal length"));
    // Theirs are in turn, x z z'; ours are three streams. The tails are dealt otherwise.
    assert!((0..3 * K).all(|at| (found[at] == Bit::One) == (ours[at % 3 * (K + 4) + at / 3] == 1)));
    let mut encoder = lte::TurboEncoder::new(K).expect("a legal length");
    let mut coded = vec![0; encoder.coded_len()];
    Case::new(format!("LTE turbo coder, K = {K}"))
        .with("takt", move || encoder.encode(black_box(&block), black_box(&mut coded)))
        .with("pccc", move || {
            black_box(pccc::lte::encoder(black_box(&theirs)).expect("a legal length"));
        })
}

/// Soft values with noise that all correct.
fn received(block: &[u8]) -> Vec<i8> {
    let noise = |at: usize| ((at as u32).wrapping_mul(2_654_435_761) >> 27) as i8 - 16;
    encoded(block).iter().enumerate().map(|(at, bit)| 20 - 40 * *bit as i8 + noise(at)).collect()
}

fn decode(iterations: usize) -> Case {
    let block = some_bits(K);
    let ours = received(&block);
    // Theirs: in turn, then the tails of the one encoder and of the other.
    let stream = |d: usize| &ours[d * (K + 4)..][..K + 4];
    let tails = [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1), (0, 2), (1, 2), (2, 2), (0, 3), (1, 3), (2, 3)];
    let tails = tails.map(|(d, at)| stream(d)[K + at]);
    let body = (0..3 * K).map(|at| stream(at % 3)[at / 3]);
    let theirs: Vec<f64> = body.chain(tails).map(|llr| f64::from(llr) / 10.0).collect();
    let algorithm = DecodingAlgo::MaxLogMAP(iterations as u32);
    let found = pccc::lte::decoder(&theirs, algorithm).expect("a legal length");
    assert!(found.iter().zip(&block).all(|(found, bit)| (*found == Bit::One) == (*bit == 1)), "pccc decodes it");
    let (mut one, mut decided) = (Decoder::lte(K).expect("a legal length"), vec![0; K]);
    one.decode(&ours, iterations, &mut decided);
    assert_eq!(decided, block, "takt decodes it");
    let many: Vec<i8> = (0..BATCH).flat_map(|_| ours.clone()).collect();
    let (mut batch, mut all) = (BatchDecoder::lte(K).expect("a legal length"), vec![0; BATCH * K]);
    batch.decode(&many, iterations, &mut all);
    assert!(all.chunks(K).all(|decided| decided == block), "takt decodes them");
    Case::new(format!("LTE turbo decoder, K = {K}, {iterations} iterations"))
        .with("takt, a block", move || one.decode(black_box(&ours), iterations, black_box(&mut decided)))
        .with_batch("takt, one of 64 blocks", BATCH as u32, move || {
            batch.decode(black_box(&many), iterations, black_box(&mut all))
        })
        .with("pccc, max-log-MAP", move || {
            black_box(pccc::lte::decoder(black_box(&theirs), algorithm).expect("a legal length"));
        })
}

fn viterbi(count: usize) -> Case {
    let rate = umts::ConvolutionalRate::Third;
    let (block, mut coded) = (some_bits(count), vec![0; 3 * (count + 8)]);
    umts::convolutional_encode(rate, &block, &mut coded);
    let noise = |at: usize| ((at as u32).wrapping_mul(2_654_435_761) >> 26) as i8 - 32;
    let llrs: Vec<i8> = coded.iter().enumerate().map(|(at, bit)| 30 - 60 * *bit as i8 + noise(at)).collect();
    let (mut decoder, mut decided) = (umts::Viterbi::new(rate), vec![0; count]);
    decoder.decode(&llrs, &mut decided);
    assert_eq!(decided, block, "takt decodes it");
    #[cfg(feature = "fec")]
    let theirs = {
        let mut viterbi = crate::native::Viterbi::new(count);
        let symbols: Vec<u8> = llrs.iter().map(|&llr| (127 - i16::from(llr)) as u8).collect();
        assert_eq!(viterbi.decode(&symbols), block, "libfec decodes it");
        move || viterbi.run(black_box(&symbols))
    };
    let case = Case::new(format!("Viterbi, K = 9, rate 1/3, {count} bits"))
        .with("takt", move || decoder.decode(black_box(&llrs), black_box(&mut decided)));
    #[cfg(feature = "fec")]
    let case = case.with("libfec, packed out", theirs);
    case
}
