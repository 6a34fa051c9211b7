//! How long a datagram may be: question and answer on port 49158 (x310.md 5).
//!
//! A host asks for replies of a length, and sends requests of a length, and so finds the longest that pass.

use crate::{WireError, words};

const WHAT: &str = "frame size probe";
const REQUEST: u32 = 1;
const REPLY: u32 = 2;
const ERROR: u32 = 4;

/// Either of the two; whatever follows is padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameProbe {
    /// "Answer with a datagram of so many bytes." The request itself is as long as the host likes.
    Request {
        /// How long the reply shall be.
        reply_bytes: u32,
    },
    /// "Your request had so many bytes."
    Reply {
        /// How long the request was.
        request_bytes: u32,
    },
    /// It can't be done.
    Error,
}

impl FrameProbe {
    /// Shortest request and reply.
    pub const BYTES: usize = 8;

    /// # Errors
    /// `Short` below 8 bytes; `Field` if the flags have no meaning.
    pub fn parse(datagram: &[u8]) -> Result<Self, WireError> {
        let ([flags, bytes], _) = words::read(datagram, WHAT)?;
        match flags {
            REQUEST => Ok(Self::Request { reply_bytes: bytes }),
            REPLY => Ok(Self::Reply { request_bytes: bytes }),
            ERROR => Ok(Self::Error),
            other => Err(WireError::field("frame size flags", other, "1, 2 or 4")),
        }
    }

    /// Writes 8 bytes. `Short` if `out` is smaller.
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        words::write(
            out,
            WHAT,
            match *self {
                Self::Request { reply_bytes } => [REQUEST, reply_bytes],
                Self::Reply { request_bytes } => [REPLY, request_bytes],
                Self::Error => [ERROR, 0],
            },
        )
    }

    /// Writes a datagram of `bytes` bytes, at least 8, with zeros for padding; returns its bytes. `Short` if `out` is
    /// smaller.
    pub fn write_padded(&self, bytes: usize, out: &mut [u8]) -> Result<usize, WireError> {
        let (need, have) = (bytes.max(Self::BYTES), out.len());
        let datagram = out.get_mut(..need).ok_or(WireError::Short { what: WHAT, need, have })?;
        datagram.fill(0);
        self.write(datagram)?;
        Ok(need)
    }
}
