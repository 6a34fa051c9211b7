//! `takt record` and `takt play` with a device of SoapySDR.

use std::time::Duration;

use takt_base::shown::count;
use takt_base::words::{list, plural};
use takt_radio::n200::Emission;
use takt_soapy::{DeviceSpec, PlayWish, RecordWish, Settings, SoapyPlayed, SoapyRecorded};

use super::{answer, known, open, problem};
use crate::radio_problem::{self, mega};
use crate::screen::recording::{heading, in_time, interleaved, left_out};
use crate::{Answer, Bar, Output, stop_on_signal};

pub fn record(spec: &DeviceSpec, wish: &RecordWish, output: &Output) -> miette::Result<Answer> {
    let stop = stop_on_signal()?;
    let radio = open(spec)?;
    let span = |n: u64| Duration::try_from_secs_f64(n as f64 / wish.rate_sps).unwrap_or(Duration::MAX);
    let report = Bar::during(output, |bar| {
        let mut progress = |come: u64| bar.show(span(come), span(wish.samples.unwrap_or(come)));
        takt_soapy::record(&radio, wish, &mut progress, &stop)
    });
    let report = report.map_err(|error| problem("record", error, "--rate"))?;
    let whole = report.is_whole(wish.samples);
    output.answer(&report, || recorded_text(&report, whole), answer(whole))
}

pub fn play(spec: &DeviceSpec, wish: &PlayWish, output: &Output) -> miette::Result<Answer> {
    let stop = stop_on_signal()?;
    let radio = open(spec)?;
    let mut on_air = |emission: &Emission| output.note(radio_problem::on_air(emission));
    let report = Bar::during(output, |bar| {
        let mut progress = |sent: u64| bar.show(Duration::from_micros(sent), Duration::ZERO);
        takt_soapy::play(&radio, wish, &mut on_air, &mut progress, &stop)
    });
    let report = report.map_err(|error| problem("play", error, "--rate"))?;
    output.answer(&report, || played_text(&report), answer(report.is_good()))
}

fn recorded_text(report: &SoapyRecorded, whole: Option<bool>) -> String {
    let device = format!("from {}", report.device);
    let mut lines = heading(&report.path, report.samples, report.rate_sps, &device, None);
    lines.push(settings_text(&report.settings));
    lines.extend(interleaved(report.channels));
    lines.push(format!(
        "  lost      {} samples in {} gaps ({} to the disk), overflows {}, stream errors {}, timeouts {}, clipped {}",
        known(report.lost_samples),
        known(report.gaps),
        count(report.lost_to_disk),
        known(report.overflows),
        count(report.stream_errors),
        count(report.timeouts),
        count(report.clipped)
    ));
    lines.push(match whole {
        Some(true) => "Yes: nothing is missing.".to_owned(),
        Some(false) => format!("No: {}.", missing(report)),
        None => "Not known: nothing was seen to be missing, but no time stamps would show a loss.".to_owned(),
    });
    lines.join("\n")
}

/// Why a recording is not whole.
fn missing(report: &SoapyRecorded) -> String {
    let seen = [
        (report.overflows.unwrap_or(0), "overflow", ""),
        (report.stream_errors, "stream error", ""),
        (report.lost_to_disk, "sample", " lost to the disk"),
    ];
    let seen = seen.into_iter().filter(|(n, ..)| *n > 0);
    let seen: Vec<String> = seen.map(|(n, what, how)| format!("{}{how}", plural(n, what))).collect();
    match report.lost_samples {
        None | Some(0) if report.samples == 0 => "not one sample came".to_owned(),
        Some(lost) if lost > 0 => {
            format!("{} samples are missing; the recording has a gap of their length for each loss", count(lost))
        }
        None if !seen.is_empty() => format!("samples are missing, and nobody knows how many: {}", list(&seen)),
        _ => "stopped before all of it was recorded".to_owned(),
    }
}

fn played_text(report: &SoapyPlayed) -> String {
    let device = format!("to {}", report.device);
    let mut lines = heading(&report.path, report.samples, report.rate_sps, &device, None);
    lines.push(settings_text(&report.settings));
    lines.extend(left_out(report.channel, report.channels, report.skipped_samples, report.sha512));
    lines.push(format!(
        "  bursts    {} sent, {} acknowledged   U {}   S {}   L {}   timeouts {}   clipped {}",
        count(report.bursts),
        known(report.burst_acks),
        known(report.underflows),
        known(report.sequence_errors),
        known(report.late),
        count(report.timeouts),
        count(report.clipped_samples)
    ));
    lines.push(match (report.is_good(), report.complete) {
        (Some(true), _) => in_time(None, report.clipped_samples),
        (Some(false), true) => "No: not all of it left in time.".to_owned(),
        (Some(false), false) => "No: ended before all of it was sent.".to_owned(),
        (None, _) => "Not known: all of it was sent, but the driver does not report what became of it.".to_owned(),
    });
    lines.join("\n")
}

