//! How many queues a card has (`ethtool -L`).
//!
//! A row is `struct ethtool_channels` of linux/ethtool.h, in words.

use std::io;

use rustix::io::Errno;

use super::driver::Driver;
use crate::ethtool::{Command, RULE_WORDS, WORDS};
use crate::leftovers::Channels;

/// `rx_count` and `combined_count`.
const RECEIVE: usize = 5;
const COMBINED: usize = 8;
/// `data` of `ethtool_rxnfc`, of which a number of queues fills the half that comes first in memory or last.
const DATA: std::ops::Range<usize> = 2..4;

impl Channels {
    pub(super) fn read(driver: &dyn Driver) -> io::Result<Channels> {
        let row = ask(driver)?;
        Ok(Channels { receive: row[RECEIVE], combined: row[COMBINED] })
    }

    pub(super) fn write(self, driver: &dyn Driver) -> io::Result<()> {
        let mut row = ask(driver)?;
        (row[RECEIVE], row[COMBINED]) = (self.receive, self.combined);
        driver.ask(Command::SetChannels, &mut row)
    }

    /// So that `queues` are left that receive. `None`: the card has both kinds.
    pub(super) fn reduced(self, queues: u32) -> Option<Channels> {
        match self {
            Channels { receive: 0, .. } => Some(Channels { receive: 0, combined: queues }),
            Channels { combined: 0, .. } => Some(Channels { receive: queues, combined: 0 }),
            _ => None,
        }
    }
}

fn ask(driver: &dyn Driver) -> io::Result<[u32; WORDS]> {
    let mut row = [0; WORDS];
    driver.ask(Command::GetChannels, &mut row)?;
    Ok(row)
}

/// Receive queues in use; `None`: the driver does not say.
///
/// # Errors
/// There is no such interface.
pub(super) fn count(driver: &dyn Driver) -> io::Result<Option<u32>> {
    let by_channels = Channels::read(driver).map(|channels| channels.receive.saturating_add(channels.combined));
    let mut row = [0; RULE_WORDS];
    let mut by_rings =
        || driver.ask(Command::GetRings, &mut row).map(|()| row[DATA].iter().copied().max().unwrap_or(0));
    match by_channels.or_else(|_| by_rings()) {
        Err(error) if Errno::from_io_error(&error) == Some(Errno::NODEV) => Err(error),
        answer => Ok(answer.ok().filter(|&queues| queues > 0)),
    }
}
