//! From a device into a SigMF recording, and back. A value that nobody can know is `None`, and never 0.

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use takt_base::{Stop, Tick, utc_ns_now};
use takt_dsp::file::{Existing, SampleFormat};
use takt_dsp::sigmf::{Capture, Checksum, Global, Writer};
use takt_host::placement::Placement;
use takt_radio::board::Side;
use takt_radio::n200::Emission;
use takt_radio::sigmf::{self, PlayPlan, Played, RecordPlan, Recorded};
use takt_radio::{FrontEnd, RadioError, RxStream, StreamProbe, TxStream};

use crate::outcome::TimeStamps;
use crate::{About, Settings, SoapyError, SoapyRadio};

/// How far ahead the first sample leaves.
const LEAD: Duration = Duration::from_millis(100);

/// The recording that is to be made.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct RecordWish {
    /// The common name of the recording's files.
    pub path: PathBuf,
    pub rate_sps: f64,
    /// Receive channels, in the order of the file. One at least.
    pub channels: Vec<usize>,
    /// Samples, the missing ones included; `None` = until stopped.
    pub samples: Option<u64>,
    pub format: SampleFormat,
    pub existing: Existing,
    pub front_end: FrontEnd,
    /// The format between device and host, for drivers that have a choice.
    pub wire: Option<String>,
    /// The side of who watches; `None`: nobody may.
    pub probe: Option<StreamProbe>,
}

/// The outcome of a recording.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SoapyRecorded {
    /// The recording.
    pub path: PathBuf,
    /// The device, as a user named it.
    pub device: String,
    /// Samples a second.
    pub rate_sps: f64,
    /// The settings of the channel, of several the first.
    pub settings: Settings,
    /// Channels in the file.
    pub channels: usize,
    /// The worth of the time stamps of its stream.
    pub time_stamps: TimeStamps,
    /// Samples in the file, of each channel; so are all other counts of samples but `clipped`.
    pub samples: u64,
    /// Samples missing between the first and the last. `None`: nobody knows.
    pub lost_samples: Option<u64>,
    /// Samples dropped since the disk was too slow.
    pub lost_to_disk: u64,
    /// Gaps. `None`: nobody knows.
    pub gaps: Option<u64>,
    /// Overflows that the driver reported. `None`: none, and without time stamps that proves nothing.
    pub overflows: Option<u64>,
    /// Faults of the stream that have no name of takt's.
    pub stream_errors: u64,
    /// Times nothing came for 100 ms and the time of one transfer, once the first sample had come.
    pub timeouts: u64,
    /// Samples beyond the full scale of the file's format.
    pub clipped: u64,
    /// All that was requested came or was lost; not stopped before.
    pub complete: bool,
}

impl SoapyRecorded {
    /// Whether nothing is missing of what was requested, `samples` or however many came. `None`: nothing was seen to be, and nobody
    /// can say more.
    #[must_use]
    pub fn is_whole(&self, samples: Option<u64>) -> Option<bool> {
        // Time stamps tell all of it; without them each of these may have cost samples.
        let seen = self.lost_to_disk + self.overflows.unwrap_or(0) + self.stream_errors;
        if self.samples == 0 || self.lost_samples.unwrap_or(seen) > 0 || !(self.complete || samples.is_none()) {
            return Some(false);
        }
        self.lost_samples.map(|_| true)
    }
}

