//! The tables of a link in the report of uhd-dpdk: a golden text of an outcome that never was. Figures are invented, the paper's are
//! its own.

use serde_json::{Value, json};
use takt_page::{Depth, Report, TextStyle};
use takt_questions::study::Figure;
use takt_questions::sweep::SweepOutcome;
use takt_stats::proportion;

use crate::golden;

/// Three rounds around a value.
fn figure(value: f64) -> Value {
    let round = |id: i64, value: f64| json!({ "round_id": id, "value": value, "counts": true });
    let rounds = vec![round(1, 0.98 * value), round(2, value), round(3, 1.02 * value)];
    let rounds = rounds.into_iter().map(|round| serde_json::from_value(round).expect("a round")).collect();
    serde_json::to_value(Figure::from_rounds(rounds)).expect("JSON")
}

fn figures([rounds, kept_up]: [usize; 2], [attempts, connected]: [usize; 2], jitter_s: f64) -> Value {
    let none = serde_json::to_value(Figure::default()).expect("JSON");
    let of = |value: f64| if connected > 0 { figure(value) } else { none.clone() };
    let threads = [("enb", 0.3), ("takt-rx", 0.11), ("ue", 0.25)];
    let threads: Vec<Value> =
        threads.iter().map(|(name, share)| json!({ "name": name, "core_share": of(*share) })).collect();
    json!({
        "rounds": rounds, "kept_up": kept_up, "attempts": attempts, "connected": connected,
        "connected_share": proportion(attempts, connected, 0.95), "attach_s": of(0.14), "attach_host_s": of(0.5),
        "jitter_s": of(jitter_s), "lost_share": of(jitter_s), "losses": figure(0.0),
        "threads": if connected > 0 { threads } else { Vec::new() },
    })
}

fn case(prb: u32, down_bps: f64, engine: &str, radios_late: usize, real_time: Value) -> Value {
    json!({
        "host": "quiet", "prb": prb, "down_bps": down_bps, "engine": engine, "rounds": 3, "radios_late": radios_late,
        "real_time": real_time, "slower": null, "skipped": null,
    })
}

fn cases() -> Vec<Value> {
    let nothing = || figures([0, 0], [0, 0], 0.0);
    let mut fell = case(50, 30e6, "socket", 0, figures([3, 0], [6, 0], 0.0));
    fell["slower"] = json!({ "speed": 0.5, "figures": figures([3, 3], [6, 6], 0.2e-3) });
    let mut late = case(100, 30e6, "socket", 3, nothing());
    late["slower"] = json!({ "speed": 0.1, "figures": figures([3, 2], [6, 6], 0.3e-3) });
    let mut missing = case(25, 10e6, "dpdk", 0, nothing());
    missing["rounds"] = json!(0);
    missing["skipped"] = json!("this program was built without DPDK");
    vec![
        case(25, 10e6, "socket", 0, figures([3, 3], [6, 6], 0.6e-3)),
        case(25, 10e6, "xdp", 0, figures([3, 3], [6, 6], 0.5e-3)),
        missing,
        fell,
        case(50, 30e6, "xdp", 1, figures([2, 2], [4, 4], 0.3e-3)),
        late,
    ]
}

fn report(link: &[Value]) -> Report {
    let host = json!({ "hostname": "lab", "kernel": "", "cpu_model": "", "cores": 4, "memory_bytes": 0, "more": {} });
    let rounds = ["planned", "valid", "disturbed", "emulator_late", "failed", "skipped", "repeated"];
    let rounds: Value = rounds.iter().map(|name| ((*name).to_owned(), json!(0))).collect();
    let paper: Value =
        toml::from_str::<Value>(include_str!("../../../../experiments/papers/uhd-dpdk.toml")).expect("facts");
    let outcome: SweepOutcome = serde_json::from_value(json!({
        "schema": 1, "study": "uhd-dpdk", "run": "", "question": "", "started": "", "duration_s": 0.0, "depth": "quick",
        "complete": true, "takt_version": "", "host": host, "claims": [], "answer": "unknown", "rounds": rounds,
        "says": [], "does_not_say": [], "left_out": [], "records": [], "sites": [], "paper": paper, "charts": [],
        "link": link, "noise": [], "warnings": [],
    }))
    .expect("the keys of the document are stable");
    takt_questions::sweep::report(&outcome)
}

#[test]
fn tables_of_a_link_stand_beside_the_papers_and_lower_speeds_apart() {
    let mut report = report(&cases());
    report.sections.retain(|section| section.id == "link");
    golden::check(
        "link-tables.txt",
        &report.to_text(&TextStyle { width: 150, depth: Depth::Full, ..TextStyle::default() }),
    );
}

#[test]
fn a_study_without_a_link_has_no_section_of_one() {
    assert!(report(&[]).sections.iter().all(|section| section.id != "link"));
}
