//! Evidence on the expectations, part by part: where the programs are.

use super::limit::limit;
use crate::check::CheckAnswer;
use crate::study::Figure;
use crate::study::claim::Judged;
use crate::sweep::{Chart, Compared, Curve, Measure, Spot, SweepOutcome, all_below, at, value};

/// The curves.
const SHARED: &str = "shared";
const OWN: &str = "own";

/// A guest executed in software is shown and never judged.
pub(super) fn judge(number: u32, part: &str, outcome: &SweepOutcome) -> Judged {
    let judged = match number {
        1 => lossless(part, outcome),
        2 => prompt(part, outcome),
        3 => cheap(part, outcome),
        4 => apart(part, outcome),
        _ => Judged::not_here("nothing judges this expectation", ""),
    };
    let software = part == "guest" && outcome.accelerator() == Some("tcg");
    match software && !judged.measured.is_empty() {
        true => Judged::not_here("guest in software, without KVM", judged.measured),
        false => judged,
    }
}

/// A chart of the part, and its curve of the shared front end.
fn shared<'a>(outcome: &'a SweepOutcome, id: &str, part: &str) -> Result<(&'a Chart, &'a Curve), Judged> {
    let id = format!("{id}-{part}");
    outcome.curve(&id, SHARED).ok_or_else(|| without(outcome, part))
}

/// Nothing was measured with a shared front end there, or no round counts.
fn without(outcome: &SweepOutcome, part: &str) -> Judged {
    Judged::without(part, outcome.of.tried(part, Some(SHARED)))
}

/// Points of both curves at the same number of programs.
fn pairs<'a>(chart: &'a Chart, shared: &'a Curve) -> Vec<(&'a Spot, &'a Spot)> {
    let Some(own) = chart.curve(OWN) else { return Vec::new() };
    shared.measured().filter_map(|spot| Some((spot, own.at(spot.x)?))).collect()
}

fn both(chart: &Chart, (shared, own): &(&Spot, &Spot)) -> String {
    let [shared_value, own_value] = [shared, own].map(|spot| value(chart.measure, &spot.figure));
    format!("{}: {shared_value} shared, {own_value} with radios of their own", at(chart, shared.x))
}

/// A shared front end loses nothing if radios of their own lose nothing.
fn lossless(part: &str, outcome: &SweepOutcome) -> Judged {
    let (chart, curve) = match shared(outcome, "lost", part) {
        Ok(found) => found,
        Err(none) => return none,
    };
    let most = outcome.paper.number("lossless_share");
    let pairs = pairs(chart, curve);
    let measured: Vec<String> = pairs.iter().map(|pair| both(chart, pair)).chain(limit(part, outcome)).collect();
    let held = |(_, own): &&(&Spot, &Spot)| all_below([&own.figure], most) == CheckAnswer::Holds;
    let below = |(shared, _): &(&Spot, &Spot)| {
        Compared::below(
            format!("{} behind a shared front end", at(chart, shared.x)),
            chart.measure,
            &shared.figure,
            most,
        )
    };
    let comparisons: Vec<Compared> = pairs.iter().filter(held).map(below).collect();
    match comparisons.as_slice() {
        [] => Judged::not_here(
            "no number of programs is surely without loss with radios of their own",
            measured.join("; "),
        ),
        comparisons => Judged::by(comparisons, measured),
    }
}

/// The delay behind a shared front end against that of an own radio and what may be added.
fn prompt(part: &str, outcome: &SweepOutcome) -> Judged {
    let (chart, curve) = match shared(outcome, "delay", part) {
        Ok(found) => found,
        Err(none) => return none,
    };
    let added = outcome.paper.number("added_delay_s");
    let pairs = pairs(chart, curve);
    let more = |(shared, own): &(&Spot, &Spot)| {
        let what = format!("the delay with radios of their own plus 1 ms, and shared, {}", at(chart, shared.x));
        Compared::more(what, chart.measure, &later(&own.figure, added), &shared.figure)
    };
    let comparisons: Vec<Compared> = pairs.iter().map(more).collect();
    match comparisons.as_slice() {
        [] => without(outcome, part),
        comparisons => Judged::by(comparisons, pairs.iter().map(|pair| both(chart, pair)).collect()),
    }
}

/// A figure with so much added in each round.
fn later(figure: &Figure, added: f64) -> Figure {
    let mut rounds = figure.rounds.clone();
    rounds.iter_mut().for_each(|round| round.value += added);
    Figure::from_rounds(rounds)
}

