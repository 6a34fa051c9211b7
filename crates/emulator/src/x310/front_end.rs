//! The correction registers of a slot, and what its boards do wrong (x310.md 8.3).
//!
//! The transmit mux exchanges I and Q for a board that has them exchanged. The board undoes it, so neither is done here.

use takt_base::Tick;
use takt_wire::x310::registers::radio;

use super::graph::CHANNELS;
use crate::front_end::{Core, Imperfections, IqCorrection, RxChain, Side, TxChain, signed};

/// In the mapping: no correction at all.
const BYPASS: u32 = 1 << 7;
/// From register to register.
const STRIDE: u32 = 8;

pub(super) struct FrontEnd {
    /// `None`: the boards are perfect.
    imperfections: Option<Imperfections>,
    rx: [RxChain; CHANNELS],
    bypassed: [bool; CHANNELS],
    tx: TxChain,
}

impl FrontEnd {
    pub(super) fn new(imperfections: Option<Imperfections>) -> FrontEnd {
        FrontEnd {
            imperfections,
            rx: [RxChain { core: Core::X310, ..RxChain::default() }; CHANNELS],
            bypassed: [false; CHANNELS],
            tx: TxChain { core: Core::X310, ..TxChain::default() },
        }
    }

    /// As after power-up.
    pub(super) fn reset(&mut self) {
        *self = FrontEnd::new(self.imperfections);
    }

    pub(super) fn is_perfect(&self) -> bool {
        self.imperfections.is_none()
    }

    /// A register of the radio; whether it is one of these.
    pub(super) fn write(&mut self, now: Tick, address: u32, word: u32) -> bool {
        if let Some(n) = number(address, radio::TX_FRONT_END) {
            return self.write_tx(n, word);
        }
        (0..CHANNELS).any(|channel| {
            let base = radio::RX_FRONT_END + radio::FRONT_END_STRIDE * channel as u32;
            number(address, base).is_some_and(|n| self.write_rx(now, channel, n, word))
        })
    }

    fn write_tx(&mut self, number: u32, word: u32) -> bool {
        match number {
            0 => self.tx.offset[0] = signed(word, 24),
            1 => self.tx.offset[1] = signed(word, 24),
            2 => self.tx.correction.magnitude = IqCorrection::word(word),
            3 => self.tx.correction.phase = IqCorrection::word(word),
            _ => return false,
        }
        true
    }

    fn write_rx(&mut self, now: Tick, channel: usize, number: u32, word: u32) -> bool {
        let rx = &mut self.rx[channel];
        match number {
            0 => rx.correction.magnitude = IqCorrection::word(word),
            1 => rx.correction.phase = IqCorrection::word(word),
            2 => rx.offset[0].write(now, word),
            3 => rx.offset[1].write(now, word),
            4 => self.bypassed[channel] = word & BYPASS != 0,
            _ => return false,
        }
        true
    }

    /// An oscillator or a gain may have changed: what the boards do wrong from this tick on. Receive first.
    pub(super) fn settle(&mut self, now: Tick, [rx_hz, tx_hz]: [f64; 2], [rx_gain, tx_gain]: [f64; 2]) {
        let Some(imperfections) = self.imperfections else { return };
        self.tx.board = imperfections.at(Side::Transmit, tx_hz, Some(tx_gain));
        let board = imperfections.at(Side::Receive, rx_hz, Some(rx_gain));
        let constants = RxChain::constants(board, false);
        for rx in &mut self.rx {
            rx.board = board;
            rx.offset.iter_mut().zip(constants).for_each(|(offset, constant)| offset.follow(now, constant));
        }
    }

    pub(super) fn rx_chain(&self, channel: usize) -> RxChain {
        let rx = self.rx[channel];
        if self.bypassed[channel] { RxChain { board: rx.board, ..RxChain::default() } } else { rx }
    }

    pub(super) fn tx_chain(&self) -> TxChain {
        self.tx
    }
}

/// The number of a register from `base` on.
fn number(address: u32, base: u32) -> Option<u32> {
    let offset = address.checked_sub(base)?;
    (offset % STRIDE == 0 && offset / STRIDE < radio::FRONT_END_STRIDE / STRIDE).then_some(offset / STRIDE)
}

#[cfg(test)]
mod tests {
    use takt_base::Complex32;

    use super::*;

    fn received(front_end: &FrontEnd, channel: usize) -> Complex32 {
        let mut samples = [Complex32::new(0.5, 0.125)];
        front_end.rx_chain(channel).receive(Tick(0), 4, 0, &mut samples);
        samples[0]
    }

    #[test]
    fn registers_of_each_receiver_act_and_can_be_bypassed() {
        let mut front_end = FrontEnd::new(None);
        for (address, word) in [(0x8_0700, 1 << 16), (0x8_0708, 0x3_8000), (0x8_0710, 0xC000_0000 | 1 << 27)] {
            assert!(front_end.write(Tick(0), address, word));
        }
        // (0.5 - 0.25) 1.5, 0.125 - 0.25 / 4
        assert_eq!(received(&front_end, 0), Complex32::new(0.375, 0.0625));
        assert_eq!(received(&front_end, 1), Complex32::new(0.5, 0.125));
        assert!(front_end.write(Tick(0), 0x8_0798, 0xC000_0000 | 1 << 26));
        assert_eq!(received(&front_end, 1), Complex32::new(0.5, 0.0));
        assert!(front_end.write(Tick(0), 0x8_0720, 0x80));
        assert_eq!(received(&front_end, 0), Complex32::new(0.5, 0.125));
        assert!(!front_end.write(Tick(0), 0x8_0728, 1) && !front_end.write(Tick(0), 0x8_0704, 1));
    }

    #[test]
    fn registers_of_the_transmitter_act() {
        let mut front_end = FrontEnd::new(None);
        for (address, word) in [(0x8_0680, 1 << 20), (0x8_0688, 0xFF_F000), (0x8_0690, 1 << 16), (0x8_0698, 1 << 15)] {
            assert!(front_end.write(Tick(0), address, word));
        }
        let mut samples = [Complex32::new(0.5, 0.25)];
        front_end.tx_chain().transmit(Tick(0), 4, 0, &mut samples);
        assert_eq!(samples[0], Complex32::new(0.75 + 0.125, 0.25 + 0.125 - 4096.0 / 8_388_608.0));
        front_end.reset();
        assert_eq!(front_end.tx_chain(), FrontEnd::new(None).tx_chain());
    }
}
