//! The sending half of an end: puts what is due into the engine's frames.

use std::net::SocketAddr;
use std::time::Duration;

use takt_base::{Clock, MonoNs, WallClock};
use takt_packet::{Engine, EngineError, PortIndex, Wait};
use takt_stats::{Histogram, Ns};

use super::options::Plan;
use super::protocol::data::Data;
use super::report::Sent;
use super::schedule::Schedule;

/// The longest a send may wait, so that control goes on while a queue is full.
const PATIENCE: Duration = Duration::from_millis(5);

/// Where a flow leaves from and goes to; `None`: to the port's connected peer.
pub type Route = (PortIndex, Option<SocketAddr>);

/// The sender of one round.
#[derive(Debug)]
pub struct Sender {
    schedule: Schedule,
    round: u8,
    payload_bytes: usize,
    routes: Vec<Route>,
    /// Next sequence number of each flow.
    sequences: Vec<u64>,
    /// Datagrams dealt with, all flows.
    done: u64,
    turn: usize,
    pacing: Histogram<Ns>,
    ended: Option<MonoNs>,
}

impl Sender {
    /// For `round` of a plan, from `start` on; one route a flow.
    #[must_use]
    pub fn new(plan: &Plan, round: u8, start: MonoNs, routes: Vec<Route>) -> Sender {
        Sender {
            schedule: Schedule::new(start, plan.duration(), plan.datagrams_per_s),
            round,
            payload_bytes: plan.payload_bytes,
            sequences: vec![0; routes.len()],
            routes,
            done: 0,
            turn: 0,
            pacing: Histogram::default(),
            ended: None,
        }
    }

    /// Sends what is due, at most one batch. Returns until when there is nothing to do: an instant that has passed if
    /// there is more, [`MonoNs::NEVER`] after the end.
    ///
    /// # Errors
    /// The engine has ended.
    pub fn pump(&mut self, engine: &mut dyn Engine, now: MonoNs) -> Result<MonoNs, EngineError> {
        if self.ended.is_some() {
            return Ok(MonoNs::NEVER);
        }
        if now >= self.schedule.end() {
            self.end(now);
            return Ok(MonoNs::NEVER);
        }
        let due = self.schedule.due(now).map_or(u64::MAX, |due| due - self.done.min(due));
        if due > 0 && now >= self.schedule.intended(self.done, now) {
            self.send_batch(engine, now, due)?;
        }
        let next = self.schedule.intended(self.done, now).min(self.schedule.end());
        Ok(if self.schedule.total() == Some(self.done) { self.schedule.end() } else { next })
    }

    fn send_batch(&mut self, engine: &mut dyn Engine, now: MonoNs, due: u64) -> Result<(), EngineError> {
        let mut batch = engine.reserve(usize::try_from(due).unwrap_or(usize::MAX));
        let flow = self.turn;
        let (Some(&(port, to)), Some(sequence)) = (self.routes.get(flow), self.sequences.get_mut(flow)) else {
            return Ok(());
        };
        let (schedule, round, done, payload) = (&self.schedule, self.round, self.done, self.payload_bytes);
        let mut pushed = 0;
        while pushed < due
            && batch.push(port, to, |frame| {
                let intended = schedule.intended(done + pushed, now);
                let flow = u8::try_from(flow).unwrap_or(u8::MAX);
                Data { flow, round, sequence: *sequence + pushed, intended }.write(frame);
                payload
            })
        {
            pushed += 1;
        }
        let dealt = batch.send(Wait::Until(now + PATIENCE))? as u64;
        for number in done..done + dealt {
            let intended = schedule.intended(number, now);
            self.pacing.record_saturating(now.0.saturating_sub(intended.0));
        }
        *sequence += dealt;
        self.done += dealt;
        self.turn = (flow + 1) % self.routes.len();
        Ok(())
    }

    /// Ends before its time, or in time.
    pub fn end(&mut self, now: MonoNs) {
        self.ended.get_or_insert(now.min(self.schedule.end()));
    }

    /// Whether it has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Datagrams dealt with.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.done
    }

    /// Everything it counted. What was due before its end and not dealt with is unsent.
    #[must_use]
    pub fn report(&self) -> Sent {
        let ended = self.ended.unwrap_or_else(|| WallClock.now());
        let due = self.schedule.due(MonoNs(ended.0.saturating_sub(1)));
        Sent {
            datagrams: self.done,
            payload_bytes: self.done * self.payload_bytes as u64,
            unsent: due.map_or(0, |due| due.saturating_sub(self.done)),
            span_s: ended.saturating_since(self.schedule.intended(0, MonoNs(0))).as_secs_f64(),
            pacing_error_ns: self.pacing.clone(),
            by_flow: self.sequences.clone(),
        }
    }
}
