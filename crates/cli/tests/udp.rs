//! `takt udp` as a person runs it: output, exit status, errors.

mod support;

use std::io::{BufRead, BufReader, Read};
use std::net::UdpSocket;
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use support::{Ended, TAKT, has, json, refusal, report, takt, text};
use takt_testing::{loopback, not_judged, skip};

/// A server on loopback, ended on drop.
struct Server {
    child: Ended,
    stdout: BufReader<ChildStdout>,
    port: String,
}

impl Server {
    fn start(more: &[&str]) -> Server {
        Server::with_notes(more, Stdio::null())
    }

    fn with_notes(more: &[&str], notes: Stdio) -> Server {
        let mut command = Command::new(TAKT);
        command.args(["udp", "serve", "--addr", "127.0.0.1", "--port", "0"]).args(more);
        let (child, stdout, line) = Ended::ready(command.stderr(notes));
        let port = line.trim().strip_prefix("ready udp 127.0.0.1:").expect(&line).to_owned();
        Server { child, stdout, port }
    }

    fn send(&self, more: &[&str]) -> Output {
        send("127.0.0.1", &self.port, more)
    }

    fn search(&self, more: &[&str]) -> Output {
        takt(&[&["udp", "search", "--addr", "127.0.0.1", "--port", &self.port], more].concat())
    }
}

fn send(addr: &str, port: &str, more: &[&str]) -> Output {
    takt(&[&["udp", "send", "--addr", addr, "--port", port], more].concat())
}

/// Limit that ends a load if its count does not.
const GUARD: [&str; 2] = ["--duration", "300s"];

#[test]
fn a_load_that_arrives_is_answered_with_yes_and_exit_0() {
    let server = Server::start(&[]);
    // It ends with its count, however long that takes.
    let out = server.send(
        &[&["--size", "64", "--pps", "1k", "--count", "300"][..], &GUARD, &["--interval", "1s", "--explain"]].concat(),
    );
    let said = text(&out.stdout);
    assert_eq!(said.lines().next(), Some("Yes: all 300 datagrams arrived."), "{said}");
    assert_eq!(out.status.code(), Some(0), "{said}");
    for word in ["flat out", "1000 datagrams/s", "lost ", "latency ", "jitter ", "CPU ", "interval ", "0 of 0 placed"] {
        assert_eq!(said.contains(word), word != "flat out", "{word}\n{said}");
    }
}

/// Reads numbers out of iperf3's JSON, as its users' scripts do: the same lines for both programs.
const READER: &str = r#"
import json, sys
doc = json.load(sys.stdin)
start, end = doc["start"], doc["end"]
test, total = start["test_start"], end["sum"]
assert test["protocol"] == "UDP" and test["reverse"] in (0, 1) and test["num_streams"] == 1
assert total["sender"] == (test["reverse"] == 0)
assert abs(total["bits_per_second"] * total["seconds"] / 8 - total["bytes"]) < total["bytes"] * 0.05
assert total["packets"] * test["blksize"] == total["bytes"]
assert abs(total["lost_percent"] - 100 * total["lost_packets"] / total["packets"]) < 1e-3
stream = end["streams"][0]["udp"]
assert stream["packets"] == total["packets"] and stream["out_of_order"] == 0 and stream["jitter_ms"] >= 0
for one in doc["intervals"]:
    span = one["sum"]
    assert span["omitted"] is False and span["end"] > span["start"] and span["bits_per_second"] > 0, span
    assert one["streams"][0]["bytes"] == span["bytes"]
assert sum(one["sum"]["packets"] for one in doc["intervals"]) == total["packets"]
assert end["cpu_utilization_percent"]["host_total"] >= 0
print(json.dumps([total["packets"], total["bytes"], total["lost_packets"], test["target_bitrate"], test["blksize"]]))
"#;

/// The answer of the reader.
fn read_as_iperf3(document: &[u8]) -> Value {
    let mut reader = Command::new("python3")
        .args(["-c", READER])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("python3");
    std::io::Write::write_all(&mut reader.stdin.take().expect("piped"), document).expect("it reads");
    let done = reader.wait_with_output().expect("it ends");
    assert!(done.status.success(), "{}\n{}", text(&done.stderr), text(document));
    serde_json::from_slice(&done.stdout).expect("a list")
}

