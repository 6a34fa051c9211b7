//! One radio shared by several programs: `takt share`, used by takt's own commands.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, UdpSocket};
use std::path::Path;
use std::process::{ChildStdout, Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use takt_testing::{loopback, wait_for};
use takt_wire::lag::{self, LagReply, LagRequest};

use crate::software::{Radio, has, interrupt, number, takt, text};
use crate::support::{Ended, TAKT, refusal};

/// Two radios in the band of one: 1 MS/s around 900 MHz.
fn file(folder: &Path, hosts: [u8; 2]) -> String {
    let radio =
        |name: &str, host: u8| format!("[[radio]]\nname = \"{name}\"\naddr = \"{}\"\nrate = 250e3\n", loopback(host));
    let front_end = "[front_end]\nrate = 1e6\nfrequency = 900e6\n";
    let path = folder.join("shared.toml");
    fs::write(&path, format!("{front_end}{}{}", radio("low", hosts[0]), radio("high", hosts[1]))).expect("it is ours");
    path.display().to_string()
}

/// takt with folders of its own: nobody else finds what it leaves behind.
fn apart(folder: &Path) -> Command {
    let mut command = Command::new(TAKT);
    command.env("TAKT_RUN_DIR", folder.join("run"));
    command
}

fn takt_apart(folder: &Path, args: &[&str]) -> Output {
    apart(folder).args(args).stdin(Stdio::null()).output().expect("takt")
}

/// `takt share` of this radio, with two radios that are ready.
fn shared(radio: &Radio, folder: &Path, hosts: [u8; 2]) -> (Ended, BufReader<ChildStdout>) {
    let mut command = apart(folder);
    command.args(["share", "--addr", &radio.addr, "--radios", &file(folder, hosts), "--block", "1ms", "--json"]);
    let (program, mut stdout, first) = Ended::ready(command.stderr(Stdio::null()));
    let mut second = String::new();
    stdout.read_line(&mut second).expect("a line");
    let [low, high] = hosts.map(|host| loopback(host).to_string());
    assert_eq!(
        (first.trim(), second.trim()),
        (format!("ready low {low}").as_str(), format!("ready high {high}").as_str())
    );
    (program, stdout)
}

/// Records a tenth of a second around a frequency; the mean of its samples at full scale 1, which a tone at 0 Hz does not change.
fn mean(host: u8, folder: &Path, name: &str, freq: &str) -> f64 {
    let (addr, file) = (loopback(host).to_string(), folder.join(name));
    let file = file.to_str().expect("text");
    let args = [
        "record",
        file,
        "--addr",
        &addr,
        "--rate",
        "250k",
        "--freq",
        freq,
        "--duration",
        "100ms",
        "--calibration",
        "off",
    ];
    wait_for("a recording without a gap", || takt(&args).status.success().then_some(()));
    let data = fs::read(format!("{file}.sigmf-data")).expect("a recording");
    let (mut sum, mut count) = ([0.0f64; 2], 0.0);
    for sample in data.chunks_exact(4) {
        for (sum, x) in sum.iter_mut().zip(sample.chunks_exact(2)) {
            *sum += f64::from(i16::from_le_bytes([x[0], x[1]])) / 32768.0;
        }
        count += 1.0;
    }
    f64::hypot(sum[0], sum[1]) / count
}

#[test]
fn each_of_two_radios_receives_its_part_of_the_band() {
    let folder = tempfile::tempdir().expect("a folder");
    let radio = Radio::at(160, &["--source", "tone:offset=100k,amplitude=0.5"]);
    let (program, mut stdout) = shared(&radio, folder.path(), [161, 162]);
    // The tone is at 900.1 MHz: 0 Hz of the one, 300 kHz below that of the other, whose band ends before it.
    let [low, high] = [(161, "low", "900.1M"), (162, "high", "900.4M")]
        .map(|(host, name, freq)| mean(host, folder.path(), name, freq));
    assert!((low - 0.5).abs() < 0.01, "{low}");
    assert!(high < 1e-3, "{high}");
    interrupt(&program.0);
    let mut said = String::new();
    stdout.read_to_string(&mut said).expect("text");
    let summary: Value = serde_json::from_str(&said).expect("one document");
    assert_eq!(summary["radios"][0]["name"], "low", "{summary:#}");
    assert!(number(&summary, "/front_end/samples") > 0);
    assert_eq!(summary["radios"][0]["outside_samples"], 0);
}

#[test]
fn a_program_that_was_killed_leaves_the_radio_to_the_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let radio = Radio::at(163, &[]);
    let (mut program, _stdout) = shared(&radio, folder.path(), [164, 165]);
    assert!(radio.is_in_use());
    program.0.kill().expect("it runs");
    program.0.wait().expect("a child");
    let left = folder.path().join("run/scratch").join(format!("takt-{}-share", program.0.id()));
    assert!(left.join("control").exists(), "its socket");
    wait_for("the radio to be free", || (!radio.is_in_use()).then_some(()));
    drop(shared(&radio, folder.path(), [164, 165]));
    assert!(takt_apart(folder.path(), &["clean"]).status.success());
    assert!(!left.exists(), "takt clean removes it");
}

