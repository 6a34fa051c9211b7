//! An engine whose caller asks again at once instead of sleeping until something comes.
//!
//! It spares the wake-up. It pays for a thread that has a core, and takes all of it.

use takt_base::{Clock, WallClock};

use crate::engine::passes_on;
use crate::refusals::Refusals;
use crate::{Choice, Engine, EngineError, Refusal, RxBatch, Wait};

pub(crate) struct Polling {
    engine: Box<dyn Engine>,
    refusals: Refusals,
    refused_since_recv: bool,
}

impl Polling {
    pub(crate) fn new(engine: Box<dyn Engine>) -> Polling {
        Polling { engine, refusals: Refusals::new(), refused_since_recv: false }
    }

    /// Takes over what the engine has to report: it has come since the last look.
    fn take_refusals(&mut self) {
        while let Some(refusal) = self.engine.refused() {
            self.refusals.note(refusal);
            self.refused_since_recv = true;
        }
    }
}

impl Engine for Polling {
    passes_on!();

    fn recv(&mut self, wait: Wait) -> Result<RxBatch<'_>, EngineError> {
        loop {
            let came = !self.engine.recv(Wait::Poll)?.is_empty();
            self.take_refusals();
            let over = match wait {
                Wait::Poll => true,
                Wait::Until(end) => WallClock.now() >= end,
            };
            if came || self.refused_since_recv || over {
                self.refused_since_recv = false;
                return Ok(self.engine.last_batch());
            }
            std::hint::spin_loop();
        }
    }

    fn refused(&mut self) -> Option<Refusal> {
        self.take_refusals();
        self.refusals.pop()
    }

    fn choice(&self) -> Option<&Choice> {
        self.engine.choice()
    }
}
