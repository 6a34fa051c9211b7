//! The command engine of a receive DSP: when it samples, and where packets begin and end.
//!
//! Pure bookkeeping in ticks; no sample is touched here. Commands wait in a queue. The result is a list of [`Item`]s:
//! packets whose last sample has been taken, and messages, in the order in which they leave.
//!
//! | situation | what happens |
//! | --- | --- |
//! | idle, command "now" | samples from this tick on |
//! | idle, timed | waits; the first sample carries exactly that tick |
//! | idle, its time has passed | message "late", command dropped |
//! | idle, stop | message "stop while idle" |
//! | continuous, a command arrives | the current sample is the last before it; a stop ends the burst there |
//! | so many and done | the last packet ends the burst |
//! | so many and more | goes on with the next command without a gap, whatever its time |
//! | and no next command | the packet leaves without end of burst, then message "broken chain" |
//! | running, another rate | the packet leaves with what it has; the next begins with the sample that is due |

use std::collections::VecDeque;

use takt_base::{Tick, Ticks};

use super::time::Timekeeper;

/// Items that may wait to leave: as many one-sample packets as the longest look-ahead of a source holds. Beyond it the
/// oldest leaves early.
const ITEMS: usize = 8192;

/// Limits that differ from radio to radio.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Commands that may wait.
    pub(crate) queue: usize,
    /// A packet a host can receive takes longer than the smallest Ethernet frame does.
    pub(crate) shortest_packet_ticks: u64,
}

/// A host's command to a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) action: Action,
    /// Device time; `None`: now.
    pub(crate) tick: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Stop,
    /// Until another command comes.
    Start,
    /// So many, and done.
    Samples(u64),
    /// So many, and then the next command without a gap.
    SamplesAndMore(u64),
}

/// Requests that a host may make of a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Overflow,
    Late,
    BrokenChain,
    StopWhileIdle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Packet(Packet),
    /// An event and the device time at which it happened; `at` on the free-running counter.
    Message {
        event: Event,
        time: u64,
        at: Tick,
    },
}

/// A packet whose last sample has been taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    /// Its first sample, free-running.
    pub(crate) first: Tick,
    /// Its first sample, device time.
    pub(crate) time: u64,
    pub(crate) samples: u32,
    pub(crate) step: u32,
    pub(crate) end_of_burst: bool,
}

impl Packet {
    /// When the last sample was taken.
    pub(crate) fn last(&self) -> Tick {
        self.first + Ticks(u64::from(self.samples.saturating_sub(1)) * u64::from(self.step))
    }
}

/// How samples fall into packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Ticks between samples, at least 1.
    pub(crate) step: u32,
    /// Samples per packet, at least 1.
    pub(crate) samples: u32,
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Ready for a command from this tick on.
    Idle(Tick),
    /// The first sample will carry this device time.
    Waiting {
        time: u64,
        action: Action,
    },
    Running(Run),
}

#[derive(Clone, Copy, Debug)]
struct Run {
    /// First sample of the packet that is being filled.
    packet: Tick,
    shape: Shape,
    /// Samples, counted from `packet`, until the command is used up; `None`: until another command arrives.
    left: Option<u64>,
    /// Whether the next command continues the burst.
    chain: bool,
}

impl Run {
    fn tick_of(&self, sample: u64) -> Tick {
        self.packet + Ticks(sample.saturating_mul(u64::from(self.shape.step)))
    }

    /// Samples from `packet` to the next decision: the packet is full or the command is used up.
    fn next_count(&self) -> u64 {
        self.left.map_or(self.shape.samples.into(), |left| left.min(self.shape.samples.into()))
    }
}

pub(crate) struct CommandEngine {
    limits: Limits,
    queue: VecDeque<Command>,
    state: State,
    items: VecDeque<Item>,
    /// Commands that found the queue full, or requested no samples.
    pub(crate) refused: u64,
}

impl CommandEngine {
    pub(crate) fn new(now: Tick, limits: Limits) -> CommandEngine {
        CommandEngine {
            limits,
            queue: VecDeque::with_capacity(limits.queue),
            state: State::Idle(now),
            items: VecDeque::with_capacity(ITEMS + 2),
            refused: 0,
        }
    }

    pub(crate) fn running(&self) -> bool {
        matches!(self.state, State::Running(_))
    }

