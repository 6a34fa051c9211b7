//! Search for radios: at an address, or on every network of this host.
//!
//! Bounded in time: a broadcast is answered within 100 ms or not at all, and each radio that answered gets a request for what it is
//! with short patience. That does not disturb a radio that another host uses; unlike UHD's search it leaves the lock alone.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use takt_packet::{Config, PortIndex, PortSpec, Wait};
use takt_wire::n200::{ControlAnswer, ControlAsk, ControlReply, ControlRequest, ports};

use crate::n200::control::Control;
use crate::n200::{identify, other_owner};
use crate::ports::Patience;
use crate::x310::firmware::Firmware;
use crate::{AnyIdentity, Net, RadioError, Role, foreign, x310};

/// How long answers to a broadcast are waited for, after the last one.
const QUIET: Duration = Duration::from_millis(100);
/// And in all.
const MOST: Duration = Duration::from_secs(1);
/// How often a radio that was found gets that request, and how long its answer is waited for.
const PATIENCE: Patience = Patience { tries: 3, each: Duration::from_millis(100) };

/// A radio that answered.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct FoundRadio {
    /// Its address.
    pub addr: IpAddr,
    /// Which radio, if it is one this driver can ask.
    #[serde(flatten)]
    pub identity: Option<AnyIdentity>,
    /// Whether it can be used.
    pub state: FoundState,
}

/// Whether a radio that was found can be used.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FoundState {
    /// Nobody uses it.
    Free,
    /// Another host does.
    InUse {
        /// Its own name.
        owner: u32,
        /// Since its last sign, seconds; `None`: an X310 says only that it was within 2 s.
        age_s: Option<f64>,
    },
    /// Another kind of radio, or another version; or it did not say who uses it.
    Unsuitable {
        /// Why.
        why: String,
    },
}

/// Finds radios: the one at `addr`, or all that answer a broadcast on this host's networks, loopback excepted.
///
/// # Errors
/// The ports can't be had. That nobody answers is an empty list; that the address says nobody listens there is one too.
pub fn find(net: &Arc<dyn Net>, addr: Option<IpAddr>) -> Result<Vec<FoundRadio>, RadioError> {
    let addrs = match addr {
        Some(addr) => BTreeSet::from([addr]),
        None => broadcast(&**net, &networks())?,
    };
    addrs.into_iter().filter_map(|addr| describe(net, addr).transpose()).collect()
}

/// Finding at an address; `None`: nothing that answers.
fn describe(net: &Arc<dyn Net>, addr: IpAddr) -> Result<Option<FoundRadio>, RadioError> {
    let mut control = Control::open(net, addr)?;
    control.set_patience(PATIENCE);
    let identity = match identify(&mut control) {
        Ok(identity) => identity,
        Err(RadioError::NothingThere { .. } | RadioError::PortClosed { .. }) => return Ok(None),
        Err(RadioError::OtherKind { found: foreign::X300, .. }) => return describe_x310(net, addr),
        Err(error) => return spoilt(addr, None, error),
    };
    let speed = if identity.software { net.speed_of(addr) } else { None };
    let owner = other_owner(&mut control, speed.unwrap_or_default(), 0)
        .map(|owner| owner.map(|(owner, age)| (owner, Some(age.as_secs_f64()))));
    described(addr, AnyIdentity::N200(identity), owner)
}

fn describe_x310(net: &Arc<dyn Net>, addr: IpAddr) -> Result<Option<FoundRadio>, RadioError> {
    let mut firmware = Firmware::open(net, addr)?;
    firmware.set_patience(PATIENCE);
    let identity = match x310::identify(&mut firmware) {
        Ok(identity) => identity,
        Err(error) => return spoilt(addr, None, error),
    };
    let owner = x310::owner(&mut firmware).map(|owner| owner.map(|owner| (owner, None)));
    described(addr, AnyIdentity::X310(identity), owner)
}

/// A radio, and who has it: with the seconds since its last sign, where that is known.
fn described(
    addr: IpAddr,
    identity: AnyIdentity,
    owner: Result<Option<(u32, Option<f64>)>, RadioError>,
) -> Result<Option<FoundRadio>, RadioError> {
    let state = match owner {
        Ok(Some((owner, age_s))) => FoundState::InUse { owner, age_s },
        Ok(None) => FoundState::Free,
        Err(error) => return spoilt(addr, Some(identity), error),
    };
    Ok(Some(FoundRadio { addr, identity: Some(identity), state }))
}

/// A radio that does not say what it should. That is its own affair and spoils no search for others; that this host has no port to
/// ask by does.
fn spoilt(addr: IpAddr, identity: Option<AnyIdentity>, error: RadioError) -> Result<Option<FoundRadio>, RadioError> {
    match error {
        RadioError::Engine(_) => Err(error),
        error => Ok(Some(FoundRadio { addr, identity, state: FoundState::Unsuitable { why: error.to_string() } })),
    }
}

/// Radios that answer a hello on these networks, each given by an address of ours on it and its broadcast address.
fn broadcast(net: &dyn Net, networks: &[(Ipv4Addr, Ipv4Addr)]) -> Result<BTreeSet<IpAddr>, RadioError> {
    let mut found = BTreeSet::new();
    for &(own, everyone) in networks {
        // One port a network: an address that has just gone must not spoil the search on the others.
        let config = Config::new(vec![PortSpec { bind: SocketAddr::new(own.into(), 0), peer: None }]);
        let Ok(mut engine) = net.open(Role::Control, &config) else { continue };
        let hello = ControlRequest::new(0, ControlAsk::Hello);
        let mut batch = engine.reserve(2);
        let to = SocketAddr::new(everyone.into(), ports::CONTROL);
        batch.push(PortIndex(0), Some(to), |frame| hello.write(frame).unwrap_or(0));
        batch.push(PortIndex(0), Some(to), foreign::write_hello);
        batch.send(Wait::Poll)?;
        let end = net.now() + MOST;
        let mut until = net.now() + QUIET;
        while net.now() < until {
            let batch = engine.recv(Wait::Until(until))?;
            let answers = batch.iter().filter(|datagram| {
                let answer = ControlReply::parse(datagram.bytes).map(|reply| reply.answer);
                matches!(answer, Ok(ControlAnswer::Hello { .. })) || foreign::is_answer(datagram.bytes)
            });
            let before = found.len();
            found.extend(answers.map(|datagram| datagram.source.ip()));
            if found.len() > before {
                until = end.min(net.now() + QUIET);
            }
        }
    }
    Ok(found)
}

/// This host's networks: its own address and the broadcast address of each, loopback excepted.
fn networks() -> Vec<(Ipv4Addr, Ipv4Addr)> {
    use nix::net::if_::InterfaceFlags;
    let Ok(interfaces) = nix::ifaddrs::getifaddrs() else { return Vec::new() };
    let wanted = InterfaceFlags::IFF_UP | InterfaceFlags::IFF_BROADCAST;
    let ipv4 = |address: Option<nix::sys::socket::SockaddrStorage>| Some(address?.as_sockaddr_in()?.ip());
    interfaces
        .filter(|interface| interface.flags.contains(wanted))
        .filter_map(|interface| Some((ipv4(interface.address)?, ipv4(interface.broadcast)?)))
        .collect()
}
