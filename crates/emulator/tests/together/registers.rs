//! Registers of `docs/internals/emulator.md`, each by its effect on the samples. Those that set frequencies, rates, scales and
//! formats have their tests elsewhere (`front_end.rs`, `rx_packets.rs`, `tx.rs`, `loopback_rates.rs`).

use takt_base::Complex32;
use takt_emulator::n200::{Board, N200Options, Signals};
use takt_wire::n200::StreamAction::Samples;
use takt_wire::n200::rate::{Direction, Factor};
use takt_wire::n200::registers::{dsp, rx_control, settings};
use takt_wire::sample::Format;

use crate::support::{Host, Recorder, constant, ms, recorded, us};

const PAGE: &str = include_str!("../../../../docs/internals/emulator.md");

/// The signal at the receiver's converter, and the one that the host transmits.
const SIGNAL: (f32, f32) = (0.5, 0.125);
const FACTOR: u32 = 4;

/// An offset that is fixed, and loaded.
const FIXED: u32 = 3 << 30;
/// Setting, value, what the signal becomes, and the value that undoes it.
const RECEIVE: [(u8, u32, (f32, f32), u32); 5] = [
    (settings::RX_SWAP_IQ, 1, (0.125, 0.5), 0),
    (settings::RX_IQ_MAGNITUDE, 1 << 16, (0.625, 0.125), 0),
    (settings::RX_IQ_PHASE, 1 << 15, (0.5, 0.1875), 0),
    (settings::RX_DC_OFFSET_I, FIXED | 1 << 27, (0.25, 0.125), FIXED),
    (settings::RX_DC_OFFSET_Q, FIXED | 1 << 26, (0.5, 0.0), FIXED),
];
/// The same.
const TRANSMIT: [(u8, u32, (f32, f32), u32); 6] = [
    (settings::TX_DC_OFFSET_I, 1 << 20, (0.625, 0.125), 0),
    (settings::TX_DC_OFFSET_Q, (1 << 24) - (1 << 20), (0.5, 0.0), 0),
    (settings::TX_IQ_MAGNITUDE, 1 << 16, (0.625, 0.125), 0),
    (settings::TX_IQ_PHASE, (1 << 18) - (1 << 15), (0.5, 0.0625), 0),
    (settings::TX_MUX, 0x01, (0.125, 0.5), 0x10),
    (settings::TX_MUX, 0x1F, (0.0, 0.125), 0x10),
];
/// Settings that leave the signal as it is, with values that hosts write or a real radio heeds.
const WITHOUT_EFFECT: [(u8, u32); 22] = [
    (settings::RX_DC_OFFSET_I, 1 << 31 | 1 << 27),
    (settings::RX_DC_OFFSET_Q, 1 << 31 | 1 << 26),
    (settings::RX_DC_OFFSET_I, 1 << 27),
    (settings::RX_DC_OFFSET_Q, 1 << 26),
    (settings::RX_DSP[0] + dsp::MUX, 1),
    (settings::RX_DSP[0] + dsp::MUX, 2),
    (settings::RX_DSP[1] + dsp::MUX, 3),
    (settings::GPIO_IDLE, u32::MAX),
    (settings::GPIO_RX, u32::MAX),
    (settings::GPIO_TX, u32::MAX),
    (settings::GPIO_BOTH, u32::MAX),
    (settings::GPIO_DIRECTION, u32::MAX),
    (settings::CLOCK_CONTROL, 0x1C),
    (settings::PPS_FLAGS, 3),
    (settings::MIMO_SYNC, 0x18A),
    (settings::USER_ADDRESS, 1),
    (settings::USER_DATA, u32::MAX),
    (settings::ROUTER, 0),
    (settings::SPI_DIVIDER, 1),
    (settings::RX_CONTROL[0] + rx_control::VRT_TRAILER, u32::MAX),
    (settings::RX_CONTROL[1] + rx_control::VRT_TRAILER, u32::MAX),
    (settings::RX_DSP[0] + dsp::MUX, 0),
];

fn host(signals: Signals) -> Host {
    Host::with(N200Options { board: Board::Basic, ..N200Options::default() }, signals, &[])
}

