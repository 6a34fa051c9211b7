//! The physical radio: opened, set up, streaming both ways.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use takt_base::{Complex32, MonoNs, Speed, Tick};
use takt_radio::board::Side;
use takt_radio::calibration::{AppliedTable, CalibrationUse};
use takt_radio::n200::{Emission, OpenOptions};
use takt_radio::x310::MasterClock;
use takt_radio::{
    AnyOptions, Burst, FrontEnd, Net, Radio, Received, RxOptions, RxStream, RxStreamer, TxEventKind, TxOptions,
    TxStream, TxStreamer,
};

use crate::error::ShareError;
use crate::file::{AnalogPolicy, FrontEndPlan, SharePlan};
use crate::front_end::WideBurst;

/// How far ahead the stream starts. A start that comes after its time begins nothing.
const LEAD: Duration = Duration::from_millis(200);
/// A PPS edge has passed after so long.
const PPS: Duration = Duration::from_millis(1100);
/// How long a block that is sent may wait for room.
const SEND_WAIT: Duration = Duration::from_millis(1);
/// Samples in a datagram: what any frame holds.
pub(crate) const MOST_SAMPLES: usize = 363;

pub(crate) struct Physical {
    pub(crate) net: Arc<dyn Net>,
    radio: Radio,
    rx: RxStreamer,
    tx: Option<TxStreamer>,
    front_end: FrontEnd,
    /// Its emission; `None`: it sends nothing, or it is takt's own.
    pub(crate) emission: Option<Emission>,
    /// Its ticks in one of 100 MHz.
    ratio: u64,
    /// The next block begins a burst, or goes on with it.
    in_burst: bool,
    pub(crate) tally: PhysicalTally,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PhysicalTally {
    pub(crate) unsent_samples: u64,
    pub(crate) underflows: u64,
    pub(crate) late: u64,
    pub(crate) sequence_errors: u64,
}

pub(crate) struct PhysicalWish {
    pub(crate) addr: IpAddr,
    pub(crate) transmit: bool,
    pub(crate) force: bool,
    pub(crate) calibration: CalibrationUse,
    /// Wide samples that are received at a time.
    pub(crate) block: usize,
}

impl Physical {
    pub(crate) fn open(net: Arc<dyn Net>, plan: &SharePlan, wish: &PhysicalWish) -> Result<Physical, ShareError> {
        let FrontEndPlan { rate_sps, frequency_hz, gain_db, ref antenna, policy } = plan.front_end;
        let options = AnyOptions {
            n200: OpenOptions {
                transmit: wish.transmit,
                force: wish.force,
                calibration: wish.calibration,
                ..OpenOptions::default()
            },
            frame_bytes: None,
            clock: MasterClock::Mhz200,
        };
        let mut radio = Radio::open(Arc::clone(&net), wish.addr, &options)?;
        let clock_hz = radio.clock().hz();
        let ratio = match clock_hz {
            100_000_000 => 1,
            200_000_000 => 2,
            _ => return Err(ShareError::Clock { clock_hz }),
        };
        let movable = matches!(radio, Radio::N200(_));
        if !movable && policy != AnalogPolicy::Fixed {
            return Err(ShareError::Immovable { policy: policy.name() });
        }
        // takt can't tune an X310: the file says where its band lies.
        let frequency_hz = movable.then_some(frequency_hz);
        let front_end = FrontEnd { frequency_hz, gain_db, antenna: antenna.clone() };
        let sent = FrontEnd { antenna: None, ..front_end.clone() };
        let transmits = plan.radios.iter().any(|radio| radio.transmit);
        let emission = if transmits { radio.may_transmit(sent.tx_wish())? } else { None };
        let datagram = wish.block.clamp(1, MOST_SAMPLES);
        let rx = RxOptions {
            samples_per_datagram: Some(datagram),
            coalesce: Duration::from_secs_f64(wish.block as f64 / rate_sps / 4.0),
            ..RxOptions::new(rate_sps)
        };
        let rx = radio.rx_streamer(&rx)?;
        let tx = transmits.then(|| radio.tx_streamer(&TxOptions::new(rate_sps))).transpose()?;
        if rx.ticks_per_sample().0 % ratio != 0 {
            return Err(ShareError::Step { rate_sps });
        }
        front_end.set(&mut radio, Side::Rx, 0)?;
        if transmits {
            sent.set(&mut radio, Side::Tx, 0)?;
        }
        let tally = PhysicalTally::default();
        Ok(Physical { net, radio, rx, tx, front_end, emission, ratio, in_burst: false, tally })
    }

