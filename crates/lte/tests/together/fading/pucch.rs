//! PUCCH: what a base station misses of it, and what it sees of it where nothing was sent.
//!
//! A receiver of takt has one antenna. So there are two, and the one that sees a stronger answer is believed.

use takt_lte::{
    Bandwidth, Cell, CellId, PhichResource, PucchQuality, PucchReceiver, PucchTransmitter, ResourceGrid, Tti,
    UplinkConfig,
};

use super::air::Antenna;
use super::missed::STEP;

const RNTI: u16 = 0x1234;
const RESOURCE: u16 = 5;
/// The least of an acknowledgement, lest two antennas see more than one may where nothing was sent. The energy of an antenna is
/// 9 times the noise then, which noise alone exceeds in 0.4 % of all subframes.
const LEAST_SNR_DB: f32 = -13.8;

/// A transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    Nothing,
    Acknowledgement,
    Report(u8),
}

struct Station {
    transmitter: PucchTransmitter,
    receiver: PucchReceiver,
    antennas: [Antenna; 2],
    sent: ResourceGrid,
    received: ResourceGrid,
}

impl Station {
    fn new(model: &str, bandwidth: Bandwidth) -> Station {
        let cell = Cell { id: CellId::new(0).unwrap(), bandwidth, phich: PhichResource::One };
        let config = UplinkConfig::new(cell);
        Station {
            transmitter: PucchTransmitter::new(&config).unwrap(),
            receiver: PucchReceiver::new(&config).unwrap(),
            antennas: [23, 1023].map(|seed| Antenna::new(model, bandwidth, seed)),
            sent: ResourceGrid::new(bandwidth),
            received: ResourceGrid::new(bandwidth),
        }
    }

    /// The answer of the antenna that found the strongest, if any found one.
    fn strongest<T>(
        &mut self,
        subframe: u64,
        snr_db: f32,
        sent: Sent,
        find: impl Fn(&PucchReceiver, &ResourceGrid) -> Option<(T, PucchQuality)>,
    ) -> Option<(T, PucchQuality)> {
        let tti = Tti::new(subframe);
        self.sent.clear();
        match sent {
            Sent::Nothing => {}
            Sent::Acknowledgement => self.transmitter.acknowledge(tti, RESOURCE, true, &mut self.sent),
            Sent::Report(cqi) => self.transmitter.report(tti, RNTI, RESOURCE, cqi, &mut self.sent),
        }
        let found = self.antennas.each_mut().map(|antenna| {
            antenna.receive(subframe, snr_db, &self.sent, &mut self.received);
            find(&self.receiver, &self.received)
        });
        found.into_iter().flatten().max_by(|(_, one), (_, other)| one.snr_db.total_cmp(&other.snr_db))
    }

    fn acknowledgement(&mut self, subframe: u64, snr_db: f32, sent: Sent) -> Option<bool> {
        let find = |receiver: &PucchReceiver, received: &ResourceGrid| {
            receiver.acknowledgement(Tti::new(subframe), RESOURCE, received)
        };
        let (ack, quality) = self.strongest(subframe, snr_db, sent, find)?;
        (quality.snr_db > LEAST_SNR_DB).then_some(ack)
    }

    fn report(&mut self, subframe: u64, snr_db: f32, sent: Sent) -> Option<u8> {
        let find = |receiver: &PucchReceiver, received: &ResourceGrid| {
            receiver.report(Tti::new(subframe), RNTI, RESOURCE, received)
        };
        self.strongest(subframe, snr_db, sent, find).map(|(cqi, _)| cqi)
    }
}

/// The share of acknowledgements that are missed: format 1a.
pub fn missed_acknowledgements(bandwidth: Bandwidth, model: &str, snr_db: f32, subframes: u64) -> f64 {
    let mut station = Station::new(model, bandwidth);
    let is_missed = |n: &u64| station.acknowledgement(STEP * n, snr_db, Sent::Acknowledgement) != Some(true);
    (0..subframes).filter(is_missed).count() as f64 / subframes as f64
}

/// The share of reports of 4 bits that are missed or wrong: format 2.
pub fn missed_reports(bandwidth: Bandwidth, model: &str, snr_db: f32, subframes: u64) -> f64 {
    let mut station = Station::new(model, bandwidth);
    let is_missed = |n: &u64| {
        let cqi = (n % 16) as u8;
        station.report(STEP * n, snr_db, Sent::Report(cqi)) != Some(cqi)
    };
    (0..subframes).filter(is_missed).count() as f64 / subframes as f64
}

/// The shares of subframes without any signal in which an acknowledgement is seen, and in which a report is.
pub fn seen_in_noise(subframes: u64) -> [f64; 2] {
    let mut station = Station::new("ETU 70", Bandwidth::Prb6);
    let (mut acknowledgements, mut reports) = (0, 0);
    for n in 0..subframes {
        acknowledgements += u64::from(station.acknowledgement(STEP * n, 0.0, Sent::Nothing) == Some(true));
        reports += u64::from(station.report(STEP * n, 0.0, Sent::Nothing).is_some());
    }
    [acknowledgements, reports].map(|seen| seen as f64 / subframes as f64)
}
