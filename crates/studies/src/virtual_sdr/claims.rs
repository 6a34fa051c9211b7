//! What is seen of the paper's claims.

use takt_lab::check::Answer;

use super::needs::lacking;
use super::why::{beyond_the_wire, both_fill_the_wire, cost, guest};
use crate::Figure;
use crate::claim::every;
use crate::sweep::{Chart, Compared, Curve, Judged, Measure, Outcome, Spot, at, list, value};

/// What was seen of a claim, and the answer where it can be judged.
pub(super) fn judge(number: u32, outcome: &Outcome) -> Judged {
    let measured = of(number, outcome);
    match lacking(number, outcome) {
        Some(why) => Judged::new(Answer::Unknown, format!("{why}; {}", measured.measured)),
        None => measured,
    }
}

fn of(number: u32, outcome: &Outcome) -> Judged {
    let paper = &outcome.paper;
    let near = paper.number("alike_within");
    match number {
        1 => smaller_is_slower(outcome),
        2 => container(outcome),
        3 => {
            let most = paper.number("vm_share_up_to");
            let below = |what, figure: &Figure| Compared::below(what, Measure::Times, figure, most);
            sending(outcome, "vm", "the vm", 0.0, below, None)
        }
        4 => {
            let about = |what, figure: &Figure| alike(what, figure, paper.number("close_within"));
            relative(outcome, "link-cpu-relative", "container", about, CPU_OVER)
        }
        5 => {
            let least = paper.number("vm_cpu_times") / 2.0;
            let above = |what, figure: &Figure| Compared::above(what, Measure::Times, figure, least);
            relative(outcome, "link-cpu-relative", "vm", above, CPU_OVER)
        }
        6 => same_as_native(outcome, "rx-only", near).because(guest(outcome, "rx")),
        7 => duplex(outcome, near).because(guest(outcome, "duplex")),
        8 => most(outcome, "dropped").because(guest(outcome, "duplex")),
        9 => same_as_native(outcome, "tx-only", near).because(guest(outcome, "tx")),
        10 => most(outcome, "underruns").because(guest(outcome, "duplex")),
        11 => most_cpu(outcome),
        _ => Judged::new(Answer::Unknown, "nothing judges this claim"),
    }
}

const CPU_OVER: &str = "CPU over native's: ";

/// Within a factor of one, either way.
fn alike(what: String, figure: &Figure, within: f64) -> Compared {
    Compared::within(what, Measure::Times, figure, (1.0 - within, 1.0 + within))
}

fn smaller_is_slower(outcome: &Outcome) -> Judged {
    let (mut comparisons, mut measured) = (Vec::new(), Vec::new());
    for chart in ["link-received", "link-sent"].iter().filter_map(|id| outcome.chart(id)) {
        for curve in &chart.curves {
            let mut spots = curve.measured();
            let (Some(small), Some(large)) = (spots.next(), spots.last()) else { continue };
            let way = if chart.id == "link-sent" { "sent" } else { "received" };
            let what = format!("what {} {way} at {} and {}", curve.name, at(chart, large.x), at(chart, small.x));
            comparisons.push(Compared::more(what, chart.measure, &large.figure, &small.figure));
            measured.push(format!("{} {way} {}", curve.name, list(chart, [small, large])));
        }
    }
    Judged::by(&comparisons, "datagram load", measured)
}

/// On the wire there is nothing to see where both ends fill it.
fn container(outcome: &Outcome) -> Judged {
    let (from, share) = (outcome.paper.number("container_bytes_from"), outcome.paper.number("container_share_from"));
    let above = |what, figure: &Figure| Compared::above(what, Measure::Times, figure, share);
    let why = beyond_the_wire(outcome).into_iter().chain(cost(outcome));
    let judged = sending(outcome, "container", "the container", from, above, why);
    Judged { by_construction: both_fill_the_wire(outcome, "container", from), ..judged }
}

