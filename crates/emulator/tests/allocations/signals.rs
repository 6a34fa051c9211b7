//! Sources and sinks opened from their text: files made and read, what is wrong with them, and no allocation on the way.

use serde_json::Value;
use takt_base::{Complex32, Tick, TickRate};
use takt_dsp::estimate_tone;
use takt_dsp::file::{Existing, SampleFormat, SampleWriter};
use takt_dsp::sigmf::{Capture, Global, Reader, Writer};
use takt_emulator::n200::Signals;
use takt_emulator::signals::{self, Setting, SignalReport, Watch};
use takt_emulator::sink::BurstEdges;
use takt_wire::sample::full_scale;

use crate::allocations;

fn open(source: &str, sink: &str) -> Result<(Signals, Watch), signals::SignalError> {
    let setting = Setting {
        clock: TickRate::from_hz(100_000_000).unwrap(),
        hw: "N200 EMU001".to_owned(),
        utc_at_tick_0_ns: Some(1_795_223_880_000_000_000),
    };
    signals::open(&source.parse().unwrap(), &sink.parse().unwrap(), &setting)
}

fn receive(signals: &mut Signals, receiver: usize, first: u64, step: u32, n: usize) -> Vec<Complex32> {
    let mut out = vec![Complex32::new(9.0, 9.0); n];
    signals.sources[receiver].fill(Tick(first), step, &mut out);
    out
}

fn burst(signals: &mut Signals, first: u64, step: u32, value: f32, n: usize) {
    let samples = vec![Complex32::new(value, -value); n];
    signals.sink.take(Tick(first), step, &samples, BurstEdges { start: true, end: true });
}

#[test]
fn bursts_become_captures_with_their_time_and_frequency() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tx");
    let (mut signals, watch) = open("silence", &format!("sigmf:path={},format=sc16", path.display())).unwrap();
    signals.sink.tuned(Tick(0), 2.4e9);
    burst(&mut signals, 100_000_000, 100, 0.25, 1000);
    burst(&mut signals, 100_100_000, 100, 0.5, 10); // at once: the same capture
    burst(&mut signals, 200_000_050, 100, 0.75, 5);
    signals.sink.tuned(Tick(0), 2.5e9);
    burst(&mut signals, 200_000_550, 100, 2.0, 5);
    burst(&mut signals, 300_000_000, 4, 0.125, 7); // another rate: another recording
    signals.sink.take(Tick(300_000_028), 4, &[], BurstEdges { start: false, end: true });
    drop(signals);
    let report = watch.finish();
    let SignalReport { sink, .. } = &report;
    assert_eq!((sink.samples, sink.dropped_samples, sink.clipped_samples, sink.files), (1027, 0, 5, 2), "{report:?}");
    assert_eq!(sink.error, None);

    let mut recording = Reader::open(&path).unwrap();
    let metadata = recording.metadata().clone();
    assert_eq!(metadata.global.sample_rate_sps, Some(1e6));
    assert_eq!(metadata.global.hw.as_deref(), Some("N200 EMU001"));
    let captures: Vec<_> = metadata
        .captures
        .iter()
        .map(|c| (c.sample_start, c.other.get("takt:tick").unwrap().as_u64().unwrap()))
        .collect();
    assert_eq!(captures, [(0, 100_000_000), (1010, 200_000_050), (1015, 200_000_550)]);
    assert_eq!(metadata.captures[0].datetime.as_deref(), Some("2026-11-21T01:18:01.000000000Z"));
    assert_eq!(metadata.captures[1].datetime.as_deref(), Some("2026-11-21T01:18:02.000000500Z"));
    assert_eq!(metadata.captures[1].frequency_hz, Some(2.4e9));
    assert_eq!(metadata.captures[2].frequency_hz, Some(2.5e9));
    assert_eq!(metadata.captures[1].global_index, Some(2_000_000));
    recording.seek(1009);
    let mut samples = [Complex32::default(); 2];
    recording.read(&mut samples).unwrap();
    let near = |sample: Complex32, value: f32| (sample - Complex32::new(value, -value)).norm() < 1e-4;
    assert!(near(samples[0], 0.5) && near(samples[1], 0.75), "{samples:?}");

    let second = Reader::open(&dir.path().join("tx-2")).unwrap();
    assert_eq!((second.samples(), second.metadata().global.sample_rate_sps), (7, Some(25e6)));
}

