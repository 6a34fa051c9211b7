//! The functions of C, called as C++ calls them, and as it must not: each mistake is refused with words, and nothing is touched.
#![allow(unsafe_code, reason = "calls functions of C with pointers to values of this test")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{null, null_mut};

use takt_base::Complex32;
use takt_emulator::emulate::{EmulatorOptions, Radios};
use takt_emulator::n200::N200;
use takt_soapy_module::c::*;
use takt_testing::loopback;

const RX: c_int = 1;
const TX: c_int = 0;
const STREAM_ERROR: c_int = -2;
const NOT_SUPPORTED: c_int = -5;

/// Texts of C that live as long as their pointers are used.
struct Texts {
    texts: Vec<CString>,
    pointers: Vec<*const c_char>,
}

impl Texts {
    fn of(texts: &[&str]) -> Texts {
        let texts: Vec<CString> = texts.iter().map(|text| CString::new(*text).unwrap()).collect();
        let pointers = texts.iter().map(|text| text.as_ptr()).collect();
        Texts { texts, pointers }
    }
}

fn pairs(keys: &Texts, values: &Texts) -> Pairs {
    assert_eq!(keys.texts.len(), values.texts.len());
    Pairs { keys: keys.pointers.as_ptr(), values: values.pointers.as_ptr(), count: keys.texts.len() }
}

const NONE: Pairs = Pairs { keys: null(), values: null(), count: 0 };

fn said() -> Said {
    Said { words: [1; 1024] }
}

fn words(said: &Said) -> &str {
    // SAFETY: the functions end the words with a 0.
    unsafe { CStr::from_ptr(said.words.as_ptr()) }.to_str().unwrap()
}

fn open(host: u8) -> (Radios<N200>, *mut TaktDevice) {
    let addr = loopback(host);
    let radio = Radios::start(&EmulatorOptions { addrs: vec![addr], ..EmulatorOptions::default() }).unwrap();
    let (keys, values) = (Texts::of(&["driver", "addr"]), Texts::of(&["takt", &addr.to_string()]));
    let (mut device, mut said) = (null_mut(), said());
    // SAFETY: all pointers are to values of this function.
    assert_eq!(unsafe { takt_open(pairs(&keys, &values), &mut device, &mut said) }, 0, "{}", words(&said));
    (radio, device)
}

#[test]
fn a_radio_is_opened_streamed_and_closed() {
    let (_radio, device) = open(21);
    let (mut stream, mut said, mut text) = (null_mut(), said(), null_mut());
    let first = TaktChannels { numbers: null(), count: 0 };
    let mut samples = [Complex32::default(); 1000];
    let buffers = [samples.as_mut_ptr().cast::<c_void>()];
    let (mut flags, mut time_ns, mut facts) = (0, -1, TaktSide::default());
    // SAFETY: all pointers are to values of this function, the handles are open, and each is closed once.
    unsafe {
        assert_eq!(takt_about(device, &mut text, &mut said), 0);
        assert!(CStr::from_ptr(text).to_str().unwrap().contains("radio=N200\n"));
        takt_text_free(text);
        assert_eq!(takt_side(device, RX, &mut facts, null_mut()), 0);
        assert_eq!((facts.channels, facts.is_tuned, facts.gain_db.high), (2, 1, 31.5));
        assert_eq!(takt_rates(device, null_mut(), 0, null_mut()), 255);
        assert_eq!(takt_stream_open(device, RX, first, 0, NONE, &mut stream, &mut said), 0, "{}", words(&said));
        assert_eq!(takt_stream_activate(stream, 0, 0, 0, &mut said), 0, "{}", words(&said));
        let read = takt_stream_read(stream, buffers.as_ptr(), 1000, &mut flags, &mut time_ns, 10_000_000, &mut said);
        assert!(read == 1000 && flags == 4 && time_ns > 0, "{read} {flags} {time_ns}");
        assert!(samples.iter().any(|sample| sample.norm() > 0.1), "the emulator's tone");
        assert_eq!(takt_stream_deactivate(stream, 0, null_mut()), 0);
        takt_close(device);
        assert_eq!(takt_stream_activate(stream, 0, 0, 0, &mut said), 0, "its stream keeps the radio");
        takt_stream_close(stream);
    }
}

