//! The study `routers`: can a software router keep up with a hardware one?
//!
//! The paper's scenario I is `switch`, II `router`, III `router-small`, IV `router-hw`; `xdp-router` is takt's own. One part
//! of `experiments/routers.toml` has all figures: 2 and 3 throughput and datagrams a second, 4 jitter as boxes over rounds,
//! 5 loss, 6 CPU.

use super::sweep::{
    Chart, ChartPlan, Compared, Curve, Facts, Judged, Measure, Outcome, Spot, Study, at, cpu_cores, from_host,
    limited_felt, limited_used, list, value,
};
use crate::check::Answer;
use crate::paper::Figure;

pub(super) const STUDY: Study = Study {
    name: "routers",
    facts,
    charts: &CHARTS,
    evidence: &EVIDENCE,
    judge,
    does_not_say: &[
        "the paper's routers are machines of their own; here they share this machine's cores with sender and receiver",
        "the hardware router is a model: a rate, a buffer and a cost for each datagram, fitted to the paper's device",
        "xdp-router runs its programs in the kernel's generic mode: in that of the driver, tried on veth, every datagram arrives \
         without its checksum and is thrown away",
    ],
};

/// The facts that come with the program.
///
/// # Panics
/// Never: a test reads the same text.
fn facts() -> Facts {
    toml::from_str(include_str!("../../../../experiments/papers/routers.toml")).expect("tested to be right")
}

const BASE: ChartPlan = ChartPlan {
    id: "",
    number: "",
    part: "routers",
    x: "payload_bytes",
    by: "path",
    only: None,
    measure: Measure::BitsPerS,
    read: |_| None,
    over: None,
    boxes: false,
};

const CHARTS: [ChartPlan; 6] = [
    ChartPlan { id: "throughput", number: "2", read: |r| from_host(r, "/throughput_bps"), ..BASE },
    ChartPlan {
        id: "relative",
        number: "2",
        measure: Measure::Times,
        read: |r| from_host(r, "/throughput_bps"),
        over: Some("switch"),
        ..BASE
    },
    ChartPlan {
        id: "datagrams",
        number: "3",
        measure: Measure::DatagramsPerS,
        read: |r| from_host(r, "/datagrams_per_s"),
        ..BASE
    },
    ChartPlan {
        id: "jitter",
        number: "4",
        measure: Measure::Seconds,
        read: |r| Some(from_host(r, "/jitter_us")? * 1e-6),
        boxes: true,
        ..BASE
    },
    ChartPlan { id: "lost", number: "5", measure: Measure::Share, read: |r| from_host(r, "/lost/share"), ..BASE },
    ChartPlan { id: "cpu", number: "6", measure: Measure::Cores, read: cpu_cores, ..BASE },
];

/// What the processor limit of `router-small` did, and what is left of its losses with a whole core.
const EVIDENCE: [(&str, ChartPlan); 4] = [
    (
        "Cores that the node with a limit used when it wanted to run",
        ChartPlan { id: "limited-used", measure: Measure::Cores, read: limited_used, ..BASE },
    ),
    (
        "Share of the limit's periods in which it was used up, and the node had to wait",
        ChartPlan { id: "limited-felt", measure: Measure::Share, read: limited_felt, ..BASE },
    ),
    (
        "Throughput with a whole core in place of the limit",
        ChartPlan { id: "whole-core", part: "whole-core", read: |r| from_host(r, "/throughput_bps"), ..BASE },
    ),
    (
        "Datagrams lost with a whole core in place of the limit",
        ChartPlan {
            id: "whole-core-lost",
            part: "whole-core",
            measure: Measure::Share,
            read: |r| from_host(r, "/lost/share"),
            ..BASE
        },
    ),
];

fn judge(number: u32, outcome: &Outcome) -> Judged {
    let paper = &outcome.paper;
    let near = paper.number("near_within");
    match number {
        1 => relative(outcome, &["router", "router-small", "router-hw", "xdp-router"], |what, figure| {
            Compared::below(what, Measure::Times, figure, 1.0 + near)
        }),
        2 => relative(outcome, &["router"], |what, figure| Compared::above(what, Measure::Times, figure, 1.0 - near)),
        3 => relative(outcome, &["router-small"], |what, figure| {
            Compared::above(what, Measure::Times, figure, 1.0 - near)
        })
        .because(small_limit(outcome))
        .because(whole_core(outcome)),
        4 => only_hardware_loses(outcome, paper.number("loss_noticeable_share"))
            .because(small_limit(outcome))
            .because(whole_core_lost(outcome)),
        5 => smallest_most(outcome),
        6 => jitter(outcome),
        7 => small_cost_more(outcome),
        _ => Judged::new(Answer::Unknown, "nothing judges this claim"),
    }
}

