//! The system calls and what they carry. Bytes are built and read by safe code; only the calls themselves are unsafe.

pub(crate) mod addr;
pub(crate) mod control;
pub(crate) mod filter;
pub(crate) mod link;
pub(crate) mod memory;
pub(crate) mod message;
pub(crate) mod option;
pub(crate) mod received;
pub(crate) mod ring;
#[cfg(feature = "dpdk")]
pub(crate) mod table;
pub(crate) mod xsk;
