//! The sending half of an end: puts what is due into the engine's frames.

use std::net::SocketAddr;
use std::time::Duration;

use takt_base::{Clock, MonoNs, WallClock};
use takt_packet::{Engine, EngineError, PortIndex, Wait};
use takt_stats::{Histogram, Ns};

use super::plan::Plan;
use super::protocol::data::Data;
use super::schedule::Schedule;
use super::side::Sent;

/// The longest a send may wait, so that control goes on while a queue is full.
const PATIENCE: Duration = Duration::from_millis(5);

/// Where a flow leaves from and goes to; `None`: to the port's connected peer.
pub type Route = (PortIndex, Option<SocketAddr>);

/// The sender of one round.
#[derive(Debug)]
pub struct Sender {
    schedule: Schedule,
    plan: Plan,
    round: u8,
    payload_bytes: u64,
    routes: Vec<Route>,
    /// Next sequence number of each flow.
    sequences: Vec<u64>,
    /// Datagrams dealt with, all flows.
    done: u64,
    turn: usize,
    pacing: Histogram<Ns>,
    by_interval: Vec<u64>,
    /// When the first left.
    began: Option<MonoNs>,
    ended: Option<MonoNs>,
}

impl Sender {
    /// For `round` of a plan, from `start` on; one route a flow.
    #[must_use]
    pub fn new(plan: &Plan, round: u8, start: MonoNs, routes: Vec<Route>) -> Sender {
        Sender {
            schedule: plan.schedule(start),
            plan: plan.clone(),
            round,
            payload_bytes: 0,
            sequences: vec![0; routes.len()],
            routes,
            done: 0,
            turn: 0,
            pacing: Histogram::default(),
            by_interval: vec![0; plan.intervals()],
            began: None,
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
            self.began.get_or_insert(now);
            self.send_batch(engine, now, due)?;
        }
        if self.plan.datagrams == Some(self.done) {
            self.end(WallClock.now());
            return Ok(MonoNs::NEVER);
        }
        // Beyond the last there is none: the round then lasts to its end.
        Ok(self.schedule.intended(self.done, now).min(self.schedule.end()))
    }

    fn send_batch(&mut self, engine: &mut dyn Engine, now: MonoNs, due: u64) -> Result<(), EngineError> {
        let mut batch = engine.reserve(usize::try_from(due).unwrap_or(usize::MAX));
        let flow = self.turn;
        let (Some(&(port, to)), Some(sequence)) = (self.routes.get(flow), self.sequences.get_mut(flow)) else {
            return Ok(());
        };
        let (schedule, plan, round, done) = (&self.schedule, &self.plan, self.round, self.done);
        let mut pushed = 0;
        while pushed < due
            && batch.push(port, to, |frame| {
                let intended = schedule.intended(done + pushed, now);
                let flow = u8::try_from(flow).unwrap_or(u8::MAX);
                Data { flow, round, sequence: *sequence + pushed, intended }.write(frame);
                plan.payload_of(done + pushed)
            })
        {
            pushed += 1;
        }
        let dealt = batch.send(Wait::Until(now + PATIENCE))? as u64;
        for number in done..done + dealt {
            let intended = schedule.intended(number, now);
            self.pacing.record_saturating(now.0.saturating_sub(intended.0));
            self.payload_bytes += plan.payload_of(number) as u64;
            let since_start_ns = intended.0.saturating_sub(schedule.start().0);
            let interval = plan.interval_at(since_start_ns, self.by_interval.len());
            self.by_interval.get_mut(interval).into_iter().for_each(|count| *count += 1);
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

    /// A schedule's span begins when it says, a burst's when its first datagram leaves.
    fn span_start(&self) -> MonoNs {
        let burst = self.plan.datagrams.is_some() && self.plan.datagrams_per_s.is_none();
        self.began.filter(|_| burst).unwrap_or_else(|| self.schedule.start())
    }

    /// Everything it counted. What was due before its end and not dealt with is unsent.
    #[must_use]
    pub fn report(&self) -> Sent {
        let ended = self.ended.unwrap_or_else(|| WallClock.now());
        let due = self.schedule.due(MonoNs(ended.0.saturating_sub(1)));
        Sent {
            datagrams: self.done,
            payload_bytes: self.payload_bytes,
            unsent: due.map_or(0, |due| due.saturating_sub(self.done)),
            span_s: ended.saturating_since(self.span_start()).as_secs_f64(),
            pacing_error_ns: self.pacing.clone(),
            by_flow: self.sequences.clone(),
            by_interval: self.by_interval.clone(),
        }
    }
}
