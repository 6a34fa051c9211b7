//! Errors of radios as problems: what, why, and what to do.

use takt_host::call;
use takt_packet::EngineError;
use takt_radio::n200::Emission;
use takt_radio::{Model, RadioError};

use crate::Problem;

/// What shows which radios there are.
fn find() -> String {
    format!("{}   (shows the radios on this host's networks)", call::takt("find"))
}

/// Says why a radio could not be `used` (`open the radio`, `stream`); `rate_flag` is the flag that named a wrong rate.
pub fn problem(used: &str, error: RadioError, rate_flag: &str) -> Problem {
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
            return no_such_rate(*requested_sps, f64::from(*clock_hz), *nearest_sps, rate_flag);
        }
        _ => format!("can't {used}"),
    };
    Problem::caused(what, error, fix)
}

fn fix(error: &RadioError) -> Option<String> {
    Some(match error {
        RadioError::NothingThere { .. } => {
            format!("{}\ncheck power, cable and address: an N200 leaves the factory as 192.168.10.2", find())
        }
        RadioError::PortClosed { addr } => {
            let emulate = call::takt(format_args!("emulate n200 --addr {}", addr.ip()));
            format!("{emulate}   (a software radio there)\n{}", find())
        }
        RadioError::OtherKind { .. } => "use the address of an N200, N210 or X310".to_owned(),
        RadioError::Firmware { kind, addr, .. } | RadioError::Fpga { kind, addr, .. } => format!(
            "uhd_images_downloader, then uhd_image_loader --args type={kind},addr={addr} writes firmware and FPGA image that match"
        ),
        RadioError::InUse { .. } => "end the other program\n--force takes the radio away from it".to_owned(),
        RadioError::TakenOver { .. }
        | RadioError::Restarted { .. }
        | RadioError::Gone { .. }
        | RadioError::Silent { .. } => {
            "what was received until then is kept; start again when the radio is back".to_owned()
        }
        RadioError::Engine(EngineError::InterfaceGone { .. }) => {
            "what was received until then is kept; start again when the interface is back".to_owned()
        }
        RadioError::Engine(EngineError::PortInUse { .. }) => "end the program that has the port".to_owned(),
        RadioError::File(file) => file.fix(),
        RadioError::Range { low, high, .. } => format!("a value from {low} to {high}"),
        RadioError::Name { known, .. } => format!("one of {}", known.join(", ")),
        RadioError::NotSetUp { .. } => call::takt("emulate x310 --addr 127.0.0.1   (a software radio)"),
        _ => return error.fix().map(Into::into),
    })
}

fn no_such_rate(requested_sps: f64, clock_hz: f64, nearest_sps: [f64; 2], flag: &str) -> Problem {
    let (requested, clock, quotient) = (mega(requested_sps), mega(clock_hz), clock_hz / requested_sps);
    let fix = |sps: f64| format!("{flag} {}M (divide by {})", mega(sps), (clock_hz / sps).round());
    let [below, above] = nearest_sps.map(fix);
    let radio = Model::ALL.into_iter().find(|model| f64::from(model.clock().hz()) == clock_hz).unwrap_or_default();
    Problem::new(format!("an {radio} can't stream at {requested} MS/s"))
        .why(format!(
            "{requested} MS/s is not {clock} MHz divided by a whole number it has ({clock} / {requested} = {quotient:.2})"
        ))
        .fix(if below == above { below } else { format!("{below}\n{above}") })
}

/// What a person must know before a radio transmits.
pub fn on_air(emission: &Emission) -> String {
    format!("transmits {emission}; {}", emission.radio)
}

/// In millions, to six decimals.
pub fn mega(value: f64) -> String {
    let text = format!("{:.6}", value / 1e6);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
