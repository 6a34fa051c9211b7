//! A node's reaction to a PTP service that is not there, not synchronised, or hostile; and to two opinions of one beat.
//! The service is a double: a real one is in `ptp4l.rs`.

mod support;

use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::PathBuf;

use support::{Double, GRANDMASTER, bytes, each, in_state, well};
use takt_base::{Clock, WallClock};
use takt_bridge::clock::ptp::{Agreed, Disciplined, PtpDomain, PtpError, Service, Synchronised};
use takt_bridge::clock::{Responder, SlotTime};
use takt_testing::{loopback, wait_for};
use takt_wire::ptp::{PtpBody, PtpDataSet, PtpPort, PtpPortState, PtpReply, PtpStamps, PtpTimeProperties};

fn at(path: PathBuf) -> Service {
    Service::new(Some(path), PtpDomain::default())
}

#[test]
fn a_synchronised_slave_and_a_grandmaster_are_relied_on() {
    let double = Double::new(each(well));
    let (offset_ns, path_delay_ns) = (-250, 3_000);
    let slave = Synchronised { grandmaster: GRANDMASTER, offset_ns, path_delay_ns, ahead_s: 0, card: None };
    assert_eq!(double.service().ask().unwrap(), slave);
    for state in [PtpPortState::Master, PtpPortState::GrandMaster] {
        double.becomes(each(move |set| in_state(set, state, false)));
        let grandmaster = Synchronised { offset_ns: 0, path_delay_ns: 0, ..slave.clone() };
        assert_eq!(double.service().ask().unwrap(), grandmaster, "{state:?}");
    }
    double.becomes(each(|set| tai(set, 37)));
    assert_eq!(double.service().ask().unwrap(), Synchronised { ahead_s: 37, ..slave });
}

fn tai(set: PtpDataSet, utc_offset_s: i16) -> PtpBody<'static> {
    match set {
        PtpDataSet::TimeProperties => {
            PtpBody::TimeProperties(PtpTimeProperties { utc_offset_s, utc_offset_is_valid: true, is_tai: true })
        }
        other => well(other),
    }
}

#[test]
fn a_clock_that_is_not_synchronised_is_refused_with_its_state() {
    let double = Double::new(each(well));
    for state in [1, 2, 3, 4, 5, 7, 8, 99].map(PtpPortState::from_code) {
        double.becomes(each(move |set| in_state(set, state, true)));
        let error = double.service().ask().unwrap_err();
        assert!(matches!(error, PtpError::Unsynchronised { .. }), "{error}");
        assert_eq!(error.to_string(), format!("the clock is not synchronised: port eth0 is {state:?}"));
    }
    double.becomes(each(|set| in_state(set, PtpPortState::Master, true)));
    assert!(matches!(double.service().ask(), Err(PtpError::Unsynchronised { .. })), "a master of another's time");
    double.becomes(each(|set| in_state(set, PtpPortState::Slave, false)));
    assert!(matches!(double.service().ask(), Err(PtpError::NoGrandmaster)));
    double.becomes(each(|set| tai(set, 0)));
    assert!(matches!(double.service().ask(), Err(PtpError::UtcOffset { utc_offset_s: 0 })));
}

#[test]
fn a_service_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("file"), "").unwrap();
    drop(UnixDatagram::bind(path("left")).unwrap());
    for name in ["nothing", "file", "left"] {
        let error = at(path(name)).ask().unwrap_err();
        assert!(matches!(error, PtpError::Absent { .. }), "{error}");
        assert!(error.to_string().contains(name), "{error}");
    }
    let _other = UnixListener::bind(path("stream")).unwrap();
    assert!(matches!(at(path("stream")).ask(), Err(PtpError::Socket { .. })));
    assert!(matches!(at(path(&"x".repeat(200))).ask(), Err(PtpError::Socket { .. })));
}

#[test]
fn one_that_does_not_answer_all_is_silent() {
    let double = Double::new(|_| Vec::new());
    for lacks in PtpDataSet::ALL {
        double.becomes(move |request| {
            let all = each(well)(request);
            if request.data_set == lacks { Vec::new() } else { all }
        });
        let error = double.service().ask().unwrap_err();
        assert!(error.to_string().contains(lacks.name()), "{error}");
        assert!(matches!(error, PtpError::Silent { .. }), "{error}");
    }
    double.becomes(|request| vec![bytes(request, PtpBody::Refused { data_set: request.data_set, error: 6 })]);
    assert!(matches!(double.service().ask(), Err(PtpError::Refused { error: 6, .. })));
}

#[test]
fn hostile_answers_are_no_answers() {
    let double = Double::new(|_| Vec::new());
    let says = |error: PtpError| matches!(error, PtpError::Unread { .. } | PtpError::Silent { .. });
    let damages: [fn(&mut Vec<u8>); 7] = [
        |bytes| bytes.truncate(53),
        |bytes| bytes.truncate(0),
        // A message that claims to be longer than it is, a TLV that does.
        |bytes| bytes[2..4].copy_from_slice(&[0xFF, 0xFF]),
        |bytes| bytes[50..52].copy_from_slice(&[0xFF, 0xFF]),
        // Another question, another who asks, another domain.
        |bytes| bytes[31] ^= 1,
        |bytes| bytes[43] ^= 1,
        |bytes| bytes[4] ^= 1,
    ];
    for (n, damage) in damages.into_iter().enumerate() {
        double.becomes(move |request| {
            let mut message = bytes(request, well(request.data_set));
            damage(&mut message);
            vec![message]
        });
        assert!(says(double.service().ask().unwrap_err()), "damage {n}");
    }
    // A flood of others' answers, and of answers that are too long, ends the question and not the node.
    let flood = || [vec![0xFF; 100_000], vec![0; PtpReply::MOST_BYTES + 1], Vec::new()];
    double.becomes(move |_| (0..3).flat_map(|_| flood()).collect());
    assert!(says(double.service().ask().unwrap_err()));
    // Bytes behind the stated end are nobody's.
    double.becomes(|request| {
        let mut message = bytes(request, well(request.data_set));
        message.resize(1000, 0xFF);
        vec![message]
    });
    assert!(double.service().ask().is_ok());
}

