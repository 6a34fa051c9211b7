//! The way between a slot loop and a component that Python executes: two queues of frames, without a lock between them.
//!
//! ```text
//!  slot loop: Python's stand-in ──frames──> Line.take ──> the function, under Python's lock
//!             (stand_in.rs)     <──frames── Line.give <──┘
//! ```
//!
//! The slot loop never waits for Python: a full queue loses the packet of this component, and a missing answer loses its output.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use takt_runtime::soft::{Consumer, Producer};

use crate::problem::{Class, Problem};

/// How often Python's side looks for the next packet. It is not woken: that would be a system call of the slot loop.
const LOOK: Duration = Duration::from_micros(200);

/// Bytes of a [`Head`].
pub const HEAD: usize = 16;

/// The first bytes of each frame; those of the packet follow.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    pub slot: u64,
    /// Length of the packet.
    pub bytes: usize,
    /// There should be a packet, and there is none.
    pub lost: bool,
}

impl Head {
    /// The bit of the length that says so.
    const LOST: u64 = 1 << 63;

    pub fn write(self) -> [u8; HEAD] {
        let length = self.bytes as u64 | if self.lost { Head::LOST } else { 0 };
        let mut head = [0; HEAD];
        head[..8].copy_from_slice(&self.slot.to_le_bytes());
        head[8..].copy_from_slice(&length.to_le_bytes());
        head
    }

    pub fn read(head: &[u8; HEAD]) -> Head {
        let word = |at: usize| head.get(at..at + 8).and_then(|word| word.try_into().ok()).map_or(0, u64::from_le_bytes);
        Head { slot: word(0), bytes: (word(8) & !Head::LOST) as usize, lost: word(8) & Head::LOST != 0 }
    }
}

/// Both queues, as Python has them.
pub struct SoftEnds {
    pub packets: Consumer<u8>,
    /// `None`: the component has no output.
    pub answers: Option<Producer<u8>>,
    /// An empty packet needs no execution: it has an input.
    pub skips_empty: bool,
}

#[derive(Default)]
pub struct Shared {
    ends: Mutex<Option<SoftEnds>>,
    closed: AtomicBool,
}

impl Shared {
    /// The queues are there.
    pub fn open(&self, ends: SoftEnds) {
        *self.ends() = Some(ends);
    }

    /// Whether Python's side has ended.
    pub fn is_closed(&self) -> bool {
        // Acquire: whoever sees it finds what was given before.
        self.closed.load(Ordering::Acquire)
    }

    pub fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    fn ends(&self) -> std::sync::MutexGuard<'_, Option<SoftEnds>> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A look at the queues.
enum Looked<T> {
    Found(T),
    Nothing,
    Ended,
}

/// Python's end of the way to one component.
#[pyclass(frozen)]
#[derive(Clone, Default)]
pub struct Line {
    pub shared: Arc<Shared>,
}

#[pymethods]
impl Line {
    #[new]
    fn new() -> Line {
        Line::default()
    }

    /// The next packet: its slot and its bytes. `None`: no further comes.
    fn take<'py>(&self, py: Python<'py>) -> Option<(u64, Bound<'py, PyArray1<u8>>)> {
        let packet = py.detach(|| self.wait(SoftEnds::next));
        packet.map(|(slot, bytes)| (slot, PyArray1::from_vec(py, bytes)))
    }

    /// Answers the packet of a slot.
    fn give(&self, py: Python<'_>, slot: u64, answer: PyReadonlyArray1<'_, u8>) -> PyResult<()> {
        let contiguous = |_| Problem {
            message: "an answer is no contiguous array".to_owned(),
            class: Class::Waveform,
            ..Problem::default()
        };
        let answer = answer.as_slice().map_err(contiguous)?;
        let head = Head { slot, bytes: answer.len(), lost: false };
        py.detach(|| self.wait(|ends| ends.answer(head, answer)));
        Ok(())
    }

    /// Ends it: the slot loop gets no more answers.
    fn close(&self) {
        self.shared.close();
    }
}

impl Line {
    /// Looks until something is found; `None`: nothing will be.
    fn wait<T>(&self, mut look: impl FnMut(&mut SoftEnds) -> Looked<T>) -> Option<T> {
        while !self.shared.is_closed() {
            // The slot loop never takes this lock.
            match self.shared.ends().as_mut().map_or(Looked::Nothing, &mut look) {
                Looked::Found(found) => return Some(found),
                Looked::Ended => return None,
                Looked::Nothing => {}
            }
            std::thread::sleep(LOOK);
        }
        None
    }
}

impl SoftEnds {
    fn next(&mut self) -> Looked<(u64, Vec<u8>)> {
        loop {
            // Looked at first: packets that were given before the end are still there.
            let ended = self.packets.is_abandoned();
            let mut front = [0; HEAD];
            if self.packets.pop_entire_slice(&mut front).is_err() {
                return if ended { Looked::Ended } else { Looked::Nothing };
            }
            let head = Head::read(&front);
            let mut bytes = vec![0; head.bytes];
            // Head and packet were given as one.
            if self.packets.pop_entire_slice(&mut bytes).is_err() {
                return Looked::Ended;
            }
            if !bytes.is_empty() || !self.skips_empty {
                return Looked::Found((head.slot, bytes));
            }
            // The answer is empty, too. If there is no room for it, nobody waits for it any more.
            let _ = self.answer(head, &[]);
        }
    }

    fn answer(&mut self, head: Head, bytes: &[u8]) -> Looked<()> {
        let Some(answers) = &mut self.answers else { return Looked::Found(()) };
        let frame = HEAD + bytes.len();
        if answers.is_abandoned() || frame > answers.buffer().capacity() {
            return Looked::Ended;
        }
        if answers.slots() < frame {
            return Looked::Nothing;
        }
        let mut whole = Vec::with_capacity(frame);
        whole.extend_from_slice(&head.write());
        whole.extend_from_slice(bytes);
        match answers.push_entire_slice(&whole) {
            Ok(()) => Looked::Found(()),
            Err(_) => Looked::Nothing,
        }
    }
}
