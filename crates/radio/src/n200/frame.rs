//! How large a datagram the path carries, each way.

use std::time::Duration;

use takt_wire::n200::ControlRequest;

use super::control::Control;
use crate::RadioError;

/// An echo that takes longer counts as one that did not come.
const PATIENCE: Duration = Duration::from_millis(20);
/// Tries before a size counts as too large: one lost datagram must not shrink every datagram of a session.
const TRIES: u32 = 3;

/// Bytes of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct FrameBytes {
    /// From the radio.
    pub receive: usize,
    /// To the radio.
    pub send: usize,
}

impl FrameBytes {
    /// Sizes that fit an Ethernet frame of 1500 bytes, both ways.
    pub const ETHERNET: FrameBytes =
        FrameBytes { receive: takt_wire::n200::FRAME_BYTES, send: takt_wire::n200::FRAME_BYTES };
}

/// The largest sizes up to `wish` for which echoes come back whole. A device that knows no echo gets what fits an Ethernet
/// frame.
pub(super) fn probe(control: &mut Control, wish: FrameBytes) -> Result<FrameBytes, RadioError> {
    const SMALL: usize = ControlRequest::BYTES;
    match echo(control, SMALL, SMALL)? {
        Some(true) => {}
        Some(false) | None => {
            let most = FrameBytes::ETHERNET;
            let within = |wish: usize, most: usize| wish.min(most).max(SMALL);
            return Ok(FrameBytes { receive: within(wish.receive, most.receive), send: within(wish.send, most.send) });
        }
    }
    let receive = search(wish.receive, |bytes| Ok(echo(control, SMALL, bytes)? == Some(true)))?;
    let send = search(wish.send, |bytes| Ok(echo(control, bytes, SMALL)? == Some(true)))?;
    Ok(FrameBytes { receive, send })
}

fn echo(control: &mut Control, request: usize, reply: usize) -> Result<Option<bool>, RadioError> {
    for _ in 1..TRIES {
        match control.echo(request, reply, PATIENCE)? {
            Some(false) => {}
            settled => return Ok(settled),
        }
    }
    control.echo(request, reply, PATIENCE)
}

/// The largest multiple of 4 up to `most` that fits, if fitting is monotonic: usually the first that is tried.
fn search(most: usize, mut fits: impl FnMut(usize) -> Result<bool, RadioError>) -> Result<usize, RadioError> {
    let (mut low, mut high) = (ControlRequest::BYTES / 4, most / 4);
    let mut next = high;
    while low < high {
        if fits(next * 4)? {
            low = next;
        } else {
            high = next - 1;
        }
        next = (low + high).div_ceil(2);
    }
    Ok(low * 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_size_that_fits_is_found_and_a_full_fit_takes_one_question() {
        for limit in [36, 40, 600, 1468, 1472, 9000] {
            let mut questions = 0;
            let found = search(1472, |bytes| {
                questions += 1;
                Ok(bytes <= limit)
            });
            assert_eq!(found.ok(), Some(limit.min(1472)));
            assert!(questions <= if limit >= 1472 { 1 } else { 10 }, "{questions}");
        }
    }
}
