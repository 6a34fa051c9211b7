//! The programs under test and the software radio between them.

use std::io::{BufReader, Read};
use std::net::{Ipv4Addr, UdpSocket};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use takt_testbed::net::Path;
use takt_testing::{HANG, loopback, wait_for};
use takt_wire::lag::{self, LagReply, LagRequest};

use crate::support::{Ended, while_running};
pub use crate::support::{TAKT, has, json, takt, text};

/// A software radio at an address of its own, ended on drop.
pub struct Radio {
    program: Ended,
    pub addr: String,
    stdout: BufReader<ChildStdout>,
    /// The network namespace of its host, where that is not this one.
    host: Option<String>,
}

impl Radio {
    pub fn at(host: u8, more: &[&str]) -> Radio {
        Radio::of("n200", host, more)
    }

    /// Starts one of this model.
    pub fn of(model: &str, host: u8, more: &[&str]) -> Radio {
        let addr = loopback(host).to_string();
        let mut command = Command::new(TAKT);
        command.args(["emulate", model, "--json", "--addr", &addr]).args(more);
        let (program, stdout, line) = Ended::ready(command.stderr(Stdio::null()));
        assert_eq!(line.trim(), format!("ready {model} {addr}"));
        Radio { program, addr, stdout, host: None }
    }

    /// At the far end of a path, its host at the other.
    pub fn behind(path: &Path, model: &str, more: &[&str]) -> Radio {
        let (addr, host) = (path.radio.address.to_string(), path.host.address.to_string());
        let mut command = inside(path.radio.namespace.name());
        command.args(["emulate", model, "--json", "--addr", &addr, "--allow", &format!("{host}/32")]).args(more);
        let (program, stdout, line) = Ended::ready(command.stderr(Stdio::null()));
        assert_eq!(line.trim(), format!("ready {model} {addr}"));
        Radio { program, addr, stdout, host: Some(path.host.namespace.name().to_owned()) }
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = self.host.as_deref().map_or_else(|| Command::new(TAKT), inside);
        command.args(args).args(["--addr", &self.addr]);
        command
    }

    pub fn takt(&self, args: &[&str]) -> Output {
        answered(|| self.command(args))
    }

    /// Another host has it.
    pub fn is_in_use(&self) -> bool {
        json(&self.takt(&["find", "--json"]))[0]["state"]["kind"] == "in_use"
    }

    /// Waits until `host`, which must go on, has it.
    pub fn wait_until_used_by(&self, host: &mut Child) {
        while_running(host, "the radio to be in use", || self.is_in_use());
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

    pub fn process(&self) -> u32 {
        self.program.0.id()
    }

    pub fn kill(&mut self) {
        self.program.0.kill().expect("it runs");
        self.program.0.wait().expect("a child");
    }

    /// Ends it; its summary.
    pub fn summary(mut self) -> Value {
        interrupt(&self.program.0);
        let mut text = String::new();
        self.stdout.read_to_string(&mut text).expect("text");
        serde_json::from_str(&text).expect("one document")
    }
}

/// The program in a network namespace.
fn inside(namespace: &str) -> Command {
    let mut command = Command::new("ip");
    command.args(["netns", "exec", namespace, TAKT]);
    command
}

pub fn interrupt(child: &Child) {
    kill_process(Pid::from_child(child), Signal::INT).expect("our own child");
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

pub fn number(document: &Value, key: &str) -> u64 {
    document.pointer(key).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {key} in {document:#}"))
}

/// Message of a refused command, with the fix.
#[track_caller]
pub fn refusal(out: &Output) -> String {
    let said = crate::support::refusal(out);
    assert!(said.starts_with("error: ") && said.contains("\n  fix   "), "{said}");
    said
}
