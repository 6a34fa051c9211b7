//! Answers of a server to requests that no browser would send, to crowds and to slow readers.

#[path = "browser/shown.rs"]
mod shown;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use serde_json::Value as Json;
use shown::{Shown, show};
use takt_base::Stop;
use takt_live::{Kind, Radio, Snapshot, Spectrum};
use takt_serve::{Place, ServeOptions, ServeReport, Server, Token};
use takt_testing::wait_for;
use tempfile::TempDir;

struct Served {
    at: SocketAddr,
    stop: Stop,
    thread: Option<JoinHandle<ServeReport>>,
}

impl Served {
    fn start(folder: &Path, token: Option<Token>) -> Served {
        let place = Place::In(folder.to_owned());
        let server = Server::open(ServeOptions { listen: ([127, 0, 0, 1], 0).into(), token, place }).unwrap();
        let (at, stop) = (server.local(), Stop::new());
        let of_thread = stop.clone();
        Served { at, stop, thread: Some(std::thread::spawn(move || server.run(&of_thread).unwrap())) }
    }

    fn ended(&mut self) -> ServeReport {
        self.stop.request();
        self.thread.take().unwrap().join().unwrap()
    }

    /// Status and the rest of an answer.
    fn ask(&self, head: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.at).unwrap();
        // A server that has read enough may close before all of it is sent.
        let _ = stream.write_all(head.as_bytes());
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
        (status.unwrap_or_else(|| panic!("no answer to {head:.80}: {answer}")), answer)
    }

    fn get(&self, path: &str) -> (u16, String) {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.at))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.request();
        // A panic there was printed there.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// A page's connection, as a browser makes it.
struct Page(BufReader<TcpStream>);

impl Page {
    fn open(served: &Served, query: &str) -> Page {
        let mut stream = TcpStream::connect(served.at).unwrap();
        let at = served.at;
        write!(
            stream,
            "GET /api/live?{query} HTTP/1.1\r\nHost: {at}\r\nOrigin: http://{at}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )
        .unwrap();
        let mut page = Page(BufReader::new(stream));
        let mut line = String::new();
        page.0.read_line(&mut line).unwrap();
        assert!(line.starts_with("HTTP/1.1 101 "), "{line}");
        while line != "\r\n" {
            line.clear();
            page.0.read_line(&mut line).unwrap();
        }
        page
    }

    /// Sends a text, shorter than 126 bytes, masked with zeros.
    fn say(&mut self, text: &str) {
        let frame = [&[0x81, 0x80 | text.len() as u8, 0, 0, 0, 0], text.as_bytes()].concat();
        self.0.get_mut().write_all(&frame).unwrap();
    }

    /// The next text; `None`: the server closes.
    fn hear(&mut self) -> Option<Json> {
        loop {
            let [kind, short] = self.bytes::<2>()?;
            let length = match short {
                126 => u16::from_be_bytes(self.bytes()?).into(),
                127 => u64::from_be_bytes(self.bytes()?),
                short => short.into(),
            };
            let mut text = vec![0; length as usize];
            self.0.read_exact(&mut text).ok()?;
            match kind {
                0x81 => return Some(serde_json::from_slice(&text).unwrap()),
                0x88 => return None,
                0x89 => {}
                other => panic!("a frame {other:#x}"),
            }
        }
    }

    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        self.0.read_exact(&mut bytes).ok().map(|()| bytes)
    }
}

