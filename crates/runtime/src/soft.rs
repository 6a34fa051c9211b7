//! The soft domain: what is not real time, such as files, logs and pages, behind bounded queues.
//!
//! A component keeps one end of a queue in its struct and uses it in `tick`; the other end belongs to a soft thread
//! ([`Soft`]) that may wait, allocate and fail. The end in `tick` takes no lock and makes no system call. A declared
//! [`Policy`] says what happens when the other side does not keep up:
//!
//! - [`Policy::Drop`]: data is lost, counted, and the slot is in time;
//! - [`Policy::Hold`]: nothing is lost, and the tick lasts until there is room, or something to take. It watches the queue
//!   meanwhile. Under a free clock that is all; under another one the slot may be late, and the list of misses names the
//!   component. The soft thread needs a processor that no worker with a real-time priority keeps for itself.
//!
//! A soft thread is not woken, which would be a system call: idle, it looks every millisecond.
//!
//! ```
//! use std::sync::{Arc, Mutex};
//! use takt_runtime::soft::{Policy, Soft, Step, outgoing};
//!
//! let (mut given, mut taken) = outgoing::<u8>(1024, Policy::Drop);
//! let log = Arc::new(Mutex::new(Vec::new()));
//! let written = Arc::clone(&log);
//! let write = move || match taken.pop() {
//!     Ok(byte) => { written.lock().unwrap().push(byte); Step::Worked }
//!     Err(_) => Step::Idle,
//! };
//! let soft = Soft::spawn("log", write).unwrap();
//! given.give(b"all"); // in `tick`
//! soft.settle(); // in `results`
//! assert_eq!(*log.lock().unwrap(), b"all");
//! ```

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

pub use rtrb::{Consumer, Producer};

/// Rule for a soft side that does not keep up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The data.
    Drop,
    /// The time.
    Hold,
}

/// A queue from a component to the soft domain, of so many items.
#[must_use]
pub fn outgoing<T: Copy>(capacity: usize, policy: Policy) -> (Outgoing<T>, Consumer<T>) {
    let (queue, soft) = rtrb::RingBuffer::new(capacity);
    (Outgoing { queue, policy, dropped: 0 }, soft)
}

/// A queue from the soft domain to a component, of so many items.
#[must_use]
pub fn incoming<T: Copy>(capacity: usize, policy: Policy) -> (Producer<T>, Incoming<T>) {
    let (soft, queue) = rtrb::RingBuffer::new(capacity);
    (soft, Incoming { queue, policy, starved: 0 })
}

/// The end of a component that gives.
#[derive(Debug)]
pub struct Outgoing<T> {
    queue: Producer<T>,
    policy: Policy,
    dropped: u64,
}

impl<T: Copy> Outgoing<T> {
    /// Gives all of these items, or none: `false`. None are given if there is no room and the policy is to drop, if the
    /// other end is gone, or if they are more than the queue has places. To be called in `tick`.
    #[inline]
    pub fn give(&mut self, items: &[T]) -> bool {
        loop {
            if self.queue.push_entire_slice(items).is_ok() {
                return true;
            }
            let never = items.len() > self.queue.buffer().capacity() || self.queue.is_abandoned();
            if self.policy == Policy::Drop || never {
                self.dropped += 1;
                return false;
            }
            std::hint::spin_loop();
        }
    }

    /// Packets that were not given.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

/// The end of a component that takes.
#[derive(Debug)]
pub struct Incoming<T> {
    queue: Consumer<T>,
    policy: Policy,
    starved: u64,
}

impl<T: Copy> Incoming<T> {
    /// Fills `items` from the front, in whole groups of so many, and answers how many there were: fewer than wanted at the
    /// end, or where the policy is to drop. To be called in `tick`.
    #[inline]
    pub fn take(&mut self, items: &mut [T], group: usize) -> usize {
        let group = group.max(1);
        let wanted = items.len() / group * group;
        let mut taken = 0;
        loop {
            // Looked at first: what was given before the other end went is still there.
            let ended = self.queue.is_abandoned();
            let rest = items.get_mut(taken..wanted).unwrap_or_default();
            let there = self.queue.slots().min(rest.len()) / group * group;
            if self.queue.pop_entire_slice(rest.get_mut(..there).unwrap_or_default()).is_ok() {
                taken += there;
            }
            if taken == wanted || ended {
                return taken;
            }
            if self.policy == Policy::Drop {
                self.starved += 1;
                return taken;
            }
            std::hint::spin_loop();
        }
    }

    /// How often there was less than wanted, other than at the end.
    #[must_use]
    pub fn starved(&self) -> u64 {
        self.starved
    }
}

/// Result of a soft thread's step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Something: call again at once.
    Worked,
    /// Nothing: there was nothing to do, or no room.
    Idle,
    /// All there was to do.
    Done,
}

/// A soft thread. Dropped, it does what there is left to do, and ends.
#[derive(Debug)]
pub struct Soft {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    idle: AtomicU64,
}

impl Soft {
    /// Starts a thread, if one can be made, that calls `work` over and over. `name`: of the thread.
    pub fn spawn(name: &str, mut work: impl FnMut() -> Step + Send + 'static) -> io::Result<Soft> {
        let shared = Arc::new(Shared::default());
        let its = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name(format!("takt-{name}")).spawn(move || {
            loop {
                // Acquire: what was given before the end was asked for is found below.
                let stop = its.stop.load(Ordering::Acquire);
                match work() {
                    Step::Worked => {}
                    Step::Done => return,
                    Step::Idle if stop => return,
                    Step::Idle => {
                        // Release: what was done before is there for the side that reads it.
                        its.idle.fetch_add(1, Ordering::Release);
                        std::thread::sleep(Duration::from_millis(1));
                    }
                }
            }
        })?;
        Ok(Soft { shared, thread: Some(thread) })
    }

    /// Waits until all that was given before is dealt with: the thread is idle, or done. Never to be called in `tick`.
    pub fn settle(&self) {
        let before = self.shared.idle.load(Ordering::Acquire);
        // The first may have begun before; the second did not.
        while !self.is_done() && self.shared.idle.load(Ordering::Acquire) < before + 2 {
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    /// Whether the thread has ended: it was done, or it panicked.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }
}

impl Drop for Soft {
    fn drop(&mut self) {
        // Release: what was given before is there for the thread.
        self.shared.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // Its panic was printed when it happened.
            let _ = thread.join();
        }
    }
}
