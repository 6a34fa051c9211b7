//! A host receives what a host sends: amplitude, frequency and time stamps. They pass wire formats, scale words,
//! oscillators and frequency words, at every one of the 255 rates. A host computes with floats; so does this test.

use std::time::Duration;

use takt_base::{Complex32, Tick, Ticks};
use takt_dsp::{Rotation, estimate_tone, tone};
use takt_emulator::loopback;
use takt_emulator::n200::{CLOCK, N200Options, Signals};
use takt_wire::n200::StreamAction::Samples;
use takt_wire::n200::rate::{Direction, Factor};
use takt_wire::n200::registers::{settings, spi};
use takt_wire::n200::{frequency, rate};
use takt_wire::sample::{ByteOrder, Format, sc8, sc16};

use crate::support::{Host, Rx, ms, us};

/// An N200 whose transmitter is cabled to both its receivers.
fn cabled() -> Host {
    let (sink, mut sources) = loopback::join(CLOCK, 2);
    let (second, first) = (sources.pop().unwrap(), sources.pop().unwrap());
    let signals = Signals { sources: [Box::new(first), Box::new(second)], sink: Box::new(sink) };
    Host::with(N200Options::default(), signals, &[])
}

/// Device time of tick 0 of the free-running counter, counted backwards: device time is tick - this.
const BORN: u64 = 525_000_000;

/// A tone as a host sends it: floats, times the host's factor, rounded and saturated.
fn send_tone(host: &mut Host, factor: Factor, format: Format, hz: f64, amplitude: f32, at: u64, samples: usize) {
    let mut floats = vec![Complex32::default(); samples];
    tone(Rotation::from_hz(hz, CLOCK), amplitude, Tick(at + BORN), factor.get(), &mut floats);
    let scale = factor.scaling(Direction::Tx, format).host_factor as f32;
    for (n, chunk) in floats.chunks(360).enumerate() {
        let mut payload = vec![0; chunk.len() * format.bytes()];
        match format {
            Format::Sc16 => sc16::pack_f32(chunk, ByteOrder::Big, scale, &mut payload),
            Format::Sc8 => sc8::pack_f32(chunk, scale, &mut payload),
        };
        let tick = at + 360 * n as u64 * u64::from(factor.get());
        host.payload(&payload, Some(tick), 360 * (n + 1) >= samples);
    }
}

/// Samples that DSP `n` received, as floats, and the device time of the first. The samples must be contiguous.
fn samples_of(host: &Host, n: usize, factor: Factor, format: Format) -> (u64, Vec<Complex32>) {
    let scale = factor.scaling(Direction::Rx, format).host_factor as f32;
    let mut all = Vec::new();
    let mut first = None;
    for rx in &host.rx[n] {
        let Rx::Data { time, samples, .. } = rx else { panic!("{rx:?}") };
        let start = *first.get_or_insert(*time);
        assert_eq!(*time, start + all.len() as u64 * u64::from(factor.get()));
        all.extend(samples.iter().map(|&(i, q)| Complex32::new(f32::from(i), f32::from(q)) * scale));
    }
    (first.unwrap(), all)
}

fn lasts(ticks: u64) -> Duration {
    CLOCK.duration_of(Ticks(ticks))
}

/// Sends a tone at one rate and receives it at another; returns what was received in the middle of it, and the time of
/// the first of these samples.
fn through(
    host: &mut Host,
    [tx, rx]: [Factor; 2],
    format: Format,
    hz: f64,
    amplitude: f32,
    samples: usize,
) -> (u64, Vec<Complex32>) {
    let (tx_step, rx_step) = (u64::from(tx.get()), u64::from(rx.get()));
    host.open_rx(0, rx.get(), format, 300);
    host.open_tx(tx.get(), format);
    host.rx[0].clear();
    // Filters reach 27 samples of the slower side to both sides; the middle is 40 away from the edges.
    let edge = 40 * tx_step.max(rx_step);
    let at = host.time() + 10_000;
    let from = at + edge;
    let send = (2 * edge + samples as u64 * rx_step).div_ceil(tx_step) as usize;
    send_tone(host, tx, format, hz, amplitude, at, send);
    host.stream(0, Samples(samples as u32), Some(from));
    host.run(lasts(10_000 + 3 * edge + samples as u64 * rx_step) + us(100));
    let (first, received) = samples_of(host, 0, rx, format);
    assert_eq!((first, received.len()), (from, samples), "{tx:?} {rx:?}");
    (first, received)
}

