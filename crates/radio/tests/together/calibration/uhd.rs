//! UHD's Python reads what takt wrote, and takt what it wrote.

use std::path::Path;
use std::process::Command;

use takt_radio::calibration::{CalibrationFolder, CalibrationKind};

use super::files::small;

/// Runs a script under UHD's Python with this folder as UHD's; `None`: there is no such Python here.
fn python(folder: &Path, script: &str) -> Option<String> {
    let run = |script: &str| {
        let mut python = Command::new("/usr/bin/python3");
        python
            .args(["-c", script])
            .env("UHD_CAL_DATA_PATH", folder)
            .env("HOME", folder)
            .env("UHD_LOG_CONSOLE_LEVEL", "off");
        python.output()
    };
    let imported = run("import uhd.usrp.cal").is_ok_and(|output| output.status.success());
    if !imported {
        takt_testing::skip("UHD's Python is not here; fix: apt-get install python3-uhd");
        return None;
    }
    let output = run(script).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn uhd_reads_a_file_that_takt_wrote() {
    let home = tempfile::tempdir().unwrap();
    let kind = CalibrationKind::RxIq;
    CalibrationFolder::at(home.path()).save(kind, &small("E1R12"), false).unwrap();
    let script = "
from uhd.usrp.cal import database, IQCal
cal = IQCal(database.read_cal_data('rx_iq', 'E1R12'))
print(cal.get_name(), cal.get_serial(), cal.get_timestamp(), [cal.get_cal_coeff(hz) for hz in (5e8, 1e9, 1.5e9, 3e9)])";
    let Some(said) = python(home.path(), script) else { return };
    let want =
        "RX Frontend Calibration at 41.5 C E1R12 1700000000 [(0.25-0.125j), (0.25-0.125j), (0.375-0.0625j), (0.5+0j)]";
    assert_eq!(said.trim(), want);
}

#[test]
fn takt_reads_a_file_that_uhd_wrote() {
    let home = tempfile::tempdir().unwrap();
    let script = "
from uhd.usrp.cal import database, IQCal
cal = IQCal('TX Frontend Calibration', 'E1R12', 1600000000)
for n in range(50): cal.set_cal_coeff(4e8 + 7.3e6 * n, complex(n / 100, -n / 200), -90 - n, 40 + n)
database.write_cal_data('tx_dc', 'E1R12', cal.serialize())";
    let Some(_) = python(home.path(), script) else { return };
    let loaded = CalibrationFolder::at(home.path()).load(CalibrationKind::TxDc, "E1R12").unwrap().unwrap().table;
    assert_eq!((loaded.name.as_str(), loaded.serial.as_str()), ("TX Frontend Calibration", "E1R12"));
    assert_eq!((loaded.measured_s, loaded.points().len()), (1_600_000_000, 50));
    let last = loaded.points()[49];
    assert_eq!((last.lo_hz, last.correction.re, last.correction.im), (4e8 + 7.3e6 * 49.0, 0.49, -0.245));
    assert_eq!((last.measured_db, last.gained_db), (-139.0, 89.0));
}

#[test]
fn uhd_converts_takts_older_files() {
    let home = tempfile::tempdir().unwrap();
    let script = "
import glob, importlib.util, sys
from uhd.usrp.cal import database, IQCal
path = glob.glob('/usr/libexec/uhd/utils/convert_cal_data.py') + glob.glob('/usr/lib/uhd/utils/convert_cal_data.py')
spec = importlib.util.spec_from_file_location('convert', path[0])
convert = importlib.util.module_from_spec(spec)
spec.loader.exec_module(convert)
cal = convert.csv_to_iq_cal(sys.argv[1] if len(sys.argv) > 1 else glob.glob('*_cal_v0.2_*.csv')[0])
print('read', cal.get_serial(), cal.get_timestamp(), cal.get_cal_coeff(1.5e9))";
    let kind = CalibrationKind::TxIq;
    CalibrationFolder::at(home.path()).save(kind, &small("E1R12"), true).unwrap();
    let script = format!("import os\nos.chdir({:?})\n{script}", home.path());
    let Some(said) = python(home.path(), &script) else { return };
    assert!(said.trim().ends_with("read E1R12 1700000000 (0.375-0.0625j)"), "{said}");
}
