//! Link adaptation: from a channel quality to modulation and coding, with an outer loop on failed blocks.
//!
//! The quality is an SNR. [`Cqi`] says how many bits an element carries at this SNR (TS 36.213 table 7.2.3-1 at a tenth of blocks
//! lost); the highest modulation and coding whose block carries no more is taken. The outer loop moves the SNR: each first
//! transmission that arrives raises it by a little, each transmission that fails lowers it by ten times as much. Repetitions
//! that fail are rare at the target, and many where the report is far from the truth: there they save time.

use serde::{Deserialize, Serialize};
use takt_lte::{Cqi, cqi_of_snr_db};

/// No code of the standard is decoded above this rate: TS 36.213 section 7.1.7.
const HIGHEST_RATE: f32 = 0.93;

/// Settings of link adaptation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AdaptationConfig {
    /// Decibels that a block adds which arrives at once.
    pub up_db: f32,
    /// Decibels that a block takes which does not. `up / (up + down)` is the share of failures that results.
    pub down_db: f32,
    /// The outer loop's bound, both ways, dB.
    pub most_margin_db: f32,
    /// The highest modulation and coding of the downlink: 0 to 28.
    pub most_downlink_mcs: u8,
    /// The highest of the uplink: 0 to 28. From 21 on it is 64QAM.
    pub most_uplink_mcs: u8,
    /// Power control holds the uplink's SNR there; without it, terminals are told no change.
    pub uplink_snr_db: Option<f32>,
}

impl Default for AdaptationConfig {
    fn default() -> Self {
        AdaptationConfig {
            up_db: 0.01,
            down_db: 0.1,
            most_margin_db: 20.0,
            most_downlink_mcs: 28,
            most_uplink_mcs: 28,
            uplink_snr_db: None,
        }
    }
}

/// The SNR that an indicator stands for.
pub(crate) fn snr_of_cqi(cqi: u8) -> f32 {
    Cqi::new(cqi.min(15)).map_or_else(|| Cqi::ALL[0].snr_db() - 2.0, Cqi::snr_db)
}

/// Bits that an element carries at this SNR: between two indicators, on the straight line.
pub(crate) fn bits_of_element(snr_db: f32) -> f32 {
    let Some(low) = Cqi::new(cqi_of_snr_db(if snr_db.is_nan() { f32::NEG_INFINITY } else { snr_db })) else {
        return Cqi::ALL[0].efficiency();
    };
    let above_db = snr_db - low.snr_db();
    match Cqi::new(low.index() + 1) {
        Some(high) => {
            let slope = (high.efficiency() - low.efficiency()) / (high.snr_db() - low.snr_db());
            low.efficiency() + slope * above_db
        }
        // 64QAM at the highest rate.
        None => (low.efficiency() + 0.25 * above_db).min(6.0 * HIGHEST_RATE),
    }
}

/// The highest `mcs` up to `most` whose block carries no more than `bits_of_element` for each of `elements`.
///
/// `bits_of` gives the size of a block, `is_uplink` the modulations. 0 if none fits.
pub(crate) fn highest_mcs(
    most: u8,
    bits_of_element: f32,
    elements: usize,
    is_uplink: bool,
    bits_of: impl Fn(u8) -> usize,
) -> u8 {
    let fits = |mcs: &u8| {
        let bits = bits_of(*mcs);
        let coded = elements as f32 * bits_of_element.min(HIGHEST_RATE * f32::from(modulation_bits(*mcs, is_uplink)));
        bits > 0 && (bits + 24) as f32 <= coded
    };
    (0..=most.min(28)).rev().find(fits).unwrap_or(0)
}

/// Bits of a symbol: TS 36.213 tables 7.1.7.1-1 and 8.6.1-1.
fn modulation_bits(mcs: u8, is_uplink: bool) -> u8 {
    let (first_16qam, first_64qam) = if is_uplink { (11, 21) } else { (10, 17) };
    match mcs {
        _ if mcs < first_16qam => 2,
        _ if mcs < first_64qam => 4,
        _ => 6,
    }
}

/// Keeps the share of failed blocks at its target.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OuterLoop {
    margin_db: f32,
}

impl OuterLoop {
    /// A first transmission arrived, or not.
    pub(crate) fn heard(&mut self, arrived: bool, config: &AdaptationConfig) {
        let step = if arrived { config.up_db } else { -config.down_db };
        self.margin_db = (self.margin_db + step).clamp(-config.most_margin_db, config.most_margin_db);
    }

    /// The channel may be another one by now.
    pub(crate) fn forget_half(&mut self) {
        self.margin_db /= 2.0;
    }

    /// The decibels that it adds to an SNR.
    pub(crate) fn margin_db(&self) -> f32 {
        self.margin_db
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_snr_carries_more_bits() {
        let curve: Vec<f32> = (-200..400).map(|n| bits_of_element(n as f32 / 10.0)).collect();
        assert!(curve.windows(2).all(|two| two[0] <= two[1]));
        for cqi in Cqi::ALL {
            assert!((bits_of_element(snr_of_cqi(cqi.index())) - cqi.efficiency()).abs() < 1e-4, "{cqi:?}");
        }
        assert_eq!([f32::NAN, f32::NEG_INFINITY].map(bits_of_element), [Cqi::ALL[0].efficiency(); 2]);
        assert_eq!([1e9, f32::INFINITY].map(bits_of_element), [6.0 * HIGHEST_RATE; 2]);
    }

    #[test]
    fn no_block_is_above_the_highest_rate() {
        let mcs = highest_mcs(28, 5.58, 1000, false, |mcs| 200 * usize::from(mcs) + 200);
        assert!(200 * usize::from(mcs) + 224 <= 5580 && 200 * usize::from(mcs + 1) + 224 > 5580, "{mcs}");
        assert_eq!(highest_mcs(28, 5.0, 10, false, |_| 4000), 0);
    }

    #[test]
    fn the_outer_loop_reaches_its_target() {
        let config = AdaptationConfig::default();
        // The margin at which a block fails with a probability of 1/11 is 0.
        let (mut outer, mut random) = (OuterLoop { margin_db: 3.0 }, crate::random::Random::new(7));
        let mut failed = 0;
        for n in 0..60_000 {
            let chance = 1.0 / (1.0 + 10.0 * (-2.0 * outer.margin_db).exp());
            let arrived = random.below(1_000_000) as f32 > chance * 1e6;
            failed += u32::from(n >= 20_000 && !arrived);
            outer.heard(arrived, &config);
        }
        let share = f64::from(failed) / 40_000.0;
        assert!((share - 1.0 / 11.0).abs() < 0.01, "{share}");
    }
}
