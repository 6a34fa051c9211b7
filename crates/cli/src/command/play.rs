//! `takt play`: a SigMF recording to a radio.

use std::time::Duration;

use takt_base::parse_number;
use takt_radio::n200::Emission;
use takt_radio::sigmf::{Played, Report};

use crate::radio_args::{RadioArgs, heading};
use crate::radio_problem;
use crate::{Answer, Bar, Output, stop_on_signal};

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  takt play --addr 192.168.10.2 --freq 900M --gain 10 --transmit run1\n\n\
    Rate and frequency are the recording's unless others are given. Gaps between captures stay gaps.\n\
    Exit status: 0 all was played in time, 1 not, 2 it could not be done.")]
pub struct Args {
    #[command(flatten)]
    radio: RadioArgs,
    /// Samples a second, instead of the recording's.
    #[arg(long, value_name = "R", value_parser = parse_number)]
    rate: Option<f64>,
    /// How often.
    #[arg(long, value_name = "N", default_value_t = 1)]
    times: u64,
    /// Transmit, even with a radio that is not takt's own software radio.
    #[arg(long)]
    transmit: bool,
}

pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    let stop = stop_on_signal()?;
    let (session, net) = args.radio.open(args.transmit);
    let mut on_air = |emission: &Emission| output.note(radio_problem::on_air(emission));
    let report = Bar::during(output, |bar| {
        let mut progress = |sent| bar.show(Duration::from_micros(sent), Duration::ZERO);
        session.play(&net, args.rate, args.times, &mut on_air, &mut progress, &stop)
    });
    let report = report.map_err(|error| radio_problem::problem("play", error, "--rate"))?;
    output.answer(&report, || text(&report), Answer::of(good(&report)))
}

fn good(report: &Report<Played>) -> bool {
    let played = &report.passed;
    played.complete && played.underflows + played.sequence_errors + played.late + played.timeouts == 0
}

fn text(report: &Report<Played>) -> String {
    let played = &report.passed;
    let radio = format!("to serial {}", report.serial);
    let mut lines = heading(&report.path, played.samples, report.rate_sps, &radio, report.tuned);
    lines.push(format!(
        "  bursts    {} sent, {} acknowledged   U {}   S {}   L {}   timeouts {}",
        played.bursts, played.burst_acks, played.underflows, played.sequence_errors, played.late, played.timeouts
    ));
    lines.push(match (good(report), played.complete) {
        (true, _) => "Yes: all of it left in time.".to_owned(),
        (false, true) => "No: not all of it left in time.".to_owned(),
        (false, false) => "No: ended before all of it was sent.".to_owned(),
    });
    lines.join("\n")
}
