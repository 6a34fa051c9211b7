//! Which kernel thread works off what an interface receives: the kernel answers through generic netlink (family `netdev`,
//! linux/netdev.h), since threads of one name may be many.

use std::io;
use std::os::fd::OwnedFd;

use rustix::net::RecvFlags;
use rustix::net::netlink::GENERIC;
use takt_host::receive::{Offload, set_offload, set_threaded};

use super::raw::{self, ERROR, REQUEST, attribute, first, message, refused};
use super::{Namespace, PathError};

// linux/netlink.h, genetlink.h, netdev.h
const DUMP: u16 = 0x300;
const DONE: u16 = 3;
const CONTROL: u16 = 0x10;
const GET_FAMILY: u8 = 3;
const FAMILY_ID: u16 = 1;
const FAMILY_NAME: u16 = 2;
const NAPI_GET: u8 = 11;
const NAPI_INTERFACE: u16 = 1;
const NAPI_THREAD: u16 = 4;
/// Header of generic netlink.
const HEADER_BYTES: usize = 4;

impl Namespace {
    pub(super) fn offload(&self, interface: &str, offload: Offload, on: bool) -> Result<(), PathError> {
        let what = || format!("{offload:?} {} on {interface}", if on { "on" } else { "off" });
        self.inside(|| set_offload(interface, offload, on))?
            .map_err(|source| PathError::Netlink { what: what(), source })
    }

    /// Gives an interface of a virtual pair, which must be up, a queue and a kernel thread that works it off; the thread's
    /// number. The sender must hand over single frames ([`Offload::Segment`] off).
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

/// Thread of an interface with one queue, in the calling thread's network namespace.
fn thread_of(interface: &str) -> io::Result<u32> {
    let socket = raw::socket(Some(GENERIC))?;
    let index = rustix::net::netdevice::name_to_index(&socket, interface)?;
    let mut family = None;
    let named = attribute(FAMILY_NAME, b"netdev\0");
    ask(&socket, &message(CONTROL, REQUEST, 0, [GET_FAMILY, 1, 0, 0], &named), &mut |answer| {
        family = family.or(word(answer, FAMILY_ID).map(|id| id as u16));
        true
    })?;
    let family = family.ok_or(io::ErrorKind::Unsupported)?;
    let mut thread = None;
    let of = attribute(NAPI_INTERFACE, &index.to_ne_bytes());
    ask(&socket, &message(family, REQUEST | DUMP, 0, [NAPI_GET, 1, 0, 0], &of), &mut |answer| {
        thread = thread.or(word(answer, NAPI_THREAD));
        false
    })?;
    thread.ok_or_else(|| io::ErrorKind::Unsupported.into())
}

/// Sends a request and hands out the attributes of each answer, until there are no more or `enough` says so.
fn ask(socket: &OwnedFd, request: &[u8], enough: &mut dyn FnMut(&[u8]) -> bool) -> io::Result<()> {
    raw::send(socket, request)?;
    let mut buffer = vec![0; 32 * 1024];
    loop {
        let (got, _) = rustix::net::recv(socket, &mut buffer, RecvFlags::empty())?;
        let mut rest = buffer.get(..got).unwrap_or_default();
        while let Some((kind, body, after)) = first(rest) {
            rest = after;
            match kind {
                DONE => return Ok(()),
                ERROR => return refused(body),
                _ if enough(body.get(HEADER_BYTES..).unwrap_or_default()) => return Ok(()),
                _ => {}
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attribute_is_found_behind_others_and_a_message_behind_another() {
        let attributes = [attribute(9, b"abc"), attribute(NAPI_THREAD, &77_u32.to_ne_bytes())].concat();
        assert_eq!(word(&attributes, NAPI_THREAD), Some(77));
        assert_eq!(word(&attributes, 5), None);
        assert_eq!(word(&attributes[..6], 5), None);
        let two =
            [message(0x20, REQUEST, 0, [NAPI_GET, 1, 0, 0], &attributes), message(DONE, 0, 0, [0; 4], &[])].concat();
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
