//! Frames that crossed an interface, by strangers: dumpcap writes them down, tshark reads them.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use takt_base::{Clock, WallClock};
use takt_testing::wait_for;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossed {
    /// When, ns of the monotonic clock.
    pub at_ns: f64,
    pub sequence: u64,
    /// When it was meant to leave, ns of the monotonic clock.
    pub intended_ns: u64,
    pub payload_bytes: usize,
}

pub struct Capture {
    child: Child,
    file: PathBuf,
}

impl Capture {
    /// Begins on `interface` of `namespace`, or of ours; returns when it listens.
    pub fn on(namespace: Option<&str>, interface: &str, directory: &Path) -> Capture {
        let file = directory.join(format!("{interface}.pcapng"));
        let mut words = Vec::new();
        if let Some(name) = namespace {
            words.extend(["ip", "netns", "exec", name]);
        }
        let path = file.to_str().expect("a path in UTF-8");
        words.extend(["dumpcap", "-q", "-i", interface, "-B", "32", "-f", "udp", "-w", path]);
        let mut child = Command::new(words[0])
            .args(&words[1..])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("dumpcap");
        let mut said = BufReader::new(child.stderr.take().expect("piped"));
        let mut line = String::new();
        while !line.starts_with("File:") {
            line.clear();
            assert!(said.read_line(&mut line).expect("it speaks") > 0, "dumpcap can't listen on {interface}");
        }
        // It goes on speaking when it ends.
        std::thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        Capture { child, file }
    }

    /// Ends it when it has written down a datagram sent to `nobody`, which must cross its interface; the datagrams of load
    /// of `round`, in the order in which they crossed.
    pub fn end(mut self, round: u8, nobody: SocketAddr) -> Vec<Crossed> {
        let marker = format!("the last of {}", self.file.display());
        // Not connected, so that nobody's host may say that there is nobody.
        let socket = UdpSocket::bind("0.0.0.0:0").expect("a socket");
        wait_for("the last datagram in the capture", || {
            socket.send_to(marker.as_bytes(), nobody).expect("there is a way");
            let written = std::fs::read(&self.file).expect("the capture");
            written.windows(marker.len()).any(|bytes| bytes == marker.as_bytes()).then_some(())
        });
        let pid = self.child.id().to_string();
        let ended = Command::new("kill").args(["-INT", &pid]).status().expect("kill");
        assert!(ended.success() && self.child.wait().expect("ours").success(), "dumpcap ends in good order");
        let fields = ["-T", "fields", "-e", "frame.time_epoch", "-e", "udp.payload"];
        let out = Command::new("tshark").arg("-r").arg(&self.file).args(fields).output().expect("tshark");
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let offset_ns = real_minus_monotonic_ns();
        let text = String::from_utf8(out.stdout).expect("text");
        text.lines().filter_map(|line| crossed(line, offset_ns)).filter(|(r, _)| *r == round).map(|(_, c)| c).collect()
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `1700000000.123456789<TAB>d00100...`: round and datagram, if it is one of load.
fn crossed(line: &str, offset_ns: f64) -> Option<(u8, Crossed)> {
    let (time, payload) = line.split_once('\t')?;
    let (seconds, fraction) = time.split_once('.')?;
    let nanos: f64 = format!("{fraction:0<9}").get(..9)?.parse().ok()?;
    let bytes: Vec<u8> =
        (0..payload.len() / 2).filter_map(|n| u8::from_str_radix(&payload[2 * n..2 * n + 2], 16).ok()).collect();
    let header = bytes.get(..16).filter(|header| header[0] & 0xf0 == 0xd0)?;
    let number = |bytes: &[u8]| bytes.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
    let crossed = Crossed {
        at_ns: (seconds.parse::<f64>().ok()? * 1e9 - offset_ns) + nanos,
        sequence: number(&header[2..8]),
        intended_ns: number(&header[8..16]),
        payload_bytes: bytes.len(),
    };
    Some((header[1], crossed))
}

/// The offset between the clock of captures and ours: of several readings the one that took least.
fn real_minus_monotonic_ns() -> f64 {
    let readings = (0..32).map(|_| {
        let before = WallClock.now();
        let real = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos() as f64;
        let after = WallClock.now();
        (after.0 - before.0, real - (before.0 as f64 + after.0 as f64) / 2.0)
    });
    readings.min_by_key(|&(took, _)| took).expect("some").1
}
