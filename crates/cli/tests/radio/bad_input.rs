//! Impossible requests: each gets a clear message with the fix, and exit status 2.

use std::net::{Ipv4Addr, UdpSocket};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use takt_testing::{loopback, skip};

use crate::software::{Radio, TAKT, answered, has, json, number, refusal, takt, text};

#[test]
fn nothing_there_is_an_answer_to_find_and_an_error_to_the_others() {
    let addr = &loopback(21).to_string();
    let out = takt(&["find", "--addr", addr]);
    assert_eq!((out.status.code(), text(&out.stdout)), (Some(1), format!("No radio answers at {addr}.\n")));
    has(&refusal(&takt(&["probe", "--addr", addr])), &[&format!("takt emulate n200 --addr {addr}")]);
    // A machine that is there and has another program on that port, which says nothing.
    let _silent = UdpSocket::bind((loopback(21), 49152)).expect("a free port");
    has(&refusal(&takt(&["rate", "--rx", "1M", "--addr", addr])), &[&format!("no radio answers at {addr}")]);
}

#[test]
fn a_rate_an_n200_does_not_have_is_refused_with_its_neighbours() {
    let addr = &loopback(28).to_string();
    let said = refusal(&takt(&["rate", "--rx", "22M", "--addr", addr]));
    assert_eq!(
        said,
        "error: an N200 can't stream at 22 MS/s\n  \
         why   22 MS/s is not 100 MHz divided by a whole number that it supports (100 / 22 = 4.55)\n  \
         fix   give --rx 20M (divide by 5)\n  \
         or    give --rx 25M (divide by 4)\n"
    );
    has(&refusal(&takt(&["rate", "--rx", "25M", "--tx", "60M", "--addr", addr])), &["--tx 50M"]);
    refusal(&takt(&["rate", "--addr", addr]));
}

