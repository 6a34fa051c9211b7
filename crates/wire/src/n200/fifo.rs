//! Register commands and their acks, port 49159.
//!
//! A command carries its 16-bit sequence number three times (word 0, VRT count, control word); the device looks only at
//! the control word, and so does [`FifoCommand::parse`]. There is no stream id although the packet type would have one.

use crate::{WireError, words};

const COMMAND: &str = "FIFO command";
const ACK: &str = "FIFO ack";
const POKE: u32 = 1 << 8;
const UNTIMED: u32 = 0x4000_0003;
const TIMED: u32 = 0x4010_0005;
const COUNT: u32 = 0x000F_0000;

/// A register access, host to device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FifoCommand {
    /// Counts commands of a session, from 1; wraps.
    pub sequence: u16,
    /// Execute when device time passes this tick; everything behind waits too. `None`: at once.
    pub tick: Option<u64>,
    /// The action.
    pub action: FifoAction,
}

/// The two kinds of access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FifoAction {
    /// Write a settings register.
    Poke {
        /// Which; see [`registers::settings`](super::registers::settings).
        register: u8,
        /// The value.
        data: u32,
    },
    /// Read a readback word.
    Peek {
        /// Which; see [`registers::readback`](super::registers::readback).
        word: u8,
    },
}

impl FifoCommand {
    /// Longest command, in bytes.
    pub const MAX_BYTES: usize = 24;

    /// # Errors
    /// `Short` if the datagram ends before the command does; `Field` if it is no command. More bytes are ignored.
    pub fn parse(datagram: &[u8]) -> Result<Self, WireError> {
        let ([_, header], rest) = words::read(datagram, COMMAND)?;
        let short = |need| WireError::Short { what: COMMAND, need, have: datagram.len() };
        let (tick, [control, data]) = match header & !COUNT {
            UNTIMED => (None, words::read(rest, COMMAND).map_err(|_| short(16))?.0),
            TIMED => {
                let ([high, low, control, data], _) = words::read(rest, COMMAND).map_err(|_| short(24))?;
                (Some(words::join(high, low)), [control, data])
            }
            _ => return Err(WireError::field("FIFO command header", header, "0x400n0003 or 0x401n0005")),
        };
        if control & 0xFE00 != 0 {
            return Err(WireError::field("FIFO control word", control, "bits 15:9 zero"));
        }
        let index = control as u8;
        let action = match control & POKE {
            0 => FifoAction::Peek { word: index },
            _ => FifoAction::Poke { register: index, data },
        };
        Ok(Self { sequence: (control >> 16) as u16, tick, action })
    }

    /// Writes 16 bytes, or 24 with a time; returns which. `Short` if `out` is smaller.
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let sequence = u32::from(self.sequence);
        let count = (sequence & 15) << 16;
        let data = match self.action {
            FifoAction::Poke { data, .. } => data,
            FifoAction::Peek { .. } => 0,
        };
        match self.tick {
            None => words::write(out, COMMAND, [sequence, UNTIMED | count, self.control(), data]),
            Some(tick) => {
                let [high, low] = words::split(tick);
                words::write(out, COMMAND, [sequence, TIMED | count, high, low, self.control(), data])
            }
        }
    }

    /// The control word, by which an ack names its command.
    #[must_use]
    pub fn control(&self) -> u32 {
        let (poke, index) = match self.action {
            FifoAction::Poke { register, .. } => (POKE, register),
            FifoAction::Peek { word } => (0, word),
        };
        u32::from(self.sequence) << 16 | poke | u32::from(index)
    }

    /// The ack of this command. `data`: the readback word; for a poke, anything.
    #[must_use]
    pub fn ack(&self, data: u32) -> FifoAck {
        FifoAck { control: self.control(), data }
    }
}

/// The answer to one command, device to host: 16 bytes, exactly one per command, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FifoAck {
    /// The command's control word, unchanged.
    pub control: u32,
    /// Value that was read. After a poke: anything.
    pub data: u32,
}

impl FifoAck {
    /// Size of an ack.
    pub const BYTES: usize = 16;

    /// # Errors
    /// `Short` below 16 bytes; `Field` if it is no ack. More bytes are ignored.
    pub fn parse(datagram: &[u8]) -> Result<Self, WireError> {
        let ([header, _, control, data], _) = words::read(datagram, ACK)?;
        if header & !COUNT != 0x5000_0004 {
            return Err(WireError::field("FIFO ack header", header, "0x500n0004"));
        }
        Ok(Self { control, data })
    }

    /// Writes 16 bytes. `Short` if `out` is smaller.
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let count = self.control & COUNT;
        words::write(out, ACK, [0x5000_0004 | count, 0, self.control, self.data])
    }

    /// Sequence number of the command it answers.
    #[must_use]
    pub fn sequence(&self) -> u16 {
        (self.control >> 16) as u16
    }
}