#[test]
fn a_file_gets_the_bursts_one_after_the_other() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tx.fc32");
    let (mut signals, watch) = open("silence", &format!("file:{}", path.display())).unwrap();
    burst(&mut signals, 1000, 4, 0.25, 2);
    burst(&mut signals, 9000, 8, 0.5, 1);
    drop(signals);
    assert_eq!(watch.finish().sink.samples, 3);
    let words: Vec<f32> =
        std::fs::read(&path).unwrap().as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
    assert_eq!(words, [0.25, -0.25, 0.25, -0.25, 0.5, -0.5]);
}

#[test]
fn a_recording_of_a_transmitter_is_received_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x");
    let (mut signals, watch) = open("tone:offset=50k,amplitude=0.5", &format!("sigmf:{}", path.display())).unwrap();
    let tone = receive(&mut signals, 0, 0, 100, 5000);
    signals.sink.take(Tick(0), 100, &tone, BurstEdges { start: true, end: true });
    drop(signals);
    let _ = watch.finish();
    let (mut signals, _watch) = open(&format!("sigmf:{},loop", path.display()), "null").unwrap();
    // 50 kHz fits into 5000 samples at 1 MS/s a whole number of times, so the loop has no seam.
    for (step, first) in [(100, 1_000_000), (4, 2_000_000), (250, 3_000_000)] {
        let found = estimate_tone(&receive(&mut signals, 1, first, step, 3000)).unwrap();
        assert!((found.frequency * 100e6 / f64::from(step) - 50e3).abs() < 1.0, "step {step}: {found:?}");
        assert!((found.amplitude - 0.5).abs() < 1e-3, "step {step}: {found:?}");
    }
}

#[test]
fn a_loopback_is_received_and_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.sc16");
    let (mut signals, watch) = open("loopback", &format!("file:{}", path.display())).unwrap();
    burst(&mut signals, 5000, 4, 0.25, 3);
    for receiver in 0..2 {
        let received = receive(&mut signals, receiver, 4996, 4, 5);
        assert_eq!(received.iter().map(|x| x.re).collect::<Vec<_>>(), [0.0, 0.25, 0.25, 0.25, 0.0]);
    }
    drop(signals);
    assert_eq!(watch.finish().sink.samples, 3);
}

#[test]
fn raw_words_are_marked_as_such() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.sc16");
    std::fs::write(&path, [1, 0, 0, 0x80]).unwrap();
    let (mut signals, _watch) = open(&format!("file:{},raw,loop", path.display()), "null").unwrap();
    assert!(signals.sources[0].raw());
    assert_eq!(receive(&mut signals, 0, 0, 2, 2), [Complex32::new(1.0, -32_768.0).scale(1.0 / full_scale::SC16); 2]);
    assert!(!open("tone", "null").unwrap().0.sources[0].raw());
    assert!(!open("tone", "null").unwrap().0.sink.wants_samples());
}

