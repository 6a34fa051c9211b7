//! Results of a round of the exchange.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use takt_dsp::tdscdma::ANSWER_DEADLINE_NS;
use takt_radio::n200::N200;
use takt_stats::{Histogram, Ns, Quantiles};

use super::exchange::Ran;
use super::excluded::{self, Excluded, Own, Segments, SplitSubframes};
use super::interface::{Given, Plan};
use super::options::DeadlineOptions;
use super::stages::{self, STAGES};
use super::trace::Traced;
use crate::round_trip::{ClockModel, Verdict, nanoseconds, record};

/// Results of a round of the exchange. Times are from the intended beginning of the first downlink slot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeadlineOutcome {
    pub options: DeadlineOptions,
    pub serial: String,
    pub subframes: u64,
    pub answers: u64,
    /// Answers that were ready after 3.45 ms.
    pub late: u64,
    pub missed: u64,
    pub failures: u64,
    pub failure_ratio: f64,
    pub limit_ns: u64,
    /// From the first downlink slot to the answer, of all answers.
    pub total_ns: Histogram<Ns>,
    pub budget: Budget,
    /// Blocks that were decoded without an error.
    pub decoded: u64,
    /// Blocks that the CRC took for right and that were not.
    pub undetected: u64,
    pub radio: Radio,
    /// Subframes that are excluded, since they were not this host's doing.
    pub excluded: Excluded,
    pub own: Own,
    /// Both, segment by segment.
    #[serde(default)]
    pub segments: Segments,
    /// The answers that took longest, the worst first, but for those that are excluded.
    pub worst: Vec<Answered>,
    /// Threads that ran while the worst of them waited, if that was requested.
    pub trace: Option<Traced>,
    pub lost_samples: u64,
    pub overflows: u64,
    pub timeouts: u64,
    /// Subframes that the layers were too far behind to take.
    pub not_taken: u64,
    /// How far times across the two clocks may be off, nanoseconds.
    pub clock_uncertainty_ns: u64,
    /// How much faster the radio's clock runs than this host's, parts in a million.
    pub clock_drift_ppm: f64,
    pub complete: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    pub stages: BTreeMap<String, Histogram<Ns>>,
    pub quantiles: BTreeMap<String, Quantiles>,
    /// The largest difference between an answer's total and the sum of its stages, nanoseconds.
    pub unexplained_ns: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Radio {
    /// Came after the time at which they were to leave (`L`).
    pub late: u64,
    pub on_time: u64,
    /// It reported nothing, or something else.
    pub unknown: u64,
    pub late_by_both: u64,
    pub late_by_host_alone: u64,
    /// Late by the radio's alone: between this host's kernel and the radio.
    pub late_by_radio_alone: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    /// Its subframe, counted from the first that is kept.
    pub subframe: u64,
    /// When its first downlink slot began, on this host's clock, nanoseconds.
    pub from_ns: i64,
    pub total_ns: i64,
    pub stages_ns: BTreeMap<String, i64>,
}

const WORST: usize = 8;

