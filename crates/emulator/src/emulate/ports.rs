//! The UDP ports of a software radio on this host.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use takt_packet::{Config, Engine, EngineError, EngineKind, PortSpec};

use super::broadcast::broadcast_of;
use super::model::Model;
use crate::Port;
use crate::device::FRAME_BYTES;
use crate::drive::wall::BATCH;

/// An engine, the device port of each of its ports, and whether the radio receives broadcasts.
pub type OpenPorts = (Box<dyn Engine>, Vec<Port>, bool);

/// The ports that a radio wants.
#[derive(Clone, Copy, Debug)]
pub struct PortWish<'a> {
    /// Ports of the device, in the order of [`Device::ports`](crate::Device::ports).
    pub ports: &'a [Port],
    /// The port on which hosts search.
    pub discovery_port: u16,
    /// Buffer requested from the kernel for each port, bytes.
    pub buffer_bytes: usize,
    /// Datagrams that are taken at once.
    pub batch: usize,
}

impl<'a> PortWish<'a> {
    /// Those of a model whose device has these ports.
    #[must_use]
    pub fn of<M: Model>(ports: &'a [Port]) -> PortWish<'a> {
        PortWish { ports, discovery_port: M::DISCOVERY_PORT, buffer_bytes: M::BUFFER_BYTES, batch: BATCH }
    }
}

/// Opens the ports of a radio; the control port also on the broadcast address, where there is one and no other radio of its
/// network has it.
///
/// # Errors
/// A port is taken, the address is not local, or the engine can't be opened.
pub fn open_ports(
    kind: EngineKind,
    aggregate: bool,
    addr: Ipv4Addr,
    wish: PortWish<'_>,
) -> Result<OpenPorts, EngineError> {
    let spec = |ip: Ipv4Addr, port: u16| PortSpec { bind: SocketAddr::new(IpAddr::V4(ip), port), peer: None };
    let mut ports = wish.ports.to_vec();
    let mut config = Config::new(ports.iter().map(|port| spec(addr, port.0)).collect());
    config.batch = wish.batch;
    config.aggregate = aggregate;
    // Hosts may ask for all that a device may send. A datagram longer than the interface's frames is lost.
    config.max_payload_bytes = FRAME_BYTES;
    config.shorter_payloads = true;
    config.recv_buffer_bytes = wish.buffer_bytes;
    config.send_buffer_bytes = wish.buffer_bytes;
    // A radio has its own memory, whatever this host grants to programs.
    config.force_buffers = true;
    if let Some(broadcast) = broadcast_of(addr) {
        let mut both = config.clone();
        both.ports.push(spec(broadcast, wish.discovery_port));
        match takt_packet::open(kind, &both) {
            Ok(engine) => {
                ports.push(Port(wish.discovery_port));
                return Ok((engine, ports, true));
            }
            // Another radio of this network listens there already: this one is found by its address only.
            Err(EngineError::PortInUse { addr }) if addr.ip() == broadcast => {}
            Err(error) => return Err(error),
        }
    }
    Ok((takt_packet::open(kind, &config)?, ports, false))
}