    /// Whether nothing is going on, waiting or left to send.
    pub(crate) fn idle(&self) -> bool {
        matches!(self.state, State::Idle(_)) && self.queue.is_empty() && self.items.is_empty()
    }

    /// Drops commands, state and whatever has not left.
    pub(crate) fn clear(&mut self, now: Tick) {
        self.queue.clear();
        self.items.clear();
        self.state = State::Idle(now);
    }

    /// Stops as hardware does when its output is blocked: what has not left is lost, queued commands stay.
    pub(crate) fn overflow(&mut self, now: Tick, time: &Timekeeper) {
        self.items.clear();
        self.state = State::Idle(now);
        self.say(Event::Overflow, now, time);
    }

    /// Stops when samples have waited too long: of what has not left only the first packet stays, which ends the burst.
    pub(crate) fn break_off(&mut self, now: Tick) {
        let first = self.items.front().copied();
        self.items.clear();
        if let Some(Item::Packet(packet)) = first {
            self.items.push_back(Item::Packet(Packet { end_of_burst: true, ..packet }));
        }
        self.state = State::Idle(now);
    }

    /// Ends whatever is going on at once, and forgets what was to follow: the sample that is due next is the last of a run.
    pub(crate) fn stop(&mut self, now: Tick, time: &Timekeeper) {
        self.queue.clear();
        match &mut self.state {
            State::Idle(_) => self.say(Event::StopWhileIdle, now, time),
            State::Waiting { .. } => self.state = State::Idle(now),
            State::Running(run) => {
                let due = 1 + (now - run.packet).0.div_ceil(run.shape.step.into());
                run.left = Some(run.left.map_or(due, |left| left.min(due)));
                run.chain = false;
            }
        }
    }

    pub(crate) fn push(&mut self, now: Tick, command: Command) {
        let empty = matches!(command.action, Action::Samples(0) | Action::SamplesAndMore(0));
        if empty || self.queue.len() >= self.limits.queue {
            self.refused += 1;
            return;
        }
        self.queue.push_back(command);
        if let State::Running(run) = &mut self.state {
            // A continuous run repeats a command of one sample: the sample that is due next is its last.
            run.left.get_or_insert(1 + (now - run.packet).0.div_ceil(run.shape.step.into()));
        }
    }

    /// The item that leaves next, if anything waits to.
    pub(crate) fn front(&self) -> Option<&Item> {
        self.items.front()
    }

    pub(crate) fn pop(&mut self) -> Option<Item> {
        self.items.pop_front()
    }

    /// Loses the packet that could not leave, says why, and goes on: not what hardware does.
    pub(crate) fn interrupt(&mut self, event: Event, at: Tick, time: &Timekeeper) {
        self.items.pop_front();
        self.items.push_front(Item::Message { event, time: time.at(at), at });
    }

    /// Loses all packets that wait; returns their samples.
    pub(crate) fn drop_packets(&mut self) -> u64 {
        let mut lost = 0;
        self.items.retain(|item| match item {
            Item::Message { .. } => true,
            Item::Packet(packet) => {
                lost += u64::from(packet.samples);
                false
            }
        });
        lost
    }

    /// Whether so many items wait that the oldest must leave.
    pub(crate) fn crowded(&self) -> bool {
        self.items.len() > ITEMS
    }

    fn say(&mut self, event: Event, at: Tick, time: &Timekeeper) {
        self.items.push_back(Item::Message { event, time: time.at(at), at });
    }

    /// From a tick on samples come at another rate. A packet has one, so the next begins with the sample that is due then.
    pub(crate) fn reshape(&mut self, now: Tick, time: &Timekeeper, shape: Shape) {
        let State::Running(run) = self.state else { return };
        if run.shape.step == shape.step {
            return;
        }
        // The engine has acted by now on a full packet, and on a command that is used up.
        let count = (now - run.packet).0.div_ceil(run.shape.step.into()).min(run.next_count() - 1);
        if count > 0 {
            self.close(&run, count, false, time);
        }
        let next = Run { packet: run.tick_of(count), shape, left: run.left.map(|left| left - count), ..run };
        self.run(next, now, time);
    }

    /// When [`act`](Self::act) is due; may be in the past.
    pub(crate) fn next_event(&self, now: Tick, time: &Timekeeper) -> Option<Tick> {
        match self.state {
            State::Idle(from) => self.queue.front().map(|_| from),
            State::Waiting { time: start, .. } => Some(time.when(now, start).unwrap_or(now)),
            State::Running(run) => Some(run.tick_of(run.next_count() - 1)),
        }
    }

