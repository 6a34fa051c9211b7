//! Rules for any bytes: the bodies of the fuzz targets, beside the parsers they judge.
//!
//! Compiled under `cargo fuzz`, and in this crate's own tests, where random and damaged packets stand in for the fuzzer
//! on a stable toolchain. Every function takes whatever bytes it is given and panics if an invariant is broken: what a
//! parser accepts it can say again, in no more bytes than it was given, meaning the same.

use num_complex::{Complex, Complex32};

use crate::bridge::BridgeData;
use crate::chdr::{Control, Data, Header, Management, Packet, Protocol, StreamCommand as Command, StreamStatus};
use crate::clock::{ClockReply, ClockRequest};
use crate::lag::{LagReply, LagRequest};
use crate::n200::eeprom::{Daughterboard, Motherboard};
use crate::n200::rate::{Direction, Factor, RateWord, device_gain};
use crate::n200::{
    ControlReply, ControlRequest, Destination, DestinationAnswer, FifoAck, FifoCommand, RxData, RxMessage, RxPacket,
    StreamCommand, TxData, TxPacket, TxReport, frequency,
};
use crate::ptp::{PtpReply, PtpRequest};
use crate::sample::{ByteOrder, Simd, full_scale, sc8, sc16};
use crate::x310::{self, Firmware, FrameProbe};
use crate::{WireError, words};

/// Parses, writes, parses again: the same. Nothing is written beyond the length, a smaller buffer is refused, and no
/// prefix of what was written means the same.
macro_rules! round_trip {
    ($packet:ident, $bytes:expr) => {{
        if let Ok(value) = $packet::parse($bytes) {
            let written = write_checked($bytes.len(), |out| value.write(out));
            assert_eq!($packet::parse(&written), Ok(value));
            for end in 0..written.len() {
                assert_ne!($packet::parse(&written[..end]), Ok(value), "{end} of {} bytes", written.len());
            }
        }
    }};
}

/// Packets between nodes.
pub fn bridge(bytes: &[u8]) {
    round_trip!(BridgeData, bytes);
    round_trip!(ClockRequest, bytes);
    round_trip!(ClockReply, bytes);
}

/// Control packets, both ways.
pub fn n200_control(bytes: &[u8]) {
    round_trip!(ControlRequest, bytes);
    round_trip!(ControlReply, bytes);
    let huh = ControlReply::huh(bytes);
    assert_eq!(ControlReply::parse(&write_checked(36, |out| huh.write(out))), Ok(huh));
}

/// Register commands and acks.
pub fn n200_fifo(bytes: &[u8]) {
    round_trip!(FifoCommand, bytes);
    round_trip!(FifoAck, bytes);
    if let Ok(command) = FifoCommand::parse(bytes) {
        assert_eq!(command.ack(0).sequence(), command.sequence);
    }
}

/// Questions to a PTP service, and its answers.
pub fn ptp(bytes: &[u8]) {
    round_trip!(PtpRequest, bytes);
    round_trip!(PtpReply, bytes);
    assert!(PtpRequest::parse(bytes).is_err() || PtpReply::parse(bytes).is_err());
}

/// Datagrams that a host gets on a receive port.
pub fn n200_rx(bytes: &[u8]) {
    round_trip!(RxData, bytes);
    round_trip!(RxMessage, bytes);
    if let Ok(RxPacket::Data(data)) = RxPacket::parse(bytes) {
        assert_eq!(RxData::parse(bytes), Ok(data));
        assert!(data.samples() <= data.payload.len() / 2);
        assert!(data.payload.len() + 20 <= bytes.len());
    }
}

/// Datagrams that a device gets on a transmit port.
pub fn n200_tx(bytes: &[u8]) {
    round_trip!(TxData, bytes);
    if let Ok(TxPacket::Data(data)) = TxPacket::parse(bytes) {
        assert_eq!(TxData::parse(bytes), Ok(data));
        assert!(data.samples_sc8() <= data.payload.len() / 2);
        assert!(data.head.payload_at() + data.payload.len() + 4 <= bytes.len());
    }
}

