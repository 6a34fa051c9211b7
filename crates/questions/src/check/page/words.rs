//! The check's terms in words, the same everywhere.

use crate::check::{Format, Layer, Mode, Need, RoundState};

use takt_page::Unit;

/// `receive`, `transmit`, `duplex`.
pub(crate) fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Rx => "receive",
        Mode::Tx => "transmit",
        Mode::Duplex => "duplex",
    }
}

/// `12.5 MS/s`.
pub(crate) fn rate(sps: f64) -> String {
    Unit::SAMPLES_PER_S.show(sps, 4)
}

/// `250 µs`.
pub(super) fn time(us: f64) -> String {
    Unit::SECONDS.show(us * 1e-6, 3)
}

/// `25 + 25 MS/s sc16`, `receive 25 MS/s sc16`.
pub(super) fn stream(m: Mode, f: Format, sps: f64) -> String {
    let rate = rate(sps);
    match m {
        Mode::Duplex => {
            let number = rate.split('\u{a0}').next().unwrap_or_default().to_owned();
            format!("{number}\u{a0}+\u{a0}{rate} {}", f.name())
        }
        one_way => format!("{} {rate} {}", mode(one_way), f.name()),
    }
}

/// `N200 25 + 25 MS/s sc16`.
pub(super) fn need(need: &Need) -> String {
    format!("{} {}", need.model, stream(need.mode, need.format, need.rate_sps))
}

/// `an N200 at 25 + 25 MS/s sc16`, `an N200 receiving 25 MS/s sc16`.
pub(crate) fn radio_at(need: &Need) -> String {
    let does = match need.mode {
        Mode::Rx => format!("receiving {} {}", rate(need.rate_sps), need.format.name()),
        Mode::Tx => format!("transmitting {} {}", rate(need.rate_sps), need.format.name()),
        Mode::Duplex => format!("at {}", stream(need.mode, need.format, need.rate_sps)),
    };
    format!("an {} {does}", need.model)
}

pub(super) fn layer(layer: Layer) -> &'static str {
    match layer {
        Layer::Sender => "sending thread",
        Layer::KernelPath => "kernel's path between the sockets",
        Layer::ReceiveBuffer => "receive buffer of the host's socket",
        Layer::ReaderThread => "receiving thread",
        Layer::Cpu => "CPU",
        Layer::Radio => "radio, or the network before it",
        Layer::Emulator => "emulator itself; says nothing about the host",
        Layer::Unknown => "no counter shows it",
    }
}

pub(crate) fn state(state: RoundState) -> &'static str {
    match state {
        RoundState::Valid => "counts",
        RoundState::Disturbed => "disturbed",
        RoundState::EmulatorLate => "emulator late",
        RoundState::Failed => "could not be run",
        RoundState::HostBusy => "host too busy",
        RoundState::Skipped => "not run",
    }
}

/// `1 core`, `12 345 cores`: never broken over two lines, and digits in groups, other than [`takt_base::words::plural`].
pub(crate) fn plural(n: usize, thing: &str) -> String {
    format!("{}\u{a0}{thing}{}", takt_page::count(n as u64), if n == 1 { "" } else { "s" })
}

pub(crate) fn round(id: i64) -> String {
    format!("round-{id}")
}

/// Which datagram sizes: `16 to 1472 B`.
pub(super) fn sizes(points: &[crate::check::UdpPoint]) -> String {
    let sizes = || points.iter().map(|p| f64::from(p.payload_bytes));
    let (low, high) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
    format!("{low} to {}", Unit::BYTES.show(high, 4))
}