    pub(crate) fn act(&mut self, now: Tick, time: &Timekeeper, shape: Shape) {
        while self.next_event(now, time).is_some_and(|at| at <= now) {
            match self.state {
                State::Idle(_) => self.begin(now, time, shape),
                State::Waiting { time: start, action } => self.start_at(now, time, shape, start, action),
                State::Running(run) => self.go_on(run, time, shape),
            }
        }
    }

    /// Idle: the next command.
    fn begin(&mut self, now: Tick, time: &Timekeeper, shape: Shape) {
        let Some(command) = self.queue.pop_front() else { return };
        match (command.action, command.tick) {
            (Action::Stop, _) => self.say(Event::StopWhileIdle, now, time),
            (action, None) => self.start(now, time, shape, action),
            (action, Some(start)) => self.start_at(now, time, shape, start, action),
        }
    }

    fn start_at(&mut self, now: Tick, time: &Timekeeper, shape: Shape, start: u64, action: Action) {
        match time.when(now, start) {
            None => {
                self.state = State::Idle(now);
                self.say(Event::Late, now, time);
            }
            Some(at) if at <= now => self.start(now, time, shape, action),
            Some(_) => self.state = State::Waiting { time: start, action },
        }
    }

    fn start(&mut self, now: Tick, time: &Timekeeper, shape: Shape, action: Action) {
        let mut run = Run { packet: now, shape, left: None, chain: false };
        run.extend(action, self.queue.is_empty());
        self.run(run, now, time);
    }

    /// Runs, unless the wire could not carry so many packets: then the output blocks at once.
    fn run(&mut self, run: Run, now: Tick, time: &Timekeeper) {
        let short = u64::from(run.shape.samples) * u64::from(run.shape.step) < self.limits.shortest_packet_ticks;
        if short && run.left.is_none_or(|left| left > run.shape.samples.into()) {
            self.overflow(now, time);
        } else {
            self.state = State::Running(run);
        }
    }

    /// Running: the packet is full, or the command is used up, or both.
    fn go_on(&mut self, mut run: Run, time: &Timekeeper, shape: Shape) {
        let count = run.next_count();
        let at = run.tick_of(count - 1);
        if run.left == Some(count) {
            match (run.chain, self.queue.pop_front()) {
                (true, Some(Command { action: Action::Stop, .. })) => {
                    return self.end(run, count, true, time);
                }
                (true, Some(next)) => run.extend(next.action, self.queue.is_empty()),
                (true, None) => {
                    self.end(run, count, false, time);
                    return self.say(Event::BrokenChain, at, time);
                }
                (false, next) => {
                    // Not part of this burst: it is looked at when this one is over.
                    next.into_iter().for_each(|next| self.queue.push_front(next));
                    return self.end(run, count, true, time);
                }
            }
        }
        if count == u64::from(run.shape.samples) {
            self.close(&run, count, false, time);
            run = Run { packet: run.tick_of(count), shape, left: run.left.map(|left| left - count), chain: run.chain };
        }
        self.run(run, at, time);
    }

    fn end(&mut self, run: Run, count: u64, end_of_burst: bool, time: &Timekeeper) {
        self.close(&run, count, end_of_burst, time);
        self.state = State::Idle(run.tick_of(count));
    }

    fn close(&mut self, run: &Run, count: u64, end_of_burst: bool, time: &Timekeeper) {
        self.items.push_back(Item::Packet(Packet {
            first: run.packet,
            time: time.at(run.packet),
            samples: count as u32, // at most a packet
            step: run.shape.step,
            end_of_burst,
        }));
    }
}

impl Run {
    /// Goes on with a command. With another one queued behind it, a continuous one lasts for a single sample.
    fn extend(&mut self, action: Action, last_in_queue: bool) {
        let done = self.left.unwrap_or(0);
        (self.left, self.chain) = match action {
            Action::Samples(count) => (Some(done.saturating_add(count)), false),
            Action::SamplesAndMore(count) => (Some(done.saturating_add(count)), true),
            Action::Start if last_in_queue => (None, true),
            Action::Start | Action::Stop => (Some(done + 1), true),
        };
    }
}
