//! Floats are what the antenna sees, at every one of the 255 rates, in both formats, both ways.

use takt_base::{Complex32, Tick};
use takt_emulator::n200::{N200Options, Signals};
use takt_emulator::source::Source;
use takt_radio::n200::{CLOCK, RxOptions, TxOptions};
use takt_radio::{Burst, RxStream, TxStream};
use takt_wire::n200::rate::Factor;
use takt_wire::sample::Format;

use crate::common::{Recorder, ms, world_with};

const LEVEL: Complex32 = Complex32::new(0.5, -0.25);

struct Constant;

impl Source for Constant {
    fn fill(&mut self, _first: Tick, _step: u32, out: &mut [Complex32]) {
        out.fill(LEVEL);
    }
}

/// One step of the format, and what rounding the scale word leaves.
fn tolerance(format: Format) -> f32 {
    match format {
        Format::Sc16 => 2.0 / 32767.0,
        Format::Sc8 => 1.0 / 100.0,
    }
}

fn close(got: Complex32, format: Format) -> bool {
    (got - LEVEL).re.abs() <= tolerance(format) && (got - LEVEL).im.abs() <= tolerance(format)
}

#[test]
fn what_is_received_has_its_amplitude_at_every_rate() {
    let signals = Signals { sources: [Box::new(Constant), Box::new(Constant)], sink: Box::new(Recorder::default()) };
    let net = world_with(N200Options::default(), signals);
    let mut radio = net.radio();
    for format in [Format::Sc16, Format::Sc8] {
        for factor in Factor::all() {
            let mut rx = radio.rx_streamer(&RxOptions { format, ..RxOptions::new(factor.rate_sps()) }).unwrap();
            rx.burst(301, None).unwrap();
            let mut buffer = vec![Complex32::default(); 400];
            let received = rx.recv(&mut [&mut buffer], net.after(ms(50))).unwrap();
            assert_eq!(received.samples, 301, "{factor:?} {format:?}");
            for sample in &buffer[..301] {
                assert!(close(*sample, format), "{sample} at {factor:?} {format:?}");
            }
        }
    }
}

#[test]
fn what_is_sent_has_its_amplitude_at_every_rate() {
    let recorder = Recorder::default();
    let signals = Signals { sources: [Box::new(Constant), Box::new(Constant)], sink: Box::new(recorder.clone()) };
    let net = world_with(N200Options::default(), signals);
    let mut radio = net.radio();
    for format in [Format::Sc16, Format::Sc8] {
        for factor in Factor::all() {
            let mut tx = radio.tx_streamer(&TxOptions { format, ..TxOptions::new(factor.rate_sps()) }).unwrap();
            recorder.0.lock().unwrap().clear();
            let at = radio.time().unwrap() + CLOCK.ticks_in(ms(5));
            let samples = [LEVEL; 301];
            assert_eq!(tx.send(&[&samples], Burst::at(at).ending(), net.after(ms(50))).unwrap(), 301);
            assert!(tx.event(net.after(ms(50))).unwrap().is_some(), "{factor:?} {format:?}");
            let played: Vec<Complex32> = recorder.0.lock().unwrap().iter().flat_map(|(.., s)| s.clone()).collect();
            assert_eq!(played.len(), 301, "{factor:?} {format:?}");
            for sample in played {
                assert!(close(sample, format), "{sample} at {factor:?} {format:?}");
            }
        }
    }
}
