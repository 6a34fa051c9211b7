//! A program's datagrams on receive queues of its own: which queues of a card it gets, and what of the card is changed for
//! that while it has them.
//!
//! | way | what is changed | what others notice |
//! | --- | --- | --- |
//! | rules | a rule for each port: its datagrams go to a queue | nothing |
//! | table | the indirection table names this one queue only | all that the card spreads comes by this queue |
//! | channels | the card has these queues only, from the first | the same |
//!
//! A table of several queues is not written: virtio-net in QEMU 7.2 then lost most of what came. The first way that the driver
//! takes is used. If queues are not named ([`Queues::Chosen`]) only rules are tried, since the others touch what
//! belongs to others. If none is taken, nothing is changed and all queues are the program's, which [`Steering`] says in
//! words, with the reasons.
//!
//! Each change is recorded as a [`Leftover`] before it is made, and given back when the [`Steering`] is dropped, newest
//! first; after `kill -9` by `takt clean`. Settings of another program made since are left as they are.

mod change;
mod channels;
mod driver;
mod queues;
mod rules;
mod table;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io;
use std::ops::RangeInclusive;

pub(crate) use driver::{Card, Driver};
pub use queues::{Queues, UnknownQueues};

pub use crate::leftovers::{Change, Channels};
use crate::leftovers::{Leftover, LeftoversError, Registration, Registry};
use crate::namespace;

/// Name of the changes' author, for the record and for people.
const WHAT: &str = "with engine xdp";

/// Queues of a card that a program has, until this is dropped.
pub struct Steering {
    driver: Box<dyn Driver>,
    made: Vec<(Change, Registration)>,
    there: Option<u32>,
    queues: Option<RangeInclusive<u32>>,
    summary: Option<String>,
}

/// Why a program gets no queues.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SteeringError {
    #[error("{interface} has no receive queue {queue}: it has {there}, numbered from 0")]
    NoQueue { interface: String, queue: u32, there: u32 },
    #[error("another takt, process {pid}, has taken queues of {interface}")]
    Taken { interface: String, pid: u32 },
    /// Its own changes would be taken for the card's former settings.
    #[error("a takt was killed while it had queues of {interface}, and nothing has given them back yet")]
    LeftBehind { interface: String },
    #[error("{interface} is gone")]
    Gone {
        interface: String,
        #[source]
        source: io::Error,
    },
    #[error(transparent)]
    Record(#[from] LeftoversError),
}

impl Steering {
    /// Brings what comes to UDP `ports` over `interface` of the calling thread's network namespace to the queues wanted.
    ///
    /// # Errors
    /// There is no such queue; another takt has queues of this card, or had when it was killed; a change can't be recorded.
    pub fn begin(interface: &str, ports: &[u16], wanted: Queues) -> Result<Steering, SteeringError> {
        let card = Card { interface: interface.to_owned(), namespace: namespace::own_network() };
        let place = Place { interface, namespace: card.namespace, registry: &Registry::system() };
        Steering::of(Box::new(card), &place, ports, wanted)
    }

    fn of(
        driver: Box<dyn Driver>,
        place: &Place<'_>,
        ports: &[u16],
        wanted: Queues,
    ) -> Result<Steering, SteeringError> {
        let interface = place.interface;
        let failed = |source| SteeringError::Gone { interface: interface.to_owned(), source };
        let there = channels::count(&*driver).map_err(failed)?;
        let mut steering = Steering { driver, made: Vec::new(), there, queues: None, summary: None };
        let queues = match (wanted, there) {
            // One queue, or a driver that knows of none.
            (Queues::Chosen, None | Some(1)) => return Ok(steering),
            (Queues::Chosen, Some(_)) => 0..=0,
            (Queues::Named { first, last }, _) => first.into()..=last.into(),
        };
        if let Some(there) = there
            && *queues.end() >= there
        {
            return Err(SteeringError::NoQueue { interface: interface.to_owned(), queue: *queues.end(), there });
        }
        if there == Some(count(&queues)) {
            steering.queues = Some(queues);
            return Ok(steering);
        }
        match place.is_free_for(wanted, ports) {
            // As if the driver refused rules: what can't be recorded is not done.
            Err(SteeringError::Record(why)) if wanted == Queues::Chosen => {
                steering.summary = Some(place.all_queues(&[format!("no rules: {why}")]));
                return Ok(steering);
            }
            free => free?,
        }
        steering.try_ways(place, ports, wanted, queues);
        Ok(steering)
    }

    /// The queues, which may be more than those wanted. `None`: all there are.
    #[must_use]
    pub fn queues(&self) -> Option<RangeInclusive<u32>> {
        self.queues.clone()
    }

    /// How many the card has; `None`: its driver does not say.
    #[must_use]
    pub fn there(&self) -> Option<u32> {
        self.there
    }

    /// Which queues these are and how datagrams come there, or why they do not. `None`: they come there anyhow.
    #[must_use]
    pub fn summary(&self) -> Option<&str> {
        self.summary.as_deref()
    }

    /// Writes the table once more, where there is one. To be called when a program was attached to the card: virtio-net then
    /// sets its number of queues, at which the device forgets the table (seen with Linux 6.1 in QEMU 7.2).
    ///
    /// # Errors
    /// The driver refuses it now.
    pub fn renew(&self) -> io::Result<()> {
        let tables = self.made.iter().filter(|(change, _)| matches!(change, Change::Table { .. }));
        tables.into_iter().try_for_each(|(change, _)| change.make(&*self.driver))
    }

