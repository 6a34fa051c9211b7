//! Two receive antennas of a terminal, combined to one signal.

use takt_lte::{Bandwidth, CellId, ChannelEstimator, ResourceGrid, Tti};

use super::air::Antenna;

pub struct Diversity {
    antennas: [(Antenna, ChannelEstimator); 2],
    received: ResourceGrid,
    /// The received elements, as one channel with noise of power 1.
    pub combined: ResourceGrid,
    /// Its gains.
    pub gains: ResourceGrid,
}

impl Diversity {
    pub fn new(model: &str, id: CellId, bandwidth: Bandwidth, seed: u64) -> Diversity {
        let antenna = |n| (Antenna::new(model, bandwidth, seed + n), ChannelEstimator::new(id, bandwidth));
        let grid = ResourceGrid::new(bandwidth);
        Diversity { antennas: [antenna(0), antenna(1000)], received: grid.clone(), combined: grid.clone(), gains: grid }
    }

    pub fn receive(&mut self, subframe: u64, snr_db: f32, sent: &ResourceGrid) {
        self.combined.clear();
        self.gains.clear();
        for (antenna, estimator) in &mut self.antennas {
            antenna.receive(subframe, snr_db, sent, &mut self.received);
            let estimate = estimator.estimate(Tti::new(subframe), &self.received);
            let over = 1.0 / estimate.noise_power;
            let elements = self.received.elements().iter().zip(estimate.gains.elements());
            let sums = self.combined.elements_mut().iter_mut().zip(self.gains.elements_mut());
            for ((element, gain), (sum, power)) in elements.zip(sums) {
                *sum += element * gain.conj() * over;
                power.re += gain.norm_sqr() * over;
            }
        }
        for (sum, power) in self.combined.elements_mut().iter_mut().zip(self.gains.elements_mut()) {
            let gain = power.re.max(1e-12).sqrt();
            *sum /= gain;
            power.re = gain;
        }
    }
}
