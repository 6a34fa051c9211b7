//! Rows 4 to 9, 19, 29 and 30: how fast UHD streams, how soon it answers, two radios in step, and one that hears itself. One after
//! the other.

use std::fs;

use crate::emulator::{Emulator, Site};
use crate::peer::{Attempt, Run, find};
use crate::row::{Row, row};

/// Datagrams that a radio's buffer of a megabyte holds. UHD fills it, so it sends so many more than were due, less those whose
/// reports are on their way.
const AHEAD_DATAGRAMS: f64 = 712.0;

/// The summary of `benchmark_rate`: every error counter it prints is zero.
pub fn no_errors(run: Run) -> Result<Run, String> {
    match underruns(run)? {
        (run, 0) => Ok(run),
        (run, _) => Err(format!("Num underruns detected: is not 0\n{run}")),
    }
}

/// The same, but for underruns, which it counts.
fn underruns(run: Run) -> Result<(Run, u64), String> {
    const ZERO: [&str; 7] = [
        "Num dropped samples:",
        "Num overruns detected:",
        "Num sequence errors (Tx):",
        "Num sequence errors (Rx):",
        "Num late commands:",
        "Num timeouts (Tx):",
        "Num timeouts (Rx):",
    ];
    let mut run = run.ok()?;
    for label in ZERO {
        if run.number(label)? != 0.0 {
            return Err(format!("{label} is not 0\n{run}"));
        }
        run = run.says(label)?;
    }
    let count = run.number("Num underruns detected:")? as u64;
    Ok((run, count))
}

/// Samples received lie within 2 % of rate x seconds.
pub fn received(run: Run, wanted: f64) -> Result<Run, String> {
    within(run, "Num received samples:", [wanted * 0.98, wanted * 1.02])
}

/// Samples sent, so many in a datagram, lie beyond that by what the radio's buffer takes.
fn sent(run: Run, wanted: f64, in_datagram: f64) -> Result<Run, String> {
    let ahead = AHEAD_DATAGRAMS * in_datagram;
    within(run, "Num transmitted samples:", [wanted * 0.98 + 0.8 * ahead, wanted * 1.02 + ahead])
}

pub fn within(run: Run, label: &str, [least, most]: [f64; 2]) -> Result<Run, String> {
    let got = run.number(label)?;
    if got > least && got < most { Ok(run) } else { Err(format!("{label} {got}, wanted {least} to {most}\n{run}")) }
}

/// Samples in a datagram of 1472 bytes.
const SC16: f64 = 363.0;
const SC8: f64 = 726.0;

pub fn benchmark(attempt: &Attempt, seconds: u32, more: &str) -> Run {
    attempt.run("benchmark_rate", &format!("--args addr=ADDR --duration {seconds} {more}"))
}

#[test]
fn row_04_receive() {
    row(4).judged_by(|attempt| {
        let run = no_errors(benchmark(attempt, 5, "--rx_rate 1e6"))?;
        received(run, 5e6).map(drop)
    });
}

#[test]
fn row_05_transmit() {
    row(5).judged_by(|attempt| {
        let run = no_errors(benchmark(attempt, 5, "--tx_rate 1e6"))?;
        sent(run, 5e6, SC16).map(drop)
    });
}

#[test]
fn row_06_full_duplex() {
    row(6).judged_by(|attempt| {
        let run = no_errors(benchmark(attempt, 5, "--rx_rate 1e6 --tx_rate 1e6"))?;
        let run = received(run, 5e6)?;
        sent(run, 5e6, SC16).map(drop)
    });
}

/// Row 7: no error counted, and as many samples as the rate demands; returns the underruns.
fn streams_at(rate: &str, stream: &str, attempt: &Attempt) -> Result<u64, String> {
    let (run, underruns) = underruns(benchmark(attempt, 3, stream))?;
    let wanted = rate.parse::<f64>().expect("a literal") * 3.0;
    let run = if stream.contains("rx") { received(run, wanted)? } else { run };
    if stream.contains("tx") {
        sent(run, wanted, SC16)?;
    }
    Ok(underruns)
}

#[test]
fn row_07_rates_up_to_25_msps_each_way() {
    for rate in ["5e6", "12.5e6", "25e6"] {
        for mode in ["--rx_rate R", "--tx_rate R", "--rx_rate R --tx_rate R"] {
            let stream = mode.replace('R', rate);
            row(7).judged_with_underruns_by(|attempt| streams_at(rate, &stream, attempt));
        }
    }
}

/// Row 8.
fn streams_eight_bit(stream: &str, wanted: f64, attempt: &Attempt) -> Result<(), String> {
    let run = received(no_errors(benchmark(attempt, 3, stream))?, wanted)?;
    if stream.contains("tx") {
        sent(run, wanted, SC8)?;
    }
    Ok(())
}

const EIGHT_BIT: [(&str, f64); 2] =
    [("--rx_rate 1e6 --tx_rate 1e6 --rx_otw sc8 --tx_otw sc8", 3e6), ("--rx_rate 50e6 --rx_otw sc8", 150e6)];

#[test]
fn row_08_eight_bit_samples_up_to_50_msps() {
    for (stream, wanted) in EIGHT_BIT {
        row(8).judged_by(|attempt| streams_eight_bit(stream, wanted, attempt));
    }
}

#[test]
fn row_09_two_receive_channels() {
    row(9).judged_by(|attempt| {
        let two = "--rx_subdev \"A:0 A:0\" --rx_channels 0,1 --rx_rate 1e6";
        let run = no_errors(benchmark(attempt, 2, two))?.says("on 2 channels")?;
        // UHD starts several channels at one time, 50 ms from now.
        received(run, 2.0 * (2.0 - 0.05) * 1e6).map(drop)
    });
}

