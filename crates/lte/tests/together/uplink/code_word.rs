//! A transport block to the bits of a code word, and back, by the kernels of the coding.

use takt_dsp::crc::Crc;
use takt_dsp::lte::{RateMatching, Segmentation, TurboEncoder, crc_attach, crc_check};
use takt_dsp::turbo::Decoder;

/// `coded_bits`, G, bits of redundancy version 0.
pub fn encode(block: &[u8], coded_bits: usize, symbol_bits: usize) -> Vec<u8> {
    let mut checked = vec![0; block.len() + 24];
    crc_attach(Crc::Crc24A, block, &mut checked);
    let cut = Segmentation::new(checked.len()).unwrap();
    let mut blocks = vec![0; cut.blocks_len()];
    cut.segment(&checked, &mut blocks);
    let (mut code_word, mut rest) = (Vec::new(), &blocks[..]);
    for r in 0..cut.blocks() {
        let (block, more) = rest.split_at(cut.block_len(r));
        let mut encoder = TurboEncoder::new(block.len()).unwrap();
        let mut streams = vec![0; encoder.coded_len()];
        encoder.encode(block, &mut streams);
        let mut matched = vec![0; cut.matched_len(coded_bits, symbol_bits, r)];
        matching(&cut, r).apply(&streams, 0, &mut matched);
        code_word.extend(matched);
        rest = more;
    }
    code_word
}

/// The transport block of `bits`, if its parity is right.
pub fn decode(llrs: &[i8], bits: usize, symbol_bits: usize) -> Option<Vec<u8>> {
    let cut = Segmentation::new(bits + 24).unwrap();
    let (mut blocks, mut rest) = (Vec::new(), llrs);
    for r in 0..cut.blocks() {
        let (matched, more) = rest.split_at(cut.matched_len(llrs.len(), symbol_bits, r));
        let mut matching = matching(&cut, r);
        let (mut buffer, mut streams) = (vec![0; matching.buffer_len()], vec![0; matching.coded_len()]);
        matching.combine(matched, 0, &mut buffer);
        matching.read(&buffer, &mut streams);
        let mut decided = vec![0; cut.block_len(r)];
        Decoder::lte(decided.len()).unwrap().decode(&streams, 8, &mut decided);
        blocks.extend(decided);
        rest = more;
    }
    let mut checked = vec![0; bits + 24];
    (cut.join(&blocks, &mut checked) && crc_check(Crc::Crc24A, &checked)).then(|| checked[..bits].to_vec())
}

fn matching(cut: &Segmentation, r: usize) -> RateMatching {
    RateMatching::new(cut.block_len(r), if r == 0 { cut.fillers() } else { 0 }, None).unwrap()
}
