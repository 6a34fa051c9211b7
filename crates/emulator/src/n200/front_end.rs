//! Everything between the DSPs and the antenna: oscillators, corrections, crossings, and the pins that drive a board.
//!
//! A radio frequency f appears at the receive DSP at f - LO and is shifted by the DSP's frequency word; so 0 Hz of the
//! samples is f = LO - word. On transmit the word, the converter's shift and the oscillator all add. Gains of the boards
//! (attenuators) are read, and applied only to the path from transmitter to receiver of a board with imperfections: what a
//! source gives is what is at the ADC.

use takt_base::Tick;
use takt_wire::n200::registers::{gpio, settings, spi};
use takt_wire::n200::{MASTER_CLOCK_HZ, frequency};

use super::board::Board;
use super::converter::Converter;
use super::spi::SpiWrite;
use crate::front_end::{Core, Imperfections, IqCorrection, RxChain, Side, TxChain, leakage, signed};
use crate::shared::Synthesiser;

pub(super) struct FrontEnd {
    board: Board,
    rx_oscillator: Synthesiser,
    tx_oscillator: Synthesiser,
    converter: Converter,
    /// Idle, receiving, transmitting, both, direction; RX board in bits 15:0, TX board in 31:16.
    gpio: [u32; 5],
    /// `None`: the boards are perfect.
    imperfections: Option<Imperfections>,
    rx: RxChain,
    tx_mux: u32,
    tx: TxChain,
}

/// Which way samples flow at the moment.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Running {
    pub(super) rx: bool,
    pub(super) tx: bool,
}

impl FrontEnd {
    pub(super) fn new(board: Board, imperfections: Option<Imperfections>) -> FrontEnd {
        FrontEnd {
            board,
            rx_oscillator: Synthesiser::default(),
            tx_oscillator: Synthesiser::default(),
            converter: Converter::default(),
            gpio: [0; 5],
            imperfections,
            rx: RxChain { core: Core::N200, ..RxChain::default() },
            tx_mux: if board.tx_crossed() { 0x01 } else { 0x10 },
            tx: TxChain { core: Core::N200, ..TxChain::default() },
        }
    }

    /// A settings register of the front end; others are ignored.
    pub(super) fn poke(&mut self, now: Tick, register: u8, data: u32) {
        match register {
            settings::RX_SWAP_IQ => self.rx.swapped = data & 1 != 0,
            settings::RX_IQ_MAGNITUDE => self.rx.correction.magnitude = IqCorrection::word(data),
            settings::RX_IQ_PHASE => self.rx.correction.phase = IqCorrection::word(data),
            settings::RX_DC_OFFSET_I => self.rx.offset[0].write(now, data),
            settings::RX_DC_OFFSET_Q => self.rx.offset[1].write(now, data),
            settings::TX_DC_OFFSET_I => self.tx.offset[0] = signed(data, 24),
            settings::TX_DC_OFFSET_Q => self.tx.offset[1] = signed(data, 24),
            settings::TX_IQ_MAGNITUDE => self.tx.correction.magnitude = IqCorrection::word(data),
            settings::TX_IQ_PHASE => self.tx.correction.phase = IqCorrection::word(data),
            settings::TX_MUX => self.tx_mux = data,
            settings::GPIO_IDLE..=settings::GPIO_DIRECTION => {
                self.gpio[usize::from(register - settings::GPIO_IDLE)] = data;
            }
            _ => {}
        }
    }

    /// A transaction on the SPI bus: what moves a frequency is taken.
    pub(super) fn spi(&mut self, write: SpiWrite) {
        if write.slaves & spi::RX_BOARD != 0 && write.bits == 32 {
            self.rx_oscillator.write(write.word);
        }
        if write.slaves & spi::TX_BOARD != 0 && write.bits == 32 {
            self.tx_oscillator.write(write.word);
        }
        if write.slaves & spi::DAC != 0 {
            self.converter.write(write.word);
        }
    }

    /// The radio frequency at 0 Hz of the samples of a receive DSP with this frequency word.
    pub(super) fn rx_centre_hz(&self, word: u32) -> f64 {
        self.oscillator_hz(self.rx_oscillator) - frequency::hz_of(word.cast_signed())
    }

    /// The radio frequency at 0 Hz of the samples of the transmit DSP with this frequency word.
    pub(super) fn tx_centre_hz(&self, word: u32) -> f64 {
        self.oscillator_hz(self.tx_oscillator) + self.converter.shift_hz() + frequency::hz_of(word.cast_signed())
    }

    /// The radio frequencies of the receive and the transmit board's oscillators, the converter's shift with the latter.
    pub(super) fn oscillators_hz(&self) -> [f64; 2] {
        [self.oscillator_hz(self.rx_oscillator), self.oscillator_hz(self.tx_oscillator) + self.converter.shift_hz()]
    }

