//! Attachment of the CRC to transport blocks and code blocks, TS 36.212 section 5.1.1.

use crate::crc::Crc;

/// Appends the parity of a block, p0 first (TS 36.212 section 5.1.1).
///
/// `block`: A bits, the first transmitted first. `out`: A + L bits, L = `crc.bits()`.
///
/// # Panics
/// If `out` is not that long.
pub fn crc_attach(crc: Crc, block: &[u8], out: &mut [u8]) {
    assert_eq!(out.len(), block.len() + crc.bits(), "out holds the block and its parity");
    let (data, parity) = out.split_at_mut(block.len());
    data.copy_from_slice(block);
    write_parity(crc, data, parity);
}

/// Whether the last L of `bits` are the parity of those before; false if there are fewer than L.
pub fn crc_check(crc: Crc, bits: &[u8]) -> bool {
    bits.len() >= crc.bits() && crc.remainder(bits) == 0
}

pub(super) fn write_parity(crc: Crc, data: &[u8], parity: &mut [u8]) {
    let remainder = crc.remainder(data);
    for (i, bit) in parity.iter_mut().rev().enumerate() {
        *bit = (remainder >> i & 1) as u8;
    }
}
