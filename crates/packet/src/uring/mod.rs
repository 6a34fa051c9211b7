//! Engine `uring`: one io_uring for all ports. Each port has a multishot receive that the kernel goes on with by itself,
//! into buffers provided beforehand, and whose results are read without a system call; one call waits for all ports. A
//! batch of sends is one submission, in order. With [`Config::aggregate`] messages are aggregates as with `mmsg`.
//!
//! Sends are by zero copy (`SENDMSG_ZC`) where that pays: [`crate::zero_copy`]. The kernel then reads frames after the call, so there
//! are several blocks of them, and none is lent while it is read. When all are, the next batch is lent from one whose frames
//! are always copied: no caller waits for a block.

mod missing;

use std::net::SocketAddr;

use rustix::event::Timespec;
use rustix::io::Errno;

use self::missing::uring_missing;
use crate::errno::{RecvTrouble, of_recv};
use crate::inbox::Inbox;
use crate::outgoing::{AGGREGATE_BYTES, Outgoing, joins, splits};
use crate::port::Port;
use crate::shared::{MAX_PORTS, Sends, Shared, left, message_of};
use crate::sys::memory::Memory;
use crate::sys::received::Layout;
use crate::sys::ring::{Arrival, Ring, Shape, ZeroCopySend};
use crate::zero_copy::{Rule, refuses_zero_copy};
use crate::{
    Config, Counters, Engine, EngineError, FramePath, Limits, PortIndex, Refusal, RxBatch, RxEntry, Transmit, TxBatch,
    TxEntry, Wait,
};

/// Blocks of frames that may be read by the kernel: as many batches can be on their way by zero copy.
const BLOCKS: usize = 4;
/// Bytes of them all, or one block if that is more.
const ZERO_COPY_BYTES: usize = 32 << 20;
/// The block whose frames are always copied.
const COPIED: usize = 0;

/// An engine over one ring.
pub(crate) struct Uring {
    core: Core,
    rx_entries: Vec<RxEntry>,
    /// The first is [`COPIED`]. Others there are only where they can be used.
    blocks: Vec<Memory>,
    tx_entries: Vec<TxEntry>,
    limits: Limits,
}

struct Core {
    shared: Shared,
    receiver: Receiver,
    out: Outgoing,
    rule: Rule,
    /// The block that is lent to the caller.
    block: usize,
}

/// The ring and what came out of it.
struct Receiver {
    ring: Ring,
    inbox: Inbox,
    layouts: Vec<Layout>,
    /// Ports whose receive goes on.
    armed: [bool; MAX_PORTS],
    /// Buffers whose bytes the caller has; they are the kernel's again at the next receive.
    borrowed: Vec<usize>,
    buffers: usize,
}

impl Uring {
    /// Over ports that are open already. All memory is taken here.
    ///
    /// # Errors
    /// The kernel has no such ring for this process.
    pub(crate) fn new(ports: Vec<Port>, config: &Config) -> Result<Uring, EngineError> {
        let joins = config.aggregate && joins(&ports);
        let out = Outgoing::new(config.batch, config.aggregate && splits(&ports));
        let mut receiver = Receiver::open(&ports, config, joins).map_err(uring_missing)?;
        let rule = Rule::new(config, receiver.ring.has_zero_copy());
        let block_bytes = config.batch * config.max_payload_bytes;
        let zero_copy_blocks = rule.least_bytes().map_or(0, |_| (ZERO_COPY_BYTES / block_bytes).clamp(1, BLOCKS));
        let no_memory = |errno: Errno| EngineError::Kernel { call: "mmap", source: errno.into() };
        let blocks = (0..=zero_copy_blocks)
            .map(|_| Memory::new(block_bytes))
            .collect::<Result<Vec<_>, _>>()
            .map_err(no_memory)?;
        if zero_copy_blocks > 0 {
            receiver.ring.register(&blocks);
        }
        let shared = Shared::new(ports);
        Ok(Uring {
            rx_entries: Vec::with_capacity(config.batch),
            blocks,
            tx_entries: Vec::with_capacity(config.batch),
            limits: shared.limits(config, (out.aggregates(), joins)),
            core: Core { shared, receiver, out, rule, block: COPIED },
        })
    }

