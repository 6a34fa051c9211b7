//! Environments hold the measured side: an agent in a container and one in a virtual machine answer, measure over the
//! path, and leave nothing. What needs root, runc, QEMU or a kernel says so where that is missing.
#![allow(clippy::print_stderr, reason = "what is skipped is skipped aloud")]

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::to_value;
use takt_base::Stop;
use takt_host::leftovers::{Registry, Run};
use takt_lab::agent::Service;
use takt_lab::environment::{Environment, Kind, Limits, Site, SiteError, SiteOptions, Spec, open};
use takt_lab::experiment::settings;
use takt_lab::net::RadioPair;
use takt_lab::workload::udp::{Options, ServeOptions};

const TAKT: &str = env!("CARGO_BIN_EXE_takt");

/// The environment, or a spoken reason why it can't be had here.
fn environment(kind: Kind, limits: Limits, run: &Run) -> Option<Box<dyn Environment>> {
    match open(&Spec { kind, limits }, PathBuf::from(TAKT), run) {
        Ok(environment) => Some(environment),
        Err(error) if error.is_unavailable() => {
            let fix = error.fix().expect("what is missing can be had");
            assert!(std::env::var_os("TAKT_REQUIRE_PEERS").is_none(), "{error}; {fix}");
            eprintln!("skipped: {error}\n  fix   {fix}");
            None
        }
        Err(error) => panic!("{error:?}"),
    }
}

/// A site with a radio's side on a direct path; `None` without the privilege to make one.
fn site(environment: &dyn Environment, run: &Run, label: &str) -> Option<Site> {
    match Site::bring_up(&SiteOptions::default(), environment, run, label) {
        Ok(site) => Some(site),
        Err(SiteError::Environment { source, .. }) if source.is_unavailable() => {
            eprintln!("skipped: {source}");
            None
        }
        Err(error) => panic!("{error:?}"),
    }
}

/// Datagrams from inside to the other side: as many arrive as the sender counts, and the kernel inside counts them too.
fn measures_over_the_path(kind: Kind, limits: Limits) {
    let run = Registry::system().begin("test").expect("a record");
    let Some(environment) = environment(kind, limits, &run) else { return };
    let Some(mut site) = site(&*environment, &run, kind.name()) else { return };
    let holder = site.in_force.holder.clone();
    assert_eq!((holder.environment.as_str(), holder.kernel.is_empty()), (kind.name(), false), "{holder:?}");
    let interface = holder.interface.clone().expect("a path");
    let before = site.host.counters().expect("counters").interfaces[&interface];
    let radio = site.radio.as_mut().expect("the other side");
    let serve = ServeOptions::at(SocketAddr::from((RadioPair::RADIO_ADDR, 0)));
    let at = radio.start(Service::UdpServer, to_value(serve).expect("a document")).expect("a server");
    let mut options = Options::to(at[0].parse().expect("an address"));
    options.datagrams_per_s = Some(500.0);
    options.duration = Duration::from_secs(1);
    let options = to_value(options).expect("a document");
    let result = site.host.run(settings::Kind::Udp, options, Duration::from_secs(30), &Stop::new());
    let result = result.unwrap_or_else(|error| panic!("{error}"));
    let count = |what: &str| result["way"][what]["datagrams"].as_u64().or(result[what]["datagrams"].as_u64());
    assert_eq!(count("sent"), Some(500), "{result:#}");
    assert!(count("received") >= Some(400), "{result:#}");
    let after = site.host.counters().expect("counters").interfaces[&interface];
    assert!(after.tx_frames >= before.tx_frames + 500, "{before:?} {after:?}");
}

#[test]
fn an_agent_in_a_container_measures_over_the_path() {
    measures_over_the_path(Kind::Container, Limits::default());
}

#[test]
fn an_agent_in_a_virtual_machine_measures_over_the_path() {
    measures_over_the_path(Kind::Vm, Limits { cpus: Some(1.0), memory_bytes: Some(512 << 20) });
}