    fn oscillator_hz(&self, synthesiser: Synthesiser) -> f64 {
        self.board
            .oscillator_ratio()
            .zip(synthesiser.output_hz(f64::from(MASTER_CLOCK_HZ)))
            .map_or(0.0, |(ratio, hz)| ratio * hz)
    }

    /// Readback word 9. An output shows the register that the run state chooses; an input shows the board: lock detect
    /// and synthesiser output of a board that has them, zero elsewhere.
    pub(super) fn pins(&self, running: Running) -> u32 {
        let [idle, rx, tx, both, outputs] = self.gpio;
        let driven = match (running.rx, running.tx) {
            (false, false) => idle,
            (true, false) => rx,
            (false, true) => tx,
            (true, true) => both,
        };
        let board = match self.board.oscillator_ratio() {
            Some(_) => gpio::RX_LO_LOCKED | gpio::TX_LO_LOCKED,
            None => 0,
        };
        driven & outputs | board & !outputs
    }

    /// Gains of the boards in decibels, receive and transmit, as their attenuators are set while running; `None` where the
    /// board has none.
    pub(super) fn gains_db(&self) -> Option<[f64; 2]> {
        let [_, rx, tx, ..] = self.gpio;
        let gain = |pins: u32| f64::from((pins >> 8) & 63) / 2.0;
        self.board.has_gain().then(|| [gain(rx), gain(tx >> 16)])
    }

    /// Registers, an oscillator or a gain have changed: what the boards do wrong from this tick on.
    pub(super) fn settle(&mut self, now: Tick) {
        let Some(imperfections) = self.imperfections else { return };
        let [rx_gain, tx_gain] = self.gains_db().map_or([None; 2], |gains| gains.map(Some));
        let [rx_hz, tx_hz] = self.oscillators_hz();
        self.rx.board = imperfections.at(Side::Receive, rx_hz, rx_gain);
        // If the converter shifts, the board's oscillator is beyond any band.
        let shifted = self.converter.shift_hz() != 0.0;
        self.tx.board = if shifted { None } else { imperfections.at(Side::Transmit, tx_hz, tx_gain) };
        let constants = RxChain::constants(self.rx.board, self.rx.swapped);
        self.rx.offset.iter_mut().zip(constants).for_each(|(offset, constant)| offset.follow(now, constant));
    }

    pub(super) fn rx_chain(&self) -> RxChain {
        self.rx
    }

    /// With the mux, and the board's own crossing.
    pub(super) fn tx_chain(&self) -> TxChain {
        let (i, q) = (self.tx_mux & 15, (self.tx_mux >> 4) & 15);
        let crossed = if self.board.tx_crossed() { (q, i) } else { (i, q) };
        TxChain { crossed, ..self.tx }
    }

    /// How much of its transmitter the receiver gets by the calibration port; `None`: it is connected to an antenna.
    pub(super) fn leakage(&self) -> Option<f32> {
        let [.., both, direction] = self.gpio;
        let pin = self.board.receives_antenna().filter(|_| self.imperfections.is_some())?;
        (direction & pin != 0 && both & pin == 0).then(|| leakage(self.gains_db()))
    }
}

#[cfg(test)]
mod tests {
    use takt_base::Complex32;

    use super::*;

    fn c(re: f32, im: f32) -> Complex32 {
        Complex32::new(re, im)
    }

    #[test]
    fn outputs_show_the_register_of_the_run_state_and_inputs_the_lock() {
        let mut sbx = FrontEnd::new(Board::Sbx, None);
        for (n, data) in [0x1111_1111, 0x2222_2222, 0x4444_4444, 0x8888_8888, 0xFFFC_FFFC].into_iter().enumerate() {
            sbx.poke(Tick(0), settings::GPIO_IDLE + n as u8, data);
        }
        let locked = 0x0001_0001;
        assert_eq!(sbx.pins(Running::default()), 0x1110_1110 | locked);
        assert_eq!(sbx.pins(Running { rx: true, tx: false }), 0x2220_2220 | locked);
        assert_eq!(sbx.pins(Running { rx: false, tx: true }), 0x4444_4444 | locked);
        assert_eq!(sbx.pins(Running { rx: true, tx: true }), 0x8888_8888 | locked);
        assert_eq!(FrontEnd::new(Board::Basic, None).pins(Running::default()), 0);
    }

    #[test]
    fn the_centre_follows_oscillator_and_word_of_either_direction() {
        let mut sbx = FrontEnd::new(Board::Sbx, None);
        let tune = [0x000F_A23C, 0x6500_8A42, 0x0000_7FF9, 0x0030_0000];
        for word in tune {
            sbx.spi(SpiWrite { slaves: spi::RX_BOARD | spi::TX_BOARD, bits: 32, word });
        }
        let word = frequency::word_of(1e6).cast_unsigned();
        assert!((sbx.rx_centre_hz(word) - 2399e6).abs() < 0.02);
        assert!((sbx.tx_centre_hz(word) - 2401e6).abs() < 0.02);
        sbx.spi(SpiWrite { slaves: spi::DAC, bits: 16, word: 0x0122 });
        assert!((sbx.tx_centre_hz(word) - 2501e6).abs() < 0.02);
        assert_eq!(FrontEnd::new(Board::Lf, None).rx_centre_hz(0), 0.0);
    }

