//! What is seen of the paper's claims.

use takt_lab::check::Answer;

use crate::sweep::{Chart, Compared, Curve, Judged, Outcome, Spot, at, value};

/// What stands for UHD: one call a datagram.
const SOCKETS: &str = "socket";
/// What bypasses the kernel's sockets. On a virtual cable, where this runs, `dpdk` is no bypass: its driver is a packet socket of the
/// kernel.
const BYPASS: &str = "xdp";
/// Samples a second at 100 PRB: 2048 points, 15 kHz apart (3GPP TS 36.211, clause 4).
const OF_100_PRB_SPS: f64 = 30.72e6;

pub(super) fn judge(number: u32, outcome: &Outcome) -> Judged {
    match number {
        1 => less(outcome, ["jitter", "jitter-loaded"], |_| true),
        2 => less(outcome, ["dropped", "dropped-loaded"], |spot| carried(outcome, spot)),
        3 => only_bypass_carries(outcome),
        4 => polling_fills_a_core(outcome),
        _ => Judged::new(Answer::Unknown, "nothing judges this claim"),
    }
}

/// The curve of sockets, and that of what bypasses them.
fn both<'a>(outcome: &'a Outcome, id: &str) -> Option<(&'a Chart, &'a Curve, &'a Curve)> {
    let (chart, sockets) = outcome.curve(id, SOCKETS)?;
    let bypass = outcome.curve(id, BYPASS)?.1;
    Some((chart, sockets, bypass))
}

/// The spots of two curves where both were measured.
fn in_common<'a>(one: &'a Curve, other: &'a Curve) -> impl Iterator<Item = (&'a Spot, &'a Spot)> {
    one.measured().filter_map(|spot| Some((spot, other.at(spot.x)?)))
}

/// Whether bypassing has surely less of something bad, at every rate of these charts.
fn less(outcome: &Outcome, ids: [&str; 2], counts: impl Fn(&Spot) -> bool) -> Judged {
    let (mut comparisons, mut measured) = (Vec::new(), Vec::new());
    for (chart, sockets, bypass) in ids.into_iter().filter_map(|id| both(outcome, id)) {
        let host = if chart.part == "loaded" { "loaded" } else { "quiet" };
        for (spot, other) in in_common(sockets, bypass).filter(|(spot, _)| counts(spot)) {
            let place = format!("{} on a {host} host", at(chart, spot.x));
            let what = format!("{SOCKETS} and {} at {place}", bypass.name);
            comparisons.push(Compared::more(what, chart.measure, &spot.figure, &other.figure));
            let [has, has_bypass] = [&spot.figure, &other.figure].map(|figure| value(chart.measure, figure));
            measured.push(format!("{SOCKETS} {has}, {} {has_bypass} at {place}", bypass.name));
        }
    }
    Judged::by(&comparisons, "a bypass of the sockets", measured)
}

/// A stream that lost more than the paper's worst was none.
fn carried(outcome: &Outcome, spot: &Spot) -> bool {
    spot.figure.value.is_some_and(|share| share < outcome.paper.number("unusable_share"))
}

fn only_bypass_carries(outcome: &Outcome) -> Judged {
    let Some((chart, sockets, bypass)) = both(outcome, "dropped-loaded").or_else(|| both(outcome, "dropped")) else {
        return Judged::not_run("a bypass of the sockets");
    };
    let (Some(lost), Some(kept)) = (sockets.at(OF_100_PRB_SPS), bypass.at(OF_100_PRB_SPS)) else {
        return Judged::not_run("the rate of 100 PRB");
    };
    let (unusable, most) = (outcome.paper.number("unusable_share"), outcome.paper.number("drop_100_prb_dpdk_share"));
    let place = at(chart, OF_100_PRB_SPS);
    let comparisons = [
        Compared::above(format!("{SOCKETS} at {place}"), chart.measure, &lost.figure, unusable),
        Compared::below(format!("{} at {place}", bypass.name), chart.measure, &kept.figure, most),
    ];
    let [lost, kept] = [&lost.figure, &kept.figure].map(|figure| value(chart.measure, figure));
    Judged::by(&comparisons, "100 PRB", vec![format!("dropped at {place}: {SOCKETS} {lost}, {} {kept}", bypass.name)])
}

