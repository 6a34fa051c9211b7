//! `bpf(2)`: the commands that load a program, make a table, read it and write to it, and have an interface, or the kernel by
//! itself, run a program.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

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

/// Its front as `BPF_MAP_UPDATE_ELEM` reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Update {
    table: u32,
    padding: u32,
    key: u64,
    value: u64,
    flags: u64,
}

/// Its front as `BPF_LINK_CREATE` reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Link {
    program: u32,
    interface: u32,
    kind: u32,
    flags: u32,
}

/// Its front as `BPF_PROG_TEST_RUN` reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct TestRun {
    program: u32,
    result: u32,
    data_in_bytes: u32,
    data_out_bytes: u32,
    data_in: u64,
    data_out: u64,
    repeat: u32,
    duration: u32,
    context_in_bytes: u32,
    context_out_bytes: u32,
    context_in: u64,
    context_out: u64,
    flags: u32,
    cpu: u32,
    batch: u32,
    padding: u32,
}

/// `struct xdp_md` (linux/bpf.h).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Context {
    data: u32,
    data_end: u32,
    data_meta: u32,
    interface: u32,
    queue: u32,
    egress: u32,
}

const BPF_MAP_CREATE: libc::c_long = 0;
const BPF_MAP_LOOKUP_ELEM: libc::c_long = 1;
const BPF_MAP_UPDATE_ELEM: libc::c_long = 2;
const BPF_PROG_LOAD: libc::c_long = 5;
const BPF_PROG_TEST_RUN: libc::c_long = 10;
const BPF_LINK_CREATE: libc::c_long = 28;
const BPF_MAP_TYPE_ARRAY: u32 = 2;
const BPF_MAP_TYPE_XSKMAP: u32 = 17;
/// `enum bpf_attach_type`.
const BPF_XDP: u32 = 37;
const BPF_PROG_TYPE_XDP: u32 = 6;
const BPF_F_XDP_HAS_FRAGS: u32 = 1 << 5;
const BPF_F_TEST_XDP_LIVE_FRAMES: u32 = 1 << 1;

pub(crate) fn create_array(value_bytes: u32, entries: u32) -> io::Result<OwnedFd> {
    create(Create { kind: BPF_MAP_TYPE_ARRAY, key_bytes: 4, value_bytes, entries })
}

pub(crate) fn create_sockets(entries: u32) -> io::Result<OwnedFd> {
    create(Create { kind: BPF_MAP_TYPE_XSKMAP, key_bytes: 4, value_bytes: 4, entries })
}

fn create(attributes: Create) -> io::Result<OwnedFd> {
    let len = size_of::<Create>();
    // SAFETY: the kernel reads `len` bytes of `attributes`, which outlive the call, and writes nothing.
    let answer = unsafe { libc::syscall(libc::SYS_bpf, BPF_MAP_CREATE, &raw const attributes, len) };
    descriptor(answer)
}

/// Sets an entry of a table whose keys and values are 32-bit numbers.
pub(crate) fn update(table: BorrowedFd<'_>, key: u32, value: u32) -> io::Result<()> {
    let attributes = Update {
        table: table.as_raw_fd().cast_unsigned(),
        key: (&raw const key).expose_provenance() as u64,
        value: (&raw const value).expose_provenance() as u64,
        ..Update::default()
    };
    let len = size_of::<Update>();
    // SAFETY: the kernel reads `len` bytes of `attributes` and, through it, a key and a value of four bytes each; a table
    // of other sizes than these two kinds have is not made here. All outlive the call.
    let answer = unsafe { libc::syscall(libc::SYS_bpf, BPF_MAP_UPDATE_ELEM, &raw const attributes, len) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Reads (`BPF_MAP_LOOKUP_ELEM`) or sets the only entry of an array of one 64-bit number.
fn number(command: libc::c_long, table: BorrowedFd<'_>, value: &mut u64) -> io::Result<()> {
    let key = 0_u32;
    let attributes = Update {
        table: table.as_raw_fd().cast_unsigned(),
        key: (&raw const key).expose_provenance() as u64,
        value: std::ptr::from_mut(value).expose_provenance() as u64,
        ..Update::default()
    };
    let len = size_of::<Update>();
    // SAFETY: the kernel reads `len` bytes of `attributes` and, through it, a key of four bytes, and reads or writes a value
    // of eight, which is what such a table has (`Number` of this crate, its only user); all outlive the call.
    let answer = unsafe { libc::syscall(libc::SYS_bpf, command, &raw const attributes, len) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

pub(crate) fn read_number(table: BorrowedFd<'_>) -> io::Result<u64> {
    let mut value = 0;
    number(BPF_MAP_LOOKUP_ELEM, table, &mut value).map(|()| value)
}

pub(crate) fn set_number(table: BorrowedFd<'_>, mut value: u64) -> io::Result<()> {
    number(BPF_MAP_UPDATE_ELEM, table, &mut value)
}

/// Runs a program on copies of a frame as if they came by `interface`, and has the kernel do with each what the program
/// says: `repeat` times, rounded up to whole batches.
pub(crate) fn run_live(
    program: BorrowedFd<'_>,
    frame: &[u8],
    interface: u32,
    repeat: u32,
    batch: u32,
) -> io::Result<()> {
    let bytes = u32::try_from(frame.len()).unwrap_or(u32::MAX);
    let context = Context { data_end: bytes, interface, ..Context::default() };
    let mut attributes = TestRun {
        program: program.as_raw_fd().cast_unsigned(),
        data_in_bytes: bytes,
        data_in: frame.as_ptr().expose_provenance() as u64,
        repeat,
        context_in_bytes: size_of::<Context>() as u32,
        context_in: (&raw const context).expose_provenance() as u64,
        flags: BPF_F_TEST_XDP_LIVE_FRAMES,
        batch,
        ..TestRun::default()
    };
    let len = size_of::<TestRun>();
    // SAFETY: the kernel reads `len` bytes of `attributes` and, through it, a frame and a context of the lengths given, and
    // writes the answer's two words into `attributes`; all outlive the call. The kernel sends copies.
    let answer = unsafe { libc::syscall(libc::SYS_bpf, BPF_PROG_TEST_RUN, &raw mut attributes, len) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Has an interface run a program for as long as the descriptor lives.
pub(crate) fn create_link(program: BorrowedFd<'_>, interface: u32, flags: u32) -> io::Result<OwnedFd> {
    let attributes = Link { program: program.as_raw_fd().cast_unsigned(), interface, kind: BPF_XDP, flags };
    let len = size_of::<Link>();
    // SAFETY: the kernel reads `len` bytes of `attributes`, which outlive the call, and writes nothing.
    let answer = unsafe { libc::syscall(libc::SYS_bpf, BPF_LINK_CREATE, &raw const attributes, len) };
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
