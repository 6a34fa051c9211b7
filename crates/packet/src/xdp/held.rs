//! The sockets of an interface, as two engines of this process share them: one has the receiving halves, the other the
//! sending half of the first queue. Whoever opens first opens both; the half that it does not use lies here until the other
//! takes it, or it ends itself.
//!
//! A queue has one set of chunks, and of the rings that bring them back: two sockets of it would share these between
//! threads. Two halves of one socket share nothing.

use std::os::linux::fs::MetadataExt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::sys::xsk::{Receiving, Sending, Sizes};
use crate::{EngineError, Way};

/// What an engine has of an interface's sockets.
pub(super) struct Halves {
    pub(super) sizes: Sizes,
    /// One a queue; none for an engine that transmits.
    pub(super) receiving: Vec<Receiving>,
    /// Of the first queue; none for an engine that receives.
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

/// What an engine of `way` needs of an interface, which `open` opens whole unless the other half of it is spare.
pub(super) fn halves(
    way: Way,
    interface: u32,
    open: impl FnOnce() -> Result<(Sizes, Vec<(Receiving, Sending)>), EngineError>,
) -> Result<Halves, EngineError> {
    let namespace = std::fs::metadata("/proc/thread-self/ns/net").map_or(0, |meta| meta.st_ino());
    let key = (namespace, interface);
    let mut spare = spare();
    let has = |halves: &Halves| match way {
        Way::Both => false,
        Way::Receive => !halves.receiving.is_empty(),
        Way::Transmit => halves.sending.is_some(),
    };
    if let Some(at) = spare.iter().position(|(of, halves)| *of == key && has(halves)) {
        return Ok(spare.swap_remove(at).1);
    }
    let (sizes, sockets) = open()?;
    let (receiving, sending): (Vec<_>, Vec<_>) = sockets.into_iter().unzip();
    let sending = sending.into_iter().next();
    let half = |receiving, sending, lease| Halves { sizes, receiving, sending, lease };
    let (ours, rest) = match way {
        Way::Both => return Ok(half(receiving, sending, None)),
        Way::Receive => (half(receiving, None, Some(Lease(key))), half(Vec::new(), sending, None)),
        Way::Transmit => (half(Vec::new(), sending, Some(Lease(key))), half(receiving, None, None)),
    };
    spare.push((key, rest));
    Ok(ours)
}
