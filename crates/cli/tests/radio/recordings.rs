//! Recordings as other programs write them, played; and what the field's own package says of those that takt makes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json as document};
use takt_testing::{loopback, skip};

use crate::software::{Radio, has, json, number, refusal, takt, text};
use crate::watched::Unless::Delayed;
use crate::watched::untrue;
use crate::witness::{Run, judge};

/// Samples of two bytes that a recording has, unless a test says otherwise: a tenth of a second.
const SAMPLES: usize = 100_000;

/// Two files of samples `ci8`: with these fields of the globals and these captures.
fn recording(folder: &Path, global: Value, captures: Value, data: &[u8]) -> String {
    let mut all = document!({ "core:datatype": "ci8", "core:version": "1.2.0", "core:sample_rate": 1_000_000 });
    if let (Value::Object(all), Value::Object(more)) = (&mut all, global) {
        all.extend(more);
    }
    let meta = document!({ "global": all, "captures": captures, "annotations": [] });
    fs::write(folder.join("foreign.sigmf-meta"), meta.to_string()).expect("it is ours");
    fs::write(folder.join("foreign.sigmf-data"), data).expect("it is ours");
    folder.join("foreign").display().to_string()
}

fn usual(folder: &Path, captures: Value) -> String {
    recording(folder, document!({}), captures, &vec![32; 2 * SAMPLES])
}

#[test] // F4: 0 samples, and "Yes: all of it left in time"
fn without_captures_all_of_a_recording_is_played() {
    let folder = tempfile::tempdir().expect("a folder");
    let radio = Radio::at(130, &[]);
    let played = json(&radio.takt(&["play", &usual(folder.path(), document!([])), "--json"]));
    assert_eq!((number(&played, "/samples"), number(&played, "/bursts")), (SAMPLES as u64, 1), "{played:#}");
    assert_eq!((&played["tuned"], &played["untuned_hz"]), (&Value::Null, &Value::Null));
    let said = text(&radio.takt(&["play", &usual(folder.path(), document!([]))]).stdout);
    has(&said, &["  untuned   neither the recording nor --freq names a frequency"]);
}

#[test] // F5: the samples before it, at whatever frequency the radio had
fn a_recording_is_played_from_its_first_capture_on_at_its_frequency() {
    let folder = tempfile::tempdir().expect("a folder");
    let captures = document!([{ "core:sample_start": 1000, "core:frequency": 900e6 }]);
    let played = json(&Radio::at(131, &[]).takt(&["play", &usual(folder.path(), captures), "--json"]));
    assert_eq!(number(&played, "/samples"), SAMPLES as u64 - 1000, "{played:#}");
    assert_eq!(number(&played, "/skipped_samples"), 1000);
    assert!((played["tuned"]["actual_hz"].as_f64().expect("a number") - 900e6).abs() < 1.0);
}

fn two_frequencies() -> Value {
    document!([
        { "core:sample_start": 0, "core:frequency": 900e6 },
        { "core:sample_start": SAMPLES / 2, "core:frequency": 950e6 },
    ])
}

#[test] // F6: all of it at the first frequency, without a word
fn an_n200_is_retuned_at_the_first_sample_of_a_capture() {
    let folder = tempfile::tempdir().expect("a folder");
    let (file, sent) = (usual(folder.path(), two_frequencies()), folder.path().join("sent"));
    let sink = format!("sigmf:{}", sent.display());
    let args = ["play", &file, "--times", "2", "--json"];
    // The first commands are sent 100 ms ahead of the first sample.
    judge(
        Duration::from_millis(50),
        || Run::of(Radio::at(132, &["--sink", &sink]), &args),
        |run| {
            let played = run.document();
            assert_eq!(number(&played, "/retunes"), 3, "{played:#}");
            let in_time = run.out.status.code() == Some(0);
            if in_time {
                check_frequencies(&sent);
            }
            untrue(Delayed, &[("all left in time, at its frequency", in_time)])
        },
    );
    // One that the user names holds for all of it.
    let played = json(&Radio::at(132, &[]).takt(&["play", &file, "--freq", "1G", "--json"]));
    assert_eq!(number(&played, "/retunes"), 0, "{played:#}");
    let refused = refusal(&Radio::at(132, &["--board", "wbx"]).takt(&[
        "play",
        &usual(
            folder.path(),
            document!([{ "core:sample_start": 0, "core:frequency": 900e6 },
            { "core:sample_start": 9, "core:frequency": 3e9 }]),
        ),
    ]));
    has(&refused, &["frequency in Hz 3000000000 is outside"]);
}

