//! Boards that are not perfect, from a host's side: what leaves, what is received, and the path from one to the other.

use takt_emulator::n200::{Board, N200Options, Signals};
use takt_emulator::{sink, source};
use takt_wire::n200::StreamAction::Samples;
use takt_wire::n200::rate::{Direction, Factor};
use takt_wire::n200::registers::{settings, spi};
use takt_wire::sample::Format;

use crate::support::{Host, ms, us};

/// 5 MS/s.
const FACTOR: u32 = 20;
/// The antenna switch of an SBX, low for `CAL` while both ways run.
const LNASW: u32 = 1 << 14;
const NOTHING_FIXED: u32 = 3 << 30;

fn host(board: Board, imperfect: Option<u64>) -> Host {
    let silence = || Box::new(source::Silence) as Box<dyn source::Source>;
    let signals = Signals { sources: [silence(), silence()], sink: Box::new(sink::Null) };
    let mut host = Host::with(N200Options { board, imperfect, ..N200Options::default() }, signals, &[]);
    host.open_rx(0, FACTOR, Format::Sc16, 300);
    host.open_tx(FACTOR, Format::Sc16);
    if board == Board::Sbx {
        host.poke(settings::TX_MUX, 0x01);
    }
    host.poke(settings::GPIO_DIRECTION, 0xFFFC_FFFC);
    host
}

/// Words for a synthesiser at `mhz` with a reference of 25 MHz.
fn tune(host: &mut Host, slave: u32, mhz: u32) {
    host.poke(settings::SPI_CONTROL, 32 << 24 | slave);
    for word in [0x000F_A23C, 0x6500_8A42, 1000 << 3 | 1, ((mhz / 25) << 15) | ((mhz % 25 * 40) << 3)] {
        host.poke(settings::SPI_DATA, word);
    }
    host.run(us(10));
}

/// The next samples, as a host computes them.
fn receive(host: &mut Host, count: u32) -> Vec<(f64, f64)> {
    host.rx[0].clear();
    host.stream(0, Samples(count), None);
    host.run(ms(2));
    let factor = Factor::new(FACTOR).unwrap().scaling(Direction::Rx, Format::Sc16).host_factor;
    let samples = host.samples(0);
    assert_eq!(samples.len(), count as usize);
    samples.iter().map(|&(i, q)| (f64::from(i) * factor, f64::from(q) * factor)).collect()
}

/// Level of a tone with so many turns in all samples.
fn level(samples: &[(f64, f64)], turns: f64) -> f64 {
    let count = samples.len() as f64;
    let (re, im) = samples.iter().enumerate().fold((0.0, 0.0), |(re, im), (n, (x, y))| {
        let (sin, cos) = (-std::f64::consts::TAU * turns * n as f64 / count).sin_cos();
        (re + x * cos - y * sin, im + x * sin + y * cos)
    });
    f64::hypot(re, im) / count
}

#[test]
fn the_receiver_tracks_its_offset_away_and_what_is_fixed_stays() {
    let mut host = host(Board::Sbx, Some(7));
    tune(&mut host, spi::RX_BOARD, 2400);
    let early = level(&receive(&mut host, 1000), 0.0);
    assert!((0.005..0.03).contains(&early), "{early}");
    host.run(ms(200));
    let late = level(&receive(&mut host, 1000), 0.0);
    assert!(late < 1e-4, "{late}");
    for register in [settings::RX_DC_OFFSET_I, settings::RX_DC_OFFSET_Q] {
        host.poke(register, NOTHING_FIXED);
    }
    host.run(ms(200));
    let fixed = level(&receive(&mut host, 1000), 0.0);
    assert!(fixed > early, "nothing is subtracted any more: {fixed}");
}

#[test]
fn at_the_calibration_port_the_receiver_hears_carrier_tone_and_image_of_its_transmitter() {
    let mut host = host(Board::Sbx, Some(7));
    tune(&mut host, spi::RX_BOARD, 2400);
    tune(&mut host, spi::TX_BOARD, 2401);
    host.run(ms(200));
    // Gains of 10 dB and 31.5 dB.
    host.poke(settings::GPIO_RX, 20 << 8);
    host.poke(settings::GPIO_TX, 63 << 24);
    host.run(ms(200));
    let mut heard = |both: u32| {
        host.poke(settings::GPIO_BOTH, both);
        host.run(us(20));
        let at = host.time() + 10_000;
        // 250 kHz at half of full scale: 20 samples a turn.
        for packet in 0..40u32 {
            let mut payload = Vec::new();
            for n in 300 * packet..300 * (packet + 1) {
                let (sin, cos) = (std::f64::consts::TAU * f64::from(n % 20) / 20.0).sin_cos();
                for x in [cos, sin] {
                    payload.extend(((x * 16_384.0) as i16).to_be_bytes());
                }
            }
            host.payload(&payload, (packet == 0).then_some(at), packet == 39);
        }
        host.run(us(500));
        let samples = receive(&mut host, 1000);
        // 5000 Hz a turn: carrier at 1 MHz, tone at 1.25, image at 0.75.
        [200.0, 250.0, 150.0].map(|turns| level(&samples, turns))
    };
    let [carrier, tone, image] = heard(0);
    // Leakage: -30 dB at no receive gain and full transmit gain.
    assert!((tone / 0.05 - 1.0).abs() < 0.1, "{tone}");
    assert!((0.0015..0.006).contains(&carrier), "{carrier}");
    assert!((0.01..0.06).contains(&(image / tone)), "{image}");
    let antenna = heard(LNASW);
    assert!(antenna.iter().all(|&level| level < 1e-4), "{antenna:?}");
}

#[test]
fn boards_without_oscillator_and_boards_of_the_same_seed_are_alike() {
    let received = |board, imperfect| {
        let mut host = host(board, imperfect);
        tune(&mut host, spi::RX_BOARD, 2400);
        receive(&mut host, 500)
    };
    assert_eq!(received(Board::Basic, Some(7)), received(Board::Basic, None));
    assert_eq!(received(Board::Sbx, Some(7)), received(Board::Sbx, Some(7)));
    assert_ne!(received(Board::Sbx, Some(7)), received(Board::Sbx, Some(8)));
    assert_ne!(received(Board::Wbx, Some(7)), received(Board::Wbx, None));
    assert!(received(Board::Sbx, None).iter().all(|&sample| sample == (0.0, 0.0)));
}
