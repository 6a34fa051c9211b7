//! Recordings exchanged with the reference implementation, the `sigmf` package of `PyPI`.
//!
//! Uses the first Python that has it: `$TAKT_SIGMF_PYTHON`, `target/peers/python/bin/python3` of the checkout, `python3`.
//! Without one the tests are skipped. To get one:
//! `python3 -m venv target/peers/python && target/peers/python/bin/pip install sigmf`

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use takt_base::{Complex32, utc_ns, utc_text};
use takt_dsp::file::{Existing, SampleFormat};
use takt_dsp::sigmf::{Annotation, Capture, Checksum, Global, Reader, Writer};
use takt_wire::sample::full_scale;

fn python() -> Option<PathBuf> {
    let named = std::env::var_os("TAKT_SIGMF_PYTHON").map(PathBuf::from);
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/peers/python/bin/python3");
    let found = named.into_iter().chain([own, "python3".into()]).find(|python| {
        Command::new(python).args(["-c", "import sigmf, numpy"]).output().is_ok_and(|output| output.status.success())
    });
    if found.is_none() {
        takt_testing::skip(format!("no Python has the package sigmf   (the head of {})", file!()));
    }
    found
}

fn peer(python: &Path, action: &str, names: &[PathBuf]) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/together/sigmf_peer.py");
    let output = Command::new(python).arg(script).arg(action).args(names).output().unwrap();
    assert!(output.status.success(), "{action}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_reference_implementation_reads_what_we_write() {
    let Some(python) = python() else { return };
    let dir = tempfile::tempdir().unwrap();
    let samples: Vec<_> = (-8..8).map(|k| Complex32::new(k as f32 / 8.0, -0.5)).collect();
    let names: Vec<_> = SampleFormat::ALL.iter().map(|format| dir.path().join(format.name())).collect();
    let instant = 1_795_000_000_123_456_789;
    for (format, name) in SampleFormat::ALL.into_iter().zip(&names) {
        let global = Global { sample_rate_sps: Some(25e6), hw: Some("N200".to_owned()), ..Global::new(format) };
        let mut writer = Writer::create(name, global, Existing::Keep).unwrap();
        let first = Capture { frequency_hz: Some(2.4e9), datetime: Some(utc_text(instant)), ..Capture::default() };
        let stamped = [("takt:tick", 42)].into_iter().collect();
        writer.begin_capture(Capture { other: stamped, ..first });
        writer.write(&samples[..10]).unwrap();
        writer.begin_capture(Capture { global_index: Some(5000), ..Capture::default() });
        writer.write(&samples[10..]).unwrap();
        let label = [("core:label", "here")].into_iter().collect();
        writer.annotate(Annotation { sample_start: 3, sample_count: Some(4), other: label });
        // It holds the data against the hash.
        assert!(writer.seal().unwrap().global.sha512.is_some());
    }
    let observed = peer(&python, "check", &names);
    for (index, format) in SampleFormat::ALL.into_iter().enumerate() {
        let observed = &observed[index];
        let read: Vec<[f32; 2]> = serde_json::from_value(observed["samples"].clone()).unwrap();
        let read: Vec<_> = read.into_iter().map(|[re, im]| Complex32::new(re, im)).collect();
        // It counts 32768 as 1.0, and takt 32767, as UHD does.
        let off = read.iter().zip(&samples).map(|(read, sample)| (read - sample).norm()).fold(0.0, f32::max);
        assert!(read.len() == samples.len() && off < 1e-4, "{format}: off by {off}");
        assert_eq!((observed["sample_rate"].as_f64(), observed["hw"].as_str()), (Some(25e6), Some("N200")));
        assert_eq!(observed["captures"][1]["core:global_index"], 5000);
        assert_eq!(observed["captures"][0]["core:datetime"].as_str().and_then(utc_ns), Some(instant));
        assert_eq!(observed["annotations"][0]["core:label"], "here");
        assert_eq!(observed["extensions"][0]["name"], "takt");
    }
}

#[test]
fn we_read_what_the_reference_implementation_writes() {
    let Some(python) = python() else { return };
    let dir = tempfile::tempdir().unwrap();
    let name = dir.path().join("theirs");
    peer(&python, "write", std::slice::from_ref(&name));
    let mut reader = Reader::open(&name).unwrap();
    let mut samples = [Complex32::default(); 9];
    assert_eq!(reader.read(&mut samples).unwrap(), 8);
    assert_eq!(samples[7], Complex32::new(14.0, 15.0).scale(1.0 / full_scale::SC16));
    let metadata = reader.metadata();
    assert_eq!(metadata.global.sample_rate_sps, Some(48000.5));
    assert_eq!(metadata.captures[1].frequency_hz, Some(916e6));
    assert_eq!(metadata.captures[0].datetime.as_deref().and_then(utc_ns), Some(1_795_223_880_250_000_000));
    assert_eq!((metadata.annotations[0].sample_start, metadata.annotations[0].sample_count), (2, Some(3)));
    assert_eq!(metadata.annotations[0].other.get("core:freq_lower_edge").and_then(|edge| edge.as_f64()), Some(914.9e6));
}

/// Every datatype, one and several channels, archives, other names, headers and trailers, pieces of recordings, no captures,
/// metadata that call themselves alone.
#[test]
fn we_read_every_form_that_the_reference_implementation_writes() {
    let Some(python) = python() else { return };
    let dir = tempfile::tempdir().unwrap();
    let made = peer(&python, "forms", &[dir.path().to_owned()]);
    let made = made[0].as_array().unwrap();
    assert_eq!(made.len(), 28 * 2 + 4);
    for form in made {
        let channels: Vec<Vec<[f32; 2]>> = serde_json::from_value(form["channels"].clone()).unwrap();
        for name in form["names"].as_array().unwrap() {
            let name = Path::new(name.as_str().unwrap());
            for (channel, expected) in channels.iter().enumerate() {
                let mut reader = Reader::open_channel(name, channel as u64).unwrap();
                assert_eq!(reader.begins(), form["begins"].as_u64().unwrap(), "{name:?}");
                let mut samples = vec![Complex32::default(); expected.len() + 1];
                assert_eq!(reader.read(&mut samples).unwrap(), expected.len(), "{name:?}");
                let off = samples.iter().zip(expected).map(|(x, [re, im])| (x - Complex32::new(*re, *im)).norm());
                // Its full scale is 128 and 32768; and 0 of its unsigned bytes is 128, which no converter's is.
                let is_byte = name.file_name().is_some_and(|name| name.to_string_lossy().contains("u8"));
                let off = off.fold(0.0, f32::max);
                assert!(off < if is_byte { 2e-2 } else { 1e-4 }, "{name:?}, channel {channel}: off by {off}");
            }
            assert_ne!(Reader::open(name).unwrap().check().unwrap(), Checksum::Unchecked);
        }
    }
}
