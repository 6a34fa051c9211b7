//! The figures of a check, each with a title that says what it shows.

mod path;
mod rates;
mod replies;
mod waveforms;

use takt_lab::check::{Outcome, RoundState};

pub(super) use path::path;
pub(super) use rates::rates;
pub(super) use replies::replies;
pub(super) use waveforms::waveforms;

use super::words;
use crate::figure::{Dot, Point, Reading, Source};

const HOW_MEANS: &str = "Means over rounds with 95 % intervals.";

/// The value of a lone round that counts: a figure without interval, and drawn so.
fn single(rounds: impl Iterator<Item = (RoundState, f64)>) -> Option<Reading> {
    let mut counted = rounds.filter(|(state, _)| *state == RoundState::Valid).map(|(_, value)| value);
    counted.next().filter(|_| counted.next().is_none()).map(Reading::alone)
}

/// A round that was run.
fn dot(state: RoundState, id: i64, y: f64) -> Option<Dot> {
    let was_run = !matches!(state, RoundState::Failed | RoundState::Skipped);
    was_run.then(|| Dot { y, counts: state == RoundState::Valid, record: Some(words::round(id)) })
}

fn ascending(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    points
}

fn source(outcome: &Outcome, query: &str) -> Source {
    Source { run: outcome.about.run.clone(), query: query.to_owned() }
}
