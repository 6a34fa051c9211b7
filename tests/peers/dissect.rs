//! tshark's VITA-49 dissector reads the sample stream while UHD receives it.

use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::peer::{self, run, run_command};
use crate::row::Row;

#[test]
fn tshark_reads_the_sample_stream_as_vrt() {
    let row = Row { number: 31, needs: &["tshark", "benchmark_rate"], emulator: &[] };
    row.judged_by(|addr| {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let capture = folder.path().join("stream.pcap");
        let capturing = {
            let (capture, filter) = (capture.clone(), format!("udp and src host {addr} and src port 49156"));
            thread::spawn(move || {
                let mut tshark = Command::new("tshark");
                tshark.args(["-i", "lo", "-c", "500", "-a", "duration:20", "-f", &filter, "-w"]).arg(&capture);
                run_command(tshark, "tshark -c 500".to_owned(), Duration::from_secs(40))
            })
        };
        // tshark needs a moment to attach; the stream lasts longer than that, and 500 packets are enough.
        let stream =
            run("benchmark_rate", &format!("--args addr={addr} --rx_rate 1e6 --duration 6"), Duration::from_secs(40));
        stream.ok()?;
        let capturing = capturing.join().map_err(|_| "tshark thread".to_owned())?;
        if capturing.text.contains("permission") {
            peer::skip("tshark live capture", "the right to capture packets");
            return Ok(());
        }
        capturing.ok()?;
        let file = capture.display();
        let fields = "-T fields -e vrt.type -e vrt.sid -e vrt.tsf -e _ws.malformed";
        let read =
            run("tshark", &format!("-r {file} -d udp.port==49156,vrt {fields}"), Duration::from_secs(40)).ok()?;
        // While it opens the device UHD asks for a single sample before it has written the header template: that packet
        // carries type 0 and no stream id, as from hardware, and UHD flushes it.
        let lines: Vec<&str> =
            read.text.lines().filter(|line| line.contains('\t') && !line.starts_with("0\t")).collect();
        let good = |line: &&&str| {
            let columns: Vec<&str> = line.split('\t').collect();
            columns.len() >= 3 && columns[1].ends_with('3') && !line.contains("alformed")
        };
        let read_well = lines.iter().filter(good).count();
        if read_well >= 400 && read_well == lines.len() {
            Ok(())
        } else {
            Err(format!(
                "{read_well} of {} packets read as VRT\n{}",
                lines.len(),
                lines.iter().take(5).copied().collect::<Vec<_>>().join("\n")
            ))
        }
    });
}
