//! Network paths built on this machine: namespaces and what connects them, through netlink, without calling `ip`.
//!
//! ```text
//!   takt-PID-LABEL-radio                  takt-PID-LABEL-host
//!   +------------------------+            +------------------------+
//!   | emulator  192.168.10.2 |radio0 host0| 192.168.10.1    driver |
//!   |                        +------------+                        |
//!   +------------------------+  veth pair +------------------------+
//! ```
//!
//! Nothing here touches an interface, address or route of the machine's own namespace. What is made is registered
//! before it exists and removed on drop; what a `kill -9` leaves, `takt clean` finds. Needs `CAP_SYS_ADMIN` and
//! `CAP_NET_ADMIN`; without them [`PathError::NotPermitted`] says so, and the caller falls back to loopback.

mod address;
mod link;
mod namespace;
mod napi;
mod nftables;
mod pair;
mod path;
mod queue;
mod rtnetlink;
mod shaper;

use std::io;

use takt_host::Host;
use takt_host::call::{self, WITH_SUDO, quoted};
use takt_host::user_namespace::barriers;

pub use namespace::Namespace;
pub use pair::RadioPair;
pub use path::CARDS;
pub use path::{
    Addressing, Build, Ceiling, HopCounters, InterfaceCounters, Limit, NodeCounters, OPTIONS, Path, PathEnd, PathName,
    PathSpec, PathSpecError, SMALL_DATAGRAMS_PER_S, SMALL_PAYLOAD_BYTES, SetBy, Towards,
};
pub use rtnetlink::Rtnetlink;
pub use shaper::Shape;
pub use takt_path::topology::Topology;
pub use takt_path::{ethernet, topology};

