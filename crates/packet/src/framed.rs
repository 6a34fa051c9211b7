//! An engine whose frames lie in ordinary memory of its own, one row to receive into and one to send from. A [`Core`]
//! has its particular parts.

use std::net::SocketAddr;

use crate::shared::Shared;
use crate::{
    Config, Counters, Engine, EngineError, Limits, PortIndex, Refusal, RxBatch, RxEntry, Transmit, TxBatch, TxEntry,
    Wait,
};

/// How datagrams come from below, and what is known of them there. How they leave is [`Transmit`].
pub(crate) trait Core: Transmit + Send {
    /// Ports, counts and refusals.
    fn shared(&self) -> &Shared;

    fn shared_mut(&mut self) -> &mut Shared;

    /// Puts into `arena` what is there, a batch at most, and its places into `entries`, which are empty.
    ///
    /// # Errors
    /// The interface is gone.
    fn collect(&mut self, arena: &mut [u8], entries: &mut Vec<RxEntry>, limits: &Limits) -> Result<(), EngineError>;

    /// Waits until something may be there; `false` when `wait` has run out.
    fn await_datagram(&mut self, wait: Wait) -> Result<bool, EngineError>;

    fn local(&self, port: PortIndex) -> Option<SocketAddr> {
        self.shared().local(port)
    }

    /// Granted limits, as they are now.
    fn limits(&self, granted: Limits) -> Limits {
        granted
    }

    fn counters(&self, granted: &Limits) -> Counters;

    fn queues(&self) -> Option<&str> {
        None
    }
}

/// An engine around a core.
pub(crate) struct Framed<C> {
    core: C,
    rx_arena: Box<[u8]>,
    rx_entries: Vec<RxEntry>,
    tx_arena: Box<[u8]>,
    tx_entries: Vec<TxEntry>,
    limits: Limits,
}

impl<C: Core> Framed<C> {
    /// All memory is taken, and touched, here. `rx_arena_bytes`: of all that can be received and not yet handed out.
    pub(crate) fn new(core: C, rx_arena_bytes: usize, config: &Config, limits: Limits) -> Framed<C> {
        Framed {
            core,
            rx_arena: vec![0xa5; rx_arena_bytes].into(),
            rx_entries: Vec::with_capacity(config.batch),
            tx_arena: vec![0xa5; config.batch * config.max_payload_bytes].into(),
            tx_entries: Vec::with_capacity(config.batch),
            limits,
        }
    }
}

impl<C: Core> Engine for Framed<C> {
    fn recv(&mut self, wait: Wait) -> Result<RxBatch<'_>, EngineError> {
        loop {
            self.rx_entries.clear();
            self.core.collect(&mut self.rx_arena, &mut self.rx_entries, &self.limits)?;
            let go_on = self.rx_entries.is_empty() && !self.core.shared().refused_since_recv;
            if !go_on || !self.core.await_datagram(wait)? {
                break;
            }
        }
        self.core.shared_mut().count(&self.rx_entries);
        Ok(self.last_batch())
    }

    fn last_batch(&self) -> RxBatch<'_> {
        RxBatch::new(&self.rx_arena, &self.rx_entries)
    }

    fn reserve(&mut self, want: usize) -> TxBatch<'_> {
        let Limits { batch, max_payload_bytes, .. } = self.limits;
        TxBatch::new(&mut self.tx_arena, max_payload_bytes, &mut self.tx_entries, want.min(batch), &mut self.core)
    }

    fn refused(&mut self) -> Option<Refusal> {
        self.core.shared_mut().refused()
    }

    fn local(&self, port: PortIndex) -> Option<SocketAddr> {
        self.core.local(port)
    }

    fn limits(&self) -> Limits {
        self.core.limits(self.limits)
    }

    fn counters(&self) -> Counters {
        self.core.counters(&self.limits)
    }

    fn queues(&self) -> Option<&str> {
        self.core.queues()
    }
}
