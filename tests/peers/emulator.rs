//! `takt emulate`, started and stopped as a user would.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use takt_host::affinity::own_cpus;
use takt_host::testing::TestRun;

use crate::row::may_be_real_time;

/// Above the programs that judge it.
const POLICY: &str = "fifo:60";

/// The program under test.
pub fn takt() -> OsString {
    std::env::var_os("TAKT_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_takt").into())
}

/// Addresses of one emulator's radios.
pub struct Site {
    pub addrs: Vec<String>,
    /// The network namespace; none is this process's.
    pub netns: Option<String>,
}

impl Site {
    /// Loopback addresses of this process.
    pub fn loopback(hosts: &[u8]) -> Site {
        let addrs = hosts.iter().map(|&host| takt_testing::loopback(host).to_string()).collect();
        Site { addrs, netns: None }
    }
}

/// A running emulator; killed when dropped. If the test is killed first, `takt clean` ends it.
pub struct Emulator {
    child: Child,
    stdout: BufReader<ChildStdout>,
    /// Dropped after the child has ended.
    _run: TestRun,
}

/// Its output when it ended.
pub struct Summary(pub serde_json::Value);

impl Emulator {
    /// Starts one with further arguments, and waits until all its radios are ready.
    pub fn start(site: &Site, model: &str, arguments: &[&str]) -> Emulator {
        let mut command = match &site.netns {
            Some(name) => {
                let mut ip = Command::new("ip");
                ip.args(["netns", "exec", name]).arg(takt());
                ip
            }
            None => Command::new(takt()),
        };
        command.args(["emulate", model, "--json"]);
        for addr in &site.addrs {
            command.args(["--addr", addr]);
        }
        command.args(arguments);
        let ready: Vec<_> = site.addrs.iter().map(|addr| format!("ready {model} {addr}")).collect();
        Emulator::of(command, &ready)
    }

    /// Starts the radios of a file, whose models and addresses these are.
    pub fn in_air(file: &Path, radios: &[(&str, String)], arguments: &[&str]) -> Emulator {
        let mut command = Command::new(takt());
        command.args(["emulate", "--json", "--config"]).arg(file).args(arguments);
        let ready: Vec<_> = radios.iter().map(|(model, addr)| format!("ready {model} {addr}")).collect();
        Emulator::of(command, &ready)
    }

    /// Starts a command of takt's with one streaming thread, and waits until it has said all of this.
    pub fn of(mut command: Command, ready: &[String]) -> Emulator {
        if may_be_real_time() {
            command.args(["--policy", POLICY]);
        }
        // The last core is the radios': nothing of what judges them can move them from there.
        if let [_, .., last] = own_cpus().as_slice() {
            command.args(["--cores", &vec![last.to_string(); ready.len()].join(",")]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let run = TestRun::new();
        run.mark(&mut command, Path::new(&takt()));
        let mut child = command.spawn().expect("takt starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        for wanted in ready {
            let mut line = String::new();
            stdout.read_line(&mut line).expect("the emulator speaks");
            assert_eq!(line.trim_end(), wanted, "{command:?}");
        }
        Emulator { child, stdout, _run: run }
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

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
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
        let of = |tx: &serde_json::Value| tx["underflows_at_start"].as_u64().expect("tx.underflows_at_start");
        // One transmitter, or a list of them.
        let each = |device: &serde_json::Value| match &device["tx"] {
            serde_json::Value::Array(several) => several.iter().map(of).sum(),
            one => of(one),
        };
        self.0["devices"].as_array().expect("devices").iter().map(each).sum::<u64>()
    }

    /// A fault that was to be injected and never was.
    pub fn idle_fault(&self) -> Option<&str> {
        let devices = self.0["devices"].as_array().expect("devices");
        let faults = devices.iter().flat_map(|device| device["faults"].as_object().expect("faults"));
        faults.filter(|(_, struck)| struck.as_u64() == Some(0)).map(|(fault, _)| fault.as_str()).next()
    }
}
