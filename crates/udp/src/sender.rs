//! The sending half of an end: puts what is due into the engine's frames.

use std::net::SocketAddr;
use std::time::Duration;

use takt_base::{Clock, MonoNs, WallClock};
use takt_packet::{Engine, Generator, PortIndex, Wait};

use super::error::UdpError;
use super::plan::Plan;
use super::protocol::data::{Data, HEADER_BYTES};
use super::schedule::Schedule;
use super::side::Sent;

/// The longest a send may wait, so that control goes on while a queue is full.
const PATIENCE: Duration = Duration::from_millis(5);

/// How long a generator works before control goes on. A call costs it some 30 ms of waiting in the kernel, whatever it makes.
const GENERATE_FOR: Duration = Duration::from_millis(400);
/// Datagrams of its first calls, which say how many it makes in that time, and of its longest.
const GENERATED: std::ops::RangeInclusive<u64> = 16_384..=4_000_000;

/// Ends of a flow's way; `None`: to the port's connected peer.
pub type Route = (PortIndex, Option<SocketAddr>);

#[derive(Debug)]
pub struct Sender {
    schedule: Schedule,
    plan: Plan,
    round: u8,
    routes: Vec<Route>,
    /// One a flow, or none: the engine sends.
    generators: Vec<Generator>,
    /// Datagrams of a generator's next call.
    next_call: u64,
    turn: usize,
    /// Datagrams dealt with; of a flow the count is its next sequence number.
    sent: Sent,
    began: Option<MonoNs>,
    ended: Option<MonoNs>,
}

impl Sender {
    /// For `round` of a plan, from `start` on; one route a flow.
    pub fn new(plan: &Plan, round: u8, start: MonoNs, routes: Vec<Route>) -> Sender {
        let sent = Sent { by_flow: vec![0; routes.len()], by_interval: vec![0; plan.intervals()], ..Sent::default() };
        let (schedule, plan) = (plan.schedule(start), plan.clone());
        let (generators, next_call) = (Vec::new(), *GENERATED.start());
        Sender { schedule, plan, round, routes, generators, next_call, turn: 0, sent, began: None, ended: None }
    }

    /// Has the datagrams made by generators, one a flow, which number them as this round's; by the engine if there are none.
    pub(super) fn generated_by(mut self, mut generators: Vec<Generator>) -> Result<Sender, UdpError> {
        for (flow, generator) in (0..).zip(&mut generators) {
            let mut header = [0; HEADER_BYTES];
            Data { flow, round: self.round, sequence: 0, intended: MonoNs(0) }.write(&mut header);
            // Number and time lie where a generator writes its own.
            generator.count_from(header.first_chunk().map_or(0, |&first| u64::from_be_bytes(first)))?;
        }
        self.generators = generators;
        Ok(self)
    }

    /// Sends what is due, at most one batch. Returns until when there is nothing to do: an instant that has passed if
    /// there is more, [`MonoNs::NEVER`] after the end.
    pub fn pump(&mut self, engine: &mut dyn Engine, now: MonoNs) -> Result<MonoNs, UdpError> {
        if self.ended.is_some() {
            return Ok(MonoNs::NEVER);
        }
        if now >= self.schedule.end() {
            self.end(now);
            return Ok(MonoNs::NEVER);
        }
        let due = self.schedule.due(now).map_or(u64::MAX, |due| due - self.sent.datagrams.min(due));
        if due > 0 && now >= self.schedule.intended(self.sent.datagrams, now) {
            self.began.get_or_insert(now);
            match self.generators.is_empty() {
                true => self.send_batch(engine, now, due)?,
                false => self.generate(now, due)?,
            }
        }
        if self.plan.datagrams == Some(self.sent.datagrams) {
            self.end(WallClock.now());
            return Ok(MonoNs::NEVER);
        }
        // Beyond the last there is none: the round then lasts to its end.
        Ok(self.schedule.intended(self.sent.datagrams, now).min(self.schedule.end()))
    }

