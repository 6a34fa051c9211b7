//! `takt top` beside processes that work: as text, as JSON, in a terminal; and what a killed one leaves.

#[path = "support/json_page.rs"]
mod json_page;
mod support;

use std::process::{Command, Stdio};

use json_page::agrees;
use serde_json::Value;
use support::{Ended, Place, has, json, refusal, text};
use takt_host::testing::TestRun;
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
    let outputs = snapshot["outputs"].as_array().expect("outputs that can be tapped");
    assert!(outputs.contains(&"modulator.out".into()) && outputs.contains(&"channel.out".into()), "{outputs:?}");
    assert!(snapshot["components"][0]["load_share"].as_f64() > Some(0.0));
    let frame = text(&place.takt(&["top", &run.0.id().to_string(), "--once"]).stdout);
    has(&frame, &["takt run", "slots", "lateness", "components"]);
}

#[test]
fn a_share_is_shown_with_the_radios_that_programs_see() {
    let place = Place::with(
        "shared",
        &format!(
            "[front_end]\nrate = 5e6\nfrequency = 900e6\n[[radio]]\nname = \"low\"\naddr = \"{}\"\nrate = 250e3\n",
            loopback(6)
        ),
    );
    let (addr, radio) = (loopback(5).to_string(), loopback(6).to_string());
    let (_emulator, _, line) = Ended::ready(place.command(&["emulate", "n200", "--addr", &addr]).stderr(Stdio::null()));
    assert!(line.starts_with("ready "), "{line}");
    let share = ["share", "--addr", &addr, "--radios", "shared", "--block", "1ms"];
    let (share, _, line) = Ended::ready(place.command(&share).stderr(Stdio::null()));
    assert!(line.starts_with("ready low"), "{line}");
    let _rate = start(&place, &["rate", "--addr", &radio, "--rx", "250k", "--duration", "1h", "--warm-up", "50ms"]);
    // The front end, and both directions of the radio.
    let uses = |snapshot: &Value| samples(snapshot, 1) > Some(0) && snapshot["spectra"][0]["dbfs"].is_array();
    let document = counts(&place, &share, uses);
    agrees(&["takt-top"], std::slice::from_ref(&document));
    assert_eq!(document["hello"]["kind"], "share");
    let radios = document["snapshot"]["radios"].as_array().expect("a list");
    let names: Vec<_> =
        radios.iter().map(|one| (one["name"].as_str().unwrap_or(""), one["direction"].as_str())).collect();
    let low = format!("low {radio}");
    assert!(names[0].0.starts_with("front end N2") && names[0].1 == Some("rx"), "{names:?}");
    assert_eq!(names[1..], [(low.as_str(), Some("rx")), (low.as_str(), Some("tx"))]);
    assert_eq!((&radios[0]["rate_sps"], &radios[1]["rate_sps"]), (&5e6.into(), &250e3.into()));
    assert!(radios[1]["letters"]["O"].is_u64() && radios[2]["letters"]["U"].is_u64(), "{radios:#?}");
    let frame = text(&place.takt(&["top", &share.0.id().to_string(), "--once"]).stdout);
    has(&frame, &["takt share", "front end", &low]);
}

#[test]
fn the_spectrum_of_a_software_radio_is_what_it_gives_to_its_host() {
    let place = Place::with("empty", "");
    let addr = loopback(7).to_string();
    let emulate = ["emulate", "n200", "--addr", &addr, "--source", "tone:offset=250k,amplitude=0.5"];
    let (radio, _, line) = Ended::ready(place.command(&emulate).stderr(Stdio::null()));
    assert!(line.starts_with("ready "), "{line}");
    let _rate = start(&place, &["rate", "--addr", &addr, "--rx", "1M", "--duration", "1h", "--warm-up", "50ms"]);
    let document = counts(&place, &radio, |snapshot| snapshot["spectra"][0]["dbfs"].is_array());
    let spectrum = &document["snapshot"]["spectra"][0];
    assert_eq!((spectrum["span_hz"].as_f64(), spectrum["name"].as_str()), (Some(1e6), Some("N200 EMU001 rx 0")));
    let bins: Vec<f64> = spectrum["dbfs"].as_array().expect("bins").iter().filter_map(Value::as_f64).collect();
    let highest = (0..bins.len()).max_by(|&a, &b| bins[a].total_cmp(&bins[b]));
    // A quarter of the rate above the middle.
    assert_eq!(highest, Some(512 + 256));
}

#[test]
fn an_end_of_a_link_is_shown_with_its_radio() {
    if !rustix::process::geteuid().is_root() {
        return skip("an interface needs root   (sudo)");
    }
    let place = Place::with("air", &link_air());
    let mut run = TestRun::new();
    let namespace = run.namespace("test-top");
    let call = |command: &str, args: &[&str]| {
        let mut called = place.call("ip");
        called.args(["netns", "exec", &namespace, command]).args(args).stderr(Stdio::null());
        called
    };
    assert!(call("ip", &["link", "set", "lo", "up"]).status().expect("ip").success());
    let air = ["emulate", "--config", "air", "--speed", "0.1"];
    let (_radios, _, line) = Ended::ready(&mut call(support::TAKT, &air));
    assert!(line.starts_with("ready "), "{line}");
    let end = |what: &str, addr: &str| {
        let mut command = call(support::TAKT, &["link", what, "--addr", addr, "--tun", what, "--policy", "other"]);
        Ended(command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("takt starts"))
    };
    let (enb, ue) = (end("enb", "127.0.0.2"), end("ue", "127.0.0.3"));
    let attached = |snapshot: &Value| snapshot["links"][0]["state"] == "attached" && samples(snapshot, 0) > Some(0);
    let [up, down] = [counts(&place, &enb, attached), counts(&place, &ue, attached)];
    agrees(&["takt-top"], &[up.clone(), down.clone()]);
    let name = |document: &Value| document["snapshot"]["links"][0]["name"].as_str().map(str::to_owned);
    assert_eq!([name(&up), name(&down)], [Some("uplink, terminal 1".into()), Some("downlink".into())]);
    let radios = |document: &Value| document["snapshot"]["radios"].as_array().map(Vec::len);
    assert_eq!([radios(&up), radios(&down)], [Some(2), Some(2)], "{up:#}");
    assert!(up["snapshot"]["radios"][1]["letters"]["L"].is_u64(), "{up:#}");
}

/// Two X310 that receive each other, as those of `takt link demo` do.
fn link_air() -> String {
    let radio = |name: &str, addr: &str| {
        format!(
            "[[radio]]\nname = \"{name}\"\nmodel = \"x310\"\naddr = \"{addr}\"\nreceive = {{ noise_dbfs = -64.0 }}\n"
        )
    };
    let link = |from: &str, to: &str| {
        format!("[[link]]\nfrom = \"{from}:0\"\nto = \"{to}:0\"\ngain_db = -20.0\ndelay_ns = 1000.0\n")
    };
    let radios = radio("enb", "127.0.0.2") + &radio("ue", "127.0.0.3");
    format!("latency_us = 500\n{radios}{}{}", link("enb", "ue"), link("ue", "enb"))
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
