//! A radio of whichever model answers at an address.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use takt_base::{Speed, Tick, TickRate};

use crate::board::Side;
use crate::calibration::AppliedTable;
use crate::clock::ClockReading;
use crate::n200::control::Control;
use crate::n200::{self, ClockSource, Emission, FrameBytes, N200, TxWish};
use crate::ports::Patience;
use crate::x310::{self, MasterClock, X310};
use crate::{Model, Net, RadioError, RxOptions, RxStreamer, TxOptions, TxStreamer, foreign};

/// How long an answer to each model's hello is waited for, and how often both are sent.
const HELLO: Patience = Patience { tries: 1, each: Duration::from_millis(100) };
const TURNS: u32 = 3;

/// The model that answers at `addr`; `None`: none of these.
///
/// # Errors
/// The ports can't be had, or nobody listens there.
pub fn model_at(net: &Arc<dyn Net>, addr: IpAddr) -> Result<Option<Model>, RadioError> {
    let mut control = Control::open(net, addr)?;
    control.set_patience(HELLO);
    for _ in 0..TURNS {
        if control.hello()?.is_some() {
            return Ok(Some(Model::N200));
        }
        if foreign::kind_of(&mut control)?.is_some() {
            return Ok(Some(Model::X310));
        }
    }
    Ok(None)
}

/// How a radio of any model is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnyOptions {
    /// Options of an N200; an X310 uses two: whether it is taken from another host, and that its reference is its own.
    pub n200: n200::OpenOptions,
    /// Largest datagram wished for; `None`: what each model's hosts use, 1472 bytes of an N200 and 8000 of an X310.
    pub frame_bytes: Option<usize>,
    /// The master clock of an X310; an N200 has one.
    pub clock: MasterClock,
}

/// A radio that this program owns.
pub enum Radio {
    /// N200 or N210.
    N200(Box<N200>),
    /// X310.
    X310(Box<X310>),
}

/// Which radio it is, of whatever model.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(untagged)]
#[allow(missing_docs, reason = "the names say it")]
pub enum AnyIdentity {
    N200(n200::Identity),
    X310(x310::Identity),
}

impl AnyIdentity {
    /// Facts that all models state.
    #[must_use]
    pub fn about(&self) -> About<'_> {
        match self {
            AnyIdentity::N200(n200::Identity { model, serial, name, firmware, fpga, .. })
            | AnyIdentity::X310(x310::Identity { model, serial, name, firmware, fpga, .. }) => {
                About { model, serial, name, firmware, fpga }
            }
        }
    }

    /// It is a software radio of takt's own.
    #[must_use]
    pub fn software(&self) -> bool {
        match self {
            AnyIdentity::N200(identity) => identity.software,
            AnyIdentity::X310(identity) => identity.software,
        }
    }
}

/// Facts of a radio about itself, whatever its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct About<'a> {
    pub model: &'static str,
    pub serial: &'a str,
    pub name: &'a str,
    pub firmware: &'a str,
    pub fpga: &'a str,
}

impl Radio {
    /// Opens the radio at `addr`.
    ///
    /// # Errors
    /// As [`N200::open`] and [`X310::open`]; as the first where none of both answers. `OwnReference` where an X310 is to follow
    /// another reference than its own, which takt can't make it do.
    pub fn open(net: Arc<dyn Net>, addr: IpAddr, options: &AnyOptions) -> Result<Radio, RadioError> {
        match model_at(&net, addr)? {
            Some(Model::X310) if options.n200.reference != ClockSource::Internal => {
                Err(RadioError::OwnReference { addr, reference: options.n200.reference.name() })
            }
            Some(Model::X310) => {
                let usual = x310::OpenOptions::default();
                let frame_bytes = options.frame_bytes.unwrap_or(usual.frame_bytes);
                let open = x310::OpenOptions { force: options.n200.force, frame_bytes, clock: options.clock };
                Ok(Radio::X310(Box::new(X310::open(net, addr, &open)?)))
            }
            Some(Model::N200) | None => {
                let both = |bytes| FrameBytes { receive: bytes, send: bytes };
                let frame_bytes = options.frame_bytes.map_or(options.n200.frame_bytes, both);
                Ok(Radio::N200(Box::new(N200::open(net, addr, &n200::OpenOptions { frame_bytes, ..options.n200 })?)))
            }
        }
    }

