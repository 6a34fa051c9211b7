//! The thread that is the hop.

use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use takt_base::{Clock, Stop, WallClock};
use takt_host::policy::{Policy, set_policy};
use takt_packet::link::{Arrived, LinkPort, MAX_BATCH, NOTE_BYTES, Span};

use super::frames::Frames;
use super::{HopError, HopOptions, Report};
use crate::ethernet::HEADER_BYTES;
use crate::model::{Direction, Event, Model};

/// A hop at work. Dropping it ends it.
#[derive(Debug)]
pub struct Hop {
    stop: Stop,
    report: Arc<Mutex<Report>>,
    thread: Option<JoinHandle<()>>,
}

impl Hop {
    /// Opens one between two interfaces of the calling thread's network namespace.
    pub fn start(options: &HopOptions) -> Result<Hop, HopError> {
        let mut work = Work::open(options)?;
        let stop = Stop::new();
        let report = Arc::new(Mutex::new(Report::default()));
        let (flag, shared, priority) = (stop.clone(), Arc::clone(&report), options.priority);
        let thread = std::thread::spawn(move || {
            takt_host::slack::set_timer_slack_ns(std::num::NonZeroU64::MIN);
            let fifo = priority.map(|priority| Policy::Fifo { priority });
            work.report.priority = priority.filter(|_| fifo.is_some_and(|fifo| set_policy(0, fifo).is_ok()));
            work.run(&flag, &shared);
        });
        Ok(Hop { stop, report, thread: Some(thread) })
    }

    /// Its counts so far; some tens of milliseconds old at most.
    #[must_use]
    pub fn report(&self) -> Report {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ends it. Frames inside are lost.
    #[must_use]
    pub fn finish(mut self) -> Report {
        self.end();
        self.report()
    }

    fn end(&mut self) {
        self.stop.request();
        if let Some(thread) = self.thread.take() {
            // It does not panic; if it did, the report is the last one it gave.
            let _ = thread.join();
        }
    }
}

impl Drop for Hop {
    fn drop(&mut self) {
        self.end();
    }
}

const MEMORY_BYTES: usize = 32 << 20;
const LOOK_NS: u64 = 20_000_000;
/// A tag, which some interfaces leave in.
const TAG_BYTES: usize = 4;
const IPV4: [u8; 2] = [8, 0];

struct Work {
    ports: [LinkPort; 2],
    frames: Frames,
    model: Model,
    report: Report,
    /// To be sent by each port, and the slots that are free after it.
    spans: [Vec<Span>; 2],
    freed: Vec<u32>,
    unsent: [(u64, u64); 2],
    /// Dropped by the kernel before each port, and when that was last read: a system call each.
    overruns: [u64; 2],
    overruns_read_ns: u64,
}

impl Work {
    fn open(options: &HopOptions) -> Result<Work, HopError> {
        let frame_bytes = options.mtu_bytes as usize + HEADER_BYTES + TAG_BYTES;
        let open = |name: &String| {
            LinkPort::open(name, MAX_BATCH, frame_bytes, options.buffer_bytes as usize).map_err(|errno| match errno {
                Errno::PERM | Errno::ACCESS => HopError::NotPermitted,
                errno => HopError::Port { name: name.clone(), source: errno.into() },
            })
        };
        let [first, second] = &options.ports;
        let frames = Frames::new(frame_bytes + NOTE_BYTES, MEMORY_BYTES);
        Ok(Work {
            ports: [open(first)?, open(second)?],
            model: Model::new(&options.spec, frames.slots()),
            frames,
            report: Report::default(),
            spans: [Vec::with_capacity(MAX_BATCH), Vec::with_capacity(MAX_BATCH)],
            freed: Vec::with_capacity(4 * MAX_BATCH),
            unsent: [(0, 0); 2],
            overruns: [0; 2],
            overruns_read_ns: 0,
        })
    }

    fn run(&mut self, stop: &Stop, shared: &Mutex<Report>) {
        while !stop.requested() {
            let busy = self.receive().and_then(|received| Ok(received | self.send()?));
            self.publish(shared);
            let waited = busy.and_then(|busy| if busy { Ok(()) } else { self.wait() });
            if let Err(errno) = waited {
                self.report.ended = Some(std::io::Error::from(errno).to_string());
                break;
            }
        }
        self.read_overruns();
        self.count();
        *shared.lock().unwrap_or_else(PoisonError::into_inner) = self.report.clone();
    }

    /// Takes in what both ports have; whether there was anything.
    fn receive(&mut self) -> Result<bool, Errno> {
        let mut any = false;
        let Work { ports, frames, model, .. } = self;
        for (port, direction) in ports.iter_mut().zip([Direction::Forth, Direction::Back]) {
            let now_ns = WallClock.now().0;
            // By the kernel's stamp, so that being late does not look like a burst to the model.
            any |= port.recv(&mut |arrived| arrive(frames, model, now_ns, direction, arrived))? > 0;
        }
        Ok(any)
    }

