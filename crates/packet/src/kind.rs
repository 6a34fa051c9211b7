//! The engines by name.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use takt_host::steering::{Queues, UnknownQueues};

use crate::device::{DpdkDevice, UnknownDevice};

/// The engines by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum EngineKind {
    /// One system call a datagram.
    Socket,
    /// Batches through `sendmmsg` and `recvmmsg`.
    Mmsg,
    /// One io_uring for all ports: receives that go on by themselves, sends in one submission.
    Uring,
    /// AF_XDP behind a program in the interface's driver, on these of its queues.
    Xdp(Queues),
    /// AF_XDP behind a program above the driver: for interfaces whose driver has no place for one.
    XdpGeneric(Queues),
    /// A driver of DPDK's, in this process. Needs a program that was built with it (feature `dpdk`).
    Dpdk(DpdkDevice),
    /// The fastest that opens, which [`crate::Engine::choice`] explains.
    Auto,
}

impl EngineKind {
    /// `xdp` on queues that it chooses.
    pub const XDP: EngineKind = EngineKind::Xdp(Queues::Chosen);
    /// `xdp-generic` on queues that it chooses.
    pub const XDP_GENERIC: EngineKind = EngineKind::XdpGeneric(Queues::Chosen);

    /// All of them, plainest first.
    pub const ALL: [EngineKind; 7] = [
        EngineKind::Socket,
        EngineKind::Mmsg,
        EngineKind::Uring,
        EngineKind::XDP,
        EngineKind::XDP_GENERIC,
        EngineKind::Dpdk(DpdkDevice::AfPacket),
        EngineKind::Auto,
    ];

    /// Names that people may type, for the help of a command.
    pub const FORMS: &str = "socket, mmsg, uring, xdp[:QUEUES], xdp-generic[:QUEUES], dpdk[:DEVICE] or auto";

    /// Those over kernel sockets, which need no interface for themselves.
    pub const OVER_SOCKETS: [EngineKind; 3] = [EngineKind::Socket, EngineKind::Mmsg, EngineKind::Uring];

    /// Whether it is, or may become, one that sees frames as they come from the interface, headers and all.
    #[must_use]
    pub const fn sees_frames(self) -> bool {
        matches!(self, EngineKind::Xdp(_) | EngineKind::XdpGeneric(_) | EngineKind::Dpdk(_) | EngineKind::Auto)
    }

    /// The name people type; engine `dpdk` may have a device behind it, `xdp` and `xdp-generic` queues.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            EngineKind::Socket => "socket",
            EngineKind::Mmsg => "mmsg",
            EngineKind::Uring => "uring",
            EngineKind::Xdp(_) => "xdp",
            EngineKind::XdpGeneric(_) => "xdp-generic",
            EngineKind::Dpdk(_) => "dpdk",
            EngineKind::Auto => "auto",
        }
    }

    /// Whether the kernel's own sockets reach the same peers while an engine of this kind is open. Otherwise the device is
    /// the engine's alone, and those of one process share it.
    #[must_use]
    pub const fn is_beside_sockets(self) -> bool {
        !matches!(self, EngineKind::Dpdk(DpdkDevice::AfXdp | DpdkDevice::Tap(_) | DpdkDevice::Pci(..)))
    }
}

impl fmt::Display for EngineKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EngineKind::Dpdk(device) if *device != DpdkDevice::AfPacket => f.pad(&format!("dpdk:{device}")),
            EngineKind::Xdp(queues @ Queues::Named { .. }) | EngineKind::XdpGeneric(queues @ Queues::Named { .. }) => {
                f.pad(&format!("{}:{queues}", self.name()))
            }
            _ => f.pad(self.name()),
        }
    }
}

/// A name no engine has.
#[allow(missing_docs, reason = "the messages say it")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnknownEngine {
    #[error("`{got}` is not an engine; expected: socket, mmsg, uring, xdp, xdp-generic, dpdk or auto")]
    Name { got: String },
    #[error(transparent)]
    Device(#[from] UnknownDevice),
    #[error(transparent)]
    Queues(#[from] UnknownQueues),
}

impl From<EngineKind> for String {
    fn from(kind: EngineKind) -> String {
        kind.to_string()
    }
}

impl TryFrom<String> for EngineKind {
    type Error = UnknownEngine;

    fn try_from(text: String) -> Result<EngineKind, UnknownEngine> {
        text.parse()
    }
}

impl FromStr for EngineKind {
    type Err = UnknownEngine;
    fn from_str(text: &str) -> Result<EngineKind, UnknownEngine> {
        if let Some(device) = text.strip_prefix("dpdk:") {
            return Ok(EngineKind::Dpdk(device.parse()?));
        }
        if let Some(queues) = text.strip_prefix("xdp:") {
            return Ok(EngineKind::Xdp(queues.parse()?));
        }
        if let Some(queues) = text.strip_prefix("xdp-generic:") {
            return Ok(EngineKind::XdpGeneric(queues.parse()?));
        }
        let found = EngineKind::ALL.into_iter().find(|kind| kind.name() == text);
        found.ok_or_else(|| UnknownEngine::Name { got: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_engine_is_found_by_its_name_and_the_error_names_them_all() {
        for kind in EngineKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        let error = "netmap".parse::<EngineKind>().unwrap_err().to_string();
        assert!(EngineKind::ALL.iter().all(|kind| error.contains(kind.name())), "{error}");
    }

    #[test]
    fn a_device_of_dpdks_and_queues_are_part_of_the_name() {
        let plain: EngineKind = "dpdk:af_packet".parse().unwrap();
        assert_eq!((plain, plain.to_string().as_str()), (EngineKind::Dpdk(DpdkDevice::AfPacket), "dpdk"));
        for name in ["dpdk:af_xdp", "dpdk:0000:03:00.0@192.168.10.1/24"] {
            let kind: EngineKind = name.parse().unwrap();
            assert_eq!((kind.name(), kind.to_string().as_str(), String::from(kind).as_str()), ("dpdk", name, name));
        }
        for name in ["xdp:0", "xdp:2-3", "xdp-generic:1"] {
            let kind: EngineKind = name.parse().unwrap();
            assert_eq!((kind.to_string().as_str(), String::from(kind).as_str()), (name, name));
        }
        assert!("xdp:3-2".parse::<EngineKind>().unwrap_err().to_string().contains("`3-2` does not name queues"));
        assert!("dpdk:eth0".parse::<EngineKind>().unwrap_err().to_string().contains("`eth0` is not a device"));
    }
}
