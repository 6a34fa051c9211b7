//! The bytes that `takt udp` puts into datagrams. Pure: no socket, no clock. Everything that is parsed came from a
//! network and is hostile until it has been: no length is believed, nothing is allocated from one, nothing panics.
//!
//! The first byte says what a datagram is: `0xd0` to `0xdf` is load ([`data`]), `T` is control ([`message`]), anything
//! else is a stranger's. The page `docs/reference/udp.md` says what is sent when.

pub mod cookie;
pub mod data;
pub mod message;
