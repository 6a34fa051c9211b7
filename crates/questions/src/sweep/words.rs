//! The sentences of such a study.

use takt_base::words::{self, sentence};
use takt_lab::summary::FEW_ROUNDS;

use super::noise::in_order;
use super::{Chart, Measure, Spot, Study, SweepOutcome};

/// Evidence on the claims, and what set the results.
pub(super) fn summary(outcome: &SweepOutcome) -> Vec<String> {
    let mut summary = Vec::new();
    for noise in &outcome.noise {
        if let Some(ratio) = noise.ratio {
            summary.push(format!(
                "the same point measured twice ({}) differs by a factor of {:.3} [{:.3}, {:.3}]: ignore smaller differences",
                noise.point,
                ratio.point(),
                ratio.low(),
                ratio.high(),
            ));
        }
    }
    for site in outcome.sites.iter().filter(|site| !site.set_by.is_empty()) {
        let each = site.set_by.iter().map(|(who, rounds)| format!("{} in {rounds}", setter(who)));
        let each = each.collect::<Vec<_>>().join(", ");
        summary.push(format!("{}: limits of a load's result, by rounds: {each}", site.name()));
    }
    summary.iter().map(|words| sentence(words)).collect()
}

fn setter(who: &str) -> &str {
    match who {
        "load" => "the load (all offered datagrams arrived)",
        "path" => "the path",
        "machine" => "the machine",
        _ => "unclear",
    }
}

pub(super) fn warnings(outcome: &SweepOutcome) -> Vec<String> {
    let mut warnings = Vec::new();
    let spots = || outcome.charts.iter().flat_map(|chart| chart.curves.iter().map(move |curve| (chart, curve)));
    let measured = || spots().flat_map(|(chart, curve)| curve.measured().map(move |spot| (chart, curve, spot)));
    let few = measured().filter(|(.., spot)| spot.figure.counted() < FEW_ROUNDS).count();
    let all = measured().count();
    if few > 0 {
        warnings.push(format!(
            "{few} of {all} figures rest on fewer than {FEW_ROUNDS} rounds, so their intervals are wide"
        ));
    }
    let mut order: Vec<String> = Vec::new();
    let mut looked = 0;
    for (chart, curve, spot) in measured() {
        let rounds = in_order(&spot.figure);
        looked += usize::from(rounds.len() >= 6);
        if let Some(warning) = takt_stats::order_warning(&rounds) {
            order.push(format!("figure {}, {} at {}: {warning}", chart.number, curve.name, at(chart, spot.x)));
        }
    }
    // Each looks at 99 %, twice: one in fifty warns by chance.
    let by_chance = looked.div_ceil(50);
    if order.len() > by_chance {
        let more = order.len();
        warnings
            .push(format!("{more} of {looked} series of rounds depend on their order; chance alone gives {by_chance}"));
        warnings.extend(order.into_iter().take(5));
    }
    let rounds = &outcome.of.rounds;
    let (not, ran) = (rounds.disturbed + rounds.emulator_late, rounds.valid + rounds.disturbed + rounds.emulator_late);
    if not > 0 {
        warnings
            .push(format!("in {not} of {ran} rounds other load disturbed the host; they are kept but do not count"));
    }
    if rounds.failed > 0 {
        warnings.push(format!("takt could not run {} rounds", rounds.failed));
    }
    warnings.iter().map(|words| sentence(words)).collect()
}

pub(super) fn caveats(study: &Study, outcome: &SweepOutcome) -> Vec<String> {
    let mut words: Vec<String> = study.caveats.iter().map(|&words| words.to_owned()).collect();
    let judged = outcome.of.parts.seen + outcome.of.parts.fails;
    if judged > 1 {
        let chance = (1.0 - 0.95_f64.powi(judged as i32)) * 100.0;
        words.push(format!(
            "takt judges each part of a claim at 95 % on its own, so in up to {chance:.0} % of such studies chance misjudges at \
             least one of the {judged} judged here"
        ));
    }
    words.extend(outcome.sites.iter().flat_map(|site| site.notes.iter().cloned()));
    words.extend(outcome.of.limits());
    let mut sentences: Vec<String> = words.iter().map(|words| sentence(words)).collect();
    sentences.dedup();
    sentences
}

/// A level across as a person says it.
pub(crate) fn at(chart: &Chart, x: f64) -> String {
    match chart.x.as_str() {
        "payload_bytes" => format!("{x} B"),
        "rate_sps" => format!("{} MS/s", (x / 1e4).round() / 100.0),
        "programs" => words::plural(x as u64, "program"),
        _ => x.to_string(),
    }
}

/// Points with their values: `0.98 [0.93, 1.04] at 512 B, 1.00 [0.99, 1.01] at 1280 B`.
pub(crate) fn list<'a>(chart: &Chart, spots: impl IntoIterator<Item = &'a Spot>) -> String {
    let one = |spot: &Spot| format!("{} at {}", value(chart.measure, &spot.figure), at(chart, spot.x));
    spots.into_iter().map(one).collect::<Vec<_>>().join(", ")
}

/// A value in the unit of its chart, with its interval.
pub(crate) fn value(measure: Measure, figure: &crate::study::Figure) -> String {
    to_decimals(measure, figure, 0)
}

/// Two figures that are compared, with as many decimals more as tell them apart; `None` where none do.
pub(crate) fn apart(measure: Measure, a: &crate::study::Figure, b: &crate::study::Figure) -> Option<[String; 2]> {
    let to = |more| [a, b].map(|figure| to_decimals(measure, figure, more));
    (0..=4).map(to).find(|[a, b]| a != b)
}

fn to_decimals(measure: Measure, figure: &crate::study::Figure, more: usize) -> String {
    let (factor, unit, decimals) = match measure {
        Measure::BitsPerS => (1e-6, " Mb/s", 1),
        Measure::DatagramsPerS => (1e-3, " kdatagrams/s", 1),
        Measure::SamplesPerS => (1e-6, " MS/s", 2),
        Measure::Share => (100.0, " %", 2),
        Measure::Times => (1.0, "", 2),
        Measure::Cores => (1.0, " cores", 2),
        Measure::Seconds => (1e6, " µs", 1),
        Measure::Count => (1.0, "", 0),
        Measure::Decibels => (1.0, " dB", 1),
    };
    // An interval ends where its quantity does: nothing here is less than nothing, nor a share more than all.
    let whole = |value: f64| value.clamp(0.0, if measure == Measure::Share { 1.0 } else { f64::INFINITY });
    let decimals = decimals + more;
    let show = |value: f64| format!("{:.decimals$}", whole(value) * factor);
    figure.shown(show).map_or_else(|| "unknown".into(), |shown| shown + unit)
}