fn relative(outcome: &Outcome, names: &[&str], compared: impl Fn(String, &Figure) -> Compared) -> Judged {
    let curves: Vec<(&Chart, &Curve)> = names.iter().filter_map(|name| outcome.curve("relative", name)).collect();
    let [(chart, _), ..] = curves.as_slice() else { return Judged::not_run(&names.join(", ")) };
    let each = |curve: &Curve| -> Vec<Compared> {
        let of = |spot: &Spot| compared(format!("{} at {}", curve.name, at(chart, spot.x)), &spot.figure);
        curve.measured().map(of).collect()
    };
    let comparisons: Vec<Compared> = curves.iter().flat_map(|(_, curve)| each(curve)).collect();
    let told = curves.iter().map(|(_, curve)| format!("{}: {}", curve.name, list(chart, curve.measured())));
    let seen = format!("throughput over the switch's: {}", told.collect::<Vec<_>>().join("; "));
    Judged::by(&comparisons, &names.join(", "), vec![seen])
}

/// What the limit of `router-small` was, and how it was felt at the size where it was felt most.
fn small_limit(outcome: &Outcome) -> Option<String> {
    let (chart, felt) = outcome.curve("limited-felt", "router-small")?;
    let worst = felt.measured().max_by(|a, b| size(a).total_cmp(&size(b)))?;
    let (used_chart, used) = outcome.curve("limited-used", "router-small")?;
    let limit = outcome.sites.iter().filter(|site| site.path == "router-small");
    let limit = limit.filter_map(|site| site.in_force.pointer("/path_spec/cpu_share")?.as_f64()).reduce(f64::min)?;
    Some(format!(
        "why: router-small may use {limit} of a core; at {} it used {} when it wanted to run, and had to wait in {:.0} % of the limit's \
         periods",
        at(chart, worst.x),
        used.at(worst.x).map(|spot| value(used_chart.measure, &spot.figure)).unwrap_or_default(),
        worst.figure.value? * 100.0,
    ))
}

/// The same sizes without the limit, over the switch's.
fn whole_core(outcome: &Outcome) -> Option<String> {
    let (chart, whole) = outcome.curve("whole-core", "router-small")?;
    let (_, switch) = outcome.curve("throughput", "switch")?;
    let share = |spot: &Spot| Some((spot.x, spot.figure.value? / switch.at(spot.x)?.figure.value?));
    let told = whole.measured().filter_map(share).map(|(x, share)| format!("{share:.2} at {}", at(chart, x)));
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| format!("with a whole core it has {} of the switch's throughput", told.join(", ")))
}

fn whole_core_lost(outcome: &Outcome) -> Option<String> {
    let (chart, whole) = outcome.curve("whole-core-lost", "router-small")?;
    Some(format!("with a whole core it loses {}", list(chart, whole.measured())))
}

/// A value that is missing sorts first.
fn size(spot: &Spot) -> f64 {
    spot.figure.value.unwrap_or(f64::NEG_INFINITY)
}

fn only_hardware_loses(outcome: &Outcome, noticeable: f64) -> Judged {
    let Some((chart, hardware)) = outcome.curve("lost", "router-hw") else { return Judged::not_run("router-hw") };
    let worst = |curve: &Curve| curve.measured().max_by(|a, b| size(a).total_cmp(&size(b))).cloned();
    let others = ["switch", "router", "router-small"].iter().filter_map(|name| chart.curve(name));
    let (mut comparisons, mut told) = (Vec::new(), Vec::new());
    for curve in [hardware].into_iter().chain(others) {
        let Some(spot) = worst(curve) else { continue };
        let what = format!("{} at {}", curve.name, at(chart, spot.x));
        told.push(format!("{} {} at {}", curve.name, value(chart.measure, &spot.figure), at(chart, spot.x)));
        comparisons.push(match curve.name.as_str() {
            "router-hw" => Compared::above(what, chart.measure, &spot.figure, noticeable),
            _ => Compared::below(what, chart.measure, &spot.figure, noticeable),
        });
    }
    Judged::by(&comparisons, "router-hw", vec![format!("lost at most: {}", told.join("; "))])
}

