//! The figures of a check, each with a title that says what it shows.

mod path;
mod rates;
mod replies;
mod waveforms;

use crate::check::{CheckOutcome, RoundState};

pub(super) use path::path;
pub(super) use rates::rates;
pub(super) use replies::replies;
pub(super) use waveforms::waveforms;

use super::words;
use takt_page::{Dot, Look, Point, Reading, Series, Source};

const HOW_MEANS: &str = "Means over rounds with 95 % intervals.";

/// State, number and value of a round.
type Round = (RoundState, i64, f64);

/// The estimate and a dot for each round that was run. Without an estimate, a lone round that counts is the value, without
/// interval and drawn so.
fn point(x: f64, estimate: Option<Reading>, rounds: impl Iterator<Item = Round> + Clone) -> Point {
    let mut counted = rounds.clone().filter(|(state, ..)| *state == RoundState::Valid).map(|(.., value)| value);
    let single = counted.next().filter(|_| counted.next().is_none()).map(Reading::alone);
    let was_run = |state: RoundState| !matches!(state, RoundState::Failed | RoundState::HostBusy | RoundState::Skipped);
    let dots = rounds.filter(|(state, ..)| was_run(*state));
    let dots = dots.map(|(state, id, y)| Dot { y, counts: state == RoundState::Valid, record: Some(words::round(id)) });
    Point { x, y: estimate.or(single), rounds: dots.collect() }
}

/// A line for each name that has points; the place of a name is its colour.
fn lines<'a>(names: impl IntoIterator<Item = (&'a str, Vec<Point>)>) -> Vec<Series> {
    let line = |(slot, (name, mut points)): (usize, (&str, Vec<Point>))| {
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        Series { name: name.to_owned(), look: Look::Line, slot, points }
    };
    names.into_iter().enumerate().map(line).filter(|series| !series.points.is_empty()).collect()
}

fn source(outcome: &CheckOutcome, query: &str) -> Source {
    Source { run: outcome.about.run.clone(), query: query.to_owned() }
}
