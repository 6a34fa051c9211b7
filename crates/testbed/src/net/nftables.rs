//! Address translation, through nf_tables' own netlink messages: table, chain and one rule, in one transaction.
//!
//! What `nft` would be told: `add table ip takt; add chain ip takt out { type nat hook postrouting priority 100; };
//! add rule ip takt out oifname "wan0" masquerade`.

use std::io;

use rustix::net::netlink::{NETFILTER, SocketAddrNetlink};
use rustix::net::{RecvFlags, SendFlags, SocketFlags, SocketType};

use super::PathError;

const TABLE: &str = "takt";
const CHAIN: &str = "out";

// linux/netfilter/nfnetlink.h, nf_tables.h, netfilter.h
const SUBSYSTEM: u16 = 10;
const BATCH_BEGIN: u16 = 0x10;
const BATCH_END: u16 = 0x11;
const NEW_TABLE: u16 = SUBSYSTEM << 8;
const NEW_CHAIN: u16 = SUBSYSTEM << 8 | 3;
const NEW_RULE: u16 = SUBSYSTEM << 8 | 6;
const NF_IPV4: u8 = 2;
const POST_ROUTING: u32 = 4;
const SOURCE_NAT_PRIORITY: u32 = 100;
const META_OUT_NAME: u32 = 7;
const REGISTER_1: u32 = 1;
const EQUAL: u32 = 0;
const NAME_BYTES: usize = 16;

const REQUEST: u16 = 1;
const ACKNOWLEDGE: u16 = 4;
const CREATE: u16 = 0x400;
const APPEND: u16 = 0x800;
const NESTED: u16 = 0x8000;
const ERROR: u16 = 2;

/// Hides, in the calling thread's network namespace, what leaves by `out` behind that interface's address.
pub(super) fn masquerade(out: &str) -> Result<(), PathError> {
    let socket = rustix::net::socket_with(
        rustix::net::AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        Some(NETFILTER),
    )
    .map_err(|errno| failed(errno.into()))?;
    let bytes = transaction(out);
    rustix::net::sendto(&socket, &bytes, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))
        .map_err(|errno| failed(errno.into()))?;
    // The kernel has worked it off, and answered each of the three requests, when the call above returns.
    let mut buffer = vec![0; 8192];
    for _ in 0..REQUESTS {
        let (got, _) = rustix::net::recv(&socket, &mut buffer, RecvFlags::DONTWAIT).map_err(|e| failed(e.into()))?;
        let code = error_code(buffer.get(..got).unwrap_or_default());
        match code {
            Some(0) => {}
            Some(code) => return Err(failed(io::Error::from_raw_os_error(-code))),
            None => return Err(failed(io::Error::other("an answer that is no acknowledgement"))),
        }
    }
    Ok(())
}

const REQUESTS: usize = 3;

fn failed(source: io::Error) -> PathError {
    match source.kind() {
        io::ErrorKind::PermissionDenied => PathError::NotPermitted,
        _ => PathError::Missing {
            what: "address translation",
            needs: "the kernel options NF_TABLES, NF_TABLES_IPV4, NFT_NAT and NFT_MASQ (modules nf_tables, nft_masq)",
            source,
        },
    }
}

/// Of an acknowledgement: header, then the code.
fn error_code(bytes: &[u8]) -> Option<i32> {
    let kind = u16::from_ne_bytes(*bytes.get(4..)?.first_chunk()?);
    (kind == ERROR).then_some(i32::from_ne_bytes(*bytes.get(16..)?.first_chunk()?))
}

fn transaction(out: &str) -> Vec<u8> {
    let hook = [number(1, POST_ROUTING), number(2, SOURCE_NAT_PRIORITY)].concat();
    let mut name = out.as_bytes().to_vec();
    name.resize(NAME_BYTES, 0);
    let expressions = [
        expression("meta", &[number(1, REGISTER_1), number(2, META_OUT_NAME)].concat()),
        expression("cmp", &[number(1, REGISTER_1), number(2, EQUAL), nested(3, &attribute(1, &name))].concat()),
        expression("masq", &[]),
    ]
    .concat();
    let chain = [text(1, TABLE), text(3, CHAIN), nested(4, &hook), text(7, "nat")].concat();
    let rule = [text(1, TABLE), text(2, CHAIN), nested(4, &expressions)].concat();
    let subsystem = SUBSYSTEM.to_be_bytes();
    [
        message(BATCH_BEGIN, REQUEST, 0, [0, 0, subsystem[0], subsystem[1]], &[]),
        message(NEW_TABLE, REQUEST | ACKNOWLEDGE | CREATE, 1, [NF_IPV4, 0, 0, 0], &text(1, TABLE)),
        message(NEW_CHAIN, REQUEST | ACKNOWLEDGE | CREATE, 2, [NF_IPV4, 0, 0, 0], &chain),
        message(NEW_RULE, REQUEST | ACKNOWLEDGE | CREATE | APPEND, 3, [NF_IPV4, 0, 0, 0], &rule),
        message(BATCH_END, REQUEST, 4, [0, 0, subsystem[0], subsystem[1]], &[]),
    ]
    .concat()
}

/// An element of a rule's list.
fn expression(name: &str, data: &[u8]) -> Vec<u8> {
    let data = if data.is_empty() { Vec::new() } else { nested(2, data) };
    nested(1, &[text(1, name), data].concat())
}

fn message(kind: u16, flags: u16, sequence: u32, family: [u8; 4], body: &[u8]) -> Vec<u8> {
    let len = u32::try_from(16 + 4 + body.len()).unwrap_or(u32::MAX);
    let mut bytes = len.to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend(sequence.to_ne_bytes());
    bytes.extend([0; 4]);
    bytes.extend(family);
    bytes.extend(body);
    bytes
}

/// Attributes begin at multiples of four.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let len = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
    let mut bytes = [len.to_ne_bytes(), kind.to_ne_bytes()].concat();
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn nested(kind: u16, value: &[u8]) -> Vec<u8> {
    attribute(kind | NESTED, value)
}

fn number(kind: u16, value: u32) -> Vec<u8> {
    attribute(kind, &value.to_be_bytes())
}

fn text(kind: u16, value: &str) -> Vec<u8> {
    attribute(kind, &[value.as_bytes(), &[0]].concat())
}
