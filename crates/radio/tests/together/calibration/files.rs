//! Files of corrections are hostile until they are parsed.

use num_complex::Complex64;
use proptest::prelude::*;
use takt_radio::calibration::{
    CalibrationFileError, CalibrationFolder, CalibrationKind, CalibrationPoint, CalibrationTable, from_csv,
    from_flatbuffer, to_csv, to_flatbuffer,
};

fn point() -> impl Strategy<Value = CalibrationPoint> {
    (0.0..6e9f64, -1.0..1.0f64, -1.0..1.0f64, -150.0..150.0f64, -10.0..90.0f64).prop_map(
        |(lo_hz, re, im, measured_db, gained_db)| CalibrationPoint {
            lo_hz,
            correction: Complex64::new(re, im),
            measured_db,
            gained_db,
        },
    )
}

fn table() -> impl Strategy<Value = CalibrationTable> {
    ("[ -~]{0,40}", "[A-Z0-9]{1,12}", any::<u64>(), prop::collection::vec(point(), 0..40))
        .prop_map(|(name, serial, time, points)| CalibrationTable::new(name.trim().to_owned(), serial, time, points))
}

/// A table of two points, for tests that write files.
pub fn small(serial: &str) -> CalibrationTable {
    let point = |lo_hz, re, im| CalibrationPoint {
        lo_hz,
        correction: Complex64::new(re, im),
        measured_db: 60.0,
        gained_db: 30.0,
    };
    let name = CalibrationTable::named(CalibrationKind::RxIq, Some(41.5));
    CalibrationTable::new(name, serial.to_owned(), 1_700_000_000, vec![point(1e9, 0.25, -0.125), point(2e9, 0.5, 0.0)])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_table_comes_back_from_both_formats(table in table()) {
        prop_assert_eq!(from_flatbuffer(&to_flatbuffer(&table)).unwrap(), table.clone());
        prop_assert_eq!(from_csv(&to_csv(&table)).unwrap(), table);
    }

    #[test]
    fn a_damaged_file_is_a_table_or_an_error(
        table in table(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = to_flatbuffer(&table);
        for (at, byte) in damage {
            let at = at.index(bytes.len().min(120));
            bytes[at] = byte;
        }
        let _ = from_flatbuffer(&bytes);
        bytes.truncate(cut.index(bytes.len()));
        let _ = from_flatbuffer(&bytes);
    }
}

#[test]
fn a_file_that_is_cut_anywhere_is_refused() {
    let bytes = to_flatbuffer(&small("E1"));
    for length in 0..bytes.len() {
        assert!(from_flatbuffer(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
    }
}

#[test]
fn numbers_that_no_register_holds_are_refused_with_their_place() {
    let text = |row: &str| {
        format!(
            "version, 0, 1\nDATA STARTS HERE\nlo_frequency, correction_real, correction_imag, measured, delta\n{row}\n"
        )
    };
    let said = |row: &str| from_csv(&text(row)).unwrap_err().to_string();
    assert_eq!(said("1e9, 1.5, 0, 1, 1"), "real part of line 4 is 1.5; expected: -1 to 1");
    assert_eq!(said("nan, 0, 0, 1, 1"), "frequency of line 4 is NaN; expected: a finite number of Hz");
    assert_eq!(said("1e9, 0"), "line 4 is too short; expected: frequency, real part and imaginary part");
    assert_eq!(said("1e9, x, 0, 1, 1"), "line 4 is x; expected: a number");
    assert!(from_csv("version, 0, 2\nDATA STARTS HERE\n").is_err());
    assert!(from_csv("").is_err());
    let row = from_csv(&text("1e9, 0.5, -0.5, -inf, 3")).unwrap().points()[0];
    assert_eq!((row.measured_db, row.gained_db), (0.0, 3.0), "UHD writes a carrier that is not there so");
}

#[test]
fn a_folder_keeps_the_table_before_and_prefers_the_newer_format() {
    let home = tempfile::tempdir().unwrap();
    let folder = CalibrationFolder::at(&home.path().join("uhd/cal"));
    let kind = CalibrationKind::TxIq;
    assert_eq!(folder.load(kind, "E1").unwrap(), None);
    let old = small("E1");
    let files = folder.save(kind, &old, true).unwrap();
    assert_eq!(files.len(), 2);
    std::fs::remove_file(&files[0]).unwrap();
    assert_eq!(folder.load(kind, "E1").unwrap().unwrap().path, files[1], "the older format");
    folder.save(kind, &old, false).unwrap();
    let new = CalibrationTable::new(String::new(), "E1".to_owned(), 1_800_000_000, old.points()[1..].to_vec());
    folder.save(kind, &new, false).unwrap();
    let loaded = folder.load(kind, "E1").unwrap().unwrap();
    assert_eq!((&loaded.table, &loaded.path), (&new, &files[0]));
    let kept = std::fs::read(files[0].with_extension("cal.1800000000")).unwrap();
    assert_eq!(from_flatbuffer(&kept).unwrap(), old);
    std::fs::write(&files[0], b"no table at all").unwrap();
    assert!(matches!(folder.load(kind, "E1"), Err(CalibrationFileError::Format { .. })));
}
