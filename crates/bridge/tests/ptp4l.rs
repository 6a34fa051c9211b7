//! linuxptp's own ptp4l, a master and a slave on a cable between two network namespaces, stamps in software. Its management client
//! must read what takt reads, and the offset of the clocks, which are one, must be within the bound.

use std::collections::BTreeMap;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use takt_base::{Clock, WallClock};
use takt_bridge::clock::ptp::{Disciplined, PtpDomain, PtpError, Service};
use takt_bridge::clock::{Responder, SlotTime};
use takt_host::namespace::enter_network;
use takt_host::testing::TestRun;
use takt_testing::{Ptp4l, wait_for};
use takt_wire::ptp::{PtpBody, PtpDataSet, PtpPortState, PtpQuestion, PtpReply, PtpRequest, PtpStamps};

/// Two namespaces with a cable between them.
struct Cable {
    names: [String; 2],
    run: TestRun,
}

impl Cable {
    /// `None`, on record, where this user can't. `test` tells those of one test from others'.
    fn lay(test: &str) -> Option<Cable> {
        if !rustix::process::geteuid().is_root() {
            takt_testing::skip("network namespaces need root   (run the tests as root)");
            return None;
        }
        let mut run = TestRun::new();
        let names = ["p", "q"].map(|end| run.namespace(&format!("test-{test}-{end}")));
        let cable = Cable { names, run };
        let [here, there] = &cable.names;
        ip(&["-n", here, "link", "add", "eth", "type", "veth", "peer", "name", "eth", "netns", there]);
        for (name, address) in [(here, "10.78.0.1/24"), (there, "10.78.0.2/24")] {
            ip(&["-n", name, "address", "add", address, "dev", "eth"]);
            ip(&["-n", name, "link", "set", "eth", "up"]);
        }
        Some(cable)
    }

    /// Result of `does` on a thread in a namespace.
    fn within<T: Send>(&self, end: usize, does: impl FnOnce() -> T + Send) -> T {
        let path = Path::new("/run/netns").join(&self.names[end]);
        let inside = || {
            enter_network(path).expect("root may");
            does()
        };
        std::thread::scope(|scope| scope.spawn(inside).join().expect("no panic"))
    }
}

fn ip(args: &[&str]) {
    assert!(Command::new("ip").args(args).status().expect("iproute2").success(), "ip {}", args.join(" "));
}

/// A master and a slave.
struct Pair {
    cable: Cable,
    _folder: tempfile::TempDir,
    services: [Ptp4l; 2],
}

impl Pair {
    fn start(test: &str, of_slave: &str) -> Option<Pair> {
        Ptp4l::is_here()?;
        let (cable, folder) = (Cable::lay(test)?, tempfile::tempdir().expect("a folder"));
        let mark = |command: &mut Command, program: &Path| cable.run.mark(command, program);
        let start = |end: usize, name, more| Ptp4l::start((&cable.names[end], "eth"), folder.path(), name, more, mark);
        let services = [start(0, "master", "priority1 10"), start(1, "slave", of_slave)];
        Some(Pair { cable, _folder: folder, services })
    }

    fn service(&self, end: usize) -> Service {
        Service::new(Some(self.services[end].socket().to_owned()), PtpDomain::default())
    }

    /// Waits until one end of the cable has its clock synchronised.
    fn until_synchronised(&self, end: usize) {
        let synchronised = || self.cable.within(end, || self.service(end).check().ok());
        wait_for(&format!("a clock that is synchronised: {}", self.services[end].log()), synchronised);
    }

    /// The bytes that ptp4l answers.
    fn answer(&self, end: usize, data_set: PtpDataSet) -> Vec<u8> {
        self.cable.within(end, || {
            let name = SocketAddr::from_abstract_name(format!("takt-test-{}", self.cable.names[end])).expect("a name");
            let socket = UnixDatagram::bind_addr(&name).expect("a socket");
            socket.connect(self.services[end].socket()).expect("ptp4l");
            socket.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
            let (mut room, question) = ([0; 1500], PtpQuestion { port: 7, ..PtpQuestion::default() });
            let len = PtpRequest { question, data_set }.write(&mut room).expect("room");
            socket.send(&room[..len]).expect("ptp4l");
            let len = socket.recv(&mut room).expect("an answer");
            room[..len].to_vec()
        })
    }
}

