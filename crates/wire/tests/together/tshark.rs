//! An independent reader: tshark takes our packets apart as VITA-49 and finds what we put in, without complaint.
//!
//! Needs `tshark`; without it the test is skipped.

use std::path::Path;
use std::process::Command;

use takt_wire::bridge::{BridgeData, BridgeHead, Part};
use takt_wire::n200::ports::RX0;
use takt_wire::n200::{RxData, RxEvent, RxHead, RxMessage, RxPacking, TxData, TxEvent, TxHead, TxReport};

use crate::common::written;

const FIELDS: [&str; 16] = [
    "vrt.type",
    "vrt.seq",
    "vrt.len",
    "vrt.sid",
    "vrt.tsi",
    "vrt.ts_int",
    "vrt.tsf",
    "vrt.ts_frac_sample",
    "vrt.data",
    "vrt.valid_en",
    "vrt.valid",
    "vrt.user3_en",
    "vrt.user3",
    "vrt.user1",
    "_ws.malformed",
    "_ws.expert.message",
];

#[test]
fn tshark_reads_our_packets_as_vita_49_without_complaint() {
    if Command::new("tshark").arg("--version").output().is_err() {
        return takt_testing::skip("tshark is not installed   (apt-get install tshark)");
    }
    let (packets, expected): (Vec<_>, Vec<_>) = cases().into_iter().unzip();
    let directory = tempfile::tempdir().expect("a place for the capture");
    let capture = directory.path().join("n200.pcap");
    std::fs::write(&capture, pcap(&packets)).expect("the capture");
    let lines = dissect(&capture);
    assert_eq!(lines.len(), expected.len(), "{lines:#?}");
    for (line, expected) in lines.iter().zip(&expected) {
        assert_eq!(line, expected, "in the order {FIELDS:?}");
    }
}

/// Packets as they travel from the radio port, and what tshark must say of each, field by field.
fn cases() -> Vec<(Vec<u8>, String)> {
    let head = RxHead { count: 9, stream_id: 3, tick: 54_661, end_of_burst: false, packing: RxPacking::Sc16 };
    let full = [0x3e, 0x80, 0x00, 0x00].repeat(363);
    let text = "3e800000".repeat(363);
    let last = RxHead { count: 10, end_of_burst: true, tick: u64::MAX, ..head };
    let odd = RxHead { packing: RxPacking::Sc8 { odd: true }, stream_id: 4, ..last };
    let message = RxMessage { count: 11, stream_id: 3, tick: 7, event: RxEvent::Overflow };
    let report = TxReport { count: 1, stream_id: 2, tick: 1 << 40, event: TxEvent::Underflow, sequence: 5 };
    let timed =
        TxHead { sequence: 6, count: 6, tick: Some(100_000_000), start_of_burst: true, end_of_burst: true, odd: false };
    let bridged =
        BridgeHead { count: 3, stream_id: 0x1234_5678, slot: u32::MAX, first_item: 17, part: Part::Final, valid: true };
    let tx = TxData { head: timed, payload: &[1, 2, 3, 4] };
    vec![
        (
            written(|out| RxData { head, payload: &full }.write(out)),
            format!("1|9|368|0x00000003|0||1|54661|{text}|||1|0|||"),
        ),
        (
            written(|out| RxData { head: last, payload: &full[..4] }.write(out)),
            "1|10|6|0x00000003|0||1|18446744073709551615|3e800000|||1|1|||".to_owned(),
        ),
        (
            written(|out| RxData { head: odd, payload: &full[..8] }.write(out)),
            "1|10|7|0x00000004|0||1|18446744073709551615|3e8000003e800000|||1|1|1||".to_owned(),
        ),
        (written(|out| message.write(out)), "5|11|5|0x00000003|0||1|7|00000008|||||||".to_owned()),
        (written(|out| report.write(out)), "5|1|6|0x00000002|0||1|1099511627776|0005000200000005|||||||".to_owned()),
        (
            written(|out| BridgeData { head: bridged, payload: &full[..6] }.write(out)),
            "1|3|8|0x12345678|3|4294967295|1|17|3e8000003e800000|1|1|1|0|1||".to_owned(),
        ),
        // word 0 is the sequence number; VITA-49 begins after it
        (written(|out| tx.write(out))[4..].to_vec(), "0|6|5||0||1|100000000|01020304|||||0||".to_owned()),
    ]
}

/// One line of fields for each packet.
fn dissect(capture: &Path) -> Vec<String> {
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(capture).args(["-d", &format!("udp.port=={RX0},vrt"), "-T", "fields", "-E", "separator=|"]);
    for field in FIELDS {
        tshark.args(["-e", field]);
    }
    let output = tshark.output().expect("tshark runs");
    assert!(output.status.success(), "{tshark:?}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

/// A capture file of raw IPv4 packets, each carrying one of the datagrams from port 49156.
fn pcap(datagrams: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4u32, 0x0002_0004, 0, 0, 65_535, 101] {
        let native = if word == 0x0002_0004 { word.rotate_left(16) } else { word }; // two 16-bit versions
        file.extend(native.to_le_bytes());
    }
    for datagram in datagrams {
        let udp = 8 + datagram.len() as u16;
        let ip = 20 + udp;
        for word in [0, 0, u32::from(ip), u32::from(ip)] {
            file.extend(word.to_le_bytes());
        }
        let [high, low] = ip.to_be_bytes();
        file.extend([0x45, 0, high, low, 0, 0, 0x40, 0, 64, 17, 0, 0, 192, 168, 10, 2, 192, 168, 10, 1]);
        for half in [RX0, 40_000, udp, 0] {
            file.extend(half.to_be_bytes());
        }
        file.extend(datagram);
    }
    file
}
