//! A function that runs when a signal arrives.
#![allow(unsafe_code)]

use std::io;

/// Runs `action` in the handler of `signal`, from now on.
///
/// `action` interrupts whatever the process does, its allocator and its locks included; it must do only what
/// signal-safety(7) allows: no memory taken or given back, no lock, no panic. One caller exists, `crate::ending`, whose
/// action reads the clock, changes atomic words and may call `_exit`.
pub(crate) fn on_signal(signal: i32, action: impl Fn() + Send + Sync + 'static) -> io::Result<()> {
    // SAFETY: the action keeps to signal-safety(7), as its one caller argues.
    unsafe { signal_hook::low_level::register(signal, action) }.map(drop)
}
