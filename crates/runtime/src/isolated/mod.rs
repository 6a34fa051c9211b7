//! Components that run in a process of their own, over shared memory: what they break there costs their slots and nothing
//! else.
//!
//! ```text
//!  worker                        shared words (a memfd)            process of the component
//!  slot k:  take answer k - 1  <---- cell (k - 1) % 2 <----        ...
//!           hand it over
//!           write request k    ----> cell k % 2 ------------>      settings, tick, write answer k
//!  keeper (soft thread): starts the process, watches it, starts it again
//! ```
//!
//! The component's output of its logical slot j is handed over in the next physical slot. It works while the slot
//! passes, and the plan gives the links out of it a slot more. So it computes what it would compute in the program
//! itself, and `output_hash` is the same.
//!
//! An answer that is not there in time is a missed slot ([`crate::MissKind::Unanswered`]) of that component: because it is
//! slow, hangs, has crashed or was killed. Under a free clock workers wait for it; the keeper ends a process that has not
//! answered for [`Isolation::hang`]. A process that is gone is started again [`Isolation::restarts`] times, with fresh
//! state and the variables last set. In the slot loop there is no system call for any of this: both sides look at words.
//!
//! The other process is this program, executed again with an argument that [`serve_if_asked`] looks for. It reads what
//! to be from the shared memory, and it finds its component by name among those linked into the program. It ends when this
//! process ends, however that comes about, and the memory has no name that could stay behind.
//!
//! This is safety against crashes and no security boundary: the process has the rights and the environment of this one, and
//! no limit of its own on memory, processor time, files or processes.

mod instruction;
mod keeper;
mod layout;
mod map;
mod remote;
mod serve;

pub use map::Map;
pub(crate) use remote::{Answer, Remote};
pub use serve::serve_if_asked;

pub use crate::options::Isolation;
