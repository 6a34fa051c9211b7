//! tshark's VITA-49 dissector reads the sample stream while UHD receives it.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};

use crate::row::Row;

/// So many packets end the capture.
const PACKETS: usize = 500;

#[test]
fn tshark_reads_the_sample_stream_as_vrt() {
    let row = Row { model: "n200", number: 31, needs: &["tshark", "benchmark_rate"], emulator: &[] };
    row.judged_by(|attempt| {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let file = folder.path().join("stream.pcap");
        let capture = match Capture::start(&attempt.addr, &file) {
            Ok(capture) => capture,
            Err(said) if said.contains("permission") => {
                takt_testing::skip("tshark: the right to capture packets   (run as root)");
                return Ok(());
            }
            Err(said) => return Err(format!("tshark does not capture\n{said}")),
        };
        attempt.run("benchmark_rate", "--args addr=ADDR --rx_rate 1e6 --duration 1").ok()?;
        capture.end()?;
        let fields = "-T fields -e vrt.type -e vrt.sid -e vrt.tsf -e _ws.malformed";
        let read = attempt.run("tshark", &format!("-r {} -d udp.port==49156,vrt {fields}", file.display())).ok()?;
        all_read(&read.text)
    });
}

/// Every sample packet has its stream and nothing malformed.
fn all_read(text: &str) -> Result<(), String> {
    // While it opens the device UHD asks for a single sample before it has written the header template: that packet
    // carries type 0 and no stream id, as from hardware, and UHD flushes it.
    let lines: Vec<&str> = text.lines().filter(|line| line.contains('\t') && !line.starts_with("0\t")).collect();
    let good = |line: &&&str| {
        let columns: Vec<&str> = line.split('\t').collect();
        columns.len() >= 3 && columns[1].ends_with('3') && !line.contains("alformed")
    };
    let read_well = lines.iter().filter(good).count();
    if read_well >= PACKETS * 4 / 5 && read_well == lines.len() {
        return Ok(());
    }
    let first = lines.iter().take(5).copied().collect::<Vec<_>>().join("\n");
    Err(format!("{read_well} of {} packets read as VRT\n{first}", lines.len()))
}

/// tshark, writing the radio's sample packets to a file until it has enough; killed when dropped.
struct Capture {
    tshark: Child,
    stderr: BufReader<ChildStderr>,
}

impl Capture {
    /// Starts it and waits until it captures; otherwise what it said instead.
    fn start(addr: &str, file: &Path) -> Result<Capture, String> {
        let filter = format!("udp and src host {addr} and src port 49156");
        let mut command = Command::new("tshark");
        // A stream that never comes ends it too.
        command.args(["-i", "lo", "-c", &PACKETS.to_string(), "-a", "duration:120", "-f", &filter, "-w"]).arg(file);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut tshark = command.spawn().map_err(|e| e.to_string())?;
        let stderr = BufReader::new(tshark.stderr.take().expect("piped"));
        let mut capture = Capture { tshark, stderr };
        let mut said = String::new();
        while !said.contains("Capture started") {
            if capture.stderr.read_line(&mut said).map_err(|e| e.to_string())? == 0 {
                return Err(said);
            }
        }
        Ok(capture)
    }

    /// Waits until it has enough.
    fn end(mut self) -> Result<(), String> {
        let mut said = String::new();
        self.stderr.read_to_string(&mut said).map_err(|e| e.to_string())?;
        let status = self.tshark.wait().map_err(|e| e.to_string())?;
        if status.success() { Ok(()) } else { Err(format!("tshark ended with {status}\n{said}")) }
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        if let Ok(None) = self.tshark.try_wait() {
            // Not SIGKILL: it has to end the process that captures for it.
            let _ = Command::new("kill").args(["-INT", &self.tshark.id().to_string()]).output();
            let _ = self.tshark.wait();
        }
    }
}
