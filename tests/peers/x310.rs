//! The same judges before a software X310: rows "X" of `docs/internals/acceptance.md`.
//!
//! Its addresses end in 200 plus the row's number. Rows about rates and latencies are in the module `alone`.

use std::fs;

use crate::acceptance::{all_succeed, soapy_streams};
use crate::emulator::{Emulator, Site};
use crate::namespaces::Pair;
use crate::row::Row;

/// A row with an X310 as it is by default.
fn x310(number: u8) -> Row {
    Row { model: "x310", number: 200 + number, needs: &["uhd_usrp_probe", "benchmark_rate"], emulator: &[] }
}

#[test]
fn row_x01_find_by_address() {
    x310(1).judged_by(|attempt| {
        attempt
            .run("uhd_find_devices", "--args addr=ADDR")
            .ok()?
            .says("type: x300")?
            .says("product: X310")?
            .says("serial: EMU001")?
            .says("fpga: XG")?
            .says(&format!("addr: {}", attempt.addr))
            .map(drop)
    });
}

#[test] // with a MTU of 1500, where the kernel would split longer frames
fn row_x02_find_by_broadcast_across_a_cable_and_keep_to_its_frames() {
    let Some(cable) = Pair::new() else {
        return takt_testing::skip("row X2: the right to make network namespaces   (run as root)");
    };
    let emulator = &["--allow", "10.29.0.0/24", "--serial", "EMU001"];
    Row { emulator, ..x310(2) }.judged_at(&cable.site(), |attempt| {
        let host = format!("netns exec {}", cable.host());
        for filter in ["", "--args serial=EMU001"] {
            attempt.run("ip", &format!("{host} uhd_find_devices {filter}")).ok()?.says("addr: 10.29.0.2")?;
        }
        let probe = attempt.run("ip", &format!("{host} uhd_usrp_probe --args addr=10.29.0.2"));
        probe.ok()?.says("Maximum frame size: 1472 bytes")?;
        Ok(0)
    });
}

#[test]
fn row_x03_probe() {
    x310(3).judged_by(|attempt| {
        let run = attempt.run("uhd_usrp_probe", "--args addr=ADDR").ok()?;
        let run = run.says("Mboard: X310")?.says("FW Version: 6.0")?.says("FPGA Version: 39.0")?;
        run.says("Maximum frame size: 8000 bytes")?.says("UBX-160 v2 (0x007e)")?.says("0/Radio#1").map(drop)
    });
    const BASIC: &[&str] = &["--board", "basic"];
    const EMPTY: &[&str] = &["--board", "none"];
    for (emulator, said) in [(BASIC, "BasicRX (1)"), (EMPTY, "0/Radio#1")] {
        Row { emulator, ..x310(23) }
            .judged_by(|attempt| attempt.run("uhd_usrp_probe", "--args addr=ADDR").ok()?.says(said).map(drop));
    }
}

#[test]
fn row_x10_messages() {
    x310(10).judged_by(|attempt| {
        let run = attempt.run("test_messages", "--args addr=ADDR").ok()?;
        all_succeed(&run, 4)
    });
}

#[test]
fn row_x12_timed_receive() {
    x310(12).judged_by(|attempt| {
        let args = "--args addr=ADDR --rate 1e6 --nsamps 10000 --dilv";
        attempt.run("rx_timed_samples", args).ok()?.says("Done!").map(drop)
    });
}

#[test] // at 5 MS/s: at 1 MS/s `tx_bursts` gives up waiting 8 ms before its burst has ended
fn row_x13_timed_transmit_and_bursts() {
    x310(13).judged_by(|attempt| {
        for program in ["tx_timed_samples", "tx_bursts"] {
            attempt
                .run(program, "--args addr=ADDR --rate 5e6 --nsamps 5000")
                .ok()?
                .says("success")?
                .never_says("... fail")?
                .prints_no_letter()?;
        }
        Ok(())
    });
}

