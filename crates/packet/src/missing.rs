//! Needs of an engine that this host does not meet.

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
        "another AF_XDP socket holds a queue of {interface}   \
         (run one engine of this kind per interface, or in one program one that receives and one that transmits)"
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
    #[error("it must know the interface, and 0.0.0.0 does not name one   (bind to an address of the interface)")]
    OneAddress,
    #[error(
        "this program was built without DPDK   (apt-get install libdpdk-dev, cargo build --release --features dpdk)"
    )]
    Dpdk,
    #[error("this process may not open packet sockets, or DPDK's driver of them   (CAP_NET_RAW and CAP_NET_ADMIN)")]
    PacketSockets,
    #[error("{device} needs {needs}, which this process lacks   (run it as root)")]
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
