//! `takt run --clock radio` with a radio of its own process: stopped by its user, left by its radio, past late answers and
//! overflows. How much a busy machine misses is not these tests' affair.

use std::io::Read;
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use takt_host::Host;
use takt_testing::wait_for;

use crate::software::{Radio, answered, has, interrupt, json, number, refusal, takt, text};
use crate::support::Ended;
use crate::watched::Unless::{Delayed, Lost};
use crate::watched::{Wrong, untrue};
use crate::witness::{self, judge};

/// The exchange of TD-SCDMA, in slots of 5 ms.
const WAVEFORM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../waveforms/td-scdma.toml");
/// A delay of less than four slots moves no more slots than the claims leave room for.
const BEARABLE: Duration = Duration::from_millis(20);

/// A radio that waits for nobody, where the host grants it that: as the one that `takt run` starts by itself. Elsewhere it is
/// disturbed more often, as the witness sees, and no less is required of it.
fn punctual(host: u8, faults: &[&str]) -> Radio {
    let faults = faults.iter().flat_map(|fault| ["--fault", fault]);
    let priority = if matches!(Host::this().attempt_fifo(), Some(Ok(()))) { &["--policy", "fifo:60"][..] } else { &[] };
    Radio::at(host, &faults.chain(priority.iter().copied()).collect::<Vec<_>>())
}

fn command(radio: &Radio, more: &[&str]) -> Command {
    radio.command(&[&["run", WAVEFORM, "--clock", "radio"], more].concat())
}

/// A run without end, ended on drop.
struct Run(Ended);

impl Run {
    /// Starts one, and waits until so many slots were executed.
    fn after(slots: u64, radio: &Radio, more: &[&str]) -> Run {
        let child = command(radio, more).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("takt");
        let mut run = Run(Ended(child));
        wait_for("slots", || {
            assert!(run.child().try_wait().expect("a child").is_none(), "it ended by itself");
            (run.executed() >= slots).then_some(())
        });
        run
    }

    fn child(&mut self) -> &mut Child {
        &mut self.0.0
    }

    /// Slots of the receiver, as the run itself says; 0 before it answers.
    fn executed(&mut self) -> u64 {
        let out = takt(&["execinfo", "--process", &self.child().id().to_string(), "--json"]);
        let seen: Value = serde_json::from_slice(&out.stdout).unwrap_or_default();
        seen.pointer("/components/0/executions").and_then(Value::as_u64).unwrap_or(0)
    }

    /// Its last output, which must come by itself. It is read meanwhile: a full pipe would stop the program.
    fn end(mut self) -> Output {
        let said =
            [reader(self.child().stdout.take().expect("piped")), reader(self.child().stderr.take().expect("piped"))];
        let status = wait_for("its end", || self.child().try_wait().expect("a child"));
        let [stdout, stderr] = said.map(|bytes| bytes.join().expect("a reader"));
        Output { status, stdout, stderr }
    }
}

/// Reads a pipe to its end on a thread of its own.
fn reader(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).expect("a pipe");
        bytes
    })
}

/// Judges the document of so many slots past a fault: all of them, with something missed or late.
fn past(radio: impl Fn() -> Radio, slots: u64, wrong: impl Fn(&witness::Run, &Value) -> [Vec<Wrong>; 2]) {
    let slots_text = slots.to_string();
    let args = ["run", WAVEFORM, "--clock", "radio", "--slots", &slots_text, "--json"];
    let wrong = |run: &witness::Run| {
        assert!(matches!(run.out.status.code(), Some(0 | 1)), "{}", text(&run.out.stderr));
        let document = run.document();
        assert_eq!(document["slots"], slots);
        let status = untrue(Lost, &[("status 1", run.out.status.code() == Some(1))]);
        wrong(run, &document).into_iter().flatten().chain(status).collect()
    };
    judge(BEARABLE, || witness::Run::of(radio(), &args), wrong);
}

fn results(run: &Value, component: &str) -> Value {
    let components = run["components"].as_array().expect("a list");
    components.iter().find(|c| c["name"] == component).expect("there")["results"].clone()
}

fn count(results: &Value, name: &str) -> u64 {
    results[name].as_u64().unwrap_or_else(|| panic!("no {name} in {results}"))
}

