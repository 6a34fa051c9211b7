//! Barriers that keep an ordinary user from a user namespace in which network namespaces, mounts and interfaces can be
//! made.
//!
//! | setting | who sets it | what happens |
//! | --- | --- | --- |
//! | `kernel.apparmor_restrict_unprivileged_userns` = 1 | Ubuntu, from 24.04 on | one can be made, but AppArmor takes its capabilities away |
//! | `kernel.unprivileged_userns_clone` = 0 | Debian up to 10, hardened systems | none can be made |
//! | `user.max_user_namespaces` = 0 | hardened systems | none can be made |

use crate::host::Host;

/// A setting that stands in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Barrier {
    pub name: &'static str,
    /// The value that stands in the way.
    pub value: i64,
    /// One that does not.
    pub opens: i64,
    /// Its effect, in a few words.
    pub does: &'static str,
}

impl Barrier {
    /// The command that takes it away until a reboot. Every program of this machine may then do what it forbade.
    #[must_use]
    pub fn command(&self) -> String {
        format!("sudo sysctl -w {}={}", self.name, self.opens)
    }
}

const BARRIERS: [Barrier; 3] = [
    Barrier {
        name: "kernel.apparmor_restrict_unprivileged_userns",
        value: 1,
        opens: 0,
        does: "AppArmor takes all capabilities from user namespaces of ordinary programs",
    },
    Barrier {
        name: "kernel.unprivileged_userns_clone",
        value: 0,
        opens: 1,
        does: "only root may make user namespaces",
    },
    Barrier { name: "user.max_user_namespaces", value: 0, opens: 10_000, does: "no user namespaces may be made" },
];

/// Settings that stand in the way here. A setting that this kernel does not have, or does not show, is none.
#[must_use]
pub fn barriers(host: &Host) -> Vec<Barrier> {
    let stands = |barrier: &Barrier| {
        let file = format!("/proc/sys/{}", barrier.name.replace('.', "/"));
        host.read_number(&file).is_ok_and(|value: i64| value == barrier.value)
    };
    BARRIERS.into_iter().filter(stands).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tree;

    #[test]
    fn ubuntus_apparmor_is_found_with_the_command_that_opens_it() {
        let tree = Tree::new()
            .with("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1\n")
            .with("/proc/sys/kernel/unprivileged_userns_clone", "1\n")
            .with("/proc/sys/user/max_user_namespaces", "63000\n");
        let found = barriers(&tree.host());
        let commands: Vec<String> = found.iter().map(Barrier::command).collect();
        assert_eq!(commands, ["sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"]);
        tree.put("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "0\n");
        assert_eq!(barriers(&tree.host()), []);
    }

    #[test]
    fn switches_that_are_off_are_barriers_and_missing_ones_are_not() {
        assert_eq!(barriers(&Tree::new().host()), []);
        let tree = Tree::new()
            .with("/proc/sys/kernel/unprivileged_userns_clone", "0\n")
            .with("/proc/sys/user/max_user_namespaces", "0\n");
        let names: Vec<&str> = barriers(&tree.host()).iter().map(|barrier| barrier.name).collect();
        assert_eq!(names, ["kernel.unprivileged_userns_clone", "user.max_user_namespaces"]);
    }
}
