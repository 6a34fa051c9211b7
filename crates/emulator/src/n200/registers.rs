//! The register space: what a poke does, what a peek reads.
//!
//! Both paths drive the same settings. A poke over the control port acts at once; one over the FIFO acts when its turn
//! and its time have come. They read back differently: some words exist on one path only.

use takt_base::Tick;
use takt_wire::n200::registers::{readback, settings, status};
use takt_wire::n200::{FifoAction, time as words};

use super::N200;
use super::front_end::Running;

/// Registers of one RX control block, and of one DSP block.
const RX_CONTROL_LEN: u8 = 9;
const DSP_LEN: u8 = 4;

impl N200 {
    /// Executes a command of the FIFO; returns the readback.
    pub(super) fn execute(&mut self, now: Tick, action: FifoAction) -> u32 {
        match action {
            FifoAction::Poke { register, data } => {
                self.poke(now, register, data);
                readback::ABSENT
            }
            FifoAction::Peek { word } => self.peek_fifo(now, word),
        }
    }

    pub(super) fn poke(&mut self, now: Tick, register: u8, data: u32) {
        self.settings[usize::from(register)] = data;
        match register {
            settings::TIME_HIGH => self.set_time(now, data),
            settings::SPI_CONTROL => self.spi.control = data,
            settings::SPI_DATA => {
                let write = self.spi.shift(data);
                self.front_end.spi(write);
                self.update(now);
            }
            settings::TX_CLEAR..=settings::TX_PACKETS_PER_UPDATE => self.tx.control(now, register, data),
            _ => self.poke_block(now, register, data),
        }
    }

    /// Registers that come in blocks, and those of the front end.
    fn poke_block(&mut self, now: Tick, register: u8, data: u32) {
        for (n, rx) in self.rx.iter_mut().enumerate() {
            if let Some(offset) = within(register, settings::RX_CONTROL[n], RX_CONTROL_LEN) {
                return rx.control(now, offset, data);
            }
            if let Some(offset) = within(register, settings::RX_DSP[n], DSP_LEN) {
                rx.registers.dsp.poke(offset, data);
                return rx.update(now, &self.time, &self.front_end);
            }
        }
        if let Some(offset) = within(register, settings::TX_DSP, DSP_LEN) {
            self.tx.registers.dsp.poke(offset, data);
            return self.tx.update(now, &self.front_end);
        }
        self.front_end.poke(now, register, data);
        self.update(now);
    }

    /// Register "time high" takes the other time registers with it.
    fn set_time(&mut self, now: Tick, high: u32) {
        let time = words::join(high, self.settings[usize::from(settings::TIME_LOW)]);
        if self.settings[usize::from(settings::TIME_IMMEDIATE)] & 1 != 0 {
            self.time.set_now(now, time);
        } else {
            self.time.set_at_next_pps(now, time);
        }
    }

    /// The front end may have changed, an oscillator, a correction or a mux: for samples of this tick and later.
    pub(super) fn update(&mut self, now: Tick) {
        self.front_end.settle(now);
        for rx in &mut self.rx {
            rx.update(now, &self.time, &self.front_end);
        }
        self.tx.update(now, &self.front_end);
    }

    fn peek_fifo(&self, now: Tick, word: u8) -> u32 {
        let [high, low] = words::split(self.time.at(now));
        let [pps_high, pps_low] = words::split(self.time.last_pps(now));
        match word {
            readback::GPIO => self.front_end.pins(self.running()),
            readback::TIME_HIGH => high,
            readback::TIME_LOW => low,
            readback::STATUS => STATUS,
            readback::PPS_HIGH => pps_high,
            readback::PPS_LOW => pps_low,
            _ => readback::ABSENT,
        }
    }

    pub(super) fn peek_slow(&self, now: Tick, word: u8) -> u32 {
        match word {
            readback::ROUTER => 0,
            readback::TIME_LOW => words::split(self.time.at(now))[1],
            readback::COMPAT => self.options.fpga,
            readback::STATUS => STATUS,
            _ => readback::ABSENT,
        }
    }

    fn running(&self) -> Running {
        Running { rx: self.rx.iter().any(super::rx::RxDsp::running), tx: self.tx.running() }
    }
}

/// The reference is always locked and the SPI core always ready; there is no MIMO cable and nobody presses the button.
const STATUS: u32 = status::REFERENCE_LOCKED | status::SPI_READY;

fn within(register: u8, first: u8, len: u8) -> Option<u8> {
    register.checked_sub(first).filter(|&offset| offset < len)
}