/// What is sent in datagrams over a size, over native's. On the paper's wire where that was measured; without one the
/// machine's own speed is compared.
fn sending(
    outcome: &Outcome,
    name: &str,
    who: &str,
    from_bytes: f64,
    compared: impl Fn(String, &Figure) -> Compared,
    why: impl IntoIterator<Item = String>,
) -> Judged {
    let large = |spot: &&Spot| spot.x > from_bytes;
    let (wire, free) = (outcome.curve("wire-relative", name), outcome.curve("link-relative", name));
    let each = |(chart, curve): (&Chart, &Curve)| -> Vec<Compared> {
        let of = |spot: &Spot| compared(format!("{who} at {}", at(chart, spot.x)), &spot.figure);
        curve.measured().filter(large).map(of).collect()
    };
    let list =
        |lead: &str, (chart, curve): (&Chart, &Curve)| format!("{lead}{}", list(chart, curve.measured().filter(large)));
    let on_wire = wire.map(|shown| list("of native's throughput when sending, on a wire of 1 Gb/s: ", shown));
    let lead = if wire.is_some() { "with no wire in the way: " } else { SENDING };
    let mut measured: Vec<String> = on_wire.into_iter().chain(free.map(|shown| list(lead, shown))).collect();
    measured.extend(why);
    Judged::by(&wire.or(free).map(each).unwrap_or_default(), who, measured)
}

const SENDING: &str = "of native's throughput when sending, with no wire in the way: ";

fn relative(
    outcome: &Outcome,
    id: &str,
    name: &str,
    compared: impl Fn(String, &Figure) -> Compared,
    lead: &str,
) -> Judged {
    let Some((chart, curve)) = outcome.curve(id, name) else { return Judged::not_run(&format!("the {name}")) };
    let each = |spot: &Spot| compared(format!("the {name} at {}", at(chart, spot.x)), &spot.figure);
    let comparisons: Vec<Compared> = curve.measured().map(each).collect();
    Judged::by(&comparisons, name, vec![format!("{lead}{}", list(chart, curve.measured()))])
}

/// Samples of every environment over native's, at every rate.
fn same_as_native(outcome: &Outcome, id: &str, within: f64) -> Judged {
    let Some((chart, native)) = outcome.curve(id, "native") else { return Judged::not_run("native") };
    let (mut comparisons, mut measured) = (Vec::new(), Vec::new());
    for other in chart.curves.iter().filter(|curve| curve.name != "native") {
        let over = |spot: &Spot| Some((spot.x, spot.figure.scaled(1.0 / native.at(spot.x)?.figure.value?)));
        let ratios: Vec<(f64, Figure)> = other.measured().filter_map(over).collect();
        for (x, ratio) in &ratios {
            comparisons.push(alike(format!("the {} over native at {}", other.name, at(chart, *x)), ratio, within));
        }
        let share = |(_, ratio): &&(f64, Figure)| ratio.value.unwrap_or(f64::INFINITY);
        if let Some((x, ratio)) = ratios.iter().min_by(|a, b| share(a).total_cmp(&share(b))) {
            let (name, share, x) = (&other.name, ratio.value.unwrap_or_default() * 100.0, at(chart, *x));
            measured.push(format!("the {name} has at least {share:.1} % of native's samples (at {x})"));
        }
    }
    Judged::by(&comparisons, "the container and the virtual machine", measured)
}