/// The paper's two threads: the one that polls past the sockets, and the one that waits at them. What a ninth of the paper's core is
/// here nobody knows: the second takes less than the first.
fn polling_fills_a_core(outcome: &Outcome) -> Judged {
    let (polling, sockets) = (outcome.curve("thread-polling", BYPASS), outcome.curve("thread", SOCKETS));
    let (Some((chart, polling)), Some((_, sockets))) = (polling, sockets) else {
        return Judged::not_run("a thread that polls");
    };
    let full = outcome.paper.number("full_core_share");
    let (mut comparisons, mut measured) = (Vec::new(), Vec::new());
    for (spot, waits) in in_common(polling, sockets) {
        let place = at(chart, spot.x);
        let polls = format!("{} polling at {place}", polling.name);
        comparisons.push(Compared::above(polls.clone(), chart.measure, &spot.figure, full));
        let both = format!("{} polling and {SOCKETS} at {place}", polling.name);
        comparisons.push(Compared::more(both, chart.measure, &spot.figure, &waits.figure));
        let [has, has_waiting] = [&spot.figure, &waits.figure].map(|figure| value(chart.measure, figure));
        measured.push(format!("{polls} {has}, {SOCKETS} {has_waiting}"));
    }
    Judged::by(&comparisons, "a thread that polls", measured)
}

#[cfg(test)]
mod tests {
    use super::super::facts;
    use super::*;
    use crate::sweep::Measure;
    use crate::sweep::testing::{Points, chart, outcome};

    fn with(id: &str, measure: Measure, sockets: &[f64], bypass: &[f64]) -> Outcome {
        let mut measured = outcome(&facts());
        let curves: [Points<'_>; 2] = [(SOCKETS, &[(OF_100_PRB_SPS, sockets)]), ("xdp", &[(OF_100_PRB_SPS, bypass)])];
        measured.charts = vec![chart(id, "rate_sps", measure, &curves)];
        measured
    }

    #[test]
    fn less_uneven_is_stated_only_where_the_intervals_leave_nothing_else() {
        let answer =
            |sockets: &[f64], bypass: &[f64]| judge(1, &with("jitter", Measure::Seconds, sockets, bypass)).answer;
        assert_eq!(answer(&[10e-6, 11e-6, 10e-6], &[5e-6, 5e-6, 6e-6]), Answer::Holds);
        assert_eq!(answer(&[5e-6, 5e-6, 6e-6], &[10e-6, 11e-6, 10e-6]), Answer::Fails);
        assert_eq!(answer(&[5e-6, 9e-6, 6e-6], &[6e-6, 7e-6, 5e-6]), Answer::Unknown);
        assert_eq!(judge(1, &outcome(&facts())).answer, Answer::Unknown);
    }

    #[test]
    fn what_neither_loses_does_not_show_that_sockets_lose_more() {
        let none = with("dropped", Measure::Share, &[0.0; 3], &[0.0; 3]);
        assert_ne!(judge(2, &none).answer, Answer::Holds);
        assert_eq!(judge(3, &none).answer, Answer::Fails, "sockets carry it");
        let lost = with("dropped", Measure::Share, &[0.2, 0.21, 0.2], &[0.0; 3]);
        assert_eq!(judge(3, &lost).answer, Answer::Holds);
        assert_eq!(judge(2, &lost).answer, Answer::Unknown, "a link that was not carried has no drops to compare");
    }

    #[test]
    fn an_engine_that_waits_does_not_stand_for_a_bypass() {
        let mut measured = outcome(&facts());
        let curves: [Points<'_>; 2] = [
            (SOCKETS, &[(OF_100_PRB_SPS, &[10e-6, 11e-6, 10e-6])]),
            ("dpdk", &[(OF_100_PRB_SPS, &[1e-6, 1e-6, 1e-6])]),
        ];
        measured.charts = vec![chart("jitter", "rate_sps", Measure::Seconds, &curves)];
        assert_eq!(judge(1, &measured).answer, Answer::Unknown, "dpdk on a cable is a socket of the kernel");
    }

    #[test]
    fn a_thread_that_polls_fills_its_core_or_does_not() {
        let answer = |polling: &[f64]| {
            let mut measured = with("thread", Measure::Share, &[0.2, 0.21], &[0.19, 0.2]);
            measured.charts.extend(with("thread-polling", Measure::Share, &[0.99, 1.0], polling).charts);
            judge(4, &measured).answer
        };
        assert_eq!(answer(&[0.98, 0.99, 0.98]), Answer::Holds);
        assert_eq!(answer(&[0.3, 0.31, 0.3]), Answer::Fails, "it slept");
        assert_eq!(answer(&[0.8, 0.99, 0.9]), Answer::Unknown);
        let waits = with("thread", Measure::Share, &[0.2, 0.21], &[0.99, 0.99]);
        assert_eq!(judge(4, &waits).answer, Answer::Unknown, "nothing polled");
    }
}
