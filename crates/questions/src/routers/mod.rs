//! The study `routers`: can a software router keep up with a hardware one?
//!
//! The paper's scenario I is `switch`, II `router`, III `router-small`, IV `router-hw`; `xdp-router` is takt's own. One part
//! of `experiments/routers.toml` has all figures: 2 and 3 throughput and datagrams a second, 4 jitter as boxes over rounds,
//! 5 loss, 6 CPU of sender, receiver and what lies between.

use takt_testbed::net::{Limit, SMALL_PAYLOAD_BYTES};

use crate::study::Figure;
use crate::study::claim::Judged;
use crate::sweep::{
    ChartPlan, Compared, Curve, Facts, Measure, Read, Spot, Study, SweepOutcome, at, from_host, hop_cores, limit_used,
    list, lost_on_path, side_cores, value,
};

pub(super) const STUDY: Study = Study {
    name: "routers",
    facts,
    charts: &CHARTS,
    evidence: &EVIDENCE,
    judge,
    points: |_, _| Vec::new(),
    link: |_| Vec::new(),
    caveats: &[
        "the paper's routers are separate machines; here they share this machine's cores with sender and receiver",
        "the hardware router is a model: a rate, a buffer and a cost for each datagram, fitted to the paper's device",
        "the small router is the kernel's on a share of a CPU, chosen to make it as fast as the paper shows; the paper does not \
         say how much faster its router is",
        "the kernel's timers that limit a cable's rate take CPU time, which counts for neither sender, receiver nor router",
        "xdp-router runs its programs in the driver of a virtual pair, which copies each frame for them; in front of it, the \
         host computes checksums that it does not compute on other paths",
    ],
};

/// The facts that come with the program; a test reads the same text.
fn facts() -> Facts {
    toml::from_str(include_str!("../../../../experiments/papers/routers.toml")).expect("tested to be right")
}

const fn plan(id: &'static str, number: &'static str, measure: Measure, read: Read) -> ChartPlan {
    ChartPlan { id, number, part: "routers", x: "payload_bytes", by: "path", measure, read, ..ChartPlan::BLANK }
}

const CHARTS: [ChartPlan; 8] = [
    plan("throughput", "2", Measure::BitsPerS, |r| from_host(r, "/throughput_bps")),
    ChartPlan { over: Some("switch"), ..plan("relative", "2", Measure::Times, |r| from_host(r, "/throughput_bps")) },
    plan("datagrams", "3", Measure::DatagramsPerS, |r| from_host(r, "/datagrams_per_s")),
    ChartPlan { boxes: true, ..plan("jitter", "4", Measure::Seconds, |r| Some(from_host(r, "/jitter_us")? * 1e-6)) },
    plan("lost", "5", Measure::Share, |r| from_host(r, "/lost/share")),
    plan("cpu-sender", "6", Measure::Cores, |r| side_cores(r, "host")),
    plan("cpu-receiver", "6", Measure::Cores, |r| side_cores(r, "radio")),
    plan("cpu-between", "6", Measure::Cores, hop_cores),
];

/// Effect of the processor limit of `router-small`.
const EVIDENCE: [(&str, ChartPlan); 2] = [
    ("How much of its share of a CPU the small router used", plan("limit-used", "", Measure::Share, limit_used)),
    (
        "Datagrams that nodes between sender and receiver dropped",
        plan("lost-between", "", Measure::Share, lost_on_path),
    ),
];

fn judge(number: u32, part: &str, outcome: &SweepOutcome) -> Judged {
    let (who, base) = part.split_once(" over ").unwrap_or((part, "switch"));
    let paper = &outcome.paper;
    let near = paper.number("near_within");
    match number {
        1 => relative(outcome, who, |what, figure| Compared::below(what, Measure::Times, figure, 1.0 + near)),
        2 => relative(outcome, who, |what, figure| Compared::above(what, Measure::Times, figure, 1.0 - near)),
        3 => relative(outcome, who, |what, figure| Compared::above(what, Measure::Times, figure, 1.0 - near))
            .because(small_limit(outcome)),
        4 => loses(outcome, who, |what, figure, noticeable| Compared::below(what, Measure::Share, figure, noticeable)),
        5 => smallest_most(outcome, who),
        6 => jitter(outcome, [who, base]),
        7 => small_cost_more(outcome, who),
        8 => loses(outcome, who, |what, figure, noticeable| Compared::above(what, Measure::Share, figure, noticeable)),
        _ => Judged::not_here("nothing judges this claim", ""),
    }
}

fn relative(outcome: &SweepOutcome, name: &str, compared: impl Fn(String, &Figure) -> Compared) -> Judged {
    let Some((chart, curve)) = outcome.curve("relative", name) else { return outcome.without("relative", name) };
    let of = |spot: &Spot| compared(format!("{name} at {}", at(chart, spot.x)), &spot.figure);
    let comparisons: Vec<Compared> = of_paper(curve).map(of).collect();
    if comparisons.is_empty() {
        return Judged::not_here(format!("not measured here: {name} at the paper's sizes"), "");
    }
    Judged::by(&comparisons, vec![format!("throughput over the switch's: {}", list(chart, of_paper(curve)))])
}

