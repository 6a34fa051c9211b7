//! Attachment of the CRC to transport blocks, TS 25.212 section 4.2.1.2.

use crate::crc::Crc;

/// Appends the parity of a transport block **in reverse order**: the block's A bits, then pL, .., p1 (TS 25.212 section
/// 4.2.1.2), other than in LTE. A = 0 gives L zeros; no transport block at all is no call.
///
/// `block`: A bits, the first transmitted first. `out`: A + L bits, L = `crc.bits()`.
///
/// # Panics
/// If `out` is not that long.
pub fn crc_attach(crc: Crc, block: &[u8], out: &mut [u8]) {
    assert_eq!(out.len(), block.len() + crc.bits(), "out holds the block and its parity");
    let (data, parity) = out.split_at_mut(block.len());
    data.copy_from_slice(block);
    let remainder = crc.remainder(block);
    for (i, bit) in parity.iter_mut().enumerate() {
        *bit = (remainder >> i & 1) as u8;
    }
}

/// Whether the last L of `bits` are the parity of those before; false if there are fewer than L.
pub fn crc_check(crc: Crc, bits: &[u8]) -> bool {
    let Some(data) = bits.len().checked_sub(crc.bits()) else { return false };
    let (data, parity) = bits.split_at(data);
    let received = parity.iter().rev().fold(0, |r, bit| r << 1 | u32::from(bit & 1));
    crc.remainder(data) == received
}
