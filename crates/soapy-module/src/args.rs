//! Arguments of devices and streams, as SoapySDR has them: pairs of texts. A key that takt does not know is refused.

use std::net::IpAddr;
use std::sync::Arc;

use takt_base::parse_ip;
use takt_packet::EngineKind;
use takt_radio::calibration::CalibrationUse;
use takt_radio::n200::{ClockSource, OpenOptions};
use takt_radio::x310::MasterClock;
use takt_radio::{AnyIdentity, AnyOptions, FoundState, Net, WallNet};
use takt_wire::sample::Format;

use crate::{DRIVER, ModuleError};

/// Keys of a device that mean something.
const KEYS: [&str; 8] =
    ["addr", "engine", "transmit", "reference", "calibration", "force", "frame_bytes", "master_clock"];
/// Keys by which a search describes a radio: SoapySDR hands them back when it opens the radio.
const DESCRIBING: [&str; 8] = ["driver", "label", "model", "name", "product", "serial", "state", "type"];
/// A server of SoapyRemote adds this key to what its client gives. The client's own keys then come along.
const BY_SERVER: &str = "soapy_remote_no_deeper";
/// Keys of SoapyRemote's client, as its server passes them on.
const OF_CLIENT: [&str; 4] = ["remote", "prot", "timeout", "ipver"];
/// How keys of a stream begin that SoapyRemote's client reads itself.
const REMOTE: &str = "remote:";

/// How a device is opened.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Args {
    /// The radio's address.
    pub addr: IpAddr,
    /// The packet engine of its streams.
    pub engine: EngineKind,
    /// The rest.
    pub options: AnyOptions,
}

impl Args {
    /// Reads the pairs of a program.
    ///
    /// # Errors
    /// `Key`, `Value` or `NoAddress`.
    pub fn read(pairs: &[(&str, &str)]) -> Result<Args, ModuleError> {
        let mut addr = None;
        let mut engine = EngineKind::Mmsg;
        let mut n200 = OpenOptions::default();
        let (mut frame_bytes, mut clock) = (None, MasterClock::default());
        let by_server = pairs.iter().any(|(key, _)| *key == BY_SERVER);
        for &(key, value) in pairs {
            match key {
                "addr" => addr = Some(address(value)?),
                "engine" => engine = value.parse().map_err(|_| refused(key, value, EngineKind::FORMS))?,
                "transmit" => n200.transmit = flag(key, value)?,
                "force" => n200.force = flag(key, value)?,
                "reference" => {
                    n200.reference =
                        value.parse::<ClockSource>().map_err(|_| refused(key, value, "internal, external or mimo"))?;
                }
                "calibration" => {
                    n200.calibration =
                        value.parse::<CalibrationUse>().map_err(|_| refused(key, value, "uhd or off"))?;
                }
                "frame_bytes" => frame_bytes = Some(number(key, value)?),
                "master_clock" => clock = master_clock(value)?,
                _ if DESCRIBING.contains(&key) || by_server && (key == BY_SERVER || OF_CLIENT.contains(&key)) => {}
                _ => return Err(ModuleError::Key { key: key.to_owned(), known: KEYS.to_vec() }),
            }
        }
        let addr = addr.ok_or(ModuleError::NoAddress)?;
        Ok(Args { addr, engine, options: AnyOptions { n200, frame_bytes, clock } })
    }
}

/// How a stream is set up, besides its format and channels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamArgs {
    /// On the wire.
    pub wire: Format,
    /// Samples in a datagram; `None`: as many as it holds.
    pub packet_samples: Option<usize>,
}

impl StreamArgs {
    /// Reads the pairs of a program: `WIRE`, as SoapySDR's module for UHD calls it, and `packet_samples`.
    ///
    /// # Errors
    /// `Key` or `Value`.
    pub fn read(pairs: &[(&str, &str)]) -> Result<StreamArgs, ModuleError> {
        let mut args = StreamArgs { wire: Format::Sc16, packet_samples: None };
        for &(key, value) in pairs {
            match key {
                "WIRE" | "wire" => args.wire = value.parse().map_err(|_| refused(key, value, "sc16 or sc8"))?,
                "packet_samples" => args.packet_samples = Some(number(key, value)?),
                _ if key.starts_with(REMOTE) => {}
                _ => return Err(ModuleError::Key { key: key.to_owned(), known: vec!["WIRE", "packet_samples"] }),
            }
        }
        Ok(args)
    }
}

/// Radios that suit the pairs of a search, each as pairs that open it: the one at `addr`, or those that answer on this host's
/// networks. Keys of other drivers restrict nothing.
///
/// # Errors
/// `Value` for an address that is none, if the search names takt's driver; this host has no port to ask by.
pub fn find(pairs: &[(&str, &str)]) -> Result<Vec<Vec<(&'static str, String)>>, ModuleError> {
    let value = |wanted: &str| pairs.iter().find(|(key, _)| *key == wanted).map(|(_, value)| *value);
    let is_for_takt = value("driver") == Some(DRIVER);
    let addr = match value("addr").map(address) {
        Some(Err(error)) if is_for_takt => return Err(error),
        Some(Err(_)) => return Ok(Vec::new()),
        Some(Ok(addr)) => Some(addr),
        None => None,
    };
    let net: Arc<dyn Net> = Arc::new(WallNet::new(EngineKind::Socket));
    let mut found = Vec::new();
    for radio in takt_radio::find(&net, addr)? {
        let Some(identity) = &radio.identity else { continue };
        if value("serial").is_none_or(|serial| serial == identity.about().serial) {
            found.push(described(radio.addr, identity, &radio.state));
        }
    }
    Ok(found)
}

