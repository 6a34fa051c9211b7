//! Numbers of SoapySDR (`SoapySDR/Errors.h`, `SoapySDR/Constants.h`), and which of takt's events each stands for.

use takt_radio::{RxEvent, TxEventKind};

/// Why a call of a stream failed, by SoapySDR's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Code {
    /// Nothing came, or nothing was taken, in the time given.
    Timeout = -1,
    /// Something with the stream that has no number of its own.
    Stream = -2,
    /// A datagram was missing on its way to the radio.
    Corruption = -3,
    /// Samples are missing: the radio had no room, or they were lost on their way.
    Overflow = -4,
    /// takt's driver does not do this.
    NotSupported = -5,
    /// A time that had passed.
    Time = -6,
    /// The radio ran out of samples.
    Underflow = -7,
}

impl Code {
    /// SoapySDR's number.
    #[must_use]
    pub const fn number(self) -> i32 {
        self as i32
    }
}

/// Flags of streams.
pub mod flags {
    /// The last sample ends a burst.
    pub const END_BURST: i32 = 1 << 1;
    /// The time of the call holds.
    pub const HAS_TIME: i32 = 1 << 2;
}

/// Code that a program gets for an event of a receive stream; `None`: nothing, since no sample is missing.
///
/// SoapySDR has no number for datagrams that were lost on their way (UHD's `D`). Its module for UHD reports them as overflows too.
pub(crate) const fn of_rx(event: RxEvent) -> Option<Code> {
    match event {
        RxEvent::Overflow { .. } | RxEvent::Dropped { .. } | RxEvent::Unmeasured { .. } => Some(Code::Overflow),
        RxEvent::Late { .. } => Some(Code::Time),
        RxEvent::EndOfBurst | RxEvent::Retimed => None,
        _ => Some(Code::Stream),
    }
}

/// Code that a program gets for a report of a transmit stream; `None`: a burst has ended as it should.
pub(crate) const fn of_tx(kind: TxEventKind) -> Option<Code> {
    match kind {
        TxEventKind::BurstAck => None,
        TxEventKind::Underflow => Some(Code::Underflow),
        TxEventKind::SequenceError => Some(Code::Corruption),
        TxEventKind::Late => Some(Code::Time),
        _ => Some(Code::Stream),
    }
}
