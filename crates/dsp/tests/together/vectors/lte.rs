//! The vectors of LTE: each step of TS 36.212 and 36.211, then whole transport blocks with one and with two code blocks.

use super::file::{bits, bytes, every_wrong_bit_shows, list, made, number, open, text};
use serde_json::Value;
use takt_base::Complex32;
use takt_dsp::crc::Crc;
use takt_dsp::lte::*;

#[test]
fn lte_parity_is_attached_as_others_do() {
    for vector in list(&open("lte_crc"), "vectors") {
        let crc = match text(vector, "crc") {
            "CRC8" => Crc::Crc8,
            "CRC16" => Crc::Crc16,
            "CRC24A" => Crc::Crc24A,
            "CRC24B" => Crc::Crc24B,
            other => panic!("a CRC named {other}"),
        };
        let block = bits(text(vector, "in_hex"), number(vector, "in_bits"));
        let remainder = u32::from_str_radix(text(vector, "crc_hex"), 16).unwrap();
        let parity = (0..crc.bits()).rev().map(|i| (remainder >> i & 1) as u8).collect();
        let out = made(block.len() + crc.bits(), |out| crc_attach(crc, &block, out));
        assert_eq!(out, [block, parity].concat(), "{crc:?}");
        every_wrong_bit_shows(out, |out| crc_check(crc, out));
    }
}

#[test]
fn transport_blocks_are_cut_as_others_do() {
    for vector in list(&open("lte_segmentation"), "vectors") {
        let cut = Segmentation::new(number(vector, "tbs") + 24).unwrap();
        assert_eq!(cut.blocks(), number(vector, "C"), "{vector}");
        assert_eq!(cut.longer(), (number(vector, "K_plus"), number(vector, "C_plus")), "{vector}");
        assert_eq!(cut.shorter(), (number(vector, "K_minus"), number(vector, "C_minus")), "{vector}");
        assert_eq!(cut.fillers(), number(vector, "F"), "{vector}");
    }
}

#[test]
fn lte_turbo_code_words_are_those_of_others() {
    for vector in list(&open("lte_turbo_encoder"), "vectors") {
        let block = bits(text(vector, "in_hex"), number(vector, "in_bits"));
        let stream = |name: &str| bits(text(vector, name), number(vector, "d_bits"));
        let mut encoder = TurboEncoder::new(number(vector, "K")).unwrap();
        let coded = made(encoder.coded_len(), |coded| encoder.encode(&block, coded));
        assert_eq!(coded, ["d0_hex", "d1_hex", "d2_hex"].map(stream).concat(), "K = {}", block.len());
    }
}

#[test]
fn the_lte_turbo_interleaver_is_that_of_others() {
    let document = open("lte_qpp_table");
    let table = list(&document, "table");
    assert_eq!(table.len(), TURBO_LENGTHS.len());
    for (row, length) in table.iter().zip(TURBO_LENGTHS) {
        assert_eq!(number(row, "K"), usize::from(length));
        let expected = (number(row, "f1") as u16, number(row, "f2") as u16);
        assert_eq!(qpp_parameters(length.into()), Some(expected));
        let mut pi = vec![0; length.into()];
        qpp(&mut pi).unwrap();
        assert_eq!(format!("{:08x}", crc32(&pi)), text(row, "crc32"), "K = {length}");
    }
}

/// zlib's CRC-32 over little-endian numbers, bit by bit.
fn crc32(numbers: &[u16]) -> u32 {
    let step = |crc: u32, byte: u8| {
        (0..8).fold(crc ^ u32::from(byte), |c, _| if c & 1 == 1 { c >> 1 ^ 0xedb8_8320 } else { c >> 1 })
    };
    !numbers.iter().flat_map(|n| n.to_le_bytes()).fold(!0, step)
}