#[test]
fn a_script_that_reads_iperf3_reads_takt() {
    let load = ["-b", "1M", "-l", "1000", "-k", "50"];
    let server = Server::start(&[]);
    let out = server.send(&[&load[..], &GUARD, &["--iperf3-json"]].concat());
    assert_eq!(out.status.code(), Some(0), "{}", report(&out));
    let ours = read_as_iperf3(&out.stdout);
    assert_eq!(ours, serde_json::json!([50, 50_000, 0, 1_000_000, 1000]));
    has(&refusal(&server.send(&["--size", "64,512", "--iperf3-json"])), &["one size", "--json"]);
    let Ok(theirs) =
        Command::new("iperf3").args(["-s", "-1", "-p", "5399", "-B", "127.0.0.1"]).stdout(Stdio::null()).spawn()
    else {
        return skip("iperf3 is not installed   (apt-get install iperf3)");
    };
    // It is ended whatever its client says: one that comes too early prints an error, ends with 0, and leaves it waiting.
    let _theirs = Ended(theirs);
    let call = [&["-u", "-J", "-c", "127.0.0.1", "-p", "5399"], &load[..]].concat();
    let out = takt_testing::wait_for("iperf3's answer", || {
        let out = Command::new("iperf3").args(&call).output().expect("it was there");
        json(&out)["error"].is_null().then_some(out)
    });
    let theirs = read_as_iperf3(&out.stdout);
    assert_eq!((&ours[3], &ours[4]), (&theirs[3], &theirs[4]), "the reader finds the same settings");
    assert!(theirs[0].as_u64() >= Some(50), "{theirs}");
}

#[test]
fn histograms_are_written_as_a_log_of_hdrhistogram() {
    let (server, folder) = (Server::start(&[]), tempfile::tempdir().expect("a folder"));
    let file = folder.path().join("load.hlog");
    let file = file.to_str().expect("text");
    let out =
        server.send(&[&["--size", "64", "--pps", "1k", "--count", "100", "--hdr-log", file][..], &GUARD].concat());
    assert_eq!(out.status.code(), Some(0), "{}", report(&out));
    let log = std::fs::read_to_string(file).expect("a log");
    let lines: Vec<&str> = log.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(lines[0].starts_with("Tag=latency,0.000,") && lines[1].starts_with("Tag=pacing_error,0.000,"), "{log}");
    assert!(lines.iter().all(|line| line.contains(",HISTFAA")), "{log}");
    let nowhere = folder.path().join("no/load.hlog").display().to_string();
    let out = server.send(&["--size", "64", "--pps", "1k", "--count", "1", "--hdr-log", &nowhere]);
    has(&refusal(&out), &["can't write the log of histograms", "--hdr-log"]);
}

#[test]
fn a_load_that_is_lost_is_answered_with_no_and_exit_1_and_json_says_where() {
    let server = Server::start(&["--buffer", "4096"]);
    let out = server.send(&["--duration", "200ms", "--json"]);
    assert_eq!(out.status.code(), Some(1));
    let json = json(&out);
    let number = |key: &str| json.pointer(key).and_then(Value::as_u64).expect("a number");
    assert!(number("/lost/total") > 0);
    assert_eq!(number("/lost/total"), number("/lost/by_place/receiver_buffer"));
    assert_eq!(number("/sent/datagrams"), number("/received/datagrams") + number("/lost/total"));
}

#[test]
fn an_end_that_never_sleeps_asks_more_often_than_anything_comes() {
    for (more, polls) in [(&["--engine", "socket"][..], false), (&["--engine", "socket", "--busy-poll"], true)] {
        let server = Server::start(more);
        let load =
            [&["--engine", "socket", "--size", "64", "--pps", "1k", "--count", "300", "--json"][..], &GUARD].concat();
        let evidence = json(&server.send(&load))["evidence"].clone();
        let calls = evidence["server"]["receive_calls"].as_u64().expect("a number");
        assert_eq!(evidence["server"]["busy_poll"], polls);
        assert_eq!(evidence["client"]["busy_poll"], false);
        assert_eq!(calls > 10 * 300, polls, "{calls} calls");
    }
}

#[test]
fn each_end_has_the_core_and_the_policy_that_were_requested_for_it() {
    let cpu = takt_host::affinity::own_cpus()[0];
    let core = cpu.to_string();
    let granted = matches!(takt_host::Host::this().attempt_fifo(), Some(Ok(())));
    let (policy, had) = if granted { ("fifo:1", "FIFO 1") } else { ("other", "OTHER") };
    let server = Server::start(&["--cores", &core]);
    let load = ["--size", "64", "--pps", "1k", "--count", "300", "--cores", &core, "--policy", policy, "--json"];
    let out = server.send(&[&load[..], &GUARD].concat());
    // Both share the core, so some may not have been sent in time.
    assert!(matches!(out.status.code(), Some(0 | 1)), "{}", report(&out));
    let json = json(&out);
    assert_eq!(json["options"]["cpus"], serde_json::json!([cpu]));
    for (end, had) in [("client", had), ("server", "OTHER")] {
        let policy = json["evidence"][end]["policy"].as_str();
        assert!(policy.is_some_and(|policy| policy.starts_with(had)), "{end}: {policy:?}");
    }
}

