//! Bits of control channels and of the broadcast, as they stand behind a CRC that holds.

use super::Choices;
use crate::{Bandwidth, Dci, DciFormat, Mib, decode_riv, encode_riv, riv_bits};

/// Grants, runs of resource blocks and master information of any bits. The encoder writes the same bits for what the decoder reads.
pub fn messages(bytes: &[u8]) {
    let mut choices = Choices(bytes);
    let bandwidth = choices.pick(&Bandwidth::ALL);
    let bits = choices.bits();
    for format in [DciFormat::Compact, DciFormat::Bitmap] {
        grant(format, bits & ((1 << format.bits(bandwidth)) - 1), bandwidth);
        // Bits beyond those of the format are no reason to read past its fields.
        grant_is_bounded(format, bits, bandwidth);
    }
    run(bandwidth.blocks(), bits as u32 & ((1 << riv_bits(bandwidth.blocks())) - 1));
    run(bandwidth.blocks(), bits as u32);
    broadcast(bits & 0xff_ffff, usize::from(choices.byte() % 4));
}

fn grant(format: DciFormat, bits: u64, bandwidth: Bandwidth) {
    if let Some(dci) = Dci::unpack(format, bits, bandwidth) {
        assert_eq!((dci.pack(bandwidth), dci.format()), (Some(bits), format));
    }
    grant_is_bounded(format, bits, bandwidth);
}

fn grant_is_bounded(format: DciFormat, bits: u64, bandwidth: Bandwidth) {
    match Dci::unpack(format, bits, bandwidth) {
        Some(Dci::UplinkGrant(grant)) => within(grant.first_block, grant.blocks, bandwidth),
        Some(Dci::Compact(grant)) => within(grant.first_block, grant.blocks, bandwidth),
        Some(Dci::Bitmap(grant)) => assert!(grant.bitmap > 0 && grant.bitmap >> DciFormat::groups(bandwidth) == 0),
        None => {}
    }
}

fn within(first: u8, blocks: u8, bandwidth: Bandwidth) {
    assert!(blocks > 0 && usize::from(first) + usize::from(blocks) <= bandwidth.blocks());
}

fn run(carrier: usize, value: u32) {
    if let Some((first, blocks)) = decode_riv(carrier, value) {
        assert!(blocks > 0 && first + blocks <= carrier);
        assert_eq!(encode_riv(carrier, first, blocks), Some(value));
    }
}

fn broadcast(message: u64, quarter: usize) {
    if let Some(mib) = Mib::unpack(message, quarter) {
        assert!(mib.frame < 1024);
        // Ten bits are spare, and later releases use them.
        assert_eq!(mib.pack(), message & !0x3ff);
    }
}
