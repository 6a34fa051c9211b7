//! Settings that `record` and `play` ask a radio for.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use takt_base::words::capital;
use takt_base::{parse_ip, parse_number};
use takt_dsp::file::{Existing, SampleFormat};
use takt_dsp::sigmf::Checksum;
use takt_live::{Kind, Publisher};
use takt_packet::EngineKind;
use takt_radio::calibration::{AppliedTable, CalibrationUse};
use takt_radio::n200::ClockSource;
use takt_radio::sigmf::Session;
use takt_radio::{FrontEnd, Net, StreamProbe, Tuned, WallNet, watched_stream};
use takt_soapy::{DeviceSpec, PlayWish, RecordWish};
use takt_wire::sample::Format;

use crate::policy::StreamingThread;
use crate::{LiveArgs, Output, Problem, soapy};

/// Flags of a session between a radio and a recording.
#[derive(Debug, clap::Args)]
pub struct RadioArgs {
    /// Common name of the recording's two files.
    file: PathBuf,
    /// Address of the radio.
    #[arg(long, default_value = "127.0.0.1", value_parser = parse_ip)]
    addr: IpAddr,
    /// Device of SoapySDR instead, as soapy:driver=uhd,addr=192.168.10.2. Needs a build with the feature soapy.
    #[arg(long, value_name = "DEVICE", conflicts_with_all = ["addr", "force"])]
    device: Option<DeviceSpec>,
    // `play` has another help for this one.
    /// Center frequency in Hz (N200).
    #[arg(long, value_name = "HZ", value_parser = parse_number)]
    freq: Option<f64>,
    /// Gain in dB (N200).
    #[arg(long, value_name = "DB")]
    gain: Option<f64>,
    /// Antenna (N200). `takt probe` lists them.
    #[arg(long, value_name = "NAME")]
    antenna: Option<String>,
    /// Sample format on the wire: sc16 or sc8.
    #[arg(long, value_name = "FORMAT", default_value = "sc16")]
    wire: Format,
    /// Packet engine.
    #[arg(
        long,
        help = format!("Packet engine: {}", EngineKind::FORMS),
        value_name = "ENGINE",
        default_value = "mmsg"
    )]
    engine: EngineKind,
    /// Clock reference of the radio: internal, external or mimo. External and mimo must lock.
    #[arg(long, value_name = "SOURCE", default_value = "internal")]
    reference: ClockSource,
    /// Calibration files to apply when tuning (N200): uhd (those of `takt radio calibrate` and UHD) or off.
    #[arg(long, value_name = "FILES", default_value = "uhd")]
    calibration: CalibrationUse,
    /// Take over the radio even if another host uses it.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    thread: StreamingThread,
    #[command(flatten)]
    live: LiveArgs,
}

impl RadioArgs {
    /// Opens the process to who watches, for the stream that the session opens with the probe.
    pub fn publish(&self, kind: Kind, output: &Output) -> (Option<Publisher>, Option<StreamProbe>) {
        let (probe, view) = watched_stream();
        let title = format!("{} and {}", self.addr, self.file.display());
        let publisher = self.live.publish(kind, &title, view, output);
        let probe = publisher.is_some().then_some(probe);
        (publisher, probe)
    }

    /// The session, and the network it runs over. `transmit`: the radio may, even if it is not takt's own. `rx_channels`:
    /// those to record from.
    pub fn open(self, transmit: bool, rx_channels: Vec<u8>, probe: Option<StreamProbe>) -> (Session, Arc<dyn Net>) {
        let front_end = self.front_end();
        let session = Session {
            addr: self.addr,
            path: self.file,
            front_end,
            rx_channels,
            wire: self.wire,
            force: self.force,
            reference: self.reference,
            transmit,
            calibration: self.calibration,
            placement: self.thread.placement(),
            probe,
        };
        (session, Arc::new(WallNet::new(self.engine)))
    }

