//! The physical layer of a base station: what it was ordered to send becomes samples, and samples what it heard.

use num_complex::Complex32;
use takt_lte::{Cell, Numerology, PrachConfig, UplinkConfig};
use takt_lte_link::{DownlinkOrders, UplinkHeard, UplinkPlan};

use crate::AirError;
use crate::station_receiver::{PreambleReceiver, StationReceiver};
use crate::station_threads::PreamblesElsewhere;
use crate::station_transmitter::StationTransmitter;

/// Settings that both ends of a cell share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AirSettings {
    /// The cell.
    pub cell: Cell,
    /// How a subframe lies in samples.
    pub numerology: Numerology,
    /// Control format indicator of the downlink, 1 to 3.
    pub cfi: u8,
    /// Settings of the uplink.
    pub uplink: UplinkConfig,
    /// Settings of random access.
    pub prach: PrachConfig,
    /// Root mean square of samples where all elements are in use.
    pub amplitude: f32,
    /// Iterations of the turbo decoder, at most.
    pub iterations: usize,
}

/// A base station's three parts. Its preambles can be looked for in another thread.
pub struct StationPhy {
    transmitter: StationTransmitter,
    preambles: Preambles,
    receiver: StationReceiver,
}

/// The place at which preambles are looked for.
enum Preambles {
    Here(Box<PreambleReceiver>),
    /// `None` while the receiver moves.
    Elsewhere(Option<PreamblesElsewhere>),
}

impl StationPhy {
    /// Builds all plans.
    ///
    /// # Errors
    /// If a setting is beyond the standard's.
    pub fn new(settings: &AirSettings) -> Result<StationPhy, AirError> {
        Ok(StationPhy {
            transmitter: StationTransmitter::new(settings),
            preambles: Preambles::Here(Box::new(PreambleReceiver::new(settings)?)),
            receiver: StationReceiver::new(settings)?,
        })
    }

    /// Hands the receiver of preambles over to `elsewhere`. `None`: it has gone already.
    pub(crate) fn look_elsewhere(&mut self, elsewhere: PreamblesElsewhere) -> Option<Box<PreambleReceiver>> {
        match std::mem::replace(&mut self.preambles, Preambles::Elsewhere(Some(elsewhere))) {
            Preambles::Here(receiver) => Some(receiver),
            Preambles::Elsewhere(_) => None,
        }
    }

    /// Ends what [`look_elsewhere`](Self::look_elsewhere) began, so that the thread there ends.
    pub(crate) fn leave_elsewhere(&mut self) {
        self.preambles = Preambles::Elsewhere(None);
    }

    /// Takes the receiver of preambles back.
    pub(crate) fn look_here(&mut self, receiver: Box<PreambleReceiver>) {
        self.preambles = Preambles::Here(receiver);
    }

    /// Grants and blocks that were ordered and not sent, since the control region had no room.
    #[must_use]
    pub fn crowded_out(&self) -> u64 {
        self.transmitter.crowded_out()
    }

    /// Fills the samples of the downlink subframe that these orders are for.
    ///
    /// # Panics
    /// If the samples are not a subframe.
    pub fn send(&mut self, orders: &DownlinkOrders, samples: &mut [Complex32]) {
        self.transmitter.send(orders, samples);
    }

    /// Listens to an uplink subframe as planned, and hands over what it heard.
    ///
    /// # Panics
    /// If the samples are not a subframe.
    pub fn receive<R>(
        &mut self,
        plan: &UplinkPlan,
        samples: &[Complex32],
        then: impl FnOnce(&UplinkHeard<'_>) -> R,
    ) -> R {
        let StationPhy { preambles, receiver, .. } = self;
        if !plan.preambles {
            return receiver.receive(plan, samples, || &[], then);
        }
        match preambles {
            Preambles::Here(detector) => {
                let found = detector.detect(samples);
                receiver.receive(plan, samples, || found, then)
            }
            Preambles::Elsewhere(Some(elsewhere)) => {
                elsewhere.ask(samples);
                receiver.receive(plan, samples, || elsewhere.answer(), then)
            }
            Preambles::Elsewhere(None) => receiver.receive(plan, samples, || &[], then),
        }
    }
}
