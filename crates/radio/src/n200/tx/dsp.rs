//! The transmit DSP of an N200 as a streamer's [`Sink`].
//!
//! A radio that has run dry, and in two reports since has taken nothing of a whole window without a time, will take none
//! of it: it was lost on the way. It is given up and sending goes on; the radio tells the loss as `S`.

use std::sync::Arc;

use takt_base::{MonoNs, Tick};
use takt_packet::Engine;
use takt_wire::n200::registers::TX_STREAM_ID;
use takt_wire::n200::{TxEvent as WireEvent, TxHead, TxReport};

use super::window::Window;
use crate::claim::Claim;
use crate::tx::{Place, Report, Sink};
use crate::{RadioError, TxEvent, TxEventKind};

/// Reports of a dry radio that has taken nothing after which all on its way counts as lost: 100 ms.
const DRY_REPORTS: u32 = 2;

pub(super) struct Dsp {
    pub(super) claim: Arc<Claim>,
    pub(super) window: Window,
    /// The radio ran dry after the datagram of this number, and has since reported so often that it has taken no other.
    pub(super) dry: Option<(u32, u32)>,
}

impl Sink for Dsp {
    fn credit(&self, _channel: usize) -> usize {
        self.window.credit() as usize
    }

    fn window_datagrams(&self) -> u32 {
        self.window.size()
    }

    fn payload_at(&self, timed: bool) -> usize {
        TxHead::prologue(timed)
    }

    fn frame(&self, _channel: usize, place: &Place, frame: &mut [u8]) -> usize {
        let sequence = self.window.next().wrapping_add(place.ahead);
        let head = TxHead {
            sequence,
            count: sequence as u8 & 15,
            tick: place.tick,
            start_of_burst: place.starts_burst,
            end_of_burst: place.ends_burst,
            odd: place.odd,
        };
        head.frame(place.payload_bytes, frame).unwrap_or(0)
    }

    fn sent(&mut self, _channel: usize, _bytes: usize) {
        self.window.sent(1);
    }

    fn read(&mut self, _channel: usize, bytes: &[u8]) -> Report {
        let report = match TxReport::parse(bytes) {
            Ok(report) if report.stream_id == TX_STREAM_ID => report,
            _ => return Report::FOREIGN,
        };
        // Every report carries the number of the last datagram taken, whatever it is about.
        let ours = self.window.report(report.sequence);
        let kind = match report.event {
            WireEvent::FlowControl => {
                self.dry = self.dry.filter(|dry| dry.0 == report.sequence).map(|(at, n)| (at, n + 1));
                return Report { ours, event: None };
            }
            WireEvent::BurstAck => TxEventKind::BurstAck,
            WireEvent::Underflow | WireEvent::UnderflowInPacket => {
                self.dry = Some((report.sequence, 0));
                TxEventKind::Underflow
            }
            WireEvent::SequenceError | WireEvent::SequenceErrorInBurst => TxEventKind::SequenceError,
            WireEvent::TimeError => TxEventKind::Late,
            WireEvent::Other(code) => TxEventKind::Unknown(code),
        };
        let event = TxEvent { kind, channel: 0, tick: Tick(report.tick), sequence: Some(report.sequence) };
        Report { ours, event: Some(event) }
    }

    /// Gives up a whole window that a dry radio does not take.
    fn have_read(&mut self, _engine: &mut dyn Engine, timed: bool) -> Result<u32, RadioError> {
        match self.dry {
            Some((at, reports)) if reports >= DRY_REPORTS && self.window.credit() == 0 && !timed => {
                self.dry = Some((at, 0));
                Ok(self.window.give_up())
            }
            _ => Ok(0),
        }
    }

    fn touch(&self, now: MonoNs) {
        self.claim.touch(now);
    }

    fn check(&self) -> Result<(), RadioError> {
        self.claim.check()
    }
}
