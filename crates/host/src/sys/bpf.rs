//! `bpf(2)`: the command that loads a program, and the one that makes a table.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

/// The front of `union bpf_attr` as `BPF_PROG_LOAD` reads it (linux/bpf.h).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Load {
    program_type: u32,
    instructions: u32,
    code: u64,
    license: u64,
    log_level: u32,
    log_bytes: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
}

/// Its front as `BPF_MAP_CREATE` reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Create {
    kind: u32,
    key_bytes: u32,
    value_bytes: u32,
    entries: u32,
}

const BPF_MAP_CREATE: libc::c_long = 0;
const BPF_PROG_LOAD: libc::c_long = 5;
const BPF_MAP_TYPE_ARRAY: u32 = 2;
const BPF_PROG_TYPE_XDP: u32 = 6;
const BPF_F_XDP_HAS_FRAGS: u32 = 1 << 5;

pub(crate) fn create_array(value_bytes: u32, entries: u32) -> io::Result<OwnedFd> {
    let attributes = Create { kind: BPF_MAP_TYPE_ARRAY, key_bytes: 4, value_bytes, entries };
    let len = size_of::<Create>();
    // SAFETY: the kernel reads `len` bytes of `attributes`, which outlive the call, and writes nothing.
    let answer = unsafe { libc::syscall(libc::SYS_bpf, BPF_MAP_CREATE, &raw const attributes, len) };
    descriptor(answer)
}

fn descriptor(answer: libc::c_long) -> io::Result<OwnedFd> {
    match i32::try_from(answer) {
        // SAFETY: an answer of these commands that is no error is a new descriptor, and nobody else has it.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Gives `code` to the kernel's verifier, which writes its complaints, with a zero behind them, into `log`.
pub(crate) fn load_xdp(code: &[u64], fragments: bool, log: &mut [u8]) -> io::Result<OwnedFd> {
    let attributes = Load {
        program_type: BPF_PROG_TYPE_XDP,
        instructions: u32::try_from(code.len()).unwrap_or(u32::MAX),
        code: code.as_ptr().expose_provenance() as u64,
        license: c"MIT".as_ptr().expose_provenance() as u64,
        log_level: 1,
        log_bytes: u32::try_from(log.len()).unwrap_or(0),
        log: log.as_mut_ptr().expose_provenance() as u64,
        kernel_version: 0,
        flags: if fragments { BPF_F_XDP_HAS_FRAGS } else { 0 },
    };
    let len = size_of::<Load>();
    // SAFETY: the kernel reads `len` bytes of `attributes` and, through it, `code` (whose instructions are one u64 each)
    // and a string that ends with zero, and writes at most `log_bytes` to `log`, borrowed mutably; all outlive the call.
    let answer = unsafe { libc::syscall(libc::SYS_bpf, BPF_PROG_LOAD, &raw const attributes, len) };
    descriptor(answer)
}