#[test]
fn a_mistake_is_refused_with_words() {
    let (_radio, device) = open(22);
    let (mut stream, mut said) = (null_mut(), said());
    let (mut flags, mut time_ns) = (0, 0);
    let numbers = [0, 1, 2];
    let first = TaktChannels { numbers: null(), count: 0 };
    let named = |count| TaktChannels { numbers: numbers.as_ptr(), count };
    // SAFETY: as above. Null pointers are what is tried.
    unsafe {
        assert_eq!(takt_open(NONE, null_mut(), &mut said), STREAM_ERROR);
        assert!(words(&said).contains("null pointer"), "{}", words(&said));
        let mut none = null_mut();
        assert_eq!(takt_open(NONE, &mut none, &mut said), STREAM_ERROR);
        assert!(words(&said).contains("addr=ADDRESS") && none.is_null());
        let missing = Pairs { count: 1, ..NONE };
        assert_eq!(takt_open(missing, &mut none, &mut said), STREAM_ERROR);
        let one = [null()];
        let many = Pairs { count: usize::MAX, keys: one.as_ptr(), values: one.as_ptr() };
        assert_eq!(takt_open(many, &mut none, &mut said), STREAM_ERROR);
        assert_eq!(takt_side(null(), RX, null_mut(), null_mut()), STREAM_ERROR);
        assert_eq!(takt_side(device, 7, null_mut(), null_mut()), NOT_SUPPORTED);
        assert_eq!(takt_set_antenna(device, RX, null(), null_mut()), STREAM_ERROR);
        let endless = [b'a' as c_char; 5000];
        assert_eq!(takt_set_antenna(device, RX, endless.as_ptr(), &mut said), STREAM_ERROR);
        assert!(words(&said).contains("4096 bytes"));
        let crooked = [0xC3_u8 as c_char, 0];
        assert_eq!(takt_set_antenna(device, RX, crooked.as_ptr(), null_mut()), STREAM_ERROR);
        assert_eq!(takt_set_rate(device, RX, 9, 1e6, &mut said), STREAM_ERROR);
        assert_eq!(takt_set_rate(device, RX, 0, f64::NAN, &mut said), NOT_SUPPORTED);
        assert_eq!(takt_stream_open(device, RX, named(3), 0, NONE, &mut stream, &mut said), NOT_SUPPORTED);
        assert_eq!(takt_stream_open(device, TX, named(2), 0, NONE, &mut stream, &mut said), STREAM_ERROR);
        let nowhere = TaktChannels { numbers: null(), count: 2 };
        assert_eq!(takt_stream_open(device, RX, nowhere, 0, NONE, &mut stream, &mut said), STREAM_ERROR);
        assert!(stream.is_null());

        assert_eq!(takt_stream_open(device, RX, first, 0, NONE, &mut stream, &mut said), 0);
        assert_eq!(takt_stream_activate(stream, 4, -1, 0, &mut said), -6, "a time before the clock's zero");
        assert_eq!(takt_stream_activate(stream, 2, 0, usize::MAX, &mut said), NOT_SUPPORTED);
        assert_eq!(takt_stream_activate(stream, 0, 0, 0, &mut said), 0, "{}", words(&said));
        assert_eq!(takt_stream_activate(stream, 0, 0, 0, &mut said), STREAM_ERROR, "twice");
        let mut read = |buffers: *const *mut c_void| {
            takt_stream_read(stream, buffers, 10, &mut flags, &mut time_ns, 1000, &mut said)
        };
        assert_eq!(read(null()), STREAM_ERROR);
        assert_eq!(read([null_mut()].as_ptr()), STREAM_ERROR);
        let mut bytes = [0_u64; 20];
        assert_eq!(read([bytes.as_mut_ptr().cast::<u8>().add(1).cast()].as_ptr()), STREAM_ERROR, "crooked");
        assert_eq!(takt_stream_write(stream, null(), 0, 0, 0, 0, null_mut()), NOT_SUPPORTED);
        assert_eq!(takt_stream_deactivate(stream, 4, null_mut()), NOT_SUPPORTED, "at a time");
        takt_stream_close(stream);
        takt_stream_close(null_mut());
        takt_text_free(null_mut());
        takt_close(device);
        takt_close(null_mut());
    }
}

#[test]
fn the_end_of_a_burst_needs_no_samples() {
    let (_radio, device) = open(23);
    let (mut stream, mut said) = (null_mut(), said());
    let first = TaktChannels { numbers: null(), count: 0 };
    let mut samples = [Complex32::new(0.5, 0.0); 500];
    let buffers = [samples.as_mut_ptr().cast::<c_void>()];
    let (mut mask, mut flags, mut time_ns) = (0, 0, 0);
    // SAFETY: as above.
    unsafe {
        assert_eq!(takt_stream_open(device, TX, first, 0, NONE, &mut stream, &mut said), 0);
        assert_eq!(takt_stream_activate(stream, 0, 0, 0, &mut said), 0, "{}", words(&said));
        assert_eq!(takt_stream_write(stream, buffers.as_ptr(), 500, 0, 0, 10_000_000, &mut said), 500);
        assert_eq!(takt_stream_write(stream, null(), 0, 2, 0, 10_000_000, &mut said), 0);
        while flags & 2 == 0 {
            // The samples may have run out before their end came.
            takt_stream_status(stream, &mut mask, &mut flags, &mut time_ns, 10_000_000, &mut said);
        }
        assert_eq!(mask, 1);
        takt_stream_close(stream);
        takt_close(device);
    }
}
