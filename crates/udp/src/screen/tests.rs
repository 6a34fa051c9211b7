//! Reports as people read them, word for word.

use std::net::SocketAddr;
use std::time::Duration;

use crate::search::{
    Ask, Bursts, SearchOptions, SearchOutcome, SearchProgress, SearchReport, SetBy, SizeFound, Trial, TrialCounts,
};
use crate::{
    Cpu, CrossedAs, EndCpu, EndEvidence, Evidence, FlowReceived, Histograms, Interval, LatencyKind, Lost, Places,
    Progress, ReceivedFigures, Relation, Reordered, SCHEMA, SentFigures, UdpOptions, UdpReport, Way, WayName,
};
use takt_stats::{Histogram, Quantiles};

use super::search as udp_search;
use crate::screen as udp;
use takt_page::{Depth, TextStyle};

fn server() -> SocketAddr {
    SocketAddr::from(([192, 168, 10, 2], 5202))
}

fn quantiles(p50: f64) -> Quantiles {
    let us = |factor: f64| Some(p50 * factor);
    Quantiles { min_us: us(0.5), p50_us: us(1.0), p99_us: us(2.0), p99_9_us: us(4.0), max_us: us(8.0) }
}

fn way() -> Way {
    let by_place = Places { sender: 10, path: 200, receiver_buffer: 300, application: 0 };
    Way {
        direction: WayName::ToServer,
        sent: SentFigures { datagrams: 20_000, payload_bytes: 1_280_000, calls: 9000, span_s: 2.0 },
        received: ReceivedFigures { datagrams: 19_480, payload_bytes: 1_246_720, calls: 8000, span_s: 1.99 },
        lost: Lost { total: 520, share: 0.026, by_place, unplaced: 10 },
        duplicates: 3,
        reordered: 40,
        reordering: Reordered {
            share: 40.0 / 19_480.0,
            extent_mean: Some(2.5),
            extent_max: 12,
            late_max_us: 310.5,
            three_reordered: 7,
            beyond_memory: 0,
        },
        too_old: 0,
        too_far: 0,
        unsent: 2,
        datagrams_per_s: 9740.0,
        throughput_bps: 4_986_880.0,
        jitter_us: Some(3.25),
        latency_kind: LatencyKind::OneWayEstimated,
        latency_us: quantiles(40.0),
        pacing_error_us: quantiles(12.0),
        crossed_as: CrossedAs::Datagrams,
        flows: vec![FlowReceived::default()],
        intervals: vec![Interval {
            start_s: 0.0,
            end_s: 1.0,
            sent: 10_000,
            datagrams: 9700,
            payload_bytes: 620_800,
            lost: 300,
            late: 0,
            latency_max_us: 320.0,
        }],
        histograms: Histograms { latency_ns: Histogram::default(), pacing_error_ns: Histogram::default() },
    }
}

fn report() -> UdpReport {
    let end = EndCpu {
        wall_s: 2.3,
        process_s: 0.5,
        machine_busy_share: 0.4,
        machine_softirq_share: 0.05,
        ..EndCpu::default()
    };
    let evidence = EndEvidence { engine: "mmsg".to_owned(), ..EndEvidence::default() };
    let options = UdpOptions {
        payload_bytes: 64,
        datagrams_per_s: Some(10_000.0),
        burst: 16,
        duration: Duration::from_secs(2),
        ..UdpOptions::to(server())
    };
    UdpReport {
        schema: SCHEMA,
        options,
        way: way(),
        from_server: None,
        cpu: Cpu { client: end, server: end, client_ns_per_datagram: Some(25_667.0), server_ns_per_datagram: None },
        clock: Relation {
            shared: false,
            offset_ns: -77_000,
            uncertainty_ns: 11_500,
            round_trip_ns: 23_000,
            drift_ns: Some(-1200),
        },
        evidence: Evidence { client: evidence.clone(), server: evidence },
        complete: true,
    }
}

