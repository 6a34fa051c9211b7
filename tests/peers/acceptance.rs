//! Rows 1 to 29: each a program of UHD, SoapySDR or GNU Radio, and what it prints when all is well.

use std::fs;
use std::time::Duration;

use crate::emulator::Emulator;
use crate::namespaces::Pair;
use crate::peer::{self, Run, run};
use crate::row::{Row, turn};

const UHD: &[&str] = &["uhd_usrp_probe", "benchmark_rate"];

fn row(number: u8) -> Row {
    Row { number, needs: UHD, emulator: &[] }
}

fn within(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// The summary of `benchmark_rate`: every error counter it prints is zero.
fn no_errors(run: Run) -> Result<Run, String> {
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

/// Samples received and sent lie within `share` of rate x seconds. What was sent may be ahead by the device's buffer.
fn samples(run: Run, label: &str, wanted: f64, share: f64) -> Result<Run, String> {
    let got = run.number(label)?;
    let window = if label.contains("transmitted") { 712.0 * 726.0 } else { 0.0 };
    if got > wanted * (1.0 - share) && got < wanted * (1.0 + share) + window {
        Ok(run)
    } else {
        Err(format!("{label} {got}, wanted {wanted} within {share}\n{run}"))
    }
}

fn benchmark(args: &str, more: &str) -> Run {
    run("benchmark_rate", &format!("--args {args} {more}"), within(60))
}

#[test]
fn row_01_find_by_address() {
    row(1).judged_by(|addr| {
        run("uhd_find_devices", &format!("--args addr={addr}"), within(20))
            .ok()?
            .says("type: usrp2")?
            .says("serial: ")?
            .says("name: ")?
            .says(&format!("addr: {addr}"))
            .map(drop)
    });
}

#[test]
fn row_02_find_by_broadcast_across_a_cable() {
    if peer::find("uhd_find_devices").is_none() {
        return peer::skip("row 2", "uhd_find_devices");
    }
    let _turn = turn();
    let Some(cable) = Pair::new("row2") else {
        return peer::skip("row 2", "the right to make network namespaces");
    };
    let emulator =
        Emulator::start(&["10.29.0.2"], &["--allow", "10.29.0.0/24", "--serial", "EMU001"], Some(&cable.radio()));
    let find = |filter: &str| {
        run("ip", &format!("netns exec {} uhd_find_devices {filter}", cable.host()), within(20))
            .ok()
            .and_then(|r| r.says("addr: 10.29.0.2"))
            .and_then(|r| r.says("serial: EMU001"))
    };
    find("").unwrap_or_else(|e| panic!("{e}"));
    find("--args serial=EMU001").unwrap_or_else(|e| panic!("{e}"));
    emulator.stop();
}

#[test]
fn row_03_probe() {
    row(3).judged_by(|addr| {
        run("uhd_usrp_probe", &format!("--args addr={addr}"), within(30))
            .ok()?
            .says("Mboard: N200r4")?
            .says("FW Version: 12.4")?
            .says("FPGA Version: 11.1")?
            .says("SBX")
            .map(drop)
    });
}

#[test]
fn row_04_receive() {
    row(4).judged_by(|addr| {
        let run = no_errors(benchmark(&format!("addr={addr}"), "--rx_rate 1e6 --duration 5"))?;
        samples(run, "Num received samples:", 5e6, 0.02).map(drop)
    });
}

#[test]
fn row_05_transmit() {
    row(5).judged_by(|addr| {
        let run = no_errors(benchmark(&format!("addr={addr}"), "--tx_rate 1e6 --duration 5"))?;
        samples(run, "Num transmitted samples:", 5e6, 0.02).map(drop)
    });
}

#[test]
fn row_06_full_duplex() {
    row(6).judged_by(|addr| {
        let run = no_errors(benchmark(&format!("addr={addr}"), "--rx_rate 1e6 --tx_rate 1e6 --duration 5"))?;
        let run = samples(run, "Num received samples:", 5e6, 0.02)?;
        samples(run, "Num transmitted samples:", 5e6, 0.02).map(drop)
    });
}

#[test]
fn row_07_rates_up_to_25_msps_each_way() {
    for rate in ["5e6", "12.5e6", "25e6"] {
        for mode in ["--rx_rate R", "--tx_rate R", "--rx_rate R --tx_rate R"] {
            let stream = mode.replace('R', rate);
            row(7).judged_at_full_rate_by(|addr| {
                let (run, underruns) =
                    underruns(benchmark(&format!("addr={addr}"), &format!("{stream} --duration 3")))?;
                let wanted = rate.parse::<f64>().expect("a literal") * 3.0;
                let run = if mode.contains("rx") { samples(run, "Num received samples:", wanted, 0.02)? } else { run };
                if mode.contains("tx") {
                    samples(run, "Num transmitted samples:", wanted, 0.02)?;
                }
                Ok(underruns)
            });
        }
    }
}

#[test]
fn row_08_eight_bit_samples_up_to_50_msps() {
    row(8).judged_at_full_rate_by(|addr| {
        let both = "--rx_rate 1e6 --tx_rate 1e6 --rx_otw sc8 --tx_otw sc8 --duration 3";
        let run = no_errors(benchmark(&format!("addr={addr}"), both))?;
        samples(run, "Num received samples:", 3e6, 0.02)?;
        let run = no_errors(benchmark(&format!("addr={addr}"), "--rx_rate 50e6 --rx_otw sc8 --duration 3"))?;
        samples(run, "Num received samples:", 150e6, 0.02).map(|_| 0)
    });
}

#[test]
fn row_09_two_receive_channels() {
    row(9).judged_by(|addr| {
        let two = "--rx_subdev \"A:0 A:0\" --rx_channels 0,1 --rx_rate 1e6 --duration 3";
        let run = no_errors(benchmark(&format!("addr={addr}"), two))?.says("on 2 channels")?;
        samples(run, "Num received samples:", 6e6, 0.02).map(drop)
    });
}

#[test]
fn row_10_messages() {
    row(10).judged_by(|addr| {
        run("test_messages", &format!("--args addr={addr} --test-chain"), within(120))
            .ok()?
            .says(" 0 failures")?
            .never_says("successes, 1 failures")
            .and_then(|r| all_failures_zero(&r))
    });
}

/// `test_messages` prints "N successes, M failures" for each kind: every M is 0 and there are five kinds.
fn all_failures_zero(run: &Run) -> Result<(), String> {
    let counts: Vec<&str> = run.text.lines().filter(|line| line.contains("successes,")).collect();
    let clean = counts.iter().filter(|line| line.contains(" 0 failures")).count();
    if counts.len() >= 5 && clean == counts.len() {
        Ok(())
    } else {
        Err(format!("{clean} of {} kinds\n{run}", counts.len()))
    }
}

#[test]
fn row_11_samples_to_file() {
    row(11).judged_by(|addr| {
        let args = format!("--args addr={addr} --rate 1e6 --freq 900e6 --duration 2 --null --stats");
        run("rx_samples_to_file", &args, within(30)).ok()?.says("locked.")?.says("Received 2000000 samples").map(drop)
    });
}

#[test]
fn row_12_timed_receive() {
    row(12).judged_by(|addr| {
        run("rx_timed_samples", &format!("--args addr={addr} --rate 1e6 --nsamps 10000 --dilv"), within(30))
            .ok()?
            .says("Done!")
            .map(drop)
    });
}

#[test]
fn row_13_timed_transmit_and_bursts() {
    row(13).judged_by(|addr| {
        for program in ["tx_timed_samples", "tx_bursts"] {
            run(program, &format!("--args addr={addr} --rate 1e6 --nsamps 10000"), within(30))
                .ok()?
                .says("Waiting for async burst ACK... success")?
                .never_says("... fail")?;
        }
        Ok(())
    });
}

#[test]
fn row_14_waveforms() {
    row(14).judged_by(|addr| {
        run("tx_waveforms", &format!("--args addr={addr} --rate 1e6 --freq 900e6 --nsamps 1000000"), within(30))
            .ok()?
            .says("LO: locked")?
            .says("Done!")
            .map(drop)
    });
}

#[test]
fn row_15_transmit_and_receive_at_once() {
    row(15).judged_by(|addr| {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let file = folder.path().join("loop.dat");
        let args = format!(
            "--tx-args addr={addr} --rx-args addr={addr} --tx-rate 1e6 --rx-rate 1e6 --tx-freq 900e6 \
             --rx-freq 900e6 --nsamps 1000000 --file {}",
            file.display()
        );
        run("txrx_loopback_to_file", &args, within(40)).ok()?.says("Done!").map(drop)
    });
}

#[test]
fn row_16_timed_commands() {
    row(16).judged_by(|addr| {
        run("test_timed_commands", &format!("--args addr={addr}"), within(40)).ok()?.says("pass").map(drop)
    });
}

#[test]
fn row_17_pulse_per_second() {
    row(17).judged_by(|addr| {
        run("test_pps_input", &format!("--args addr={addr} --source external"), within(40))
            .ok()?
            .says("Success!")
            .map(drop)
    });
}

#[test]
fn row_18_sensors() {
    row(18).judged_by(|addr| {
        run("usrp_list_sensors", &format!("--args addr={addr}"), within(40))
            .ok()?
            .says("Ref: locked")?
            .says("LO: locked")
            .map(drop)
    });
}

#[test]
fn row_19_latency() {
    row(19).judged_by(|addr| {
        let args = format!("--args addr={addr} --rate 1e6 --nruns 50 --rtt 0.005");
        let run = run("latency_test", &args, within(60)).ok()?;
        let line = run.text.lines().find(|line| line.contains("ACKs received:")).unwrap_or_default();
        if line.trim_end().ends_with("50/50") { Ok(()) } else { Err(run.to_string()) }
    });
}

#[test]
fn row_20_gpio() {
    row(20).judged_by(|addr| {
        for bank in ["", "--bank TXA"] {
            run("gpio", &format!("--args addr={addr} {bank}"), within(60)).ok()?.says("All tests passed!")?;
        }
        Ok(())
    });
}

#[test]
fn row_21_daughterboard_coercion() {
    row(21).judged_by(|addr| {
        run("test_dboard_coercion", &format!("--args addr={addr} --tx --rx"), within(240))
            .ok()?
            .says("successfully tuned to all frequencies")?
            .says("LO successfully locked")
            .map(drop)
    });
}

#[test]
fn row_22_multi_channel_samples() {
    row(22).judged_by(|addr| {
        let args = format!("--args addr={addr} --rate 1e6 --nsamps 10000 --subdev \"A:0 A:0\" --channels 0,1 --dilv");
        run("rx_multi_samples", &args, within(40)).ok()?.says("Done!").map(drop)
    });
}

#[test]
fn row_23_the_c_interface() {
    row(23).judged_by(|addr| {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let file = folder.path().join("c.dat");
        let args = format!("-a addr={addr} -r 1e6 -f 900e6 -n 100000");
        run("rx_samples_c", &format!("{args} -o {}", file.display()), within(40)).ok()?.says("Success")?;
        run("tx_samples_c", &args, within(40)).ok()?.says("Success").map(drop)
    });
}

#[test]
fn row_24_samples_from_file() {
    row(24).judged_by(|addr| {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let file = folder.path().join("tx.dat");
        fs::write(&file, vec![0x11_u8; 4 * 200_000]).map_err(|e| e.to_string())?;
        let args = format!("--args addr={addr} --file {} --type short --rate 1e6 --freq 900e6", file.display());
        run("tx_samples_from_file", &args, within(40)).ok()?.says("Done!").map(drop)
    });
}

#[test]
fn row_25_gps_disciplined_oscillator() {
    Row { emulator: &["--gpsdo"], ..row(25) }.judged_by(|addr| {
        run("sync_to_gps", &format!("--args addr={addr}"), within(90))
            .ok()?
            .says("SUCCESS: USRP time synchronized to GPS time")?;
        run("query_gpsdo_sensors", &format!("--args addr={addr}"), within(90)).ok()?.says("GPS Locked").map(drop)
    });
}

#[test]
fn row_26_burning_eeproms() {
    row(26).judged_by(|addr| {
        let args = format!("--args addr={addr}");
        run("usrp_burn_mb_eeprom", &format!("{args} --read-all"), within(40)).ok()?.says("serial")?;
        run("usrp_burn_mb_eeprom", &format!("{args} --values name=renamed"), within(40)).ok()?;
        run("usrp_burn_mb_eeprom", &format!("{args} --read-all"), within(40)).ok()?.says("renamed")?;
        let burn = format!("{args} --unit RX --slot A --id 0x0065");
        run("usrp_burn_db_eeprom", &burn, within(40)).ok()?.says("0x0065").map(drop)
    });
}

#[test]
fn row_27_soapy() {
    Row { needs: &["SoapySDRUtil"], ..row(27) }.judged_by(|addr| {
        run("SoapySDRUtil", &format!("--probe=driver=uhd,addr={addr}"), within(40))
            .ok()?
            .says("Channels: 1 Rx, 1 Tx")?
            .says("N200")
            .map(drop)
    });
}

#[test]
fn row_28_gnu_radio() {
    Row { needs: &["uhd_rx_cfile"], ..row(28) }.judged_by(|addr| {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let file = folder.path().join("gr.cfile");
        run("uhd_rx_cfile", &format!("-a addr={addr} -r 1e6 -f 900e6 -N 500000 {}", file.display()), within(60))
            .ok()?;
        let bytes = fs::metadata(&file).map_err(|e| e.to_string())?.len();
        if bytes == 4_000_000 { Ok(()) } else { Err(format!("{bytes} bytes, wanted 4000000")) }
    });
}

#[test]
fn row_29_two_radios_aligned_by_pps() {
    if peer::find("rx_multi_samples").is_none() {
        return peer::skip("row 29", "rx_multi_samples");
    }
    let _turn = turn();
    let (a, b) = ("127.29.29.1", "127.29.29.2");
    let emulator = Emulator::start(&[a, b], &[], None);
    let pair = format!("addr0={a},addr1={b}");
    let verdict = run(
        "rx_multi_samples",
        &format!("--args {pair} --rate 1e6 --nsamps 10000 --sync pps --channels 0,1 --dilv"),
        within(60),
    )
    .ok()
    .and_then(|r| r.says("Done!"))
    .and_then(|_| {
        let both = "--rx_rate 1e6 --tx_rate 1e6 --rx_channels 0,1 --tx_channels 0,1 --pps external --duration 3";
        no_errors(benchmark(&pair, both))
    });
    let late = emulator.stop().own_lateness();
    verdict.unwrap_or_else(|complaint| panic!("emulator late {late} times\n{complaint}"));
}
