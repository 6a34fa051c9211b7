//! A token bucket on an interface that counts frames as an Ethernet cable does: `tc-tbf(8)` with a size table.
//!
//! Left alone the bucket charges a frame without checksum, preamble and gap, and small frames pass at up to 1.4 times the
//! rate of a cable. The table maps the kernel's length (header and payload) to what the frame takes on the wire.

use netlink_packet_core::DefaultNla;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage, TcOption};

use super::PathError;
use super::raw::attribute;
use super::rtnetlink::Rtnetlink;
use takt_path::ethernet::{OVERHEAD_BYTES, wire_bytes};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bits a second on the wire, preamble and gap counted.
    pub rate_bps: u64,
    /// Bytes on the wire that may pass at once; at least a frame.
    pub burst_bytes: u32,
    /// Bytes on the wire that may wait; a frame that does not fit is dropped and counted by the queue.
    pub buffer_bytes: u32,
}

/// Frames of up to this many bytes have an entry; longer ones are composed of several.
const TABLE_ENTRIES: u16 = 10_240;

// linux/pkt_sched.h, linux/rtnetlink.h
const TCA_STAB: u16 = 8;
const TCA_STAB_BASE: u16 = 1;
const TCA_STAB_DATA: u16 = 2;
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_TBF_BURST: u16 = 6;
const LINKLAYER_ETHERNET: u8 = 1;

impl Rtnetlink {
    pub fn set_rate(&mut self, name: &str, shape: &Shape) -> Result<(), PathError> {
        let index = i32::try_from(self.index(name)?).unwrap_or(i32::MAX);
        let mut message = TcMessage::with_index(index);
        message.header.parent = TcHandle::ROOT;
        message.header.handle = TcHandle { major: 1, minor: 0 };
        message.attributes = vec![
            TcAttribute::Kind("tbf".into()),
            TcAttribute::Options(shape.options()),
            TcAttribute::Other(DefaultNla::new(TCA_STAB, size_table())),
        ];
        let what = format!("rate of {} b/s on {name} (kernel option NET_SCH_TBF)", shape.rate_bps);
        self.create(&what, RouteNetlinkMessage::NewQueueDiscipline(message))
    }
}

impl Shape {
    fn options(&self) -> Vec<TcOption> {
        let rate = self.rate_bps / 8;
        let option = |kind, bytes: Vec<u8>| TcOption::Other(DefaultNla::new(kind, bytes));
        vec![
            option(TCA_TBF_PARMS, self.parameters(rate)),
            option(TCA_TBF_RATE64, rate.to_ne_bytes().into()),
            option(TCA_TBF_BURST, self.burst_bytes.to_ne_bytes().into()),
        ]
    }

    /// `struct tc_tbf_qopt`: rate, peak rate (none), limit, buffer, mtu; the last two are given by the options above.
    fn parameters(&self, rate_bytes_per_s: u64) -> Vec<u8> {
        let mut bytes = rate_spec(u32::try_from(rate_bytes_per_s).unwrap_or(u32::MAX)).to_vec();
        bytes.extend(rate_spec(0));
        bytes.extend(self.buffer_bytes.to_ne_bytes());
        bytes.extend([0; 8]);
        bytes
    }
}

/// `struct tc_ratespec`: with the link layer named the kernel wants no rate table.
fn rate_spec(rate_bytes_per_s: u32) -> [u8; 12] {
    let [a, b, c, d] = rate_bytes_per_s.to_ne_bytes();
    [0, LINKLAYER_ETHERNET, 0, 0, 0, 0, 0, 0, a, b, c, d]
}

/// One entry a byte. The kernel looks up entry `length + overhead - 1`.
fn size_table() -> Vec<u8> {
    let mut base = vec![0, 0];
    base.extend((-1_i16).to_ne_bytes());
    for word in [u32::from(OVERHEAD_BYTES), LINKLAYER_ETHERNET.into(), 0, TABLE_ENTRIES.into(), TABLE_ENTRIES.into()] {
        base.extend(word.to_ne_bytes());
    }
    let entry = |index: u16| {
        let frame = usize::from((index + 1).saturating_sub(OVERHEAD_BYTES));
        u16::try_from(wire_bytes(frame)).unwrap_or(u16::MAX).to_ne_bytes()
    };
    let data: Vec<u8> = (0..TABLE_ENTRIES).flat_map(entry).collect();
    [attribute(TCA_STAB_BASE, &base), attribute(TCA_STAB_DATA, &data)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_holds_what_a_frame_takes_on_the_wire() {
        let table = size_table();
        let data = table.get(4 + 24 + 4..).unwrap();
        assert_eq!(data.len(), 2 * usize::from(TABLE_ENTRIES));
        let looked_up = |frame: usize| {
            let slot = frame + usize::from(OVERHEAD_BYTES) - 1;
            data.chunks_exact(2).nth(slot).map(|entry| u16::from_ne_bytes([entry[0], entry[1]])).unwrap()
        };
        // 18 bytes of UDP payload make the smallest frame: 60 bytes and the checksum.
        assert_eq!((looked_up(42 + 1), looked_up(60), looked_up(61), looked_up(1514)), (84, 84, 85, 1538));
    }
}