#[test]
fn what_cannot_be_opened_says_why_and_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let here = dir.path().display();
    let refused = |source: &str, sink: &str| {
        let error = open(source, sink).map(|_| ()).expect_err("must be refused");
        let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        (format!("{error}: {cause}").replace(&format!("{here}/"), ""), error.fix().replace(&here.to_string(), "HERE"))
    };
    let (text, fix) = refused(&format!("file:{here}/none.sc16"), "null");
    assert_eq!(text, "source file:path=none.sc16,format=sc16 can't be used: opening none.sc16 failed");
    assert_eq!(fix, "check the name; the directory HERE exists");
    let (text, _) = refused("tone", &format!("sigmf:{here}/no/where"));
    assert_eq!(text, "sink sigmf:path=no/where,format=fc32 can't be used: creating no/where.sigmf-data failed");
    std::fs::write(dir.path().join("cut.sc16"), [0; 7]).unwrap();
    let (text, fix) = refused(&format!("file:{here}/cut.sc16"), "null");
    assert_eq!(
        text,
        "source file:path=cut.sc16,format=sc16 can't be used: cut.sc16 has 7 bytes and ends within a sample; \
         samples of this format have 4 bytes"
    );
    assert_eq!(fix, "name the right format, or cut the piece off: truncate -s 4 HERE/cut.sc16");
    let (text, _) = refused(&format!("file:{here},format=sc16"), "null");
    assert!(text.ends_with("it is a directory, not a file of samples"), "{text}");

    let make = |rate| {
        let path = dir.path().join("r");
        let global = Global { sample_rate_sps: rate, ..Global::new(SampleFormat::Sc16) };
        let mut writer = Writer::create(&path, global, Existing::Replace).unwrap();
        writer.begin_capture(Capture::default());
        writer.write(&[Complex32::default()]).unwrap();
        writer.seal().unwrap();
        format!("sigmf:{}", path.display())
    };
    let (text, fix) = refused(&make(Some(1.92e6)), "null");
    assert_eq!(
        text,
        "source sigmf:path=r has 1920000 S/s, which is not the clock of 100000000 Hz divided by a whole number up to \
         512: "
    );
    assert!(fix.starts_with("resample the recording to 1886792.45"), "{fix}");
    let (text, _) = refused(&make(None), "null");
    assert_eq!(text, "source sigmf:path=r has no sample rate: r names none: ");
    assert!(open(&make(Some(3_571_428.57)), "null").is_ok(), "a rate written with nine digits");
    std::fs::write(dir.path().join("r.sigmf-data"), [1; 4]).unwrap();
    let (text, fix) = refused(&format!("sigmf:{here}/r"), "null");
    assert!(text.starts_with("source sigmf:path=r can't be used: r.sigmf-meta: /global/core:sha512 is "), "{text}");
    assert_eq!(fix, "restore the data file; if it was changed on purpose, take the field away");
}

/// A recording of another program in the folder: `global` beside datatype and rate, its captures and its data.
fn foreign(dir: &std::path::Path, datatype: &str, global: &str, captures: &str, data: &[u8]) -> String {
    let meta = format!(
        r#"{{"global": {{"core:datatype": "{datatype}", "core:version": "1.2.0", "core:sample_rate": 1e6{global}}},
            "captures": [{captures}], "annotations": []}}"#
    );
    std::fs::write(dir.join("f.sigmf-meta"), meta).unwrap();
    std::fs::write(dir.join("f.sigmf-data"), data).unwrap();
    format!("sigmf:{}", dir.join("f").display())
}

#[test]
fn a_recording_is_received_from_its_first_capture_on_in_the_channel_that_is_named() {
    let dir = tempfile::tempdir().unwrap();
    // Real numbers of 16 bits, the higher byte first; two channels. Four samples lie before the first capture.
    let data: Vec<u8> = (0..20u16).flat_map(u16::to_be_bytes).collect();
    let start = r#"{"core:sample_start": 4}"#;
    let source = foreign(dir.path(), "ri16_be", r#", "core:num_channels": 2"#, start, &data);
    for (channel, first) in [(0, 8), (1, 9)] {
        let (mut signals, _watch) = open(&format!("{source},channel={channel}"), "null").unwrap();
        let received = receive(&mut signals, 0, 1000, 100, 7);
        let integers: Vec<i32> = received.iter().map(|x| (x.re * 32_767.0).round() as i32).collect();
        assert_eq!(integers, [first, first + 2, first + 4, first + 6, first + 8, first + 10, 0], "channel {channel}");
        assert!(received.iter().all(|x| x.im == 0.0));
    }
    let error = open(&format!("{source},channel=2"), "null").map(|_| ()).unwrap_err();
    assert_eq!(error.fix(), "name a channel from 0 to 1");
}

#[test] // it was a source of silence
fn a_recording_without_samples_is_no_source() {
    let dir = tempfile::tempdir().unwrap();
    for (captures, data) in [("", 0), (r#"{"core:sample_start": 0}"#, 0), (r#"{"core:sample_start": 3}"#, 12)] {
        let source = foreign(dir.path(), "ci16_le", "", captures, &vec![0; data]);
        assert!(open(&source, "null").is_err(), "{captures}");
    }
    let source = foreign(dir.path(), "cu8", "", "", &[255; 8]);
    let (mut signals, _watch) = open(&source, "null").unwrap();
    assert_eq!(receive(&mut signals, 0, 0, 100, 1), [Complex32::new(1.0, 1.0)], "no capture is one");
}

#[test]
fn a_recording_is_whole_once_its_watch_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tx");
    for samples in [1000, 2000] {
        let (mut signals, watch) = open("silence", &format!("sigmf:path={},format=sc16", path.display())).unwrap();
        burst(&mut signals, 100_000_000, 100, 0.25, samples);
        drop(watch);
        let recording = Reader::open(&path).unwrap();
        assert_eq!(recording.metadata().captures.len(), 1);
        assert_eq!(recording.samples(), samples as u64);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "nothing is left beside both files");
    }
}

