//! The order of a check: the file, for the radio and the rates that were named.

use std::net::Ipv4Addr;

use serde_json::{Map, Value, json};
use takt_lab::Order;
use takt_lab::bench::{OnAirError, device, on_air};
use takt_lab::experiment::{Depth, Experiment};
use takt_load::rate::REFERENCE;
use takt_load::{Model, WorkloadKind};
use takt_radio::n200::{ClockSource, Emission};
use takt_soapy::DeviceSpec;

use super::{DoctorFinding, Need};
use crate::{Asked, QuestionError};

/// The question of `takt check`, and which radio it is about.
#[derive(Clone, Debug)]
pub struct Check {
    /// A radio that is there already, real or software; `None`: one is emulated.
    pub addr: Option<Ipv4Addr>,
    /// A device of SoapySDR instead.
    pub device: Option<DeviceSpec>,
    /// That radio may be sent samples even if it is not takt's own; otherwise such a radio is only received from.
    pub transmit: bool,
    /// Reference of that radio's clock while it streams; `None`: the file's.
    pub reference: Option<ClockSource>,
    /// Rates that are needed, instead of those of the file.
    pub needs: Vec<Need>,
    pub doctor: Vec<DoctorFinding>,
}

impl Check {
    /// A check of an emulated radio at the rates of the file.
    pub const PLAIN: Check =
        Check { addr: None, device: None, transmit: false, reference: None, needs: Vec::new(), doctor: Vec::new() };
}

pub(super) fn order(check: &Check, asked: &Asked) -> Result<Order, QuestionError> {
    let mut more = Map::new();
    let needs = needs(check, &asked.experiment)?;
    if needs != asked.experiment.needs {
        more.insert("need".into(), json!(needs));
    }
    let mut experiment = asked.experiment.clone().with_needs(needs);
    if check.addr.is_some() {
        // A radio takes no datagram load: load goes only to a receiver that has agreed to it.
        experiment.parts.retain(|part| part.kind != WorkloadKind::Udp);
    }
    if let Some(why) = silence(check, &experiment, asked.depth)? {
        on_air::receive_only(&mut experiment);
        more.insert("receive_only".into(), json!(why));
    }
    if let Some(through) = &check.device {
        device::measurable(&mut experiment);
        more.insert(DEVICE.into(), json!(through.to_string()));
        if let Some(why) = silence_through(through, check, &experiment, asked.depth)? {
            on_air::receive_only(&mut experiment);
            more.insert("receive_only".into(), json!(why));
        }
    }
    if let Some(reference) = check.reference {
        for part in experiment.parts.iter_mut().filter(|part| part.kind == WorkloadKind::Rate) {
            part.fixed.insert(REFERENCE.into(), json!(reference));
        }
        more.insert(REFERENCE.into(), json!(reference));
    }
    Ok(Order {
        experiment,
        addr: check.addr.or_else(|| check.device.as_ref().map(device::site_addr)),
        transmit: check.transmit,
        device: check.device.clone(),
        options: Value::Object(more),
        observed: json!({ "doctor": check.doctor }),
        watch_stops: true,
        ..asked.order()
    })
}

/// Subject of the check: the rates that were named, else those of the file. For a radio that is there and another one,
/// it is that one's usual rate.
fn needs(check: &Check, file: &Experiment) -> Result<Vec<Need>, QuestionError> {
    let wanted = if check.needs.is_empty() { &file.needs } else { &check.needs };
    let mut models: Vec<Model> = wanted.iter().map(|need| need.model).collect();
    models.dedup();
    if let [one, other, ..] = models.as_slice() {
        return Err(QuestionError::TwoRadios { one: *one, other: *other });
    }
    let addr = check.addr.or_else(|| check.device.as_ref().and_then(device::radio_of));
    let there = addr.filter(|_| check.needs.is_empty()).map(on_air::model).transpose()?.flatten();
    Ok(match there.filter(|there| !models.contains(there)) {
        Some(model) => vec![Need::usual(model)],
        None => wanted.clone(),
    })
}

/// The option of a stored run that names the device it measured through.
pub(super) const DEVICE: &str = "device";

/// Why nothing may be sent through a device, if nothing may.
fn silence_through(
    device: &DeviceSpec,
    check: &Check,
    experiment: &Experiment,
    depth: Depth,
) -> Result<Option<String>, OnAirError> {
    match device::permitted(device, &experiment.points(depth), check.transmit) {
        Ok(_) => Ok(None),
        Err(OnAirError::NotAllowed { .. }) => {
            Ok(Some(format!("SoapySDR can't tell takt whether {device} has an antenna, and it would transmit")))
        }
        Err(error) => Err(error),
    }
}

/// Why nothing may be sent to the radio, if nothing may: it is not takt's own, and the options do not let it transmit.
fn silence(check: &Check, experiment: &Experiment, depth: Depth) -> Result<Option<String>, OnAirError> {
    let Some(addr) = check.addr else { return Ok(None) };
    if check.transmit || !experiment.points(depth).iter().any(on_air::sends) {
        return Ok(None);
    }
    let why = |emission: Emission| format!("{} is not takt's emulator and would transmit {emission}", emission.radio);
    Ok(on_air::on_air(addr)?.map(why))
}
