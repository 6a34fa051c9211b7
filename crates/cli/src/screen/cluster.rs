//! Screens of `takt node list` and `takt run --cluster`.

use takt_base::shown::{count, scaled, time_ns};
use takt_base::words::plural;
use takt_cluster::clock::SlotClock;
use takt_cluster::manager::{Ended, Loss, NodeEnd};
use takt_cluster::message::{AgentFacts, EngineFacts, NodeFacts, Order, RadioFacts, RunFacts, TenantFacts};

use takt_page::screen::{known, table};
use takt_page::{ReportAnswer, Screen};

/// The nodes that are there.
pub fn nodes(nodes: &[NodeFacts]) -> Screen {
    let row = |node: &NodeFacts| {
        let list = |cores: &[u32]| cores.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        let run = |run: &RunFacts| {
            let watched = if run.watched { "" } else { ", not watched" };
            format!("{} ({} of {}, slot {}{watched})", run.run, run.waveform, run.tenant, count(run.slot))
        };
        let agent = |agent: &AgentFacts| format!("agent of {} on {}", agent.tenant, list(&agent.cores));
        let runs = node.runs.iter().map(run).chain(node.agents.iter().map(agent));
        vec![
            node.node.clone(),
            list(&node.cores),
            list(&node.busy),
            node.class.clone(),
            node.tenants.iter().filter(|facts| facts.has.cores > 0).map(tenant).collect::<Vec<_>>().join(", "),
            runs.collect::<Vec<_>>().join(", "),
        ]
    };
    let headline = match nodes.len() {
        0 => "No node answers.".to_owned(),
        one_or_more => {
            format!("{} {}.", plural(one_or_more, "node"), if one_or_more == 1 { "answers" } else { "answer" })
        }
    };
    let tables = if nodes.is_empty() {
        Vec::new()
    } else {
        let radios = |node: &NodeFacts| node.radios.iter().map(|one| radio(&node.node, one)).collect::<Vec<_>>();
        vec![
            table("node", &["cores", "busy"], &["class", "cores of tenants", "runs"], nodes.iter().map(row)),
            table("node", &[], &["engines"], nodes.iter().map(engines)),
            table("radio", &[], &["node", "is", "serial", "rates"], nodes.iter().flat_map(radios)),
        ]
    };
    Screen { answer: Some(answer(!nodes.is_empty())), headline, tables, ..Screen::default() }
}

/// A tenant's use of a node, of what it may have.
fn tenant(facts: &TenantFacts) -> String {
    let most = facts.quota.cores.map(|cores| format!(" of {cores}")).unwrap_or_default();
    format!("{} {}{most}", facts.tenant, facts.has.cores)
}

/// The packet engines of a node: those that open, and the chosen one if that was not tried.
fn engines(node: &NodeFacts) -> Vec<String> {
    let one = |facts: &EngineFacts| match facts.opens {
        Some(true) => Some(facts.engine.clone()),
        Some(false) => None,
        None => Some(format!("{} (not tried)", facts.engine)),
    };
    let names: Vec<String> = node.engines.iter().filter_map(one).collect();
    vec![node.node.clone(), known(Some(names).filter(|names| !names.is_empty()), |names| names.join(", "))]
}

/// A radio that a node was told of.
fn radio(node: &str, radio: &RadioFacts) -> Vec<String> {
    let is = match (&radio.model, &radio.why) {
        (Some(model), _) if radio.software => format!("{model} (software)"),
        (Some(model), _) => model.clone(),
        (None, Some(why)) => format!("can't be used: {why}"),
        (None, None) => "does not answer".to_owned(),
    };
    let rates = |[lowest, highest]: [f64; 2]| format!("{} to {}", scaled(lowest, "S/s"), scaled(highest, "S/s"));
    let serial = known(radio.serial.clone(), |serial| serial);
    vec![radio.addr.to_string(), node.to_owned(), is, serial, known(radio.rates_sps, rates)]
}

/// The run that is about to begin, and its nodes.
#[must_use]
pub fn opening(order: &Order, waveform: &str, slot_ns: u64) -> String {
    let mut lines = vec![format!(
        "{waveform}: run {}, slots of {}, {} between nodes",
        order.run,
        time_ns(slot_ns),
        plural(order.hop_slots, "slot")
    )];
    for worker in &order.workers {
        let does = if worker.components.is_empty() { "spare".to_owned() } else { worker.components.join(" ") };
        lines.push(format!("  {}:{}  {does}", worker.node, worker.cpu));
    }
    lines.join("\n")
}

/// A node was lost, and what became of what it did.
#[must_use]
pub fn loss(loss: &Loss, slot_ns: u64) -> String {
    let known = format!("node {} in slot {}: {}", loss.node, count(loss.known_in_slot), loss.why);
    let lost = loss.state_lost.join(", ");
    let Some(resumed) = loss.resumed_in_slot else {
        return format!("{known}; the run was about to end, so no node took over {lost}");
    };
    let slots = resumed.saturating_sub(loss.known_in_slot);
    format!(
        "{known}; other nodes restarted {lost} in slot {}, {} later",
        count(resumed),
        time_ns(slots.saturating_mul(slot_ns)),
    )
}