#[test]
fn both_ways_are_reported_one_below_the_other() {
    let server = Server::start(&["--engine", "socket"]);
    let said = text(&server.send(&["--bidir", "--bitrate", "1M", "--duration", "200ms"]).stdout);
    assert!(said.contains("to server") && said.contains("from server") && said.contains("socket there"), "{said}");
}

#[test]
fn what_can_not_be_done_says_why_and_what_would_help_and_exits_with_2() {
    // No port is taken at an address that is this test's alone.
    let gone = loopback(1).to_string();
    let why = format!("why   nobody listens on UDP port 5202 of {gone}");
    has(&refusal(&send(&gone, "5202", &["--duration", "100ms"])), &[&why, "fix   run takt udp serve"]);

    let server = Server::start(&[]);
    let serve = takt(&["udp", "serve", "--addr", "127.0.0.1", "--port", &server.port]);
    has(&refusal(&serve), &["is taken by another program"]);

    for (bad, hint) in [
        (&["--size", "15"][..], "want 16 to 9000 bytes"),
        (&["--size", "64,9001"], "`9001`: want 16 to 9000 bytes"),
        (&["--engine", "netmap"], "`netmap` is not an engine"),
        (&["--bitrate", "fast"], "such as 25e6"),
        (&["--bitrate", "10M..fast"], "`fast` is not a number"),
        (
            &["--bitrate", "0"],
            "fix   give --bitrate or --pps within that range, or omit both to send as fast as possible",
        ),
        (&["--bitrate", "1M", "--pps", "1"], "cannot be used with"),
        (&["--reverse", "--bidir"], "cannot be used with"),
        (&["--burst", "2"], "rate can\'t be bursts flat out; expected: a rate"),
        (&["--pps", "9", "--burst", "70000"], "burst can\'t be 70000; expected: 1 to 65536 datagrams"),
        (&["--count", "0"], "count can\'t be 0; expected: 1 to 1e12 datagrams"),
        (&["--duration", "0"], "duration can\'t be 0ns; expected: above 0, at most 24 h"),
        (&["--interval", "1ms"], "fix   give a longer --interval, or a shorter --duration"),
        (&["--flows", "17"], "flows can\'t be 17; expected: 1 to 16"),
        (&["--cores", "9999"], "fix   give --cores with CPUs of this host"),
    ] {
        let out = server.send(bad);
        assert!(out.status.code() == Some(2) && text(&out.stderr).contains(hint), "{bad:?}: {}", report(&out));
    }
    for (bad, hint) in [
        (["--loss", "2"], "loss can\'t be 2; expected: a share from 0 to below 1"),
        (["--loss", "much"], "is not a share such as 0.1% or 0.001"),
        (["--resolution", "90%"], "resolution can\'t be 0.9; expected: a share from 0.0001 to 0.5"),
        (["--repeats", "0"], "repeats can\'t be 0; expected: 1 to 1000"),
        (["--trial", "0s"], "duration can\'t be 0ns; expected: above 0, at most 24 h"),
        (["--max-pps", "0"], "highest rate can't be 0 datagrams/s; expected: 0.001 to 1e9 datagrams/s"),
    ] {
        let out = server.search(&bad);
        assert!(out.status.code() == Some(2) && text(&out.stderr).contains(hint), "{bad:?}: {}", report(&out));
    }
}

#[test]
fn a_search_below_what_the_path_carries_finds_what_was_offered() {
    let server = Server::start(&[]);
    // The last of a trial is due 20 ms before its end.
    let quick = ["--size", "64,1472", "--max-pps", "50", "--trial", "200ms", "--confirm", "0", "--repeats", "2"];
    let out = server.search(&[&quick[..], &["--json"]].concat());
    let json = json(&out);
    let sizes = json["sizes"].as_array().expect("a list");
    let mut held_up = false;
    assert_eq!(sizes.iter().map(|size| &size["payload_bytes"]).collect::<Vec<_>>(), [64, 1472]);
    for size in sizes {
        let searches = size["searches"].as_array().expect("a list");
        assert_eq!(searches.len(), 2);
        for search in searches {
            let (holds, set_by) = (search["value"].as_f64(), search["set_by"].as_str());
            // If the sender was held up at the end of trials it sets a lower limit; that is never called the path's.
            assert!(matches!(set_by, Some("ceiling" | "sender")), "{search:#}");
            assert_eq!(holds == Some(50.0), set_by == Some("ceiling"), "{search:#}");
            held_up |= set_by == Some("sender");
        }
    }
    assert_eq!(json["complete"], true);
    assert!(matches!(out.status.code(), Some(0 | 1)));
    if held_up {
        not_judged("the sender was held up for longer than 20 ms at the end of trials");
    }
}

