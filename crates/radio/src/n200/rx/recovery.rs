//! Starting again after an overflow, on the grid of the old stream.
//!
//! All channels are cleared, so that nothing half done is left in them, and given what was asked for again: the run that
//! was interrupted, from a tick a little ahead, and whatever was queued behind it. If that tick has passed when the
//! command arrives, or nothing comes of it, the next attempt is twice as far ahead.

use std::time::Duration;

use takt_base::{MonoNs, Tick};
use takt_wire::n200::{StreamAction, StreamCommand};

use super::commands::Planned;
use super::{CLOCK, RxStreamer};
use crate::{RadioError, RxEvent};

/// How far ahead the first attempt is.
const AHEAD: Duration = Duration::from_millis(2);
/// Doublings at most: 0.5 s ahead.
const DOUBLINGS: u32 = 8;
/// How long after its tick a restarted stream must have been seen.
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
        self.commander.hurry(self.net.now(), until);
        let commanded = self.command_restart(run, AHEAD * (1 << restart.attempts.min(DOUBLINGS)));
        self.commander.take_time();
        match commanded {
            Ok(Some(tick)) => {
                self.floor = tick;
                let overdue = self.net.now().max(self.anchor.host_at(Tick(tick))) + OVERDUE;
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
    fn command_restart(&mut self, run: Planned, ahead: Duration) -> Result<Option<u64>, RadioError> {
        let grid = self.ticks_per_sample;
        let now = self.commander.device_time(&*self.net, &self.anchor)?;
        let earliest = (now + CLOCK.ticks_in(ahead)).0;
        let tick = self.reached + earliest.saturating_sub(self.reached).next_multiple_of(grid);
        let left = run.end(grid).map(|end| end.saturating_sub(tick) / grid);
        for &dsp in &self.dsps {
            self.commander.clear(dsp)?;
            if left != Some(0) {
                self.commander.issue(dsp, run.command(Some(tick), left), true)?;
            }
            for queued in self.plan.queued() {
                self.commander.issue(dsp, queued.command(queued.first, queued.samples), true)?;
            }
        }
        Ok((left != Some(0)).then_some(tick))
    }

    /// The overflow took the rest of the run with it.
    fn lose_the_rest(&mut self, run: Planned, restart: Restart) -> RxEvent {
        let end = run.end(self.ticks_per_sample).unwrap_or(self.reached);
        let lost = end.saturating_sub(self.reached) / self.ticks_per_sample;
        self.reached = self.reached.max(end);
        self.end_run();
        self.pending = Some(RxEvent::EndOfBurst);
        RxEvent::Overflow { channel: restart.channel, lost }
    }
}

impl Planned {
    /// Tick after its last sample, if it has one.
    pub(super) fn end(&self, ticks_per_sample: u64) -> Option<u64> {
        Some(self.first?.saturating_add(self.samples?.saturating_mul(ticks_per_sample)))
    }

    /// The command that asks for `samples` of it from `tick` on.
    fn command(&self, tick: Option<u64>, samples: Option<u64>) -> StreamCommand {
        let count = samples.map(|samples| samples as u32);
        let action = match count {
            None => StreamAction::Start,
            Some(count) if self.more => StreamAction::SamplesAndMore(count),
            Some(count) => StreamAction::Samples(count),
        };
        StreamCommand { action, tick }
    }
}
