//! Datagrams in and out, in batches, in memory that belongs to the engine.
//!
//! An [`Engine`] owns a set of local ports and covers them all with one wait. Received datagrams are lent as an
//! [`RxBatch`] and go back at the next call; datagrams to send are written into frames lent by [`Engine::reserve`].
//! Above this crate nothing knows which engine it talks to.
//!
//! | engine | a system call carries | needs |
//! | --- | --- | --- |
//! | `socket` | one datagram, as UHD's own transport does | nothing |
//! | `mmsg` | a batch; optionally aggregates that the kernel splits (UDP GSO) and joins (GRO) | Linux |
//! | `uring` | a batch each way; receives go on by themselves, and one that finds nothing costs no call; long datagrams leave by zero copy | Linux 6.1, io_uring permitted |
//! | `xdp` | a batch of frames, past the kernel's protocol layers (AF_XDP) | CAP_NET_ADMIN, CAP_NET_RAW, CAP_BPF; a driver that runs XDP programs; IPv4 |
//! | `xdp-generic` | the same | the same, any driver |
//! | `dpdk` | frames, by a driver of DPDK's in this process: over a packet socket, AF_XDP, a tap or a card | a program built with the feature `dpdk`; CAP_NET_RAW, CAP_NET_ADMIN; IPv4 |
//! | `auto` | what the first of `xdp`, `mmsg` that opens does | nothing |
//!
//! An engine never blocks longer than its caller allows, allocates nothing after opening, and treats every length and
//! address the kernel hands it as a claim to be checked.

#![warn(missing_docs)]

mod auto;
mod batch;
mod config;
mod device;
#[cfg(feature = "dpdk")]
mod dpdk;
mod engine;
mod errno;
mod error;
mod framed;
mod generator;
mod inbox;
mod kind;
pub mod link;
mod missing;
mod mmsg;
mod network;
mod open;
mod outgoing;
mod polling;
mod port;
mod refusals;
mod runs;
mod shared;
mod socket;
mod sockets;
mod stamp;
mod sys;
mod uring;
mod xdp;
mod zero_copy;

pub use batch::{Datagram, RxBatch, RxEntry, Transmit, TxBatch, TxEntry, Wait};
pub use config::{Config, PortIndex, PortSpec, Way, ZeroCopy};
pub use device::{DpdkDevice, OwnAddress, PciAddress, UnknownDevice};
pub use engine::{Choice, Counters, Engine, FramePath, Limits, Refusal};
pub use error::EngineError;
pub use generator::{Generator, GeneratorError, MAX_GENERATED_BYTES};
pub use kind::{EngineKind, UnknownEngine};
pub use missing::Missing;
#[doc(hidden)]
pub use network::{frame, icmp}; // for their fuzz targets
pub use open::open;
pub use takt_host::steering::Queues;
pub use zero_copy::Sending;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
