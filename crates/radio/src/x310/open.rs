//! From an address to a radio that is ours and in a known state.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use takt_base::Tick;
use takt_wire::x310::registers::board;
use takt_wire::x310::{FRAME_BYTES, ports};

use super::firmware::Firmware;
use super::line::Registers;
use super::{CLOCK, FIRST_STREAM, HOST_CONTROL, RADIO_CONTROL, X310, claim, frame, graph, identity};
use crate::anchor::Anchor;
use crate::{Net, RadioError};

/// How a radio is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenOptions {
    /// Take it even from a host that uses it.
    pub force: bool,
    /// Largest datagram wished for, both ways; the path is probed up to this.
    pub frame_bytes: usize,
}

impl Default for OpenOptions {
    fn default() -> OpenOptions {
        OpenOptions { force: false, frame_bytes: FRAME_BYTES }
    }
}

/// The id by which management names the radio.
const DEVICE: u32 = 1;
/// The master clock of 200 MHz, as words of the clock chip that matter for it, in order (x310.md 8.6).
const CLOCK_WORDS: [u32; 3] = [0x0020_015C, 0x0014_0180, 0x0500_00BE];
/// SPI of the clock chip: slave 1, 32 bits (x310.md 13.1).
const CLOCK_CHIP: [u32; 2] = [14, 0x6000_0001];

impl X310 {
    /// Opens the radio at `addr`: checks what it is, claims it, finds its graph, and ends whatever a host before left running.
    ///
    /// # Errors
    /// Nothing there, another kind or version, in use, or no software radio of takt's own: each its own [`RadioError`].
    pub fn open(net: Arc<dyn Net>, addr: IpAddr, options: &OpenOptions) -> Result<X310, RadioError> {
        let mut firmware = Firmware::open(&net, addr)?;
        let identity = identity::identify(&mut firmware)?;
        if !identity.software {
            return Err(RadioError::NotSetUp { addr, radio: identity.words() });
        }
        let claim = claim::take(&net, &mut firmware, options.force)?;
        let frame_bytes = frame::probe(&net, addr, options.frame_bytes)?;
        firmware.set_board(board::DEVICE_ID, DEVICE)?;
        for word in board::CHDR_PORTS {
            firmware.set_board(word, ports::CHDR.into())?;
        }
        set_clock(&mut firmware)?;
        let peer = SocketAddr::new(addr, ports::CHDR);
        let mut registers = Registers::new(&net, peer, HOST_CONTROL, RADIO_CONTROL)?;
        let network = graph::discover(&mut registers.line())?;
        let control = network.name_control(&mut registers.line(), RADIO_CONTROL)?;
        let channels = graph::channels(&mut registers)?;
        graph::reset_blocks(&mut registers)?;
        let anchor = Arc::new(Anchor::new(CLOCK, net.now(), Tick(0)));
        let mut radio = X310 {
            addr,
            net,
            firmware,
            registers,
            claim,
            anchor,
            identity,
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

/// Sets the master clock to 200 MHz, and waits until it is locked.
fn set_clock(firmware: &mut Firmware) -> Result<(), RadioError> {
    let [divider, control, data] = board::SPI;
    firmware.set_board(divider, CLOCK_CHIP[0])?;
    firmware.set_board(control, CLOCK_CHIP[1])?;
    CLOCK_WORDS.iter().try_for_each(|&word| firmware.set_board(data, word))?;
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
