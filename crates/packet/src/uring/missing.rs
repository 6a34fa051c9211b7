//! Why the kernel made no ring.

use std::io;

use rustix::io::Errno;

use crate::{EngineError, EngineKind, Missing};

/// Why the kernel made no ring.
pub(super) fn uring_missing(source: io::Error) -> EngineError {
    let switch = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled");
    let switch = switch.ok().and_then(|text| text.trim().parse().ok());
    match uring_reason(Errno::from_io_error(&source), switch) {
        Some(missing) => EngineError::Missing { engine: EngineKind::Uring, missing },
        None => EngineError::Kernel { call: "io_uring_setup", source },
    }
}

/// Meaning of io_uring_setup(2)'s answer where the sysctl `kernel.io_uring_disabled` has this value (`None`: a kernel
/// before 6.6, without it).
fn uring_reason(answer: Option<Errno>, switch: Option<u8>) -> Option<Missing> {
    match (answer?, switch) {
        (Errno::NOSYS, _) => Some(Missing::Uring),
        (Errno::INVAL, _) => Some(Missing::NewerUring),
        (Errno::PERM, Some(value @ 1..)) => Some(Missing::UringSwitchedOff { value }),
        (Errno::PERM | Errno::ACCESS, _) => Some(Missing::UringFiltered),
        (Errno::NOMEM, _) => Some(Missing::LockedMemory),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_follows_from_the_kernels_answer_and_its_switch() {
        for (answer, switch, missing) in [
            (Errno::NOSYS, None, Missing::Uring),
            (Errno::INVAL, Some(0), Missing::NewerUring),
            (Errno::PERM, Some(1), Missing::UringSwitchedOff { value: 1 }),
            (Errno::PERM, Some(2), Missing::UringSwitchedOff { value: 2 }),
            (Errno::PERM, Some(0), Missing::UringFiltered),
            (Errno::PERM, None, Missing::UringFiltered),
            (Errno::NOMEM, Some(0), Missing::LockedMemory),
        ] {
            assert_eq!(uring_reason(Some(answer), switch), Some(missing));
        }
        assert_eq!(uring_reason(Some(Errno::MFILE), Some(0)), None);
    }
}
