//! How an interface of the calling thread's network namespace receives: what it leaves to the kernel, and which thread works
//! it off.
//!
//! Frames that a virtual pair receives are worked off in the context of whoever sends, and charged to him. With generic
//! receive offload on it has a queue of its own (NAPI), and with that threaded, a kernel thread of its own,
//! `napi/INTERFACE-ID`, whose processor time is known and whose policy can be set like that of any other thread.

use std::io;

use rustix::fs::{Mode, OFlags};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsmount, fsopen};

use crate::ethtool::{Command, WORDS, request};

/// Work that an interface may do in place of the protocol code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offload {
    /// Received frames of one flow are joined (`gro`). On a virtual pair it is what gives it a queue.
    Join,
    /// TCP hands over more than a frame at once (`tso`). While the sender of a virtual pair does, most frames pass the
    /// receiver's queue by.
    Segment,
    /// The sender leaves checksums to the card (`tx`). A virtual pair leaves them to nobody.
    Checksum,
}

/// Turns it on or off.
///
/// # Errors
/// There is no such interface, it can't, or `CAP_NET_ADMIN` is missing.
pub fn set_offload(interface: &str, offload: Offload, on: bool) -> io::Result<()> {
    let command = match offload {
        Offload::Join => Command::SetGro,
        Offload::Segment => Command::SetTso,
        Offload::Checksum => Command::SetTxChecksum,
    };
    let mut row = [0; WORDS];
    row[1] = on.into();
    request(interface, command, &mut row)
}

/// Has the queues of an interface, which must be up and have some, worked off by kernel threads.
///
/// # Errors
/// There is no such interface, it has no queue, or the kernel is older than 5.12.
pub fn set_threaded(interface: &str) -> io::Result<()> {
    // The sysfs that is mounted shows the interfaces of the namespace in which it was mounted.
    let context = fsopen("sysfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(&context)?;
    let sysfs = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())?;
    let file = format!("class/net/{interface}/threaded");
    let file = rustix::fs::openat(&sysfs, file, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, b"1")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::namespace::unshare_network;

    #[test]
    fn an_interface_that_is_not_there_is_an_error_and_loopback_has_no_queue() {
        let missing = set_offload("takt-none", Offload::Join, true).unwrap_err();
        assert_eq!(missing.raw_os_error(), Some(libc::ENODEV));
        let inside = std::thread::spawn(|| {
            unshare_network().ok()?;
            Some(["takt-none", "lo"].map(|name| set_threaded(name).unwrap_err().raw_os_error()))
        });
        match inside.join().unwrap() {
            Some(seen) => assert_eq!(seen, [Some(libc::ENOENT), Some(libc::EOPNOTSUPP)]),
            None => takt_testing::skip("network namespaces need CAP_SYS_ADMIN   (run as root)"),
        }
    }
}
