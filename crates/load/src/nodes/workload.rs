//! `waveform-two-nodes` and `longest-packet-two-nodes`, as workloads of experiments.

use std::time::Duration;

use serde_json::Value;
use takt_agent::Failure;
use takt_base::{Stop, parse_number};

use super::{NodesError, NodesOptions};
use crate::excluded::ExcludedSpans;
use crate::quantity::Quantity;
use crate::setting::{DURATION, Setting, Settings, Takes};
use crate::waveform::WaveformOptions;
use crate::waveform::workload::{LATENCY, PACKET, POLICY, SLOT, SLOTS, WAVEFORM, options};
use crate::workload::{Facts, Lost, Peer, Target, Workload, read, write};

const CUT: Setting = Setting::new("cut", Takes::Domain(&LastOnFirst), "mapper")
    .about("what is on the first node: as the mapper says, or a chain up to the component named");

const SECOND: Setting = Setting::new("second_node", Takes::Word(&["native", "same"]), "native")
    .about("what the second node is: this machine's takt, or of the first one's environment, native or aarch64");

const SETTINGS: &[Setting] = &[DURATION, WAVEFORM, PACKET, SLOT, SLOTS, LATENCY, POLICY, CUT, SECOND];
const LONGEST_SETTINGS: &[Setting] = &[DURATION, WAVEFORM, SLOT, LATENCY, POLICY, CUT, SECOND];

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
        Facts { peer: Peer::Node, settings: SETTINGS, quantities: QUANTITIES }
    }

    fn options(&self, settings: &Settings, target: &Target<'_>) -> Result<Value, Failure> {
        write(&of(settings, target)?)
    }

    fn about(&self, settings: &Settings) -> Duration {
        let slots = settings.number("slots").unwrap_or(0.0);
        settings.span("duration").max(settings.span("slot").mul_f64(slots)) + FACTS
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
        Facts { peer: Peer::Node, settings: LONGEST_SETTINGS, quantities: LONGEST_QUANTITIES }
    }

    fn options(&self, settings: &Settings, target: &Target<'_>) -> Result<Value, Failure> {
        write(&of(settings, target)?)
    }

    /// Some thirty trials of a quarter, and some confirmations, each with its agreement.
    fn about(&self, settings: &Settings) -> Duration {
        settings.span("duration") * 20 + settings.span("slot") * 5_000 + 2 * FACTS
    }

    fn run(&self, options: Value, stop: &Stop) -> Result<Value, Failure> {
        write(&super::longest(&read("options of two nodes", options)?, stop).map_err(failed)?)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "what `map_err` gives")]
fn failed(error: NodesError) -> Failure {
    Failure::of(&error, error.fix())
}

fn of(settings: &Settings, target: &Target<'_>) -> Result<NodesOptions, Failure> {
    let cable_bps = settings.number("path_rate").or_else(|| parse_number(settings.word("path_rate")).ok());
    let last_on_first = Some(settings.word("cut")).filter(|cut| *cut != "mapper").map(str::to_owned);
    let waveform = WaveformOptions { workers: 1, hash: false, ..options(settings)? };
    Ok(NodesOptions { second: target.addr, cable_bps, last_on_first, waveform })
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
            _ => Err("\"mapper\", or the name of a component".into()),
        }
    }
}
