//! A load between two ends on loopback: what both say adds up, and nobody is made to send to anybody.

use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use takt_base::Stop;
use takt_packet::EngineKind;
use takt_testing::HANG;
use takt_udp::protocol::data::Data;
use takt_udp::protocol::message::{Body, MESSAGE_BYTES, Message, Reason};
use takt_udp::{
    Direction, LatencyKind, Notice, ServeOptions, ServeSummary, UdpError, UdpOptions, UdpReport, WayName, run,
};

use crate::inside::{self, StopOnDrop};

/// An address of this process, which no other test run uses, and any port.
fn loopback() -> SocketAddr {
    (takt_testing::loopback(1), 0).into()
}

/// Runs `work` beside a server, and says what the server counted.
fn beside<T>(options: ServeOptions, work: impl FnOnce(SocketAddr) -> T) -> (T, ServeSummary, Vec<Notice>) {
    inside::beside(None, options, |at, _| work(at))
}

/// At 5000 a second, and over after 1500 datagrams, however long they take.
fn quick(server: SocketAddr) -> UdpOptions {
    UdpOptions { datagrams: Some(1500), duration: LONG, ..timed(server) }
}

/// At 5000 a second for 0.3 s, whatever is sent until then.
fn timed(server: SocketAddr) -> UdpOptions {
    UdpOptions {
        payload_bytes: 200,
        datagrams_per_s: Some(5000.0),
        duration: Duration::from_millis(300),
        interval: Duration::from_millis(100),
        ..UdpOptions::to(server)
    }
}

/// No load lasts so long.
const LONG: Duration = Duration::from_secs(60);

fn attempt(options: &UdpOptions) -> Result<UdpReport, UdpError> {
    run(options, &mut |_| {}, &Stop::new())
}

fn go(options: &UdpOptions) -> UdpReport {
    attempt(options).expect("the server is there")
}

fn adds_up(report: &UdpReport) {
    for way in [Some(&report.way), report.from_server.as_ref()].into_iter().flatten() {
        assert_eq!(way.sent.datagrams, way.received.datagrams + way.lost.total, "{way:#?}");
        assert_eq!(way.lost.by_place.sum() + way.lost.unplaced, way.lost.total);
        assert_eq!(way.flows.iter().map(|f| f.datagrams).sum::<u64>(), way.received.datagrams);
        assert_eq!(way.intervals.iter().map(|i| i.datagrams).sum::<u64>(), way.received.datagrams);
        assert_eq!(way.histograms.latency_ns.len(), way.received.datagrams);
        assert_eq!(way.histograms.pacing_error_ns.len(), way.sent.datagrams);
        assert_eq!(way.latency_kind, LatencyKind::OneWay, "both ends are on this machine");
        assert_eq!(way.received.payload_bytes, way.received.datagrams * report.options.payload_bytes as u64);
    }
    assert!(report.clock.shared);
}

#[test]
fn a_paced_load_is_exactly_what_its_schedule_says() {
    for (engine, flows) in [(EngineKind::Socket, 1), (EngineKind::Mmsg, 1), (EngineKind::Mmsg, 3)] {
        let ((report, ticks), summary, notices) = beside(ServeOptions::at(loopback()), |at| {
            let mut ticks = 0;
            let options = UdpOptions { engine, flows, ..quick(at) };
            (run(&options, &mut |_| ticks += 1, &Stop::new()).expect("the server is there"), ticks)
        });
        adds_up(&report);
        assert!(report.complete && ticks > 0);
        assert_eq!((report.way.sent.datagrams, report.way.unsent), (1500, 0));
        assert_eq!(report.way.direction, WayName::ToServer);
        assert_eq!((report.way.duplicates, report.way.reordered, report.way.too_old), (0, 0, 0));
        assert_eq!((report.way.flows.len(), &report.from_server), (usize::from(flows), &None));
        assert!(report.way.jitter_us.is_some() && report.cpu.client.process_s > 0.0);
        assert_eq!((summary.sessions, summary.rounds, summary.abandoned), (1, 1, 0));
        assert_eq!((summary.received, summary.strangers), (report.way.received.datagrams, 0));
        assert!(
            matches!(notices[..], [Notice::Opened(_), Notice::Round { .. }, Notice::Closed(_, true)]),
            "{notices:?}"
        );
    }
}