    /// A block that nobody reads.
    fn free_block(&mut self) -> usize {
        let ring = &mut self.core.receiver.ring;
        if self.core.rule.least_bytes().is_none() {
            return COPIED;
        }
        for (number, block) in self.blocks.iter_mut().enumerate().skip(COPIED + 1) {
            if ring.is_abandoned(number)
                && let Ok(other) = Memory::new(block.bytes().len())
            {
                *block = other;
                ring.replaced(number);
            }
        }
        (COPIED + 1..self.blocks.len()).find(|&number| ring.is_free(number)).unwrap_or(COPIED)
    }
}

impl Engine for Uring {
    fn recv(&mut self, wait: Wait) -> Result<RxBatch<'_>, EngineError> {
        let Core { shared, receiver, .. } = &mut self.core;
        self.rx_entries.clear();
        receiver.give_back();
        loop {
            receiver.take(&mut self.rx_entries, self.limits.batch);
            let go_on = self.rx_entries.is_empty() && !shared.refused_since_recv;
            if !go_on || !receiver.look(shared, wait)? {
                break;
            }
        }
        // One look brings no more than 32 datagrams of a port (io_uring's MULTISHOT_MAX_RETRY); those behind them are there at the
        // next, and a batch that is not full would say that nothing is left.
        let mut before = 0;
        while self.rx_entries.len() > before && self.rx_entries.len() < self.limits.batch {
            before = self.rx_entries.len();
            receiver.look(shared, Wait::Poll)?;
            receiver.take(&mut self.rx_entries, self.limits.batch);
        }
        shared.count(&self.rx_entries);
        Ok(RxBatch::new(receiver.ring.arena(), &self.rx_entries))
    }

    fn last_batch(&self) -> RxBatch<'_> {
        RxBatch::new(self.core.receiver.ring.arena(), &self.rx_entries)
    }

    fn reserve(&mut self, want: usize) -> TxBatch<'_> {
        let Limits { batch, max_payload_bytes, .. } = self.limits;
        self.core.block = self.free_block();
        let arena = self.blocks.get_mut(self.core.block).map_or(&mut [][..], Memory::bytes_mut);
        TxBatch::new(arena, max_payload_bytes, &mut self.tx_entries, want.min(batch), &mut self.core)
    }

    fn refused(&mut self) -> Option<Refusal> {
        self.core.shared.refused()
    }

    fn local(&self, port: PortIndex) -> Option<SocketAddr> {
        self.core.shared.local(port)
    }

    fn limits(&self) -> Limits {
        let Core { out, rule, receiver, .. } = &self.core;
        let path = FramePath::Ring(rule.sending(receiver.ring.usage()));
        Limits { aggregates_sends: out.aggregates(), path, ..self.limits }
    }

    fn counters(&self) -> Counters {
        let counters = self.core.shared.counters(self.limits.aggregates_receives);
        Counters { zero_copy_messages: self.core.receiver.ring.usage().zero_copy, ..counters }
    }
}

impl Transmit for Core {
    fn transmit(&mut self, arena: &[u8], entries: &[TxEntry], wait: Wait) -> Result<usize, EngineError> {
        let Core { shared, receiver, out, rule, block } = self;
        shared.transmit(&mut Sender { receiver, out, rule, block: *block }, arena, entries, wait)
    }
}

struct Sender<'a> {
    receiver: &'a mut Receiver,
    out: &'a mut Outgoing,
    rule: &'a mut Rule,
    block: usize,
}

impl Sends for Sender<'_> {
    fn send(&mut self, port: &Port, arena: &[u8], entries: &[TxEntry], calls: &mut u64) -> Result<usize, Errno> {
        let sent = self.submit(port, arena, entries, calls);
        if sent != Err(Errno::EXIST) {
            return sent;
        }
        // Another thread began with the ring.
        self.receiver.renew()?;
        // The ring before this one may have had some of this block.
        self.block = COPIED;
        self.submit(port, arena, entries, calls)
    }
}

