//! Settings that `record` and `play` ask a radio for.

use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;

use takt_base::{parse_ip, parse_number};
use takt_dsp::file::{Existing, SampleFormat};
use takt_live::{Kind, Publisher};
use takt_packet::EngineKind;
use takt_radio::calibration::CalibrationUse;
use takt_radio::n200::ClockSource;
use takt_radio::sigmf::Session;
use takt_radio::{FrontEnd, Net, StreamProbe, WallNet, watched_stream};
use takt_soapy::{DeviceSpec, PlayWish, RecordWish};
use takt_wire::sample::Format;

use crate::policy::StreamingThread;
use crate::{LiveArgs, Output, Problem, soapy};

const CORES: &str = "Cores for the streaming thread [default: any]. Not with --device";
const POLICY: &str = "Scheduling policy of the streaming thread: other, or fifo:PRIORITY. Not with --device";

/// Flags of a session between a radio and a recording.
#[derive(Debug, clap::Args)]
// Other commands have the thread's flags without --device.
#[command(
    mut_arg("cores", |cores| cores.help(CORES)),
    mut_arg("priority", |policy| policy.help(POLICY))
)]
pub struct RadioArgs {
    /// Common name of the recording's two files.
    file: PathBuf,
    /// Address of the radio.
    #[arg(long, default_value = "127.0.0.1", value_parser = parse_ip)]
    addr: IpAddr,
    /// SoapySDR device instead of a radio at --addr, such as soapy:driver=uhd,addr=192.168.10.2. Needs a build with the feature
    /// soapy.
    #[arg(long, value_name = "DEVICE", conflicts_with_all = ["addr", "force"])]
    device: Option<DeviceSpec>,
    // `play` has another help for this one.
    /// Center frequency in Hz (N200, or with --device).
    #[arg(long, value_name = "HZ", value_parser = parse_number)]
    freq: Option<f64>,
    /// Gain in dB (N200, or with --device).
    #[arg(long, value_name = "DB")]
    gain: Option<f64>,
    /// Antenna (N200, or with --device). `takt probe` lists them.
    #[arg(long, value_name = "NAME")]
    antenna: Option<String>,
    /// Sample format on the wire: sc16 or sc8.
    #[arg(long, value_name = "FORMAT", default_value = "sc16")]
    wire: Format,
    /// Packet engine.
    #[arg(
        long,
        help = format!("Packet engine: {}. Not with --device", EngineKind::FORMS),
        value_name = "ENGINE",
        default_value = "mmsg"
    )]
    engine: EngineKind,
    /// Clock reference of the radio: internal, external or mimo. External and mimo must lock. Not with --device.
    #[arg(long, value_name = "SOURCE", default_value = "internal")]
    reference: ClockSource,
    /// Calibration files to apply when tuning (N200 only): uhd (those of `takt radio calibrate` and UHD) or off.
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
        let radio = self.device.as_ref().map_or_else(|| self.addr.to_string(), ToString::to_string);
        let title = format!("{radio} and {}", self.file.display());
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
            probe: None,
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
            probe: None,
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
