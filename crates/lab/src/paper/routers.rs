//! The study `routers`: can a software router keep up with a hardware one?
//!
//! The paper's scenario I is `switch`, II `router`, III `router-small`, IV `router-hw`; `xdp-router` is takt's own. One part
//! of `experiments/routers.toml` has all figures: 2 and 3 throughput and datagrams a second, 4 jitter as boxes over rounds,
//! 5 loss, 6 CPU.

use super::sweep::{
    Chart, ChartPlan, Curve, Facts, Judged, Measure, Outcome, Spot, Study, all_above, all_below, at, cpu_cores,
    from_host, surely_more, value,
};
use crate::check::Answer;

pub(super) const STUDY: Study = Study {
    name: "routers",
    facts,
    charts: &CHARTS,
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

fn judge(number: u32, outcome: &Outcome) -> Judged {
    let paper = &outcome.paper;
    let near = paper.number("near_within");
    match number {
        1 => {
            relative(outcome, &["router", "router-small", "router-hw", "xdp-router"], |all| all_below(all, 1.0 + near))
        }
        2 => relative(outcome, &["router"], |all| all_above(all, 1.0 - near)),
        3 => relative(outcome, &["router-small"], |all| all_above(all, 1.0 - near)),
        4 => only_hardware_loses(outcome, paper.number("loss_noticeable_share")),
        5 => smallest_most(outcome),
        6 => jitter(outcome),
        7 => small_cost_more(outcome),
        _ => Judged::new(Answer::Unknown, "nothing judges this claim"),
    }
}

fn curve<'a>(outcome: &'a Outcome, chart: &str, name: &str) -> Option<(&'a Chart, &'a Curve)> {
    let chart = outcome.chart(chart)?;
    let curve = chart.curve(name)?;
    curve.measured().next().map(|_| (chart, curve))
}

fn relative(outcome: &Outcome, names: &[&str], judge: impl Fn(Vec<&crate::paper::Figure>) -> Answer) -> Judged {
    let curves: Vec<(&Chart, &Curve)> = names.iter().filter_map(|name| curve(outcome, "relative", name)).collect();
    let [(chart, _), ..] = curves.as_slice() else { return Judged::not_run(&names.join(", ")) };
    let figures = curves.iter().flat_map(|(_, curve)| curve.measured().map(|spot| &spot.figure)).collect();
    let told = curves.iter().map(|(_, curve)| {
        let spots: Vec<String> = curve
            .measured()
            .map(|spot| format!("{} at {}", value(chart.measure, &spot.figure), at(chart, spot.x)))
            .collect();
        format!("{}: {}", curve.name, spots.join(", "))
    });
    Judged::new(judge(figures), format!("throughput over the switch's: {}", told.collect::<Vec<_>>().join("; ")))
}

/// A value that is missing sorts first.
fn size(spot: &Spot) -> f64 {
    spot.figure.value.unwrap_or(f64::NEG_INFINITY)
}

fn only_hardware_loses(outcome: &Outcome, noticeable: f64) -> Judged {
    let Some((chart, hardware)) = curve(outcome, "lost", "router-hw") else { return Judged::not_run("router-hw") };
    let most = |curve: &Curve| {
        let worst = curve.measured().max_by(|a, b| size(a).total_cmp(&size(b)));
        worst.map(|spot| {
            (spot.clone(), format!("{} {} at {}", curve.name, value(chart.measure, &spot.figure), at(chart, spot.x)))
        })
    };
    let others =
        chart.curves.iter().filter(|curve| matches!(curve.name.as_str(), "switch" | "router" | "router-small"));
    let others: Vec<(Spot, String)> = others.filter_map(most).collect();
    let Some((worst, told)) = most(hardware) else { return Judged::not_run("router-hw") };
    let answers =
        [all_above([&worst.figure], noticeable), all_below(others.iter().map(|(spot, _)| &spot.figure), noticeable)];
    let answer = match answers {
        [Answer::Holds, Answer::Holds] => Answer::Holds,
        [Answer::Fails, _] | [_, Answer::Fails] => Answer::Fails,
        _ => Answer::Unknown,
    };
    let told: Vec<String> = std::iter::once(told).chain(others.into_iter().map(|(_, told)| told)).collect();
    Judged::new(answer, format!("lost at most: {}", told.join("; ")))
}

fn smallest_most(outcome: &Outcome) -> Judged {
    let Some((chart, hardware)) = curve(outcome, "lost", "router-hw") else { return Judged::not_run("router-hw") };
    let mut spots = hardware.measured();
    let (Some(small), Some(large)) = (spots.next(), spots.last()) else {
        return Judged::not_run("router-hw at two sizes");
    };
    let told = |spot: &Spot| format!("{} at {}", value(chart.measure, &spot.figure), at(chart, spot.x));
    Judged::new(surely_more(&small.figure, &large.figure), format!("{}, {}", told(small), told(large)))
}

fn jitter(outcome: &Outcome) -> Judged {
    let Some((chart, hardware)) = curve(outcome, "jitter", "router-hw") else { return Judged::not_run("router-hw") };
    let (mut answers, mut seen) = (Vec::new(), Vec::new());
    for spot in hardware.measured() {
        let other = |name: &str| chart.curve(name)?.measured().find(|other| other.x == spot.x);
        for name in ["switch", "router", "router-small"] {
            answers.extend(other(name).map(|other| surely_more(&spot.figure, &other.figure)));
        }
        let others = ["switch", "router", "router-small"]
            .iter()
            .filter_map(|name| other(name).map(|spot| format!("{name} {}", value(chart.measure, &spot.figure))));
        let others: Vec<String> = others.collect();
        seen.push(format!("at {} {}, {}", at(chart, spot.x), value(chart.measure, &spot.figure), others.join(", ")));
    }
    let answer = match answers.as_slice() {
        [] => Answer::Unknown,
        all if all.contains(&Answer::Fails) => Answer::Fails,
        all if all.contains(&Answer::Unknown) => Answer::Unknown,
        _ => Answer::Holds,
    };
    Judged::new(answer, seen.join("; "))
}

/// On the switch, where nothing but the ends works: at a stated rate of bits, small datagrams are more datagrams.
fn small_cost_more(outcome: &Outcome) -> Judged {
    let Some((chart, switch)) = curve(outcome, "cpu", "switch") else { return Judged::not_run("the switch") };
    let mut spots = switch.measured();
    let (Some(small), Some(large)) = (spots.next(), spots.last()) else {
        return Judged::not_run("the switch at two sizes");
    };
    let told = |spot: &Spot| format!("{} at {}", value(chart.measure, &spot.figure), at(chart, spot.x));
    Judged::new(surely_more(&small.figure, &large.figure), format!("on the switch {}, {}", told(small), told(large)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chart_and_claim_is_a_figure_of_the_paper() {
        let facts = facts();
        let known = |number: &str| facts.figures.iter().any(|figure| figure.number == number);
        assert!(CHARTS.iter().all(|plan| known(plan.number)));
        assert!(facts.claims.iter().all(|claim| claim.figures.iter().all(|number| known(number))));
        assert!(["near_within", "loss_noticeable_share"].iter().all(|name| facts.number(name).is_finite()));
    }
}
