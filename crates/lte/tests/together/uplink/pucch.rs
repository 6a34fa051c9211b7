//! The PUCCH: what it finds, what it misses, and what it sees where nothing was sent.

use proptest::prelude::*;
use takt_lte::{Bandwidth, PucchReceiver, PucchTransmitter, ResourceGrid, Tti, UplinkConfig};

use super::link::{AMPLITUDE, Air, Link, Random, add_noise, config};

fn many() -> bool {
    std::env::var_os("TAKT_LONG_TESTS").is_some()
}

fn ends(config: &UplinkConfig) -> (PucchTransmitter, PucchReceiver) {
    (PucchTransmitter::new(config).unwrap(), PucchReceiver::new(config).unwrap())
}

/// Adds `from`, through a channel of one tap in each slot.
fn add(grid: &mut ResourceGrid, from: &ResourceGrid, amplitude: f32, random: &mut Random) {
    for slot in 0..2 {
        let gain = random.phase() * amplitude;
        for symbol in 7 * slot..7 * slot + 7 {
            grid.symbol_mut(symbol).iter_mut().zip(from.symbol(symbol)).for_each(|(sum, value)| *sum += value * gain);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn what_was_sent_comes_back_from_168_elements_of_power_1(
        bandwidth in prop::sample::select(&Bandwidth::ALL[..]),
        id in 0u16..504,
        (shift_distance, report_blocks) in (1u8..4, 1u8..3),
        resource in 0u16..24,
        (rnti, number) in any::<(u16, u32)>(),
        cqi in 0u8..16,
        ack in any::<bool>(),
    ) {
        let mut config = config(id, bandwidth);
        (config.pucch.shift_distance, config.pucch.report_blocks) = (shift_distance, report_blocks);
        let (transmitter, receiver) = ends(&config);
        let tti = Tti::new(number.into());
        let empty = ResourceGrid::new(bandwidth);
        let (mut request, mut answer, mut report) = (empty.clone(), empty.clone(), empty.clone());
        transmitter.request(tti, resource, &mut request);
        transmitter.acknowledge(tti, resource, ack, &mut answer);
        transmitter.report(tti, rnti, resource % (12 * u16::from(report_blocks)), cqi, &mut report);
        for grid in [&request, &answer, &report] {
            let used: Vec<f32> = grid.elements().iter().map(|element| element.norm()).filter(|&norm| norm > 0.0).collect();
            prop_assert!(used.len() == 168 && used.iter().all(|norm| (norm - 1.0).abs() < 1e-5));
        }
        prop_assert!(receiver.request(tti, resource, &request).is_some());
        prop_assert_eq!(receiver.acknowledgement(tti, resource, &answer).map(|found| found.0), Some(ack));
        let resource = resource % (12 * u16::from(report_blocks));
        let (found, quality) = receiver.report(tti, rnti, resource, &report).unwrap();
        prop_assert!(found == cqi && (quality.power - 1.0).abs() < 1e-3 && quality.snr_db > 30.0, "{:?}", quality);
    }
}

/// Counts over draws of one resource at one ratio.
struct Counts {
    missed: usize,
    turned: usize,
    requests_missed: usize,
    reports_missed: usize,
    reports_wrong: usize,
}

fn counts(snr_db: f32, late: i32, offset_hz: f32, draws: usize) -> Counts {
    let config = config(123, Bandwidth::Prb6);
    let (transmitter, receiver) = ends(&config);
    let mut link = Link::new(Bandwidth::Prb6);
    let (mut sent, mut received) = (ResourceGrid::new(Bandwidth::Prb6), ResourceGrid::new(Bandwidth::Prb6));
    let mut counts = Counts { missed: 0, turned: 0, requests_missed: 0, reports_missed: 0, reports_wrong: 0 };
    let air = Air { snr_db, late, offset_hz, echo: None };
    for seed in 0..draws as u64 {
        let (tti, ack, cqi) = (Tti::new(seed), seed % 2 == 0, (seed % 16) as u8);
        sent.clear();
        transmitter.acknowledge(tti, 5, ack, &mut sent);
        link.pass(&sent, &air, 3 * seed, &mut received);
        let found = receiver.acknowledgement(tti, 5, &received).map(|found| found.0);
        counts.missed += usize::from(found.is_none());
        counts.turned += usize::from(found == Some(!ack));
        sent.clear();
        transmitter.request(tti, 5, &mut sent);
        link.pass(&sent, &air, 3 * seed + 1, &mut received);
        counts.requests_missed += usize::from(receiver.request(tti, 5, &received).is_none());
        sent.clear();
        transmitter.report(tti, 61, 3, cqi, &mut sent);
        link.pass(&sent, &air, 3 * seed + 2, &mut received);
        let found = receiver.report(tti, 61, 3, &received).map(|found| found.0);
        counts.reports_missed += usize::from(found.is_none());
        counts.reports_wrong += usize::from(found.is_some_and(|found| found != cqi));
    }
    counts
}

/// TS 36.104 section 8.3 asks for 1 % at -5.4 dB to -2.5 dB of formats 1a and 2, through fading channels and with two antennas.
/// Here one antenna is to do it at -5.5 dB, without fading.
#[test]
fn the_pucch_is_found_at_the_ratios_of_the_standard() {
    let quarter = Link::new(Bandwidth::Prb6).numerology.prefix as i32 / 4;
    let (snrs, draws) =
        if many() { (&[-12.0, -11.0, -10.0, -9.0, -8.0, -7.0, -5.5][..], 5000) } else { (&[-5.5][..], 300) };
    for (late, offset_hz) in [(0, 0.0), (quarter, 200.0), (-quarter, -200.0)] {
        for &snr_db in snrs {
            let Counts { missed, turned, requests_missed, reports_missed, reports_wrong } =
                counts(snr_db, late, offset_hz, draws);
            eprintln!(
                "{late:2} samples, {offset_hz:4} Hz, {snr_db:5} dB, of {draws}: ack missed {missed}, turned {turned}; request \
                 missed {requests_missed}; report missed {reports_missed}, wrong {reports_wrong}"
            );
            if snr_db == -5.5 {
                let most = draws / 100;
                assert!(missed + turned <= most && requests_missed <= most && reports_missed + reports_wrong <= most);
            }
        }
    }
}

/// If nothing was sent, with or without others on the same block, thresholds keep what they promise.
#[test]
fn what_was_not_sent_is_not_seen() {
    let config = config(123, Bandwidth::Prb6);
    let (transmitter, receiver) = ends(&config);
    let draws = if many() { 40_000 } else { 4000 };
    for others in [false, true] {
        let (mut right, mut wrong, mut requests, mut reports) = (0, 0, 0, 0);
        let (mut one, mut grid) = (ResourceGrid::new(Bandwidth::Prb6), ResourceGrid::new(Bandwidth::Prb6));
        for seed in 0..draws {
            let (tti, mut random) = (Tti::new(seed), Random(seed));
            grid.clear();
            for resource in [4, 6, 11].into_iter().filter(|_| others) {
                one.clear();
                transmitter.acknowledge(tti, resource, seed % 2 == 0, &mut one);
                add(&mut grid, &one, 1.0, &mut random);
                one.clear();
                transmitter.report(tti, 9, resource, (seed % 16) as u8, &mut one);
                add(&mut grid, &one, 1.0, &mut random);
            }
            add_noise(&mut grid, 3.0, seed);
            let found = receiver.acknowledgement(tti, 5, &grid).map(|found| found.0);
            right += usize::from(found == Some(true));
            wrong += usize::from(found == Some(false));
            requests += usize::from(receiver.request(tti, 5, &grid).is_some());
            reports += usize::from(receiver.report(tti, 61, 3, &grid).is_some());
        }
        let share = |count: usize| 100.0 * count as f64 / draws as f64;
        eprintln!(
            "others {others}: seen as right {:.2} %, as wrong {:.2} %, as a request {:.3} %, as a report {:.2} %",
            share(right),
            share(wrong),
            share(requests),
            share(reports)
        );
        assert!(share(right) < 1.5 && share(wrong) < 1.5 && share(requests) < 0.3 && share(reports) < 1.5);
        assert!(
            others || share(right) > 0.3 && share(reports) > 0.2,
            "the thresholds are not higher than they must be"
        );
    }
}

/// The neighbours of a resource on which nothing is sent are 6 dB stronger than those of the standard's ratios, late or early by an
/// eighth of a prefix and 100 Hz off, then twice that. Reports, whose shifts are nearest, suffer then.
#[test]
fn what_leaks_from_others_is_not_seen() {
    let config = config(123, Bandwidth::Prb25);
    let (transmitter, receiver) = ends(&config);
    let mut link = Link::new(Bandwidth::Prb25);
    let eighth = link.numerology.prefix as i32 / 8;
    let empty = ResourceGrid::new(Bandwidth::Prb25);
    let (mut one, mut through, mut grid) = (empty.clone(), empty.clone(), empty.clone());
    let draws = if many() { 3000 } else { 200 };
    for times in [1, 2] {
        let (mut right, mut wrong, mut requests, mut reports, mut missed) = (0, 0, 0, 0, 0);
        for seed in 0..draws {
            let tti = Tti::new(seed);
            grid.clear();
            // Resources 4 and 6 have the shifts beside 5, and 11 another cover; of the reports, 3 lies between 2 and 4.
            for (n, resource) in [4, 6, 11, 2].into_iter().enumerate() {
                one.clear();
                transmitter.acknowledge(tti, resource, seed % 2 == 0, &mut one);
                transmitter.report(tti, 70 + resource, resource, (seed % 16) as u8, &mut one);
                let sign = if n % 2 == 0 { times } else { -times };
                let air = Air { snr_db: 6.5, late: sign * eighth, offset_hz: (100 * sign) as f32, echo: None };
                link.pass(&one, &air, 4 * seed + n as u64, &mut through);
                grid.elements_mut().iter_mut().zip(through.elements()).for_each(|(sum, value)| *sum += value);
            }
            let found = receiver.acknowledgement(tti, 5, &grid).map(|found| found.0);
            right += usize::from(found == Some(true));
            wrong += usize::from(found == Some(false));
            requests += usize::from(receiver.request(tti, 5, &grid).is_some());
            reports += usize::from(receiver.report(tti, 61, 3, &grid).is_some());
            missed += usize::from(receiver.acknowledgement(tti, 6, &grid).map(|found| found.0) != Some(seed % 2 == 0));
        }
        eprintln!(
            "{times} eighths of a prefix: of {draws}, seen as right {right}, as wrong {wrong}, as a request {requests}, as a \
             report {reports}; others missed {missed}"
        );
        let most = 2 + draws as usize / 50;
        assert!(
            right <= most
                && wrong <= most
                && requests <= most
                && reports <= (2 * times - 1) as usize * most
                && missed <= 2,
            "{times}"
        );
    }
}

/// All resources of a block at once, 8 dB apart, each with its own channel.
#[test]
fn terminals_on_one_block_are_told_apart() {
    let config = config(77, Bandwidth::Prb25);
    let (transmitter, receiver) = ends(&config);
    let (mut one, mut grid) = (ResourceGrid::new(Bandwidth::Prb25), ResourceGrid::new(Bandwidth::Prb25));
    for seed in 0..40u64 {
        let (tti, mut random) = (Tti::new(seed * 7), Random(seed));
        grid.clear();
        let sent: Vec<Option<bool>> =
            (0..18).map(|_| Some(random.next() % 3).filter(|&n| n < 2).map(|n| n == 1)).collect();
        let reports: Vec<u8> = (0..12).map(|_| (random.next() % 16) as u8).collect();
        for (resource, ack) in sent.iter().enumerate() {
            let Some(ack) = *ack else { continue };
            one.clear();
            transmitter.acknowledge(tti, resource as u16, ack, &mut one);
            add(&mut grid, &one, if resource % 2 == 0 { 1.0 } else { 0.4 }, &mut random);
        }
        for (resource, &cqi) in reports.iter().enumerate() {
            one.clear();
            transmitter.report(tti, resource as u16, resource as u16, cqi, &mut one);
            add(&mut grid, &one, if resource % 2 == 0 { 1.0 } else { 0.4 }, &mut random);
        }
        add_noise(&mut grid, 30.0, seed);
        for (resource, ack) in sent.iter().enumerate() {
            let found = receiver.acknowledgement(tti, resource as u16, &grid).map(|found| found.0);
            assert!(found == *ack, "subframe {seed}, resource {resource}: {found:?} for {ack:?}");
        }
        for (resource, &cqi) in reports.iter().enumerate() {
            let found = receiver.report(tti, resource as u16, resource as u16, &grid).map(|found| found.0);
            assert_eq!(found, Some(cqi), "subframe {seed}, resource {resource}");
        }
    }
}

#[test]
fn power_and_ratio_are_those_of_the_signal() {
    let config = config(5, Bandwidth::Prb25);
    let (transmitter, receiver) = ends(&config);
    let mut link = Link::new(Bandwidth::Prb25);
    let (mut sent, mut received) = (ResourceGrid::new(Bandwidth::Prb25), ResourceGrid::new(Bandwidth::Prb25));
    transmitter.acknowledge(Tti::new(3), 20, true, &mut sent);
    let (mut power, mut snr) = (0.0, 0.0);
    for seed in 0..100 {
        link.pass(&sent, &Air::noise(3.0), seed, &mut received);
        let (ack, quality) = receiver.acknowledgement(Tti::new(3), 20, &received).unwrap();
        assert!(ack && receiver.request(Tti::new(3), 21, &received).is_none());
        power += quality.power / 100.0;
        snr += quality.snr_db / 100.0;
    }
    assert!((power / AMPLITUDE.powi(2) - 1.0).abs() < 0.05 && (snr - 3.0).abs() < 0.7, "{power} {snr}");
}
