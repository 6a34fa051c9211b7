//! Errors between a host and a radio, with what is needed to fix them.
#![allow(missing_docs, reason = "names and messages say it")]

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use takt_dsp::file::FileError;
use takt_host::placement::PlacementError;
use takt_packet::EngineError;
use takt_wire::WireError;

use crate::Model;
use crate::board::OutOfRange;
use crate::n200::{ALLOW_TRANSMIT, Emission};

/// Why a radio could not do what was requested.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RadioError {
    /// The host's own end.
    #[error("the packet engine failed")]
    Engine(#[from] EngineError),
    #[error("nothing at {addr} answered as a radio within {waited:?}")]
    NothingThere {
        addr: IpAddr,
        /// How long in all.
        waited: Duration,
    },
    #[error("UDP port {} of {} is closed", .addr.port(), .addr.ip())]
    PortClosed { addr: SocketAddr },
    #[error("{addr} is an {radio}, but not takt's emulator: takt drives no hardware {radio}")]
    NotSetUp {
        addr: IpAddr,
        /// Which.
        radio: String,
    },
    #[error("{addr} is {found}, not an N200 or N210")]
    OtherKind {
        addr: IpAddr,
        /// Its kind, with its article: `a USRP2`.
        found: &'static str,
    },
    #[error("the firmware of {addr} speaks protocol {got}; this driver speaks {low} to {high}")]
    Firmware {
        addr: IpAddr,
        /// The version that it speaks.
        got: u32,
        /// Lowest version understood.
        low: u32,
        /// Highest version understood.
        high: u32,
        /// UHD's name for the kind of device: `usrp2`.
        kind: &'static str,
    },
    #[error("the FPGA image of {addr} is {major}.{minor}; this driver needs {want_major}.x")]
    Fpga {
        addr: IpAddr,
        major: u16,
        minor: u16,
        /// The major version needed.
        want_major: u16,
        /// UHD's name for the kind of device: `usrp2`.
        kind: &'static str,
    },
    /// A part of the radio whose version takt does not know.
    #[error("{addr} has version {}.{} of {part}; this driver knows {known}", *version >> 16, *version & 0xFFFF)]
    Version {
        addr: SocketAddr,
        /// The part that has the version, with its article.
        part: &'static str,
        /// Major in bits 31:16, minor in 15:0.
        version: u32,
        /// Major versions that the driver knows.
        known: &'static str,
    },
    #[error("{addr} is in use by another host (owner {owner:#010x}), which {}", signs(*age))]
    InUse {
        addr: IpAddr,
        /// The owner's own name.
        owner: u32,
        /// Since the owner's last sign of life; `None`: it has given some since the request.
        age: Option<Duration>,
    },
    #[error("{addr} was taken over by another host (owner {owner:#010x})")]
    TakenOver {
        addr: IpAddr,
        /// The owner's own name.
        owner: u32,
    },
    #[error("{addr} was restarted: its settings and streams are gone")]
    Restarted { addr: IpAddr },
    #[error("{addr} is gone: it no longer answers")]
    Gone { addr: IpAddr },
    #[error("{addr} no longer answers ({what}, {tries} tries)")]
    Silent { addr: SocketAddr, what: &'static str, tries: u32 },
    #[error("{addr} answered {what} with an unexpected message")]
    Answer { addr: SocketAddr, what: &'static str },
    /// A command whose ack was lost, and which must not be repeated blindly.
    #[error("the radio did not confirm a write to trigger register {register}, so it may not have taken effect")]
    Unsure {
        /// Settings register.
        register: u8,
    },
    #[error("{requested_sps} S/s is not {clock_hz} Hz divided by a whole number that the radio supports")]
    Rate {
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
        got: f64,
        low: f64,
        high: f64,
    },
    #[error("the path to {addr} does not carry datagrams of {least} bytes, which streams need")]
    ShortFrames {
        addr: IpAddr,
        /// Frame size that streams need.
        least: usize,
    },
    #[error("the radio has no {what} `{got}`; it has {}", .known.join(", "))]
    Name {
        /// The kind of name: `antenna`.
        what: &'static str,
        got: String,
        known: Vec<String>,
    },
    #[error("the stream has {have} channels, but the call passed {got}")]
    Channels {
        /// Channels of the stream.
        have: usize,
        got: usize,
    },
    /// The board has no synthesiser setting for that.
    #[error("takt can't tune the local oscillator")]
    Oscillator(#[from] OutOfRange),
    /// A value that does not fit its field, or bytes that are no such thing.
    #[error("a value or a datagram does not fit the radio's protocol")]
    Wire(#[from] WireError),
    /// The daughterboards can't do this.
    #[error("{board} has no {what}")]
    Board { board: &'static str, what: &'static str },
    #[error("takt does not know these daughterboards and can't set their {what}: {boards}")]
    NoModel {
        /// The boards, with their ids.
        boards: String,
        /// The quantity to be set.
        what: &'static str,
    },
    #[error("{} is not takt's emulator: it would transmit {emission}", .emission.radio)]
    Transmit {
        /// Its emission if it transmitted.
        emission: Box<Emission>,
    },
    #[error("the {side} oscillator of {addr} does not lock at {} MHz within {waited:?}", hz / 1e6)]
    OscillatorUnlocked {
        addr: IpAddr,
        /// `receive` or `transmit`.
        side: &'static str,
        /// The frequency that was set.
        hz: f64,
        /// How long was waited.
        waited: Duration,
    },
    /// A master clock that does not follow its reference, so that no rate is what it should be.
    #[error("the clock of {addr} does not lock to its {reference} reference within {waited:?}")]
    ReferenceUnlocked {
        addr: IpAddr,
        reference: &'static str,
        /// How long was waited.
        waited: Duration,
    },
    /// Takt sets the clock of an X310 up for its own oscillator only.
    #[error("--reference {reference}: {addr} is an X310, which takt runs only on its own oscillator")]
    OwnReference {
        addr: IpAddr,
        /// The reference that it was to follow.
        reference: &'static str,
    },
    /// The command to begin a stream reached the radio after its time, so the radio sends nothing.
    #[error("the start command reached the radio {by:?} after the start time")]
    StartedLate { by: Duration },
    /// No PPS edge came.
    #[error("the radio saw no PPS edge within {waited:?}")]
    NoPps {
        /// How long was waited.
        waited: Duration,
    },
    /// A recording that changes its frequency, for a radio that takt can't tune.
    #[error(
        "the recording changes its frequency: capture {first} is at {}, capture {capture} at {}, and takt can't tune an {model}",
        frequency(*first_hz),
        frequency(Some(*hz))
    )]
    Hops {
        /// The first capture, counted from 0, and its frequency; `None`: it names none.
        first: usize,
        first_hz: Option<f64>,
        /// The one that differs, and its frequency.
        capture: usize,
        hz: f64,
        model: Model,
    },
    /// A file that is a stream.
    #[error(transparent)]
    File(#[from] FileError),
    /// CPUs and policy of the thread that streams.
    #[error("takt can't place the streaming thread")]
    Placement(#[from] PlacementError),
    /// A thread could not be started.
    #[error("takt can't start a thread")]
    Thread(#[source] std::io::Error),
    /// A radio that others' driver drives.
    #[error("{driver} failed")]
    Foreign {
        /// Which: `SoapySDR`.
        driver: &'static str,
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

fn frequency(hz: Option<f64>) -> String {
    hz.map_or_else(|| "a frequency that it does not name".to_owned(), |hz| format!("{} MHz", hz / 1e6))
}

fn signs(age: Option<Duration>) -> String {
    match age {
        Some(age) => format!("gave a sign of life {:.1} s ago", age.as_secs_f64()),
        None => "is still giving signs of life".to_owned(),
    }
}

impl RadioError {
    /// The fix, if the error itself tells; lines are alternatives.
    #[must_use]
    pub fn fix(&self) -> Option<&'static str> {
        match self {
            RadioError::Transmit { .. } => Some(ALLOW_TRANSMIT),
            RadioError::NoModel { .. } => Some(
                "leave frequency, gain and antenna as they are: streams work without\n\
                 see docs/how-to/bring-up.md for what to send back, so that takt learns this board",
            ),
            RadioError::OscillatorUnlocked { .. } => {
                Some("switch the radio off and on, and try a frequency in the middle of the board's range")
            }
            RadioError::Version { .. } => {
                Some("run the same version of takt here and at the radio\nstart the radio with --uhd 4.11")
            }
            RadioError::ShortFrames { .. } => {
                Some("raise the MTU of this host's interface, and of each hop, above what streams need")
            }
            RadioError::StartedLate { .. } => {
                Some("start again: this host or the path to the radio stood still, so the command came late")
            }
            RadioError::OwnReference { .. } => Some("give --reference internal, the default"),
            RadioError::Hops { .. } => Some(
                "play it to an N200, which takt retunes at each capture\n\
                 take core:frequency out of the captures: all of it then leaves at the radio's own frequency",
            ),
            RadioError::ReferenceUnlocked { .. } => Some(
                "check cable and level of the 10 MHz at REF IN\ngive --reference internal, to use the radio's own \
                 oscillator",
            ),
            _ => None,
        }
    }
}
