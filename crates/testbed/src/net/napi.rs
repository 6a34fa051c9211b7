//! Which kernel thread works off what an interface receives: asked of the kernel through generic netlink (family `netdev`,
//! linux/netdev.h), since threads of one name may be many.

use std::io;
use std::os::fd::OwnedFd;

use rustix::net::netlink::{GENERIC, SocketAddrNetlink};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use takt_host::receive::{Offload, set_offload, set_threaded};

use super::{Namespace, PathError};

// linux/netlink.h, genetlink.h, netdev.h
const REQUEST: u16 = 1;
const DUMP: u16 = 0x300;
const ERROR: u16 = 2;
const DONE: u16 = 3;
const CONTROL: u16 = 0x10;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
const NAPI_GET: u8 = 11;
const NAPI_INTERFACE: u16 = 1;
const NAPI_THREAD: u16 = 4;
/// Header of netlink, then of generic netlink.
const HEADERS_BYTES: usize = 16 + 4;

impl Namespace {
    /// Turns an offload of an interface on or off.
    ///
    /// # Errors
    /// No permission.
    pub(super) fn offload(&self, interface: &str, offload: Offload, on: bool) -> Result<(), PathError> {
        let what = || format!("{offload:?} {} on {interface}", if on { "on" } else { "off" });
        self.inside(|| set_offload(interface, offload, on))?
            .map_err(|source| PathError::Netlink { what: what(), source })
    }

    /// Gives an interface of a virtual pair, which must be up, a queue and a kernel thread that works it off; the thread's
    /// number. Whoever sends to it must hand over single frames ([`Offload::Segment`] off).
    ///
    /// # Errors
    /// This kernel has no such threads, or does not say which it is; no permission.
    pub(super) fn give_thread(&self, interface: &str) -> Result<u32, PathError> {
        let found = self.inside(|| {
            set_offload(interface, Offload::Join, true)?;
            set_threaded(interface)?;
            thread_of(interface)
        })?;
        found.map_err(|source| match source.kind() {
            io::ErrorKind::PermissionDenied => PathError::NotPermitted,
            _ => PathError::Missing {
                what: "a kernel thread for what an interface receives",
                needs: "Linux 6.8, and a pair whose frames it may queue",
                source,
            },
        })
    }
}

/// Of an interface with one queue, in the calling thread's network namespace.
fn thread_of(interface: &str) -> io::Result<u32> {
    let socket =
        rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, Some(GENERIC))?;
    let index = rustix::net::netdevice::name_to_index(&socket, interface)?;
    let mut family = None;
    let named = attribute(FAMILY_NAME, b"netdev\0");
    ask(&socket, &message(CONTROL, REQUEST, GET_FAMILY, &named), &mut |answer| {
        family = family.or(word(answer, FAMILY_ID).map(|id| id as u16));
        true
    })?;
    let family = family.ok_or(io::ErrorKind::Unsupported)?;
    let mut thread = None;
    let of = attribute(NAPI_INTERFACE, &index.to_ne_bytes());
    ask(&socket, &message(family, REQUEST | DUMP, NAPI_GET, &of), &mut |answer| {
        thread = thread.or(word(answer, NAPI_THREAD));
        false
    })?;
    thread.ok_or_else(|| io::ErrorKind::Unsupported.into())
}

/// Sends a request and hands out the attributes of each answer, until there are no more or `enough` says so.
fn ask(socket: &OwnedFd, request: &[u8], enough: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<()> {
    rustix::net::sendto(socket, request, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut buffer = vec![0; 32 * 1024];
    loop {
        let (got, _) = rustix::net::recv(socket, &mut buffer, RecvFlags::empty())?;
        let mut rest = buffer.get(..got).unwrap_or_default();
        while let Some((kind, body, after)) = first(rest) {
            rest = after;
            match kind {
                DONE => return Ok(()),
                ERROR => return refused(body),
                _ if enough(body.get(HEADERS_BYTES - 16..).unwrap_or_default()) => return Ok(()),
                _ => {}
            }
        }
    }
}

/// The kind and body of the first message, and what follows it.
fn first(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let length = u32::from_ne_bytes(*bytes.first_chunk()?) as usize;
    let kind = u16::from_ne_bytes(*bytes.get(4..)?.first_chunk()?);
    let body = bytes.get(16..length)?;
    Some((kind, body, bytes.get(length.next_multiple_of(4)..).unwrap_or_default()))
}

/// An error message: a negative number, 0 for none.
fn refused(body: &[u8]) -> io::Result<()> {
    match body.first_chunk().map(|code| i32::from_ne_bytes(*code)) {
        Some(0) => Ok(()),
        Some(code) => Err(io::Error::from_raw_os_error(-code)),
        None => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// The value of an attribute of two or four bytes.
fn word(mut attributes: &[u8], wanted: u16) -> Option<u32> {
    loop {
        let length = usize::from(u16::from_ne_bytes(*attributes.first_chunk()?));
        let kind = u16::from_ne_bytes(*attributes.get(2..)?.first_chunk()?);
        if kind == wanted {
            return match *attributes.get(4..length)? {
                [a, b] => Some(u16::from_ne_bytes([a, b]).into()),
                [a, b, c, d] => Some(u32::from_ne_bytes([a, b, c, d])),
                _ => None,
            };
        }
        attributes = attributes.get(length.max(4).next_multiple_of(4)..)?;
    }
}

fn message(kind: u16, flags: u16, command: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(HEADERS_BYTES + body.len()).unwrap_or(u32::MAX);
    let mut bytes = length.to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend([command, 1, 0, 0]);
    bytes.extend(body);
    bytes
}

fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
    let mut bytes = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attribute_is_found_behind_others_and_a_message_behind_another() {
        let attributes = [attribute(9, b"abc"), attribute(NAPI_THREAD, &77_u32.to_ne_bytes())].concat();
        assert_eq!(word(&attributes, NAPI_THREAD), Some(77));
        assert_eq!(word(&attributes, 5), None);
        assert_eq!(word(&attributes[..6], 5), None);
        let two = [message(0x20, REQUEST, NAPI_GET, &attributes), message(DONE, 0, 0, &[])].concat();
        let (kind, body, rest) = first(&two).unwrap();
        assert_eq!((kind, word(&body[4..], NAPI_THREAD)), (0x20, Some(77)));
        assert_eq!(first(rest).map(|(kind, ..)| kind), Some(DONE));
    }

    #[test]
    fn an_answer_that_is_an_error_is_one() {
        assert!(refused(&0_i32.to_ne_bytes()).is_ok());
        assert_eq!(refused(&(-95_i32).to_ne_bytes()).unwrap_err().raw_os_error(), Some(95));
    }
}