#[test]
fn a_load_that_ends_by_the_clock_sent_or_did_not_send_what_was_due() {
    let (report, summary, _) = beside(ServeOptions::at(loopback()), |at| go(&timed(at)));
    adds_up(&report);
    assert_eq!(report.way.sent.datagrams + report.way.unsent, 1500, "0.3 s at 5000 a second");
    assert_eq!(summary.received, report.way.received.datagrams);
}

#[test]
fn load_flows_the_other_way_and_both_ways() {
    let ((back, both), summary, _) = beside(ServeOptions::at(loopback()), |at| {
        let back = go(&UdpOptions { direction: Direction::FromServer, flows: 2, ..quick(at) });
        (back, go(&UdpOptions { direction: Direction::Both, ..quick(at) }))
    });
    adds_up(&back);
    adds_up(&both);
    assert_eq!((back.way.direction, back.way.sent.datagrams + back.way.unsent), (WayName::FromServer, 1500));
    let from_server = both.from_server.expect("both ways were requested");
    assert_eq!((both.way.direction, from_server.direction), (WayName::ToServer, WayName::FromServer));
    assert_eq!(from_server.sent.datagrams + from_server.unsent, 1500);
    assert_eq!(summary.sessions, 2);
}

#[test]
fn flat_out_sends_what_fits_a_call_and_a_warm_up_is_not_in_the_figures() {
    let (report, summary, _) = beside(ServeOptions::at(loopback()), |at| {
        go(&UdpOptions { datagrams_per_s: None, warm_up: LONG, payload_bytes: 16, ..quick(at) })
    });
    adds_up(&report);
    let way = &report.way;
    assert_eq!((way.sent.datagrams, way.unsent), (1500, 0), "there is no schedule to fall behind");
    assert_eq!(way.histograms.pacing_error_ns.max(), Some(0), "each is due when it is sent");
    assert!(way.sent.calls * 8 < way.sent.datagrams, "a whole batch a call: {} calls", way.sent.calls);
    assert_eq!(summary.rounds, 2);
    assert!(way.received.datagrams > 0 && summary.received > way.received.datagrams, "{summary:?}");
}

#[test]
fn a_full_receive_buffer_is_where_the_datagrams_went() {
    let small = ServeOptions { buffer_bytes: 4096, ..ServeOptions::at(loopback()) };
    let (report, ..) = beside(small, |at| go(&UdpOptions { datagrams_per_s: None, payload_bytes: 1000, ..quick(at) }));
    adds_up(&report);
    let lost = report.way.lost;
    assert!(lost.total > 0, "batches of 64 do not fit into 4 KiB");
    assert_eq!((lost.by_place.receiver_buffer, lost.unplaced), (lost.total, 0));
    assert_eq!(report.evidence.server.recv_buffer_bytes, 4096);
}

#[test]
fn a_load_that_is_stopped_reports_what_it_measured() {
    let (report, ..) = beside(ServeOptions::at(loopback()), |at| {
        let stop = Stop::new();
        let mut progress = |_| stop.request();
        run(&UdpOptions { duration: Duration::from_secs(600), ..timed(at) }, &mut progress, &stop)
            .expect("in good order")
    });
    adds_up(&report);
    assert!(!report.complete);
    assert!(report.way.sent.span_s < 600.0);
}

