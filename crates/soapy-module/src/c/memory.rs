//! Memory that comes from C and goes to C: texts, pairs, results, handles.

use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use takt_radio::board::Side;

use crate::{Code, ModuleError};

/// The longest text that is read, with its end, bytes.
const MOST_TEXT: usize = 4096;
/// The most pairs of a call.
const MOST_PAIRS: usize = 256;
/// Room for the words of a refusal, bytes.
const SAID: usize = 1024;

/// Words of a refusal: UTF-8, with a 0 at its end.
#[repr(C)]
pub struct Said {
    /// The words.
    pub words: [c_char; SAID],
}

/// Texts in pairs: `count` pointers to texts in each of both arrays.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Pairs {
    /// Keys.
    pub keys: *const *const c_char,
    /// Values, in the same order.
    pub values: *const *const c_char,
    /// How many.
    pub count: usize,
}

/// Runs a call: its result, or the number of its refusal and the words in `said`, which may be null.
///
/// # Safety
/// `said` is null or points to a [`Said`].
pub(super) unsafe fn guarded(said: *mut Said, call: impl FnOnce() -> Result<c_int, ModuleError>) -> c_int {
    let (words, code) = match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(done)) => return done,
        Ok(Err(error)) => (error.words(), error.code()),
        Err(_) => ("takt's driver failed: its message is on standard error".to_owned(), Code::Stream),
    };
    // SAFETY: as the caller promises.
    unsafe { say(said, &words) };
    code.number()
}

/// Writes words, cut at the end of a character if they are too long.
///
/// # Safety
/// `said` is null or points to a [`Said`].
pub(super) unsafe fn say(said: *mut Said, words: &str) {
    // SAFETY: the caller promises that it points to one if it is not null; nobody else has it during the call.
    let Some(said) = (unsafe { said.as_mut() }) else { return };
    let end = (0..SAID.min(words.len() + 1)).rev().find(|end| words.is_char_boundary(*end)).unwrap_or(0);
    said.words = [0; SAID];
    for (to, byte) in said.words.iter_mut().zip(words.as_bytes().iter().take(end).filter(|byte| **byte != 0)) {
        *to = *byte as c_char;
    }
}

/// A text of the caller's.
///
/// # Safety
/// `text` is null or points to bytes that end with a 0, or go on for [`MOST_TEXT`]; they outlive `'a`.
pub(super) unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, ModuleError> {
    if text.is_null() {
        return Err(ModuleError::Null);
    }
    // SAFETY: reads one byte after the other up to the first 0, and never beyond what the caller promises.
    let length =
        (0..MOST_TEXT).find(|at| unsafe { *text.add(*at) } == 0).ok_or(ModuleError::Text { most: MOST_TEXT })?;
    // SAFETY: these bytes and the 0 behind them were read just now.
    let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length + 1) };
    let ended = CStr::from_bytes_with_nul(bytes).map_err(|_| ModuleError::Text { most: MOST_TEXT })?;
    ended.to_str().map_err(|_| ModuleError::Text { most: MOST_TEXT })
}

/// Pairs of the caller's.
///
/// # Safety
/// Both arrays have `count` pointers, each as in [`text`]; all outlive `'a`.
pub(super) unsafe fn pairs<'a>(pairs: Pairs) -> Result<Vec<(&'a str, &'a str)>, ModuleError> {
    if pairs.count == 0 {
        return Ok(Vec::new());
    }
    if pairs.keys.is_null() || pairs.values.is_null() {
        return Err(ModuleError::Null);
    }
    if pairs.count > MOST_PAIRS {
        return Err(ModuleError::Text { most: MOST_TEXT });
    }
    // SAFETY: the caller promises that the arrays are as long as the count, and that each pointer is a text.
    (0..pairs.count).map(|n| unsafe { Ok((text(*pairs.keys.add(n))?, text(*pairs.values.add(n))?)) }).collect()
}

/// Writes a result.
///
/// # Safety
/// `to` is null or points to room for a value.
pub(super) unsafe fn give<T>(to: *mut T, value: T) -> Result<c_int, ModuleError> {
    if to.is_null() {
        return Err(ModuleError::Null);
    }
    // SAFETY: as the caller promises. The room may hold no value yet, so nothing is dropped.
    unsafe { ptr::write(to, value) };
    Ok(0)
}

/// Writes a text that [`takt_text_free`] takes back: lines of `key=value`, or of words; an empty line parts records.
///
/// # Safety
/// As [`give`].
pub(super) unsafe fn give_text(to: *mut *mut c_char, text: &str) -> Result<c_int, ModuleError> {
    // A radio's own words must not end the text early.
    let text = CString::new(text.replace('\0', "")).unwrap_or_default();
    if to.is_null() {
        return Err(ModuleError::Null);
    }
    // SAFETY: as the caller promises.
    unsafe { give(to, text.into_raw()) }
}

/// Lines of `key=value`. A control character of a value, as that of a radio's EEPROM, becomes a space.
pub(super) fn lines(pairs: &[(&str, String)]) -> String {
    let line = |(key, value): &(&str, String)| format!("{key}={}\n", value.replace(char::is_control, " "));
    pairs.iter().map(line).collect()
}

/// Takes a text back.
///
/// # Safety
/// `text` is null, or comes from a function here and was not taken back yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_text_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: `CString::into_raw` made it, as the caller promises.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// Makes a handle.
pub(super) fn handle<T>(value: T) -> *mut T {
    Box::into_raw(Box::new(value))
}

/// Borrows a handle.
///
/// # Safety
/// It is null, or comes from [`handle`] and is not closed before `'a` ends.
pub(super) unsafe fn borrowed<'a, T>(handle: *const T) -> Result<&'a T, ModuleError> {
    // SAFETY: as the caller promises. Handles are shared between threads, and what they point to is `Sync`.
    unsafe { handle.as_ref() }.ok_or(ModuleError::Null)
}

/// Closes a handle, also where closing panics.
///
/// # Safety
/// It is null, or comes from [`handle`], is not closed yet, and nobody uses it.
pub(super) unsafe fn close<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: as the caller promises.
        let value = unsafe { Box::from_raw(handle) };
        // Its message is on standard error, and nothing is left to be done.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
    }
}

/// A side by SoapySDR's number: 0 sends, 1 receives.
pub(super) fn side(direction: c_int) -> Result<Side, ModuleError> {
    match direction {
        0 => Ok(Side::Tx),
        1 => Ok(Side::Rx),
        _ => Err(ModuleError::Unsupported { what: "know this direction" }),
    }
}
