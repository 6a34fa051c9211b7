//! Both nodes in this process, over loopback: what they compute together is what one computes, and a stranger is refused.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use takt_base::Stop;
use takt_load::nodes::{HOP_SLOTS, NodesError, NodesOptions, Serve, ServeOptions, run};
use takt_load::waveform::{Latency, Slots, WaveformOptions};
use takt_testing::{loopback, not_judged};

fn options(host: u8, last_on_first: Option<&str>) -> NodesOptions {
    let waveform = WaveformOptions {
        waveform: "utran".to_owned(),
        slot: Duration::from_millis(20),
        slots: Slots::Count(10),
        latency: Latency::Fixed,
        ..WaveformOptions::default()
    };
    NodesOptions {
        second: loopback(host),
        cable_bps: Some(1e8),
        last_on_first: last_on_first.map(str::to_owned),
        waveform,
    }
}

fn serve(host: u8) -> Serve {
    Serve::start(ServeOptions { address: loopback(host) }).expect("a port of its own")
}

#[test]
fn two_nodes_compute_what_one_computes_with_a_slot_more_on_the_way() {
    let _second = serve(1);
    let ran = run(&options(1, Some("channel")), &Stop::new()).expect("two nodes");
    assert_eq!((ran.nodes.cut.first.len(), ran.nodes.cut.second.len()), (10, 9));
    let names: BTreeSet<&str> = ran.outcome.components.iter().map(|one| one.name.as_str()).collect();
    // All of both, and the two ends of what crosses.
    assert_eq!((names.len(), ran.outcome.components.len()), (21, 21), "{names:?}");
    // A slot a hop, and one more where packets travel.
    assert_eq!(ran.outcome.latency_slots, 18 + HOP_SLOTS - 1);
    // 9120 items of 16 bits in 13 datagrams, with what Ethernet adds to each.
    assert_eq!(ran.nodes.cable.bits_per_slot, 8 * (2 * 9120 + 13 * (24 + 28 + 14 + 24)));
    if ran.outcome.misses > 0 {
        return not_judged(format!("{} slots of components were missed", ran.outcome.misses));
    }
    assert!(ran.output_hash_on_one.is_some());
    assert_eq!(ran.outcome.output_hash, ran.output_hash_on_one);
    assert!(ran.outcome.complete);
}

#[test]
fn the_mapper_cuts_where_fewest_bytes_cross() {
    let _second = serve(2);
    let ran = run(&options(2, None), &Stop::new()).expect("two nodes");
    let mapped = ran.nodes.cut.mapped.expect("the mapper decided");
    assert_eq!(ran.nodes.cut.first[0], "source");
    assert_eq!(ran.nodes.cut.second.last().map(String::as_str), Some("sink"));
    // 3840 bits, a byte each, at 100 Mb/s; nothing shorter lies between any two components.
    assert_eq!(mapped.link_ns, 307_200);
    assert!(mapped.period_ns >= mapped.link_ns && mapped.bound_ns <= mapped.period_ns);
}

#[test]
fn what_can_not_be_run_is_refused_with_what_would_be_right_and_the_node_goes_on() {
    let _second = serve(3);
    let refused = |last: &str| run(&options(3, Some(last)), &Stop::new()).expect_err("refused");
    assert!(matches!(refused("chanel"), NodesError::NoComponent { .. }));
    assert!(matches!(refused("sink"), NodesError::NothingLeft { .. }));
    assert!(refused("sink").fix().expect("a fix").contains("mapper"));
    let mut long = options(3, Some("channel"));
    long.waveform.slots = Slots::Count(1_000_000);
    assert!(matches!(run(&long, &Stop::new()), Err(NodesError::TooLong { .. })));

    // A stranger, who gets no further than his lines, and then the next.
    let stranger = TcpStream::connect((loopback(3), takt_load::nodes::PORT)).expect("it listens");
    let said = |line: &str| {
        (&stranger).write_all(line.as_bytes()).expect("sent");
        let mut said = String::new();
        BufReader::new(&stranger).read_line(&mut said).expect("an answer");
        said
    };
    let start = "{\"do\":\"start\",\"samples\":\"1.2.3.4:5\",\"clock\":\"1.2.3.4:5\",\"epoch_ns\":0}\n";
    let early = said(start);
    assert!(early.contains("failed") && early.contains("in this order"), "{early}");
    let waveform = serde_json::to_string(&options(3, None).waveform).expect("JSON");
    let opened = said(&format!("{{\"do\":\"open\",\"options\":{waveform},\"first\":[\"source\"]}}\n"));
    assert!(opened.contains("opened"), "{opened}");
    let elsewhere = said(start);
    assert!(elsewhere.contains("takt sends nothing there"), "{elsewhere}");
    assert_eq!(said("no JSON\n"), "", "closed");
    drop(stranger);
    run(&options(3, Some("channel")), &Stop::new()).expect("it serves the next");
}

#[test]
fn nobody_there_is_an_error_that_names_the_place() {
    let error = run(&options(4, None), &Stop::new()).expect_err("nobody listens");
    assert!(error.to_string().contains(&format!("{}:5204", loopback(4))), "{error}");
}
