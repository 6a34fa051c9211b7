//! `takt play`: a SigMF recording to a radio.

use std::time::Duration;

use takt_base::parse_number;
use takt_live::Kind;
use takt_radio::n200::Emission;
use takt_radio::sigmf::{PlayWish, PlayedRecording, Report};

use crate::radio_args::RadioArgs;
use crate::screen::recording::{calibrated, heading, in_time, left_out};
use crate::{Answer, Bar, Output, radio_problem, soapy, stop_on_signal};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  takt play --addr 192.168.10.2 --freq 900M --gain 10 --transmit run1\n  \
    takt play --addr 192.168.10.2 --transmit --cores 1 --policy fifo:50 run1\n\n\
    Gaps between captures stay gaps. An N200 is retuned where captures differ in frequency.\n\
    Reads two files, or an archive (run1.sigmf).\n\n\
    Exit status:\n  0  every sample left in time\n  1  a sample left late or not at all\n  \
    2  the command failed, or the device can't show what became of it",
    mut_arg("file", |file| file.help("Recording: the common name of its two files, or an archive")),
    mut_arg("freq", |freq| freq.help("Center frequency in Hz (N200, or with --device) [default: the recording's]"))
)]
pub struct Args {
    #[command(flatten)]
    radio: RadioArgs,
    /// Sample rate in samples/s [default: the recording's].
    #[arg(long, value_name = "RATE", value_parser = parse_number)]
    rate: Option<f64>,
    /// Channel of the recording to play, from 0.
    #[arg(long, value_name = "N", default_value_t = 0)]
    channel: u64,
    /// Number of times to play the recording.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    times: u64,
    /// Transmit even if the radio is not takt's emulator.
    #[arg(long)]
    transmit: bool,
}

pub fn run(args: Args, output: &Output) -> miette::Result<Answer> {
    if let Some(device) = args.radio.device()? {
        let (_publisher, probe) = args.radio.publish(Kind::Play, output);
        let wish = args.radio.play_wish(args.rate, args.channel, args.times, args.transmit);
        let wish = takt_soapy::PlayWish { probe, ..wish };
        return soapy::play(device, &wish, output);
    }
    let stop = stop_on_signal()?;
    let (_publisher, probe) = args.radio.publish(Kind::Play, output);
    let (session, net) = args.radio.open(args.transmit, vec![0], probe);
    let wish = PlayWish { rate_sps: args.rate, times: args.times, channel: args.channel };
    let mut on_air = |emission: &Emission| output.note(radio_problem::on_air(emission));
    let report = Bar::during(output, |bar| {
        let mut progress = |sent| bar.show(Duration::from_micros(sent), Duration::ZERO);
        session.play(&net, &wish, &mut on_air, &mut progress, &stop)
    });
    let report = report.map_err(|error| radio_problem::problem("play", error, "give --rate"))?;
    output.answer(&report, || text(&report), Answer::of(good(&report)))
}

fn good(report: &Report<PlayedRecording>) -> bool {
    let PlayedRecording { played, late_retunes, .. } = &report.passed;
    played.complete && played.underflows + played.sequence_errors + played.late + played.timeouts + late_retunes == 0
}

fn text(report: &Report<PlayedRecording>) -> String {
    let PlayedRecording { played, .. } = &report.passed;
    let radio = format!("to serial {}", report.serial);
    let mut lines = heading(&report.path, played.samples, report.rate_sps, &radio, report.tuned);
    lines.extend(calibrated(&report.calibration));
    lines.extend(remarks(report));
    lines.push(format!(
        "  bursts    {} sent, {} acknowledged   U {}   S {}   L {}   timeouts {}   clipped {}",
        played.bursts,
        played.burst_acks,
        played.underflows,
        played.sequence_errors,
        played.late,
        played.timeouts,
        played.clipped_samples
    ));
    lines.push(match (good(report), played.complete) {
        (true, _) => in_time(report.radio_speed, played.clipped_samples),
        (false, true) => "No: not all of it left in time.".to_owned(),
        (false, false) => "No: ended before all of it was sent.".to_owned(),
    });
    lines.join("\n")
}

/// The rest that a user must know of the recording.
fn remarks(report: &Report<PlayedRecording>) -> Vec<String> {
    let PlayedRecording { channel, channels, skipped_samples, retunes, late_retunes, untuned_hz, sha512, .. } =
        &report.passed;
    let untuned = untuned_hz
        .map(|hz| format!("  untuned   the recording names {} MHz, to which takt can't tune an X310", hz / 1e6));
    let unnamed = report.tuned.is_none() && untuned_hz.is_none();
    let all = [
        untuned,
        unnamed.then(|| "  untuned   neither the recording nor --freq names a frequency".to_owned()),
        (*retunes > 0).then(|| format!("  retuned   {retunes} times between captures, {late_retunes} too late")),
    ];
    all.into_iter().flatten().chain(left_out(*channel, *channels, *skipped_samples, *sha512)).collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use takt_dsp::sigmf::Checksum;
    use takt_radio::sigmf::Played;

    use super::*;

    fn report(played: Played) -> Report<PlayedRecording> {
        let passed = PlayedRecording {
            played,
            channel: 0,
            channels: 1,
            skipped_samples: 0,
            retunes: 0,
            late_retunes: 0,
            untuned_hz: None,
            sha512: Checksum::Absent,
        };
        Report {
            path: PathBuf::from("run1"),
            serial: "EMU001".to_owned(),
            rate_sps: 1e6,
            tuned: None,
            gain_db: None,
            cpus: Vec::new(),
            policy: None,
            calibration: Vec::new(),
            radio_speed: None,
            passed,
        }
    }

    #[test] // F7: "Yes", and not a word of it
    fn clipped_samples_are_told_in_the_answer() {
        let played =
            Played { samples: 9, clipped_samples: 3, bursts: 1, burst_acks: 1, complete: true, ..Played::default() };
        let said = text(&report(played));
        assert!(said.contains("clipped 3"), "{said}");
        let answer = "Yes: all of it left in time, but 3 samples were clipped. They exceed full scale, 1.0.";
        assert_eq!(said.lines().last(), Some(answer));
    }

    #[test]
    fn what_became_of_the_rest_of_a_recording_is_told() {
        let complete = || report(Played { samples: 9, complete: true, ..Played::default() });
        assert_eq!(remarks(&complete()), ["  untuned   neither the recording nor --freq names a frequency"]);
        let mut told = complete();
        told.passed = PlayedRecording {
            channel: 1,
            channels: 2,
            skipped_samples: 1000,
            retunes: 3,
            late_retunes: 1,
            untuned_hz: Some(900e6),
            sha512: Checksum::Unchecked,
            ..told.passed
        };
        assert_eq!(
            remarks(&told),
            [
                "  untuned   the recording names 900 MHz, to which takt can't tune an X310",
                "  retuned   3 times between captures, 1 too late",
                "  channel   1 of 0 to 1",
                "  skipped   1000 samples before the first capture",
                "  sha512    not checked: the data exceed 1 GiB",
            ]
        );
        assert!(!good(&told), "a change of frequency came too late");
    }
}
