//! Netlink messages (netlink(7)) byte by byte, for families that the netlink crates do not know.

use std::io;
use std::os::fd::OwnedFd;

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, Protocol, SendFlags, SocketFlags, SocketType};

// linux/netlink.h
pub(super) const REQUEST: u16 = 1;
pub(super) const ERROR: u16 = 2;
/// Header of netlink, then of the family.
const HEADERS_BYTES: usize = 16 + 4;

pub(super) fn socket(protocol: Option<Protocol>) -> io::Result<OwnedFd> {
    Ok(rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, protocol)?)
}

pub(super) fn send(socket: &OwnedFd, bytes: &[u8]) -> io::Result<()> {
    rustix::net::sendto(socket, bytes, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    Ok(())
}

/// `family`: the header of the family, before the attributes.
pub(super) fn message(kind: u16, flags: u16, sequence: u32, family: [u8; 4], attributes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(HEADERS_BYTES + attributes.len()).unwrap_or(u32::MAX);
    let mut bytes = length.to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend(sequence.to_ne_bytes());
    bytes.extend([0; 4]);
    bytes.extend(family);
    bytes.extend(attributes);
    bytes
}

/// Length, kind, value; the next attribute begins at a multiple of four.
pub(super) fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
    let mut bytes = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// The kind and body of the first message, and what follows it.
pub(super) fn first(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = u32::from_ne_bytes(*bytes.first_chunk()?) as usize;
    let kind = u16::from_ne_bytes(*bytes.get(4..)?.first_chunk()?);
    let body = bytes.get(16..length)?;
    Some((kind, body, bytes.get(length.next_multiple_of(4)..).unwrap_or_default()))
}

/// The body of an error message: a negative number, 0 for none.
pub(super) fn refused(body: &[u8]) -> io::Result<()> {
    match body.first_chunk().map(|code| i32::from_ne_bytes(*code)) {
        Some(0) => Ok(()),
        Some(code) => Err(io::Error::from_raw_os_error(-code)),
        None => Err(io::ErrorKind::InvalidData.into()),
    }
}