#[test]
fn a_report_is_a_document() {
    let (signals, watch) = open("tone", "null").unwrap();
    drop(signals);
    let document: Value = serde_json::to_value(watch.finish()).unwrap();
    assert_eq!(document["source"]["starved_samples"], 0);
    assert_eq!(serde_json::from_value::<SignalReport>(document).unwrap(), SignalReport::default());
}

#[test]
fn nothing_is_allocated_while_samples_flow() {
    let dir = tempfile::tempdir().unwrap();
    let here = dir.path().display();
    let ramp: Vec<_> = (0..100_000).map(|k| Complex32::new(k as f32 / 1e5, 0.0)).collect();
    SampleWriter::create(&dir.path().join("x.sc16"), SampleFormat::Sc16, Existing::Keep).unwrap().write(&ramp).unwrap();
    let global = Global { sample_rate_sps: Some(1e6), ..Global::new(SampleFormat::Sc16) };
    let mut writer = Writer::create(&dir.path().join("r"), global, Existing::Keep).unwrap();
    writer.write(&ramp).unwrap();
    writer.finish().unwrap();
    for source in [
        "silence",
        "tone",
        "noise",
        "counter",
        "loopback",
        &format!("file:{here}/x.sc16,loop"),
        &format!("sigmf:{here}/r,loop"),
    ] {
        for sink in ["null", &format!("file:{here}/y.sc16"), &format!("sigmf:{here}/y")] {
            let (mut signals, _watch) = open(source, sink).unwrap();
            let mut out = vec![Complex32::default(); 726];
            let before = allocations::count();
            for k in 0..100u64 {
                let (tx_step, rx_step) = if k < 50 { (4, 4) } else { (10, 25) };
                let first = k * 726 * 25;
                signals.sink.tuned(Tick(first), 1e9);
                signals.sources[0].tuned(Tick(first + 5000), 1e9 + if k % 10 > 5 { 1e5 } else { 0.0 });
                signals.sink.take(Tick(first), tx_step, &ramp[..363], BurstEdges { start: true, end: k % 3 == 0 });
                // Retuned while it plays.
                signals.sink.tuned(Tick(first + 997), 1e9 + 2e5);
                let rest = Tick(first + 100 * u64::from(tx_step));
                signals.sink.take(rest, tx_step, &ramp[100..363], BurstEdges { start: false, end: k % 3 == 0 });
                signals.sink.passed(Tick(first + 363 * u64::from(tx_step)));
                let _ = signals.sources[1].lookahead(Tick(first), rx_step);
                signals.sources[1].fill(Tick(first), rx_step, &mut out);
                signals.sources[0].fill(Tick(first), rx_step, &mut out);
            }
            assert_eq!(allocations::count() - before, 0, "{source} {sink}");
        }
    }
}
