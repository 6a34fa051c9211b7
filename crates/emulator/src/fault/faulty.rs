//! A device with faults around it: to its driver just another device.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use takt_base::{Tick, TickRate, Ticks};

use super::delay_queue::{DelayQueue, Way};
use super::script::Script;
use super::spec::{Damage, Fault, Kind};
use super::stream::Stream;
use super::{PowerCycle, Streams};
use crate::device::FRAME_BYTES;
use crate::device::fill_with;
use crate::{Device, Outbox, Port, Sent};

/// A datagram that waits for its successor waits no longer than this: 10 ms at 100 MHz.
const REORDER_WAIT: Ticks = Ticks(1_000_000);
/// Length of the header of a datagram that is damaged.
const HEADER_BYTES: usize = 16;

/// A device, and faults between it and its hosts. Without faults it costs a comparison a call.
pub struct Faulty<D> {
    device: D,
    between: Between,
    /// While it is rebooting: until when.
    away: Option<Tick>,
}

struct Between {
    outlet: fn(Port, &[u8]) -> Option<usize>,
    scripts: Vec<Script>,
    delay_queue: DelayQueue,
    /// A datagram on its way in, and one on its way out: the device may answer while it is being handed the first.
    inward: Vec<u8>,
    outward: Vec<u8>,
    /// Until when either output is blocked.
    blocked: [Tick; 2],
    /// Some fault strikes what leaves the device, or must see it to know when samples began.
    outwards: bool,
    /// Some fault counts from the first sample packet, which has not come yet.
    awaits_samples: bool,
}

enum Fate {
    Pass,
    Lost,
    Blocked,
    Twice,
}

impl<D: Device + PowerCycle + Streams> Faulty<D> {
    /// Puts faults around a device that is switched on at `born` and whose counter runs at `rate`.
    #[must_use]
    pub fn new(device: D, faults: Vec<Fault>, born: Tick, rate: TickRate) -> Faulty<D> {
        let scripts: Vec<_> = faults.into_iter().map(|f| Script::new(f, born, |span| rate.ticks_in(span))).collect();
        let inwards = |stream| matches!(stream, Stream::Tx | Stream::Requests | Stream::Commands);
        let awaits_samples = scripts.iter().any(Script::awaits_samples);
        let outwards = awaits_samples || scripts.iter().any(|script| !inwards(script.fault.stream));
        let frame = vec![0; if scripts.is_empty() { 0 } else { FRAME_BYTES }];
        let between = Between {
            outlet: D::outlet,
            scripts,
            delay_queue: DelayQueue::default(),
            inward: frame.clone(),
            outward: frame,
            blocked: [Tick(0); 2],
            outwards,
            awaits_samples,
        };
        Faulty { device, between, away: None }
    }

