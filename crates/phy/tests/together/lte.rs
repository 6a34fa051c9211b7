//! LTE's downlink shared channel as components: the whole without an error, each step undone for every legal block length, and
//! wrong blocks in noise as often as others leave them.

use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::Arc;
use takt_dsp::lte::TURBO_LENGTHS;

use takt_base::Stop;
use takt_graph::{Catalogue, Graph, Latency, Length, Params, Plan, Value, Waveform};
use takt_runtime::{Bench, Bit, Component, Io, Llr, Prepared, Report, Session, SessionOptions};

use crate::vectors::through;
use crate::waveform::{self, judge, on_three_plans, refused, registry, result, results, run};

const FILE: &str = include_str!("../../../../waveforms/lte-dlsch.toml");

#[test]
fn without_noise_every_block_comes_back_on_any_plan() {
    for report in &on_three_plans(FILE, 50, |n| usize::from(n > 8), |n| n % 3) {
        assert_eq!(results(report, "crc-check", ["blocks", "block_errors"]), [50, 0]);
        assert_eq!(results(report, "desegment", ["code_blocks", "code_block_errors"]), [150, 0]);
        assert_eq!(results(report, "sink", ["bits", "bit_errors"]), [50 * 15_264, 0]);
        assert_eq!(result(report, "turbo-decoder", "iterations"), 150, "the CRC stops it after the first");
    }
}

/// One block of K = 6144 at rate 1/3, 8 iterations; aff3ct 3.0.2, 16-bit, extrinsics times 0.75, at least 100 block errors.
#[test]
fn in_noise_no_more_blocks_are_wrong_than_with_others() {
    let (eb_n0_db, rate, slots) = (0.4_f64, 1.7e-1, 300_u64);
    let of_a_symbol = eb_n0_db + 10.0 * (2.0 * 6144.0_f64 / 18_444.0).log10();
    let file = FILE
        .replace("15264", "6120")
        .replace("30000", "18444")
        .replace("Q_m = 4", "Q_m = 2")
        .replace("esn0_db = 200.0", &format!("esn0_db = {of_a_symbol:?}"));
    let report = run(&file, |_| 0, Latency::Compact, slots);
    judge(&report, slots, (rate, 100), "aff3ct");
    let (blocks, code_blocks) = (["blocks", "block_errors"], ["code_blocks", "code_block_errors"]);
    assert_eq!(results(&report, "desegment", code_blocks), results(&report, "crc-check", blocks), "one block is both");
    assert!(result(&report, "turbo-decoder", "iterations") < 8 * slots as i64, "it stops early");
}

/// Coded bits of some block.
fn coded(block: &[Bit]) -> Vec<Bit> {
    through("lte-turbo-encode", &Params::new().with("K", block.len() as u32), block)
}

fn some_bits(count: usize, seed: u64) -> Vec<Bit> {
    let mut noise = seed | 1;
    let next = |_| {
        noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        Bit((noise >> 63) as u8)
    };
    (0..count).map(next).collect()
}

/// 10 for 0, -10 for 1.
fn soft(bits: &[Bit]) -> Vec<Llr> {
    bits.iter().map(|bit| Llr(10 - 20 * bit.0 as i8)).collect()
}

/// Encoded, matched, scrambled, and all of it undone: what was sent is known and right, and it is as much as there is or was sent.
fn matched_and_back(length: usize, matched: usize, rv: u32, seed: u64) {
    let block = some_bits(length, seed);
    let coded = coded(&block);
    let matching = Params::new().with("K", length as u32).with("E", matched as u32).with("rv", rv);
    let scrambling = Params::new().with("c_init", 1 + (seed as u32 >> 2));
    let sent: Vec<Bit> = through("lte-rate-match", &matching, &coded);
    assert_eq!(sent.len(), matched);
    let scrambled: Vec<Bit> = through("lte-scramble", &scrambling, &sent);
    let back: Vec<Llr> = through("lte-descramble", &scrambling, &soft(&scrambled));
    assert_eq!(back, soft(&sent), "scrambling, K = {length}, E = {matched}");
    let received: Vec<Llr> = through("lte-rate-dematch", &matching, &back);
    let what = format!("K = {length}, E = {matched}, rv = {rv}");
    let known = received.iter().filter(|llr| llr.0 != 0).count();
    assert_eq!(known, matched.min(coded.len()), "{what}");
    assert!(received.iter().zip(&coded).all(|(llr, bit)| llr.0 == 0 || (llr.0 < 0) == (bit.0 == 1)), "{what}");
    if matched >= coded.len() {
        let decided: Vec<Bit> =
            through("lte-turbo-decode", &Params::new().with("K", length as u32).with("iterations", 2), &received);
        assert_eq!(decided, block, "{what}");
    }
}

