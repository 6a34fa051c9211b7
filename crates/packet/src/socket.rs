//! Engine `socket`: one system call a datagram, as UHD's own transport does.

use rustix::io::Errno;
use rustix::net::{RecvFlags, recv};

use crate::TxEntry;
use crate::port::Port;
use crate::shared::Sends;
use crate::sockets::Calls;
use crate::sys::control::Ancillary;
use crate::sys::message::{Received, Wants, recv_one};

/// `recvmsg` and `sendto`.
pub(crate) struct OneByOne {
    /// Bytes of a frame.
    pub(crate) frame_bytes: usize,
}

impl Calls for OneByOne {
    fn stride(&self) -> usize {
        self.frame_bytes
    }

    fn recv(
        &mut self,
        port: &Port,
        row: &mut [u8],
        calls: &mut u64,
        each: &mut dyn FnMut(Received),
    ) -> Result<bool, Errno> {
        for frame in row.chunks_exact_mut(self.frame_bytes) {
            *calls += 1;
            let wants = port.wants(false);
            let got =
                if wants == Wants::NOTHING { recv_alone(port, frame) } else { recv_one(port.fd(), frame, wants, 0) };
            match got {
                Ok(got) => each(got),
                Err(Errno::AGAIN) => return Ok(true),
                Err(errno) => return Err(errno),
            }
        }
        Ok(false)
    }

    fn aggregates(&self) -> (bool, bool) {
        (false, false)
    }
}

/// One datagram and nothing beside it: `recv`, for which the kernel reads and writes no header. That is a fifth of a receive
/// of 1472 bytes.
fn recv_alone(port: &Port, frame: &mut [u8]) -> Result<Received, Errno> {
    let room = frame.len();
    let (_, len) = recv(port, frame, RecvFlags::DONTWAIT | RecvFlags::TRUNC)?;
    Ok(Received { len: len.min(room), from: None, ancillary: Ancillary::default(), cut: len > room })
}

impl Sends for OneByOne {
    fn send(&mut self, port: &Port, arena: &[u8], entries: &[TxEntry], calls: &mut u64) -> Result<usize, Errno> {
        let Some(entry) = entries.first() else { return Ok(0) };
        let bytes = arena.get(entry.offset..entry.offset.saturating_add(entry.len)).unwrap_or(&[]);
        *calls += 1;
        match port.send(bytes, entry.to) {
            Ok(_) => Ok(1),
            Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::INVAL)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{SocketAddr, UdpSocket};

    use takt_base::{Clock, WallClock};
    use takt_testing::HANG;

    use crate::{Config, EngineKind, PortIndex, PortSpec, Wait, open};

    /// A connected port without stamps requests nothing beside a datagram.
    #[test]
    fn a_datagram_alone_is_whole_cut_or_empty() {
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        let bind = SocketAddr::from(([127, 0, 0, 1], 0));
        let ports = vec![PortSpec { bind, peer: sender.local_addr().ok() }];
        let config = Config { stamps: false, max_payload_bytes: 8, batch: 4, ..Config::new(ports) };
        let mut engine = open(EngineKind::Socket, &config).unwrap();
        sender.connect(engine.local(PortIndex(0)).unwrap()).unwrap();
        for bytes in [&b"takt?"[..], b"", b"too long", b"too long!"] {
            assert_eq!(sender.send(bytes).unwrap(), bytes.len());
        }
        let got = engine.recv(Wait::Until(WallClock.now() + HANG)).unwrap();
        let got: Vec<_> = got.iter().map(|datagram| (datagram.bytes, datagram.truncated, datagram.source)).collect();
        let from = sender.local_addr().unwrap();
        assert_eq!(
            got,
            [(&b"takt?"[..], false, from), (b"", false, from), (b"too long", false, from), (b"too long", true, from)]
        );
        assert!(engine.recv(Wait::Poll).unwrap().is_empty());
        assert_eq!(engine.counters().truncated_datagrams, 1);
    }
}
