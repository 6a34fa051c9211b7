//! A device of DPDK's, plugged in and running, with one queue each way and buffers of its own.
//!
//! ```text
//!   pool --> driver --> held --> done --> pool          free --> written --> driver --> flying --> free
//! ```
//!
//! **Whose a buffer is.** What the driver has received is ours until it goes back to the pool; only then may the driver take
//! it again. Buffers for sending are taken from the pool once. One is ours in `free` and `written`; the driver's in `flying`,
//! until it has let go of its reference (`shim.c`). The pool has no lock: all of this happens in calls that borrow the device
//! mutably, one thread at a time.
#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::ffi::{CString, c_char, c_int, c_uint};
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

use takt_base::MonoNs;

use super::eal::said;
use crate::network::frame::Mac;

/// Frames a call.
pub(super) const BURST: usize = 64;
/// Received frames that may wait here.
const HELD: usize = 4 * BURST;

#[repr(C)]
struct Pool([u8; 0]);
#[repr(C)]
struct Buffer([u8; 0]);

unsafe extern "C" {
    fn takt_dpdk_plug(bus: *const c_char, name: *const c_char, arguments: *const c_char, port: *mut u16) -> c_int;
    fn takt_dpdk_unplug(bus: *const c_char, name: *const c_char);
    fn takt_dpdk_pool(name: *const c_char, count: u32, bytes: u16) -> *mut Pool;
    fn takt_dpdk_free_pool(pool: *mut Pool);
    fn takt_dpdk_begin(port: u16, receive: u16, send: u16, mtu: u16, promiscuous: c_int, pool: *mut Pool) -> c_int;
    fn takt_dpdk_end(port: u16);
    fn takt_dpdk_describe(port: u16, mac: *mut u8, mtu: *mut u16) -> c_int;
    fn takt_dpdk_missed(port: u16, count: *mut u64) -> c_int;
    fn takt_dpdk_receive(port: u16, into: *mut *mut Buffer, most: u16) -> u16;
    fn takt_dpdk_frame(buffer: *const Buffer, bytes: *mut u32) -> *const u8;
    fn takt_dpdk_free(these: *mut *mut Buffer, count: c_uint);
    fn takt_dpdk_take(pool: *mut Pool, into: *mut *mut Buffer, count: c_uint) -> c_int;
    fn takt_dpdk_room(buffer: *mut Buffer, bytes: *mut u32) -> *mut u8;
    fn takt_dpdk_filled(buffer: *mut Buffer, bytes: u16);
    fn takt_dpdk_send(port: u16, these: *mut *mut Buffer, count: u16) -> u16;
    fn takt_dpdk_is_back(buffer: *const Buffer) -> c_int;
    fn takt_dpdk_clean(port: u16);
    fn takt_dpdk_recall(buffer: *mut Buffer);
}

/// Devices come and go one at a time.
static CHANGING: Mutex<()> = Mutex::new(());

/// Holds that, so that nothing else is opened by DPDK meanwhile.
pub(super) fn changing() -> MutexGuard<'static, ()> {
    CHANGING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a device is plugged in as, and with how many buffers.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) bus: &'static str,
    /// As DPDK knows it: unlike that of any other device of the process.
    pub(super) name: String,
    pub(super) arguments: String,
    /// Frames in the driver's rings, where it has rings of buffers.
    pub(super) descriptors: u16,
    /// Bytes of a frame, with room for what the driver puts before it.
    pub(super) frame_bytes: u16,
    /// Buffers that the driver keeps for itself.
    pub(super) kept: u32,
    /// Buffers for sending.
    pub(super) sending: u32,
    /// 0: as it is.
    pub(super) mtu: u16,
    /// Whether its interface takes all frames, and goes on to do so.
    pub(super) promiscuous: bool,
}

/// A device, until it is dropped.
pub(super) struct Plugged {
    bus: CString,
    name: CString,
    port: Option<u16>,
    pool: Option<NonNull<Pool>>,
    held: VecDeque<(NonNull<Buffer>, MonoNs)>,
    done: Vec<*mut Buffer>,
    free: Vec<*mut Buffer>,
    written: Vec<*mut Buffer>,
    flying: VecDeque<*mut Buffer>,
    /// Whoever opens it holds [`changing`].
    opening: bool,
}

// SAFETY: buffers, pool and port belong to the process; nothing about them belongs to a thread, and every access follows a
// borrow of `self`.
unsafe impl Send for Plugged {}