const LOAD: &str = "\
No: 520 of 20 000 datagrams lost (2.6 %), 300 of them in the receiver's buffer.
192.168.10.2:5202 · 64 B payload · 10 000 datagrams/s in bursts of 16 · 1 flow · engine mmsg here, mmsg there · 2 s
               sent  received  lost  repeated  reordered  unsent  received/s   Mb/s    p50   p99.9
  to server  20 000    19 480   520         3         40       2        9740  4.987  40 µs  160 µs
By interval, to server
  interval       sent  received   Mb/s  missing  longest
  0.00-1.00 s  10 000      9700  4.966      300   320 µs
  lost     to server: sender 10, path 200, receiver's buffer 300, application 0; 510 of 520 placed
  latency  p50 40 µs, p99 80 µs, p99.9 160 µs, max 320 µs (one way, two clocks, accurate to 11.5 µs, with 1.2 µs of drift)
  sender   late against its schedule: p50 12 µs, p99 24 µs, p99.9 48 µs, max 96 µs
  jitter   3.25 µs (RFC 3550)
  order    0.21 % reordered, 2.5 arrivals late on average, 12 at most (310 µs); 7 by three or more (RFC 4737)
  CPU      client 25.7 µs per datagram (process 500 ms of 2.3 s); its machine 40 % busy, 5 % in soft interrupts
           server – per datagram (process 500 ms of 2.3 s); its machine 40 % busy, 5 % in soft interrupts
";

fn load(report: &UdpReport, intervals: bool) -> String {
    udp::screen(report, intervals).to_text(&TextStyle { depth: Depth::Full, width: 130, ..TextStyle::default() })
}

fn searched(report: &SearchReport) -> String {
    udp_search::screen(report).to_text(&TextStyle { width: 130, ..TextStyle::default() })
}

#[test]
fn a_load_reads_like_this() {
    assert_eq!(load(&report(), true), LOAD);
}

#[test]
fn what_came_in_a_later_interval_has_a_column_of_its_own() {
    let mut report = report();
    let later = Interval { start_s: 1.0, end_s: 2.0, late: 12, ..report.way.intervals[0] };
    report.way.intervals.push(later);
    let said = load(&report, true);
    assert!(said.contains("  interval       sent  received   Mb/s  missing  late  longest\n"), "{said}");
    assert!(said.contains("  1.00-2.00 s  10 000      9700  4.966      300    12   320 µs\n"), "{said}");
}

#[test]
fn the_queues_of_a_card_are_reported_of_each_end_that_has_some() {
    let mut report = report();
    report.evidence.server.engine = "xdp".to_owned();
    report.evidence.server.engine_queues = Some("queue 0 of eth0 by its rules".to_owned());
    let said = load(&report, false);
    assert!(said.contains("Engine xdp there has queue 0 of eth0 by its rules."), "{said}");
    assert!(!said.contains(" here has"), "{said}");
}

#[test]
fn a_ramp_of_mixed_sizes_and_fragments_is_named() {
    let mut report = report();
    report.options.sizes = vec![64, 9000];
    report.options.ramp_from_per_s = Some(100.0);
    report.options.burst = 1;
    report.options.datagrams = Some(30_000);
    report.way.crossed_as = CrossedAs::Fragments;
    let text = load(&report, false);
    assert!(text.contains("· 64, 9000 B payload · 100 to 10 000 datagrams/s, at most 30 000 ·"), "{text}");
    assert!(text.contains("each crossed in fragments") && !text.contains("interval"), "{text}");
}

#[test]
fn flat_out_has_no_schedule() {
    let mut report = report();
    report.options.datagrams_per_s = None;
    report.complete = false;
    let text = load(&report, false);
    assert!(text.contains("sender   flat out, so it has no schedule"), "{text}");
    assert!(text.contains("Stopped early"), "{text}");
}

fn trial(intended: f64, (sent, received): (u64, u64)) -> Trial {
    let ask = Ask { value: intended, duration: Duration::from_secs(1) };
    Trial { latency_us: quantiles(50.0), ..Trial::counted(ask, TrialCounts { sent, received, unsent: 0 }, 0.0) }
}

