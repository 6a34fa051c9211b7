//! Needs of an engine that this host does not meet.

use std::io;

use rustix::io::Errno;

use crate::{EngineError, EngineKind};

/// Need of an engine that this host does not meet, and how it could.
#[allow(missing_docs, reason = "the messages say it")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Missing {
    #[error("this kernel has no io_uring   (Linux 6.1 or newer, built with CONFIG_IO_URING)")]
    Uring,
    #[error("this kernel's io_uring has no deferred work   (Linux 6.1 or newer)")]
    NewerUring,
    #[error("the sysctl kernel.io_uring_disabled is {value}, which keeps io_uring from this process   (0 permits it)")]
    UringSwitchedOff {
        /// 1: from all but CAP_SYS_ADMIN and the group kernel.io_uring_group; 2: from everybody.
        value: u8,
    },
    #[error(
        "a system-call filter keeps io_uring from this process, as container engines set one   \
         (permit io_uring_setup, io_uring_enter and io_uring_register in its seccomp profile)"
    )]
    UringFiltered,
    #[error("this process may lock too little memory   (raise the limit RLIMIT_MEMLOCK)")]
    LockedMemory,
    #[error("this kernel has no AF_XDP sockets   (Linux 5.9 or newer, built with CONFIG_XDP_SOCKETS)")]
    XdpSockets,
    #[error("this process may not load XDP programs or open AF_XDP sockets   (CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF)")]
    XdpPermission,
    #[error("the driver of {interface} runs no XDP program: {why}   (engine xdp-generic works with every driver)")]
    NativeXdp {
        interface: String,
        /// The kernel's answer.
        why: String,
    },
    #[error(
        "the driver of {interface} runs no XDP program at its MTU of {mtu}, which takes frames in several buffers: {why}   \
         (engine xdp-generic works with every driver; at an MTU of 1500 this one may run a program)"
    )]
    NativeLong {
        interface: String,
        mtu: usize,
        /// The kernel's answer.
        why: String,
    },
    #[error(
        "this kernel's AF_XDP has no frames in several buffers, which payloads above {most} bytes take   \
         (Linux 6.6 or newer, or shorter datagrams: an N200's are)"
    )]
    LongFrames { most: usize },
    #[error(
        "another XDP program runs on {interface}   (one engine of this kind that receives; `ip link show {interface}`)"
    )]
    InterfaceFree { interface: String },
    #[error(
        "a queue of {interface} belongs to another AF_XDP socket   \
         (one engine of this kind an interface, or of one program one that receives and one that transmits)"
    )]
    QueueFree { interface: String },
    #[error("{interface} has no receive queue {queue}   (it has {there}, numbered from 0)")]
    NoQueue { interface: String, queue: u32, there: u32 },
    #[error("{interface} has {there} receive queues, and this engine serves {most} at most   (name some, as xdp:0-3)")]
    ManyQueues { interface: String, there: u32, most: usize },
    #[error("another takt has queues of {interface}: process {pid}   (wait for it to end)")]
    QueuesTaken { interface: String, pid: u32 },
    #[error("a takt that was killed has left {interface} on queues of its own   (takt clean)")]
    QueuesLeftBehind { interface: String },
    #[error("the kernel takes no frames for loopback from AF_XDP   (engines socket, mmsg and uring)")]
    Loopback,
    #[error("{interface} took no XDP program: {why}")]
    Program { interface: String, why: String },
    #[error("{interface} is down   (ip link set {interface} up)")]
    InterfaceUp { interface: String },
    #[error(
        "the MTU of {interface} is {mtu}, and datagrams this long need {need}   (ip link set {interface} mtu {need})"
    )]
    Mtu { interface: String, mtu: usize, need: usize },
    #[error(
        "datagrams of {payload} bytes don't fit into a frame of this engine's, which takes {most}   (max_payload_bytes)"
    )]
    ShortFrames { payload: usize, most: usize },
    #[error("a frame of {device} carries {most} bytes of a datagram, and these have {payload}   (max_payload_bytes)")]
    DeviceFrames { device: String, payload: usize, most: usize },
    #[error(
        "a frame of {device} as another engine of this process opened it carries {most} bytes of a datagram, and these have \
         {payload}   (open the engine with the longest datagrams first)"
    )]
    DeviceOpenedShort { device: String, payload: usize, most: usize },
    #[error("it has to know the interface, which any address (0.0.0.0) does not tell   (bind to an address of it)")]
    OneAddress,
    #[error(
        "this program was built without DPDK   (apt-get install libdpdk-dev, cargo build --release --features dpdk)"
    )]
    Dpdk,
    #[error("this process may not open packet sockets, or DPDK's driver of them   (CAP_NET_RAW and CAP_NET_ADMIN)")]
    PacketSockets,
    #[error("{device} takes {needs}, and this process has less   (run it as root)")]
    DpdkPermission {
        device: String,
        /// Capabilities.
        needs: &'static str,
    },
    #[error("DPDK does not start in this process: {why}")]
    DpdkStart { why: String },
    #[error("this process has started DPDK without the PCI bus   (open the card first: DPDK starts once a process)")]
    DpdkPci,
    #[error("a card takes 64 MiB of huge pages, and {free_mib} MiB are free   (sysctl vm.nr_hugepages=128)")]
    HugePages { free_mib: u64 },
    #[error("DPDK does not open {device}: {why}")]
    DpdkDevice {
        device: String,
        /// The log of DPDK.
        why: String,
    },
    #[error("another engine dpdk of this process has {interface} by another driver or address   (all share one)")]
    DpdkInterface { interface: String },
    #[error(
        "this process has had engine dpdk on {interface}, and DPDK's driver lets go of that only when the process ends"
    )]
    DpdkOnce { interface: String },
    #[error("it speaks IPv4 only   (engines socket, mmsg and uring speak IPv6)")]
    Ipv6,
}

