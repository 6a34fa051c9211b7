//! The ports a component sees while it executes a slot, and the packets behind them.
//!
//! A component that only reads and writes slices knows nothing of rings, delays, missed slots or processes; ports keep all
//! that from it. They hand packets over without copies where they can, and nothing here allocates, locks or waits once the
//! waveform is open.
//!
//! A port is made when a waveform is opened and has its end of a link. Around each execution a worker calls `begin`, which
//! points the port at the packet of the slot, and `finish`, which hands it over or lets go of it. In between the component
//! calls [`InPort::read`] and [`OutPort::write`].

mod borrowed;
mod input;
mod lengths;
mod output;
mod packet;
mod sample;
mod tap;
mod warm;

use borrowed::BorrowedPacket;
pub(crate) use input::Source;
pub use input::{In, InPort};
pub(crate) use lengths::{declared, in_place, longest};
pub use output::{BrokenPacket, Out, OutPort};
pub(crate) use output::{Grant, Granted, Losses};
pub use packet::Header;
pub(crate) use packet::{Cell, Room};
pub use sample::{Bit, Llr, Sample};
pub(crate) use tap::port_tap;
pub(crate) use warm::{Place, Sizes, Warm};