    fn try_ways(&mut self, place: &Place<'_>, ports: &[u16], wanted: Queues, queues: RangeInclusive<u32>) {
        let mut refused = Vec::new();
        for way in Way::ALL.into_iter().filter(|way| wanted != Queues::Chosen || *way == Way::Rules) {
            let changes = way.changes(&*self.driver, ports, &queues);
            match changes.and_then(|changes| self.make(place, changes)) {
                Ok(()) => {
                    self.summary = Some(format!("{} of {} by its {}", shown(&queues), place.interface, way.name()));
                    self.queues = Some(queues);
                    return;
                }
                Err(why) => {
                    self.give_back();
                    refused.push(format!("no {}: {}", way.name(), in_words(&why)));
                }
            }
        }
        self.summary = Some(place.all_queues(&refused));
    }

    /// # Errors
    /// The first that is refused, or can't be recorded. Those before it stand.
    fn make(&mut self, place: &Place<'_>, changes: Vec<Change>) -> io::Result<()> {
        let run = place.registry.begin(WHAT).map_err(io::Error::other)?;
        for change in changes {
            let registration = run.will_create(place.leftover(&change)).map_err(io::Error::other)?;
            let made = change.make(&*self.driver);
            // Also if it was refused: a driver may have made a part of it.
            self.made.push((change, registration));
            made?;
        }
        Ok(())
    }

    /// Newest first. A setting that can't be given back now stays on record, for `takt clean`.
    fn give_back(&mut self) {
        while let Some((change, registration)) = self.made.pop() {
            if change.give_back(&*self.driver).is_ok() {
                // If the record can't be written, `takt clean` finds nothing to do.
                let _ = registration.released();
            }
        }
    }
}

impl Drop for Steering {
    fn drop(&mut self) {
        self.give_back();
    }
}

impl fmt::Debug for Steering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Steering").field("queues", &self.queues).field("summary", &self.summary).finish_non_exhaustive()
    }
}

/// Which card it is for the record, and the record.
struct Place<'a> {
    interface: &'a str,
    namespace: u64,
    registry: &'a Registry,
}

impl Place<'_> {
    fn leftover(&self, change: &Change) -> Leftover {
        let (interface, namespace) = (self.interface.to_owned(), self.namespace);
        Leftover::Steering { interface, namespace, change: change.clone() }
    }

    fn all_queues(&self, reasons: &[String]) -> String {
        format!("all queues of {}, {}", self.interface, reasons.join(", "))
    }

    /// # Errors
    /// A program has queues of this card, which is in the way of named queues only: rules of several programs do not touch each
    /// other. Or one had when it was killed: what it left would be taken for the card's own, until `takt clean` takes it away. Rules
    /// for other ports than one's own are no such danger, where no queues are named.
    fn is_free_for(&self, wanted: Queues, ports: &[u16]) -> Result<(), SteeringError> {
        let matters = |change: &Change| match change {
            Change::Rule { port, .. } => wanted != Queues::Chosen || ports.contains(port),
            Change::Table { .. } | Change::Channels { .. } => true,
        };
        let here = |leftover: &Leftover| match leftover {
            Leftover::Steering { interface, namespace, change } => {
                interface == self.interface && *namespace == self.namespace && matters(change)
            }
            _ => false,
        };
        let interface = self.interface.to_owned();
        let owners = self.registry.owners(here)?;
        if owners.iter().any(|owner| !owner.alive) {
            return Err(SteeringError::LeftBehind { interface });
        }
        match owners.first() {
            Some(owner) if wanted != Queues::Chosen => Err(SteeringError::Taken { interface, pid: owner.pid }),
            _ => Ok(()),
        }
    }
}

/// By what datagrams come to a queue.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Rules,
    Table,
    Channels,
}

impl Way {
    const ALL: [Way; 3] = [Way::Rules, Way::Table, Way::Channels];

    const fn name(self) -> &'static str {
        match self {
            Way::Rules => "rules",
            Way::Table => "table",
            Way::Channels => "channels",
        }
    }

    fn changes(self, driver: &dyn Driver, ports: &[u16], queues: &RangeInclusive<u32>) -> io::Result<Vec<Change>> {
        match self {
            Way::Rules => {
                let mut changes = Vec::new();
                for (&port, queue) in ports.iter().zip(queues.clone().cycle()) {
                    // One that is there already is another program's.
                    if rules::find(driver, port, queue)?.is_none() {
                        changes.push(Change::Rule { port, queue });
                    }
                }
                Ok(changes)
            }
            Way::Table => {
                let was = table::read(driver)?;
                if count(queues) > 1 {
                    return Err(io::Error::other("it is written for one queue only"));
                }
                let becomes = vec![*queues.start(); was.len()];
                // Also where it is as wanted: it may have to be written again.
                Ok(vec![Change::Table { was, becomes }])
            }
            Way::Channels => {
                let was = Channels::read(driver)?;
                let reduced = was.reduced(count(queues)).filter(|_| *queues.start() == 0);
                let becomes = reduced.ok_or_else(|| io::Error::other("these are not the first queues of one kind"))?;
                Ok(vec![Change::Channels { was, becomes }])
            }
        }
    }
}

/// Without the error's number, which people do not read.
fn in_words(why: &io::Error) -> String {
    let words = why.to_string();
    words.split_once(" (os error ").map_or(words.clone(), |(words, _)| words.to_owned())
}

fn count(queues: &RangeInclusive<u32>) -> u32 {
    queues.end() - queues.start() + 1
}

fn shown(queues: &RangeInclusive<u32>) -> String {
    match (queues.start(), queues.end()) {
        (first, last) if first == last => format!("queue {first}"),
        (first, last) => format!("queues {first}-{last}"),
    }
}