/// Flags of `rate`, why they are refused, and what would do.
type Refusal<'a> = (&'a [&'a str], &'a str, &'a str);

/// A radio with such a board refuses all of these.
fn refuses(board: &str, host: u8, refusals: &[Refusal<'_>]) {
    let radio = Radio::at(host, &["--board", board]);
    for (flags, why, fix) in refusals {
        let said = refusal(&radio.takt(&[&["rate", "--duration", "100ms"], *flags].concat()));
        has(&said, &[why, &format!("\n  fix   {fix}")]);
    }
}

#[test]
fn an_antenna_or_a_gain_that_a_board_lacks_is_refused_with_what_it_has() {
    let receive = "the radio has no receive antenna `RX3`; it has RX2, TX/RX, CAL";
    refuses(
        "sbx",
        111,
        &[
            (&["--rx", "1M", "--antenna", "RX3"], receive, "give one of RX2, TX/RX, CAL"),
            (
                &["--tx", "1M", "--antenna", "RX2"],
                "the radio has no transmit antenna `RX2`; it has TX/RX, CAL",
                "give one of TX/RX",
            ),
            (
                &["--rx", "1M", "--gain", "40"],
                "receive gain in dB 40 is outside 0 to 31.5",
                "give a value from 0 to 31.5",
            ),
            (&["--rx", "1M", "--freq", "5G"], "frequency in Hz 5000000000 is outside", "give a value from 400000000"),
        ],
    );
    let wbx = "transmit gain in dB 30 is outside 0 to 25";
    refuses("wbx", 112, &[(&["--rx", "1M", "--tx", "1M", "--gain", "30"], wbx, "give a value from 0 to 25")]);
    let none = "these boards have none to set";
    for (board, name, host) in [("basic", "Basic", 113), ("lf", "LF", 114)] {
        let [gain, antenna] = ["gain", "antenna"].map(|what| format!("{name} has no {what}"));
        let leave = ["gain", "antenna"].map(|what| format!("omit the {what}: {none}"));
        let refusals: [Refusal<'_>; 2] = [
            (&["--rx", "1M", "--gain", "10"], &gain, &leave[0]),
            (&["--rx", "1M", "--antenna", "RX2"], &antenna, &leave[1]),
        ];
        refuses(board, host, &refusals);
    }
}

#[test]
fn an_interval_that_is_too_short_or_too_often_is_refused() {
    let addr = &loopback(28).to_string();
    for short in [&["--interval", "99ms"][..], &["--interval", "100ms", "--duration", "3h"]] {
        let said = refusal(&takt(&[&["rate", "--rx", "1M", "--addr", addr], short].concat()));
        has(&said, &["can't be cut into such intervals", "expected at least 100ms", "a longer --interval"]);
    }
}

#[test]
fn an_option_of_an_older_version_is_refused_with_the_present_one() {
    for (command, old, value, present) in [
        ("rate", "--priority", "50", "--policy fifo:50"),
        ("rate", "--cpus", "0,1", "--cores 0,1"),
        ("emulate", "--priority", "60", "--policy fifo:60"),
        ("run", "--priority", "none", "--policy other"),
    ] {
        let out = takt(&[command, old, value]);
        let said = text(&out.stderr);
        assert!(out.status.code() == Some(2) && said.contains(&format!("it is called {present} now")), "{said}");
    }
}

#[test]
fn radios_of_another_kind_or_version_are_told_apart() {
    let usrp2 = Radio::at(29, &["--hardware", "0x0400", "--fpga", "10.0"]);
    assert!(refusal(&usrp2.takt(&["probe"])).contains("is a USRP2, not an N200"));
    drop(usrp2);
    let firmware = Radio::at(29, &["--firmware", "13"]);
    has(&refusal(&firmware.takt(&["probe"])), &["speaks protocol 13; this driver speaks 10 to 12", "uhd_image_loader"]);
    drop(firmware);
    let fpga = Radio::at(29, &["--fpga", "12.0"]);
    assert!(refusal(&fpga.takt(&["rate", "--rx", "1M"])).contains("12.0; this driver needs 11.x"));
    has(&text(&fpga.takt(&["find"]).stdout), &["can't be used"]);
}

#[test]
fn a_radio_in_use_is_left_alone() {
    let radio = Radio::at(30, &[]);
    let args = ["rate", "--rx", "1M", "--duration", "1h"];
    let mut first = radio.command(&args).stdout(Stdio::null()).spawn().expect("takt");
    // Asking who has it disturbs nobody.
    radio.wait_until_used_by(&mut first);
    has(&refusal(&radio.takt(&["probe"])), &["is in use by another host", "--force"]);
    first.kill().expect("it runs");
    first.wait().expect("a child");
}

#[test]
fn files_that_are_no_recordings_are_refused() {
    let addr = &loopback(32).to_string();
    let dir = tempfile::tempdir().expect("a directory");
    let path = |name: &str| dir.path().join(name).to_str().expect("text").to_owned();
    let missing = refusal(&takt(&["play", &path("missing"), "--addr", addr]));
    assert!(missing.starts_with(&format!("error: there is no file {}", path("missing"))), "{missing}");
    assert!(!missing.contains("\n  why "), "{missing}");
    has(&missing, &[&path("missing.sigmf-meta"), &path("missing.sigmf-data")]);
    std::fs::write(path("foreign.sigmf-meta"), b"\x89PNG\r\n").expect("a file");
    std::fs::write(path("foreign.sigmf-data"), b"1234").expect("a file");
    refusal(&takt(&["play", &path("foreign"), "--addr", addr]));
    let meta = r#"{"global":{"core:datatype":"ci16_le","core:version":"1.2.0","core:sample_rate":1000000},
        "captures":[{"core:sample_start":0}],"annotations":[]}"#;
    std::fs::write(path("cut.sigmf-meta"), meta).expect("a file");
    std::fs::write(path("cut.sigmf-data"), b"123456").expect("a file");
    has(&refusal(&takt(&["play", &path("cut"), "--addr", addr])), &["ends within a sample"]);
}

#[test]
fn a_source_that_is_missing_is_named_before_its_format() {
    let dir = tempfile::tempdir().expect("a directory");
    let here = std::fs::canonicalize(dir.path()).expect("a path");
    let refused = |source: &str| {
        let mut takt = Command::new(TAKT);
        takt.args(["emulate", "n200", "--source", source]);
        refusal(&takt.current_dir(&here).stdin(Stdio::null()).output().expect("takt starts"))
    };
    let place = format!("the working directory is {}\n", here.display());
    for name in ["missing", "missing.sc16"] {
        let said = refused(&format!("file:{name}"));
        assert_eq!(said, format!("error: there is no file {name}\n  fix   check the name; {place}"));
    }
    has(&refused("sigmf:missing"), &["no file missing.sigmf-meta\n", "missing.sigmf-data", &place]);
    std::fs::write(here.join("there"), b"1234").expect("a file");
    has(&refused("file:there"), &["needs a sample format", "--source file:there,format=sc16"]);
}

#[test]
fn an_address_that_is_none_is_refused_with_an_example() {
    let said = refusal(&takt(&["rate", "--rx", "1M", "--addr", "1.2.3"]));
    assert_eq!(
        said,
        "error: can't use this value of --addr\n  \
         why   `1.2.3` is not an IP address such as 192.168.10.2\n  \
         fix   give four numbers from 0 to 255, such as 192.168.10.2\n"
    );
    // Text that acts in a terminal does not do so here.
    has(&refusal(&takt(&["probe", "--addr", "\u{1b}[31m"])), &["\\u001b[31m"]);
}

#[test]
fn a_full_disk_ends_a_recording_that_stays_readable() {
    let dir = tempfile::tempdir().expect("a directory");
    let mount = dir.path().to_str().expect("text");
    let radio = Radio::at(33, &[]);
    // A disk of 2 MiB, seen by this one command, in a namespace where whoever runs this is root.
    let script = format!(
        "mount -t tmpfs -o size=2m tmpfs {mount} || exit 77; \
         {TAKT} record {mount}/full --rate 1M --duration 10s --addr {}; code=$?; \
         {TAKT} play {mount}/full --addr {} --json; exit $code",
        radio.addr, radio.addr
    );
    let own = ["--user", "--map-root-user", "--mount", "sh", "-c", &script];
    let out = answered(|| {
        let mut unshare = Command::new("unshare");
        unshare.args(own);
        unshare
    });
    if out.status.code() == Some(77) || text(&out.stderr).contains("unshare failed") {
        return skip("no right to make a user namespace   (run as root, or sysctl kernel.unprivileged_userns_clone=1)");
    }
    has(&refusal(&out), &["No space left", "free space there"]);
    assert!(number(&json(&out), "/samples") > 0);
}

/// The commands with a thread that streams; each takes an address besides.
const STREAMING: [&[&str]; 5] = [
    &["rate", "--rx", "1M", "--duration", "100ms"],
    &["record", "never-written", "--rate", "1M", "--duration", "100ms"],
    &["play", "never-read"],
    &["udp", "send", "--duration", "100ms"],
    &["udp", "serve", "--port", "0"],
];

#[test]
fn a_core_that_is_not_there_and_a_policy_of_no_such_thread_are_refused() {
    let radio = Radio::at(37, &[]);
    for streaming in STREAMING {
        let said = refusal(&radio.takt(&[streaming, &["--cores", "9999"]].concat()));
        assert!(said.starts_with("error: a streaming thread can't have that CPU\n"), "{streaming:?}: {said}");
        has(&said, &["no CPU of 9999 is online and allowed here", "fix   give --cores with CPUs of this host"]);
        let other = radio.takt(&[streaming, &["--policy", "rr:50"]].concat());
        let said = text(&other.stderr);
        assert_eq!(other.status.code(), Some(2), "{streaming:?}: {said}");
        has(&said, &["'--policy <POLICY>'", "expected other, or fifo:PRIORITY with a priority from 1 to 99"]);
    }
}

#[test]
fn a_priority_that_is_refused_says_who_may_grant_it() {
    let radio = Radio::at(34, &[]);
    // Without the capability even root is refused, and the limit that may stand in for it is 0.
    let root = rustix::process::geteuid().is_root();
    let bounded = ["setpriv", "--bounding-set=-sys_nice", "--inh-caps=-sys_nice"];
    for streaming in STREAMING {
        let said = refusal(&answered(|| {
            let mut command = Command::new("prlimit");
            command.arg("--rtprio=0:0").args(bounded.iter().filter(|_| root));
            command.arg(TAKT).args(streaming).args(["--policy", "fifo:50", "--addr", &radio.addr]);
            command
        }));
        assert!(said.starts_with("error: a streaming thread can't have that policy\n"), "{streaming:?}: {said}");
        has(&said, &["FIFO 50", "CAP_SYS_NICE", "RLIMIT_RTPRIO", "sudo", "rtprio 95", "limits.d"]);
    }
}

/// Answers everything that comes to the control port of `addr`, until dropped.
struct Stranger {
    over: std::sync::Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Stranger {
    fn at(addr: Ipv4Addr, answer: impl Fn(&[u8]) -> Option<Vec<u8>> + Send + 'static) -> Stranger {
        let socket = UdpSocket::bind((addr, 49152)).expect("a free port");
        socket.set_read_timeout(Some(Duration::from_millis(20))).expect("a time");
        let over = std::sync::Arc::new(AtomicBool::new(false));
        let ends = over.clone();
        let thread = thread::spawn(move || {
            let mut bytes = [0; 2000];
            while !ends.load(Ordering::Relaxed) {
                let Ok((len, from)) = socket.recv_from(&mut bytes) else { continue };
                if let Some(reply) = answer(&bytes[..len]) {
                    socket.send_to(&reply, from).expect("loopback takes it");
                }
            }
        });
        Stranger { over, thread: Some(thread) }
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("it ends");
        }
    }
}

#[test]
fn whoever_answers_and_is_no_n200_is_named_as_far_as_it_can_be() {
    // An X310 knows its own hello of 16 bytes and no other; one that says nothing else is of no version.
    let addr = &loopback(35).to_string();
    let x310 = Stranger::at(loopback(35), |bytes| (bytes.len() == 16).then(|| bytes.to_vec()));
    let document = json(&takt(&["probe", "--json", "--addr", addr]));
    assert_eq!(document["error"], "can't open the radio");
    assert!(document["fix"].is_string() && document["why"].is_array(), "{document:#}");
    let no_version = format!("firmware of {addr} speaks protocol 0");
    for command in [["probe"].as_slice(), &["rate", "--rx", "1M"], &["record", "x", "--rate", "1M"]] {
        let said = refusal(&answered(|| {
            let mut takt = Command::new(TAKT);
            takt.args(command).args(["--addr", addr]);
            takt
        }));
        assert!(said.contains(&no_version), "{said}");
    }
    drop(x310);
    // A server of something else, which talks all the time.
    let _dns =
        Stranger::at(loopback(35), |_| Some(b"\x00\x01 I am a teapot, and this is a long sentence about it".to_vec()));
    has(&refusal(&takt(&["probe", "--addr", addr])), &[addr]);
}

#[test]
fn a_radio_that_restarts_or_vanishes_ends_the_stream_with_its_reason() {
    let restarted = Radio::at(36, &["--fault", "reboot:at=+500ms,for=200ms"]);
    let said = refusal(&restarted.takt(&["rate", "--rx", "1M", "--tx", "1M", "--duration", "60s"]));
    assert!(said.contains(&format!("{} was restarted", restarted.addr)), "{said}");
    drop(restarted);
    let mut vanishing = Radio::at(36, &[]);
    let mut rate = vanishing.command(&["rate", "--rx", "1M", "--duration", "60s"]);
    let mut rate = rate.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("takt");
    vanishing.wait_until_used_by(&mut rate);
    vanishing.kill();
    // Its port may be closed already, or it no longer answers.
    let said = refusal(&rate.wait_with_output().expect("a child"));
    assert!(said.contains(&vanishing.addr) && ["answer", "closed"].iter().any(|word| said.contains(word)), "{said}");
}
