//! How large a datagram the path carries both ways (x310.md 5).

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use takt_packet::{Engine, Wait};
use takt_wire::x310::{FRAME_BYTES, FrameProbe, ports};

use crate::ports::{ONLY, open_engine};
use crate::{Net, RadioError};

/// An answer that takes longer counts as one that did not come.
const PATIENCE: Duration = Duration::from_millis(20);
/// Tries before a size counts as too large: one lost datagram must not shrink every datagram of a session.
const TRIES: u32 = 3;
/// Sizes are multiples of this.
const STEP_BYTES: usize = 8;

/// The least that streams are set up for, as in experiments: every packet of management and control fits, and samples are not
/// all headers.
pub(super) const LEAST_BYTES: usize = 576;

/// Whether streams can be had with datagrams as large as this.
///
/// # Errors
/// `Range`.
pub(super) fn check(wish_bytes: usize) -> Result<(), RadioError> {
    let (got, low, high) = (wish_bytes as f64, LEAST_BYTES as f64, FRAME_BYTES as f64);
    let short = RadioError::Range { what: "largest datagram of an X310, bytes:", got, low, high };
    if wish_bytes < LEAST_BYTES { Err(short) } else { Ok(()) }
}

/// The largest size up to `wish_bytes`, and from [`LEAST_BYTES`] on, of which a request is answered by as long a reply.
///
/// # Errors
/// `Range` for less than that. `Silent` if not even the shortest is answered; `ShortFrames` if nothing else is.
pub(super) fn probe(net: &Arc<dyn Net>, addr: IpAddr, wish_bytes: usize) -> Result<usize, RadioError> {
    check(wish_bytes)?;
    let peer = SocketAddr::new(addr, ports::FRAME_PROBE);
    let mut engine = open_engine(&**net, peer)?;
    let wish_bytes = wish_bytes.min(engine.limits().max_payload_bytes);
    let mut passes = |bytes: usize| passes(&mut *engine, &**net, bytes);
    if !passes(FrameProbe::BYTES)? {
        return Err(RadioError::Silent { addr: peer, what: "a frame size probe", tries: TRIES });
    }
    // This host's interface may carry less than was wished.
    if wish_bytes < LEAST_BYTES {
        return Err(RadioError::ShortFrames { addr, least: LEAST_BYTES });
    }
    if passes(wish_bytes / STEP_BYTES * STEP_BYTES)? {
        return Ok(wish_bytes / STEP_BYTES * STEP_BYTES);
    }
    if !passes(LEAST_BYTES)? {
        return Err(RadioError::ShortFrames { addr, least: LEAST_BYTES });
    }
    let (mut good, mut bad) = (LEAST_BYTES / STEP_BYTES, wish_bytes / STEP_BYTES + 1);
    while bad - good > 1 {
        let middle = good.midpoint(bad);
        *(if passes(middle * STEP_BYTES)? { &mut good } else { &mut bad }) = middle;
    }
    Ok(good * STEP_BYTES)
}

fn passes(engine: &mut dyn Engine, net: &dyn Net, bytes: usize) -> Result<bool, RadioError> {
    for _ in 0..TRIES {
        let request = FrameProbe::Request { reply_bytes: bytes as u32 };
        let mut batch = engine.reserve(1);
        batch.push(ONLY, None, |frame| request.write_padded(bytes, frame).unwrap_or(0));
        batch.send(Wait::Poll)?;
        let until = net.now() + PATIENCE;
        while net.now() < until {
            let came = engine.recv(Wait::Until(until))?;
            let whole = FrameProbe::Reply { request_bytes: bytes as u32 };
            if came
                .iter()
                .any(|datagram| datagram.bytes.len() == bytes && FrameProbe::parse(datagram.bytes) == Ok(whole))
            {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