/// Records as wished. `progress` gets how many samples have come or been lost.
///
/// # Errors
/// It fails if the device lacks something wished for, its driver refuses it, or a file is there already or can't be written.
/// It also fails if a stream is over before its time. The samples recorded until then are readable.
pub fn record(
    radio: &SoapyRadio,
    wish: &RecordWish,
    progress: &mut dyn FnMut(u64),
    stop: &Stop,
) -> Result<SoapyRecorded, SoapyError> {
    let About { driver, hardware, .. } = radio.about()?;
    let mut rx = radio.rx_stream(&wish.channels, wish.rate_sps, wish.wire.as_deref())?;
    let set = |&channel: &usize| radio.set(Side::Rx, channel, &wish.front_end);
    let settings = wish.channels.iter().map(set).collect::<Result<Vec<_>, _>>()?;
    let settings = settings.into_iter().next().unwrap_or_default();
    let mut global = Global::new(wish.format);
    global.channels = wish.channels.len() as u64;
    global.sample_rate_sps = Some(rx.rate_sps());
    global.hw = Some(format!("{driver} {hardware}"));
    let writer = Writer::create(&wish.path, global, wish.existing).map_err(RadioError::from)?;
    let now = radio.time_ns()?.map(|ns| rx.tick_at(ns));
    let plan = RecordPlan {
        samples: wish.samples,
        frequency_hz: settings.frequency_hz,
        utc: now.zip(utc_ns_now()),
        placement: Placement::default(),
    };
    if let Some(now) = now {
        rx.assume_start(now);
    }
    rx.start()?;
    let recorded = match &wish.probe {
        Some(probe) => {
            let mut rx = probe.rx(radio.name(), settings.frequency_hz, &mut rx);
            sigmf::record(&mut rx, &*radio.clock(), writer, &plan, progress, stop)
        }
        None => sigmf::record(&mut rx, &*radio.clock(), writer, &plan, progress, stop),
    };
    // The recorded samples stand, whatever the driver does now.
    let _ = rx.stop();
    let (Recorded { samples, lost_samples, lost_to_disk, gaps, clipped, complete, .. }, _) = recorded?;
    let seen = rx.seen();
    let known = |count: u64| rx.shows_losses().then_some(count);
    Ok(SoapyRecorded {
        path: wish.path.clone(),
        device: radio.name().to_owned(),
        rate_sps: rx.rate_sps(),
        settings,
        channels: wish.channels.len(),
        time_stamps: rx.time_stamps(),
        samples,
        lost_samples: known(lost_samples),
        lost_to_disk,
        gaps: known(gaps),
        overflows: known(seen.overflows).or(Some(seen.overflows).filter(|overflows| *overflows > 0)),
        stream_errors: seen.stream_errors,
        timeouts: seen.timeouts,
        clipped,
        complete,
    })
}

/// The playback that is to be made.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct PlayWish {
    /// The recording, by the name of either file or their common part, or an archive.
    pub path: PathBuf,
    /// Which of its channels, from 0.
    pub channel: u64,
    /// Samples a second; `None`: those of the recording.
    pub rate_sps: Option<f64>,
    /// Which of the device's transmit channels, from 0.
    pub tx_channel: usize,
    /// How often; repetitions follow each other without a gap.
    pub times: u64,
    /// Its frequency, if it names none, is that of the recording.
    pub front_end: FrontEnd,
    /// The format between device and host, for drivers that have a choice.
    pub wire: Option<String>,
    /// The user allows it to transmit.
    pub transmit: bool,
    /// The side of who watches; `None`: nobody may.
    pub probe: Option<StreamProbe>,
}

/// The outcome of a playback.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SoapyPlayed {
    /// The recording.
    pub path: PathBuf,
    /// The device, as a user named it.
    pub device: String,
    /// Samples a second.
    pub rate_sps: f64,
    /// The settings of the device's channel.
    pub settings: Settings,
    /// The recording's channel that was played.
    pub channel: u64,
    /// Channels that it has.
    pub channels: u64,
    /// Samples before its first capture, which were left out.
    pub skipped_samples: u64,
    /// The answer of its `core:sha512` about its data.
    pub sha512: Checksum,
    /// Samples that the driver took.
    pub samples: u64,
    /// The part of these samples that was beyond full scale.
    pub clipped_samples: u64,
    /// Bursts: captures that do not follow each other without a gap, times repetitions.
    pub bursts: u64,
    /// Bursts that the device acknowledged. `None`: the driver reports nothing.
    pub burst_acks: Option<u64>,
    /// `U`. `None`: the driver reports nothing.
    pub underflows: Option<u64>,
    /// `S`. `None`: the driver reports nothing.
    pub sequence_errors: Option<u64>,
    /// `L`. `None`: the driver reports nothing.
    pub late: Option<u64>,
    /// Times the driver took nothing for 100 ms after a burst had begun.
    pub timeouts: u64,
    /// All was sent; not stopped before.
    pub complete: bool,
}

impl SoapyPlayed {
    /// Whether all of it left in time. `None`: nothing was seen to go wrong, and the driver reports nothing.
    #[must_use]
    pub fn is_good(&self) -> Option<bool> {
        let reported: u64 = [self.underflows, self.sequence_errors, self.late].into_iter().flatten().sum();
        if !self.complete || self.samples == 0 || reported + self.timeouts > 0 {
            return Some(false);
        }
        self.underflows.map(|_| true)
    }
}

