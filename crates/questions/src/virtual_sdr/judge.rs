//! Evidence on the paper's claims, part by part: an environment, or one of them held against another.

use crate::check::CheckAnswer;

use super::needs::software_guest;
use super::why::{beyond_the_wire, both_fill_the_wire, cost, guest};
use crate::study::Figure;
use crate::study::claim::{Judged, PartVerdict, every};
use crate::sweep::{Chart, Compared, Curve, Measure, Spot, SweepOutcome, at, list, value};

/// A guest executed in software is shown and never judged.
pub(super) fn judge(number: u32, part: &str, outcome: &SweepOutcome) -> Judged {
    let judged = of(number, part, outcome);
    let lacking = matches!(judged.verdict, PartVerdict::NotJudged { open: false, .. });
    match software_guest(part, outcome).filter(|_| !lacking) {
        Some(why) => Judged { verdict: PartVerdict::NotJudged { why, open: false }, ..judged },
        None => judged,
    }
}

fn of(number: u32, part: &str, outcome: &SweepOutcome) -> Judged {
    let (who, base) = part.split_once(" over ").unwrap_or((part, NATIVE));
    let paper = &outcome.paper;
    let near = paper.number("alike_within");
    match number {
        1 => smaller_is_slower(outcome, who),
        2 => container(outcome),
        3 => {
            let most = paper.number("vm_share_up_to");
            let below = |what, figure: &Figure| Compared::below(what, Measure::Times, figure, most);
            sending(outcome, who, 0.0, below, None)
        }
        4 => {
            let about = |what, figure: &Figure| alike(what, figure, paper.number("close_within"));
            relative(outcome, who, about)
        }
        5 => {
            let least = paper.number("vm_cpu_times") / 2.0;
            let above = |what, figure: &Figure| Compared::above(what, Measure::Times, figure, least);
            relative(outcome, who, above)
        }
        6 => same_as(outcome, "rx-only", [who, base], near).because(why_of(who, outcome, "rx")),
        7 => duplex(outcome, who, near).because(why_of(who, outcome, "duplex")),
        8 => most(outcome, "dropped", [who, base]).because(why_of(who, outcome, "duplex")),
        9 => same_as(outcome, "tx-only", [who, base], near).because(why_of(who, outcome, "tx")),
        10 => most(outcome, "underruns", [who, base]).because(why_of(who, outcome, "duplex")),
        11 => most_cpu(outcome, [who, base]),
        _ => Judged::not_here("nothing judges this claim", ""),
    }
}

const NATIVE: &str = "native";

/// Why the guest is as it is.
fn why_of(who: &str, outcome: &SweepOutcome, mode: &str) -> Option<String> {
    if who == "vm" { guest(outcome, mode) } else { None }
}

/// Within a factor of one, either way.
fn alike(what: String, figure: &Figure, within: f64) -> Compared {
    Compared::within(what, Measure::Times, figure, (1.0 - within, 1.0 + within))
}

fn smaller_is_slower(outcome: &SweepOutcome, who: &str) -> Judged {
    let (mut comparisons, mut measured) = (Vec::new(), Vec::new());
    for (chart, curve) in ["link-received", "link-sent"].iter().filter_map(|id| outcome.curve(id, who)) {
        let mut spots = curve.measured();
        let (Some(small), Some(large)) = (spots.next(), spots.last()) else { continue };
        let way = if chart.id == "link-sent" { "sent" } else { "received" };
        let what = format!("what {who} {way} at {} and {}", at(chart, large.x), at(chart, small.x));
        comparisons.push(Compared::more(what, chart.measure, &large.figure, &small.figure));
        measured.push(format!("{way} {}", list(chart, [small, large])));
    }
    if comparisons.is_empty() { outcome.without("link-sent", who) } else { Judged::by(&comparisons, measured) }
}

