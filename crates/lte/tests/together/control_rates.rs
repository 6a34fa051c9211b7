//! How often the control region and the broadcast channel are read, and how often noise is taken for them. Short by default; with
//! `TAKT_LONG_TESTS` set, long enough for the tables that it prints.
#![allow(clippy::print_stderr, reason = "tables of a long run")]

use num_complex::Complex32;
use takt_lte::{
    Bandwidth, BroadcastDecoder, BroadcastEncoder, Cell, CellId, ControlDecoder, ControlEncoder, Dci,
    DownlinkGrantBitmap, Mib, PhichResource, ResourceGrid, Rnti, SearchSpace, Tti,
};

use crate::control::air::Noise;

const RNTI: Rnti = Rnti(0x1234);

/// The count for a short run, or 25 times as many.
fn trials(short: u32) -> u32 {
    if is_long() { 25 * short } else { short }
}

fn is_long() -> bool {
    std::env::var_os("TAKT_LONG_TESTS").is_some()
}

fn cell(bandwidth: Bandwidth) -> Cell {
    Cell { id: CellId::new(150).unwrap(), bandwidth, phich: PhichResource::One }
}

fn gain(n: u32) -> Complex32 {
    Complex32::from_polar(1.0, n as f32)
}

/// Shares of subframes: no indicator, no grant, a wrong answer, and the least level and likeness of a grant that was found.
#[derive(Default, Debug)]
struct Control {
    wrong_indicator: f64,
    missed_grant: f64,
    wrong_answer: f64,
    no_answer: f64,
    least: (f32, f32),
}

/// A format 1 grant of 25 resource blocks, 27 bits, in a region of two symbols, and an acknowledgement.
fn control(aggregation: u8, snr_db: f32, trials: u32) -> Control {
    let cell = cell(Bandwidth::Prb25);
    let (mut sender, mut receiver) = (ControlEncoder::new(&cell), ControlDecoder::new(&cell));
    let mut noise = Noise::new(u64::from(aggregation) << 32 | u64::from(snr_db.to_bits()));
    let mut counts = Control { least: (9.0, 9.0), ..Control::default() };
    let one = 1.0 / f64::from(trials);
    for n in 0..trials {
        let tti = Tti::new(n.into());
        let grant = DownlinkGrantBitmap {
            bitmap: 1 + n % 8191,
            mcs: (n % 29) as u8,
            process: (n % 8) as u8,
            new_data: n % 2 == 0,
            redundancy_version: 0,
            power: 1,
        };
        sender.begin(tti, 2);
        assert!(sender.add(&Dci::Bitmap(grant), RNTI, SearchSpace::Own, aggregation));
        sender.acknowledge((n % 25) as u8, (n % 8) as u8, n % 3 == 0);
        let mut grid = ResourceGrid::new(cell.bandwidth);
        sender.map(&mut grid);
        let (received, gains, power) = noise.channel(&grid, gain(n), snr_db);
        counts.wrong_indicator += f64::from(u8::from(receiver.receive(tti, &received, &gains, power) != 2)) * one;
        match receiver.acknowledgement((n % 25) as u8, (n % 8) as u8) {
            None => counts.no_answer += one,
            Some(ack) => counts.wrong_answer += f64::from(u8::from(ack != (n % 3 == 0))) * one,
        }
        let found = receiver.find(RNTI, SearchSpace::Own).any(|dci| dci == Dci::Bitmap(grant));
        counts.missed_grant += f64::from(u8::from(!found)) * one;
        for found in receiver.found() {
            let (level, likeness) = counts.least;
            counts.least = (level.min(found.level), likeness.min(found.likeness));
        }
    }
    counts
}

#[test]
fn grants_are_missed_as_rarely_as_their_code_allows() {
    for (aggregation, snr_db) in [(1, 6.5), (2, 1.5), (4, -2.0), (8, -5.0)] {
        let rates = control(aggregation, snr_db, 300);
        assert!(rates.missed_grant < 0.04 && rates.wrong_answer < 0.02, "{aggregation}, {snr_db} dB: {rates:?}");
    }
    if is_long() {
        for aggregation in [1, 2, 4, 8] {
            for snr_db in [-8.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0] {
                let rates = control(aggregation, snr_db, trials(200));
                eprintln!("{aggregation} {snr_db:5.1} dB {rates:.4?}");
            }
        }
    }
}

/// Shares of blocks missed: from one frame, and from the first four frames of a block together.
fn broadcast(snr_db: f32, trials: u32) -> [f64; 2] {
    let cell = cell(Bandwidth::Prb6);
    let mut sender = BroadcastEncoder::new(cell.id);
    let mut noise = Noise::new(snr_db.to_bits().into());
    let mut missed = [0.0; 2];
    for n in 0..trials {
        let mut receiver = BroadcastDecoder::new(cell.id);
        let mut found = [None; 4];
        for (quarter, found) in (0u16..).zip(&mut found) {
            let frame = (n % 256) as u16 * 4 + quarter;
            let mib = Mib { bandwidth: cell.bandwidth, phich: cell.phich, frame };
            let mut grid = ResourceGrid::new(cell.bandwidth);
            sender.map(&mib, Tti::of(frame, 0), &mut grid);
            let (received, gains, power) = noise.channel(&grid, gain(n), snr_db);
            *found = receiver.decode(&received, &gains, power);
            assert!(found.is_none_or(|found| found == mib), "{found:?}, not {mib:?}");
        }
        missed[0] += f64::from(u8::from(found[0].is_none())) / f64::from(trials);
        missed[1] += f64::from(u8::from(found.iter().all(Option::is_none))) / f64::from(trials);
    }
    missed
}

#[test]
fn a_master_block_is_read_below_the_noise() {
    assert!(broadcast(-5.0, 200)[0] < 0.03, "one frame");
    assert!(broadcast(-11.0, 100)[1] < 0.05, "four frames");
    if is_long() {
        for snr_db in [-12.0, -11.0, -10.0, -9.0, -8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0] {
            let [one, four] = broadcast(snr_db, trials(40));
            eprintln!("broadcast {snr_db:5.1} dB: missed {one:.4} from one frame, {four:.4} from four");
        }
    }
}

/// The rate that the CRC alone would let pass: 16 candidates of a terminal's own, 2 lengths, one of 65 536 masks.
#[test]
fn noise_grants_less_than_its_crc_lets_pass() {
    let cell = cell(Bandwidth::Prb25);
    let mut receiver = ControlDecoder::new(&cell);
    for power in [0.1, 1.0, 4.0] {
        let (mut received, mut gains, mut noise) =
            (ResourceGrid::new(cell.bandwidth), ResourceGrid::new(cell.bandwidth), Noise::new(5));
        gains.elements_mut().fill(Complex32::new(1.0, 0.0));
        let (mut found, mut searches) = (0, 0);
        for n in 0..trials(8) {
            noise.fill(power, received.elements_mut());
            receiver.receive(Tti::new(n.into()), &received, &gains, power);
            for rnti in (61..60_000).step_by(150) {
                found += receiver.find(Rnti(rnti), SearchSpace::Own).count();
                searches += 1;
            }
        }
        let by_crc = f64::from(searches) * 32.0 / 65_536.0;
        if is_long() {
            eprintln!("noise of {power}: {found} grants in {searches} searches, {by_crc:.1} by CRC alone");
        }
        assert!((found as f64) < by_crc + 3.0 * by_crc.sqrt(), "{found} in {searches} searches");
    }
}