/// Whether container and virtual machine surely receive less than native from some rate on.
fn duplex(outcome: &Outcome, within: f64) -> Judged {
    let Some((chart, native)) = outcome.curve("rx-duplex", "native") else { return Judged::not_run("native") };
    let (mut answers, mut measured) = (Vec::new(), Vec::new());
    for name in ["container", "vm"] {
        let Some((_, other)) = outcome.curve("rx-duplex", name) else { continue };
        let pairs: Vec<(&Spot, &Spot)> = other.measured().filter_map(|spot| Some((spot, native.at(spot.x)?))).collect();
        let what = |spot: &Spot| format!("native and the {name} at {}", at(chart, spot.x));
        let less =
            |(spot, base): &(&Spot, &Spot)| Compared::more(what(spot), chart.measure, &base.figure, &spot.figure);
        let as_much = |(spot, base): &(&Spot, &Spot)| {
            let over = spot.figure.scaled(1.0 / base.figure.value.unwrap_or(f64::NAN));
            Compared::above(
                format!("the {name} over native at {}", at(chart, spot.x)),
                Measure::Times,
                &over,
                1.0 - within,
            )
        };
        let first = pairs.iter().find(|pair| less(pair).answer() == Answer::Holds);
        let one = match (first, every(pairs.iter().map(|pair| as_much(pair).answer()))) {
            (Some((spot, _)), _) => Judged::new(
                Answer::Holds,
                format!("the {name} receives surely less than native from {} on", at(chart, spot.x)),
            ),
            (None, Answer::Holds) => {
                Judged::new(Answer::Fails, format!("the {name} receives as much as native at every rate"))
            }
            (None, _) => {
                let open: Vec<Compared> =
                    pairs.iter().map(less).filter(|less| less.answer() == Answer::Unknown).collect();
                let measured =
                    Judged::by(&open, name, vec![format!("it is not known whether the {name} receives less")]).measured;
                Judged::new(Answer::Unknown, measured)
            }
        };
        answers.push(one.answer);
        measured.push(one.measured);
    }
    let answer = match answers.as_slice() {
        [] => return Judged::not_run("neither container nor virtual machine"),
        all if all.contains(&Answer::Fails) => Answer::Fails,
        [Answer::Holds, Answer::Holds] => Answer::Holds,
        _ => Answer::Unknown,
    };
    Judged::new(answer, measured.join("; "))
}

/// Whether the virtual machine has the most of something bad, at the rate where it has most.
fn most(outcome: &Outcome, id: &str) -> Judged {
    let (Some((chart, vm)), Some((_, native))) = (outcome.curve(id, "vm"), outcome.curve(id, "native")) else {
        return Judged::not_run("the vm");
    };
    let size = |spot: &Spot| spot.figure.value.unwrap_or(0.0);
    let largest = vm.measured().max_by(|a, b| size(a).total_cmp(&size(b)));
    let Some((largest, base)) = largest.and_then(|largest| Some((largest, native.at(largest.x)?))) else {
        return Judged::not_run("native at the rate where the vm has most");
    };
    let (x, has) = (at(chart, largest.x), value(chart.measure, &base.figure));
    let what = format!("the vm and native at {x}");
    let measured =
        format!("the vm has at most {}, at {x}, where native has {has}", value(chart.measure, &largest.figure));
    let compared = Compared::more(what, chart.measure, &largest.figure, &base.figure);
    Judged::by(&[compared], "the vm", vec![measured])
}

/// The virtual machine above native and container, in every mode at its highest rate.
fn most_cpu(outcome: &Outcome) -> Judged {
    let (mut comparisons, mut measured) = (Vec::new(), Vec::new());
    for id in ["cpu-rx", "cpu-tx", "cpu-duplex"] {
        let Some((chart, vm)) = outcome.curve(id, "vm") else { continue };
        let Some(top) = vm.measured().last() else { continue };
        let (mode, x) = (id.trim_start_matches("cpu-"), at(chart, top.x));
        let of = |name: &'static str| Some((name, chart.curve(name)?.at(top.x)?));
        let others = ["native", "container"].into_iter().filter_map(of);
        comparisons.extend(others.map(|(name, other)| {
            Compared::more(format!("the vm and {name}, {mode} at {x}"), chart.measure, &top.figure, &other.figure)
        }));
        let all = ["native", "container", "vm"].into_iter().filter_map(of);
        let all: Vec<String> =
            all.map(|(name, spot)| format!("{name} {}", value(chart.measure, &spot.figure))).collect();
        measured.push(format!("{mode} at {x}: {}", all.join(", ")));
    }
    Judged::by(&comparisons, "the vm", measured)
}

#[cfg(test)]
mod tests {
    use super::super::facts;
    use super::*;
    use crate::sweep::testing::{Points, chart, outcome};

    const STEADY: [&[f64]; 2] = [&[24.9e6, 25.0e6, 25.1e6], &[9.9e6, 10.0e6, 10.1e6]];