    fn send_batch(&mut self, engine: &mut dyn Engine, now: MonoNs, due: u64) -> Result<(), UdpError> {
        let mut batch = engine.reserve(usize::try_from(due).unwrap_or(usize::MAX));
        let flow = self.turn;
        let (Some(&(port, to)), Some(sequence)) = (self.routes.get(flow), self.sent.by_flow.get_mut(flow)) else {
            return Ok(());
        };
        let (schedule, plan, round, done) = (&self.schedule, &self.plan, self.round, self.sent.datagrams);
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
            self.sent.pacing_error_ns.record_saturating(now.0.saturating_sub(intended.0));
            self.sent.payload_bytes += plan.payload_of(number) as u64;
            let since_start_ns = intended.0.saturating_sub(schedule.start().0);
            let interval = plan.interval_at(since_start_ns, self.sent.by_interval.len());
            self.sent.by_interval.get_mut(interval).into_iter().for_each(|count| *count += 1);
        }
        *sequence += dealt;
        self.sent.datagrams += dealt;
        self.turn = (flow + 1) % self.routes.len();
        Ok(())
    }

    /// Each is due when it is made, which its generator writes into it.
    fn generate(&mut self, now: MonoNs, due: u64) -> Result<(), UdpError> {
        let flow = self.turn;
        let (Some(generator), Some(of_flow)) = (self.generators.get_mut(flow), self.sent.by_flow.get_mut(flow)) else {
            return Ok(());
        };
        // Not much beyond the end.
        let left = self.schedule.end().saturating_since(now);
        let share = (left.as_secs_f64() / GENERATE_FOR.as_secs_f64()).min(1.0);
        let call = ((self.next_call as f64 * share) as u64).max(*GENERATED.start());
        let made = generator.send(due.min(call) as u32)?;
        let took = WallClock.now().saturating_since(now).as_secs_f64().max(1e-6);
        let suits = (made as f64 / took * GENERATE_FOR.as_secs_f64()) as u64;
        self.next_call = suits.clamp(*GENERATED.start(), *GENERATED.end());
        *of_flow += made;
        self.sent.datagrams += made;
        self.sent.payload_bytes += made * self.plan.payload_bytes as u64;
        self.sent.pacing_error_ns.record_n_saturating(0, made);
        let since_start_ns = now.0.saturating_sub(self.schedule.start().0);
        let interval = self.plan.interval_at(since_start_ns, self.sent.by_interval.len());
        self.sent.by_interval.get_mut(interval).into_iter().for_each(|count| *count += made);
        self.turn = (flow + 1) % self.generators.len();
        Ok(())
    }

    pub fn end(&mut self, now: MonoNs) {
        self.ended.get_or_insert(now.min(self.schedule.end()));
    }

    pub fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// Whether what it sends passes the engine by.
    pub fn is_generated(&self) -> bool {
        !self.generators.is_empty()
    }

    pub fn done(&self) -> u64 {
        self.sent.datagrams
    }

    /// A schedule's span begins when it says, a burst's when its first datagram leaves.
    fn span_start(&self) -> MonoNs {
        let burst = self.plan.datagrams.is_some() && self.plan.datagrams_per_s.is_none();
        self.began.filter(|_| burst).unwrap_or_else(|| self.schedule.start())
    }

    /// Everything it counted. Datagrams due before its end and not dealt with are unsent.
    pub fn report(&self) -> Sent {
        let ended = self.ended.unwrap_or_else(|| WallClock.now());
        let due = self.schedule.due(MonoNs(ended.0.saturating_sub(1)));
        Sent {
            unsent: due.map_or(0, |due| due.saturating_sub(self.done())),
            span_s: ended.saturating_since(self.span_start()).as_secs_f64(),
            ..self.sent.clone()
        }
    }
}