/// Sizes for which the paper says something of the small router begin with the one that gave it its speed here; what else is
/// measured of it is no matter of the paper's.
fn of_paper(curve: &Curve) -> impl Iterator<Item = &Spot> {
    let least = if curve.name == "router-small" { SMALL_PAYLOAD_BYTES as f64 } else { 0.0 };
    curve.measured().filter(move |spot| spot.x >= least)
}

/// Limit of `router-small`, and what it did at the size where it used most.
fn small_limit(outcome: &SweepOutcome) -> Option<String> {
    let (chart, used) = outcome.curve("limit-used", "router-small")?;
    let most = used.measured().max_by(|a, b| size(a).total_cmp(&size(b)))?;
    let site = outcome.sites.iter().find(|site| site.path == "router-small")?;
    let limit: Limit = serde_json::from_value(site.in_force.get("path_limit")?.clone()).ok()?;
    let lost = outcome.curve("lost-between", "router-small").and_then(|(chart, lost)| {
        Some(format!(", and {} of the datagrams were lost on the way", value(chart.measure, &lost.at(most.x)?.figure)))
    });
    Some(format!(
        "why: router-small may use {:.2} of a CPU each way{}; at {} it used {} of that{}",
        limit.share,
        limit
            .datagrams_per_s()
            .map(|n| format!(" (enough for {n:.0} datagrams/s of {SMALL_PAYLOAD_BYTES} B)"))
            .unwrap_or_default(),
        at(chart, most.x),
        value(chart.measure, &most.figure),
        lost.unwrap_or_default(),
    ))
}

/// A value that is missing sorts first.
fn size(spot: &Spot) -> f64 {
    spot.figure.value.unwrap_or(f64::NEG_INFINITY)
}

/// Loss of a router at the size where it loses most, held against what is noticeable.
fn loses(outcome: &SweepOutcome, name: &str, compared: impl Fn(String, &Figure, f64) -> Compared) -> Judged {
    let Some((chart, curve)) = outcome.curve("lost", name) else { return outcome.without("lost", name) };
    let Some(worst) = curve.measured().max_by(|a, b| size(a).total_cmp(&size(b))) else {
        return outcome.without("lost", name);
    };
    let what = format!("{name} at {}", at(chart, worst.x));
    let measured = format!("lost at most: {} at {}", value(chart.measure, &worst.figure), at(chart, worst.x));
    Judged::by(&[compared(what, &worst.figure, outcome.paper.number("loss_noticeable_share"))], vec![measured])
}

/// Nothing was measured at two sizes.
fn one_size(name: &str) -> Judged {
    Judged::not_here(format!("not measured here: {name} at two sizes"), "")
}

fn smallest_most(outcome: &SweepOutcome, name: &str) -> Judged {
    let Some((chart, hardware)) = outcome.curve("lost", name) else { return outcome.without("lost", name) };
    let Some((small, large)) = smallest_and_largest(hardware) else { return one_size(name) };
    let both = format!("{name} at {} and {}", at(chart, small.x), at(chart, large.x));
    let compared = Compared::more(both, chart.measure, &small.figure, &large.figure);
    Judged::by(&[compared], vec![list(chart, [small, large])])
}

/// More than another's at every size.
fn jitter(outcome: &SweepOutcome, [name, base]: [&str; 2]) -> Judged {
    let Some((chart, hardware)) = outcome.curve("jitter", name) else { return outcome.without("jitter", name) };
    let Some((_, other)) = outcome.curve("jitter", base) else { return outcome.without("jitter", base) };
    let (mut comparisons, mut measured) = (Vec::new(), Vec::new());
    for (spot, less) in hardware.measured().filter_map(|spot| Some((spot, other.at(spot.x)?))) {
        let at_size = at(chart, spot.x);
        let what = format!("{name} and {base} at {at_size}");
        comparisons.push(Compared::more(what, chart.measure, &spot.figure, &less.figure));
        let [most, less] = [&spot.figure, &less.figure].map(|figure| value(chart.measure, figure));
        measured.push(format!("at {at_size} {most}, {base} {less}"));
    }
    if comparisons.is_empty() {
        return Judged::not_here(format!("not measured here: {name} where {base} was"), "");
    }
    Judged::by(&comparisons, measured)
}

/// On the switch, where nothing but the ends is requested: at a stated rate of bits, small datagrams are more datagrams.
fn small_cost_more(outcome: &SweepOutcome, end: &str) -> Judged {
    let id = format!("cpu-{end}");
    let Some((chart, switch)) = outcome.curve(&id, "switch") else { return outcome.without(&id, "switch") };
    let Some((small, large)) = smallest_and_largest(switch) else { return one_size("switch") };
    let both = format!("{end} at {} and {}", at(chart, small.x), at(chart, large.x));
    let compared = Compared::more(both, chart.measure, &small.figure, &large.figure);
    Judged::by(&[compared], vec![list(chart, [small, large])])
}

