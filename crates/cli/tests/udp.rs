//! `takt udp` as a person runs it: output, exit status, errors.

use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::process::{Child, Command, Output, Stdio};

const TAKT: &str = env!("CARGO_BIN_EXE_takt");

/// A server on loopback, ended on drop.
struct Server {
    child: Child,
    port: String,
}

impl Server {
    fn start(more: &[&str]) -> Server {
        let mut child = Command::new(TAKT)
            .args(["udp", "serve", "--addr", "127.0.0.1", "--port", "0"])
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("takt");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut line).expect("it says where it is");
        let port = line.trim().strip_prefix("ready udp 127.0.0.1:").expect(&line).to_owned();
        Server { child, port }
    }

    fn send(&self, more: &[&str]) -> Output {
        send(&self.port, more)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _ = self.child.wait();
    }
}

fn send(port: &str, more: &[&str]) -> Output {
    let mut command = Command::new(TAKT);
    command.args(["udp", "send", "--addr", "127.0.0.1", "--port", port]).args(more);
    command.output().expect("takt")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

#[test]
fn a_load_that_arrives_is_answered_with_yes_and_exit_0() {
    let server = Server::start(&[]);
    let out = server.send(&["--size", "64", "--pps", "1k", "--duration", "300ms", "--interval", "100ms"]);
    let said = text(&out.stdout);
    // A machine that stalls for longer than the load lasts leaves datagrams unsent: then the answer is no.
    let answer = said.lines().last().expect("an answer");
    match out.status.code() {
        Some(0) => assert_eq!(answer, "Yes: all 300 datagrams arrived.", "{said}"),
        code => assert!(code == Some(1) && answer.starts_with("No: "), "{said}"),
    }
    for word in ["flat out", "1000 datagrams/s", "where ", "latency ", "jitter ", "CPU ", "interval s", "0 of 0 placed"]
    {
        assert_eq!(said.contains(word), word != "flat out", "{word}\n{said}");
    }
}

#[test]
fn a_load_that_is_lost_is_answered_with_no_and_exit_1_and_json_says_where() {
    let server = Server::start(&["--buffer", "4096"]);
    let out = server.send(&["--duration", "200ms", "--json"]);
    assert_eq!(out.status.code(), Some(1));
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).expect("one document");
    let number = |key: &str| json.pointer(key).and_then(serde_json::Value::as_u64).expect("a number");
    assert!(number("/lost/total") > 0);
    assert_eq!(number("/lost/total"), number("/lost/by_place/receiver_buffer"));
    assert_eq!(number("/sent/datagrams"), number("/received/datagrams") + number("/lost/total"));
}

#[test]
fn both_ways_are_reported_one_below_the_other() {
    let server = Server::start(&["--engine", "socket"]);
    let said = text(&server.send(&["--bidir", "--rate", "1M", "--duration", "200ms"]).stdout);
    assert!(said.contains("to server") && said.contains("from server") && said.contains("and socket there"), "{said}");
}

#[test]
fn what_can_not_be_done_says_why_and_what_would_help_and_exits_with_2() {
    let gone =
        UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port().to_string();
    let out = send(&gone, &["--duration", "100ms"]);
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(said.contains(&format!("why   nobody listens on UDP port {gone} of 127.0.0.1")), "{said}");
    assert!(said.contains("fix   takt udp serve"), "{said}");

    let server = Server::start(&[]);
    let serve = Command::new(TAKT).args(["udp", "serve", "--addr", "127.0.0.1", "--port", &server.port]).output();
    let serve = serve.expect("takt");
    let said = text(&serve.stderr);
    assert!(serve.status.code() == Some(2) && said.contains("is taken by another program"), "{said}");

    for (bad, hint) in [
        (["--size", "15"], "want 16 to 9000 bytes"),
        (["--engine", "dpdk"], "no engine is called `dpdk`"),
        (["--rate", "fast"], "such as 25e6"),
        (["--flows", "17"], "flows: 17 (want 1 to 16)"),
    ] {
        let out = server.send(&bad);
        assert_eq!(out.status.code(), Some(2));
        assert!(text(&out.stderr).contains(hint), "{}", text(&out.stderr));
    }
}

#[test]
fn a_server_that_is_told_to_stop_prints_its_summary() {
    let mut server = Server::start(&["--once", "--json"]);
    assert!(server.send(&["--pps", "100", "--duration", "100ms"]).status.code().is_some());
    let mut rest = String::new();
    std::io::Read::read_to_string(server.child.stdout.as_mut().expect("piped"), &mut rest).expect("it ends");
    let json: serde_json::Value = serde_json::from_str(&rest).expect("one document after the line `ready`");
    assert_eq!(json.pointer("/sessions"), Some(&serde_json::json!(1)));
}
