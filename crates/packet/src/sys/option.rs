//! Socket options that rustix does not have.

use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;

/// Arrival stamps as two 64-bit numbers on every architecture (asm-generic/socket.h). Option and control message alike.
pub(crate) const SO_TIMESTAMPNS_NEW: i32 = 64;
/// Memory of a socket, and its drops (asm-generic/socket.h).
const SO_MEMINFO: i32 = 55;
/// Its last word: datagrams dropped (`linux/sock_diag.h`).
const SK_MEMINFO_DROPS: usize = 8;
/// Bytes of each datagram of an aggregate to be sent (linux/udp.h). Option and control message alike.
pub(crate) const UDP_SEGMENT: i32 = 103;
/// Receive aggregates (linux/udp.h). Option and control message alike.
pub(crate) const UDP_GRO: i32 = 104;

/// Sets an option that is a whole number.
pub(crate) fn set(socket: BorrowedFd<'_>, level: i32, name: i32, value: i32) -> Result<(), Errno> {
    // SAFETY: the pointer and the length describe `value`, which lives until the call returns; the kernel only reads.
    #[allow(unsafe_code)]
    let answer = unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const value).cast(), 4) };
    if answer == 0 { Ok(()) } else { Err(last()) }
}

/// Datagrams the kernel dropped at this socket since it was opened, modulo 2^32; `None` if it will not say.
pub(crate) fn drops(socket: BorrowedFd<'_>) -> Option<u32> {
    words::<{ SK_MEMINFO_DROPS + 1 }>(socket, libc::SOL_SOCKET, SO_MEMINFO).map(|words| words[SK_MEMINFO_DROPS])
}

/// An option that is a number of 32-bit words; `None` if the kernel has it not, or fewer of them.
pub(crate) fn words<const N: usize>(socket: BorrowedFd<'_>, level: i32, name: i32) -> Option<[u32; N]> {
    let mut words = [0_u32; N];
    let mut len = u32::try_from(size_of_val(&words)).ok()?;
    // SAFETY: pointer and length describe `words`, which outlives the call; the kernel writes at most `len` bytes there
    // and how many it wrote to `len`. Every bit pattern is a u32.
    #[allow(unsafe_code)]
    let answer = unsafe {
        let (into, len) = (words.as_mut_ptr().cast(), &raw mut len);
        libc::getsockopt(socket.as_raw_fd(), level, name, into, len)
    };
    (answer == 0 && len as usize == size_of_val(&words)).then_some(words)
}

/// Returns when whatever the kernel had begun to do with a received packet before this call is done: an RCU grace
/// period, some milliseconds (membarrier(2)). If the call is not to be had, sleeps longer than it would take.
pub(crate) fn wait_for_packets_under_way() {
    // SAFETY: three plain numbers go in, nothing is read or written by the kernel.
    #[allow(unsafe_code)]
    let answer = unsafe { libc::syscall(libc::SYS_membarrier, libc::MEMBARRIER_CMD_GLOBAL, 0, 0) };
    if answer != 0 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// Why the last call failed.
pub(crate) fn last() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL)
}
