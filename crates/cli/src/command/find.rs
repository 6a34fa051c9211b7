//! `takt find`: discover radios.

use std::fmt::Write as _;
use std::net::IpAddr;
use std::sync::Arc;

use takt_packet::EngineKind;
use takt_radio::{About, AnyIdentity, Found, FoundState, Net, WallNet, find};

use crate::radio_problem;
use crate::{Answer, Output};

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  takt find\n  takt find --addr 192.168.10.2\n\n\
    Without --addr every network of this host is searched, loopback excepted; a radio on loopback is found by its address.\n\
    Exit status: 0 something was found, 1 nothing was.")]
pub struct Args {
    /// Ask at this address only.
    #[arg(long)]
    addr: Option<IpAddr>,
}

pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    let net: Arc<dyn Net> = Arc::new(WallNet::new(EngineKind::Socket));
    let found = find(&net, args.addr).map_err(|error| radio_problem::problem("look for radios", error, ""))?;
    output.answer(&found, || text(&found, args.addr), Answer::of(!found.is_empty()))
}

fn text(found: &[Found], addr: Option<IpAddr>) -> String {
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

fn own(radio: &Found) -> &'static str {
    let software = radio.identity.as_ref().is_some_and(AnyIdentity::software);
    if software { "  software radio of takt's" } else { "" }
}
