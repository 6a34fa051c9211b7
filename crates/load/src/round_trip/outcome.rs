//! Results of a round of answers.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_stats::{Histogram, Ns, Quantiles};

use super::clocks::ClockModel;
use super::{Answer, RoundTripOptions, Tally, Verdict};

/// Results of a round of answers. Times are from the last sample of a block on the radio's antenna.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundTripOutcome {
    pub options: RoundTripOptions,
    pub serial: String,
    /// Seconds of the radio in a second of this host; `None`: hardware, which does not say.
    #[serde(default)] // records older than this key
    pub radio_speed: Option<f64>,
    pub answers: u64,
    pub late: u64,
    /// Answers of which the radio reported nothing, or something else.
    pub unknown: u64,
    /// Answers that were due and could not be given: what they would have answered was lost.
    #[serde(default)] // records older than this key
    pub unanswered: u64,
    /// For every answer that was late, lost or not given: when its samples were on the air, in ticks of the radio's
    /// clock.
    #[serde(default)] // records older than this key
    pub failed_ticks: Vec<u64>,
    #[serde(default)] // records older than this key
    pub span_ticks: [u64; 2],
    pub delays: Vec<DelayOutcome>,
    /// From the air to the answer's leaving the host, of all answers: an answer is late if this exceeds its delay.
    pub air_to_answer_ns: Histogram<Ns>,
    pub stages: Stages,
    /// How far times across the two clocks may be off, nanoseconds.
    pub clock_uncertainty_ns: u64,
    /// How much faster the radio's clock runs than this host's, parts in a million.
    pub clock_drift_ppm: f64,
    pub spacing_s: f64,
    pub lost_samples: u64,
    pub overflows: u64,
    pub timeouts: u64,
    /// Answers that ran out of samples.
    pub underflows: u64,
    /// Answers lost on the way to the radio.
    pub sequence_errors: u64,
    pub complete: bool,
}

impl RoundTripOutcome {
    #[must_use]
    pub fn due(&self) -> u64 {
        self.answers + self.unanswered
    }

    /// Answers due of which the radio never reported that they were in time: lost on the way, broken, or not given.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.unknown + self.unanswered
    }

    /// Share of the answers due that were late or lost, 0 to 1; 1 if none was given at all.
    #[must_use]
    pub fn failed_share(&self) -> f64 {
        if self.due() == 0 { 1.0 } else { (self.late + self.lost()) as f64 / self.due() as f64 }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DelayOutcome {
    pub delay_ns: u64,
    pub answers: u64,
    pub late: u64,
    pub unknown: u64,
    /// Late by this host's account: they left later than they were due.
    pub late_by_host: u64,
    /// How much time was left, of those that left in time.
    pub margin_ns: Histogram<Ns>,
    /// How much was missing, of those that left too late.
    pub tardiness_ns: Histogram<Ns>,
    pub air_to_answer: Quantiles,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stages {
    /// From the air to this host's kernel: the rest of the datagram, the radio, the path.
    pub air_to_kernel_ns: Histogram<Ns>,
    /// From the kernel to the reader: waking up, and what was read before.
    pub kernel_to_reader_ns: Histogram<Ns>,
    /// From the reader to the kernel again: the answer.
    pub reader_to_sent_ns: Histogram<Ns>,
}

pub(super) fn of(
    options: &RoundTripOptions,
    serial: String,
    answers: &[Answer],
    clocks: &ClockModel,
    tally: &Tally,
) -> RoundTripOutcome {
    let (mut stages, mut total) = (Stages::default(), Histogram::default());
    let of_delay = |delay: &Duration| DelayOutcome { delay_ns: nanoseconds(*delay), ..DelayOutcome::default() };
    let mut delays: Vec<_> = options.delays.iter().map(|delay| (of_delay(delay), Histogram::default())).collect();
    for answer in answers {
        let air_to_answer = clocks.ns_from(answer.block_end, answer.sent);
        record(&mut total, air_to_answer);
        if let Some(in_kernel) = answer.in_kernel {
            record(&mut stages.air_to_kernel_ns, clocks.ns_from(answer.block_end, in_kernel));
            record(&mut stages.kernel_to_reader_ns, answer.with_reader.0 as i64 - in_kernel.0 as i64);
        }
        record(&mut stages.reader_to_sent_ns, answer.sent.0 as i64 - answer.with_reader.0 as i64);
        let Some((outcome, times)) = delays.get_mut(answer.delay) else { continue };
        record(times, air_to_answer);
        outcome.note(answer, clocks);
    }
    for (outcome, times) in &mut delays {
        outcome.air_to_answer = Quantiles::of(times);
    }
    let delays: Vec<DelayOutcome> = delays.into_iter().map(|(outcome, _)| outcome).collect();
    let sum = |count: fn(&DelayOutcome) -> u64| delays.iter().map(count).sum();
    let failed = answers.iter().filter(|answer| answer.verdict != Verdict::OnTime).map(|answer| answer.block_end.0);
    RoundTripOutcome {
        options: options.clone(),
        serial,
        radio_speed: None,
        answers: sum(|d| d.answers),
        late: sum(|d| d.late),
        unknown: sum(|d| d.unknown),
        unanswered: tally.unanswered_ticks.len() as u64,
        failed_ticks: failed.chain(tally.unanswered_ticks.iter().copied()).collect(),
        span_ticks: tally.span_ticks,
        air_to_answer_ns: total,
        stages,
        clock_uncertainty_ns: nanoseconds(clocks.uncertainty),
        clock_drift_ppm: clocks.drift_ppm(),
        spacing_s: tally.spacing_s,
        lost_samples: tally.losses.lost_samples,
        overflows: tally.losses.overflows,
        timeouts: tally.losses.timeouts,
        underflows: tally.underflows,
        sequence_errors: tally.sequence_errors,
        complete: tally.complete,
        delays,
    }
}

impl DelayOutcome {
    fn note(&mut self, answer: &Answer, clocks: &ClockModel) {
        self.answers += 1;
        self.late += u64::from(answer.verdict == Verdict::Late);
        self.unknown += u64::from(matches!(answer.verdict, Verdict::Unknown | Verdict::Broken));
        let overdue = clocks.ns_from(answer.due, answer.sent);
        if overdue > 0 {
            self.late_by_host += 1;
            record(&mut self.tardiness_ns, overdue);
        } else {
            record(&mut self.margin_ns, -overdue);
        }
    }
}

/// A time that the clocks' uncertainty makes negative counts as zero.
pub(crate) fn record(histogram: &mut Histogram<Ns>, ns: i64) {
    histogram.record_saturating(u64::try_from(ns).unwrap_or(0));
}

pub(crate) fn nanoseconds(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}