fn receiver() -> Host {
    let mut host = host(constant(SIGNAL.0, SIGNAL.1));
    host.open_rx(0, FACTOR, Format::Sc16, 100);
    host
}

fn transmitter() -> (Host, Recorder) {
    let (signals, recorder) = recorded();
    let mut host = host(signals);
    host.open_tx(FACTOR, Format::Sc16);
    host.poke(settings::TX_MUX, 0x10);
    (host, recorder)
}

/// A sample as the host computes it.
fn received(host: &mut Host) -> Complex32 {
    host.rx[0].clear();
    host.stream(0, Samples(100), None);
    host.run(ms(1));
    let factor = Factor::new(FACTOR).unwrap().scaling(Direction::Rx, Format::Sc16).host_factor;
    let (i, q) = host.samples(0)[50];
    Complex32::new((f64::from(i) * factor) as f32, (f64::from(q) * factor) as f32)
}

/// The sample that leaves when the host sends the signal.
fn transmitted(host: &mut Host, recorder: &Recorder) -> Complex32 {
    host.run(us(10));
    host.payload(&[0x40, 0, 0x10, 0], None, true);
    host.run(us(100));
    recorder.blocks().pop().unwrap().samples[0]
}

#[track_caller]
fn is_near(sample: Complex32, wanted: (f32, f32), why: &str) {
    assert!((sample - Complex32::new(wanted.0, wanted.1)).norm() < 1e-3, "{why}: {sample}, not {wanted:?}");
}

#[test]
fn registers_of_the_receiver_act_and_are_undone() {
    let mut host = receiver();
    is_near(received(&mut host), SIGNAL, "fresh");
    for (setting, value, wanted, usual) in RECEIVE {
        host.poke(setting, value);
        is_near(received(&mut host), wanted, &format!("{setting} = {value:#x}"));
        host.poke(setting, usual);
        is_near(received(&mut host), SIGNAL, &format!("{setting} = {usual:#x}"));
    }
}

#[test]
fn registers_of_the_transmitter_act_and_are_undone() {
    let (mut host, recorder) = transmitter();
    is_near(transmitted(&mut host, &recorder), SIGNAL, "fresh");
    for (setting, value, wanted, usual) in TRANSMIT {
        host.poke(setting, value);
        is_near(transmitted(&mut host, &recorder), wanted, &format!("{setting} = {value:#x}"));
        host.poke(setting, usual);
        is_near(transmitted(&mut host, &recorder), SIGNAL, &format!("{setting} = {usual:#x}"));
    }
}

#[test]
fn registers_without_effect_have_none() {
    let mut receiver = receiver();
    let (mut transmitter, recorder) = transmitter();
    for (setting, value) in WITHOUT_EFFECT {
        receiver.poke(setting, value);
        is_near(received(&mut receiver), SIGNAL, &format!("received with {setting} = {value:#x}"));
        transmitter.poke(setting, value);
        is_near(transmitted(&mut transmitter, &recorder), SIGNAL, &format!("sent with {setting} = {value:#x}"));
    }
}

/// Settings in the first cells of a table.
fn listed(table: &str) -> Vec<u8> {
    let cells = table.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    cells.flat_map(|cell| cell.split(", ").filter_map(|number| number.parse().ok())).collect()
}

#[test]
fn the_page_lists_each_register_where_it_belongs() {
    let (_, section) = PAGE.split_once("## Registers and the samples\n").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    let (acting, idle) = section.split_once("These are accepted").unwrap();
    let (acting, idle) = (listed(acting), listed(idle));
    let tested = RECEIVE.map(|(setting, ..)| setting).into_iter().chain(TRANSMIT.map(|(setting, ..)| setting));
    for setting in tested {
        assert!(acting.contains(&setting), "{setting} acts");
    }
    for (setting, _) in WITHOUT_EFFECT {
        assert!(idle.contains(&setting), "{setting} does not act");
    }
    // But for the offsets, which act only where they are fixed, a register is in one table.
    assert_eq!(idle.iter().filter(|setting| acting.contains(setting)).collect::<Vec<_>>(), [&27_u8, &28]);
}
