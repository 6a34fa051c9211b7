//! A blocking `NETLINK_ROUTE` socket (rtnetlink(7)); the requests are in the files beside this one.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::RouteNetlinkMessage;
use rustix::net::RecvFlags;
use takt_host::namespace::enter_network;

use super::namespace::on_own_thread;
use super::{PathError, raw};

/// A routing socket of the namespace in which it was opened, whichever thread uses it later. A request fails with what the
/// kernel answered, for example that a name is taken or not there.
#[derive(Debug)]
pub struct Rtnetlink {
    pub(super) socket: OwnedFd,
    sequence: u32,
}

impl Rtnetlink {
    /// Opens one in the calling thread's network namespace.
    pub fn open() -> Result<Rtnetlink, PathError> {
        // None is protocol 0, NETLINK_ROUTE.
        let socket = raw::socket(None).map_err(|source| PathError::Netlink { what: "socket".into(), source })?;
        Ok(Rtnetlink { socket, sequence: 0 })
    }

    /// Opens one in the network namespace that a file stands for: `/proc/PID/ns/net`.
    pub fn of(network: &Path) -> Result<Rtnetlink, PathError> {
        let entered = on_own_thread(|| enter_network(network).map(|()| Rtnetlink::open()));
        entered.map_err(|source| PathError::Namespace { name: network.display().to_string(), source })?
    }

    pub(super) fn index(&self, name: &str) -> Result<u32, PathError> {
        rustix::net::netdevice::name_to_index(&self.socket, name)
            .map_err(|errno| PathError::Netlink { what: format!("interface {name}"), source: errno.into() })
    }

    pub(super) fn create(&mut self, what: &str, message: RouteNetlinkMessage) -> Result<(), PathError> {
        self.request(what, message, NLM_F_CREATE | NLM_F_EXCL)
    }

    pub(super) fn request(&mut self, what: &str, message: RouteNetlinkMessage, flags: u16) -> Result<(), PathError> {
        let done = self.send(message, NLM_F_ACK | flags).and_then(|()| self.acknowledged());
        done.map_err(|source| match source.kind() {
            io::ErrorKind::PermissionDenied => PathError::NotPermitted,
            _ => PathError::Netlink { what: what.into(), source },
        })
    }

    pub(super) fn send(&mut self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.sequence += 1;
        let mut header = NetlinkHeader::default();
        header.flags = NLM_F_REQUEST | flags;
        header.sequence_number = self.sequence;
        let mut request = NetlinkMessage::new(header, NetlinkPayload::from(message));
        request.finalize();
        let mut bytes = vec![0; request.buffer_len()];
        request.serialize(&mut bytes);
        raw::send(&self.socket, &bytes)
    }

    /// The kernel answers a request with an error message, code 0 for success (netlink(7)).
    fn acknowledged(&self) -> io::Result<()> {
        let mut buffer = vec![0; 8192];
        loop {
            let (got, _) = rustix::net::recv(&self.socket, &mut buffer, RecvFlags::empty())?;
            let bytes = buffer.get(..got).unwrap_or_default();
            let reply = NetlinkMessage::<RouteNetlinkMessage>::deserialize(bytes).map_err(io::Error::other)?;
            if reply.header.sequence_number != self.sequence {
                continue; // the answer to a request this socket gave up on
            }
            return match reply.payload {
                NetlinkPayload::Error(error) => match error.code {
                    None => Ok(()),
                    Some(code) => Err(io::Error::from_raw_os_error(-code.get())),
                },
                other => Err(io::Error::other(format!("unexpected answer {other:?}"))),
            };
        }
    }
}
