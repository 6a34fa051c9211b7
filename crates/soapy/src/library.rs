//! The devices of SoapySDR's library, through the crate `soapysdr`: all that is unsafe is in there.
//!
//! A driver is a module that the library loads, and may print on standard error by itself, as UHD's does. A message through
//! SoapySDR's log becomes a warning of takt's, if it is one, and is dropped otherwise.

use std::collections::BTreeMap;
use std::sync::Once;
use std::time::Duration;

use soapysdr::{Args, Direction, ErrorCode};
use takt_base::{Complex, Complex32};
use takt_radio::board::{Range, Side};

use crate::error::{OWN_DRIVER, call};
use crate::{
    About, Device, DeviceSpec, Fault, FaultKind, FoundDevice, RxPort, SoapyError, Status, StreamFormat, TxPort,
};

/// Flags of a report about what was sent (SoapySDR/Constants.h).
const END_BURST: i32 = 1 << 1;
const HAS_TIME: i32 = 1 << 2;
/// Full scale of 16 bits, as takt has it everywhere, where a driver's own samples are of another kind.
const FULL_SCALE: f64 = 32_767.0;
/// How SoapySDR says that no module has a driver of that name.
const NO_MODULE: &str = "no match";

pub(crate) fn find(spec: &DeviceSpec) -> Result<Vec<FoundDevice>, SoapyError> {
    relay_messages();
    let found = soapysdr::enumerate(args(spec)).map_err(Fault::from).map_err(call("looking for devices"))?;
    let others = found.iter().map(map).filter(|keys| keys.get("driver").is_none_or(|driver| driver != OWN_DRIVER));
    Ok(others.map(FoundDevice::of).collect())
}

pub(crate) fn open(spec: &DeviceSpec) -> Result<Box<dyn Device>, SoapyError> {
    if spec.is_empty() {
        return Err(SoapyError::Unnamed { found: names() });
    }
    relay_messages();
    match soapysdr::Device::new(args(spec)) {
        Ok(device) => Ok(Box::new(Library(device))),
        Err(error) => Err(refused(spec, error)),
    }
}

fn refused(spec: &DeviceSpec, error: soapysdr::Error) -> SoapyError {
    let found = names();
    match spec.get("driver") {
        Some(driver) if error.message.contains(NO_MODULE) => SoapyError::NoModule { driver: driver.to_owned(), found },
        _ => SoapyError::NoDevice { device: spec.to_string(), found, fault: error.into() },
    }
}

/// The devices that there are, as a user names them.
fn names() -> Vec<String> {
    find(&DeviceSpec::default()).unwrap_or_default().into_iter().map(|found| found.device).collect()
}

fn args(spec: &DeviceSpec) -> Args {
    spec.pairs().collect()
}

fn map(args: &Args) -> BTreeMap<String, String> {
    args.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

/// A stream's own arguments. Drivers pass over keys that they do not know.
fn stream_args(wire: Option<&str>) -> Args {
    wire.map(|wire| ("WIRE", wire)).into_iter().collect()
}

const fn direction(side: Side) -> Direction {
    match side {
        Side::Rx => Direction::Rx,
        Side::Tx => Direction::Tx,
    }
}

fn range(range: &soapysdr::Range) -> Range {
    Range { low: range.minimum, high: range.maximum, step: range.step }
}

fn micros(wait: Duration) -> i64 {
    i64::try_from(wait.as_micros()).unwrap_or(i64::MAX)
}

impl From<soapysdr::Error> for Fault {
    fn from(error: soapysdr::Error) -> Fault {
        let kind = match error.code {
            ErrorCode::Timeout => FaultKind::Timeout,
            ErrorCode::StreamError => FaultKind::Stream,
            ErrorCode::Corruption => FaultKind::Corruption,
            ErrorCode::Overflow => FaultKind::Overflow,
            ErrorCode::NotSupported => FaultKind::NotSupported,
            ErrorCode::TimeError => FaultKind::Time,
            ErrorCode::Underflow => FaultKind::Underflow,
            _ => FaultKind::Other,
        };
        Fault::new(kind, &error.message)
    }
}

/// Warnings of SoapySDR's as warnings of takt's.
struct Relay;

impl log::Log for Relay {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= log::Level::Warn && metadata.target().starts_with("soapysdr")
    }

    fn log(&self, record: &log::Record<'_>) {
        if self.enabled(record.metadata()) {
            tracing::warn!("SoapySDR: {}", record.args());
        }
    }

    fn flush(&self) {}
}

fn relay_messages() {
    static RELAY: Relay = Relay;
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // A logger that another part of the process has set keeps its place.
        if log::set_logger(&RELAY).is_ok() {
            log::set_max_level(log::LevelFilter::Warn);
        }
        soapysdr::configure_logging();
    });
}

/// A device of the library's.
struct Library(soapysdr::Device);

impl Library {
    /// The worth of a step of 16 bits: the driver's own full scale if its samples are such.
    fn full_scale(&self, side: Side, channel: usize) -> f64 {
        let native = self.0.native_stream_format(direction(side), channel);
        let own = native.ok().filter(|(format, _)| *format == soapysdr::Format::CS16).map(|(_, full_scale)| full_scale);
        own.filter(|full_scale| full_scale.is_finite() && *full_scale >= 1.0).unwrap_or(FULL_SCALE)
    }
}