/// How far what was received is from the tone that was meant, at worst.
fn error(first: u64, rx: Factor, hz: f64, amplitude: f32, received: &[Complex32]) -> f32 {
    let mut meant = vec![Complex32::default(); received.len()];
    tone(Rotation::from_hz(hz, CLOCK), amplitude, Tick(first + BORN), rx.get(), &mut meant);
    received.iter().zip(&meant).map(|(a, b)| (a - b).norm()).fold(0.0, f32::max)
}

#[test]
fn at_each_of_255_rates_what_is_sent_is_received_at_the_same_tick() {
    let mut host = cabled();
    for factor in Factor::all() {
        let hz = factor.rate_sps() / 10.0;
        let (first, received) = through(&mut host, [factor; 2], Format::Sc16, hz, 0.45, 300);
        let error = error(first, factor, hz, 0.45, &received);
        // Two roundings to 16 bits, one of them at half the resolution where the scale word halves.
        assert!(error < 1.5e-4, "{factor:?}: {error}");
    }
}

#[test]
fn so_it_is_in_eight_bits() {
    let mut host = cabled();
    for factor in Factor::all() {
        let hz = factor.rate_sps() / 10.0;
        let (first, received) = through(&mut host, [factor; 2], Format::Sc8, hz, 0.45, 300);
        let error = error(first, factor, hz, 0.45, &received);
        assert!(error < 0.03, "{factor:?}: {error}");
    }
}

#[test]
fn received_at_another_rate_amplitude_frequency_and_time_are_right() {
    let mut host = cabled();
    let some: Vec<_> = [2, 4, 5, 28, 52, 100, 512].map(|factor| Factor::new(factor).unwrap()).into();
    for other in Factor::all().step_by(7) {
        for &one in &some {
            for [tx, rx] in [[one, other], [other, one]] {
                let hz = 0.2 * tx.rate_sps().min(rx.rate_sps());
                let (first, received) = through(&mut host, [tx, rx], Format::Sc16, hz, 0.45, 300);
                let error = error(first, rx, hz, 0.45, &received);
                assert!(error < 1e-3, "{tx:?} -> {rx:?}: {error}");
            }
        }
    }
}

/// Words for a synthesiser at `hz` with a reference of 25 MHz: an integer and thousandths.
fn tune(host: &mut Host, slave: u32, mhz: u32) {
    let (integer, thousandths) = (mhz / 25, mhz % 25 * 40);
    host.poke(settings::SPI_CONTROL, 32 << 24 | slave);
    for word in [0x000F_A23C, 0x6500_8A42, 1000 << 3 | 1, integer << 15 | thousandths << 3] {
        host.poke(settings::SPI_DATA, word);
    }
    host.run(us(10));
}

#[test]
fn differing_oscillators_put_a_signal_where_it_belongs() {
    let mut host = cabled();
    let factor = Factor::new(20).unwrap(); // 5 MS/s
    tune(&mut host, spi::TX_BOARD, 2400);
    tune(&mut host, spi::RX_BOARD, 2401);
    assert_eq!((host.report().tuning.tx_hz, host.report().tuning.rx_hz[0]), (2400e6, 2401e6));
    // 2400.3 MHz is received at -0.7 MHz.
    let (_, received) = through(&mut host, [factor; 2], Format::Sc16, 300e3, 0.4, 1000);
    let estimate = estimate_tone(&received).unwrap();
    assert!((estimate.frequency * factor.rate_sps() + 700e3).abs() < 1.0, "{estimate:?}");
    assert!((estimate.amplitude - 0.4).abs() < 1e-3, "{estimate:?}");
}

