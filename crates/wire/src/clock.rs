//! The time of another machine: takt's own question and answer between nodes.
//!
//! Times are of a machine's monotonic clock, nanoseconds. From its own two and the other's two, one who asks knows how far the
//! clocks are apart, to half of what the way took (RFC 5905, section 8). A reply is as long as its request. Big-endian words.

use crate::{WireError, words};

const WHAT: &str = "clock packet";
const MAGIC: u32 = 0x5443_4C4B; // "TCLK"
const REQUEST: u32 = 0x0001_0000;
const REPLY: u32 = 0x0001_0001;

/// "What time is it?"
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockRequest {
    /// Comes back in the reply.
    pub id: u32,
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReply {
    /// The request's.
    pub id: u32,
    /// When the request came.
    pub received_ns: u64,
    /// When the reply left.
    pub sent_ns: u64,
}

impl ClockRequest {
    /// Size of a request and of a reply.
    pub const BYTES: usize = 32;

    /// # Errors
    /// `Short` below 32 bytes; `Field` if it is no request of this version. The padding may hold anything.
    pub fn parse(datagram: &[u8]) -> Result<Self, WireError> {
        let id = head(datagram, REQUEST, "0x10000")?.0;
        Ok(Self { id })
    }

    /// Writes 32 bytes. `Short` if `out` is smaller.
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        words::write(out, WHAT, [MAGIC, REQUEST, self.id, 0, 0, 0, 0, 0])
    }
}

impl ClockReply {
    /// # Errors
    /// `Short` below 32 bytes; `Field` if it is no reply of this version.
    pub fn parse(datagram: &[u8]) -> Result<Self, WireError> {
        let (id, [r1, r0, s1, s0]) = head(datagram, REPLY, "0x10001")?;
        Ok(Self { id, received_ns: words::join(r1, r0), sent_ns: words::join(s1, s0) })
    }

    /// Writes 32 bytes. `Short` if `out` is smaller.
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let ([r1, r0], [s1, s0]) = (words::split(self.received_ns), words::split(self.sent_ns));
        words::write(out, WHAT, [MAGIC, REPLY, self.id, 0, r1, r0, s1, s0])
    }
}

fn head(datagram: &[u8], want: u32, name: &'static str) -> Result<(u32, [u32; 4]), WireError> {
    let ([magic, kind, id, _, a, b, c, d], _) = words::read(datagram, WHAT)?;
    if magic != MAGIC {
        return Err(WireError::field("clock magic", magic, "0x54434c4b"));
    }
    if kind != want {
        return Err(WireError::field("clock version and kind", kind, name));
    }
    Ok((id, [a, b, c, d]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_no_reply_and_both_read_back() {
        let request = ClockRequest { id: 7 };
        let reply = ClockReply { id: 7, received_ns: 1 << 40, sent_ns: u64::MAX };
        let mut out = [0xa5; 40];
        assert_eq!(request.write(&mut out), Ok(32));
        assert_eq!(out[..12], [0x54, 0x43, 0x4c, 0x4b, 0, 1, 0, 0, 0, 0, 0, 7]);
        assert_eq!(ClockRequest::parse(&out), Ok(request));
        assert!(ClockReply::parse(&out).unwrap_err().to_string().contains("version and kind"));
        assert_eq!(reply.write(&mut out), Ok(32));
        assert_eq!(ClockReply::parse(&out), Ok(reply));
        assert!(ClockRequest::parse(&out).is_err() && ClockRequest::parse(&out[1..]).is_err());
        assert!(reply.write(&mut out[..31]).is_err());
    }
}
