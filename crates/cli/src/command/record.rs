//! `takt record`: samples from a radio into a SigMF recording.

use std::time::Duration;

use takt_base::{parse_duration, parse_number};
use takt_dsp::file::{Existing, SampleFormat};
use takt_radio::sigmf::{Recorded, Report};

use crate::radio_args::{RadioArgs, heading};
use crate::radio_problem;
use crate::{Answer, Bar, Output, stop_on_signal};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  takt record --addr 192.168.10.2 --rate 1M --freq 900M --gain 20 --duration 10s run1\n\n\
    Writes run1.sigmf-data and run1.sigmf-meta. Lost samples are gaps of their length between captures.\n\
    Exit status: 0 nothing is missing, 1 something is, or it was ended early, 2 it could not be done."
)]
pub struct Args {
    #[command(flatten)]
    radio: RadioArgs,
    /// Samples a second: 100 MHz divided by a whole number, of an X310 200 MHz.
    #[arg(long, value_name = "R", value_parser = parse_number)]
    rate: f64,
    /// How long; without it and without --samples until Ctrl-C.
    #[arg(long, value_name = "T", value_parser = parse_duration, conflicts_with = "samples")]
    duration: Option<Duration>,
    /// How many samples.
    #[arg(long, value_name = "N")]
    samples: Option<u64>,
    /// Samples in the file: sc16, sc8 or fc32.
    #[arg(long, default_value = "sc16")]
    format: SampleFormat,
    /// Replace a recording of that name.
    #[arg(long)]
    replace: bool,
}

pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    let stop = stop_on_signal()?;
    let (session, net) = args.radio.open(false);
    let samples = args.samples.or(args.duration.map(|duration| (duration.as_secs_f64() * args.rate).round() as u64));
    let existing = if args.replace { Existing::Replace } else { Existing::Keep };
    let span = |n: u64| Duration::from_secs_f64(n as f64 / args.rate);
    let report = Bar::during(output, |bar| {
        let mut progress = |received| bar.show(span(received), span(samples.unwrap_or(received)));
        session.record(&net, args.rate, samples, (args.format, existing), &mut progress, &stop)
    });
    let report = report.map_err(|error| radio_problem::problem("record", error, "--rate"))?;
    output.answer(&report, || text(&report, samples), Answer::of(report.passed.is_whole(samples)))
}

fn text(report: &Report<Recorded>, samples: Option<u64>) -> String {
    let recorded = &report.passed;
    let radio = format!("from serial {}", report.serial);
    let mut lines = heading(&report.path, recorded.samples, report.rate_sps, &radio, report.tuned);
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
        _ if recorded.is_whole(samples) => "Yes: nothing is missing.".to_owned(),
        Recorded { samples: 0, lost_samples: 0, .. } => "No: not one sample came.".to_owned(),
        Recorded { lost_samples: 0, .. } => "No: stopped before all of it was recorded.".to_owned(),
        Recorded { lost_samples: lost, .. } => {
            format!("No: {lost} samples are missing; the recording has a gap of their length for each loss.")
        }
    });
    lines.join("\n")
}
