//! UHD's calibration programs before radios whose boards are not perfect: rows 61 and X61 of `docs/internals/acceptance.md`.
//!
//! Each program writes a table. Then UHD's example programs stream with these tables, and without, and what they wrote to their
//! files is compared. The radio under test transmits to a perfect one beside it in an air, and receives a tone.

/// Rows that must not run beside others: UHD's programs here send and receive 12.5 MS/s.
mod alone {
    use std::fs;
    use std::path::Path;

    use crate::emulator::{Emulator, takt};
    use crate::peer::{Attempt, Run};
    use crate::row::Row;
    use crate::tone::{Spurs, fc32};

    const PROGRAMS: [&str; 3] = ["uhd_cal_rx_iq_balance", "uhd_cal_tx_iq_balance", "uhd_cal_tx_dc_offset"];
    /// The first frequency may be over before UHD's transmitter has begun.
    const SWEEP: &str = "--verbose --freq_start 892.7e6 --freq_stop 901e6 --freq_step 7.3e6";
    /// UHD's calibration programs fix 12.5 MS/s both ways, more than two cores carry beside an air.
    const SPEED: &str = "0.25";
    const EXAMPLES: &str = "/usr/libexec/uhd/examples";
    const RATE_SPS: f64 = 1e6;
    /// A program's table of 8192 samples has it.
    const TONE_HZ: f64 = 93_750.0;
    /// How much weaker images and carriers become, at least.
    const BETTER_DB: f64 = 40.0;

    fn spurs(file: &Path, run: &Run) -> Result<Spurs, String> {
        let samples = fc32(&fs::read(file).map_err(|error| format!("{error}\n{run}"))?);
        let begun = samples.iter().position(|x| x.norm() > 0.1).ok_or_else(|| format!("nothing was heard\n{run}"))?;
        // After a fifth of a second the receive offset has settled. 160 samples hold 15 turns.
        let inside = samples.get(begun + 200_000..begun + 264_000).ok_or_else(|| format!("heard too late\n{run}"))?;
        let spurs = Spurs::of(inside, TONE_HZ / RATE_SPS);
        if spurs.tone_db < -20.0 {
            return Err(format!("a tone of {} dB\n{run}", spurs.tone_db));
        }
        Ok(spurs)
    }

