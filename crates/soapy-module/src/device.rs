//! A radio as SoapySDR's programs set it up: each channel has a rate before it has a stream.
//!
//! A stream is made when it is activated, since programs set rates after they have set a stream up. The radio is tuned again then if
//! its rate has changed: takt keeps the oscillator's leakage out of the band, and for that it has to know the band.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use takt_base::{Tick, TickRate};
use takt_radio::board::Side;
use takt_radio::n200::{N200, TimeSource, exact_rate};
use takt_radio::{
    LoOffset, Net, Radio, RadioError, RxOptions, RxStreamer, TuneRequest, TxOptions, TxStreamer, WallNet,
};

use crate::time::{ns_of, tick_of};
use crate::{Args, ModuleError, SideFacts, StreamArgs, facts};

/// A channel has this rate, or the next below, before a program sets one.
const FIRST_RATE_SPS: f64 = 1e6;

/// A radio that this program owns. Dropping it gives the radio back.
pub struct Device {
    net: Arc<dyn Net>,
    clock: TickRate,
    inner: Mutex<Inner>,
}

struct Inner {
    radio: Radio,
    rx: Vec<Channel>,
    tx: Vec<Channel>,
}

/// A channel, as a program has set it.
#[derive(Clone, Copy, Debug)]
struct Channel {
    rate_sps: f64,
    /// A stream that is active has it, and its rate stays as it is.
    runs: bool,
    tuning: Option<Tuning>,
}

#[derive(Clone, Copy, Debug)]
struct Tuning {
    request: TuneRequest,
    actual_hz: f64,
    /// The rate that the radio knew then; `None`: none yet.
    rate_sps: Option<f64>,
}

impl Device {
    /// Opens the radio that the arguments name.
    ///
    /// # Errors
    /// `Radio`: as [`Radio::open`].
    pub fn open(args: &Args) -> Result<Device, ModuleError> {
        let net: Arc<dyn Net> = Arc::new(WallNet::new(args.engine));
        let radio = Radio::open(Arc::clone(&net), args.addr, &args.options)?;
        let rates = facts::rates_sps(&radio);
        let first = rates.iter().rev().find(|rate| **rate <= FIRST_RATE_SPS).or(rates.first());
        let channel = Channel { rate_sps: first.copied().unwrap_or(FIRST_RATE_SPS), runs: false, tuning: None };
        let channels = |side| vec![channel; facts::side(&radio, side).channels];
        let (rx, tx) = (channels(Side::Rx), channels(Side::Tx));
        Ok(Device { net, clock: radio.clock(), inner: Mutex::new(Inner { radio, rx, tx }) })
    }

    /// The clock that times of streams count.
    #[must_use]
    pub fn clock(&self) -> TickRate {
        self.clock
    }

    pub(crate) fn net(&self) -> &dyn Net {
        &*self.net
    }

    /// Facts of the radio, by name.
    #[must_use]
    pub fn about(&self) -> Vec<(&'static str, String)> {
        let inner = self.lock();
        let about = inner.radio.about();
        vec![
            ("radio", inner.radio.model().to_string()),
            ("product", about.model.to_owned()),
            ("serial", about.serial.to_owned()),
            ("name", about.name.to_owned()),
            ("firmware", about.firmware.to_owned()),
            ("fpga", about.fpga.to_owned()),
            ("takt", env!("CARGO_PKG_VERSION").to_owned()),
        ]
    }

    /// Facts of a side.
    #[must_use]
    pub fn side(&self, side: Side) -> SideFacts {
        facts::side(&self.lock().radio, side)
    }

    /// All rates, the lowest first, samples a second.
    #[must_use]
    pub fn rates_sps(&self) -> Vec<f64> {
        facts::rates_sps(&self.lock().radio)
    }

    /// Rate of a channel, samples a second.
    ///
    /// # Errors
    /// `Channel` if there is none of this number, as in all that follows.
    pub fn rate_sps(&self, side: Side, channel: usize) -> Result<f64, ModuleError> {
        Ok(self.lock().channel(side, channel)?.rate_sps)
    }

    /// Sets the rate of a channel, samples a second.
    ///
    /// # Errors
    /// `Radio` for a rate that the radio does not make exactly; `Runs` if a stream of the channel is active.
    pub fn set_rate_sps(&self, side: Side, channel: usize, rate_sps: f64) -> Result<(), ModuleError> {
        let mut inner = self.lock();
        let exact_sps = match &inner.radio {
            Radio::N200(_) => exact_rate(rate_sps)?.rate_sps(),
            Radio::X310(radio) => {
                let clock = radio.master_clock();
                clock.exact_rate(rate_sps)?.rate_sps(clock.hz())
            }
        };
        let channel = inner.channel(side, channel)?;
        if channel.runs && channel.rate_sps != exact_sps {
            return Err(ModuleError::Runs { what: "set the rate" });
        }
        channel.rate_sps = exact_sps;
        Ok(())
    }

