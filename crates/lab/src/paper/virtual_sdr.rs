//! The study `virtual-sdr`: what a container and a virtual machine cost an Ethernet-attached radio.
//!
//! | part of `experiments/virtual-sdr` | figures of the paper |
//! | --- | --- |
//! | `link` (link.toml) | 3a, 3b, 3c, 4: datagrams by size |
//! | `radio` (radio.toml) | 5, 6, 7: samples by rate and mode |
//! | `noise` | none: the same point measured twice |

use super::sweep::{
    Chart, ChartPlan, Curve, Facts, Judged, Measure, Outcome, Spot, Study, all_above, all_below, at, cpu_cores,
    from_host, rate, surely_more, to_host, value,
};
use crate::check::Answer;
use crate::paper::Figure;

pub(super) const STUDY: Study = Study {
    name: "virtual-sdr",
    facts,
    charts: &CHARTS,
    judge,
    does_not_say: &[
        "the paper's radio is an N200 behind a 1 Gb/s card; here it is takt's own, one core of the same machine",
        "the paper's virtual machine is VirtualBox's; here it is QEMU's, with what accelerates it stated at each site",
    ],
};

/// The facts that come with the program.
///
/// # Panics
/// Never: a test reads the same text.
fn facts() -> Facts {
    toml::from_str(include_str!("../../../../experiments/papers/virtual-sdr.toml")).expect("tested to be right")
}

const LINK: ChartPlan = ChartPlan {
    id: "",
    number: "",
    part: "link",
    x: "payload_bytes",
    by: "environment",
    only: None,
    measure: Measure::BitsPerS,
    read: |_| None,
    over: None,
    boxes: false,
};

const RADIO: ChartPlan = ChartPlan { part: "radio", x: "rate_sps", measure: Measure::SamplesPerS, ..LINK };

const CHARTS: [ChartPlan; 14] = [
    ChartPlan { id: "link-received", number: "3a", read: |r| to_host(r, "/throughput_bps"), ..LINK },
    ChartPlan { id: "link-sent", number: "3b", read: |r| from_host(r, "/throughput_bps"), ..LINK },
    ChartPlan {
        id: "link-relative",
        number: "3c",
        measure: Measure::Times,
        read: |r| from_host(r, "/throughput_bps"),
        over: Some("native"),
        ..LINK
    },
    ChartPlan { id: "link-cpu", number: "4", measure: Measure::Cores, read: cpu_cores, ..LINK },
    ChartPlan {
        id: "link-cpu-relative",
        number: "4",
        measure: Measure::Times,
        read: cpu_cores,
        over: Some("native"),
        ..LINK
    },
    ChartPlan { id: "rx-only", number: "5a", only: Some(("mode", "rx")), read: |r| rate(r, "/rx/samples"), ..RADIO },
    ChartPlan {
        id: "rx-duplex",
        number: "5b",
        only: Some(("mode", "duplex")),
        read: |r| rate(r, "/rx/samples"),
        ..RADIO
    },
    ChartPlan {
        id: "dropped",
        number: "5c",
        only: Some(("mode", "duplex")),
        measure: Measure::Share,
        read: dropped_share,
        ..RADIO
    },
    ChartPlan { id: "tx-only", number: "6a", only: Some(("mode", "tx")), read: |r| rate(r, "/tx/samples"), ..RADIO },
    ChartPlan {
        id: "tx-duplex",
        number: "6b",
        only: Some(("mode", "duplex")),
        read: |r| rate(r, "/tx/samples"),
        ..RADIO
    },
    ChartPlan {
        id: "underruns",
        number: "6c",
        only: Some(("mode", "duplex")),
        measure: Measure::Count,
        read: |r| super::part::at(r, "/tx/underflows"),
        ..RADIO
    },
    ChartPlan {
        id: "cpu-rx",
        number: "7",
        only: Some(("mode", "rx")),
        measure: Measure::Cores,
        read: cpu_cores,
        ..RADIO
    },
    ChartPlan {
        id: "cpu-tx",
        number: "7",
        only: Some(("mode", "tx")),
        measure: Measure::Cores,
        read: cpu_cores,
        ..RADIO
    },
    ChartPlan {
        id: "cpu-duplex",
        number: "7",
        only: Some(("mode", "duplex")),
        measure: Measure::Cores,
        read: cpu_cores,
        ..RADIO
    },
];

fn dropped_share(round: &crate::store::RoundRow) -> Option<f64> {
    let of = |pointer| super::part::at(round, pointer);
    let (dropped, samples) = (of("/rx/dropped")?, of("/rx/samples")?);
    (dropped + samples > 0.0).then(|| dropped / (dropped + samples))
}