/// Datagrams that a host gets on a transmit port, and address packets.
pub fn n200_report(bytes: &[u8]) {
    round_trip!(TxReport, bytes);
    round_trip!(Destination, bytes);
    round_trip!(DestinationAnswer, bytes);
}

/// EEPROM images.
pub fn n200_eeprom(bytes: &[u8]) {
    if let Ok(board) = Motherboard::parse(bytes) {
        assert_eq!(Motherboard::parse(&board.image()), Ok(board));
        assert!(board.name.as_str().len() <= 23 && board.serial.as_str().is_ascii());
    }
    if let Ok(board) = Daughterboard::parse(bytes) {
        assert_eq!(Daughterboard::parse(&board.image()), Ok(board));
    }
}

/// Register words that carry a meaning: stream commands, rates, scales, frequencies.
pub fn n200_words(bytes: &[u8]) {
    let Ok((command @ [word, other, _], _)) = words::read::<3>(bytes, "three words") else { return };
    let command = StreamCommand::from_words(command);
    let again = command.words().expect("a command from words is 28 bits wide");
    assert_eq!(StreamCommand::from_words(again), command);
    assert!(RateWord(word).factor() <= 255 * 4);
    for direction in [Direction::Rx, Direction::Tx] {
        let gain = device_gain(direction, RateWord(word).cic(), other);
        assert!((0.0..=3.3).contains(&gain), "{gain}");
    }
    let hz = f64::from_bits(words::join(word, other));
    assert!(frequency::hz_of(frequency::word_of(hz)).abs() <= 50e6);
    if let Some(factor) = Factor::nearest(hz) {
        assert_eq!(factor.rate_word(Direction::Rx).factor(), factor.get());
    }
    let [below, above] = Factor::around(hz);
    assert!(below.is_none_or(|factor| factor.rate_sps() <= hz) && above.is_none_or(|factor| factor.rate_sps() >= hz));
}

/// Everything that CHDR carries.
pub fn chdr(bytes: &[u8]) {
    round_trip!(Management, bytes);
    round_trip!(StreamStatus, bytes);
    round_trip!(Command, bytes);
    round_trip!(Control, bytes);
    round_trip!(Data, bytes);
    if let Ok(control) = Control::parse_as(Protocol::V2, bytes) {
        let written = write_checked(bytes.len(), |out| control.write_as(Protocol::V2, out));
        assert_eq!(Control::parse_as(Protocol::V2, &written), Ok(control));
        let ack = control.ack_as(Protocol::V2, 2, control.status, control.data);
        assert_eq!((ack.is_ack, ack.destination, ack.data), (true, control.source, control.data));
    }
    let Ok((header, body)) = Header::parse(bytes) else { return };
    assert_eq!(Header::BYTES + body.len(), usize::from(header.length_bytes));
    assert_eq!(Header::parse(&[&header.word().to_le_bytes(), body].concat()), Ok((header, body)));
    match Packet::parse(bytes) {
        Ok(Packet::Control(control)) => {
            let ack = control.ack(2, control.status, 7);
            assert!(ack.is_ack && (ack.data.first(), ack.destination) == (7, control.source));
        }
        Ok(Packet::Data(data)) => assert!(data.head.payload_at() + data.payload.len() <= bytes.len()),
        _ => {}
    }
}

/// Datagrams of an X310 and its hosts beside CHDR.
pub fn x310(bytes: &[u8]) {
    round_trip!(Firmware, bytes);
    round_trip!(FrameProbe, bytes);
    if let Ok(board) = x310::eeprom::Motherboard::parse(bytes) {
        assert_eq!(x310::eeprom::Motherboard::parse(&board.image()), Ok(board));
        let mirror: Vec<u8> = board.mirror().into_iter().flat_map(u32::to_be_bytes).collect();
        assert_eq!(mirror, board.image());
    }
}

