//! Fate of frames on a path: node by node, from the counters that a record has from before and after its round. The
//! ends are left out, since the workload reports them itself.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use takt_host::accounting::Usage;
use takt_path::model::Flow;
use takt_testbed::net::{HopCounters, Limit, NodeCounters};

use crate::store::{Record, RoundRow, RoundState};

/// Figures of a node between the ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeFigures {
    /// As in the topology.
    pub node: String,
    pub to_radio: WayFigures,
    pub to_host: WayFigures,
    /// Cores that its processes and kernel threads kept busy, the mean over rounds. `None`: it has none, and the process
    /// that sends to it does its work.
    pub cpu_cores: Option<f64>,
    /// How much of its CPU limit it used, the busier way; `None`: no limit.
    #[serde(default)]
    pub limit_used: Option<f64>,
}

/// Frames one way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WayFigures {
    /// Arrived at the node.
    pub in_frames: u64,
    /// Left it, copies included.
    pub out_frames: u64,
    /// Frames that the node dropped, by where: `chance`, `ring`, `queue`, `hop` (its own limit, not the model's),
    /// `interface`.
    pub lost: BTreeMap<String, u64>,
}

impl WayFigures {
    #[must_use]
    pub fn lost_frames(&self) -> u64 {
        self.lost.values().sum()
    }

    /// Share of what arrived, 0 to 1; 0 where nothing did.
    #[must_use]
    pub fn lost_share(&self) -> f64 {
        self.lost_frames() as f64 / self.in_frames.max(1) as f64
    }

    fn add(&mut self, other: &WayFigures) {
        self.in_frames += other.in_frames;
        self.out_frames += other.out_frames;
        for (place, frames) in &other.lost {
            *self.lost.entry(place.clone()).or_default() += frames;
        }
    }
}

/// Over the rounds that count, nodes from the host to the radio.
#[must_use]
pub fn by_node<'a>(rounds: impl Iterator<Item = &'a RoundRow>) -> Vec<NodeFigures> {
    let counted = rounds.filter(|round| round.state == RoundState::Valid).filter_map(|round| round.record.as_ref());
    let mut all: Vec<(NodeFigures, Vec<f64>, Vec<f64>)> = Vec::new();
    for node in counted.flat_map(of_round) {
        let place = all.iter().position(|(other, ..)| other.node == node.node).unwrap_or_else(|| {
            all.push((NodeFigures { node: node.node.clone(), ..NodeFigures::default() }, Vec::new(), Vec::new()));
            all.len() - 1
        });
        if let Some((sum, cores, limits)) = all.get_mut(place) {
            sum.to_radio.add(&node.to_radio);
            sum.to_host.add(&node.to_host);
            cores.extend(node.cpu_cores);
            limits.extend(node.limit_used);
        }
    }
    let finish = |(node, cores, limits): (NodeFigures, Vec<f64>, Vec<f64>)| NodeFigures {
        cpu_cores: mean(&cores),
        limit_used: mean(&limits),
        ..node
    };
    all.into_iter().map(finish).collect()
}

/// Mean of the values; `None` without one.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn read<T: DeserializeOwned + Default>(document: &Value, name: &str) -> T {
    document.get(name).and_then(|value| T::deserialize(value).ok()).unwrap_or_default()
}

