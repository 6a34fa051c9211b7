//! Structure of the radio, as it tells a host: nodes, blocks and edges (x310.md 6.3 and 7).
//!
//! ```text
//!   slot s:   endpoint 2s ── DUC s ── radio s ┬─ DDC s, channel 0 ── endpoint 2s
//!                                             └─ DDC s, channel 1 ── endpoint 2s + 1
//! ```
//!
//! Endpoint 0 alone carries control. A radio with one channel, such as a UBX, leaves the second path unused.

use takt_wire::chdr::Protocol;
use takt_wire::x310::registers::client_zero;

pub(super) const SLOTS: usize = 2;
/// Receive channels of a slot.
pub(super) const CHANNELS: usize = 2;
pub(super) const ENDPOINTS: usize = SLOTS * CHANNELS;
const BLOCKS_A_SLOT: usize = 3;
pub(super) const BLOCKS: usize = SLOTS * BLOCKS_A_SLOT;
/// Client zero, the one endpoint with control, and the blocks.
pub(super) const CONTROL_PORTS: usize = 2 + BLOCKS;
/// Ports of the crossbar: the network, and the endpoints.
pub(super) const CROSSBAR_PORTS: u32 = 1 + ENDPOINTS as u32;

/// Bytes of a packet that blocks pass on.
pub(super) const MTU_BYTES: usize = 8192;
/// The same as they say it: the logarithm of words of 8 bytes.
const MTU_CODE: u32 = (MTU_BYTES / 8).ilog2();

/// Target of a control port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    ClientZero,
    Duc(usize),
    Ddc(usize),
    Radio(usize),
}

impl Target {
    pub(super) fn of(port: usize) -> Option<Target> {
        let block = match port {
            0 => return Some(Target::ClientZero),
            _ => port.checked_sub(2).filter(|&block| block < BLOCKS)?,
        };
        Some(Target::block(block))
    }

    fn block(block: usize) -> Target {
        let slot = block / BLOCKS_A_SLOT;
        match block % BLOCKS_A_SLOT {
            0 => Target::Duc(slot),
            1 => Target::Ddc(slot),
            _ => Target::Radio(slot),
        }
    }
}

/// The control port of a slot's radio, which its messages carry (15, trap 10).
pub(super) fn radio_port(slot: usize) -> u16 {
    (2 + BLOCKS_A_SLOT * slot + 2) as u16
}

/// NoC id, inputs and outputs, logarithm of its command queue in words, most messages it sends unasked.
struct Block {
    id: u32,
    ports: u32,
    queue: u32,
    messages: u32,
}

fn block(target: Target) -> Block {
    match target {
        Target::Duc(_) => Block { id: 0xD0C0_0000, ports: 1, queue: 6, messages: 0 },
        Target::Ddc(_) => Block { id: 0xDDC0_0000, ports: 2, queue: 6, messages: 0 },
        Target::Radio(_) | Target::ClientZero => Block { id: 0x12AD_1000, ports: 2, queue: 9, messages: 2 },
    }
}

/// From where, output; to where, input. Nodes: endpoints from 1 on, then blocks.
const EDGES: [[u32; 4]; 6 * SLOTS] = {
    let mut edges = [[0; 4]; 6 * SLOTS];
    let mut slot = 0;
    while slot < SLOTS {
        let endpoint = 1 + (CHANNELS * slot) as u32;
        let duc = 1 + (ENDPOINTS + BLOCKS_A_SLOT * slot) as u32;
        let (ddc, radio) = (duc + 1, duc + 2);
        edges[6 * slot] = [endpoint, 0, duc, 0];
        edges[6 * slot + 1] = [duc, 0, radio, 0];
        edges[6 * slot + 2] = [radio, 0, ddc, 0];
        edges[6 * slot + 3] = [ddc, 0, endpoint, 0];
        edges[6 * slot + 4] = [radio, 1, ddc, 1];
        edges[6 * slot + 5] = [ddc, 1, endpoint + 1, 0];
        slot += 1;
    }
    edges
};

