//! A device of SoapySDR in place of a radio with an address: what a run can measure through it, and whether it may transmit.

use std::net::Ipv4Addr;
use std::sync::Arc;

use takt_load::Peer;
use takt_packet::EngineKind;
use takt_radio::n200::Emission;
use takt_radio::{AnyIdentity, Net, WallNet, find};
use takt_soapy::DeviceSpec;

use super::on_air::{OnAirError, has_radio, sends};
use crate::experiment::{Experiment, Part, Point};

/// The text that stands for daughterboards.
const BOARDS: &str = "not named by SoapySDR";

/// The address of the radio behind a device, if it is one of UHD's that is named by its address.
pub fn radio_of(device: &DeviceSpec) -> Option<Ipv4Addr> {
    device.get("addr").filter(|_| device.get("driver") == Some("uhd"))?.parse().ok()
}

/// The address under which a site knows the device: its radio's, else none that anything answers at.
pub fn site_addr(device: &DeviceSpec) -> Ipv4Addr {
    radio_of(device).unwrap_or(Ipv4Addr::UNSPECIFIED)
}

/// Whether takt's own emulator is behind a device.
///
/// # Errors
/// `Radio` if the network can't be searched.
pub fn is_emulator(device: &DeviceSpec) -> Result<bool, OnAirError> {
    let Some(addr) = radio_of(device) else { return Ok(false) };
    let net: Arc<dyn Net> = Arc::new(WallNet::new(EngineKind::Socket));
    let found = find(&net, Some(addr.into())).map_err(|error| OnAirError::Radio(Box::new(error)))?;
    Ok(found.iter().any(|found| found.identity.as_ref().is_some_and(AnyIdentity::software)))
}

/// Emission of a device that will transmit at these points; `None`: it will not, or it is takt's own emulator.
///
/// # Errors
/// `NotAllowed` without `transmit`; `Radio` if the network can't be searched.
pub fn permitted(device: &DeviceSpec, points: &[Point], transmit: bool) -> Result<Option<Emission>, OnAirError> {
    let Some(sender) = points.iter().find(|point| sends(point)) else { return Ok(None) };
    if is_emulator(device)? {
        return Ok(None);
    }
    let emission = emission(device);
    if transmit {
        return Ok(Some(emission));
    }
    let receives = points.iter().any(|point| has_radio(point.kind) && !sends(point));
    Err(OnAirError::NotAllowed { label: sender.label(), emission: Box::new(emission), receives })
}

/// Emission of a device as far as it is known before its driver has opened it.
fn emission(device: &DeviceSpec) -> Emission {
    Emission { radio: device.to_string(), boards: BOARDS.to_owned(), frequency_hz: None, gain_db: None, antenna: None }
}

/// Leaves the parts of an experiment that can be measured through a device: rates, and what has no radio. Engines are takt's own
/// driver's, and answers need a driver that no other thread holds up.
pub fn measurable(experiment: &mut Experiment) {
    experiment.parts.retain(is_measurable);
}

fn is_measurable(part: &Part) -> bool {
    let facts = part.kind.workload().facts();
    match facts.peer {
        Peer::Radio => facts.runs_through_a_device && !part.factors.iter().any(|factor| factor.name == ENGINE),
        // A radio takes no datagram load.
        Peer::Server => false,
        Peer::None | Peer::Node => true,
    }
}

const ENGINE: &str = "engine";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Depth, named};

    #[test]
    fn of_the_check_rates_are_left_and_what_has_no_radio() {
        let mut check = Experiment::parse("check", &named("check").unwrap()).unwrap();
        let rates = |check: &Experiment| {
            let points = check.points(Depth::Full);
            points.iter().filter(|point| ["sc16", "sc8"].contains(&point.part_name.as_str())).count()
        };
        let before = rates(&check);
        measurable(&mut check);
        assert_eq!((rates(&check), before > 0), (before, true));
        let names: Vec<&str> = check.parts.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["sc16", "sc8", "x310", "waveform"]);
    }

    #[test]
    fn only_a_device_of_uhd_that_is_named_by_its_address_is_asked_what_it_is() {
        let radio = |device: &str| radio_of(&device.parse().unwrap());
        assert_eq!(radio("soapy:driver=uhd,type=usrp2,addr=10.0.0.2"), Some(Ipv4Addr::new(10, 0, 0, 2)));
        for other in ["soapy:driver=uhd", "soapy:driver=remote,addr=10.0.0.2", "soapy:driver=uhd,addr=radio"] {
            assert_eq!(radio(other), None, "{other}");
            assert_eq!(site_addr(&other.parse().unwrap()), Ipv4Addr::UNSPECIFIED);
        }
    }

    #[test]
    fn a_device_that_is_not_takts_transmits_only_if_it_may() {
        let check = Experiment::parse("check", &named("check").unwrap()).unwrap();
        let points = check.points(Depth::Quick);
        let device: DeviceSpec = "soapy:driver=hackrf".parse().unwrap();
        let refused = permitted(&device, &points, false).unwrap_err();
        assert!(refused.to_string().contains("soapy:driver=hackrf"), "{refused}");
        assert!(permitted(&device, &points, true).unwrap().is_some());
        let receives: Vec<Point> = points.into_iter().filter(|point| !sends(point)).collect();
        assert!(permitted(&device, &receives, false).unwrap().is_none());
    }
}
