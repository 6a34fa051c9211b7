//! The sockets of an interface, as two engines of this process share them: one has the receiving halves of its queues, the
//! other the sending half of the first. Whoever opens first opens that socket; the half that it does not use lies here until
//! the other takes it, or it ends itself.
//!
//! A queue has one set of chunks, and of the rings that bring them back: two sockets of it would share these between
//! threads. Two halves of one socket share nothing.

use std::ops::RangeInclusive;
use std::sync::{Mutex, MutexGuard, PoisonError};

use takt_host::namespace::own_network;

use crate::sys::xsk::{Receiving, Sending, Sizes};
use crate::{EngineError, Way};

/// An engine's part of an interface's sockets.
pub(super) struct Halves {
    pub(super) sizes: Sizes,
    /// One a queue, by its number; none for an engine that transmits.
    pub(super) receiving: Vec<(u32, Receiving)>,
    /// That of the first queue; none for an engine that receives.
    pub(super) sending: Option<Sending>,
    /// Whoever opened takes what is spare away in the end.
    pub(super) lease: Option<Lease>,
}

/// The network namespace of the calling thread, and the index of an interface in it.
type Key = (u64, u32);

/// Halves that nobody uses.
static SPARE: Mutex<Vec<(Key, Halves)>> = Mutex::new(Vec::new());

fn spare() -> MutexGuard<'static, Vec<(Key, Halves)>> {
    SPARE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes what of an interface is spare when it is dropped.
pub(super) struct Lease(Key);

impl Drop for Lease {
    fn drop(&mut self) {
        spare().retain(|(key, _)| *key != self.0);
    }
}

/// A socket of a queue, by its number.
pub(super) type Socket = (u32, Receiving, Sending);

/// Halves of these queues of an interface that an engine of `way` needs. `open` opens their sockets, but for one whose
/// other half is spare; it learns which, and how large that is.
pub(super) fn halves(
    way: Way,
    interface: u32,
    queues: &RangeInclusive<u32>,
    open: impl FnOnce(Option<(u32, Sizes)>) -> Result<(Sizes, Vec<Socket>), EngineError>,
) -> Result<Halves, EngineError> {
    let key = (own_network(), interface);
    let mut spare = spare();
    let has = |halves: &Halves| match way {
        Way::Both => false,
        Way::Receive => halves.receiving.first().is_some_and(|(queue, _)| queues.contains(queue)),
        Way::Transmit => halves.sending.is_some(),
    };
    let found = spare.iter().position(|(of, halves)| *of == key && has(halves)).map(|at| spare.swap_remove(at).1);
    let found = match (way, found) {
        (Way::Transmit, Some(halves)) => return Ok(halves),
        (_, found) => found,
    };
    let there = found.as_ref().and_then(|halves| halves.receiving.first().map(|(queue, _)| (*queue, halves.sizes)));
    let opened = open(there);
    let ((sizes, sockets), found) = match (opened, found) {
        (Ok(opened), found) => (opened, found),
        (Err(error), found) => {
            spare.extend(found.map(|halves| (key, halves)));
            return Err(error);
        }
    };
    let mut receiving = Vec::new();
    let mut sending = None;
    for (queue, receives, sends) in sockets {
        receiving.push((queue, receives));
        sending.get_or_insert(sends);
    }
    if let Some(found) = found {
        // The first queue's, whose sending half another engine has.
        receiving.extend(found.receiving);
        receiving.sort_by_key(|(queue, _)| *queue);
        return Ok(Halves { sizes, receiving, sending: None, lease: None });
    }
    let half = |receiving, sending, lease| Halves { sizes, receiving, sending, lease };
    let (ours, rest) = match way {
        Way::Both => return Ok(half(receiving, sending, None)),
        Way::Receive => (half(receiving, None, Some(Lease(key))), half(Vec::new(), sending, None)),
        Way::Transmit => (half(Vec::new(), sending, Some(Lease(key))), half(receiving, None, None)),
    };
    spare.push((key, rest));
    Ok(ours)
}
