//! Recordings: what is written is read, what is wrong is named, what is killed stays readable.

use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use serde_json::{Value, json};
use takt_base::{Complex32, utc_text};
use takt_dsp::file::{Existing, FileError, SampleFormat};
use takt_dsp::sigmf::{Annotation, Capture, Fields, Global, Metadata, Reader, Writer};
use takt_wire::sample::full_scale;

fn meta(path: &Path) -> String {
    format!("{}.sigmf-meta", path.display())
}

fn data(path: &Path) -> String {
    format!("{}.sigmf-data", path.display())
}

/// A recording `x` of this metadata and these data.
fn recording(dir: &Path, meta_text: impl AsRef<[u8]>, data_bytes: usize) -> std::path::PathBuf {
    let path = dir.join("x");
    std::fs::write(meta(&path), meta_text).unwrap();
    std::fs::write(data(&path), vec![0; data_bytes]).unwrap();
    path
}

fn read_all(reader: &mut Reader) -> Vec<Complex32> {
    let mut all = vec![];
    let mut block = [Complex32::default(); 777];
    loop {
        let n = reader.read(&mut block).unwrap();
        if n == 0 {
            return all;
        }
        all.extend_from_slice(&block[..n]);
    }
}

/// Fields that are none of ours, of every JSON type.
fn foreign() -> impl Strategy<Value = Fields> {
    let value = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e300f64..1e300).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(Value::Null),
        Just(json!({ "nested": [1, { "deep": "ü" }] })),
    ];
    prop::collection::btree_map("other:[a-z]{1,6}", value, 0..4).prop_map(|fields| fields.into_iter().collect())
}

fn annotation() -> impl Strategy<Value = Annotation> {
    (any::<u64>(), proptest::option::of(any::<u64>()), foreign())
        .prop_map(|(sample_start, sample_count, other)| Annotation { sample_start, sample_count, other })
}

fn capture() -> impl Strategy<Value = Capture> {
    (any::<Option<u64>>(), proptest::option::of(-1e12f64..1e12), proptest::option::of(any::<u64>()), foreign())
        .prop_map(|(global_index, frequency_hz, time, other)| Capture {
            sample_start: 0,
            global_index,
            frequency_hz,
            datetime: time.map(utc_text),
            header_bytes: 0,
            other,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn a_recording_is_read_as_it_was_written(
        format in prop::sample::select(SampleFormat::ALL.to_vec()),
        rate in proptest::option::of(1e-3f64..1e12), hw in proptest::option::of(".{0,20}"), offset in 0u64..1 << 40, other in foreign(),
        runs in prop::collection::vec((capture(), prop::collection::vec((-128i8..=127, -128i8..=127), 0..500)), 0..5),
        remarks in prop::collection::vec(annotation(), 0..4),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.1");
        let global = Global { sample_rate_sps: rate, hw, offset, other, ..Global::new(format) };
        let mut writer = Writer::create(&path, global.clone(), Existing::Keep).unwrap();
        let mut sent = vec![];
        for (capture, samples) in runs {
            // Values that all three formats hold exactly.
            let one = 1.0 / full_scale::SC8;
            let samples: Vec<_> = samples.iter().map(|(i, q)| Complex32::new(f32::from(*i), f32::from(*q)).scale(one)).collect();
            writer.begin_capture(capture);
            writer.write(&samples).unwrap();
            sent.extend(samples);
        }
        remarks.into_iter().for_each(|remark| writer.annotate(remark));
        let written = writer.finish().unwrap();
        let mut reader = Reader::open(&path).unwrap();
        prop_assert_eq!(reader.metadata(), &written);
        prop_assert_eq!(&reader.metadata().global, &global);
        prop_assert_eq!(reader.samples(), sent.len() as u64);
        prop_assert_eq!(read_all(&mut reader), sent);
    }

    #[test]
    fn no_metadata_file_panics(text in prop_oneof![
        prop::collection::vec(any::<u8>(), 0..200),
        // Almost right: one character of a good file changed, or the file cut off.
        (0usize..400, any::<u8>()).prop_map(|(at, byte)| { let mut text = GOOD.as_bytes().to_vec(); let n = text.len(); text[at % n] = byte; text }),
        (0usize..400).prop_map(|at| GOOD.as_bytes()[..at.min(GOOD.len())].to_vec()),
    ]) {
        let dir = tempfile::tempdir().unwrap();
        let path = recording(dir.path(), text, 16);
        match Reader::open(&path) {
            Ok(reader) => {
                let again = Metadata::parse(&path, reader.metadata().to_json().as_bytes());
                prop_assert_eq!(&again.expect("it was read before"), reader.metadata());
            }
            Err(error) => {
                prop_assert!(!error.fix().is_empty());
                prop_assert!(error.to_string().contains("x.sigmf-"), "{error}");
            }
        }
    }
}

const GOOD: &str = r#"{"global": {"core:datatype": "ci16_le", "core:version": "1.0.0", "core:sample_rate": 1e6, "core:hw": "N200",
  "core:extensions": [{"name": "x", "version": "1", "optional": true}]},
 "captures": [{"core:sample_start": 0, "core:frequency": 9e8, "core:datetime": "2026-01-01T00:00:00Z"}, {"core:sample_start": 3}],
 "annotations": [{"core:sample_start": 1, "core:sample_count": 2, "core:label": "burst"}]}"#;

