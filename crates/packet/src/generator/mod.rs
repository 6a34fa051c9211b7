//! Datagrams that the kernel makes by itself, faster than any program hands it some: a program of XDP runs over and over on
//! copies of one frame, numbers them and sends them by an interface (`BPF_PROG_TEST_RUN` with live frames, Linux 5.18; as
//! xdp-trafficgen does it).
//!
//! * All are alike but for their first 16 bytes: a number of 64 bits, one more each time, and the time of the monotonic
//!   clock, ns, both big-endian. They have no UDP checksum (RFC 768), as those of the kernel's pktgen.
//! * They **pass by** the kernel's own way out: its routing, firewall and queueing discipline. The route is followed here, the
//!   neighbour found as engine `xdp` finds it.
//! * The calling thread works for as long as a call lasts. It learns of a frame that the driver had no room for by the
//!   interface's own counters only.

mod program;

use std::io;
use std::net::{SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use takt_base::{Clock, WallClock};
use takt_host::bpf::{BpfError, Number, load_xdp, run_live};

use self::program::{NUMBERED_BYTES, program};
use crate::network::features::{SENDS_FRAMES, xdp_features};
use crate::network::frame::{Ends, HEADERS_BYTES, Mac, PACKET_HEADERS_BYTES, write};
use crate::network::hops::{Hop, Hops, find_peers};
use crate::network::netlink::{Interface, Routing};
use crate::network::{Wanted, interface_of, wanted};
use crate::{EngineError, Missing};

/// The longest payload: the kernel takes frames that fit into a page of 4 KiB beside its own notes.
pub const MAX_GENERATED_BYTES: usize = 3000;
/// Frames that the kernel makes before it lets their receiver work: more come quicker, and fill the queue of a veth, 256.
const BATCH: u32 = 64;
/// Place of the UDP checksum.
const CHECKSUM: std::ops::Range<usize> = 40..42;

/// Why there is no generator, or no longer one.
#[allow(missing_docs, reason = "names and messages say it")]
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GeneratorError {
    #[error("a generator can't send {bytes} bytes; expected: {NUMBERED_BYTES} to {MAX_GENERATED_BYTES}")]
    Bytes { bytes: usize },
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The host lacks something.
    #[error("the kernel can't generate datagrams here: {0}")]
    Missing(Missing),
    #[error("{interface} does not reach {to}: there is no route, or the neighbour does not answer")]
    Unreachable { to: SocketAddrV4, interface: String },
    #[error(
        "{interface} can't send XDP frames   (at the other end of a veth pair, run `ethtool -K INTERFACE gro on` or a \
         receiver with engine xdp)"
    )]
    Driver { interface: String },
    #[error("the kernel stopped running the generator's program")]
    Run {
        #[source]
        source: io::Error,
    },
}

/// Datagrams from one address to another.
#[derive(Debug)]
pub struct Generator {
    program: OwnedFd,
    number: Number,
    frame: Vec<u8>,
    hops: Hops,
    to: SocketAddrV4,
    interface: Interface,
}

impl Generator {
    /// Datagrams of `payload_bytes`, zeros but for the first 16, from `local`, an address of this host, to `to`.
    ///
    /// # Errors
    /// This host or the interface lacks something; nobody answers there.
    pub fn open(local: SocketAddr, to: SocketAddr, payload_bytes: usize) -> Result<Generator, GeneratorError> {
        if !(NUMBERED_BYTES..=MAX_GENERATED_BYTES).contains(&payload_bytes) {
            return Err(GeneratorError::Bytes { bytes: payload_bytes });
        }
        let Wanted { local, peer } = wanted(local, Some(to)).map_err(GeneratorError::Missing)?;
        let to = peer.unwrap_or(local);
        let kernel = |errno: Errno| EngineError::Kernel { call: "netlink", source: errno.into() };
        let mut routing = Routing::open().map_err(kernel)?;
        let interface = interface_of(&mut routing, &[Wanted { local, peer }])?;
        let (mtu, need) = (interface.mtu as usize, payload_bytes + PACKET_HEADERS_BYTES);
        if need > mtu {
            return Err(GeneratorError::Missing(Missing::Mtu { interface: interface.name, mtu, need }));
        }
        // A kernel before 6.3 does not say.
        if xdp_features(interface.index).is_ok_and(|features| features & SENDS_FRAMES == 0) {
            return Err(GeneratorError::Driver { interface: interface.name });
        }
        let number = Number::new().map_err(|error| lacks(&error, &interface))?;
        let loaded = load_xdp(&program(number.descriptor()), false).map_err(|error| lacks(&error, &interface))?;
        let mut hops = Hops::new(routing, &interface);
        find_peers(&[Wanted { local, peer }], |to, now| hops.hop(to, now));
        let (mut frame, payload) = (vec![0; HEADERS_BYTES + payload_bytes], vec![0; payload_bytes]);
        write(&mut frame, interface.mac, Mac::default(), Ends { source: local, destination: to }, &payload);
        frame[CHECKSUM].fill(0);
        let mut generator = Generator { program: loaded, number, frame, hops, to, interface };
        generator.aim()?;
        Ok(generator)
    }

    /// The number that the next datagram has.
    ///
    /// # Errors
    /// The kernel does not say.
    pub fn next(&self) -> Result<u64, GeneratorError> {
        self.number.get().map_err(|source| GeneratorError::Run { source })
    }

    /// The next datagram has this number.
    ///
    /// # Errors
    /// The kernel does not take it.
    pub fn count_from(&mut self, number: u64) -> Result<(), GeneratorError> {
        self.number.set(number).map_err(|source| GeneratorError::Run { source })
    }

    /// Sends so many, or fewer if a signal comes; returns how many were made.
    ///
    /// # Errors
    /// The neighbour is gone, or the interface.
    pub fn send(&mut self, count: u32) -> Result<u64, GeneratorError> {
        self.aim()?;
        let before = self.next()?;
        match run_live(self.program.as_fd(), &self.frame, self.interface.index, count, BATCH) {
            Err(source) if source.kind() != io::ErrorKind::Interrupted => Err(GeneratorError::Run { source }),
            _ => Ok(self.next()?.wrapping_sub(before)),
        }
    }

    /// Writes the neighbour's address into the frame. An address that is being sought again stays as it was.
    fn aim(&mut self) -> Result<(), GeneratorError> {
        let unknown = self.frame[..6] == Mac::default();
        match self.hops.hop(*self.to.ip(), WallClock.now()) {
            Hop::To(mac) => self.frame[..6].copy_from_slice(&mac),
            Hop::Soon if !unknown => {}
            _ => {
                let interface = self.interface.name.clone();
                return Err(GeneratorError::Unreachable { to: self.to, interface });
            }
        }
        Ok(())
    }
}

fn lacks(error: &BpfError, interface: &Interface) -> GeneratorError {
    GeneratorError::Missing(match error {
        BpfError::NotPermitted => Missing::XdpPermission,
        other => Missing::Program { interface: interface.name.clone(), why: other.to_string() },
    })
}