    /// How often each fault struck, by its text: datagrams lost, held, doubled, damaged; for `overflow` and `reboot`,
    /// times; for `ring`, datagrams that waited in it or found it full.
    #[must_use]
    pub fn injected(&self) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for script in &self.between.scripts {
            *counts.entry(script.fault.to_string()).or_insert(0) += script.injected;
        }
        counts
    }

    #[must_use]
    pub fn device(&self) -> &D {
        &self.device
    }

    fn catch_up(&mut self, now: Tick, out: &mut dyn Outbox) {
        while let Some(at) = self.next_step().filter(|&at| at <= now) {
            self.advance_device(at, out);
            self.switch(at);
            self.release(at, out);
        }
        self.advance_device(now, out);
    }

    /// How far the device may be advanced at once. The first sample packet says when a fault begins: until it has come, no
    /// further than to what the device does next, which may be this packet.
    fn next_step(&self) -> Option<Tick> {
        let device = self.device.deadline().filter(|_| self.between.awaits_samples && self.away.is_none());
        device.into_iter().chain(self.next_own()).min()
    }

    /// When something happens next that is not the device's.
    fn next_own(&self) -> Option<Tick> {
        let reboot = || self.between.scripts.iter().filter_map(Script::reboots_at).min();
        self.away.or_else(reboot).into_iter().chain(self.between.delay_queue.next_due()).min()
    }

    fn advance_device(&mut self, now: Tick, out: &mut dyn Outbox) {
        if self.away.is_none() {
            let leaving = self.device.leaving_now();
            self.device.advance(now, &mut Struck { between: &mut self.between, leaving, out });
        }
    }

    fn switch(&mut self, now: Tick) {
        if self.away.is_some_and(|end| end <= now) {
            self.away = None;
            self.device.power_cycle(now);
        }
        for end in self.between.scripts.iter_mut().filter_map(|script| script.reboot(now)) {
            self.away = Some(self.away.unwrap_or(end).max(end));
        }
    }

    /// Lets go what was held until now.
    fn release(&mut self, now: Tick, out: &mut dyn Outbox) {
        while let Some(delayed) = self.between.delay_queue.pop_due(now) {
            match delayed.way {
                Way::Out(port, to) => pass(delayed.due, port, to, &delayed.bytes, out),
                Way::In(port, from) => self.deliver(delayed.due, port, from, &delayed.bytes, out),
            }
            self.between.delay_queue.done(delayed.bytes);
        }
    }

    fn deliver(&mut self, now: Tick, port: Port, from: SocketAddr, bytes: &[u8], out: &mut dyn Outbox) {
        if self.away.is_none() {
            let leaving = self.device.leaving_now();
            let mut struck = Struck { between: &mut self.between, leaving, out };
            self.device.datagram(now, port, from, bytes, &mut struck);
        }
    }

    fn struck(&mut self, now: Tick, port: Port, from: SocketAddr, bytes: &[u8], out: &mut dyn Outbox) {
        let stream = D::arriving(port, bytes);
        let mut frame = std::mem::take(&mut self.between.inward);
        let len = bytes.len().min(frame.len());
        frame[..len].copy_from_slice(&bytes[..len]);
        let (fate, len) = self.between.fate(now, stream, Way::In(port, from), &mut frame[..len]);
        let times = match fate {
            Fate::Pass => 1,
            Fate::Twice => 2,
            Fate::Lost | Fate::Blocked => 0,
        };
        for _ in 0..times {
            self.deliver(now, port, from, &frame[..len], out);
        }
        self.between.inward = frame;
        while let Some(delayed) = self.between.successor_passed(stream, &fate) {
            self.deliver(now, port, from, &delayed.bytes, out);
            self.between.delay_queue.done(delayed.bytes);
        }
    }
}

impl<D: Device + PowerCycle + Streams> Device for Faulty<D> {
    fn ports(&self) -> &[Port] {
        self.device.ports()
    }

    fn datagram(&mut self, now: Tick, port: Port, from: SocketAddr, bytes: &[u8], out: &mut dyn Outbox) {
        if self.between.scripts.is_empty() {
            return self.device.datagram(now, port, from, bytes, out);
        }
        self.catch_up(now, out);
        if self.away.is_none() {
            self.struck(now, port, from, bytes, out);
        }
    }

    fn refused(&mut self, now: Tick, port: Port, by: SocketAddr) {
        if self.away.is_none() {
            self.device.refused(now, port, by);
        }
    }

    fn advance(&mut self, now: Tick, out: &mut dyn Outbox) {
        if self.between.scripts.is_empty() {
            return self.device.advance(now, out);
        }
        self.catch_up(now, out);
    }

    fn deadline(&self) -> Option<Tick> {
        let device = self.device.deadline().filter(|_| self.away.is_none());
        device.into_iter().chain(self.next_own()).min()
    }
}

struct Struck<'a> {
    between: &'a mut Between,
    leaving: fn(Port, &[u8]) -> Stream,
    out: &'a mut dyn Outbox,
}

