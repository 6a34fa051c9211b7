//! Engine `auto`: the fastest that opens here, and why not another.
//!
//! The order is that of datagrams a second across a path (peers/engines): `xdp` before `mmsg`, as long as a datagram fits into
//! a chunk of `xdp`; of more it is put together and copied once more, and passes half as many of 8000 bytes. The others are
//! never chosen: `xdp-generic` slows down what else comes to the interface, `uring` is no faster than `mmsg`, and `socket`
//! is slower.

use crate::engine::passes_on;
use crate::{Choice, Config, Engine, EngineError, EngineKind, Refusal, RxBatch, Wait, xdp};

/// Engines tried, in this order; the last opens wherever any does.
const ORDER: [EngineKind; 2] = [EngineKind::XDP, EngineKind::Mmsg];

/// An engine and how it came to be it.
struct Chosen {
    engine: Box<dyn Engine>,
    choice: Choice,
}

/// Opens one kind of engine.
type Open = fn(EngineKind, &Config) -> Result<Box<dyn Engine>, EngineError>;

/// Opens the first of the order that `open` opens.
pub(crate) fn open_auto(config: &Config, open: Open) -> Result<Box<dyn Engine>, EngineError> {
    let mut passed_over = Vec::new();
    for kind in ORDER {
        if kind == EngineKind::XDP && !config.shorter_payloads && !xdp::fits(config) {
            passed_over
                .push((kind, format!("datagrams of {} bytes take several of its chunks", config.max_payload_bytes)));
            continue;
        }
        match open(kind, config) {
            Ok(engine) => return Ok(Box::new(Chosen { engine, choice: Choice { kind, passed_over } })),
            Err(error) if goes_on(kind, &error) => passed_over.push((kind, reason(&error))),
            Err(error) => return Err(error),
        }
    }
    Err(EngineError::Config { what: "engines to choose from", got: 0, want: "at least 1" })
}

/// A fault of the ports is one for every engine; the last has nobody behind it.
fn goes_on(kind: EngineKind, error: &EngineError) -> bool {
    kind != ORDER[ORDER.len() - 1]
        && matches!(error, EngineError::Missing { .. } | EngineError::Kernel { .. } | EngineError::InterfaceGone { .. })
}

fn reason(error: &EngineError) -> String {
    match error {
        EngineError::Missing { missing, .. } => missing.to_string(),
        EngineError::Kernel { call, source } => format!("{call}: {source}"),
        other => other.to_string(),
    }
}

impl Engine for Chosen {
    passes_on!();

    fn recv(&mut self, wait: Wait) -> Result<RxBatch<'_>, EngineError> {
        self.engine.recv(wait)
    }

    fn refused(&mut self) -> Option<Refusal> {
        self.engine.refused()
    }

    fn choice(&self) -> Option<&Choice> {
        Some(&self.choice)
    }
}
