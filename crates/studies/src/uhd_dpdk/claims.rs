//! What is seen of the paper's claims.

use takt_lab::check::Answer;

use crate::sweep::{Chart, Compared, Curve, Judged, Outcome, Spot, all_below, at, value};

/// What stands for UHD: one call a datagram.
const SOCKETS: &str = "socket";
/// What bypasses the kernel's sockets. On a virtual cable, where this runs, `dpdk` is no bypass: its driver is a packet socket of the
/// kernel.
const BYPASS: &str = "xdp";
/// Samples a second at 100 PRB: 2048 points, 15 kHz apart (3GPP TS 36.211, clause 4).
const OF_100_PRB_SPS: f64 = 30.72e6;

/// What was not measured where neither chart has a rate of both.
const UNMEASURED: &str = "a bypass of the sockets";

pub(super) fn judge(number: u32, outcome: &Outcome) -> Judged {
    match number {
        1 => less_uneven(outcome),
        2 => less_dropped(outcome),
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

/// One rate of a chart, where both were measured.
struct Pair<'a> {
    chart: &'a Chart,
    sockets: &'a Spot,
    bypass: &'a Spot,
}

/// Those of several charts, in their order.
fn pairs<'a>(outcome: &'a Outcome, ids: [&str; 2]) -> Vec<Pair<'a>> {
    let charts = ids.into_iter().filter_map(|id| both(outcome, id));
    let of = |(chart, sockets, bypass): (&'a Chart, &'a Curve, &'a Curve)| {
        in_common(sockets, bypass).map(move |(sockets, bypass)| Pair { chart, sockets, bypass })
    };
    charts.flat_map(of).collect()
}

impl Pair<'_> {
    /// `30.72 MS/s on a loaded host`.
    fn place(&self) -> String {
        let host = if self.chart.part == "loaded" { "loaded" } else { "quiet" };
        format!("{} on a {host} host", at(self.chart, self.sockets.x))
    }

    fn values(&self) -> String {
        let [sockets, bypass] = [self.sockets, self.bypass].map(|spot| value(self.chart.measure, &spot.figure));
        format!("{SOCKETS} {sockets}, {BYPASS} {bypass}")
    }

    fn measured(&self) -> String {
        format!("{} at {}", self.values(), self.place())
    }

    /// Whether sockets surely have more of it.
    fn more(&self) -> Compared {
        let what = format!("{SOCKETS} and {BYPASS} at {}", self.place());
        Compared::more(what, self.chart.measure, &self.sockets.figure, &self.bypass.figure)
    }

    fn sockets_above(&self, least: f64) -> Compared {
        Compared::above(format!("{SOCKETS} at {}", self.place()), self.chart.measure, &self.sockets.figure, least)
    }

    fn each_below(&self, most: f64) -> [Compared; 2] {
        [(SOCKETS, self.sockets), (BYPASS, self.bypass)].map(|(name, spot)| {
            Compared::below(format!("{name} at {}", self.place()), self.chart.measure, &spot.figure, most)
        })
    }
}

/// Whether bypassing is surely less uneven, at every rate.
fn less_uneven(outcome: &Outcome) -> Judged {
    let pairs = pairs(outcome, ["jitter", "jitter-loaded"]);
    let comparisons: Vec<Compared> = pairs.iter().map(Pair::more).collect();
    Judged::by(&comparisons, UNMEASURED, pairs.iter().map(Pair::measured).collect())
}

/// Whether bypassing surely drops less, at every rate that both carry. A rate of which that can't be told leaves it open.
fn less_dropped(outcome: &Outcome) -> Judged {
    let unusable = outcome.paper.number("unusable_share");
    let pairs = pairs(outcome, ["dropped", "dropped-loaded"]);
    let (mut comparisons, mut measured) = (Vec::new(), Vec::new());
    for pair in &pairs {
        let carried = all_below([&pair.sockets.figure, &pair.bypass.figure], unusable);
        match carried {
            Answer::Holds => comparisons.push(pair.more()),
            Answer::Unknown => comparisons.extend(pair.each_below(unusable)),
            Answer::Fails => {}
        }
        let note = if carried == Answer::Fails { ", not carried by both" } else { "" };
        measured.push(pair.measured() + note);
    }
    if comparisons.is_empty() && !pairs.is_empty() {
        return Judged::new(Answer::Unknown, format!("no rate was carried by both: {}", measured.join("; ")));
    }
    Judged::by(&comparisons, UNMEASURED, measured)
}

