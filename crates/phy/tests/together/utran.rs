//! The 384 kb/s channel of UTRA FDD as waveforms: without noise every block comes back, in noise no fewer than with others.

use takt_graph::{Graph, Latency, Params, Plan, Waveform};
use takt_runtime::{Bench, Bit, Llr, Report, Session, SessionOptions};

use crate::waveform::{judge, on_three_plans, refused, registry, results, run};

const FILE: &str = include_str!("../../../../waveforms/utran.toml");
const REFERENCE: &str = include_str!("../../../../waveforms/utran-ref.toml");

#[test]
fn without_noise_every_block_comes_back_on_any_plan() {
    for report in &on_three_plans(FILE, 100, |n| usize::from(n > 10), |n| n % 3) {
        assert_eq!(results(report, "crc-check", ["blocks", "block_errors"]), [100, 0]);
        assert_eq!(results(report, "sink", ["bits", "bit_errors"]), [384_000, 0]);
    }
}

#[test]
fn both_transport_channels_of_the_reference_channel_come_back_on_any_plan() {
    for report in &on_three_plans(REFERENCE, 100, |n| n % 2, |n| n / 9) {
        let (of_check, of_sink) = (["blocks", "block_errors"], ["bits", "bit_errors", "missing_packets"]);
        for (check, sink, expected) in [
            ("crc-check", "sink", ([100, 0], [384_000, 0, 0])),
            ("dcch-crc-check", "dcch-sink", ([25, 0], [2500, 0, 0])),
        ] {
            assert_eq!((results(report, check, of_check), results(report, sink, of_sink)), expected, "{sink}");
        }
        // The CRC after the first iteration is enough.
        assert_eq!(results(report, "turbo-decoder", ["blocks", "iterations"]), [100, 100]);
    }
}

/// On the beat, in virtual time: the sender is held up in a slot for so long.
fn held_up(slot: u64, time_us: f64) -> Report {
    let stall = format!("\n[component.stall]\ntype = \"stall\"\nslot = {slot}\ntime_us = {time_us:?}\n");
    let file = REFERENCE.replace("\"modulator\", \"channel\"", "\"modulator\", \"stall\", \"channel\"") + &stall;
    let registry = registry();
    let graph = Graph::check(&Waveform::parse("utran-ref.toml", &file).expect("read"), &registry).expect("checked");
    let options = SessionOptions { slots: Some(40), ..SessionOptions::default() };
    Session::open(&graph, &Plan::single(&graph, Latency::Compact), &registry, options).expect("opened").simulate()
}

/// Until 2 ms into the next slot.
#[test]
fn a_stall_costs_the_block_of_its_slot_and_none_of_the_channel_that_is_spread_over_four() {
    let report = held_up(5, 12_000.0);
    let culprits = report.miss_list.iter().map(|miss| format!("{:?}", miss.culprit)).collect::<Vec<_>>();
    assert!(!culprits.is_empty() && culprits.iter().all(|culprit| culprit.contains("stall")), "{culprits:?}");
    assert_eq!(results(&report, "crc-check", ["blocks", "block_errors"]), [39, 0]);
    assert_eq!(results(&report, "sink", ["bits", "bit_errors"]), [39 * 3840, 0]);
    assert_eq!(results(&report, "dcch-crc-check", ["blocks", "block_errors"]), [10, 0]);
    assert_eq!(results(&report, "dcch-sink", ["bits", "bit_errors"]), [1000, 0]);
    assert_eq!(held_up(5, 12_000.0).output_hash, report.output_hash);
}

/// The last slot of the second interval is lost, and all of the next one: its block was made of frames of both.
#[test]
fn frames_of_an_interval_whose_end_is_lost_are_no_part_of_the_next() {
    let report = held_up(7, 22_000.0);
    assert_eq!(results(&report, "dcch-crc-check", ["blocks", "block_errors"]), [8, 0]);
    assert_eq!(results(&report, "dcch-sink", ["bits", "bit_errors"]), [800, 0]);
}

