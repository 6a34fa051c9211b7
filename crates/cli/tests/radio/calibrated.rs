//! Files of corrections in commands that tune: what `takt rate` sends has the offset that the file states, and `takt share` names the
//! file.

use std::fs;
use std::io::BufRead;
use std::path::Path;
use std::process::{Command, Stdio};

use takt_radio::calibration::{CalibrationFolder, CalibrationKind, CalibrationPoint, CalibrationTable};
use takt_testing::{loopback, wait_for};

use crate::software::{Radio, interrupt, text};
use crate::support::{Ended, TAKT};

/// Share of full scale: far above what any program sends here on average.
const OFFSET: f64 = 0.25;

/// A folder with a file for the transmitter of the emulator's board.
fn calibration(folder: &Path) {
    let mut point = CalibrationPoint { lo_hz: 900e6, correction: Default::default(), measured_db: 0.0, gained_db: 0.0 };
    point.correction.re = OFFSET;
    let name = CalibrationTable::named(CalibrationKind::TxDc, None);
    let table = CalibrationTable::new(name, "EMU001".to_owned(), 1_700_000_000, vec![point]);
    CalibrationFolder::at(folder).save(CalibrationKind::TxDc, &table, false).expect("a file");
}

/// Mean of I of all that a radio sent while `takt rate` used it, which had the files or not.
fn sent_mean(host: u8, folder: &Path, files: &str) -> f64 {
    let file = folder.join(format!("{files}.sc16"));
    let radio = Radio::at(host, &["--sink", &format!("file:path={},format=sc16", file.display())]);
    sends(folder, &radio.addr, files);
    let _ = radio.summary();
    let sent = fs::read(&file).expect("what was sent");
    let i = sent.chunks_exact(4).map(|sample| f64::from(i16::from_le_bytes([sample[0], sample[1]])) / 32768.0);
    let (count, sum) = i.fold((0.0, 0.0), |(count, sum), i| (count + 1.0, sum + i));
    assert!(count > 100.0, "{count} samples were sent");
    sum / count
}

fn takt(folder: &Path) -> Command {
    let mut command = Command::new(TAKT);
    command.env("UHD_CAL_DATA_PATH", folder).env("TAKT_RUN_DIR", folder.join("run")).stdin(Stdio::null());
    command
}

fn sends(folder: &Path, addr: &str, files: &str) {
    let args = ["rate", "--addr", addr, "--tx", "250k", "--freq", "900M", "--duration", "200ms", "--warm-up", "0s"];
    let out = takt(folder).args(args).args(["--calibration", files]).output().expect("takt");
    // 1: a machine under load lost some.
    assert_ne!(out.status.code(), Some(2), "{}", text(&out.stderr));
}

/// With the files there is the offset, and without them there is none.
#[test]
fn rate_applies_the_files() {
    let folder = tempfile::tempdir().expect("a folder");
    calibration(folder.path());
    let [uhd, off] = ["uhd", "off"].map(|files| sent_mean(180, folder.path(), files));
    assert!((uhd - off - OFFSET).abs() < 0.02, "{uhd} with the files, {off} without");
}

/// By its own words: the oscillator of a shared front end stands beside the band, so its offset is in no sample.
#[test]
fn share_takes_the_files_for_its_front_end() {
    let folder = tempfile::tempdir().expect("a folder");
    calibration(folder.path());
    let radio = Radio::at(181, &[]);
    let plan = folder.path().join("shared.toml");
    let shared = format!("[[radio]]\nname = \"r\"\naddr = \"{}\"\nrate = 250e3\ntransmit = true\n", loopback(182));
    fs::write(&plan, format!("[front_end]\nrate = 1e6\nfrequency = 900e6\n{shared}")).expect("ours");
    for (files, taken) in [("uhd", true), ("off", false)] {
        let said = folder.path().join(files);
        let mut command = takt(folder.path());
        command.args(["share", "--addr", &radio.addr, "--calibration", files, "--radios"]).arg(&plan);
        command.stderr(fs::File::create(&said).expect("ours"));
        let (program, mut stdout, _) = Ended::ready(&mut command);
        interrupt(&program.0);
        let mut line = String::new();
        wait_for("the share to end", || (stdout.read_line(&mut line).ok() == Some(0)).then_some(()));
        let said = fs::read_to_string(&said).expect("what it said");
        assert_eq!(said.contains("tx_dc_EMU001.cal"), taken, "{said}");
    }
}