#[test]
fn the_report_travels_as_json_with_the_promised_keys() {
    let (report, ..) = beside(ServeOptions::at(loopback()), |at| go(&quick(at)));
    let json = serde_json::to_value(&report).unwrap();
    let keys = "/sent/datagrams /received/datagrams /lost/total /lost/by_place/sender /lost/by_place/path \
                /lost/by_place/receiver_buffer /lost/by_place/application /lost/unplaced /datagrams_per_s /throughput_bps \
                /jitter_us /latency_us/p50_us /latency_us/p99_us /latency_us/p99_9_us /latency_us/max_us \
                /pacing_error_us/p99_us \
                /cpu/client/process_s /cpu/server/machine_softirq_share /histograms/latency_ns/hdr_v2_base64";
    for key in keys.split(' ') {
        assert!(json.pointer(key).is_some_and(|value| !value.is_null()), "{key}");
    }
    assert_eq!(serde_json::from_value::<UdpReport>(json).unwrap(), report);
}

#[test]
fn an_address_with_nobody_there_is_reported_at_once_and_silence_after_a_while() {
    // No other socket of this process is bound to this address.
    let gone = UdpSocket::bind((takt_testing::loopback(2), 0)).unwrap().local_addr().unwrap();
    let error = attempt(&quick(gone)).unwrap_err();
    assert!(matches!(error, UdpError::NobodyThere { server } if server == gone), "{error}");
    let deaf = UdpSocket::bind(loopback()).unwrap();
    let error = attempt(&quick(deaf.local_addr().unwrap())).unwrap_err();
    assert!(matches!(error, UdpError::NoAnswer { .. }), "{error}");
}

/// A hand-made client, for conversations that the real client never has.
struct Stranger(UdpSocket);

impl Stranger {
    fn to(server: SocketAddr) -> Stranger {
        let socket = UdpSocket::bind(loopback()).unwrap();
        socket.connect(server).unwrap();
        Stranger(socket)
    }

    /// One that has opened session 7 with one flow.
    fn opened(server: SocketAddr) -> Stranger {
        let stranger = Stranger::to(server);
        let cookie = stranger.cookie(7);
        stranger.ask(7, Body::Open { cookie, flows: 1 });
        stranger
    }

    fn send(&self, session: u64, body: Body<'_>) {
        let mut frame = [0; MESSAGE_BYTES];
        let len = Message { flow: 0, round: 1, session, body }.write(&mut frame);
        self.0.send(&frame[..len]).unwrap();
    }

    /// The next datagram, if one comes within this time.
    fn receive(&self, within: Duration) -> Option<Vec<u8>> {
        self.0.set_read_timeout(Some(within)).unwrap();
        let mut bytes = vec![0; 65_536];
        let len = self.0.recv(&mut bytes).ok()?;
        Some(bytes[..len].to_vec())
    }

    /// Returns when the server has read all that was sent, and answered what it answers.
    fn reach(&self, session: u64) {
        self.send(session, Body::Hello);
        loop {
            let answer = self.receive(HANG).expect("an answer");
            let message = Message::parse(&answer).filter(|message| message.session == session);
            if message.is_some_and(|message| matches!(message.body, Body::Cookie(_))) {
                return;
            }
        }
    }

    /// The next answer must be the cookie.
    fn cookie(&self, session: u64) -> u64 {
        match Message::parse(&self.ask(session, Body::Hello)).map(|m| m.body) {
            Some(Body::Cookie(cookie)) => cookie,
            other => panic!("{other:?}"),
        }
    }

    fn ask(&self, session: u64, body: Body<'_>) -> Vec<u8> {
        self.send(session, body);
        self.receive(HANG).expect("an answer")
    }
}

const REVERSE: &[u8] = br#"{"direction":"from_server","payload_bytes":9000,"datagrams_per_s":1000.0,
    "duration_ns":3600000000000,"interval_ns":1000000000,"flows":1,"server_ahead_ns":0}"#;

