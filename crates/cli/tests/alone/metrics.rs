//! Metrics of two nodes, read by Prometheus's own client: they are what the run's report says, and a stranger is counted.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use takt_testing::{loopback, wait_for};

use crate::support::cluster::{Cluster, PORT, certificates};
use crate::support::{json, report};

/// A sample; 0 where there is none.
fn sample(metrics: &Value, name: &str, labels: &[(&str, &str)]) -> f64 {
    let labels: Vec<String> = labels.iter().map(|(label, value)| format!("{label}=\"{value}\"")).collect();
    metrics[format!("{name}{{{}}}", labels.join(","))].as_f64().unwrap_or(0.0)
}

/// A sample with more labels than these: of all that have these, together.
fn sum(metrics: &Value, name: &str, having: &[(&str, &str)]) -> f64 {
    let all = metrics.as_object().expect("samples").iter();
    let has = |key: &str| having.iter().all(|(label, value)| key.contains(&format!("{label}=\"{value}\"")));
    all.filter(|(key, _)| key.starts_with(&format!("{name}{{")) && has(key))
        .filter_map(|(_, value)| value.as_f64())
        .sum()
}

/// A component's counts are those of the report.
fn is_reported(metrics: &Value, component: &Value) {
    let name = component["name"].as_str().expect("a name");
    let of = |name: &str| component[name].as_f64().expect("a count");
    let having = [("component", name), ("tenant", "operator"), ("waveform", "utran")];
    assert_eq!(sample(metrics, "takt_component_execution_seconds_count", &having), of("executions"), "{name}");
    let missed = |kind| sum(metrics, "takt_component_misses_total", &[("component", name), ("kind", kind)]);
    assert_eq!(missed("skipped") + missed("lost"), of("missed"), "{name}");
    assert_eq!([missed("lost"), missed("late"), missed("fault")], ["lost", "late", "faults"].map(of), "{name}");
    let seconds = sample(metrics, "takt_component_execution_seconds_sum", &having);
    // If one took more than a second the report has no mean.
    let Some(mean_ns) = component["execution"]["mean_ns"].as_f64() else { return };
    let expected = mean_ns / 1e9 * of("executions");
    assert!((seconds - expected).abs() <= expected / 50.0, "{name}: {seconds} s, and {expected} s by the report");
}

/// The results of bridges in a report, of all with this one.
fn reported(node: &Value, result: &str) -> f64 {
    let components = node["report"]["components"].as_array().expect("components").iter();
    components.filter_map(|component| component["results"][result].as_f64()).sum()
}