impl Sender<'_> {
    fn submit(&mut self, port: &Port, arena: &[u8], entries: &[TxEntry], calls: &mut u64) -> Result<usize, Errno> {
        let Sender { receiver: Receiver { ring, .. }, out, rule, block } = self;
        rule.judge(ring.usage());
        let mut zero_copy = rule
            .least_bytes()
            .filter(|_| *block != COPIED)
            .map(|least_bytes| ZeroCopySend { block: *block, least_bytes });
        let mut again = 0;
        let sent = out.send(arena, entries, calls, &mut |messages| {
            let offers = |bytes| zero_copy.is_some_and(|zero_copy| bytes >= zero_copy.least_bytes);
            let (first, any) = (messages.bytes().next().is_some_and(offers), messages.bytes().any(offers));
            let sent = ring.send(port.fd(), &messages, zero_copy);
            if any {
                rule.offer();
            }
            match sent {
                Err(errno) if first && refuses_zero_copy(errno) => {
                    (zero_copy, again) = (None, again + 1);
                    let sent = ring.send(port.fd(), &messages, None)?;
                    rule.refuse(errno);
                    Ok(sent)
                }
                sent => sent,
            }
        });
        *calls += again;
        sent
    }
}

impl Receiver {
    fn open(ports: &[Port], config: &Config, joins: bool) -> std::io::Result<Receiver> {
        let layouts: Vec<Layout> = ports.iter().map(|port| Layout::of(port.wants(joins))).collect();
        let payload_bytes = if joins { AGGREGATE_BYTES } else { config.max_payload_bytes };
        let before = layouts.iter().map(|layout| layout.before_payload()).max().unwrap_or(0);
        // A batch that the caller has, and as many for what comes meanwhile.
        let buffers = (2 * config.batch).next_power_of_two();
        // Whole cache lines.
        let buffer_bytes = (before + payload_bytes).next_multiple_of(64);
        let shape = Shape { ports: ports.len(), buffers, buffer_bytes, sends: config.batch, blocks: 1 + BLOCKS };
        Ok(Receiver {
            ring: Ring::open(shape)?,
            inbox: Inbox::new(ports.len(), buffers, buffer_bytes, config.max_payload_bytes),
            layouts,
            armed: [false; MAX_PORTS],
            borrowed: Vec::with_capacity(ports.len() * buffers),
            buffers,
        })
    }

    fn give_back(&mut self) {
        for offset in self.borrowed.drain(..) {
            self.ring.give_back(offset);
        }
    }

    fn take(&mut self, out: &mut Vec<RxEntry>, most: usize) {
        let Receiver { inbox, borrowed, layouts, .. } = self;
        let before = out.len();
        inbox.take(out, most, |offset| borrowed.push(offset));
        // A message is handed out as its payload, which begins behind what the kernel says about it.
        for entry in out.iter_mut().skip(before) {
            entry.offset += layouts.get(usize::from(entry.port.0)).map_or(0, |layout| layout.before_payload());
        }
    }

    /// Looks once for what came; `false` when there is nothing and the wait is over.
    fn look(&mut self, shared: &mut Shared, wait: Wait) -> Result<bool, EngineError> {
        if self.ring.arrived() > 0 {
            // While a send was waited for.
            self.inbox.look();
            self.sort(shared)?;
            self.settle(shared.ports.len(), true);
            return Ok(true);
        }
        self.arm(shared);
        // A message that waits here for a look at an earlier port does not wait longer than that.
        let held = self.inbox.holds_any();
        let time = if held { None } else { left(wait) };
        if time.is_none() && !self.ring.has_work() {
            self.settle(shared.ports.len(), false);
            return Ok(held);
        }
        self.inbox.look();
        match self.enter(shared, time) {
            Ok(()) => {}
            Err(Errno::EXIST) => {
                return self.renew().map(|()| true).map_err(|errno| shared.gone("io_uring_setup", 0, errno));
            }
            Err(errno) => return Err(shared.gone("io_uring_enter", 0, errno)),
        }
        let came = self.sort(shared)?;
        self.settle(shared.ports.len(), came);
        Ok(came || held || time.is_some())
    }

