//! How a waveform is run: [`SessionOptions`].

use std::time::Duration;

use crate::slot::SlotClock;
use crate::soft;

/// How a waveform is run.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// Logical slots each component executes; `None`: until stopped.
    pub slots: Option<u64>,
    /// Clock of the slots.
    pub clock: SlotClock,
    /// A processor for each worker; empty: wherever the kernel likes.
    pub cores: Vec<usize>,
    /// Real-time priority (`SCHED_FIFO`), 1 to 99; `None`: as the process has it.
    pub fifo_priority: Option<u8>,
    /// Whether the run goes on without the priority where it is refused; the report says what became of it.
    pub priority: Wish,
    /// Whether all memory of the process is locked before the workers start, and stays so afterwards.
    pub lock_memory: Wish,
    /// Slots that a worker executes of one component before the next one's turn, under a free clock; no more than its links
    /// hold. The results do not depend on it. 1: slot by slot, as on the beat, so that execution times are those of the
    /// beat. More: what a component needs stays in the processor's caches, and executions of one burst are timed
    /// together, each as its mean, unless all are logged.
    pub burst: u64,
    /// How long before an edge a worker stops sleeping and watches the clock, at most: it learns how late its sleeps end, and
    /// watches as long as all but one in a thousand need.
    pub spin: Duration,
    /// Whether what the sinks receive is folded into `output_hash`.
    pub hash: bool,
    /// How components that the waveform isolates are treated.
    pub isolation: Isolation,
    /// Memory of all links at most.
    pub memory_max_bytes: u64,
    /// Whether every execution goes to [`Running::log`](crate::Running::log).
    pub log: Option<LogOptions>,
    /// Whether [`Running::view`](crate::Running::view) sees slots and misses while it runs.
    pub watched: bool,
}

/// How executions are logged as they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogOptions {
    /// Executions of each worker that may wait to be read.
    pub waiting: usize,
    /// Fate of the next one: it is dropped and counted, or the worker waits for the reader.
    pub policy: soft::Policy,
}

impl Default for SessionOptions {
    /// Free, unpinned, until stopped, with hash, 4 GiB.
    fn default() -> SessionOptions {
        SessionOptions {
            slots: None,
            clock: SlotClock::Free,
            cores: Vec::new(),
            fifo_priority: None,
            priority: Wish::Require,
            lock_memory: Wish::No,
            burst: 1,
            spin: Duration::from_micros(100),
            hash: true,
            isolation: Isolation::default(),
            memory_max_bytes: 4 << 30,
            log: None,
            watched: false,
        }
    }
}

/// How much something is wanted that the host may refuse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wish {
    /// It is not asked for.
    #[default]
    No,
    /// It is asked for; refused, the run goes on, and the report says why it was refused.
    Try,
    /// Without it nothing runs.
    Require,
}

/// How isolated components are treated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Isolation {
    /// How often the process of a component is started again after it ended.
    pub restarts: u32,
    /// A process whose component is not made for so long does not start.
    pub start: Duration,
    /// A process that has not answered for so long is ended.
    pub hang: Duration,
    /// Processors for these processes; empty: wherever the kernel likes.
    pub cores: Vec<usize>,
}

impl Default for Isolation {
    /// Three times; half a minute; a second; anywhere.
    fn default() -> Isolation {
        Isolation { restarts: 3, start: Duration::from_secs(30), hang: Duration::from_secs(1), cores: Vec::new() }
    }
}