/// The emulator's own account: when the samples left, and around which frequency.
fn check_frequencies(sent: &Path) {
    let meta = fs::read(sent.with_extension("sigmf-meta")).expect("a recording");
    let meta: Value = serde_json::from_slice(&meta).expect("JSON");
    let captures = meta["captures"].as_array().expect("a list");
    let place = |capture: &Value| {
        let hz = capture["core:frequency"].as_f64().expect("a number");
        (number(capture, "/core:sample_start"), (hz / 1e3).round() as u64)
    };
    // A burst that goes on at the same frequency may be a capture of its own.
    let mut places: Vec<(u64, u64)> = captures.iter().map(place).collect();
    places.dedup_by_key(|(_, khz)| *khz);
    let half = SAMPLES as u64 / 2;
    let expected = [(0, 900_000), (half, 950_000), (2 * half, 900_000), (3 * half, 950_000)];
    assert_eq!(places, expected, "{meta:#}");
}

#[test] // F6
fn an_x310_that_takt_cannot_tune_plays_one_frequency_and_says_so_and_refuses_two() {
    let folder = tempfile::tempdir().expect("a folder");
    let radio = Radio::of("x310", 133, &[]);
    let refused = refusal(&radio.takt(&["play", &usual(folder.path(), two_frequencies())]));
    let why = "capture 0 is at 900 MHz, capture 1 at 950 MHz, and takt can't tune an X310";
    has(&refused, &[why, "fix   play it to an N200", "or    take core:frequency out of the captures"]);
    let one = usual(folder.path(), document!([{ "core:sample_start": 0, "core:frequency": 900e6 }]));
    let played = json(&radio.takt(&["play", &one, "--json"]));
    assert_eq!((played["untuned_hz"].as_f64(), &played["tuned"]), (Some(900e6), &Value::Null), "{played:#}");
    let said = text(&radio.takt(&["play", &one]).stdout);
    has(&said, &["  untuned   the recording names 900 MHz, to which takt can't tune an X310"]);
}

#[test] // F7: a peak of 6, and "Yes" without a word
fn samples_beyond_full_scale_are_counted_and_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let loud = |n: usize| if n.is_multiple_of(100) { [6.0f32, 0.0] } else { [0.5, -1.0] };
    let data: Vec<u8> = (0..SAMPLES).flat_map(loud).flat_map(f32::to_le_bytes).collect();
    let start = document!([{ "core:sample_start": 0 }]);
    let file = recording(folder.path(), document!({ "core:datatype": "cf32_le" }), start, &data);
    let radio = Radio::at(134, &[]);
    let played = json(&radio.takt(&["play", &file, "--times", "2", "--json"]));
    assert_eq!(number(&played, "/clipped_samples"), 2 * SAMPLES as u64 / 100, "{played:#}");
    has(&text(&radio.takt(&["play", &file]).stdout), &[&format!("clipped {}", SAMPLES / 100)]);
}

#[test]
fn an_archive_and_a_channel_of_several_are_played() {
    let folder = tempfile::tempdir().expect("a folder");
    let start = document!([{ "core:sample_start": 0 }]);
    let two = document!({ "core:num_channels": 2, "core:datatype": "ru16_be" });
    recording(folder.path(), two, start, &vec![128; 4 * SAMPLES]);
    // As `tar` makes it, in a folder of its own.
    fs::create_dir(folder.path().join("a")).expect("a folder");
    for kind in ["meta", "data"] {
        let name = format!("foreign.sigmf-{kind}");
        fs::rename(folder.path().join(&name), folder.path().join("a").join(&name)).expect("it is ours");
    }
    fs::rename(folder.path().join("a"), folder.path().join("foreign")).expect("it is ours");
    let archive = folder.path().join("foreign.sigmf").display().to_string();
    let tar = Command::new("tar").current_dir(folder.path()).args(["-cf", &archive, "foreign"]).status();
    assert!(tar.expect("tar").success());
    let radio = Radio::at(135, &[]);
    let played = json(&radio.takt(&["play", &archive, "--channel", "1", "--json"]));
    let counts = ["/samples", "/channel", "/channels"].map(|key| number(&played, key));
    assert_eq!(counts, [SAMPLES as u64, 1, 2], "{played:#}");
    has(&refusal(&radio.takt(&["play", &archive, "--channel", "2"])), &["name a channel from 0 to 1"]);
}

#[test] // F8: one message for several causes, and "1 sent, 0 acknowledged ... Yes" of an empty one
fn what_cannot_be_played_is_refused_before_a_radio_is_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    let nobody = loopback(136).to_string();
    let refused = |file: &str| refusal(&takt(&["play", file, "--addr", &nobody]));
    let start = || document!([{ "core:sample_start": 0 }]);
    has(&refused(&recording(folder.path(), document!({}), start(), &[])), &["it is empty, not a file with samples"]);
    let past = document!([{ "core:sample_start": 2 }]);
    has(&refused(&recording(folder.path(), document!({}), past, &[0; 4])), &["not one of the 2 samples of"]);
    let other = document!({ "core:sha512": "0".repeat(128) });
    has(&refused(&recording(folder.path(), other, start(), &[0; 4])), &["core:sha512", "restore the data file"]);
    let alone = recording(folder.path(), document!({ "core:metadata_only": true }), start(), &[]);
    fs::remove_file(format!("{alone}.sigmf-data")).expect("it is ours");
    has(&refused(&alone), &["a description alone (core:metadata_only)", "ask whoever published it"]);
    let gone = folder.path().join("gone.sigmf").display().to_string();
    has(&refused(&gone), &[&format!("there is no file {gone}\n")]);
}