fn smallest_and_largest(curve: &Curve) -> Option<(&Spot, &Spot)> {
    let mut spots = curve.measured();
    Some((spots.next()?, spots.last()?))
}

#[cfg(test)]
mod tests {
    use crate::check::CheckAnswer;
    use serde_json::json;

    use super::*;
    use crate::sweep::testing::{Points, assert_of_its_paper, chart, outcome, site};
    use takt_testbed::net::SMALL_DATAGRAMS_PER_S;

    #[test]
    fn every_chart_and_claim_is_a_figure_of_the_paper() {
        assert_of_its_paper(&STUDY, &["near_within", "loss_noticeable_share"]);
    }

    #[test]
    fn what_is_fitted_to_the_paper_or_bounded_by_the_cable_is_not_counted_as_seen() {
        let facts = facts();
        assert_eq!(facts.number("iii_128_datagrams_per_s"), SMALL_DATAGRAMS_PER_S);
        let made: Vec<u32> = facts.claims.iter().filter(|c| c.by_construction.is_some()).map(|c| c.number).collect();
        assert_eq!(made, [1, 3, 5, 6, 8]);
    }

    #[test]
    fn a_router_that_feels_its_limit_says_so_and_only_at_sizes_of_the_paper() {
        let mut measured = outcome(&facts());
        let small = |id: &str, measure, small: &[f64]| {
            let curves: [Points<'_>; 1] = [("router-small", &[(64.0, small), (128.0, &[0.5, 0.5])])];
            chart(id, "payload_bytes", measure, &curves)
        };
        let limit = Limit { share: 0.25, datagram_ns: Some(3000.0), passed_per_s: None };
        measured.sites = vec![site("native", "router-small", json!({ "path_limit": limit }))];
        measured.evidence = vec![
            small("limit-used", Measure::Share, &[0.96, 0.96]),
            small("lost-between", Measure::Share, &[0.4, 0.4]),
        ];
        assert_eq!(
            small_limit(&measured).as_deref(),
            Some(
                "why: router-small may use 0.25 of a CPU each way (enough for 83333 datagrams/s of 128 B); at 64 B it used 96.00 \
                 [96.00, 96.00] % of that, and 40.00 [40.00, 40.00] % of the datagrams were lost on the way"
            )
        );
        let near = [(64.0, &[0.6, 0.6][..]), (128.0, &[1.0, 1.0][..])];
        let curves: [Points<'_>; 1] = [("router-small", &near)];
        measured.charts = vec![chart("relative", "payload_bytes", Measure::Times, &curves)];
        assert_eq!(
            judge(3, "router-small over switch", &measured).answer(),
            CheckAnswer::Holds,
            "64 bytes are none of the paper's"
        );
        assert_eq!(small_limit(&outcome(&facts())), None);
    }

    #[test]
    fn a_loss_is_noticeable_above_the_papers_bound() {
        let mut measured = outcome(&facts());
        let curves: [Points<'_>; 2] = [
            ("router", &[(128.0, &[0.001, 0.002]), (1280.0, &[0.0, 0.0])]),
            ("router-hw", &[(128.0, &[0.66, 0.67]), (1280.0, &[0.1, 0.1])]),
        ];
        measured.charts = vec![chart("lost", "payload_bytes", Measure::Share, &curves)];
        let judged = |measured: &SweepOutcome| {
            [(4, "router"), (8, "router-hw"), (5, "router-hw")].map(|(claim, who)| judge(claim, who, measured).answer())
        };
        assert_eq!(judged(&measured), [CheckAnswer::Holds; 3]);
        measured.charts[0].curves[0].name = "router-hw".into();
        measured.charts[0].curves[1].name = "router".into();
        assert_eq!(judged(&measured)[..2], [CheckAnswer::Fails; 2]);
    }

    #[test]
    fn small_datagrams_must_cost_both_ends_more() {
        let mut measured = outcome(&facts());
        let cpu = |id: &str, small: f64| {
            let (small, large) = ([small, small + 0.001], [0.1, 0.101]);
            let curves: [Points<'_>; 1] = [("switch", &[(128.0, &small), (1280.0, &large)])];
            chart(id, "payload_bytes", Measure::Cores, &curves)
        };
        measured.charts = vec![cpu("cpu-sender", 0.5), cpu("cpu-receiver", 0.4)];
        let ends = |measured: &SweepOutcome| ["sender", "receiver"].map(|end| judge(7, end, measured).answer());
        assert_eq!(ends(&measured), [CheckAnswer::Holds; 2]);
        measured.charts[1] = cpu("cpu-receiver", 0.02);
        assert_eq!(ends(&measured), [CheckAnswer::Holds, CheckAnswer::Fails]);
        measured.charts.pop();
        assert_eq!(ends(&measured), [CheckAnswer::Holds, CheckAnswer::Unknown]);
    }
}
