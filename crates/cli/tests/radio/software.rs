//! The programs under test and the software radio between them.

use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, UdpSocket};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use takt_testing::{HANG, loopback, wait_for};
use takt_wire::lag::{self, LagReply, LagRequest};

pub const TAKT: &str = env!("CARGO_BIN_EXE_takt");

/// A software radio at an address of its own, ended on drop.
pub struct Radio {
    child: Child,
    pub addr: String,
    stdout: BufReader<ChildStdout>,
}

impl Radio {
    /// At one of this process's own addresses.
    pub fn at(host: u8, more: &[&str]) -> Radio {
        let addr = loopback(host).to_string();
        let mut command = Command::new(TAKT);
        command.args(["emulate", "n200", "--json", "--addr", &addr]).args(more);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("takt");
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("it says where it is");
        assert_eq!(line.trim(), format!("ready n200 {addr}"));
        Radio { child, addr, stdout }
    }

    /// A command with this radio's address.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(TAKT);
        command.args(args).args(["--addr", &self.addr]);
        command
    }

    /// Runs a command with this radio's address.
    pub fn takt(&self, args: &[&str]) -> Output {
        answered(|| self.command(args))
    }

    /// Another host has it.
    pub fn is_in_use(&self) -> bool {
        json(&self.takt(&["find", "--json"]))[0]["state"]["kind"] == "in_use"
    }

    /// Waits until `host`, which must go on, has it.
    pub fn wait_until_used_by(&self, host: &mut Child) {
        wait_for("the radio to be in use", || {
            assert!(host.try_wait().expect("a child").is_none(), "it ended early");
            self.is_in_use().then_some(())
        });
    }

    /// How many datagrams it has sent so far, as it says itself.
    pub fn sent_datagrams(&self) -> Option<u64> {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a port");
        socket.set_read_timeout(Some(HANG)).expect("a socket");
        let mut bytes = [0; LagRequest::BYTES];
        LagRequest { id: 1, since_ns: u64::MAX }.write(&mut bytes).expect("room");
        socket.send_to(&bytes, (self.addr.as_str(), lag::PORT)).expect("loopback");
        let length = socket.recv(&mut bytes).ok()?;
        LagReply::parse(bytes.get(..length)?).ok().map(|reply| reply.datagrams)
    }

    /// Its process, for a witness.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// Takes its power away.
    pub fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("a child");
    }

    /// Ends it; its summary.
    pub fn summary(mut self) -> Value {
        interrupt(&self.child);
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

/// As Ctrl-C does.
pub fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).expect("our own child");
}

pub fn takt(args: &[&str]) -> Output {
    Command::new(TAKT).args(args).output().expect("takt")
}

/// Runs a command towards something that is there and answers; again where it did not get round to an answer in the third of a
/// second that the command waits.
pub fn answered(command: impl Fn() -> Command) -> Output {
    wait_for("an answer", || {
        let out = command().output().expect("takt");
        let said = [text(&out.stdout), text(&out.stderr)].concat();
        let unanswered = ["No radio answers at", "no radio answers at"].iter().any(|words| said.contains(words));
        (!unanswered).then_some(out)
    })
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

pub fn json(out: &Output) -> Value {
    let said = || format!("{}\n{}", text(&out.stdout), text(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{error}\n{}", said()))
}

pub fn number(document: &Value, key: &str) -> u64 {
    document.pointer(key).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {key} in {document:#}"))
}

/// What a refused command says, and that it ended with 2.
pub fn refusal(out: &Output) -> String {
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}{}", text(&out.stdout));
    assert!(said.starts_with("error: ") && said.contains("\n  fix   "), "{said}");
    said
}
