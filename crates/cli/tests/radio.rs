//! Radios as a person uses them: find, probe, rate, record, play, each against `takt emulate n200`.

use std::io::{BufRead, BufReader, Read};
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

const TAKT: &str = env!("CARGO_BIN_EXE_takt");

/// A software radio at an address of its own, ended on drop.
struct Radio {
    child: Child,
    addr: &'static str,
    stdout: BufReader<std::process::ChildStdout>,
}

impl Radio {
    fn at(addr: &'static str, more: &[&str]) -> Radio {
        let mut command = Command::new(TAKT);
        command.args(["emulate", "n200", "--json", "--addr", addr]).args(more);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("takt");
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("it says where it is");
        assert_eq!(line.trim(), format!("ready n200 {addr}"));
        Radio { child, addr, stdout }
    }

    /// Runs a command with this radio's address.
    fn takt(&self, args: &[&str]) -> Output {
        takt(&[args, &["--addr", self.addr]].concat())
    }

    /// Ends it; its summary.
    fn summary(mut self) -> Value {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
        let mut text = String::new();
        self.stdout.read_to_string(&mut text).expect("text");
        serde_json::from_str(&text).expect("one document")
    }
}

impl Drop for Radio {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _ = self.child.wait();
    }
}

fn takt(args: &[&str]) -> Output {
    Command::new(TAKT).args(args).output().expect("takt")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

fn json(out: &Output) -> Value {
    let said = || format!("{}\n{}", text(&out.stdout), text(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{error}\n{}", said()))
}

fn number(document: &Value, key: &str) -> u64 {
    document.pointer(key).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {key} in {document:#}"))
}

/// What a refused command says, and that it ended with 2.
fn refusal(out: &Output) -> String {
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}{}", text(&out.stdout));
    assert!(said.starts_with("error: ") && said.contains("\n  fix   "), "{said}");
    said
}

#[test]
fn a_radio_is_found_and_described() {
    let radio = Radio::at("127.0.4.20", &["--serial", "F5A1B2", "--name", "roof"]);
    let out = radio.takt(&["find"]);
    assert_eq!(out.status.code(), Some(0));
    assert_eq!(text(&out.stdout), "127.0.4.20  N200r4 serial F5A1B2 name roof  firmware 12.4 FPGA 11.1  free\n");
    let found = json(&radio.takt(&["find", "--json"]));
    assert_eq!((found[0]["serial"].as_str(), found[0]["state"]["kind"].as_str()), (Some("F5A1B2"), Some("free")));
    let out = radio.takt(&["probe"]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let said = text(&out.stdout);
    for words in
        ["255 from 0.195312 to 50 MS/s", "SBX", "400 to 4400 MHz", "antennas RX2, TX/RX, CAL", "reference locked"]
    {
        assert!(said.contains(words), "{words}\n{said}");
    }
    assert_eq!(json(&radio.takt(&["probe", "--json"]))["reference_locked"], true);
}

#[test]
fn nothing_there_is_an_answer_to_find_and_an_error_to_the_others() {
    let out = takt(&["find", "--addr", "127.0.4.21"]);
    assert_eq!((out.status.code(), text(&out.stdout).as_str()), (Some(1), "No radio answers at 127.0.4.21.\n"));
    let said = refusal(&takt(&["probe", "--addr", "127.0.4.21"]));
    assert!(said.contains("takt emulate n200 --addr 127.0.4.21"), "{said}");
    // A machine that is there and has another program on that port, which says nothing.
    let _silent = UdpSocket::bind("127.0.4.21:49152").expect("a free port");
    let said = refusal(&takt(&["rate", "--rx", "1M", "--addr", "127.0.4.21"]));
    assert!(said.contains("no radio answers at 127.0.4.21"), "{said}");
}

/// The keys that other programs read.
const KEYS: [&str; 12] = [
    "/rx/samples",
    "/rx/dropped",
    "/rx/overflows",
    "/rx/sequence_errors",
    "/rx/late",
    "/rx/timeouts",
    "/tx/samples",
    "/tx/underflows",
    "/tx/sequence_errors",
    "/tx/late",
    "/tx/timeouts",
    "/rx/lost_by_place/path_datagrams",
];

#[test]
fn a_rate_is_streamed_and_counted() {
    let radio = Radio::at("127.0.4.22", &[]);
    for threads in ["1", "2"] {
        let args = ["rate", "--rx", "1M", "--tx", "1M", "--duration", "500ms", "--threads", threads, "--json"];
        let out = radio.takt(&args);
        let outcome = json(&out);
        for key in KEYS {
            number(&outcome, key);
        }
        assert!(outcome["cpu"]["host_seconds"].as_f64().is_some_and(|seconds| seconds > 0.0));
        assert!(outcome["cpu"]["threads"].as_array().is_some_and(|threads| threads.len() >= 2));
        let clean = outcome["clean"] == true;
        assert_eq!(out.status.code(), Some(i32::from(!clean)));
        assert!(number(&outcome, "/rx/samples") + number(&outcome, "/rx/dropped") > 400_000);
        assert!(number(&outcome, "/tx/samples") > 400_000);
    }
    let out = radio.takt(&["rate", "--rx", "1M", "--format", "sc8", "--channels", "0,1", "--duration", "300ms"]);
    let said = text(&out.stdout);
    let answer = said.lines().last().expect("an answer");
    assert!(answer.starts_with(if out.status.success() { "Yes: " } else { "No: " }), "{said}");
    assert!(said.contains("sc8, 726 samples a datagram"), "{said}");
}

/// Streams past a fault; the outcome and how often the fault struck.
fn past(addr: &'static str, fault: &str, way: &[&str]) -> (Value, u64) {
    let radio = Radio::at(addr, &["--fault", fault]);
    let out = radio.takt(&[&["rate", "--duration", "1500ms", "--warm-up", "0s", "--json"], way].concat());
    let outcome = json(&out);
    let summary = radio.summary();
    let struck = summary["devices"][0]["faults"].as_object().expect("a map").values().filter_map(Value::as_u64).sum();
    (outcome, struck)
}

#[test]
fn every_lost_datagram_is_a_letter_d() {
    let (outcome, struck) = past("127.0.4.23", "lose:rx,every=100,limit=5", &["--rx", "1M"]);
    assert_eq!(struck, 5);
    assert_eq!(number(&outcome, "/rx/sequence_errors"), 5, "{outcome:#}");
    assert_eq!((number(&outcome, "/rx/dropped"), number(&outcome, "/rx/lost_datagrams")), (5 * 363, 5));
    assert_eq!(number(&outcome, "/rx/lost_by_place/path_datagrams"), 5);
}

#[test]
fn sixteen_lost_datagrams_in_a_row_are_one_letter_of_their_length() {
    let (outcome, struck) = past("127.0.4.24", "lose:rx,at=300,run=16", &["--rx", "1M"]);
    assert_eq!(struck, 16);
    assert_eq!((number(&outcome, "/rx/sequence_errors"), number(&outcome, "/rx/dropped")), (1, 16 * 363));
}

#[test]
fn every_overflow_is_a_letter_o_and_the_stream_goes_on() {
    let (outcome, struck) = past("127.0.4.25", "overflow:rx,every=1000,for=1ms,limit=3", &["--rx", "1M"]);
    assert_eq!(struck, 3);
    assert_eq!((number(&outcome, "/rx/overflows"), number(&outcome, "/rx/sequence_errors")), (3, 0), "{outcome:#}");
    assert_eq!(number(&outcome, "/rx/dropped"), number(&outcome, "/rx/lost_by_place/radio_samples"));
}

#[test]
fn every_datagram_the_radio_misses_is_a_letter_s() {
    let (outcome, struck) = past("127.0.4.26", "lose:tx,every=100,limit=5", &["--tx", "1M"]);
    assert_eq!(struck, 5);
    assert_eq!(number(&outcome, "/tx/sequence_errors"), 5, "{outcome:#}");
}

#[test]
fn what_is_damaged_or_doubled_is_counted_apart() {
    let (outcome, _) = past("127.0.4.27", "corrupt:rx,every=100,where=length,limit=5", &["--rx", "1M"]);
    assert_eq!((number(&outcome, "/rx/bad_datagrams"), number(&outcome, "/rx/lost_datagrams")), (5, 5));
    let (outcome, _) = past("127.0.4.27", "duplicate:rx,every=100,limit=5", &["--rx", "1M"]);
    assert_eq!((number(&outcome, "/rx/stale_datagrams"), number(&outcome, "/rx/dropped")), (5, 0));
}

#[test]
fn a_rate_an_n200_does_not_have_is_refused_with_its_neighbours() {
    let said = refusal(&takt(&["rate", "--rx", "22M", "--addr", "127.0.4.28"]));
    assert_eq!(
        said,
        "error: an N200 can't stream at 22 MS/s\n  \
         why   22 MS/s is not 100 MHz divided by a whole number it has (100 / 22 = 4.55)\n  \
         fix   --rx 20M (divide by 5)\n  \
         or    --rx 25M (divide by 4)\n"
    );
    let said = refusal(&takt(&["rate", "--rx", "25M", "--tx", "60M", "--addr", "127.0.4.28"]));
    assert!(said.contains("--tx 50M"), "{said}");
    refusal(&takt(&["rate", "--addr", "127.0.4.28"]));
}

#[test]
fn radios_of_another_kind_or_version_are_told_apart() {
    let usrp2 = Radio::at("127.0.4.29", &["--hardware", "0x0400", "--fpga", "0x000A0000"]);
    assert!(refusal(&usrp2.takt(&["probe"])).contains("is a USRP2, not an N200"));
    drop(usrp2);
    let firmware = Radio::at("127.0.4.29", &["--firmware", "13"]);
    let said = refusal(&firmware.takt(&["probe"]));
    assert!(said.contains("speaks protocol 13, this driver 10 to 12") && said.contains("uhd_image_loader"), "{said}");
    drop(firmware);
    let fpga = Radio::at("127.0.4.29", &["--fpga", "0x000C0000"]);
    assert!(refusal(&fpga.takt(&["rate", "--rx", "1M"])).contains("12.0, this driver needs 11.x"));
    let out = fpga.takt(&["find"]);
    assert!(text(&out.stdout).contains("can't be used"), "{}", text(&out.stdout));
}

#[test]
fn a_radio_in_use_is_left_alone() {
    let radio = Radio::at("127.0.4.30", &[]);
    let mut first = Command::new(TAKT);
    first.args(["rate", "--rx", "1M", "--duration", "30s", "--addr", radio.addr]).stdout(Stdio::null());
    let mut first = first.spawn().expect("takt");
    let said = loop {
        let out = radio.takt(&["probe"]);
        if out.status.code() == Some(2) {
            break refusal(&out);
        }
        assert!(first.try_wait().expect("a child").is_none(), "it ended early");
    };
    assert!(said.contains("is in use by another host") && said.contains("--force"), "{said}");
    first.kill().expect("it runs");
    first.wait().expect("a child");
}

#[test]
fn what_is_recorded_is_played() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("run 1");
    let file = file.to_str().expect("text");
    let radio = Radio::at("127.0.4.31", &[]);
    let args = ["record", file, "--rate", "1M", "--freq", "900M", "--gain", "10.5", "--samples", "300000", "--json"];
    let out = radio.takt(&args);
    let recorded = json(&out);
    assert_eq!(number(&recorded, "/samples") + number(&recorded, "/lost_samples"), 300_000);
    assert_eq!(recorded["gain_db"], 10.5);
    let meta = std::fs::read_to_string(Path::new(file).with_extension("sigmf-meta")).expect("metadata");
    assert!(meta.contains("takt:tick") && meta.contains("core:datetime"), "{meta}");
    assert!(refusal(&radio.takt(&args)).contains("exists already"));
    let out = radio.takt(&["play", file, "--times", "2", "--json"]);
    let played = json(&out);
    assert_eq!(number(&played, "/samples"), 2 * number(&recorded, "/samples"), "{played:#}");
    assert!((played["tuned"]["actual_hz"].as_f64().expect("a number") - 900e6).abs() < 1.0);
}

#[test]
fn files_that_are_no_recordings_are_refused() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = |name: &str| dir.path().join(name).to_str().expect("text").to_owned();
    refusal(&takt(&["play", &path("missing"), "--addr", "127.0.4.32"]));
    std::fs::write(path("foreign.sigmf-meta"), b"\x89PNG\r\n").expect("a file");
    std::fs::write(path("foreign.sigmf-data"), b"1234").expect("a file");
    refusal(&takt(&["play", &path("foreign"), "--addr", "127.0.4.32"]));
    let meta = r#"{"global":{"core:datatype":"ci16_le","core:version":"1.2.0","core:sample_rate":1000000},
        "captures":[{"core:sample_start":0}],"annotations":[]}"#;
    std::fs::write(path("cut.sigmf-meta"), meta).expect("a file");
    std::fs::write(path("cut.sigmf-data"), b"123456").expect("a file");
    let said = refusal(&takt(&["play", &path("cut"), "--addr", "127.0.4.32"]));
    assert!(said.contains("end within a sample"), "{said}");
}

#[test]
fn a_full_disk_ends_a_recording_that_stays_readable() {
    let dir = tempfile::tempdir().expect("a directory");
    let mount = dir.path().to_str().expect("text");
    let radio = Radio::at("127.0.4.33", &[]);
    // A disk of 2 MiB, seen by this one command.
    let script = format!(
        "mount -t tmpfs -o size=2m tmpfs {mount} || exit 77; \
         {TAKT} record {mount}/full --rate 1M --duration 10s --addr {}; code=$?; \
         {TAKT} play {mount}/full --addr {} --json; exit $code",
        radio.addr, radio.addr
    );
    let out = Command::new("unshare").args(["--mount", "sh", "-c", &script]).output().expect("unshare");
    if out.status.code() == Some(77) || text(&out.stderr).contains("unshare failed") {
        return skip("a_full_disk_ends_a_recording_that_stays_readable", "permission to mount a small disk");
    }
    let said = refusal(&out);
    assert!(said.contains("No space left") && said.contains("free space there"), "{said}");
    assert!(number(&json(&out), "/samples") > 0);
}

#[test]
fn a_priority_that_is_refused_says_who_may_grant_it() {
    let radio = Radio::at("127.0.4.34", &[]);
    let args = ["rate", "--rx", "1M", "--duration", "100ms", "--priority", "50", "--addr", radio.addr];
    // Without the capability even root is refused.
    let drop = ["--bounding-set=-sys_nice", "--inh-caps=-sys_nice"];
    let mut command = Command::new("setpriv");
    let out = if rustix::process::geteuid().is_root() {
        command.args(drop).arg(TAKT).args(args).output().expect("setpriv")
    } else {
        takt(&args)
    };
    let said = text(&out.stderr);
    // An owner of this machine may have granted it to everybody.
    assert!(out.status.code() != Some(2) || said.contains("can't have that priority"), "{said}");
    if out.status.code() == Some(2) {
        assert!(refusal(&out).contains("rtprio"), "{said}");
    }
}

#[allow(clippy::print_stderr)] // a test that is skipped says so
fn skip(test: &str, missing: &str) {
    eprintln!("SKIPPED {test}: {missing} is missing");
}
