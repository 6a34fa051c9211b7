//! From a configuration to an engine.

use crate::auto::open_auto;
use crate::mmsg::Batches;
use crate::polling::Polling;
use crate::port::ports;
use crate::shared::MAX_PORTS;
use crate::socket::OneByOne;
use crate::sockets::Sockets;
use crate::uring::Uring;
use crate::xdp;
use crate::{Config, Engine, EngineError, EngineKind};

/// Opens an engine. [`Engine::limits`] has what the kernel granted. Takes some milliseconds where a port is connected;
/// what its peer sends before this returns is lost. If stamps are requested, waits until the kernel makes them, some 50
/// ms at most.
///
/// # Errors
/// A port is taken, not an address of this host or not permitted; the engine needs something that this host does not have
/// ([`crate::Missing`]); or the configuration is out of range: 1 to 16 ports,
/// batches of 1 to 1024, payloads of 1 to 65 507 bytes, buffers below 1 GiB.
///
/// ```
/// use takt_packet::{Config, EngineKind, PortIndex, PortSpec, Wait, open};
/// let bind = "127.0.0.1:0".parse().unwrap();
/// let mut a = open(EngineKind::Socket, &Config::new(vec![PortSpec { bind, peer: None }]))?;
/// let mut b = open(EngineKind::Mmsg, &Config::new(vec![PortSpec { bind, peer: a.local(PortIndex(0)) }]))?;
/// let mut batch = b.reserve(1);
/// batch.push(PortIndex(0), None, |frame| {
///     frame[..5].copy_from_slice(b"takt?");
///     5
/// });
/// assert_eq!(batch.send(Wait::Poll)?, 1);
/// let batch = a.recv(Wait::Until(takt_base::MonoNs::NEVER))?;
/// let datagram = batch.iter().next().unwrap();
/// assert_eq!(datagram.bytes, b"takt?");
/// # Ok::<(), takt_packet::EngineError>(())
/// ```
pub fn open(kind: EngineKind, config: &Config) -> Result<Box<dyn Engine>, EngineError> {
    check(config)?;
    let engine: Box<dyn Engine> = match kind {
        // The one that it chooses polls, if that is wanted.
        EngineKind::Auto => return open_auto(config, open),
        EngineKind::Socket => {
            Box::new(Sockets::engine(ports(config)?, OneByOne { frame_bytes: config.max_payload_bytes }, config))
        }
        EngineKind::Mmsg => {
            let ports = ports(config)?;
            let calls = Batches::new(&ports, config);
            Box::new(Sockets::engine(ports, calls, config))
        }
        EngineKind::Uring => Box::new(Uring::new(ports(config)?, config)?),
        EngineKind::Xdp(queues) | EngineKind::XdpGeneric(queues) => xdp::open(kind, queues, config)?,
        #[cfg(feature = "dpdk")]
        EngineKind::Dpdk(device) => Box::new(crate::dpdk::open(device, config)?),
        #[cfg(not(feature = "dpdk"))]
        EngineKind::Dpdk(_) => return Err(EngineError::Missing { engine: kind, missing: crate::Missing::Dpdk }),
    };
    Ok(if config.busy_poll { Box::new(Polling::new(engine)) } else { engine })
}

fn check(config: &Config) -> Result<(), EngineError> {
    let buffer = 0..=(1 << 30);
    for (what, got, range, want) in [
        ("number of ports", config.ports.len(), 1..=MAX_PORTS, "1 to 16"),
        ("batch", config.batch, 1..=1024, "1 to 1024 datagrams"),
        ("max_payload_bytes", config.max_payload_bytes, 1..=65_507, "1 to 65507 bytes"),
        ("recv_buffer_bytes", config.recv_buffer_bytes, buffer.clone(), "at most 1073741824 bytes"),
        ("send_buffer_bytes", config.send_buffer_bytes, buffer, "at most 1073741824 bytes"),
    ] {
        if !range.contains(&got) {
            return Err(EngineError::Config { what, got: got as u64, want });
        }
    }
    Ok(())
}
