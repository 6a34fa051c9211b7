//! Components that run in a process of their own, over shared memory: what they break there costs their slots and nothing
//! else.
//!
//! ```text
//!  worker                        shared words (a memfd)            process of the component
//!  slot k:  take answer k - 1  <---- cell (k - 1) % 2 <----        ...
//!           hand it over
//!           write request k    ----> cell k % 2 ------------>      tell, tick, write answer k
//!  keeper (soft thread): starts the process, watches it, starts it again
//! ```
//!
//! What the component makes in its logical slot j is handed over in the next physical slot: it works while the slot passes,
//! and the plan gives the links out of it a slot more. So it computes what it would compute in the program itself, and
//! `output_hash` is the same.
//!
//! An answer that is not there in time is a missed slot ([`crate::MissKind::Unanswered`]) of that component: because it is
//! slow, hangs, has crashed or was killed. Under a free clock workers wait for it; the keeper ends a process that has not
//! answered for [`Isolation::hang`]. A process that is gone is started again [`Isolation::restarts`] times, with fresh
//! state and the variables last set. In the slot loop there is no system call for any of this: both sides look at words.
//!
//! The other process is this program, executed again with an argument that [`serve_if_asked`] looks for. It is told what
//! to be through the shared memory, and it finds its component by name among those linked into the program, or in the same
//! library. It ends when this process ends, however that comes about, and the memory has no name that could stay behind.
//! This is safety against crashes and no security boundary: the process has the rights and the environment of this one, and
//! no limit of its own on memory, processor time, files or processes.

mod instruction;
mod keeper;
mod layout;
mod map;
mod remote;
mod serve;

use std::time::Duration;

pub use map::Map;
pub(crate) use remote::{Answer, Opening, Remote};
pub use serve::serve_if_asked;

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
        let (start, hang) = (Duration::from_secs(30), Duration::from_secs(1));
        Isolation { restarts: 3, start, hang, cores: Vec::new() }
    }
}
