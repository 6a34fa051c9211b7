//! Errors of radios as problems: what, why, and what to do.

use takt_dsp::file::FileError;
use takt_host::call;
use takt_packet::EngineError;
use takt_radio::n200::Emission;
use takt_radio::{Model, RadioError};

use crate::Problem;
use crate::policy::placement_refused;

/// Command that shows which radios there are.
fn find() -> String {
    format!("{}   (shows the radios on this host's networks)", call::takt("find"))
}

/// Says why a radio could not be `used` (`open the radio`, `stream`); `rate` begins the fix of a wrong rate (`give --rx`).
pub fn problem(used: &str, error: RadioError, rate: &str) -> Problem {
    let error = match error {
        RadioError::Placement(refused) => return placement_refused(refused),
        RadioError::File(error) => return of_file(used, error),
        error => error,
    };
    let what = match &error {
        RadioError::NothingThere { addr, .. } => format!("no radio answers at {addr}"),
        RadioError::PortClosed { addr } => format!("no radio at {}", addr.ip()),
        RadioError::TakenOver { .. }
        | RadioError::Restarted { .. }
        | RadioError::Gone { .. }
        | RadioError::Silent { .. } => {
            format!("can't {used} any more")
        }
        RadioError::Rate { requested_sps, clock_hz, nearest_sps } => {
            return no_such_rate(*requested_sps, f64::from(*clock_hz), *nearest_sps, rate);
        }
        _ => format!("can't {used}"),
    };
    Problem::caused(what, error, fix)
}

/// The name of a missing file says it all.
pub fn of_file(used: &str, error: FileError) -> Problem {
    let (fix, is_missing) = (error.fix(), error.is_missing());
    match error {
        FileError::Io { path, .. } if is_missing => {
            Problem::new(format!("there is no file {}", path.display())).fix(fix)
        }
        error => Problem::new(format!("can't {used}")).why(error).fix(fix),
    }
}

fn fix(error: &RadioError) -> Option<String> {
    Some(match error {
        RadioError::NothingThere { .. } => {
            format!("{}\ncheck power, cable and address: an N200 leaves the factory as 192.168.10.2", find())
        }
        // An emulator has no other address either.
        RadioError::PortClosed { addr } if addr.is_ipv6() => {
            format!("give the IPv4 address of the radio, such as 192.168.10.2\n{}", find())
        }
        RadioError::PortClosed { addr } => {
            let emulate = call::takt(format_args!("emulate n200 --addr {}", addr.ip()));
            format!("{emulate}   (starts an emulator there)\n{}", find())
        }
        RadioError::OtherKind { .. } => "use the address of an N200, N210 or X310".to_owned(),
        RadioError::Firmware { kind, addr, .. } | RadioError::Fpga { kind, addr, .. } => format!(
            "run uhd_images_downloader, then uhd_image_loader --args type={kind},addr={addr}, to write matching firmware and \
             FPGA image"
        ),
        RadioError::InUse { .. } => "end the other program\ngive --force, to take the radio away from it".to_owned(),
        RadioError::TakenOver { .. }
        | RadioError::Restarted { .. }
        | RadioError::Gone { .. }
        | RadioError::Silent { .. } => {
            "start again when the radio is back; takt keeps what it received until then".to_owned()
        }
        RadioError::Engine(EngineError::InterfaceGone { .. }) => {
            "start again when the interface is back; takt keeps what it received until then".to_owned()
        }
        RadioError::Engine(EngineError::PortInUse { .. }) => "end the program that has the port".to_owned(),
        RadioError::Range { low, high, .. } => format!("give a value from {low} to {high}"),
        RadioError::Name { known, .. } => format!("give one of {}", known.join(", ")),
        RadioError::Board { what, .. } => format!("omit the {what}: these boards have none to set"),
        RadioError::NotSetUp { .. } => call::takt("emulate x310 --addr 127.0.0.1   (starts an emulator)"),
        _ => return error.fix().map(Into::into),
    })
}

fn no_such_rate(requested_sps: f64, clock_hz: f64, nearest_sps: [f64; 2], rate: &str) -> Problem {
    let (requested, clock, quotient) = (mega(requested_sps), mega(clock_hz), clock_hz / requested_sps);
    let fix = |sps: f64| format!("{rate} {}M (divide by {})", mega(sps), (clock_hz / sps).round());
    let [below, above] = nearest_sps.map(fix);
    let radio = Model::ALL.into_iter().find(|model| f64::from(model.clock().hz()) == clock_hz).unwrap_or_default();
    Problem::new(format!("an {radio} can't stream at {requested} MS/s"))
        .why(format!(
            "{requested} MS/s is not {clock} MHz divided by a whole number that it supports ({clock} / {requested} = \
             {quotient:.2})"
        ))
        .fix(if below == above { below } else { format!("{below}\n{above}") })
}

/// Facts that a person must know before a radio transmits.
pub fn on_air(emission: &Emission) -> String {
    format!("transmits {emission}; {}", emission.radio)
}

/// In millions, to six decimals.
pub fn mega(value: f64) -> String {
    let text = format!("{:.6}", value / 1e6);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emulator_is_advised_only_where_it_can_listen() {
        let closed =
            |addr: &str| fix(&RadioError::PortClosed { addr: addr.parse().expect("an address") }).expect("a fix");
        assert!(closed("127.0.0.1:49152").contains("emulate n200 --addr 127.0.0.1 "));
        assert!(!closed("[::1]:49152").contains("emulate"), "{}", closed("[::1]:49152"));
    }
}