/// Opens `meta_text` beside `data_bytes` zeros; answers the error, its cause joined on, and its fix.
fn refusal(meta_text: &str, data_bytes: usize) -> (String, String) {
    let dir = tempfile::tempdir().unwrap();
    let path = recording(dir.path(), meta_text, data_bytes);
    let error = Reader::open(&path).expect_err("must be refused");
    let text = error.to_string().replace(&format!("{}/", dir.path().display()), "");
    (text, error.fix().replace(&format!("{}/", dir.path().display()), ""))
}

#[test]
fn a_good_recording_of_another_program_is_read_and_written_back_whole() {
    let dir = tempfile::tempdir().unwrap();
    let path = recording(dir.path(), GOOD, 16);
    let reader = Reader::open(&path).unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&reader.metadata().to_json()).unwrap(),
        serde_json::from_str::<Value>(&GOOD.replace("1e6", "1000000").replace("9e8", "900000000")).unwrap()
    );
    assert_eq!(reader.capture_at(2).unwrap().frequency_hz, Some(9e8));
    assert_eq!(reader.capture_at(3).unwrap().frequency_hz, None);
}

#[test]
fn what_is_wrong_is_named_with_its_place_what_was_expected_and_the_fix() {
    let (text, fix) = refusal(&GOOD.replace("ci16_le", "ci12_le"), 16);
    let expected = "a datatype of SigMF, such as ci16_le, cf32_be or ru8";
    assert_eq!(text, format!(r#"x.sigmf-meta: /global/core:datatype is "ci12_le", not {expected}"#));
    assert_eq!(fix, "name one: c (complex) or r (real), the type of its numbers, and the order of their bytes");
    for (from, to, expected) in [
        ("1e6", "\"fast\"", r#"/global/core:sample_rate is "fast", not a number of samples a second above 0"#),
        ("1e6", "-5", "/global/core:sample_rate is -5, not a number of samples a second above 0"),
        ("\"core:sample_start\": 3", "\"x\": 3", "/captures/1/core:sample_start is missing, not a whole number from 0"),
        (
            "\"core:sample_start\": 3",
            "\"core:sample_start\": 3.5",
            "/captures/1/core:sample_start is 3.5, not a whole number from 0",
        ),
        ("\"core:sample_start\": 0", "\"core:sample_start\": 4", "/captures/1/core:sample_start is 3, not 4 or more"),
        (
            "\"core:hw\"",
            "\"core:num_channels\": 0, \"core:hw\"",
            "/global/core:num_channels is 0, not 1 to 1024 channels",
        ),
        ("\"core:hw\"", "\"core:metadata_only\": 1, \"core:hw\"", "/global/core:metadata_only is 1, not true or false"),
        (
            "\"core:hw\"",
            "\"core:sha512\": \"abc\", \"core:hw\"",
            "/global/core:sha512 is \"abc\", not 128 hexadecimal digits",
        ),
        (
            "\"core:hw\"",
            "\"core:dataset\": \"../x.sigmf-data\", \"core:hw\"",
            "/global/core:dataset is \"../x.sigmf-data\", not the name of a file in the same folder",
        ),
        (
            "\"optional\": true",
            "\"optional\": false",
            r#"/global/core:extensions is {"name": "x", "version": "1", "optional": false}, not extensions that are optional"#,
        ),
        (
            "\"core:hw\"",
            "\"core:offset\": 18446744073709551615, \"core:hw\"",
            "/captures/0/core:sample_start is 0, not 18446744073709551615 or more",
        ),
        (
            "\"core:frequency\"",
            "\"core:header_bytes\": -8, \"core:frequency\"",
            "/captures/0/core:header_bytes is -8, not a whole number from 0",
        ),
    ] {
        assert_eq!(refusal(&GOOD.replace(from, to), 16).0, format!("x.sigmf-meta: {expected}"));
    }
    assert_eq!(refusal("[]", 0).0, "x.sigmf-meta: / is [], not an object");
    assert_eq!(refusal("{}", 0).0, "x.sigmf-meta: /global is missing, not an object");
    assert_eq!(refusal(&GOOD[..100], 16).0, "x.sigmf-meta is not valid JSON at line 1, column 100");
    let (text, fix) = refusal(GOOD, 8);
    assert_eq!(text, "x.sigmf-meta: /captures/1/core:sample_start is 3, not within the 2 samples of x.sigmf-data");
    assert_eq!(fix, "restore the whole data file, or take the later captures away");
    let (text, fix) = refusal(GOOD, 18);
    assert_eq!(text, "x.sigmf-data has 18 bytes and ends within a sample; samples of this format have 4 bytes");
    assert_eq!(fix, "name the right format, or cut the piece off: truncate -s 16 x.sigmf-data");
}

#[test] // their sum wrapped around
fn an_offset_without_room_for_the_samples_behind_it_is_refused() {
    let text = r#"{"global": {"core:datatype": "ci16_le", "core:version": "1.0.0", "core:offset": 18446744073709551615},
        "captures": [{"core:sample_start": 18446744073709551615}]}"#;
    let (text, fix) = refusal(text, 4);
    assert_eq!(text, "x.sigmf-meta: /global/core:offset is 18446744073709551615, not room for 1 samples behind it");
    assert_eq!(fix, "restore the offset of the recording");
}

#[test] // who opened it waited until somebody wrote to it
fn a_pipe_is_refused_before_it_is_opened() {
    let dir = tempfile::tempdir().unwrap();
    let path = recording(dir.path(), GOOD, 16);
    for (file, what) in [(data(&path), "a file of samples"), (meta(&path), "a metadata file")] {
        std::fs::remove_file(&file).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&file).status().unwrap().success());
        let error = Reader::open(&path).unwrap_err();
        assert!(error.to_string().ends_with(&format!("it is a device or a pipe, not {what}")), "{error}");
    }
}

