//! Links of a waveform to and from GNU Radio, and any other program that speaks ZeroMQ.
//!
//! [`zmtp`] is the protocol, as pure functions; [`Socket`] carries it over TCP, without waiting; the components `zmq-sink` and
//! `zmq-source` are registered by name in every program that links this crate. A soft thread has the socket, behind a queue: no slot
//! waits for the network unless its waveform says so (`keep = "data"`).
//!
//! | component | GNU Radio's block | with `pattern = "broadcast"` |
//! | --- | --- | --- |
//! | `zmq-sink` | ZMQ PULL Source | ZMQ SUB Source |
//! | `zmq-source` | ZMQ PUSH Sink | ZMQ PUB Sink |

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod ends;
mod peer;
mod settings;
mod sink;
mod source;
pub mod zmtp;

pub use ends::{Place, Socket};

/// Makes this crate part of a program that only names its components in waveforms.
pub fn link() {}
