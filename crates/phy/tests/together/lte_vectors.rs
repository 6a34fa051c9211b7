//! The LTE components against others' programs, vector by vector, bit for bit. crates/dsp/tests/vectors/README.md says where the
//! vectors come from.

use serde_json::Value as Json;
use takt_base::Complex32;
use takt_graph::{Params, Value};
use takt_runtime::{Bit, Llr};

use crate::vectors::{self, bench, hard, list, named, number, open, part, soft, through};

/// Bits of a field in hex.
fn bits(vector: &Json, key: &str, count: i64) -> Vec<Bit> {
    vectors::bits(&vector[key], count)
}

#[test]
fn parity_is_attached_as_others_do() {
    for vector in &list("lte_crc") {
        let name = vector["crc"].as_str().expect("a name");
        let params = named(vector, &["in_bits"]).with("crc", name);
        let block = bits(vector, "in_hex", number(vector, "in_bits"));
        let remainder = u32::from_str_radix(vector["crc_hex"].as_str().expect("hex"), 16).expect("hex digits");
        let parity = (0..parity_bits(name)).rev().map(|place| Bit((remainder >> place & 1) as u8)).collect();
        let sent = through::<Bit, Bit>("lte-crc-attach", &params, &block);
        assert_eq!(sent, [block.clone(), parity].concat(), "{name} of {} bits", block.len());
        let mut check = bench("lte-crc-check", &params);
        assert_eq!(check.feed("in", &sent).tick().output::<Bit>("out"), block);
        assert_eq!(check.results()["block_errors"], 0.into());
    }
}

/// L by the CRC's name.
fn parity_bits(name: &str) -> i64 {
    match name {
        "CRC8" => 8,
        "CRC16" => 16,
        _ => 24,
    }
}

#[test]
fn transport_blocks_are_cut_as_others_do() {
    for vector in &list("lte_segmentation") {
        let segment = bench("lte-segment", &named(vector, &["tbs"]));
        for name in ["C", "K_plus", "C_plus", "K_minus", "C_minus", "F"] {
            assert_eq!(segment.results()[name], Value::Int(number(vector, name)), "{name} of {vector}");
        }
    }
}

#[test]
fn turbo_code_words_are_those_of_others() {
    for vector in &list("lte_turbo_encoder") {
        let params = named(vector, &["K"]);
        let block = bits(vector, "in_hex", number(vector, "in_bits"));
        let streams = ["d0_hex", "d1_hex", "d2_hex"].map(|key| bits(vector, key, number(vector, "d_bits")));
        let coded = through::<Bit, Bit>("lte-turbo-encode", &params, &block);
        assert_eq!(coded, streams.concat(), "K = {}", block.len());
        assert_eq!(through::<Llr, Bit>("lte-turbo-decode", &params, &soft(&coded)), block);
    }
}

/// The vectors say what came out, not what went in; but those that hold all of the coded bits do both.
#[test]
fn code_words_are_matched_as_others_do() {
    let vectors = list("lte_rate_match_turbo");
    for vector in &vectors {
        let length = number(vector, "K");
        let whole = |other: &&Json| number(other, "K") == length && number(other, "E") >= 3 * (length + 4);
        let whole = vectors.iter().find(whole).expect("one that holds all");
        let params = |vector| named(vector, &["K", "E", "rv"]);
        let sent = |vector| bits(vector, "out_hex", number(vector, "out_bits"));
        let coded = hard(&through::<Llr, Llr>("lte-rate-dematch", &params(whole), &soft(&sent(whole))));
        let matched = through::<Bit, Bit>("lte-rate-match", &params(vector), &coded);
        assert_eq!(matched, sent(vector), "{}", params(vector).iter().map(|p| format!("{p:?}")).collect::<String>());
        let block = through::<Llr, Bit>("lte-turbo-decode", &named(vector, &["K"]), &soft(&coded));
        assert_eq!(through::<Bit, Bit>("lte-turbo-encode", &named(vector, &["K"]), &block), coded, "no code word");
    }
}

#[test]
fn scrambling_sequences_are_those_of_others() {
    let document = open("lte_gold_scrambling");
    for (key, names) in [("gold", &["c_init"][..]), ("pdsch", &["rnti", "q", "n_slot", "cell"])] {
        for vector in &part(&document, key) {
            let sequence = bits(vector, "c_hex", number(vector, "n"));
            let params = named(vector, names);
            assert_eq!(through::<Bit, Bit>("lte-scramble", &params, &vec![Bit(0); sequence.len()]), sequence);
            let turned = through::<Llr, Llr>("lte-descramble", &params, &vec![Llr(20); sequence.len()]);
            assert_eq!(turned, soft(&sequence));
        }
    }
}

