//! CPU time as the kernel counts it for accounting calls: microseconds by mode for ourselves, nanoseconds for others.
#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;

/// Result of `getrusage` for this process since it began, ended threads included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OwnUsage {
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
    pub(crate) voluntary_switches: u64,
    pub(crate) involuntary_switches: u64,
    pub(crate) minor_faults: u64,
    pub(crate) major_faults: u64,
}

/// Reads it; microsecond resolution.
pub(crate) fn own_usage() -> OwnUsage {
    usage(libc::RUSAGE_SELF)
}

/// The same of the calling thread.
pub(crate) fn own_thread_usage() -> OwnUsage {
    usage(libc::RUSAGE_THREAD)
}

fn usage(of: libc::c_int) -> OwnUsage {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `usage` is valid for writes of one `rusage`, which is all the call writes. A known `of` with a valid
    // pointer cannot fail (getrusage(2) knows EFAULT and EINVAL only), and all-zero bytes are a valid `rusage` anyway.
    let usage = unsafe {
        libc::getrusage(of, usage.as_mut_ptr());
        usage.assume_init()
    };
    let ns = |t: libc::timeval| t.tv_sec.unsigned_abs() * 1_000_000_000 + t.tv_usec.unsigned_abs() * 1_000;
    OwnUsage {
        user_ns: ns(usage.ru_utime),
        system_ns: ns(usage.ru_stime),
        voluntary_switches: usage.ru_nvcsw.unsigned_abs(),
        involuntary_switches: usage.ru_nivcsw.unsigned_abs(),
        minor_faults: usage.ru_minflt.unsigned_abs(),
        major_faults: usage.ru_majflt.unsigned_abs(),
    }
}

/// CPU time of process `pid` since it began, ended threads included, in nanoseconds. Without such a process the kernel says
/// `EINVAL`.
pub(crate) fn process_cpu_ns(pid: u32) -> io::Result<u64> {
    // `CPUCLOCK_SCHED` of a process, as clock_getcpuclockid(3) computes it: the number is part of the kernel's ABI.
    const CPUCLOCK_SCHED: i32 = 2;
    // The kernel's PID_MAX_LIMIT; a larger number would lose bits below, and 0 would mean ourselves.
    const PID_LIMIT: i32 = 1 << 22;
    let pid = i32::try_from(pid).ok().filter(|pid| (1..=PID_LIMIT).contains(pid)).ok_or(io::ErrorKind::NotFound)?;
    let clock = (!pid << 3) | CPUCLOCK_SCHED;
    let mut time = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: `time` is valid for writes of one `timespec`, which is all the call writes; a wrong clock number is an
    // error of the call, not of memory; all-zero bytes are a valid `timespec`.
    let (result, time) = unsafe {
        let result = libc::clock_gettime(clock, time.as_mut_ptr());
        (result, time.assume_init())
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_ways_to_read_our_own_cpu_time_agree() {
        let mut sum = 0u64;
        for i in 0..20_000_000u64 {
            sum = std::hint::black_box(sum.wrapping_add(i));
        }
        let before = own_usage();
        let exact = process_cpu_ns(std::process::id()).unwrap();
        let after = own_usage();
        assert!(exact > 0);
        // getrusage rounds down to whole microseconds, user and system each.
        assert!(before.user_ns + before.system_ns <= exact + 2_000);
        assert!(exact <= after.user_ns + after.system_ns + 2_000);
    }

    #[test]
    fn a_process_that_is_not_there_is_an_error() {
        for pid in [0, 1 << 22, i32::MAX as u32, u32::MAX] {
            assert!(process_cpu_ns(pid).is_err(), "{pid}");
        }
    }
}
