//! Making tap and tun interfaces: two requests to `/dev/net/tun` that have no safe binding.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Binds `tun`, an open `/dev/net/tun`, to a new tap interface `name`, and makes the interface outlive the file.
pub(crate) fn make_persistent(tun: &File, name: &str) -> io::Result<()> {
    bind(tun, name, libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_VNET_HDR | libc::IFF_TUN_EXCL)?;
    let yes: libc::c_ulong = 1;
    // SAFETY: TUNSETPERSIST takes a number in place of a pointer and touches no memory of ours.
    let kept = unsafe { libc::ioctl(tun.as_raw_fd(), libc::TUNSETPERSIST, yes) };
    if kept == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Binds `tun`, an open `/dev/net/tun`, to a new tun interface `name` of bare IP packets. It ends with the file.
pub(crate) fn bind_tun(tun: &File, name: &str) -> io::Result<()> {
    bind(tun, name, libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_TUN_EXCL)
}

fn bind(tun: &File, name: &str, flags: libc::c_int) -> io::Result<()> {
    // SAFETY: all-zero bytes are a valid `ifreq`: it holds integers, arrays of them, and pointers that may be null.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    // The sixteenth byte stays zero, so the name ends.
    for (to, from) in request.ifr_name.iter_mut().take(15).zip(name.bytes()) {
        *to = libc::c_char::from_ne_bytes([from]);
    }
    request.ifr_ifru.ifru_flags = flags as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes one `ifreq`, which `request` is and which outlives the call (linux/if_tun.h).
    let made = unsafe { libc::ioctl(tun.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
    if made == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