#[must_use]
pub fn of_round(record: &Record) -> Vec<NodeFigures> {
    let nodes: [Vec<NodeCounters>; 2] = [read(&record.before, "nodes"), read(&record.after, "nodes")];
    let hops: [Vec<HopCounters>; 2] = [read(&record.before, "hops"), read(&record.after, "hops")];
    let usage = record.machine.get("usage").and_then(|usage| Usage::deserialize(usage).ok());
    let [before, after] = &nodes;
    let between = after.iter().skip(1).take(after.len().saturating_sub(2));
    let node = |node: &NodeCounters| {
        let hop = |hops: &[HopCounters]| hops.iter().find(|hop| hop.node == node.node).cloned();
        let earlier = before.iter().find(|other| other.node == node.node)?;
        let figures = match (hop(&hops[0]), hop(&hops[1])) {
            (Some(earlier), Some(hop)) => of_hop(&earlier, &hop),
            _ => of_kernel(earlier, node),
        };
        let cores = usage.as_ref().map(|usage| cores(node, usage)).unwrap_or_default();
        let share = (node.node == Limit::NODE).then(|| read::<Option<Limit>>(&record.in_force, "path_limit")).flatten();
        let busier = cores.iter().copied().reduce(f64::max);
        Some(NodeFigures {
            cpu_cores: busier.map(|_| cores.iter().sum()),
            limit_used: share.zip(busier).map(|(limit, cores)| cores / limit.share),
            ..figures
        })
    };
    between.filter_map(node).collect()
}

/// CPU use of each process and kernel thread of a node.
fn cores(node: &NodeCounters, usage: &Usage) -> Vec<f64> {
    let of = usage.companions.iter().filter(|process| node.pids.contains(&process.pid));
    of.map(|process| process.cpu_ns as f64 / usage.wall_ns.max(1) as f64).collect()
}

fn of_hop(earlier: &HopCounters, hop: &HopCounters) -> NodeFigures {
    let [forth, back] = hop.report.counters.flows;
    let [forth_0, back_0] = earlier.report.counters.flows;
    NodeFigures {
        node: hop.node.clone(),
        to_radio: of_flow(&forth_0, &forth),
        to_host: of_flow(&back_0, &back),
        ..NodeFigures::default()
    }
}

fn of_flow(earlier: &Flow, flow: &Flow) -> WayFigures {
    let since = |of: fn(&Flow) -> u64| of(flow).saturating_sub(of(earlier));
    let lost = [
        ("chance", since(|flow| flow.dropped_by_chance)),
        ("ring", since(|flow| flow.dropped_at_ring)),
        ("queue", since(|flow| flow.dropped_at_queue)),
        ("hop", since(|flow| flow.dropped_by_hop)),
    ];
    WayFigures {
        in_frames: since(|flow| flow.in_frames),
        out_frames: since(|flow| flow.out_frames),
        lost: places(lost),
    }
}

/// Those where something was dropped.
fn places<const N: usize>(lost: [(&str, u64); N]) -> BTreeMap<String, u64> {
    lost.into_iter().filter(|(_, frames)| *frames > 0).map(|(place, frames)| (place.to_owned(), frames)).collect()
}