/// Plays a channel of a recording as wished. `on_air` gets what the device transmits with, before it does; `progress` how many
/// samples were sent.
///
/// # Errors
/// A file that can't be read, names no rate, has no samples, or others than those of its hash; captures at different frequencies,
/// or gaps on a device without a clock; a device that may not transmit, or does not have what is wished; a stream that is over
/// before its time.
pub fn play(
    radio: &SoapyRadio,
    wish: &PlayWish,
    on_air: &mut dyn FnMut(&Emission),
    progress: &mut dyn FnMut(u64),
    stop: &Stop,
) -> Result<SoapyPlayed, SoapyError> {
    let (reader, sha512) = sigmf::open_to_play(&wish.path, wish.channel).map_err(RadioError::from)?;
    let (global, captures) = (&reader.metadata().global, &reader.metadata().captures);
    let (channels, skipped_samples) = (global.channels, reader.begins());
    let rate_sps = wish.rate_sps.or(global.sample_rate_sps).ok_or(SoapyError::NoRecordedRate)?;
    let frequency_hz = wish.front_end.frequency_hz.map_or_else(|| one_frequency(captures), |hz| Ok(Some(hz)))?;
    let front_end = FrontEnd { frequency_hz, ..wish.front_end.clone() };
    let device_ns = radio.time_ns()?;
    if device_ns.is_none() && has_gaps(captures) {
        return Err(SoapyError::NoClock { captures: captures.len() });
    }
    let emission = radio.may_transmit(wish.transmit, wish.tx_channel, &front_end)?;
    let tx = radio.tx_stream(&[wish.tx_channel], rate_sps, wish.wire.as_deref())?;
    let mut tx = if device_ns.is_some() { tx } else { tx.without_times() };
    let settings = radio.set(Side::Tx, wish.tx_channel, &front_end)?;
    on_air(&emission);
    tx.start()?;
    let now = radio.time_ns()?.map_or(Tick(0), |ns| tx.tick_at(ns));
    let start = now + tx.tick_rate().ticks_in(LEAD);
    let plan = PlayPlan { start, lead: LEAD, times: wish.times, placement: Placement::default() };
    let played = match &wish.probe {
        Some(probe) => {
            let mut tx = probe.tx(radio.name(), settings.frequency_hz, &mut tx);
            sigmf::play(reader, &mut tx, &*radio.clock(), plan, progress, stop)
        }
        None => sigmf::play(reader, &mut tx, &*radio.clock(), plan, progress, stop),
    };
    let _ = tx.stop();
    let played: Played = played?;
    let known = |count: u64| tx.reports_faults().then_some(count);
    Ok(SoapyPlayed {
        path: wish.path.clone(),
        device: radio.name().to_owned(),
        rate_sps: tx.rate_sps(),
        settings,
        channel: wish.channel,
        channels,
        skipped_samples,
        sha512,
        samples: played.samples,
        clipped_samples: played.clipped_samples,
        bursts: played.bursts,
        burst_acks: known(played.burst_acks),
        underflows: known(played.underflows),
        sequence_errors: known(played.sequence_errors),
        late: known(played.late),
        timeouts: played.timeouts,
        complete: played.complete,
    })
}

/// Whether samples are missing between two captures, so that only a clock keeps them apart.
fn has_gaps(captures: &[Capture]) -> bool {
    let index = |capture: &Capture| capture.global_index.unwrap_or(capture.sample_start);
    captures.iter().zip(captures.iter().skip(1)).any(|(one, next)| {
        let samples = next.sample_start.saturating_sub(one.sample_start);
        index(next) > index(one).saturating_add(samples)
    })
}

