//! How fast the time of takt's own radio passes, which it says on a port that hardware does not have.

use std::net::{IpAddr, SocketAddr};

use takt_base::Speed;
use takt_wire::lag::{self, LagReply, LagRequest};

use crate::Net;
use crate::ports::{Patience, await_answer, open_engine, send_bytes};

/// Comes back in the answer.
const ID: u32 = 1;

/// `None`: nobody answers there.
pub(crate) fn ask(net: &dyn Net, addr: IpAddr) -> Option<Speed> {
    let peer = SocketAddr::new(addr, lag::PORT);
    let mut engine = open_engine(net, peer).ok()?;
    let mut bytes = [0; LagRequest::BYTES];
    // The request asks about no late span: none ends so late.
    LagRequest { id: ID, since_ns: u64::MAX }.write(&mut bytes).ok()?;
    for _ in 0..Patience::USUAL.tries {
        send_bytes(&mut *engine, &bytes).ok()?;
        let reply = await_answer(&mut *engine, net, peer, Patience::USUAL.each, |datagram| {
            LagReply::parse(datagram.bytes).ok().filter(|reply| reply.id == ID)
        });
        if let Some(reply) = reply.ok()? {
            return Speed::from_millionths(reply.speed_millionths);
        }
    }
    None
}
