//! Binding a packet socket to an interface: `sockaddr_ll` (packet(7)), which rustix does not have.

use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;

use super::option::last;

/// Everything that crosses the interface; network byte order.
const ALL: u16 = (libc::ETH_P_ALL as u16).to_be();

/// Receives and sends on interface `index` only, from now on.
pub(crate) fn bind(socket: BorrowedFd<'_>, index: u32) -> Result<(), Errno> {
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: ALL,
        sll_ifindex: i32::try_from(index).map_err(|_| Errno::NODEV)?,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    let len = u32::try_from(size_of_val(&address)).unwrap_or(0);
    // SAFETY: pointer and length describe `address`, which lives until the call returns; the kernel only reads.
    #[allow(unsafe_code)]
    let answer = unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), len) };
    if answer == 0 { Ok(()) } else { Err(last()) }
}

/// Frames received and frames dropped because the socket's buffer was full, since the last such question.
pub(crate) fn statistics(socket: BorrowedFd<'_>) -> Option<(u32, u32)> {
    let mut words = [0_u32; 2];
    let mut len = u32::try_from(size_of_val(&words)).ok()?;
    // SAFETY: pointer and length describe `words` (`struct tpacket_stats`), which outlives the call; the kernel writes at
    // most `len` bytes there. Every bit pattern is a u32.
    #[allow(unsafe_code)]
    let answer = unsafe {
        let (into, len) = (words.as_mut_ptr().cast(), &raw mut len);
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_PACKET, libc::PACKET_STATISTICS, into, len)
    };
    (answer == 0 && len as usize == size_of_val(&words)).then_some((words[0], words[1]))
}