/// A bridge or router of the kernel: frames come in by one of its two interfaces and leave by the other, whose queue has a
/// rate.
fn of_kernel(earlier: &NodeCounters, node: &NodeCounters) -> NodeFigures {
    let since = |interface: &str, of: fn(&takt_testbed::net::InterfaceCounters) -> u64| {
        let at = |node: &NodeCounters| node.interfaces.get(interface).map_or(0, of);
        at(node).saturating_sub(at(earlier))
    };
    let way = |enters: &str, leaves: &str| {
        let lost = [
            (
                "interface",
                since(enters, |counters| counters.counts.rx_dropped)
                    + since(leaves, |counters| counters.counts.tx_dropped),
            ),
            ("queue", since(leaves, |counters| counters.queue_dropped.unwrap_or(0))),
        ];
        WayFigures {
            in_frames: since(enters, |counters| counters.counts.rx_frames),
            out_frames: since(leaves, |counters| counters.counts.tx_frames),
            lost: places(lost),
        }
    };
    NodeFigures {
        node: node.node.clone(),
        to_radio: way("lan0", "wan0"),
        to_host: way("wan0", "lan0"),
        ..NodeFigures::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::store::testing;

    fn round(before: Value, after: Value, machine: Value) -> RoundRow {
        testing::round(0, Record { before, after, machine, ..Record::default() })
    }

    fn kernel(node: &str, frames: u64, dropped: u64) -> Value {
        let end = |rx: u64, tx: u64, queue: u64| json!({ "rx_frames": rx, "rx_dropped": 0, "tx_frames": tx, "tx_dropped": 0, "queue_dropped": queue });
        let pids: &[u32] = if node == "router" { &[7, 8] } else { &[] };
        json!({ "node": node, "pids": pids, "interfaces": { "lan0": end(frames, 7, 0), "wan0": end(7, frames - dropped, dropped) } })
    }

    fn hop(flow: &Flow) -> Value {
        let counters = takt_path::model::Counters { flows: [*flow, Flow::default()] };
        let report = takt_path::hop::Report { counters, ..takt_path::hop::Report::default() };
        json!(HopCounters { node: "hardware".into(), report })
    }

    /// A second in which two threads of the router used a tenth and a twentieth of a core.
    fn machine() -> Value {
        let snapshot = || takt_host::accounting::Snapshot::take().expect("/proc is there");
        let usage = snapshot().since(&snapshot());
        let thread = |pid, cpu_ns| takt_host::accounting::ProcessCpu { pid, cpu_ns, ..usage.process.clone() };
        let companions = vec![thread(7, 100_000_000), thread(8, 50_000_000), thread(9, 1_000_000_000)];
        json!({ "usage": Usage { wall_ns: 1_000_000_000, companions, ..usage.clone() } })
    }

    #[test]
    fn each_node_between_the_ends_has_what_it_lost_and_where() {
        let nodes = |n: u64| {
            json!([kernel("host", n, 0), kernel("hardware", n, 0), kernel("router", n, n / 10), kernel("radio", n, 0)])
        };
        let flow = |n: u64| Flow {
            in_frames: n,
            out_frames: n - 30,
            dropped_at_ring: 20,
            dropped_by_chance: 10,
            ..Flow::default()
        };
        let before =
            json!({ "nodes": nodes(100), "hops": [hop(&Flow { in_frames: 100, out_frames: 100, ..Flow::default() })] });
        let after = json!({ "nodes": nodes(1100), "hops": [hop(&flow(1100))] });
        let limited = |mut row: RoundRow| {
            let limit = Limit { share: 0.2, datagram_ns: None, passed_per_s: None };
            row.record.as_mut().unwrap().in_force = json!({ "path_limit": limit });
            row
        };
        let both = [round(before.clone(), after.clone(), machine()), limited(round(before, after, machine()))];
        let nodes = by_node(both.iter());
        assert_eq!(nodes.iter().map(|node| node.node.as_str()).collect::<Vec<_>>(), ["hardware", "router"]);
        let (hardware, router) = (&nodes[0], &nodes[1]);
        assert_eq!((hardware.to_radio.in_frames, hardware.to_radio.out_frames), (2000, 1940), "the sum of two rounds");
        assert_eq!(hardware.to_radio.lost, BTreeMap::from([("chance".to_owned(), 20), ("ring".to_owned(), 40)]));
        assert!((hardware.to_radio.lost_share() - 0.03).abs() < 1e-12);
        assert_eq!((hardware.cpu_cores, hardware.limit_used), (None, None), "no process of its own");
        assert_eq!(router.to_radio.lost, BTreeMap::from([("queue".to_owned(), 200)]));
        assert_eq!(router.to_host.lost_frames(), 0);
        let near = |value: Option<f64>, wanted: f64| value.is_some_and(|value| (value - wanted).abs() < 1e-9);
        assert!(near(router.cpu_cores, 0.15), "both ways: {router:?}");
        assert!(near(router.limit_used, 0.5), "of the busier way, where there is a limit: {router:?}");
    }

    #[test]
    fn a_record_of_an_earlier_version_has_no_nodes() {
        assert!(by_node([round(json!({}), json!({ "hops": [] }), Value::Null)].iter()).is_empty());
    }
}
