//! Search, opening and settings.

use std::ffi::{c_char, c_double, c_int};
use std::sync::Arc;

use takt_radio::board::Range;

use super::memory::{Pairs, Said, borrowed, close, give, give_text, guarded, handle, lines, pairs, side, text};
use crate::{Args, Device, find};

/// A radio that is open.
pub struct TaktDevice(pub(super) Arc<Device>);

/// From one value to another; from 0 to 0 where there is none.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct TaktRange {
    /// Lowest.
    pub low: c_double,
    /// Highest.
    pub high: c_double,
    /// From one to the next; 0: continuous.
    pub step: c_double,
}

/// Facts of a side of a radio.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct TaktSide {
    /// Channels.
    pub channels: usize,
    /// Not 0: it can be tuned.
    pub is_tuned: usize,
    /// Not 0: its gain can be set.
    pub has_gain: usize,
    /// Frequencies, Hz.
    pub frequency_hz: TaktRange,
    /// Gains, dB.
    pub gain_db: TaktRange,
    /// Width of the analogue band, Hz; 0: not known.
    pub bandwidth_hz: c_double,
}

// `module.cpp` has the same numbers.
const _: () = assert!(size_of::<TaktRange>() == 24 && size_of::<Said>() == 1024);
const _: () = assert!(size_of::<usize>() != 8 || size_of::<TaktSide>() == 80 && size_of::<Pairs>() == 24);

fn range(range: Option<Range>) -> TaktRange {
    range.map_or_else(TaktRange::default, |Range { low, high, step }| TaktRange { low, high, step })
}

/// Radios that suit a search: records of `key=value`, an empty line behind each.
///
/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_find(search: Pairs, found: *mut *mut c_char, said: *mut Said) -> c_int {
    // SAFETY: as the module says, here and below.
    unsafe {
        guarded(said, || {
            let radios = find(&pairs(search)?)?;
            give_text(found, &radios.iter().map(|radio| lines(radio) + "\n").collect::<String>())
        })
    }
}

/// Opens a radio.
///
/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_open(args: Pairs, device: *mut *mut TaktDevice, said: *mut Said) -> c_int {
    // SAFETY: as the module says.
    unsafe {
        guarded(said, || {
            give(device, std::ptr::null_mut())?;
            let opened = Device::open(&Args::read(&pairs(args)?)?)?;
            give(device, handle(TaktDevice(Arc::new(opened))))
        })
    }
}

/// Gives a radio back, once its streams are closed too.
///
/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_close(device: *mut TaktDevice) {
    // SAFETY: as the module says.
    unsafe { close(device) }
}

/// Facts of a radio: lines of `key=value`.
///
/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_about(device: *const TaktDevice, about: *mut *mut c_char, said: *mut Said) -> c_int {
    // SAFETY: as the module says.
    unsafe { guarded(said, || give_text(about, &lines(&borrowed(device)?.0.about()))) }
}

/// Facts of a side.
///
/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_side(
    device: *const TaktDevice,
    direction: c_int,
    facts: *mut TaktSide,
    said: *mut Said,
) -> c_int {
    // SAFETY: as the module says.
    unsafe {
        guarded(said, || {
            let side = borrowed(device)?.0.side(side(direction)?);
            let known = TaktSide {
                channels: side.channels,
                is_tuned: side.frequency_hz.is_some().into(),
                has_gain: side.gain_db.is_some().into(),
                frequency_hz: range(side.frequency_hz),
                gain_db: range(side.gain_db),
                bandwidth_hz: side.bandwidth_hz.unwrap_or(0.0),
            };
            give(facts, known)
        })
    }
}

/// Antennas of a side: a line each.
///
/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_antennas(
    device: *const TaktDevice,
    direction: c_int,
    antennas: *mut *mut c_char,
    said: *mut Said,
) -> c_int {
    // SAFETY: as the module says.
    unsafe {
        guarded(said, || {
            let known = borrowed(device)?.0.side(side(direction)?).antennas;
            give_text(antennas, &known.iter().map(|name| format!("{name}\n")).collect::<String>())
        })
    }
}

/// Rates, the lowest first, samples a second: as many as there is `room` for. Returns how many there are.
///
/// # Safety
/// As the module says; `rates` has room for `room` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_rates(
    device: *const TaktDevice,
    rates: *mut c_double,
    room: usize,
    said: *mut Said,
) -> c_int {
    // SAFETY: as the module says; each number that is written lies within the room.
    unsafe {
        guarded(said, || {
            let known = borrowed(device)?.0.rates_sps();
            for (n, rate) in known.iter().take(room).enumerate() {
                give(rates.wrapping_add(n), *rate)?;
            }
            Ok(known.len() as c_int)
        })
    }
}

/// Rate of a channel, samples a second.
///
/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_rate(
    device: *const TaktDevice,
    direction: c_int,
    channel: usize,
    rate_sps: *mut c_double,
    said: *mut Said,
) -> c_int {
    // SAFETY: as the module says.
    unsafe { guarded(said, || give(rate_sps, borrowed(device)?.0.rate_sps(side(direction)?, channel)?)) }
}

