//! How far long work is: a bar on a terminal, a line a round elsewhere.

use std::time::Duration;

use indicatif::ProgressStyle;
use takt_lab::run::{Event, Progress};
use takt_lab::store::RoundState;
use takt_load::{Kind, Lost};

use crate::output::Output;
use crate::radio_story;

/// Draws the progress of a run on standard error.
pub struct ProgressBar<'a> {
    output: &'a Output,
    bar: Option<indicatif::ProgressBar>,
}

impl<'a> ProgressBar<'a> {
    /// A bar where one may be drawn, else plain lines; with `--json` neither.
    pub fn new(output: &'a Output) -> ProgressBar<'a> {
        let bar = output.may_draw().then(|| {
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len}  {msg}");
            // The template is a constant with known keys.
            indicatif::ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        ProgressBar { output, bar }
    }

    /// Something happened.
    pub fn tell(&mut self, event: &Event, at: &Progress) {
        match (&self.bar, event) {
            // Before any round, so that no bar has been drawn yet.
            (_, Event::OnAir(emission)) => self.output.note(radio_story::on_air(emission)),
            (Some(bar), Event::Begins { label, .. } | Event::Ended { label, .. }) => {
                bar.set_length(at.planned as u64);
                bar.set_position(at.done as u64);
                bar.set_message(format!("{} left  {label}", span(at.remaining)));
            }
            (None, Event::Ended { label, kind, state, why, lost }) if !self.output.wants_json() => {
                let outcome = outcome(*kind, *state, why.as_deref(), *lost);
                let left = span(at.remaining);
                self.output.note(format!("{}/{}  {label}: {outcome}  ({left} left)", at.done, at.planned));
            }
            (None, _) => {}
        }
    }

    /// Takes the bar away.
    pub fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}

fn outcome(kind: Kind, state: RoundState, why: Option<&str>, lost: Option<Lost>) -> String {
    let because = why.map(|why| format!(", {why}")).unwrap_or_default();
    // Of an answer, what counts is that it comes in time.
    let missed = if kind == Kind::RoundTrip { "late" } else { "lost" };
    match (state, lost) {
        (RoundState::Valid, Some(Lost { share: 0.0, .. })) => format!("nothing {missed}"),
        (RoundState::Valid, Some(Lost { share, own_share: 0.0 })) => {
            format!("{:.3} % {missed}, all while the radio itself was late", share * 100.0)
        }
        (RoundState::Valid, Some(Lost { share, .. })) => format!("{:.3} % {missed}", share * 100.0),
        (RoundState::Valid, None) => "done".into(),
        (RoundState::Disturbed | RoundState::EmulatorLate, _) => format!("does not count{because}"),
        (RoundState::Failed, _) => format!("could not be run{because}"),
        (RoundState::Skipped, _) => format!("skipped{because}"),
    }
}

/// `40 s`, `12 min`, `1 h 20 min`.
pub fn span(span: Duration) -> String {
    let seconds = span.as_secs_f64().round() as u64;
    match seconds {
        0..=90 => format!("{seconds} s"),
        91..=5400 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_lost_is_said_whoever_it_may_be() {
        let said = |kind, lost| outcome(kind, RoundState::Valid, None, lost);
        assert_eq!(said(Kind::Rate, Some(Lost::default())), "nothing lost");
        assert_eq!(said(Kind::RoundTrip, Some(Lost::own(0.5))), "50.000 % late");
        let by_the_radio = Lost { share: 0.25, own_share: 0.0 };
        assert_eq!(said(Kind::Rate, Some(by_the_radio)), "25.000 % lost, all while the radio itself was late");
        assert_eq!(said(Kind::Wakeup, None), "done");
    }
}
