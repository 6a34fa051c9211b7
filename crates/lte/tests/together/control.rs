//! The control region and the broadcast channel: against a foreign program's subframe, and there and back.

use std::collections::HashSet;

use num_complex::Complex32;
use proptest::prelude::*;
use takt_lte::{
    Bandwidth, BroadcastDecoder, BroadcastEncoder, Cell, CellId, ControlDecoder, ControlEncoder, Dci, DciFormat,
    DownlinkGrant, DownlinkGrantBitmap, Mib, PhichResource, ResourceGrid, Rnti, SYMBOLS, SearchSpace, Tti, UplinkGrant,
    control_elements, control_symbols,
};

pub mod air;
use air::Noise;

const VECTOR: &str = include_str!("../vectors/lte_subframe_c1_sf0_mcs9.json");

/// The foreign subframe and what it says of itself.
struct Foreign {
    cell: Cell,
    tti: Tti,
    cfi: u8,
    rnti: Rnti,
    first_element: usize,
    aggregation: u8,
    dci_bits: u64,
    grid: ResourceGrid,
}

fn foreign() -> Foreign {
    let vector: serde_json::Value = serde_json::from_str(VECTOR).unwrap();
    let number = |key: &str| vector[key].as_u64().unwrap();
    let bandwidth = Bandwidth::try_from(number("prb") as u8).unwrap();
    let mut grid = ResourceGrid::new(bandwidth);
    let hex = vector["grid_f32le_hex"].as_str().unwrap();
    let bytes: Vec<u8> = (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..][..2], 16).unwrap()).collect();
    let float = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().unwrap());
    assert_eq!(bytes.len(), 8 * grid.elements().len());
    for (element, bytes) in grid.elements_mut().iter_mut().zip(bytes.chunks(8)) {
        *element = Complex32::new(float(&bytes[..4]), float(&bytes[4..]));
    }
    Foreign {
        cell: Cell { id: CellId::new(number("cell") as u16).unwrap(), bandwidth, phich: PhichResource::One },
        tti: Tti::new(number("tti")),
        cfi: number("cfi") as u8,
        rnti: Rnti(number("rnti") as u16),
        first_element: number("ncce") as usize,
        aggregation: number("L") as u8,
        dci_bits: u64::from_str_radix(vector["dci_format1_bits"].as_str().unwrap(), 2).unwrap(),
        grid,
    }
}

/// Elements of the first port's reference signals in the control region.
fn is_reference(cell: &Cell, symbol: usize, k: usize) -> bool {
    symbol == 0 && k % 6 == usize::from(cell.id.get()) % 6
}

#[test]
fn a_foreign_control_region_is_ours() {
    let Foreign { cell, tti, cfi, rnti, first_element, aggregation, dci_bits, grid } = foreign();
    let dci = Dci::unpack(DciFormat::Bitmap, dci_bits, cell.bandwidth).unwrap();
    let Dci::Bitmap(grant) = dci else { panic!("{dci:?}") };
    assert_eq!((grant.bitmap, grant.mcs, grant.process, grant.redundancy_version), ((1 << 13) - 1, 9, 0, 0));
    let mut control = ControlEncoder::new(&cell);
    control.begin(tti, cfi);
    assert!(control.add(&dci, rnti, SearchSpace::Own, aggregation));
    assert_eq!(control.first_element(), first_element);
    let mut ours = ResourceGrid::new(cell.bandwidth);
    control.map(&mut ours);
    for symbol in 0..control_symbols(cell.bandwidth, cfi) {
        for (k, (ours, theirs)) in ours.symbol(symbol).iter().zip(grid.symbol(symbol)).enumerate() {
            if !is_reference(&cell, symbol, k) {
                assert!((ours - theirs).norm() < 1e-6, "symbol {symbol}, subcarrier {k}: {ours}, not {theirs}");
            }
        }
    }
}

