//! Records that the layers of both ends exchange in a subframe: the types of [`takt_lte_link`], with a subframe's number.

use takt_lte::{PrachConfig, Tti};
use takt_lte_link::{
    BlockHeard, DownlinkBlock, DownlinkHeard, DownlinkOrders, DownlinkPlan, Feedback, GrantOrder, PhichOrder,
    PreambleHeard, PreambleOrder, PucchOrder, PuschExpected, PuschHeard, PuschOrder, PuschShape, Rnti, UplinkGrant,
    UplinkHeard, UplinkOrders, UplinkPlan,
};
use takt_lte_radio::FollowedCell;

use crate::codec::{Coded, Reader, Writer, coded, put_list};

coded! {
    PreambleHeard { preamble, timing_advance }
    PuschShape { first_block, blocks, mcs, redundancy_version, cyclic_shift }
    PuschExpected { rnti, shape, process, new_block }
    PuschHeard<'a> { rnti, block, detected, snr_db, late }
    UplinkPlan { tti, preambles, pusch, acknowledgements, scheduling_requests, cqi }
    GrantOrder { rnti, grant, space, aggregation }
    PhichOrder { first_block, cyclic_shift, ack }
    BlockHeard<'a> { rnti, grant, block }
    DownlinkPlan { system_information, random_access, own, phich }
    PreambleOrder { preamble, ramp_db }
    PrachConfig { root_sequence, zero_correlation_zone, frequency_offset_blocks, config_index }
    FollowedCell { cell, ordinal, frequency_hz }
    UplinkFound<'a> { number, pusch, acknowledgements, scheduling_requests, cqi }
    Preambles { number, found }
    DownlinkFound<'a> { tti, in_sync, cqi, blocks, grants, acknowledgement }
    Listening { ordered, plan }
    SubframeEnd { next_begin, cell }
}

/// A base station's [`UplinkHeard`] of subframe `number`, without preambles.
pub(crate) struct UplinkFound<'a> {
    pub(crate) number: u64,
    pub(crate) pusch: Vec<PuschHeard<'a>>,
    pub(crate) acknowledgements: Vec<(Rnti, Feedback)>,
    pub(crate) scheduling_requests: Vec<Rnti>,
    pub(crate) cqi: Vec<(Rnti, u8)>,
}

/// Preambles of subframe `number`.
pub(crate) struct Preambles {
    pub(crate) number: u64,
    pub(crate) found: Vec<PreambleHeard>,
}

/// A terminal's [`DownlinkHeard`].
pub(crate) struct DownlinkFound<'a> {
    pub(crate) tti: Tti,
    pub(crate) in_sync: bool,
    pub(crate) cqi: u8,
    pub(crate) blocks: Vec<BlockHeard<'a>>,
    pub(crate) grants: Vec<(Rnti, UplinkGrant)>,
    pub(crate) acknowledgement: Option<bool>,
}

/// The end of a terminal's subframe, and the cell that it follows.
pub(crate) struct SubframeEnd {
    pub(crate) next_begin: u64,
    pub(crate) cell: Option<FollowedCell>,
}

/// A terminal's plan for the downlink. The link layer made it together with the orders for uplink subframe `ordered`.
pub(crate) struct Listening {
    pub(crate) ordered: Tti,
    pub(crate) plan: DownlinkPlan,
}

/// Writes what a base station heard.
pub(crate) fn put_uplink(number: u64, heard: &UplinkHeard<'_>, to: &mut Writer<'_>) {
    number.put(to);
    put_list(heard.pusch, to);
    put_list(heard.acknowledgements, to);
    put_list(heard.scheduling_requests, to);
    put_list(heard.cqi, to);
}

impl UplinkFound<'_> {
    /// As the link layer takes it.
    pub(crate) fn heard<'a>(&'a self, preambles: &'a [PreambleHeard]) -> UplinkHeard<'a> {
        UplinkHeard {
            preambles,
            pusch: &self.pusch,
            acknowledgements: &self.acknowledgements,
            scheduling_requests: &self.scheduling_requests,
            cqi: &self.cqi,
        }
    }
}

/// Writes what a terminal heard.
pub(crate) fn put_downlink(tti: Tti, heard: &DownlinkHeard<'_>, to: &mut Writer<'_>) {
    tti.put(to);
    heard.in_sync.put(to);
    heard.cqi.put(to);
    put_list(heard.blocks, to);
    put_list(heard.grants, to);
    heard.acknowledgement.put(to);
}

impl DownlinkFound<'_> {
    /// As the link layer takes it.
    pub(crate) fn heard(&self) -> DownlinkHeard<'_> {
        let DownlinkFound { in_sync, cqi, ref blocks, ref grants, acknowledgement, .. } = *self;
        DownlinkHeard { in_sync, cqi, blocks, grants, acknowledgement }
    }
}

/// The orders without their plan, which goes another way.
impl<'a> Coded<'a> for DownlinkOrders {
    fn put(&self, to: &mut Writer<'_>) {
        self.tti.put(to);
        self.blocks.put(to);
        self.grants.put(to);
        self.acknowledgements.put(to);
    }