/// Fields that takt reads in an answer, as pmc writes them.
fn fields(bytes: &[u8]) -> BTreeMap<String, String> {
    let reply = PtpReply::parse(bytes).expect("an answer");
    let flag = |is_set: bool| u8::from(is_set).to_string();
    let scaled = |value: i64| format!("{:.1}", value as f64 / 65536.0);
    let fields: Vec<(&str, String)> = match reply.body {
        PtpBody::Current(current) => vec![
            ("stepsRemoved", current.steps_removed.to_string()),
            ("offsetFromMaster", scaled(current.offset_scaled_ns)),
            ("meanPathDelay", scaled(current.path_delay_scaled_ns)),
        ],
        PtpBody::TimeProperties(properties) => vec![
            ("currentUtcOffset", properties.utc_offset_s.to_string()),
            ("currentUtcOffsetValid", flag(properties.utc_offset_is_valid)),
            ("ptpTimescale", flag(properties.is_tai)),
        ],
        PtpBody::TimeStatus(status) => vec![
            ("master_offset", status.offset_ns.to_string()),
            ("ingress_time", status.ingress_ns.to_string()),
            ("gmPresent", status.has_grandmaster.to_string()),
            ("gmIdentity", identity(status.grandmaster)),
        ],
        PtpBody::Port(port) => vec![
            ("portState", state(port.state).to_owned()),
            ("timestamping", if port.stamps == PtpStamps::Software { "SOFTWARE" } else { "HARDWARE" }.to_owned()),
            ("interface", port.interface.to_owned()),
        ],
        PtpBody::Refused { data_set, error } => panic!("{} is refused with {error}", data_set.name()),
    };
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn identity(of: u64) -> String {
    format!("{:06x}.{:04x}.{:06x}", of >> 40, of >> 24 & 0xFFFF, of & 0xFF_FFFF)
}

fn state(state: PtpPortState) -> &'static str {
    match state {
        PtpPortState::Slave => "SLAVE",
        PtpPortState::Master | PtpPortState::GrandMaster => "MASTER",
        other => panic!("{other:?}"),
    }
}

#[test]
fn pmc_and_takt_read_the_same_and_the_clocks_are_as_near_as_is_reported() {
    let Some(pair) = Pair::start("good", "slaveOnly 1") else { return };
    [0, 1].into_iter().for_each(|end| pair.until_synchronised(end));
    for end in [0, 1] {
        for data_set in PtpDataSet::ALL {
            // It changes with each Sync: equal before and after the request of pmc.
            let (own, theirs) = wait_for("one answer twice", || {
                let before = fields(&pair.answer(end, data_set));
                let theirs = pair.services[end].pmc(data_set.name());
                (before == fields(&pair.answer(end, data_set))).then_some((before, theirs))
            });
            for (key, value) in &own {
                assert_eq!(Some(value), theirs.get(key), "{} {key}: {theirs:?}", data_set.name());
            }
        }
    }
    two_nodes(&pair);
}

/// Slots of two nodes by it: what the other opinion says of clocks that are one.
fn two_nodes(pair: &Pair) {
    let times = [SlotTime::new(1_000_000), SlotTime::new(1_000_000)];
    let epoch_ns = WallClock.now().0 + 1_000_000_000;
    let (responder, reference) = pair.cable.within(0, || {
        let responder = Responder::start([10, 78, 0, 1].into()).expect("an address of ours");
        (responder, Disciplined::agree(pair.service(0), epoch_ns, &times[0]).expect("a grandmaster"))
    });
    let agreed = reference.agreed();
    let follower = pair
        .cable
        .within(1, || Disciplined::follow(pair.service(1), agreed, responder.local(), &times[1]).expect("a slave"));
    let standing = wait_for("looks", || Some(follower.standing()).filter(|standing| standing.looks >= 10));
    assert_eq!(standing.grandmaster(), pair.services[0].pmc("TIME_STATUS_NP")["gmIdentity"]);
    assert_eq!((standing.contradicted, standing.lost), (0, 0), "{standing:?}");
    assert!(standing.ptp.offset_ns.unsigned_abs() <= standing.ptp.bound_ns, "{standing:?}");
    let own = standing.own.expect("the reference answers");
    assert!(own.offset_ns.unsigned_abs() <= own.bound_ns, "{standing:?}");
}

#[test]
fn a_clock_that_ptp4l_does_not_discipline_is_refused() {
    let Some(pair) = Pair::start("free", "slaveOnly 1\nfree_running 1") else { return };
    pair.until_synchronised(0);
    let error = wait_for("a slave that receives from its master", || {
        let error = pair.cable.within(1, || pair.service(1).check()).err()?;
        let knows = pair.services[1].pmc("TIME_STATUS_NP").get("gmPresent").is_some_and(|is| is == "true");
        knows.then_some(error)
    });
    assert!(matches!(error, PtpError::Unsynchronised { .. }), "{error}");
    // The kernel sends its answers nowhere else.
    let error = pair.cable.within(0, || pair.service(1).check()).expect_err("another namespace");
    assert!(matches!(error, PtpError::Silent { .. }), "{error}");
}
