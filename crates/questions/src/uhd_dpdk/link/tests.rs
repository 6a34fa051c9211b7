//! Rounds that were not measured, and what is stated about them.

use crate::check::CheckAnswer;
use serde_json::{Value, json};
use takt_lab::store::testing::round;
use takt_lab::store::{Record, RoundRow};

use super::super::{facts, judge, points};
use super::*;
use crate::study::{Claim, PartVerdict};
use crate::sweep::SweepOutcome;
use crate::sweep::testing::outcome;

/// A result of two attempts.
fn at(speed: f64, kept_up: bool, connected: u64, [jitter_ms, lost]: [f64; 2], enb: f64) -> Value {
    let threads = json!([{ "name": "enb", "seconds": enb, "core_share": enb },
        { "name": "ue", "seconds": 0.3, "core_share": 0.3 }]);
    let load = json!({ "jitter_ms": jitter_ms, "lost_share": lost, "threads": threads });
    json!({
        "speed": speed, "kept_up": kept_up, "attempted": 2, "connected": connected, "losses": 0,
        "attach_ms": if connected > 0 { json!(120.0) } else { Value::Null }, "attach_host_ms": 400.0,
        "load": if connected > 0 { load } else { Value::Null },
    })
}

/// A round with that result, whose radios were late for so long in a second.
fn of(number: u32, result: Value, late_ns: u64) -> RoundRow {
    let lag = json!({ "limit_us": 200, "over_limit": 0, "max_us": 0, "late_spans": [{ "from_ns": 5, "to_ns": 5 + late_ns }] });
    let device = json!({ "lag": lag, "clock_hz": 184_320_000, "datagrams": { "receive_buffer_drops": 0 } });
    let emulator = json!({ "duration_s": 1.0, "lag": lag, "devices": [device.clone(), device] });
    RoundRow { id: i64::from(number), ..round(number, Record { result, emulator, ..Record::default() }) }
}

fn measured(host: &str, engine: &str, prb: u32, rounds: &[RoundRow]) -> LinkCase {
    let settings = json!({ "prb": prb, "down_bps": 10_000_000, "engine": engine });
    let settings = serde_json::from_value(settings).expect("settings");
    case(host, &Point { settings, rounds: rounds.iter().collect() }).expect("a case")
}

fn rounds(results: &[Value]) -> Vec<RoundRow> {
    (1..).zip(results).map(|(number, result)| of(number, result.clone(), 0)).collect()
}

fn punctual(connected: u64, jitters_ms: [f64; 3], enb: f64) -> Vec<RoundRow> {
    rounds(&jitters_ms.map(|jitter_ms| at(1.0, true, connected, [jitter_ms, jitter_ms * 1e-3], enb + jitter_ms * 1e-3)))
}

fn claim(number: u32, cases: Vec<LinkCase>) -> Claim {
    let seen = SweepOutcome { link: cases, ..outcome(&facts()) };
    let judged = |number, part: &str| judge(number, part, &seen);
    seen.paper.judged(|number| points(number, &seen), judged).remove(number as usize - 1)
}

fn both(sockets: &[RoundRow], bypass: &[RoundRow]) -> Vec<LinkCase> {
    vec![measured("quiet", "socket", 100, sockets), measured("quiet", "xdp", 100, bypass)]
}

#[test]
fn a_case_adds_up_its_rounds_and_leaves_out_those_whose_radios_were_late() {
    let mut all = punctual(2, [0.5, 0.6, 0.7], 0.4);
    all.push(of(4, at(1.0, false, 0, [0.0; 2], 0.9), 30_000_000));
    let case = measured("quiet", "socket", 25, &all);
    assert_eq!(case.place(), "25 PRB at 10 Mb/s on a quiet host");
    assert_eq!((case.rounds, case.radios_late, case.real_time.rounds, case.real_time.kept_up), (4, 1, 3, 3));
    assert_eq!((case.real_time.attempts, case.real_time.connected), (6, 6));
    let share = case.real_time.connected_share.expect("an interval");
    assert!(share.point() == 1.0 && (0.5..0.6).contains(&share.low()), "{share}");
    assert!((case.real_time.jitter_s.value.unwrap() - 0.6e-3).abs() < 1e-12);
    assert_eq!(case.real_time.threads.iter().map(|thread| thread.name.as_str()).collect::<Vec<_>>(), ["enb", "ue"]);
    assert_eq!(case.slower, None);
}

