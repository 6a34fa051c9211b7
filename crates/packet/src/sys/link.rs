//! Binding a packet socket to an interface: `sockaddr_ll` (packet(7)), which rustix does not have.

use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;

use super::option::{last, words};

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

/// The interface that a packet socket is bound to: its index; `None` for any other socket.
#[cfg(feature = "dpdk")]
pub(crate) fn bound(socket: BorrowedFd<'_>) -> Option<u32> {
    // SAFETY: integers, for which zero is a value.
    #[allow(unsafe_code)]
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    let mut len = u32::try_from(size_of_val(&address)).ok()?;
    // SAFETY: the kernel writes at most `len` bytes to `address`, and how many there are to `len`; both outlive the call.
    #[allow(unsafe_code)]
    let answer = unsafe { libc::getsockname(socket.as_raw_fd(), (&raw mut address).cast(), &raw mut len) };
    let of_packets = answer == 0 && i32::from(address.sll_family) == libc::AF_PACKET;
    of_packets.then(|| u32::try_from(address.sll_ifindex).ok()).flatten()
}

/// Frames received and frames dropped because the socket's buffer was full, since the last such question.
pub(crate) fn statistics(socket: BorrowedFd<'_>) -> Option<(u32, u32)> {
    // `struct tpacket_stats`
    words::<2>(socket, libc::SOL_PACKET, libc::PACKET_STATISTICS).map(|[received, dropped]| (received, dropped))
}