#[test]
fn stamps_of_a_card_without_a_clock_are_refused() {
    let in_hardware = |set| match set {
        PtpDataSet::Port => PtpBody::Port(PtpPort {
            number: 1,
            state: PtpPortState::Slave,
            stamps: PtpStamps::Hardware,
            interface: "lo",
        }),
        other => well(other),
    };
    let double = Double::new(each(in_hardware));
    assert_eq!(double.service().ask().unwrap().card.as_deref(), Some("lo"));
    let error = double.service().check().unwrap_err();
    assert_eq!(error.to_string(), "ptp4l uses hardware time stamps of lo, but the kernel names no clock for it");
}

/// Two nodes on one machine: their clocks are one, so that every offset is 0.
struct Two {
    double: Double,
    responder: Responder,
    times: [SlotTime; 2],
    reference: Disciplined,
}

impl Two {
    fn begin(host: u8) -> Two {
        let (double, responder) = (Double::new(each(well)), Responder::start(loopback(host).into()).unwrap());
        let times = [SlotTime::new(1_000_000), SlotTime::new(1_000_000)];
        let epoch_ns = WallClock.now().0 + 1_000_000_000;
        let reference = Disciplined::agree(double.service(), epoch_ns, &times[0]).unwrap();
        Two { double, responder, times, reference }
    }

    fn follow(&self, agreed: Agreed) -> Disciplined {
        Disciplined::follow(self.double.service(), agreed, self.responder.local(), &self.times[1]).unwrap()
    }
}

#[test]
fn two_nodes_find_slot_0_at_one_instant_and_both_opinions_agree() {
    let two = Two::begin(1);
    let follower = two.follow(two.reference.agreed());
    let standing = wait_for("looks", || Some(follower.standing()).filter(|standing| standing.looks > 3));
    assert_eq!((standing.contradicted, standing.lost, standing.is_by_ptp), (0, 0, true));
    let own = standing.own.expect("the reference answers");
    assert!(own.offset_ns.unsigned_abs() <= own.bound_ns, "{own:?}");
    let offset = two.times[1].offset();
    assert!(offset.ns().unsigned_abs() <= offset.bound_ns(), "{} {}", offset.ns(), offset.bound_ns());
    // Distance and way of both nodes, and what reading the clocks took.
    assert!(offset.bound_ns() >= 2 * 3_250, "{}", offset.bound_ns());
    let begins = [0, 1].map(|n: usize| two.times[n].begins().unwrap());
    assert!(begins[0].abs_diff(begins[1]) <= offset.bound_ns(), "{begins:?}");
}

#[test]
fn a_node_whose_ptp_is_a_second_off_is_contradicted() {
    let two = Two::begin(2);
    let agreed = two.reference.agreed();
    let follower = two.follow(Agreed { epoch_ptp_ns: agreed.epoch_ptp_ns - 1_000_000_000, ..agreed });
    let worst = wait_for("a contradiction", || follower.standing().worst);
    assert!(worst.apart_ns().abs_diff(1_000_000_000) <= worst.bounds_ns(), "{worst:?}");
    assert!(follower.standing().is_by_ptp, "what sets the beat was chosen, and is not changed");
}

#[test]
fn a_node_that_loses_ptp_goes_on_by_its_own_estimate_until_it_is_back() {
    let two = Two::begin(3);
    let follower = two.follow(two.reference.agreed());
    two.double.becomes(each(|set| in_state(set, PtpPortState::Listening, true)));
    wait_for("its own estimate", || (!follower.standing().is_by_ptp).then_some(()));
    let standing = follower.standing();
    assert!(standing.lost > 0 && standing.why_lost.is_some_and(|why| why.contains("eth0 is Listening")));
    assert!(wait_for("a look", || two.reference.standing().why_lost.map(|_| two.reference.standing().is_by_ptp)));
    let offset = two.times[1].offset();
    assert!(offset.ns().unsigned_abs() <= offset.bound_ns(), "{} {}", offset.ns(), offset.bound_ns());
    two.double.becomes(each(well));
    wait_for("PTP", || follower.standing().is_by_ptp.then_some(()));
}

#[test]
fn another_grandmaster_than_the_agreed_one_is_refused() {
    let two = Two::begin(4);
    let agreed = Agreed { grandmaster: GRANDMASTER + 1, ..two.reference.agreed() };
    let begun = Disciplined::follow(two.double.service(), agreed, two.responder.local(), &two.times[1]);
    let error = begun.err().expect("two clocks that nothing ties");
    assert_eq!(
        error.to_string(),
        "the grandmaster is 020000.fffe.000001, but it was 020000.fffe.000002 when the nodes agreed on slot 0"
    );
    assert_eq!(two.times[1].begins(), None);
}
