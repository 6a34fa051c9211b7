//! The contract every engine keeps.

use std::fmt;
use std::net::SocketAddr;

use crate::{DpdkDevice, EngineError, EngineKind, PortIndex, RxBatch, Sending, TxBatch, Wait};

/// Datagrams in and out, in batches, in memory that belongs to the engine.
pub trait Engine: Send {
    /// Takes what is there, at most [`Limits::batch`] datagrams, in the order they took effect (see
    /// [`Config::ports`](crate::Config::ports)); never waits for more than one. Empty when `wait` has run out, or when
    /// a refusal came since the last call (see [`Engine::refused`]). The batch is the engine's memory: it
    /// goes back at the next call, so leaking one loses nothing.
    ///
    /// # Errors
    /// The socket, ring or port is gone for good. A full queue or an ICMP answer is a counter, not an error.
    fn recv(&mut self, wait: Wait) -> Result<RxBatch<'_>, EngineError>;

    /// The batch that the last [`Engine::recv`] returned, again; empty before the first.
    fn last_batch(&self) -> RxBatch<'_>;

    /// Lends up to `want` writable frames (fewer when the ring is shorter; never more than [`Limits::batch`]). Pushed
    /// frames leave in order on [`TxBatch::send`]; frames that are not sent are forgotten on drop.
    fn reserve(&mut self, want: usize) -> TxBatch<'_>;

    /// A destination that answered "port unreachable" since the last call; `None` when all are reported. An engine learns of
    /// such an answer at its next `recv` or send. At most 64 are kept (a destination only once), the rest only counted.
    fn refused(&mut self) -> Option<Refusal>;

    /// The local address of a port, as bound (the kernel's choice filled in). `None` for a port it does not own.
    fn local(&self, port: PortIndex) -> Option<SocketAddr>;

    /// Limits granted at opening: fixed from then on, but for what only shows when something is sent
    /// ([`Limits::aggregates_sends`], [`FramePath::Ring`]).
    fn limits(&self) -> Limits;

    /// Monotonic since opening.
    fn counters(&self) -> Counters;

    /// For an engine that was opened as [`EngineKind::Auto`](crate::EngineKind::Auto): which it is, and why none that
    /// would have been preferred.
    fn choice(&self) -> Option<&Choice> {
        None
    }

    /// For an engine on some queues of a card: which, and what brings its datagrams there, in words; or why it has all.
    fn queues(&self) -> Option<&str> {
        None
    }
}

/// Which engine was chosen, and why none before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The one that runs.
    pub kind: EngineKind,
    /// Those that would have been preferred, and what each lacked.
    pub passed_over: Vec<(EngineKind, String)>,
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        self.passed_over.iter().try_for_each(|(kind, why)| write!(f, "; not {kind}: {why}"))
    }
}

/// A destination answered by ICMP that no socket listens there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Refusal {
    /// The local port that had sent.
    pub port: PortIndex,
    /// Its destination.
    pub to: SocketAddr,
}

/// Abilities of an engine: measured at opening, then fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Datagrams a batch holds at most.
    pub batch: usize,
    /// Largest payload, bytes.
    pub max_payload_bytes: usize,
    /// Receive buffer the kernel granted per port, payload bytes it was requested to hold (the kernel doubles this for its
    /// own bookkeeping; the doubling is taken off again here).
    pub recv_buffer_bytes: usize,
    /// Send buffer the kernel granted per port, likewise.
    pub send_buffer_bytes: usize,
    /// Whether datagrams carry an arrival stamp: the kernel's, under `xdp` its program's, under `dpdk` of the moment at which
    /// the frame was taken from the device.
    pub stamps: bool,
    /// Whether sends may leave as aggregates (UDP GSO). Falls for good when the kernel refuses one that it can't split.
    pub aggregates_sends: bool,
    /// Whether receives may arrive as aggregates (UDP GRO).
    pub aggregates_receives: bool,
    /// Whether a thread that receives asks again at once instead of sleeping, and takes all of its core.
    pub busy_poll: bool,
    /// How datagrams pass between this process and the interface.
    pub path: FramePath,
}

/// How datagrams pass between a process and an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FramePath {
    /// Through the kernel's protocol layers and sockets, which copy both ways.
    Sockets,
    /// The same through an io_uring: what is received is copied, what is sent is as stated here.
    Ring(Sending),
    /// AF_XDP behind a program in the driver; the kernel copies frames.
    NativeXdp,
    /// AF_XDP behind a program in the driver, which reads and writes the frames where they lie.
    NativeXdpZeroCopy,
    /// AF_XDP behind a program above the driver; the kernel copies frames.
    GenericXdp,
    /// Out by AF_XDP, in by kernel sockets: an engine that transmits ([`Way::Transmit`](crate::Way)).
    TransmitXdp {
        /// Whether the driver reads the frames where they lie; otherwise the kernel copies.
        zero_copy: bool,
    },
    /// A driver of DPDK's in this process.
    Dpdk {
        /// Which.
        device: DpdkDevice,
        /// Whether its buffers lie in huge pages.
        huge_pages: bool,
    },
}

