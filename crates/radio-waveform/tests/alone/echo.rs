//! A waveform on the clock of a software radio: what is received goes through a witness and out again.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use takt_base::{Complex32, Stop};
use takt_emulator::emulate::{Emulator, EmulatorOptions};
use takt_graph::{ComponentSpec, Graph, Item, Kind, Latency, Plan, Shape, Waveform};
use takt_packet::EngineKind;
use takt_radio::n200::OpenOptions;
use takt_radio::{RadioError, WallNet};
use takt_radio_waveform::{RadioClock, RadioRequirements};
use takt_runtime::{ComponentReport, Io, Make, Registration, Registry, Report, Session, SessionOptions, SlotClock};

/// A radio of this machine's own, on the wall's clock.
pub fn radio(addr: Ipv4Addr) -> Emulator {
    Emulator::start(&EmulatorOptions { addrs: vec![addr], ..EmulatorOptions::default() }).expect("a radio")
}

/// Whether the slot brought samples to the witness. They go on in place.
pub fn heard(io: &mut Io<'_>) -> bool {
    !io.outputs[0].write::<Complex32>().is_empty()
}

/// The slots of the chain, and who looks on.
pub struct Echo {
    pub slot: Duration,
    pub items: i64,
    pub advance_us: f64,
    pub slots: u64,
    pub witness: Make,
}

impl Echo {
    /// Runs all its slots on that radio's clock. An error: the radio or this host did not keep the beat.
    pub fn run(&self, addr: Ipv4Addr) -> Result<Report, RadioError> {
        let mut registry = self.registry();
        let waveform = Waveform::new("echo", self.slot)
            .with(ComponentSpec::new("receive", "radio-receive").param("items", self.items))
            .with(ComponentSpec::new("witness", "witness"))
            .with(ComponentSpec::new("transmit", "radio-transmit").param("advance_us", self.advance_us))
            .chain(["receive", "witness", "transmit"]);
        let graph = Graph::check(&waveform, &registry).unwrap_or_else(|error| panic!("{error}"));
        let wanted = RadioRequirements::of(&graph).expect("a radio it has");
        let net = Arc::new(WallNet::new(EngineKind::Mmsg));
        let mut clock = RadioClock::open(net, addr.into(), &wanted, &OpenOptions::default())?;
        clock.equip(&mut registry);
        let options = SessionOptions {
            slots: Some(self.slots),
            clock: SlotClock::Edges(clock.edges()),
            ..SessionOptions::default()
        };
        let plan = Plan::single(&graph, Latency::Compact);
        let session = Session::open(&graph, &plan, &registry, options).expect("opened");
        let stop = Stop::new();
        let mut running = session.start_paused(&stop).expect("started");
        clock.start(None, &stop)?;
        running.go();
        let report = running.join();
        clock.finish()?;
        assert_eq!(report.slots, self.slots);
        Ok(report)
    }

    fn registry(&self) -> Registry {
        let mut registry = Registry::of_program().expect("names of their own");
        let witness = Registration {
            kind: || Kind::new("witness", "Looks on."),
            shape: |_| Ok(Shape::new().in_out("in", "out", Item::C32)),
            make: self.witness,
        };
        registry.add(witness).expect("a name of its own");
        registry
    }
}

/// Its report of one of its components.
pub fn of<'a>(report: &'a Report, name: &str) -> &'a ComponentReport {
    report.components.iter().find(|component| component.name == name).expect("there")
}
