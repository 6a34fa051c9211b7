//! Drivers of a [`Device`](crate::Device): a virtual clock for tests, the host's clock and a packet engine for real.
//!
//! Both do the same three things: hand over datagrams at the ticks at which they arrived, call `advance` when the device
//! requested it, and carry away what it sends. The device cannot tell them apart.

pub mod sim;
pub mod wall;