/// Sets the rate of a channel, samples a second.
///
/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_set_rate(
    device: *const TaktDevice,
    direction: c_int,
    channel: usize,
    rate_sps: c_double,
    said: *mut Said,
) -> c_int {
    // SAFETY: as the module says.
    unsafe { guarded(said, || borrowed(device)?.0.set_rate_sps(side(direction)?, channel, rate_sps).map(|()| 0)) }
}

/// Frequency of a channel, Hz; 0: not known.
///
/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_frequency(
    device: *const TaktDevice,
    direction: c_int,
    channel: usize,
    hz: *mut c_double,
    said: *mut Said,
) -> c_int {
    // SAFETY: as the module says.
    unsafe { guarded(said, || give(hz, borrowed(device)?.0.frequency_hz(side(direction)?, channel)?)) }
}

/// Tunes a channel, Hz. `offset_hz`: how far above it the oscillator goes; no number: takt chooses.
///
/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_tune(
    device: *const TaktDevice,
    direction: c_int,
    channel: usize,
    hz: c_double,
    offset_hz: c_double,
    said: *mut Said,
) -> c_int {
    let offset_hz = (!offset_hz.is_nan()).then_some(offset_hz);
    // SAFETY: as the module says.
    unsafe { guarded(said, || borrowed(device)?.0.tune(side(direction)?, channel, hz, offset_hz).map(|()| 0)) }
}

/// Gain of a side, dB.
///
/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_gain(
    device: *const TaktDevice,
    direction: c_int,
    gain_db: *mut c_double,
    said: *mut Said,
) -> c_int {
    // SAFETY: as the module says.
    unsafe { guarded(said, || give(gain_db, borrowed(device)?.0.gain_db(side(direction)?))) }
}

/// Sets the gain of a side, dB.
///
/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_set_gain(
    device: *const TaktDevice,
    direction: c_int,
    gain_db: c_double,
    said: *mut Said,
) -> c_int {
    // SAFETY: as the module says.
    unsafe { guarded(said, || borrowed(device)?.0.set_gain_db(side(direction)?, gain_db).map(|()| 0)) }
}

/// The antenna of a side.
///
/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_antenna(
    device: *const TaktDevice,
    direction: c_int,
    name: *mut *mut c_char,
    said: *mut Said,
) -> c_int {
    // SAFETY: as the module says.
    unsafe { guarded(said, || give_text(name, borrowed(device)?.0.antenna(side(direction)?))) }
}

/// Connects a side to an antenna.
///
/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_set_antenna(
    device: *const TaktDevice,
    direction: c_int,
    name: *const c_char,
    said: *mut Said,
) -> c_int {
    // SAFETY: as the module says.
    unsafe { guarded(said, || borrowed(device)?.0.set_antenna(side(direction)?, text(name)?).map(|()| 0)) }
}

/// The clock that rates divide, Hz.
///
/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_clock(device: *const TaktDevice, clock_hz: *mut c_double, said: *mut Said) -> c_int {
    // SAFETY: as the module says.
    unsafe { guarded(said, || give(clock_hz, f64::from(borrowed(device)?.0.clock().hz()))) }
}

/// The radio's time now, ns.
///
/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_time(device: *const TaktDevice, ns: *mut i64, said: *mut Said) -> c_int {
    // SAFETY: as the module says.
    unsafe { guarded(said, || give(ns, borrowed(device)?.0.time_ns()?)) }
}

/// Sets the radio's time, ns: at once, or at the next edge of its PPS if `at_pps` is not 0.
///
/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_set_time(device: *const TaktDevice, ns: i64, at_pps: c_int, said: *mut Said) -> c_int {
    // SAFETY: as the module says.
    unsafe { guarded(said, || borrowed(device)?.0.set_time_ns(ns, at_pps != 0).map(|()| 0)) }
}

/// Chooses the PPS of the radio.
///
/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_set_time_source(
    device: *const TaktDevice,
    name: *const c_char,
    said: *mut Said,
) -> c_int {
    // SAFETY: as the module says.
    unsafe { guarded(said, || borrowed(device)?.0.set_time_source(text(name)?).map(|()| 0)) }
}

/// Whether the clock follows its reference: 1 or 0.
///
/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_reference_locked(device: *const TaktDevice, said: *mut Said) -> c_int {
    // SAFETY: as the module says.
    unsafe { guarded(said, || Ok(borrowed(device)?.0.reference_locked()?.into())) }
}

/// Whether the oscillator of a side is locked: 1 or 0; 2: it has none, or takt drives none.
///
/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_lo_locked(device: *const TaktDevice, direction: c_int, said: *mut Said) -> c_int {
    // SAFETY: as the module says.
    unsafe { guarded(said, || Ok(borrowed(device)?.0.lo_locked(side(direction)?)?.map_or(2, c_int::from))) }
}
