//! An AF_XDP socket (kernel documentation, networking/af_xdp.rst): chunks of memory that frames lie in, and four rings by
//! which chunks change hands.
//!
//! ```text
//!     Receiving                                Sending
//!            fill: empty chunks                       tx: filled chunks
//!    us ------------------------> kernel      us ------------------------> kernel
//!       <------------------------                <------------------------
//!            rx: filled chunks                        completion: empty chunks
//! ```
//!
//! **Two halves.** [`Receiving`] has the rings and chunks on the left, [`Sending`] those on the right. They share nothing but
//! the descriptor, so that two threads may have one each. The socket is closed with the later of them.
//!
//! **Who may touch a chunk.** No number is ever in two places: a chunk is ours from its descriptor in `rx` until it is put
//! into `fill`, and from its number in `completion` (or the start) until it is put into `tx`. Between those it is the
//! kernel's. Bytes are borrowed only inside one call of [`Receiving::receive`], [`Receiving::next_stamp`] or [`Sending::send`],
//! in which the chunk is ours. The kernel is believed whose a chunk is, not which chunks there are: numbers are checked.
//!
//! **Long frames** lie in several chunks, each but the last marked as going on (`XDP_PKT_CONTD`, Linux 6.6).

mod joined;
mod receiving;
mod ring;
mod sending;

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use bytemuck::{Pod, Zeroable};
use rustix::io::Errno;
use rustix::net::xdp::{
    SocketAddrXdp, SocketAddrXdpFlags, XDP_PGOFF_RX_RING, XDP_PGOFF_TX_RING, XDP_UMEM_PGOFF_COMPLETION_RING,
    XDP_UMEM_PGOFF_FILL_RING, XdpOptionsFlags, XdpUmemReg, XdpUmemRegFlags,
};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with, sockopt};

pub(crate) use self::receiving::Receiving;
use self::ring::Ring;
pub(crate) use self::sending::Sending;
use super::memory::Memory;

/// Bytes of a chunk.
pub(crate) const CHUNK_BYTES: usize = 2048;
/// Bytes that the kernel leaves free at the front of a chunk it receives into (`XDP_PACKET_HEADROOM`, linux/bpf.h).
const HEADROOM_BYTES: usize = 256;
/// The longest frame that is received into one chunk.
pub(crate) const FRAME_BYTES: usize = CHUNK_BYTES - HEADROOM_BYTES;
/// Chunks of a frame that leaves: a kernel takes as many as a packet of it has parts, 17 (`CONFIG_MAX_SKB_FRAGS`).
pub(crate) const MAX_PARTS: usize = 16;

/// In [`Descriptor::options`]: the frame goes on in the next chunk (`XDP_PKT_CONTD`, linux/if_xdp.h).
const GOES_ON: u32 = 1;

/// How many chunks, powers of two both, and how long frames are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) receive: u32,
    pub(crate) send: u32,
    /// Longest frame; above [`FRAME_BYTES`] the kernel is requested to lay frames into several chunks.
    pub(crate) frame_bytes: usize,
}

impl Sizes {
    /// Whether a frame may take several chunks.
    pub(crate) fn is_long(self) -> bool {
        self.frame_bytes > FRAME_BYTES
    }
}

/// A step of opening that failed.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) call: &'static str,
    pub(crate) errno: Errno,
}

/// `struct xdp_desc`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
struct Descriptor {
    address: u64,
    bytes: u32,
    options: u32,
}

/// Binds a socket to one queue of an interface.
///
/// # Errors
/// The first step that the kernel refused.
pub(crate) fn open(interface: u32, queue: u32, sizes: Sizes) -> Result<(Receiving, Sending), Failed> {
    let of = |call| move |errno| Failed { call, errno };
    let socket = socket_with(AddressFamily::XDP, SocketType::RAW, SocketFlags::CLOEXEC, None);
    let socket = socket.map_err(of("socket AF_XDP"))?;
    let Sizes { receive, send, .. } = sizes;
    let memory = Memory::new((receive + send) as usize * CHUNK_BYTES).map_err(of("mmap"))?;
    let (addr, len) = memory.span();
    let flags = XdpUmemRegFlags::empty();
    let region = XdpUmemReg { addr, len, chunk_size: CHUNK_BYTES as u32, headroom: 0, flags, tx_metadata_len: 0 };
    sockopt::set_xdp_umem_reg(&socket, region).map_err(of("setsockopt XDP_UMEM_REG"))?;
    sockopt::set_xdp_umem_fill_ring_size(&socket, receive).map_err(of("setsockopt XDP_UMEM_FILL_RING"))?;
    sockopt::set_xdp_umem_completion_ring_size(&socket, send).map_err(of("setsockopt XDP_UMEM_COMPLETION_RING"))?;
    sockopt::set_xdp_rx_ring_size(&socket, receive).map_err(of("setsockopt XDP_RX_RING"))?;
    sockopt::set_xdp_tx_ring_size(&socket, send).map_err(of("setsockopt XDP_TX_RING"))?;
    let at = sockopt::xdp_mmap_offsets(&socket).map_err(of("getsockopt XDP_MMAP_OFFSETS"))?;
    let of_ring = of("mmap of an AF_XDP ring");
    let fill = Ring::map(socket.as_fd(), at.fr, receive, XDP_UMEM_PGOFF_FILL_RING).map_err(of_ring)?;
    let completion = Ring::map(socket.as_fd(), at.cr, send, XDP_UMEM_PGOFF_COMPLETION_RING).map_err(of_ring)?;
    let rx = Ring::map(socket.as_fd(), at.rx, receive, XDP_PGOFF_RX_RING).map_err(of_ring)?;
    let tx = Ring::map(socket.as_fd(), at.tx, send, XDP_PGOFF_TX_RING).map_err(of_ring)?;
    let socket: Arc<OwnedFd> = socket.into();
    let (received, sent) = memory.split(receive as usize * CHUNK_BYTES);
    let receiving = Receiving::new(socket.clone(), fill, rx, received, sizes);
    let sending = Sending::new(socket.clone(), completion, tx, sent, sizes);
    let mut flags = SocketAddrXdpFlags::XDP_USE_NEED_WAKEUP;
    flags.set(SocketAddrXdpFlags::XDP_USE_SG, sizes.is_long());
    bind(&socket, &SocketAddrXdp::new(flags, interface, queue)).map_err(of("bind AF_XDP"))?;
    Ok((receiving, sending))
}

/// Whether the driver reads and writes the chunks themselves.
fn zero_copy(socket: &OwnedFd) -> bool {
    sockopt::xdp_options(socket).is_ok_and(|options| options.contains(XdpOptionsFlags::XDP_OPTIONS_ZEROCOPY))
}
