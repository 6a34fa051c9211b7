//! The Linux host under takt: who uses its processors, and what a thread may ask of it.
//!
//! | module | answers |
//! | --- | --- |
//! | [`accounting`] | who used how much CPU between two instants, by thread, process and class |
//! | [`affinity`], [`topology`] | which CPUs there are, and which a thread may use |
//! | [`policy`], [`memory`], [`slack`], [`slice`](mod@slice), [`capability`] | what makes a thread punctual, and why it was refused |
//! | [`placement`] | CPUs and policy of a thread together, as a user asks for them |
//! | [`timer`] | waiting until an instant: sleeping, spinning, or one after the other |
//! | [`kernel`], [`idle`], [`irq`], [`isolation`] | what of the kernel decides about punctuality, and how deep processors sleep |
//! | [`quota`], [`cgroup`] | a share of processor time that a process may not exceed; what control groups allow |
//! | [`namespace`], [`user_namespace`] | network namespaces, what keeps users from making them |
//! | [`tun`] | an interface whose packets this program reads and writes |
//! | [`receive`], [`bpf`], [`ethtool`] | which thread works off what an interface receives, programs in the kernel's receive path, what a card's driver keeps |
//! | [`steering`] | receive queues of a card for one program's datagrams |
//! | [`thread_clock`], [`core_stop`], [`core_watch`] | that a core stood still, and who stopped it |
//! | [`core_share`] | how much of a core an ordinary thread gets |
//! | [`proc`](mod@proc), [`cpu_list`] | parsers of what the kernel prints |
//! | [`ending`] | a request to end, by signal |
//! | [`call`], [`user`] | how this program is called, as a person can type it, and who typed it |
//! | [`sockets`] | Unix sockets with a name, for processes that let others look |
//! | [`leftovers`], [`cleaning`], [`dirs`], [`lock`], [`trusted`] | what a killed run left and its removal, where takt keeps its own notes, and who may write them |
//! | [`fingerprint`], [`distribution`] | which machine a figure was measured on |
//!
//! It reads through a [`Host`], which is this machine or a tree of files that looks like one. It never changes a setting
//! without recording the old value first, and sends nothing anywhere but to itself.

mod accounts;
pub mod cpu_list;
mod error;
mod firmware;
mod host;
mod patience;
mod scheduling;
mod sys;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub mod accounting;
pub mod affinity;
pub mod bpf;
pub mod call;
pub mod capability;
pub mod cgroup;
pub mod cleaning;
pub mod core_share;
pub mod core_stop;
pub mod core_watch;
pub mod dirs;
pub mod distribution;
pub mod ending;
pub mod ethtool;
pub mod fingerprint;
pub mod idle;
pub mod irq;
pub mod isolation;
pub mod kernel;
pub mod leftovers;
pub mod lock;
pub mod memory;
pub mod namespace;
pub mod placement;
pub mod policy;
pub mod proc;
pub mod receive;
pub mod slack;
pub mod slice;
pub mod sockets;
pub mod steering;
pub mod thread_clock;
pub mod timer;
pub mod topology;
pub mod trusted;
pub mod tun;
pub mod user;
pub mod user_namespace;

pub use cgroup::quota;
pub use error::{ReadError, with_causes};
pub use host::Host;
