//! Evidence on the paper's claims, rate by rate: intervals decide, never points.

use crate::check::CheckAnswer;

use crate::study::claim::Judged;
use crate::sweep::{Chart, Compared, Curve, Spot, SweepOutcome, all_below, at, value};

/// Stand-in for UHD: one call a datagram.
const SOCKETS: &str = "socket";
/// Engine that bypasses the kernel's sockets. On a virtual cable, where this runs, `dpdk` is no bypass: its driver is a
/// packet socket of the kernel.
const BYPASS: &str = "xdp";
/// Samples a second at 100 PRB: 2048 points, 15 kHz apart (3GPP TS 36.211, clause 4).
const OF_100_PRB_SPS: f64 = 30.72e6;

/// The part of a claim of a run that has no rate.
const EVERY: &str = "every bandwidth";

const JITTER: [&str; 2] = ["jitter", "jitter-loaded"];
const DROPPED: [&str; 2] = ["dropped", "dropped-loaded"];

/// Rates at which either was to be measured, quiet and loaded.
pub(super) fn points(number: u32, outcome: &SweepOutcome) -> Vec<String> {
    let ids: &[&str] = match number {
        1 => &JITTER,
        2 => &DROPPED,
        4 => &["thread-polling"],
        _ => &[],
    };
    let mut places: Vec<String> = Vec::new();
    for chart in ids.iter().filter_map(|id| outcome.chart(id)) {
        let curves = [SOCKETS, BYPASS].into_iter().filter_map(|name| chart.curve(name));
        let mut rates: Vec<f64> = curves.flat_map(|curve| curve.points.iter().map(|spot| spot.x)).collect();
        rates.sort_by(f64::total_cmp);
        rates.dedup();
        places.extend(rates.into_iter().map(|rate| place(chart, rate)));
    }
    if places.is_empty() { vec![EVERY.to_owned()] } else { places }
}

/// `30.72 MS/s on a loaded host`.
fn place(chart: &Chart, rate_sps: f64) -> String {
    let host = match chart.part.as_str() {
        "loaded" => "a loaded host",
        "polling" => "a quiet host, polling",
        _ => "a quiet host",
    };
    format!("{} on {host}", at(chart, rate_sps))
}

pub(super) fn judge(number: u32, part: &str, outcome: &SweepOutcome) -> Judged {
    match number {
        1 => match pair_at(outcome, JITTER, part) {
            Ok(pair) => Judged::by(&[pair.more()], vec![pair.values()]),
            Err(none) => none,
        },
        2 => match pair_at(outcome, DROPPED, part) {
            Ok(pair) => less_dropped(&pair, outcome.paper.number("unusable_share")),
            Err(none) => none,
        },
        3 => only_bypass_carries(outcome, part),
        4 => polling_fills_a_core(outcome, part),
        _ => Judged::not_here("nothing judges this claim", ""),
    }
}

/// The curve of sockets, and that of what bypasses them.
fn both<'a>(outcome: &'a SweepOutcome, id: &str) -> Option<(&'a Chart, &'a Curve, &'a Curve)> {
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
fn pairs<'a>(outcome: &'a SweepOutcome, ids: [&str; 2]) -> Vec<Pair<'a>> {
    let charts = ids.into_iter().filter_map(|id| both(outcome, id));
    let of = |(chart, sockets, bypass): (&'a Chart, &'a Curve, &'a Curve)| {
        in_common(sockets, bypass).map(move |(sockets, bypass)| Pair { chart, sockets, bypass })
    };
    charts.flat_map(of).collect()
}

impl Pair<'_> {
    fn place(&self) -> String {
        place(self.chart, self.sockets.x)
    }

    fn values(&self) -> String {
        let [sockets, bypass] = [self.sockets, self.bypass].map(|spot| value(self.chart.measure, &spot.figure));
        format!("{SOCKETS} {sockets}, {BYPASS} {bypass}")
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

/// The rate of this place, where both were measured.
fn pair_at<'a>(outcome: &'a SweepOutcome, ids: [&str; 2], part: &str) -> Result<Pair<'a>, Judged> {
    let found = pairs(outcome, ids).into_iter().find(|pair| pair.place() == part);
    found.ok_or_else(|| {
        let is_of =
            |chart: &&Chart| chart.curves.iter().flat_map(|c| &c.points).any(|spot| place(chart, spot.x) == part);
        let chart = ids.iter().filter_map(|id| outcome.chart(id)).find(is_of);
        let has = |name: &str| {
            let spots = chart.and_then(|chart| chart.curve(name)).into_iter().flat_map(Curve::measured);
            chart.is_some_and(|chart| spots.into_iter().any(|spot| place(chart, spot.x) == part))
        };
        let name = if chart.is_none() || has(SOCKETS) { BYPASS } else { SOCKETS };
        Judged::without(name, chart.is_some_and(|chart| outcome.of.tried(&chart.part, Some(name))))
    })
}