    /// Tunes a channel, Hz; `offset_hz`: how far above it the oscillator goes, which takt chooses if it is `None`.
    ///
    /// # Errors
    /// `Radio`: as [`N200::tune_rx`]; takt tunes no X310.
    pub fn tune(&self, side: Side, channel: usize, hz: f64, offset_hz: Option<f64>) -> Result<(), ModuleError> {
        let mut inner = self.lock();
        inner.channel(side, channel)?;
        let request = TuneRequest { target_hz: hz, offset: offset_hz.map_or(LoOffset::Auto, LoOffset::Hz) };
        inner.tune(side, channel, request, None)
    }

    /// Frequency of 0 Hz of a channel's samples, Hz; 0: takt does not know it.
    pub fn frequency_hz(&self, side: Side, channel: usize) -> Result<f64, ModuleError> {
        let mut inner = self.lock();
        let tuned = inner.channel(side, channel)?.tuning;
        Ok(match (&inner.radio, tuned) {
            (_, Some(tuning)) => tuning.actual_hz,
            (Radio::N200(radio), None) => radio.side(side).lo_hz,
            (Radio::X310(_), None) => 0.0,
        })
    }

    /// Sets the gain of a side, dB, to the nearest that its boards have.
    ///
    /// # Errors
    /// `Radio`: as [`N200::set_gain_db`]; takt sets none of an X310.
    pub fn set_gain_db(&self, side: Side, gain_db: f64) -> Result<(), ModuleError> {
        let mut inner = self.lock();
        let radio = inner.n200("gain")?;
        radio.set_gain_db(side, gain_db)?;
        Ok(radio.flush()?)
    }

    /// Gain of a side, dB; 0 where takt sets none.
    #[must_use]
    pub fn gain_db(&self, side: Side) -> f64 {
        match &self.lock().radio {
            Radio::N200(radio) => radio.side(side).gain_db,
            Radio::X310(_) => 0.0,
        }
    }

    /// Connects a side to an antenna.
    ///
    /// # Errors
    /// `Radio`: as [`N200::set_antenna`]; takt sets none of an X310.
    pub fn set_antenna(&self, side: Side, name: &str) -> Result<(), ModuleError> {
        let mut inner = self.lock();
        let radio = inner.n200("antenna")?;
        radio.set_antenna(side, name)?;
        Ok(radio.flush()?)
    }