    pub(crate) fn speed(&self) -> Speed {
        self.radio.speed().unwrap_or_default()
    }

    /// Whether it is a software radio of takt's own.
    pub(crate) fn is_software(&self) -> bool {
        match &self.radio {
            Radio::N200(radio) => radio.identity().software,
            Radio::X310(radio) => radio.identity().software,
        }
    }

    /// Files of corrections of its boards.
    pub(crate) fn calibration(&self) -> Vec<AppliedTable> {
        self.radio.calibration().to_vec()
    }

    pub(crate) fn words(&self, addr: IpAddr) -> String {
        let about = self.radio.about();
        format!("{} serial {} at {addr}", about.model, about.serial)
    }

    /// Sets its clock at a PPS edge to a whole second, so that the shared radios' edges are its own, and starts to receive.
    /// Returns the tick of the first sample.
    pub(crate) fn start(&mut self) -> Result<Tick, ShareError> {
        let second = Tick(u64::from(self.radio.clock().hz()));
        match &mut self.radio {
            Radio::N200(radio) => radio.set_time_at_next_pps(second)?,
            Radio::X310(radio) => radio.set_time_at_pps(second)?,
        }
        self.net.sleep(self.speed().host_time(PPS));
        let lead = self.speed().ticks_in(self.radio.clock(), LEAD);
        let step = self.rx.ticks_per_sample().0;
        let origin = Tick((self.radio.time()? + lead).0.next_multiple_of(step));
        self.rx.start(Some(origin))?;
        Ok(Tick(origin.0 / self.ratio))
    }

    /// Receives; the tick of the first sample is one of 100 MHz.
    pub(crate) fn recv(&mut self, wide: &mut [Complex32], until: MonoNs) -> Result<Received, ShareError> {
        let received = self.rx.recv(&mut [wide], until)?;
        Ok(Received { first: Tick(received.first.0 / self.ratio), ..received })
    }

    /// Sends a block, and looks at what the radio says of earlier ones.
    pub(crate) fn send(&mut self, burst: WideBurst<'_>) -> Result<(), ShareError> {
        let Some(tx) = &mut self.tx else { return Ok(()) };
        let until = self.net.now() + SEND_WAIT;
        match burst {
            WideBurst::Samples { at, samples } => {
                let sent = tx.send(&[samples], Burst::at(Tick(at.0 * self.ratio)), until)?;
                self.tally.unsent_samples += (samples.len() - sent) as u64;
                self.in_burst |= sent > 0;
            }
            WideBurst::End if self.in_burst => {
                tx.send(&[&[]], Burst::END, until)?;
                self.in_burst = false;
            }
            WideBurst::End => {}
        }
        Ok(())
    }

    /// Takes what the radio reports of what it was sent.
    pub(crate) fn look(&mut self) -> Result<(), ShareError> {
        let Some(tx) = &mut self.tx else { return Ok(()) };
        while let Some(event) = tx.event(MonoNs(0))? {
            match event.kind {
                TxEventKind::Underflow => self.tally.underflows += 1,
                TxEventKind::Late => self.tally.late += 1,
                TxEventKind::SequenceError => self.tally.sequence_errors += 1,
                _ => {}
            }
        }
        Ok(())
    }

    /// Moves oscillator and gain. Returns the first tick of 100 MHz at which all of it holds.
    pub(crate) fn set(&mut self, centre_hz: Option<f64>, gain_db: Option<f64>) -> Result<Tick, ShareError> {
        let wish = FrontEnd { frequency_hz: centre_hz, gain_db, antenna: None };
        wish.set(&mut self.radio, Side::Rx, 0)?;
        if self.tx.is_some() {
            wish.set(&mut self.radio, Side::Tx, 0)?;
        }
        self.front_end.gain_db = gain_db.or(self.front_end.gain_db);
        Ok(Tick(self.radio.time()?.0.div_ceil(self.ratio)))
    }

    /// The gain that it was set to last, dB.
    pub(crate) fn gain_db(&self) -> Option<f64> {
        self.front_end.gain_db
    }
}
