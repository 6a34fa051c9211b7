//! The slice that an ordinary thread asks for: how long it wants to run at a time.
//!
//! Under EEVDF (Linux 6.12 on) a thread that wakes up runs before one that asks for longer slices, as long as it has not had
//! more than its share. So a thread that works for a moment and sleeps, and asks for the shortest slice, need not wait until
//! another's turn ends. No privilege is needed, and nobody else loses any of their share. Real-time threads have no slices.

use crate::sys::sched;

/// The shortest slice that the kernel grants, nanoseconds (`sched_setattr(2)`).
pub const SHORTEST_NS: u64 = 100_000;

/// Asks for slices of this length for the calling thread; threads that it starts later inherit that. Returns the slice in
/// force, nanoseconds: `None` for a real-time thread, and on kernels that know no such wish.
pub fn request_slice_ns(slice_ns: u64) -> Option<u64> {
    let own = sched::get(0).ok().filter(|own| ORDINARY.contains(&own.policy))?;
    // A refusal leaves the slice as it is, which is what is read back.
    let _ = sched::set(0, &sched::SchedAttr { runtime_ns: slice_ns, ..own });
    slice_ns_of_this_thread()
}

/// The slice of the calling thread, nanoseconds; `None` as above.
#[must_use]
pub fn slice_ns_of_this_thread() -> Option<u64> {
    let own = sched::get(0).ok().filter(|own| ORDINARY.contains(&own.policy))?;
    (own.runtime_ns > 0).then_some(own.runtime_ns)
}

/// `SCHED_OTHER` and `SCHED_BATCH`.
const ORDINARY: [u32; 2] = [0, 3];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::policy;

    #[test]
    fn a_slice_is_in_force_where_the_kernel_knows_slices_and_nothing_else_changes() {
        std::thread::spawn(|| {
            let (before_ns, policy_before) = (slice_ns_of_this_thread(), policy(0).unwrap());
            let granted_ns = request_slice_ns(SHORTEST_NS);
            assert_eq!(granted_ns, before_ns.map(|_| SHORTEST_NS), "a kernel that shows slices grants the shortest");
            assert_eq!(policy(0).unwrap(), policy_before);
            assert_eq!(std::thread::spawn(slice_ns_of_this_thread).join().unwrap(), granted_ns, "threads inherit it");
        })
        .join()
        .unwrap();
    }
}
