//! A demonstration shows each role of a base station as a thread with its name.

use takt_base::Stop;
use takt_emulator::emulate::SpeedChoice;
use takt_lte::{Bandwidth, Cell, CellId, Numerology, PhichResource, Sampling};
use takt_lte_link::BearerMode;
use takt_lte_radio::TrafficPlan;
use takt_lte_radio::demo::{DemoOptions, demonstrate};
use takt_packet::EngineKind;

#[test]
fn a_demonstration_lists_what_each_role_took() {
    let bandwidth = Bandwidth::Prb6;
    let traffic =
        TrafficPlan { down_bps: 300e3, up_bps: 100e3, packet_bytes: 500, subframes: 300, pings: 1, patience: 600 };
    let options = DemoOptions {
        cell: Cell { id: CellId::new(1).unwrap(), bandwidth, phich: PhichResource::One },
        numerology: Numerology::new(bandwidth, Sampling::Standard).unwrap(),
        speed: "0.5".parse::<SpeedChoice>().unwrap(),
        traffic,
        mode: BearerMode::Acknowledged,
        engine: EngineKind::Mmsg,
        iterations: 8,
        noise_dbfs: -64.0,
        fading: None,
        clock_offset_ppm: 0.5,
        fifo_priority: None,
        seed: 1,
        probe: None,
    };
    let report = demonstrate(&options, &|_| (), &Stop::new()).unwrap();
    let mut names: Vec<&str> = report.threads.iter().map(|one| one.thread.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["enb-prach", "enb-rx", "enb-tx", "enb-worker", "ue-worker"]);
    assert!(report.threads.iter().all(|one| one.cpu_s > 0.0), "{:?}", report.threads);
    assert!(report.station.subframes > 0 && report.station.sent_subframes > 0, "{:?}", report.station);
}