#[test]
fn a_ramp_in_bursts_of_mixed_sizes_ends_after_its_count() {
    let server = Server::start(&[]);
    let shape = ["-l", "imix", "--pps", "500..1500", "--burst", "10", "-k", "200", "-t", "60", "-i", "100ms", "--json"];
    let out = server.send(&shape);
    let json = json(&out);
    let number = |key: &str| json.pointer(key).and_then(Value::as_u64).expect(key);
    assert_eq!((number("/sent/datagrams"), number("/unsent")), (200, 0));
    // Sixteen times the twelve sizes, and the first eight of them.
    assert_eq!(number("/sent/payload_bytes"), 16 * 3790 + 4 * 18 + 3 * 548 + 18);
    assert_eq!(number("/options/burst"), 10);
    let intervals = json["intervals"].as_array().expect("a list");
    let sent: u64 = intervals.iter().filter_map(|interval| interval["sent"].as_u64()).sum();
    assert_eq!(sent, number("/sent/datagrams"));
}

/// Passes datagrams on between a client and a server until the client has ended. At the client's first `Start` it stands
/// still, until the server has given it up.
fn relay(client: &mut Child, near: &UdpSocket, port: &str, mut given_up: impl FnMut()) -> ExitStatus {
    const START: u8 = 8;
    let far = UdpSocket::bind("127.0.0.1:0").expect("a port");
    far.connect(format!("127.0.0.1:{port}")).expect("an address");
    for socket in [near, &far] {
        socket.set_read_timeout(Some(Duration::from_millis(1))).expect("a time");
    }
    let (mut from, mut stood_still, mut buffer) = (None, false, [0; 2000]);
    loop {
        if let Ok((len, source)) = near.recv_from(&mut buffer) {
            from = Some(source);
            if buffer[5] == START && !stood_still {
                stood_still = true;
                signal(client, "-STOP");
                given_up();
                signal(client, "-CONT");
            } else {
                far.send(&buffer[..len]).expect("the server is there");
            }
        }
        if let (Ok(len), Some(to)) = (far.recv(&mut buffer), from) {
            // Nobody may be there any more.
            let _ = near.send_to(&buffer[..len], to);
        }
        if let Some(status) = client.try_wait().expect("a child") {
            assert!(stood_still, "{status}");
            return status;
        }
    }
}

fn signal(child: &Child, what: &str) {
    assert!(Command::new("kill").args([what, &child.id().to_string()]).status().expect("kill").success());
}

#[test]
fn a_client_that_stood_still_opens_its_session_again() {
    let mut server = Server::with_notes(&[], Stdio::piped());
    let mut said = BufReader::new(server.child.0.stderr.take().expect("piped")).lines().map_while(Result::ok);
    let near = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let at = near.local_addr().expect("it has one").port().to_string();
    let mut client = Command::new(TAKT);
    client.args(["udp", "send", "--addr", "127.0.0.1", "--port", &at, "--count", "10", "--pps", "1k"]).args(GUARD);
    let mut client = client.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("takt");
    let gave_up = || assert!(said.any(|line| line.contains("fell silent")), "the server ended first");
    let status = relay(&mut client, &near, &server.port, gave_up);
    let mut why = String::new();
    client.stderr.take().expect("piped").read_to_string(&mut why).expect("text");
    // Some of ten may be lost beside a load, and the answer is no.
    assert!(matches!(status.code(), Some(0 | 1)), "{status}: {why}");
}

#[test]
fn a_server_that_is_stopped_prints_its_summary() {
    let mut server = Server::start(&["--once", "--json"]);
    assert!(server.send(&["--pps", "100", "--duration", "100ms"]).status.code().is_some());
    let mut rest = String::new();
    server.stdout.read_to_string(&mut rest).expect("it ends");
    let json: Value = serde_json::from_str(&rest).expect("one document after the line `ready`");
    assert_eq!(json.pointer("/sessions"), Some(&serde_json::json!(1)));
}
