//! Errors of radios as stories: what, why, and what to do.

use takt_host::call;
use takt_packet::EngineError;
use takt_radio::RadioError;
use takt_radio::n200::Emission;
use takt_wire::sample::Format;

use crate::problem::Problem;

/// What shows which radios there are.
fn find() -> String {
    format!("{}   (shows the radios on this host's networks)", call::takt("find"))
}

/// Tells why a radio could not be `used` (`open the radio`, `stream`); `rate_flag` is the flag that named a wrong rate.
pub fn problem(used: &str, error: RadioError, rate_flag: &str) -> Problem {
    match &error {
        RadioError::NothingThere { addr, .. } => Problem::new(format!("no radio answers at {addr}"))
            .fix(format!("{}\ncheck power, cable and address: an N200 leaves the factory as 192.168.10.2", find()))
            .why(error),
        RadioError::PortClosed { addr } => Problem::new(format!("no radio at {}", addr.ip()))
            .fix(format!("{}   (a software radio there)\n{}", call::takt(format_args!("emulate n200 --addr {}", addr.ip())), find()))
            .why(error),
        RadioError::OtherKind { .. } => Problem::new(format!("can't {used}"))
            .fix("use the address of an N200 or N210; takt drives no other radio yet")
            .why(error),
        RadioError::Firmware { .. } => Problem::new(format!("can't {used}"))
            .fix("uhd_images_downloader, then uhd_image_loader --args type=usrp2,addr=ADDRESS writes firmware and FPGA image that match")
            .why(error),
        RadioError::Fpga { .. } => Problem::new(format!("can't {used}"))
            .fix("uhd_images_downloader, then uhd_image_loader --args type=usrp2,addr=ADDRESS writes firmware and FPGA image that match")
            .why(error),
        RadioError::InUse { .. } => Problem::new(format!("can't {used}"))
            .fix("end the other program\n--force takes the radio away from it")
            .why(error),
        RadioError::TakenOver { .. } | RadioError::Restarted { .. } | RadioError::Gone { .. } | RadioError::Silent { .. } => {
            Problem::new(format!("can't {used} any more"))
                .fix("what was received until then is kept; start again when the radio is back")
                .why(error)
        }
        RadioError::Rate { asked_sps, clock_hz, nearest_sps } => {
            let what = format!("an N200 can't stream at {} MS/s", mega(*asked_sps));
            let quotient = f64::from(*clock_hz) / asked_sps;
            let why = format!(
                "{} MS/s is not {} MHz divided by a whole number it has ({} / {} = {quotient:.2})",
                mega(*asked_sps),
                mega(f64::from(*clock_hz)),
                mega(f64::from(*clock_hz)),
                mega(*asked_sps)
            );
            let fix = |sps: f64| format!("{rate_flag} {}M (divide by {})", mega(sps), (f64::from(*clock_hz) / sps).round());
            let [below, above] = nearest_sps.map(fix);
            let fix = if below == above { below } else { format!("{below}\n{above}") };
            Problem::new(what).why(why).fix(fix)
        }
        RadioError::Engine(EngineError::PortInUse { .. }) => {
            Problem::new(format!("can't {used}")).fix("end the program that has the port").why(error)
        }
        RadioError::File(file) => {
            let fix = file.fix();
            Problem::new(format!("can't {used}")).fix(fix).why(error)
        }
        _ => {
            let fix = error.fix();
            let problem = Problem::new(format!("can't {used}")).why(error);
            match fix {
                Some(fix) => problem.fix(fix),
                None => problem,
            }
        }
    }
}

/// What a person must know before a radio transmits.
pub fn on_air(emission: &Emission) -> String {
    format!("transmits {emission}; {}", emission.radio)
}

/// A format on the wire, by its name.
pub fn wire_format(name: &str) -> Format {
    if name == "sc8" { Format::Sc8 } else { Format::Sc16 }
}

fn mega(value: f64) -> String {
    let text = format!("{:.6}", value / 1e6);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
