//! How large a datagram the path carries both ways (x310.md 5).

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use takt_packet::{Engine, Wait};
use takt_wire::x310::{FrameProbe, ports};

use crate::ports::{ONLY, open_engine};
use crate::{Net, RadioError};

/// An answer that takes longer counts as one that did not come.
const PATIENCE: Duration = Duration::from_millis(20);
/// Tries before a size counts as too large: one lost datagram must not shrink every datagram of a session.
const TRIES: u32 = 3;
/// Sizes are multiples of this.
const STEP_BYTES: usize = 8;

/// The largest size up to `wish_bytes` of which a request is answered by as long a reply.
///
/// # Errors
/// `Silent` if not even the shortest is answered.
pub(super) fn probe(net: &Arc<dyn Net>, addr: IpAddr, wish_bytes: usize) -> Result<usize, RadioError> {
    let peer = SocketAddr::new(addr, ports::FRAME_PROBE);
    let mut engine = open_engine(&**net, peer)?;
    let wish_bytes = wish_bytes.min(engine.limits().max_payload_bytes);
    let mut passes = |bytes: usize| passes(&mut *engine, &**net, bytes);
    if !passes(FrameProbe::BYTES)? {
        return Err(RadioError::Silent { addr: peer, what: "a frame size probe", tries: TRIES });
    }
    let (mut good, mut bad) = (FrameProbe::BYTES / STEP_BYTES, wish_bytes / STEP_BYTES + 1);
    if passes(wish_bytes / STEP_BYTES * STEP_BYTES)? {
        return Ok(wish_bytes / STEP_BYTES * STEP_BYTES);
    }
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
