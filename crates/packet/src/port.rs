//! One local UDP port, opened as an engine wants it.

use std::cell::Cell;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::net::sockopt;

use crate::stamp::await_stamps;
use crate::sys::message::{Wants, recv_one};
use crate::sys::option;
use crate::{Config, EngineError, PortSpec};

/// A port and what the kernel granted for it.
#[derive(Debug)]
pub(crate) struct Port {
    socket: UdpSocket,
    pub(crate) local: SocketAddr,
    /// Whom it is connected to.
    pub(crate) peer: Option<SocketAddr>,
    pub(crate) recv_buffer_bytes: usize,
    pub(crate) send_buffer_bytes: usize,
    pub(crate) stamps: bool,
    /// The kernel's 32-bit drop counter when last read, and all drops so far.
    drops: Cell<(u32, u64)>,
}

impl Port {
    pub(crate) fn open(spec: &PortSpec, config: &Config) -> Result<Port, EngineError> {
        let socket = UdpSocket::bind(spec.bind).map_err(|e| EngineError::of("bind", spec.bind, e))?;
        let local = socket.local_addr().map_err(|e| EngineError::of("getsockname", spec.bind, e))?;
        let of = |call| move |source: rustix::io::Errno| EngineError::of(call, local, source.into());
        socket.set_nonblocking(true).map_err(|e| EngineError::of("fcntl", local, e))?;
        socket.set_broadcast(true).map_err(|e| EngineError::of("setsockopt SO_BROADCAST", local, e))?;
        let (level, name) =
            if local.is_ipv4() { (libc::SOL_IP, libc::IP_RECVERR) } else { (libc::SOL_IPV6, libc::IPV6_RECVERR) };
        option::set(socket.as_fd(), level, name, 1).map_err(of("setsockopt IP_RECVERR"))?;
        let stamps =
            config.stamps && option::set(socket.as_fd(), libc::SOL_SOCKET, option::SO_TIMESTAMPNS_NEW, 1).is_ok();
        let force = config.force_buffers;
        let recv_buffer_bytes =
            grant_recv(&socket, config.recv_buffer_bytes, force).map_err(of("setsockopt SO_RCVBUF"))?;
        let send_buffer_bytes =
            grant_send(&socket, config.send_buffer_bytes, force).map_err(of("setsockopt SO_SNDBUF"))?;
        if let Some(peer) = spec.peer {
            socket.connect(peer).map_err(|e| EngineError::of("connect", local, e))?;
        }
        let local = socket.local_addr().map_err(|e| EngineError::of("getsockname", local, e))?;
        let drops = Cell::new((option::drops(socket.as_fd()).unwrap_or(0), 0));
        Ok(Port { socket, local, peer: spec.peer, recv_buffer_bytes, send_buffer_bytes, stamps, drops })
    }

    /// Throws away what is there.
    pub(crate) fn drain(&self) {
        for _ in 0..100_000 {
            if recv_one(self.fd(), &mut [0; 1], Wants::ALL, 0).is_err() {
                return;
            }
        }
    }

    /// The socket, to wait for or to call on.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Parts that a receive must ask the kernel for. A connected port knows its peer, one without stamps has no control
    /// messages unless receives are `joined`.
    pub(crate) fn wants(&self, joined: bool) -> Wants {
        Wants { source: self.peer.is_none(), ancillary: self.stamps || joined }
    }

    /// Sends one datagram; never waits.
    pub(crate) fn send(&self, bytes: &[u8], to: Option<SocketAddr>) -> io::Result<usize> {
        match to {
            Some(to) => self.socket.send_to(bytes, to),
            None => self.socket.send(bytes),
        }
    }

    /// Datagrams the kernel dropped at this port since opening; `None` if it will not say. Its counter wraps at 2^32:
    /// to be exact this must be read more often.
    pub(crate) fn drops(&self) -> Option<u64> {
        let now = option::drops(self.fd())?;
        let (last, sum) = self.drops.get();
        let sum = sum + u64::from(now.wrapping_sub(last));
        self.drops.set((now, sum));
        Some(sum)
    }
}

/// Asks for a buffer and says what was granted: at most `net.core.rmem_max`, or, with `force`, what privilege gives. The
/// kernel doubles what is requested, to pay for its bookkeeping; that is taken off again.
fn grant_recv(socket: &UdpSocket, bytes: usize, force: bool) -> Result<usize, rustix::io::Errno> {
    sockopt::set_socket_recv_buffer_size(socket, bytes)?;
    if force && sockopt::socket_recv_buffer_size(socket)? / 2 < bytes {
        let _no_privilege = sockopt::set_socket_recv_buffer_size_force(socket, bytes);
    }
    Ok(sockopt::socket_recv_buffer_size(socket)? / 2)
}

/// The same for sending (`net.core.wmem_max`).
fn grant_send(socket: &UdpSocket, bytes: usize, force: bool) -> Result<usize, rustix::io::Errno> {
    sockopt::set_socket_send_buffer_size(socket, bytes)?;
    if force && sockopt::socket_send_buffer_size(socket)? / 2 < bytes {
        let _no_privilege = sockopt::set_socket_send_buffer_size_force(socket, bytes);
    }
    Ok(sockopt::socket_send_buffer_size(socket)? / 2)
}

/// Kernel sockets through which datagrams pass.
pub(crate) fn ports(config: &Config) -> Result<Vec<Port>, EngineError> {
    let ports = config.ports.iter().map(|spec| Port::open(spec, config)).collect::<Result<Vec<_>, _>>()?;
    if ports.iter().any(|port| port.stamps) {
        await_stamps();
    }
    forget_strangers(&ports);
    Ok(ports)
}

/// Between `bind` and `connect` anybody can send to a port; what came then is not the peer's, and must not be taken for
/// it. The kernel may have found the port for such a packet and not queued it yet, so those under way are waited for.
fn forget_strangers(ports: &[Port]) {
    if ports.iter().any(|port| port.peer.is_some()) {
        option::wait_for_packets_under_way();
    }
    ports.iter().filter(|port| port.peer.is_some()).for_each(Port::drain);
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd()
    }
}
