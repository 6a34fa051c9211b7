//! Needs of an engine that this host does not meet.

/// Need of an engine that this host does not meet, and how it could.
#[allow(missing_docs, reason = "the messages say it")]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Missing {
    #[error("this kernel has no io_uring   (use Linux 6.1 or newer, built with CONFIG_IO_URING)")]
    Uring,
    #[error("this kernel's io_uring has no deferred work   (use Linux 6.1 or newer)")]
    NewerUring,
    #[error("the sysctl kernel.io_uring_disabled is {value}, which keeps io_uring from this process   (set it to 0)")]
    UringSwitchedOff {
        /// 1: from all but CAP_SYS_ADMIN and the group kernel.io_uring_group; 2: from everybody.
        value: u8,
    },
    #[error(
        "a system-call filter, such as a container engine's, keeps io_uring from this process   (permit \
         io_uring_setup, io_uring_enter and io_uring_register in its seccomp profile)"
    )]
    UringFiltered,
    #[error("this process may lock too little memory   (raise the limit RLIMIT_MEMLOCK)")]
    LockedMemory,
    #[error("this kernel has no AF_XDP sockets   (use Linux 5.9 or newer, built with CONFIG_XDP_SOCKETS)")]
    XdpSockets,
    #[error(
        "this process may not load XDP programs or open AF_XDP sockets   (give it CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF)"
    )]
    XdpPermission,
    #[error(
        "the driver of {interface} runs no XDP program: {why}   (use engine xdp-generic, which works with every driver)"
    )]
    NativeXdp {
        interface: String,
        /// The kernel's answer.
        why: String,
    },
    #[error(
        "the driver of {interface} runs no XDP program at its MTU of {mtu}, which takes frames in several buffers: \
         {why}   (use engine xdp-generic, which works with every driver, or try an MTU of 1500)"
    )]
    NativeLong {
        interface: String,
        mtu: usize,
        /// The kernel's answer.
        why: String,
    },
    #[error(
        "this kernel's AF_XDP has no frames in several buffers, which payloads above {most} bytes need   (use Linux \
         6.6 or newer, or shorter datagrams, as of an N200)"
    )]
    LongFrames { most: usize },
    #[error(
        "another XDP program runs on {interface}   (run one receiving engine of this kind; `ip link show {interface}` \
         shows the program)"
    )]
    InterfaceFree { interface: String },
    #[error(
        "another AF_XDP socket holds a queue of {interface}   \
         (run one engine of this kind per interface, or in one program one that receives and one that transmits)"
    )]
    QueueFree { interface: String },
    #[error("{interface} has no receive queue {queue}   (it has {there}, numbered from 0)")]
    NoQueue { interface: String, queue: u32, there: u32 },
    #[error(
        "{interface} has {there} receive queues, but this engine serves at most {most}   (name some, as in xdp:0-3)"
    )]
    ManyQueues { interface: String, there: u32, most: usize },
    #[error("another takt, process {pid}, has taken queues of {interface}   (wait for it to end)")]
    QueuesTaken { interface: String, pid: u32 },
    #[error("a takt that was killed has left {interface} on its own queues   (run takt clean)")]
    QueuesLeftBehind { interface: String },
    #[error("the kernel takes no frames for loopback from AF_XDP   (use engine socket, mmsg or uring)")]
    Loopback,
    #[error("{interface} refused the XDP program: {why}")]
    Program { interface: String, why: String },
    #[error("{interface} is down   (run ip link set {interface} up)")]
    InterfaceUp { interface: String },
    #[error(
        "the MTU of {interface} is {mtu}, but datagrams this long need {need}   (run ip link set {interface} mtu {need})"
    )]
    Mtu { interface: String, mtu: usize, need: usize },
    #[error(
        "datagrams of {payload} bytes do not fit into a frame of this engine, which holds {most}   (lower \
         max_payload_bytes)"
    )]
    ShortFrames { payload: usize, most: usize },
    #[error(
        "a frame of {device} carries {most} bytes of a datagram, but these have {payload}   (lower max_payload_bytes)"
    )]
    DeviceFrames { device: String, payload: usize, most: usize },
    #[error(
        "a frame of {device}, which another engine of this process opened, carries {most} bytes of a datagram, but \
         these have {payload}   (open the engine with the longest datagrams first)"
    )]
    DeviceOpenedShort { device: String, payload: usize, most: usize },
    #[error("it needs an interface, and 0.0.0.0 does not name one   (bind to an address of the interface)")]
    OneAddress,
    #[error(
        "this program was built without DPDK   (run apt-get install libdpdk-dev and cargo build --release --features dpdk)"
    )]
    Dpdk,
    #[error(
        "this process may not open packet sockets or DPDK's driver of them   (give it CAP_NET_RAW and CAP_NET_ADMIN)"
    )]
    PacketSockets,
    #[error("{device} needs {needs}, which this process lacks   (run it as root)")]
    DpdkPermission {
        device: String,
        /// Capabilities.
        needs: &'static str,
    },
    #[error("DPDK does not start in this process: {why}")]
    DpdkStart { why: String },
    #[error("this process has started DPDK without the PCI bus   (open the card first: DPDK starts once per process)")]
    DpdkPci,
    #[error("a card needs 64 MiB of huge pages, but {free_mib} MiB are free   (run sysctl vm.nr_hugepages=128)")]
    HugePages { free_mib: u64 },
    #[error("DPDK can't open {device}: {why}")]
    DpdkDevice {
        device: String,
        /// The log of DPDK.
        why: String,
    },
    #[error(
        "another engine dpdk of this process has {interface} with another driver or address   (give all of them the same)"
    )]
    DpdkInterface { interface: String },
    #[error(
        "this process has had engine dpdk on {interface}, and DPDK's driver releases it only when the process ends   \
         (use a new process)"
    )]
    DpdkOnce { interface: String },
    #[error("it speaks only IPv4   (use engine socket, mmsg or uring for IPv6)")]
    Ipv6,
}
