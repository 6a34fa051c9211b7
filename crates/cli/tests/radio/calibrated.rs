//! Files of corrections in commands that tune: what they send and receive is corrected, and they name the files.
//!
//! A stream shows a carrier and the images of its signals only if the oscillator is in its band. takt puts it at the band's edge, up to
//! 20 MS/s. So these tests tune to 4400 MHz, where the board ends: there the oscillator has to be in the middle.

use std::fs;
use std::io::{BufRead, Read};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use takt_base::{Complex32, Tick};
use takt_dsp::{Grid, Resampler};
use takt_host::testing::TestRun;
use takt_radio::calibration::{CalibrationFolder, CalibrationKind, CalibrationPoint, CalibrationTable};
use takt_testing::{loopback, wait_for};

use crate::software::{Radio, interrupt, json, text};
use crate::support::{Ended, TAKT, root_for};
use crate::tone::{Spurs, fc32};

/// Share of full scale: far above what any program sends here on average.
const OFFSET: f64 = 0.25;

/// A folder with a file for the transmitter of the emulator's board.
fn calibration(folder: &Path) {
    made_up(folder, CalibrationKind::TxDc, OFFSET);
}

/// A file of one point, which counts at each frequency.
fn made_up(folder: &Path, kind: CalibrationKind, re: f64) {
    let mut point = CalibrationPoint { lo_hz: 900e6, correction: Default::default(), measured_db: 0.0, gained_db: 0.0 };
    point.correction.re = re;
    let table = CalibrationTable::new(CalibrationTable::named(kind, None), "EMU001".to_owned(), 1, vec![point]);
    CalibrationFolder::at(folder).save(kind, &table, false).expect("a file");
}

/// Kinds of the files that a document says were applied.
fn applied(tables: &Value) -> Vec<&str> {
    let tables = tables.as_array().unwrap_or_else(|| panic!("no list of files: {tables}"));
    tables.iter().filter(|table| table["unusable"].is_null()).filter_map(|table| table["kind"].as_str()).collect()
}

