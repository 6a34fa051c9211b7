//! Radios of a file that receive each other, with takt as their hosts.

use std::fs;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use takt_base::Complex32;
use takt_testing::loopback;

use crate::software::{TAKT, has, interrupt, json, number, refusal, text};
use crate::support::{Ended, Place, report};

/// Two N200 and an X310; what the first sends, the others receive.
fn air(first: u8, more: &str) -> String {
    let radio = |n: u8, name: &str, model: &str| {
        format!("[[radio]]\nname = \"{name}\"\nmodel = \"{model}\"\naddr = \"{}\"\n", loopback(first + n))
    };
    let radios = [radio(0, "base", "n200"), radio(1, "phone", "n200"), radio(2, "wide", "x310")].concat();
    format!("{radios}{more}")
}

fn takt(args: &[&str]) -> Output {
    Command::new(TAKT).args(args).stdin(Stdio::null()).output().expect("takt starts")
}

/// A recording of a tone a tenth of the rate above its centre.
fn recording(place: &Place, samples: usize) -> String {
    let path = place.path("tone");
    let mut tone = vec![Complex32::default(); samples];
    takt_dsp::tone(takt_dsp::Rotation::from_turns(0.1), 0.5, takt_base::Tick(0), 1, &mut tone);
    let words = tone.iter().flat_map(|x| [x.re, x.im]).flat_map(|x| ((x * 32_767.0) as i16).to_le_bytes());
    fs::write(path.with_extension("sigmf-data"), words.collect::<Vec<u8>>()).expect("it is ours");
    let meta = serde_json::json!({
        "global": { "core:datatype": "ci16_le", "core:version": "1.0.0", "core:sample_rate": 1_000_000 },
        "captures": [{ "core:sample_start": 0, "core:frequency": 900_000_000u64 }],
        "annotations": [],
    });
    fs::write(path.with_extension("sigmf-meta"), meta.to_string()).expect("it is ours");
    path.display().to_string()
}

fn recorded(path: &str) -> Vec<Complex32> {
    let bytes = fs::read(format!("{path}.sigmf-data")).expect("a recording");
    let word = |x: &[u8]| f32::from(i16::from_le_bytes([x[0], x[1]])) / 32_767.0;
    bytes.chunks_exact(4).map(|x| Complex32::new(word(&x[..2]), word(&x[2..]))).collect()
}