#[test]
fn every_block_length_goes_through_the_chain_and_back_in_every_redundancy_version() {
    for (n, length) in TURBO_LENGTHS.map(usize::from).into_iter().enumerate() {
        for rv in 0..4 {
            let whole = 3 * length + 12;
            let matched = if (n + rv) % 2 == 0 { whole + n } else { 1 + (n * 7919 + rv * 104_729) % whole };
            matched_and_back(length, matched, rv as u32, (4 * n + rv) as u64);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_length_is_matched_and_comes_back(
        length in prop::sample::select(&TURBO_LENGTHS[..]), matched in 1usize..40_000, rv in 0u32..4, seed in any::<u64>(),
    ) {
        matched_and_back(length.into(), matched, rv, seed);
    }

    #[test]
    fn any_transport_block_goes_to_symbols_and_back(
        transport in 1u32..35_000, per_symbol in prop::sample::select(&[1u32, 2, 4, 6][..]), seed in any::<u64>(),
    ) {
            let (block, modulation) = (Params::new().with("A", transport), Params::new().with("Q_m", per_symbol));
        // Room for all coded bits, so that one iteration will do.
        let matched = (3 * (transport + 1000) * 11 / 10).next_multiple_of(per_symbol);
        let matching = block.clone().with("G", matched).with("Q_m", per_symbol);
        let data = some_bits(transport as usize, seed);
        let with_crc: Vec<Bit> = through("lte-crc-attach", &block, &data);
        let blocks: Vec<Bit> = through("lte-segment", &block, &with_crc);
        let coded: Vec<Bit> = through("lte-turbo-encode", &block, &blocks);
        let sent: Vec<Bit> = through("lte-rate-match", &matching, &coded);
        let symbols: Vec<takt_base::Complex32> = through("lte-modulate", &modulation, &sent);
        let received: Vec<Llr> = through("lte-demodulate", &modulation, &symbols);
        let coded: Vec<Llr> = through("lte-rate-dematch", &matching, &received);
        let blocks: Vec<Bit> = through("lte-turbo-decode", &block.clone().with("iterations", 2), &coded);
        let with_crc: Vec<Bit> = through("lte-desegment", &block, &blocks);
        let back: Vec<Bit> = through("lte-crc-check", &block, &with_crc);
        prop_assert_eq!(back, data);
    }
}

#[test]
fn shapes_that_the_standard_does_not_have_are_refused() {
    refused("lte-turbo-encode", &[("K", 41)]);
    refused("lte-turbo-decode", &[("K", 6145)]);
    refused("lte-turbo-encode", &[("K", 40), ("length", 40)]);
    refused("lte-turbo-encode", &[("A", 4008), ("K", 40)]);
    refused("lte-rate-match", &[("K", 40), ("F", 40)]);
    refused("lte-rate-match", &[("K", 40), ("N_cb", 63)]);
    refused("lte-rate-match", &[("rv", 4)]);
    refused("lte-rate-dematch", &[("A", 15_264), ("G", 30_001), ("Q_m", 4)]);
    refused("lte-modulate", &[("Q_m", 3)]);
    refused("lte-scramble", &[("c_init", 1), ("n_RNTI", 1)]);
}

#[test]
fn a_packet_of_another_length_gives_an_empty_one() {
    let registry = registry();
    for kind in registry.kinds().into_iter().filter(|kind| kind.name.starts_with("lte-")) {
        let mut bench = Bench::named(&registry, &kind.name, &Params::new()).expect("defaults do");
        bench.feed_bytes(0, &[]);
        assert!(bench.tick().output_bytes(0).is_empty(), "{}", kind.name);
        let (input, output) = (bench.shape().inputs[0].item, bench.shape().outputs[0].length);
        if matches!(output, Length::Fixed(_)) {
            bench.feed_bytes(0, &vec![1; input.bytes()]);
            assert!(bench.tick().output_bytes(0).is_empty(), "{}", kind.name);
        }
    }
}

#[test] // behind a component of fixed length a lost packet was an empty one, and what came empty was counted as missing
fn every_component_passes_on_that_a_packet_is_lost_and_none_takes_an_empty_one_for_lost() {
    let registry = registry();
    for kind in registry.kinds().into_iter().filter(|kind| kind.name.starts_with("lte-")) {
        let mut bench = Bench::named(&registry, &kind.name, &Params::new()).expect("defaults do");
        let mut counted = |lost: bool| {
            bench.feed_bytes(0, &[]);
            if lost {
                bench.lose("in");
            }
            bench.tick();
            (bench.is_lost("out"), bench.results().get("missing_packets").cloned())
        };
        let counts = ["lte-desegment", "lte-crc-check"].contains(&kind.name.as_str());
        let count = |n: i64| counts.then(|| Value::from(n));
        assert_eq!(counted(false), (false, count(0)), "{}", kind.name);
        assert_eq!(counted(true), (true, count(1)), "{}", kind.name);
        assert_eq!(counted(false), (false, count(1)), "{}", kind.name);
    }
}

/// A component that loses what it makes in some slots.
struct Lossy(Box<dyn Component>, BTreeSet<u64>);

impl Component for Lossy {
    fn tick(&mut self, io: &mut Io<'_>) {
        self.0.tick(io);
        if self.1.contains(&io.slot) {
            io.lose();
        }
    }
    fn prepare(&mut self, ports: &Prepared<'_>) -> Result<(), String> {
        self.0.prepare(ports)
    }
    fn results(&self) -> Vec<(&'static str, Value)> {
        self.0.results()
    }
}

/// The channel with a block of 1000 bits every so many slots, where components lose packets: by type, in which slots.
fn lossy(loses: &[(String, BTreeSet<u64>)], every: u64, slots: u64) -> Report {
    let file = FILE.replace("15264", "1000").replace("30000", "4000");
    let file = file.replace("items = 1000", &format!("items = 1000\nevery = {every}"));
    let mut registry = registry();
    for (kind, lost) in loses {
        let (plain, name, lost) = (waveform::registry(), kind.clone(), lost.clone());
        let made =
            move |params: &Params| Ok(Box::new(Lossy(plain.make(&name, params)?, lost.clone())) as Box<dyn Component>);
        assert!(registry.equip(kind, Arc::new(made)), "{kind}");
    }
    let graph = Graph::check(&Waveform::parse("waveform.toml", &file).expect("read"), &registry).expect("checked");
    let workers: Vec<usize> = (0..graph.components().len()).map(|n| n % 2).collect();
    let plan = Plan::assign(&graph, &workers, Latency::Compact).expect("placed");
    let options = SessionOptions { slots: Some(slots), ..SessionOptions::default() };
    Session::open(&graph, &plan, &registry, options).expect("opened").run(&Stop::new()).expect("started")
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn losses_anywhere_in_the_chain_are_counted_once_and_only_they(
        losses in prop::collection::vec(prop::collection::btree_set(0..20_u64, 0..3), 14), every in 1..4_u64,
    ) {
        let kinds = Waveform::parse("waveform.toml", FILE).expect("read").components;
        let loses: Vec<(String, BTreeSet<u64>)> =
            kinds.iter().map(|component| component.kind.clone()).zip(losses).collect();
        let report = lossy(&loses, every, 20);
        let mut lost: BTreeSet<u64> = BTreeSet::new();
        for (component, (kind, own)) in report.components.iter().zip(&loses) {
            prop_assert_eq!((&component.kind, component.missing_packets), (kind, lost.len() as u64));
            if let Some(counted) = component.results.get("missing_packets") {
                let whole = (0..20).filter(|slot| slot % every == 0 && !lost.contains(slot)).count() as i64;
                prop_assert_eq!(counted, &Value::Int(lost.len() as i64), "{}", kind);
                let blocks = component.results.get("blocks").or_else(|| component.results.get("code_blocks"));
                prop_assert_eq!(blocks, Some(&Value::Int(whole)), "{}", kind);
            }
            lost.extend(own.iter().copied());
        }
        prop_assert_eq!(result(&report, "crc-check", "block_errors"), 0);
        prop_assert_eq!(result(&report, "sink", "missing_packets"), lost.len() as i64);
        prop_assert_eq!(result(&report, "sink", "bit_errors"), 0);
    }
}