/// How late an emulator was, both ways: whatever is requested, the reply is not longer.
pub fn lag(bytes: &[u8]) {
    round_trip!(LagRequest, bytes);
    round_trip!(LagReply, bytes);
    if let Ok(reply) = LagReply::parse(bytes) {
        assert!(reply.write(&mut [0; LagRequest::BYTES]).is_ok());
    }
    assert!(LagRequest::parse(bytes).is_err() || bytes.len() >= LagRequest::BYTES);
}

/// Sample conversion: every SIMD level gives the bits of the portable code.
pub fn samples(bytes: &[u8]) {
    let mut floats = vec![Complex32::default(); bytes.len() / 2];
    for order in [ByteOrder::Big, ByteOrder::Little] {
        same_at_every_level(|simd| {
            let count = sc16::unpack_f32_with(simd, bytes, order, 1.0 / full_scale::SC16, &mut floats);
            let mut wire = vec![0; bytes.len()];
            let written = sc16::pack_f32_with(simd, &floats[..count], order, full_scale::SC16, &mut wire);
            assert_eq!(wire[..4 * written], bytes[..4 * count], "sixteen bits through floats");
            wire
        });
    }
    same_at_every_level(|simd| {
        let count = sc8::unpack_f32_with(simd, bytes, 1.0 / full_scale::SC8, &mut floats);
        let mut wire = vec![0; bytes.len()];
        sc8::pack_f32_with(simd, &floats[..count], full_scale::SC8, &mut wire);
        assert_eq!(wire[..2 * count], bytes[..2 * count], "eight bits through floats");
        wire
    });
    // Any bits as floats: NaN, infinities, denormals.
    let wild = bytes.as_chunks::<8>().0.iter().map(|both| {
        let [a, b, c, d, e, f, g, h] = *both;
        Complex::new(f32::from_le_bytes([a, b, c, d]), f32::from_le_bytes([e, f, g, h]))
    });
    let wild: Vec<_> = wild.collect();
    same_at_every_level(|simd| {
        let (mut wide, mut narrow) = (vec![0; 4 * wild.len()], vec![0; 2 * wild.len()]);
        sc16::pack_f32_with(simd, &wild, ByteOrder::Big, 1.0, &mut wide);
        sc8::pack_f32_with(simd, &wild, 1.0, &mut narrow);
        wide.extend(narrow);
        wide
    });
}

fn same_at_every_level(mut convert: impl FnMut(Simd) -> Vec<u8>) {
    let portable = convert(Simd::PORTABLE);
    for simd in Simd::available() {
        assert_eq!(convert(simd), portable, "{}", simd.name());
    }
}