#[test]
fn row_x15_transmit_and_receive_at_once() {
    x310(15).judged_by(|attempt| {
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
fn row_x16_timed_commands() {
    x310(16).judged_by(|attempt| {
        let run = attempt.run("test_timed_commands", "--args addr=ADDR").ok()?;
        let run = run.says("Testing support for timed commands on this hardware... pass")?;
        for label in ["Difference of response time 1:", "Difference of response time 2:"] {
            let late_us = run.number(label)?;
            if !(-2.0..=2.0).contains(&late_us) {
                return Err(format!("{label} {late_us} us\n{run}"));
            }
        }
        run.says("Difference between stream time and first packet: 0.000000 us").map(drop)
    });
}

#[test]
fn row_x17_pulse_per_second() {
    x310(17).judged_by(|attempt| {
        attempt.run("test_pps_input", "--args addr=ADDR --source external").ok()?.says("Success!").map(drop)
    });
}

#[test]
fn row_x18_sensors() {
    x310(18).judged_by(|attempt| {
        attempt.run("usrp_list_sensors", "--args addr=ADDR").ok()?.says("Ref: locked")?.says("LO: locked").map(drop)
    });
}

#[test]
fn row_x20_gpio() {
    x310(20).judged_by(|attempt| attempt.run("gpio", "--args addr=ADDR").ok()?.says("All tests passed!").map(drop));
}

#[test]
fn row_x22_multi_channel_samples() {
    x310(22).judged_by(|attempt| {
        let args = "--args addr=ADDR --rate 1e6 --nsamps 10000 --channels 0,1 --dilv";
        attempt.run("rx_multi_samples", args).ok()?.says("Done!").map(drop)
    });
}

#[test]
fn row_x26_burning_the_motherboards_eeprom() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("eeprom").display().to_string();
    let site = Site::loopback(&[226]);
    let start = || Emulator::start(&site, "x310", &["--eeprom", file.as_str()]);
    let row = Row { needs: &["usrp_burn_mb_eeprom", "uhd_find_devices", "uhd_usrp_probe"], ..x310(26) };
    row.judged_before(&site.addrs[0], start, |attempt| {
        attempt.run("usrp_burn_mb_eeprom", "--args addr=ADDR --values name=bench7").ok().map(|_| 0)
    });
    // Another one, switched on with what the first was left with: the firmware reads its EEPROM then, and not before.
    row.judged_before(&site.addrs[0], start, |attempt| {
        let args = "--args addr=ADDR";
        attempt.run("uhd_find_devices", args).ok()?.says("name: bench7")?.says("serial: EMU001")?;
        attempt.run("usrp_burn_mb_eeprom", &format!("{args} --read-all")).ok()?.says("bench7")?;
        attempt.run("uhd_usrp_probe", args).ok()?.says("name: bench7")?.says("UBX-160 v2 (0x007e)").map(|_| 0)
    });
}

#[test]
fn row_x27_soapy() {
    Row { needs: &["SoapySDRUtil"], ..x310(27) }.judged_by(|attempt| {
        let run = attempt.run("SoapySDRUtil", "--probe=driver=uhd,addr=ADDR").ok()?;
        run.says("Channels: 2 Rx, 2 Tx")?.says("X310")?;
        soapy_streams(attempt)
    });
}

/// A flow graph that sends a million samples, and ends.
const SINK: &str = r#"
import sys
from gnuradio import analog, blocks, gr, uhd

graph = gr.top_block()
tone = analog.sig_source_c(1e6, analog.GR_COS_WAVE, 1e5, 0.5)
sink = uhd.usrp_sink(sys.argv[1], uhd.stream_args(cpu_format="fc32", channels=[0]))
sink.set_samp_rate(1e6)
graph.connect(tone, blocks.head(gr.sizeof_gr_complex, 1000000), sink)
graph.run()
print("all sent at", sink.get_samp_rate())
"#;

#[test]
fn row_x28_gnu_radio_source_and_sink() {
    Row { needs: &["uhd_rx_cfile"], ..x310(28) }.judged_by(|attempt| {
        let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
        let file = folder.path().join("gr.cfile");
        attempt.run("uhd_rx_cfile", &format!("-a addr=ADDR -r 1e6 -f 900e6 -N 500000 {}", file.display())).ok()?;
        let bytes = fs::metadata(&file).map_err(|e| e.to_string())?.len();
        if bytes != 4_000_000 {
            return Err(format!("{bytes} bytes, wanted 4000000"));
        }
        let graph = folder.path().join("sink.py");
        fs::write(&graph, SINK).map_err(|e| e.to_string())?;
        let run = attempt.run("python3", &format!("{} addr=ADDR", graph.display()));
        run.ok()?.says("all sent at 1000000.0").map(drop)
    });
}

#[test] // a connection that the emulator does not have
fn row_x33_a_stream_between_two_slots_is_refused_by_name() {
    Row { needs: &["rfnoc_radio_loopback"], ..x310(33) }.judged_by(|attempt| {
        let run = attempt.run("rfnoc_radio_loopback", "--args addr=ADDR --rate 1e6 --duration 1");
        run.says("config_stream: Setup failure").map(drop)
    });
}

/// How fast, how soon, and in step: one after the other.
mod alone {
    use super::x310;
    use crate::alone::{benchmark, no_errors, received, two_radios, within};
    use crate::emulator::Emulator;
    use crate::peer::{Attempt, Run};
    use crate::row::Row;

    /// Samples that a buffer of 2 MiB takes, beyond what was due.
    const AHEAD: f64 = (2 << 20) as f64 / 4.0;

    /// Samples sent lie beyond rate x seconds by no more than what the buffers take.
    fn sent(run: Run, wanted: f64, buffers: f64) -> Result<Run, String> {
        within(run, "Num transmitted samples:", [wanted * 0.98, wanted * 1.02 + AHEAD * buffers])
    }

    #[test]
    fn row_x04_receive() {
        x310(4).judged_by(|attempt| received(no_errors(benchmark(attempt, 3, "--rx_rate 1e6"))?, 3e6).map(drop));
    }

    #[test]
    fn row_x05_transmit() {
        x310(5).judged_by(|attempt| sent(no_errors(benchmark(attempt, 3, "--tx_rate 1e6"))?, 3e6, 1.0).map(drop));
    }

    #[test]
    fn row_x06_full_duplex_at_ltes_rate_on_ltes_clock() {
        for (clock, rate, samples) in [("200e6", "5e6", 15e6), ("184.32e6", "7.68e6", 23.04e6)] {
            x310(6).judged_by(|attempt| {
                let args = format!("--args addr=ADDR,master_clock_rate={clock} --duration 3");
                let run =
                    no_errors(attempt.run("benchmark_rate", &format!("{args} --rx_rate {rate} --tx_rate {rate}")))?;
                sent(received(run, samples)?, samples, 1.0).map(drop)
            });
        }
    }

    #[test]
    fn row_x09_four_channels() {
        Row { emulator: &["--board", "basic"], ..x310(9) }.judged_by(|attempt| {
            let four = "--rx_subdev \"A:0 A:1 B:0 B:1\" --rx_channels 0,1,2,3 --rx_rate 1e6";
            let run = no_errors(benchmark(attempt, 2, four))?.says("on 4 channels")?;
            // UHD starts several channels at one time, 50 ms from now.
            received(run, 4.0 * (2.0 - 0.05) * 1e6).map(drop)
        });
    }

    #[test]
    fn row_x19_latency() {
        x310(19).judged_by(|attempt| {
            let run = attempt.run("latency_test", "--args addr=ADDR --rate 1e6 --nruns 50 --rtt 0.005").ok()?;
            for label in ["Underruns:", "Late packets:", "Other errors:"] {
                if run.number(label)? != 0.0 {
                    return Err(format!("{label} is not 0\n{run}"));
                }
            }
            run.says("50/50").map(drop)
        });
    }

    fn streams_in_step(pair: &str, attempt: &Attempt) -> Result<(), String> {
        let streams = "--rx_rate 1e6 --tx_rate 1e6 --rx_channels 0,1,2,3 --tx_channels 0,1,2,3 --pps external \
                       --ref external --duration 3";
        no_errors(attempt.run_ordinarily("benchmark_rate", &format!("{pair} {streams}")))?
            .says("on 4 channels")
            .map(drop)
    }

    /// A tone that one radio sends and another hears, 20 dB weaker: frequency and level, in the file that UHD wrote. The
    /// program's table of 8192 samples has this frequency at each of the rates.
    fn heard(addrs: [&str; 2], clocks: [&str; 2], rate_sps: f64, attempt: &Attempt) -> Result<(), String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let file = folder.path().join("heard.fc32");
        let [sender, receiver] =
            [0, 1].map(|n| format!("--args addr={}{} --freq 900e6 --rate {rate_sps}", addrs[n], clocks[n]));
        let (hear_s, send_s) = (8.0, 2.0);
        let examples = "/usr/libexec/uhd/examples";
        let script = format!(
            "{examples}/rx_samples_to_file {receiver} --type float --nsamps {} --file {} & hears=$!; sleep 2; \
             {examples}/tx_waveforms {sender} --wave-type SINE --wave-freq 93750 --ampl 0.5 --nsamps {} || exit 1; wait $hears",
            hear_s * rate_sps,
            file.display(),
            send_s * rate_sps
        );
        let run = attempt.run_ordinarily("sh", &format!("-c \"{script}\"")).ok()?;
        let bytes = std::fs::read(&file).map_err(|error| format!("{error}\n{run}"))?;
        let float = |bytes: &[u8]| bytes.try_into().map_or(0.0, f32::from_le_bytes);
        let samples: Vec<_> =
            bytes.chunks_exact(8).map(|x| takt_base::Complex32::new(float(&x[..4]), float(&x[4..]))).collect();
        let begun = samples.iter().position(|x| x.norm() > 0.025).ok_or_else(|| format!("nothing was heard\n{run}"))?;
        let inside = samples.get(begun + 10_000..begun + 110_000).ok_or_else(|| format!("heard too late\n{run}"))?;
        let tone = takt_dsp::estimate_tone(inside).ok_or("no tone")?;
        let hz = tone.frequency * rate_sps;
        if (hz - 93_750.0).abs() > 20.0 || (tone.amplitude - 0.05).abs() > 1e-3 {
            return Err(format!("heard {hz} Hz at {}, wanted 93750 Hz at 0.05\n{run}", tone.amplitude));
        }
        let before = samples[..begun.saturating_sub(1000)].iter().map(|x| x.norm()).fold(0.0, f32::max);
        if before > 1e-3 { Err(format!("{before} before anything was sent\n{run}")) } else { Ok(()) }
    }

    #[test]
    fn row_x31_two_radios_hear_each_other() {
        const LTE: &str = ",master_clock_rate=184.32e6";
        for (models, clocks, rate_sps) in [
            (["x310", "x310"], [LTE, LTE], 1.92e6),
            (["n200", "x310"], ["", ""], 1e6),
            (["x310", "n200"], ["", ""], 500e3),
        ] {
            let addrs = [231, 232].map(|host| takt_testing::loopback(host).to_string());
            let radio =
                |n: usize| format!("[[radio]]\nname = 'r{n}'\nmodel = '{}'\naddr = '{}'\n", models[n], addrs[n]);
            let link = "[[link]]\nfrom = 'r0'\nto = 'r1'\ngain_db = -20.0\ndelay_ns = 333.564\n";
            let folder = tempfile::tempdir().expect("a folder");
            let file = folder.path().join("air.toml");
            std::fs::write(&file, format!("latency_us = 5000\n{}{}{link}", radio(0), radio(1))).expect("it is ours");
            let start = || Emulator::in_air(&file, &[0, 1].map(|n| (models[n], addrs[n].clone())), &[]);
            let needs = &["tx_waveforms", "rx_samples_to_file"];
            Row { needs, ..x310(31) }.judged_before(&addrs[0], start, |attempt| {
                heard([&addrs[0], &addrs[1]], clocks, rate_sps, attempt).map(|()| 0)
            });
        }
    }

    #[test]
    fn row_x29_two_radios_aligned_by_pps() {
        let (both, pair) = two_radios([229, 249]);
        let aligned = format!("{pair} --rate 1e6 --nsamps 10000 --sync pps --channels 0,1,2,3 --dilv");
        x310(29).judged_at(&both, |attempt| {
            attempt.run_ordinarily("rx_multi_samples", &aligned).ok()?.says("Done!").map(|_| 0)
        });
        x310(29).judged_at(&both, |attempt| streams_in_step(&pair, attempt).map(|()| 0));
    }
}