#[test]
fn requests_that_are_none_of_this_page_are_refused_and_protected() {
    let folder = TempDir::new().unwrap();
    let mut served = Served::start(folder.path(), None);
    for (head, status) in [
        ("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
        ("GET / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n\r\n", 403),
        ("GET /etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
        ("GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n", 404),
        ("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", 405),
        ("GET /api/live HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
    ] {
        let (answered, text) = served.ask(head);
        assert_eq!(answered, status, "{head}: {text}");
        assert!(text.contains("content-security-policy: default-src 'none'; style-src 'sha256-"), "{text}");
        assert!(text.contains("x-content-type-options: nosniff\r\n"), "{text}");
    }
    let long = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "a".repeat(64 << 10));
    assert_eq!(served.ask(&long).0, 431);
    assert_eq!(served.ended().refused_requests, 2);
}

#[test]
fn a_crowd_of_silent_clients_holds_nobody_up_for_long() {
    let folder = TempDir::new().unwrap();
    let served = Served::start(folder.path(), None);
    let crowd: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(served.at).unwrap()).collect();
    let (status, text) = served.get("/api/processes");
    assert_eq!(status, 200);
    assert!(text.ends_with("{\"processes\":[],\"unreadable\":0}"), "{text}");
    drop(crowd);
}

#[test]
fn the_list_names_who_answers_and_counts_who_does_not() {
    let folder = TempDir::new().unwrap();
    let _process = show(folder.path(), 4711, Kind::Rate, "N200", Snapshot::default);
    // As a kill leaves it.
    drop(std::os::unix::net::UnixListener::bind(folder.path().join("7-run.sock")).unwrap());
    let served = Served::start(folder.path(), None);
    let (_, text) = served.get("/api/processes");
    let list: Json = serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap();
    assert_eq!((&list["processes"][0]["title"], &list["unreadable"]), (&"N200".into(), &1.into()));
}

#[test]
fn a_token_is_taken_out_of_the_address_and_into_a_cookie() {
    let folder = TempDir::new().unwrap();
    let token = Token::random().unwrap();
    let secret = token.secret().to_owned();
    let served = Served::start(folder.path(), Some(token));
    assert_eq!(served.get("/").0, 401);
    assert_eq!(served.get("/?token=0123456789abcdef0123456789abcdef").0, 401);
    let (status, text) = served.get(&format!("/?token={secret}"));
    assert_eq!(status, 303);
    assert!(
        text.contains(&format!("set-cookie: takt_token={secret}; Path=/; HttpOnly; SameSite=Strict\r\n")),
        "{text}"
    );
    assert!(text.contains("location: /\r\n"), "{text}");
    let with =
        |header: &str| served.ask(&format!("GET /metrics HTTP/1.1\r\nHost: {}\r\n{header}\r\n\r\n", served.at)).0;
    assert_eq!(with(&format!("Cookie: takt_token={secret}")), 200);
    assert_eq!(with(&format!("Authorization: Bearer {secret}")), 200);
    assert_eq!(with("Cookie: takt_token=guess"), 401);
}

#[test]
fn metrics_have_what_is_known_and_nothing_else() {
    let folder = TempDir::new().unwrap();
    let radio = Radio {
        name: "a \"radio\"\n".into(),
        direction: takt_live::Direction::Tx,
        rate_sps: Some(25e6),
        freq_hz: None,
        channels: None,
        samples: Some(1 << 40),
        lost_samples: None,
        letters: takt_live::Letters { underflows: Some(3), ..Default::default() },
    };
    let source = move || Snapshot { radios: vec![radio.clone()], ..Snapshot::default() };
    let _process = show(folder.path(), 4711, Kind::Rate, "N200", source);
    let served = Served::start(folder.path(), None);
    let (status, text) = served.get("/metrics");
    assert_eq!(status, 200);
    assert!(text.contains("content-type: text/plain; version=0.0.4; charset=utf-8\r\n"), "{text}");
    let labels = r#"pid="4711",radio="a \"radio\"\n",direction="tx""#;
    assert!(text.contains(&format!("takt_radio_samples_total{{{labels}}} 1099511627776\n")), "{text}");
    assert!(text.contains(&format!("takt_radio_events_total{{{labels},letter=\"U\"}} 3\n")), "{text}");
    for unknown in ["lost_samples", "letter=\"O\"", "slot", "component", "speed"] {
        assert!(!text.contains(unknown), "{unknown}: {text}");
    }
}

#[test]
fn metrics_of_a_waveform_have_a_histogram() {
    let folder = TempDir::new().unwrap();
    let _process = show(folder.path(), 4711, Kind::Run, "lte-link", Shown::new());
    let served = Served::start(folder.path(), None);
    let (_, text) = served.get("/metrics");
    assert!(text.contains("takt_slot_lateness_seconds_bucket{pid=\"4711\",le=\"+Inf\"} "), "{text}");
    assert!(text.contains("takt_component_load_ratio{pid=\"4711\",component=\"turbo decoder\"} 0.9"), "{text}");
    assert!(text.contains("takt_link_state{pid=\"4711\",link=\"downlink\",state=\"attached\"} 1.0\n"), "{text}");
}

/// Prometheus's own reader for Python accepts the page and finds in it what the page has.
#[test]
fn metrics_are_read_by_prometheus_own_reader() {
    let python = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/peers/python/bin/python3");
    let has = |python: &str| Command::new(python).args(["-c", "import prometheus_client"]).output();
    if !has(python).is_ok_and(|output| output.status.success()) {
        return takt_testing::skip("no prometheus-client in target/peers/python   (./test installs it)");
    }
    let folder = TempDir::new().unwrap();
    let _first = show(folder.path(), 4711, Kind::Run, "a \\ and a \"", Shown::new());
    let _second = show(folder.path(), 4712, Kind::Run, "lte-link", Shown::new());
    let served = Served::start(folder.path(), None);
    let reader = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/tests/metrics_peer.py");
    let output = Command::new(python).args([reader, &format!("http://{}/metrics", served.at)]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read: Json = serde_json::from_slice(&output.stdout).unwrap();
    let title = r#"takt_process{kind="run",pid="4711",title="a \ and a "",version="0.1.0"}"#;
    assert_eq!(read[title], 1.0, "{read:#}");
    assert_eq!(read[r#"takt_link_snr_db{link="downlink",pid="4712"}"#], 21.4, "{read:#}");
}

#[test]
fn a_slow_reader_skips_snapshots_and_sees_the_newest() {
    let folder = TempDir::new().unwrap();
    let turns = Arc::new(AtomicU64::new(0));
    let of_source = Arc::clone(&turns);
    let source = move || {
        let turn = of_source.fetch_add(1, Ordering::Relaxed);
        let spectrum = Spectrum { name: "x".into(), freq_hz: None, span_hz: 1.0, dbfs: vec![-12.345_678; 1024] };
        // Some 100 KiB: what a connection holds is soon full.
        Snapshot { spectra: vec![spectrum; 8], speed: Some(turn as f64), ..Snapshot::default() }
    };
    let _process = show(folder.path(), 4711, Kind::Rate, "N200", source);
    let served = Served::start(folder.path(), None);
    let mut page = Page::open(&served, "pid=4711&every_ms=16");
    wait_for("more than any buffer holds", || (turns.load(Ordering::Relaxed) > 300).then_some(()));
    assert_eq!(page.hear().unwrap()["hello"]["pid"], 4711);
    let mut heard = 0;
    loop {
        let turn = page.hear().unwrap()["snapshot"]["speed"].as_f64().unwrap();
        heard += 1;
        if turn >= 300.0 {
            break;
        }
    }
    assert!(heard < 250, "{heard} of 300 snapshots came: none was skipped");
}

#[test]
fn a_page_that_sends_anything_else_is_closed_and_one_too_many_is_told_so() {
    let folder = TempDir::new().unwrap();
    let _process = show(folder.path(), 4711, Kind::Rate, "N200", Snapshot::default);
    let mut served = Served::start(folder.path(), None);
    let mut bad = Page::open(&served, "pid=4711");
    bad.hear().unwrap();
    bad.say("{\"format\":\"the disk\"}");
    while bad.hear().is_some() {}
    drop(bad);
    let mut none = Page::open(&served, "pid=1");
    assert_eq!(none.hear().unwrap()["problem"]["what"], "process 1 does not show itself");
    assert_eq!(none.hear(), None);
    drop(none);
    let mut pages: Vec<Page> = Vec::new();
    wait_for("room for eight pages", || {
        let mut page = Page::open(&served, "pid=4711");
        let first = page.hear().unwrap();
        if first["hello"]["pid"] == 4711 {
            pages.push(page);
        }
        (pages.len() == 8).then_some(())
    });
    let mut ninth = Page::open(&served, "pid=4711");
    assert_eq!(ninth.hear().unwrap()["problem"]["what"], "8 pages watch already");
    // It ends at once, whatever its pages do.
    assert_eq!(served.ended().pages, 9);
}
