//! A device of DPDK's, plugged in and running, with one queue each way and buffers of its own.
//!
//! ```text
//!   pool --> driver --> Frame --> pool            free --> written --> driver --> in_flight --> free
//! ```
//!
//! **Whose a buffer is.** What the driver has received is a [`Frame`]'s until that is dropped; only then may the driver take it
//! again. Buffers for sending are taken from the pool once. One is ours in `free` and `written`; the driver's in `in_flight`, until
//! it has let go of its reference (`shim.c`).
//!
//! **Who does what when.** DPDK lets one thread at a time use a queue: there is one [`Receiver`] and one [`Sender`], and they work
//! through exclusive borrows. The two queues may be used at once. The pool takes and gives without a lock, to any thread.
#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::ffi::{CString, c_char, c_int, c_uint};
use std::ptr::NonNull;
use std::sync::Arc;

use takt_base::{Clock, MonoNs, WallClock};

use super::eal::last_log;
use crate::network::frame::Mac;

/// Frames a call.
pub(super) const BURST: usize = 64;

#[repr(C)]
struct Pool([u8; 0]);
#[repr(C)]
struct Buffer([u8; 0]);

unsafe extern "C" {
    fn takt_dpdk_plug(bus: *const c_char, name: *const c_char, arguments: *const c_char, port: *mut u16) -> c_int;
    fn takt_dpdk_unplug(bus: *const c_char, name: *const c_char);
    fn takt_dpdk_pool(name: *const c_char, count: u32, bytes: u16, for_card: c_int) -> *mut Pool;
    fn takt_dpdk_free_pool(pool: *mut Pool);
    fn takt_dpdk_begin(port: u16, receive: u16, send: u16, mtu: u16, promiscuous: c_int, pool: *mut Pool) -> c_int;
    fn takt_dpdk_end(port: u16);
    fn takt_dpdk_describe(port: u16, mac: *mut u8, mtu: *mut u16) -> c_int;
    fn takt_dpdk_missed(port: u16, count: *mut u64) -> c_int;
    fn takt_dpdk_receive(port: u16, into: *mut *mut Buffer, most: u16) -> u16;
    fn takt_dpdk_frame(buffer: *const Buffer, bytes: *mut u32) -> *const u8;
    fn takt_dpdk_free(buffer: *mut Buffer);
    fn takt_dpdk_take(pool: *mut Pool, into: *mut *mut Buffer, count: c_uint) -> c_int;
    fn takt_dpdk_room(buffer: *mut Buffer, bytes: *mut u32) -> *mut u8;
    fn takt_dpdk_filled(buffer: *mut Buffer, bytes: u16);
    fn takt_dpdk_send(port: u16, these: *mut *mut Buffer, count: u16) -> u16;
    fn takt_dpdk_is_back(buffer: *const Buffer) -> c_int;
    fn takt_dpdk_clean(port: u16);
}

/// Names and buffers with which a device is plugged in.
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
    /// Received frames that may wait for engines.
    pub(super) waiting: u32,
    /// Buffers for sending.
    pub(super) sending: u32,
    /// 0: as it is.
    pub(super) mtu: u16,
    /// Whether its interface takes all frames, and goes on to do so.
    pub(super) promiscuous: bool,
}

/// A device and its buffers, until all that refer to it are dropped.
pub(super) struct Plugged {
    bus: CString,
    name: CString,
    port: Option<u16>,
    pool: Option<NonNull<Pool>>,
}

// SAFETY: port and pool belong to the process; nothing about them belongs to a thread.
unsafe impl Send for Plugged {}
// SAFETY: through a shared reference the device is read for counts, which DPDK allows at any time; its queues are used
// through `Receiver` and `Sender`, and the pool's operations may run at once.
unsafe impl Sync for Plugged {}

/// The queue by which frames come.
pub(super) struct Receiver(Arc<Plugged>);

/// The queue by which frames leave, and the buffers for them.
pub(super) struct Sender {
    free: Vec<*mut Buffer>,
    written: Vec<*mut Buffer>,
    in_flight: VecDeque<*mut Buffer>,
    plugged: Arc<Plugged>,
}

// SAFETY: the buffers belong to the pool, which lives as long as `plugged`; nothing about them belongs to a thread.
unsafe impl Send for Sender {}

/// A frame that has come, in its buffer. It may not outlive what it came from: who keeps some keeps the [`Plugged`] too.
pub(super) struct Frame {
    buffer: NonNull<Buffer>,
    /// When it was taken from the driver.
    pub(super) at: MonoNs,
}

// SAFETY: a buffer belongs to no thread, and any may give it back: the pool has no thread either.
unsafe impl Send for Frame {}
// SAFETY: through a shared reference it is only read.
unsafe impl Sync for Frame {}