/// The answer of a share.
fn asked(program: &Ended, folder: &Path, args: &[&str]) -> Value {
    let process = program.0.id().to_string();
    let out = takt_apart(folder, &[&["share"], args, &["--process", &process, "--json"]].concat());
    assert!(out.status.success(), "{}", text(&out.stderr));
    serde_json::from_slice(&out.stdout).expect("a document")
}

#[test]
fn radios_are_added_and_removed_while_it_runs_and_its_state_is_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let radio = Radio::at(166, &["--source", "tone:offset=100k,amplitude=0.5"]);
    let (program, mut stdout) = shared(&radio, folder.path(), [167, 168]);
    let addr = loopback(169).to_string();
    let added = asked(&program, folder.path(), &["add", "--radio", &format!("name=third,addr={addr},rate=250e3")]);
    assert_eq!((&added["added"][0]["name"], &added["added"][0]["addr"]), (&"third".into(), &addr.as_str().into()));
    let mut line = String::new();
    stdout.read_line(&mut line).expect("a line");
    assert_eq!(line, format!("ready third {addr}\n"));
    let tone = mean(169, folder.path(), "third", "900.1M");
    assert!((tone - 0.5).abs() < 0.01, "{tone}");
    let status = asked(&program, folder.path(), &["status"]);
    assert_eq!(status["radios"].as_array().map(Vec::len), Some(3), "{status:#}");
    let third = &status["radios"][2];
    assert_eq!(
        (&third["name"], &third["received_share"], &third["band_share"]),
        (&"third".into(), &1.0.into(), &0.25.into())
    );
    assert!(number(third, "/samples") > 0 && third["cores"].as_f64() > Some(0.0), "{third:#}");
    let removed = asked(&program, folder.path(), &["remove", "third"]);
    assert_eq!(removed["name"], "third", "{removed:#}");
    let found = || text(&takt(&["find", "--addr", &addr, "--json"]).stdout);
    wait_for("the ports to close", || (found().trim() == "[]").then_some(()));
    assert_eq!(asked(&program, folder.path(), &["status"])["radios"].as_array().map(Vec::len), Some(2));
    interrupt(&program.0);
    let mut said = String::new();
    stdout.read_to_string(&mut said).expect("text");
    let summary: Value = serde_json::from_str(&said).expect("one document");
    assert_eq!(summary["radios"][2]["name"], "third", "removed ones come last: {summary:#}");
}

