//! Control channels of the downlink: how many grants a terminal misses, and how many acknowledgements.
//!
//! Elements that no channel uses stay empty, as they reach no other element.

use takt_lte::{
    Bandwidth, Cell, CellId, ControlDecoder, ControlEncoder, Dci, DownlinkGrantBitmap, PhichResource, ResourceGrid,
    Rnti, SearchSpace, Tti, map_cell_reference,
};

use super::diversity::Diversity;
use super::missed::STEP;

const BANDWIDTH: Bandwidth = Bandwidth::Prb50;
/// Two symbols.
const CFI: u8 = 2;
const RNTI: Rnti = Rnti(0x1234);

/// A terminal whose acknowledgement is in group 0: its sequence, and its power beside that of a reference signal.
#[derive(Clone, Copy, Debug)]
pub struct User {
    pub sequence: u8,
    pub power_db: f32,
}

fn cell() -> Cell {
    Cell { id: CellId::new(0).unwrap(), bandwidth: BANDWIDTH, phich: PhichResource::One }
}

struct Link {
    encoder: ControlEncoder,
    decoder: ControlDecoder,
    terminal: Diversity,
    sent: ResourceGrid,
}

impl Link {
    fn new(model: &str) -> Link {
        let cell = cell();
        Link {
            encoder: ControlEncoder::new(&cell),
            decoder: ControlDecoder::new(&cell),
            terminal: Diversity::new(model, cell.id, BANDWIDTH, 17),
            sent: ResourceGrid::new(BANDWIDTH),
        }
    }

    fn begin(&mut self, tti: Tti) {
        self.sent.clear();
        map_cell_reference(&cell(), tti, &mut self.sent);
        self.encoder.begin(tti, CFI);
    }

    /// Answers the format indicator.
    fn receive(&mut self, subframe: u64, snr_db: f32) -> u8 {
        self.terminal.receive(subframe, snr_db, &self.sent);
        self.decoder.receive(Tti::new(subframe), &self.terminal.combined, &self.terminal.gains, 1.0)
    }
}

/// The share of grants that are missed, of eight control channel elements and format 1. It takes the format indicator to find one.
pub fn missed_grants(model: &str, snr_db: f32, subframes: u64) -> f64 {
    let mut link = Link::new(model);
    let is_missed = |n: &u64| {
        let grant = Dci::Bitmap(DownlinkGrantBitmap {
            bitmap: 1 + (n * 7919 % 0x1_FFFF) as u32,
            mcs: (n % 29) as u8,
            process: (n % 8) as u8,
            new_data: n.is_multiple_of(2),
            redundancy_version: 0,
            power: 1,
        });
        link.begin(Tti::new(STEP * n));
        assert!(link.encoder.add(&grant, RNTI, SearchSpace::Own, 8), "nobody else is there");
        link.encoder.map(&mut link.sent);
        link.receive(STEP * n, snr_db) != CFI || link.decoder.find(RNTI, SearchSpace::Own).all(|found| found != grant)
    };
    (0..subframes).filter(is_missed).count() as f64 / subframes as f64
}

/// The share of the first user's acknowledgements that are missed. Each of the others has one or its opposite, by chance.
pub fn missed_acknowledgements(users: &[User], model: &str, snr_db: f32, subframes: u64) -> f64 {
    let mut link = Link::new(model);
    let (mut bare, mut with_one) = (ResourceGrid::new(BANDWIDTH), ResourceGrid::new(BANDWIDTH));
    let groups = BANDWIDTH.blocks().div_ceil(8) as u8;
    let is_missed = |n: &u64| {
        link.begin(Tti::new(STEP * n));
        bare.clear();
        link.encoder.map(&mut bare);
        link.encoder.map(&mut link.sent);
        for (number, user) in users.iter().enumerate() {
            let ack = number == 0 || n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (60 + number) & 1 == 1;
            with_one.clear();
            link.encoder.begin(Tti::new(STEP * n), CFI);
            link.encoder.acknowledge(groups * user.sequence, 0, ack);
            link.encoder.map(&mut with_one);
            let amplitude = 10f32.powf(user.power_db / 20.0);
            let added = with_one.elements().iter().zip(bare.elements()).map(|(with, without)| with - without);
            link.sent.elements_mut().iter_mut().zip(added).for_each(|(sum, symbol)| *sum += symbol * amplitude);
        }
        link.receive(STEP * n, snr_db);
        link.decoder.acknowledgement(groups * users[0].sequence, 0) != Some(true)
    };
    (0..subframes).filter(is_missed).count() as f64 / subframes as f64
}