impl Plugged {
    /// Plugs it in. Devices come and go one at a time: the caller sees to that.
    ///
    /// # Errors
    /// The log of DPDK.
    pub(super) fn open(plan: &Plan) -> Result<(Arc<Plugged>, Receiver, Sender), String> {
        let text = |text: &str| CString::new(text).map_err(|_| format!("{text:?} holds a zero"));
        let (bus, name, arguments) = (text(plan.bus)?, text(&plan.name)?, text(&plan.arguments)?);
        let mut plugged = Plugged { bus, name, port: None, pool: None };
        let mut port = u16::MAX;
        let _forgotten = last_log("");
        // SAFETY: three strings and a number that outlive the call; DPDK runs (`eal::start`), and devices change one at a time.
        let answer =
            unsafe { takt_dpdk_plug(plugged.bus.as_ptr(), plugged.name.as_ptr(), arguments.as_ptr(), &raw mut port) };
        refuse(answer)?;
        plugged.port = Some(port);
        let count = plan.kept + plan.sending + plan.waiting + BURST as u32;
        let for_card = (plan.bus == "pci").into();
        // SAFETY: a string that outlives the call, and numbers.
        let pool = unsafe { takt_dpdk_pool(plugged.name.as_ptr(), count, plan.frame_bytes, for_card) };
        let pool = NonNull::new(pool).ok_or_else(|| last_log("no memory for buffers"))?;
        plugged.pool = Some(pool);
        let mut free = vec![std::ptr::null_mut(); plan.sending as usize];
        // SAFETY: the pool is alive, and the array has room for `sending` pointers.
        refuse(unsafe { takt_dpdk_take(pool.as_ptr(), free.as_mut_ptr(), plan.sending) })?;
        let rings = plan.descriptors;
        // SAFETY: the port is the one just plugged in, the pool lives until `drop` has ended the port.
        refuse(unsafe { takt_dpdk_begin(port, rings, rings, plan.mtu, plan.promiscuous.into(), pool.as_ptr()) })?;
        let plugged = Arc::new(plugged);
        let in_flight = VecDeque::with_capacity(free.len());
        let sender = Sender { free, written: Vec::with_capacity(BURST), in_flight, plugged: Arc::clone(&plugged) };
        Ok((Arc::clone(&plugged), Receiver(plugged), sender))
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
}

impl Receiver {
    /// Takes a burst from the driver; whether there was any. The clock is read after that: nothing has come later than it says.
    pub(super) fn take(&mut self, mut each: impl FnMut(Frame)) -> bool {
        let mut burst = [std::ptr::null_mut(); BURST];
        // SAFETY: the port runs as long as `Plugged` lives, the array has room for as many as are requested, and nobody else
        // uses the queue: there is one `Receiver`, borrowed exclusively.
        let got = unsafe { takt_dpdk_receive(self.0.port(), burst.as_mut_ptr(), BURST as u16) };
        if got == 0 {
            return false;
        }
        let at = WallClock.now();
        let buffers = burst.iter().take(got.into()).filter_map(|&buffer| NonNull::new(buffer));
        buffers.for_each(|buffer| each(Frame { buffer, at }));
        true
    }
}

impl Frame {
    /// From its destination's hardware address on.
    pub(super) fn bytes(&self) -> &[u8] {
        let mut bytes = 0;
        // SAFETY: the buffer is ours and whole, and the number outlives the call.
        let frame = unsafe { takt_dpdk_frame(self.buffer.as_ptr(), &raw mut bytes) };
        if frame.is_null() {
            return &[];
        }
        // SAFETY: the shim compared offset and length with the buffer, which stays ours while `self` is borrowed; its memory was
        // zeroed by the kernel before anybody wrote there.
        unsafe { std::slice::from_raw_parts(frame, bytes as usize) }
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        // SAFETY: the driver handed the buffer over, once, and the pool is there: who keeps frames keeps `Plugged`.
        unsafe { takt_dpdk_free(self.buffer.as_ptr()) };
    }
}

impl Sender {
    /// Frames written and not yet taken by the driver.
    pub(super) fn written(&self) -> usize {
        self.written.len()
    }

    /// Lets `write` fill a buffer, which leaves with the next [`Sender::send`]; `false` when none is free, or a burst is full.
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

    /// Offers what is written to the driver, and forgets what it does not take; how many frames it took, from the front.
    pub(super) fn send(&mut self) -> usize {
        let count = self.written.len();
        // SAFETY: the port runs, nobody else uses the queue, and the buffers are ours; those it takes are the driver's from now
        // on.
        let taken = unsafe { takt_dpdk_send(self.plugged.port(), self.written.as_mut_ptr(), count as u16) };
        let taken = usize::from(taken).min(count);
        for buffer in self.written.drain(..taken) {
            if is_back(buffer) {
                self.free.push(buffer);
            } else {
                self.in_flight.push_back(buffer);
            }
        }
        self.free.append(&mut self.written);
        taken
    }

    /// Takes back what the driver is done with.
    fn reap(&mut self) {
        // SAFETY: the port runs.
        unsafe { takt_dpdk_clean(self.plugged.port()) };
        while let Some(&buffer) = self.in_flight.front() {
            if !is_back(buffer) {
                break;
            }
            self.in_flight.pop_front();
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
        errno => Err(last_log(&std::io::Error::from_raw_os_error(errno.saturating_abs()).to_string())),
    }
}

impl Drop for Plugged {
    fn drop(&mut self) {
        if let Some(port) = self.port {
            // SAFETY: the port is ours; nobody uses it after this, and its driver lets go of all buffers.
            unsafe { takt_dpdk_end(port) };
            // SAFETY: two strings that outlive the call; devices change one at a time.
            unsafe { takt_dpdk_unplug(self.bus.as_ptr(), self.name.as_ptr()) };
        }
        if let Some(pool) = self.pool {
            // SAFETY: the port that used the pool has ended, and neither `Frame`, `Receiver` nor `Sender` is left.
            unsafe { takt_dpdk_free_pool(pool.as_ptr()) };
        }
    }
}
