//! Rows 1 to 28, but those about rates and latencies: each a program of UHD, SoapySDR or GNU Radio, and what it prints when
//! all is well.

use std::fs;

use crate::namespaces::Pair;
use crate::peer::{Attempt, Run};
use crate::row::{Row, row};

#[test]
fn row_01_find_by_address() {
    row(1).judged_by(|attempt| {
        attempt
            .run("uhd_find_devices", "--args addr=ADDR")
            .ok()?
            .says("type: usrp2")?
            .says("serial: ")?
            .says("name: ")?
            .says(&format!("addr: {}", attempt.addr))
            .map(drop)
    });
}

#[test]
fn row_02_find_by_broadcast_across_a_cable() {
    let Some(cable) = Pair::new() else {
        return takt_testing::skip("row 2: the right to make network namespaces   (run as root)");
    };
    let emulator = &["--allow", "10.29.0.0/24", "--serial", "EMU001"];
    Row { emulator, ..row(2) }.judged_at(&cable.site(), |attempt| {
        for filter in ["", "--args serial=EMU001"] {
            attempt
                .run("ip", &format!("netns exec {} uhd_find_devices {filter}", cable.host()))
                .ok()?
                .says("addr: 10.29.0.2")?
                .says("serial: EMU001")?;
        }
        Ok(0)
    });
}

#[test]
fn row_03_probe() {
    row(3).judged_by(|attempt| {
        attempt
            .run("uhd_usrp_probe", "--args addr=ADDR")
            .ok()?
            .says("Mboard: N200r4")?
            .says("FW Version: 12.4")?
            .says("FPGA Version: 11.1")?
            .says("SBX")
            .map(drop)
    });
}

#[test]
fn row_10_messages() {
    row(10).judged_by(|attempt| {
        attempt.run("test_messages", "--args addr=ADDR --test-chain").ok().and_then(|r| all_succeed(&r, 5))
    });
}

/// `test_messages` makes 50 checks, of a kind drawn by chance each, and prints "N successes, M failures" for each of so many kinds:
/// all N together are 50, and every M is 0.
pub fn all_succeed(run: &Run, kinds: usize) -> Result<(), String> {
    let counts = |line: &str| {
        let (successes, failures) = line.split_once("->")?.1.split_once("successes,")?;
        let failures = failures.trim().strip_suffix("failures")?;
        Some([successes, failures].map(|count| count.trim().parse::<u32>().unwrap_or(u32::MAX)))
    };
    let of_kinds: Vec<[u32; 2]> = run.text.lines().filter_map(counts).collect();
    let [successes, failures] = [0, 1].map(|n| of_kinds.iter().fold(0_u32, |sum, kind| sum.saturating_add(kind[n])));
    if (of_kinds.len(), successes, failures) == (kinds, 50, 0) {
        Ok(())
    } else {
        Err(format!(
            "{} kinds, {successes} successes, {failures} failures, wanted {kinds}, 50, 0\n{run}",
            of_kinds.len()
        ))
    }
}

#[test]
fn row_11_samples_to_file() {
    row(11).judged_by(|attempt| {
        let args = "--args addr=ADDR --rate 1e6 --freq 900e6 --duration 2 --null --stats";
        attempt.run("rx_samples_to_file", args).ok()?.says("locked.")?.says("Received 2000000 samples").map(drop)
    });
}

#[test]
fn row_12_timed_receive() {
    row(12).judged_by(|attempt| {
        attempt
            .run("rx_timed_samples", "--args addr=ADDR --rate 1e6 --nsamps 10000 --dilv")
            .ok()?
            .says("Done!")
            .map(drop)
    });
}

#[test]
fn row_13_timed_transmit_and_bursts() {
    row(13).judged_by(|attempt| {
        for program in ["tx_timed_samples", "tx_bursts"] {
            attempt
                .run(program, "--args addr=ADDR --rate 1e6 --nsamps 10000")
                .ok()?
                .says("Waiting for async burst ACK... success")?
                .never_says("... fail")?
                .prints_no_letter()?;
        }
        Ok(())
    });
}

#[test]
fn row_14_waveforms() {
    row(14).judged_by(|attempt| {
        attempt
            .run("tx_waveforms", "--args addr=ADDR --rate 1e6 --freq 900e6 --nsamps 1000000")
            .ok()?
            .says("LO: locked")?
            .says("Done!")
            .map(drop)
    });
}

#[test]
fn row_15_transmit_and_receive_at_once() {
    row(15).judged_by(|attempt| {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let file = folder.path().join("loop.dat");
        let args = format!(
            "--tx-args addr=ADDR --rx-args addr=ADDR --tx-rate 1e6 --rx-rate 1e6 --tx-freq 900e6 \
             --rx-freq 900e6 --nsamps 1000000 --file {}",
            file.display()
        );
        attempt.run("txrx_loopback_to_file", &args).ok()?.says("Done!").map(drop)
    });
}

#[test]
fn row_16_timed_commands() {
    row(16).judged_by(|attempt| {
        let run = attempt.run("test_timed_commands", "--args addr=ADDR").ok()?;
        let run = run.says("Testing support for timed commands on this hardware... pass")?;
        // The commands are 100 ms apart: none is executed before its time, nor only with the next one's.
        for label in ["Difference of response time 1:", "Difference of response time 2:"] {
            let late_us = run.number(label)?;
            if !(0.0..100_000.0).contains(&late_us) {
                return Err(format!("{label} {late_us} us\n{run}"));
            }
        }
        run.says("Difference between stream time and first packet: 0.000000 us").map(drop)
    });
}