    /// Sends what is due, a batch each way at most; whether there was anything.
    fn send(&mut self) -> Result<bool, Errno> {
        let now_ns = WallClock.now().0;
        while self.spans.iter().all(|spans| spans.len() < MAX_BATCH) && self.freed.len() < self.freed.capacity() {
            let Some(event) = self.model.step(now_ns) else { break };
            let (slot, last) = match event {
                Event::Leaves { slot, direction, at_ns, last } => {
                    self.report.lateness.record(now_ns.saturating_sub(at_ns));
                    // A frame that comes in by the first port goes out by the second.
                    self.spans[1 - direction as usize].push(self.frames.span(slot));
                    (slot, last)
                }
                Event::Drops { slot, last } => (slot, last),
            };
            if last {
                self.freed.push(slot);
            }
        }
        let any = !self.freed.is_empty() || self.spans.iter().any(|spans| !spans.is_empty());
        for ((port, spans), unsent) in self.ports.iter_mut().zip(&mut self.spans).zip(self.unsent.iter_mut().rev()) {
            send_all(port, self.frames.arena(), spans, unsent)?;
            spans.clear();
        }
        for slot in self.freed.drain(..) {
            self.frames.release(slot);
        }
        Ok(any)
    }

    /// Until a frame comes, one is due, or it is time to look at the flag.
    fn wait(&mut self) -> Result<(), Errno> {
        let now_ns = WallClock.now().0;
        let span_ns = self.model.next_ns().map_or(LOOK_NS, |due_ns| due_ns.saturating_sub(now_ns).min(LOOK_NS));
        if span_ns == 0 {
            return Ok(());
        }
        let [first, second] = &self.ports;
        let mut ports = [first, second].map(|port| PollFd::from_borrowed_fd(port.as_fd(), PollFlags::IN));
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::try_from(span_ns).unwrap_or(0) };
        match poll(&mut ports, Some(&timeout)) {
            Err(errno) if errno != Errno::INTR => Err(errno),
            _ => Ok(()),
        }
    }

    /// Leaves the counters where other threads read them, unless one is reading now.
    fn publish(&mut self, shared: &Mutex<Report>) {
        let now_ns = WallClock.now().0;
        if now_ns.saturating_sub(self.overruns_read_ns) > LOOK_NS {
            self.overruns_read_ns = now_ns;
            self.read_overruns();
        }
        self.count();
        if let Ok(mut place) = shared.try_lock() {
            place.counters = self.report.counters;
            place.lateness = self.report.lateness;
            place.priority = self.report.priority;
        }
    }

    fn read_overruns(&mut self) {
        for (overruns, port) in self.overruns.iter_mut().zip(&mut self.ports) {
            *overruns = port.overruns();
        }
    }

    /// The model's counters, and what the model can't know: what the kernel did not give, or not take.
    fn count(&mut self) {
        self.report.counters = *self.model.counters();
        let beside = self.unsent.into_iter().zip(self.overruns);
        for (flow, ((frames, bytes), overruns)) in self.report.counters.flows.iter_mut().zip(beside) {
            flow.out_frames -= frames;
            flow.out_bytes -= bytes;
            flow.in_frames += overruns;
            flow.dropped_by_hop += frames + overruns;
        }
    }
}

fn arrive(frames: &mut Frames, model: &mut Model, now_ns: u64, direction: Direction, arrived: Arrived<'_>) {
    let Arrived { bytes, cut, at } = arrived;
    let at_ns = at.map_or(now_ns, |at| at.0);
    let frame = bytes.get(NOTE_BYTES..).unwrap_or_default();
    // Requests for addresses must be answered; chance is for frames that carry data.
    let chance = frame.get(12..14) == Some(&IPV4);
    let kept = if cut { None } else { frames.keep(bytes) };
    match kept {
        None => model.no_memory(direction, frame.len()),
        Some(slot) if model.arrive(at_ns, direction, frame.len(), slot, chance).is_some() => frames.release(slot),
        Some(_) => {}
    }
}

/// Sends a batch. Frames that the kernel does not take are lost, as in a device whose transmit ring is full.
fn send_all(port: &mut LinkPort, arena: &[u8], spans: &[Span], unsent: &mut (u64, u64)) -> Result<(), Errno> {
    let mut rest = spans;
    while !rest.is_empty() {
        let sent = match port.send(arena, rest) {
            Err(errno @ (Errno::NODEV | Errno::NXIO | Errno::NETDOWN)) => return Err(errno),
            sent => sent.unwrap_or(0),
        };
        rest = rest.get(sent..).unwrap_or_default();
        if sent == 0
            && let Some((first, others)) = rest.split_first()
        {
            unsent.0 += 1;
            unsent.1 += (first.len - NOTE_BYTES) as u64;
            rest = others;
        }
    }
    Ok(())
}