#[test]
fn what_can_not_be_added_or_removed_is_refused_with_a_fix() {
    let folder = tempfile::tempdir().expect("a folder");
    let radio = Radio::at(170, &[]);
    let (program, _stdout) = shared(&radio, folder.path(), [171, 172]);
    let process = program.0.id().to_string();
    let refused =
        |args: &[&str]| refusal(&takt_apart(folder.path(), &[&["share"], args, &["--process", &process]].concat()));
    let same = format!("name=low,addr={}", loopback(173));
    has(
        &refused(&["add", "--radio", &same]),
        &["two radios have the same name, `low`", "give each radio its own name"],
    );
    let sends = format!("name=x,addr={},transmit=true", loopback(173));
    has(&refused(&["add", "--radio", &sends]), &["takt opened the front end to receive only", "transmit = false"]);
    let own = format!("name=x,addr={}", radio.addr);
    has(&refused(&["add", "--radio", &own]), &["has the address of the front end", "its own address"]);
    has(&refused(&["remove", "nobody"]), &["no radio is called `nobody`", "low and high", "name one of these"]);
    let nobody = refusal(&takt(&["share", "status", "--process", "1"]));
    has(&nobody, &["process 1 can't be reached", "name a process that runs `takt share`"]);
}

#[test]
fn a_share_beyond_the_budget_is_refused_and_the_radio_is_free_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let radio = Radio::at(177, &[]);
    // No host carries that in a hundredth of a core.
    let path = file(folder.path(), [178, 179]);
    let text = fs::read_to_string(&path).expect("ours").replace("= 1e6", "= 25e6").replace("= 250e3", "= 12.5e6");
    fs::write(&path, text).expect("ours");
    let args = ["share", "--addr", &radio.addr, "--radios", &path, "--budget", "0.01"];
    let refused = refusal(&takt_apart(folder.path(), &args));
    has(&refused, &["the front end and 2 radios need", "but --budget allows 0.01"]);
    wait_for("the radio to be free", || (!radio.is_in_use()).then_some(()));
}

#[test]
fn a_file_that_is_wrong_names_the_place_and_the_fix() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("wrong.toml");
    fs::write(&path, "[front_end]\nrate = 1e6\nfrequency = 900e6\n[[radio]]\nname = \"a\"\naddr = \"here\"\n")
        .expect("ours");
    let path = path.to_str().expect("text");
    has(
        &refusal(&takt(&["share", "--radios", path])),
        &["wrong.toml: `addr` can't be \"here\"", "an IPv4 address such as 127.0.0.11"],
    );
    let nothing = text(&takt(&["share", "--radios", "missing.toml"]).stderr);
    has(&nothing, &["missing.toml", "scenes/shared.toml"]);
}

/// Asks a radio for its speed and clock, as takt's driver does.
fn said(host: u8) -> LagReply {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a port");
    socket.set_read_timeout(Some(Duration::from_secs(1))).expect("a socket");
    let mut bytes = [0; LagRequest::BYTES];
    LagRequest { id: 1, since_ns: u64::MAX }.write(&mut bytes).expect("room");
    let mut answer = || {
        socket.send_to(&bytes, (loopback(host), lag::PORT)).ok()?;
        let mut reply = [0; LagRequest::BYTES];
        let length = socket.recv(&mut reply).ok()?;
        LagReply::parse(reply.get(..length)?).ok()
    };
    wait_for("an answer", &mut answer)
}

#[test]
fn a_shared_radio_says_how_fast_its_front_ends_time_passes() {
    let folder = tempfile::tempdir().expect("a folder");
    let radio = Radio::at(174, &["--speed", "0.5"]);
    let (_program, _stdout) = shared(&radio, folder.path(), [175, 176]);
    let [front_end, low, high] = [174, 175, 176].map(said);
    for shared in [low, high] {
        assert_eq!((shared.speed_millionths, shared.clock_hz), (500_000, front_end.clock_hz));
        // Its clock began at 0 when it was made, as that of a radio that is switched on.
        let behind_ticks = front_end.clock_offset_ticks.wrapping_sub(shared.clock_offset_ticks).cast_signed();
        assert!(behind_ticks > 0, "{behind_ticks}");
    }
}