#[test]
fn row_19_latency() {
    row(19).judged_by(|attempt| {
        let run = attempt.run("latency_test", "--args addr=ADDR --rate 1e6 --nruns 50 --rtt 0.005").ok()?;
        let line = run.text.lines().find(|line| line.contains("ACKs received:")).unwrap_or_default();
        let mut wrong = Vec::new();
        for label in ["Underruns:", "Late packets:", "Other errors:"] {
            if run.number(label)? != 0.0 {
                wrong.push(label);
            }
        }
        if line.trim_end().ends_with("50/50") && wrong.is_empty() { Ok(()) } else { Err(format!("{wrong:?}\n{run}")) }
    });
}

/// Row 29: two radios whose time stamps agree.
fn receives_aligned(pair: &str, attempt: &Attempt) -> Result<(), String> {
    let aligned = format!("{pair} --rate 1e6 --nsamps 10000 --sync pps --channels 0,1 --dilv");
    attempt.run("rx_multi_samples", &aligned).ok()?.says("Done!").map(drop)
}

/// Row 29: both stream both ways.
fn streams_in_step(pair: &str, attempt: &Attempt) -> Result<(), String> {
    let streams = "--rx_rate 1e6 --tx_rate 1e6 --rx_channels 0,1 --tx_channels 0,1 --pps external --duration 3";
    no_errors(attempt.run("benchmark_rate", &format!("{pair} {streams}"))).map(drop)
}

/// Two radios, and UHD's arguments for them.
pub fn two_radios(hosts: [u8; 2]) -> (Site, String) {
    let both = Site::loopback(&hosts);
    let pair = format!("--args addr0={},addr1={}", both.addrs[0], both.addrs[1]);
    (both, pair)
}

#[test]
fn row_29_two_radios_aligned_by_pps() {
    let (both, pair) = two_radios([29, 129]);
    row(29).judged_at(&both, |attempt| receives_aligned(&pair, attempt).map(|()| 0));
    row(29).judged_at(&both, |attempt| streams_in_step(&pair, attempt).map(|()| 0));
}

/// Complaint of a judge about radios that do `fault`.
fn complaint(site: &Site, fault: &str, judge: impl Fn(&Attempt) -> Result<(), String>) -> String {
    let emulator = Emulator::start(site, "n200", &["--fault", fault]);
    let verdict = judge(&Attempt::new(&site.addrs[0]));
    assert_eq!(emulator.stop().idle_fault(), None);
    verdict.err().unwrap_or_else(|| format!("content with {fault}"))
}

#[test] // a row that can't be red says nothing
fn rows_7_8_and_29_complain_about_radios_that_lose_packets() {
    const TO_HOST: &str = "lose:rx,every=1000";
    const FROM_HOST: &str = "lose:tx,every=1000";
    if find("benchmark_rate").is_none() {
        return takt_testing::skip("benchmark_rate is not installed   (./test installs it)");
    }
    let one = Site::loopback(&[67]);
    let (both, pair) = two_radios([68, 168]);
    let dropped = "Num dropped samples: is not 0";
    for (complaint, expected) in [
        (complaint(&one, TO_HOST, |attempt| streams_at("5e6", "--rx_rate 5e6", attempt).map(drop)), dropped),
        (
            complaint(&one, FROM_HOST, |attempt| streams_at("5e6", "--tx_rate 5e6", attempt).map(drop)),
            "Num sequence errors (Tx): is not 0",
        ),
        (
            complaint(&one, TO_HOST, |attempt| streams_at("5e6", "--rx_rate 5e6 --tx_rate 5e6", attempt).map(drop)),
            dropped,
        ),
        (complaint(&one, TO_HOST, |attempt| streams_eight_bit(EIGHT_BIT[0].0, EIGHT_BIT[0].1, attempt)), dropped),
        (complaint(&both, "lose:rx,at=10", |attempt| receives_aligned(&pair, attempt)), "rx_multi_samples"),
        (complaint(&both, TO_HOST, |attempt| streams_in_step(&pair, attempt)), dropped),
    ] {
        assert!(complaint.contains(expected), "expected {expected}: {complaint}");
    }
}

#[test] // a radio hears its own leakage, with what a board does wrong
fn row_30_self_calibration_of_a_receiver() {
    let addr = takt_testing::loopback(30).to_string();
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("air.toml");
    let air = format!(
        "[[radio]]\nname = 'r'\nmodel = 'n200'\naddr = '{addr}'\nreceive = {{ noise_dbfs = -90, iq_gain_db = 0.3, iq_phase_deg = 2 }}\n\
         [[link]]\nfrom = 'r'\nto = 'r'\ngain_db = -10\n"
    );
    fs::write(&file, air).expect("it is ours");
    let start = || Emulator::in_air(&file, &[("n200", addr.clone())], &[]);
    Row { needs: &["uhd_cal_rx_iq_balance"], ..row(30) }.judged_before(&addr, start, |attempt| {
        let kept = tempfile::tempdir().map_err(|error| error.to_string())?;
        let sweep = "--verbose --freq_start 900e6 --freq_stop 908e6 --freq_step 3.3e6";
        let script =
            format!("UHD_CAL_DATA_PATH={} uhd_cal_rx_iq_balance --args addr=ADDR {sweep}", kept.path().display());
        let run = attempt.run("sh", &format!("-c \"{script}\"")).ok()?;
        // The first frequency may be over before UHD's transmitter has begun, with or without an air.
        let last = run.text.rsplit("corrected ").next().and_then(|rest| rest.split(' ').next()?.parse::<f64>().ok());
        match last {
            Some(better_db) if better_db > 40.0 => Ok(0),
            _ => Err(format!("wanted an image more than 40 dB weaker\n{run}")),
        }
    });
}