fn smallest_most(outcome: &Outcome) -> Judged {
    let Some((chart, hardware)) = outcome.curve("lost", "router-hw") else { return Judged::not_run("router-hw") };
    smallest_more(chart, hardware, "router-hw", "")
}

/// Whether the smallest datagrams have more of what a chart shows than the largest.
fn smallest_more(chart: &Chart, curve: &Curve, what: &str, lead: &str) -> Judged {
    let mut spots = curve.measured();
    let (Some(small), Some(large)) = (spots.next(), spots.last()) else {
        return Judged::not_run(&format!("{what} at two sizes"));
    };
    let both = format!("{what} at {} and {}", at(chart, small.x), at(chart, large.x));
    let compared = Compared::more(both, chart.measure, &small.figure, &large.figure);
    Judged::by(&[compared], what, vec![format!("{lead}{}", list(chart, [small, large]))])
}

fn jitter(outcome: &Outcome) -> Judged {
    let Some((chart, hardware)) = outcome.curve("jitter", "router-hw") else { return Judged::not_run("router-hw") };
    let (mut comparisons, mut seen) = (Vec::new(), Vec::new());
    for spot in hardware.measured() {
        let at_size = at(chart, spot.x);
        let mut told = vec![format!("at {at_size} {}", value(chart.measure, &spot.figure))];
        for name in ["switch", "router", "router-small"] {
            let Some(other) = chart.curve(name).and_then(|curve| curve.at(spot.x)) else { continue };
            let what = format!("router-hw and {name} at {at_size}");
            comparisons.push(Compared::more(what, chart.measure, &spot.figure, &other.figure));
            told.push(format!("{name} {}", value(chart.measure, &other.figure)));
        }
        seen.push(told.join(", "));
    }
    Judged::by(&comparisons, "router-hw", seen)
}

/// On the switch, where nothing but the ends works: at a stated rate of bits, small datagrams are more datagrams.
fn small_cost_more(outcome: &Outcome) -> Judged {
    let Some((chart, switch)) = outcome.curve("cpu", "switch") else { return Judged::not_run("the switch") };
    smallest_more(chart, switch, "the switch", "on the switch ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::paper::sweep::testing::{Points, chart, outcome, site};

    #[test]
    fn every_chart_and_claim_is_a_figure_of_the_paper() {
        let facts = facts();
        let known = |number: &str| facts.figures.iter().any(|figure| figure.number == number);
        assert!(CHARTS.iter().all(|plan| known(plan.number)));
        assert!(facts.claims.iter().all(|claim| claim.figures.iter().all(|number| known(number))));
        assert!(["near_within", "loss_noticeable_share"].iter().all(|name| facts.number(name).is_finite()));
    }

    #[test]
    fn a_router_that_feels_its_limit_says_so_and_what_a_whole_core_does() {
        let mut seen = outcome(&facts());
        let small = |id: &str, measure, small: f64| {
            let curves: [Points<'_>; 1] = [("router-small", &[(128.0, &[small, small]), (1280.0, &[0.0, 0.0])])];
            chart(id, "payload_bytes", measure, &curves)
        };
        let switch: Points<'_> = ("switch", &[(128.0, &[66e6, 66e6]), (1280.0, &[94e6, 94e6])]);
        seen.sites = vec![
            site("native", "router-small", json!({ "path_spec": { "cpu_share": 0.25 } })),
            site("native", "router-small", json!({ "path_spec": { "cpu_share": 1.0 } })),
        ];
        seen.charts = vec![chart("throughput", "payload_bytes", Measure::BitsPerS, &[switch])];
        seen.evidence = vec![
            small("limited-felt", Measure::Share, 0.87),
            small("limited-used", Measure::Cores, 0.23),
            small("whole-core", Measure::BitsPerS, 33e6),
            small("whole-core-lost", Measure::Share, 0.5),
        ];
        assert_eq!(
            small_limit(&seen).as_deref(),
            Some(
                "why: router-small may use 0.25 of a core; at 128 B it used 0.23 [0.23, 0.23] cores when it wanted to run, and \
                 had to wait in 87 % of the limit's periods"
            )
        );
        let whole = whole_core(&seen).expect("measured");
        assert_eq!(whole, "with a whole core it has 0.50 at 128 B, 0.00 at 1280 B of the switch's throughput");
        assert!(whole_core_lost(&seen).is_some_and(|told| told.starts_with("with a whole core it loses 50.00")));
        let without = outcome(&facts());
        assert_eq!((small_limit(&without), whole_core(&without), whole_core_lost(&without)), (None, None, None));
    }
}
