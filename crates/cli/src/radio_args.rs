//! What `record` and `play` ask a radio for.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use takt_base::parse_number;
use takt_packet::EngineKind;
use takt_radio::n200::ClockSource;
use takt_radio::sigmf::Session;
use takt_radio::{Net, Tuned, WallNet};
use takt_wire::sample::Format;

/// Flags of a session between a radio and a recording.
#[derive(Debug, clap::Args)]
pub struct RadioArgs {
    /// The recording: the common name of its two files.
    file: PathBuf,
    /// The radio.
    #[arg(long, default_value = "127.0.0.1")]
    addr: IpAddr,
    /// Radio frequency, Hz; `play`: instead of the recording's.
    #[arg(long, value_name = "HZ", value_parser = parse_number)]
    freq: Option<f64>,
    /// Gain, dB.
    #[arg(long, value_name = "DB")]
    gain: Option<f64>,
    /// Antenna.
    #[arg(long, value_name = "NAME")]
    antenna: Option<String>,
    /// Samples on the wire: sc16 or sc8.
    #[arg(long, value_name = "F", default_value = "sc16")]
    wire: Format,
    /// Packet engine.
    #[arg(
        long,
        help = format!("Packet engine: {}", EngineKind::FORMS),
        value_name = "E",
        default_value = "mmsg"
    )]
    engine: EngineKind,
    /// What the radio's clock follows: internal, external or mimo; another than its own must lock.
    #[arg(long, value_name = "R", default_value = "internal")]
    reference: ClockSource,
    /// Take the radio even from another host that uses it.
    #[arg(long)]
    force: bool,
}

impl RadioArgs {
    /// The session, and the network it runs over. `transmit`: the radio may, even if it is not takt's own.
    pub fn open(self, transmit: bool) -> (Session, Arc<dyn Net>) {
        let session = Session {
            addr: self.addr,
            path: self.file,
            frequency_hz: self.freq,
            gain_db: self.gain,
            antenna: self.antenna,
            wire: self.wire,
            force: self.force,
            reference: self.reference,
            transmit,
        };
        (session, Arc::new(WallNet::new(self.engine)))
    }
}

/// The first lines of a report: the recording, how much of it passed to or from which radio, and where that was tuned.
pub fn heading(file: &Path, samples: u64, rate_sps: f64, radio: &str, tuned: Option<Tuned>) -> Vec<String> {
    let (rate, seconds) = (rate_sps / 1e6, samples as f64 / rate_sps);
    let first = format!("{}: {samples} samples at {rate} MS/s ({seconds:.3} s) {radio}", file.display());
    let tuned = tuned
        .map(|tuned| format!("  tuned     {:.6} MHz (oscillator {:.6} MHz)", tuned.actual_hz / 1e6, tuned.lo_hz / 1e6));
    std::iter::once(first).chain(tuned).collect()
}