#[test]
fn who_may_not_replace_the_samples_keeps_their_description() {
    let dir = tempfile::tempdir().unwrap();
    let path = recording(dir.path(), GOOD, 0);
    // Not even root writes to a directory.
    std::fs::remove_file(data(&path)).unwrap();
    std::fs::create_dir(data(&path)).unwrap();
    let error = Writer::create(&path, Global::new(SampleFormat::Sc16), Existing::Replace).unwrap_err();
    assert!(matches!(error, FileError::Io { action: "replacing", .. }), "{error}");
    assert_eq!(std::fs::read_to_string(meta(&path)).unwrap(), GOOD);
}

#[test]
fn a_huge_foreign_value_is_quoted_in_part() {
    let (text, _) = refusal(&GOOD.replace("ci16_le", &"é".repeat(100_000)), 16);
    assert!(text.len() < 300, "{}", text.len());
}

#[test]
fn a_missing_file_says_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let error = Reader::open(&dir.path().join("no/such")).unwrap_err();
    assert!(
        matches!(&error, FileError::Io { action: "opening", path, .. } if path.ends_with("such.sigmf-meta")),
        "{error}"
    );
    let fix = error.fix();
    assert!(fix.contains("such.sigmf-meta and "), "{fix}");
    assert!(fix.ends_with(&format!("such.sigmf-data); the directory {} exists", dir.path().display())), "{fix}");
}

