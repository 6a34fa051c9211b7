//! `sched_setattr` and `sched_getattr`, which have no wrapper in the C library either.
#![allow(unsafe_code)]

use std::io;
use std::mem::size_of;

/// `struct sched_attr` as `sched_setattr(2)` gives it; the 48 bytes every kernel since 3.14 knows.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SchedAttr {
    pub(crate) size: u32,
    pub(crate) policy: u32,
    pub(crate) flags: u64,
    pub(crate) nice: i32,
    pub(crate) priority: u32,
    pub(crate) runtime_ns: u64,
    pub(crate) deadline_ns: u64,
    pub(crate) period_ns: u64,
}

const SIZE: u32 = size_of::<SchedAttr>() as u32;
const _: () = assert!(SIZE == 48, "the kernel's SCHED_ATTR_SIZE_VER0");

/// Sets the attributes of thread `tid`; 0 is the calling thread.
pub(crate) fn set(tid: i32, attr: &SchedAttr) -> io::Result<()> {
    let attr = SchedAttr { size: SIZE, ..*attr };
    let no_flags: libc::c_ulong = 0;
    // SAFETY: the kernel reads `size` bytes from the pointer, and `attr` is exactly that long (asserted above) and lives
    // through the call. All other arguments are plain numbers that the kernel checks.
    let result = unsafe { libc::syscall(libc::SYS_sched_setattr, tid, &raw const attr, no_flags) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The attributes of thread `tid`; 0 is the calling thread.
pub(crate) fn get(tid: i32) -> io::Result<SchedAttr> {
    let mut attr = SchedAttr::default();
    let no_flags: libc::c_ulong = 0;
    let size = libc::c_ulong::from(SIZE);
    // SAFETY: the kernel writes at most `size` bytes, the length of `attr`, which lives through the call. Every bit
    // pattern is a valid `SchedAttr`: it holds integers only.
    let result = unsafe { libc::syscall(libc::SYS_sched_getattr, tid, &raw mut attr, size, no_flags) };
    if result == 0 { Ok(attr) } else { Err(io::Error::last_os_error()) }
}
