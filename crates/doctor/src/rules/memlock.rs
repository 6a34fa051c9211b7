//! `memlock-limit`: takt may not lock its memory.

use takt_host::capability::{self, CapabilitySet};
use takt_host::memory::passes_limit;
use takt_host::proc::limits::{self, Limit};

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "memlock-limit",
    topic: Topic::Permissions,
    title: "Limit on locked memory",
    mechanism: "The kernel can take back memory that is not locked. The next touch of it then waits for a disk in the \
                middle of a slot.",
    looks_at: "The soft limit `Max locked memory` of this process, and whether it has CAP_IPC_LOCK. A problem if the \
               limit is finite and the process lacks the capability, or has it only in a user namespace. takt then \
               cannot lock its memory.",
    probe,
    known: "Nothing while memory is plentiful. Under memory pressure, a page fault of 0.1 to 10 ms wherever the kernel \
            took a page. Not measured: it takes a host that is short of memory.",
    fix: Fix::Advice(Instructions::Always(&[
        "echo \"$USER - memlock unlimited\" | sudo tee /etc/security/limits.d/95-takt-memlock.conf   (then log in \
         again)",
        "for a service: set LimitMEMLOCK=infinity; for a container: docker run --ulimit memlock=-1",
    ])),
    ..Rule::COMMON
};

fn probe(host: &Host) -> Look {
    let path = "/proc/self/limits";
    let text = host.read(path)?;
    let limit = limits::soft(&text, "Max locked memory");
    let limit = limit.ok_or_else(|| malformed(path, "a row `Max locked memory`", &text))?;
    let own = capability::of(host).unwrap_or(CapabilitySet::empty());
    match limit {
        Limit::Unlimited => fine("unlimited"),
        Limit::At(bytes) if passes_limit(host, own) => fine(format!("CAP_IPC_LOCK lifts the limit of {bytes} B")),
        Limit::At(bytes) if own.contains(CapabilitySet::IPC_LOCK) => {
            problem(format!("{bytes} B; CAP_IPC_LOCK in a user namespace does not lift it"), "unlimited")
        }
        Limit::At(bytes) => problem(format!("{bytes} B"), "unlimited"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_without_the_capability_is_a_problem() {
        let of = |limit: &str, capabilities: &str| {
            let row = format!("Max locked memory         {limit}              {limit}       bytes\n");
            let status = format!("Name:\tx\nCapEff:\t{capabilities}\n");
            let tree = Tree::new().with("/proc/self/limits", &row).with("/proc/self/status", &status);
            probe(&tree.host()).unwrap()
        };
        assert!(matches!(of("unlimited", "0000000000000000"), Finding::Fine { .. }));
        assert!(matches!(of("8388608", "0000000000004000"), Finding::Fine { .. }));
        let limited = Finding::Problem { observed: "8388608 B".to_owned(), wanted: "unlimited".to_owned() };
        assert_eq!(of("8388608", "0000000000000000"), limited);
        let row = "Max locked memory         8388608              8388608              bytes\n";
        let rootless = [
            ("/proc/self/limits", row),
            ("/proc/self/status", "CapEff:\t0000000000004000\n"),
            ("/proc/self/uid_map", "         0       1000          1\n"),
        ];
        let (word, observed) = verdict(&RULE, &rootless);
        assert!(word == "problem" && observed.contains("user namespace"), "{observed}");
        assert!(probe(&Tree::new().host()).is_err());
        assert!(probe(&Tree::new().with("/proc/self/limits", "nothing\n").host()).is_err());
    }
}
