//! `takt emulate n200`, started and stopped as a user would.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};

/// A running emulator; killed when dropped.
pub struct Emulator {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

/// What it said when it ended.
pub struct Summary(pub serde_json::Value);

impl Emulator {
    /// Starts one at each of `addrs` with further arguments, inside the namespace `netns` if one is named, and waits
    /// until all are ready.
    pub fn start(addrs: &[&str], arguments: &[&str], netns: Option<&str>) -> Emulator {
        let takt = env!("CARGO_BIN_EXE_takt");
        let mut command = match netns {
            Some(name) => {
                let mut ip = Command::new("ip");
                ip.args(["netns", "exec", name, takt]);
                ip
            }
            None => Command::new(takt),
        };
        command.args(["emulate", "n200", "--json"]);
        for addr in addrs {
            command.args(["--addr", addr]);
        }
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("takt starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        for addr in addrs {
            let mut line = String::new();
            stdout.read_line(&mut line).expect("the emulator speaks");
            assert_eq!(line.trim_end(), format!("ready n200 {addr}"), "emulator at {addrs:?} with {arguments:?}");
        }
        Emulator { child, stdout }
    }

    /// Ends it with SIGINT, as Ctrl-C does, and returns its summary.
    pub fn stop(mut self) -> Summary {
        self.signal("INT");
        let mut document = String::new();
        self.stdout.read_to_string(&mut document).expect("the summary is text");
        let status = self.child.wait().expect("the emulator ends");
        assert!(status.success(), "emulator ended with {status}: {document}");
        Summary(serde_json::from_str(&document).unwrap_or_else(|e| panic!("summary: {e}\n{document}")))
    }

    /// Sends it a signal by name.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status();
        assert!(status.is_ok_and(|s| s.success()), "kill -{name}");
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Summary {
    /// How often the emulator itself was later than its stated limit.
    pub fn own_lateness(&self) -> u64 {
        self.0["lag"]["over_limit"].as_u64().expect("lag.over_limit")
    }

    /// How often a burst ran dry before the host was ahead: UHD starts single streams at once, so at 25 MS/s its second
    /// packet has 15 us to arrive.
    pub fn underflows_at_start(&self) -> u64 {
        let of =
            |device: &serde_json::Value| device["tx"]["underflows_at_start"].as_u64().expect("tx.underflows_at_start");
        self.0["devices"].as_array().expect("devices").iter().map(of).sum()
    }
}
