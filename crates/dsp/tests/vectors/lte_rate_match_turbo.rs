//! The vectors give what came out and not what went in. Those that are as long as the code word hold all of it, though: the
//! block is taken from there, coded again, and everything else must follow.

use crate::file::{bits, list, number, open, text};
use serde_json::Value;
use takt_dsp::lte::{RateMatching, TurboEncoder};

#[test]
fn lte_code_words_are_matched_as_others_do() {
    let document = open("lte_rate_match_turbo");
    let vectors = list(&document, "vectors");
    for vector in vectors {
        let length = number(vector, "K");
        let whole =
            vectors.iter().find(|v| number(v, "K") == length && number(v, "E") >= 3 * (length + 4)).expect("one");
        let mut encoder = TurboEncoder::new(length).unwrap();
        let mut coded = vec![7; encoder.coded_len()];
        encoder.encode(&block_of(whole), &mut coded);
        let mut sent = vec![7; number(vector, "E")];
        RateMatching::new(length, 0, None).unwrap().apply(&coded, number(vector, "rv"), &mut sent);
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
