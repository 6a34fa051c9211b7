//! A slot of the board: a radio with its converters and daughterboard, a DDC, a DUC, and the streams that run through them.

use takt_base::Tick;
use takt_wire::x310::registers::{ddc, radio};

use super::converters::Converters;
use super::front_end::FrontEnd;
use super::graph::{self, CHANNELS};
use super::messages::{Around, Messenger};
use super::pins::{self, Running};
use super::registers::Registers;
use super::rx::{self, Receiver};
use super::spi::SpiCore;
use super::tx::{self, Transmitter};
use super::ubx::Ubx;
use super::{Board, Endpoint, Signals};
use crate::front_end::{Imperfections, leakage, with_cal};
use crate::shared::Timekeeper;
use crate::{Outbox, Timebase};

/// Version of each converter, and what its rates are made of: 3 half-bands, a CIC up to 255 (x310.md 8.1 and 8.2).
const COMPAT: u32 = 1;
const HALF_BANDS: u32 = 3;
const CIC_MAX: u32 = 255;
/// Sample width 32 bits, one sample a clock.
const WIDTH: u32 = 0x0020_0001;

pub(super) struct Slot {
    /// Its endpoints are `CHANNELS * index` and the next.
    index: usize,
    radio: Registers,
    ddc: Registers,
    duc: Registers,
    spi: SpiCore,
    converters: Converters,
    board: Board,
    ubx: Ubx,
    front_end: FrontEnd,
    /// The upper half of the time, kept while its lower half is read.
    time_high: u32,
    clock_hz: f64,
    messenger: Messenger,
    pub(super) rx: [Receiver; CHANNELS],
    pub(super) tx: Transmitter,
}

impl Slot {
    pub(super) fn new(
        index: usize,
        now: Tick,
        board: Board,
        imperfections: Option<Imperfections>,
        signals: Signals,
    ) -> Slot {
        let signals = with_cal(signals, super::MASTER_CLOCK, imperfections);
        Slot {
            index,
            radio: Registers::new(),
            ddc: Registers::new(),
            duc: Registers::new(),
            spi: SpiCore::default(),
            converters: Converters::new(),
            board,
            ubx: Ubx::default(),
            front_end: FrontEnd::new(imperfections),
            time_high: 0,
            clock_hz: f64::from(super::MASTER_CLOCK.hz()),
            messenger: Messenger::new(graph::radio_port(index)),
            rx: signals.sources.map(|source| Receiver::new(now, source)),
            tx: Transmitter::new(now, signals.sink),
        }
    }

    /// As after power-up; sources, sink and counts stay.
    pub(super) fn power_cycle(&mut self, now: Tick) {
        self.clear(now);
        self.radio.clear();
        self.ddc.clear();
        self.duc.clear();
        self.spi.reset();
        self.converters = Converters::new();
        self.ubx = Ubx::default();
        self.front_end.reset();
        self.messenger = Messenger::new(graph::radio_port(self.index));
        self.retune(now);
    }

    /// The master clock has another rate.
    pub(super) fn clocked(&mut self, now: Tick, base: Timebase) {
        self.clock_hz = f64::from(base.rate().hz());
        self.rx.iter_mut().for_each(|rx| rx.source().clocked(now, base));
        self.tx.clocked(now, base);
        self.retune(now);
    }

    /// Stops all streams, and drops what waits.
    pub(super) fn clear(&mut self, now: Tick) {
        self.rx.iter_mut().for_each(|rx| rx.clear(now));
        self.tx.clear(now, self.interpolation());
    }

    pub(super) fn spi_writes(&self) -> u64 {
        self.spi.count
    }

    fn decimation(&self, channel: usize) -> u32 {
        self.ddc.get(ddc::STRIDE * channel as u32 + ddc::N)
    }

    fn interpolation(&self) -> u32 {
        self.duc.get(ddc::M)
    }

    fn running(&self) -> Running {
        Running { rx: self.rx.iter().any(Receiver::running), tx: self.tx.running() }
    }

