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
//! Nothing here touches an interface, address or route of the machine's own namespace. Everything made is registered
//! before it exists and removed on drop; `takt clean` finds what a `kill -9` leaves. Needs `CAP_SYS_ADMIN` and
//! `CAP_NET_ADMIN`; without them [`PathError::NotPermitted`] says so, and the caller falls back to loopback.

mod address;
mod link;
mod namespace;
mod napi;
mod nftables;
mod pair;
mod path;
mod raw;
mod rtnetlink;
mod shaper;

use std::fmt::Display;
use std::io;

use takt_host::Host;
use takt_host::call::{self, WITH_SUDO, quoted};
use takt_host::user_namespace::barriers;

pub use namespace::Namespace;
pub(crate) use namespace::on_own_thread;
pub use pair::RadioPair;
pub use path::{
    Addressing, Build, CARDS, Ceiling, HopCounters, InterfaceCounters, Limit, NodeCounters, OPTIONS, Path, PathEnd,
    PathName, PathSpec, PathSpecError, SMALL_DATAGRAMS_PER_S, SMALL_PAYLOAD_BYTES, SetBy, Towards,
};
pub use rtnetlink::Rtnetlink;
pub use shaper::Shape;
pub use takt_path::topology::Topology;
pub use takt_path::{ethernet, topology};

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PathError {
    #[error("making network namespaces needs CAP_SYS_ADMIN and CAP_NET_ADMIN, which this process lacks")]
    NotPermitted,
    #[error("network namespace {name} exists already")]
    Taken { name: String },
    #[error("takt can't enter or make network namespace {name}")]
    Namespace { name: String, source: takt_host::namespace::NamespaceError },
    /// A file under /run/netns, or its mount.
    #[error("{what} {name} failed")]
    File { what: &'static str, name: String, source: io::Error },
    #[error("takt's netlink request failed: {what}")]
    Netlink { what: String, source: io::Error },
    /// The record that lets `takt clean` find it could not be written; so it was not made.
    #[error("takt can't register namespace {name} for later clean-up")]
    Register { name: String, source: Box<dyn std::error::Error + Send + Sync> },
    #[error("{what} needs {needs}")]
    Missing { what: &'static str, needs: &'static str, source: io::Error },
    #[error("takt can't limit a router to {share_percent:.1} % of a CPU each way")]
    Limit { share_percent: f64, source: Box<takt_host::policy::PolicyError> },
    #[error("no datagram crossed the router, so takt can't measure the CPU cost of one")]
    Uncalibrated,
    #[error(
        "a core of this machine forwards {datagrams_per_s:.0} datagrams/s of 128 bytes, too few for the study's small router, \
         which passed {needed_per_s:.0} each way"
    )]
    TooSlow { datagrams_per_s: f64, needed_per_s: f64 },
    #[error(transparent)]
    Account(takt_host::ReadError),
    #[error(transparent)]
    Program(takt_host::bpf::BpfError),
    #[error("hop {node} of the path failed")]
    Hop { node: String, source: takt_agent::AgentError },
    #[error("namespace {name} gets no address by DHCP")]
    Lease { name: String, source: io::Error },
    #[error("takt can't calibrate the path")]
    Calibration(#[source] takt_packet::EngineError),
}

/// The same call with the rights that it takes: as root, or in a user namespace, which gives every capability over what is
/// made in it; its /run must be its own, too. If a setting keeps users from that, it has to go first.
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
    /// For `map_err`: what was being done (`mounting namespace`), and to which name or file.
    pub(crate) fn file(what: &'static str, name: impl Display) -> impl FnOnce(io::Error) -> PathError {
        move |source| PathError::File { what, name: name.to_string(), source }
    }

    /// The fix; lines are alternatives.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            PathError::NotPermitted => Some(with_rights(&Host::this(), &call::again())),
            PathError::Taken { name } => {
                let clean = call::sudo_takt("clean");
                Some(format!("{clean}   (if a takt left it)\nsudo ip netns delete {name}   (if it is yours)"))
            }
            PathError::Limit { source, .. } => source.fix(),
            PathError::Uncalibrated | PathError::TooSlow { .. } => {
                Some("set `cpu` to the router's share of a core".to_owned())
            }
            _ => None,
        }
    }

    /// Whether this machine or this process lacks what it takes; anything else is a fault or a clash.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        use takt_host::bpf::BpfError;
        match self {
            PathError::NotPermitted | PathError::Missing { .. } | PathError::TooSlow { .. } => true,
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
