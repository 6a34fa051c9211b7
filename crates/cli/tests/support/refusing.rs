//! A kernel that refuses scheduling policies, for one program and all that it starts.
//!
//! `sched_setattr` takes its policy through a pointer, which a system-call filter can't follow. So the filter (seccomp)
//! hands each such call to this process, which reads the policy where the caller has it and answers in the kernel's place,
//! or lets the kernel.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::process::{Command, Output};
use std::sync::mpsc;

use rustix::event::{PollFd, PollFlags, poll};

/// The kernel's answer to a thread that asks for the policy of this number (`SCHED_FIFO` is 1, `SCHED_DEADLINE` 6). It
/// is an error number, or the usual answer.
pub type Answer = fn(u32) -> Option<i32>;

/// As Linux before 3.14.
pub const WITHOUT_DEADLINE: Answer = |policy| (policy == 6).then_some(libc::EINVAL);
/// As a container's filter that keeps real-time policies from everybody.
pub const WITHOUT_REAL_TIME: Answer = |policy| matches!(policy, 1 | 2 | 6).then_some(libc::EPERM);
/// As a sandbox that has no such call.
pub const WITHOUT_POLICIES: Answer = |_| Some(libc::ENOSYS);

/// Output of a command under such a kernel; `None`, on record, where no filter may be set.
pub fn output(command: &mut Command, answer: Answer) -> Option<Output> {
    let (tell, told) = mpsc::channel();
    std::thread::scope(|scope| {
        // The filter is that thread's, and its children's.
        let caller = scope.spawn(move || {
            let listener = filter();
            let filtered = listener.is_ok();
            tell.send(listener).expect("the other thread listens");
            filtered.then(|| command.output().expect("it starts"))
        });
        match told.recv().expect("the thread tells") {
            Ok(listener) => serve(&listener, answer),
            Err(error) => {
                takt_testing::skip(format!(
                    "no system-call filter can be set: {error}   (a kernel with CONFIG_SECCOMP)"
                ));
            }
        }
        caller.join().expect("no panic")
    })
}

/// Has the calling thread's `sched_setattr` go to whoever holds what this returns.
fn filter() -> io::Result<OwnedFd> {
    let step = |code: u32, k: u32, jt: u8, jf: u8| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut steps = [
        // The number of the call is the first word of what a filter sees.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, libc::SYS_sched_setattr as u32, 0, 1),
        step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_USER_NOTIF, 0, 0),
        step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // Without this only root may set a filter.
    rustix::thread::set_no_new_privs(true)?;
    let (mode, flags) = (libc::SECCOMP_SET_MODE_FILTER, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER);
    // SAFETY: the kernel copies `len` steps from `filter`, which are those of an array that outlives the call; the other
    // arguments are numbers.
    let listener = unsafe { libc::syscall(libc::SYS_seccomp, mode, flags, &raw const program) };
    if listener < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: with this flag the call answers with a descriptor that it has just made and nobody else has.
    Ok(unsafe { OwnedFd::from_raw_fd(listener as i32) })
}

/// Answers until the last thread under the filter has ended.
fn serve(listener: &OwnedFd, answer: Answer) {
    loop {
        let mut ready = [PollFd::new(listener, PollFlags::IN)];
        match poll(&mut ready, None) {
            Ok(_) if ready[0].revents().contains(PollFlags::IN) => one(listener, answer),
            Ok(_) => return,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

fn one(listener: &OwnedFd, answer: Answer) {
    // SAFETY: these hold integers only, for which all zeros is a value; the kernel wants them zeroed.
    let (mut call, mut reply): (libc::seccomp_notif, libc::seccomp_notif_resp) = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes one structure of the size that is part of the number, the size of `call` (asserted below).
    if unsafe { libc::ioctl(listener.as_raw_fd(), RECV, &raw mut call) } != 0 {
        // Whoever called has been killed meanwhile.
        return;
    }
    reply.id = call.id;
    match policy(&call).ok().and_then(answer) {
        Some(errno) => reply.error = -errno,
        None => reply.flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
    }
    // SAFETY: the kernel reads one structure of the size that is part of the number, the size of `reply` (asserted below).
    // That it may be too late is no error: the caller is gone.
    let _ = unsafe { libc::ioctl(listener.as_raw_fd(), SEND, &raw const reply) };
}

/// The second word of the caller's `struct sched_attr`.
fn policy(call: &libc::seccomp_notif) -> io::Result<u32> {
    let mut word = [0; 4];
    File::open(format!("/proc/{}/mem", call.pid))?.read_exact_at(&mut word, call.data.args[1] + 4)?;
    Ok(u32::from_ne_bytes(word))
}

/// `_IOWR('!', nr, size)` of asm-generic/ioctl.h.
const fn both_ways(nr: libc::c_ulong, size: usize) -> libc::Ioctl {
    (3 << 30 | (size as libc::c_ulong) << 16 | (b'!' as libc::c_ulong) << 8 | nr) as libc::Ioctl
}
const RECV: libc::Ioctl = both_ways(0, size_of::<libc::seccomp_notif>());
const SEND: libc::Ioctl = both_ways(1, size_of::<libc::seccomp_notif_resp>());
const _: () = assert!(size_of::<libc::seccomp_notif>() == 80 && size_of::<libc::seccomp_notif_resp>() == 24);
