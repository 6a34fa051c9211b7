//! The air between two software X310: equal paths both ways, noise, and an oscillator that is a little off.

use std::net::Ipv4Addr;

/// How long samples wait in the air, so that what is sent meanwhile is in.
const LATENCY_US: u32 = 500;
/// Noise at each receiver against a full-scale tone: 30 dB below a full carrier, whose amplitude is 0.2 and whose path takes 20 dB.
const NOISE_DBFS: f64 = -64.0;
/// How fast the terminal's oscillator is, in millionths.
const OFFSET_PPM: f64 = 0.5;

/// The terminal's radio, which stands beside the base station's: the next address, on loopback the same one of another network.
#[must_use]
pub fn terminal_radio(station: Ipv4Addr) -> Ipv4Addr {
    let [a, b, c, d] = station.octets();
    if station.is_loopback() {
        Ipv4Addr::new(a, b.wrapping_add(4), c, d)
    } else {
        Ipv4Addr::new(a, b, c, d.wrapping_add(1))
    }
}

/// The air as a file for `takt emulate --config`.
pub(super) fn scene(station: Ipv4Addr) -> String {
    let radio = |name: &str, addr: Ipv4Addr, more: &str| {
        format!(
            "[[radio]]\nname = \"{name}\"\nmodel = \"x310\"\naddr = \"{addr}\"\n{more}\
             receive = {{ noise_dbfs = {NOISE_DBFS:.1} }}\n\n"
        )
    };
    let link = |from: &str, to: &str| {
        format!("[[link]]\nfrom = \"{from}:0\"\nto = \"{to}:0\"\ngain_db = -20.0\ndelay_ns = 1000.0\n\n")
    };
    [
        format!("seed = 1\nlatency_us = {LATENCY_US}\n\n"),
        radio("enb", station, ""),
        radio("ue", terminal_radio(station), &format!("clock_offset_ppm = {OFFSET_PPM:.2}\n")),
        link("enb", "ue"),
        link("ue", "enb"),
    ]
    .concat()
}
