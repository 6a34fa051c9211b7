//! Integers of sc16 stay the same integers from a program's file to another's, through a radio of either model.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use takt_testing::not_judged;

use crate::software::{Radio, json, number};

/// How many integers there are.
const COUNT: usize = 1 << 16;

/// Every integer as I, and its complement as Q, as they lie in a file.
fn all() -> Vec<u8> {
    (i16::MIN..=i16::MAX).flat_map(|k| [k.to_le_bytes(), (!k).to_le_bytes()]).flatten().collect()
}

/// Samples of a recording as words, I in the lower half. Each list is a capture: within it nothing is missing.
fn words(file: &str) -> Vec<Vec<u32>> {
    let bytes = fs::read(format!("{file}.sigmf-data")).expect("a recording");
    let words: Vec<u32> = bytes.as_chunks::<4>().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
    let meta = fs::read(format!("{file}.sigmf-meta")).expect("metadata");
    let meta: Value = serde_json::from_slice(&meta).expect("JSON");
    let captures = meta["captures"].as_array().expect("a list").iter();
    let mut edges: Vec<usize> = captures.map(|capture| number(capture, "/core:sample_start") as usize).collect();
    edges.push(words.len());
    edges.windows(2).map(|edges| words[edges[0]..edges[1]].to_vec()).collect()
}

/// Records what a radio receives of a source, and holds each sample against the one before it: `next` says which comes then.
fn check_recorded(folder: &Path, (model, host): (&str, u8), source: &str, next: impl Fn(u32) -> u32) {
    let file = folder.join(model).display().to_string();
    let radio = Radio::of(model, host, &["--source", source]);
    let args = ["record", &file, "--rate", "1M", "--samples", "200000", "--format", "sc16", "--json"];
    let report = json(&radio.takt(&args));
    let lost = number(&report, "/lost_samples");
    assert_eq!(number(&report, "/samples") + lost, 200_000, "{report:#}");
    assert_eq!(number(&report, "/clipped"), 0, "{report:#}");
    let captures = words(&file);
    for words in &captures {
        let wrong = words.windows(2).find(|pair| pair[1] != next(pair[0]));
        assert_eq!(wrong, None, "{model} {source}");
    }
    let seen: BTreeSet<u16> = captures.iter().flatten().map(|word| *word as u16).collect();
    if lost > 0 && seen.len() < COUNT {
        return not_judged(format!("{lost} samples were lost: not every integer came"));
    }
    assert_eq!(seen.len(), COUNT, "{model} {source}: every integer");
}

#[test]
fn a_counter_is_recorded_as_the_integers_that_it_sends() {
    let folder = tempfile::tempdir().expect("a folder");
    for radio in [("n200", 120), ("x310", 121)] {
        check_recorded(folder.path(), radio, "counter", |word| word.wrapping_add(1));
    }
}

#[test]
fn a_file_is_recorded_as_the_integers_that_it_has() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("all.sc16");
    fs::write(&path, all()).expect("it is ours");
    let source = format!("file:{},loop", path.display());
    let next = |word: u32| {
        let k = (word as u16).wrapping_add(1);
        u32::from(!k) << 16 | u32::from(k)
    };
    for radio in [("n200", 122), ("x310", 123)] {
        check_recorded(folder.path(), radio, &source, next);
    }
}

#[test]
fn a_recording_is_played_as_the_integers_that_it_has() {
    let meta = serde_json::json!({
        "global": { "core:datatype": "ci16_le", "core:version": "1.0.0", "core:sample_rate": 1_000_000 },
        "captures": [{ "core:sample_start": 0 }],
        "annotations": [],
    });
    // An X310 has a sink for each of its slots.
    for (model, host, sent, frequency) in
        [("n200", 124, "sent.sc16", &["--freq", "900M"][..]), ("x310", 125, "sent-a.sc16", &[][..])]
    {
        let folder = tempfile::tempdir().expect("a folder");
        let in_folder = |name: &str| folder.path().join(name).display().to_string();
        fs::write(in_folder("all.sigmf-data"), all()).expect("it is ours");
        fs::write(in_folder("all.sigmf-meta"), meta.to_string()).expect("it is ours");
        let radio = Radio::of(model, host, &["--sink", &format!("file:{}", in_folder("sent.sc16"))]);
        let played = json(&radio.takt(&[&["play", &in_folder("all"), "--json"][..], frequency].concat()));
        let summary = radio.summary();
        let of_sink = |key: &str| number(&summary, &format!("/devices/0/signals/sink/{key}"));
        assert_eq!(of_sink("clipped_samples"), 0, "{summary:#}");
        let letters = ["underflows", "sequence_errors", "late"].map(|key| number(&played, &format!("/{key}")));
        let dropped = of_sink("dropped_samples");
        if letters != [0; 3] || dropped > 0 {
            return not_judged(format!("U, S and L {letters:?}, {dropped} samples dropped by the disk"));
        }
        assert_eq!(of_sink("samples"), COUNT as u64, "{played:#}");
        assert!(fs::read(in_folder(sent)).expect("a file") == all(), "{model}");
    }
}