/// Cores of the share for up to so many programs.
fn cheap(part: &str, outcome: &SweepOutcome) -> Judged {
    let (chart, curve) = match shared(outcome, "share", part) {
        Ok(found) => found,
        Err(none) => return none,
    };
    let (most, up_to) = (outcome.paper.number("share_cores"), outcome.paper.number("share_cores_up_to"));
    let spots: Vec<&Spot> = curve.measured().filter(|spot| spot.x <= up_to).collect();
    let below = |spot: &&Spot| {
        Compared::below(format!("the share of {}", at(chart, spot.x)), Measure::Cores, &spot.figure, most)
    };
    let words = |spot: &&Spot| format!("{}: {}", at(chart, spot.x), value(chart.measure, &spot.figure));
    Judged::by(&spots.iter().map(below).collect::<Vec<_>>(), spots.iter().map(words).collect())
}

/// Power in silent bands.
fn apart(part: &str, outcome: &SweepOutcome) -> Judged {
    let (chart, curve) = match shared(outcome, "neighbour", part) {
        Ok(found) => found,
        Err(none) => return none,
    };
    let least = outcome.paper.number("neighbour_db");
    let above = |spot: &Spot| {
        Compared::above(format!("the silent band, {}", at(chart, spot.x)), chart.measure, &spot.figure, least)
    };
    let words = |spot: &Spot| format!("{}: {} below full scale", at(chart, spot.x), value(chart.measure, &spot.figure));
    Judged::by(&curve.measured().map(above).collect::<Vec<_>>(), curve.measured().map(words).collect())
}

#[cfg(test)]
mod tests {
    use super::super::facts;
    use super::*;
    use crate::study::claim::PartVerdict;
    use crate::sweep::testing::{Points, chart, outcome};

    fn of(id: &str, measure: Measure, own: &[f64], shared: &[f64]) -> SweepOutcome {
        let mut measured = outcome(&facts());
        let curves: [Points<'_>; 2] = [(OWN, &[(4.0, own)]), (SHARED, &[(4.0, shared)])];
        measured.charts = vec![chart(id, "programs", measure, &curves)];
        measured
    }

    #[test]
    fn a_loss_counts_only_where_radios_of_their_own_have_none() {
        let judged = |own: &[f64], shared: &[f64]| judge(1, "native", &of("lost-native", Measure::Share, own, shared));
        assert_eq!(judged(&[0.0, 0.0], &[0.0, 0.0005]).answer(), CheckAnswer::Unknown, "two rounds leave it open");
        assert_eq!(judged(&[0.0, 0.0], &[0.0, 0.0]).answer(), CheckAnswer::Holds);
        let lost = judged(&[0.0, 0.0], &[0.2, 0.21]);
        assert_eq!(lost.answer(), CheckAnswer::Fails);
        assert!(lost.measured.starts_with("4 programs: 20.50 ["), "{}", lost.measured);
        let full = judged(&[0.3, 0.31], &[0.2, 0.21]);
        assert!(matches!(full.verdict, PartVerdict::NotJudged { open: false, .. }));
    }

    #[test]
    fn a_share_may_add_a_millisecond_and_no_more() {
        let judged =
            |shared: &[f64]| judge(2, "native", &of("delay-native", Measure::Seconds, &[1e-3, 1.01e-3], shared));
        assert_eq!(judged(&[1.5e-3, 1.51e-3]).answer(), CheckAnswer::Holds);
        assert_eq!(judged(&[2.5e-3, 2.51e-3]).answer(), CheckAnswer::Fails);
    }

    #[test]
    fn a_share_takes_less_than_a_core_and_a_silent_band_stays_silent() {
        let cores = |shared: &[f64]| judge(3, "native", &of("share-native", Measure::Cores, &[], shared)).answer();
        assert_eq!([cores(&[0.4, 0.41]), cores(&[1.2, 1.21])], [CheckAnswer::Holds, CheckAnswer::Fails]);
        let below = |shared: &[f64]| {
            judge(4, "guest", &of("neighbour-guest", Measure::Decibels, &[96.0, 96.0], shared)).answer()
        };
        assert_eq!([below(&[92.0, 92.1]), below(&[60.0, 60.1])], [CheckAnswer::Holds, CheckAnswer::Fails]);
        let none = judge(4, "container", &outcome(&facts()));
        assert_eq!(none.verdict, PartVerdict::NotJudged { why: "not measured here: container".into(), open: false });
    }
}
