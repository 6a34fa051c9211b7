//! Parts of a stream, whatever it comes from: a radio, an emulator, a file.
//!
//! A call returns samples that are contiguous in time. A gap ends the call and is in the type, with its exact length; the
//! next call starts after it. Nothing here blocks beyond the deadline it was given.

use takt_base::{Complex32, MonoNs, Speed, Tick, TickRate, Ticks};

use crate::RadioError;

/// Result of one receive call.
#[must_use = "a gap is reported here and nowhere else"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Samples per channel: 0 to the length of the shortest buffer. Fewer than that without an event: the deadline came.
    pub samples: usize,
    /// Time of the first of them, on the radio's clock; with none, the time the stream has reached.
    pub first: Tick,
    /// Event that ended this run early. The next call starts after it.
    pub event: Option<RxEvent>,
}

/// Events of a receive stream. The letters are UHD's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names say it")]
pub enum RxEvent {
    /// `O`: the radio could not get rid of its samples and stopped; it was started again.
    Overflow {
        /// Channel of the stream.
        channel: u8,
        /// Samples missing, per channel, by the time stamps.
        lost: u64,
    },
    /// `D`: gone between the radio and here.
    Dropped {
        /// Channel of the stream.
        channel: u8,
        datagrams: u64,
        /// Samples missing, per channel, by the time stamps.
        lost: u64,
    },
    /// `L`: the time of a stream command had passed when it arrived; the command was dropped.
    Late {
        /// Channel of the stream.
        channel: u8,
        by: Ticks,
    },
    /// A chained command was not followed by the next in time.
    BrokenChain {
        /// Channel of the stream.
        channel: u8,
    },
    /// The last sample of a burst has been delivered.
    EndOfBurst,
    /// The radio's clock was set while it streamed: no sample is missing, but `first` of the next call does not follow.
    Retimed,
    /// `O`, and nobody can say how many samples are missing: the radio's driver has no time stamps that show it.
    Unmeasured {
        /// Channel of the stream.
        channel: u8,
    },
    /// The radio sent a message this driver has no name for.
    Unknown {
        /// Channel of the stream.
        channel: u8,
        code: u32,
    },
}

/// Samples coming in.
pub trait RxStream {
    /// Fills `out[channel][sample]`, all channels alike, full scale 1.0, until they are full, something happened, or the
    /// clock shows `until`.
    ///
    /// # Errors
    /// The stream is over: the radio is gone or belongs to another host, the port is lost; or `out` has another number
    /// of channels than the stream.
    fn recv(&mut self, out: &mut [&mut [Complex32]], until: MonoNs) -> Result<Received, RadioError>;

    /// Channels.
    fn channels(&self) -> usize;

    /// Samples per second, exactly as the radio makes them.
    fn rate_sps(&self) -> f64;

    /// The clock that [`Received::first`] counts.
    fn tick_rate(&self) -> TickRate;

    /// Ticks from one sample to the next.
    fn ticks_per_sample(&self) -> Ticks;

    /// How fast the stream's time passes beside the host's: what it takes is [`Speed::host_time`] of that on the host's clock.
    fn speed(&self) -> Speed {
        Speed::WALL
    }

    /// When the first sample is due of a run that was started ahead, on the host's clock: until then nothing can come. `None` once
    /// it has come, and for a run that begins at once.
    fn begins(&self) -> Option<MonoNs> {
        None
    }

    /// Whether each lost sample is in an event. If not, counts of lost samples are unknown, even where there was no event. Asked at
    /// the end of a stream: the driver of another maker's radio may turn out to have no time stamps.
    fn shows_losses(&self) -> bool {
        true
    }
}

/// How samples given to [`TxStream::send`] lie in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Burst {
    /// When the first sample of a burst shall leave; `None` = at once. Has no effect inside a burst.
    pub at: Option<Tick>,
    /// The last sample of the call ends the burst.
    pub ends: bool,
}

impl Burst {
    /// Goes on with the burst that is running, or starts one at once.
    pub const GO_ON: Burst = Burst { at: None, ends: false };
    /// Ends the burst that is running with the last sample given.
    pub const END: Burst = Burst { at: None, ends: true };

    /// Starts a burst at `tick`.
    #[must_use]
    pub const fn at(tick: Tick) -> Burst {
        Burst { at: Some(tick), ends: false }
    }

    /// The same, ending with the last sample given.
    #[must_use]
    pub const fn ending(self) -> Burst {
        Burst { ends: true, ..self }
    }
}

/// Report of a radio about what it was sent. The letters are UHD's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TxEvent {
    /// Its kind.
    pub kind: TxEventKind,
    /// Channel of the stream.
    pub channel: u8,
    /// When, on the radio's clock.
    pub tick: Tick,
    /// Number of the datagram it concerns; `None`: the radio does not say (an X310), and only the time tells.
    pub sequence: Option<u32>,
}

/// Kinds of events of a transmit stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TxEventKind {
    /// The last sample of a burst has been sent.
    BurstAck,
    /// `U`: a burst was running and the next sample was not there.
    Underflow,
    /// `S`: a datagram was missing between here and the radio.
    SequenceError,
    /// `L`: a timed burst came after its time.
    Late,
    /// A code this driver has no name for.
    Unknown(u16),
}

/// Samples going out.
pub trait TxStream {
    /// Sends `samples[channel][sample]`, all channels alike, full scale 1.0; returns how many of each were taken before
    /// the clock showed `until`. If fewer than given, the end of the burst was not sent either: call again with the rest.
    /// An empty slice with [`Burst::ends`] ends the burst with one sample of silence.
    ///
    /// # Errors
    /// The stream is over, or `samples` has another number of channels than the stream.
    fn send(&mut self, samples: &[&[Complex32]], burst: Burst, until: MonoNs) -> Result<usize, RadioError>;

    /// The oldest report not yet taken; waits for one until the clock shows `until`. Fails if the stream is over.
    fn event(&mut self, until: MonoNs) -> Result<Option<TxEvent>, RadioError>;

    /// Channels.
    fn channels(&self) -> usize;

    /// Samples per second, exactly as the radio takes them.
    fn rate_sps(&self) -> f64;

    /// The clock that [`TxEvent::tick`] counts.
    fn tick_rate(&self) -> TickRate;

    /// Ticks from one sample to the next.
    fn ticks_per_sample(&self) -> Ticks;

    /// Whether the radio reports what goes wrong. If not, counts of its reports are unknown, not 0. Asked at the end of a stream, as
    /// [`RxStream::shows_losses`].
    fn reports_faults(&self) -> bool {
        true
    }

    /// As [`RxStream::speed`].
    fn speed(&self) -> Speed {
        Speed::WALL
    }
}
