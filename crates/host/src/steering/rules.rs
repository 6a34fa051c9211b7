//! Rules of a card (`ethtool -N`): datagrams to a UDP port over IPv4 go to a queue. They are no business of anybody else's.
//!
//! A row is `struct ethtool_rxnfc` of linux/ethtool.h, in words.

use std::io;

use rustix::io::Errno;

use super::driver::Driver;
use crate::ethtool::{Command, RULE_WORDS, RULES};

/// `fs.flow_type`, and `UDP_V4_FLOW`.
const FLOW: (usize, u32) = (4, 0x02);
/// `fs.h_u.udp_ip4_spec` and `fs.m_u.udp_ip4_spec`, source and destination port.
const PORTS: usize = 7;
const PORTS_MASK: usize = 25;
/// `fs.ring_cookie`, 64 bits.
const QUEUE: usize = 42;
/// `fs.location`.
const LOCATION: usize = 44;
/// `data`, 64 bits: of a count and of a list how many rules there could be.
const DATA: usize = 2;
/// In that, of a count: the driver chooses the place (`RX_CLS_LOC_SPECIAL`), where that is requested (`RX_CLS_LOC_ANY`).
const CHOOSES: u64 = 0x8000_0000;
const ANY: u32 = 0xffff_ffff;
/// More rules than any card has.
const MOST: u64 = 1 << 16;

type Row = [u32; RULE_WORDS];

/// The rule, at a place.
fn rule(port: u16, queue: u32, location: u32) -> Row {
    let [high, low] = port.to_be_bytes();
    let mut row = [0; RULE_WORDS];
    row[FLOW.0] = FLOW.1;
    row[PORTS] = u32::from_ne_bytes([0, 0, high, low]);
    row[PORTS_MASK] = u32::from_ne_bytes([0, 0, 0xff, 0xff]);
    put(&mut row, QUEUE, queue.into());
    row[LOCATION] = location;
    row
}

/// Makes it, at the last place that is free or one that the driver chooses; the place.
pub(super) fn insert(driver: &dyn Driver, port: u16, queue: u32) -> io::Result<u32> {
    let mut count = [0; RULE_WORDS];
    driver.ask(Command::CountRules, &mut count)?;
    let location = if get(&count, DATA) & CHOOSES != 0 {
        ANY
    } else {
        let (taken, places) = list(driver)?;
        let free = (0..places).rev().find(|place| !taken.contains(place));
        free.ok_or(io::Error::from(Errno::NOSPC))?
    };
    let mut row = rule(port, queue, location);
    driver.ask(Command::InsertRule, &mut row)?;
    Ok(row[LOCATION])
}

/// Place of the rule, if it is there.
pub(super) fn find(driver: &dyn Driver, port: u16, queue: u32) -> io::Result<Option<u32>> {
    let wanted = rule(port, queue, 0);
    for location in list(driver)?.0 {
        let mut row = [0; RULE_WORDS];
        row[LOCATION] = location;
        match driver.ask(Command::GetRule, &mut row) {
            Ok(()) if [FLOW.0, PORTS, PORTS_MASK, QUEUE, QUEUE + 1].iter().all(|&at| row[at] == wanted[at]) => {
                return Ok(Some(location));
            }
            Ok(()) => {}
            // It was removed since.
            Err(error) if Errno::from_io_error(&error) == Some(Errno::NOENT) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

pub(super) fn delete(driver: &dyn Driver, location: u32) -> io::Result<()> {
    let mut row = [0; RULE_WORDS];
    row[LOCATION] = location;
    driver.ask(Command::DeleteRule, &mut row)
}

/// The places that are taken, and how many there are.
fn list(driver: &dyn Driver) -> io::Result<(Vec<u32>, u32)> {
    let mut count = [0; RULE_WORDS];
    driver.ask(Command::CountRules, &mut count)?;
    let rules = count[RULES].min(MOST as u32);
    let mut row = vec![0; RULE_WORDS + rules as usize];
    row[RULES] = rules;
    driver.ask(Command::ListRules, &mut row)?;
    let listed = row[RULES].min(rules) as usize;
    let places = get(&row, DATA).min(MOST) as u32;
    Ok((row.into_iter().skip(RULES + 1).take(listed).collect(), places))
}

fn get(row: &[u32], at: usize) -> u64 {
    let [a, b, c, d] = row[at].to_ne_bytes();
    let [e, f, g, h] = row[at + 1].to_ne_bytes();
    u64::from_ne_bytes([a, b, c, d, e, f, g, h])
}

fn put(row: &mut [u32], at: usize, value: u64) {
    let [a, b, c, d, e, f, g, h] = value.to_ne_bytes();
    row[at] = u32::from_ne_bytes([a, b, c, d]);
    row[at + 1] = u32::from_ne_bytes([e, f, g, h]);
}
