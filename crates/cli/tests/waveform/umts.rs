//! The waveforms of UTRA FDD, and components on the UMTS vectors, with parameters called as in the files, one of each type through
//! `takt component run`: bit for bit what others' programs gave.

use serde_json::Value as Json;

use crate::computed::output;
use crate::program::{bits, bytes, json, number, vectors, waveform};

fn list(name: &str) -> Vec<Json> {
    vectors(name)["vectors"].as_array().filter(|list| !list.is_empty()).expect("a list of vectors").clone()
}

/// A component on bytes, its parameters from the fields of a vector and besides.
fn run(kind: &str, vector: &Json, fields: &[&str], besides: &[&str], input: &[u8]) -> Vec<u8> {
    let fields = fields.iter().map(|name| format!("{name}={}", number(vector, name)));
    let params: Vec<String> = fields.chain(besides.iter().map(|&param| param.to_owned())).collect();
    output(kind, &params, false, input)
}

#[test]
fn crc_and_interleavers_reproduce_the_vectors() {
    for vector in list("umts_crc") {
        let (block, l) = (bits(&vector["in_hex"], number(&vector, "A")), number(&vector, "L"));
        let sent = [block.clone(), bits(&vector["attached_parity_hex"], l)].concat();
        assert_eq!(run("umts-crc-attach", &vector, &["A", "L"], &[], &block), sent);
        assert_eq!(run("umts-crc-check", &vector, &["A", "L"], &[], &sent), block);
    }
    for (file, fields, kind) in [
        ("umts_interleaver1", &["tti_ms", "n"][..], "umts-interleave-1"),
        ("umts_interleaver2", &["n"], "umts-interleave-2"),
    ] {
        for vector in list(file) {
            let n = number(&vector, "n");
            let (input, expected) = (bits(&vector["in_hex"], n), bits(&vector["out_hex"], n));
            assert_eq!(run(kind, &vector, fields, &[], &input), expected, "{kind} {n}");
            // The same without the length: a file is a packet.
            let rest: Vec<&str> = fields.iter().copied().filter(|field| *field != "n").collect();
            assert_eq!(run(kind, &vector, &rest, &[], &input), expected, "{kind} {n}");
        }
    }
}

#[test]
fn turbo_coding_and_rate_matching_reproduce_the_vectors() {
    for vector in list("umts_turbo_encoder") {
        let k = number(&vector, "K");
        let (block, coded) = (bits(&vector["in_hex"], k), bits(&vector["out_hex"], 3 * k + 12));
        assert_eq!(run("umts-turbo-encode", &vector, &["K"], &[], &block), coded, "K = {k}");
        let alias = format!("length={k}");
        assert_eq!(run("umts-turbo-encode", &vector, &[], &[&alias], &block), coded, "{alias}");
        let llrs: Vec<u8> = coded.iter().map(|bit| if *bit == 0 { 20 } else { 236 }).collect();
        assert_eq!(run("umts-turbo-decode", &vector, &["K"], &[], &llrs), block, "K = {k}");
        let packed = output("umts-turbo-encode", std::slice::from_ref(&alias), true, &bytes(&vector["in_hex"]));
        assert_eq!(packed, bytes(&vector["out_hex"]), "{alias}, packed");
    }
    for vector in list("umts_rate_match_conv") {
        let input = bits(&vector["in_hex"], number(&vector, "N"));
        for (n, hex) in vector["out_hex"].as_array().expect("frames").iter().enumerate() {
            let frame = format!("frame={n}");
            let besides = ["coding=conv-1/3", "direction=uplink", &frame];
            let matched = run("umts-rate-match", &vector, &["N", "N_out", "F"], &besides, &input);
            assert_eq!(matched, bits(hex, number(&vector, "N_out")), "{frame} of {vector}");
        }
    }
    for vector in list("umts_rate_match_turbo_puncture") {
        let keep = bits(&vector["keep_hex"], number(&vector, "N"));
        let block: Vec<u8> = (0..keep.len()).map(|i| ((i * i / 7) & 1) as u8).collect();
        let kept: Vec<u8> = block.iter().zip(&keep).filter(|(_, keep)| **keep == 1).map(|(bit, _)| *bit).collect();
        assert_eq!(run("umts-rate-match", &vector, &["N", "N_out"], &[], &block), kept);
    }
}

#[test]
fn a_noisy_frame_is_received() {
    let frame = &list("umts_384k_noisy_soft")[0];
    let none: &[&str] = &[];
    let deinterleaved = run("umts-deinterleave-2", frame, none, &[], &bytes(&frame["llr_i8_hex"]));
    let coded = run("umts-rate-dematch", frame, none, &["N=11580", "N_out=9120"], &deinterleaved);
    let block = run("umts-turbo-decode", frame, none, &["K=3856", "iterations=8", "crc=16"], &coded);
    assert_eq!(run("umts-crc-check", frame, none, &["A=3840", "L=16"], &block), bits(&frame["data_hex"], 3840));
}

#[test]
fn both_waveforms_bring_every_block_back() {
    for (name, checks) in [("utran.toml", &["crc-check"][..]), ("utran-ref.toml", &["crc-check", "dcch-crc-check"])] {
        let run = json(&["run", &waveform(name), "--slots", "1000", "--clock", "free"]);
        assert_eq!([&run["slots"], &run["misses"]], [1000, 0]);
        let components = run["components"].as_array().expect("a list");
        let results = |name: &str| &components.iter().find(|one| one["name"] == name).expect("there")["results"];
        for (check, blocks) in checks.iter().zip([1000, 250]) {
            let results = results(check);
            assert_eq!((&results["blocks"], &results["block_errors"]), (&blocks.into(), &0.into()), "{name}, {check}");
        }
        assert_eq!(results("sink")["bit_errors"], 0, "{name}");
    }
}
