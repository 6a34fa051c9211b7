//! Which CPUs a thread may run on.

use std::io;

use rustix::process::Pid;
use rustix::thread::CpuSet;

use crate::proc::cpu_list::format;

/// Why a thread could not be tied to CPUs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AffinityError {
    #[error("no CPU of {} is online and allowed here; allowed: {}", format(requested), format(allowed))]
    NoSuchCpu { requested: Vec<usize>, allowed: Vec<usize> },
    #[error("thread {tid} does not exist")]
    NoSuchThread { tid: u32 },
    #[error("thread {tid} belongs to another user, and this process lacks CAP_SYS_NICE")]
    NotPermitted { tid: u32 },
    #[error("takt can't set the CPUs of thread {tid}")]
    Io {
        /// The thread; 0 is the calling one.
        tid: u32,
        #[source]
        source: io::Error,
    },
}

/// The CPUs the calling thread may run on, in rising order.
#[must_use]
pub fn own_cpus() -> Vec<usize> {
    // The call fails only if the mask is too small for the kernel; 1024 CPUs are then all there.
    rustix::thread::sched_getaffinity(None).map(|set| cpus_of(&set)).unwrap_or_default()
}

/// Ties the calling thread to `cpus`; threads it starts later inherit them. CPUs above 1023 are ignored.
///
/// # Errors
/// [`AffinityError::NoSuchCpu`] if none of them can be used.
///
/// ```
/// let all = takt_host::affinity::own_cpus();
/// takt_host::affinity::pin_self(&all[..1])?;
/// assert_eq!(takt_host::affinity::own_cpus(), &all[..1]);
/// # takt_host::affinity::pin_self(&all)?;
/// # Ok::<(), takt_host::affinity::AffinityError>(())
/// ```
pub fn pin_self(cpus: &[usize]) -> Result<(), AffinityError> {
    pin(0, cpus)
}

/// Ties thread `tid` (0: the calling one) to `cpus`.
///
/// # Errors
/// As [`pin_self`]; or the thread is not there or not ours.
pub fn pin(tid: u32, cpus: &[usize]) -> Result<(), AffinityError> {
    let mut set = CpuSet::new();
    for &cpu in cpus.iter().filter(|&&cpu| cpu < CpuSet::MAX_CPU) {
        set.set(cpu);
    }
    rustix::thread::sched_setaffinity(pid(tid), &set).map_err(|errno| match errno {
        rustix::io::Errno::INVAL => AffinityError::NoSuchCpu { requested: cpus.to_vec(), allowed: own_cpus() },
        rustix::io::Errno::SRCH => AffinityError::NoSuchThread { tid },
        rustix::io::Errno::PERM => AffinityError::NotPermitted { tid },
        other => AffinityError::Io { tid, source: other.into() },
    })
}

/// The CPUs thread `tid` (0: the calling one) may run on, in rising order.
pub fn cpus(tid: u32) -> Result<Vec<usize>, AffinityError> {
    match rustix::thread::sched_getaffinity(pid(tid)) {
        Ok(set) => Ok(cpus_of(&set)),
        Err(rustix::io::Errno::SRCH) => Err(AffinityError::NoSuchThread { tid }),
        Err(other) => Err(AffinityError::Io { tid, source: other.into() }),
    }
}

fn cpus_of(set: &CpuSet) -> Vec<usize> {
    (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect()
}

/// `None` means the calling thread to the kernel, as 0 does.
fn pid(tid: u32) -> Option<Pid> {
    i32::try_from(tid).ok().and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_runs_where_it_was_pinned_and_its_children_too() {
        std::thread::spawn(|| {
            let all = own_cpus();
            let last = *all.last().unwrap();
            pin_self(&[last]).unwrap();
            assert_eq!(own_cpus(), [last]);
            assert_eq!(rustix::thread::sched_getcpu(), last);
            assert_eq!(std::thread::spawn(own_cpus).join().unwrap(), [last]);
            let tid = u32::try_from(rustix::thread::gettid().as_raw_nonzero().get()).unwrap();
            pin(tid, &all).unwrap();
            assert_eq!(cpus(tid).unwrap(), all);
        })
        .join()
        .unwrap();
    }

    #[test]
    fn a_cpu_that_is_not_there_names_those_that_are() {
        let error = pin_self(&[1000]).unwrap_err();
        assert!(
            matches!(&error, AffinityError::NoSuchCpu { requested, allowed } if requested == &[1000] && allowed == &own_cpus())
        );
    }

    #[test]
    fn a_thread_that_has_ended_is_named() {
        assert!(matches!(pin(i32::MAX as u32, &[0]), Err(AffinityError::NoSuchThread { .. })));
    }
}