    /// The antenna of a side; empty where there is no choice.
    #[must_use]
    pub fn antenna(&self, side: Side) -> &'static str {
        match &self.lock().radio {
            Radio::N200(radio) => radio.board().antennas(side).get(radio.side(side).antenna).copied().unwrap_or(""),
            Radio::X310(_) => "",
        }
    }

    /// Its time now, ns.
    ///
    /// # Errors
    /// `Radio` if it does not answer, as in all that follows.
    pub fn time_ns(&self) -> Result<i64, ModuleError> {
        Ok(ns_of(self.clock, self.lock().radio.time()?))
    }

    /// Sets its time, ns, at once or at the next edge of its PPS.
    ///
    /// # Errors
    /// `Before` for a time below 0.
    pub fn set_time_ns(&self, ns: i64, at_pps: bool) -> Result<(), ModuleError> {
        let tick = self.tick(ns)?;
        match (&mut self.lock().radio, at_pps) {
            (Radio::N200(radio), false) => radio.set_time_now(tick)?,
            (Radio::N200(radio), true) => radio.set_time_at_next_pps(tick)?,
            (Radio::X310(radio), false) => radio.set_time(tick)?,
            (Radio::X310(radio), true) => radio.set_time_at_pps(tick)?,
        }
        Ok(())
    }

    /// Chooses the PPS of an N200: `internal`, `external` or `mimo`.
    ///
    /// # Errors
    /// `Value` for another word; `Unsupported` of an X310.
    pub fn set_time_source(&self, name: &str) -> Result<(), ModuleError> {
        let source = match name {
            "internal" => TimeSource::Internal,
            "external" => TimeSource::External,
            "mimo" => TimeSource::Mimo,
            _ => {
                let (value, expected) = (name.to_owned(), "internal, external or mimo".to_owned());
                return Err(ModuleError::Value { key: "time source".to_owned(), value, expected });
            }
        };
        match &mut self.lock().radio {
            Radio::N200(radio) => Ok(radio.set_time_source(source)?),
            Radio::X310(_) => Err(ModuleError::Unsupported { what: "choose the PPS of an X310" }),
        }
    }

    /// Whether the master clock follows its reference.
    pub fn reference_locked(&self) -> Result<bool, ModuleError> {
        Ok(self.lock().radio.reference_locked()?)
    }

    /// Whether the oscillator of a side is locked; `None`: it has none, or takt drives none.
    pub fn lo_locked(&self, side: Side) -> Result<Option<bool>, ModuleError> {
        Ok(self.lock().radio.lo_locks(side)?)
    }

    /// The tick nearest to a time.
    pub(crate) fn tick(&self, ns: i64) -> Result<Tick, ModuleError> {
        tick_of(self.clock, ns).ok_or(ModuleError::Before { ns })
    }

    pub(crate) fn ns(&self, tick: Tick) -> i64 {
        ns_of(self.clock, tick)
    }

    /// Whether a side has these channels.
    pub(crate) fn has_channels(&self, side: Side, channels: &[u8]) -> Result<(), ModuleError> {
        let mut inner = self.lock();
        channels.iter().try_for_each(|channel| inner.channel(side, usize::from(*channel)).map(|_| ()))
    }

    /// Makes a receive stream of these channels, at their rate, and has their rate stay.
    pub(crate) fn receive_stream(&self, channels: &[u8], args: StreamArgs) -> Result<RxStreamer, ModuleError> {
        let mut inner = self.lock();
        let options = RxOptions {
            channels: channels.to_vec(),
            format: args.wire,
            samples_per_datagram: args.packet_samples,
            // As `takt rate`: one wake-up fetches more.
            coalesce: std::time::Duration::from_millis(2),
            ..RxOptions::new(inner.common_rate_sps(Side::Rx, channels)?)
        };
        let stream = inner.radio.rx_streamer(&options)?;
        inner.begin(Side::Rx, channels)?;
        Ok(stream)
    }

    /// As [`Device::receive_stream`], to transmit.
    pub(crate) fn transmit_stream(&self, channels: &[u8], args: StreamArgs) -> Result<TxStreamer, ModuleError> {
        let mut inner = self.lock();
        let options = TxOptions {
            channels: channels.to_vec(),
            format: args.wire,
            samples_per_datagram: args.packet_samples,
            ..TxOptions::new(inner.common_rate_sps(Side::Tx, channels)?)
        };
        let stream = inner.radio.tx_streamer(&options)?;
        inner.begin(Side::Tx, channels)?;
        Ok(stream)
    }

    /// Their stream is no longer active.
    pub(crate) fn end(&self, side: Side, channels: &[u8]) {
        let mut inner = self.lock();
        for channel in channels {
            if let Ok(channel) = inner.channel(side, usize::from(*channel)) {
                channel.runs = false;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn channel(&mut self, side: Side, channel: usize) -> Result<&mut Channel, ModuleError> {
        let (name, all) = match side {
            Side::Rx => ("receive", &mut self.rx),
            Side::Tx => ("transmit", &mut self.tx),
        };
        let channels = all.len();
        all.get_mut(channel).ok_or(ModuleError::Channel { side: name, channel, channels })
    }

    fn n200(&mut self, what: &'static str) -> Result<&mut N200, RadioError> {
        match &mut self.radio {
            Radio::N200(radio) => Ok(radio),
            Radio::X310(_) => Err(RadioError::NoModel { boards: "those of an X310".to_owned(), what }),
        }
    }

    fn common_rate_sps(&mut self, side: Side, channels: &[u8]) -> Result<f64, ModuleError> {
        let mut rates = Vec::with_capacity(channels.len());
        for channel in channels {
            rates.push(self.channel(side, usize::from(*channel))?.rate_sps);
        }
        match rates.split_first() {
            Some((first, others)) if others.iter().all(|rate| rate == first) => Ok(*first),
            _ => Err(ModuleError::Rates { channels: channels.to_vec(), rates_sps: rates }),
        }
    }

    /// A stream of these channels was made: their rates stay, and the radio knows them now.
    fn begin(&mut self, side: Side, channels: &[u8]) -> Result<(), ModuleError> {
        for &number in channels {
            let channel = self.channel(side, number.into())?;
            channel.runs = true;
            let rate_sps = channel.rate_sps;
            if let Some(tuning) = channel.tuning.filter(|tuning| tuning.rate_sps != Some(rate_sps)) {
                self.tune(side, number.into(), tuning.request, Some(rate_sps))?;
            }
        }
        Ok(())
    }

    /// `rate_sps`: the rate of a stream that was made just now; `None`: as it was known before.
    fn tune(
        &mut self,
        side: Side,
        channel: usize,
        request: TuneRequest,
        rate_sps: Option<f64>,
    ) -> Result<(), ModuleError> {
        let Channel { tuning: before, runs, rate_sps: set_sps } = *self.channel(side, channel)?;
        let radio = self.n200("frequency")?;
        let tuned = match side {
            Side::Rx => radio.tune_rx(channel as u8, request),
            Side::Tx => radio.tune_tx(request),
        };
        radio.flush()?;
        let known_sps = rate_sps.or(runs.then_some(set_sps)).or(before.and_then(|tuning| tuning.rate_sps));
        self.channel(side, channel)?.tuning =
            Some(Tuning { request, actual_hz: tuned?.actual_hz, rate_sps: known_sps });
        Ok(())
    }
}
