//! From an address and a file name to a recording, and back.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use takt_base::{Stop, Tick};
use takt_dsp::file::{Existing, FileError, SampleFormat};
use takt_dsp::sigmf::{Global, Reader, Writer};
use takt_wire::sample::Format;

use super::{PlayPlan, Played, RecordPlan, Recorded, play, record};
use crate::board::Side;
use crate::n200::{ClockSource, Emission, N200, OpenOptions, TxWish, exact_rate};
use crate::x310::MasterClock;
use crate::{
    About, AnyOptions, Model, Net, Radio, RadioError, RxOptions, RxStream, TuneRequest, Tuned, TxOptions, TxStream,
};

/// How far ahead a stream starts.
const LEAD: Duration = Duration::from_millis(100);

/// What both directions need.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Session {
    pub addr: IpAddr,
    /// The recording: its common name, or either of its files.
    pub path: PathBuf,
    /// Radio frequency of 0 Hz; `None` leaves the front end as it is opened.
    pub frequency_hz: Option<f64>,
    pub gain_db: Option<f64>,
    pub antenna: Option<String>,
    /// Samples on the wire.
    pub wire: Format,
    /// Take the radio even from another host.
    pub force: bool,
    /// What the radio's clock follows.
    pub reference: ClockSource,
    /// Play even to a radio that is not takt's own.
    pub transmit: bool,
}

/// What was recorded or played, and how.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Report<T> {
    /// The recording.
    pub path: PathBuf,
    /// Of the radio.
    pub serial: String,
    /// On air.
    pub rate_sps: f64,
    /// Where the front end was tuned to.
    pub tuned: Option<Tuned>,
    /// Gain it was set to.
    pub gain_db: Option<f64>,
    /// What came, or went.
    #[serde(flatten)]
    pub passed: T,
}

impl Session {
    /// Records `samples` samples at `rate_sps` into a file of `format`; `None` = until `stop`.
    ///
    /// # Errors
    /// The file is there and `existing` keeps it; the radio can't do it; either fails on the way.
    pub fn record(
        &self,
        net: &Arc<dyn Net>,
        rate_sps: f64,
        samples: Option<u64>,
        (format, existing): (SampleFormat, Existing),
        progress: &mut dyn FnMut(u64),
        stop: &Stop,
    ) -> Result<Report<Recorded>, RadioError> {
        // What can be refused without a radio is refused before it is touched.
        let (rate_sps, clock) = some_radios_rate(rate_sps)?;
        let mut global = Global::new(format);
        global.sample_rate_sps = Some(rate_sps);
        let mut radio = self.open(net, clock)?;
        let mut rx = radio.rx_streamer(&RxOptions { format: self.wire, ..RxOptions::new(rate_sps) })?;
        let (tuned, gain_db) = self.set_up(&mut radio, Side::Rx)?;
        let About { model, serial, .. } = radio.about();
        global.hw = Some(format!("{model} serial {serial}"));
        let serial = serial.to_owned();
        let writer = Writer::create(&self.path, global, existing)?;
        let now = radio.time()?;
        let plan = RecordPlan {
            samples,
            frequency_hz: tuned.map(|tuned| tuned.actual_hz),
            utc: utc_now().map(|ns| (now, ns)),
        };
        rx.start(Some(now + rx.tick_rate().ticks_in(LEAD)))?;
        let (recorded, _) = record(&mut rx, &**net, writer, &plan, progress, stop)?;
        let rate_sps = rx.rate_sps();
        Ok(Report { path: self.path.clone(), serial, rate_sps, tuned, gain_db, passed: recorded })
    }