#[test]
fn an_existing_recording_is_kept_unless_it_shall_go() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x");
    let mut first = Writer::create(&path, Global::new(SampleFormat::Sc8), Existing::Keep).unwrap();
    let quarter = Complex32::new(32.0 / full_scale::SC8, 0.0);
    first.write(&[quarter; 10]).unwrap();
    first.finish().unwrap();
    for name in [path.clone(), meta(&path).into(), data(&path).into()] {
        let error = Writer::create(&name, Global::new(SampleFormat::Fc32), Existing::Keep).unwrap_err();
        assert!(matches!(error, FileError::Exists { .. }), "{error}");
    }
    assert_eq!(read_all(&mut Reader::open(&path).unwrap()), [quarter; 10]);
    drop(Writer::create(&path, Global::new(SampleFormat::Fc32), Existing::Replace).unwrap());
    assert_eq!(Reader::open(&path).unwrap().samples(), 0);
}

#[test]
fn channels_that_are_written_side_by_side_are_read_one_by_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("three");
    let global = Global { channels: 3, ..Global::new(SampleFormat::Fc32) };
    let mut writer = Writer::create(&path, global, Existing::Keep).unwrap();
    let channel = |n: usize| -> Vec<Complex32> {
        // More than the writer hands to the system at once, and no whole number of that.
        (0..30_011).map(|k| Complex32::new(k as f32 / 30_011.0, n as f32 / 4.0)).collect()
    };
    let all = [channel(0), channel(1), channel(2)];
    let [first, rest]: [Vec<&[Complex32]>; 2] =
        [all.iter().map(|all| &all[..11]).collect(), all.iter().map(|all| &all[11..]).collect()];
    writer.write_channels(&first).unwrap();
    writer.begin_capture(Capture { global_index: Some(500), ..Capture::default() });
    writer.write_channels(&rest).unwrap();
    assert_eq!(writer.samples(), 30_011, "of each channel");
    let metadata = writer.finish().unwrap();
    let begins: Vec<u64> = metadata.captures.iter().map(|capture| capture.sample_start).collect();
    assert_eq!((metadata.global.channels, begins), (3, vec![0, 11]), "captures count samples of all channels");
    for (n, wanted) in all.iter().enumerate() {
        let mut reader = Reader::open_channel(&path, n as u64).unwrap();
        assert_eq!(reader.samples(), 30_011);
        assert_eq!(&read_all(&mut reader), wanted, "channel {n}");
    }
}

#[test]
fn a_run_without_samples_leaves_no_capture() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x");
    let mut writer = Writer::create(&path, Global::new(SampleFormat::Sc16), Existing::Keep).unwrap();
    for frequency in [1e6, 2e6, 3e6] {
        writer.begin_capture(Capture { frequency_hz: Some(frequency), ..Capture::default() });
    }
    writer.write(&[Complex32::default(); 5]).unwrap();
    assert_eq!(writer.finish().unwrap().captures, [Capture { frequency_hz: Some(3e6), ..Capture::default() }]);
}

#[test] // the whole of it was written at each, with news or without
fn a_checkpoint_writes_metadata_only_where_there_is_news_of_them() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x");
    let mut writer = Writer::create(&path, Global::new(SampleFormat::Sc16), Existing::Keep).unwrap();
    let mut is_written = |news: &dyn Fn(&mut Writer)| {
        std::fs::write(meta(&path), "as before").unwrap();
        writer.write(&[Complex32::default(); 5]).unwrap();
        news(&mut writer);
        writer.checkpoint().unwrap();
        std::fs::read(meta(&path)).unwrap() != b"as before"
    };
    assert!(!is_written(&|_| {}));
    assert!(is_written(&|writer| writer.begin_capture(Capture::default())));
    assert!(is_written(&|writer| writer.annotate(Annotation::default())));
    assert!(is_written(&|writer| writer.set_sample_rate(1e6)));
    assert!(!is_written(&|_| {}));
    writer.finish().unwrap();
    assert_eq!(Reader::open(&path).unwrap().samples(), 25);
}

