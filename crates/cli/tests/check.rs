//! `takt check` and `takt experiment` as a user calls them: a real emulator, a real driver, a real store. The load of the
//! machine decides whether a rate holds, so what is asserted is that all documents and exit statuses agree.

mod support;

use std::fs;
use std::io::{Read, Write};
use std::process::{Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use support::{Place, SMALL_CHECK, json, page_of, report, status_of};
use takt_testing::{loopback, not_judged, wait_for};

fn place() -> Place {
    Place::with("small.toml", SMALL_CHECK)
}

#[test]
fn a_check_measures_judges_reports_and_its_status_is_its_answer() {
    let place = place();
    let output = place.takt(&["check", "--quick", "--file", "small.toml", "--json"]);
    let outcome = json(&output);
    let status = status_of(&outcome["verdict"]["answer"]);
    assert_eq!(output.status.code(), Some(status), "{}", report(&output));
    // More than half excluded: nothing is known, clean or not. All rounds count; what a busy machine made of the software
    // radio is told apart.
    let shares = outcome["rates"][0]["rounds"].as_array().expect("rounds").iter();
    let shares: Vec<f64> = shares.filter_map(|round| round["excluded_share"].as_f64()).collect();
    let mostly_excluded = shares.iter().sum::<f64>() > 0.5 * shares.len() as f64;
    assert!(!mostly_excluded || status == 2, "{}", report(&output));
    if status == 2 {
        let why = outcome["verdict"]["needs"][0]["why"].as_str().unwrap_or_default();
        let late = if mostly_excluded {
            "of its streaming time is excluded"
        } else {
            "only while the emulator itself was late"
        };
        assert!(why.contains(late), "{}", report(&output));
    }
    assert_eq!(outcome["rounds"]["valid"], 2, "{}", report(&output));
    assert_eq!(outcome["complete"], true);
    let rate = &outcome["rates"][0];
    assert_eq!((rate["mode"].as_str(), rate["rate_sps"].as_f64()), (Some("duplex"), Some(1e6)));
    let round = &rate["rounds"][0];
    // 300 ms at 1 MS/s were due, but for what was due while emulator or reader were held up, which the round itself
    // tells.
    let number = |key: &str| round[key].as_f64().unwrap_or_else(|| panic!("{key}: {round}"));
    let held_up = number("emulator_lag_max_us") + 1e3 * number("reader_pause_max_ms");
    let accounted = number("rx_samples") + number("rx_lost_samples");
    assert!(number("rx_samples") > 0.0 && accounted > 255_000.0 - held_up, "{round}");
    if !mostly_excluded {
        assert_eq!(round["clean"], status == 0, "{}", report(&output));
    }
    assert!(outcome["udp"][0]["rounds"][0]["datagrams_per_s"].as_f64() > Some(100.0));
    assert!(outcome["left_out"][0].as_str().is_some_and(|left| left.contains("full run: 2")), "{outcome}");

    // The same run, looked at by the other commands.
    let (run, page) = (outcome["run"].as_str(), page_of(&place, &outcome));
    assert!(page.starts_with("<!") && page.contains("N200"));
    let again = place.takt(&["report", "last", "--json"]);
    assert_eq!(json(&again), outcome, "judging the records again says the same");
    let listed = json(&place.takt(&["experiment", "list", "--json"]));
    assert_eq!((listed[0]["id"].as_str(), listed[0]["rounds"].as_u64()), (run, Some(2)));
    let shown = json(&place.takt(&["experiment", "show", "last", "--json"]));
    assert_eq!(shown["points"].as_array().map(Vec::len), Some(2));
    let csv = place.takt(&["experiment", "export", "last"]);
    let text = String::from_utf8_lossy(&csv.stdout).into_owned();
    assert_eq!(text.split_terminator("\r\n").count(), 3, "{text}");
    assert!(text.contains("result.rx.samples") && text.contains("machine.conditions.foreign_cpu_share"));
}

#[test]
fn the_text_begins_with_the_answer_and_nothing_moves_in_a_pipe() {
    let place = place();
    let output = place.takt(&["check", "--quick", "--file", "small.toml"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let first = text.lines().next().unwrap_or_default();
    let answer = match output.status.code() {
        Some(0) => "Yes:",
        Some(1) => "No:",
        _ => "Not known:",
    };
    assert!(first.starts_with(answer), "{}", report(&output));
    assert!(text.lines().count() <= 25, "{text}");
    let progress = String::from_utf8_lossy(&output.stderr).into_owned();
    // Below them stands what to do where nothing is known.
    let rounds = progress.lines().filter(|line| line.contains("/2  ")).count();
    assert!(rounds == 2 && !progress.contains('\r') && !text.contains('\x1b'), "{progress}");
}

/// Starts the full small check, and ends it after its first round by a signal; the number its process had.
///
/// Its progress goes into a pipe that has room for a line or two, so that it can't run on before the signal comes.
fn interrupted(place: &Place, signal: Signal) -> u32 {
    /// Capacity of a pipe (pipe(7)), and how much of that is left.
    const PIPE_BYTES: usize = 1 << 16;
    const ROOM_BYTES: usize = 120;
    let (mut progress, mut full) = std::io::pipe().expect("a pipe");
    full.write_all(&vec![b'\n'; PIPE_BYTES - ROOM_BYTES]).expect("it has room");
    let mut command = place.command(&["check", "--file", "small.toml"]);
    let mut child = command.stdout(Stdio::null()).stderr(full).spawn().expect("takt runs");
    drop(command);
    wait_for("the end of a round", || {
        assert!(child.try_wait().expect("a child").is_none(), "it ended by itself");
        let bytes = rustix::io::ioctl_fionread(&progress).expect("a pipe") as usize;
        // More than the number of the round, so that the line is whole.
        (bytes > PIPE_BYTES - ROOM_BYTES + 8).then_some(())
    });
    kill_process(Pid::from_child(&child), signal).expect("ours");
    let mut said = String::new();
    progress.read_to_string(&mut said).expect("text, until its end");
    assert!(said.trim_start().starts_with("1/3"), "{}", said.trim_start());
    child.wait().expect("ours");
    child.id()
}

fn runs_the_rest(place: &Place) {
    let output = place.takt(&["check", "--file", "small.toml", "--resume", "--json"]);
    let outcome = json(&output);
    assert_eq!((&outcome["complete"], &outcome["rounds"]["valid"]), (&true.into(), &3.into()), "{}", report(&output));
}

fn namespaces_of(pid: u32) -> usize {
    let names = fs::read_dir("/run/netns").into_iter().flatten().flatten();
    names.filter(|name| name.file_name().to_string_lossy().starts_with(&format!("takt-{pid}-"))).count()
}

#[test]
fn ctrl_c_keeps_what_was_measured_and_resume_runs_the_rest() {
    let place = Place::with("small.toml", &SMALL_CHECK.replace("full = 2", "full = 1"));
    let pid = interrupted(&place, Signal::INT);
    assert_eq!(namespaces_of(pid), 0, "nothing is left behind");
    let runs = json(&place.takt(&["experiment", "list", "--json"]));
    let before = runs[0]["rounds"].as_u64().expect("some");
    assert!((1..3).contains(&before), "{runs}");
    runs_the_rest(&place);
    let runs = json(&place.takt(&["experiment", "list", "--json"]));
    assert_eq!(runs.as_array().map(Vec::len), Some(1), "one run, in two parts");
}

#[test]
fn kill_9_loses_no_finished_round_and_the_next_start_works() {
    let place = Place::with("small.toml", &SMALL_CHECK.replace("full = 2", "full = 1"));
    let pid = interrupted(&place, Signal::KILL);
    runs_the_rest(&place);
    // Its agents went with it; what it had no chance to remove is what `takt clean` removes.
    for _ in 0..2 {
        let cleaned = place.takt(&["clean"]);
        assert!(cleaned.status.success(), "{}", report(&cleaned));
        assert_eq!(namespaces_of(pid), 0, "{}", report(&cleaned));
    }
}

/// Each: the command, and what its message on standard error must contain.
#[test]
fn what_cannot_be_done_is_reported_with_its_remedy_and_exits_2() {
    let place = place();
    fs::write(place.path("bad.toml"), SMALL_CHECK.replace("{ mode = {", "{ mdoe = {")).expect("ours");
    fs::create_dir(place.path("foreign")).expect("ours");
    fs::write(place.path("foreign/takt.db"), "not a database").expect("ours");
    let nobody = loopback(254).to_string();
    let no_radio = format!("error: no radio at {nobody}");
    let table: [(&[&str], &[&str]); 9] = [
        (&["check", "--file", "bad.toml"], &["unknown", "mdoe", "did you mean", "bad.toml:"]),
        (&["check", "--file", "missing.toml"], &["no experiment missing.toml", "fix", "check"]),
        (
            &["check", "--need", "n200:22M"],
            &["an N200 can't stream at 22 MS/s", "--need n200:20M   (100 MHz / 5)", "--need n200:25M   (100 MHz / 4)"],
        ),
        (&["stops", "--need", "x:1"], &["unknown model `x`", "use n200 or x310, as in n200:25M"]),
        (&["check", "--quick", "--file", "small.toml", "--runs", "foreign"], &["not a store of takt", "--runs DIR"]),
        (&["check", "--quick", "--file", "small.toml", "--addr", &nobody], &[&no_radio, "emulate n200", "takt find"]),
        (
            &["experiment", "show", "nothing", "--runs", "new"],
            &["no run named `nothing`: new has no run yet", "takt check --runs new   (makes the first)"],
        ),
        (&["experiment", "run", "chek"], &["did you mean check?"]),
        (&["report", "last", "--runs", "new"], &["no run named `last`"]),
    ];
    for (arguments, parts) in table {
        let output = place.takt(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", report(&output));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        for part in parts {
            assert!(error.contains(part), "{arguments:?} lacks {part:?}: {}", report(&output));
        }
    }
    assert_eq!(fs::read_to_string(place.path("foreign/takt.db")).expect("untouched"), "not a database");
}

#[test]
fn the_words_of_experiment_files_are_listed() {
    let place = place();
    let words = json(&place.takt(&["experiment", "factors", "--json"]));
    let names: Vec<&str> = words.as_array().expect("a list").iter().filter_map(|word| word["name"].as_str()).collect();
    assert!(names.contains(&"rate_sps") && names.contains(&"payload_bytes"), "{names:?}");
}

/// Two hosts: one as it is, and one whose program stands still longer than its buffer holds.
const SMALL_SELF_TEST: &str = r#"
question = "Does the self-test work?"
[rounds]
count = { full = 6, quick = 3 }
order = { seed = 1 }
valid = { foreign_cpu_share_max = 1.0, steal_share_max = 1.0, excluded_share_max = 1.0, repeats_max = 0 }
[[part]]
name = "quiet"
factors = { mode = ["rx"] }
fixed = { rate_sps = 1e6, source = "counter", workload = { kind = "rate", duration = "300ms", warm_up = "0s" } }
[[part]]
name = "stall"
factors = { mode = ["rx", "tx"] }
[part.fixed]
rate_sps = 1e6
stall = "400ms every 500ms"
recv_buffer = "64KiB"
source = "counter"
workload = { kind = "rate", duration = "900ms", warm_up = "0s" }
"#;

#[test]
fn a_self_test_sets_the_verdict_beside_the_truth() {
    let place = Place::with("bad.toml", SMALL_SELF_TEST);
    let output = place.takt(&["check", "--self-test", "--file", "bad.toml", "--json"]);
    sets_the_verdict_beside_the_truth(&place, &output);
}

/// Its emulator has no real-time priority, and plays a counter all the same.
#[test]
fn a_self_test_of_an_ordinary_user_does_so_too() {
    let place = Place::with("bad.toml", SMALL_SELF_TEST);
    let output = match place.command_of_a_user(&["check", "--self-test", "--file", "bad.toml", "--json"]).output() {
        Err(error) => return takt_testing::skip(format!("setpriv: {error}   (apt-get install util-linux)")),
        Ok(output) => output,
    };
    sets_the_verdict_beside_the_truth(&place, &output);
}

#[track_caller]
fn sets_the_verdict_beside_the_truth(place: &Place, output: &Output) {
    let outcome = json(output);
    assert_eq!(outcome["schema"], "takt.self-test/1", "{}", report(output));
    assert_eq!(output.status.code(), Some(status_of(&outcome["answer"])), "{}", report(output));
    let trials = outcome["trials"].as_array().expect("trials");
    assert_eq!(trials.len(), 3, "the short form is the usual one: {}", report(output));
    for trial in trials.iter().filter(|trial| trial["part"] == "stall") {
        // 400 ms of 1 MS/s are 1.6 MB, and the radio holds 1 MiB.
        assert_eq!(trial["loses"], true, "{trial}");
        // A machine that gives even the radio no time leaves no answer, and says so.
        if trial["answer"] == "unknown" && trial["excluded_share"].as_f64().is_some_and(|share| share > 0.0) {
            not_judged(format!("the radio itself was late: {trial}"));
        } else {
            assert_eq!(trial["answer"], "fails", "{trial}");
        }
        assert_eq!(trial["done"], "buffer 64KiB, stall 400ms every 500ms");
    }
    let differ = |trial: &Value| trial["truth"]["accounts_differ"].as_u64();
    assert!(trials.iter().all(|trial| differ(trial) == Some(0)), "{outcome}");
    assert_eq!(outcome["error_rates"]["wrong_yes"]["errors"], 0);
    let again = place.takt(&["report", "last", "--json"]);
    assert_eq!(json(&again), outcome, "judging the records again says the same");
    let text = String::from_utf8_lossy(&place.takt(&["report", "last"]).stdout).into_owned();
    assert!(text.contains("keeps up: yes") && text.contains("stall 400ms every 500ms"), "{text}");
}

#[test]
fn a_self_test_needs_a_radio_of_its_own() {
    let place = place();
    let output = place.takt(&["check", "--self-test", "--addr", "127.0.0.1"]);
    assert_eq!(output.status.code(), Some(2), "{}", report(&output));
    assert!(report(&output).contains("--addr"), "{}", report(&output));
}