impl Device for Library {
    fn about(&self) -> Result<About, Fault> {
        let (driver, hardware) = (self.0.driver_key()?, self.0.hardware_key()?);
        Ok(About { driver, hardware, info: map(&self.0.hardware_info()?) })
    }

    fn channels(&self, side: Side) -> Result<usize, Fault> {
        Ok(self.0.num_channels(direction(side))?)
    }

    fn full_duplex(&self, side: Side, channel: usize) -> Result<bool, Fault> {
        Ok(self.0.full_duplex(direction(side), channel)?)
    }

    fn formats(&self, side: Side, channel: usize) -> Result<Vec<String>, Fault> {
        let formats = self.0.stream_formats(direction(side), channel)?;
        Ok(formats.iter().map(ToString::to_string).collect())
    }

    fn rates(&self, side: Side, channel: usize) -> Result<Vec<Range>, Fault> {
        Ok(self.0.get_sample_rate_range(direction(side), channel)?.iter().map(range).collect())
    }

    fn set_rate(&self, side: Side, channel: usize, sps: f64) -> Result<f64, Fault> {
        self.0.set_sample_rate(direction(side), channel, sps)?;
        Ok(self.0.sample_rate(direction(side), channel)?)
    }

    fn frequencies(&self, side: Side, channel: usize) -> Result<Vec<Range>, Fault> {
        Ok(self.0.frequency_range(direction(side), channel)?.iter().map(range).collect())
    }

    fn frequency(&self, side: Side, channel: usize) -> Result<f64, Fault> {
        Ok(self.0.frequency(direction(side), channel)?)
    }

    fn set_frequency(&self, side: Side, channel: usize, hz: f64) -> Result<f64, Fault> {
        self.0.set_frequency(direction(side), channel, hz, ())?;
        self.frequency(side, channel)
    }

    fn gains(&self, side: Side, channel: usize) -> Result<Range, Fault> {
        Ok(range(&self.0.gain_range(direction(side), channel)?))
    }

    fn gain(&self, side: Side, channel: usize) -> Result<f64, Fault> {
        Ok(self.0.gain(direction(side), channel)?)
    }

    fn set_gain(&self, side: Side, channel: usize, db: f64) -> Result<f64, Fault> {
        self.0.set_gain(direction(side), channel, db)?;
        self.gain(side, channel)
    }

    fn antennas(&self, side: Side, channel: usize) -> Result<Vec<String>, Fault> {
        Ok(self.0.antennas(direction(side), channel)?)
    }

    fn antenna(&self, side: Side, channel: usize) -> Result<String, Fault> {
        Ok(self.0.antenna(direction(side), channel)?)
    }

    fn set_antenna(&self, side: Side, channel: usize, name: &str) -> Result<(), Fault> {
        self.0.set_antenna(direction(side), channel, name).map_err(Fault::from)
    }

    fn master_clock_hz(&self) -> Result<Option<f64>, Fault> {
        Ok(Some(self.0.get_master_clock_rate()?).filter(|hz| *hz > 0.0))
    }

    fn time_ns(&self) -> Result<Option<i64>, Fault> {
        if !self.0.has_hardware_time(None)? {
            return Ok(None);
        }
        Ok(Some(self.0.get_hardware_time(None)?))
    }

    fn rx_port(&self, channels: &[usize], format: StreamFormat, wire: Option<&str>) -> Result<Box<dyn RxPort>, Fault> {
        let args = stream_args(wire);
        let port: Box<dyn RxPort> = match format {
            StreamFormat::Cf32 => Box::new(Floats(self.0.rx_stream_args::<Complex32, _>(channels, args)?)),
            StreamFormat::Cs16 => {
                let stream = self.0.rx_stream_args::<Complex<i16>, _>(channels, args)?;
                let full_scale = self.full_scale(Side::Rx, channels.first().copied().unwrap_or(0));
                Box::new(Integers { stream, raw: vec![Vec::new(); channels.len()], full_scale: full_scale as f32 })
            }
        };
        Ok(port)
    }

    fn tx_port(&self, channels: &[usize], format: StreamFormat, wire: Option<&str>) -> Result<Box<dyn TxPort>, Fault> {
        let args = stream_args(wire);
        let port: Box<dyn TxPort> = match format {
            StreamFormat::Cf32 => Box::new(Floats(self.0.tx_stream_args::<Complex32, _>(channels, args)?)),
            StreamFormat::Cs16 => {
                let stream = self.0.tx_stream_args::<Complex<i16>, _>(channels, args)?;
                let full_scale = self.full_scale(Side::Tx, channels.first().copied().unwrap_or(0));
                Box::new(Integers { stream, raw: vec![Vec::new(); channels.len()], full_scale: full_scale as f32 })
            }
        };
        Ok(port)
    }
}

/// A stream whose samples are takt's own.
struct Floats<S>(S);

