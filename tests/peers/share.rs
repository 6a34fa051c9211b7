//! Rows S1 to S3: several programs, unmodified, each on a radio of its own behind one front end (`takt share`).

use std::fs;
use std::process::Command;
use std::thread;

use takt_testing::loopback;

use crate::acceptance::soapy_streams;
use crate::alone::{no_errors, received};
use crate::emulator::{Emulator, Site, takt};
use crate::peer::{Attempt, find};

/// An emulated radio, and `takt share` in front of it.
struct Shared {
    radio: Emulator,
    share: Emulator,
    addrs: Vec<String>,
    _folder: tempfile::TempDir,
}

impl Shared {
    /// So many radios of 1 MS/s, behind a front end of this rate; addresses count from `host` on.
    fn start(host: u8, radios: u8, rate_sps: f64, emulator: &[&str]) -> Shared {
        let radio = Emulator::start(&Site::loopback(&[host]), "n200", emulator);
        let addrs: Vec<String> = (1..=radios).map(|n| loopback(host + n).to_string()).collect();
        let mut text = format!("[front_end]\nrate = {rate_sps}\nfrequency = 2400e6\n");
        for (n, addr) in addrs.iter().enumerate() {
            text += &format!(
                "[[radio]]\nname = \"r{n}\"\naddr = \"{addr}\"\nrate = 1e6\ntransmit = true\noverlap = true\n"
            );
        }
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("shared.toml");
        fs::write(&file, text).expect("it is ours");
        let mut command = Command::new(takt());
        // The radio's time passes slower where many share it: what they need is no matter of real time.
        command
            .args(["share", "--json", "--budget", "16", "--addr", &loopback(host).to_string(), "--radios"])
            .arg(&file);
        let ready: Vec<String> = addrs.iter().enumerate().map(|(n, addr)| format!("ready r{n} {addr}")).collect();
        Shared { radio, share: Emulator::of(command, &ready), addrs, _folder: folder }
    }

    /// Fails with the judge's complaint, unless this machine had the front end or the radio lose samples.
    fn judged(self, row: &str, verdict: Result<(), String>) {
        let summary = self.share.stop().0;
        let late = self.radio.stop().own_lateness();
        let lost = summary["front_end"]["lost_samples"].as_u64().expect("a count");
        let Err(complaint) = verdict else { return };
        let complaint =
            format!("row {row}, the radio late {late} times, {lost} samples lost:\n{complaint}\n{summary:#}");
        assert!(late + lost > 0, "{complaint}");
        takt_testing::not_judged(complaint);
    }
}

/// Whether these are installed; a skip on record if not.
fn has(row: &str, programs: &[&str]) -> bool {
    let missing = programs.iter().find(|program| find(program).is_none());
    missing.into_iter().for_each(|missing| {
        takt_testing::skip(format!("row {row}: {missing} is not installed   (./test installs it)"));
    });
    missing.is_none()
}

#[test]
fn row_s1_gnu_radio_and_uhd_at_once() {
    if !has("S1", &["uhd_rx_cfile", "benchmark_rate"]) {
        return;
    }
    let shared = Shared::start(200, 2, 5e6, &[]);
    let [first, second] = [0, 1].map(|n| Attempt::new(&shared.addrs[n]));
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("gr.cfile");
    let cfile = format!("-a addr={} -r 1e6 -f 2400e6 -N 2000000 {}", first.addr, file.display());
    let verdict = thread::scope(|scope| {
        let gnu_radio = scope.spawn(|| Attempt::new(&shared.addrs[0]).run("uhd_rx_cfile", &cfile).ok());
        let streams = "--args addr=ADDR --duration 3 --rx_rate 1e6 --tx_rate 1e6";
        let uhd = no_errors(second.run("benchmark_rate", streams)).and_then(|run| received(run, 3e6));
        gnu_radio.join().expect("no panic").and(uhd).map(drop)
    });
    let length = fs::metadata(&file).map_or(0, |file| file.len());
    let whole = if length == 16_000_000 { Ok(()) } else { Err(format!("{length} bytes, wanted 16000000")) };
    shared.judged("S1", verdict.and(whole));
}

#[test]
fn row_s2_soapy_sdr_and_its_radio_is_removed() {
    if !has("S2", &["SoapySDRUtil", "uhd_usrp_probe"]) {
        return;
    }
    let shared = Shared::start(210, 2, 5e6, &[]);
    let attempt = Attempt::new(&shared.addrs[0]);
    let verdict = attempt
        .run("SoapySDRUtil", "--probe=driver=uhd,addr=ADDR")
        .ok()
        .and_then(|run| run.says("Channels: 1 Rx, 1 Tx")?.says("N200"))
        .and_then(|_| soapy_streams(&attempt))
        .and_then(|()| removed(&shared));
    shared.judged("S2", verdict);
}

/// Once a radio is removed, UHD finds none there, and the other one is as it was.
fn removed(shared: &Shared) -> Result<(), String> {
    let process = shared.share.id().to_string();
    let out = Command::new(takt()).args(["share", "remove", "r0", "--process", &process]).output();
    let out = out.map_err(|error| error.to_string())?;
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).into_owned());
    }
    let [first, second] = [0, 1].map(|n| Attempt::new(&shared.addrs[n]));
    let gone = first.run("uhd_usrp_probe", "--args addr=ADDR");
    if !gone.text.contains("No devices found") {
        return Err(format!("did not say \"No devices found\"\n{gone}"));
    }
    second.run("uhd_usrp_probe", "--args addr=ADDR").ok()?.says("N200").map(drop)
}

mod alone {
    use super::*;

    /// A second of the radio takes so many of this host.
    const SLOWER: f64 = 10.0;

    #[test]
    fn row_s3_eight_programs_behind_25_msps() {
        if !has("S3", &["benchmark_rate"]) {
            return;
        }
        let shared = Shared::start(220, 8, 25e6, &["--speed", "0.1"]);
        let verdicts: Vec<Result<(), String>> = thread::scope(|scope| {
            let judge = |addr: &String| {
                let streams = "--args addr=ADDR,ups_per_fifo=80 --duration 5 --rx_rate 1e6 --tx_rate 1e6";
                let run = Attempt::new(addr).run_ordinarily("benchmark_rate", streams);
                no_errors(run).and_then(|run| received(run, 5.0 * 1e6 / SLOWER)).map(drop)
            };
            let programs: Vec<_> = shared.addrs.iter().map(|addr| scope.spawn(move || judge(addr))).collect();
            programs.into_iter().map(|program| program.join().expect("no panic")).collect()
        });
        shared.judged("S3", verdicts.into_iter().collect());
    }
}