#[test] // zeros were decoded to the block of zeros, whose CRC holds
fn a_channel_that_sends_nothing_now_and_then_has_no_block_then() {
    let file = REFERENCE.replacen("items = 3840", "items = 3840\nevery = 2", 1);
    let report = run(&file, |_| 0, Latency::Compact, 40);
    assert_eq!(results(&report, "crc-check", ["blocks", "block_errors"]), [20, 0]);
    assert_eq!(results(&report, "sink", ["bits", "bit_errors"]), [20 * 3840, 0]);
}

#[test]
fn of_soft_values_that_say_nothing_no_decoder_makes_a_block() {
    for (kind, coded) in [("umts-turbo-decode", 132), ("umts-viterbi", 144), ("lte-turbo-decode", 132)] {
        let mut bench = Bench::named(&registry(), kind, &Params::new().with("K", 40)).expect("as declared");
        let mut llrs = vec![Llr(0); coded];
        assert!(bench.feed("in", &llrs).tick().output::<Bit>("out").is_empty(), "{kind}");
        llrs[7] = Llr(1);
        assert!(!bench.feed("in", &llrs).tick().output::<Bit>("out").is_empty(), "{kind}: one value is enough");
    }
}

/// Wrong blocks of aff3ct 3.0.2 with 16-bit metrics (max-log, extrinsics times 0.75), K = 3856, all 11 580 bits sent; 100 block
/// errors each at least.
#[test]
fn at_rate_one_third_no_more_blocks_are_wrong_than_with_other_fixed_point_decoders() {
    let all = FILE.replace("matched = 9120", "matched = 11_580");
    let all = all.replace("length = 9120\nframe = 9120", "length = 11_580\nframe = 11_580");
    for (iterations, eb_n0_db, rate, slots) in [
        (4, 0.6, 6.7e-1, 200_u64),
        (4, 0.8, 2.0e-1, 400),
        (4, 1.0, 2.0e-2, 1500),
        (8, 0.2, 7.4e-1, 200),
        (8, 0.4, 2.0e-1, 400),
        (8, 0.6, 8.6e-3, 2000),
    ] {
        in_noise(&all, 11_580, iterations, eb_n0_db, slots, (rate, 100));
    }
}

/// Wrong blocks of IT++ 4.3.1 (max-log, extrinsics times 0.75, 64-bit floats), 9120 bits sent of 11 580; 60 block errors each.
#[test]
fn in_noise_no_more_blocks_are_wrong_than_with_others() {
    for (iterations, eb_n0_db, rate, slots) in
        [(2, 1.8, 5.1e-1, 400_u64), (4, 1.2, 7.3e-2, 1000), (8, 0.8, 6.7e-2, 1000)]
    {
        in_noise(FILE, 9120, iterations, eb_n0_db, slots, (rate, 60));
    }
}

/// Runs the waveform in noise beside a peer.
fn in_noise(file: &str, sent: u32, iterations: u32, eb_n0_db: f64, slots: u64, peer: (f64, usize)) {
    // The channel counts the energy of a bit that is sent.
    let of_a_sent_bit = eb_n0_db + 10.0 * (3856.0 / f64::from(sent)).log10();
    let file = file
        .replace("ebn0_db = 200.0", &format!("ebn0_db = {of_a_sent_bit:?}"))
        .replace("iterations = 2", &format!("iterations = {iterations}"));
    let report = run(&file, |_| 0, Latency::Compact, slots);
    judge(&report, slots, peer, &format!("{iterations} iterations, {eb_n0_db} dB"));
}

#[test]
fn shapes_that_the_standard_does_not_have_are_refused() {
    refused("umts-crc-attach", &[("crc", 17)]);
    refused("umts-turbo-encode", &[("K", 39)]);
    refused("umts-turbo-decode", &[("X", 20_000), ("crc", 16)]);
    refused("umts-turbo-decode", &[("crc", 17)]);
    refused("umts-interleave-2", &[("n", 9121), ("P", 2)]);
    refused("umts-turbo-decode", &[("length", 5115)]);
    refused("umts-rate-match", &[("length", 11_580), ("matched", 100)]);
    refused("umts-interleave-1", &[("tti", 30)]);
    refused("umts-rate-match", &[("tti", 20), ("frame", 2)]);
    refused("umts-mux", &[("length", 9121), ("frame", 9120)]);
}