    /// Plays the recording `times` times, at the rate it names or at another. `on_air` gets what a radio that is not takt's
    /// own transmits with, before it does.
    ///
    /// # Errors
    /// The file can't be read or names no rate; the radio may not transmit, or can't do it; either fails on the way.
    pub fn play(
        &self,
        net: &Arc<dyn Net>,
        rate_sps: Option<f64>,
        times: u64,
        on_air: &mut dyn FnMut(&Emission),
        progress: &mut dyn FnMut(u64),
        stop: &Stop,
    ) -> Result<Report<Played>, RadioError> {
        let reader = Reader::open(&self.path)?;
        let rate_sps = rate_sps.or(reader.metadata().global.sample_rate_sps).ok_or_else(|| no_rate(&self.path))?;
        let (rate_sps, clock) = some_radios_rate(rate_sps)?;
        let mut radio = self.open(net, clock)?;
        // Where it was recorded matters to a radio that takt can tune.
        let named_hz = reader.capture_at(0).and_then(|capture| capture.frequency_hz);
        let named_hz = named_hz.filter(|_| radio.model() == Model::N200);
        let session = Session { frequency_hz: self.frequency_hz.or(named_hz), ..self.clone() };
        let wish =
            TxWish { frequency_hz: session.frequency_hz, gain_db: self.gain_db, antenna: self.antenna.as_deref() };
        radio.may_transmit(wish)?;
        let mut tx = radio.tx_streamer(&TxOptions { format: self.wire, ..TxOptions::new(rate_sps) })?;
        let (tuned, gain_db) = session.set_up(&mut radio, Side::Tx)?;
        radio.may_transmit(TxWish::default())?.iter().for_each(on_air);
        let start: Tick = radio.time()? + tx.tick_rate().ticks_in(LEAD);
        let plan = PlayPlan { start, lead: LEAD, times };
        let played = play(reader, &mut tx, &**net, plan, progress, stop)?;
        let serial = radio.about().serial.to_owned();
        Ok(Report { path: self.path.clone(), serial, rate_sps, tuned, gain_db, passed: played })
    }

    fn open(&self, net: &Arc<dyn Net>, clock: MasterClock) -> Result<Radio, RadioError> {
        let Session { force, transmit, reference, .. } = *self;
        let n200 = OpenOptions { force, transmit, reference, ..OpenOptions::default() };
        Radio::open(Arc::clone(net), self.addr, &AnyOptions { n200, frame_bytes: None, clock })
    }

    fn set_up(&self, radio: &mut Radio, side: Side) -> Result<(Option<Tuned>, Option<f64>), RadioError> {
        match radio {
            Radio::N200(radio) => self.set_up_n200(radio, side),
            Radio::X310(_) => self.leave_as_it_is().map(|()| (None, None)),
        }
    }

    /// # Errors
    /// `NoModel` for a wish about the front end, of which takt has no driver.
    fn leave_as_it_is(&self) -> Result<(), RadioError> {
        let wishes = [
            ("antenna", self.antenna.is_some()),
            ("gain", self.gain_db.is_some()),
            ("frequency", self.frequency_hz.is_some()),
        ];
        match wishes.into_iter().find(|(_, wished)| *wished) {
            Some((what, _)) => Err(RadioError::NoModel { boards: "those of an X310".to_owned(), what }),
            None => Ok(()),
        }
    }

    fn set_up_n200(&self, radio: &mut N200, side: Side) -> Result<(Option<Tuned>, Option<f64>), RadioError> {
        if let Some(antenna) = &self.antenna {
            radio.set_antenna(side, antenna)?;
        }
        let gain_db = self.gain_db.map(|gain_db| radio.set_gain_db(side, gain_db)).transpose()?;
        let request = self.frequency_hz.map(TuneRequest::new);
        let tuned = request.map(|request| match side {
            Side::Rx => radio.tune_rx(0, request),
            Side::Tx => radio.tune_tx(request),
        });
        let tuned = tuned.transpose()?;
        radio.flush()?;
        Ok((tuned, gain_db))
    }
}

/// The rate, made exact, if one of takt's radios has it, and the master clock that an X310 needs for it.
fn some_radios_rate(rate_sps: f64) -> Result<(f64, MasterClock), RadioError> {
    let of_x310 = MasterClock::making(rate_sps);
    let clock = of_x310.map_or(MasterClock::default(), |(clock, _)| clock);
    match (exact_rate(rate_sps), of_x310) {
        (Ok(factor), _) => Ok((factor.rate_sps(), clock)),
        (Err(_), Some((_, factor))) => Ok((factor.rate_sps(clock.hz()), clock)),
        (Err(error), None) => Err(error),
    }
}

/// Nanoseconds since 1970.
fn utc_now() -> Option<u64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_nanos()).ok()
}

fn no_rate(path: &Path) -> RadioError {
    RadioError::File(FileError::Unexpected {
        path: path.to_owned(),
        place: "/global/core:sample_rate".to_owned(),
        found: "missing".to_owned(),
        expected: "the rate to play at".to_owned(),
        fix: "name the rate: --rate 1M".to_owned(),
    })
}
