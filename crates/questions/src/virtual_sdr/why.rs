//! Why a claim holds here or does not: sentences from what else the rounds measured.

use crate::check::CheckAnswer;
use takt_testbed::net::{PathName, PathSpec};

use crate::sweep::{Curve, FULL, Spot, SweepOutcome, all_above, all_below, at, surely_more, value};

/// Whether both would have filled the paper's wire, where they were measured without one.
pub(super) fn beyond_the_wire(outcome: &SweepOutcome) -> Option<String> {
    let (chart, native) = outcome.curve("link-sent", "native")?;
    let (_, container) = outcome.curve("link-sent", "container")?;
    let spot = native.measured().last()?;
    let (native, container) = (spot.figure.value?, container.at(spot.x)?.figure.value?);
    let wire = carried_bps(outcome.paper.number("wire_bps"), spot.x)?;
    let both = native.min(container) > wire;
    (native > wire).then(|| {
        let measured = if both { "both would fill it" } else { "native alone would fill it" };
        format!(
            "the paper's wire carries {:.0} Mb/s in datagrams of {}; here native sent {:.1} times as much, the container {:.1} \
             times: {measured}",
            wire * 1e-6,
            at(chart, spot.x),
            native / wire,
            container / wire
        )
    })
}

/// Why the container's share of native's throughput on the wire is one whatever it costs: at every size above `from_bytes` both
/// sent what the wire carries.
pub(super) fn both_fill_the_wire(outcome: &SweepOutcome, name: &str, from_bytes: f64) -> Option<String> {
    let (_, judged) = outcome.curve("wire-relative", name)?;
    let (_, native) = outcome.curve("wire-sent", "native")?;
    let (_, other) = outcome.curve("wire-sent", name)?;
    let full = |spot: &Spot| {
        let carried = carried_bps(outcome.paper.number("wire_bps"), spot.x)?;
        let sent = |of: &Curve| of.at(spot.x)?.figure.value;
        Some(sent(native)?.min(sent(other)?) >= outcome.paper.number("wire_full_share") * carried)
    };
    let mut large = judged.measured().filter(|spot| spot.x > from_bytes).peekable();
    (large.peek().is_some() && large.all(|spot| full(spot) == Some(true)))
        .then(|| format!("native and the {name} both fill the wire, so their ratio is the wire's"))
}

/// Payload that a wire of that rate carries in datagrams of one size, bits a second.
fn carried_bps(wire_bps: f64, payload_bytes: f64) -> Option<f64> {
    let wire = PathSpec { rate_bps: Some(wire_bps as u64), ..PathSpec::of(PathName::Switch) };
    Some(wire.ceiling_datagrams_per_s(payload_bytes as usize)? * payload_bytes * 8.0)
}

/// Cost of a datagram for the sender, where no wire is in the way.
pub(super) fn cost(outcome: &SweepOutcome) -> Option<String> {
    let chart = outcome.chart("cost-link")?;
    let busy = |name: &str| outcome.curve("busy-link", name)?.1.measured().last()?.figure.value;
    let of = |name: &'static str| Some((name, chart.curve(name)?.measured().last()?));
    let words = |(name, spot): (&str, &Spot)| format!("{name} {}", value(chart.measure, &spot.figure));
    let (native, container) = (of("native")?, of("container")?);
    let full = busy("native")?.min(busy("container")?) > FULL;
    let who = if full { ", which fills its core," } else { "" };
    let difference = match surely_more(&container.1.figure, &native.1.figure) {
        CheckAnswer::Holds => "bridge and second pair, which run in the sender's own system call, cost the difference",
        _ => "these rounds do not separate the two",
    };
    Some(format!(
        "why: a datagram of {}, sent or received, costs the host's end{who} {}, {}: {difference}",
        at(chart, native.1.x),
        words(native),
        words(container)
    ))
}