fn described(addr: IpAddr, identity: &AnyIdentity, state: &FoundState) -> Vec<(&'static str, String)> {
    let about = identity.about();
    let state = match state {
        FoundState::Free => "free",
        FoundState::InUse { .. } => "in use",
        FoundState::Unsuitable { .. } => "unsuitable",
    };
    vec![
        ("addr", addr.to_string()),
        ("label", format!("takt: {} {} at {addr}", about.model, about.serial)),
        ("model", about.model.to_owned()),
        ("name", about.name.to_owned()),
        ("serial", about.serial.to_owned()),
        ("state", state.to_owned()),
    ]
}

fn address(text: &str) -> Result<IpAddr, ModuleError> {
    parse_ip(text).map_err(|error| refused("addr", text, error.expected))
}

fn flag(key: &str, value: &str) -> Result<bool, ModuleError> {
    match value {
        "yes" | "true" | "1" => Ok(true),
        "no" | "false" | "0" => Ok(false),
        _ => Err(refused(key, value, "yes or no")),
    }
}

fn number(key: &str, value: &str) -> Result<usize, ModuleError> {
    value.parse().map_err(|_| refused(key, value, "a whole number"))
}

fn master_clock(value: &str) -> Result<MasterClock, ModuleError> {
    value.parse().ok().and_then(MasterClock::of_hz).ok_or_else(|| {
        refused("master_clock", value, &MasterClock::ALL.map(|clock| clock.hz().to_string()).join(" or "))
    })
}

fn refused(key: &str, value: &str, expected: &str) -> ModuleError {
    ModuleError::Value { key: key.to_owned(), value: value.to_owned(), expected: expected.to_owned() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn arguments_are_read_and_what_describes_a_radio_changes_nothing() {
        let pairs =
            [("driver", "takt"), ("addr", "127.0.0.1"), ("engine", "uring"), ("transmit", "yes"), ("label", "x")];
        let args = Args::read(&pairs).unwrap();
        assert_eq!((args.addr.to_string().as_str(), args.engine), ("127.0.0.1", EngineKind::Uring));
        assert!(args.options.n200.transmit && !args.options.n200.force);
        let clock = Args::read(&[("addr", "::1"), ("master_clock", "184320000")]).unwrap().options.clock;
        assert_eq!(clock, MasterClock::Mhz184_32);
    }

    #[test]
    fn a_mistake_is_refused_with_what_there_is() {
        let said = |pairs: &[(&str, &str)]| Args::read(pairs).unwrap_err().words();
        assert!(said(&[("addr", "127.0.0.1"), ("engien", "mmsg")]).contains("no argument engien; it has addr, engine"));
        assert!(said(&[("addr", "localhost")]).contains("addr=localhost is not an IP address"));
        assert!(said(&[("addr", "127.0.0.1"), ("transmit", "maybe")]).contains("is not yes or no"));
        assert!(said(&[("driver", "takt")]).contains("addr=ADDRESS"));
        assert!(StreamArgs::read(&[("WIRE", "sc12")]).unwrap_err().words().contains("sc16 or sc8"));
        assert!(StreamArgs::read(&[("bufflen", "9")]).is_err());
        assert!(find(&[("driver", "takt"), ("addr", "usb:1")]).is_err());
        assert_eq!(find(&[("addr", "usb:1")]).unwrap(), Vec::<Vec<_>>::new(), "another driver's address");
    }

    #[test]
    fn keys_of_soapy_remote_come_only_from_its_server() {
        let of_client = [("addr", "127.0.0.1"), ("remote", "tcp://a:1"), ("prot", "tcp")];
        assert!(Args::read(&of_client).unwrap_err().words().contains("no argument remote"));
        let by_server = [&of_client[..], &[(BY_SERVER, "")]].concat();
        assert_eq!(Args::read(&by_server).unwrap(), Args::read(&of_client[..1]).unwrap());
        assert!(Args::read(&[&by_server[..], &[("engien", "mmsg")]].concat()).is_err());
        let stream = [("remote:mtu", "1500"), ("WIRE", "sc8")];
        assert_eq!(StreamArgs::read(&stream).unwrap(), StreamArgs::read(&stream[1..]).unwrap());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(key in 0_usize..9, value in "\\PC*") {
            let key = KEYS.get(key).copied().unwrap_or("driver");
            let _ = Args::read(&[("addr", "127.0.0.1"), (key, &value)]);
            let _ = StreamArgs::read(&[("WIRE", &value)]);
            let _ = StreamArgs::read(&[("packet_samples", &value)]);
        }
    }
}