    /// The daughterboards have other clocks, receive and transmit, Hz.
    pub(super) fn set_board_clocks(&mut self, now: Tick, boards_hz: [f64; 2]) {
        self.ubx.clocked(boards_hz);
        self.retune(now);
    }

    /// Sets 0 Hz of each stream (the board's oscillator, and the mixers behind the converters), how fast samples leave,
    /// and what is between.
    fn retune(&mut self, now: Tick) {
        let interpolation = self.interpolation();
        let [rx_hz, tx_hz] = if self.board == Board::Ubx { self.ubx.oscillators_hz() } else { [0.0; 2] };
        let gains_db = Ubx::gains_db(self.radio.get(radio::BOARD_GPIO));
        self.front_end.settle(now, [rx_hz, tx_hz], gains_db);
        let leakage = (!self.front_end.is_perfect() && self.ubx.calibrates()).then(|| leakage(Some(gains_db)));
        for (n, rx) in self.rx.iter_mut().enumerate() {
            let word = frequency_word(self.ddc.get(ddc::STRIDE * n as u32 + ddc::FREQUENCY));
            rx.retune(now, rx_hz, -turns(word) * self.clock_hz);
            rx.connect(now, self.front_end.rx_chain(n), word, leakage);
        }
        let word = frequency_word(self.duc.get(ddc::FREQUENCY));
        let path = tx::Path { chain: self.front_end.tx_chain(), word };
        self.tx.update(now, path, tx_hz, turns(word) * self.clock_hz, interpolation);
    }

    pub(super) fn write_ddc(&mut self, now: Tick, address: u32, word: u32, time: &Timekeeper) {
        self.ddc.set(address, word);
        self.retune(now);
        for n in 0..CHANNELS {
            let shape = rx::shape(&self.radio, base_of(n), self.decimation(n));
            self.rx[n].reshape(now, time, shape);
        }
    }

    pub(super) fn write_duc(&mut self, now: Tick, address: u32, word: u32) {
        self.duc.set(address, word);
        self.retune(now);
    }

    pub(super) fn read_ddc(&self, address: u32) -> u32 {
        converter_word(address % ddc::STRIDE).unwrap_or_else(|| self.ddc.get(address))
    }

    pub(super) fn read_duc(&self, address: u32) -> u32 {
        converter_word(address).unwrap_or_else(|| self.duc.get(address))
    }

    pub(super) fn write_radio(
        &mut self,
        now: Tick,
        address: u32,
        word: u32,
        endpoints: &mut [Endpoint],
        time: &Timekeeper,
    ) {
        self.radio.set(address, word);
        match address {
            radio::CONVERTERS => self.converters.set_control(word),
            a if a == radio::SPI[1] => self.spi.set_control(word),
            a if a == radio::SPI[2] => {
                let transfer = self.spi.shift(word);
                self.converters.transfer(transfer);
                if self.ubx.transfer(transfer, self.radio.get(radio::BOARD_GPIO)) {
                    self.retune(now);
                }
            }
            a if (radio::BOARD_GPIO..radio::TX_FRONT_END).contains(&a) => self.retune(now),
            a if self.front_end.write(now, a, word) => self.retune(now),
            _ => {
                if let Some((channel, radio::RX_COMMAND)) = channel_of(address) {
                    self.rx_command(now, channel, word, endpoints, time);
                }
            }
        }
    }

    fn rx_command(&mut self, now: Tick, channel: usize, word: u32, endpoints: &mut [Endpoint], time: &Timekeeper) {
        let decimation = self.decimation(channel);
        let Slot { index, radio, messenger, rx, .. } = self;
        let endpoint = endpoints.get_mut(CHANNELS * *index + channel);
        if let Some((rx, endpoint)) = rx.get_mut(channel).zip(endpoint) {
            rx.command(now, word, &rx_channel(radio, messenger, decimation, channel, endpoint), time);
        }
    }

