#![no_main]
//! A calibration file of any bytes, in either format of UHD: what is read can be written and read again, meaning the same. Never a
//! panic.

use takt_radio::calibration::{CalibrationTable, from_csv, from_flatbuffer, to_csv, to_flatbuffer};

fn is_sound(table: &CalibrationTable) {
    for point in table.points() {
        assert!(point.lo_hz.is_finite() && point.correction.re.abs() <= 1.0 && point.correction.im.abs() <= 1.0);
    }
    // Its texts may have control characters, which the file of UHD 3 has no way to write.
    let again = from_csv(&to_csv(table)).expect("it was read before");
    assert_eq!((again.points(), again.measured_s), (table.points(), table.measured_s));
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(table) = from_flatbuffer(bytes) {
        is_sound(&table);
        assert_eq!(from_flatbuffer(&to_flatbuffer(&table)).expect("it was read before"), table);
    }
    if let Ok(table) = from_csv(&String::from_utf8_lossy(bytes)) {
        is_sound(&table);
    }
});