/// A register of client zero; `device` is the id that the host gave.
pub(super) fn client_zero(address: u32, device: u16, protocol: Protocol) -> u32 {
    match address {
        client_zero::PROTOCOL => 0x12C6_0000 | u32::from(protocol.code()),
        client_zero::COUNTS => 1 << 31 | 1 << 20 | (BLOCKS as u32) << 10 | ENDPOINTS as u32,
        client_zero::EDGES | client_zero::ADJACENCY => EDGES.len() as u32,
        client_zero::DEVICE => 0xA300_0000 | u32::from(device),
        client_zero::CONTROL_ENDPOINTS => 1,
        _ => edge(address).or_else(|| port_word(address)).unwrap_or(0),
    }
}

fn edge(address: u32) -> Option<u32> {
    let n = address.checked_sub(client_zero::ADJACENCY + 4)? / 4;
    let [from, output, to, input] = *EDGES.get(n as usize)?;
    Some(from << 22 | output << 16 | to << 6 | input)
}

/// The block of which an address of client zero is a register, and which one.
pub(super) fn block_of(address: u32) -> Option<(Target, u32)> {
    let index = (address / client_zero::STRIDE) as usize;
    let block = index.checked_sub(1 + ENDPOINTS).filter(|&block| block < BLOCKS)?;
    Some((Target::block(block), address % client_zero::STRIDE))
}

fn port_word(address: u32) -> Option<u32> {
    let (target, register) = block_of(address)?;
    let block = block(target);
    Some(match register {
        0 => 1 | block.ports << 6 | block.ports << 12 | block.queue << 18 | block.messages << 24,
        4 => block.id,
        // Flushing is done at once.
        8 => 1 << 1 | MTU_CODE << 2,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client_zero_of_device_1(address: u32) -> u32 {
        client_zero(address, 1, Protocol::V1)
    }

    #[test] // x310.md 7.1
    fn client_zero_says_what_there_is() {
        let words = [0x00, 0x04, 0x08, 0x0C, 0x10, 0x10000].map(client_zero_of_device_1);
        assert_eq!(words, [0x12C6_0100, 0x8010_1804, 12, 0xA300_0001, 1, 12]);
        // RFNOC_PROTO_VER of UHD v4.11, host/include/uhd/rfnoc/constants.hpp.
        assert_eq!(client_zero(0x00, 1, Protocol::V2), 0x12C6_0200);
    }

    #[test] // x310.md 7.1 and 7.2
    fn blocks_and_edges_are_those_of_a_two_slot_radio() {
        let ids: Vec<u32> = (5..11).map(|n| client_zero_of_device_1(64 * n + 4)).collect();
        let half = [0xD0C0_0000, 0xDDC0_0000, 0x12AD_1000];
        assert_eq!(ids, [half, half].concat());
        assert_eq!(client_zero_of_device_1(64 * 5), 1 | 1 << 6 | 1 << 12 | 6 << 18);
        assert_eq!(client_zero_of_device_1(64 * 7), 1 | 2 << 6 | 2 << 12 | 9 << 18 | 2 << 24);
        assert_eq!(client_zero_of_device_1(64 * 7 + 8), 2 | 10 << 2);
        let edges: Vec<u32> = (0..13).map(|n| client_zero_of_device_1(0x10004 + 4 * n)).collect();
        let word = |a: u32, b: u32, c: u32, d: u32| a << 22 | b << 16 | c << 6 | d;
        // Endpoint 2 (slot B) to its DUC, which is node 8; the radio's second channel to endpoint 3.
        assert_eq!([edges[0], edges[6], edges[11]], [word(1, 0, 5, 0), word(3, 0, 8, 0), word(9, 1, 4, 0)]);
        assert_eq!(edges[12], 0, "no more");
    }

    #[test] // x310.md 15, trap 10
    fn control_ports_count_endpoints_with_control_before_blocks() {
        assert_eq!(Target::of(0), Some(Target::ClientZero));
        assert_eq!(Target::of(1), None);
        let blocks: Vec<_> = (2..9).map(Target::of).collect();
        assert_eq!(blocks[..3], [Some(Target::Duc(0)), Some(Target::Ddc(0)), Some(Target::Radio(0))]);
        assert_eq!(blocks[5..], [Some(Target::Radio(1)), None]);
        assert_eq!([radio_port(0), radio_port(1)], [4, 7]);
    }
}