#[test]
fn a_foreign_broadcast_channel_is_ours() {
    let Foreign { cell, tti, grid, .. } = foreign();
    let mut exact = Vec::new();
    for phich in [PhichResource::Sixth, PhichResource::Half, PhichResource::One, PhichResource::Two] {
        for frame in 0..1024 {
            let mut ours = ResourceGrid::new(cell.bandwidth);
            let mib = Mib { bandwidth: cell.bandwidth, phich, frame };
            BroadcastEncoder::new(cell.id).map(&mib, Tti::of(frame, 0), &mut ours);
            let sent = ours.elements().iter().zip(grid.elements()).filter(|(ours, _)| ours.norm() > 0.0);
            if sent.clone().all(|(ours, theirs)| (ours - theirs).norm() < 1e-6) {
                assert_eq!(sent.count(), 240);
                exact.push((mib.phich, mib.frame));
            }
        }
    }
    assert_eq!(exact, [(PhichResource::One, tti.frame())]);
}

#[test]
fn a_foreign_subframe_is_read_with_and_without_noise() {
    let Foreign { cell, tti, cfi, rnti, first_element, dci_bits, grid, .. } = foreign();
    let sent = Dci::unpack(DciFormat::Bitmap, dci_bits, cell.bandwidth).unwrap();
    let mut noise = Noise::new(7);
    let (mut control, mut broadcast) = (ControlDecoder::new(&cell), BroadcastDecoder::new(cell.id));
    for (snr_db, gain) in [(60.0, 1.0), (60.0, 1e-4), (60.0, 3e4), (6.0, 1.0), (3.0, 0.01), (3.0, 100.0)] {
        let gain = Complex32::from_polar(gain, snr_db + gain);
        let (received, gains, power) = noise.channel(&grid, gain, snr_db);
        assert_eq!(control.receive(tti, &received, &gains, power), cfi);
        assert_eq!(control.find(rnti, SearchSpace::Own).collect::<Vec<_>>(), [sent]);
        assert_eq!(control.found()[0].first_element, first_element);
        assert_eq!(control.find(Rnti(rnti.0 + 1), SearchSpace::Own).count(), 0);
        assert_eq!(control.find(Rnti::SI, SearchSpace::Common).count(), 0);
        if snr_db > 50.0 {
            assert_eq!(control.acknowledgement(0, 0), None, "the foreign subframe acknowledges nothing");
        }
        let mib = Mib { bandwidth: cell.bandwidth, phich: PhichResource::One, frame: tti.frame() };
        assert_eq!(broadcast.decode(&received, &gains, power), Some(mib));
        assert_eq!(BroadcastDecoder::new(CellId::new(2).unwrap()).decode(&received, &gains, power), None);
    }
}

fn any_cell() -> impl Strategy<Value = Cell> {
    let resources = [PhichResource::Sixth, PhichResource::Half, PhichResource::One, PhichResource::Two];
    (0u16..504, prop::sample::select(&Bandwidth::ALL[..]), prop::sample::select(resources.to_vec()))
        .prop_map(|(id, bandwidth, phich)| Cell { id: CellId::new(id).unwrap(), bandwidth, phich })
}