#[test]
fn nothing_but_a_short_answer_is_sent_to_an_address_that_has_not_sent_the_cookie() {
    let ((), summary, _) = beside(ServeOptions::at(loopback()), |at| {
        let stranger = Stranger::to(at);
        let cookie = stranger.cookie(7);
        stranger.send(7, Body::Open { cookie: cookie ^ 1, flows: 1 });
        stranger.send(8, Body::Open { cookie, flows: 1 }); // another session's
        let other = Stranger::to(at);
        other.send(7, Body::Open { cookie, flows: 1 }); // from another address
        for body in [Body::Start(REVERSE), Body::Ping { sent_ns: 1 }, Body::Finish { sent: 1 }, Body::Get { chunk: 0 }]
        {
            stranger.send(7, body);
        }
        // The answer to what comes after them is the only one.
        stranger.cookie(9);
        for silent in [stranger, other] {
            silent.0.set_nonblocking(true).unwrap();
            let error = silent.0.recv(&mut [0; 2000]).unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
        }
    });
    assert_eq!((summary.sessions, summary.sent, summary.strangers), (0, 0, 7));
}

#[test]
fn load_from_a_server_ends_three_seconds_after_the_last_sign_of_the_client() {
    let ((), summary, notices) = inside::beside(None, ServeOptions::at(loopback()), |at, notices| {
        let stranger = Stranger::opened(at);
        let asked = Instant::now();
        stranger.ask(7, Body::Start(REVERSE));
        assert!(matches!(notices.recv_timeout(HANG), Ok(Notice::Opened(_))));
        assert!(matches!(notices.recv_timeout(HANG), Ok(Notice::Closed(_, false))));
        assert!(asked.elapsed() >= Duration::from_secs(3), "no sooner: {:?}", asked.elapsed());
        // Datagrams sent until then lie in the socket, as far as there was room.
        let mut load = 0;
        stranger.0.set_nonblocking(true).unwrap();
        let mut bytes = [0; 9000];
        while let Ok(len) = stranger.0.recv(&mut bytes) {
            load += u64::from(Data::parse(&bytes[..len]).is_some());
        }
        assert!(load > 0, "an hour of it was requested");
        // Nothing follows but answers.
        stranger.0.set_nonblocking(false).unwrap();
        for session in 9..12 {
            stranger.cookie(session);
        }
    });
    assert_eq!((summary.sessions, summary.abandoned, summary.rounds), (1, 1, 0));
    assert!(notices.is_empty(), "{notices:?}");
}

const THERE: &[u8] = br#"{"direction":"to_server","payload_bytes":100,"datagrams_per_s":1000.0,
    "duration_ns":1000000000,"interval_ns":1000000000,"flows":1,"server_ahead_ns":0}"#;

#[test]
fn a_client_that_stood_still_after_its_load_still_gets_its_result() {
    /// More than a server sends load without a sign of life, and well below what it keeps a result for.
    const STILL: Duration = Duration::from_millis(3500);
    let (size, summary, _) = beside(ServeOptions::at(loopback()), |at| {
        let client = Stranger::opened(at);
        client.ask(7, Body::Start(THERE));
        thread::sleep(STILL);
        loop {
            client.send(7, Body::Finish { sent: 0 });
            let answer = client.receive(HANG).expect("an answer");
            match Message::parse(&answer).map(|message| message.body) {
                Some(Body::Finished { bytes }) if bytes > 0 => break bytes,
                _ => {}
            }
        }
    });
    assert!(size > 100, "a document");
    assert_eq!((summary.sessions, summary.rounds), (1, 1));
}

#[test]
fn one_client_at_a_time_and_the_next_is_reported_so() {
    let (error, ..) = beside(ServeOptions::at(loopback()), |at| {
        let first = Stranger::opened(at);
        let over = Stop::new();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.requested() {
                    first.ask(7, Body::Ping { sent_ns: 1 });
                    std::thread::sleep(Duration::from_millis(100));
                }
            });
            let _when_done = StopOnDrop(over.clone());
            attempt(&quick(at)).unwrap_err()
        })
    });
    assert!(matches!(error, UdpError::Busy { .. }), "{error}");
}

