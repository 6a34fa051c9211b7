//! `waveform-two-nodes` and `longest-packet-two-nodes`, as workloads of experiments.

use std::time::Duration;

use serde_json::Value;
use takt_agent::Failure;
use takt_base::Stop;

use super::{NodesError, NodesOptions};
use crate::excluded::ExcludedSpans;
use crate::quantity::Quantity;
use crate::setting::{DURATION, Setting, Settings, Takes, UnknownLevel, settings, words};
use crate::waveform::workload::{LATENCY, PACKET, POLICY, SLOT, SLOTS, WAVEFORM, measured, named};
use crate::waveform::{Latency, Packet, Policy, Slots, WaveformOptions};
use crate::workload::{Facts, Lost, Peer, PointNeeds, PointWorkload, Target, Workload, read, write};

const CUT: Setting = Setting::new("cut", Takes::Domain(&LastOnFirst), "mapper")
    .about("what is on the first node: as the mapper says, or a chain up to the component named");

const SECOND: Setting = Setting::new("second_node", Takes::Word(&["native", "same"]), "native")
    .about("what the second node is: this machine's takt, or of the first one's environment, native or aarch64");

settings! {
    /// A point of `waveform-two-nodes`.
    struct NodesSettings {
        duration: Duration = DURATION,
        waveform: String = WAVEFORM,
        packet: Packet = PACKET,
        slot: Duration = SLOT,
        slots: Slots = SLOTS,
        latency: Latency = LATENCY,
        policy: Policy = POLICY,
        cut: Option<String> = CUT,
        second_node: SecondNode = SECOND,
    }
}

settings! {
    /// A point of `longest-packet-two-nodes`.
    struct LongestNodesSettings {
        duration: Duration = DURATION,
        waveform: String = WAVEFORM,
        slot: Duration = SLOT,
        latency: Latency = LATENCY,
        policy: Policy = POLICY,
        cut: Option<String> = CUT,
        second_node: SecondNode = SECOND,
    }
}

/// The environment of the second node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SecondNode {
    Native,
    /// In the first one's environment.
    Same,
}

words! {
    SecondNode: "native" => SecondNode::Native, "same" => SecondNode::Same;
}

impl SecondNode {
    fn needs(self) -> PointNeeds {
        PointNeeds { second_node_inside: self == SecondNode::Same, ..PointNeeds::default() }
    }
}

const QUANTITIES: &[Quantity] = &[
    Quantity::amount("misses", "/misses", "slots of components missed"),
    Quantity::amount("used_share", "/used_share", "of a slot, in 99.9 % of slots"),
    Quantity::amount("lateness_p99_9_ns", "/lateness/p99_9_ns", "edge to release"),
    Quantity::amount("throughput_bps", "/throughput_bps", "source bits"),
];
const LONGEST_QUANTITIES: &[Quantity] = &[
    Quantity::amount("items", "/items", "longest packet held"),
    Quantity::amount("throughput_bps", "/throughput_bps", "source bits"),
];

/// Time that the two nodes need to know each other.
const FACTS: Duration = Duration::from_secs(6);

pub(crate) struct OnTwoNodes;

impl Workload for OnTwoNodes {
    fn facts(&self) -> Facts {
        Facts::of(Peer::Node, NodesSettings::SETTINGS, QUANTITIES)
    }

    fn at(&self, settings: &Settings) -> Result<Box<dyn PointWorkload>, UnknownLevel> {
        Ok(Box::new(NodesSettings::read(settings)?))
    }

    fn run(&self, options: Value, stop: &Stop) -> Result<Value, Failure> {
        write(&super::run(&read("options of two nodes", options)?, stop).map_err(failed)?)
    }

    fn lost(&self, result: &Value, _: &ExcludedSpans) -> Option<Lost> {
        result.pointer("/miss_share")?.as_f64().map(Lost::own)
    }
}

pub(crate) struct LongestOnTwoNodes;

impl Workload for LongestOnTwoNodes {
    fn facts(&self) -> Facts {
        Facts::of(Peer::Node, LongestNodesSettings::SETTINGS, LONGEST_QUANTITIES)
    }

    fn at(&self, settings: &Settings) -> Result<Box<dyn PointWorkload>, UnknownLevel> {
        Ok(Box::new(LongestNodesSettings::read(settings)?))
    }

    fn run(&self, options: Value, stop: &Stop) -> Result<Value, Failure> {
        write(&super::longest(&read("options of two nodes", options)?, stop).map_err(failed)?)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` gives")]
fn failed(error: NodesError) -> Failure {
    Failure::of(&error, error.fix())
}

impl PointWorkload for NodesSettings {
    fn options(&self, target: &Target<'_>) -> Result<Value, Failure> {
        let waveform = WaveformOptions {
            packet: self.packet,
            slot: self.slot,
            duration: self.duration,
            slots: self.slots,
            latency: self.latency,
            policy: self.policy,
            ..on_two(&self.waveform)?
        };
        write(&across(target, self.cut.as_ref(), waveform))
    }

    fn about(&self) -> Duration {
        measured(self.duration, self.slot, self.slots) + FACTS
    }

    fn needs(&self) -> PointNeeds {
        self.second_node.needs()
    }
}

impl PointWorkload for LongestNodesSettings {
    fn options(&self, target: &Target<'_>) -> Result<Value, Failure> {
        let waveform = WaveformOptions {
            slot: self.slot,
            duration: self.duration,
            latency: self.latency,
            policy: self.policy,
            ..on_two(&self.waveform)?
        };
        write(&across(target, self.cut.as_ref(), waveform))
    }

    /// Some thirty trials of a quarter, and some confirmations, each with its agreement.
    fn about(&self) -> Duration {
        self.duration * 20 + self.slot * 5_000 + 2 * FACTS
    }

    fn needs(&self) -> PointNeeds {
        self.second_node.needs()
    }
}

/// The waveform by its name, without a warm-up and without a chain that is made up.
fn on_two(waveform: &str) -> Result<WaveformOptions, Failure> {
    Ok(WaveformOptions { components: 0, warm_up: Duration::ZERO, ..named(waveform)? })
}

fn across(target: &Target<'_>, last_on_first: Option<&String>, waveform: WaveformOptions) -> NodesOptions {
    NodesOptions { second: target.addr, cable_bps: target.cable_bps, last_on_first: last_on_first.cloned(), waveform }
}

#[derive(Debug)]
struct LastOnFirst;

impl crate::setting::Domain for LastOnFirst {
    fn shown(&self) -> String {
        "mapper | the last component on the first node".into()
    }

    fn accept(&self, value: &Value) -> Result<Value, String> {
        match value.as_str() {
            Some(name) if !name.is_empty() => Ok(value.clone()),
            _ => Err("give \"mapper\", or the name of a component".into()),
        }
    }
}
