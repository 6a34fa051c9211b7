//! How far long work is: a bar on a terminal, elsewhere a line every ten seconds, and one for each round that went wrong.

use std::time::{Duration, Instant};

use takt_base::shown::{duration, percent};
use takt_lab::run::{Event, Progress};
use takt_lab::store::RoundState;
use takt_load::{Lost, WorkloadKind};

use crate::{Bar, Output, radio_problem};

pub struct ProgressBar<'a> {
    output: &'a Output,
    bar: Option<Bar>,
    lines: Lines,
}

impl<'a> ProgressBar<'a> {
    /// Answer of `work`, which is given what to call at each event; the bar is gone then.
    pub fn during<R>(output: &'a Output, work: impl FnOnce(&mut dyn FnMut(&Event, &Progress)) -> R) -> R {
        let mut progress = ProgressBar::new(output);
        work(&mut |event, at| progress.show(event, at))
    }

    /// A bar where one may be drawn, else plain lines; with `--json` neither.
    fn new(output: &'a Output) -> ProgressBar<'a> {
        let bar = output.may_draw().then(|| Bar::like(output, 0, "{bar:30} {pos}/{len}  {msg}"));
        ProgressBar { output, bar, lines: Lines::default() }
    }

    fn show(&mut self, event: &Event, at: &Progress) {
        match (&self.bar, event) {
            // Before any round, so that no bar has been drawn yet.
            (_, Event::OnAir(emission)) => self.output.note(radio_problem::on_air(emission)),
            (Some(bar), Event::Begins { label, .. } | Event::Ended { label, .. }) => {
                bar.steps(at.done as u64, at.planned as u64);
                bar.say(&format!("{} left  {label}", duration(at.remaining.as_secs_f64())));
            }
            (None, Event::Ended { .. }) if self.output.wants_json() => {}
            (None, Event::Ended { label, kind, state, why, lost }) if self.lines.is_due(event, at, Instant::now()) => {
                let outcome = outcome(*kind, *state, why.as_deref(), *lost);
                let left = duration(at.remaining.as_secs_f64());
                self.output.note(format!("{}/{}  {label}: {outcome}  ({left} left)", at.done, at.planned));
            }
            (None, _) => {}
        }
    }
}

/// Which rounds get a line where no bar can be drawn.
#[derive(Default)]
struct Lines {
    last: Option<Instant>,
}

impl Lines {
    /// From one line to the next, while all goes well.
    const APART: Duration = Duration::from_secs(10);

    /// Whether a round that ended gets one: the first, the last, one every ten seconds, and each that could not be run.
    fn is_due(&mut self, event: &Event, at: &Progress, now: Instant) -> bool {
        let failed = matches!(event, Event::Ended { state: RoundState::Failed | RoundState::HostBusy, .. });
        let waited = self.last.is_none_or(|last| now.duration_since(last) >= Lines::APART);
        let due = failed || waited || at.done == at.planned;
        if due {
            self.last = Some(now);
        }
        due
    }
}

fn outcome(kind: WorkloadKind, state: RoundState, why: Option<&str>, lost: Option<Lost>) -> String {
    let because = why.map(|why| format!(", {why}")).unwrap_or_default();
    let missed = kind.workload().facts().lost_is;
    match (state, lost) {
        (RoundState::Valid, Some(Lost { share: 0.0, .. })) => format!("nothing {missed}"),
        (RoundState::Valid, Some(Lost { share, own_share: 0.0 })) => {
            format!("{} {missed}, all while the radio itself was late", percent(share))
        }
        (RoundState::Valid, Some(Lost { share, .. })) => format!("{} {missed}", percent(share)),
        (RoundState::Valid, None) => "done".into(),
        (RoundState::Disturbed | RoundState::EmulatorLate, _) => format!("does not count{because}"),
        (RoundState::Failed | RoundState::HostBusy, _) => format!("could not be run{because}"),
        (RoundState::Skipped, _) => format!("skipped{because}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_lost_is_reported_whatever_the_workload() {
        let said = |kind, lost| outcome(kind, RoundState::Valid, None, lost);
        assert_eq!(said(WorkloadKind::Rate, Some(Lost::default())), "nothing lost");
        assert_eq!(said(WorkloadKind::RoundTrip, Some(Lost::own(0.5))), "50 % late");
        let by_the_radio = Lost { share: 0.25, own_share: 0.0 };
        assert_eq!(said(WorkloadKind::Rate, Some(by_the_radio)), "25 % lost, all while the radio itself was late");
        assert_eq!(said(WorkloadKind::Wakeup, None), "done");
    }

    /// The first, the last, one every ten seconds; and what could not be run whenever it ends.
    #[test]
    fn a_line_comes_every_ten_seconds_and_whenever_a_round_could_not_be_run() {
        let (mut lines, begin) = (Lines::default(), Instant::now());
        let ended =
            |state| Event::Ended { label: "sc16".into(), kind: WorkloadKind::Rate, state, why: None, lost: None };
        let mut due = |done, second, state| {
            let at = Progress { done, planned: 20, remaining: Duration::ZERO };
            lines.is_due(&ended(state), &at, begin + Duration::from_secs(second))
        };
        let fine = [(1, 0), (2, 3), (3, 9), (4, 10), (5, 19), (6, 21)].map(|(done, s)| due(done, s, RoundState::Valid));
        assert_eq!(fine, [true, false, false, true, false, true]);
        assert!(due(7, 22, RoundState::Failed) && !due(8, 23, RoundState::Disturbed));
        assert!(!due(19, 25, RoundState::Valid) && due(20, 26, RoundState::Valid));
    }
}
