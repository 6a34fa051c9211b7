//! A waveform that runs: looked at, and turned, from outside.

use std::process::{Child, Command, Stdio};

use crate::program::{TAKT, json, refusal, waveform};

/// `takt run` without end, ended on drop.
struct Runner(Child);

impl Runner {
    fn start() -> Runner {
        let mut command = Command::new(TAKT);
        command.args(["run", &waveform("bpsk.toml"), "--slot", "5ms", "--priority", "none"]);
        let child = Runner(command.stdout(Stdio::null()).spawn().expect("takt"));
        while crate::program::takt(&["execinfo", "--process", &child.pid()]).status.code() != Some(0) {
            std::thread::yield_now();
        }
        child
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-INT", &self.pid()]).status();
        let _ = self.0.wait();
    }
}

#[test]
fn execution_times_and_variables_of_a_running_waveform_are_seen_and_set() {
    let running = Runner::start();
    let pid = running.pid();
    let seen = json(&["execinfo", "--process", &pid]);
    assert_eq!((&seen["waveform"], &seen["slot_ns"]), (&"bpsk".into(), &5_000_000.into()));
    let value = || {
        let all = json(&["variable", "--process", &pid]);
        let all = all.as_array().expect("a list").clone();
        let one = all.into_iter().find(|one| one["component"] == "channel" && one["variable"] == "ebn0_db");
        one.expect("the channel has it")["value"].clone()
    };
    assert_eq!(value(), 200.0);
    json(&["variable", "channel.ebn0_db=3", "--process", &pid]);
    assert_eq!(value(), 3.0);
    let said = refusal(&["variable", "channel.ebn0_db=1e6", "--process", &pid]);
    assert!(said.contains("a number from -20 to 200 dB"), "{said}");
    let said = refusal(&["variable", "channel.loud=1", "--process", &pid]);
    assert!(said.contains("no variable channel.loud"), "{said}");
}

#[test]
fn a_process_that_runs_nothing_is_told() {
    let said = refusal(&["execinfo", "--process", "1"]);
    assert!(said.contains("process 1 can't be asked"), "{said}");
}