    fn get(from: &mut Reader<'a>) -> Option<DownlinkOrders> {
        Some(DownlinkOrders {
            tti: Coded::get(from)?,
            blocks: Coded::get(from)?,
            grants: Coded::get(from)?,
            acknowledgements: Coded::get(from)?,
            listen: UplinkPlan::default(),
        })
    }
}

impl<'a> Coded<'a> for DownlinkBlock {
    fn put(&self, to: &mut Writer<'_>) {
        self.rnti.put(to);
        self.grant.put(to);
        self.space.put(to);
        self.aggregation.put(to);
        self.bytes.as_slice().put(to);
    }

    fn get(from: &mut Reader<'a>) -> Option<DownlinkBlock> {
        Some(DownlinkBlock {
            rnti: Rnti::get(from)?,
            grant: Coded::get(from)?,
            space: Coded::get(from)?,
            aggregation: u8::get(from)?,
            bytes: <&[u8]>::get(from)?.to_vec(),
        })
    }
}

impl<'a> Coded<'a> for PuschOrder {
    fn put(&self, to: &mut Writer<'_>) {
        self.rnti.put(to);
        self.shape.put(to);
        self.ack.put(to);
        self.power_db.put(to);
        self.bytes.as_slice().put(to);
    }

    fn get(from: &mut Reader<'a>) -> Option<PuschOrder> {
        Some(PuschOrder {
            rnti: Rnti::get(from)?,
            shape: Coded::get(from)?,
            ack: Coded::get(from)?,
            power_db: i8::get(from)?,
            bytes: <&[u8]>::get(from)?.to_vec(),
        })
    }
}

impl<'a> Coded<'a> for UplinkOrders {
    fn put(&self, to: &mut Writer<'_>) {
        self.tti.put(to);
        self.preamble.put(to);
        self.pusch.put(to);
        self.pucch.put(to);
        self.timing_advance.put(to);
        self.listen.put(to);
    }

    fn get(from: &mut Reader<'a>) -> Option<UplinkOrders> {
        Some(UplinkOrders {
            tti: Coded::get(from)?,
            preamble: Coded::get(from)?,
            pusch: Coded::get(from)?,
            pucch: Coded::get(from)?,
            timing_advance: u16::get(from)?,
            listen: Coded::get(from)?,
        })
    }
}

impl<'a> Coded<'a> for PucchOrder {
    fn put(&self, to: &mut Writer<'_>) {
        match *self {
            PucchOrder::Acknowledgement { ack, resource } => (0u8, (ack, resource)).put(to),
            PucchOrder::SchedulingRequest { ack, resource } => (1u8, (ack, resource)).put(to),
            PucchOrder::Cqi { cqi, resource } => (2u8, (cqi, resource)).put(to),
        }
    }

    fn get(from: &mut Reader<'a>) -> Option<PucchOrder> {
        Some(match u8::get(from)? {
            0 => {
                let (ack, resource) = Coded::get(from)?;
                PucchOrder::Acknowledgement { ack, resource }
            }
            1 => {
                let (ack, resource) = Coded::get(from)?;
                PucchOrder::SchedulingRequest { ack, resource }
            }
            2 => {
                let (cqi, resource) = Coded::get(from)?;
                PucchOrder::Cqi { cqi, resource }
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn orders() -> UplinkOrders {
        let shape = PuschShape { first_block: 1, blocks: 2, mcs: 3, redundancy_version: 0, cyclic_shift: 5 };
        UplinkOrders {
            tti: Tti::new(77),
            preamble: Some(PreambleOrder { preamble: 9, ramp_db: 4 }),
            pusch: Some(PuschOrder { rnti: Rnti(61), shape, ack: Some(true), power_db: -3, bytes: vec![1, 2, 3] }),
            pucch: Some(PucchOrder::Cqi { cqi: 12, resource: 30 }),
            timing_advance: 11,
            listen: DownlinkPlan { own: Some(Rnti(61)), phich: Some((1, 5)), ..DownlinkPlan::default() },
        }
    }

    fn written(value: &UplinkOrders) -> Vec<u8> {
        let mut packet = [0; 200];
        let mut writer = Writer::new(&mut packet);
        value.put(&mut writer);
        let len = writer.finish().unwrap();
        packet[..len].to_vec()
    }

    #[test]
    fn what_was_written_is_read_and_a_cut_packet_is_none() {
        let packet = written(&orders());
        let read = UplinkOrders::get(&mut Reader(&packet)).unwrap();
        assert_eq!(format!("{read:?}"), format!("{:?}", orders()));
        for len in 0..packet.len() {
            assert!(UplinkOrders::get(&mut Reader(&packet[..len])).is_none(), "{len} bytes");
            assert_eq!(
                {
                    let mut short = vec![0; len];
                    let mut writer = Writer::new(&mut short);
                    orders().put(&mut writer);
                    writer.finish()
                },
                None
            );
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = UplinkFound::get(&mut Reader(&bytes));
            let _ = DownlinkFound::get(&mut Reader(&bytes));
            let _ = DownlinkOrders::get(&mut Reader(&bytes));
            let _ = UplinkPlan::get(&mut Reader(&bytes));
            let _ = Preambles::get(&mut Reader(&bytes));
            if let Some(orders) = UplinkOrders::get(&mut Reader(&bytes)) {
                let again = written(&orders);
                prop_assert_eq!(&bytes[..again.len()], &again[..]);
            }
        }
    }
}
