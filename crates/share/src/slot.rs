//! A radio of the core, and how one is made: beside the streaming thread, which only puts it in its place.

use std::sync::Arc;

use takt_base::Tick;
use takt_dsp::shared_band::BandPlan;
use takt_emulator::loopback::{self, LoopbackSource};
use takt_emulator::n200::{CLOCK, N200, N200Options, Signals};
use takt_emulator::source::Source;

use crate::channels::{Lane, step_of};
use crate::counts::{Counts, WideBand};
use crate::error::ShareError;
use crate::file::RadioPlan;
use crate::front_end::CoreSettings;
use crate::receiving::SharedSource;
use crate::report::SharedRadioReport;
use crate::sum::Insert;
use crate::transmitting::{Claim, SharedSink};
use crate::{Band, Fit};

/// Samples kept of each transmitter: 5 ms at 25 MS/s.
const TX_CAPACITY: usize = 1 << 17;

/// A radio that programs see. In its place in a core, the core has its insert and its lanes.
pub struct SharedRadio {
    pub(crate) number: usize,
    pub(crate) plan: RadioPlan,
    pub(crate) device: N200,
    pub(crate) counts: Arc<Counts>,
    pub(crate) insert: Option<Insert>,
    pub(crate) lanes: [Option<Lane>; 2],
}

impl SharedRadio {
    /// Its number in the core.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }

    /// The software N200.
    #[must_use]
    pub fn device(&self) -> &N200 {
        &self.device
    }

    /// Its counts, behind a front end with this band and this shared transform.
    pub(crate) fn report(&self, front_end: Band, shared: Option<&BandPlan>) -> SharedRadioReport {
        let SharedRadio { plan, device, counts, .. } = self;
        let (band, _, until) = counts.receives.get();
        let counts = counts.all();
        let step = step_of(if until.0 > 0 { band.width_hz } else { plan.limits.rate_sps });
        SharedRadioReport {
            name: plan.name.clone(),
            addr: plan.addr,
            serial: plan.serial.clone(),
            clock_ahead_ticks: device.clock_offset_ticks().cast_signed(),
            radio: device.report(),
            band: (until.0 > 0).then_some(band),
            receive_way: shared.map_or_else(String::new, |shared| shared.choose(step).to_string()),
            in_band: until.0 > 0 && band.fit(front_end) == Fit::Inside,
            outside_samples: counts.outside,
            partly_samples: counts.partly,
            forbidden_samples: counts.forbidden,
            tx_outside_samples: counts.tx_outside,
            tx_forbidden_samples: counts.tx_forbidden,
            tx_overlapping_samples: counts.tx_overlapping,
        }
    }
}

/// Makes radios of a front end, also on another thread than the one that streams.
#[derive(Clone)]
pub struct RadioMaker {
    pub(crate) settings: CoreSettings,
    pub(crate) extract: LoopbackSource,
    pub(crate) wide: Arc<WideBand>,
    pub(crate) claims: Arc<[Claim]>,
    /// Whether the front end has a shared transform.
    pub(crate) has_channels: bool,
}

impl RadioMaker {
    /// The band of the front end at present.
    pub(crate) fn band(&self) -> Band {
        self.wide.get()
    }

    /// Makes a radio that is switched on at this tick, with a number that no radio of the core has.
    ///
    /// # Errors
    /// A serial or a name that an N200's EEPROM can't hold.
    pub fn make(&self, number: usize, radio: &RadioPlan, born: Tick) -> Result<SharedRadio, ShareError> {
        let counts = Arc::<Counts>::default();
        let mut lanes = [None, None];
        let sources = lanes.each_mut().map(|lane| self.source(radio, &counts, born, lane));
        let (insert, mut source) = loopback::pair(CLOCK, if radio.transmit { TX_CAPACITY } else { 0 });
        source.tuned(born, self.wide.get().centre_hz);
        let sink = SharedSink::new(
            Box::new(insert),
            (number, Arc::clone(&self.claims)),
            (radio.limits, radio.transmit, radio.overlap),
            Arc::clone(&self.wide),
            Arc::clone(&counts),
        );
        let device = N200::new(self.options(radio, born), Signals { sources, sink: Box::new(sink) })
            .map_err(|source| ShareError::Identity { name: radio.name.clone(), source: Box::new(source) })?;
        let insert = Some(Insert { source, level: 10f32.powf(radio.level_db as f32 / 20.0) });
        Ok(SharedRadio { number, plan: radio.clone(), device, counts, insert, lanes })
    }

    fn source(&self, radio: &RadioPlan, counts: &Arc<Counts>, born: Tick, lane: &mut Option<Lane>) -> Box<dyn Source> {
        let (handoff, narrow) = if self.has_channels {
            let (made, handoff, narrow) = Lane::new();
            *lane = Some(made);
            (handoff, narrow)
        } else {
            (Arc::default(), loopback::pair(CLOCK, 0).1)
        };
        Box::new(SharedSource {
            extract: self.extract.clone(),
            narrow,
            handoff,
            limits: radio.limits,
            wide: Arc::clone(&self.wide),
            counts: Arc::clone(counts),
            centre_hz: 0.0,
            tuned_from: born,
        })
    }

    fn options(&self, radio: &RadioPlan, born: Tick) -> N200Options {
        N200Options {
            serial: radio.serial.clone(),
            name: radio.name.clone(),
            address: radio.addr,
            board: radio.board,
            marked: self.settings.software,
            destinations: self.settings.destinations.clone(),
            born,
            utc_at_tick_0_s: self.settings.utc_at_tick_0_s,
            speed: self.settings.speed,
            ..N200Options::default()
        }
    }
}
