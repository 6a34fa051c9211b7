//! Metadata that were made to take memory take a small multiple of their file, when they are read and when they are written.

use std::path::Path;

use takt_base::Complex32;
use takt_dsp::file::{Existing, FileError, SampleFormat};
use takt_dsp::sigmf::{Capture, Global, Metadata, Reader, Writer};

use crate::allocations;

const BYTES: usize = 1 << 20;

const GLOBAL: &str = r#""global":{"core:datatype":"ci16_le","core:version":"1.0.0""#;

/// A document of some 1 MiB: `head`, `item` over and over, `tail`.
fn filled(head: &str, item: &str, tail: &str) -> String {
    format!("{head}{}{tail}", vec![item; (BYTES / (item.len() + 1)).max(1)].join(","))
}

/// Documents, the smallest pieces of JSON in each of the places where takt keeps what it reads.
fn hostile() -> Vec<(&'static str, String)> {
    let start = r#"{"core:sample_start":0}"#;
    let of_global = |head: &str, item, tail: &str| {
        filled(&format!("{{{GLOBAL},{head}"), item, &format!(r#"{tail}}},"captures":[{start}]}}"#))
    };
    let behind = |item, tail: &str| {
        filled(&format!(r#"{{{GLOBAL}}},"captures":[{start}],"annotations":["#), item, &format!("]{tail}}}"))
    };
    // One item, of all the bytes.
    let lists = format!("{}{}", "[".repeat(BYTES / 2), "]".repeat(BYTES / 2));
    vec![
        ("numbers in a list", of_global(r#""x":["#, "0", "]")),
        ("objects of one field", of_global(r#""x":["#, r#"{"":0}"#, "]")),
        ("fields of the globals", of_global("", r#""":0"#, "")),
        ("extensions", of_global(r#""core:extensions":["#, "{}", "]")),
        ("captures", filled(&format!(r#"{{{GLOBAL}}},"captures":["#), start, "]}")),
        ("annotations", behind(start, "")),
        ("annotations of others", behind(r#"{"core:sample_start":0,"":0}"#, "")),
        ("fields beside all", filled(&format!(r#"{{{GLOBAL}}},"captures":[{start}],"#), r#""":[]"#, "}")),
        ("lists in lists", of_global(r#""x":"#, &lists, "")),
    ]
}

#[test]
fn whatever_a_file_holds_reading_it_takes_a_few_times_its_length() {
    for (what, text) in hostile() {
        let (read, most) = allocations::most_bytes(|| Metadata::parse(Path::new("x"), text.as_bytes()));
        read.unwrap_or_else(|error| panic!("{what}: {error}"));
        let times = most as f64 / text.len() as f64;
        assert!(times < 4.5, "{what}: {times:.1} times the {} bytes of the file", text.len());
    }
}

#[test]
fn what_was_read_is_written_in_its_length() {
    let (_, text) = hostile().swap_remove(4);
    let read = Metadata::parse(Path::new("x"), text.as_bytes()).expect("read");
    let (written, most) = allocations::most_bytes(|| read.to_json());
    assert_eq!(Metadata::parse(Path::new("x"), written.as_bytes()).expect("read again"), read);
    let times = most as f64 / written.len() as f64;
    assert!(times < 3.5, "{times:.1} times the {} bytes that are written", written.len());
}

#[test]
fn metadata_that_no_reader_would_take_are_refused_before_they_are_put_together() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("x");
    let mut writer = Writer::create(&path, Global::new(SampleFormat::Sc16), Existing::Keep).expect("created");
    writer.write(&[Complex32::default(); 5]).expect("written");
    // As text every letter takes six.
    let other = [("x", "\u{1}".repeat(11 << 20))].into_iter().collect();
    writer.begin_capture(Capture { other, ..Capture::default() });
    let (refused, most) = allocations::most_bytes(|| writer.checkpoint());
    let error = refused.expect_err("66 MiB");
    assert!(matches!(error, FileError::Unexpected { .. }) && error.fix().starts_with("record less"), "{error}");
    assert!(most < 200 << 20, "{most} bytes");
    // The checkpoint before holds.
    assert_eq!(Reader::open(&path).expect("readable").metadata().captures.len(), 1);
}
