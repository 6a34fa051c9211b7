//! Answers in time: from the samples' time stamps to the answer at the radio.

use crate::check::{CheckOutcome, RoundState, RoundTripPoint, RoundTripRound};

use super::answer::Answers;
use super::words::time;
use super::{figures, mean, section_of, words};
use takt_page::Reading;
use takt_page::{Cell, Column, ReportAnswer, Row, Section, Table, Unit};

pub(super) fn section(outcome: &CheckOutcome) -> Option<Section> {
    let lead = "The host receives samples and answers with a burst that is timed a fixed delay after them. The radio reports \
                which answers came too late. Times run from the sample at the antenna to the answer in the radio's buffer.";
    section_of("answers", "Answers in time", lead, figures::replies(outcome), [table(outcome)])
}

pub(super) fn anchor(p: &RoundTripPoint) -> String {
    format!("answer-{:.0}us-{:.0}", p.delay_us, p.rate_sps)
}

fn table(outcome: &CheckOutcome) -> Table {
    let row = |p: &RoundTripPoint| {
        let id = anchor(p);
        let rounds = format!("{id}-rounds");
        let counted: Vec<&RoundTripRound> = p.rounds.iter().filter(|r| r.state == RoundState::Valid).collect();
        let answers = Answers::of(p);
        let mean = |f: fn(&RoundTripRound) -> f64| mean(Unit::SECONDS, counted.iter().map(|r| f(r) * 1e-6), &rounds);
        let mut cells = vec![Cell::text(format!("{} at {}", time(p.delay_us), words::rate(p.rate_sps)))];
        if let Some(why) = &p.skipped {
            cells.push(Cell::answered(format!("not run: {why}"), ReportAnswer::Unknown));
            cells.extend((0..5).map(|_| Cell::default()));
        } else {
            cells.push(Cell { answer: Some(answers.answer_of(outcome)), ..Cell::linked(answers.to_string(), &rounds) });
            let share = p.late_share.map(|e| Unit::SHARE.show_reading(&Reading::share(e)));
            cells.push(share.map_or_else(Cell::default, |share| Cell::linked(share, &rounds)));
            cells.extend([mean(|r| r.p50_us), mean(|r| r.p99_us), mean(|r| r.p99_9_us)]);
            let slowest = counted.iter().map(|r| r.max_us).fold(f64::NAN, f64::max);
            cells.push(if slowest.is_finite() { Cell::linked(time(slowest), &rounds) } else { Cell::default() });
        }
        Row::Cells { id: Some(id), cells }
    };
    let heads = ["late", "late share", "50 %", "99 %", "99.9 %", "slowest"];
    let columns = Column::row("requested delay", &heads, &[]);
    let rounds = outcome.round_trips.iter().flat_map(|point| &point.rounds);
    let shares = rounds.filter(|round| round.state == RoundState::Valid).map(|round| round.excluded_share);
    let late = radio_late(shares);
    Table::new("all-delays", "Every delay", columns, outcome.round_trips.iter().map(row).collect())
        .with_note(format!("Each quantile is the mean of the rounds' own quantiles, with its 95 % interval.{late}"))
}

/// How long the radio itself was late, by the shares of the rounds; nothing if it never was.
fn radio_late(shares: impl Iterator<Item = f64>) -> String {
    match shares.fold(0.0, f64::max) {
        0.0 => String::new(),
        share => format!(" The radio itself was late during up to {} of a round.", Unit::SHARE.show(share, 2)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_note_says_how_long_the_radio_itself_was_late() {
        assert_eq!(radio_late([0.0, 0.0].into_iter()), "");
        let late = radio_late([0.0, 0.04, 0.01].into_iter());
        assert_eq!(late, " The radio itself was late during up to 4\u{a0}% of a round.");
    }
}
