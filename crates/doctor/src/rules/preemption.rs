//! `preemption`: how long the kernel may finish what it is doing.

use takt_host::kernel::{self, Preemption};

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "preemption",
    topic: Topic::Kernel,
    title: "Pre-emption of the kernel itself",
    mechanism: "A real-time thread that becomes ready while the kernel works for another thread waits until the kernel is \
                done, or until a place where it may be pre-empted.",
    looks_at: "The model in force: `/sys/kernel/realtime`, the scheduler's debugfs, the command line, the configuration. Never \
               stands: an N200 is served under each; less than `full` is noted.",
    kernels: KernelRange::from(5, 12),
    probe,
    known: "Some 0.1 ms at 99.9 % for a FIFO thread with `none` and eight busy loops (Linux 6.18, 4 virtual CPUs); busy \
            loops hardly enter the kernel. Not measured here; `--prove` does.",
    fix: Fix::Consent { plan, who_may_pay: "throughput of everything else: more changes between threads." },
    proof: Proof::By(Measure::WakeUpLoaded),
    ..Rule::COMMON
};

const NAME: &str = "kernel/debug/sched/preempt";

fn probe(host: &Host) -> Look {
    let Some(observed) = kernel::preemption(host) else {
        return hidden("this kernel does not tell its pre-emption model");
    };
    let model = format!("{}, says {}", observed.model.word(), observed.by);
    match observed.model {
        Preemption::Full | Preemption::RealTime => fine(model),
        Preemption::None | Preemption::Voluntary | Preemption::Lazy => {
            notice(model, "deadlines below a millisecond want `full`, or a kernel with PREEMPT_RT")
        }
    }
}

fn plan(host: &Host) -> Plan {
    // Where debugfs is not mounted there is no way while the kernel runs.
    if host.read(&format!("/sys/{NAME}")).is_err() { Ok(Vec::new()) } else { sysfs_becomes(host, NAME, "full") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_than_full_is_noted_and_changed_where_the_kernel_lets_it() {
        let file = "/sys/kernel/debug/sched/preempt";
        assert_eq!(word(&RULE, &[(file, "none voluntary (full) lazy\n")]), "fine");
        assert_eq!(word(&RULE, &[("/sys/kernel/realtime", "1\n")]), "fine");
        let none = [(file, "(none) voluntary full lazy\n")];
        assert_eq!(word(&RULE, &none), "notice");
        assert_eq!(commands(&RULE, &none), ["echo full | sudo tee /sys/kernel/debug/sched/preempt"]);
        assert!(commands(&RULE, &[]).is_empty());
    }
}