    #[test]
    fn a_host_that_undoes_the_crossing_of_an_sbx_sends_what_it_means() {
        let mut sbx = FrontEnd::new(Board::Sbx, None);
        let mut samples = [c(0.5, -0.25)];
        sbx.poke(Tick(0), settings::TX_MUX, 0x01); // what a host writes for connection "QI"
        sbx.tx_chain().transmit(Tick(0), 4, 0, &mut samples);
        assert_eq!(samples, [c(0.5, -0.25)]);
        sbx.poke(Tick(0), settings::TX_MUX, 0x10);
        sbx.tx_chain().transmit(Tick(0), 4, 0, &mut samples);
        assert_eq!(samples, [c(-0.25, 0.5)]);
        sbx.poke(Tick(0), settings::TX_MUX, 0x0F);
        sbx.tx_chain().transmit(Tick(0), 4, 0, &mut samples);
        assert_eq!(samples, [c(-0.25, 0.0)]);
    }

    #[test]
    fn corrections_do_what_their_registers_say() {
        let mut board = FrontEnd::new(Board::Basic, None);
        board.poke(Tick(0), settings::RX_DC_OFFSET_I, 0xC000_0000 | 1 << 27); // fixed, set, 2^27 / 2^29
        board.poke(Tick(0), settings::RX_IQ_MAGNITUDE, 1 << 16); // a quarter
        board.poke(Tick(0), settings::RX_IQ_PHASE, (1 << 18) - (1 << 15)); // minus an eighth
        let mut samples = [c(0.5, 0.125)];
        board.rx_chain().receive(Tick(0), 4, 0, &mut samples);
        assert_eq!(samples, [c(0.3125, 0.09375)]);
        board.poke(Tick(0), settings::TX_DC_OFFSET_Q, (1 << 24) - (1 << 20)); // -0.125
        let mut samples = [c(0.0, 0.0)];
        board.tx_chain().transmit(Tick(0), 4, 0, &mut samples);
        assert_eq!(samples, [c(0.0, -0.125)]);
    }

    #[test]
    fn an_offset_lies_at_the_oscillator_wherever_the_band_is() {
        let mut board = FrontEnd::new(Board::Sbx, None);
        board.poke(Tick(0), settings::RX_DC_OFFSET_I, 0xC000_0000 | 1 << 27); // a quarter
        let word = frequency::word_of(1e6).cast_unsigned();
        let mut samples = vec![c(0.0, 0.0); 250];
        board.rx_chain().receive(Tick(0), 4, word, &mut samples);
        // 25 MS/s: 10 turns of 1 MHz in 250 samples.
        let turn = |n: usize| Complex32::from_polar(-0.25, std::f32::consts::TAU * n as f32 / 25.0);
        assert!(samples.iter().enumerate().all(|(n, s)| (s - turn(n)).norm() < 1e-4), "{:?}", &samples[..3]);
        // At 1 MS/s the oscillator, 1 MHz away, is outside.
        let mut samples = vec![c(0.0, 0.0); 250];
        board.rx_chain().receive(Tick(0), 100, word, &mut samples);
        assert_eq!(samples, vec![c(0.0, 0.0); 250]);
    }

    #[test]
    fn swapping_mirrors_the_band_around_the_oscillator() {
        let mut board = FrontEnd::new(Board::Basic, None);
        board.poke(Tick(0), settings::TX_MUX, 0x01);
        let word = frequency::word_of(2e6).cast_unsigned();
        // 0 Hz leaves at 2 MHz; mirrored, at -2 MHz, which is 4 MHz below 0 Hz of the samples.
        let mut samples = vec![c(1.0, 0.0); 100];
        board.tx_chain().transmit(Tick(0), 4, word, &mut samples);
        let want = |n: usize| c(0.0, 1.0) * Complex32::from_polar(1.0, -std::f32::consts::TAU * 4.0 / 25.0 * n as f32);
        assert!(samples.iter().enumerate().all(|(n, s)| (s - want(n)).norm() < 1e-4), "{:?}", &samples[..3]);
    }

    #[test] // UHD writes 0x4048554c for a gain of 10.5 dB, and 0xe95c4048 for 20.5 dB of the transmitter
    fn gains_are_known() {
        let mut sbx = FrontEnd::new(Board::Sbx, None);
        sbx.poke(Tick(0), settings::GPIO_RX, 0x4048_554C);
        sbx.poke(Tick(0), settings::GPIO_TX, 0xE95C_4048);
        assert_eq!(sbx.gains_db(), Some([10.5, 20.5]));
        assert_eq!(FrontEnd::new(Board::Wbx, None).gains_db(), None);
    }
}
