#![no_main]
//! A recording in an archive of anyone's: it is refused, or read to its end with no more memory than it has bytes.

use std::path::PathBuf;
use std::sync::LazyLock;

use takt_dsp::sigmf::Reader;

/// Archives are read where they lie, so each input becomes a file, in memory.
static FILE: LazyLock<PathBuf> = LazyLock::new(|| PathBuf::from(format!("/dev/shm/takt-fuzz-{}.sigmf", std::process::id())));

libfuzzer_sys::fuzz_target!(|archive: &[u8]| {
    std::fs::write(&*FILE, archive).expect("room in memory");
    let Ok(mut reader) = Reader::open(&FILE) else { return };
    assert!(reader.samples() <= archive.len() as u64, "a sample takes a byte or more");
    let (mut samples, mut out) = (0, [Default::default(); 64]);
    loop {
        match reader.read(&mut out).expect("a file in memory can be read") {
            0 => break,
            read => samples += read as u64,
        }
    }
    assert_eq!(samples, reader.samples());
    let _ = (reader.require_samples(), reader.check());
});
