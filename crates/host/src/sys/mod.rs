//! System calls that have no safe wrapper in `rustix`, one small file each; the only unsafe code of this crate.

pub(crate) mod bpf;
pub(crate) mod cpu_time;
pub(crate) mod cpuid;
pub(crate) mod namespace;
pub(crate) mod sched;
pub(crate) mod signal;
pub(crate) mod tap;
