//! The queue of received frames between whoever takes them from the driver and the engine they are for: a ring without locks
//! (`takt_link::ring`, where its orderings are argued and modelled), and an eventfd that wakes an engine that sleeps.
//!
//! The thread that produces changes, and is one at a time: the producer lies with the driver's receive queue, behind the same
//! lock. One engine consumes.
//!
//! **No frame is slept over**: the engine marks that it sleeps, then looks once more, then sleeps; the producer puts the frame there,
//! then looks whether the engine sleeps (`takt_link::sleep`). So the engine finds the frame, or the producer wakes it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{Errno, read, write};
use takt_link::ring::{Reader, Writer, ring};
use takt_link::sleep::Sleep;

use super::plugged::{Frame, Plugged};
use crate::network::Wanted;

/// The end of a queue that puts frames in.
pub(super) struct Producer(Writer<Option<Frame>>);

/// The end that takes them out. Frames go before what they came from.
pub(super) struct Consumer {
    reader: Reader<Option<Frame>>,
    frames: u64,
    _from: Arc<Plugged>,
}

/// Both ends of a queue for `frames`, a power of two.
pub(super) fn queue(frames: usize, from: &Arc<Plugged>) -> (Producer, Consumer) {
    let (writer, mut readers) = ring(std::iter::repeat_with(|| None).take(frames), 1);
    (Producer(writer), Consumer { reader: readers.remove(0), frames: frames as u64, _from: Arc::clone(from) })
}

impl Producer {
    /// `false`: there is no room, and the frame is dropped.
    pub(super) fn push(&mut self, frame: Frame) -> bool {
        let slot = self.0.next();
        let Some(cell) = self.0.cell(slot) else { return false };
        *cell = Some(frame);
        self.0.publish(slot);
        true
    }
}

impl Consumer {
    pub(super) fn pop(&mut self) -> Option<Frame> {
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

/// State that both ends of an engine's queue see.
struct State {
    dropped: AtomicU64,
    /// Another engine has or had the device too.
    device_is_shared: AtomicBool,
    sleep: Sleep,
    wake_fd: OwnedFd,
}

/// The device's end of an engine's queue.
pub(super) struct EngineProducer {
    pub(super) ports: Vec<Wanted>,
    frames: Producer,
    state: Arc<State>,
    /// Something was put in since the engine was last woken.
    fresh: bool,
}

/// The engine's end.
pub(super) struct EngineConsumer {
    frames: Consumer,
    state: Arc<State>,
}

/// The queue of an engine with these ports.
pub(super) fn engine_queue(
    ports: &[Wanted],
    frames: usize,
    from: &Arc<Plugged>,
) -> Result<(EngineProducer, EngineConsumer), Errno> {
    let wake_fd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
    let (producer, consumer) = queue(frames, from);
    let (dropped, device_is_shared, sleep) = (AtomicU64::new(0), AtomicBool::new(false), Sleep::default());
    let state = Arc::new(State { dropped, device_is_shared, sleep, wake_fd });
    let engine = EngineConsumer { frames: consumer, state: Arc::clone(&state) };
    Ok((EngineProducer { ports: ports.to_vec(), frames: producer, state, fresh: false }, engine))
}

impl EngineProducer {
    /// A frame for the engine; where there is no room for it, it is counted.
    pub(super) fn push(&mut self, frame: Frame) {
        if self.frames.push(frame) {
            self.fresh = true;
        } else {
            self.state.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Wakes an engine that sleeps over what was put in.
    pub(super) fn wake(&mut self) {
        if std::mem::take(&mut self.fresh) && self.state.sleep.needs_wake() {
            // It can't be full: a sleeper is woken once.
            let _woken = write(&self.state.wake_fd, &1_u64.to_ne_bytes());
        }
    }

    pub(super) fn mark_shared(&self) {
        self.state.device_is_shared.store(true, Ordering::Relaxed);
    }

    pub(super) fn is(&self, id: &QueueId) -> bool {
        Arc::ptr_eq(&self.state, &id.0)
    }
}

/// Which of a device's queues is an engine's.
pub(super) struct QueueId(Arc<State>);

impl EngineConsumer {
    pub(super) fn pop(&mut self) -> Option<Frame> {
        self.frames.pop()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    pub(super) fn is_half_full(&self) -> bool {
        self.frames.is_half_full()
    }

    /// Frames that found no room.
    pub(super) fn dropped(&self) -> u64 {
        self.state.dropped.load(Ordering::Relaxed)
    }

    /// Whether the device has always been this engine's alone.
    pub(super) fn was_alone(&self) -> bool {
        !self.state.device_is_shared.load(Ordering::Relaxed)
    }

    /// From now on the eventfd becomes readable when something comes; for what came before it does not.
    pub(super) fn begin_sleep(&self) {
        self.state.sleep.begin();
    }

    /// The eventfd wakes no more, and is emptied if it has `woken`. A producer that wakes just now ends the next sleep at once.
    pub(super) fn end_sleep(&self, woken: bool) {
        self.state.sleep.end();
        if woken {
            let _emptied = read(&self.state.wake_fd, &mut [0_u8; 8]);
        }
    }

    pub(super) fn id(&self) -> QueueId {
        QueueId(Arc::clone(&self.state))
    }
}

/// The eventfd, to wait for.
impl AsFd for EngineConsumer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.state.wake_fd.as_fd()
    }
}
