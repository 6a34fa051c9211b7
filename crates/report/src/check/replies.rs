//! Answers in time: from the samples' time stamps to the answer at the radio.

use takt_lab::check::{Outcome, RoundState, RoundTripPoint, RoundTripRound};

use super::answer::Answers;
use super::{figures, words};
use crate::figure::Reading;
use crate::{Answer, Cell, Column, Row, Section, Table, Unit};

pub(super) fn section(outcome: &Outcome) -> Option<Section> {
    let section = Section {
        id: "answers".into(),
        title: "Answers in time".into(),
        lead:
            "The host receives samples, and answers with a burst timed a fixed delay after them. The radio says which \
               answers came too late. Times run from the sample at the antenna to the answer in the radio's buffer."
                .into(),
        drawings: Vec::new(),
        figures: figures::replies(outcome),
        tables: table(outcome).into_iter().collect(),
    };
    (!outcome.round_trips.is_empty()).then_some(section)
}

/// Anchor of a delay's row.
pub(super) fn anchor(p: &RoundTripPoint) -> String {
    format!("answer-{:.0}us-{:.0}", p.delay_us, p.rate_sps)
}

/// Seconds in words.
pub(super) fn time(us: f64) -> String {
    Unit::SECONDS.show(us * 1e-6, 3)
}

fn table(outcome: &Outcome) -> Option<Table> {
    let row = |p: &RoundTripPoint| {
        let id = anchor(p);
        let rounds = format!("{id}-rounds");
        let counted: Vec<&RoundTripRound> = p.rounds.iter().filter(|r| r.state == RoundState::Valid).collect();
        let answers = Answers::of(p);
        let mean = |f: fn(&RoundTripRound) -> f64| {
            let values: Vec<f64> = counted.iter().map(|r| f(r) * 1e-6).collect();
            match (takt_stats::mean(&values, 0.95), values.first()) {
                (Some(e), _) => Cell::linked(Unit::SECONDS.show_reading(&e.into()), &rounds),
                (None, Some(one)) => Cell::linked(Unit::SECONDS.show(*one, 3), &rounds),
                (None, None) => Cell::default(),
            }
        };
        let mut cells = vec![Cell::text(format!("{} at {}", time(p.delay_us), words::rate(p.rate_sps)))];
        if let Some(why) = &p.skipped {
            cells.push(Cell { text: format!("not run: {why}"), answer: Some(Answer::Unknown), record: None });
            cells.extend((0..5).map(|_| Cell::default()));
        } else {
            cells.push(Cell { answer: Some(answers.answer()), ..Cell::linked(answers.to_string(), &rounds) });
            let share = p.late_share.map(|e| Unit::SHARE.show_reading(&Reading::share(e))).unwrap_or_default();
            cells.push(if share.is_empty() { Cell::default() } else { Cell::linked(share, &rounds) });
            cells.extend([mean(|r| r.p50_us), mean(|r| r.p99_us), mean(|r| r.p99_9_us)]);
            let slowest = counted.iter().map(|r| r.max_us).fold(f64::NAN, f64::max);
            cells.push(if slowest.is_finite() { Cell::linked(time(slowest), &rounds) } else { Cell::default() });
        }
        Row::Cells { id: Some(id), cells }
    };
    let heads = ["late", "late share", "50 %", "99 %", "99.9 %", "slowest"];
    let mut columns = vec![Column::text("delay asked for")];
    columns.extend(heads.map(Column::number));
    let rounds = outcome.round_trips.iter().flat_map(|point| &point.rounds);
    let shares = rounds.filter(|round| round.state == RoundState::Valid).map(|round| round.aside_share);
    let table = Table {
        id: "all-delays".into(),
        title: "Every delay".into(),
        columns,
        rows: outcome.round_trips.iter().map(row).collect(),
        note: format!(
            "Quantiles are means over rounds of each round's own, with 95 % intervals.{}",
            radio_late(shares)
        ),
    };
    (!table.rows.is_empty()).then_some(table)
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
