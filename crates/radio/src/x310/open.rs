//! From an address to a radio that is ours and in a known state.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use takt_base::Tick;
use takt_wire::chdr::Protocol;
use takt_wire::x310::registers::board;
use takt_wire::x310::{FRAME_BYTES, ports};

use super::firmware::Firmware;
use super::line::Registers;
use super::{FIRST_STREAM, HOST_CONTROL, MasterClock, RADIO_CONTROL, X310, claim, frame, graph, identity};
use crate::anchor::Anchor;
use crate::{Net, RadioError};

/// How a radio is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenOptions {
    /// Take it even from a host that uses it.
    pub force: bool,
    /// Largest datagram wished for, both ways; the path is probed up to this.
    pub frame_bytes: usize,
    /// The master clock that it gets.
    pub clock: MasterClock,
}

impl Default for OpenOptions {
    fn default() -> OpenOptions {
        OpenOptions { force: false, frame_bytes: FRAME_BYTES, clock: MasterClock::default() }
    }
}

/// The id by which management names the radio.
const DEVICE: u32 = 1;
/// SPI of the clock chip: slave 1, 32 bits (x310.md 13.1).
const CLOCK_CHIP: [u32; 2] = [14, 0x6000_0001];

impl X310 {
    /// Opens the radio at `addr`: checks what it is, claims it, finds its graph, and ends whatever a host before left running.
    ///
    /// # Errors
    /// Nothing there, another kind or version, in use, or no software radio of takt's own: each its own [`RadioError`]. `Range` and
    /// `ShortFrames` where datagrams are to be, or are, too short for streams.
    pub fn open(net: Arc<dyn Net>, addr: IpAddr, options: &OpenOptions) -> Result<X310, RadioError> {
        frame::check(options.frame_bytes)?;
        let mut firmware = Firmware::open(&net, addr)?;
        let identity = identity::identify(&mut firmware)?;
        if !identity.software {
            return Err(RadioError::NotSetUp { addr, radio: identity.words() });
        }
        let speed = net.speed_of(addr);
        let claim = claim::take(&net, &mut firmware, options.force)?;
        let frame_bytes = frame::probe(&net, addr, options.frame_bytes)?;
        firmware.set_board(board::DEVICE_ID, DEVICE)?;
        for word in board::CHDR_PORTS {
            firmware.set_board(word, ports::CHDR.into())?;
        }
        set_clock(&mut firmware, options.clock)?;
        let peer = SocketAddr::new(addr, ports::CHDR);
        // Directly before it is spoken: a host that reads it and says nothing is one that does not speak it (x310.md 18.4).
        let protocol = protocol(&mut firmware, peer)?;
        let mut registers = Registers::new(&net, peer, protocol, HOST_CONTROL, RADIO_CONTROL)?;
        let network = graph::discover(&mut registers.line())?;
        let control = network.name_control(&mut registers.line(), RADIO_CONTROL)?;
        let channels = graph::channels(&mut registers)?;
        graph::reset_blocks(&mut registers)?;
        let clock = (options.clock.rate(), speed.unwrap_or_default());
        let anchor = Arc::new(Anchor::new(clock, net.now(), Tick(0)));
        let mut radio = X310 {
            addr,
            net,
            firmware,
            registers,
            claim,
            anchor,
            speed,
            identity,
            clock: options.clock,
            frame_bytes,
            network,
            channels,
            endpoint_ids: vec![(control, RADIO_CONTROL)],
            next_id: FIRST_STREAM - 1,
        };
        radio.time()?;
        Ok(radio)
    }
}

/// The version of RFNoC's protocol that the radio speaks.
fn protocol(firmware: &mut Firmware, peer: SocketAddr) -> Result<Protocol, RadioError> {
    let code = firmware.board(board::RFNOC_INFO)? as u16;
    Protocol::from_code(code).ok_or(RadioError::Version {
        addr: peer,
        part: "the RFNoC protocol",
        version: u32::from(code >> 8) << 16 | u32::from(code & 0xFF),
        known: "1 and 2",
    })
}

/// Sets the master clock; an error if it is not locked then.
fn set_clock(firmware: &mut Firmware, clock: MasterClock) -> Result<(), RadioError> {
    let [divider, control, data] = board::SPI;
    firmware.set_board(divider, CLOCK_CHIP[0])?;
    firmware.set_board(control, CLOCK_CHIP[1])?;
    clock.words().iter().try_for_each(|&word| firmware.set_board(data, word))?;
    let locked = board::LMK_LOCKED | board::RADIO_CLOCK_LOCKED;
    if firmware.board(board::CLOCK_STATUS)? & locked == locked {
        return Ok(());
    }
    Err(RadioError::ReferenceUnlocked {
        addr: firmware.addr(),
        reference: "internal",
        waited: std::time::Duration::ZERO,
    })
}
