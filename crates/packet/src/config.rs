//! Settings with which an engine is opened.

use std::net::SocketAddr;

/// Which of an engine's local ports: its place in [`Config::ports`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortIndex(pub u8);

/// One local UDP port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortSpec {
    /// Local address; port 0 lets the kernel choose.
    pub bind: SocketAddr,
    /// Connect to this peer: other sources are then filtered out by the kernel, and frames may leave it unnamed.
    pub peer: Option<SocketAddr>,
}

/// Which way the load of an engine goes. The load the other way is little: commands, reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Way {
    /// Both.
    #[default]
    Both,
    /// To this host.
    Receive,
    /// From this host.
    Transmit,
}

/// Whether engine `uring` may leave the bytes of what it sends where they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ZeroCopy {
    /// By zero copy where it pays: long datagrams, on a path that does not copy them all the same.
    #[default]
    Auto,
    /// Whatever it costs, if the kernel has it.
    Always,
    /// Not.
    Never,
}

/// Settings with which an engine is opened. Start from [`Config::new`] and change what matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The local ports, **in the order in which their datagrams take effect** when they arrived together: a datagram on
    /// an earlier port is never handed out after a later-arrived one on a later port (N200: commands before samples).
    pub ports: Vec<PortSpec>,
    /// Which way the load goes. Engines `xdp` and `xdp-generic` leave what goes the other way to the kernel's sockets, so
    /// that one of each way shares an interface in one process; to the others it is all the same.
    pub way: Way,
    /// Datagrams a batch holds at most, each direction.
    pub batch: usize,
    /// Largest payload of one datagram, bytes. A longer datagram is cut, counted and marked.
    pub max_payload_bytes: usize,
    /// Open also where frames carry less, as [`crate::Limits::max_payload_bytes`] then says: no longer datagram can come in
    /// one frame there. Otherwise that is an error. (Engines over kernel sockets carry all: the kernel cuts packets.)
    pub shorter_payloads: bool,
    /// Kernel receive buffer requested, bytes, each port. [`crate::Limits`] has the size that was granted.
    pub recv_buffer_bytes: usize,
    /// Kernel send buffer requested, bytes, each port.
    pub send_buffer_bytes: usize,
    /// Take both buffers by privilege (`CAP_NET_ADMIN`) where `net.core.rmem_max` and `wmem_max` are lower. A measurement
    /// of what an ordinary program gets must not.
    pub force_buffers: bool,
    /// Let the kernel carry several datagrams as one aggregate (UDP GSO and GRO) where it can.
    pub aggregate: bool,
    /// Whether engine `uring` sends by zero copy; the others have no such sends.
    pub zero_copy: ZeroCopy,
    /// If nothing has come, ask again at once instead of sleeping. Under AF_XDP the calling thread does the driver's
    /// work meanwhile, instead of waiting for its interrupt (`SO_PREFER_BUSY_POLL`, Linux 5.11), but where it only
    /// transmits. It pays for a thread that has a core, and takes all of it.
    pub busy_poll: bool,
    /// Ask the kernel for arrival stamps. Without them [`crate::Datagram::arrived`] is `None`.
    pub stamps: bool,
}

impl Config {
    /// Batches of 64, payloads to 1472 bytes (an Ethernet frame), buffers of 4 MiB, single datagrams, arrival stamps.
    #[must_use]
    pub fn new(ports: Vec<PortSpec>) -> Config {
        Config {
            ports,
            way: Way::Both,
            batch: 64,
            max_payload_bytes: 1472,
            shorter_payloads: false,
            recv_buffer_bytes: 4 << 20,
            send_buffer_bytes: 4 << 20,
            force_buffers: false,
            aggregate: false,
            zero_copy: ZeroCopy::Auto,
            busy_poll: false,
            stamps: true,
        }
    }
}
