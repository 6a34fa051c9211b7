//! Pins, oscillators and what they follow.

use takt_base::{Complex32, Tick};
use takt_emulator::n200::{Board, N200Options, Signals};
use takt_emulator::sink::{BurstEdges, Sink};
use takt_emulator::source::Source;
use takt_wire::n200::StreamAction::{Start, Stop};
use takt_wire::n200::frequency;
use takt_wire::n200::registers::{readback, settings, spi};
use takt_wire::sample::Format;

use crate::support::{self, Host, ms, ramps, us};

/// A host that has set all pins.
fn with_pins() -> Host {
    let mut host = Host::new();
    let pins = [0x1110_1110, 0x2220_2220, 0x4440_4440, 0x8880_8880, 0xFFFC_FFFC];
    for (register, data) in (settings::GPIO_IDLE..).zip(pins) {
        host.poke(register, data);
    }
    host
}

#[test]
fn outputs_follow_the_run_state_and_inputs_show_the_lock() {
    let mut host = with_pins();
    host.open_rx(0, 100, Format::Sc16, 100);
    host.open_tx(100, Format::Sc16);
    assert_eq!(host.peek(readback::GPIO), 0x1111_1111, "idle, both oscillators locked");
    host.stream(0, Start, None);
    assert_eq!(host.peek(readback::GPIO), 0x2221_2221);
    host.packet(1000, None, true);
    host.run(us(100));
    assert_eq!(host.peek(readback::GPIO), 0x8881_8881);
    host.stream(0, Stop, None);
    host.run(us(200));
    assert_eq!(host.peek(readback::GPIO), 0x4441_4441);
    host.run(ms(2));
    assert_eq!(host.peek(readback::GPIO), 0x1111_1111);
}

#[test]
fn the_second_dsp_counts_as_receiving_too() {
    let mut host = with_pins();
    host.open_rx(1, 100, Format::Sc16, 100);
    host.stream(1, Start, None);
    assert_eq!(host.peek(readback::GPIO), 0x2221_2221);
}

#[test]
fn a_timed_start_is_no_run_before_its_time() {
    let mut host = with_pins();
    host.open_rx(0, 100, Format::Sc16, 100);
    host.stream(0, Start, Some(host.time() + 1_000_000));
    assert_eq!(host.peek(readback::GPIO), 0x1111_1111);
    host.run(ms(11));
    assert_eq!(host.peek(readback::GPIO), 0x2221_2221);
}

#[test]
fn boards_without_oscillators_show_no_lock() {
    let mut host = Host::with(N200Options { board: Board::Basic, ..N200Options::default() }, ramps(), &[]);
    assert_eq!(host.peek(readback::GPIO), 0);
}

/// Remembers what it was tuned to.
#[derive(Clone, Default)]
struct Tuned(std::sync::Arc<std::sync::Mutex<Vec<(Tick, f64)>>>);

impl Source for Tuned {
    fn tuned(&mut self, from: Tick, centre_hz: f64) {
        self.0.lock().unwrap().push((from, centre_hz));
    }
    fn fill(&mut self, _: Tick, _: u32, out: &mut [Complex32]) {
        out.fill(Complex32::default());
    }
}

impl Sink for Tuned {
    fn tuned(&mut self, from: Tick, centre_hz: f64) {
        self.0.lock().unwrap().push((from, centre_hz));
    }
    fn take(&mut self, _: Tick, _: u32, _: &[Complex32], _: BurstEdges) {}
}

/// The words for 2400 MHz; the last one takes effect.
fn tune(host: &mut Host, slave: u32) {
    host.poke(settings::SPI_CONTROL, 32 << 24 | slave);
    for word in [0x6500_8A4A, 0x0040_0005, 0x000F_A23C, 0x0001_001B, 0x6500_8A42, 0x0000_7FF9, 0x0030_0000] {
        host.poke(settings::SPI_DATA, word);
    }
}

#[test] // receive: 901.001221 MHz for 900 MHz wrote 0x02902903, transmit wrote 0xFD6FD6FD
fn sources_and_sinks_get_where_zero_lies() {
    let (rx0, rx1, tx) = (Tuned::default(), Tuned::default(), Tuned::default());
    let signals = Signals { sources: [Box::new(rx0.clone()), Box::new(rx1.clone())], sink: Box::new(tx.clone()) };
    let mut host = Host::with(N200Options::default(), signals, &[]);
    tune(&mut host, spi::RX_BOARD);
    tune(&mut host, spi::TX_BOARD);
    host.poke(settings::RX_DSP[1], 0x0290_2903);
    host.poke(settings::TX_DSP, 0xFD6F_D6FD);
    host.run(us(10));
    let told = |tuned: &Tuned| tuned.0.lock().unwrap().iter().map(|t| t.1).collect::<Vec<_>>();
    let offset = frequency::hz_of(0x0290_2903);
    assert!((offset - 1_001_221.0).abs() < 1.0);
    assert_eq!(told(&rx0), [2400e6]);
    assert_eq!(told(&rx1), [2400e6, 2400e6 - offset]);
    assert_eq!(told(&tx), [2400e6, 2400e6 - offset]);
    assert_eq!(host.report().tuning.rx_hz, [2400e6, 2400e6 - offset]);
}

#[test]
fn a_wbx_halves_its_synthesiser() {
    let mut host = Host::with(N200Options { board: Board::Wbx, ..N200Options::default() }, ramps(), &[]);
    tune(&mut host, spi::RX_BOARD);
    host.run(us(10));
    assert_eq!(host.report().tuning.rx_hz[0], 1200e6);
}

#[test]
fn the_tx_mux_and_the_board_undo_each_other() {
    let (signals, recorder) = support::recorded();
    let mut host = Host::with(N200Options::default(), signals, &[]);
    host.open_tx(4, Format::Sc16);
    for (mux, re, im) in [(0x01, 0.5, 0.0), (0x10, 0.0, 0.5)] {
        host.poke(settings::TX_MUX, mux);
        host.run(us(10));
        host.payload(&[0x40, 0, 0, 0], None, true);
        host.run(us(100));
        let sample = recorder.blocks().pop().unwrap().samples[0];
        assert!((sample - Complex32::new(re, im)).norm() < 1e-3, "mux {mux:#x}: {sample}");
    }
}