pub(super) fn of(
    options: &DeadlineOptions,
    radio: &N200,
    plan: &Plan,
    clocks: &ClockModel,
    ran: Ran,
    complete: bool,
) -> DeadlineOutcome {
    let Ran { received, mut answers, stalls, roles } = ran;
    answers.retain(|given| given.number >= plan.warm_up);
    for given in &mut answers {
        given.row[0] = clocks.host_ns(plan.first_downlink(given.number));
        given.row[1] = clocks.host_ns(plan.begins(given.number + 1));
    }
    let subframes = plan.subframes - plan.warm_up;
    let is_late = |given: &Given| stages::total(&given.row) > ANSWER_DEADLINE_NS as i64;
    let late = count(&answers, is_late);
    let missed = subframes.saturating_sub(answers.len() as u64);
    let answered: BTreeMap<u64, &Given> = answers.iter().map(|given| (given.number, given)).collect();
    let timing = |number| excluded::Timing {
        air_end_ns: clocks.host_ns(plan.begins(number + 1)),
        arrived_ns: received.arrived_ns.get(number as usize).copied().flatten(),
        halted: answered.get(&number).map(|given| given.halted).unwrap_or_default(),
        failed: answered.get(&number).is_none_or(|given| is_late(given)),
    };
    let SplitSubframes { excluded, own, segments, numbers } =
        excluded::split((0..plan.subframes).map(timing), plan.warm_up, &stalls);
    let failures = late + missed;
    let mut total_ns = Histogram::default();
    answers.iter().for_each(|given| record(&mut total_ns, stages::total(&given.row)));
    DeadlineOutcome {
        options: options.clone(),
        serial: radio.identity().serial.clone(),
        subframes,
        answers: answers.len() as u64,
        late,
        missed,
        failures,
        failure_ratio: failures as f64 / subframes.max(1) as f64,
        limit_ns: ANSWER_DEADLINE_NS,
        total_ns,
        budget: budget(&answers),
        decoded: count(&answers, |given| given.acknowledged),
        undetected: roles.iter().map(|role| role.wrong).sum(),
        radio: judged(&answers, is_late),
        excluded,
        own,
        segments,
        worst: worst(answers.iter().filter(|given| !numbers.contains(&given.number)), plan.warm_up),
        trace: None,
        lost_samples: received.losses.lost_samples,
        overflows: received.losses.overflows,
        timeouts: received.losses.timeouts,
        not_taken: received.not_taken,
        clock_uncertainty_ns: nanoseconds(clocks.uncertainty),
        clock_drift_ppm: clocks.drift_ppm(),
        complete,
    }
}

fn count(answers: &[Given], which: impl Fn(&Given) -> bool) -> u64 {
    answers.iter().filter(|given| which(given)).count() as u64
}

fn judged(answers: &[Given], is_late: impl Fn(&Given) -> bool) -> Radio {
    let of = |verdict: Verdict, late: Option<bool>| {
        count(answers, |given| given.verdict == verdict && late.is_none_or(|late| is_late(given) == late))
    };
    Radio {
        late: of(Verdict::Late, None),
        on_time: of(Verdict::OnTime, None),
        unknown: of(Verdict::Unknown, None) + of(Verdict::Broken, None),
        late_by_both: of(Verdict::Late, Some(true)),
        late_by_host_alone: of(Verdict::OnTime, Some(true)),
        late_by_radio_alone: of(Verdict::Late, Some(false)),
    }
}

fn budget(answers: &[Given]) -> Budget {
    let mut histograms = vec![Histogram::<Ns>::default(); STAGES.len()];
    let mut unexplained = 0;
    for given in answers {
        let stages = stages::of(&given.row);
        stages.iter().zip(&mut histograms).for_each(|(ns, histogram)| record(histogram, *ns));
        unexplained = unexplained.max((stages.iter().sum::<i64>() - stages::total(&given.row)).unsigned_abs());
    }
    let named = || STAGES.iter().map(|stage| stage.name().to_owned());
    Budget {
        quantiles: named().zip(histograms.iter().map(Quantiles::of)).collect(),
        stages: named().zip(histograms).collect(),
        unexplained_ns: unexplained,
    }
}

fn worst<'a>(answers: impl Iterator<Item = &'a Given>, warm_up: u64) -> Vec<Answered> {
    let mut order: Vec<&Given> = answers.collect();
    order.sort_by_key(|given| std::cmp::Reverse(stages::total(&given.row)));
    let answered = |given: &Given| Answered {
        subframe: given.number - warm_up,
        from_ns: given.row[0],
        total_ns: stages::total(&given.row),
        stages_ns: STAGES.iter().map(|stage| stage.name().to_owned()).zip(stages::of(&given.row)).collect(),
    };
    order.into_iter().take(WORST).map(answered).collect()
}