/// On the wire there is nothing to see where both ends fill it.
fn container(outcome: &SweepOutcome) -> Judged {
    let (from, share) = (outcome.paper.number("container_bytes_from"), outcome.paper.number("container_share_from"));
    let above = |what, figure: &Figure| Compared::above(what, Measure::Times, figure, share);
    let why = beyond_the_wire(outcome).into_iter().chain(cost(outcome));
    let judged = sending(outcome, "container", from, above, why);
    Judged { by_construction: both_fill_the_wire(outcome, "container", from), ..judged }
}

/// Throughput of datagrams over a size, over native's. On the paper's wire where that was measured; without one the
/// machine's own speed is compared.
fn sending(
    outcome: &SweepOutcome,
    who: &str,
    from_bytes: f64,
    compared: impl Fn(String, &Figure) -> Compared,
    why: impl IntoIterator<Item = String>,
) -> Judged {
    let large = |spot: &&Spot| spot.x > from_bytes;
    let (wire, free) = (outcome.curve("wire-relative", who), outcome.curve("link-relative", who));
    let each = |(chart, curve): (&Chart, &Curve)| -> Vec<Compared> {
        let of = |spot: &Spot| compared(format!("the {who} at {}", at(chart, spot.x)), &spot.figure);
        curve.measured().filter(large).map(of).collect()
    };
    let list =
        |lead: &str, (chart, curve): (&Chart, &Curve)| format!("{lead}{}", list(chart, curve.measured().filter(large)));
    let on_wire = wire.map(|shown| list("of native's throughput when sending, on a wire of 1 Gb/s: ", shown));
    let lead = if wire.is_some() { "with no wire in the way: " } else { SENDING };
    let mut measured: Vec<String> = on_wire.into_iter().chain(free.map(|shown| list(lead, shown))).collect();
    measured.extend(why);
    let comparisons = wire.or(free).map(each).unwrap_or_default();
    if comparisons.is_empty() { outcome.without("wire-relative", who) } else { Judged::by(&comparisons, measured) }
}

const SENDING: &str = "of native's throughput when sending, with no wire in the way: ";

/// CPU over native's, at every size.
fn relative(outcome: &SweepOutcome, who: &str, compared: impl Fn(String, &Figure) -> Compared) -> Judged {
    let id = "link-cpu-relative";
    let Some((chart, curve)) = outcome.curve(id, who) else { return outcome.without(id, who) };
    let each = |spot: &Spot| compared(format!("the {who} at {}", at(chart, spot.x)), &spot.figure);
    let comparisons: Vec<Compared> = curve.measured().map(each).collect();
    Judged::by(&comparisons, vec![format!("CPU over native's: {}", list(chart, curve.measured()))])
}

/// A chart with the curves of both; else which of them nothing was measured of.
fn both<'a>(outcome: &'a SweepOutcome, id: &str, names: [&str; 2]) -> Result<(&'a Chart, [&'a Curve; 2]), Judged> {
    let curve = |name| outcome.curve(id, name).ok_or_else(|| outcome.without(id, name));
    let ((chart, one), (_, other)) = (curve(names[0])?, curve(names[1])?);
    Ok((chart, [one, other]))
}

/// Nothing was measured where both were.
fn apart([who, base]: [&str; 2]) -> Judged {
    Judged::not_here(format!("not measured here: {who} where {base} was"), "")
}

/// Samples of one environment over another's, at every rate.
fn same_as(outcome: &SweepOutcome, id: &str, names: [&str; 2], within: f64) -> Judged {
    let (chart, [other, native]) = match both(outcome, id, names) {
        Ok(both) => both,
        Err(none) => return none,
    };
    let [who, base] = names;
    let over = |spot: &Spot| Some((spot.x, spot.figure.scaled(1.0 / native.at(spot.x)?.figure.value?)));
    let ratios: Vec<(f64, Figure)> = other.measured().filter_map(over).collect();
    let compared =
        |(x, ratio): &(f64, Figure)| alike(format!("the {who} over {base} at {}", at(chart, *x)), ratio, within);
    let comparisons: Vec<Compared> = ratios.iter().map(compared).collect();
    let share = |(_, ratio): &&(f64, Figure)| ratio.value.unwrap_or(f64::INFINITY);
    let Some((x, ratio)) = ratios.iter().min_by(|a, b| share(a).total_cmp(&share(b))) else { return apart(names) };
    let (share, x) = (ratio.value.unwrap_or_default() * 100.0, at(chart, *x));
    Judged::by(&comparisons, vec![format!("it has at least {share:.1} % of {base}'s samples (at {x})")])
}