/// The settings of a channel, as far as its driver says.
fn settings_text(settings: &Settings) -> String {
    let Settings { frequency_hz, gain_db, antenna } = settings;
    let all = [
        frequency_hz.map(|hz| format!("{} MHz", mega(hz))),
        gain_db.map(|db| format!("gain {db} dB")),
        antenna.as_ref().map(|name| format!("antenna {name}")),
    ];
    let known: Vec<String> = all.into_iter().flatten().collect();
    format!("  set to    {}", if known.is_empty() { "its driver does not say".to_owned() } else { known.join(", ") })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use takt_dsp::sigmf::Checksum;
    use takt_soapy::TimeStamps;

    use super::*;

    fn recorded() -> SoapyRecorded {
        SoapyRecorded {
            path: PathBuf::from("run1"),
            device: "soapy:driver=rtlsdr".to_owned(),
            rate_sps: 1e6,
            settings: Settings { frequency_hz: Some(433e6), gain_db: Some(20.5), antenna: None },
            channels: 1,
            time_stamps: TimeStamps::Absent,
            samples: 5000,
            lost_samples: None,
            lost_to_disk: 0,
            gaps: None,
            overflows: None,
            stream_errors: 0,
            timeouts: 0,
            clipped: 0,
            complete: true,
        }
    }

    fn said(report: &SoapyRecorded) -> String {
        recorded_text(report, report.is_whole(Some(5000)))
    }

    #[test]
    fn what_nobody_knows_of_a_recording_is_never_none() {
        let text = said(&recorded());
        assert!(text.starts_with("run1: 5000 samples at 1 MS/s (0.005 s) from soapy:driver=rtlsdr\n"), "{text}");
        assert!(text.contains("\n  set to    433 MHz, gain 20.5 dB\n"), "{text}");
        assert!(text.contains("\n  lost      unknown samples in unknown gaps (0 to the disk), overflows unknown,"));
        assert!(text.contains("\nNot known: nothing was seen to be missing"), "{text}");
    }

    #[test]
    fn an_answer_of_no_says_what_was_seen() {
        let last = |report: SoapyRecorded| said(&report).lines().next_back().map(str::to_owned).unwrap_or_default();
        let blind = SoapyRecorded { overflows: Some(2), lost_to_disk: 3, stream_errors: 1, ..recorded() };
        let all = "2 overflows, 1 stream error and 3 samples lost to the disk";
        assert_eq!(last(blind), format!("No: samples are missing, and nobody knows how many: {all}."));
        let gaps = SoapyRecorded { lost_samples: Some(363), gaps: Some(1), ..recorded() };
        let why = "the recording has a gap of their length for each loss";
        assert_eq!(last(gaps.clone()), format!("No: 363 samples are missing; {why}."));
        let empty = SoapyRecorded { samples: 0, lost_samples: Some(0), complete: false, ..gaps.clone() };
        assert_eq!(last(empty), "No: not one sample came.");
        let stopped = SoapyRecorded { lost_samples: Some(0), complete: false, ..gaps.clone() };
        assert_eq!(last(stopped), "No: stopped before all of it was recorded.");
        assert_eq!(last(SoapyRecorded { lost_samples: Some(0), ..gaps }), "Yes: nothing is missing.");
    }

    #[test]
    fn the_fate_of_a_played_recording_is_told_as_far_as_it_is_known() {
        let played = SoapyPlayed {
            path: PathBuf::from("run1"),
            device: "soapy:driver=hackrf".to_owned(),
            rate_sps: 2e6,
            settings: Settings::default(),
            channel: 1,
            channels: 2,
            skipped_samples: 10,
            sha512: Checksum::Unchecked,
            samples: 5000,
            clipped_samples: 1,
            bursts: 1,
            burst_acks: None,
            underflows: None,
            sequence_errors: None,
            late: None,
            timeouts: 0,
            complete: true,
        };
        let text = played_text(&played);
        for line in [
            "  set to    its driver does not say",
            "  channel   1 of 0 to 1",
            "  skipped   10 samples before the first capture",
            "  sha512    not checked: the data exceed 1 GiB",
            "  bursts    1 sent, unknown acknowledged   U unknown   S unknown   L unknown   timeouts 0   clipped 1",
            "Not known: all of it was sent, but the driver does not report what became of it.",
        ] {
            assert!(text.lines().any(|told| told == line), "{line}\n{text}");
        }
        let good = SoapyPlayed { burst_acks: Some(1), underflows: Some(0), ..played };
        let clipped = "but 1 sample was clipped. It exceeds full scale, 1.0.";
        assert!(played_text(&good).ends_with(&format!("Yes: all of it left in time, {clipped}")));
        let late = SoapyPlayed { late: Some(1), ..good.clone() };
        assert!(played_text(&late).ends_with("No: not all of it left in time."));
        let nothing = SoapyPlayed { samples: 0, complete: false, ..good };
        assert!(played_text(&nothing).ends_with("No: ended before all of it was sent."));
    }
}
