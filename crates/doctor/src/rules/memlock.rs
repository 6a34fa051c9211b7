//! `memlock-limit`: memory that may not be kept in memory.

use takt_host::Host;
use takt_host::ReadError;
use takt_host::capability::{Capabilities, Capability};
use takt_host::proc::limits::{self, Limit};

use super::super::rule::{Effect, Finding, Fix, KernelRange, Proof, Rule, Topic};

pub(super) static RULE: Rule = Rule {
    id: "memlock-limit",
    topic: Topic::Permissions,
    title: "Limit on locked memory",
    mechanism: "Memory that is not locked can be taken back by the kernel, and the next touch of it waits for a disk in the \
                middle of a slot.",
    looks_at: "The soft limit `Max locked memory` of this process and whether it has CAP_IPC_LOCK. Stands if the limit is \
               finite and the capability is missing, for then takt cannot lock its memory.",
    kernels: KernelRange::from(5, 4),
    probe,
    effect: Effect {
        known: "Nothing while memory is plentiful; under memory pressure a page fault of 0.1 to 10 ms, wherever the kernel \
                took a page. Not measured here, since it takes a machine short of memory.",
        here: None,
    },
    fix: Fix::Advice(advise),
    proof: Proof::ADVICE,
};

fn probe(host: &Host) -> Result<Finding, ReadError> {
    let path = "/proc/self/limits";
    let text = host.read(path)?;
    let limit = limits::soft(&text, "Max locked memory").ok_or_else(|| ReadError::Malformed {
        path: path.to_owned(),
        expected: "a row `Max locked memory`",
        got: text.chars().take(40).collect(),
    })?;
    let capable = Capabilities::of(host).is_some_and(|own| own.has(Capability::CapIpcLock));
    Ok(match limit {
        Limit::Unlimited => Finding::Fine { seen: "unlimited".to_owned() },
        Limit::At(bytes) if capable => Finding::Fine { seen: format!("CAP_IPC_LOCK, beyond the limit of {bytes} B") },
        Limit::At(bytes) => Finding::Stands { seen: format!("{bytes} B"), wanted: "unlimited".to_owned() },
    })
}

fn advise(_: &Host) -> Vec<String> {
    vec![
        "echo \"$USER - memlock unlimited\" | sudo tee /etc/security/limits.d/95-takt-memlock.conf   (then log in again)".to_owned(),
        "for a service: LimitMEMLOCK=infinity; for a container: docker run --ulimit memlock=-1".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use takt_host::testing::Tree;

    fn tree(limit: &str, capabilities: &str) -> Tree {
        Tree::new()
            .with("/proc/self/limits", &format!("Max locked memory         {limit}              {limit}       bytes\n"))
            .with("/proc/self/status", &format!("Name:\tx\nCapEff:\t{capabilities}\n"))
    }

    #[test]
    fn no_limit_or_the_capability_is_fine() {
        assert!(matches!(probe(&tree("unlimited", "0000000000000000").host()).unwrap(), Finding::Fine { .. }));
        assert!(matches!(probe(&tree("8388608", "0000000000004000").host()).unwrap(), Finding::Fine { .. }));
    }

    #[test]
    fn a_limit_without_the_capability_stands() {
        let found = probe(&tree("8388608", "0000000000000000").host()).unwrap();
        assert_eq!(found, Finding::Stands { seen: "8388608 B".to_owned(), wanted: "unlimited".to_owned() });
    }

    #[test]
    fn a_host_that_does_not_say_is_an_error() {
        assert!(probe(&Tree::new().host()).is_err());
        assert!(probe(&Tree::new().with("/proc/self/limits", "nothing\n").host()).is_err());
    }
}
