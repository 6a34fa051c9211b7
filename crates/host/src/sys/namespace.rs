//! Leaving the network namespace that the threads of a process usually share.
#![allow(unsafe_code)]

use rustix::thread::UnshareFlags;

pub(crate) fn unshare_network() -> rustix::io::Result<()> {
    // SAFETY: the call is unsafe for `UnshareFlags::FILES`, which takes the descriptor table from under its other
    // owners. NEWNET changes only which interfaces and network settings later calls of this thread see.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) }
}
