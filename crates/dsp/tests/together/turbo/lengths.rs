//! Without noise, every block comes back at every length the standards have.

use super::channel::{Code, Encoder, Random};
use takt_dsp::turbo::{BatchDecoder, Decoder};
use takt_dsp::{lte, umts};

fn comes_back(code: Code, mut decoder: Decoder, mut batches: BatchDecoder) {
    let mut random = Random(decoder.block_len() as u64);
    let block = random.bits(decoder.block_len());
    let received: Vec<i8> =
        Encoder::new(code).encode(&block).iter().map(|&bit| if bit == 0 { 15 } else { -15 }).collect();
    assert_eq!(received.len(), decoder.coded_len());
    let mut decided = vec![7; block.len()];
    decoder.decode(&received, 1, &mut decided);
    assert_eq!(decided, block, "{code:?}");
    decided.fill(7);
    batches.decode(&received, 1, &mut decided);
    assert_eq!(decided, block, "{code:?}, in a batch");
}

#[test]
fn every_umts_block_comes_back() {
    for k in umts::TURBO_LENGTHS {
        comes_back(Code::Umts(k), Decoder::umts(k).unwrap(), BatchDecoder::umts(k).unwrap());
    }
}

#[test]
fn every_lte_block_comes_back() {
    for k in lte::TURBO_LENGTHS.map(usize::from) {
        comes_back(Code::Lte(k), Decoder::lte(k).unwrap(), BatchDecoder::lte(k).unwrap());
    }
}

#[test]
fn other_lengths_are_refused() {
    for k in [0, 39, 5115, 6144, usize::MAX] {
        assert_eq!(Decoder::umts(k).unwrap_err(), umts::Error::TurboLength { bits: k });
        assert_eq!(BatchDecoder::umts(k).unwrap_err(), umts::Error::TurboLength { bits: k });
    }
    for k in [0, 39, 41, 3856, 6145, 6208, usize::MAX] {
        assert!(matches!(Decoder::lte(k), Err(lte::Error::TurboLength { bits, .. }) if bits == k));
        assert!(matches!(BatchDecoder::lte(k), Err(lte::Error::TurboLength { bits, .. }) if bits == k));
    }
}

#[test]
fn a_punctured_block_comes_back_from_half_of_its_parity() {
    let mut decoder = Decoder::umts(3856).unwrap();
    let block = Random(5).bits(3856);
    let coded = Encoder::new(Code::Umts(3856)).encode(&block);
    let sent = |(i, &bit): (usize, &u8)| if i % 6 == 1 || i % 6 == 5 { 0 } else { 20 - 40 * bit as i8 };
    let received: Vec<i8> = coded.iter().enumerate().map(sent).collect();
    let mut decided = vec![7; 3856];
    assert_eq!(decoder.decode_until(&received, 4, &mut decided, |bits| bits == block), Some(1));
}
