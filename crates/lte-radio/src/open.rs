//! Opening a radio for one end of a link.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use takt_base::Tick;
use takt_host::placement::Placement;
use takt_lte::Numerology;
use takt_packet::EngineKind;
use takt_radio::RxStream;
use takt_radio::board::Side;
use takt_radio::calibration::{AppliedTable, CalibrationUse};
use takt_radio::n200::{Emission, OpenOptions};
use takt_radio::x310::MasterClock;
use takt_radio::{AnyOptions, FrontEnd, Net, Radio, RxOptions, RxStreamer, TxOptions, TxStream, TxStreamer, WallNet};

use crate::resampled::{Ratio, ResampledRx, ResampledTx, START};
use crate::{AirError, EndStreams, SampleClock};

/// How far ahead the stream starts. A start that comes after its time begins nothing.
const LEAD: Duration = Duration::from_millis(200);
/// Datagrams of a subframe: what an answer waits for is a quarter of it at most.
const DATAGRAMS: usize = 4;
/// Samples of a datagram that any frame of an X310 holds, and of an N200.
const MOST_SAMPLES: usize = 1920;
const MOST_SAMPLES_OF_N200: usize = 363;

/// A radio that one end of a link wants.
#[derive(Clone, Debug)]
pub struct RadioWish {
    /// Its address.
    pub addr: IpAddr,
    /// Packet engine of the samples.
    pub engine: EngineKind,
    /// Transmit, even if it is not takt's own.
    pub transmit: bool,
    /// Take it from another host.
    pub force: bool,
    /// Files of corrections that it is tuned by.
    pub calibration: CalibrationUse,
    /// Front end of the receiver.
    pub rx: FrontEnd,
    /// Front end of the transmitter.
    pub tx: FrontEnd,
    /// Cores and policy of the thread that calls.
    pub placement: Placement,
    /// How much earlier each burst is sent: the latency of a shared radio.
    pub early: Duration,
    /// Make the carrier's rate from another one where an N200 has not got it; for an end that sends whole bursts.
    pub resample: bool,
}

/// An open radio, and its two streams.
pub struct EndRadio {
    radio: Radio,
    net: Arc<dyn Net>,
    streams: Streams,
    early: Duration,
    name: String,
    emission: Option<Emission>,
}

/// Streams at the carrier's rate.
enum Streams {
    Plain(Box<(RxStreamer, TxStreamer)>),
    Resampled(Box<(ResampledRx<RxStreamer>, ResampledTx<TxStreamer>)>),
}

impl EndRadio {
    /// Opens it at the rate of a carrier, and places the calling thread.
    ///
    /// # Errors
    /// There is none, it has no such rate, it may not transmit, or can't do what is wished.
    pub fn open(wish: &RadioWish, numerology: &Numerology) -> Result<EndRadio, AirError> {
        let net: Arc<dyn Net> = Arc::new(WallNet::new(wish.engine));
        let rate_sps = numerology.rate_sps();
        let options = AnyOptions {
            n200: OpenOptions {
                transmit: wish.transmit,
                force: wish.force,
                calibration: wish.calibration,
                ..OpenOptions::default()
            },
            frame_bytes: None,
            clock: MasterClock::making(rate_sps).map_or(MasterClock::default(), |(clock, _)| clock),
        };
        let mut radio = Radio::open(Arc::clone(&net), wish.addr, &options)?;
        let emission = radio.may_transmit(wish.tx.tx_wish())?;
        let ratio = ratio(&radio, wish, rate_sps);
        let (rate_sps, samples) = match ratio {
            Some(ratio) => {
                (ratio.radio_sps, samples_of_datagram((ratio.radio_sps / 1e3) as usize, MOST_SAMPLES_OF_N200))
            }
            None => (rate_sps, samples_of_datagram(numerology.subframe_len(), MOST_SAMPLES)),
        };
        let rx = RxOptions {
            // Each datagram as it comes: an answer waits for the last of a subframe.
            coalesce: Duration::ZERO,
            samples_per_datagram: Some(samples),
            ..RxOptions::new(rate_sps)
        };
        let rx = radio.rx_streamer(&rx)?;
        let tx = TxOptions { samples_per_datagram: Some(samples), ..TxOptions::new(rate_sps) };
        let tx = radio.tx_streamer(&tx)?;
        wish.rx.set(&mut radio, Side::Rx, 0)?;
        wish.tx.set(&mut radio, Side::Tx, 0)?;
        let name = format!("{} at {}", radio.about().model, wish.addr);
        wish.placement.place_self().map_err(takt_radio::RadioError::Placement)?;
        let streams = match ratio {
            None => Streams::Plain(Box::new((rx, tx))),
            Some(ratio) => {
                let tx = ResampledTx::new(tx, ratio, numerology.subframe_len());
                Streams::Resampled(Box::new((ResampledRx::new(rx, ratio), tx)))
            }
        };
        Ok(EndRadio { radio, net, streams, early: wish.early, name, emission })
    }

