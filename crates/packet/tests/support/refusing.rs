//! A kernel that refuses io_uring, for one thread.
#![allow(unsafe_code)]

/// What `job` returns on a thread for which `io_uring_setup` answers `errno`; `None`, on record, where no filter may be set.
pub fn io_uring_answers<T: Send>(errno: i32, job: impl FnOnce() -> T + Send) -> Option<T> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| match filter(errno) {
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
fn filter(errno: i32) -> std::io::Result<()> {
    let step = |code: u32, k: u32, jt: u8, jf: u8| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut steps = [
        // The number of the call is the first word of what a filter sees (seccomp(2), `struct seccomp_data`).
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, libc::SYS_io_uring_setup as u32, 0, 1),
        step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | errno as u32, 0, 0),
        step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // Without this only root may set a filter.
    rustix::thread::set_no_new_privs(true)?;
    // SAFETY: the kernel copies `len` steps from `filter`, which are those of an array that outlives the call; the other
    // arguments are numbers.
    let answer = unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program) };
    if answer == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}