/// A Python with the package `sigmf`; see crates/dsp/tests/together/sigmf_peer.rs.
fn python() -> Option<PathBuf> {
    let named = std::env::var_os("TAKT_SIGMF_PYTHON").map(PathBuf::from);
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers/python/bin/python3");
    let mut all = named.into_iter().chain([own, "python3".into()]);
    all.find(|python| Command::new(python).args(["-c", "import sigmf"]).output().is_ok_and(|out| out.status.success()))
}

/// It holds the data against `core:sha512`, the metadata against the schema, and takes fields of a namespace that is not declared
/// for an error here.
const JUDGE: &str = r#"
import json, sys, warnings, sigmf
warnings.filterwarnings("error", message=".*undeclared.*")
recording = sigmf.sigmffile.fromfile(sys.argv[1])
recording.validate()
names = [extension["name"] for extension in recording.get_global_field("core:extensions")]
print(json.dumps({"samples": recording.sample_count, "extensions": names}))
"#;

/// Channels, samples of each, and whether they are alike, as the field's package reads them.
const CHANNELS: &str = r#"
import json, sys, sigmf
recording = sigmf.sigmffile.fromfile(sys.argv[1])
recording.validate()
samples = recording.read_samples()
print(json.dumps([recording.num_channels, list(samples.shape), bool((samples[:, 0] == samples[:, 1]).all())]))
"#;

/// Both slots of an X310 hear a counter: a sample of both channels is twice the same number, and the next one is one more.
#[test]
fn two_channels_are_one_recording_for_the_fields_own_package_and_for_takt() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("two").display().to_string();
    let radio = Radio::of("x310", 139, &["--source", "counter"]);
    let args = ["record", &file, "--rate", "1M", "--samples", "20000", "--channels", "0,1", "--json"];
    let recorded = json(&radio.takt(&args));
    let samples = number(&recorded, "/samples");
    assert_eq!(number(&recorded, "/channels"), 2, "{recorded:#}");
    assert_eq!(samples + number(&recorded, "/lost_samples"), 20_000, "of each channel: {recorded:#}");
    let data = fs::read(format!("{file}.sigmf-data")).expect("data");
    assert_eq!(data.len() as u64, samples * 2 * 4, "two channels of sc16");
    let alike = data.chunks_exact(8).all(|both| both[..4] == both[4..]);
    assert!(alike && data[..4] != data[8..12], "a sample of each channel in turn");
    let meta = fs::read_to_string(format!("{file}.sigmf-meta")).expect("metadata");
    has(&meta, &["\"core:num_channels\": 2"]);
    let Some(python) = python() else {
        return skip("no Python has the package sigmf   (the head of crates/dsp/tests/together/sigmf_peer.rs)");
    };
    let read = Command::new(&python).args(["-c", CHANNELS, &format!("{file}.sigmf-meta")]).output().expect("Python");
    assert!(read.status.success(), "{}", text(&read.stderr));
    let read: Value = serde_json::from_slice(&read.stdout).expect("JSON");
    assert_eq!(read, document!([2, [samples, 2], true]));
}

#[test] // `takt:tick` stood there without a declaration, and nothing had a hash
fn what_is_recorded_passes_the_check_of_the_fields_own_package() {
    let Some(python) = python() else {
        return skip("no Python has the package sigmf   (the head of crates/dsp/tests/together/sigmf_peer.rs)");
    };
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run").display().to_string();
    for radio in [Radio::at(137, &[]), Radio::of("x310", 138, &[])] {
        let args = ["record", &file, "--rate", "1M", "--samples", "20000", "--replace", "--json"];
        let recorded = json(&radio.takt(&args));
        let meta = fs::read_to_string(format!("{file}.sigmf-meta")).expect("metadata");
        has(&meta, &["\"core:sha512\": \"", "\"takt:tick\": "]);
        let judged = Command::new(&python).args(["-c", JUDGE, &format!("{file}.sigmf-meta")]).output().expect("Python");
        assert!(judged.status.success(), "{}", text(&judged.stderr));
        let said: Value = serde_json::from_slice(&judged.stdout).expect("JSON");
        assert_eq!(said, document!({ "samples": number(&recorded, "/samples"), "extensions": ["takt"] }));
    }
}
