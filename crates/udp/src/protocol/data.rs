//! A datagram of load: 16 bytes of header, then whatever the frame held before.
//!
//! ```text
//!  byte 0      1       2 to 7          8 to 15
//!  0xd0|flow   round   sequence        intended send time, ns of the sender's monotonic clock
//! ```
//!
//! Big-endian. The sequence number counts the datagrams of one flow in one round from 0; 48 bits last a hundred days at
//! thirty million a second. The time is the one the schedule gave, not the one at which the sender got round to it: a
//! sender that stalls shows up as latency instead of hiding it.

use takt_base::MonoNs;

pub const HEADER_BYTES: usize = 16;
pub const MAX_FLOWS: u8 = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Which flow, below [`MAX_FLOWS`].
    pub flow: u8,
    /// Which round of the session, modulo 256: what a former round left in a queue is not taken for this one's.
    pub round: u8,
    /// Place in the flow, from 0, modulo 2^48.
    pub sequence: u64,
    /// When it was to be sent, on the sender's clock.
    pub intended: MonoNs,
}

const LOAD: u8 = 0xd0;

impl Data {
    /// Reads a header; `None` if it is none.
    #[must_use]
    pub fn parse(datagram: &[u8]) -> Option<Data> {
        let (&[kind, round, s0, s1, s2, s3, s4, s5], rest) = datagram.split_first_chunk::<8>()?;
        let (&intended, _) = rest.split_first_chunk::<8>()?;
        (kind & 0xf0 == LOAD).then(|| Data {
            flow: kind & 0x0f,
            round,
            sequence: u64::from_be_bytes([0, 0, s0, s1, s2, s3, s4, s5]),
            intended: MonoNs(u64::from_be_bytes(intended)),
        })
    }

    /// Writes it to the beginning of a frame, which must hold it: `false` if it does not.
    pub fn write(&self, frame: &mut [u8]) -> bool {
        let Some(header) = frame.first_chunk_mut::<HEADER_BYTES>() else { return false };
        let [_, _, s0, s1, s2, s3, s4, s5] = self.sequence.to_be_bytes();
        let [t0, t1, t2, t3, t4, t5, t6, t7] = self.intended.0.to_be_bytes();
        let kind = LOAD | (self.flow & 0x0f);
        *header = [kind, self.round, s0, s1, s2, s3, s4, s5, t0, t1, t2, t3, t4, t5, t6, t7];
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_header_is_these_sixteen_bytes() {
        let data = Data { flow: 3, round: 9, sequence: 0x0102_0304_0506, intended: MonoNs(0x1112_1314_1516_1718) };
        let mut frame = [0xa5; 17];
        assert!(data.write(&mut frame));
        assert_eq!(frame, *b"\xd3\x09\x01\x02\x03\x04\x05\x06\x11\x12\x13\x14\x15\x16\x17\x18\xa5");
        assert_eq!(Data::parse(&frame), Some(data));
        assert!((0..HEADER_BYTES).all(|n| Data::parse(&frame[..n]).is_none()), "every shorter one is refused");
        assert!(!data.write(&mut [0; 15]));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(flow in 0..MAX_FLOWS, round: u8, sequence in 0..1_u64 << 48, intended: u64) {
            let data = Data { flow, round, sequence, intended: MonoNs(intended) };
            let mut frame = [0; HEADER_BYTES];
            data.write(&mut frame);
            prop_assert_eq!(Data::parse(&frame), Some(data));
        }

        #[test]
        fn whatever_is_accepted_means_the_same_when_written_again(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Some(data) = Data::parse(&bytes) {
                let mut frame = [0; HEADER_BYTES];
                data.write(&mut frame);
                prop_assert_eq!(&frame[..], &bytes[..HEADER_BYTES]);
            }
        }
    }
}
