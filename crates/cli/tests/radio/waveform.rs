//! `takt run --clock radio` with a radio of its own process: stopped by its user, left by its radio, past late answers and
//! overflows. How much a busy machine misses is not these tests' affair.

use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use takt_host::Host;

use crate::software::{Radio, TAKT, json, number, refusal, takt, text};

/// Longer than any machine needs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A radio that waits for nobody, where the host grants it that: as the one that `takt run` starts by itself.
fn punctual(addr: &'static str, faults: &[&str]) -> Radio {
    let faults = faults.iter().flat_map(|fault| ["--fault", fault]);
    let priority = if matches!(Host::this().attempt_fifo(), Some(Ok(()))) { &["--priority", "60"][..] } else { &[] };
    Radio::at(addr, &faults.chain(priority.iter().copied()).collect::<Vec<_>>())
}

/// `takt run` of the exchange of TD-SCDMA, in slots of 5 ms.
fn command(radio: &Radio, more: &[&str]) -> Command {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../waveforms/td-scdma.toml");
    let mut command = Command::new(TAKT);
    command.args(["run", file, "--clock", "radio", "--addr", radio.addr]).args(more);
    command
}

/// A run without end.
struct Run(Option<Child>);

impl Run {
    /// Starts one, and waits until so many slots were executed.
    fn after(slots: u64, radio: &Radio, more: &[&str]) -> Run {
        let child = command(radio, more).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("takt");
        let mut run = Run(Some(child));
        let since = Instant::now();
        while run.executed() < slots {
            assert!(run.child().try_wait().expect("a child").is_none(), "it ended by itself");
            assert!(since.elapsed() < PATIENCE, "{slots} slots never came");
            std::thread::sleep(Duration::from_millis(20));
        }
        run
    }

    fn child(&mut self) -> &mut Child {
        self.0.as_mut().expect("not ended yet")
    }

    /// Slots of the receiver, as the run itself says; 0 before it can be asked.
    fn executed(&mut self) -> u64 {
        let out = takt(&["execinfo", "--process", &self.child().id().to_string(), "--json"]);
        let seen: Value = serde_json::from_slice(&out.stdout).unwrap_or_default();
        seen.pointer("/components/0/executions").and_then(Value::as_u64).unwrap_or(0)
    }

    fn interrupt(&mut self) {
        kill_process(Pid::from_child(self.child()), Signal::INT).expect("our own child");
    }

    /// What it says in the end, which must come by itself.
    fn end(mut self) -> Output {
        let child = self.0.take().expect("not ended yet");
        let pid = Pid::from_child(&child);
        let (told, end) = mpsc::channel();
        std::thread::spawn(move || told.send(child.wait_with_output()));
        let Ok(out) = end.recv_timeout(PATIENCE) else {
            let _killed = kill_process(pid, Signal::KILL);
            panic!("it does not end")
        };
        out.expect("takt")
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ended_already = child.kill();
            let _ = child.wait();
        }
    }
}

/// The document of so many slots past a fault: all of them, with something missed or late.
fn past(radio: &Radio, slots: u64) -> Value {
    let out = command(radio, &["--slots", &slots.to_string(), "--json"]).output().expect("takt");
    assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
    let run = json(&out);
    assert_eq!(run["slots"], slots);
    run
}

fn results(run: &Value, component: &str) -> Value {
    let components = run["components"].as_array().expect("a list");
    components.iter().find(|c| c["name"] == component).expect("there")["results"].clone()
}

fn count(results: &Value, name: &str) -> u64 {
    results[name].as_u64().unwrap_or_else(|| panic!("no {name} in {results}"))
}

#[test]
fn interrupted_it_stops_the_radio_and_tells_what_ran() {
    let radio = punctual("127.0.72.10", &[]);
    let mut run = Run::after(50, &radio, &["--json"]);
    run.interrupt();
    let out = run.end();
    assert!(matches!(out.status.code(), Some(0 | 1)), "{:?}: {}", out.status, text(&out.stderr));
    let told = json(&out);
    assert!(number(&told, "/slots") >= 50, "{told:#}");
    let transmit = results(&told, "transmit");
    let clean = told["misses"] == 0 && count(&transmit, "late") == 0 && count(&transmit, "radio_late") == 0;
    assert_eq!(out.status.code(), Some(i32::from(!clean)), "the status says what was missed or late");
    assert!(number(&told, "/radio/receive/datagrams") >= 50 * 25, "{told:#}");
    let device = &radio.summary()["devices"][0];
    // To start, and to stop while it streamed.
    assert!(number(device, "/rx/0/commands") >= 2 && number(device, "/rx/0/idle_stops") == 0, "{device:#}");
}