/// Why the kernel made no ring.
pub(crate) fn uring_missing(source: io::Error) -> EngineError {
    let switch = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled");
    let switch = switch.ok().and_then(|text| text.trim().parse().ok());
    match uring_reason(Errno::from_io_error(&source), switch) {
        Some(missing) => EngineError::Missing { engine: EngineKind::Uring, missing },
        None => EngineError::Kernel { call: "io_uring_setup", source },
    }
}

/// Meaning of io_uring_setup(2)'s answer where the sysctl `kernel.io_uring_disabled` has this value (`None`: a kernel
/// before 6.6, without it).
fn uring_reason(answer: Option<Errno>, switch: Option<u8>) -> Option<Missing> {
    match (answer?, switch) {
        (Errno::NOSYS, _) => Some(Missing::Uring),
        (Errno::INVAL, _) => Some(Missing::NewerUring),
        (Errno::PERM, Some(value @ 1..)) => Some(Missing::UringSwitchedOff { value }),
        (Errno::PERM | Errno::ACCESS, _) => Some(Missing::UringFiltered),
        (Errno::NOMEM, _) => Some(Missing::LockedMemory),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_follows_from_the_kernels_answer_and_its_switch() {
        for (answer, switch, missing) in [
            (Errno::NOSYS, None, Missing::Uring),
            (Errno::INVAL, Some(0), Missing::NewerUring),
            (Errno::PERM, Some(1), Missing::UringSwitchedOff { value: 1 }),
            (Errno::PERM, Some(2), Missing::UringSwitchedOff { value: 2 }),
            (Errno::PERM, Some(0), Missing::UringFiltered),
            (Errno::PERM, None, Missing::UringFiltered),
            (Errno::NOMEM, Some(0), Missing::LockedMemory),
        ] {
            assert_eq!(uring_reason(Some(answer), switch), Some(missing));
        }
        assert_eq!(uring_reason(Some(Errno::MFILE), Some(0)), None);
    }
}