    /// The device of SoapySDR, if one was named; then a flag that is about takt's own driver is refused.
    pub fn device(&self) -> Result<Option<&DeviceSpec>, Problem> {
        let Some(device) = &self.device else { return Ok(None) };
        let placement = self.thread.clone().placement();
        let given = [
            ("--engine", self.engine != EngineKind::Mmsg),
            ("--calibration", self.calibration == CalibrationUse::Off),
            ("--reference", self.reference != ClockSource::default()),
            ("--cores", !placement.cpus.is_empty()),
            ("--policy", placement.priority.is_some()),
        ];
        match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((flag, _)) => Err(soapy::no_effect(flag)),
            None => Ok(Some(device)),
        }
    }

    /// The recording to be made from a device of SoapySDR.
    pub fn record_wish(
        &self,
        rate_sps: f64,
        channels: &[u8],
        samples: Option<u64>,
        (format, existing): (SampleFormat, Existing),
    ) -> RecordWish {
        RecordWish {
            path: self.file.clone(),
            rate_sps,
            channels: channels.iter().copied().map(usize::from).collect(),
            samples,
            format,
            existing,
            front_end: self.front_end(),
            wire: self.wire_choice(),
        }
    }

    /// The samples to be played to a device of SoapySDR: a channel of the recording, this often.
    pub fn play_wish(&self, rate_sps: Option<f64>, channel: u64, times: u64, transmit: bool) -> PlayWish {
        PlayWish {
            path: self.file.clone(),
            channel,
            rate_sps,
            tx_channel: 0,
            times,
            front_end: self.front_end(),
            wire: self.wire_choice(),
            transmit,
        }
    }

    fn front_end(&self) -> FrontEnd {
        FrontEnd { frequency_hz: self.freq, gain_db: self.gain, antenna: self.antenna.clone() }
    }

    /// Only a driver that has a choice is told.
    fn wire_choice(&self) -> Option<String> {
        (self.wire != Format::default()).then(|| self.wire.name().to_owned())
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

/// The channels of a recording of several.
pub fn interleaved(channels: usize) -> Option<String> {
    (channels > 1)
        .then(|| format!("  channels  {channels}, a sample of each in turn; counts are those of each channel"))
}

/// The files of corrections that were applied or could not be, each as a line.
pub fn calibrated(tables: &[AppliedTable]) -> impl Iterator<Item = String> {
    tables.iter().map(|table| {
        let (key, path) =
            (table.kind.key(), table.path.as_ref().map_or_else(String::new, |path| path.display().to_string()));
        match (&table.unusable, table.stale.as_slice()) {
            (Some(why), _) => format!("  calibration  {key} is not applied: {why}"),
            (None, []) => format!("  calibration  {key} of {path}"),
            (None, stale) => {
                let why: Vec<String> = stale.iter().map(ToString::to_string).collect();
                format!("  calibration  {key} of {path} may be stale: {}", why.join("; "))
            }
        }
    })
}

/// The answer of a recording that was played, of which nothing was late.
pub fn in_time(radio_speed: Option<f64>, clipped: u64) -> String {
    let all = at_speed(radio_speed, "all of it left in time");
    match clipped {
        0 => format!("{all}."),
        1 => format!("{all}, but 1 sample was clipped. It exceeds full scale, 1.0."),
        _ => format!("{all}, but {clipped} samples were clipped. They exceed full scale, 1.0."),
    }
}

/// The parts of a recording that were not played or not checked, each as a line.
pub fn left_out(channel: u64, channels: u64, skipped_samples: u64, sha512: Checksum) -> Vec<String> {
    let all = [
        (channels > 1).then(|| format!("  channel   {channel} of 0 to {}", channels - 1)),
        (skipped_samples > 0).then(|| format!("  skipped   {skipped_samples} samples before the first capture")),
        (sha512 == Checksum::Unchecked).then(|| "  sha512    not checked: the data exceed 1 GiB".to_owned()),
    ];
    all.into_iter().flatten().collect()
}

/// `Yes: nothing is missing`, or of a radio whose time passes slower or faster, `Nothing is missing, at 0.1 of real time`: that
/// does not show what holds in real time.
pub fn at_speed(radio_speed: Option<f64>, what: &str) -> String {
    match radio_speed.filter(|speed| *speed != 1.0) {
        None => format!("Yes: {what}"),
        Some(speed) => format!("{}, at {speed} of real time", capital(what)),
    }
}
