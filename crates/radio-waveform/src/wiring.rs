//! [`WaveformRadio`]: the radio of a run, wired to its waveform; a software radio where none is named.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use takt_base::{Speed, Stop};
use takt_emulator::drive::wall::LagReport;
use takt_graph::{Graph, Value};
use takt_packet::EngineKind;
use takt_radio::calibration::{AppliedTable, CalibrationUse};
use takt_radio::n200::{Emission, OpenOptions, RxStats};
use takt_radio::{Model, RadioError, WallNet};
use takt_runtime::{Registry, Report, SlotClock};
use takt_soapy::{DeviceSpec, SoapyError};

use crate::software::{Software, SoftwareError};
use crate::{DeviceReport, RadioClock, RadioEnd, RadioRequirements, RadioRequirementsError, transmit};

/// The radio that sets the beat of a run.
pub struct WaveformRadio {
    clock: RadioClock,
    /// `None`: it is a device of SoapySDR.
    addr: Option<IpAddr>,
    software: Option<Software>,
}

/// Which radio a run takes, and what it may do with it.
#[derive(Clone, Debug, Default)]
pub struct RadioChoice {
    /// Address to use instead of the waveform's; with neither, a software radio is started.
    pub addr: Option<IpAddr>,
    /// Device of SoapySDR to use instead of both.
    pub device: Option<DeviceSpec>,
    /// Transmit, even if it is not takt's own.
    pub transmit: bool,
    /// Files of corrections that it is tuned by.
    pub calibration: CalibrationUse,
    /// Priority of the workers, under `SCHED_FIFO`.
    pub fifo_priority: Option<u8>,
}

/// Facts that a person must know before the run begins.
pub enum Notice<'a> {
    /// A software radio was started.
    Software {
        /// Its model.
        model: Model,
        /// Its address.
        addr: IpAddr,
        /// Its source, as the waveform states it.
        source: &'a str,
    },
    /// The radio transmits.
    OnAir(Emission),
}

/// Why a waveform has no radio.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WaveformRadioError {
    /// It does not suit one.
    #[error(transparent)]
    Requirements(#[from] RadioRequirementsError),
    /// There is no software radio.
    #[error(transparent)]
    Software(#[from] SoftwareError),
    /// The radio can't do that.
    #[error(transparent)]
    Radio(#[from] RadioError),
    /// The device of SoapySDR can't do that.
    #[error(transparent)]
    Device(#[from] SoapyError),
}

/// Report of the radio.
#[derive(Clone, Debug, Serialize)]
pub struct RadioReport {
    /// Its address; `None`: it is a device of SoapySDR.
    pub addr: Option<IpAddr>,
    /// Counts that the driver of a device showed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceReport>,
    /// Files of corrections that it was tuned by, or that were found and could not be used. Of a device of SoapySDR: none.
    pub calibration: Vec<AppliedTable>,
    /// Whether it was a software radio of the run's own.
    pub software: bool,
    /// Seconds of the radio in a second of this host; `None`: hardware, which does not say.
    pub radio_speed: Option<f64>,
    /// How late that one's datagrams left by its own clock: it works in beats of 200 us, and is in `transfer_us`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lag: Option<LagReport>,
    /// Counts of receiving by takt's own driver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receive: Option<RxStats>,
}

impl WaveformRadio {
    /// Opens the radio that a waveform wants, and lets `registry` make its components. `file`: the waveform's.
    ///
    /// # Errors
    /// The waveform does not suit a radio, there is none, or it can't do that.
    pub fn open(
        graph: &Graph,
        file: &Path,
        registry: &mut Registry,
        choice: &RadioChoice,
        notify: &mut dyn FnMut(Notice<'_>),
    ) -> Result<WaveformRadio, WaveformRadioError> {
        if let Some(device) = &choice.device {
            return WaveformRadio::through(device, graph, registry, choice, notify);
        }
        let wanted = RadioRequirements::of(graph)?;
        let (addr, software) = match choice.addr.or(wanted.addr) {
            Some(addr) => (addr, None),
            None => {
                let model = wanted.model();
                let software = Software::start(model, &wanted.source, file, registry, choice.fifo_priority)?;
                notify(Notice::Software { model, addr: software.addr.into(), source: &wanted.source });
                (software.addr.into(), Some(software))
            }
        };
        let net = Arc::new(WallNet::new(EngineKind::Mmsg));
        let options =
            OpenOptions { transmit: choice.transmit, calibration: choice.calibration, ..OpenOptions::default() };
        let clock = RadioClock::open(net, addr, &wanted, &options)?;
        if let Some(emission) = clock.on_air()? {
            notify(Notice::OnAir(emission));
        }
        clock.equip(registry);
        Ok(WaveformRadio { clock, addr: Some(addr), software })
    }

    /// The same with a device of SoapySDR.
    fn through(
        device: &DeviceSpec,
        graph: &Graph,
        registry: &mut Registry,
        choice: &RadioChoice,
        notify: &mut dyn FnMut(Notice<'_>),
    ) -> Result<WaveformRadio, WaveformRadioError> {
        let wanted = RadioRequirements::of_device(graph)?;
        // Sockets are the driver's own: of this one only the clock is used.
        let net = Arc::new(WallNet::new(EngineKind::Socket));
        let clock = RadioClock::through(net, device, &wanted, choice.transmit)?;
        if let Some(emission) = clock.on_air()? {
            notify(Notice::OnAir(emission));
        }
        clock.equip(registry);
        Ok(WaveformRadio { clock, addr: None, software: None })
    }

    /// The beat that workers follow.
    #[must_use]
    pub fn slot_clock(&self) -> SlotClock {
        SlotClock::Edges(self.clock.edges())
    }

    /// Begins; asks `stop` for an end when the stream breaks.
    ///
    /// # Errors
    /// As [`RadioClock::start`].
    pub fn start(&mut self, fifo_priority: Option<u8>, stop: &Stop) -> Result<(), RadioError> {
        self.clock.start(fifo_priority, stop)
    }

    /// Ends the stream, and the software radio.
    ///
    /// # Errors
    /// The stream had broken.
    pub fn finish(self) -> Result<RadioReport, WaveformRadioError> {
        let WaveformRadio { clock, addr, software } = self;
        let radio_speed = clock.speed().map(Speed::seconds);
        let calibration = clock.calibration();
        let RadioEnd { receive, device } = clock.finish()?;
        let lag = software.map(Software::stop).transpose()?;
        Ok(RadioReport { addr, device, calibration, software: lag.is_some(), radio_speed, lag, receive })
    }
}

/// Answers of a run that the radio, or the host's clock, says were too late.
#[must_use]
pub fn late_answers(report: &Report) -> i64 {
    let count = |results: &BTreeMap<String, Value>, name: &str| match results.get(name) {
        Some(Value::Int(count)) => *count,
        _ => 0,
    };
    let transmit = report.components.iter().filter(|component| component.kind == transmit::KIND);
    transmit.map(|component| count(&component.results, "late").max(count(&component.results, "radio_late"))).sum()
}
