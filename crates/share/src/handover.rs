//! Between the streaming thread and the one that attends to people: orders, answers and notes, none of which is waited for.
//!
//! ```text
//!   attending thread ── order, at most one ──> streaming thread
//!   attending thread <── done, note ────────── streaming thread
//! ```
//!
//! The queues have their memory from the beginning. The streaming thread only polls: it allocates nothing, and takes no lock,
//! since the other side never sleeps in a queue. Whatever is large, or is to be released, travels in a box to the other side.

use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::time::Duration;

use takt_base::{Clock, WallClock};
use takt_radio::calibration::AppliedTable;
use takt_radio::n200::Emission;

use crate::Band;
use crate::attend::Live;
use crate::ports::HostPorts;
use crate::slot::SharedRadio;
use crate::status::Snapshot;

/// Longest wait for the streaming thread, which looks every block.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often an answer is looked for.
const LOOK: Duration = Duration::from_millis(1);
/// Notes that wait: each radio has at most a few.
const NOTES: usize = 1024;

/// A radio and its ports.
pub(crate) struct Member {
    pub(crate) radio: Box<SharedRadio>,
    pub(crate) ports: Box<HostPorts>,
}

/// Work for the streaming thread.
pub(crate) enum Order {
    /// Fill it.
    Look(Box<Snapshot>),
    /// Put it in its place.
    Add(Member),
    /// Take the radio with this number out.
    Remove(usize),
}

/// Work that it has done.
pub(crate) enum Done {
    Looked(Box<Snapshot>),
    Added,
    /// The place is not free.
    NotAdded(Member),
    /// `None`: no radio has the number.
    Removed(Option<Member>),
}

/// News for a person.
pub(crate) enum Note {
    /// The front end is hardware, and transmits.
    Transmits(Box<Emission>),
    /// Files of corrections that the front end is tuned by, or that were found and can't be.
    Calibrated(Vec<AppliedTable>),
    /// It streams from here on.
    Live(Box<Live>),
    OutOfBand {
        number: usize,
        band: Band,
        wide: Band,
    },
    Moved {
        by: Option<usize>,
        centre_hz: f64,
    },
}

/// The streaming thread's end.
pub(crate) struct StreamingEnd {
    orders: Receiver<Order>,
    done: SyncSender<Done>,
    notes: SyncSender<Note>,
}

/// The other end.
pub(crate) struct AttendingEnd {
    orders: SyncSender<Order>,
    done: Receiver<Done>,
    notes: Receiver<Note>,
}

pub(crate) fn handover() -> (StreamingEnd, AttendingEnd) {
    let ((orders, ordered), (did, done), (noted, notes)) = (sync_channel(1), sync_channel(4), sync_channel(NOTES));
    (StreamingEnd { orders: ordered, done: did, notes: noted }, AttendingEnd { orders, done, notes })
}

impl StreamingEnd {
    pub(crate) fn order(&self) -> Option<Order> {
        self.orders.try_recv().ok()
    }

    /// The other side has room, unless it has given up waiting four times: then it is lost.
    pub(crate) fn done(&self, done: Done) {
        let _ = self.done.try_send(done);
    }

    /// Whether there was room.
    pub(crate) fn note(&self, note: Note) -> bool {
        self.notes.try_send(note).is_ok()
    }
}

impl AttendingEnd {
    /// The next note, if there is one.
    pub(crate) fn note(&self) -> Option<Note> {
        self.notes.try_recv().ok()
    }

    /// Has the streaming thread do something; `None`: it does not answer, or has ended.
    pub(crate) fn ask(&self, order: Order) -> Option<Done> {
        // Answers that came too late for an earlier question.
        while self.done.try_recv().is_ok() {}
        self.orders.try_send(order).ok()?;
        let until = WallClock.now() + PATIENCE;
        loop {
            match self.done.try_recv() {
                Ok(done) => return Some(done),
                Err(TryRecvError::Empty) if WallClock.now() < until => std::thread::sleep(LOOK),
                Err(_) => return None,
            }
        }
    }
}