/// Why a path could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    /// This process may not make namespaces or interfaces.
    #[error("making network namespaces needs CAP_SYS_ADMIN and CAP_NET_ADMIN, which this process lacks")]
    NotPermitted,
    /// A namespace of that name exists.
    #[error("a network namespace {name} exists already")]
    Taken {
        /// Its name.
        name: String,
    },
    /// Entering or making a namespace.
    #[error("network namespace {name}")]
    Namespace {
        /// Its name.
        name: String,
        /// Why.
        #[source]
        source: takt_host::namespace::NamespaceError,
    },
    /// A file under /run/netns, or its mount.
    #[error("{what} {name}")]
    File {
        /// What was being done: `mounting namespace`.
        what: &'static str,
        /// The name or file.
        name: String,
        /// What the kernel answered.
        #[source]
        source: io::Error,
    },
    /// A request to the kernel's routing socket.
    #[error("netlink: {what}")]
    Netlink {
        /// What was asked: `veth pair radio0, host0`.
        what: String,
        /// What the kernel answered.
        #[source]
        source: io::Error,
    },
    /// The record that lets `takt clean` find it could not be written; so it was not made.
    #[error("registering namespace {name} for later clean-up")]
    Register {
        /// Its name.
        name: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// This kernel has not what a path needs.
    #[error("{what} needs {needs}")]
    Missing {
        /// What of a path.
        what: &'static str,
        /// What it needs.
        needs: &'static str,
        /// What the kernel answered.
        #[source]
        source: io::Error,
    },
    /// The kernel does not limit a router.
    #[error("a router on {share_percent:.1} % of a CPU each way")]
    Limit {
        /// What it was to have.
        share_percent: f64,
        /// Why not.
        #[source]
        source: Box<takt_host::policy::PolicyError>,
    },
    /// Nothing crossed a router whose share of a CPU was to be found out.
    #[error("nothing crosses the router, so what a datagram costs it can't be found out; `cpu` states a share")]
    Uncalibrated,
    /// A CPU of this machine is no match for the study's small router.
    #[error(
        "a CPU of this machine forwards {datagrams_per_s:.0} datagrams of 128 bytes a second: too few to stand for the \
         study's small router, which passed {needed_per_s:.0}, each way; `cpu` states a share"
    )]
    TooSlow {
        /// What it does.
        datagrams_per_s: f64,
        /// What the study's did.
        needed_per_s: f64,
    },
    /// The account of processor time.
    #[error(transparent)]
    Account(takt_host::ReadError),
    /// The program of a fast forwarder.
    #[error(transparent)]
    Program(takt_host::bpf::BpfError),
    /// A hop in user space.
    #[error("hop {node} of the path")]
    Hop {
        /// As in the topology.
        node: String,
        /// Why.
        #[source]
        source: takt_agent::AgentError,
    },
    /// An address over the path itself.
    #[error("namespace {name} gets no address by DHCP")]
    Lease {
        /// The namespace that asks.
        name: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A calibration.
    #[error("calibrating the path")]
    Calibration(#[source] takt_packet::EngineError),
}

/// The same call with the rights that it takes: as root, or in a user namespace, which gives every capability over what is
/// made in it; its /run must be its own, too. Where a setting keeps users from that, it has to go first.
fn with_rights(host: &Host, again: &str) -> String {
    let script = quoted(&format!("ip link set lo up; mount -t tmpfs run /run; {again}"));
    let unshare = "unshare --user --map-root-user --net --mount --pid --fork --mount-proc sh -c";
    let barriers = barriers(host);
    let opened: String = barriers.iter().map(|barrier| format!("{} && ", barrier.command())).collect();
    let why: String = barriers.iter().map(|barrier| format!("{}; ", barrier.does)).collect();
    let why = if why.is_empty() { why } else { format!("   ({why}until a reboot they may)") };
    format!("{WITH_SUDO}\n{opened}{unshare} {script}{why}")
}

impl PathError {
    /// What to do about it; lines are alternatives.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            PathError::NotPermitted => Some(with_rights(&Host::this(), &call::again())),
            PathError::Taken { name } => {
                let clean = call::sudo_takt("clean");
                Some(format!("{clean}   (if a takt left it)\nsudo ip netns delete {name}   (if it is yours)"))
            }
            PathError::Limit { source, .. } => source.fix(),
            _ => None,
        }
    }

    /// Whether this machine or this process lacks what it takes; anything else is a fault or a clash.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        use takt_host::bpf::BpfError;
        match self {
            PathError::NotPermitted | PathError::Missing { .. } => true,
            PathError::TooSlow { .. } => true,
            PathError::Limit { source, .. } => source.is_lasting(),
            PathError::Program(error) => matches!(error, BpfError::NotPermitted | BpfError::NotThere),
            // An interface, queue or address family that the kernel was built without.
            PathError::Netlink { source, .. } => {
                matches!(source.kind(), io::ErrorKind::Unsupported | io::ErrorKind::NotFound)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fix on a host whose kernel has these settings.
    fn fix(settings: &[(&str, &str)]) -> String {
        let root = tempfile::tempdir().unwrap();
        for (name, value) in settings {
            let file = root.path().join("proc/sys").join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, value).unwrap();
        }
        with_rights(&Host::at(root.path()), "takt check --runs 'my runs'")
    }

    #[test]
    fn without_the_right_to_namespaces_the_fix_is_sudo_or_a_user_namespace() {
        let lines = fix(&[("kernel/unprivileged_userns_clone", "1\n")]);
        let (sudo, unshare) = lines.split_once('\n').unwrap();
        assert_eq!(sudo, WITH_SUDO);
        let inside = quoted("ip link set lo up; mount -t tmpfs run /run; takt check --runs 'my runs'");
        assert!(unshare.starts_with("unshare --user ") && unshare.ends_with(&format!(" sh -c {inside}")), "{unshare}");
    }

    #[test]
    fn where_apparmor_forbids_it_the_setting_goes_first_and_is_explained() {
        let fix = fix(&[("kernel/apparmor_restrict_unprivileged_userns", "1\n")]);
        let unshare = fix.lines().nth(1).unwrap();
        let first = "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0 && unshare --user ";
        assert!(unshare.starts_with(first) && unshare.contains("   (AppArmor takes "), "{unshare}");
    }
}