    pub(super) fn read_radio(&mut self, now: Tick, address: u32, time: &Timekeeper) -> u32 {
        match address {
            radio::TIME_LOW => {
                let time = time.at(now);
                self.time_high = (time >> 32) as u32;
                time as u32
            }
            radio::TIME_HIGH => self.time_high,
            radio::ADC_STATUS => self.converters.adc_status(),
            radio::SPI_READBACK => self.converters.readback(),
            radio::BOARD_GPIO_READ => pins::read(&self.radio, radio::BOARD_GPIO, self.running(), self.board.pins()),
            radio::PANEL_GPIO_READ => pins::read(&self.radio, radio::PANEL_GPIO, self.running(), 0),
            _ => match channel_of(address) {
                Some((_, radio::WIDTH)) => WIDTH,
                Some((_, radio::ADC)) => self.converters.adc_word(),
                _ => self.radio.get(address),
            },
        }
    }

    pub(super) fn next_event(&self, now: Tick, time: &Timekeeper, endpoints: &[Endpoint]) -> Option<Tick> {
        let endpoints = endpoints.get(CHANNELS * self.index..)?;
        let rx = self.rx.iter().zip(endpoints).filter_map(|(rx, end)| rx.next_event(now, time, &end.output));
        rx.chain(self.tx.next_event(now, time)).min()
    }

    pub(super) fn act(&mut self, now: Tick, endpoints: &mut [Endpoint], around: &Around<'_>, out: &mut dyn Outbox) {
        let Some(endpoints) = endpoints.get_mut(CHANNELS * self.index..) else { return };
        if let Some(first) = endpoints.first() {
            let (tx, channel) = self.tx_and_channel(first.id);
            tx.act(now, channel, around, out);
        }
        for (n, endpoint) in endpoints.iter_mut().take(CHANNELS).enumerate() {
            let decimation = self.decimation(n);
            let Slot { radio, messenger, rx, .. } = self;
            let channel = rx_channel(radio, messenger, decimation, n, endpoint);
            rx[n].act(now, channel, around, out);
        }
    }

    /// The transmitter, and its surroundings.
    pub(super) fn tx_and_channel(&mut self, endpoint: u16) -> (&mut Transmitter, tx::Channel<'_>) {
        let interpolation = self.interpolation();
        let Slot { radio, messenger, tx, .. } = self;
        (tx, tx::Channel { radio, interpolation, endpoint, messenger })
    }
}

fn rx_channel<'a>(
    radio: &'a Registers,
    messenger: &'a mut Messenger,
    decimation: u32,
    channel: usize,
    endpoint: &'a mut Endpoint,
) -> rx::Channel<'a> {
    let base = base_of(channel);
    rx::Channel { radio, base, decimation, output: &mut endpoint.output, endpoint: endpoint.id, messenger }
}

/// The address of a channel's first register.
fn base_of(channel: usize) -> u32 {
    radio::CHANNELS + radio::STRIDE * channel as u32
}

/// The channel of a radio to which an address belongs, and which of its registers it is.
fn channel_of(address: u32) -> Option<(usize, u32)> {
    let offset = address.checked_sub(radio::CHANNELS)?;
    let channel = (offset / radio::STRIDE) as usize;
    (channel < CHANNELS).then_some((channel, offset % radio::STRIDE))
}

/// Facts of a DDC and a DUC about themselves.
fn converter_word(register: u32) -> Option<u32> {
    match register {
        ddc::COMPAT => Some(COMPAT),
        ddc::HALF_BANDS => Some(HALF_BANDS),
        ddc::CIC_MAX => Some(CIC_MAX),
        _ => None,
    }
}

/// The radio uses 24 bits of a frequency word (x310.md 8.1).
fn frequency_word(word: u32) -> u32 {
    word & 0xFFFF_FF00
}

/// A frequency word as a share of the master clock.
fn turns(word: u32) -> f64 {
    f64::from(word.cast_signed()) / 4_294_967_296.0
}