    /// With the tables in this folder: what the radio receives, and what it transmits to the one beside it.
    fn measured(attempt: &Attempt, tables: &Path, beside: &str) -> Result<[Spurs; 2], String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let [received, sent] = ["received", "sent"].map(|name| folder.path().join(name));
        let tuned = format!("--freq 900e6 --rate {RATE_SPS}");
        let tables = format!("export UHD_CAL_DATA_PATH={};", tables.display());
        let record = |addr: &str, seconds: f64, file: &Path| {
            let samples = seconds * RATE_SPS;
            format!(
                "{EXAMPLES}/rx_samples_to_file --args addr={addr} {tuned} --type float --nsamps {samples} --file {}",
                file.display()
            )
        };
        let script = format!("{tables} {}", record("ADDR", 0.5, &received));
        let run = attempt.run_ordinarily("sh", &format!("-c \"{script}\"")).ok()?;
        let of_receiver = spurs(&received, &run)?;
        let send = format!(
            "{EXAMPLES}/tx_waveforms --args addr=ADDR {tuned} --wave-type SINE --wave-freq {TONE_HZ} --ampl 0.5"
        );
        let hear = record(beside, 4.0, &sent);
        let script = format!(
            "{tables} {hear} & hears=$!; sleep 2; {send} --gain 31.5 --nsamps {RATE_SPS} || exit 1; wait $hears"
        );
        let run = attempt.run_ordinarily("sh", &format!("-c \"{script}\"")).ok()?;
        Ok([of_receiver, spurs(&sent, &run)?])
    }

    /// Whether images and carrier are as much weaker with these tables as they must be.
    fn better(whose: &str, before: &[Spurs; 2], after: &[Spurs; 2]) -> Result<(), String> {
        for (what, before, after) in [
            ("image received", before[0].image_db, after[0].image_db),
            ("image sent", before[1].image_db, after[1].image_db),
            ("carrier sent", before[1].carrier_db, after[1].carrier_db),
        ] {
            if before < -45.0 || before - after < BETTER_DB {
                return Err(format!("{what}: {before:.1} dB without tables, {after:.1} dB with {whose}"));
            }
        }
        Ok(())
    }

    /// `tables_of_takt`: those of `takt radio calibrate` as well, which can't calibrate an X310.
    fn calibrates(attempt: &Attempt, beside: &str, tables_of_takt: bool) -> Result<(), String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let [none, tables, own] = ["none", "tables", "own"].map(|name| folder.path().join(name));
        fs::create_dir(&none).and_then(|()| fs::create_dir(&tables)).map_err(|error| error.to_string())?;
        // Before it is calibrated: UHD does not write an X310's balance of I and Q when it starts, so the last one stays.
        let [received, sent] = measured(attempt, &none, beside)?;
        for program in PROGRAMS {
            let script = format!("UHD_CAL_DATA_PATH={} {program} --args addr=ADDR {SWEEP}", tables.display());
            let run = attempt.run("sh", &format!("-c \"{script}\"")).ok()?;
            let last =
                run.text.rsplit("corrected ").next().and_then(|rest| rest.split(' ').next()?.parse::<f64>().ok());
            if last.is_none_or(|better_db| better_db < BETTER_DB) {
                return Err(format!("{program} did not find {BETTER_DB} dB\n{run}"));
            }
        }
        let written = fs::read_dir(&tables).map_err(|error| error.to_string())?.count();
        if written != PROGRAMS.len() {
            return Err(format!("{written} tables of {}", PROGRAMS.len()));
        }
        let before = [received, sent];
        better("tables of UHD", &before, &measured(attempt, &tables, beside)?)?;
        if tables_of_takt {
            let sweep = format!("radio calibrate --addr ADDR --start 900M --stop 900M --out {}", own.display());
            attempt.run(&takt().to_string_lossy(), &sweep).ok()?;
            better("tables of takt", &before, &measured(attempt, &own, beside)?)?;
        }
        let [received, _] = before;
        // The radio removes it by itself, with and without tables.
        if received.carrier_db > -60.0 {
            return Err(format!("a receive offset of {:.1} dB stays", received.carrier_db));
        }
        Ok(())
    }

    fn row(model: &'static str, hosts: [u8; 2]) {
        let addrs = hosts.map(|host| takt_testing::loopback(host).to_string());
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("air.toml");
        let air = format!(
            "latency_us = 5000\n\
             [[radio]]\nname = 'tested'\nmodel = '{model}'\naddr = '{}'\nimperfect = 7\nsource = 'tone:offset={TONE_HZ},amplitude=0.5'\n\
             [[radio]]\nname = 'beside'\nmodel = 'n200'\naddr = '{}'\n\
             [[link]]\nfrom = 'tested'\nto = 'beside'\n",
            addrs[0], addrs[1]
        );
        fs::write(&file, air).expect("it is ours");
        let radios = [(model, addrs[0].clone()), ("n200", addrs[1].clone())];
        let start = || Emulator::in_air(&file, &radios, &["--speed", SPEED]);
        let needs = &["uhd_cal_rx_iq_balance", "uhd_cal_tx_iq_balance", "uhd_cal_tx_dc_offset", "rx_samples_to_file"];
        Row { model, number: hosts[0], needs, emulator: &[] }
            .judged_before(&addrs[0], start, |attempt| calibrates(attempt, &addrs[1], model == "n200").map(|()| 0));
    }

    #[test]
    fn row_61_uhd_calibrates_an_n200_and_streams_with_its_tables() {
        row("n200", [61, 62]);
    }

    #[test]
    fn row_x61_uhd_calibrates_an_x310_and_streams_with_its_tables() {
        row("x310", [251, 252]);
    }
}
