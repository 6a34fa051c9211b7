//! Radios that Python drives: search, opening, front end and clock. Their streams are in `receiver.rs` and `transmitter.rs`.

use std::net::IpAddr;
use std::sync::Arc;

use pyo3::prelude::*;
use serde_json::json;
use takt_base::{Speed, Tick, parse_ip};
use takt_packet::EngineKind;
use takt_radio::board::Side;
use takt_radio::calibration::CalibrationUse;
use takt_radio::n200::{ClockSource, OpenOptions};
use takt_radio::x310::MasterClock;
use takt_radio::{AnyOptions, LoOffset, Net, Radio, RadioError, RxOptions, TuneRequest, TxOptions, WallNet};
use takt_wire::sample::Format;

use crate::held::Held;
use crate::problem::{Class, Problem};
use crate::radio_problem::of_option;
use crate::receiver::Receiver;
use crate::transmitter::Transmitter;

/// A radio that this process owns. Dropping it ends its streams, and gives it back.
#[pyclass(frozen)]
pub struct OpenRadio {
    held: Held<Radio>,
    net: Arc<dyn Net>,
    about: String,
}

/// The radio at an address, or those that answer on this host's networks, as JSON.
#[pyfunction]
#[pyo3(signature = (addr=None))]
pub fn find(py: Python<'_>, addr: Option<&str>) -> PyResult<String> {
    let addr = addr.map(address).transpose()?;
    let net: Arc<dyn Net> = Arc::new(WallNet::new(EngineKind::Socket));
    let found = py.detach(|| takt_radio::find(&net, addr)).map_err(Problem::from)?;
    Ok(json(&found)?)
}

/// How a radio is opened, as Python's keywords.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Options {
    force: bool,
    transmit: bool,
    reference: String,
    calibration: String,
    engine: String,
    frame_bytes: Option<usize>,
    master_clock: Option<f64>,
}

/// Opens the radio at an address.
#[pyfunction]
pub fn open(py: Python<'_>, addr: &str, options: &Bound<'_, PyAny>) -> PyResult<OpenRadio> {
    let options: Options = options.extract()?;
    let addr = address(addr)?;
    let engine: EngineKind = chosen("engine", &options.engine, "'mmsg'")?;
    let opened = any_options(&options)?;
    let net: Arc<dyn Net> = Arc::new(WallNet::new(engine));
    let radio = py.detach(|| Radio::open(Arc::clone(&net), addr, &opened)).map_err(Problem::from)?;
    let about = about(&radio);
    Ok(OpenRadio { held: Held::new("radio", Class::Radio, radio), net, about })
}

#[pymethods]
impl OpenRadio {
    /// Its model, serial number and boards, as JSON.
    fn about(&self) -> String {
        self.about.clone()
    }

    /// Tunes a side: the frequency of 0 Hz now, that of the oscillator, and the shift by the DSP, Hz. An oscillator that no offset
    /// is given for goes where takt's policy puts it.
    #[pyo3(signature = (side, channel, frequency_hz, offset_hz=None))]
    fn tune(
        &self,
        py: Python<'_>,
        side: &str,
        channel: u8,
        frequency_hz: f64,
        offset_hz: Option<f64>,
    ) -> PyResult<(f64, f64, f64)> {
        let side = side_of(side)?;
        let request = TuneRequest { target_hz: frequency_hz, offset: offset_hz.map_or(LoOffset::Auto, LoOffset::Hz) };
        let tuned = self.held.with(py, |radio| {
            let Radio::N200(radio) = radio else { return Err(no_model("frequency")) };
            let tuned = match side {
                Side::Rx => radio.tune_rx(channel, request),
                Side::Tx => radio.tune_tx(request),
            };
            radio.flush()?;
            tuned
        })?;
        let tuned = tuned.map_err(|error| of_option(error, "frequency", frequency_hz.to_string()))?;
        Ok((tuned.actual_hz, tuned.lo_hz, tuned.dsp_hz))
    }

    /// Sets the gain of a side to the nearest there is, which is returned, dB.
    fn set_gain(&self, py: Python<'_>, side: &str, gain_db: f64) -> PyResult<f64> {
        let side = side_of(side)?;
        let gain = self.held.with(py, |radio| {
            let Radio::N200(radio) = radio else { return Err(no_model("gain")) };
            let gain = radio.set_gain_db(side, gain_db);
            radio.flush()?;
            gain
        })?;
        Ok(gain.map_err(|error| of_option(error, "gain", gain_db.to_string()))?)
    }

    /// Connects a side to an antenna.
    fn set_antenna(&self, py: Python<'_>, side: &str, name: &str) -> PyResult<()> {
        let side = side_of(side)?;
        let set = self.held.with(py, |radio| {
            let Radio::N200(radio) = radio else { return Err(no_model("antenna")) };
            radio.set_antenna(side, name)?;
            radio.flush()
        })?;
        Ok(set.map_err(|error| of_option(error, "antenna", format!("'{name}'")))?)
    }

    /// Its time now, ticks.
    fn ticks(&self, py: Python<'_>) -> PyResult<u64> {
        let now = self.held.with(py, Radio::time)?;
        Ok(now.map_err(Problem::from)?.0)
    }

    /// Sets its time at once, ticks.
    fn set_ticks(&self, py: Python<'_>, ticks: u64) -> PyResult<()> {
        let set = self.held.with(py, |radio| match radio {
            Radio::N200(radio) => radio.set_time_now(Tick(ticks)),
            Radio::X310(radio) => radio.set_time(Tick(ticks)),
        })?;
        Ok(set.map_err(Problem::from)?)
    }