/// Whether an environment surely receives less than native from some rate on.
fn duplex(outcome: &SweepOutcome, name: &str, within: f64) -> Judged {
    let (chart, [other, native]) = match both(outcome, "rx-duplex", [name, NATIVE]) {
        Ok(both) => both,
        Err(none) => return none,
    };
    let pairs: Vec<(&Spot, &Spot)> = other.measured().filter_map(|spot| Some((spot, native.at(spot.x)?))).collect();
    if pairs.is_empty() {
        return apart([name, NATIVE]);
    }
    let what = |spot: &Spot| format!("native and the {name} at {}", at(chart, spot.x));
    let less = |(spot, base): &(&Spot, &Spot)| Compared::more(what(spot), chart.measure, &base.figure, &spot.figure);
    let as_much = |(spot, base): &(&Spot, &Spot)| {
        let over = spot.figure.scaled(1.0 / base.figure.value.unwrap_or(f64::NAN));
        let what = format!("the {name} over native at {}", at(chart, spot.x));
        Compared::above(what, Measure::Times, &over, 1.0 - within)
    };
    let first = pairs.iter().find(|pair| less(pair).answer() == CheckAnswer::Holds);
    match (first, every(pairs.iter().map(|pair| as_much(pair).answer()))) {
        (Some((spot, _)), _) => Judged::new(
            CheckAnswer::Holds,
            format!("it receives surely less than native from {} on", at(chart, spot.x)),
        ),
        (None, CheckAnswer::Holds) => Judged::new(CheckAnswer::Fails, "it receives as much as native at every rate"),
        (None, _) => {
            let open: Vec<Compared> =
                pairs.iter().map(less).filter(|less| less.answer() == CheckAnswer::Unknown).collect();
            let lead = "whether it receives less is not known".to_owned();
            match open.as_slice() {
                [] => Judged::new(CheckAnswer::Unknown, lead),
                open => Judged::by(open, vec![lead]),
            }
        }
    }
}

/// Whether one environment has more of something bad than another, at the rate where it has most.
fn most(outcome: &SweepOutcome, id: &str, names: [&str; 2]) -> Judged {
    let (chart, [vm, native]) = match both(outcome, id, names) {
        Ok(both) => both,
        Err(none) => return none,
    };
    let [who, base] = names;
    let size = |spot: &Spot| spot.figure.value.unwrap_or(0.0);
    let largest = vm.measured().max_by(|a, b| size(a).total_cmp(&size(b)));
    let Some((largest, less)) = largest.and_then(|largest| Some((largest, native.at(largest.x)?))) else {
        return apart(names);
    };
    let (x, has) = (at(chart, largest.x), value(chart.measure, &less.figure));
    let measured =
        format!("the {who} has at most {}, at {x}, where {base} has {has}", value(chart.measure, &largest.figure));
    let compared = Compared::more(format!("the {who} and {base} at {x}"), chart.measure, &largest.figure, &less.figure);
    Judged::by(&[compared], vec![measured])
}