/// The vectors give what came out and not what went in. Those that are as long as the code word hold all of it, though: the
/// block is taken from there, coded again, and everything else must follow.
#[test]
fn lte_code_words_are_matched_as_others_do() {
    let document = open("lte_rate_match_turbo");
    let vectors = list(&document, "vectors");
    for vector in vectors {
        let length = number(vector, "K");
        let whole =
            vectors.iter().find(|v| number(v, "K") == length && number(v, "E") >= 3 * (length + 4)).expect("one");
        let mut encoder = TurboEncoder::new(length).unwrap();
        let coded = made(encoder.coded_len(), |coded| encoder.encode(&block_of(whole), coded));
        let mut matching = RateMatching::new(length, 0, None).unwrap();
        let sent = made(number(vector, "E"), |sent| matching.apply(&coded, number(vector, "rv"), sent));
        assert_eq!(sent, matched(vector), "K = {length}, {} bits", sent.len());
    }
}

/// The systematic bits of a vector that holds all of them.
fn block_of(vector: &Value) -> Vec<u8> {
    let length = number(vector, "K");
    let mut matching = RateMatching::new(length, 0, None).unwrap();
    let llrs: Vec<i8> = matched(vector).iter().map(|&bit| if bit == 0 { 1 } else { -1 }).collect();
    let (mut buffer, mut coded) = (vec![0; matching.buffer_len()], vec![0; matching.coded_len()]);
    matching.combine(&llrs, number(vector, "rv"), &mut buffer);
    matching.read(&buffer, &mut coded);
    assert!(coded.iter().all(|&llr| llr != 0), "all bits are there");
    coded[..length].iter().map(|&llr| u8::from(llr < 0)).collect()
}

fn matched(vector: &Value) -> Vec<u8> {
    bits(text(vector, "out_hex"), number(vector, "out_bits"))
}

#[test]
fn gold_sequences_are_those_of_others() {
    for vector in list(&open("lte_gold_scrambling"), "gold") {
        check_sequence(vector, number(vector, "c_init") as u32);
    }
}

#[test]
fn pdsch_sequences_are_those_of_others() {
    for vector in list(&open("lte_gold_scrambling"), "pdsch") {
        let field = |key: &str| number(vector, key) as u16;
        check_sequence(vector, pdsch_c_init(field("rnti"), field("q") as u8, field("n_slot") as u8, field("cell")));
    }
}

fn check_sequence(vector: &Value, c_init: u32) {
    let mut found = vec![0; number(vector, "n")];
    scramble(c_init, &mut found);
    assert_eq!(found, bits(text(vector, "c_hex"), found.len()), "{vector}");
}

#[test]
fn constellations_are_those_of_others() {
    for table in list(&open("lte_modulation"), "tables") {
        let bits = number(table, "Qm");
        let modulation = Modulation::ALL.into_iter().find(|m| m.bits() == bits).expect("a modulation");
        let points = list(table, "points");
        assert_eq!(points.len(), 1 << bits);
        for (number, point) in points.iter().enumerate() {
            let digits: Vec<u8> = (0..bits).map(|i| (number >> (bits - 1 - i) & 1) as u8).collect();
            let mut symbol = [Complex32::default()];
            modulate(modulation, &digits, &mut symbol);
            let expected = Complex32::new(point[0].as_f64().unwrap() as f32, point[1].as_f64().unwrap() as f32);
            assert!((symbol[0] - expected).norm() < 1e-6, "{digits:?}: {} for {expected}", symbol[0]);
        }
    }
}

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
    let transform = takt_fft::inverse(carriers);
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
    let checked = made(transport_block.len() + 24, |out| crc_attach(Crc::Crc24A, &transport_block, out));
    let cut = Segmentation::new(checked.len()).unwrap();
    let blocks = made(cut.blocks_len(), |blocks| cut.segment(&checked, blocks));
    let (mut code_word, mut rest) = (Vec::new(), &blocks[..]);
    for r in 0..cut.blocks() {
        let (block, more) = rest.split_at(cut.block_len(r));
        let mut encoder = TurboEncoder::new(block.len()).unwrap();
        let streams = made(encoder.coded_len(), |streams| encoder.encode(block, streams));
        let mut matching = RateMatching::new(block.len(), if r == 0 { cut.fillers() } else { 0 }, None).unwrap();
        let length = cut.matched_len(number(vector, "G"), number(vector, "Qm"), r);
        code_word.extend(made(length, |matched| matching.apply(&streams, 0, matched)));
        rest = more;
    }
    code_word
}
