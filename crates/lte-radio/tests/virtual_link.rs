//! A base station and a terminal over an air of samples, on a virtual clock: nothing here is a duration.

#[path = "support/air.rs"]
mod air;

use air::{Between, VirtualLink};
use takt_lte::Bandwidth;
use takt_lte_link::LinkState;
use takt_lte_radio::traffic::LoadFigures;
use takt_lte_radio::{CellStage, TrafficPlan};

const PLAN: TrafficPlan =
    TrafficPlan { down_bps: 1e6, up_bps: 0.4e6, packet_bytes: 700, subframes: 600, pings: 3, patience: 1500 };

/// Runs to the end of the traffic, and does this before each subframe of the station.
fn run(
    bandwidth: Bandwidth,
    between: Between,
    plan: TrafficPlan,
    mut before: impl FnMut(u64, &mut VirtualLink),
) -> VirtualLink {
    let mut link = VirtualLink::new(bandwidth, between, plan);
    for subframe in 0..plan.patience + 50 * plan.pings + plan.subframes + 4000 {
        if link.ended {
            break;
        }
        before(subframe, &mut link);
        link.step();
    }
    link
}

/// Loads that arrived, down and up.
fn figures(link: &VirtualLink) -> [LoadFigures; 2] {
    let (down, up) = (link.station_traffic.sent().0, link.terminal_traffic.sent().0);
    [link.terminal_traffic.received(down), link.station_traffic.received(up)]
}

#[track_caller]
fn carries_everything(link: &mut VirtualLink, attached_before: u64) {
    let stage = link.terminal.stage();
    let counters = *link.terminal.link().counters();
    let attached = link.terminal_traffic.attached_at();
    assert!(attached.is_some_and(|at| at < attached_before), "{attached:?} {stage:?} {counters:?}");
    for load in figures(link) {
        assert!(load.sent > 0 && load.received == load.sent && load.repeated == 0, "{load:?} {counters:?}");
    }
    assert!(link.terminal_traffic.pings().all(|ping| ping.is_some()));
}

#[test]
fn every_bandwidth_attaches_and_carries_everything() {
    for bandwidth in [Bandwidth::Prb6, Bandwidth::Prb15, Bandwidth::Prb25] {
        let mut link = run(bandwidth, Between::default(), PLAN, |_, _| {});
        assert!(matches!(link.terminal.stage(), CellStage::Follow { id: 101, .. }), "{:?}", link.terminal.stage());
        carries_everything(&mut link, 400);
    }
}

/// The widest one takes most of the time, so it carries little.
#[test]
fn the_widest_link_fills_its_slots() {
    let plan = TrafficPlan { down_bps: 60e6, up_bps: 20e6, packet_bytes: 1400, subframes: 60, ..PLAN };
    let mut link = run(Bandwidth::Prb100, Between { snr_db: 32.0, ..Between::default() }, plan, |_, _| {});
    carries_everything(&mut link, 400);
}

#[test]
fn oscillators_that_are_off_and_noise_are_followed() {
    for (frequency_hz, snr_db, delay) in [(4800.0, 12.0, 0), (-4800.0, 12.0, 40), (700.0, 6.0, 14)] {
        let between = Between { frequency_hz, snr_db, delay, ..Between::default() };
        let plan = TrafficPlan { down_bps: 0.2e6, up_bps: 0.1e6, ..PLAN };
        let mut link = run(Bandwidth::Prb6, between, plan, |_, _| {});
        carries_everything(&mut link, 1000);
    }
}

#[test]
fn noise_alone_is_no_cell() {
    let between = Between { snr_db: -40.0, ..Between::default() };
    let link = run(Bandwidth::Prb6, between, PLAN, |_, _| {});
    assert_eq!((link.terminal.stage(), link.terminal_traffic.attached_at()), (CellStage::Search, None));
    assert!(link.terminal.counts().nothing_found > 10, "{:?}", link.terminal.counts());
}

/// The air falls silent in the middle of the load: for less than the terminal waits, and for longer.
#[test]
fn an_outage_costs_time_and_no_packet() {
    for (outage, is_lost) in [(30, false), (400, true)] {
        let mut link = run(Bandwidth::Prb6, Between::default(), PLAN, |subframe, link| {
            link.muted = (500..500 + outage).contains(&subframe);
        });
        carries_everything(&mut link, 400);
        assert_eq!(link.terminal.counts().cells_lost > 0, is_lost, "{outage}: {:?}", link.terminal.counts());
        assert_eq!(link.terminal.link().state(), LinkState::Attached);
    }
}

/// It counts its frames anew, which a terminal can see from its master information alone.
#[test]
fn a_base_station_that_starts_again_gets_its_terminal_back() {
    let mut lost_at = None;
    let mut back_at = None;
    let plan = TrafficPlan { subframes: 1500, ..PLAN };
    run(Bandwidth::Prb6, Between::default(), plan, |subframe, link| {
        if subframe == 400 {
            assert_eq!(link.terminal.link().state(), LinkState::Attached);
            link.restart_station();
        }
        let is_attached = link.terminal.link().state() == LinkState::Attached;
        if subframe > 400 && !is_attached {
            lost_at.get_or_insert(subframe);
        } else if lost_at.is_some() && is_attached {
            back_at.get_or_insert(subframe);
        }
    });
    assert!(lost_at.is_some_and(|at| at < 1000) && back_at.is_some_and(|at| at < 1800), "{lost_at:?} {back_at:?}");
}

#[test]
fn the_same_noise_makes_the_same_link() {
    let between = Between { snr_db: 9.0, ..Between::default() };
    let runs = [(); 2].map(|()| {
        let mut link = run(Bandwidth::Prb6, between, PLAN, |_, _| {});
        (figures(&link), *link.terminal.link().counters(), link.terminal_traffic.attached_at())
    });
    assert_eq!(runs[0], runs[1]);
    let other = run(Bandwidth::Prb6, Between { seed: 9, ..between }, PLAN, |_, _| {});
    assert_ne!(runs[0].0, figures(&other), "other noise, other losses");
}
