//! Components on the vectors of others for LTE, one of each type through `takt component run`;
//! crates/dsp/tests/vectors/README.md says where they come from.

use serde_json::Value;

use crate::component::piped;
use crate::computed::{computed, output, repacked};
use crate::program::{bits, bytes, file, json, number, vectors};

/// The fields of a vector as parameters of the same names.
fn params(vector: &Value, fields: &[&str]) -> Vec<String> {
    fields.iter().map(|field| format!("{field}={}", number(vector, field))).collect()
}

/// A component with them on bits, eight a byte.
fn packed(name: &str, vector: &Value, fields: &[&str], input: &[u8]) -> Vec<u8> {
    output(name, &params(vector, fields), true, input)
}

fn items(name: &str, vector: &Value, fields: &[&str], input: &[u8]) -> Vec<u8> {
    output(name, &params(vector, fields), false, input)
}

#[test]
fn parity_bits_are_those_of_others() {
    for vector in vectors("lte_crc")["vectors"].as_array().expect("a list") {
        let crc = format!("crc={}", vector["crc"].as_str().expect("a name"));
        let params = [params(vector, &["in_bits"]), vec![crc.clone()]].concat();
        let block = bytes(&vector["in_hex"]);
        let sent = output("lte-crc-attach", &params, true, &block);
        let parity =
            &bytes(&vector["crc_hex"])[if crc.ends_with("16") { 1 } else { 2 * usize::from(crc.ends_with('8')) }..];
        assert_eq!(sent, [&block, parity].concat(), "{vector}");
        assert_eq!(output("lte-crc-check", &params, true, &sent), block);
    }
}

#[test]
fn transport_blocks_are_cut_as_others_do() {
    let document = vectors("lte_segmentation");
    let vectors = document["vectors"].as_array().expect("a list");
    let block = |vector: &Value| vec![0; number(vector, "tbs") + 24];
    let same = |results: &Value, vector: &Value| {
        for name in ["C", "K_plus", "C_plus", "K_minus", "C_minus", "F"] {
            assert_eq!(results[name], vector[name], "{name} of {vector}");
        }
    };
    for vector in vectors {
        let results = computed("lte-segment", &params(vector, &["tbs"]), false, &block(vector)).results;
        same(&serde_json::to_value(results).expect("JSON"), vector);
    }
    let (_folder, path) = file(&block(&vectors[0]));
    let tbs = params(&vectors[0], &["tbs"]);
    let said = json(&["component", "run", "lte-segment", "--param", &tbs[0], "--in", &path, "--out", "/dev/null"]);
    same(&said["results"], &vectors[0]);
}

#[test]
fn turbo_code_words_are_those_of_others() {
    for vector in vectors("lte_turbo_encoder")["vectors"].as_array().expect("a list") {
        let streams = ["d0_hex", "d1_hex", "d2_hex"].map(|key| bits(&vector[key], number(vector, "d_bits")));
        let coded = packed("lte-turbo-encode", vector, &["K"], &bytes(&vector["in_hex"]));
        assert_eq!(coded, repacked(&streams.concat()), "K = {}", number(vector, "K"));
    }
}

/// The vectors say what came out, not what went in; but those that hold all of the coded bits do both.
#[test]
fn code_words_are_matched_as_others_do() {
    let document = vectors("lte_rate_match_turbo");
    let vectors = document["vectors"].as_array().expect("a list");
    for vector in vectors {
        let length = number(vector, "K");
        let whole = |other: &&Value| number(other, "K") == length && number(other, "E") >= 3 * (length + 4);
        let whole = vectors.iter().find(whole).expect("one that holds all");
        let soft: Vec<u8> =
            bits(&whole["out_hex"], number(whole, "E")).iter().map(|bit| if *bit == 0 { 20 } else { 236 }).collect();
        let coded = items("lte-rate-dematch", whole, &["K", "E", "rv"], &soft);
        let coded: Vec<u8> = coded.iter().map(|llr| llr >> 7).collect();
        let sent = packed("lte-rate-match", vector, &["K", "E", "rv"], &repacked(&coded));
        assert_eq!(sent, bytes(&vector["out_hex"]), "K = {length}, E = {}", number(vector, "E"));
    }
}

#[test]
fn scrambling_sequences_are_those_of_others() {
    let document = vectors("lte_gold_scrambling");
    for (key, fields) in [("gold", &["c_init"][..]), ("pdsch", &["rnti", "q", "n_slot", "cell"])] {
        for vector in document[key].as_array().expect("a list") {
            let sequence = bytes(&vector["c_hex"]);
            let zeros = vec![0; sequence.len()];
            assert_eq!(packed("lte-scramble", vector, fields, &zeros), sequence, "{vector}");
        }
    }
}

#[test]
fn constellations_are_those_of_others() {
    for table in vectors("lte_modulation")["tables"].as_array().expect("a list") {
        let (per_symbol, points) = (number(table, "Qm"), table["points"].as_array().expect("a list"));
        let all: Vec<u8> =
            (0..1u8 << per_symbol).flat_map(|n| (0..per_symbol).rev().map(move |place| n >> place & 1)).collect();
        let symbols = items("lte-modulate", table, &["Qm"], &all);
        let values: Vec<f32> = symbols.as_chunks().0.iter().map(|four| f32::from_le_bytes(*four)).collect();
        let expected: Vec<f64> =
            points.iter().flat_map(|point| [&point[0], &point[1]]).filter_map(Value::as_f64).collect();
        assert_eq!(values.len(), expected.len());
        assert!(values.iter().zip(&expected).all(|(value, point)| (f64::from(*value) - point).abs() < 1e-6));
        let llrs = items("lte-demodulate", table, &["Qm"], &symbols);
        assert_eq!(llrs.iter().map(|llr| llr >> 7).collect::<Vec<u8>>(), all);
    }
}

#[test]
fn a_code_word_of_a_subframe_is_that_of_others() {
    let vector = vectors("lte_dl_code_word");
    let channel = format!("n_slot={}", 2 * number(&vector, "tti"));
    let all = number(&vector, "G").to_string();
    let mut packet = bytes(&vector["tb_hex"]);
    for (name, fields, more) in [
        ("lte-crc-attach", &["tbs"][..], &["--packed"][..]),
        ("lte-segment", &["tbs"], &["--packed"]),
        ("lte-turbo-encode", &["tbs"], &["--packed"]),
        ("lte-rate-match", &["tbs", "G", "Qm"], &["--packed"]),
        ("lte-scramble", &["rnti", "cell"], &["--packed", "--items", &all, "--param", &channel]),
    ] {
        let params = params(&vector, fields);
        let params = params.iter().flat_map(|param| ["--param", param]);
        packet = piped(&[name].into_iter().chain(params).chain(more.iter().copied()).collect::<Vec<_>>(), &packet);
    }
    assert_eq!(packet, bytes(&vector["pdsch_scrambled_bits_hex"]));
}
