//! Streams. Buffers come as SoapySDR has them: an array of pointers, one a channel.

use std::ffi::{c_int, c_long, c_void};
use std::sync::Arc;
use std::time::Duration;
use std::{ptr, slice};

use takt_base::{Complex, Complex32};
use takt_radio::board::Side;

use super::TaktDevice;
use super::memory::{Pairs, Said, borrowed, close, give, guarded, handle, pairs, say, side};
use crate::code::flags::{END_BURST, HAS_TIME};
use crate::receiver::CHANNELS;
use crate::{Code, MTU_SAMPLES, ModuleError, Receiver, Room, Samples, StreamArgs, Transmitter};

/// The most samples of a call: more stay where they are.
const MOST_SAMPLES: usize = 1 << 24;

/// A stream that is set up.
pub struct TaktStream {
    way: Way,
    /// Its samples are integers of 16 bits.
    integers: bool,
}

enum Way {
    In(Receiver),
    Out(Transmitter),
}

/// Channels of a stream in memory.
#[derive(Clone, Copy)]
struct Buffers {
    pointers: [*mut c_void; CHANNELS],
    channels: usize,
    samples: usize,
}

impl Buffers {
    /// Without samples, such as for the end of a burst, the pointers are not looked at.
    ///
    /// # Safety
    /// `buffers` is null or has a pointer for each channel.
    unsafe fn of(
        buffers: *const *mut c_void,
        channels: usize,
        samples: usize,
        integers: bool,
    ) -> Result<Buffers, ModuleError> {
        let align = if integers { align_of::<Complex<i16>>() } else { align_of::<Complex32>() };
        let mut pointers = [ptr::dangling_mut::<Complex32>().cast(); CHANNELS];
        let channels = channels.min(CHANNELS);
        if samples > 0 && buffers.is_null() {
            return Err(ModuleError::Null);
        }
        for (n, to) in pointers.iter_mut().take(channels).enumerate().filter(|_| samples > 0) {
            // SAFETY: there is a pointer for each channel, as the caller promises.
            *to = unsafe { *buffers.add(n) };
            if to.is_null() || to.addr() % align != 0 {
                return Err(ModuleError::Null);
            }
        }
        Ok(Buffers { pointers, channels, samples: samples.min(MOST_SAMPLES) })
    }

    /// # Safety
    /// Each pointer has room for the samples of type `T`, which nobody else uses while the slices live. They are initialised, or `T` is
    /// made of integers or floats and is only written.
    unsafe fn rooms<'a, T>(self) -> [&'a mut [T]; CHANNELS] {
        let mut rooms: [&mut [T]; CHANNELS] = Default::default();
        for (room, pointer) in rooms.iter_mut().zip(self.pointers).take(self.channels) {
            // SAFETY: as the caller promises. `of` has refused null and crooked ones, and bounded the length.
            *room = unsafe { slice::from_raw_parts_mut(pointer.cast::<T>(), self.samples) };
        }
        rooms
    }

    /// # Safety
    /// Each pointer has the samples of type `T`, which nobody writes while the slices live.
    unsafe fn samples<'a, T>(self) -> [&'a [T]; CHANNELS] {
        let mut samples: [&[T]; CHANNELS] = Default::default();
        for (samples, pointer) in samples.iter_mut().zip(self.pointers).take(self.channels) {
            // SAFETY: as the caller promises. `of` has refused null and crooked ones, and bounded the length.
            *samples = unsafe { slice::from_raw_parts(pointer.cast::<T>(), self.samples) };
        }
        samples
    }
}

/// Channels of a stream: `count` numbers. None: the first channel.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TaktChannels {
    /// Their numbers.
    pub numbers: *const usize,
    /// How many.
    pub count: usize,
}

impl TaktChannels {
    /// # Safety
    /// `numbers` is null or has `count` numbers.
    unsafe fn read(self) -> Result<Vec<u8>, ModuleError> {
        if self.count == 0 {
            return Ok(vec![0]);
        }
        if self.numbers.is_null() {
            return Err(ModuleError::Null);
        }
        if self.count > CHANNELS {
            return Err(ModuleError::Unsupported { what: "stream more than two channels" });
        }
        // SAFETY: as the caller promises. The length is bounded.
        let numbers = unsafe { slice::from_raw_parts(self.numbers, self.count) };
        Ok(numbers.iter().map(|number| u8::try_from(*number).unwrap_or(u8::MAX)).collect())
    }
}

fn timeout(us: c_long) -> Duration {
    Duration::from_micros(u64::try_from(us).unwrap_or(0))
}

/// Sets a stream up. `integers`: 0 for CF32, otherwise CS16.
///
/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_stream_open(
    device: *const TaktDevice,
    direction: c_int,
    channels: TaktChannels,
    integers: c_int,
    args: Pairs,
    stream: *mut *mut TaktStream,
    said: *mut Said,
) -> c_int {
    // SAFETY: as the module says, here and below.
    unsafe {
        guarded(said, || {
            give(stream, ptr::null_mut())?;
            let (device, args) = (Arc::clone(&borrowed(device)?.0), StreamArgs::read(&pairs(args)?)?);
            let way = match side(direction)? {
                Side::Rx => Way::In(Receiver::new(device, channels.read()?, args)?),
                Side::Tx => Way::Out(Transmitter::new(device, channels.read()?, args)?),
            };
            give(stream, handle(TaktStream { way, integers: integers != 0 }))
        })
    }
}

/// Ends a stream for good.
///
/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_stream_close(stream: *mut TaktStream) {
    // SAFETY: as the module says.
    unsafe { close(stream) }
}