#[test]
fn frequency_words_of_both_sides_count() {
    let mut host = cabled();
    let factor = Factor::new(20).unwrap();
    host.poke(settings::TX_DSP, frequency::word_of(700e3).cast_unsigned());
    host.poke(settings::RX_DSP[0], frequency::word_of(-500e3).cast_unsigned());
    host.run(us(10));
    // Leaves at 0.1 + 0.7 MHz; a receiver centred at +0.5 MHz receives it at 0.3.
    let (_, received) = through(&mut host, [factor; 2], Format::Sc16, 100e3, 0.4, 1000);
    let estimate = estimate_tone(&received).unwrap();
    assert!((estimate.frequency * factor.rate_sps() - 300e3).abs() < 1.0, "{estimate:?}");
    assert!((estimate.amplitude - 0.4).abs() < 1e-3, "{estimate:?}");
}

#[test]
fn what_lies_outside_the_receivers_band_is_not_received() {
    let mut host = cabled();
    let (fast, slow) = (Factor::new(4).unwrap(), Factor::new(100).unwrap());
    let (_, received) = through(&mut host, [fast, slow], Format::Sc16, 3e6, 0.45, 300);
    let loudest = received.iter().map(|s| s.norm()).fold(0.0, f32::max);
    assert!(loudest < 2e-4, "not folded into 1 MS/s: {loudest}");
}

#[test]
fn both_receivers_receive_the_transmitter_each_at_its_own_rate() {
    let mut host = cabled();
    let (a, b) = (Factor::new(10).unwrap(), Factor::new(25).unwrap());
    host.open_rx(0, a.get(), Format::Sc16, 300);
    host.open_rx(1, b.get(), Format::Sc16, 300);
    host.open_tx(a.get(), Format::Sc16);
    let at = host.time() + 10_000;
    send_tone(&mut host, a, Format::Sc16, 200e3, 0.4, at, 3000);
    for n in [0, 1] {
        host.stream(n, Samples(600), Some(at + 5000));
    }
    host.run(ms(2));
    for (n, factor) in [(0, a), (1, b)] {
        let (first, received) = samples_of(&host, n, factor, Format::Sc16);
        assert_eq!(first, at + 5000);
        let error = error(first, factor, 200e3, 0.4, &received);
        assert!(error < 1e-3, "DSP {n}: {error}");
    }
}

#[test]
fn between_bursts_there_is_silence() {
    let mut host = cabled();
    let factor = Factor::new(100).unwrap();
    host.open_rx(0, 100, Format::Sc16, 300);
    host.open_tx(100, Format::Sc16);
    let at = host.time() + 100_000;
    send_tone(&mut host, factor, Format::Sc16, 0.0, 0.4, at, 100);
    host.stream(0, Samples(600), Some(at - 20_000));
    host.run(ms(10));
    let (_, received) = samples_of(&host, 0, factor, Format::Sc16);
    let loud: Vec<_> = (0..600).filter(|&n| received[n].norm() > 0.0).collect();
    assert_eq!(loud, (200..300).collect::<Vec<_>>());
}

#[test]
fn the_gain_of_the_words_is_one() {
    // The factor 2 of the rates whose word is halved is the host's business on both sides.
    for factor in Factor::all() {
        for (direction, format) in [(Direction::Rx, Format::Sc16), (Direction::Tx, Format::Sc16)] {
            let scaling = factor.scaling(direction, format);
            let gain = rate::device_gain(direction, factor.rate_word(direction).cic(), scaling.word);
            let host = match direction {
                Direction::Rx => scaling.host_factor * 32_767.0,
                Direction::Tx => scaling.host_factor / 32_767.0,
            };
            assert!((gain * host - 1.0).abs() < 1e-4, "{factor:?} {direction:?}");
        }
    }
}
