//! A kernel that refuses io_uring, or a part of it, for one thread.
#![allow(unsafe_code)]

/// `IORING_REGISTER_PROBE` (linux/io_uring.h).
const PROBE: u32 = 8;

/// Result of `job` on a thread for which `io_uring_setup` answers `errno`; `None`, on record, where no filter may be
/// set.
pub fn io_uring_answers<T: Send>(errno: i32, job: impl FnOnce() -> T + Send) -> Option<T> {
    under(Refused { call: libc::SYS_io_uring_setup, second: None, errno }, job)
}

/// The same for a thread that gets no list of the requests an io_uring has, as before Linux 5.6.
pub fn without_a_probe<T: Send>(job: impl FnOnce() -> T + Send) -> Option<T> {
    under(Refused { call: libc::SYS_io_uring_register, second: Some(PROBE), errno: libc::EINVAL }, job)
}

/// A system call, if its second argument is this one, and what it is answered.
#[derive(Clone, Copy)]
struct Refused {
    call: i64,
    second: Option<u32>,
    errno: i32,
}

fn under<T: Send>(refused: Refused, job: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| match filter(refused) {
            Ok(()) => Some(job()),
            Err(error) => {
                takt_testing::skip(format!("no system-call filter can be set: {error}   (CONFIG_SECCOMP)"));
                None
            }
        });
        thread.join().expect("no panic")
    })
}

/// The calling thread's, for good.
fn filter(refused: Refused) -> std::io::Result<()> {
    // A filter sees (seccomp(2), `struct seccomp_data`) the number of the call, then architecture, address and
    // arguments of eight bytes each.
    const CALL: u32 = 0;
    const SECOND: u32 = if cfg!(target_endian = "little") { 24 } else { 28 };
    let step = |code: u32, k: u32, jt: u8, jf: u8| libc::sock_filter { code: code as u16, jt, jf, k };
    let load = |at| step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, at, 0, 0);
    let equal = |to, or_skip| step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, to, 0, or_skip);
    let answer = |what| step(libc::BPF_RET | libc::BPF_K, what, 0, 0);
    let mut steps = vec![load(CALL)];
    match refused.second {
        None => steps.push(equal(refused.call as u32, 1)),
        Some(second) => steps.extend([equal(refused.call as u32, 3), load(SECOND), equal(second, 1)]),
    }
    steps.extend([answer(libc::SECCOMP_RET_ERRNO | refused.errno as u32), answer(libc::SECCOMP_RET_ALLOW)]);
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // Without this only root may set a filter.
    rustix::thread::set_no_new_privs(true)?;
    // SAFETY: the kernel copies `len` steps from `filter`, which are those of a vector that outlives the call; the other
    // arguments are numbers.
    let answer = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) };
    if answer == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}