#[test]
fn metrics_of_two_nodes_are_what_the_report_says() {
    let cluster = Cluster::with_metrics(110);
    let Some(before) = cluster.metrics("a") else { return };
    assert_eq!(sample(&before, "takt_build_info", &[("version", env!("CARGO_PKG_VERSION"))]), 1.0);
    assert_eq!(sum(&before, "takt_node_info", &[("cluster", "lab"), ("node", "a")]), 1.0);
    let gauges = ["takt_node_cores", "takt_node_busy_cores", "takt_heartbeats_sent_total"];
    assert_eq!(gauges.map(|name| sample(&before, name, &[])), [1.0, 0.0, 0.0]);

    let run = cluster.run_with("1000000", &[]).spawn().expect("takt starts");
    cluster.until_slot(5);
    let during = cluster.metrics("b").expect("installed");
    assert_eq!(sample(&during, "takt_node_busy_cores", &[]), 1.0);
    assert_eq!(sample(&during, "takt_runs", &[("stage", "executing")]), 1.0);
    assert_eq!(sum(&during, "takt_run_info", &[("tenant", "operator"), ("waveform", "utran")]), 1.0);
    let lease_s = sum(&during, "takt_run_lease_seconds", &[]);
    assert!(lease_s > 0.0 && lease_s <= 2.0, "{lease_s}");
    assert!(sum(&during, "takt_run_slot", &[]) >= 5.0 && sum(&during, "takt_run_slot_seconds", &[]) == 0.05);
    // One of the two is the reference, and knows its own time.
    let bound = |name| sum(&cluster.metrics(name).expect("installed"), "takt_run_clock_offset_bound_seconds", &[]);
    let bounds = [bound("a"), bound("b")];
    assert!(bounds.contains(&0.0) && bounds.iter().any(|&bound| bound > 0.0 && bound < 1.0), "{bounds:?}");

    kill_process(Pid::from_child(&run), Signal::INT).expect("it is ours");
    let done = run.wait_with_output().expect("takt runs");
    let ended = json(&done);
    for (name, peer) in [("a", "b"), ("b", "a")] {
        let (metrics, node) = (cluster.metrics(name).expect("installed"), &ended["nodes"][name]);
        let components = node["report"]["components"].as_array().unwrap_or_else(|| panic!("{}", report(&done)));
        components.iter().for_each(|component| is_reported(&metrics, component));
        let misses = sum(&metrics, "takt_component_misses_total", &[]);
        assert_eq!(misses, node["report"]["misses"].as_f64().expect("a count"));
        for (metric, result) in [
            ("takt_link_sent_slots_total", "sent_slots"),
            ("takt_link_received_slots_total", "received_slots"),
            ("takt_link_lost_slots_total", "lost_slots"),
            ("takt_link_late_slots_total", "late_slots"),
        ] {
            assert_eq!(sum(&metrics, metric, &[("peer", peer)]), reported(node, result), "{metric}");
        }
        assert!(
            sum(&metrics, "takt_link_sent_slots_total", &[]) + sum(&metrics, "takt_link_received_slots_total", &[])
                > 0.0
        );
        let [sent, received] =
            ["takt_heartbeats_sent_total", "takt_heartbeats_received_total"].map(|of| sample(&metrics, of, &[]));
        assert!(sent > 0.0 && received > 0.0, "{sent} sent, {received} received");
        let orders = ["open", "start", "stop"].map(|order| sample(&metrics, "takt_orders_total", &[("order", order)]));
        assert_eq!(orders, [1.0; 3]);
        let ended = sample(&metrics, "takt_runs_ended_total", &[("how", "stopped")]);
        assert_eq!((sample(&metrics, "takt_runs_started_total", &[]), ended), (1.0, 1.0));
        assert_eq!(sum(&metrics, "takt_run_info", &[]), 0.0, "it is over");
    }
    // Each receives the datagrams of the other: with an overhead of 24 bytes a datagram, and a slot of at least one.
    let of = |name: &str, metric: String| sum(&cluster.metrics(name).expect("installed"), &metric, &[]);
    for (from, to) in [("a", "b"), ("b", "a")] {
        let sent = ["slots", "datagrams", "bytes"].map(|what| of(from, format!("takt_link_sent_{what}_total")));
        let received = ["datagrams", "bytes"].map(|what| of(to, format!("takt_link_received_{what}_total")));
        assert!(sent[1] >= sent[0] && sent[2] >= 24.0 * sent[1], "{sent:?}");
        assert!(received[0] <= sent[1] && received[1] <= sent[2], "{sent:?} {received:?}");
        assert!(sent[0] == 0.0 || received[1] > 0.0, "{sent:?} {received:?}");
    }
}

#[test]
fn a_stranger_is_counted() {
    let cluster = Cluster::with_metrics(114);
    let Some(before) = cluster.metrics("a") else { return };
    assert_eq!(sample(&before, "takt_peers_refused_total", &[]), 0.0);
    let (there, here) = (format!("quic/{}:{PORT}", loopback(114)), format!("quic/{}:{PORT}", loopback(119)));
    assert!(certificates(&cluster.place, "other", "x", &here, &[there]).status.success());
    let listed = cluster.takt(&["node", "list", "--folder", "other/x"]);
    assert_eq!(listed.status.code(), Some(1), "{}", report(&listed));
    wait_for("a stranger that is counted", || {
        let metrics = cluster.metrics("a").expect("installed");
        (sample(&metrics, "takt_peers_refused_total", &[]) > 0.0).then_some(())
    });
}
