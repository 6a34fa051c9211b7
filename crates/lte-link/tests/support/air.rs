//! The faults of the air, and the orders that no physical layer could follow.

use takt_lte::{Bandwidth, Tti};
use takt_lte_link::{DownlinkGrant, DownlinkOrders, PhichOrder, PuschExpected, UplinkOrders};

use super::chance::Chance;

/// Probabilities of what goes wrong, for each event.
#[derive(Clone, Copy, Debug, Default)]
pub struct Air {
    pub control_lost: f64,
    pub downlink_lost: f64,
    pub uplink_lost: f64,
    /// A PUSCH of which not even the signal is recognised.
    pub uplink_unseen: f64,
    pub answer_lost: f64,
    pub answer_wrong: f64,
    /// PHICH: the other answer.
    pub phich_wrong: f64,
    pub preamble_lost: f64,
    pub request_lost: f64,
    /// Control information that nobody sent.
    pub false_control: f64,
    /// A preamble or request that nobody sent.
    pub false_alarm: f64,
    /// A block that arrives as something else, with its check right.
    pub garbled: f64,
}

/// Whether a block fails at this SNR: one that needs as much fails in a tenth of the cases, less so when it is repeated.
pub fn fails(grant: &DownlinkGrant, bits: usize, snr_db: f64, chance: &mut Chance) -> bool {
    let bits_of_element = bits as f64 / (120.0 * f64::from(grant.blocks));
    let repeated_db = if grant.redundancy_version == 0 { 0.0 } else { 6.0 };
    let needed_db = 10.0 * (2f64.powf(bits_of_element) - 1.0).log10() + 2.0 - repeated_db;
    chance.happens(1.0 / (1.0 + 9.0 * (3.0 * (snr_db - needed_db)).exp()))
}

/// The bytes, or other ones: some changed, cut, or all at random.
pub fn garble(bytes: &[u8], probability: f64, chance: &mut Chance) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    if !chance.happens(probability) {
        return bytes;
    }
    match chance.below(4) {
        0 => bytes.truncate(chance.below(bytes.len() as u64 + 1) as usize),
        1 => bytes.iter_mut().for_each(|byte| *byte = chance.next() as u8),
        _ => {
            for _ in 0..=chance.below(4) {
                let at = chance.below(bytes.len().min(40) as u64) as usize;
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << chance.below(8);
                }
            }
        }
    }
    bytes
}

pub fn acknowledgement(
    sent: &UplinkOrders,
    orders: &DownlinkOrders,
    now: u64,
    is_out: bool,
    air: &Air,
    chance: &mut Chance,
) -> Option<bool> {
    let pusch = sent.pusch.as_ref().filter(|_| sent.tti == Tti::new(now) - 4)?;
    let mine = |order: &&PhichOrder| {
        order.first_block == pusch.shape.first_block && order.cyclic_shift == pusch.shape.cyclic_shift
    };
    let order = orders.acknowledgements.iter().find(mine).filter(|_| !is_out && orders.tti == Tti::new(now));
    match order {
        Some(order) => Some(order.ack != chance.happens(air.phich_wrong)),
        // Noise says anything.
        None => [None, None, Some(true), Some(false)][chance.below(4) as usize],
    }
}

/// Panics if there is an order that a physical layer could not send.
pub fn check_orders(orders: &DownlinkOrders, bandwidth: Bandwidth) {
    let mut next = 0;
    for block in &orders.blocks {
        assert!(block.grant.first_block >= next && block.grant.blocks > 0, "blocks overlap: {orders:?}");
        next = block.grant.first_block + block.grant.blocks;
        assert!(usize::from(next) <= bandwidth.blocks() && !block.bytes.is_empty());
    }
    let mut expected: Vec<_> =
        orders.listen.pusch.iter().map(|one| (one.shape.first_block, one.shape.blocks)).collect();
    expected.sort_unstable();
    assert!(expected.windows(2).all(|two| two[0].0 + two[0].1 <= two[1].0), "PUSCH overlap: {expected:?}");
    for grant in &orders.grants {
        assert!(takt_lte::valid_uplink_blocks(grant.grant.blocks.into()));
        let plans = |one: &&PuschExpected| one.rnti == grant.rnti;
        let shape = orders.listen.pusch.iter().find(plans).expect("a grant is planned for").shape;
        assert_eq!((shape.first_block, shape.blocks), (grant.grant.first_block, grant.grant.blocks));
    }
    let mut rntis: Vec<_> = orders.blocks.iter().map(|block| block.rnti).collect();
    rntis.sort_unstable();
    assert!(rntis.windows(2).all(|two| two[0] != two[1]), "two blocks for one terminal");
}