#[test]
fn a_full_disk_is_an_error_and_what_was_written_stays() {
    // A file system of its own, 1 MiB; needs the right to mount, so not everywhere.
    let dir = tempfile::tempdir().unwrap();
    const TEST: &str = "sigmf::a_full_disk_is_an_error_and_what_was_written_stays";
    if std::env::var_os("TAKT_DSP_FULL_DISK").is_none() {
        let inside = |script: &str| {
            let mut command = Command::new("unshare");
            command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]).arg(dir.path());
            command.arg(std::env::current_exe().unwrap()).env("TAKT_DSP_FULL_DISK", dir.path()).output()
        };
        let mount = r#"mount -t tmpfs -o size=1M none "$0""#;
        let can = inside(mount);
        if !can.as_ref().is_ok_and(|output| output.status.success()) {
            return takt_testing::skip(format!("no mount namespace of our own: {can:?}   (user namespaces)"));
        }
        let output = inside(&format!(r#"{mount} && exec "$1" --exact {TEST} --nocapture"#)).unwrap();
        let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        assert!(output.status.success() && out.contains("1 passed"), "{out}{err}");
        return;
    }
    let path = Path::new(&std::env::var_os("TAKT_DSP_FULL_DISK").unwrap()).join("x");
    let mut writer = Writer::create(&path, Global::new(SampleFormat::Fc32), Existing::Keep).unwrap();
    let error =
        (0..1000).find_map(|_| writer.write(&[Complex32::new(0.5, 0.5); 1000]).err()).expect("the disk is full");
    assert!(error.fix().starts_with("free space there"), "{error:?}");
    let kept = writer.samples();
    assert!(kept > 10_000);
    let reader = Reader::open(&path).unwrap();
    assert_eq!(reader.samples(), kept, "every whole sample and no more");
}

/// Others who may write the folder may lay a link in place of a file that the writer makes beside the metadata.
#[test]
fn no_link_that_is_laid_beside_a_recording_is_followed() {
    let (dir, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (path, victim) = (dir.path().join("x"), place.path().join("victim"));
    std::fs::write(&victim, "mine").unwrap();
    for beside in ["x.sigmf-meta.tmp", ".x.sigmf-meta.tmp", "x.tmp"] {
        std::os::unix::fs::symlink(&victim, dir.path().join(beside)).unwrap();
    }
    let mut writer = Writer::create(&path, Global::new(SampleFormat::Sc16), Existing::Keep).unwrap();
    writer.write(&[Complex32::default(); 5]).unwrap();
    writer.checkpoint().unwrap();
    writer.finish().unwrap();
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "mine");
    assert_eq!(Reader::open(&path).unwrap().samples(), 5);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 5, "both files and the links");
}

#[test]
fn a_writer_killed_at_any_time_leaves_a_readable_recording() {
    // This test starts itself as the writer, lets it get somewhere, and kills it.
    if let Some(path) = std::env::var_os("TAKT_DSP_WRITE_UNTIL_KILLED") {
        write_until_killed(Path::new(&path));
    }
    for round in 0..6u64 {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "sigmf::a_writer_killed_at_any_time_leaves_a_readable_recording"])
            .env("TAKT_DSP_WRITE_UNTIL_KILLED", &path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let enough = 40_000 * round + 4;
        let written = || std::fs::metadata(data(&path)).map_or(0, |about| about.len());
        takt_testing::wait_for("the writer", || (written() >= enough).then_some(()));
        child.kill().unwrap();
        child.wait().unwrap();
        let mut reader = Reader::open(&path).unwrap();
        let samples = read_all(&mut reader);
        for capture in &reader.metadata().captures {
            // The first sample of a run says which run it is.
            if let Some(sample) = samples.get(capture.sample_start as usize) {
                let run = capture.global_index.unwrap_or(0) / 10_000;
                assert_eq!((sample.re * full_scale::SC16).round(), (run % 256) as f32, "round {round}");
            }
        }
        // And the next start works.
        drop(Writer::create(&path, Global::new(SampleFormat::Sc16), Existing::Replace).unwrap());
    }
}

fn write_until_killed(path: &Path) -> ! {
    let mut writer = Writer::create(path, Global::new(SampleFormat::Sc16), Existing::Keep).unwrap();
    for run in 0u64.. {
        writer.begin_capture(Capture { global_index: Some(run * 10_000), ..Capture::default() });
        for _ in 0..3 {
            writer.write(&[Complex32::new((run % 256) as f32 / full_scale::SC16, 0.0); 333]).unwrap();
        }
        writer.checkpoint().unwrap();
    }
    unreachable!("killed long before")
}
