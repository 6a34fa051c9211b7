//! Layout of the shared words: the configuration that a process of its own starts with, and the cells of requests and
//! answers. Both sides reckon it from the same [`Config`].

use serde::{Deserialize, Serialize};
use takt_graph::{Params, Shape};
use takt_link::exchange::{BEGIN, LINE, words};

/// First word: what this is.
pub(crate) const MAGIC: u64 = u64::from_le_bytes(*b"taktiso1");
pub(crate) const CONFIG_BYTES: usize = 1;
/// State of the other side: [`READY`] or [`REFUSED`].
pub(crate) const STATE: usize = 2;
/// Bytes of its text.
pub(crate) const TEXT_BYTES: usize = 3;
pub(crate) const READY: u64 = 1;
pub(crate) const REFUSED: u64 = 2;

/// Start of its text: why it refuses, or its results, as JSON.
pub(crate) const TEXT: usize = BEGIN;
pub(crate) const TEXT_WORDS: usize = 8192;
pub(crate) const CONFIG: usize = TEXT + TEXT_WORDS;

/// Configuration that a process of its own starts with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Config {
    pub(crate) kind: String,
    pub(crate) params: Params,
    /// All ports, those for messages as well.
    pub(crate) shape: Shape,
    pub(crate) declared: (usize, usize),
    /// Items of the longest packet of each input.
    pub(crate) input_items: Vec<usize>,
    /// Items of the longest packet of each output.
    pub(crate) output_items: Vec<usize>,
    pub(crate) params_count: usize,
    pub(crate) slot_ns: u64,
    /// Looks at the counter before it sleeps.
    pub(crate) spins: u32,
    /// Processors it may run on; empty: all.
    pub(crate) cores: Vec<usize>,
    /// Whether its memory is locked, if the host lets it.
    pub(crate) lock_memory: bool,
}

/// Words of a cell, by name. First those of the request:
pub(crate) const SLOT: usize = 0;
/// [`TICK`] or [`GIVE_RESULTS`] or [`END`].
pub(crate) const WHAT: usize = 1;
pub(crate) const CONTROL_COUNT: usize = 2;
/// Those of the answer: [`DONE`], [`LOST`] or [`PANICKED`].
pub(crate) const STATUS: usize = 3;
pub(crate) const NS: usize = 4;
const CONTROL: usize = LINE;

pub(crate) const TICK: u64 = 1;
pub(crate) const GIVE_RESULTS: u64 = 2;
pub(crate) const END: u64 = 3;
pub(crate) const DONE: u64 = 1;
pub(crate) const PANICKED: u64 = 2;
pub(crate) const LOST: u64 = 3;

/// Settings, messages and the like of one request at most.
pub(crate) const CONTROLS: usize = 128;
pub(crate) const CONTROL_WORDS: usize = 10;

/// Words of an input: items, first item, missing, bytes of history; then history and packet.
pub(crate) const ITEMS: usize = 0;
pub(crate) const FIRST: usize = 1;
pub(crate) const MISSING: usize = 2;
pub(crate) const HISTORY: usize = 3;
/// Words of an output: items it may give, first item, items given, whether an empty packet is a lost one. The packet
/// follows, unless its items are more than it may give.
pub(crate) const GRANTED: usize = 0;
pub(crate) const GIVEN: usize = 2;
pub(crate) const LOST_IF_EMPTY: usize = 3;
/// Words before the packet.
pub(crate) const HEAD: usize = 4;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// Its first word in a cell.
    pub(crate) at: usize,
    pub(crate) item_bytes: usize,
    /// Bytes of history and packet at most.
    pub(crate) bytes: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) inputs: Vec<Span>,
    pub(crate) outputs: Vec<Span>,
    /// Values of all parameters, two words each.
    pub(crate) values: usize,
    pub(crate) cell_words: usize,
    pub(crate) cells_at: usize,
}

impl Layout {
    /// `config_bytes`: of the configuration as it is written.
    pub(crate) fn of(config: &Config, config_bytes: usize) -> Layout {
        let mut at = CONTROL + CONTROLS * CONTROL_WORDS;
        let mut span = |item_bytes: usize, items: usize| {
            let span = Span { at, item_bytes, bytes: items * item_bytes };
            at = (at + HEAD + span.bytes.div_ceil(8)).next_multiple_of(LINE);
            span
        };
        let inputs = config.shape.inputs.iter().zip(&config.input_items);
        let inputs = inputs.map(|(port, items)| span(port.item.bytes(), items + port.history as usize)).collect();
        let outputs = config.shape.outputs.iter().zip(&config.output_items);
        let outputs = outputs.map(|(port, &items)| span(port.item.bytes(), items)).collect();
        let values = at;
        let cell_words = (values + 2 * config.params_count).next_multiple_of(LINE);
        let cells_at = (CONFIG + config_bytes.div_ceil(8)).next_multiple_of(LINE);
        Layout { inputs, outputs, values, cell_words, cells_at }
    }

    pub(crate) fn words(&self) -> usize {
        words(self.cells_at, self.cell_words)
    }

    pub(crate) fn control(n: usize) -> usize {
        CONTROL + n * CONTROL_WORDS
    }
}