/// Mean of I of all that a radio sent while `takt rate` used it, which had the files or not.
fn sent_mean(host: u8, folder: &Path, files: &str) -> f64 {
    let file = folder.join(format!("{files}.sc16"));
    let radio = Radio::at(host, &["--sink", &format!("file:path={},format=sc16", file.display())]);
    let rate = sends(folder, &radio.addr, files);
    assert_eq!(applied(&rate["radio"]["calibration"]), if files == "uhd" { &["tx_dc"][..] } else { &[] });
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

fn sends(folder: &Path, addr: &str, files: &str) -> Value {
    let args = ["rate", "--addr", addr, "--tx", "250k", "--freq", "900M", "--duration", "200ms", "--warm-up", "0s"];
    let out = takt(folder).args(args).args(["--calibration", files, "--json"]).output().expect("takt");
    // 1: a machine under load lost some.
    assert_ne!(out.status.code(), Some(2), "{}", text(&out.stderr));
    json(&out)
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

const RATE_SPS: f64 = 250e3;
const TONE_HZ: f64 = 25e3;
/// Samples of a slot of 10 ms, which holds whole turns of the tone.
const SLOT: usize = 2500;

/// Sends what it receives, and keeps it.
const ECHO: &str = r#"
name = "echo"
slot = "10 ms"
[[link]]
from = "receive.out"
to = "transmit.in"
[[link]]
from = "receive.out"
to = "keep.in"
[component.receive]
type = "radio-receive"
items = 2500
[component.transmit]
type = "radio-transmit"
advance_us = 10000.0
[component.keep]
type = "file-sink"
item = "c32"
path = "received"
"#;

/// Beside the tone, in the slot of a file in which the tone is loudest: there it is whole.
fn spurs(file: &Path) -> Spurs {
    let samples = samples_of(file);
    let slots = samples.chunks_exact(SLOT).map(|slot| Spurs::of(slot, TONE_HZ / RATE_SPS));
    let loudest = slots.max_by(|a, b| a.tone_db.total_cmp(&b.tone_db)).expect("a whole slot");
    assert!(loudest.tone_db > -8.0, "the tone has {} dB of full scale in {}", loudest.tone_db, file.display());
    loudest
}

/// A file of fc32.
fn samples_of(file: &Path) -> Vec<Complex32> {
    fc32(&fs::read(file).expect("samples"))
}

/// The document of a run of the echo with these files, and what it received and what it sent.
fn echoed(host: u8, folder: &Path, files: &str) -> (Value, [Spurs; 2]) {
    let sent = folder.join(format!("sent-{files}"));
    let sink = format!("file:path={},format=fc32", sent.display());
    let tone = format!("tone:offset={TONE_HZ},amplitude=0.5");
    let radio = Radio::at(host, &["--imperfect", "7", "--speed", "0.25", "--source", &tone, "--sink", &sink]);
    fs::write(folder.join("echo.toml"), ECHO).expect("ours");
    let mut command = takt(folder);
    command.current_dir(folder).args(["run", "echo.toml", "--clock", "radio", "--addr", &radio.addr, "--slots", "30"]);
    // Another frequency than the file's, which has none.
    command.args(["--set", "receive.frequency_hz=4.4e9", "--set", "transmit.frequency_hz=4.4e9"]);
    let out = command.args(["--policy", "other", "--calibration", files, "--json"]).output().expect("takt");
    let _ = radio.summary();
    // Status 2 is "not known" here: the radio is slow.
    let run = json(&out);
    assert!(run["error"].is_null(), "{run:#}");
    (run, [&folder.join("received"), &sent].map(|file| spurs(file)))
}

/// A board that is not perfect is calibrated. Without the files its images and its carrier are in what a waveform receives and sends;
/// with them they are gone.
#[test]
fn run_applies_the_files_both_ways() {
    let folder = tempfile::tempdir().expect("a folder");
    let radio = Radio::at(183, &["--imperfect", "7"]);
    let out = folder.path().to_str().expect("text");
    let measured = radio.takt(&["radio", "calibrate", "--start", "4400M", "--stop", "4400M", "--out", out]);
    assert_eq!(measured.status.code(), Some(0), "{}", text(&measured.stderr));
    let _ = radio.summary();
    let (run, [received, sent]) = echoed(183, folder.path(), "off");
    assert_eq!(run["radio"]["calibration"], Value::Array(Vec::new()));
    assert!(received.image_db > -45.0 && sent.image_db > -45.0 && sent.carrier_db > -45.0, "{received:?} {sent:?}");
    let (run, [received, sent]) = echoed(183, folder.path(), "uhd");
    assert_eq!(applied(&run["radio"]["calibration"]), ["rx_iq", "tx_iq", "tx_dc"], "{run:#}");
    assert!(received.image_db < -60.0 && sent.image_db < -60.0 && sent.carrier_db < -60.0, "{received:?} {sent:?}");
}

/// A namespace in which ends of a link have their interfaces, and takt there, with the files of a folder.
struct Inside<'a> {
    namespace: &'a str,
    folder: &'a Path,
}

/// How fast the radios of a link pass their time: a busy machine keeps up.
const SLOWLY: &str = "0.1";

impl Inside<'_> {
    fn call(&self, program: &str, args: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", self.namespace, program]).args(args);
        command.env("UHD_CAL_DATA_PATH", self.folder).env("TAKT_RUN_DIR", self.folder.join("run"));
        command.stdin(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn radio(&self, model: &str, more: &[&str]) -> Ended {
        let args = [&["emulate", model, "--addr", "127.0.0.2", "--speed", SLOWLY][..], more].concat();
        let (radio, _, line) = Ended::ready(&mut self.call(TAKT, &args));
        assert!(line.starts_with("ready "), "{line}");
        radio
    }

    fn end(&self, what: &str, more: &[&str]) -> Ended {
        let same = ["--addr", "127.0.0.2", "--prb", "6", "--tun", "k-lte", "--policy", "other", "--json"];
        let mut command = self.call(TAKT, &[&["link", what][..], &same, more].concat());
        Ended(command.stdout(Stdio::piped()).spawn().expect("takt"))
    }

    /// Waits for a snapshot of a link that has what is looked for.
    fn seen<T>(&self, what: &str, link: &mut Ended, look: impl Fn(&Value) -> Option<T>) -> T {
        let process = link.0.id().to_string();
        wait_for(what, || {
            assert!(link.0.try_wait().expect("a child").is_none(), "the link ended by itself");
            let out = self.call(TAKT, &["top", &process, "--json"]).output().expect("takt");
            look(&serde_json::from_slice::<Value>(&out.stdout).ok()?["snapshot"])
        })
    }
}

/// Interrupts a program; its document.
fn ended(mut program: Ended) -> Value {
    interrupt(&program.0);
    let mut said = String::new();
    program.0.stdout.take().expect("piped").read_to_string(&mut said).expect("text");
    serde_json::from_str(&said).expect("one document")
}

/// Interrupts a radio, which completes the file of what it sent.
fn stopped(mut radio: Ended) {
    interrupt(&radio.0);
    radio.0.wait().expect("a child");
}

const TUNED: [&str; 4] = ["--downlink", "4400M", "--uplink", "4400M"];

/// Image of a tone in the spectrum of what a terminal receives, dB of the tone.
fn image_received_db(inside: &Inside<'_>, files: &str) -> f64 {
    const OFF_HZ: f64 = 240e3;
    let radio = inside.radio("n200", &["--source", "tone:offset=240k,amplitude=0.5"]);
    let mut terminal = inside.end("ue", &[&TUNED[..], &["--calibration", files]].concat());
    let image_db = inside.seen("the tone", &mut terminal, |snapshot| {
        let spectrum = &snapshot["spectra"][0];
        let (bins, span_hz) = (spectrum["dbfs"].as_array()?, spectrum["span_hz"].as_f64()?);
        let loudest_at = |hz: f64| {
            let bin = ((hz / span_hz + 0.5) * bins.len() as f64).round() as usize;
            bins.get(bin - 3..bin + 4)?.iter().filter_map(Value::as_f64).reduce(f64::max)
        };
        let tone_db = loudest_at(OFF_HZ)?;
        (tone_db > -12.0).then(|| loudest_at(-OFF_HZ).expect("as the tone") - tone_db)
    });
    let document = ended(terminal);
    assert_eq!(applied(&document["calibration"]), if files == "uhd" { &["rx_iq", "tx_dc"][..] } else { &[] });
    stopped(radio);
    image_db
}

/// Writes the downlink of a base station, at the 2 MS/s of the terminal's N200, so that it has something to answer.
fn downlink(inside: &Inside<'_>, cell: &Path) {
    let radio = inside.radio("x310", &["--sink", &format!("sigmf:path={}", cell.display())]);
    let mut station = inside.end("enb", &[]);
    // Half a second.
    let sent = |snapshot: &Value| snapshot["radios"][1]["samples"].as_u64().filter(|samples| *samples > 960_000);
    inside.seen("half a second of downlink", &mut station, sent);
    ended(station);
    stopped(radio);
    let sent = samples_of(&cell.with_file_name("cell-a.sigmf-data"));
    // A sample of 1.92 MS/s is 25 ticks of 48 MHz, one of 2 MS/s 24.
    let grid = Grid { first: Tick(0), step: 25, len: sent.len() as u64 };
    let mut heard = vec![Complex32::default(); sent.len() / 24 * 25];
    Resampler::new().add(grid, 0.0, Tick(0), 24, &mut heard, |at, block| {
        let from = usize::try_from(at).expect("an index");
        block.copy_from_slice(&sent[from..from + block.len()]);
    });
    let bytes: Vec<u8> = heard.iter().flat_map(|x| [x.re, x.im]).flat_map(f32::to_le_bytes).collect();
    fs::write(cell, bytes).expect("ours");
}

/// Mean of I of what a terminal sends to a cell that never answers: preambles, and nothing between them.
fn mean_sent(inside: &Inside<'_>, cell: &Path, files: &str) -> f64 {
    let sent = inside.folder.join(format!("preambles-{files}"));
    let source = format!("file:path={},format=fc32,loop", cell.display());
    let sink = format!("file:path={},format=fc32", sent.display());
    let radio = inside.radio("n200", &["--source", &source, "--sink", &sink]);
    let mut terminal = inside.end("ue", &[&TUNED[..], &["--calibration", files]].concat());
    // Several: on a busy machine the first may be late, and a late one does not leave.
    let samples = |snapshot: &Value| snapshot["radios"][1]["samples"].as_u64().filter(|samples| *samples > 10_000);
    inside.seen("some preambles", &mut terminal, samples);
    ended(terminal);
    stopped(radio);
    let sent = samples_of(&sent);
    assert!(sent.len() > 1000, "{} samples were sent", sent.len());
    sent.iter().map(|x| f64::from(x.re)).sum::<f64>() / sent.len() as f64
}

/// The board is perfect: so the files do harm, which shows that they are applied.
#[test]
fn a_terminal_of_a_link_applies_the_files_both_ways() {
    let Some(()) = root_for("an interface") else { return };
    let (folder, mut run) = (tempfile::tempdir().expect("a folder"), TestRun::new());
    calibration(folder.path());
    // A quarter of I is added to I: an image 19 dB below its signal.
    made_up(folder.path(), CalibrationKind::RxIq, 0.5);
    let namespace = run.namespace("test-calibrated");
    let inside = Inside { namespace: &namespace, folder: folder.path() };
    assert!(inside.call("ip", &["link", "set", "lo", "up"]).status().expect("ip").success());
    let [uhd, off] = ["uhd", "off"].map(|files| image_received_db(&inside, files));
    assert!((uhd + 19.1).abs() < 1.0 && off < -50.0, "image of {uhd} dB with the files, {off} dB without");
    let cell = folder.path().join("cell");
    downlink(&inside, &cell);
    let [uhd, off] = ["uhd", "off"].map(|files| mean_sent(&inside, &cell, files));
    assert!((uhd - off - OFFSET).abs() < 0.02, "mean of {uhd} with the files, {off} without");
}
