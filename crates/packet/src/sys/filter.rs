//! Filters of a socket: what does not pass is not queued (socket(7), `SO_ATTACH_FILTER`).

use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;

use super::option::last;

/// The end of a program: how many bytes of what came are kept (kernel documentation, networking/filter.rst).
pub(crate) const RETURN: u16 = 0x06;

/// One step of a program.
pub(crate) const fn step(code: u16, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    libc::sock_filter { code, jt, jf, k }
}

/// Keeps a socket from being given anything but errors.
///
/// # Errors
/// As [`attach`].
pub(crate) fn drop_datagrams(socket: BorrowedFd<'_>) -> Result<(), Errno> {
    attach(socket, &[step(RETURN, 0, 0, 0)])
}

/// Has the kernel run these steps for what comes to a socket.
///
/// # Errors
/// They are no sound program, or too many.
pub(crate) fn attach(socket: BorrowedFd<'_>, steps: &[libc::sock_filter]) -> Result<(), Errno> {
    let len = u16::try_from(steps.len()).map_err(|_| Errno::INVAL)?;
    let program = libc::sock_fprog { len, filter: steps.as_ptr().cast_mut() };
    let bytes = u32::try_from(size_of_val(&program)).unwrap_or(0);
    // SAFETY: the kernel reads the structure and copies `len` steps from `filter`, which are those of a slice that outlives the
    // call; it writes to neither.
    #[allow(unsafe_code)]
    let answer = unsafe {
        let what = (&raw const program).cast();
        libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, what, bytes)
    };
    if answer == 0 { Ok(()) } else { Err(last()) }
}
