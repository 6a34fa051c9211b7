//! `takt record`: samples from a radio into a SigMF recording.

use std::time::Duration;

use takt_base::{parse_duration, parse_number};
use takt_dsp::file::{Existing, SampleFormat};
use takt_live::Kind;
use takt_radio::sigmf::{Recorded, Report};
use takt_soapy::RecordWish;

use crate::radio_args::RadioArgs;
use crate::screen::recording::{at_speed, calibrated, heading, interleaved};
use crate::{Answer, Bar, Output, radio_problem, soapy, stop_on_signal};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  takt record --addr 192.168.10.2 --rate 1M --freq 900M --gain 20 --duration 10s run1\n  \
    takt record --addr 192.168.10.2 --rate 10M --duration 10s --cores 1 --policy fifo:50 run1\n  \
    takt record --addr 192.168.10.2 --rate 1M --channels 0,1 --duration 10s run1\n\n\
    Writes run1.sigmf-data and run1.sigmf-meta.\n\
    Lost samples leave a gap of their length between captures.\n\n\
    Exit status:\n  0  no sample is missing\n  1  samples are missing, or the recording ended early\n  \
    2  the command failed, or the device can't show whether something is missing"
)]
pub struct Args {
    #[command(flatten)]
    radio: RadioArgs,
    /// Sample rate in samples/s: 100 MHz (X310: 200 or 184.32 MHz) divided by a whole number.
    #[arg(long, value_name = "RATE", value_parser = parse_number)]
    rate: f64,
    /// Receive channels to record, from 0: one, or several into one recording, such as 0,1.
    #[arg(long, visible_alias = "channel", value_name = "N", default_value = "0", value_delimiter = ',')]
    channels: Vec<u8>,
    /// How long to record. Without it and without --samples, until Ctrl-C.
    #[arg(short = 't', long, value_name = "TIME", value_parser = parse_duration, conflicts_with = "samples")]
    duration: Option<Duration>,
    /// Number of samples to record.
    #[arg(long, value_name = "N")]
    samples: Option<u64>,
    /// Sample format in the file: sc16, sc8 or fc32.
    #[arg(long, default_value = "sc16")]
    format: SampleFormat,
    /// Replace an existing recording of that name.
    #[arg(long)]
    replace: bool,
}

pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    let samples = args.samples.or(args.duration.map(|duration| (duration.as_secs_f64() * args.rate).round() as u64));
    let existing = if args.replace { Existing::Replace } else { Existing::Keep };
    if let Some(device) = args.radio.device()? {
        let (_publisher, probe) = args.radio.publish(Kind::Record, output);
        let wish = args.radio.record_wish(args.rate, &args.channels, samples, (args.format, existing));
        let wish = RecordWish { probe, ..wish };
        return soapy::record(device, &wish, output);
    }
    let stop = stop_on_signal()?;
    let (_publisher, probe) = args.radio.publish(Kind::Record, output);
    let (session, net) = args.radio.open(false, args.channels, probe);
    let span = |n: u64| Duration::from_secs_f64(n as f64 / args.rate);
    let report = Bar::during(output, |bar| {
        let mut progress = |received| bar.show(span(received), span(samples.unwrap_or(received)));
        session.record(&net, args.rate, samples, (args.format, existing), &mut progress, &stop)
    });
    let report = report.map_err(|error| radio_problem::problem("record", error, "give --rate"))?;
    output.answer(&report, || text(&report, samples), Answer::of(report.passed.is_whole(samples)))
}

fn text(report: &Report<Recorded>, samples: Option<u64>) -> String {
    let recorded = &report.passed;
    let radio = format!("from serial {}", report.serial);
    let mut lines = heading(&report.path, recorded.samples, report.rate_sps, &radio, report.tuned);
    lines.extend(calibrated(&report.calibration));
    lines.extend(interleaved(recorded.channels));
    lines.push(format!(
        "  lost      {} samples in {} gaps ({} to the disk), overflows {}, timeouts {}, clipped {}",
        recorded.lost_samples,
        recorded.gaps,
        recorded.lost_to_disk,
        recorded.overflows,
        recorded.timeouts,
        recorded.clipped
    ));
    lines.push(match recorded {
        _ if recorded.is_whole(samples) => format!("{}.", at_speed(report.radio_speed, "nothing is missing")),
        Recorded { samples: 0, lost_samples: 0, .. } => "No: not one sample came.".to_owned(),
        Recorded { lost_samples: 0, .. } => "No: stopped before all of it was recorded.".to_owned(),
        Recorded { lost_samples: lost, .. } => {
            format!("No: {lost} samples are missing; the recording has a gap of their length for each loss.")
        }
    });
    lines.join("\n")
}
