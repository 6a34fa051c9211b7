//! `takt top` beside processes that work: as text, as JSON, in a terminal; and what a killed one leaves.

#[path = "support/json_page.rs"]
mod json_page;
mod support;

use std::process::{Command, Stdio};

use json_page::agrees;
use serde_json::Value;
use support::{Ended, Place, has, json, refusal, text};
use takt_testing::{loopback, skip, wait_for};

const UTRAN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../waveforms/utran.toml");

/// A program of the place that runs until it is dropped.
fn start(place: &Place, args: &[&str]) -> Ended {
    let mut command = place.command(args);
    Ended(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("takt starts"))
}

/// A software radio, and a stream both ways with it; `host` tells the addresses of this file apart.
fn stream(place: &Place, host: u8) -> (Ended, Ended) {
    let addr = loopback(host).to_string();
    let (radio, _, line) = Ended::ready(place.command(&["emulate", "n200", "--addr", &addr]).stderr(Stdio::null()));
    assert!(line.starts_with("ready "), "{line}");
    let rate = ["rate", "--addr", &addr, "--rx", "1M", "--tx", "1M", "--duration", "1h", "--warm-up", "50ms"];
    (radio, start(place, &rate))
}

/// The newest counts of a process, once `enough` of them are there.
fn counts(place: &Place, process: &Ended, enough: impl Fn(&Value) -> bool) -> Value {
    let pid = process.0.id().to_string();
    wait_for("counts of the process", || {
        let out = place.takt(&["top", &pid, "--json"]);
        let document = out.status.success().then(|| json(&out))?;
        enough(&document["snapshot"]).then_some(document)
    })
}

fn samples(snapshot: &Value, radio: usize) -> Option<u64> {
    snapshot["radios"][radio]["samples"].as_u64()
}

#[test]
fn a_stream_is_shown_with_what_passed() {
    let place = Place::with("empty", "");
    let (radio, rate) = stream(&place, 1);
    let passes = |snapshot: &Value| {
        samples(snapshot, 0) > Some(0) && samples(snapshot, 1) > Some(0) && snapshot["spectra"][0]["dbfs"].is_array()
    };
    let streaming = counts(&place, &rate, passes);
    let later = counts(&place, &rate, |snapshot| samples(snapshot, 0) > samples(&streaming["snapshot"], 0));
    let emulating = counts(&place, &radio, |snapshot| samples(snapshot, 0) > Some(0));
    agrees(&["takt-top"], &[streaming.clone(), later, emulating]);
    assert_eq!(streaming["hello"]["kind"], "rate");
    assert_eq!(streaming["snapshot"]["radios"][0]["rate_sps"], 1e6);
    let pid = rate.0.id().to_string();
    let frame = text(&place.takt(&["top", &pid, "--once"]).stdout);
    has(&frame, &["takt rate", "radios", "letters", "spectrum", "1 MS/s", "q quit"]);
    let list = text(&place.takt(&["top", "--once"]).stdout);
    has(&list, &[&pid, "rate", "emulate"]);
    let listed = json(&place.takt(&["top", "--json"]));
    listed.as_array().expect("a list").iter().for_each(|one| agrees(&["a-process"], std::slice::from_ref(one)));
    assert_eq!(listed.as_array().map(Vec::len), Some(2), "{listed}");
}

#[test]
fn a_waveform_is_shown_with_its_beat() {
    let place = Place::with("empty", "");
    let run = start(&place, &["run", UTRAN, "--slot", "20ms", "--slots", "1000000", "--policy", "other"]);
    let runs = |snapshot: &Value| snapshot["slots"]["count"].as_u64() > Some(3) && snapshot["variables"].is_array();
    let document = counts(&place, &run, runs);
    agrees(&["takt-top"], std::slice::from_ref(&document));
    let snapshot = &document["snapshot"];
    assert_eq!(snapshot["slots"]["slot_ns"], 20_000_000);
    assert!(!snapshot["slots"]["lateness"].as_array().expect("a clock").is_empty());
    assert!(snapshot["components"][0]["load_share"].as_f64() > Some(0.0));
    let frame = text(&place.takt(&["top", &run.0.id().to_string(), "--once"]).stdout);
    has(&frame, &["takt run", "slots", "lateness", "components"]);
}