#[test]
fn a_radio_that_goes_away_ends_the_run_with_its_address_the_reason_and_what_ran() {
    let mut radio = punctual("127.0.72.11", &[]);
    let run = Run::after(50, &radio, &[]);
    radio.kill();
    let out = run.end();
    let said = refusal(&out);
    assert!(said.contains("127.0.72.11") && said.contains("does not answer any more"), "{said}");
    let told = text(&out.stdout);
    assert!(told.contains("td-scdma-receive") && told.contains("lost_slots"), "{told}");
    // Neither a process nor a port is left: the same again, with a radio in the same place.
    let radio = punctual("127.0.72.11", &[]);
    let again = command(&radio, &["--slots", "20", "--json"]).output().expect("takt");
    assert_eq!(json(&again)["slots"], 20);
}

#[test]
fn a_radio_that_is_switched_off_and_on_ends_the_run_and_says_so() {
    let radio = punctual("127.0.72.12", &["reboot:at=3s,for=100ms"]);
    let out = command(&radio, &["--json"]).output().expect("takt");
    let said = refusal(&out);
    assert!(said.contains("127.0.72.12"), "{said}");
    assert!(said.contains("was restarted") || said.contains("does not answer any more"), "{said}");
    assert!(json(&out)["fix"].is_string(), "one document, of what broke it off");
}

#[test]
fn overflows_cost_their_slots_with_the_radio_as_culprit_and_the_run_goes_on() {
    // 25 datagrams a slot.
    let radio = punctual("127.0.72.13", &["overflow:rx,every=1000,for=12ms,limit=3"]);
    let run = past(&radio, 250);
    let receive = results(&run, "receive");
    assert_eq!(number(&run, "/radio/receive/overflows"), 3, "{run:#}");
    assert!(count(&receive, "overflow_slots") >= 6 && count(&receive, "lost_samples") >= 3 * 12 * 1250, "{receive}");
    let misses = run["miss_list"].as_array().expect("a list");
    let by_radio = |miss: &&Value| miss["culprit"]["who"] == "radio";
    assert!(misses.iter().filter(by_radio).count() >= 3, "{misses:#?}");
    assert_eq!(number(&radio.summary(), "/devices/0/rx/0/overflows"), 3);
}

#[test]
fn slots_whose_samples_do_not_come_in_time_are_the_radios_to_answer_for() {
    // Two seconds after its power came, for twelve slots; nobody can tell during these whether anything still comes.
    let radio = punctual("127.0.72.15", &["stall:rx,at=2s,for=60ms"]);
    let run = past(&radio, 600);
    let misses = run["miss_list"].as_array().expect("a list");
    let owed = |miss: &&Value| miss["component"] == "receive" && miss["culprit"]["who"] == "radio";
    assert!(misses.iter().filter(owed).count() >= 8, "{misses:#?}");
    assert!(number(&run, "/radio/receive/missing_datagrams") >= 250, "{run:#}");
}

#[test]
fn answers_that_reach_the_radio_late_are_counted_once_each_and_the_run_goes_on() {
    // The answers from the hundredth datagram on come 5 ms too late: 40 datagrams are some ten of them.
    let radio = punctual("127.0.72.14", &["delay:tx,every=1,after=100,by=5ms,limit=40"]);
    let run = past(&radio, 200);
    let transmit = results(&run, "transmit");
    let (late, answers) = (count(&transmit, "radio_late"), count(&transmit, "answers"));
    let device = radio.summary();
    let reports = number(&device, "/devices/0/tx/late");
    assert!(late >= 2 && late <= reports && late <= answers, "{late} of {answers}, {reports} reports: {transmit}");
    assert_eq!(transmit["radio_late_slots"].as_str().map(|slots| slots.split(' ').count() as u64), Some(late.min(16)));
}
