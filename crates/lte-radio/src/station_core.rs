//! A base station between samples: what came in one subframe becomes what leaves four later.

use num_complex::Complex32;
use takt_lte::Tti;
use takt_lte_link::{AHEAD, BaseStation, UplinkHeard, UplinkPlan};

use crate::{AirError, AirSettings, StationPhy};

/// Plans of subframes that were ordered and have not come.
const PLANS: usize = 16;

/// A base station: link layer and physical layer on one line of subframes.
pub struct StationCore {
    phy: StationPhy,
    link: BaseStation,
    plans: [UplinkPlan; PLANS],
    samples: Vec<Complex32>,
}

impl StationCore {
    /// Builds all plans.
    ///
    /// # Errors
    /// If a setting is beyond the standard's.
    pub fn new(settings: &AirSettings, link: BaseStation) -> Result<StationCore, AirError> {
        Ok(StationCore {
            phy: StationPhy::new(settings)?,
            link,
            plans: std::array::from_fn(|_| UplinkPlan::default()),
            samples: vec![Complex32::default(); settings.numerology.subframe_len()],
        })
    }

    /// Samples of a subframe.
    #[must_use]
    pub fn subframe_len(&self) -> usize {
        self.samples.len()
    }

    /// The link layer.
    pub fn link(&mut self) -> &mut BaseStation {
        &mut self.link
    }

    pub(crate) fn phy_mut(&mut self) -> &mut StationPhy {
        &mut self.phy
    }

    /// The physical layer.
    #[must_use]
    pub fn phy(&self) -> &StationPhy {
        &self.phy
    }

    /// Takes uplink subframe `number`, counted from the first, and answers the samples of downlink subframe `number` + 4. `None`:
    /// samples of it are missing.
    pub fn subframe(&mut self, number: u64, samples: Option<&[Complex32]>) -> &[Complex32] {
        let tti = Tti::new(number);
        let plan = &self.plans[place(tti)];
        let link = &mut self.link;
        let orders = match samples {
            Some(samples) if plan.tti == tti => self.phy.receive(plan, samples, |heard| link.subframe(tti, heard)),
            _ => link.subframe(tti, &UplinkHeard::default()),
        };
        debug_assert_eq!(orders.tti, tti + AHEAD);
        self.phy.send(orders, &mut self.samples);
        let listen = &orders.listen;
        self.plans[place(listen.tti)].clone_from(listen);
        &self.samples
    }
}

fn place(tti: Tti) -> usize {
    tti.get() as usize % PLANS
}
