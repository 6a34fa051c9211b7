//! Settings of both components of a radio, and what a waveform wants of its radio.

use std::net::IpAddr;

use takt_base::{TickRate, Ticks};
use takt_graph::{Domain, Graph, Kind, ParamSpec, Params};
use takt_radio::{FrontEnd, Model, RadioError, n200, x310};

use crate::{receive, transmit};

/// Parameters of both.
pub(crate) fn radio(kind: Kind) -> Kind {
    let number = |min, max| Domain::Float { min, max };
    kind.param(
        ParamSpec::new("addr", Domain::Text, "The radio, if the command line names none; empty: an emulator.")
            .default(""),
    )
    .param(ParamSpec::new("frequency_hz", number(0.0, 6e9), "Center frequency; 0: as it is.").unit("Hz").default(0.0))
    .param(ParamSpec::new("gain_db", number(-1.0, 100.0), "Gain; below 0: as it is.").unit("dB").default(-1.0))
    .param(ParamSpec::new("antenna", Domain::Text, "Antenna, by the radio's name for it; empty: as it is.").default(""))
}

/// Frequency, gain and antenna of one direction, where set.
fn front_end(params: &Params) -> FrontEnd {
    FrontEnd {
        frequency_hz: params.float("frequency_hz").filter(|&hz| hz > 0.0),
        gain_db: params.float("gain_db").filter(|&db| db >= 0.0),
        antenna: params.text("antenna").filter(|name| !name.is_empty()).map(str::to_owned),
    }
}

/// A waveform's requirements of its radio.
#[derive(Clone, Debug, PartialEq)]
pub struct RadioRequirements {
    /// Its address, if the waveform gives one.
    pub addr: Option<IpAddr>,
    /// Receivers, in the order of the waveform's components.
    pub channels: Vec<u8>,
    /// Samples of a slot.
    pub samples: u64,
    /// Samples a second.
    pub rate_sps: f64,
    /// Length of a slot, ns.
    pub slot_ns: u64,
    /// Settings with which it receives.
    pub receive: FrontEnd,
    /// Settings with which it transmits, if it does.
    pub transmit: Option<FrontEnd>,
    /// Source of a software radio in its place.
    pub source: String,
}

/// Why a waveform does not suit a radio.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names say it")]
pub enum RadioRequirementsError {
    /// No component receives, so nothing sets the beat.
    #[error("the waveform has no `radio-receive`, so no samples set the slots' pace")]
    NoReceiver,
    #[error("`{component}` asks for another {what} than earlier components, but there is only one radio")]
    Different {
        component: String,
        /// The setting that differs.
        what: &'static str,
    },
    #[error("`{component}` asks for a receiver or transmitter that another component has already")]
    Taken { component: String },
    #[error("`{addr}` is not an address of a radio")]
    Address { addr: String },
    #[error("the radio can't give {samples} samples in a slot of {slot_ns} ns")]
    Rate {
        /// Samples of a slot.
        samples: u64,
        slot_ns: u64,
        /// The rate, and those near it.
        #[source]
        source: Box<RadioError>,
    },
}

impl RadioRequirementsError {
    /// The fix.
    #[must_use]
    pub fn fix(&self) -> String {
        match self {
            RadioRequirementsError::NoReceiver => {
                "add a component of type radio-receive, or give --clock wall".to_owned()
            }
            RadioRequirementsError::Different { what, .. } => format!("give the same {what} in all of them"),
            RadioRequirementsError::Taken { .. } => {
                "give another `channel`, or link one component's output to several".to_owned()
            }
            RadioRequirementsError::Address { .. } => "set addr = \"192.168.10.2\"".to_owned(),
            RadioRequirementsError::Rate { source, slot_ns, .. } => match &**source {
                RadioError::Rate { nearest_sps: [below, above], .. } => {
                    let items = |sps: f64| sps * *slot_ns as f64 / 1e9;
                    format!("set items = {} or {}, for {below} or {above} S/s", items(*below), items(*above))
                }
                _ => "set items and slot so that they make a rate of the radio".to_owned(),
            },
        }
    }
}

/// Whether a waveform has anything to do with a radio.
#[must_use]
pub fn wants_a_radio(graph: &Graph) -> bool {
    graph.components().iter().any(|component| [receive::KIND, transmit::KIND].contains(&component.kind.as_str()))
}

impl RadioRequirements {
    /// Joint requirements of a waveform's components.
    ///
    /// # Errors
    /// None of them receives, they disagree, or the radio does not have the rate.
    pub fn of(graph: &Graph) -> Result<RadioRequirements, RadioRequirementsError> {
        RadioRequirements::at(graph, rate)
    }

