//! A radio that measures itself, on the virtual clock.

use num_complex::Complex64;
use takt_base::{Complex32, Stop, Tick};
use takt_emulator::n200::{N200Options, Signals};
use takt_emulator::source::Source;
use takt_emulator::{sink, source};
use takt_radio::calibration::{
    CalibrationFolder, CalibrationKind, CalibrationPlan, CalibrationPoint, CalibrationTable, calibrate_radio,
    observe_radio,
};
use takt_radio::n200::{CLOCK, N200, RxOptions};
use takt_radio::{Burst, LoOffset, RxStream, TuneRequest, TxStream};

use super::leak::{Wrong, world};
use crate::common::{Recorder, ms, world as deaf_world, world_with};

const WRONG: Wrong = Wrong { rx: (0.7, -3.0), tx: (-0.4, 2.5), tx_dc: Complex64 { re: 0.02, im: -0.03 }, leak: 0.3 };

fn plan(start_hz: f64, stop_hz: f64) -> CalibrationPlan {
    CalibrationPlan { step_hz: 400e6, ..CalibrationPlan::new(start_hz, stop_hz, 10.0) }
}

#[test]
fn images_and_carrier_of_a_radio_fall_by_more_than_50_db() {
    let net = world(WRONG);
    let mut radio = net.radio();
    let mut shown = Vec::new();
    let report = calibrate_radio(&mut radio, &plan(400e6, 1200e6), &mut |n| shown.push(n), &Stop::new()).unwrap();
    assert_eq!((report.points.len(), report.skipped.len(), shown), (9, 0, vec![0, 1, 2]));
    for point in &report.points {
        assert!(point.before_db < 40.0, "{point:?}");
        assert!(point.after_db > 60.0, "{point:?}");
        assert_eq!(point.point.gained_db, point.after_db - point.before_db);
    }
    assert!(report.captures <= 3 * 13, "{} captures", report.captures);
    let lo = |kind| report.of_kind(kind)[1].lo_hz;
    assert!((lo(CalibrationKind::RxIq) - 800e6).abs() < 50e3);
    assert!((lo(CalibrationKind::TxDc) - 800.9344e6).abs() < 50e3);
}

#[test]
fn the_highest_frequency_has_its_transmitter_below_and_a_stop_ends_the_sweep() {
    let net = world(WRONG);
    let mut radio = net.radio();
    let report = calibrate_radio(&mut radio, &plan(4400e6, 4400e6), &mut |_| {}, &Stop::new()).unwrap();
    assert!(report.points.iter().all(|point| point.after_db > 60.0), "{report:?}");
    let stop = Stop::new();
    stop.request();
    let report = calibrate_radio(&mut radio, &plan(400e6, 4400e6), &mut |_| {}, &stop).unwrap();
    assert_eq!(report.captures, 0);
}

#[test]
fn a_radio_that_does_not_hear_itself_says_so_per_frequency() {
    let mut radio = deaf_world().radio();
    let report = calibrate_radio(&mut radio, &plan(500e6, 900e6), &mut |_| {}, &Stop::new()).unwrap();
    assert_eq!((report.points.len(), report.skipped.len()), (0, 2));
    assert!(report.skipped[0].reason.starts_with("no tone leaks to the antenna CAL"), "{:?}", report.skipped[0]);
}

/// Levels of image and carrier beside a tone that the radio plays, and of the receiver's image, dB, at an oscillator near 600 MHz.
fn levels(radio: &mut N200) -> [f64; 3] {
    let quiet = CalibrationPlan { rx_gain_db: Some(0.0), ..plan(600e6, 600e6) };
    let report = observe_radio(radio, &quiet, 600e6).unwrap().unwrap();
    [report.rx_imbalance(), report.tx_imbalance(), report.tx_offset()].map(|line| -20.0 * line.norm().log10())
}

#[test]
fn the_files_that_were_measured_make_images_and_carrier_vanish_between_their_frequencies() {
    let net = world(WRONG);
    let home = tempfile::tempdir().unwrap();
    let folder = CalibrationFolder::at(home.path());
    let mut radio = net.radio();
    let serial = radio.identity().rx_board.serial.clone();
    let report = calibrate_radio(&mut radio, &plan(400e6, 800e6), &mut |_| {}, &Stop::new()).unwrap();
    radio.use_calibration(&folder).unwrap();
    assert!(radio.calibration().is_empty());
    let before = levels(&mut radio);
    assert!(before.iter().all(|db| *db < 40.0), "{before:?}");
    for kind in CalibrationKind::ALL {
        let table = CalibrationTable::new(String::new(), serial.clone(), 1, report.of_kind(kind));
        folder.save(kind, &table, false).unwrap();
    }
    radio.use_calibration(&folder).unwrap();
    let found: Vec<_> = radio.calibration().iter().map(|table| (table.kind, table.unusable.clone())).collect();
    assert_eq!(found, CalibrationKind::ALL.map(|kind| (kind, None)));
    let after = levels(&mut radio);
    assert!(after.iter().all(|db| *db > 60.0), "{after:?}");
    // A damaged file is left out, said, and what it corrected is back.
    std::fs::write(folder.path(CalibrationKind::RxIq, &serial).unwrap(), "IQ/f").unwrap();
    radio.use_calibration(&folder).unwrap();
    assert!(radio.calibration()[0].unusable.as_ref().unwrap().contains("outside the file"));
    let after = levels(&mut radio);
    assert!(after[0] < 40.0 && after[1] > 60.0, "{after:?}");
}