/// Bypassing surely drops less, if both carry the rate.
fn less_dropped(pair: &Pair<'_>, unusable: f64) -> Judged {
    let measured = vec![pair.values()];
    match all_below([&pair.sockets.figure, &pair.bypass.figure], unusable) {
        CheckAnswer::Holds => Judged::by(&[pair.more()], measured),
        CheckAnswer::Unknown => Judged::by(&pair.each_below(unusable), measured),
        CheckAnswer::Fails => Judged::not_here("not carried by both, so that drops do not compare", pair.values()),
    }
}

/// On the loaded host where both were measured there at this rate, else on the quiet one. Two parts: sockets do not carry it, and
/// bypassing them does.
fn only_bypass_carries(outcome: &SweepOutcome, part: &str) -> Judged {
    let ids = ["dropped-loaded", "dropped"];
    let pairs = pairs(outcome, ids);
    let Some(pair) = pairs.iter().find(|pair| pair.sockets.x == OF_100_PRB_SPS) else {
        return match pairs.as_slice() {
            [] => {
                outcome.without("dropped", if outcome.curve("dropped", SOCKETS).is_some() { BYPASS } else { SOCKETS })
            }
            _ => Judged::not_here("not measured here: the rate of 100 PRB", ""),
        };
    };
    let (unusable, most) = (outcome.paper.number("unusable_share"), outcome.paper.number("drop_100_prb_dpdk_share"));
    let ([_, kept], lost) = (pair.each_below(most), pair.sockets_above(unusable));
    let dropped = |spot: &Spot| format!("{} dropped at {}", value(pair.chart.measure, &spot.figure), pair.place());
    match part {
        SOCKETS => Judged::by(&[lost], vec![dropped(pair.sockets)]),
        _ => Judged::by(&[kept], vec![dropped(pair.bypass)]),
    }
}

/// The paper's two threads: the one that polls past the sockets, and the one that waits at them. Nobody knows what a
/// ninth of the paper's core is here: the second takes less than the first.
fn polling_fills_a_core(outcome: &SweepOutcome, part: &str) -> Judged {
    let (polling, sockets) = (outcome.curve("thread-polling", BYPASS), outcome.curve("thread", SOCKETS));
    let Some((chart, polling)) = polling else { return outcome.without("thread-polling", BYPASS) };
    let Some((_, sockets)) = sockets else { return outcome.without("thread", SOCKETS) };
    let Some((spot, waits)) = in_common(polling, sockets).find(|(spot, _)| place(chart, spot.x) == part) else {
        return Judged::not_here(format!("not measured here: {BYPASS} polling where {SOCKETS} waited"), "");
    };
    let full = outcome.paper.number("full_core_share");
    let polls = format!("{} polling", polling.name);
    let comparisons = [
        Compared::above(polls.clone(), chart.measure, &spot.figure, full),
        Compared::more(format!("{polls} and {SOCKETS}"), chart.measure, &spot.figure, &waits.figure),
    ];
    let [has, has_waiting] = [&spot.figure, &waits.figure].map(|figure| value(chart.measure, figure));
    Judged::by(&comparisons, vec![format!("{polls} {has}, {SOCKETS} {has_waiting}")])
}

#[cfg(test)]
mod tests {
    use super::super::facts;
    use super::*;
    use crate::study::{Claim, PartVerdict};
    use crate::sweep::Measure;
    use crate::sweep::testing::{Points, chart, outcome};

    /// As a run is judged.
    fn claim(number: u32, measured: &SweepOutcome) -> Claim {
        let judged = |number, part: &str| judge(number, part, measured);
        measured.paper.judged(|number| points(number, measured), judged).remove(number as usize - 1)
    }