    /// The same for a device of SoapySDR, whose driver says itself which rates it has.
    ///
    /// # Errors
    /// None of them receives, or they disagree.
    pub fn of_device(graph: &Graph) -> Result<RadioRequirements, RadioRequirementsError> {
        RadioRequirements::at(graph, |samples, slot_ns| Ok(samples as f64 * 1e9 / slot_ns as f64))
    }

    fn at(
        graph: &Graph,
        rate: impl Fn(u64, u64) -> Result<f64, RadioRequirementsError>,
    ) -> Result<RadioRequirements, RadioRequirementsError> {
        let mut wanted: Option<RadioRequirements> = None;
        let receivers = || graph.components().iter().filter(|component| component.kind == receive::KIND);
        for component in receivers() {
            let params = &component.params;
            let channel = params.int("channel").and_then(|channel| u8::try_from(channel).ok()).unwrap_or(0);
            let samples = params.int("items").unwrap_or(1).unsigned_abs();
            let front_end = front_end(params);
            let source = params.text("source").unwrap_or_default();
            let Some(wanted) = &mut wanted else {
                wanted = Some(RadioRequirements {
                    addr: addr(params)?,
                    channels: vec![channel],
                    samples,
                    rate_sps: rate(samples, graph.slot_ns())?,
                    slot_ns: graph.slot_ns(),
                    receive: front_end,
                    transmit: None,
                    source: source.to_owned(),
                });
                continue;
            };
            let different = |what| RadioRequirementsError::Different { component: component.name.clone(), what };
            if wanted.channels.contains(&channel) {
                return Err(RadioRequirementsError::Taken { component: component.name.clone() });
            }
            for (same, what) in [
                (wanted.samples == samples, "`items`"),
                (wanted.addr == addr(params)?, "`addr`"),
                (wanted.receive == front_end, "frequency, gain or antenna"),
                (wanted.source == source, "`source`"),
            ] {
                if !same {
                    return Err(different(what));
                }
            }
            wanted.channels.push(channel);
        }
        let mut wanted = wanted.ok_or(RadioRequirementsError::NoReceiver)?;
        for component in graph.components().iter().filter(|component| component.kind == transmit::KIND) {
            if wanted.transmit.replace(front_end(&component.params)).is_some() {
                return Err(RadioRequirementsError::Taken { component: component.name.clone() });
            }
            if wanted.addr != addr(&component.params)? {
                return Err(RadioRequirementsError::Different { component: component.name.clone(), what: "`addr`" });
            }
        }
        Ok(wanted)
    }

    /// The model of takt's own that has this rate; an N200 if both have it.
    #[must_use]
    pub fn model(&self) -> Model {
        if n200_rate(self.samples, self.slot_ns).is_some() { Model::N200 } else { Model::X310 }
    }
}

fn addr(params: &Params) -> Result<Option<IpAddr>, RadioRequirementsError> {
    let text = params.text("addr").unwrap_or_default();
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| RadioRequirementsError::Address { addr: text.to_owned() })
}

/// The rate of so many samples in so long a slot, both whole on the clock of a radio that takt drives.
fn rate(samples: u64, slot_ns: u64) -> Result<f64, RadioRequirementsError> {
    if let Some(rate_sps) = n200_rate(samples, slot_ns).or_else(|| x310_rate(samples, slot_ns)) {
        return Ok(rate_sps);
    }
    let requested_sps = requested_sps(samples, slot_ns);
    let source = match n200::exact_rate(requested_sps) {
        Err(source) => source,
        Ok(factor) => {
            let nearest_sps = [factor.rate_sps(); 2];
            RadioError::Rate { requested_sps, clock_hz: n200::CLOCK.hz(), nearest_sps }
        }
    };
    Err(RadioRequirementsError::Rate { samples, slot_ns, source: Box::new(source) })
}

fn requested_sps(samples: u64, slot_ns: u64) -> f64 {
    samples as f64 * 1e9 / slot_ns as f64
}

fn n200_rate(samples: u64, slot_ns: u64) -> Option<f64> {
    let factor = n200::exact_rate(requested_sps(samples, slot_ns)).ok()?;
    lasts(n200::CLOCK, samples * u64::from(factor.get()), slot_ns).then(|| factor.rate_sps())
}

fn x310_rate(samples: u64, slot_ns: u64) -> Option<f64> {
    let (clock, factor) = x310::exact_rate(requested_sps(samples, slot_ns)).ok()?;
    lasts(clock.rate(), samples * u64::from(factor.get()), slot_ns).then(|| factor.rate_sps(clock.hz()))
}

/// Whether so many ticks are a slot.
fn lasts(clock: TickRate, ticks: u64, slot_ns: u64) -> bool {
    clock.ns_of(Ticks(ticks)) == slot_ns
}