/// The frequency of all captures, of which each may name none.
fn one_frequency(captures: &[Capture]) -> Result<Option<f64>, SoapyError> {
    let mut named = captures.iter().filter_map(|capture| capture.frequency_hz);
    let Some(first_hz) = named.next() else { return Ok(None) };
    match named.find(|hz| *hz != first_hz) {
        Some(hz) => Err(SoapyError::Hops { first_hz, hz }),
        None => Ok(Some(first_hz)),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use takt_base::{Complex32, MonoNs};
    use takt_dsp::sigmf::Reader;
    use takt_live::Source as _;
    use takt_radio::watched_stream;

    use super::*;
    use crate::FaultKind;
    use crate::fake::{Fake, Happens};

    fn record_wish(folder: &Path) -> RecordWish {
        RecordWish {
            path: folder.join("run"),
            rate_sps: 1e6,
            channels: vec![0],
            samples: Some(5000),
            format: SampleFormat::Fc32,
            existing: Existing::Replace,
            front_end: FrontEnd { frequency_hz: Some(433e6), ..FrontEnd::default() },
            wire: None,
            probe: None,
        }
    }

    fn recorded(fake: &Fake, folder: &Path) -> SoapyRecorded {
        record(&fake.radio(), &record_wish(folder), &mut |_| {}, &Stop::new()).unwrap()
    }

    fn play_wish(folder: &Path) -> PlayWish {
        PlayWish {
            path: folder.join("run"),
            channel: 0,
            rate_sps: None,
            tx_channel: 0,
            times: 1,
            front_end: FrontEnd::default(),
            wire: None,
            transmit: true,
            probe: None,
        }
    }

    fn played(fake: &Fake, wish: &PlayWish) -> Result<SoapyPlayed, SoapyError> {
        play(&fake.radio(), wish, &mut |_| {}, &mut |_| {}, &Stop::new())
    }

    #[test]
    fn who_watches_a_recording_sees_its_losses() {
        let folder = tempfile::tempdir().unwrap();
        let fake = Fake::new(&[Happens::Samples(1000), Happens::Gap(500), Happens::Samples(4000)]);
        let (probe, mut view) = watched_stream();
        let wish = RecordWish { probe: Some(probe), ..record_wish(folder.path()) };
        record(&fake.radio(), &wish, &mut |_| {}, &Stop::new()).unwrap();
        let radio = view.snapshot().radios.remove(0);
        let shown = (radio.rate_sps, radio.freq_hz, radio.lost_samples, radio.letters.received_lost);
        assert_eq!(shown, (Some(1e6), Some(433e6), Some(500), Some(1)));
        assert!(radio.samples >= Some(4500), "{radio:?}");
    }

    #[test]
    fn a_loss_is_a_gap_of_its_length_and_is_played_as_one() {
        let folder = tempfile::tempdir().unwrap();
        let fake = Fake::new(&[Happens::Samples(1000), Happens::Gap(500)]);
        let report = recorded(&fake, folder.path());
        assert_eq!((report.samples, report.lost_samples, report.gaps), (4500, Some(500), Some(1)), "{report:?}");
        assert_eq!((report.is_whole(Some(5000)), report.settings.frequency_hz), (Some(false), Some(433e6)));
        let to = Fake::new(&[]).reporting(&[Ok(()), Ok(())]);
        let report = played(&to, &play_wish(folder.path())).unwrap();
        assert_eq!((report.samples, report.bursts, report.burst_acks), (4500, 2, Some(2)), "{report:?}");
        assert_eq!((report.settings.frequency_hz, report.is_good()), (Some(433e6), Some(true)));
        let begins: Vec<i64> = to.sent().iter().filter_map(|sent| sent.at_ns).collect();
        let [first, second] = begins[..] else { panic!("{begins:?}") };
        assert_eq!(second - first, 1_500_000, "1000 samples and the 500 that are missing");
    }

    #[test]
    fn without_time_stamps_nobody_knows_whether_a_recording_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let report = recorded(&Fake::new(&[]).unstamped(), folder.path());
        assert_eq!((report.samples, report.lost_samples, report.gaps, report.overflows), (5000, None, None, None));
        assert_eq!((report.time_stamps, report.is_whole(Some(5000))), (TimeStamps::Absent, None));
        let fails = [Happens::Samples(1000), Happens::Fails(FaultKind::Overflow)];
        let report = recorded(&Fake::new(&fails).unstamped(), folder.path());
        assert_eq!((report.overflows, report.is_whole(Some(5000))), (Some(1), Some(false)));
    }

    #[test]
    fn time_stamps_decide_what_is_missing_and_a_slow_start_is_no_time_out() {
        let folder = tempfile::tempdir().unwrap();
        let slow = [Happens::Fails(FaultKind::Timeout); 3];
        let overflow = [Happens::Samples(1000), Happens::Fails(FaultKind::Overflow)];
        let script: Vec<Happens> = slow.into_iter().chain(overflow).collect();
        let report = recorded(&Fake::new(&script), folder.path());
        assert_eq!((report.timeouts, report.overflows, report.lost_samples), (0, Some(1), Some(0)), "{report:?}");
        assert_eq!((report.gaps, report.is_whole(Some(5000))), (Some(0), Some(true)));
    }

    /// A recording at this rate, of as many samples in each capture. They follow each other without a gap.
    fn write(folder: &Path, rate_sps: f64, captures: &[usize]) {
        let mut global = Global::new(SampleFormat::Fc32);
        global.sample_rate_sps = Some(rate_sps);
        let mut writer = Writer::create(&folder.join("run"), global, Existing::Replace).unwrap();
        for samples in captures {
            writer.begin_capture(Capture::default());
            writer.write(&vec![Complex32::new(0.5, 0.0); *samples]).unwrap();
        }
        writer.seal().unwrap();
    }

    #[test]
    fn a_recording_that_is_not_what_it_says_is_refused_before_anything_is_sent() {
        let folder = tempfile::tempdir().unwrap();
        let fake = Fake::new(&[]);
        let refused = |wish: PlayWish| {
            let error = played(&fake, &wish).unwrap_err();
            assert!(matches!(error, SoapyError::Stream(RadioError::File(_))), "{error:?}");
            error.to_string()
        };
        write(folder.path(), 1e6, &[100]);
        refused(PlayWish { channel: 1, ..play_wish(folder.path()) });
        std::fs::write(folder.path().join("run.sigmf-data"), [0; 800]).unwrap();
        let said = refused(play_wish(folder.path()));
        assert!(said.contains("core:sha512"), "{said}");
        write(folder.path(), 1e6, &[]);
        refused(play_wish(folder.path()));
        assert!(fake.sent().is_empty());
    }

    #[test]
    fn captures_without_a_gap_need_no_clock() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), 1e6, &[100, 200]);
        let to = Fake::new(&[]).without_clock();
        let report = played(&to, &play_wish(folder.path())).unwrap();
        assert_eq!((report.samples, report.bursts, report.complete), (300, 1, true), "{report:?}");
        assert_eq!((report.channel, report.channels, report.skipped_samples), (0, 1, 0));
        assert_eq!(report.sha512, Checksum::Matches);
    }

    #[test] // a block of 65 536 samples lasts for longer than the patience
    fn a_slow_device_that_takes_samples_all_the_time_is_not_timed_out() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), 200e3, &[100_000]);
        let fake = Fake::new(&[]);
        let (mut tx, clock) = (fake.tx(200e3, 1), fake.radio().clock());
        let plan = PlayPlan { start: Tick(0), lead: Duration::ZERO, times: 1, placement: Placement::default() };
        let reader = Reader::open(&folder.path().join("run")).unwrap();
        let played = sigmf::play(reader, &mut tx, &*clock, plan, &mut |_| {}, &Stop::new()).unwrap();
        assert_eq!((played.samples, played.timeouts), (100_000, 0), "{played:?}");
        assert!(fake.now() > MonoNs(1_500_000_000));
    }

    #[test]
    fn what_can_not_be_played_as_it_was_recorded_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        recorded(&Fake::new(&[Happens::Samples(1000), Happens::Gap(500)]), folder.path());
        let refused = played(&Fake::new(&[]).without_clock(), &play_wish(folder.path())).unwrap_err();
        assert!(matches!(refused, SoapyError::NoClock { captures: 2 }), "{refused:?}");
        let forbidden = PlayWish { transmit: false, ..play_wish(folder.path()) };
        let fake = Fake::new(&[]);
        assert!(matches!(played(&fake, &forbidden).unwrap_err(), SoapyError::Transmit { .. }));
        assert!(fake.sent().is_empty());
        let capture = |hz: f64| Capture { frequency_hz: Some(hz), ..Capture::default() };
        assert_eq!(one_frequency(&[capture(1e6), Capture::default(), capture(1e6)]).unwrap(), Some(1e6));
        let hops = one_frequency(&[capture(1e6), capture(2e6)]).unwrap_err();
        assert!(hops.to_string().contains("1 MHz") && hops.to_string().contains("2 MHz"), "{hops}");
    }

    #[test]
    fn a_device_without_a_clock_plays_one_stretch_at_once() {
        let folder = tempfile::tempdir().unwrap();
        recorded(&Fake::new(&[]), folder.path());
        let to = Fake::new(&[]).without_clock().without_reports();
        let report = played(&to, &play_wish(folder.path())).unwrap();
        assert_eq!((report.samples, report.underflows, report.is_good()), (5000, None, None));
        assert!(to.sent().iter().all(|sent| sent.at_ns.is_none()) && to.sent().last().is_some_and(|sent| sent.ends));
    }
}