/// On the loaded host where both were measured there at this rate, else on the quiet one.
fn only_bypass_carries(outcome: &Outcome) -> Judged {
    let pairs = pairs(outcome, ["dropped-loaded", "dropped"]);
    if pairs.is_empty() {
        return Judged::not_run(UNMEASURED);
    }
    let Some(pair) = pairs.iter().find(|pair| pair.sockets.x == OF_100_PRB_SPS) else {
        return Judged::not_run("the rate of 100 PRB");
    };
    let (unusable, most) = (outcome.paper.number("unusable_share"), outcome.paper.number("drop_100_prb_dpdk_share"));
    let [_, kept] = pair.each_below(most);
    let measured = format!("dropped at {}: {}", pair.place(), pair.values());
    Judged::by(&[pair.sockets_above(unusable), kept], "100 PRB", vec![measured])
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

    /// What was dropped on one host: socket and xdp, at each of these rates.
    fn dropped(host: &str, rates: &[(f64, [&[f64]; 2])]) -> Chart {
        let of = |n: usize| rates.iter().map(|(x, rounds)| (*x, rounds[n])).collect::<Vec<_>>();
        let (sockets, bypass) = (of(0), of(1));
        let id = if host == "loaded" { "dropped-loaded" } else { "dropped" };
        let made = chart(id, "rate_sps", Measure::Share, &[(SOCKETS, &sockets), (BYPASS, &bypass)]);
        Chart { part: host.to_owned(), ..made }
    }

    fn of_charts(number: u32, charts: Vec<Chart>) -> Judged {
        judge(number, &Outcome { charts, ..outcome(&facts()) })
    }

    const NONE: [f64; 3] = [0.0; 3];
    const FEW: [f64; 3] = [0.001; 3];
    const HALF: [f64; 3] = [0.5; 3];

    #[test]
    fn a_rate_that_one_of_the_two_did_not_carry_has_no_drops_to_compare() {
        for lost in [[&FEW, &HALF], [&HALF, &FEW], [&HALF, &HALF]] {
            let judged = of_charts(2, vec![dropped("quiet", &[(OF_100_PRB_SPS, lost.map(|rounds| &rounds[..]))])]);
            assert_eq!(judged.answer, Answer::Unknown);
            assert!(judged.measured.starts_with("no rate was carried by both: socket "), "{}", judged.measured);
            assert!(judged.measured.contains("30.72 MS/s on a quiet host"), "{}", judged.measured);
            assert!(!judged.measured.contains("was not measured"), "{}", judged.measured);
        }
        let nothing = of_charts(2, Vec::new());
        assert_eq!(nothing.measured, "a bypass of the sockets was not measured here");
    }

    #[test]
    fn drops_are_compared_at_the_rates_that_both_carried() {
        let lost: (f64, [&[f64]; 2]) = (OF_100_PRB_SPS, [&FEW, &HALF]);
        let judged = of_charts(2, vec![dropped("quiet", &[(7.68e6, [&FEW, &NONE]), lost])]);
        assert_eq!(judged.answer, Answer::Holds);
        assert!(judged.measured.contains("30.72 MS/s on a quiet host, not carried by both"), "{}", judged.measured);
        let more = of_charts(2, vec![dropped("quiet", &[(7.68e6, [&NONE, &FEW]), lost])]);
        assert_eq!(more.answer, Answer::Fails);
    }

    #[test]
    fn whether_a_rate_was_carried_is_told_by_its_interval() {
        let wide: [f64; 3] = [0.0, 0.0, 0.02];
        let judged = of_charts(2, vec![dropped("quiet", &[(7.68e6, [&FEW, &NONE]), (15.36e6, [&NONE, &wide])])]);
        assert_eq!(judged.answer, Answer::Unknown);
        assert!(judged.measured.contains("open: xdp at 15.36 MS/s on a quiet host"), "{}", judged.measured);
        assert!(!judged.measured.contains("carried by both"), "{}", judged.measured);
    }

    #[test]
    fn one_hundred_prb_are_judged_on_the_loaded_host_where_it_has_them_and_else_on_the_quiet_one() {
        let at = |rate: f64, sockets: &'static [f64]| (rate, [sockets, &NONE[..]]);
        let quiet = dropped("quiet", &[at(OF_100_PRB_SPS, &NONE)]);
        let judged = of_charts(3, vec![quiet.clone(), dropped("loaded", &[at(OF_100_PRB_SPS, &HALF)])]);
        assert_eq!(judged.answer, Answer::Holds, "sockets lose it beside load");
        assert!(judged.measured.starts_with("dropped at 30.72 MS/s on a loaded host: "), "{}", judged.measured);
        let judged = of_charts(3, vec![quiet, dropped("loaded", &[at(15.36e6, &HALF)])]);
        assert_eq!(judged.answer, Answer::Fails, "sockets carry it without");
        assert!(judged.measured.starts_with("dropped at 30.72 MS/s on a quiet host: "), "{}", judged.measured);
        let judged = of_charts(3, vec![dropped("loaded", &[at(15.36e6, &HALF)])]);
        assert_eq!(judged.measured, "the rate of 100 PRB was not measured here");
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
