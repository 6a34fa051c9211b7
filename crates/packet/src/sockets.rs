//! What the engines over plain system calls have in common: frames, order, waiting. How many datagrams a call carries is
//! the business of [`Calls`].

use std::net::SocketAddr;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::errno::{RecvTrouble, of_recv};
use crate::inbox::Inbox;
use crate::port::Port;
use crate::shared::{MAX_PORTS, PATIENCE, Sends, Shared, left, message_of, moment};
use crate::sys::message::Got;
use crate::{
    Config, Counters, Engine, EngineError, Limits, PortIndex, Refusal, RxBatch, RxEntry, Transmit, TxBatch, TxEntry,
    Wait,
};

/// How datagrams cross into the kernel and out of it.
pub(crate) trait Calls: Sends + Send {
    /// Bytes between two receive frames.
    fn stride(&self) -> usize;

    /// Fills frames of a row from its front until the port is empty or the row full, and hands each message to `each`.
    /// `Ok(true)`: the port was empty in the end.
    fn recv(&mut self, port: &Port, row: &mut [u8], calls: &mut u64, each: &mut dyn FnMut(Got)) -> Result<bool, Errno>;

    /// Whether sends may leave, and receives arrive, as aggregates.
    fn aggregates(&self) -> (bool, bool);

    /// Whether something that was sent waits for the next receive: nothing wakes the caller when it could leave.
    fn has_queued(&self) -> bool {
        false
    }

    /// What was granted, where that is not what the sockets were.
    fn limits(&self, sockets: Limits) -> Limits {
        sockets
    }
}

/// An engine over kernel sockets.
pub(crate) struct Sockets<C> {
    core: Core<C>,
    rx_arena: Box<[u8]>,
    rx_entries: Vec<RxEntry>,
    tx_arena: Box<[u8]>,
    tx_entries: Vec<TxEntry>,
    limits: Limits,
}

struct Core<C> {
    shared: Shared,
    calls: C,
    inbox: Inbox,
}

impl<C: Calls> Sockets<C> {
    /// Over ports that are open already. All memory is taken, and touched, here.
    pub(crate) fn new(ports: Vec<Port>, calls: C, config: &Config) -> Sockets<C> {
        let (batch, max_payload_bytes) = (config.batch, config.max_payload_bytes);
        let inbox = Inbox::new(ports.len(), batch, calls.stride(), max_payload_bytes);
        let shared = Shared::new(ports);
        Sockets {
            rx_arena: vec![0xa5; inbox.arena_bytes()].into(),
            rx_entries: Vec::with_capacity(batch),
            tx_arena: vec![0xa5; batch * max_payload_bytes].into(),
            tx_entries: Vec::with_capacity(batch),
            limits: calls.limits(shared.limits(config, calls.aggregates())),
            core: Core { shared, calls, inbox },
        }
    }

    fn collect(&mut self) -> Result<bool, EngineError> {
        self.core.fill(&mut self.rx_arena)?;
        self.rx_entries.clear();
        self.core.inbox.take(&mut self.rx_entries, self.limits.batch, |_| ());
        Ok(!self.rx_entries.is_empty())
    }
}

impl<C: Calls> Engine for Sockets<C> {
    fn recv(&mut self, wait: Wait) -> Result<RxBatch<'_>, EngineError> {
        while !self.collect()? && !self.core.shared.refused_since_recv && self.core.await_datagram(wait)? {}
        self.core.shared.count(&self.rx_entries);
        Ok(RxBatch::new(&self.rx_arena, &self.rx_entries))
    }

    fn last_batch(&self) -> RxBatch<'_> {
        RxBatch::new(&self.rx_arena, &self.rx_entries)
    }

    fn reserve(&mut self, want: usize) -> TxBatch<'_> {
        let Limits { batch, max_payload_bytes, .. } = self.limits;
        TxBatch::new(&mut self.tx_arena, max_payload_bytes, &mut self.tx_entries, want.min(batch), &mut self.core)
    }

    fn refused(&mut self) -> Option<Refusal> {
        self.core.shared.refused()
    }

    fn local(&self, port: PortIndex) -> Option<SocketAddr> {
        self.core.shared.local(port)
    }

    fn limits(&self) -> Limits {
        Limits { aggregates_sends: self.core.calls.aggregates().0, ..self.limits }
    }

    fn counters(&self) -> Counters {
        self.core.shared.counters(self.limits.aggregates_receives)
    }
}

impl<C: Calls> Core<C> {
    /// Fills the rows that are empty, later ports first: see [`crate::inbox`].
    fn fill(&mut self, arena: &mut [u8]) -> Result<(), EngineError> {
        self.shared.compare_clocks();
        for index in (0..self.shared.ports.len()).rev() {
            if let Some(row) = self.inbox.free_row(index).and_then(|range| arena.get_mut(range)) {
                self.fill_row(index, row)?;
            }
        }
        Ok(())
    }

    fn fill_row(&mut self, index: usize, row: &mut [u8]) -> Result<(), EngineError> {
        let (stride, mut filled) = (self.calls.stride(), 0);
        for _ in 0..PATIENCE {
            let Core { shared: Shared { ports, stamps, counters, .. }, calls, inbox } = self;
            let Some((port, rest)) = ports.get(index).zip(row.get_mut(filled * stride..)) else { break };
            let mut each = |got: Got| {
                filled += 1;
                inbox.filled(index, message_of(&got, port, stamps));
            };
            match calls.recv(port, rest, &mut counters.receive_calls, &mut each) {
                Ok(false) => return Ok(()),
                Ok(true) => break,
                Err(errno) => match of_recv(errno) {
                    RecvTrouble::Nothing => break,
                    RecvTrouble::Again => {}
                    RecvTrouble::Reported => drop(self.shared.read_errors(index)),
                    RecvTrouble::Gone => return Err(self.shared.gone("recvmsg", index, errno)),
                },
            }
        }
        self.inbox.drained(index);
        Ok(())
    }

    /// Waits until a port has something; `false` when `wait` has run out.
    fn await_datagram(&mut self, wait: Wait) -> Result<bool, EngineError> {
        let Some(timeout) = left(wait) else { return Ok(false) };
        let queued = self.calls.has_queued();
        let timeout = if queued { Some(moment(timeout)) } else { timeout };
        let mut ready = [PollFlags::empty(); MAX_PORTS];
        let Some(first) = self.shared.ports.first() else { return Ok(false) };
        let mut fds: [PollFd<'_>; MAX_PORTS] =
            std::array::from_fn(|i| PollFd::new(self.shared.ports.get(i).unwrap_or(first), PollFlags::IN));
        let fds = fds.get_mut(..self.shared.ports.len()).unwrap_or(&mut []);
        match poll(fds, timeout.as_ref()) {
            Ok(0) => return Ok(queued && left(wait).is_some()),
            Ok(_) => {}
            Err(Errno::INTR | Errno::NOMEM) => return Ok(true),
            Err(errno) => return Err(self.shared.gone("ppoll", 0, errno)),
        }
        for (fd, ready) in fds.iter().zip(&mut ready) {
            *ready = fd.revents();
        }
        self.shared.heed_errors(&ready)?;
        Ok(true)
    }
}

impl<C: Calls> Transmit for Core<C> {
    fn transmit(&mut self, arena: &[u8], entries: &[TxEntry], wait: Wait) -> Result<usize, EngineError> {
        self.shared.transmit(&mut self.calls, arena, entries, wait)
    }
}