fn judge(number: u32, outcome: &Outcome) -> Judged {
    let paper = &outcome.paper;
    let near = paper.number("alike_within");
    match number {
        1 => smaller_is_slower(outcome),
        2 => relative(
            outcome,
            "container",
            |spot| spot.x > paper.number("container_bytes_from"),
            |all| all_above(all, paper.number("container_share_from")),
        ),
        3 => relative(outcome, "vm", |_| true, |all| all_below(all, paper.number("vm_share_up_to"))),
        4 => cpu(outcome, "container", |all| alike(all, paper.number("close_within"))),
        5 => cpu(outcome, "vm", |all| all_above(all, paper.number("vm_cpu_times") / 2.0)),
        6 => same_as_native(outcome, "rx-only", near),
        7 => duplex(outcome),
        8 => most(outcome, "dropped"),
        9 => same_as_native(outcome, "tx-only", near),
        10 => most(outcome, "underruns"),
        11 => most_cpu(outcome),
        _ => Judged::new(Answer::Unknown, "nothing judges this claim"),
    }
}

/// All within a factor of one.
fn alike<'a>(figures: impl IntoIterator<Item = &'a Figure> + Clone, within: f64) -> Answer {
    match (all_above(figures.clone(), 1.0 - within), all_below(figures, 1.0 + within)) {
        (Answer::Fails, _) | (_, Answer::Fails) => Answer::Fails,
        (Answer::Holds, Answer::Holds) => Answer::Holds,
        _ => Answer::Unknown,
    }
}

fn curve<'a>(outcome: &'a Outcome, chart: &str, name: &str) -> Option<(&'a Chart, &'a Curve)> {
    let chart = outcome.chart(chart)?;
    let curve = chart.curve(name)?;
    curve.measured().next().map(|_| (chart, curve))
}

fn smaller_is_slower(outcome: &Outcome) -> Judged {
    let (mut answers, mut seen) = (Vec::new(), Vec::new());
    for chart in ["link-received", "link-sent"].iter().filter_map(|id| outcome.chart(id)) {
        for curve in &chart.curves {
            let mut measured = curve.measured();
            let (Some(small), Some(large)) = (measured.next(), measured.last()) else { continue };
            answers.push(surely_more(&large.figure, &small.figure));
            let way = if chart.id == "link-sent" { "sent" } else { "received" };
            seen.push(format!(
                "{} {way} {} at {} and {} at {}",
                curve.name,
                value(chart.measure, &small.figure),
                at(chart, small.x),
                value(chart.measure, &large.figure),
                at(chart, large.x),
            ));
        }
    }
    every(&answers, seen, "datagram load")
}

/// Fails if one does; holds if all do.
fn every(answers: &[Answer], seen: Vec<String>, what: &str) -> Judged {
    let answer = match answers {
        [] => return Judged::not_run(what),
        all if all.contains(&Answer::Fails) => Answer::Fails,
        all if all.contains(&Answer::Unknown) => Answer::Unknown,
        _ => Answer::Holds,
    };
    Judged::new(answer, seen.join("; "))
}

fn relative(
    outcome: &Outcome,
    name: &str,
    which: impl Fn(&&Spot) -> bool,
    judge: impl Fn(Vec<&Figure>) -> Answer,
) -> Judged {
    let Some((chart, curve)) = curve(outcome, "link-relative", name) else {
        return Judged::not_run(&format!("the {name}"));
    };
    let spots: Vec<&Spot> = curve.measured().filter(which).collect();
    let answer = judge(spots.iter().map(|spot| &spot.figure).collect());
    Judged::new(answer, format!("of native's throughput when sending: {}", list(chart, &spots)))
}

fn cpu(outcome: &Outcome, name: &str, judge: impl Fn(Vec<&Figure>) -> Answer) -> Judged {
    let Some((chart, curve)) = curve(outcome, "link-cpu-relative", name) else {
        return Judged::not_run(&format!("the {name}"));
    };
    let spots: Vec<&Spot> = curve.measured().collect();
    let answer = judge(spots.iter().map(|spot| &spot.figure).collect());
    Judged::new(answer, format!("CPU over native's: {}", list(chart, &spots)))
}

