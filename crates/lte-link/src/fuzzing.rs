//! Invariants for any bytes from the air: the bodies of the fuzz targets, beside the parsers that they judge.
//!
//! `cargo fuzz` compiles them, and so do this crate's own tests, where random bytes stand in for the fuzzer. Each function takes any
//! bytes and panics if an invariant is broken. `tests/support/forged.rs` does the same to both ends of a link that runs.

use takt_lte::Bandwidth;

use crate::mac::message::Message;
use crate::mac::{pdu, response};
use crate::rlc::Bearer;
use crate::{BearerMode, LinkCounters, RlcConfig, SystemInformation};

/// The longest packet of a bearer, bytes.
const PACKET_LEN: usize = 1500;

/// MAC PDUs of both ways, answers to random access, messages of control, RLC PDUs and system information. The parser reads no
/// more than there is, and what it read can be written again.
pub fn pdus(bytes: &[u8]) {
    let (&first, bytes) = bytes.split_first().unwrap_or((&0, &[]));
    let bandwidth = Bandwidth::ALL[usize::from(first) % Bandwidth::ALL.len()];
    for way in [pdu::Way::Down, pdu::Way::Up] {
        if let Ok(parts) = pdu::parse(bytes, way) {
            assert!(parts.iter().map(|part| part.bytes.len()).sum::<usize>() < bytes.len());
        }
    }
    if let Ok(answer) = response::parse(bytes, bandwidth) {
        assert!(7 * answer.responses.len() <= bytes.len() && answer.back_off.is_none_or(|wait| wait <= 960));
        for one in &answer.responses {
            assert!(one.grant.blocks > 0 && one.preamble < 64 && one.timing_advance <= 1282);
            assert!(usize::from(one.grant.first_block) + usize::from(one.grant.blocks) <= bandwidth.blocks());
            let written = response::compose(None, &[*one], bandwidth, 0);
            assert_eq!(response::parse(&written, bandwidth).map(|read| read.responses), Ok(vec![*one]));
        }
    }
    if let Ok(message) = Message::parse(bytes) {
        assert_eq!(Message::parse(&message.bytes()), Ok(message));
    }
    if let Ok(information) = SystemInformation::parse(bytes, bandwidth) {
        assert_eq!(SystemInformation::parse(&information.bytes(), bandwidth), Ok(information));
    }
    crate::rlc::check_any_pdu(bytes);
}

/// A bearer that takes any PDUs, in both modes, while it has packets of its own to send: what it holds and delivers is bounded.
///
/// Each step is a byte that chooses, and for a PDU its length and bytes.
pub fn bearer(mut bytes: &[u8]) {
    let mut byte = || bytes.split_off_first().copied().unwrap_or(0);
    let mode = if byte() % 2 == 0 { BearerMode::Acknowledged } else { BearerMode::Unacknowledged };
    let config = RlcConfig { queue_packets: 16, ..RlcConfig::default() };
    let (mut bearer, mut counters, mut now) = (Bearer::new(mode, config), LinkCounters::default(), 0);
    while let Some((&step, rest)) = bytes.split_first() {
        bytes = rest;
        match step % 8 {
            0 => drop(bearer.push(&[step; 40], &mut counters)),
            1 => drop(bearer.push(&[step; PACKET_LEN], &mut counters)),
            2 | 3 => {
                let room = 8 * usize::from(step);
                let pdu = bearer.build(room, now, &mut counters);
                assert!(pdu.is_none_or(|pdu| !pdu.is_empty() && pdu.len() <= room));
            }
            4 => {
                now += u64::from(step);
                bearer.tick(step > 20, now, &mut counters);
            }
            5 if step > 240 => bearer.resume(&mut counters),
            _ => {
                let Some((&len, rest)) = bytes.split_first() else { break };
                let (pdu, rest) = rest.split_at(usize::from(len).min(rest.len()));
                bytes = rest;
                bearer.take(pdu, now, &mut counters);
            }
        }
        assert!(bearer.delivered().all(|packet| !packet.is_empty() && packet.len() <= PACKET_LEN));
        assert!(bearer.packets() <= 2048 + 16 && bearer.waiting(now) <= (2048 + 16) * (PACKET_LEN + 8));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn any_bytes_are_pdus_or_none(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            super::pdus(&bytes);
        }

        #[test]
        fn any_pdus_leave_a_bearer_bounded(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            super::bearer(&bytes);
        }
    }
}