impl Plugged {
    /// Plugs it in; the caller holds [`changing`].
    ///
    /// # Errors
    /// What DPDK logged.
    pub(super) fn open(plan: &Plan, _alone: &MutexGuard<'_, ()>) -> Result<Plugged, String> {
        let text = |text: &str| CString::new(text).map_err(|_| format!("{text:?} holds a zero"));
        let (bus, name, arguments) = (text(plan.bus)?, text(&plan.name)?, text(&plan.arguments)?);
        let mut plugged = Plugged {
            port: None,
            pool: None,
            held: VecDeque::with_capacity(HELD),
            done: Vec::with_capacity(HELD),
            free: Vec::with_capacity(plan.sending as usize),
            written: Vec::with_capacity(BURST),
            flying: VecDeque::with_capacity(plan.sending as usize),
            bus,
            name,
            opening: true,
        };
        let mut port = u16::MAX;
        let _forgotten = said("");
        // SAFETY: three strings and a number that outlive the call; DPDK runs (`eal::start`), and devices change one at a
        // time (`_alone`).
        let answer =
            unsafe { takt_dpdk_plug(plugged.bus.as_ptr(), plugged.name.as_ptr(), arguments.as_ptr(), &raw mut port) };
        refuse(answer)?;
        plugged.port = Some(port);
        let count = plan.kept + plan.sending + HELD as u32 + BURST as u32;
        // SAFETY: a string that outlives the call, and numbers.
        let pool = unsafe { takt_dpdk_pool(plugged.name.as_ptr(), count, plan.frame_bytes) };
        let pool = NonNull::new(pool).ok_or_else(|| said("no memory for buffers"))?;
        plugged.pool = Some(pool);
        let mut taken = vec![std::ptr::null_mut(); plan.sending as usize];
        // SAFETY: the pool is alive, and the array has room for `sending` pointers.
        refuse(unsafe { takt_dpdk_take(pool.as_ptr(), taken.as_mut_ptr(), plan.sending) })?;
        plugged.free.extend(taken);
        let rings = plan.descriptors;
        // SAFETY: the port is the one just plugged in, the pool lives until `drop` has ended the port.
        refuse(unsafe { takt_dpdk_begin(port, rings, rings, plan.mtu, plan.promiscuous.into(), pool.as_ptr()) })?;
        plugged.opening = false;
        Ok(plugged)
    }

    fn port(&self) -> u16 {
        self.port.unwrap_or(u16::MAX)
    }

    /// Its hardware address and MTU.
    pub(super) fn describe(&self) -> Result<(Mac, u16), String> {
        let (mut mac, mut mtu) = ([0; 6], 0);
        // SAFETY: six bytes and a number that outlive the call; DPDK checks the port.
        refuse(unsafe { takt_dpdk_describe(self.port(), mac.as_mut_ptr(), &raw mut mtu) })?;
        Ok((mac, mtu))
    }

    /// Frames that came and found no room, as the driver counts them.
    pub(super) fn missed(&self) -> Option<u64> {
        let mut count = 0;
        // SAFETY: a number that outlives the call; DPDK checks the port.
        let answer = unsafe { takt_dpdk_missed(self.port(), &raw mut count) };
        (answer == 0).then_some(count)
    }

    /// Takes a burst from the driver, as having come `now`, and gives back what was dealt with; whether there was any.
    pub(super) fn fill(&mut self, now: MonoNs) -> bool {
        if !self.done.is_empty() {
            // SAFETY: buffers that the driver handed over, each once: they moved from `held` to `done`.
            unsafe { takt_dpdk_free(self.done.as_mut_ptr(), self.done.len() as c_uint) };
            self.done.clear();
        }
        let room = (HELD - self.held.len()).min(BURST);
        let mut burst = [std::ptr::null_mut(); BURST];
        // SAFETY: the port runs from `open` to `drop`, and the array has room for as many as are asked for.
        let got = unsafe { takt_dpdk_receive(self.port(), burst.as_mut_ptr(), room as u16) };
        let got = burst.iter().take(usize::from(got).min(room)).filter_map(|&buffer| NonNull::new(buffer));
        let before = self.held.len();
        self.held.extend(got.map(|buffer| (buffer, now)));
        self.held.len() > before
    }

    /// The frames that are here, in order of arrival.
    pub(super) fn frames(&self) -> impl Iterator<Item = (MonoNs, &[u8])> {
        self.held.iter().map(|&(buffer, at)| {
            let mut bytes = 0;
            // SAFETY: a buffer in `held` is ours and whole, and the number outlives the call.
            let frame = unsafe { takt_dpdk_frame(buffer.as_ptr(), &raw mut bytes) };
            if frame.is_null() {
                return (at, &[][..]);
            }
            // SAFETY: the shim compared offset and length with the buffer, which stays ours while `self` is borrowed; its
            // memory was zeroed by the kernel before anybody wrote there.
            (at, unsafe { std::slice::from_raw_parts(frame, bytes as usize) })
        })
    }