/// Whether the guest's CPU was the limit at its highest rate, and what the same work took the others.
pub(super) fn guest(outcome: &SweepOutcome, mode: &str) -> Option<String> {
    let (chart, vm) = outcome.curve(&format!("busy-{mode}"), "vm")?;
    let top = vm.measured().last()?;
    let share = |spot: &Spot| format!("{:.0} %", spot.figure.value.unwrap_or_default() * 100.0);
    let other = |name: &str| Some(format!(", {name}'s {}", share(chart.curve(name)?.at(top.x)?)));
    let others: String = ["native", "container"].into_iter().filter_map(other).collect();
    let cores = outcome.curve(&format!("guest-{mode}"), "vm").and_then(|(_, cores)| cores.at(top.x)?.figure.value);
    let cores = cores.map(|cores| format!("; its CPUs took {cores:.2} of this machine's cores")).unwrap_or_default();
    let limit = match (all_above([&top.figure], FULL), all_below([&top.figure], FULL)) {
        (CheckAnswer::Holds, _) => "was the limit",
        (_, CheckAnswer::Holds) => "was not full",
        _ => "may have been full",
    };
    let how = if outcome.accelerator() == Some("tcg") { ", translated by QEMU (tcg)," } else { "" };
    Some(format!(
        "why: the guest's CPU{how} {limit}: at {} its busiest thread used {} of one{others}{cores}",
        at(chart, top.x),
        share(top)
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::facts;
    use super::*;
    use crate::sweep::testing::{Points, chart, outcome, site};
    use crate::sweep::{Chart, Measure};

    fn sent(native: f64, container: f64) -> Chart {
        let of = |bps: f64| [bps, bps * 1.01];
        let curves: [Points<'_>; 2] =
            [("native", &[(1472.0, &of(native))]), ("container", &[(1472.0, &of(container))])];
        chart("link-sent", "payload_bytes", Measure::BitsPerS, &curves)
    }

    #[test]
    fn what_is_beyond_the_papers_wire_is_held_against_it() {
        let mut measured = outcome(&facts());
        measured.charts = vec![sent(2.8e9, 1.9e9)];
        let words = beyond_the_wire(&measured).expect("beyond");
        assert!(words.starts_with("the paper's wire carries 957 Mb/s in datagrams of 1472 B; here"), "{words}");
        assert!(
            words.ends_with("native sent 2.9 times as much, the container 2.0 times: both would fill it"),
            "{words}"
        );
        measured.charts = vec![sent(1.2e9, 0.5e9)];
        assert!(beyond_the_wire(&measured).is_some_and(|words| words.ends_with("native alone would fill it")));
        measured.charts = vec![sent(0.9e9, 0.5e9)];
        assert_eq!(beyond_the_wire(&measured), None, "the wire would change nothing");
    }

    #[test]
    fn a_datagrams_cost_is_stated_and_whether_the_processor_was_full() {
        let mut measured = outcome(&facts());
        let of = |id: &str, measure, native: f64, container: f64| {
            let curves: [Points<'_>; 2] =
                [("native", &[(512.0, &[native, native])]), ("container", &[(512.0, &[container, container])])];
            chart(id, "payload_bytes", measure, &curves)
        };
        let cost_link = of("cost-link", Measure::Seconds, 2.1e-6, 3.1e-6);
        measured.evidence = vec![cost_link.clone(), of("busy-link", Measure::Share, 1.0, 0.99)];
        let words = cost(&measured).expect("measured");
        assert!(
            words.contains("512 B, sent or received, costs the host's end, which fills its core, native 2.1"),
            "{words}"
        );
        measured.evidence = vec![cost_link, of("busy-link", Measure::Share, 0.4, 0.99)];
        assert!(
            cost(&measured)
                .is_some_and(|words| !words.contains("fills its core") && words.ends_with("cost the difference"))
        );
        measured.evidence =
            vec![of("cost-link", Measure::Seconds, 2e-6, 2e-6), of("busy-link", Measure::Share, 1.0, 1.0)];
        assert!(cost(&measured).is_some_and(|words| words.ends_with("do not separate the two")));
        assert_eq!(cost(&outcome(&facts())), None, "a run without these figures");
    }

    #[test]
    fn a_guest_whose_processor_was_full_is_told_from_one_that_had_room() {
        let mut measured = outcome(&facts());
        let busy = |vm: f64| {
            let curves: [Points<'_>; 2] =
                [("native", &[(25e6, &[0.07, 0.07])]), ("vm", &[(5e6, &[0.3, 0.3]), (25e6, &[vm, vm])])];
            chart("busy-rx", "rate_sps", Measure::Share, &curves)
        };
        let guest_cores: Points<'_> = ("vm", &[(25e6, &[1.3, 1.3])]);
        measured.sites = vec![site("vm", "veth", json!({ "accelerator": "tcg" }))];
        measured.evidence = vec![busy(0.96), chart("guest-rx", "rate_sps", Measure::Cores, &[guest_cores])];
        assert_eq!(
            guest(&measured, "rx").as_deref(),
            Some(
                "why: the guest's CPU, translated by QEMU (tcg), was the limit: at 25 MS/s its busiest thread used 96 % of \
                 one, native's 7 %; its CPUs took 1.30 of this machine's cores"
            )
        );
        measured.sites = vec![site("vm", "veth", json!({ "accelerator": "kvm" }))];
        measured.evidence = vec![busy(0.5)];
        let words = guest(&measured, "rx").expect("measured");
        assert!(words.starts_with("why: the guest's CPU was not full: at 25 MS/s"), "{words}");
        let wide: Points<'_> = ("vm", &[(25e6, &[0.5, 1.0])]);
        measured.evidence = vec![chart("busy-rx", "rate_sps", Measure::Share, &[wide])];
        assert!(
            guest(&measured, "rx").is_some_and(|words| words.starts_with("why: the guest's CPU may have been full"))
        );
        assert_eq!(guest(&measured, "tx"), None, "not measured");
    }
}