fn found(value: Option<f64>, set_by: SetBy) -> SearchOutcome {
    let trials = value.map(|value| trial(value, (value as u64, value as u64))).into_iter().collect();
    SearchOutcome { value, failed_at: Some(160_000.0), set_by, trials, complete: true }
}

fn search() -> SearchReport {
    let searches = vec![found(Some(150_000.0), SetBy::Path), found(Some(152_000.0), SetBy::Path)];
    let estimate = takt_stats::mean(&[150_000.0, 152_000.0], 0.95);
    let bursts = Bursts {
        searches: vec![],
        datagrams: Some(1100.0),
        estimate: None,
        sent_per_s: Some(300_000.0),
        implied_buffer_s: Some(0.00367),
        corrected_buffer_s: Some(0.00182),
    };
    let small = SizeFound {
        payload_bytes: 64,
        flat_out: trial(300_000.0, (300_000, 240_000)),
        datagrams_per_s: Some(151_000.0),
        throughput_bps: Some(77_312_000.0),
        estimate,
        set_by: Some(SetBy::Path),
        searches,
        bursts: Some(bursts),
    };
    let none = SizeFound {
        payload_bytes: 1472,
        flat_out: trial(200_000.0, (200_000, 0)),
        datagrams_per_s: None,
        throughput_bps: None,
        estimate: None,
        set_by: Some(SetBy::Path),
        searches: vec![found(None, SetBy::Path), found(None, SetBy::Path)],
        bursts: None,
    };
    let options = SearchOptions { repeats: 2, ..SearchOptions::of(UdpOptions::to(server())) };
    SearchReport { schema: SCHEMA, options, sizes: vec![small, none], complete: true }
}

const SEARCH: &str = "\
No: 2 of 4 searches found no rate that holds.
192.168.10.2:5202 · highest rate without loss · trials of 1 s, confirmed for 5 s · 2 searches
  payload  datagrams/s                95 %   Mb/s    p50     p99  flat out/s  lost there  set by
  64 B         151 000  [138 293, 163 706]  77.31  50 µs  100 µs     240 000        20 %  path
  1472 B          none                   –      –      –       –           0       100 %  path
Bursts of 64 B: 1100 datagrams at 300 000 a second pass; a buffer of 1.82 ms (RFC 9004, corrected).
";

#[test]
fn a_search_reads_like_this() {
    assert_eq!(searched(&search()), SEARCH);
}

#[test]
fn a_search_that_the_sender_limits_says_so() {
    let mut report = search();
    report.sizes.truncate(1);
    report.sizes[0].searches[1].set_by = SetBy::Sender;
    report.sizes[0].bursts = None;
    report.options.loss_share = 0.001;
    let text = searched(&report);
    assert!(text.contains("highest rate with at most 0.1 % lost"), "{text}");
    assert!(text.contains("where the sender set them, the path may carry more.\n"), "{text}");
    report.sizes.clear();
    report.complete = false;
    let text = searched(&report);
    let early = "No: nothing was found. Stopped early; this is what takt found until then.\n";
    assert!(text.starts_with(early), "{text}");
}

#[test]
fn progress_says_what_is_tried() {
    let round = Progress { sent: 1234, ..Progress::default() };
    let at = |repeat, burst| SearchProgress {
        payload_bytes: 64,
        repeat,
        repeats: 3,
        burst,
        intended: 9e4,
        trials: 4,
        round,
    };
    assert_eq!(udp_search::progress(&at(0, false)), "64 B · flat out · trial 5 · sent 1234");
    assert_eq!(udp_search::progress(&at(2, false)), "64 B · search 2 of 3 · 90 000 datagrams/s · trial 5 · sent 1234");
    assert_eq!(udp_search::progress(&at(2, true)), "64 B · search 2 of 3 · a burst of 90 000 · trial 5 · sent 1234");
}
