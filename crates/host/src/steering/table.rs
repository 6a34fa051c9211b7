//! A card's indirection table (`ethtool -X`), by which it spreads what it receives over its queues (RSS): each entry is a
//! queue, and a hash of a datagram's addresses and ports picks the entry.
//!
//! A row is `struct ethtool_rxfh_indir` of linux/ethtool.h, in words.

use std::io;

use rustix::io::Errno;

use super::driver::Driver;
use crate::ethtool::{Command, TABLE};

/// More entries than any card has.
const MOST: u32 = 1 << 14;

pub(super) fn read(driver: &dyn Driver) -> io::Result<Vec<u32>> {
    let mut size = [0; TABLE];
    driver.ask(Command::GetTable, &mut size)?;
    let entries = size[TABLE - 1];
    if !(1..=MOST).contains(&entries) {
        return Err(Errno::OPNOTSUPP.into());
    }
    let mut row = vec![0; TABLE + entries as usize];
    row[TABLE - 1] = entries;
    driver.ask(Command::GetTable, &mut row)?;
    Ok(row.split_off(TABLE))
}

/// Writes it; an empty one has the driver make its usual one.
pub(super) fn write(driver: &dyn Driver, entries: &[u32]) -> io::Result<()> {
    let mut row = vec![0, entries.len() as u32];
    row.extend_from_slice(entries);
    driver.ask(Command::SetTable, &mut row)
}

/// Writes a table that was read. The usual one, which deals entries out to all queues in turn, is requested as such: a card
/// whose table was written keeps others from taking queues away (`ethtool -L`).
pub(super) fn restore(driver: &dyn Driver, entries: &[u32]) -> io::Result<()> {
    let queues = entries.iter().max().map_or(1, |&last| last as usize + 1);
    let usual = entries.iter().enumerate().all(|(n, &queue)| queue as usize == n % queues);
    if usual {
        write(driver, &[])?;
        if read(driver)? == entries {
            return Ok(());
        }
    }
    write(driver, entries)
}
