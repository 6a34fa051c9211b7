//! Tests that count what all threads of the process do, trace it, or keep the beat of a radio: one after the other.

#[path = "../../../../tests/support/allocations.rs"]
mod allocations;
mod echo;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[path = "../../../../tests/support/locks.rs"]
mod locks;
#[path = "../../../../tests/support/strace.rs"]
mod strace;

mod slots;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod waveform_locks;
mod waveform_quiet;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The turn of a test, also where the harness runs several at once.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
