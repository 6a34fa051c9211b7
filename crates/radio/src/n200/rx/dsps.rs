//! The receive DSPs of an N200 as a streamer's [`Source`].
//!
//! Commands go by the slow path, each streamer over a control socket of its own: there every write is acknowledged, and none
//! waits behind a timed command in the register FIFO, least of all the one that restarts a stream.

use std::sync::Arc;

use takt_base::{MonoNs, Tick};
use takt_wire::n200::registers::{RX_STREAM_IDS, RX_VRT_HEADER, readback, rx_control, settings};
use takt_wire::n200::{RxEvent, RxHead, RxPacket, StreamAction, StreamCommand};

use super::super::control::Control;
use crate::anchor::Anchor;
use crate::claim::Claim;
use crate::ports::Patience;
use crate::rx::{Message, Reading, ReplyPatience, Run, Source};
use crate::{Net, RadioError};

/// Numbers in VITA-49 datagrams have four bits.
pub(super) const LAST_NUMBER: u16 = 15;

/// Receive DSPs, one for each channel of a stream.
pub(super) struct Dsps {
    pub(super) control: Control,
    pub(super) net: Arc<dyn Net>,
    pub(super) claim: Arc<Claim>,
    pub(super) anchor: Arc<Anchor>,
    /// The DSP behind each channel.
    pub(super) dsps: Vec<usize>,
}

impl Dsps {
    /// Gives a command to a DSP. `idle`: nothing is queued or running there, so that a command whose reply was lost can be
    /// taken back by a clear and given again; otherwise repeating it could act twice.
    fn issue(&mut self, dsp: usize, command: StreamCommand, idle: bool) -> Result<(), RadioError> {
        let [word, high, low] = command.words()?;
        let base = settings::RX_CONTROL[dsp];
        let trigger = base + rx_control::TIME_LOW;
        // Starting or stopping twice comes to the same as once.
        let repeatable = matches!(command.action, StreamAction::Start | StreamAction::Stop);
        for _ in 0..Patience::USUAL.tries {
            self.control.poke(base + rx_control::COMMAND, word)?;
            self.control.poke(base + rx_control::TIME_HIGH, high)?;
            if repeatable {
                return self.control.poke(trigger, low);
            }
            self.control.set_patience(Patience { tries: 1, ..Patience::USUAL });
            let given = self.control.poke(trigger, low);
            self.control.set_patience(Patience::USUAL);
            match given {
                Err(RadioError::Silent { .. }) if idle => self.clear_dsp(dsp)?,
                Err(RadioError::Silent { .. }) => return Err(RadioError::Unsure { register: trigger }),
                given => return given,
            }
        }
        Err(RadioError::Silent { addr: self.control.peer(), what: "a stream command", tries: Patience::USUAL.tries })
    }

    /// Drops what the DSP has queued and is doing; the packet counter starts again.
    fn clear_dsp(&mut self, dsp: usize) -> Result<(), RadioError> {
        let base = settings::RX_CONTROL[dsp];
        self.control.poke(base + rx_control::CLEAR, 0)?;
        self.control.poke(base + rx_control::VRT_HEADER, RX_VRT_HEADER)?;
        self.control.poke(base + rx_control::STREAM_ID, RX_STREAM_IDS[dsp])?;
        self.control.poke(base + rx_control::VRT_TRAILER, 0)
    }
}

impl Source for Dsps {
    fn read(&mut self, channel: usize, bytes: &[u8]) -> Option<Reading> {
        let stream_id = RX_STREAM_IDS[*self.dsps.get(channel)?];
        match RxPacket::parse(bytes).ok()? {
            RxPacket::Data(data) if data.head.stream_id == stream_id => Some(Reading::Samples {
                tick: data.head.tick,
                number: data.head.count.into(),
                end_of_burst: data.head.end_of_burst,
                at: RxHead::BYTES,
                count: data.samples() as u64,
            }),
            RxPacket::Message(message) if message.stream_id == stream_id => {
                Some(Reading::Message { tick: message.tick, message: message_of(message.event) })
            }
            _ => None,
        }
    }

    fn now(&mut self) -> Result<Tick, RadioError> {
        let low = self.control.peek(readback::TIME_LOW)?;
        Ok(self.anchor.complete(low, self.net.now()))
    }

    fn host_at(&self, tick: Tick) -> MonoNs {
        self.anchor.host_at(tick)
    }

    fn begin(&mut self, channel: usize, run: Run, idle: bool) -> Result<(), RadioError> {
        self.issue(self.dsps[channel], command_of(run), idle)
    }

    fn stop(&mut self, channel: usize) -> Result<(), RadioError> {
        self.issue(self.dsps[channel], StreamCommand { action: StreamAction::Stop, tick: None }, false)
    }

    fn clear(&mut self, channel: usize) -> Result<(), RadioError> {
        self.clear_dsp(self.dsps[channel])
    }

    fn set_reply_patience(&mut self, patience: ReplyPatience) {
        self.control.set_patience(patience.patience());
    }

    fn retries(&self) -> u64 {
        self.control.retries()
    }

    fn touch(&self, now: MonoNs) {
        self.claim.touch(now);
    }

    fn check(&self) -> Result<(), RadioError> {
        self.claim.check()
    }
}

fn command_of(run: Run) -> StreamCommand {
    // More than a command has bits for is refused where it is written.
    let count = run.samples.map(|samples| u32::try_from(samples).unwrap_or(u32::MAX));
    let action = match count {
        None => StreamAction::Start,
        Some(count) if run.more => StreamAction::SamplesAndMore(count),
        Some(count) => StreamAction::Samples(count),
    };
    StreamCommand { action, tick: run.first }
}

fn message_of(event: RxEvent) -> Message {
    match event {
        RxEvent::Overflow => Message::Overflow,
        RxEvent::LateCommand => Message::LateCommand,
        RxEvent::BrokenChain => Message::BrokenChain,
        RxEvent::StopWhileIdle => Message::StopWhileIdle,
        RxEvent::Other(code) => Message::Other(code),
    }
}