#[test]
fn a_channels_sequence_goes_on_with_the_subframes() {
    let of = |first: i64| Params::new().with("rnti", 4660).with("n_slot", first).with("cell", 1);
    let mut running = bench("lte-scramble", &of(16));
    for first in [16, 18, 0, 2] {
        let sequence = running.feed("in", &[Bit(0); 100]).tick().output::<Bit>("out");
        assert_eq!(sequence, through::<Bit, Bit>("lte-scramble", &of(first), &[Bit(0); 100]), "slot {first}");
    }
}

#[test]
fn constellations_are_those_of_others() {
    for table in &part(&open("lte_modulation"), "tables") {
        let (params, per_symbol) = (named(table, &["Qm"]), number(table, "Qm"));
        let numbers = 0..1 << per_symbol;
        let all: Vec<Bit> =
            numbers.flat_map(|n: u8| (0..per_symbol).rev().map(move |place| Bit(n >> place & 1))).collect();
        let symbols = through::<Bit, Complex32>("lte-modulate", &params, &all);
        let points = part(table, "points");
        assert_eq!(symbols.len(), points.len());
        for (symbol, point) in symbols.iter().zip(&points) {
            let expected = Complex32::new(point[0].as_f64().expect("re") as f32, point[1].as_f64().expect("im") as f32);
            assert!((symbol - expected).norm() < 1e-6, "{symbol} for {expected}");
        }
        assert_eq!(hard(&through::<Complex32, Llr>("lte-demodulate", &params, &symbols)), all);
    }
}

/// From a transport block to the code word before scrambling, and the params of the whole.
fn code_word(vector: &Json) -> Vec<Bit> {
    let block = named(vector, &["tbs"]);
    let with_crc: Vec<Bit> = through("lte-crc-attach", &block, &bits(vector, "tb_hex", number(vector, "tbs")));
    let blocks: Vec<Bit> = through("lte-segment", &block, &with_crc);
    let coded: Vec<Bit> = through("lte-turbo-encode", &block, &blocks);
    through("lte-rate-match", &named(vector, &["tbs", "G", "Qm"]), &coded)
}

fn channel(vector: &Json) -> Params {
    named(vector, &["rnti", "cell"]).with("n_slot", 2 * number(vector, "tti"))
}

#[test]
fn a_downlink_code_word_is_that_of_others_and_comes_back() {
    let vector = open("lte_dl_code_word");
    let sent = through::<Bit, Bit>("lte-scramble", &channel(&vector), &code_word(&vector));
    assert_eq!(sent, bits(&vector, "pdsch_scrambled_bits_hex", number(&vector, "G")));
    let modulation = named(&vector, &["Qm"]);
    let symbols: Vec<Complex32> = through("lte-modulate", &modulation, &sent);
    let received: Vec<Llr> = through("lte-demodulate", &modulation, &symbols);
    assert_eq!(decoded(&vector, &through::<Llr, Llr>("lte-descramble", &channel(&vector), &received)).1, 0);
}

/// A code word's transport block, which must be that of the vector, and how many blocks had a wrong CRC.
fn decoded(vector: &Json, code_word: &[Llr]) -> (i64, i64) {
    let block = named(vector, &["tbs"]);
    let coded: Vec<Llr> = through("lte-rate-dematch", &named(vector, &["tbs", "G", "Qm"]), code_word);
    let mut decoder = bench("lte-turbo-decode", &block.clone().with("crc", "attached"));
    let blocks: Vec<Bit> = decoder.feed("in", &coded).tick().output("out");
    let mut join = bench("lte-desegment", &block);
    let with_crc: Vec<Bit> = join.feed("in", &blocks).tick().output("out");
    let mut check = bench("lte-crc-check", &block);
    let data: Vec<Bit> = check.feed("in", &with_crc).tick().output("out");
    assert_eq!(data, bits(vector, "tb_hex", number(vector, "tbs")));
    let count = |results: &std::collections::BTreeMap<&'static str, Value>, key| match results[key] {
        Value::Int(count) => count,
        _ => panic!("{key} is no count"),
    };
    let wrong = count(&check.results(), "block_errors") + count(&join.results(), "code_block_errors");
    (count(&decoder.results(), "iterations"), wrong)
}

/// A PUSCH code word of two code blocks. The vector is a resource grid: dsp's tests undo its transform; here the code word of ours
/// that they found equal goes back through the receiver.
#[test]
fn an_uplink_code_word_of_two_blocks_comes_back_with_early_stop() {
    let vector = open("lte_ul_code_word");
    let sent = through::<Bit, Bit>("lte-scramble", &channel(&vector), &code_word(&vector));
    let received = through::<Llr, Llr>("lte-descramble", &channel(&vector), &soft(&sent));
    assert_eq!(decoded(&vector, &received), (2, 0), "an iteration a block");
}