#[test]
fn who_is_not_there_or_does_not_want_to_be_watched_is_named() {
    let place = Place::with("empty", "");
    has(&refusal(&place.takt(&["top", "1", "--once"])), &["process 1 does not show itself", "takt top --once"]);
    has(&text(&place.takt(&["top", "--once"]).stdout), &["No process of this user can be watched."]);
    let addr = loopback(2).to_string();
    let mut command = place.command(&["emulate", "n200", "--addr", &addr, "--no-live"]);
    let (radio, _, line) = Ended::ready(command.stderr(Stdio::null()));
    assert!(line.starts_with("ready "), "{line}");
    has(&refusal(&place.takt(&["top", &radio.0.id().to_string(), "--once"])), &["does not show itself"]);
}

#[test]
fn a_killed_process_leaves_a_socket_that_clean_takes_away() {
    let place = Place::with("empty", "");
    let (radio, rate) = stream(&place, 3);
    counts(&place, &rate, |snapshot| samples(snapshot, 0) > Some(0));
    let names = [&rate, &radio].map(|process| process.0.id());
    drop((rate, radio)); // killed
    assert_eq!(json(&place.takt(&["top", "--json"])), Value::Array(Vec::new()), "none of them runs");
    let cleaned = json(&place.takt(&["clean", "--json"]));
    let mut removed: Vec<String> = cleaned["removed"].as_array().expect("a list").iter().map(name_of).collect();
    removed.sort();
    let mut expected = vec![format!("{}-rate.sock", names[0]), format!("{}-emulate.sock", names[1])];
    expected.sort();
    assert_eq!(removed, expected, "{cleaned:#}");
    assert!(json(&place.takt(&["clean", "--json"]))["removed"].as_array().is_some_and(Vec::is_empty));
}

fn name_of(removed: &Value) -> String {
    assert_eq!(removed["leftover"]["kind"], "socket");
    removed["leftover"]["name"].as_str().expect("a name").to_owned()
}

/// A terminal of 80 by 24 in which a command runs, ended when it is dropped.
struct Terminal<'a>(&'a Place);

impl Terminal<'_> {
    fn tmux(&self, args: &[&str]) -> std::process::Output {
        let mut command = self.0.call("tmux");
        command
            .args(["-L", "takt", "-f", "/dev/null"])
            .args(args)
            .env("TMUX_TMPDIR", self.0.folder())
            .env("LC_ALL", "C.UTF-8");
        command.output().expect("tmux")
    }

    /// Text on it.
    fn screen(&self) -> String {
        String::from_utf8_lossy(&self.tmux(&["capture-pane", "-p", "-t", "top"]).stdout).into_owned()
    }

    fn shows(&self, words: &[&str]) -> String {
        wait_for(&format!("a screen with {words:?}"), || {
            let screen = self.screen();
            words.iter().all(|words| screen.contains(words)).then_some(screen)
        })
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[test]
fn a_terminal_shows_a_stream_and_the_keys_work() {
    if Command::new("tmux").arg("-V").output().is_err() {
        return skip("tmux is not installed   (apt-get install tmux)");
    }
    let place = Place::with("empty", "");
    let (_radio, rate) = stream(&place, 4);
    let before = counts(&place, &rate, |snapshot| samples(snapshot, 0) > Some(0));
    let terminal = Terminal(&place);
    let pid = rate.0.id().to_string();
    let size = ["-x", "80", "-y", "24"];
    let new = [&["-u", "new-session", "-d", "-s", "top"][..], &size, &[support::TAKT, "top", &pid]].concat();
    let made = terminal.tmux(&new);
    assert!(made.status.success(), "{made:?}");
    let screen = terminal.shows(&["takt rate", "radios", "letters", "q quit"]);
    assert_eq!(screen.lines().count(), 24, "{screen}");
    terminal.tmux(&["send-keys", "-t", "top", "p"]);
    terminal.shows(&["paused"]);
    terminal.tmux(&["send-keys", "-t", "top", "l"]);
    terminal.shows(&["works on", &pid, "enter follow"]);
    terminal.tmux(&["send-keys", "-t", "top", "q"]);
    wait_for("the end of the view", || (!terminal.tmux(&["has-session", "-t", "top"]).status.success()).then_some(()));
    let later = counts(&place, &rate, |snapshot| samples(snapshot, 0) > samples(&before["snapshot"], 0));
    assert_eq!(later["hello"]["pid"].as_u64(), Some(rate.0.id().into()), "the stream goes on");
}