#[test]
fn what_one_radio_plays_another_records() {
    let links = "[[link]]\nfrom = \"base\"\nto = \"phone\"\ngain_db = -6.0\ndelay_ns = 1234.5\n\
                 [[link]]\nfrom = \"base\"\nto = \"wide\"\n";
    let place = Place::with("air.toml", &air(90, links));
    let file = place.path("air.toml");
    let (program, mut stdout, line) =
        Ended::ready(Command::new(TAKT).args(["emulate", "--json", "--config"]).arg(&file).stderr(Stdio::null()));
    let addrs = [90, 91, 92].map(|host| loopback(host).to_string());
    assert_eq!(line.trim(), format!("ready n200 {}", addrs[0]));
    let mut lines = String::new();
    for wanted in [format!("ready n200 {}\n", addrs[1]), format!("ready x310 {}\n", addrs[2])] {
        lines.clear();
        std::io::BufRead::read_line(&mut stdout, &mut lines).expect("text");
        assert_eq!(lines, wanted);
    }
    let found = text(&takt(&["find", "--addr", &addrs[2]]).stdout);
    has(&found, &["X310 serial EMU003 name wide"]);

    let (sent, received) = (recording(&place, 300_000), place.path("received").display().to_string());
    // It records until it has enough, whenever the other begins.
    let args =
        ["record", &received, "--addr", &addrs[1], "--rate", "1M", "--freq", "900M", "--samples", "4000000", "--json"];
    let hears =
        Command::new(TAKT).args(args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("takt starts");
    takt_testing::wait_for("samples to flow", || {
        fs::metadata(format!("{received}.sigmf-data")).ok().filter(|file| file.len() > 400_000)
    });
    let played = takt(&["play", &sent, "--addr", &addrs[0], "--json"]);
    assert_eq!(number(&json(&played), "/samples"), 300_000, "{}", report(&played));
    let out = hears.wait_with_output().expect("a child");
    assert!(out.status.code().is_some_and(|code| code < 2), "{}", report(&out));

    interrupt(&program.0);
    let mut said = String::new();
    std::io::Read::read_to_string(&mut stdout, &mut said).expect("text");
    let summary: Value = serde_json::from_str(&said).expect("one document");
    let names: Vec<_> = summary["devices"].as_array().expect("devices").iter().map(|device| &device["name"]).collect();
    assert_eq!(names, ["base", "phone", "wide"]);
    assert_eq!(summary["devices"][2]["model"], "x310");
    assert_eq!(number(&summary, "/devices/0/tx/samples"), 300_000);
    assert!(number(&summary, "/devices/1/rx/0/samples") >= 4_000_000);
    let late = number(&summary, "/devices/0/signals/sink/late_samples");
    let overwritten = number(&summary, "/devices/1/signals/source/lost_samples");
    let lost = number(&json(&out), "/lost_samples");
    let underflows = number(&json(&played), "/underflows");
    if late + overwritten + lost + underflows > 0 {
        let air = format!("{late} samples late in the air, {overwritten} overwritten there");
        let why = format!("{air}, {lost} lost by the recorder, {underflows} underflows");
        return takt_testing::not_judged(why);
    }

    let samples = recorded(&received);
    let begun = samples.iter().position(|x| x.norm() > 0.1).expect("it was received");
    assert!(samples[..begun.saturating_sub(100)].iter().all(|x| x.norm() < 1e-3), "silence before");
    let inside = &samples[begun + 1000..begun + 299_000];
    let tone = takt_dsp::estimate_tone(inside).expect("a tone");
    assert!((tone.frequency * 1e6 - 100e3).abs() < 1.0, "{tone:?}");
    assert!((tone.amplitude - 0.5 * 10f64.powf(-0.3)).abs() < 1e-3, "{tone:?}");
    // The same tone in each sample: nothing is missing and nothing is there twice.
    let turn = inside[0] / inside[0].norm();
    let off = inside.iter().enumerate().map(|(n, x)| {
        let meant = Complex32::from_polar(tone.amplitude as f32, std::f32::consts::TAU * (n % 10) as f32 / 10.0) * turn;
        (x - meant).norm()
    });
    let worst = off.fold(0.0, f32::max);
    assert!(worst < 2e-3, "{worst}: {summary}");
    assert!(samples[(begun + 300_100)..].iter().all(|x| x.norm() < 1e-3), "silence after");
}

#[test]
fn a_mistake_is_drawn_at_its_place() {
    let place = Place::with("air.toml", &air(94, "[[link]]\nfrom = \"bsae\"\nto = \"phone\"\n"));
    let out = place.takt(&["emulate", "--config", "air.toml"]);
    assert_eq!(out.status.code(), Some(2));
    has(&text(&out.stderr), &["no radio is called `bsae`", "air.toml:14:8", "did you mean `base`?"]);
}

#[test]
fn what_belongs_into_the_file_is_refused_beside_it() {
    let place = Place::with("air.toml", &air(97, ""));
    let refused = |args: &[&str]| refusal(&place.takt(&[&["emulate", "--config", "air.toml"], args].concat()));
    has(&refused(&["--source", "tone"]), &["--source describes a radio", "below its [[radio]]"]);
    has(&refused(&["--board", "sbx"]), &["--board describes a radio"]);
    has(&text(&place.takt(&["emulate", "n200", "--config", "air.toml"]).stderr), &["cannot be used with"]);
    let nowhere = refusal(&place.takt(&["emulate", "--config", "nowhere.toml"]));
    let folder = fs::canonicalize(place.path(".")).expect("a folder");
    let missing = format!("there is no file {}", folder.join("nowhere.toml").display());
    has(&nowhere, &["can't read the air nowhere.toml", "docs/reference/air.md", "folder scenes", &missing]);
}
