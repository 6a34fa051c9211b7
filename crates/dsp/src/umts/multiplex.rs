//! Transport channel multiplexing, DTX and physical channel segmentation, TS 25.212 sections 4.2.8 to 4.2.10.

use crate::Binary;

/// A mark for "nothing is sent here", beside the bits 0 and 1 (section 4.2.9). Interleavers carry it like a bit.
pub const DTX: u8 = 2;

/// Puts the radio frames of the transport channels one after the other (section 4.2.8), and, in the downlink, DTX marks behind
/// them up to the end of `frame` (second insertion of DTX, section 4.2.9.2).
///
/// # Panics
/// If `frame` has not the room.
pub fn multiplex<'a>(channels: impl IntoIterator<Item = &'a [u8]>, frame: &mut [u8]) {
    let mut at = 0;
    for channel in channels {
        frame[at..at + channel.len()].copy_from_slice(channel);
        at += channel.len();
    }
    frame[at..].fill(DTX);
}

/// Takes [`multiplex`] back, soft values or bits: what each transport channel has in `frame`. Values behind the last
/// channel are dropped.
///
/// # Panics
/// If the channels want more than `frame` has.
pub fn demultiplex<'a, T: Binary>(frame: &[T], channels: impl IntoIterator<Item = &'a mut [T]>) {
    let mut at = 0;
    for channel in channels {
        channel.copy_from_slice(&frame[at..at + channel.len()]);
        at += channel.len();
    }
}

/// Bits of each of `count` physical channels: equal pieces of a multiplexed frame (section 4.2.10).
///
/// # Panics
/// If there are no `count` equal pieces.
pub fn physical_channels<T>(frame: &[T], count: usize) -> impl ExactSizeIterator<Item = &[T]> {
    assert!(count > 0 && frame.len().is_multiple_of(count), "{} bits on {count} physical channels", frame.len());
    let piece = frame.len() / count;
    (0..count).map(move |p| &frame[p * piece..][..piece])
}