/// The end of a run.
pub fn ended(ended: &Ended, slot_ns: u64) -> Screen {
    let row = |(name, node): (&String, &NodeEnd)| {
        let figure = |key: &str| node.report.get(key).and_then(serde_json::Value::as_u64);
        let lost: u64 = bridged(node, "lost_slots");
        vec![
            name.clone(),
            known(figure("slots"), count),
            known(figure("misses"), count),
            count(lost),
            count(bridged(node, "late_slots")),
            known(release_p99(node), time_ns),
            offset(node),
        ]
    };
    let headline = match (ended.is_clean(), ended.misses) {
        (true, _) => format!("no slot of {} was missed on any node.", count(ended.slots)),
        (false, misses) => {
            format!("{} missed or late in {}.", plural(misses, "execution"), plural(ended.slots, "slot"))
        }
    };
    let broke = ended
        .nodes
        .iter()
        .filter_map(|(name, node)| Some(("broken", format!("bridges of {name}: {}", node.bridges_broke.as_ref()?))));
    let hash = ended.output_hash.iter().map(|hash| ("output", hash.clone()));
    let losses = ended.losses.iter().map(|one| ("lost", loss(one, slot_ns)));
    let cut_off = ended.nodes.iter().filter(|(_, node)| node.cut_off);
    let cut_off = cut_off.map(|(name, _)| ("lost", format!("node {name} was cut off before the end")));
    let clock = std::iter::once(("clock", clock(ended)));
    let warnings = ended.warnings.iter().map(|warning| ("warning", warning.clone()));
    Screen {
        answer: Some(answer(ended.is_clean())),
        headline,
        tables: vec![table(
            "node",
            &["slots", "missed", "lost on the way", "of these late", "release p99", "clock"],
            &[],
            ended.nodes.iter().map(row),
        )],
        lines: losses.chain(cut_off).chain(broke).chain(warnings).chain(clock).chain(hash).collect(),
        ..Screen::default()
    }
}

/// How far a node's clock is off, and how fast that changes.
fn offset(node: &NodeEnd) -> String {
    let offset = format!("{} ns ± {}", node.offset_ns, time_ns(node.offset_bound_ns));
    let Some(drift) = node.clock.own.and_then(|own| own.drift) else { return offset };
    let ppm = |ppb: f64| ppb / 1e3;
    let (drift_ppm, bound_ppm) = (ppm(drift.drift_ppb.into()), ppm(drift.drift_bound_ppb.into()));
    format!("{offset}, drift {drift_ppm} ppm, at most {bound_ppm} off")
}

/// Clock by which slots began, at the end.
fn clock(ended: &Ended) -> String {
    let by_ptp = ended.nodes.values().filter(|node| node.clock.source == SlotClock::Ptp).count();
    let ptp = ended.nodes.values().find_map(|node| node.clock.ptp.as_ref());
    match ptp {
        None => format!("slots begin by the clock of {}", ended.reference),
        Some(ptp) => format!(
            "slots begin by PTP, grandmaster {}, on {by_ptp} of {}",
            ptp.grandmaster,
            plural(ended.nodes.len(), "node")
        ),
    }
}

fn answer(good: bool) -> ReportAnswer {
    if good { ReportAnswer::Yes } else { ReportAnswer::No }
}

/// Sum of a result over what the node received from others.
fn bridged(node: &NodeEnd, key: &str) -> u64 {
    let components = node.report.get("components").and_then(serde_json::Value::as_array);
    let value = |component: &serde_json::Value| component.get("results")?.get(key)?.as_u64();
    components.into_iter().flatten().filter_map(value).sum()
}

fn release_p99(node: &NodeEnd) -> Option<u64> {
    node.report.get("lateness")?.get("p99_ns")?.as_u64()
}

#[cfg(test)]
mod tests {
    use takt_cluster::clock::{ClockFacts, DriftFacts, OffsetFacts, OwnFacts};

    use super::*;

    #[test]
    fn a_drift_stands_beside_the_offset_once_it_is_known() {
        let (offset_ns, offset_bound_ns) = (-7_000, 35_000);
        let with = |drift| {
            let own = OwnFacts { offset: OffsetFacts { offset_ns, offset_bound_ns }, drift };
            let clock = ClockFacts { own: Some(own), ..ClockFacts::default() };
            let report = serde_json::Value::Null;
            offset(&NodeEnd { offset_ns, offset_bound_ns, clock, bridges_broke: None, cut_off: false, report })
        };
        assert_eq!(with(None), "-7000 ns ± 35 µs");
        let known = DriftFacts { drift_ppb: -12_300, drift_bound_ppb: 4_112 };
        assert_eq!(with(Some(known)), "-7000 ns ± 35 µs, drift -12.3 ppm, at most 4.112 off");
    }
}
