//! The four messages by which a host gets its address (RFC 2131, RFC 2132), and both ends of the exchange as pure
//! functions from message to message. Sockets are the caller's business.
//!
//! Enough for a lab's own network: one pool, no renewal (a lease lasts as long as the path), no relays.

mod client;
mod message;
mod server;

pub use client::{Client, Lease};
pub use message::{CLIENT_PORT, Kind, MAX_BYTES, Message, MessageError, SERVER_PORT};
pub use server::{Pool, Server};