/// Output of `write`; at most `limit` bytes, every one of them written, none beyond.
fn write_checked(limit: usize, write: impl Fn(&mut [u8]) -> Result<usize, WireError>) -> Vec<u8> {
    let (mut ones, mut others) = (vec![0xa5; limit + 4], vec![0x5a; limit + 4]);
    let bytes = write(&mut ones).expect("a buffer as large as the datagram is large enough");
    assert_eq!(write(&mut others), Ok(bytes));
    assert!(bytes <= limit && ones[bytes..].iter().all(|byte| *byte == 0xa5), "wrote beyond its length");
    assert_eq!(ones[..bytes], others[..bytes], "a byte was left as it stood");
    assert!(matches!(write(&mut ones[..bytes - 1]), Err(WireError::Short { .. })));
    others.truncate(bytes);
    others
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: [fn(&[u8]); 13] = [
        bridge,
        ptp,
        n200_control,
        n200_fifo,
        n200_rx,
        n200_tx,
        n200_report,
        n200_eeprom,
        n200_words,
        lag,
        samples,
        chdr,
        x310,
    ];

    /// A packet of every kind, from which the damaged ones are made.
    fn good() -> impl Strategy<Value = Vec<u8>> {
        let header = prop_oneof![
            (0u32..16, 5u32..40).prop_map(|(count, length)| 0x1410_0000 | count << 16 | length),
            (0u32..16, 5u32..40).prop_map(|(count, length)| 0x14D0_0000 | count << 16 | length),
            (0u32..16).prop_map(|count| 0x5010_0005 | count << 16),
            (0u32..16).prop_map(|count| 0x5010_0006 | count << 16),
            (0u32..16).prop_map(|count| 0x5000_0004 | count << 16),
        ];
        let after_number = prop_oneof![
            (0u32..16).prop_map(|count| 0x4000_0003 | count << 16),
            (0u32..16).prop_map(|count| 0x4010_0005 | count << 16),
            (0u32..64, 0u32..40).prop_map(|(bits, length)| 0x0400_0000 | bits << 20 | length),
            Just(0),
        ];
        let id = prop::sample::select(b"aAsSiIhHrRlL ".to_vec()).prop_map(u32::from);
        let body = prop::collection::vec(any::<u8>(), 0..200);
        let lag = (0u32..3, prop::collection::vec(any::<u8>(), 60), 0u32..30, prop::collection::vec(0u8..2, 0..520));
        let small = prop::collection::vec(0u8..24, 24);
        // A CHDR header of any type whose length is nearly right, and words of which many are small.
        let chdr =
            (0u64..8, 0u64..3, 0u64..90, prop::collection::vec(prop_oneof![0u64..0x4_0000, any::<u64>()], 0..10));
        let chdr = chdr.prop_map(|(kind, metadata, cut, words)| {
            let length = (8 + 8 * words.len() as u64).saturating_sub(cut.saturating_sub(80));
            let header = 7 | length << 16 | metadata << 48 | kind << 53;
            // Management of protocol 1.0 or 2.0 stands often enough where it belongs.
            let words = words.into_iter().enumerate().map(move |(n, word)| match (n, kind) {
                (0, 0) => 0x0100_0000_0000_0000 << (word & 1) | word & 0x3_FFFF,
                (_, 0) => word & 0xFFFF_FFFF_FFFF_FF03,
                _ => word,
            });
            [header].into_iter().chain(words).flat_map(u64::to_le_bytes).collect()
        });
        prop_oneof![
            chdr,
            (header, body.clone()).prop_map(|(word, body)| [&word.to_be_bytes(), body.as_slice()].concat()),
            (any::<u32>(), after_number, body.clone()).prop_map(|(number, word, body)| [
                &number.to_be_bytes(),
                &word.to_be_bytes(),
                body.as_slice()
            ]
            .concat()),
            (any::<u32>(), id, any::<u32>(), small).prop_map(|(version, id, number, body)| {
                [&version.to_be_bytes(), &id.to_be_bytes(), &number.to_be_bytes(), body.as_slice()].concat()
            }),
            lag.prop_map(|(kind, counts, spans, rest)| {
                let [magic, kind, spans] = [0x544C_4147, 0x0002_0000 | kind, spans].map(u32::to_be_bytes);
                [&magic, &kind, counts.as_slice(), &spans, &rest].concat()
            }),
            body,
        ]
    }

    /// `PROPTEST_CASES` packets if that is set to more than 2000.
    fn config() -> ProptestConfig {
        let wished = ProptestConfig::default();
        ProptestConfig { cases: if cfg!(miri) { 8 } else { wished.cases.max(2000) }, ..wished }
    }

    proptest! {
        #![proptest_config(config())]

        #[test]
        fn nothing_a_datagram_contains_breaks_an_invariant(bytes in good()) {
            for judge in ALL {
                judge(&bytes);
            }
        }
    }

    #[test]
    fn every_seed_of_the_fuzzer_holds() {
        let seeds = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
        let mut count = 0;
        for directory in std::fs::read_dir(seeds).expect("fuzz/seeds").flatten() {
            for seed in std::fs::read_dir(directory.path()).into_iter().flatten().flatten() {
                let bytes = std::fs::read(seed.path()).expect("a seed");
                ALL.iter().for_each(|judge| judge(&bytes));
                count += 1;
            }
        }
        assert!(count >= 20, "{count} seeds");
    }
}