    fn duplex_of(container: &[f64], vm: &[f64]) -> Judged {
        let mut measured = outcome(&facts());
        let curves: [Points<'_>; 3] =
            [("native", &[(25e6, STEADY[0])]), ("container", &[(25e6, container)]), ("vm", &[(25e6, vm)])];
        measured.charts = vec![chart("rx-duplex", "rate_sps", Measure::SamplesPerS, &curves)];
        duplex(&measured, 0.01)
    }

    #[test]
    fn as_much_as_native_is_stated_only_where_the_interval_leaves_nothing_else() {
        let same = [25.0e6, 25.01e6, 24.99e6];
        let fails = duplex_of(&same, STEADY[1]);
        assert_eq!(fails.answer, Answer::Fails);
        assert_eq!(
            fails.measured,
            "the container receives as much as native at every rate; the vm receives surely less than native from 25 MS/s on"
        );
        assert_eq!(duplex_of(STEADY[1], STEADY[1]).answer, Answer::Holds);
        let open = duplex_of(STEADY[1], &[9e6, 25e6]);
        assert_eq!(open.answer, Answer::Unknown);
        assert!(
            open.measured.contains("it is not known whether the vm receives less; open: native and the vm at 25 MS/s")
        );
        assert!(open.measured.contains("rounds that spread like these would tell"), "{}", open.measured);
    }

    #[test]
    fn the_container_is_judged_on_a_wire_as_the_papers_where_that_was_measured() {
        let mut measured = outcome(&facts());
        let of = |id: &str, rounds: &[f64]| {
            let curves: [Points<'_>; 1] = [("container", &[(64.0, &[0.1, 0.1]), (1472.0, rounds)])];
            chart(id, "payload_bytes", Measure::Times, &curves)
        };
        measured.charts = vec![of("link-relative", &[0.70, 0.71, 0.69])];
        assert_eq!(container(&measured).answer, Answer::Fails, "the smallest is not judged");
        measured.charts.push(of("wire-relative", &[0.99, 1.0, 1.01]));
        let judged = container(&measured);
        assert_eq!(judged.answer, Answer::Holds);
        assert!(
            judged.measured.contains("on a wire of 1 Gb/s: 1.00")
                && judged.measured.contains("no wire in the way: 0.70")
        );
        assert_eq!(container(&outcome(&facts())).measured, "the container was not measured here");
    }

    #[test]
    fn on_a_wire_that_both_fill_the_container_is_shown_and_not_counted() {
        let mut measured = outcome(&facts());
        let ratio: [Points<'_>; 1] = [("container", &[(1472.0, &[1.0, 1.0])])];
        measured.charts = vec![chart("wire-relative", "payload_bytes", Measure::Times, &ratio)];
        let on_wire = |container: f64| {
            let (native, container) = ([956e6, 956e6], [container, container]);
            let curves: [Points<'_>; 2] =
                [("native", &[(64.0, &[1e6, 1e6]), (1472.0, &native)]), ("container", &[(1472.0, &container)])];
            vec![chart("wire-sent", "payload_bytes", Measure::BitsPerS, &curves)]
        };
        let claim = |measured: &Outcome| measured.paper.judged(|number| judge(number, measured)).remove(1);
        measured.evidence = on_wire(955e6);
        let filled = claim(&measured);
        assert_eq!((filled.number, filled.answer, filled.counts()), (2, Answer::Holds, false));
        measured.evidence = on_wire(800e6);
        assert!(claim(&measured).counts(), "the container could have been slower still");
        measured.charts[0].id = "link-relative".into();
        measured.evidence = on_wire(955e6);
        assert!(claim(&measured).counts(), "not judged on the wire");
    }

    #[test]
    fn the_virtual_machine_is_judged_on_the_papers_wire_too() {
        let mut measured = outcome(&facts());
        let of = |id: &str, rounds: &[f64]| {
            let curves: [Points<'_>; 1] = [("vm", &[(1472.0, rounds)])];
            chart(id, "payload_bytes", Measure::Times, &curves)
        };
        measured.charts = vec![of("link-relative", &[0.10, 0.11, 0.12])];
        let free = super::of(3, &measured);
        assert_eq!(free.answer, Answer::Holds);
        assert!(free.measured.contains("with no wire in the way"), "{}", free.measured);
        measured.charts.push(of("wire-relative", &[0.90, 0.91, 0.92]));
        let wired = super::of(3, &measured);
        assert_eq!(wired.answer, Answer::Fails);
        assert!(wired.measured.contains("on a wire of 1 Gb/s: 0.91"), "{}", wired.measured);
    }
}