/// Samples that a program is told to pass at once.
#[unsafe(no_mangle)]
pub extern "C" fn takt_stream_mtu() -> usize {
    MTU_SAMPLES
}

/// Activates a stream: at a time, ns, if `flags` say so, and `samples` of them, or without an end if that is 0.
///
/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_stream_activate(
    stream: *const TaktStream,
    flags: c_int,
    time_ns: i64,
    samples: usize,
    said: *mut Said,
) -> c_int {
    let at_ns = (flags & HAS_TIME != 0).then_some(time_ns);
    // SAFETY: as the module says.
    unsafe {
        guarded(said, || {
            match &borrowed(stream)?.way {
                Way::In(receiver) => receiver.activate(at_ns, samples, flags & END_BURST != 0)?,
                Way::Out(_) if at_ns.is_some() || samples > 0 => {
                    return Err(ModuleError::Unsupported {
                        what: "activate a transmit stream at a time: give writeStream the time",
                    });
                }
                Way::Out(transmitter) => transmitter.activate()?,
            }
            Ok(0)
        })
    }
}

/// Deactivates a stream, at once.
///
/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_stream_deactivate(stream: *const TaktStream, flags: c_int, said: *mut Said) -> c_int {
    // SAFETY: as the module says.
    unsafe {
        guarded(said, || {
            if flags & HAS_TIME != 0 {
                return Err(ModuleError::Unsupported { what: "deactivate a stream at a time" });
            }
            match &borrowed(stream)?.way {
                Way::In(receiver) => receiver.deactivate(),
                Way::Out(transmitter) => transmitter.deactivate()?,
            }
            Ok(0)
        })
    }
}

/// Reads samples: how many of each channel came.
///
/// # Safety
/// As the module says; `buffers` has a pointer for each channel of the stream, to room for `samples` samples of its format.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_stream_read(
    stream: *const TaktStream,
    buffers: *const *mut c_void,
    samples: usize,
    flags: *mut c_int,
    time_ns: *mut i64,
    timeout_us: c_long,
    said: *mut Said,
) -> c_int {
    // SAFETY: as the module says. Nobody else uses the buffers during the call.
    unsafe {
        guarded(said, || {
            let stream = borrowed(stream)?;
            let Way::In(receiver) = &stream.way else {
                return Err(ModuleError::Unsupported { what: "read a transmit stream" });
            };
            let buffers = Buffers::of(buffers, receiver.channels(), samples, stream.integers)?;
            let channels = buffers.channels;
            let report = if stream.integers {
                let mut rooms = buffers.rooms::<Complex<i16>>();
                receiver.read(&mut Room::Integers(&mut rooms[..channels]), timeout(timeout_us))
            } else {
                let mut rooms = buffers.rooms::<Complex32>();
                receiver.read(&mut Room::Floats(&mut rooms[..channels]), timeout(timeout_us))
            };
            give(flags, report.flags)?;
            give(time_ns, report.time_ns)?;
            if let Some(error) = &report.error {
                say(said, &error.words());
            }
            Ok(report.result.map_or_else(Code::number, |count| count as c_int))
        })
    }
}

/// Writes samples: how many of each channel were taken. The first leaves at a time, ns, if `flags` say so and a burst begins.
///
/// # Safety
/// As the module says; `buffers` has a pointer for each channel of the stream, to `samples` samples of its format.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_stream_write(
    stream: *const TaktStream,
    buffers: *const *mut c_void,
    samples: usize,
    flags: c_int,
    time_ns: i64,
    timeout_us: c_long,
    said: *mut Said,
) -> c_int {
    let at_ns = (flags & HAS_TIME != 0).then_some(time_ns);
    // SAFETY: as the module says. Nobody writes to the buffers during the call.
    unsafe {
        guarded(said, || {
            let stream = borrowed(stream)?;
            let Way::Out(transmitter) = &stream.way else {
                return Err(ModuleError::Unsupported { what: "write to a receive stream" });
            };
            let buffers = Buffers::of(buffers, transmitter.channels(), samples, stream.integers)?;
            let (channels, ends) = (buffers.channels, flags & END_BURST != 0 && samples <= MOST_SAMPLES);
            let taken = if stream.integers {
                let rows = buffers.samples::<Complex<i16>>();
                transmitter.write(Samples::Integers(&rows[..channels]), at_ns, ends, timeout(timeout_us))?
            } else {
                let rows = buffers.samples::<Complex32>();
                transmitter.write(Samples::Floats(&rows[..channels]), at_ns, ends, timeout(timeout_us))?
            };
            Ok(taken.map_or(Code::Timeout.number(), |count| count as c_int))
        })
    }
}

/// Takes a report about what was sent: 0 if a burst ended, otherwise what went wrong.
///
/// # Safety
/// As the module says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn takt_stream_status(
    stream: *const TaktStream,
    mask: *mut usize,
    flags: *mut c_int,
    time_ns: *mut i64,
    timeout_us: c_long,
    said: *mut Said,
) -> c_int {
    // SAFETY: as the module says.
    unsafe {
        guarded(said, || {
            let Way::Out(transmitter) = &borrowed(stream)?.way else {
                return Err(ModuleError::Unsupported { what: "report about a receive stream: readStream does" });
            };
            let report = transmitter.report(timeout(timeout_us));
            give(mask, report.mask)?;
            give(flags, report.flags)?;
            give(time_ns, report.time_ns)?;
            if let Some(error) = &report.error {
                say(said, &error.words());
            }
            Ok(report.result.map_or_else(Code::number, |()| 0))
        })
    }
}