    /// The first of them has been dealt with.
    pub(super) fn pop(&mut self) {
        if let Some((buffer, _)) = self.held.pop_front() {
            if self.done.len() == self.done.capacity() {
                // SAFETY: as in `fill`.
                unsafe { takt_dpdk_free(self.done.as_mut_ptr(), self.done.len() as c_uint) };
                self.done.clear();
            }
            self.done.push(buffer.as_ptr());
        }
    }

    /// Frames written and not yet taken by the driver.
    pub(super) fn written(&self) -> usize {
        self.written.len()
    }

    /// Lets `write` fill a buffer, which leaves with the next [`Plugged::send`]; `false` when none is free, or a burst is full.
    pub(super) fn write(&mut self, write: impl FnOnce(&mut [u8]) -> Option<usize>) -> bool {
        if self.written.len() == BURST {
            return false;
        }
        if self.free.is_empty() {
            self.reap();
        }
        let Some(buffer) = self.free.pop() else { return false };
        let mut bytes = 0;
        // SAFETY: a buffer in `free` is ours, and the number outlives the call.
        let room = unsafe { takt_dpdk_room(buffer, &raw mut bytes) };
        // SAFETY: so many bytes of a buffer that is ours and that nobody else refers to; zeroed at first, as above.
        let room = unsafe { std::slice::from_raw_parts_mut(room, bytes as usize) };
        match write(room).and_then(|len| u16::try_from(len.min(room.len())).ok()) {
            Some(len) => {
                // SAFETY: the buffer is ours, and the length within it.
                unsafe { takt_dpdk_filled(buffer, len) };
                self.written.push(buffer);
            }
            None => self.free.push(buffer),
        }
        true
    }

    /// Offers what is written to the driver; how many frames it took, from the front.
    pub(super) fn send(&mut self) -> usize {
        // SAFETY: the port runs, and the buffers are ours; those it takes are the driver's from now on.
        let taken = unsafe { takt_dpdk_send(self.port(), self.written.as_mut_ptr(), self.written.len() as u16) };
        let taken = usize::from(taken).min(self.written.len());
        for buffer in self.written.drain(..taken) {
            if is_back(buffer) {
                self.free.push(buffer);
            } else {
                self.flying.push_back(buffer);
            }
        }
        taken
    }

    /// What is written and was not taken is forgotten.
    pub(super) fn forget(&mut self) {
        self.free.append(&mut self.written);
    }

    /// Takes back what the driver is done with.
    fn reap(&mut self) {
        // SAFETY: the port runs.
        unsafe { takt_dpdk_clean(self.port()) };
        while let Some(&buffer) = self.flying.front() {
            if !is_back(buffer) {
                break;
            }
            self.flying.pop_front();
            self.free.push(buffer);
        }
    }
}

fn is_back(buffer: *const Buffer) -> bool {
    // SAFETY: the pool that the buffer is of is alive; its count of references is read atomically.
    unsafe { takt_dpdk_is_back(buffer) != 0 }
}

fn refuse(answer: c_int) -> Result<(), String> {
    match answer {
        0 => Ok(()),
        errno => Err(said(&std::io::Error::from_raw_os_error(errno.saturating_abs()).to_string())),
    }
}

impl Drop for Plugged {
    fn drop(&mut self) {
        let _alone = (!self.opening).then(changing);
        if let Some(port) = self.port {
            // SAFETY: the port is ours; nobody uses it after this, and its driver lets go of all buffers.
            unsafe { takt_dpdk_end(port) };
            // SAFETY: two strings that outlive the call.
            unsafe { takt_dpdk_unplug(self.bus.as_ptr(), self.name.as_ptr()) };
        }
        let Some(pool) = self.pool else { return };
        let received = self.held.drain(..).map(|(buffer, _)| buffer.as_ptr()).chain(self.done.drain(..));
        let sending = self.free.drain(..).chain(self.written.drain(..)).chain(self.flying.drain(..));
        for buffer in received.chain(sending) {
            // SAFETY: each buffer is in one place, and no driver has it any more.
            unsafe { takt_dpdk_recall(buffer) };
        }
        // SAFETY: all buffers are back, and the port that used the pool has ended.
        unsafe { takt_dpdk_free_pool(pool.as_ptr()) };
    }
}