    fn with(id: &str, measure: Measure, sockets: &[f64], bypass: &[f64]) -> SweepOutcome {
        let mut measured = outcome(&facts());
        let curves: [Points<'_>; 2] = [(SOCKETS, &[(OF_100_PRB_SPS, sockets)]), ("xdp", &[(OF_100_PRB_SPS, bypass)])];
        measured.charts = vec![chart(id, "rate_sps", measure, &curves)];
        measured
    }

    #[test]
    fn less_uneven_is_stated_only_where_the_intervals_leave_nothing_else() {
        let answer =
            |sockets: &[f64], bypass: &[f64]| claim(1, &with("jitter", Measure::Seconds, sockets, bypass)).answer;
        assert_eq!(answer(&[10e-6, 11e-6, 10e-6], &[5e-6, 5e-6, 6e-6]), CheckAnswer::Holds);
        assert_eq!(answer(&[5e-6, 5e-6, 6e-6], &[10e-6, 11e-6, 10e-6]), CheckAnswer::Fails);
        assert_eq!(answer(&[5e-6, 9e-6, 6e-6], &[6e-6, 7e-6, 5e-6]), CheckAnswer::Unknown);
        assert_eq!(claim(1, &outcome(&facts())).answer, CheckAnswer::Unknown);
    }

    #[test]
    fn what_neither_loses_does_not_show_that_sockets_lose_more() {
        let none = with("dropped", Measure::Share, &[0.0; 3], &[0.0; 3]);
        assert_ne!(claim(2, &none).answer, CheckAnswer::Holds);
        assert_eq!(claim(3, &none).answer, CheckAnswer::Fails, "sockets carry it");
        let lost = with("dropped", Measure::Share, &[0.2, 0.21, 0.2], &[0.0; 3]);
        assert_eq!(claim(3, &lost).answer, CheckAnswer::Holds);
        assert_eq!(claim(2, &lost).answer, CheckAnswer::Unknown, "a link that was not carried has no drops to compare");
    }

    /// Chart of what was dropped on one host: socket and xdp, at each of these rates.
    fn dropped(host: &str, rates: &[(f64, [&[f64]; 2])]) -> Chart {
        let of = |n: usize| rates.iter().map(|(x, rounds)| (*x, rounds[n])).collect::<Vec<_>>();
        let (sockets, bypass) = (of(0), of(1));
        let id = if host == "loaded" { "dropped-loaded" } else { "dropped" };
        let made = chart(id, "rate_sps", Measure::Share, &[(SOCKETS, &sockets), (BYPASS, &bypass)]);
        Chart { part: host.to_owned(), ..made }
    }

    fn of_charts(number: u32, charts: Vec<Chart>) -> Claim {
        claim(number, &SweepOutcome { charts, ..outcome(&facts()) })
    }

    const NONE: [f64; 3] = [0.0; 3];
    const FEW: [f64; 3] = [0.001; 3];
    const HALF: [f64; 3] = [0.5; 3];

    #[test]
    fn a_rate_that_one_of_the_two_did_not_carry_has_no_drops_to_compare() {
        for lost in [[&FEW, &HALF], [&HALF, &FEW], [&HALF, &HALF]] {
            let judged = of_charts(2, vec![dropped("quiet", &[(OF_100_PRB_SPS, lost.map(|rounds| &rounds[..]))])]);
            assert_eq!(judged.answer, CheckAnswer::Unknown);
            let why = "not carried by both, so that drops do not compare";
            assert!(judged.measured.starts_with(&format!("not judged: {why}; socket ")), "{}", judged.measured);
            assert_eq!(judged.parts[0].part, "30.72 MS/s on a quiet host");
        }
        let nothing = of_charts(2, Vec::new());
        assert_eq!(nothing.measured, "not judged: not measured here: xdp");
    }

    #[test]
    fn drops_are_compared_at_the_rates_that_both_carried() {
        let lost: (f64, [&[f64]; 2]) = (OF_100_PRB_SPS, [&FEW, &HALF]);
        let judged = of_charts(2, vec![dropped("quiet", &[(7.68e6, [&FEW, &NONE]), lost])]);
        assert_eq!(judged.answer, CheckAnswer::Holds);
        assert!(
            judged.measured.contains("; 30.72 MS/s on a quiet host: not judged: not carried by both"),
            "{}",
            judged.measured
        );
        let more = of_charts(2, vec![dropped("quiet", &[(7.68e6, [&NONE, &FEW]), lost])]);
        assert_eq!(more.answer, CheckAnswer::Fails);
    }

    #[test]
    fn whether_a_rate_was_carried_is_told_by_its_interval() {
        let wide: [f64; 3] = [0.0, 0.0, 0.02];
        let judged = of_charts(2, vec![dropped("quiet", &[(7.68e6, [&FEW, &NONE]), (15.36e6, [&NONE, &wide])])]);
        assert_eq!(judged.answer, CheckAnswer::Unknown);
        assert_eq!(
            judged.parts.iter().map(|part| part.verdict.answer()).collect::<Vec<_>>(),
            [CheckAnswer::Holds, CheckAnswer::Unknown]
        );
        assert!(judged.measured.contains("open: xdp at 15.36 MS/s on a quiet host"), "{}", judged.measured);
        assert!(!judged.measured.contains("carried by both"), "{}", judged.measured);
    }

    #[test]
    fn one_hundred_prb_are_judged_on_the_loaded_host_where_it_has_them_and_else_on_the_quiet_one() {
        let at = |rate: f64, sockets: &'static [f64]| (rate, [sockets, &NONE[..]]);
        let quiet = dropped("quiet", &[at(OF_100_PRB_SPS, &NONE)]);
        let judged = of_charts(3, vec![quiet.clone(), dropped("loaded", &[at(OF_100_PRB_SPS, &HALF)])]);
        assert_eq!(judged.answer, CheckAnswer::Holds, "sockets lose it beside load");
        assert!(judged.measured.ends_with("dropped at 30.72 MS/s on a loaded host"), "{}", judged.measured);
        let judged = of_charts(3, vec![quiet, dropped("loaded", &[at(15.36e6, &HALF)])]);
        assert_eq!(judged.answer, CheckAnswer::Fails, "sockets carry it without");
        assert!(judged.measured.ends_with("dropped at 30.72 MS/s on a quiet host"), "{}", judged.measured);
        let judged = of_charts(3, vec![dropped("loaded", &[at(15.36e6, &HALF)])]);
        assert_eq!(judged.answer, CheckAnswer::Unknown);
        assert!(
            judged.measured.ends_with("xdp: not judged: not measured here: the rate of 100 PRB"),
            "{}",
            judged.measured
        );
    }

    #[test]
    fn an_engine_that_waits_does_not_stand_for_a_bypass() {
        let mut measured = outcome(&facts());
        let curves: [Points<'_>; 2] = [
            (SOCKETS, &[(OF_100_PRB_SPS, &[10e-6, 11e-6, 10e-6])]),
            ("dpdk", &[(OF_100_PRB_SPS, &[1e-6, 1e-6, 1e-6])]),
        ];
        measured.charts = vec![chart("jitter", "rate_sps", Measure::Seconds, &curves)];
        assert_eq!(claim(1, &measured).answer, CheckAnswer::Unknown, "dpdk on a cable is a socket of the kernel");
    }

    #[test]
    fn a_thread_that_polls_fills_its_core_or_does_not() {
        let answer = |polling: &[f64]| {
            let mut measured = with("thread", Measure::Share, &[0.2, 0.21], &[0.19, 0.2]);
            measured.charts.extend(with("thread-polling", Measure::Share, &[0.99, 1.0], polling).charts);
            claim(4, &measured).answer
        };
        assert_eq!(answer(&[0.98, 0.99, 0.98]), CheckAnswer::Holds);
        assert_eq!(answer(&[0.3, 0.31, 0.3]), CheckAnswer::Fails, "it slept");
        assert_eq!(answer(&[0.8, 0.99, 0.9]), CheckAnswer::Unknown);
        let waits = with("thread", Measure::Share, &[0.2, 0.21], &[0.99, 0.99]);
        assert_eq!(claim(4, &waits).answer, CheckAnswer::Unknown, "nothing polled");
    }

    #[test]
    fn a_rate_that_an_engine_lacks_is_a_part_that_is_not_judged() {
        let quiet = dropped("quiet", &[(7.68e6, [&FEW, &NONE])]);
        let mut loaded = dropped("loaded", &[(7.68e6, [&FEW, &NONE])]);
        loaded.curves[1].points[0].figure = crate::study::Figure::default();
        let judged = of_charts(2, vec![quiet, loaded]);
        assert_eq!(judged.answer, CheckAnswer::Holds, "by the quiet host");
        let [quiet, loaded] = judged.parts.as_slice() else { panic!("two parts: {judged:?}") };
        assert_eq!((quiet.part.as_str(), &quiet.verdict), ("7.68 MS/s on a quiet host", &PartVerdict::Seen));
        let why = "not measured here: xdp".to_owned();
        assert_eq!(loaded.verdict, PartVerdict::NotJudged { why, open: false });
    }
}