/// One environment above another, in every mode at its highest rate.
fn most_cpu(outcome: &SweepOutcome, names: [&str; 2]) -> Judged {
    let [who, base] = names;
    let (mut comparisons, mut measured) = (Vec::new(), Vec::new());
    for id in ["cpu-rx", "cpu-tx", "cpu-duplex"] {
        let Ok((chart, [vm, other])) = both(outcome, id, names) else { continue };
        let Some((top, less)) = vm.measured().last().and_then(|top| Some((top, other.at(top.x)?))) else { continue };
        let (mode, x) = (id.trim_start_matches("cpu-"), at(chart, top.x));
        let what = format!("the {who} and {base}, {mode} at {x}");
        comparisons.push(Compared::more(what, chart.measure, &top.figure, &less.figure));
        let [most, less] = [&top.figure, &less.figure].map(|figure| value(chart.measure, figure));
        measured.push(format!("{mode} at {x}: {who} {most}, {base} {less}"));
    }
    match (comparisons.as_slice(), both(outcome, "cpu-duplex", names)) {
        ([], Err(none)) => none,
        ([], Ok(_)) => apart(names),
        (comparisons, _) => Judged::by(comparisons, measured),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::facts;
    use super::*;
    use crate::study::Claim;
    use crate::sweep::testing::{Points, chart, outcome, site};

    const STEADY: [&[f64]; 2] = [&[24.9e6, 25.0e6, 25.1e6], &[9.9e6, 10.0e6, 10.1e6]];

    fn duplex_of(container: &[f64]) -> Judged {
        let mut measured = outcome(&facts());
        let curves: [Points<'_>; 2] = [("native", &[(25e6, STEADY[0])]), ("container", &[(25e6, container)])];
        measured.charts = vec![chart("rx-duplex", "rate_sps", Measure::SamplesPerS, &curves)];
        duplex(&measured, "container", 0.01)
    }

    #[test]
    fn as_much_as_native_is_stated_only_where_the_interval_leaves_nothing_else() {
        let fails = duplex_of(&[25.0e6, 25.01e6, 24.99e6]);
        assert_eq!(fails.answer(), CheckAnswer::Fails);
        assert_eq!(fails.measured, "it receives as much as native at every rate");
        let less = duplex_of(STEADY[1]);
        assert_eq!(less.answer(), CheckAnswer::Holds);
        assert_eq!(less.measured, "it receives surely less than native from 25 MS/s on");
        let open = duplex_of(&[9e6, 25e6]);
        assert!(matches!(open.verdict, PartVerdict::NotJudged { open: true, .. }));
        assert!(open.measured.starts_with("whether it receives less is not known; open: native and the container at"));
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
        assert_eq!(container(&measured).answer(), CheckAnswer::Fails, "the smallest is not judged");
        measured.charts.push(of("wire-relative", &[0.99, 1.0, 1.01]));
        let judged = container(&measured);
        assert_eq!(judged.answer(), CheckAnswer::Holds);
        assert!(
            judged.measured.contains("on a wire of 1 Gb/s: 1.00")
                && judged.measured.contains("no wire in the way: 0.70")
        );
        let why = "not measured here: container".to_owned();
        assert_eq!(container(&outcome(&facts())).verdict, PartVerdict::NotJudged { why, open: false });
    }

    /// As a run is judged.
    fn claims(measured: &SweepOutcome) -> Vec<Claim> {
        measured.paper.judged(|_| Vec::new(), |number, part| judge(number, part, measured))
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
        let claim = |measured: &SweepOutcome| claims(measured).remove(1);
        measured.evidence = on_wire(955e6);
        let filled = claim(&measured);
        assert_eq!((filled.number, filled.answer, filled.counts()), (2, CheckAnswer::Holds, false));
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
        let free = judge(3, "vm over native", &measured);
        assert_eq!(free.answer(), CheckAnswer::Holds);
        assert!(free.measured.contains("with no wire in the way"), "{}", free.measured);
        measured.charts.push(of("wire-relative", &[0.90, 0.91, 0.92]));
        let wired = judge(3, "vm over native", &measured);
        assert_eq!(wired.answer(), CheckAnswer::Fails);
        assert!(wired.measured.contains("on a wire of 1 Gb/s: 0.91"), "{}", wired.measured);
    }

    /// Every figure of the study, where environments other than native have so much of its samples, and its guest this accelerator.
    fn run(names: &[&'static str], share: f64, accelerator: &str) -> SweepOutcome {
        let mut measured = outcome(&facts());
        let rounds = |share: f64| [5e6, 25e6].map(|x| [0.999, 1.0, 1.001].map(|near| x * near * share));
        let [native, others] = [1.0, share].map(rounds);
        let [native, others] = [&native, &others].map(|[small, large]| [(5e6, &small[..]), (25e6, &large[..])]);
        let of = |name: &&'static str| (*name, if *name == "native" { &native[..] } else { &others[..] });
        let curves: Vec<Points<'_>> = names.iter().map(of).collect();
        for plan in super::super::STUDY.charts {
            measured.charts.push(chart(plan.id, plan.x, plan.measure, &curves));
        }
        measured.sites = vec![site("vm", "veth", json!({ "accelerator": accelerator }))];
        let claims = claims(&measured);
        measured.of.conclude(claims);
        measured
    }

    #[test]
    fn without_kvm_native_and_container_are_judged_and_the_guest_stands_apart() {
        let all = run(&["native", "container", "vm"], 1.0, "tcg");
        for claim in &all.of.claims {
            for part in &claim.parts {
                let guest = part.part.contains("vm");
                let why = "guest in software, without KVM".to_owned();
                let apart = part.verdict == PartVerdict::NotJudged { why, open: false };
                assert_eq!(apart, guest, "{}, {}: {:?}", claim.number, part.part, part.verdict);
                assert!(!part.measured.is_empty(), "shown: {}, {}", claim.number, part.part);
            }
        }
        let answers = |numbers: [usize; 3]| numbers.map(|number| all.of.claims[number - 1].answer);
        assert_eq!(
            answers([1, 6, 9]),
            [CheckAnswer::Holds; 3],
            "native and container, as far as the claim is about them"
        );
        assert_eq!(answers([3, 5, 8]), [CheckAnswer::Unknown; 3], "about the guest alone");
        let parts = &all.of.parts;
        assert_eq!((parts.counted, parts.not_judged, parts.open), (17, 10, 0), "{parts:?}");
        assert_eq!(parts.reasons.len(), 1, "{parts:?}");
        assert_eq!(
            all.of.claims[6].answer,
            CheckAnswer::Fails,
            "the container receives as much as native in full duplex"
        );
        assert_eq!(all.of.answer, CheckAnswer::Fails);
    }

    #[test]
    fn with_kvm_every_part_is_judged_and_without_a_guest_its_parts_are_not_there() {
        let kvm = run(&["native", "container", "vm"], 1.0, "kvm");
        assert_eq!(kvm.of.parts.not_judged, kvm.of.parts.open, "{:?}", kvm.of.parts);
        let none = run(&["native", "container"], 1.0, "");
        assert_eq!(
            (none.of.parts.counted, none.of.parts.not_judged),
            (17, 10),
            "the count does not depend on what ran"
        );
        assert_eq!(none.of.parts.reasons[0].why, "not measured here: vm");
        assert_eq!(none.of.claims[5].answer, CheckAnswer::Holds);
        assert!(none.of.claims[5].measured.ends_with("vm over native: not judged: not measured here: vm"));
    }

    #[test]
    fn an_environment_whose_rounds_do_not_count_leaves_its_claims_open() {
        let mut tried = run(&["native", "container"], 1.0, "");
        tried.charts.iter_mut().for_each(|chart| chart.part = "radio".into());
        let record = json!({ "round_id": 1, "point": "radio environment=vm mode=rx rate_sps=5M", "state": "failed", "why": null, "figures": {} });
        tried.of.records = vec![serde_json::from_value(record).expect("a round")];
        let part = &claims(&tried)[5].parts[1];
        assert_eq!(part.verdict, PartVerdict::NotJudged { why: "no round counts: vm".into(), open: true });
        assert_eq!(claims(&tried)[5].answer, CheckAnswer::Unknown);
    }

    #[test]
    fn the_most_processor_time_is_asked_of_the_guest_against_each_of_the_others() {
        let cheap = run(&["native", "container", "vm"], 1.0, "kvm");
        let claim =
            |measured: &SweepOutcome| claims(measured)[10].parts.iter().map(|p| p.verdict.answer()).collect::<Vec<_>>();
        assert_eq!(claim(&cheap), [CheckAnswer::Unknown, CheckAnswer::Unknown], "alike");
        let costly = run(&["native", "vm"], 2.0, "kvm");
        assert_eq!(claim(&costly), [CheckAnswer::Holds, CheckAnswer::Unknown], "there is no container");
    }
}
