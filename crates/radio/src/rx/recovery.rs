//! Starting again after an overflow, on the grid of the old stream.
//!
//! All channels are cleared, so that nothing half done is left in them, and given what was asked for again: the run that
//! was interrupted, from a tick a little ahead, and whatever was queued behind it. If that tick has passed when the
//! command arrives, or nothing comes of it, the next attempt is twice as far ahead.

use std::time::Duration;

use takt_base::{MonoNs, Tick};

use super::RxStreamer;
use super::plan::Run;
use super::source::ReplyPatience;
use crate::{RadioError, RxEvent};

/// How far ahead the first attempt is.
const AHEAD: Duration = Duration::from_millis(2);
/// Doublings at most: 0.5 s ahead.
const DOUBLINGS: u32 = 8;
/// How long after its tick a restarted stream must have been seen; of a slow radio, longer.
const OVERDUE: Duration = Duration::from_millis(200);

/// A restart under way: until the first sample after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Restart {
    channel: u8,
    attempts: u32,
    /// When to give up on the command that was given; `None` while none has been taken.
    overdue: Option<MonoNs>,
}

impl Restart {
    pub(super) fn after_overflow_of(channel: u8) -> Restart {
        Restart { channel, attempts: 0, overdue: None }
    }

    pub(super) fn channel(&self) -> u8 {
        self.channel
    }
}

impl RxStreamer {
    /// The command of the restart came to nothing.
    pub(super) fn restart_again(&mut self) {
        if let Some(restart) = &mut self.restart {
            restart.attempts += 1;
            restart.overdue = None;
        }
    }

    /// A radio that stopped, and whose report of it was lost, is started again as after one that came.
    pub(super) fn see_to_silence(&mut self) {
        let runs = self.restart.is_none() && !self.stopping && self.plan.current().is_some();
        if let Some(channel) = self.source.stopped().filter(|_| runs) {
            self.tally.overflows += 1;
            self.restart = Some(Restart::after_overflow_of(channel));
        }
    }

    /// Gives the command of a restart that has not been taken yet, or has come to nothing.
    pub(super) fn see_to_restart(&mut self, now: MonoNs, until: MonoNs) -> Result<Option<RxEvent>, RadioError> {
        match self.restart {
            Some(Restart { overdue: Some(overdue), .. }) if now < overdue => Ok(None),
            Some(Restart { overdue: Some(_), .. }) => {
                self.restart_again();
                self.start_again(until)
            }
            Some(_) => self.start_again(until),
            None => Ok(None),
        }
    }

    /// Commands a restart. An event if there is nothing left to restart for.
    pub(super) fn start_again(&mut self, until: MonoNs) -> Result<Option<RxEvent>, RadioError> {
        let Some(restart) = self.restart else { return Ok(None) };
        let Some(run) = self.plan.current() else {
            self.restart = None; // nobody asked for samples
            return Ok(None);
        };
        self.source.set_reply_patience(ReplyPatience::Before { now: self.net.now(), until });
        let commanded = self.command_restart(run, AHEAD * (1 << restart.attempts.min(DOUBLINGS)));
        self.source.set_reply_patience(ReplyPatience::Usual);
        match commanded {
            Ok(Some(tick)) => {
                self.floor = tick;
                let overdue = self.net.now().max(self.source.host_at(Tick(tick))) + self.speed.patience(OVERDUE);
                self.restart = Some(Restart { overdue: Some(overdue), ..restart });
                Ok(None)
            }
            Ok(None) => Ok(Some(self.lose_the_rest(run, restart))),
            // The next call tries again; whether the radio is gone is the keeper's to say.
            Err(RadioError::Silent { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The tick at which the stream goes on, or `None` if its run would be over by then.
    fn command_restart(&mut self, run: Run, ahead: Duration) -> Result<Option<u64>, RadioError> {
        let grid = self.ticks_per_sample;
        let now = self.source.now()?;
        let earliest = (now + self.ticks_in(ahead)).0;
        let tick = self.reached + earliest.saturating_sub(self.reached).next_multiple_of(grid);
        let left = run.end(grid).map(|end| end.saturating_sub(tick) / grid);
        for channel in 0..self.lanes.len() {
            self.source.clear(channel)?;
            if left != Some(0) {
                self.source.begin(channel, Run { first: Some(tick), samples: left, ..run }, true)?;
            }
            for queued in self.plan.queued() {
                self.source.begin(channel, queued, true)?;
            }
        }
        Ok((left != Some(0)).then_some(tick))
    }

    /// The overflow took the rest of the run with it.
    fn lose_the_rest(&mut self, run: Run, restart: Restart) -> RxEvent {
        let end = run.end(self.ticks_per_sample).unwrap_or(self.reached);
        let lost = end.saturating_sub(self.reached) / self.ticks_per_sample;
        self.reached = self.reached.max(end);
        self.end_run();
        self.pending = Some(RxEvent::EndOfBurst);
        RxEvent::Overflow { channel: restart.channel, lost }
    }
}