#[test]
fn an_emulated_board_is_calibrated_whatever_its_gateware_makes_of_a_correction() {
    let silence = || Box::new(source::Silence) as Box<dyn source::Source>;
    let signals = Signals { sources: [silence(), silence()], sink: Box::new(sink::Null) };
    let net = world_with(N200Options { imperfect: Some(7), ..N200Options::default() }, signals);
    let mut radio = net.radio();
    let sweep = CalibrationPlan { tx_gain_db: 31.5, ..plan(900e6, 1700e6) };
    let report = calibrate_radio(&mut radio, &sweep, &mut |_| {}, &Stop::new()).unwrap();
    assert_eq!((report.points.len(), report.skipped.len()), (9, 0), "{report:?}");
    for point in &report.points {
        assert!(point.before_db < 40.0 && point.after_db > point.before_db + 40.0, "{point:?}");
    }
}

/// A constant at the antenna.
struct Constant;

impl Source for Constant {
    fn fill(&mut self, _first: Tick, _step: u32, out: &mut [Complex32]) {
        out.fill(Complex32::new(0.5, 0.0));
    }
}

/// A correction of 0.25 at 1 GHz and of 0.5 at 2 GHz, for the receiver's I and the transmitter's constant.
fn by_frequency(folder: &CalibrationFolder, serial: &str) {
    let point = |lo_hz, re| {
        let correction = Complex64::new(re, 0.0);
        CalibrationPoint { lo_hz, correction, measured_db: 60.0, gained_db: 30.0 }
    };
    for kind in [CalibrationKind::RxIq, CalibrationKind::TxDc] {
        let points = vec![point(1e9, 0.25), point(2e9, 0.5)];
        folder.save(kind, &CalibrationTable::new(String::new(), serial.to_owned(), 1, points), false).unwrap();
    }
}

/// I jumps from one value to another, at this sample or a few later: those that the commands take.
fn jumps(samples: &[f32], at: usize, from: f32, to: f32) {
    let near = |want: f32| move |x: &f32| (x - want).abs() < 0.002;
    let changed = samples.iter().position(|x| !near(from)(x)).expect("it changes");
    assert!((at..at + 500).contains(&changed), "at sample {changed}, from {from} to {}", samples[changed]);
    assert!(samples[changed + 500..].iter().all(near(to)), "{to} from then on, not {}", samples[changed + 500]);
}

#[test]
fn a_tuning_for_later_takes_the_corrections_of_its_frequency_along() {
    let recorder = Recorder::default();
    let signals = Signals { sources: [Box::new(Constant), Box::new(Constant)], sink: Box::new(recorder.clone()) };
    let net = world_with(N200Options::default(), signals);
    let home = tempfile::tempdir().unwrap();
    let folder = CalibrationFolder::at(home.path());
    let (mut radio, mut tx) = net.transmitter(1e6);
    by_frequency(&folder, &radio.identity().rx_board.serial.clone());
    radio.use_calibration(&folder).unwrap();
    let mut rx = radio.rx_streamer(&RxOptions::new(1e6)).unwrap();
    // In the middle of the band, where the samples show what is corrected.
    let tune = |radio: &mut N200, target_hz| {
        let request = TuneRequest { target_hz, offset: LoOffset::Hz(0.0) };
        radio.tune_rx(0, request).unwrap();
        radio.tune_tx(request).unwrap();
    };
    tune(&mut radio, 1e9);
    let start = radio.time().unwrap() + CLOCK.ticks_in(ms(20));
    rx.start(Some(start)).unwrap();
    radio.set_command_time(Some(start + CLOCK.ticks_in(ms(10)))).unwrap();
    tune(&mut radio, 2e9);
    radio.set_command_time(None).unwrap();
    let silence = vec![Complex32::default(); 20_000];
    assert_eq!(tx.send(&[&silence], Burst::at(start).ending(), net.after(ms(200))).unwrap(), 20_000);
    let mut received = vec![Complex32::default(); 20_000];
    let mut done = 0;
    while done < received.len() {
        let came = rx.recv(&mut [&mut received[done..]], net.after(ms(200))).unwrap();
        assert!(came.samples > 0 && came.event.is_none(), "{came:?} after {done}");
        done += came.samples;
    }
    // The gateware adds half of a correction times I to I.
    let i: Vec<f32> = received.iter().map(|x| x.re).collect();
    jumps(&i, 10_000, 0.5 * 1.125, 0.5 * 1.25);
    let sent = recorder.0.lock().unwrap();
    // The rest of a packet in which something changes is played anew.
    let mut i = vec![0.0; 20_000];
    for (first, step, samples) in sent.iter() {
        let from = usize::try_from((first.0 - sent[0].0.0) / u64::from(*step)).unwrap();
        i[from..from + samples.len()].iter_mut().zip(samples).for_each(|(i, x)| *i = x.re);
    }
    jumps(&i, 10_000, 0.25, 0.5);
}
