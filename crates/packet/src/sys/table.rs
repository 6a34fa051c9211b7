//! Descriptors that a library of this process opened and does not show.

use std::collections::HashSet;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::path::PathBuf;

/// The sockets of this process: number and name, which no two sockets of a host share.
pub(crate) fn sockets() -> HashSet<(RawFd, PathBuf)> {
    let entries = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        let name = std::fs::read_link(entry.path()).ok()?;
        name.to_str()?.starts_with("socket:").then_some((number, name))
    });
    named.collect()
}

/// A descriptor of ours for what a number stands for now, if it stands for anything.
pub(crate) fn duplicate(number: RawFd) -> Option<OwnedFd> {
    // SAFETY: numbers go in, and nothing is read or written; a number that nobody has is answered with an error.
    #[allow(unsafe_code)]
    let answer = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) };
    // SAFETY: the kernel made this descriptor a moment ago, and only we know its number.
    #[allow(unsafe_code)]
    (answer >= 0).then(|| unsafe { OwnedFd::from_raw_fd(answer) })
}

/// Has a number end with this program, as every descriptor of Rust's does: a library may not have requested that.
pub(crate) fn close_on_exec(number: RawFd) {
    // SAFETY: numbers go in, and nothing is read or written; a number that nobody has is answered with an error.
    #[allow(unsafe_code)]
    let _nobody = unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;
    use std::os::fd::AsRawFd;

    use super::*;

    #[test]
    fn a_socket_is_found_and_another_descriptor_is_the_same_socket() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let number = socket.as_raw_fd();
        assert!(sockets().iter().any(|(found, _)| *found == number));
        let twin = UdpSocket::from(duplicate(number).unwrap());
        assert_eq!(twin.local_addr().unwrap(), socket.local_addr().unwrap());
        assert!(duplicate(-1).is_none());
    }
}