    /// Which radio it is.
    #[must_use]
    pub fn about(&self) -> About<'_> {
        match self {
            Radio::N200(radio) => {
                let n200::Identity { model, serial, name, firmware, fpga, .. } = radio.identity();
                About { model, serial, name, firmware, fpga }
            }
            Radio::X310(radio) => {
                let x310::Identity { model, serial, name, firmware, fpga, .. } = radio.identity();
                About { model, serial, name, firmware, fpga }
            }
        }
    }

    /// Its model.
    #[must_use]
    pub fn model(&self) -> Model {
        match self {
            Radio::N200(_) => Model::N200,
            Radio::X310(_) => Model::X310,
        }
    }

    /// Its clock: what its samples are counted by.
    #[must_use]
    pub fn clock(&self) -> TickRate {
        match self {
            Radio::N200(_) => n200::CLOCK,
            Radio::X310(radio) => radio.clock(),
        }
    }

    /// How fast its time passes beside this host's; `None`: it does not say, as hardware.
    #[must_use]
    pub fn speed(&self) -> Option<Speed> {
        match self {
            Radio::N200(radio) => radio.speed(),
            Radio::X310(radio) => radio.speed(),
        }
    }

    /// Asks it again: `takt emulate --speed auto` changes its mind.
    #[must_use]
    pub fn ask_speed(&self) -> Option<Speed> {
        match self {
            Radio::N200(radio) => radio.ask_speed(),
            Radio::X310(radio) => radio.ask_speed(),
        }
    }

    /// The files of corrections that were found for its boards when it was opened. takt tunes no X310, so it applies none there.
    #[must_use]
    pub fn calibration(&self) -> &[AppliedTable] {
        match self {
            Radio::N200(radio) => radio.calibration(),
            Radio::X310(_) => &[],
        }
    }

    /// Those of them that correct one of these sides, for a report of a session that used these.
    #[must_use]
    pub fn calibration_of(&self, sides: &[Side]) -> Vec<AppliedTable> {
        self.calibration().iter().filter(|table| sides.contains(&table.kind.side())).cloned().collect()
    }

    /// Reads its time. Fails if the radio does not answer.
    pub fn time(&mut self) -> Result<Tick, RadioError> {
        match self {
            Radio::N200(radio) => radio.time(),
            Radio::X310(radio) => radio.time(),
        }
    }

    /// Makes a receive stream.
    ///
    /// # Errors
    /// As [`N200::rx_streamer`] and [`X310::rx_streamer`].
    pub fn rx_streamer(&mut self, options: &RxOptions) -> Result<RxStreamer, RadioError> {
        match self {
            Radio::N200(radio) => radio.rx_streamer(options),
            Radio::X310(radio) => radio.rx_streamer(options),
        }
    }

    /// Makes a transmit stream.
    ///
    /// # Errors
    /// As [`N200::tx_streamer`] and [`X310::tx_streamer`].
    pub fn tx_streamer(&mut self, options: &TxOptions) -> Result<TxStreamer, RadioError> {
        match self {
            Radio::N200(radio) => radio.tx_streamer(options),
            Radio::X310(radio) => radio.tx_streamer(options),
        }
    }

    /// Reads both clocks at one instant: the best of `tries` questions. Fails if the radio does not answer.
    pub fn read_clocks(&mut self, tries: u32) -> Result<ClockReading, RadioError> {
        match self {
            Radio::N200(radio) => radio.read_clocks(tries),
            Radio::X310(radio) => radio.read_clocks(tries),
        }
    }

    /// Its emission once `wish` is set; `None` for a software radio of takt's own, which has no antenna.
    ///
    /// # Errors
    /// As [`N200::may_transmit`].
    pub fn may_transmit(&self, wish: TxWish<'_>) -> Result<Option<Emission>, RadioError> {
        match self {
            Radio::N200(radio) => radio.may_transmit(wish),
            // It was opened, so it is one of takt's own.
            Radio::X310(_) => Ok(None),
        }
    }

    /// The master clock follows its reference; an X310 that does not is not opened. Fails if the radio does not answer.
    pub fn reference_locked(&mut self) -> Result<bool, RadioError> {
        match self {
            Radio::N200(radio) => radio.reference_locked(),
            Radio::X310(_) => Ok(true),
        }
    }

    /// Whether the oscillator of a side is locked; `None`: it has none, or takt drives none. Fails if the radio does not answer.
    pub fn lo_locks(&mut self, side: Side) -> Result<Option<bool>, RadioError> {
        match self {
            Radio::N200(radio) => radio.lo_locks(side),
            Radio::X310(_) => Ok(None),
        }
    }

    /// Commands that were repeated since nobody answered, or no ack came.
    #[must_use]
    pub fn repeats(&self) -> u64 {
        match self {
            Radio::N200(radio) => radio.repeats(),
            Radio::X310(radio) => radio.repeats(),
        }
    }
}