impl Outbox for Struck<'_> {
    fn send(&mut self, due: Tick, from: Port, to: SocketAddr, fill: &mut dyn FnMut(&mut [u8]) -> usize) -> Sent {
        if !self.between.outwards {
            return self.out.send(due, from, to, fill);
        }
        let mut frame = std::mem::take(&mut self.between.outward);
        let len = fill(&mut frame).min(frame.len());
        if self.between.is_blocked(due, from, &frame[..len]) {
            self.between.outward = frame;
            return Sent::NoRoom;
        }
        let stream = (self.leaving)(from, &frame[..len]);
        let (fate, len) = self.between.fate(due, stream, Way::Out(from, to), &mut frame[..len]);
        match fate {
            Fate::Pass => pass(due, from, to, &frame[..len], self.out),
            Fate::Twice => {
                pass(due, from, to, &frame[..len], self.out);
                pass(due, from, to, &frame[..len], self.out);
            }
            Fate::Lost | Fate::Blocked => {}
        }
        self.between.outward = frame;
        while let Some(delayed) = self.between.successor_passed(stream, &fate) {
            pass(due, from, to, &delayed.bytes, self.out);
            self.between.delay_queue.done(delayed.bytes);
        }
        if matches!(fate, Fate::Blocked) { Sent::NoRoom } else { Sent::Taken }
    }
}

fn pass(due: Tick, from: Port, to: SocketAddr, bytes: &[u8], out: &mut dyn Outbox) {
    // A wire that is really blocked loses what is already under way.
    let _ = out.send(due, from, to, &mut fill_with(bytes));
}

impl Between {
    fn is_blocked(&self, now: Tick, from: Port, bytes: &[u8]) -> bool {
        (self.outlet)(from, bytes).is_some_and(|n| now < self.blocked[n])
    }

    /// Fate of a datagram, and its length afterwards. It is damaged in place.
    fn fate(&mut self, now: Tick, stream: Stream, way: Way, bytes: &mut [u8]) -> (Fate, usize) {
        if self.awaits_samples && matches!(stream, Stream::Rx0 | Stream::Rx1 | Stream::Tx) {
            self.awaits_samples = false;
            self.scripts.iter_mut().for_each(|script| script.samples_began(now));
        }
        let mut first = None;
        // A ring is on the host's side: what comes from there passes it by.
        let leaves = matches!(way, Way::Out(..));
        let takes = |script: &Script| leaves || !matches!(script.fault.kind, Kind::Ring { .. });
        for (n, script) in self.scripts.iter_mut().enumerate().filter(|(_, script)| takes(script)) {
            if first.is_some() {
                // It has seen the datagram; what it would have done is not done, and not counted.
                let before = script.injected;
                script.strikes(now, stream);
                script.injected = before;
            } else if script.strikes(now, stream) {
                first = Some(n);
            }
        }
        let Some((n, script)) = first.and_then(|n| self.scripts.get_mut(n).map(|script| (n, script))) else {
            return (Fate::Pass, bytes.len());
        };
        let mut len = bytes.len();
        let delayed = match script.fault.kind {
            Kind::Lose { .. } | Kind::Stall { .. } | Kind::Reboot { .. } => return (Fate::Lost, len),
            Kind::Duplicate => return (Fate::Twice, len),
            Kind::Overflow { .. } => {
                if let Way::Out(port, _) = way
                    && let Some(n) = (self.outlet)(port, bytes)
                {
                    self.blocked[n] = now + script.span();
                }
                return (Fate::Blocked, len);
            }
            Kind::Ring { frames, .. } => {
                let emptied = script.emptied_at().unwrap_or(now);
                // Samples can't wait for the pause to end; what the radio says besides can.
                if !script.waits(frames) && matches!(stream, Stream::Rx0 | Stream::Rx1) {
                    return (Fate::Blocked, len);
                }
                self.delay_queue.push(emptied, None, way, bytes)
            }
            Kind::Corrupt { damage } => {
                len = script.damage(damage, bytes);
                return (Fate::Pass, len);
            }
            Kind::Delay { .. } => self.delay_queue.push(now + script.span(), None, way, bytes),
            Kind::Reorder => self.delay_queue.push(now + REORDER_WAIT, Some(n), way, bytes),
        };
        if delayed {
            return (Fate::Lost, len);
        }
        script.injected -= 1;
        (Fate::Pass, len)
    }