impl FramePath {
    /// Whether the kernel's protocol layers are passed both ways.
    #[must_use]
    pub const fn is_sockets(self) -> bool {
        matches!(self, FramePath::Sockets | FramePath::Ring(_))
    }

    /// In words, for records and screens.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            FramePath::Sockets => "kernel sockets",
            FramePath::Ring(sending) => sending.words(),
            FramePath::NativeXdp => "native XDP, copied",
            FramePath::NativeXdpZeroCopy => "native XDP, zero copy",
            FramePath::GenericXdp => "generic XDP, copied",
            FramePath::TransmitXdp { zero_copy: false } => "AF_XDP transmit, copied",
            FramePath::TransmitXdp { zero_copy: true } => "AF_XDP transmit, zero copy",
            FramePath::Dpdk { device, huge_pages } => match (device, huge_pages) {
                (DpdkDevice::AfPacket, true) => "DPDK net_af_packet, huge pages",
                (DpdkDevice::AfPacket, false) => "DPDK net_af_packet, no huge pages",
                (DpdkDevice::AfXdp, true) => "DPDK net_af_xdp, huge pages",
                (DpdkDevice::AfXdp, false) => "DPDK net_af_xdp, no huge pages",
                (DpdkDevice::Tap(_), true) => "DPDK net_tap, huge pages",
                (DpdkDevice::Tap(_), false) => "DPDK net_tap, no huge pages",
                (DpdkDevice::Pci(..), true) => "DPDK network card, huge pages",
                (DpdkDevice::Pci(..), false) => "DPDK network card, no huge pages",
            },
        }
    }
}

impl std::fmt::Display for FramePath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.words())
    }
}

/// Counts since opening, over all ports. `None` = this engine cannot see it, which is not 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Datagrams handed to the caller.
    pub received_datagrams: u64,
    /// Payload bytes handed to the caller.
    pub received_bytes: u64,
    /// System calls (or ring visits) that received.
    pub receive_calls: u64,
    /// Datagrams longer than a frame, cut.
    pub truncated_datagrams: u64,
    /// Datagrams the kernel took.
    pub sent_datagrams: u64,
    /// Payload bytes the kernel took.
    pub sent_bytes: u64,
    /// System calls that sent.
    pub send_calls: u64,
    /// Messages, of one datagram or an aggregate, that left from where they lay, as the kernel says ([`Config::zero_copy`](crate::Config)).
    pub zero_copy_messages: u64,
    /// Datagrams the kernel would not take in the time allowed (full send buffer), given back to the caller.
    pub unsent_datagrams: u64,
    /// Times a queue below the socket was full and the kernel threw the datagram away and reported it (`ENOBUFS`). It was
    /// offered again, or is among the unsent; a queue's own drop counter knows it too.
    pub congested_sends: u64,
    /// Datagrams the kernel refused for their destination's sake (no route, forbidden by a firewall, port 0).
    pub undeliverable_datagrams: u64,
    /// Datagrams the kernel dropped because a port's receive buffer was full. Exact for single datagrams; where
    /// receives may be aggregates ([`Limits::aggregates_receives`]) the kernel counts aggregates, so that it is known
    /// only while it is 0. Not known over a tap of engine `dpdk` ([`DpdkDevice::Tap`]), whose own queue drops before. A
    /// driver that writes frames where they lie ([`FramePath::NativeXdpZeroCopy`]) counts none that find no place:
    /// known only until one did. Over kernel sockets those with a wrong UDP checksum are among them.
    pub receive_buffer_drops: Option<u64>,
    /// Frames that were no sound datagram: a length or a checksum is wrong. Engines that see no frames count none: there
    /// the kernel has dropped them before.
    pub damaged_datagrams: u64,
    /// Frames whose UDP checksum the sender's kernel had left to a device that did not make it, likewise: a virtual
    /// interface with transmit checksums on (`ethtool -K INTERFACE tx off` at the sender).
    pub unfinished_checksums: u64,
    /// Datagrams dropped because their source is no other host's: of 127.0.0.0/8 or 0.0.0.0/8, a multicast or broadcast address, or
    /// the interface's own. Engines that see no frames count none, likewise.
    pub martian_datagrams: u64,
    /// ICMP "port unreachable" answers.
    pub refusals: u64,
    /// Other ICMP errors: host or network unreachable, frame too long, forbidden.
    pub other_icmp: u64,
}

/// Passes on the methods of the engine in the field `engine` as they are.
macro_rules! passes_on {
    () => {
        fn last_batch(&self) -> crate::RxBatch<'_> {
            self.engine.last_batch()
        }

        fn reserve(&mut self, want: usize) -> crate::TxBatch<'_> {
            self.engine.reserve(want)
        }

        fn local(&self, port: crate::PortIndex) -> Option<std::net::SocketAddr> {
            self.engine.local(port)
        }

        fn limits(&self) -> crate::Limits {
            self.engine.limits()
        }

        fn counters(&self) -> crate::Counters {
            self.engine.counters()
        }

        fn queues(&self) -> Option<&str> {
            self.engine.queues()
        }
    };
}
pub(crate) use passes_on;
