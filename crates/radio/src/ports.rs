//! Ports of this host for small traffic with a radio, and how long its answers are waited for.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use takt_packet::{Config, Datagram, Engine, PortIndex, PortSpec, Wait};

use crate::{Net, RadioError, Role};

/// How long to wait for a reply, and how often to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Patience {
    pub(crate) tries: u32,
    pub(crate) each: Duration,
}

impl Patience {
    /// Patience of UHD with a device: 3 tries of 1/3 s.
    pub(crate) const USUAL: Patience = Patience { tries: 3, each: Duration::from_nanos(333_333_333) };
}

/// The port of an engine that has one.
pub(crate) const ONLY: PortIndex = PortIndex(0);
/// Enough for every reply, the longest echo included.
const MAX_PAYLOAD_BYTES: usize = 9000;

/// A local end for small traffic with one port of a device.
pub(crate) fn open_engine(net: &dyn Net, peer: SocketAddr) -> Result<Box<dyn Engine>, RadioError> {
    let config = Config {
        batch: 64,
        max_payload_bytes: MAX_PAYLOAD_BYTES,
        recv_buffer_bytes: 256 << 10,
        send_buffer_bytes: 64 << 10,
        ..Config::new(vec![PortSpec { bind: any(peer.ip()), peer: Some(peer) }])
    };
    Ok(net.open(Role::Control, &config)?)
}

/// Sends one datagram through an engine of [`open_engine`].
pub(crate) fn send_bytes(engine: &mut dyn Engine, bytes: &[u8]) -> Result<(), RadioError> {
    let mut batch = engine.reserve(1);
    batch.push(ONLY, None, |frame| {
        let len = bytes.len().min(frame.len());
        frame[..len].copy_from_slice(&bytes[..len]);
        len
    });
    batch.send(Wait::Poll)?;
    Ok(())
}

/// Any port of this host towards `peer`.
pub(crate) fn any(peer: IpAddr) -> SocketAddr {
    // A socket bound to every address receives what is sent to any of them; connecting narrows it down.
    match peer {
        IpAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        IpAddr::V6(_) => (std::net::Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}

/// The first datagram that is what is waited for; `None`: it did not come within `each`.
///
/// # Errors
/// `PortClosed` where nobody listens.
pub(crate) fn await_answer<T>(
    engine: &mut dyn Engine,
    net: &dyn Net,
    peer: SocketAddr,
    each: Duration,
    is_it: impl Fn(&Datagram<'_>) -> Option<T>,
) -> Result<Option<T>, RadioError> {
    let until = net.now() + each;
    loop {
        let found = engine.recv(Wait::Until(until))?.iter().find_map(|datagram| is_it(&datagram));
        if found.is_some() {
            return Ok(found);
        }
        if engine.refused().is_some() {
            return Err(RadioError::PortClosed { addr: peer });
        }
        if net.now() >= until {
            return Ok(None);
        }
    }
}
