//! Parts that engines over plain system calls have in common: frames, order, waiting. How many datagrams a call carries
//! is the business of [`Calls`].

use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;

use crate::errno::{RecvTrouble, of_recv};
use crate::framed::{Core, Framed};
use crate::inbox::Inbox;
use crate::port::Port;
use crate::shared::{MAX_PORTS, PATIENCE, Sends, Shared, at_most, left, message_of};
use crate::sys::message::Received;
use crate::{Config, Counters, EngineError, Limits, RxEntry, Transmit, TxEntry, Wait};

/// How datagrams cross into the kernel and out of it.
pub(crate) trait Calls: Sends + Send {
    /// Bytes between two receive frames.
    fn stride(&self) -> usize;

    /// Fills frames of a row from its front until the port is empty or the row full, and hands each message to `each`.
    /// `Ok(true)`: the port was empty in the end.
    fn recv(
        &mut self,
        port: &Port,
        row: &mut [u8],
        calls: &mut u64,
        each: &mut dyn FnMut(Received),
    ) -> Result<bool, Errno>;

    /// Whether sends may leave, and receives arrive, as aggregates.
    fn aggregates(&self) -> (bool, bool);

    /// How long a wait sleeps at most, where something may happen that wakes nobody.
    fn longest_sleep(&self) -> Option<Duration> {
        None
    }

    /// Looks for what nothing reports, now and then.
    ///
    /// # Errors
    /// The interface is gone.
    fn look(&mut self) -> Result<(), EngineError> {
        Ok(())
    }

    /// Granted limits, if they differ from the sockets'.
    fn limits(&self, sockets: Limits) -> Limits {
        sockets
    }
}

/// An engine over kernel sockets.
pub(crate) struct Sockets<C> {
    shared: Shared,
    calls: C,
    inbox: Inbox,
}

impl<C: Calls> Sockets<C> {
    /// An engine over ports that are open already.
    pub(crate) fn engine(ports: Vec<Port>, calls: C, config: &Config) -> Framed<Sockets<C>> {
        let inbox = Inbox::new(ports.len(), config.batch, calls.stride(), config.max_payload_bytes);
        let shared = Shared::new(ports);
        let limits = calls.limits(shared.limits(config, calls.aggregates()));
        let rx_arena_bytes = inbox.arena_bytes();
        Framed::new(Sockets { shared, calls, inbox }, rx_arena_bytes, config, limits)
    }
}

impl<C: Calls> Core for Sockets<C> {
    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn shared_mut(&mut self) -> &mut Shared {
        &mut self.shared
    }

    fn collect(&mut self, arena: &mut [u8], entries: &mut Vec<RxEntry>, limits: &Limits) -> Result<(), EngineError> {
        self.fill(arena)?;
        self.inbox.take(entries, limits.batch, |_| ());
        Ok(())
    }

    /// Waits until a port has something; `false` when `wait` has run out.
    fn await_datagram(&mut self, wait: Wait) -> Result<bool, EngineError> {
        self.calls.look()?;
        let Some(timeout) = left(wait) else { return Ok(false) };
        let most = self.calls.longest_sleep();
        let timeout = most.map_or(timeout, |most| Some(at_most(timeout, most)));
        let mut ready = [PollFlags::empty(); MAX_PORTS];
        let Some(first) = self.shared.ports.first() else { return Ok(false) };
        let mut fds: [PollFd<'_>; MAX_PORTS] =
            std::array::from_fn(|i| PollFd::new(self.shared.ports.get(i).unwrap_or(first), PollFlags::IN));
        let fds = fds.get_mut(..self.shared.ports.len()).unwrap_or(&mut []);
        match poll(fds, timeout.as_ref()) {
            Ok(0) => return Ok(most.is_some() && left(wait).is_some()),
            Ok(_) => {}
            Err(Errno::INTR | Errno::NOMEM) => return Ok(true),
            Err(errno) => return Err(self.shared.gone("ppoll", 0, errno)),
        }
        for (fd, ready) in fds.iter().zip(&mut ready) {
            *ready = fd.revents();
        }
        self.shared.handle_errors(&ready)?;
        Ok(true)
    }

    fn limits(&self, granted: Limits) -> Limits {
        Limits { aggregates_sends: self.calls.aggregates().0, ..granted }
    }

    fn counters(&self, granted: &Limits) -> Counters {
        self.shared.counters(granted.aggregates_receives)
    }
}

impl<C: Calls> Sockets<C> {
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
            let Sockets { shared: Shared { ports, stamps, counters, .. }, calls, inbox } = self;
            let Some((port, rest)) = ports.get(index).zip(row.get_mut(filled * stride..)) else { break };
            let mut each = |got: Received| {
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
}

impl<C: Calls> Transmit for Sockets<C> {
    fn transmit(&mut self, arena: &[u8], entries: &[TxEntry], wait: Wait) -> Result<usize, EngineError> {
        self.shared.transmit(&mut self.calls, arena, entries, wait)
    }
}