#[test]
fn lower_speeds_stand_apart_at_the_one_where_most_rounds_came_to_rest() {
    let fell = |speeds: &[f64]| {
        let mut first = at(1.0, false, 0, [0.0; 2], 0.9);
        let last = speeds.len() - 1;
        let slower = speeds.iter().enumerate().map(|(n, &speed)| at(speed, n == last, 2, [0.01, 0.0], 0.5));
        first["slower"] = slower.collect();
        first
    };
    let case = measured("quiet", "socket", 100, &rounds(&[fell(&[0.5, 0.2]), fell(&[0.5]), fell(&[0.5, 0.2])]));
    let slower = case.slower.expect("it fell");
    assert_eq!((slower.speed, slower.figures.rounds, slower.figures.kept_up), (0.2, 2, 2));
    assert_eq!((case.real_time.connected, case.real_time.attempts, case.real_time.kept_up), (0, 6, 0));
}

#[test]
fn jitter_drops_and_threads_are_compared_by_intervals() {
    let (many, few) = (punctual(2, [0.50, 0.51, 0.52], 0.4), punctual(2, [0.20, 0.21, 0.22], 0.3));
    for number in [5, 6, 9] {
        assert_eq!(claim(number, both(&many, &few)).answer, CheckAnswer::Holds, "claim {number}");
        assert_eq!(claim(number, both(&few, &many)).answer, CheckAnswer::Fails, "claim {number}");
        assert_eq!(claim(number, both(&many, &many)).answer, CheckAnswer::Unknown, "claim {number}");
        assert_eq!(claim(number, Vec::new()).answer, CheckAnswer::Unknown, "claim {number}");
    }
    let judged = claim(9, both(&many, &few));
    assert!(judged.measured.contains("enb: socket 40.05") && !judged.measured.contains("ue:"), "{}", judged.measured);
    assert_eq!(claim(10, both(&many, &few)).answer, CheckAnswer::Unknown, "no link was lost with either");
}

#[test]
fn whether_a_link_connects_is_told_by_the_interval_over_all_attempts() {
    let of = |connected: u64, kept_up: bool, count: usize| {
        rounds(&vec![at(1.0, kept_up, connected, [0.1, 0.0], 0.4); count])
    };
    let judged = claim(7, both(&of(0, false, 15), &of(2, true, 15)));
    assert_eq!(judged.answer, CheckAnswer::Holds, "{}", judged.measured);
    assert_eq!(
        judged.parts.iter().map(|part| part.part.as_str()).collect::<Vec<_>>(),
        ["link over socket", "link over xdp"]
    );
    assert!(judged.measured.contains("xdp: 30 of 30 attempts connected, 100 % [88, 100]"), "{}", judged.measured);
    assert_eq!(claim(7, both(&of(2, true, 15), &of(2, true, 15))).answer, CheckAnswer::Fails, "sockets carry it");
    let few = claim(8, both(&of(0, false, 4), &of(2, true, 4)));
    assert_eq!(few.answer, CheckAnswer::Unknown, "eight attempts are too few: {}", few.measured);
    assert_eq!(claim(8, both(&of(2, true, 15), &of(2, true, 15))).answer, CheckAnswer::Holds);
}

#[test]
fn a_case_that_this_machine_does_not_hold_is_not_judged() {
    let why = |cases: Vec<LinkCase>| match &claim(7, cases).parts[0].verdict {
        PartVerdict::NotJudged { why, open: false } => why.clone(),
        other => panic!("{other:?}"),
    };
    let late: Vec<RoundRow> = (1..4).map(|n| of(n, at(1.0, false, 0, [0.0; 2], 0.9), 500_000_000)).collect();
    assert_eq!(why(both(&late, &late)), "the emulators did not keep up in real time");
    let slow = rounds(&vec![at(1.0, false, 0, [0.0; 2], 0.9); 3]);
    assert_eq!(why(both(&slow, &slow)), "this machine did not hold the link in real time, with either engine");
    assert_eq!(why(Vec::new()), "not measured here: 100 PRB");
    assert_eq!(why(vec![measured("quiet", "socket", 100, &slow)]), "not measured here: xdp");
}