    /// Its model and address, for people.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its emission; `None`: it is takt's own.
    #[must_use]
    pub fn on_air(&self) -> Option<&Emission> {
        self.emission.as_ref()
    }

    /// Files of corrections that it was tuned by, or that were found and can't be used.
    #[must_use]
    pub fn calibration(&self) -> &[AppliedTable] {
        self.radio.calibration()
    }

    /// Starts the receive stream, a little ahead.
    ///
    /// # Errors
    /// The radio does not answer.
    pub fn start(&mut self) -> Result<EndStreams<'_>, AirError> {
        let speed = self.radio.speed().unwrap_or_default();
        let lead = speed.ticks_in(self.radio.clock(), LEAD);
        let origin = self.radio.time()? + lead;
        let host = &*self.net;
        let (rx, tx, origin): (&mut (dyn RxStream + Send), &mut (dyn TxStream + Send), Tick) = match &mut self.streams {
            Streams::Plain(streams) => {
                let (rx, tx) = &mut **streams;
                rx.start(Some(origin))?;
                (rx, tx, origin)
            }
            Streams::Resampled(streams) => {
                let (rx, tx) = &mut **streams;
                rx.radio.start(Some(origin))?;
                tx.origin = origin;
                (rx, tx, START)
            }
        };
        // The clock places what is sent; what is received has numbers.
        let early = rx.tick_rate().ticks_in(self.early);
        let clock = SampleClock { origin: Tick(origin.0.saturating_sub(early.0)), step: rx.ticks_per_sample() };
        Ok(EndStreams { rx, tx, clock, host, threads: Vec::new() })
    }
}

/// How the carrier's rate is made, where the radio is an N200 that has not got it; `None`: as it is, or not at all.
fn ratio(radio: &Radio, wish: &RadioWish, rate_sps: f64) -> Option<Ratio> {
    let lacks = matches!(radio, Radio::N200(_)) && takt_radio::n200::exact_rate(rate_sps).is_err();
    if wish.resample && lacks { Ratio::of_n200(rate_sps) } else { None }
}

/// The most samples of which a subframe is a whole number of datagrams, at least four of them: its last sample then does not wait
/// for those behind it.
fn samples_of_datagram(subframe: usize, most: usize) -> usize {
    let most = (subframe / DATAGRAMS).min(most);
    (1..=most).rev().find(|&size| subframe.is_multiple_of(size)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use takt_lte::{Bandwidth, Sampling};

    use super::*;

    #[test]
    fn a_subframe_is_a_whole_number_of_datagrams() {
        let sizes = Bandwidth::ALL.map(|bandwidth| {
            let subframe = Numerology::new(bandwidth, Sampling::Standard).unwrap().subframe_len();
            samples_of_datagram(subframe, MOST_SAMPLES)
        });
        assert_eq!(sizes, [480, 960, 1920, 1920, 1920, 1920]);
        assert_eq!(samples_of_datagram(2000, MOST_SAMPLES_OF_N200), 250);
    }
}
