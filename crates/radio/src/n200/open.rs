//! From an address to a radio that is ours and in a known state.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use takt_base::Tick;
use takt_wire::n200::registers::{ROUTER_WORD, rx_control, settings};

use super::claim;
use super::control::Control;
use super::fifo::Fifo;
use super::frame::{self, FrameBytes};
use super::{CLOCK, ClockSource, N200, TimeSource, identify};
use crate::anchor::Anchor;
use crate::board::{BoardKind, SideState};
use crate::calibration::{AppliedCalibration, CalibrationUse, Missing};
use crate::{Net, RadioError};

/// How a radio is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenOptions {
    /// Take it even from a host that has shown life within 3 s.
    pub force: bool,
    /// It may be sent samples even if it is no software radio of takt's own: the user knows that it transmits.
    pub transmit: bool,
    /// Reference of its master clock; another than its own oscillator must lock.
    pub reference: ClockSource,
    /// Largest datagrams wished for; the path is probed up to this.
    pub frame_bytes: FrameBytes,
    /// Files of corrections that its front end is tuned by.
    pub calibration: CalibrationUse,
}

impl Default for OpenOptions {
    fn default() -> OpenOptions {
        OpenOptions {
            force: false,
            transmit: false,
            reference: ClockSource::Internal,
            frame_bytes: FrameBytes::ETHERNET,
            calibration: CalibrationUse::Off,
        }
    }
}

/// How long a transmit clear is held.
const FLUSH: Duration = Duration::from_millis(10);

impl N200 {
    /// Opens the radio at `addr`: checks what it is, claims it, ends whatever a host before left running, and sets it up.
    ///
    /// # Errors
    /// Nothing there, another kind of radio, other firmware, in use, a reference that it does not lock to: each its own
    /// [`RadioError`].
    pub fn open(net: Arc<dyn Net>, addr: IpAddr, options: &OpenOptions) -> Result<N200, RadioError> {
        let mut control = Control::open(&net, addr)?;
        let identity = identify(&mut control)?;
        let speed = if identity.software { net.speed_of(addr) } else { None };
        let seen = speed.unwrap_or_default();
        let claim = claim::take(&net, &mut control, seen, options.force)?;
        let frame_bytes = frame::probe(&mut control, options.frame_bytes)?;
        control.poke(settings::ROUTER, ROUTER_WORD)?;
        let fifo = Fifo::open(&net, addr)?;
        let board = BoardKind::of(identity.rx_board.id, identity.tx_board.id);
        let missing = if !identity.software && board.has_oscillator() { Missing::Said } else { Missing::Unsaid };
        let calibration = AppliedCalibration::of_user(options.calibration, identity.board_serials(), missing);
        let anchor = Arc::new(Anchor::new((CLOCK, seen), net.now(), Tick(0)));
        let mut radio = N200 {
            addr,
            net,
            control,
            fifo,
            claim,
            anchor,
            speed,
            identity,
            frame_bytes,
            rx_rate_sps: [0.0; 2],
            tx_rate_sps: 0.0,
            board,
            rx_side: SideState::INITIAL,
            tx_side: SideState::INITIAL,
            tx_hz: 0.0,
            calibration,
            transmit: options.transmit,
        };
        radio.time()?;
        radio.end_streams()?;
        radio.start_hardware(options.reference)?;
        radio.set_time_source(TimeSource::Internal)?;
        radio.start_front_end()?;
        radio.fifo.flush()?;
        radio.expect_reference(options.reference)?;
        Ok(radio)
    }

    /// Switches everything off, in the order in which UHD does, and gives the radio back.
    fn close(&mut self) -> Result<(), RadioError> {
        self.fifo.set_time(None);
        self.fifo.poke(settings::TX_CYCLES_PER_UPDATE, 0)?;
        self.fifo.poke(settings::TX_PACKETS_PER_UPDATE, 0)?;
        self.stop_front_end()?;
        self.stop_hardware()?;
        for base in settings::RX_CONTROL {
            self.fifo.poke(base + rx_control::CLEAR, 0)?;
        }
        self.fifo.flush()
    }

    /// Ends what a host before this one may have left running.
    fn end_streams(&mut self) -> Result<(), RadioError> {
        for base in settings::RX_CONTROL {
            self.fifo.poke(base + rx_control::CLEAR, 0)?;
        }
        self.clear_tx()
    }

    /// Drops all that is queued for transmission or arrives within 10 ms.
    pub(super) fn clear_tx(&mut self) -> Result<(), RadioError> {
        self.fifo.poke(settings::TX_CLEAR, 1)?;
        self.fifo.flush()?;
        self.net.sleep(FLUSH);
        self.fifo.poke(settings::TX_CLEAR, 0)?;
        self.fifo.flush()
    }
}

impl Drop for N200 {
    /// Switches the front end off. A radio that is gone, or another host's, is left alone; no caller is left to hear of other
    /// failures.
    fn drop(&mut self) {
        if self.claim.check().is_ok() {
            let _ = self.close();
        }
    }
}