fn list(chart: &Chart, spots: &[&Spot]) -> String {
    let one = |spot: &&Spot| format!("{} at {}", value(chart.measure, &spot.figure), at(chart, spot.x));
    spots.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Samples of every environment over native's, at every rate.
fn same_as_native(outcome: &Outcome, chart: &str, within: f64) -> Judged {
    let Some((shown, native)) = curve(outcome, chart, "native") else { return Judged::not_run("native") };
    let (mut answers, mut seen) = (Vec::new(), Vec::new());
    for other in shown.curves.iter().filter(|curve| curve.name != "native") {
        let mut worst: Option<(&Spot, f64)> = None;
        for spot in other.measured() {
            let Some(base) = native.measured().find(|base| base.x == spot.x).and_then(|base| base.figure.value) else {
                continue;
            };
            let ratio = spot.figure.scaled(1.0 / base);
            answers.push(alike([&ratio], within));
            let share = ratio.value.unwrap_or(f64::NAN);
            if worst.is_none_or(|(_, least)| share < least) {
                worst = Some((spot, share));
            }
        }
        if let Some((spot, share)) = worst {
            seen.push(format!(
                "the {} has at least {:.1} % of native's samples (at {})",
                other.name,
                share * 100.0,
                at(shown, spot.x)
            ));
        }
    }
    every(&answers, seen, "the container and the virtual machine")
}

/// The first rate at which an environment surely receives less than native.
fn duplex(outcome: &Outcome) -> Judged {
    let Some((chart, native)) = curve(outcome, "rx-duplex", "native") else { return Judged::not_run("native") };
    let first = |name: &str| -> Option<Option<f64>> {
        let (_, curve) = curve(outcome, "rx-duplex", name)?;
        let less = |spot: &&Spot| {
            let base = native.measured().find(|base| base.x == spot.x);
            base.is_some_and(|base| surely_more(&base.figure, &spot.figure) == Answer::Holds)
        };
        Some(curve.measured().find(less).map(|spot| spot.x))
    };
    let told = |name: &str, from: Option<f64>| match from {
        Some(x) => format!("the {name} receives surely less than native from {}", at(chart, x)),
        None => format!("the {name} receives as much as native at every rate"),
    };
    match (first("container"), first("vm")) {
        (None, None) => Judged::not_run("neither container nor virtual machine"),
        (container, vm) => {
            let mut seen: Vec<String> = Vec::new();
            seen.extend(container.map(|from| told("container", from)));
            seen.extend(vm.map(|from| told("virtual machine", from)));
            let answer = match (container, vm) {
                (Some(Some(_)), Some(Some(_))) => Answer::Holds,
                (Some(None), _) | (_, Some(None)) => Answer::Fails,
                _ => Answer::Unknown,
            };
            Judged::new(answer, seen.join("; "))
        }
    }
}

/// Whether the virtual machine has the most of something bad, at the rate where it has most.
fn most(outcome: &Outcome, chart: &str) -> Judged {
    let (Some((shown, vm)), Some((_, native))) = (curve(outcome, chart, "vm"), curve(outcome, chart, "native")) else {
        return Judged::not_run("the vm");
    };
    let largest = vm.measured().max_by(|a, b| a.figure.value.unwrap_or(0.0).total_cmp(&b.figure.value.unwrap_or(0.0)));
    let Some(largest) = largest else { return Judged::not_run("the vm") };
    let base = native.measured().find(|base| base.x == largest.x);
    let answer = base.map_or(Answer::Unknown, |base| surely_more(&largest.figure, &base.figure));
    let base = base.map(|base| value(shown.measure, &base.figure)).unwrap_or_default();
    Judged::new(
        answer,
        format!(
            "the vm has at most {}, at {}, where native has {base}",
            value(shown.measure, &largest.figure),
            at(shown, largest.x)
        ),
    )
}

/// Native and container alike, the virtual machine above both, in every mode at its highest rate.
fn most_cpu(outcome: &Outcome) -> Judged {
    let (mut answers, mut seen) = (Vec::new(), Vec::new());
    for id in ["cpu-rx", "cpu-tx", "cpu-duplex"] {
        let Some((chart, vm)) = curve(outcome, id, "vm") else { continue };
        let Some(top) = vm.measured().last() else { continue };
        let at_top = |name: &str| chart.curve(name)?.measured().find(|spot| spot.x == top.x);
        for other in ["native", "container"].iter().filter_map(|name| at_top(name)) {
            answers.push(surely_more(&top.figure, &other.figure));
        }
        let told = |name: &str| at_top(name).map(|spot| format!("{name} {}", value(chart.measure, &spot.figure)));
        let told: Vec<String> = ["native", "container", "vm"].iter().filter_map(|name| told(name)).collect();
        seen.push(format!("{} at {}: {}", id.trim_start_matches("cpu-"), at(chart, top.x), told.join(", ")));
    }
    every(&answers, seen, "the vm")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chart_and_claim_is_a_figure_of_the_paper() {
        let facts = facts();
        for plan in &CHARTS {
            assert!(facts.figures.iter().any(|figure| figure.number == plan.number), "{}", plan.number);
        }
        let known = |number: &String| facts.figures.iter().any(|figure| figure.number == *number);
        assert!(facts.claims.iter().all(|claim| claim.figures.iter().all(known)));
        for name in [
            "alike_within",
            "close_within",
            "container_bytes_from",
            "container_share_from",
            "vm_share_up_to",
            "vm_cpu_times",
        ] {
            assert!(facts.number(name).is_finite(), "{name}");
        }
    }
}