#[test]
fn interrupted_it_stops_the_radio_and_reports_what_ran() {
    let radio = punctual(70, &[]);
    let mut run = Run::after(50, &radio, &["--json"]);
    interrupt(run.child());
    let out = run.end();
    assert!(matches!(out.status.code(), Some(0 | 1)), "{:?}: {}", out.status, text(&out.stderr));
    let told = json(&out);
    assert!(number(&told, "/slots") >= 50, "{told:#}");
    let transmit = results(&told, "transmit");
    let whole = told["broken_packets"] == 0 && told["dropped_packets"] == 0;
    let clean = whole && told["misses"] == 0 && count(&transmit, "late") == 0 && count(&transmit, "radio_late") == 0;
    assert_eq!(out.status.code(), Some(i32::from(!clean)), "the status says what was missed or late");
    let datagrams = number(&told, "/radio/receive/datagrams");
    let all = datagrams + number(&told, "/radio/receive/missing_datagrams");
    assert!(datagrams > 0 && all >= 50 * 25, "{told:#}");
    let device = &radio.summary()["devices"][0];
    // To start, and to stop while it streamed.
    assert!(number(device, "/rx/0/commands") >= 2 && number(device, "/rx/0/idle_stops") == 0, "{device:#}");
}

#[test]
fn a_radio_that_goes_away_ends_the_run_with_its_address_the_reason_and_what_ran() {
    let mut radio = punctual(71, &[]);
    let run = Run::after(50, &radio, &[]);
    radio.kill();
    let out = run.end();
    has(&refusal(&out), &[&radio.addr, "no longer answers"]);
    has(&text(&out.stdout), &["td-scdma-receive", "lost_slots"]);
    // Neither a process nor a port is left: the same again, with a radio in the same place.
    let radio = punctual(71, &[]);
    let again = answered(|| command(&radio, &["--slots", "20", "--json"]));
    assert_eq!(json(&again)["slots"], 20);
}

#[test]
fn a_radio_that_is_switched_off_and_on_ends_the_run_and_says_so() {
    let radio = punctual(72, &["reboot:at=+500ms,for=100ms"]);
    // A hundred seconds of slots, which must not be needed.
    let child = command(&radio, &["--slots", "20000", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let out = Run(Ended(child.expect("takt"))).end();
    let said = refusal(&out);
    assert!(said.contains(&radio.addr), "{said}");
    assert!(said.contains("was restarted") || said.contains("no longer answers"), "{said}");
    assert!(json(&out)["fix"].is_string(), "one document, of what broke it off");
}

#[test]
fn overflows_cost_their_slots_with_the_radio_as_culprit_and_the_run_goes_on() {
    // 25 datagrams a slot.
    let radio = || punctual(73, &["overflow:rx,every=1000,for=12ms,limit=3"]);
    past(radio, 250, |run, document| {
        let receive = results(document, "receive");
        let misses = document["miss_list"].as_array().expect("a list");
        let by_radio = misses.iter().filter(|miss| miss["culprit"]["who"] == "radio").count();
        let counted = [
            ("the host counts three", number(document, "/radio/receive/overflows") == 3),
            ("the radio counts three", number(run.device(), "/rx/0/overflows") == 3),
        ];
        let slots = [
            ("two slots or more each", count(&receive, "overflow_slots") >= 6),
            ("12 ms of samples each", count(&receive, "lost_samples") >= 3 * 12 * 1250),
            ("misses of the radio", by_radio >= 3),
        ];
        [untrue(Lost, &counted), untrue(Delayed, &slots)]
    });
}

#[test]
fn slots_whose_samples_do_not_come_in_time_are_the_radios_to_answer_for() {
    // For twelve slots, during which nothing says whether anything still comes.
    let radio = || punctual(75, &["stall:rx,at=+500ms,for=60ms"]);
    past(radio, 200, |_, document| {
        let misses = document["miss_list"].as_array().expect("a list");
        let owed = |miss: &&Value| miss["component"] == "receive" && miss["culprit"]["who"] == "radio";
        let missing = number(document, "/radio/receive/missing_datagrams");
        let by_radio = [("misses of the receiver by the radio", misses.iter().filter(owed).count() >= 8)];
        [untrue(Lost, &[("datagrams are missing", missing >= 250)]), untrue(Delayed, &by_radio)]
    });
}

#[test]
fn answers_that_reach_the_radio_late_are_counted_once_each_and_the_run_goes_on() {
    // The answers from the hundredth datagram on come 5 ms too late: 40 datagrams are some ten of them.
    let radio = || punctual(74, &["delay:tx,every=1,after=100,by=5ms,limit=40"]);
    past(radio, 200, |run, document| {
        let transmit = results(document, "transmit");
        let (late, answers) = (count(&transmit, "radio_late"), count(&transmit, "answers"));
        let listed = transmit["radio_late_slots"].as_str().map(|slots| slots.split(' ').count() as u64);
        let counted = [
            ("each reported by the radio", late <= number(run.device(), "/tx/late")),
            ("of its answers", late <= answers),
            ("each with its slot", late == 0 || listed == Some(late.min(16))),
        ];
        // 25 answers before and ten that it strikes; where fewer were sent, it had nothing to strike.
        let unless = if answers >= 40 { Lost } else { Delayed };
        [untrue(Lost, &counted), untrue(unless, &[("two or more", late >= 2)])]
    });
}