/// A stream of 16-bit integers, and room for them, one buffer a channel.
struct Integers<S> {
    stream: S,
    raw: Vec<Vec<Complex<i16>>>,
    /// The value of 1.0 in their steps.
    full_scale: f32,
}

impl RxPort for Floats<soapysdr::RxStream<Complex32>> {
    fn mtu(&self) -> Result<usize, Fault> {
        Ok(self.0.mtu()?)
    }

    fn activate(&mut self) -> Result<(), Fault> {
        self.0.activate(None).map_err(Fault::from)
    }

    fn deactivate(&mut self) -> Result<(), Fault> {
        self.0.deactivate(None).map_err(Fault::from)
    }

    fn read(&mut self, out: &mut [&mut [Complex32]], wait: Duration) -> Result<usize, Fault> {
        Ok(self.0.read(out, micros(wait))?)
    }

    fn time_ns(&self) -> i64 {
        self.0.time_ns()
    }
}

impl RxPort for Integers<soapysdr::RxStream<Complex<i16>>> {
    fn mtu(&self) -> Result<usize, Fault> {
        Ok(self.stream.mtu()?)
    }

    fn activate(&mut self) -> Result<(), Fault> {
        self.stream.activate(None).map_err(Fault::from)
    }

    fn deactivate(&mut self) -> Result<(), Fault> {
        self.stream.deactivate(None).map_err(Fault::from)
    }

    fn read(&mut self, out: &mut [&mut [Complex32]], wait: Duration) -> Result<usize, Fault> {
        let room = out.iter().map(|buffer| buffer.len()).min().unwrap_or(0);
        self.raw.iter_mut().for_each(|raw| raw.resize(room, Complex::default()));
        let samples = {
            let mut raw: Vec<&mut [Complex<i16>]> = self.raw.iter_mut().map(Vec::as_mut_slice).collect();
            self.stream.read(&mut raw, micros(wait))?
        };
        let value = |steps: i16| f32::from(steps) / self.full_scale;
        for (out, raw) in out.iter_mut().zip(&self.raw) {
            for (to, from) in out.iter_mut().zip(raw.iter().take(samples)) {
                *to = Complex32::new(value(from.re), value(from.im));
            }
        }
        Ok(samples)
    }

    fn time_ns(&self) -> i64 {
        self.stream.time_ns()
    }
}

impl TxPort for Floats<soapysdr::TxStream<Complex32>> {
    fn mtu(&self) -> Result<usize, Fault> {
        Ok(self.0.mtu()?)
    }

    fn activate(&mut self) -> Result<(), Fault> {
        self.0.activate(None).map_err(Fault::from)
    }

    fn deactivate(&mut self) -> Result<(), Fault> {
        self.0.deactivate(None).map_err(Fault::from)
    }

    fn write(
        &mut self,
        samples: &[&[Complex32]],
        at_ns: Option<i64>,
        ends: bool,
        wait: Duration,
    ) -> Result<usize, Fault> {
        Ok(self.0.write(samples, at_ns, ends, micros(wait))?)
    }

    fn status(&mut self, wait: Duration) -> Status {
        status(|mask, flags, time_ns| self.0.read_status(mask, flags, time_ns, micros(wait)))
    }
}

impl TxPort for Integers<soapysdr::TxStream<Complex<i16>>> {
    fn mtu(&self) -> Result<usize, Fault> {
        Ok(self.stream.mtu()?)
    }

    fn activate(&mut self) -> Result<(), Fault> {
        self.stream.activate(None).map_err(Fault::from)
    }

    fn deactivate(&mut self) -> Result<(), Fault> {
        self.stream.deactivate(None).map_err(Fault::from)
    }

    fn write(
        &mut self,
        samples: &[&[Complex32]],
        at_ns: Option<i64>,
        ends: bool,
        wait: Duration,
    ) -> Result<usize, Fault> {
        // A value beyond full scale is clipped.
        let step = |value: f32| (value * self.full_scale).round() as i16;
        for (raw, samples) in self.raw.iter_mut().zip(samples) {
            raw.clear();
            raw.extend(samples.iter().map(|sample| Complex::new(step(sample.re), step(sample.im))));
        }
        let raw: Vec<&[Complex<i16>]> = self.raw.iter().map(Vec::as_slice).collect();
        Ok(self.stream.write(&raw, at_ns, ends, micros(wait))?)
    }

    fn status(&mut self, wait: Duration) -> Status {
        status(|mask, flags, time_ns| self.stream.read_status(mask, flags, time_ns, micros(wait)))
    }
}

/// A report, by the call that reads it.
fn status(read: impl FnOnce(&mut usize, &mut i32, &mut i64) -> Result<usize, soapysdr::Error>) -> Status {
    let (mut channel_mask, mut flags, mut time_ns) = (0, 0, 0);
    let outcome = read(&mut channel_mask, &mut flags, &mut time_ns).map(drop).map_err(Fault::from);
    Status {
        ended_burst: outcome.is_ok() && flags & END_BURST != 0,
        outcome,
        channel_mask,
        time_ns: (flags & HAS_TIME != 0).then_some(time_ns),
    }
}
