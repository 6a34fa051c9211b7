//! One change of a card: what is recorded of it before it is made, how it is made, and how it is given back.

use std::io;

use super::driver::{Driver, is_gone};
use super::{rules, table};
use crate::leftovers::{Change, Channels};

impl Change {
    /// Makes it and reads it back: what does not read as it was written could not be found again, to be given back.
    pub(super) fn make(&self, driver: &dyn Driver) -> io::Result<()> {
        let place = match self {
            Change::Rule { port, queue } => rules::insert(driver, *port, *queue)?,
            Change::Table { becomes, .. } => table::write(driver, becomes).map(|()| 0)?,
            Change::Channels { becomes, .. } => becomes.write(driver).map(|()| 0)?,
        };
        if self.place(driver)?.is_some() {
            return Ok(());
        }
        self.take_back(driver, place)?;
        Err(io::Error::other("the driver made something else of it"))
    }

    /// `false`: there was nothing to give back. The interface is gone, the change was never made, or another program has set
    /// something else since, which is left as it is.
    pub(crate) fn give_back(&self, driver: &dyn Driver) -> io::Result<bool> {
        match self.undo(driver) {
            Err(error) if is_gone(&error) => Ok(false),
            done => done,
        }
    }

    fn undo(&self, driver: &dyn Driver) -> io::Result<bool> {
        match self.place(driver)? {
            Some(place) => self.take_back(driver, place).map(|()| true),
            None => Ok(false),
        }
    }

    /// `place` is a rule's.
    fn take_back(&self, driver: &dyn Driver, place: u32) -> io::Result<()> {
        match self {
            Change::Rule { .. } => rules::delete(driver, place),
            Change::Table { was, .. } => table::restore(driver, was),
            Change::Channels { was, .. } => was.write(driver),
        }
    }

    /// Place of the rule; 0 of what has one place. `None`: the card is not as this makes it.
    fn place(&self, driver: &dyn Driver) -> io::Result<Option<u32>> {
        let stands = match self {
            Change::Rule { port, queue } => return rules::find(driver, *port, *queue),
            Change::Table { becomes, .. } => table::read(driver)? == *becomes,
            Change::Channels { becomes, .. } => Channels::read(driver)? == *becomes,
        };
        Ok(stands.then_some(0))
    }
}
