//! The word of a control packet that says where to and from where, the one in which the protocols differ (x310.md 6.5 and 18.2).
//!
//! ```text
//!   bits     63:60      59:52     51:48  47:32          31   30     29:24      23:20  19:10      9:0
//!   1.0      -          -         -      source         ack  timed  sequence   words  from port  to port
//!
//!   bits     63:60      59:52     51:42  41:32          31:16       15   14     13:10  9:0
//!   2.0      requested  sequence  -      from port      source      ack  timed  words  to port
//! ```

use super::Protocol;
use super::words::bits;

/// The fields of the word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Routing {
    pub(super) to_port: u16,
    pub(super) from_port: u16,
    /// Data words in the packet, 0 to 15.
    pub(super) words: u8,
    /// Words that a read requests; protocol 1.0 has no such field.
    pub(super) requested: u8,
    /// 6 bits in protocol 1.0, 8 in 2.0.
    pub(super) sequence: u8,
    pub(super) timed: bool,
    pub(super) is_ack: bool,
    /// Endpoint id of the sender.
    pub(super) source: u16,
}

impl Routing {
    pub(super) fn from_word(protocol: Protocol, word: u64) -> Routing {
        let flag = |bit: u32| bits(word, bit, 1) != 0;
        match protocol {
            Protocol::V1 => Routing {
                to_port: bits(word, 0, 10) as u16,
                from_port: bits(word, 10, 10) as u16,
                words: bits(word, 20, 4) as u8,
                requested: 0,
                sequence: bits(word, 24, 6) as u8,
                timed: flag(30),
                is_ack: flag(31),
                source: bits(word, 32, 16) as u16,
            },
            Protocol::V2 => Routing {
                to_port: bits(word, 0, 10) as u16,
                from_port: bits(word, 32, 10) as u16,
                words: bits(word, 10, 4) as u8,
                requested: bits(word, 60, 4) as u8,
                sequence: bits(word, 52, 8) as u8,
                timed: flag(14),
                is_ack: flag(15),
                source: bits(word, 16, 16) as u16,
            },
        }
    }

    pub(super) fn word(&self, protocol: Protocol) -> u64 {
        let to_port = u64::from(self.to_port & 0x3FF);
        let from_port = u64::from(self.from_port & 0x3FF);
        let words = u64::from(self.words & 15);
        let (timed, is_ack) = (u64::from(self.timed), u64::from(self.is_ack));
        let source = u64::from(self.source);
        match protocol {
            Protocol::V1 => {
                let sequence = u64::from(self.sequence & 63);
                to_port | from_port << 10 | words << 20 | sequence << 24 | timed << 30 | is_ack << 31 | source << 32
            }
            Protocol::V2 => {
                let (sequence, requested) = (u64::from(self.sequence), u64::from(self.requested & 15));
                to_port
                    | words << 10
                    | timed << 14
                    | is_ack << 15
                    | source << 16
                    | from_port << 32
                    | sequence << 52
                    | requested << 60
            }
        }
    }
}
