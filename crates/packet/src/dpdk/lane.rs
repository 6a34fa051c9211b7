//! The way of frames from whoever takes them from the driver to the engine they are for: a ring without locks
//! (`takt_link::ring`, where its orderings are argued and modelled), and a bell for an engine that sleeps.
//!
//! Who writes changes from thread to thread, and is one at a time: the writer lies with the driver's receiving queue, behind the
//! same lock. One engine reads.
//!
//! **No frame is slept over**: the engine says that it sleeps, then looks once more, then sleeps; the writer puts the frame there,
//! then looks whether the engine sleeps (`takt_link::sleep`). So the engine finds the frame, or the writer rings.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{Errno, read, write};
use takt_link::ring::{Reader, Writer, ring};
use takt_link::sleep::Sleep;

use super::plugged::{Frame, Plugged};
use crate::network::Wanted;

/// The end that puts frames in.
pub(super) struct Giver(Writer<Option<Frame>>);

/// The end that takes them out. Frames go before what they came from.
pub(super) struct Taker {
    reader: Reader<Option<Frame>>,
    frames: u64,
    _from: Arc<Plugged>,
}

/// Both ends of a ring for `frames`, a power of two.
pub(super) fn way(frames: usize, from: &Arc<Plugged>) -> (Giver, Taker) {
    let (writer, mut readers) = ring(std::iter::repeat_with(|| None).take(frames), 1);
    (Giver(writer), Taker { reader: readers.remove(0), frames: frames as u64, _from: Arc::clone(from) })
}

impl Giver {
    /// `false`: there is no room, and the frame is dropped.
    pub(super) fn give(&mut self, frame: Frame) -> bool {
        let slot = self.0.next();
        let Some(cell) = self.0.cell(slot) else { return false };
        *cell = Some(frame);
        self.0.publish(slot);
        true
    }
}

impl Taker {
    pub(super) fn take(&mut self) -> Option<Frame> {
        let slot = self.reader.next();
        if !self.reader.open(slot) {
            return None;
        }
        let frame = self.reader.opened_mut().and_then(Option::take);
        self.reader.release(slot + 1);
        frame
    }

    pub(super) fn is_empty(&self) -> bool {
        !self.reader.ready(self.reader.next())
    }

    fn is_half_full(&self) -> bool {
        self.reader.ready(self.reader.next() + self.frames / 2)
    }
}

/// What both sides of an engine's lane see.
struct Both {
    dropped: AtomicU64,
    /// Another engine has or had the device too.
    in_company: AtomicBool,
    sleep: Sleep,
    bell: OwnedFd,
}

/// The device's side: what is for an engine.
pub(super) struct Lane {
    pub(super) ports: Vec<Wanted>,
    frames: Giver,
    both: Arc<Both>,
    /// Something was put in since it last rang.
    fresh: bool,
}

/// The engine's side.
pub(super) struct Inbox {
    frames: Taker,
    both: Arc<Both>,
}

/// A lane to an engine with these ports.
pub(super) fn lane(ports: &[Wanted], frames: usize, from: &Arc<Plugged>) -> Result<(Lane, Inbox), Errno> {
    let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
    let (giver, taker) = way(frames, from);
    let (dropped, in_company, sleep) = (AtomicU64::new(0), AtomicBool::new(false), Sleep::default());
    let both = Arc::new(Both { dropped, in_company, sleep, bell });
    let inbox = Inbox { frames: taker, both: Arc::clone(&both) };
    Ok((Lane { ports: ports.to_vec(), frames: giver, both, fresh: false }, inbox))
}

impl Lane {
    /// A frame for the engine; where there is no room for it, it is counted.
    pub(super) fn give(&mut self, frame: Frame) {
        if self.frames.give(frame) {
            self.fresh = true;
        } else {
            self.both.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Wakes an engine that sleeps over what was put in.
    pub(super) fn ring(&mut self) {
        if std::mem::take(&mut self.fresh) && self.both.sleep.is_over() {
            // It can't be full: a sleeper is woken once.
            let _rung = write(&self.both.bell, &1_u64.to_ne_bytes());
        }
    }

    pub(super) fn has_company(&self) {
        self.both.in_company.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_of(&self, inbox: &InboxName) -> bool {
        Arc::ptr_eq(&self.both, &inbox.0)
    }
}

/// Which of a device's lanes leads to an inbox.
pub(super) struct InboxName(Arc<Both>);

impl Inbox {
    pub(super) fn take(&mut self) -> Option<Frame> {
        self.frames.take()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    pub(super) fn is_half_full(&self) -> bool {
        self.frames.is_half_full()
    }

    /// Frames that found no room.
    pub(super) fn dropped(&self) -> u64 {
        self.both.dropped.load(Ordering::Relaxed)
    }

    /// Whether the device has always been this engine's alone.
    pub(super) fn was_alone(&self) -> bool {
        !self.both.in_company.load(Ordering::Relaxed)
    }

    /// From now on the bell rings when something comes; what came before does not ring.
    pub(super) fn sleep(&self) {
        self.both.sleep.begin();
    }

    /// The bell rings no more, and is silenced if it `rang`. One that rings just now ends the next sleep at once.
    pub(super) fn wake(&self, rang: bool) {
        self.both.sleep.end();
        if rang {
            let _silent = read(&self.both.bell, &mut [0_u8; 8]);
        }
    }

    pub(super) fn name(&self) -> InboxName {
        InboxName(Arc::clone(&self.both))
    }
}

/// The bell, to wait for.
impl AsFd for Inbox {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.both.bell.as_fd()
    }
}
