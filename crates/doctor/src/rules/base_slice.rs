//! `base-slice`: how long an ordinary thread runs before another's turn.

use std::io::ErrorKind;

use takt_host::call;

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "base-slice",
    topic: Topic::Kernel,
    title: "Long turns of ordinary threads",
    mechanism: "A thread of normal priority that shares a CPU may have to wait until the other's turn ends; under EEVDF a \
                turn lasts the base slice.",
    looks_at: "`base_slice_ns` in the scheduler's debugfs. Never stands: real-time threads do not wait for turns; above 1 ms \
               it is noted.",
    kernels: KernelRange::from(6, 6),
    probe,
    known: "Deadlines that a thread of normal priority missed beside busy loops were missed by one slice, 2.8 ms (Linux \
            6.18). Not measured here; `--prove` does.",
    fix: Fix::Consent { plan, who_may_pay: "throughput of everything else: more changes between threads." },
    proof: Proof::By(Measure::WakeUpLoaded),
    ..Rule::COMMON
};

const NAME: &str = "kernel/debug/sched/base_slice_ns";
const MOST_NS: i64 = 1_000_000;
const WANTED_NS: &str = "500000";

fn probe(host: &Host) -> Look {
    judge(host.read_number(&format!("/sys/{NAME}")))
}

fn judge(read: Result<i64, ReadError>) -> Look {
    match read {
        Ok(ns) if ns <= MOST_NS => fine(format!("{ns} ns")),
        Ok(ns) => notice(format!("{ns} ns"), "threads of normal priority beside others wait so long"),
        Err(ReadError::Io { source, .. }) if source.kind() == ErrorKind::PermissionDenied => {
            let command = call::sudo_takt("doctor");
            hidden(format!(
                "debugfs is there and only root may read it: {command}   (a locked-down kernel shows it to nobody)"
            ))
        }
        Err(ReadError::Io { .. }) => {
            hidden("not shown; kernels that have it show it to root in debugfs, where that is mounted")
        }
        Err(malformed) => Err(malformed),
    }
}

fn plan(host: &Host) -> Plan {
    if host.read(&format!("/sys/{NAME}")).is_err() { Ok(Vec::new()) } else { sysfs_becomes(host, NAME, WANTED_NS) }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;
    use crate::rule::Finding;
    use takt_host::call;

    #[test]
    fn long_turns_are_noted() {
        let file = "/sys/kernel/debug/sched/base_slice_ns";
        assert_eq!(word(&RULE, &[(file, "700000\n")]), "fine");
        assert_eq!(word(&RULE, &[(file, "2800000\n")]), "notice");
        assert_eq!(commands(&RULE, &[(file, "2800000\n")]), [format!("echo 500000 | sudo tee {file}")]);
    }

    /// Files can't be forbidden to root, who may run this test.
    #[test]
    fn the_fix_for_who_may_not_read_is_to_be_root_and_not_to_mount() {
        let why = |errno| {
            let source = io::Error::from_raw_os_error(errno);
            match judge(Err(ReadError::Io { path: NAME.to_owned(), source })) {
                Ok(Finding::NotVisible { why }) => why,
                other => panic!("{other:?}"),
            }
        };
        for errno in [libc::EACCES, libc::EPERM] {
            assert!(
                why(errno).contains(&call::sudo_takt("doctor")) && !why(errno).contains("mounted"),
                "{}",
                why(errno)
            );
        }
        assert!(why(libc::ENOENT).contains("where that is mounted"));
    }
}