    /// After a datagram of this stream: one that was waiting for it. A datagram that was itself held is nobody's
    /// successor.
    fn successor_passed(&mut self, stream: Stream, fate: &Fate) -> Option<super::delay_queue::Delayed> {
        if matches!(fate, Fate::Lost | Fate::Blocked) {
            return None;
        }
        let Between { scripts, delay_queue, .. } = self;
        let mut waiting = scripts.iter().enumerate().filter(|(_, script)| script.fault.stream.holds(stream));
        waiting.find_map(|(n, _)| delay_queue.pop_swap(n))
    }
}

impl Script {
    /// Damages a datagram; returns how long it is then.
    fn damage(&mut self, damage: Damage, bytes: &mut [u8]) -> usize {
        let header = HEADER_BYTES.min(bytes.len());
        let range = match damage {
            Damage::Header => 0..header,
            Damage::Payload => header..bytes.len(),
            Damage::Length => return bytes.len() / 2,
        };
        let bit = self.below(8 * range.len());
        if let Some(byte) = bytes.get_mut(range).and_then(|part| part.get_mut(bit / 8)) {
            *byte ^= 1 << (bit % 8);
        }
        bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends a sample packet every hundred ticks, from tick 1000 on, until it loses its power.
    struct Beacon {
        next: Option<Tick>,
    }

    impl PowerCycle for Beacon {
        fn power_cycle(&mut self, _now: Tick) {
            self.next = None;
        }
    }

    impl Streams for Beacon {
        fn leaving(_: Port, _: &[u8]) -> Stream {
            Stream::Rx0
        }

        fn arriving(_: Port, _: &[u8]) -> Stream {
            Stream::All
        }

        fn outlet(_: Port, _: &[u8]) -> Option<usize> {
            Some(0)
        }
    }

    impl Device for Beacon {
        fn ports(&self) -> &[Port] {
            &[]
        }

        fn datagram(&mut self, _: Tick, _: Port, _: SocketAddr, _: &[u8], _: &mut dyn Outbox) {}

        fn refused(&mut self, _: Tick, _: Port, _: SocketAddr) {}

        fn advance(&mut self, now: Tick, out: &mut dyn Outbox) {
            while let Some(at) = self.next.filter(|&at| at <= now) {
                let to = SocketAddr::from(([127, 0, 0, 1], 1));
                out.send(at, Port(takt_wire::n200::ports::RX0), to, &mut |frame| {
                    frame[..24].fill(0x10);
                    24
                });
                self.next = Some(at + Ticks(100));
            }
        }

        fn deadline(&self) -> Option<Tick> {
            self.next
        }
    }

    /// When each datagram left.
    struct Times(Vec<u64>);

    impl Outbox for Times {
        fn send(&mut self, due: Tick, _: Port, _: SocketAddr, fill: &mut dyn FnMut(&mut [u8]) -> usize) -> Sent {
            fill(&mut [0; FRAME_BYTES]);
            self.0.push(due.0);
            Sent::Taken
        }
    }

    #[test]
    fn a_late_call_changes_nothing_of_a_reboot_after_samples() {
        for fault in ["reboot:at=+350ns,for=1us", "stall:all,at=+350ns,for=1ms"] {
            for step in [1, 100, 10_000] {
                let rate = TickRate::from_hz(1_000_000_000).expect("above 0");
                let faults = vec![fault.parse().expect("a fault")];
                let mut radio = Faulty::new(Beacon { next: Some(Tick(1000)) }, faults, Tick(0), rate);
                let mut times = Times(Vec::new());
                (0..=10_000).step_by(step).for_each(|now| radio.advance(Tick(now), &mut times));
                assert_eq!(times.0, [1000, 1100, 1200, 1300], "{fault}, every {step} ticks");
            }
        }
    }
}
