//! Opening a radio for one end of a link.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use takt_host::placement::Placement;
use takt_lte::Numerology;
use takt_packet::EngineKind;
use takt_radio::RxStream;
use takt_radio::board::Side;
use takt_radio::calibration::CalibrationUse;
use takt_radio::n200::{Emission, OpenOptions};
use takt_radio::x310::MasterClock;
use takt_radio::{AnyOptions, FrontEnd, Net, Radio, RxOptions, RxStreamer, TxOptions, TxStreamer, WallNet};

use crate::{AirError, EndStreams, SampleClock};

/// How far ahead the stream starts. A start that comes after its time begins nothing.
const LEAD: Duration = Duration::from_millis(200);
/// Datagrams of a subframe: what an answer waits for is a quarter of it at most.
const DATAGRAMS: usize = 4;
/// Samples of a datagram that any frame holds.
const MOST_SAMPLES: usize = 1920;

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
}

/// An open radio, and its two streams.
pub struct EndRadio {
    radio: Radio,
    net: Arc<dyn Net>,
    rx: RxStreamer,
    tx: TxStreamer,
    emission: Option<Emission>,
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
        let samples = samples_of_datagram(numerology.subframe_len());
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
        wish.placement.place_self().map_err(takt_radio::RadioError::Placement)?;
        Ok(EndRadio { radio, net, rx, tx, emission })
    }

    /// Its emission; `None`: it is takt's own.
    #[must_use]
    pub fn on_air(&self) -> Option<&Emission> {
        self.emission.as_ref()
    }

    /// Starts the receive stream, a little ahead.
    ///
    /// # Errors
    /// The radio does not answer.
    pub fn start(&mut self) -> Result<EndStreams<'_>, AirError> {
        let speed = self.radio.speed().unwrap_or_default();
        let lead = speed.ticks_in(self.radio.clock(), LEAD);
        let origin = self.radio.time()? + lead;
        self.rx.start(Some(origin))?;
        let clock = SampleClock { origin, step: self.rx.ticks_per_sample() };
        Ok(EndStreams { rx: &mut self.rx, tx: &mut self.tx, clock, host: &*self.net, threads: Vec::new() })
    }
}

/// The most samples of which a subframe is a whole number of datagrams, at least four of them: its last sample then does not wait
/// for those behind it.
fn samples_of_datagram(subframe: usize) -> usize {
    let most = (subframe / DATAGRAMS).min(MOST_SAMPLES);
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
            samples_of_datagram(subframe)
        });
        assert_eq!(sizes, [480, 960, 1920, 1920, 1920, 1920]);
    }
}