    /// Has the kernel do its work. It does some of it at a time: what it has to say about zero copy may stand before what was
    /// received, and is no sign that nothing was.
    fn enter(&mut self, shared: &mut Shared, time: Option<Option<Timespec>>) -> Result<(), Errno> {
        shared.counters.receive_calls += 1;
        let mut completed = self.ring.enter(time)?;
        while completed > 0 && self.ring.arrived() == 0 && self.ring.has_work() {
            shared.counters.receive_calls += 1;
            completed = self.ring.enter(None)?;
        }
        Ok(())
    }

    /// Has the kernel receive for every port that has a buffer and no receive.
    fn arm(&mut self, shared: &Shared) {
        let ports = shared.ports.iter().zip(&self.layouts).zip(&mut self.armed).enumerate();
        for (index, ((port, layout), armed)) in ports {
            if !*armed && self.inbox.len(index) < self.buffers {
                self.ring.arm(index, port.fd(), layout.name_bytes, layout.control_bytes);
                *armed = true;
            }
        }
    }

    /// With nothing left to do for the kernel, all that had come before is here: a look at every port found it empty. So it
    /// did when a call brought nothing: the kernel raises its flag a moment after it adds work, and a call between the
    /// two does the work and leaves the flag up (`io_req_local_work_add` in io_uring/io_uring.c).
    fn settle(&mut self, ports: usize, came: bool) {
        if came && self.ring.has_work() {
            return;
        }
        self.inbox.look();
        for (port, _) in self.armed.iter().enumerate().take(ports).filter(|(_, armed)| **armed) {
            self.inbox.drained(port);
        }
    }

    /// Puts what came into the rows; `false` if nothing did.
    fn sort(&mut self, shared: &mut Shared) -> Result<bool, EngineError> {
        shared.compare_clocks();
        let Receiver { ring, inbox, layouts, armed, .. } = self;
        let mut came = false;
        for number in 0..ring.arrived() {
            let Some(Arrival { port: index, result, more }) = ring.arrival(number) else { break };
            came = true;
            if let Some(armed) = armed.get_mut(index) {
                *armed &= more;
            }
            match result {
                Ok((offset, bytes)) => {
                    let filled = ring.arena().get(offset..offset.saturating_add(bytes)).unwrap_or(&[]);
                    let got = layouts.get(index).and_then(|layout| layout.read(filled));
                    match got.zip(shared.ports.get(index)) {
                        Some((got, port)) => inbox.filled_at(index, offset, message_of(&got, port, &shared.stamps)),
                        None => ring.give_back(offset),
                    }
                }
                Err(errno) => handle_error(shared, index, errno)?,
            }
        }
        ring.forget_arrivals();
        Ok(came)
    }

    /// A ring for this thread.
    fn renew(&mut self) -> Result<(), Errno> {
        self.armed = [false; MAX_PORTS];
        let Receiver { ring, inbox, borrowed, .. } = self;
        ring.renew(|offset| inbox.holds(offset) || borrowed.contains(&offset))
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::INVAL))
    }
}

/// A receive ended.
fn handle_error(shared: &mut Shared, index: usize, errno: Errno) -> Result<(), EngineError> {
    match (errno, of_recv(errno)) {
        // Its ring was closed, or its thread has ended: it is armed again.
        (Errno::CANCELED, _) | (_, RecvTrouble::Nothing | RecvTrouble::Again) => {}
        (_, RecvTrouble::Reported) => drop(shared.read_errors(index)),
        (_, RecvTrouble::Gone) => return Err(shared.gone("io_uring recvmsg", index, errno)),
    }
    Ok(())
}
