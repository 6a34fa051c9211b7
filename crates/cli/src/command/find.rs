//! `takt find`: discover radios.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::sync::Arc;

use takt_base::parse_ip;
use takt_packet::EngineKind;
use takt_radio::{About, AnyIdentity, FoundRadio, FoundState, Net, WallNet, find};
use takt_soapy::DeviceSpec;

use crate::{Answer, Output, radio_problem, soapy};

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  takt find\n  takt find --addr 192.168.10.2\n\n\
    Without --addr, takt searches every network of this host except loopback.\n\
    Give the address of a radio on loopback.\n\n\
    Exit status:\n  0  something was found\n  1  nothing was found\n  2  the command failed")]
pub struct Args {
    /// Ask only this address.
    #[arg(long, value_parser = parse_ip)]
    addr: Option<IpAddr>,
    /// Ask SoapySDR for its devices instead, those of soapy:driver=uhd for instance. Needs a build with the feature soapy.
    #[arg(long, value_name = "DEVICE", conflicts_with = "addr")]
    device: Option<DeviceSpec>,
}

pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    if let Some(device) = &args.device {
        return soapy::find(device, output);
    }
    let net: Arc<dyn Net> = Arc::new(WallNet::new(EngineKind::Socket));
    let found = find(&net, args.addr).map_err(|error| radio_problem::problem("look for radios", error, "use"))?;
    output.answer(&found, || text(&found, args.addr), Answer::of(!found.is_empty()))
}

fn text(found: &[FoundRadio], addr: Option<IpAddr>) -> String {
    if found.is_empty() {
        let place = addr.map_or("on the networks of this host".to_owned(), |addr| format!("at {addr}"));
        return format!("No radio answers {place}.");
    }
    let mut text = String::new();
    for radio in found {
        let _ = match &radio.identity {
            Some(id) => {
                let About { model, serial, name, firmware, fpga } = id.about();
                let name = if name.is_empty() { String::new() } else { format!(" name {name}") };
                write!(text, "{}  {model} serial {serial}{name}  firmware {firmware} FPGA {fpga}  ", radio.addr)
            }
            None => write!(text, "{}  ", radio.addr),
        };
        let _ = match &radio.state {
            FoundState::Free => writeln!(text, "free{}", own(radio)),
            FoundState::InUse { owner, age_s } => {
                let sign = age_s.map_or("within 2 s".to_owned(), |age_s| format!("{age_s:.1} s ago"));
                writeln!(text, "in use by host {owner:#010x}, last sign {sign}{}", own(radio))
            }
            FoundState::Unsuitable { why } => writeln!(text, "can't be used: {why}"),
        };
    }
    text
}

fn own(radio: &FoundRadio) -> &'static str {
    let software = radio.identity.as_ref().is_some_and(AnyIdentity::software);
    if software { "  takt's emulator" } else { "" }
}
