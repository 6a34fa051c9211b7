//! `takt record`: samples from a radio into a SigMF recording.

use std::time::Duration;

use takt_base::{parse_duration, parse_number};
use takt_dsp::file::{Existing, SampleFormat};
use takt_radio::sigmf::RecordReport;

use crate::answer::Answer;
use crate::bar::Bar;
use crate::output::Output;
use crate::radio_args::RadioArgs;
use crate::radio_problem;
use crate::signals::stop_on_signal;

/// Arguments.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  takt record --addr 192.168.10.2 --rate 1M --freq 900M --gain 20 --duration 10s run1\n\n\
    Writes run1.sigmf-data and run1.sigmf-meta. Lost samples are gaps of their length between captures.\n\
    Exit status: 0 nothing was lost, 1 something was, 2 it could not be done."
)]
pub struct Args {
    #[command(flatten)]
    radio: RadioArgs,
    /// Samples a second: 100 MHz divided by a whole number.
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

/// Records.
pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    let stop = stop_on_signal()?;
    let (session, net) = args.radio.open(false);
    let samples = args.samples.or(args.duration.map(|duration| (duration.as_secs_f64() * args.rate).round() as u64));
    let existing = if args.replace { Existing::Replace } else { Existing::Keep };
    let bar = Bar::new(output);
    let span = |n: u64| Duration::from_secs_f64(n as f64 / args.rate);
    let mut progress = |seen| bar.show(span(seen), span(samples.unwrap_or(seen)));
    let report = session.record(&net, args.rate, samples, (args.format, existing), &mut progress, &stop);
    drop(bar);
    let report = report.map_err(|error| radio_problem::problem("record", error, "--rate"))?;
    output.result(&report, || text(&report))?;
    Ok(Answer::of(report.recorded.lost_samples == 0))
}

fn text(report: &RecordReport) -> String {
    let recorded = &report.recorded;
    let mut lines = vec![format!(
        "{}: {} samples at {} MS/s ({:.3} s) from serial {}",
        report.path.display(),
        recorded.samples,
        report.rate_sps / 1e6,
        recorded.samples as f64 / report.rate_sps,
        report.serial
    )];
    if let Some(tuned) = report.tuned {
        lines.push(format!("  tuned     {:.6} MHz (oscillator {:.6} MHz)", tuned.actual_hz / 1e6, tuned.lo_hz / 1e6));
    }
    lines.push(format!(
        "  lost      {} samples in {} gaps ({} to the disk), overflows {}, timeouts {}, clipped {}",
        recorded.lost_samples,
        recorded.gaps,
        recorded.lost_to_disk,
        recorded.overflows,
        recorded.timeouts,
        recorded.clipped
    ));
    lines.push(match recorded.lost_samples {
        0 => "Yes: nothing is missing.".to_owned(),
        lost => format!("No: {lost} samples are missing; the recording has a gap of their length for each loss."),
    });
    lines.join("\n")
}