#[test]
fn who_fell_silent_makes_room_for_the_next() {
    let (report, summary, _) = beside(ServeOptions::at(loopback()), |at| {
        let _silent = Stranger::opened(at);
        attempt(&quick(at)).unwrap()
    });
    assert!(report.way.sent.datagrams > 0);
    assert_eq!(summary.sessions, 2);
}

#[test]
fn a_plan_that_makes_no_sense_is_refused() {
    beside(ServeOptions::at(loopback()), |at| {
        let stranger = Stranger::opened(at);
        let reverse = String::from_utf8(REVERSE.to_vec()).unwrap();
        for bad in [
            "{".to_owned(),
            reverse.replace("9000", "65000"),
            reverse.replace("1000.0", "1e300"),
            reverse.replace("\"interval_ns\":1000000000", "\"interval_ns\":0"),
            reverse.replace("\"flows\":1", "\"flows\":2"),
        ] {
            let answer = stranger.ask(7, Body::Start(bad.as_bytes()));
            assert_eq!(Message::parse(&answer).map(|m| m.body), Some(Body::Refused(Reason::Plan)), "{bad}");
        }
    });
}

#[test]
fn another_version_is_told_apart() {
    let old = UdpSocket::bind(loopback()).unwrap();
    let at = old.local_addr().unwrap();
    let answer = thread::spawn(move || {
        let mut bytes = [0; 2000];
        let (len, from) = old.recv_from(&mut bytes).unwrap();
        bytes[4] = 99;
        old.send_to(&bytes[..len], from).unwrap();
    });
    let error = attempt(&quick(at)).unwrap_err();
    assert!(matches!(error, UdpError::Version { .. }), "{error}");
    answer.join().unwrap();
    beside(ServeOptions::at(loopback()), |at| {
        let stranger = Stranger::to(at);
        let mut hello = [0; 64];
        Message { flow: 0, round: 0, session: 5, body: Body::Hello }.write(&mut hello);
        hello[4] = 99;
        stranger.0.send(&hello).unwrap();
        let answer = stranger.receive(Duration::from_secs(30)).expect("a refusal");
        assert_eq!(Message::parse(&answer).map(|m| m.body), Some(Body::Refused(Reason::Version)));
    });
}

/// Garbage under way at once, which the server's buffer holds together with a session's datagrams.
const AT_ONCE: u64 = 100;

#[test]
fn garbage_at_full_rate_disturbs_no_session() {
    let (report, summary, _) = beside(ServeOptions::at(loopback()), |at| {
        let stop = Stop::new();
        thread::scope(|scope| {
            scope.spawn(|| {
                let (stranger, mut state, mut sent) = (Stranger::to(at), 1_u64, 0);
                let mut bytes = [0; 100];
                while !stop.requested() {
                    for byte in &mut bytes {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        *byte = (state >> 56) as u8;
                    }
                    match state % 3 {
                        0 => bytes[..6].copy_from_slice(b"TAKT\x01\x08"),
                        1 => bytes[0] = 0xd0,
                        _ => {}
                    }
                    let _refused = stranger.0.send(&bytes[..(state >> 32) as usize % 101]);
                    sent += 1;
                    if sent % AT_ONCE == 0 {
                        // Until the server has read all that: a session whose datagrams find no room is another test's.
                        stranger.reach(sent);
                    }
                }
            });
            let _when_done = StopOnDrop(stop.clone());
            go(&quick(at))
        })
    });
    assert_eq!(report.way.received.datagrams + report.way.lost.total, report.way.sent.datagrams);
    assert_eq!(report.way.lost.by_place.application, 0);
    assert!(summary.strangers > 0);
    assert_eq!(summary.sessions, 1);
}
