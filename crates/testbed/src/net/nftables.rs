//! Address translation, through nf_tables' own netlink messages: table, chain and one rule, in one transaction.
//!
//! As commands of nft(8): `add table ip takt; add chain ip takt out { type nat hook postrouting priority 100; };
//! add rule ip takt out oifname "wan0" masquerade`.

use std::io;

use rustix::net::RecvFlags;
use rustix::net::netlink::NETFILTER;

use super::PathError;
use super::raw::{self, ERROR, REQUEST, attribute, message};

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

const ACKNOWLEDGE: u16 = 4;
const CREATE: u16 = 0x400;
const APPEND: u16 = 0x800;
const NESTED: u16 = 0x8000;

/// Hides, in the calling thread's network namespace, what leaves by `out` behind that interface's address.
pub(super) fn masquerade(out: &str) -> Result<(), PathError> {
    commit(&transaction(out)).map_err(|source| match source.kind() {
        io::ErrorKind::PermissionDenied => PathError::NotPermitted,
        _ => PathError::Missing {
            what: "address translation",
            needs: "the kernel options NF_TABLES, NF_TABLES_IPV4, NFT_NAT and NFT_MASQ (modules nf_tables, nft_masq)",
            source,
        },
    })
}

const REQUESTS: usize = 3;

fn commit(requests: &[u8]) -> io::Result<()> {
    let socket = raw::socket(Some(NETFILTER))?;
    raw::send(&socket, requests)?;
    // The kernel has worked them off, and answered each of the three requests, when the call above returns.
    let mut buffer = vec![0; 8192];
    for _ in 0..REQUESTS {
        let (got, _) = rustix::net::recv(&socket, &mut buffer, RecvFlags::DONTWAIT)?;
        match raw::first(buffer.get(..got).unwrap_or_default()) {
            Some((ERROR, body, _)) => raw::refused(body)?,
            _ => return Err(io::Error::other("an answer that is no acknowledgement")),
        }
    }
    Ok(())
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

fn expression(name: &str, data: &[u8]) -> Vec<u8> {
    let data = if data.is_empty() { Vec::new() } else { nested(2, data) };
    nested(1, &[text(1, name), data].concat())
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
