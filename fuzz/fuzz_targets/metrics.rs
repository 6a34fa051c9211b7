#![no_main]
//! Bytes that come in at a node's port for metrics, piece by piece: what is known of a request stays so, whatever comes
//! after it.

use takt_cluster::metrics::request::read;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let whole = read(bytes);
    for came in [bytes.len() / 2, bytes.len().saturating_sub(1)] {
        let early = read(&bytes[..came]);
        assert!(early.is_none() || early == whole, "{early:?} {whole:?}");
    }
});