#[test]
fn row_17_pulse_per_second() {
    row(17).judged_by(|attempt| {
        attempt.run("test_pps_input", "--args addr=ADDR --source external").ok()?.says("Success!").map(drop)
    });
}

#[test]
fn row_18_sensors() {
    row(18).judged_by(|attempt| {
        attempt.run("usrp_list_sensors", "--args addr=ADDR").ok()?.says("Ref: locked")?.says("LO: locked").map(drop)
    });
}

#[test]
fn row_20_gpio() {
    row(20).judged_by(|attempt| {
        for bank in ["", "--bank TXA"] {
            attempt.run("gpio", &format!("--args addr=ADDR {bank}")).ok()?.says("All tests passed!")?;
        }
        Ok(())
    });
}

#[test]
fn row_21_daughterboard_coercion() {
    row(21).judged_by(|attempt| {
        attempt
            .run("test_dboard_coercion", "--args addr=ADDR --tx --rx")
            .ok()?
            .says("successfully tuned to all frequencies")?
            .says("LO successfully locked")
            .map(drop)
    });
}

#[test]
fn row_22_multi_channel_samples() {
    row(22).judged_by(|attempt| {
        let args = "--args addr=ADDR --rate 1e6 --nsamps 10000 --subdev \"A:0 A:0\" --channels 0,1 --dilv";
        attempt.run("rx_multi_samples", args).ok()?.says("Done!").map(drop)
    });
}

#[test]
fn row_23_the_c_interface() {
    row(23).judged_by(|attempt| {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let file = folder.path().join("c.dat");
        let args = "-a addr=ADDR -r 1e6 -f 900e6 -n 100000";
        attempt.run("rx_samples_c", &format!("{args} -o {}", file.display())).ok()?.says("Success")?;
        attempt.run("tx_samples_c", args).ok()?.says("Success").map(drop)
    });
}

#[test]
fn row_24_samples_from_file() {
    row(24).judged_by(|attempt| {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let file = folder.path().join("tx.dat");
        fs::write(&file, vec![0x11_u8; 4 * 200_000]).map_err(|e| e.to_string())?;
        let args = format!("--args addr=ADDR --file {} --type short --rate 1e6 --freq 900e6", file.display());
        attempt.run("tx_samples_from_file", &args).ok()?.says("Done!").map(drop)
    });
}

#[test]
fn row_25_gps_disciplined_oscillator() {
    Row { emulator: &["--gpsdo"], ..row(25) }.judged_by(|attempt| {
        attempt.run("sync_to_gps", "--args addr=ADDR").ok()?.says("SUCCESS: USRP time synchronized to GPS time")?;
        attempt.run("query_gpsdo_sensors", "--args addr=ADDR").ok()?.says("GPS Locked").map(drop)
    });
}

#[test]
fn row_26_burning_eeproms() {
    row(26).judged_by(|attempt| {
        let args = "--args addr=ADDR";
        attempt.run("usrp_burn_mb_eeprom", &format!("{args} --read-all")).ok()?.says("serial")?;
        attempt.run("usrp_burn_mb_eeprom", &format!("{args} --values name=renamed")).ok()?;
        attempt.run("usrp_burn_mb_eeprom", &format!("{args} --read-all")).ok()?.says("renamed")?;
        let burn = format!("{args} --unit RX --slot A --id 0x0065");
        attempt.run("usrp_burn_db_eeprom", &burn).ok()?;
        // Read again by a program that was not told what to find.
        let read = format!("{args} --unit RX --slot A");
        attempt.run("usrp_burn_db_eeprom", &read).ok()?.says("Current ID: SBX v4 (0x0065)").map(drop)
    });
}

#[test]
fn row_27_soapy() {
    Row { needs: &["SoapySDRUtil"], ..row(27) }.judged_by(|attempt| {
        attempt.run("SoapySDRUtil", "--probe=driver=uhd,addr=ADDR").ok()?.says("Channels: 1 Rx, 1 Tx")?.says("N200")?;
        soapy_streams(attempt)
    });
}

/// SoapySDR's rate test each way. It prints the rate it had after five seconds, and has no end: a signal stops it, and then its
/// status is 1 even where all went well.
pub(crate) fn soapy_streams(attempt: &Attempt) -> Result<(), String> {
    for direction in ["RX", "TX"] {
        let test = format!("SoapySDRUtil --args=driver=uhd,addr=ADDR --rate=1e6 --channels=0 --direction={direction}");
        let run = attempt.run("timeout", &format!("--signal=INT 12 {test}"));
        let before = run.text.split(" Msps").next().unwrap_or_default();
        let digits = before.rfind(|c: char| !(c.is_ascii_digit() || c == '.')).map_or(before, |at| &before[at + 1..]);
        match digits.parse::<f64>() {
            // Samples sent ahead of their time make it more.
            Ok(rate_msps) if (0.9..1.3).contains(&rate_msps) => {}
            _ => return Err(format!("{direction}: `{digits}` is not about 1 Msps\n{run}")),
        }
    }
    Ok(())
}

#[test]
fn row_28_gnu_radio() {
    Row { needs: &["uhd_rx_cfile"], ..row(28) }.judged_by(|attempt| {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let file = folder.path().join("gr.cfile");
        attempt.run("uhd_rx_cfile", &format!("-a addr=ADDR -r 1e6 -f 900e6 -N 500000 {}", file.display())).ok()?;
        let bytes = fs::metadata(&file).map_err(|e| e.to_string())?.len();
        if bytes == 4_000_000 { Ok(()) } else { Err(format!("{bytes} bytes, wanted 4000000")) }
    });
}
