//! Faults on purpose: named, seeded, scripted, and counted one for one.
//!
//! A fault is a line of text, so that a test, an experiment file and a command line say the same thing:
//!
//! ```text
//! KIND:STREAM,WHEN[,key=value ...]
//!
//! lose:rx,every=1000            each 1000th sample packet to the host is lost
//! lose:tx,at=5000,run=3         the 5000th sample packet from the host and the two after it
//! lose:rx,p=0.001,seed=7        each with this chance; the same seed loses the same packets
//! delay:rx,every=100,by=2ms     held back; what comes after overtakes it
//! reorder:tx,every=500          changes places with the next one
//! duplicate:acks,every=10       comes twice
//! corrupt:rx,every=50,where=payload     a bit flips (payload, header) or the end is missing (length)
//! overflow:rx,at=3s,for=1ms     the wire is blocked: an N200 stops and says so
//! stall:all,at=3s,for=1s        nothing passes, in no direction
//! stall:rx,at=+3s,for=1s        the same towards the host, three seconds after the first sample packet
//! ring:at=3s,for=20ms,frames=256        the host takes nothing from its network card, whose ring fills
//! reboot:at=5s,for=2s           gone for two seconds, then as after power-up
//! ```
//!
//! WHEN is one of `every=N`, `at=N` (the N-th datagram of the stream, the first is 1), `at=TIME` (the first datagram at or
//! after this time) and `p=P`. `after=N` or `after=TIME` leaves the beginning alone, `limit=N` ends it. Times count from
//! the moment the device was switched on; `at=+TIME` and `after=+TIME` count from the first sample packet, in either
//! direction and of any DSP, so that it does not matter how long a host takes to start. A reboot sets neither back.
//!
//! A full ring makes the network card send pause frames, and the device has to keep what it would send: what is in the ring
//! comes late and all at once, nothing of it is lost, and a stream that could not be sent has overflowed.
//!
//! | stream | datagrams |
//! | --- | --- |
//! | `rx`, `rx0`, `rx1` | sample packets to the host, of both receive DSPs or one |
//! | `messages` | inline messages on the receive ports |
//! | `tx` | sample packets from the host |
//! | `flow`, `events` | flow control and async messages of the transmit DSP |
//! | `requests`, `control` | on the control port, from and to the host |
//! | `commands`, `acks` | on the register FIFO, from and to the host |
//! | `gps` | sentences of the GPSDO |
//! | `all` | everything |
//!
//! The table says what an N200 sends. An X310's datagrams on the CHDR port are told apart by their type. `rx` and `tx`
//! are samples, and `flow` the credits that it gives. `messages` and `events` are reports of its receivers and
//! transmitters, `commands` and `acks` registers of blocks. It has no `rx0`, `rx1` and `gps`.
//!
//! [`Faulty`] injects them around any device. If several faults would strike the same datagram the first one does; the
//! others have seen it nevertheless.

mod delay_queue;
mod faulty;
mod script;
mod spec;
mod stream;

pub use faulty::Faulty;
pub use spec::{Damage, Fault, Kind, Moment, When};
pub use stream::Stream;

pub use crate::text::SpecError;

use takt_base::Tick;

use crate::Port;

/// Which of a device's datagrams belong to which stream: what faults need to know of its protocol.
pub trait Streams {
    /// To which stream a datagram from the device belongs; [`Stream::All`]: to none of its own.
    fn leaving(port: Port, bytes: &[u8]) -> Stream;

    /// [`Streams::leaving`] as it holds of this device now: one that speaks several languages says so here.
    fn leaving_now(&self) -> fn(Port, &[u8]) -> Stream {
        Self::leaving
    }

    /// To which stream a datagram from a host belongs; [`Stream::All`]: to none of its own.
    fn arriving(port: Port, bytes: &[u8]) -> Stream;

    /// Which of two blocked outputs stops a datagram from the device; `None`: it leaves even then.
    fn outlet(port: Port, bytes: &[u8]) -> Option<usize>;
}

/// A device that can be switched off and on again.
pub trait PowerCycle {
    /// Starts again as after power-up, at this tick.
    fn power_cycle(&mut self, now: Tick);
}
