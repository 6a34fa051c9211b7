//! What can go wrong between a host and a radio, with what is needed to mend it.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use takt_dsp::file::FileError;
use takt_packet::EngineError;
use takt_wire::WireError;

use crate::board::OutOfRange;
use crate::n200::{ALLOW_TRANSMIT, Emission};

/// Why a radio could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RadioError {
    /// The host's own end.
    #[error("packet engine")]
    Engine(#[from] EngineError),
    /// Nobody answered a hello.
    #[error("nothing at {addr} answered as a radio within {waited:?}")]
    NothingThere {
        /// Where.
        addr: IpAddr,
        /// How long in all.
        waited: Duration,
    },
    /// The machine is there, and says that no radio listens on that port.
    #[error("{addr} answers that nobody listens there")]
    PortClosed {
        /// Where.
        addr: SocketAddr,
    },
    /// A radio answered, of another kind than the driver's.
    #[error("{addr} is {found}, not an N200 or N210")]
    OtherKind {
        /// Where.
        addr: IpAddr,
        /// What it is, with its article: `a USRP2`.
        found: &'static str,
    },
    /// Firmware of another generation.
    #[error("firmware of {addr} speaks protocol {got}, this driver {low} to {high}")]
    Firmware {
        /// Where.
        addr: IpAddr,
        /// What it speaks.
        got: u32,
        /// Lowest version understood.
        low: u32,
        /// Highest version understood.
        high: u32,
    },
    /// FPGA image of another generation.
    #[error("FPGA image of {addr} is {major}.{minor}, this driver needs {want_major}.x")]
    Fpga {
        /// Where.
        addr: IpAddr,
        /// Its major version.
        major: u16,
        /// Its minor version.
        minor: u16,
        /// The major version needed.
        want_major: u16,
    },
    /// Another host works with it.
    #[error("{addr} is in use by another host (owner {owner:#010x}), which gave a sign of life {:.1} s ago", age.as_secs_f64())]
    InUse {
        /// Where.
        addr: IpAddr,
        /// What the owner calls itself.
        owner: u32,
        /// Since the owner's last sign of life.
        age: Duration,
    },
    /// Another host has taken the radio away from this one.
    #[error("{addr} was taken over by another host (owner {owner:#010x})")]
    TakenOver {
        /// Where.
        addr: IpAddr,
        /// What the owner calls itself.
        owner: u32,
    },
    /// The radio was switched off and on, or reset.
    #[error("{addr} was restarted: its settings and streams are gone")]
    Restarted {
        /// Where.
        addr: IpAddr,
    },
    /// The radio gives no sign of life.
    #[error("{addr} is gone: it does not answer any more")]
    Gone {
        /// Where.
        addr: IpAddr,
    },
    /// The radio stopped answering.
    #[error("{addr} does not answer any more ({what}, {tries} tries)")]
    Silent {
        /// Where.
        addr: SocketAddr,
        /// What it was asked.
        what: &'static str,
        /// How often.
        tries: u32,
    },
    /// The radio answered something that is no answer to what it was asked.
    #[error("{addr} answered {what} with something else")]
    Answer {
        /// Where.
        addr: SocketAddr,
        /// What it was asked.
        what: &'static str,
    },
    /// A command whose ack was lost, and which must not be repeated blindly.
    #[error("it is unknown whether a write to trigger register {register} took effect: its ack was lost")]
    Unsure {
        /// Settings register.
        register: u8,
    },
    /// No such rate.
    #[error("{requested_sps} S/s is not {clock_hz} Hz divided by a whole number the radio has")]
    Rate {
        /// Asked for.
        requested_sps: f64,
        /// The master clock.
        clock_hz: u32,
        /// The nearest below and above; the same twice outside the range.
        nearest_sps: [f64; 2],
    },
    /// A value outside what the radio can do.
    #[error("{what} {got} is outside {low} to {high}")]
    Range {
        /// The quantity, with its unit.
        what: &'static str,
        /// Asked for.
        got: f64,
        /// Lowest.
        low: f64,
        /// Highest.
        high: f64,
    },
    /// A name the radio does not have.
    #[error("{what} `{got}`; there are {}", .known.join(", "))]
    Name {
        /// What was named: `antenna`.
        what: &'static str,
        /// The name.
        got: String,
        /// The names it has.
        known: Vec<String>,
    },
    /// Buffers of a call do not fit the stream.
    #[error("the stream has {have} channels, the call {got}")]
    Channels {
        /// Of the stream.
        have: usize,
        /// Of the call.
        got: usize,
    },
    /// The board has no synthesiser setting for that.
    #[error("local oscillator")]
    Oscillator(#[from] OutOfRange),
    /// A value that does not fit its field, or bytes that are no such thing.
    #[error("wire format")]
    Wire(#[from] WireError),
    /// The daughterboards can't do this.
    #[error("{board} has no {what}")]
    Board {
        /// The board.
        board: &'static str,
        /// What it lacks.
        what: &'static str,
    },
    /// Daughterboards of which takt does not know how they are set.
    #[error("takt has no model of these daughterboards, so it can't set their {what}: {boards}")]
    NoModel {
        /// The boards, with their ids.
        boards: String,
        /// What was to be set.
        what: &'static str,
    },
    /// Samples for a radio that is not takt's own, and nobody has said that it may transmit.
    #[error("{} is no software radio of takt's own: it would transmit {emission}", .emission.radio)]
    Transmit {
        /// What it would transmit with.
        emission: Box<Emission>,
    },
    /// A synthesiser that does not settle.
    #[error("the {side} oscillator of {addr} does not lock at {} MHz within {waited:?}", hz / 1e6)]
    OscillatorUnlocked {
        /// Where.
        addr: IpAddr,
        /// `receive` or `transmit`.
        side: &'static str,
        /// What it was set to.
        hz: f64,
        /// How long was waited.
        waited: Duration,
    },
    /// A master clock that does not follow its reference, so that no rate is what it should be.
    #[error("the clock of {addr} does not lock to its {reference} reference within {waited:?}")]
    ReferenceUnlocked {
        /// Where.
        addr: IpAddr,
        /// Which reference.
        reference: &'static str,
        /// How long was waited.
        waited: Duration,
    },
    /// The command to begin a stream reached the radio after its time, so the radio sends nothing.
    #[error("the radio was to begin at a time that had passed by {by:?} when it was asked")]
    StartedLate {
        /// By how much.
        by: Duration,
    },
    /// No PPS edge came.
    #[error("no PPS edge within {waited:?}")]
    NoPps {
        /// How long was waited.
        waited: Duration,
    },
    /// A file that is a stream.
    #[error("sample file")]
    File(#[from] FileError),
    /// A thread could not be started.
    #[error("starting a thread")]
    Thread(#[source] std::io::Error),
}

impl RadioError {
    /// What to do about it, where the error itself tells; lines are alternatives.
    #[must_use]
    pub fn fix(&self) -> Option<&'static str> {
        match self {
            RadioError::Transmit { .. } => Some(ALLOW_TRANSMIT),
            RadioError::NoModel { .. } => Some(
                "leave frequency, gain and antenna as they are: streams work without\n\
                 docs/how-to/bring-up.md says what to send back, so that takt learns this board",
            ),
            RadioError::OscillatorUnlocked { .. } => {
                Some("switch the radio off and on, and try a frequency in the middle of the board's range")
            }
            RadioError::StartedLate { .. } => {
                Some("start again: this host or the way to the radio stood still for so long")
            }
            RadioError::ReferenceUnlocked { .. } => Some(
                "check cable and level of the 10 MHz at REF IN\n--reference internal takes the radio's own oscillator",
            ),
            _ => None,
        }
    }
}
