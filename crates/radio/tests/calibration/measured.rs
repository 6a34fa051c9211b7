//! A radio that measures itself, on the virtual clock.

use num_complex::Complex64;
use takt_base::Stop;
use takt_emulator::n200::{N200Options, Signals};
use takt_emulator::{sink, source};
use takt_radio::calibration::{
    CalibrationFolder, CalibrationKind, CalibrationPlan, CalibrationTable, calibrate_radio, observe_radio,
};
use takt_radio::n200::N200;

use crate::common::{world as deaf_world, world_with};
use crate::leak::{Wrong, world};

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