    /// How fast its time passes: seconds of the radio in a second of this host.
    fn speed(&self, py: Python<'_>) -> PyResult<f64> {
        let speed = self.held.with(py, |radio| radio.ask_speed())?;
        Ok(speed.unwrap_or(Speed::WALL).seconds())
    }

    /// Makes a receive stream.
    #[pyo3(signature = (rate_sps, channels, wire, packet_samples, buffer_bytes))]
    fn receiver(
        &self,
        py: Python<'_>,
        rate_sps: f64,
        channels: Vec<u8>,
        wire: &str,
        packet_samples: Option<usize>,
        buffer_bytes: Option<usize>,
    ) -> PyResult<Receiver> {
        let options = RxOptions {
            channels,
            format: format_of(wire)?,
            samples_per_datagram: packet_samples,
            recv_buffer_bytes: buffer_bytes.unwrap_or(RxOptions::USUAL_BUFFER_BYTES),
            // As `takt rate`: one wake-up fetches more.
            coalesce: std::time::Duration::from_millis(2),
            ..RxOptions::new(rate_sps)
        };
        let stream = self.held.with(py, |radio| radio.rx_streamer(&options))?;
        let stream = stream.map_err(|error| option_of_stream(error, rate_sps, &options.channels))?;
        Ok(Receiver::of(stream, Arc::clone(&self.net)))
    }

    /// Makes a transmit stream.
    #[pyo3(signature = (rate_sps, channels, wire, packet_samples))]
    fn transmitter(
        &self,
        py: Python<'_>,
        rate_sps: f64,
        channels: Vec<u8>,
        wire: &str,
        packet_samples: Option<usize>,
    ) -> PyResult<Transmitter> {
        let options = TxOptions {
            channels,
            format: format_of(wire)?,
            samples_per_datagram: packet_samples,
            ..TxOptions::new(rate_sps)
        };
        let stream = self.held.with(py, |radio| radio.tx_streamer(&options))?;
        let stream = stream.map_err(|error| option_of_stream(error, rate_sps, &options.channels))?;
        Ok(Transmitter::of(stream, Arc::clone(&self.net)))
    }

    /// Gives the radio back.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        Ok(self.held.close(py)?)
    }

    fn is_closed(&self) -> bool {
        self.held.is_closed()
    }
}

fn about(radio: &Radio) -> String {
    let about = radio.about();
    json!({
        "model": radio.model().to_string(),
        "name": about.name,
        "serial": about.serial,
        "product": about.model,
        "firmware": about.firmware,
        "fpga": about.fpga,
        "clock_hz": radio.clock().hz(),
        "speed": radio.speed().unwrap_or(Speed::WALL).seconds(),
    })
    .to_string()
}

fn any_options(options: &Options) -> Result<AnyOptions, Problem> {
    let n200 = OpenOptions {
        force: options.force,
        transmit: options.transmit,
        reference: chosen::<ClockSource>("reference", &options.reference, "'internal'")?,
        calibration: chosen::<CalibrationUse>("calibration", &options.calibration, "'uhd'")?,
        ..OpenOptions::default()
    };
    let clock = match options.master_clock {
        None => MasterClock::default(),
        Some(hz) => MasterClock::of_hz(hz).ok_or_else(|| {
            let known = MasterClock::ALL.map(|clock| format!("{}", clock.hz()));
            refused(
                "master_clock",
                hz.to_string(),
                "a master clock of an X310",
                &format!("give {}", known.join(" or ")),
            )
        })?,
    };
    Ok(AnyOptions { n200, frame_bytes: options.frame_bytes, clock })
}

fn address(text: &str) -> Result<IpAddr, Problem> {
    let refused = |_| refused("addr", format!("'{text}'"), "an IP address", "give one such as '192.168.10.2'");
    parse_ip(text.strip_prefix("addr=").unwrap_or(text)).map_err(refused)
}

fn side_of(text: &str) -> Result<Side, Problem> {
    match text {
        "rx" => Ok(Side::Rx),
        "tx" => Ok(Side::Tx),
        _ => Err(refused("side", format!("'{text}'"), "a side of a radio", "give 'rx' or 'tx'")),
    }
}

fn format_of(text: &str) -> Result<Format, Problem> {
    chosen("wire", text, "'sc16' or 'sc8'")
}

/// A word that a type of takt's own reads; `usual`: one that it does.
fn chosen<T: std::str::FromStr<Err: std::fmt::Display>>(option: &str, text: &str, usual: &str) -> Result<T, Problem> {
    text.parse().map_err(|error: T::Err| Problem {
        reason: Some(error.to_string().into()),
        ..refused(option, format!("'{text}'"), "a value that takt knows", &format!("give {usual}"))
    })
}

fn refused(option: &str, value: String, expected: &str, fix: &str) -> Problem {
    Problem {
        message: format!("{option}: {value} is not {expected}"),
        fix: Some(fix.to_owned()),
        option: Some((option.to_owned(), value)),
        class: Class::Radio,
        ..Problem::default()
    }
}

fn option_of_stream(error: RadioError, rate_sps: f64, channels: &[u8]) -> Problem {
    match error {
        RadioError::Range { what: "samples in a datagram", got, .. } => {
            of_option(error, "packet_samples", got.to_string())
        }
        RadioError::Range { .. } => of_option(error, "channels", format!("{channels:?}")),
        error => of_option(error, "rate", rate_sps.to_string()),
    }
}

fn no_model(what: &'static str) -> RadioError {
    RadioError::NoModel { boards: "those of an X310".to_owned(), what }
}

/// A value for Python, which reads it as JSON.
pub(crate) fn json<T: serde::Serialize>(value: &T) -> Result<String, Problem> {
    let refused = |error: serde_json::Error| Problem { message: error.to_string(), ..Problem::default() };
    serde_json::to_string(value).map_err(refused)
}
