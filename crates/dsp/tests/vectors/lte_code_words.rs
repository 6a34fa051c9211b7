//! Whole transport blocks: CRC, segmentation, turbo code, rate matching and scrambling together, with one and with two code
//! blocks.

use crate::file::{bits, bytes, number, open, text};
use rustfft::FftPlanner;
use serde_json::Value;
use takt_base::Complex32;
use takt_dsp::crc::Crc;
use takt_dsp::lte::*;

#[test]
fn a_downlink_code_word_is_that_of_others() {
    let vector = open("lte_dl_code_word");
    let mut code_word = coded(&vector);
    let slot = 2 * number(&vector, "tti") as u8;
    scramble(pdsch_c_init(number(&vector, "rnti") as u16, 0, slot, number(&vector, "cell") as u16), &mut code_word);
    assert_eq!(code_word, bits(text(&vector, "pdsch_scrambled_bits_hex"), number(&vector, "G")));
}

/// From the resource grid back: the DFT, the scrambling and the channel interleaver of the uplink (36.212 section 5.2.2.8: twelve
/// columns, one a symbol) undone, all soft values say what we would have sent.
#[test]
fn an_uplink_code_word_of_two_blocks_is_that_of_others() {
    let vector = open("lte_ul_code_word");
    let (carriers, per_symbol) = (12 * number(&vector, "prb"), number(&vector, "Qm"));
    assert_eq!(per_symbol, 4);
    let values: Vec<f32> =
        bytes(text(&vector, "grid_f32le_hex")).as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect();
    let mut grid: Vec<Complex32> = values.as_chunks().0.iter().map(|&[re, im]| Complex32::new(re, im)).collect();
    let transform = FftPlanner::new().plan_fft_inverse(carriers);
    let mut symbols = Vec::new();
    for (l, symbol) in grid.chunks_mut(carriers).enumerate().filter(|(l, _)| l % 7 != 3) {
        assert!(l < 14);
        transform.process(symbol);
        symbols.extend(symbol.iter().map(|value| value / (carriers as f32).sqrt()));
    }
    let mut llrs = vec![0; per_symbol * symbols.len()];
    demodulate(Modulation::Qam16, 60.0, &symbols, None, &mut llrs);
    let slot = 2 * number(&vector, "tti") as u8;
    descramble(pdsch_c_init(number(&vector, "rnti") as u16, 0, slot, number(&vector, "cell") as u16), &mut llrs);
    let received = (0..carriers).flat_map(|k| (0..12).map(move |l| l * carriers + k));
    let received = received.flat_map(|at| llrs[per_symbol * at..][..per_symbol].iter().map(|&llr| u8::from(llr < 0)));
    assert_eq!(received.collect::<Vec<u8>>(), coded(&vector));
    assert!(llrs.iter().all(|llr| llr.unsigned_abs() > 10), "far from undecided");
}

/// The code word of a vector's transport block, before the channel interleaver and scrambling.
fn coded(vector: &Value) -> Vec<u8> {
    let transport_block = bits(text(vector, "tb_hex"), number(vector, "tbs"));
    let mut checked = vec![7; transport_block.len() + 24];
    crc_attach(Crc::Crc24A, &transport_block, &mut checked);
    let cut = Segmentation::new(checked.len()).unwrap();
    let mut blocks = vec![7; cut.blocks_len()];
    cut.segment(&checked, &mut blocks);
    let (mut code_word, mut rest) = (Vec::new(), &blocks[..]);
    for r in 0..cut.blocks() {
        let (block, more) = rest.split_at(cut.block_len(r));
        let mut encoder = TurboEncoder::new(block.len()).unwrap();
        let mut streams = vec![7; encoder.coded_len()];
        encoder.encode(block, &mut streams);
        let mut matched = vec![7; cut.matched_len(number(vector, "G"), number(vector, "Qm"), r)];
        let fillers = if r == 0 { cut.fillers() } else { 0 };
        RateMatching::new(block.len(), fillers, None).unwrap().apply(&streams, 0, &mut matched);
        code_word.extend(matched);
        rest = more;
    }
    code_word
}