/// A grant of each kind, all within the narrowest carrier.
fn any_dci() -> impl Strategy<Value = Dci> {
    let fields = (0u8..6, 1u8..7, 0u8..32, any::<bool>(), 0u8..4, 0u8..8, 0u8..4);
    (0u8..3, fields, 1u32..64, any::<bool>()).prop_map(|(kind, fields, bitmap, cqi_request)| {
        let (first_block, blocks, mcs, new_data, power, small, redundancy_version) = fields;
        let blocks = blocks.min(6 - first_block);
        match kind {
            0 => Dci::UplinkGrant(UplinkGrant {
                first_block,
                blocks,
                mcs,
                new_data,
                power,
                cyclic_shift: small,
                cqi_request,
            }),
            1 => Dci::Compact(DownlinkGrant {
                first_block,
                blocks,
                mcs,
                process: small,
                new_data,
                redundancy_version,
                power,
            }),
            _ => Dci::Bitmap(DownlinkGrantBitmap { bitmap, mcs, process: small, new_data, redundancy_version, power }),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Several grants and acknowledgements in one subframe: what was accepted is found by whom it is for, and nothing else.
    #[test]
    fn all_that_a_subframe_has_room_for_comes_back(
        cell in any_cell(),
        number in 0u64..10_240,
        cfi in 1u8..4,
        grants in prop::collection::vec((any_dci(), 11u16..60_000, prop::sample::select(vec![1u8, 2, 4, 8]), any::<bool>()), 1..9),
        acks in prop::collection::btree_map(0u8..6, any::<bool>(), 0..4),
        seed in any::<u64>(),
    ) {
        let tti = Tti::new(number);
        let mut sender = ControlEncoder::new(&cell);
        sender.begin(tti, cfi);
        let mut expected: Vec<(Rnti, SearchSpace, Dci)> = Vec::new();
        for (dci, rnti, aggregation, common) in grants {
            let space = if common { SearchSpace::Common } else { SearchSpace::Own };
            if sender.add(&dci, Rnti(rnti), space, aggregation) {
                prop_assert!(!common || (aggregation >= 4 && dci.format() == DciFormat::Compact));
                prop_assert!(sender.first_element() + usize::from(aggregation) <= control_elements(&cell, cfi));
                expected.push((Rnti(rnti), space, dci));
            }
        }
        acks.iter().for_each(|(&block, &ack)| sender.acknowledge(block, 0, ack));
        let mut grid = ResourceGrid::new(cell.bandwidth);
        sender.map(&mut grid);
        let region = control_symbols(cell.bandwidth, cfi) * cell.bandwidth.subcarriers();
        prop_assert!(grid.elements()[region..].iter().all(|element| element.norm() == 0.0));
        let (received, gains, power) = Noise::new(seed).channel(&grid, Complex32::new(0.3, -0.4), 20.0);
        let mut terminal = ControlDecoder::new(&cell);
        prop_assert_eq!(terminal.receive(tti, &received, &gains, power), cfi);
        for &(rnti, space, dci) in &expected {
            let found: Vec<Dci> = terminal.find(rnti, space).collect();
            prop_assert!(found.contains(&dci), "{:?} of {:?}: {:?}", dci, rnti, found);
            let mine: HashSet<Dci> = expected.iter().filter(|one| one.0 == rnti).map(|one| one.2).collect();
            prop_assert!(found.iter().all(|one| mine.contains(one)), "{:?}", found);
            prop_assert_eq!(found.iter().collect::<HashSet<_>>().len(), found.len());
        }
        for block in 0..6 {
            let told = terminal.acknowledgement(block, 0);
            prop_assert_eq!(told, acks.get(&block).copied(), "block {}", block);
        }
    }

    /// Anything may come from the air.
    #[test]
    fn nothing_received_can_panic(
        cell in any_cell(),
        number in 0u64..10_240,
        values in prop::collection::vec(prop::sample::select(vec![
            0.0f32, 1.0, -1.0, 1e-30, 1e30, -1e30, f32::MAX, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MIN_POSITIVE,
        ]), 1..30),
        noise in prop::sample::select(vec![0.0f32, -1.0, 1.0, f32::NAN, f32::INFINITY, f32::MAX]),
    ) {
        let fill = |step: usize| {
            let mut grid = ResourceGrid::new(cell.bandwidth);
            for (n, element) in grid.elements_mut().iter_mut().enumerate() {
                *element = Complex32::new(values[n * step % values.len()], values[(n + n / 7) % values.len()]);
            }
            grid
        };
        let (received, gains) = (fill(1), fill(3));
        let mut terminal = ControlDecoder::new(&cell);
        let cfi = terminal.receive(Tti::new(number), &received, &gains, noise);
        prop_assert!((1..=3).contains(&cfi));
        for space in [SearchSpace::Own, SearchSpace::Common] {
            prop_assert!(terminal.find(Rnti(0x46), space).count() <= 32);
        }
        let _ = terminal.acknowledgement(255, 255);
        let mut broadcast = BroadcastDecoder::new(cell.id);
        for _ in 0..5 {
            let _ = broadcast.decode(&received, &gains, noise);
        }
    }

    #[test]
    fn every_master_block_comes_back_from_each_frame(cell in any_cell(), frame in 0u16..1024, seed in any::<u64>()) {
        let mib = Mib { bandwidth: cell.bandwidth, phich: cell.phich, frame };
        let mut grid = ResourceGrid::new(cell.bandwidth);
        BroadcastEncoder::new(cell.id).map(&mib, Tti::of(frame, 5), &mut grid);
        prop_assert!(grid.elements().iter().all(|element| element.norm() == 0.0));
        BroadcastEncoder::new(cell.id).map(&mib, Tti::of(frame, 0), &mut grid);
        let (received, gains, power) = Noise::new(seed).channel(&grid, Complex32::new(0.0, 2.0), 6.0);
        prop_assert_eq!(BroadcastDecoder::new(cell.id).decode(&received, &gains, power), Some(mib));
    }
}

/// Frames add up, but not those that do not belong together: after a gap, the frame number is right or there is none.
#[test]
fn frames_after_a_gap_never_give_a_wrong_number() {
    let cell = Cell { id: CellId::new(9).unwrap(), bandwidth: Bandwidth::Prb6, phich: PhichResource::One };
    let mut noise = Noise::new(11);
    let (mut decoder, mut right) = (BroadcastDecoder::new(cell.id), 0);
    for n in 0..400u16 {
        let frame = n * 7 % 1024;
        let mut grid = ResourceGrid::new(cell.bandwidth);
        let mib = Mib { bandwidth: cell.bandwidth, phich: cell.phich, frame };
        BroadcastEncoder::new(cell.id).map(&mib, Tti::of(frame, 0), &mut grid);
        let (received, gains, power) = noise.channel(&grid, Complex32::new(1.0, 0.0), -7.0);
        if let Some(found) = decoder.decode(&received, &gains, power) {
            assert_eq!(found, mib);
            right += 1;
        }
    }
    assert!(right > 40, "{right} of 400");
}

#[test]
fn a_grant_that_cannot_be_sent_is_refused() {
    let cell = Cell { id: CellId::new(0).unwrap(), bandwidth: Bandwidth::Prb25, phich: PhichResource::One };
    let grant = DownlinkGrant {
        first_block: 0,
        blocks: 25,
        mcs: 0,
        process: 0,
        new_data: false,
        redundancy_version: 0,
        power: 0,
    };
    let mut sender = ControlEncoder::new(&cell);
    let mut accepted = |cfi, dci: Dci, space, aggregation| {
        sender.begin(Tti::default(), cfi);
        sender.add(&dci, Rnti(99), space, aggregation)
    };
    assert!(accepted(2, Dci::Compact(grant), SearchSpace::Common, 4));
    assert!(!accepted(1, Dci::Compact(grant), SearchSpace::Common, 4), "three elements");
    assert!(
        !accepted(2, Dci::Compact(grant), SearchSpace::Common, 2)
            && !accepted(2, Dci::Compact(grant), SearchSpace::Own, 3)
    );
    assert!(!accepted(2, Dci::Compact(DownlinkGrant { blocks: 26, ..grant }), SearchSpace::Own, 4));
    let bitmap =
        DownlinkGrantBitmap { bitmap: 1, mcs: 0, process: 0, new_data: false, redundancy_version: 0, power: 0 };
    assert!(!accepted(2, Dci::Bitmap(bitmap), SearchSpace::Common, 4));
    assert!(accepted(2, Dci::Bitmap(bitmap), SearchSpace::Own, 1));
    assert_eq!(ResourceGrid::new(cell.bandwidth).elements().len(), SYMBOLS * 300);
}
