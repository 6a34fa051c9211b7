//! Every isolated fault of the emulator and what UHD's `benchmark_rate` makes of it, beside what `takt rate` does.
//!
//! The tables are those of `docs/reference/letters.md` and `docs/explanation/what-uhd-cannot-see.md`.

use std::process::Command;

use crate::emulator::takt;
use crate::peer::Run;
use crate::row::Row;

/// Counts that `benchmark_rate` sums up, in its order.
const SUMMARY: [&str; 8] = [
    "Num dropped samples:",
    "Num overruns detected:",
    "Num sequence errors (Tx):",
    "Num sequence errors (Rx):",
    "Num underruns detected:",
    "Num late commands:",
    "Num timeouts (Tx):",
    "Num timeouts (Rx):",
];

/// Each stream lasts so long; the last fault ends 1.1 s after the first sample packet.
const SECONDS: &str = "1.5";

/// The last line of UHD's log on standard error before samples flow.
const OPENED: &str = "No GPSDO found\n";

/// Words that come after it and contain a capital which is also a letter.
const WORDS: [&str; 8] = [
    "ERROR_CODE_TIMEOUT",
    "ERROR_CODE_BAD_PACKET",
    "[ERROR] [STREAMER]",
    "Detected",
    "Delta",
    "Unable",
    "Unexpected",
    "Start",
];

/// Expectation of `takt rate` for one key of its document.
type Key = (&'static str, u64);

struct Case {
    number: u8,
    emulator: &'static [&'static str],
    /// `rx` or `tx`, 1 MS/s.
    way: &'static str,
    /// UHD's sums: values of [`SUMMARY`]; `None` where any will do.
    uhd: [Option<u64>; 8],
    /// Which letter UHD prints, and how often.
    letters: (char, usize),
    /// Counts of takt.
    takt: &'static [Key],
}

const NONE: [Option<u64>; 8] = [Some(0); 8];

impl Case {
    fn holds(&self) {
        let uhd = Row { model: "n200", number: self.number, needs: &["benchmark_rate"], emulator: self.emulator };
        uhd.judged_by(|attempt| {
            let args = format!("--args addr=ADDR --{}_rate 1e6 --duration {SECONDS}", self.way);
            let run = attempt.run("benchmark_rate", &args).ok()?;
            for (label, wanted) in SUMMARY.into_iter().zip(self.uhd) {
                let got = run.number(label)?;
                if wanted.is_some_and(|wanted| wanted as f64 != got) {
                    return Err(format!("{label} is not {wanted:?}\n{run}"));
                }
            }
            let (letter, times) = self.letters;
            prints(&run, letter, times)
        });
        let ours = Row { model: "n200", number: self.number, needs: &[], emulator: self.emulator };
        ours.judged_by(|attempt| {
            let mut command = Command::new(takt());
            command.args(["rate", "--addr", &attempt.addr, &format!("--{}", self.way), "1M", "--duration", SECONDS]);
            command.args(["--warm-up", "0s", "--json"]);
            let run = attempt.run_command(command, "takt rate".to_owned());
            let document: serde_json::Value = run.document()?;
            for (key, wanted) in self.takt {
                match document.pointer(key).and_then(serde_json::Value::as_u64) {
                    Some(got) if got == *wanted => {}
                    got => return Err(format!("{key} is {got:?}, wanted {wanted}\n{run}")),
                }
            }
            Ok(())
        });
    }
}

/// How often UHD printed a letter: it does so between the words of others, on standard error.
fn printed(run: &Run, letter: char) -> Result<usize, String> {
    let said = run.text.rsplit_once(OPENED).ok_or_else(|| format!("did not open the radio as ever\n{run}"))?.1;
    let left = WORDS.iter().fold(said.to_owned(), |said, word| said.replace(word, " "));
    Ok(left.chars().filter(|c| *c == letter).count())
}

/// It printed the letter so often.
fn prints(run: &Run, letter: char, times: usize) -> Result<(), String> {
    match printed(run, letter)? {
        count if count == times => Ok(()),
        count => Err(format!("{count} {letter} printed, wanted {times}\n{run}")),
    }
}

#[test]
fn row_letter_none_without_a_fault() {
    Row { model: "n200", number: 41, needs: &["benchmark_rate"], emulator: &[] }.judged_by(|attempt| {
        let args = "--args addr=ADDR --rx_rate 1e6 --tx_rate 1e6 --duration 1";
        let run = attempt.run("benchmark_rate", args).ok()?;
        ['O', 'U', 'S', 'L', 'D'].into_iter().try_for_each(|letter| prints(&run, letter, 0))
    });
}

#[test]
fn row_letter_d_is_one_lost_datagram() {
    let uhd = [Some(5 * 363), Some(0), Some(0), Some(5), Some(0), Some(0), Some(0), Some(0)];
    Case {
        number: 42,
        emulator: &["--fault", "lose:rx,every=100,limit=5"],
        way: "rx",
        uhd,
        letters: ('D', 5),
        takt: &[("/rx/sequence_errors", 5), ("/rx/dropped", 1815), ("/rx/lost_by_place/path_datagrams", 5)],
    }
    .holds();
}

#[test] // the 4-bit count has come round: UHD joins what was sent 5.8 ms apart, without a word
fn row_letter_none_is_sixteen_lost_datagrams_to_uhd() {
    Case {
        number: 43,
        emulator: &["--fault", "lose:rx,at=300,run=16"],
        way: "rx",
        uhd: NONE,
        letters: ('D', 0),
        takt: &[("/rx/sequence_errors", 1), ("/rx/dropped", 5808), ("/rx/lost_datagrams", 16)],
    }
    .holds();
}

#[test]
fn row_letter_d_is_a_datagram_that_comes_twice_to_uhd() {
    Case {
        number: 44,
        emulator: &["--fault", "duplicate:rx,every=100,limit=5"],
        way: "rx",
        uhd: [None, Some(0), Some(0), Some(5), Some(0), Some(0), Some(0), Some(0)],
        letters: ('D', 5),
        takt: &[("/rx/sequence_errors", 0), ("/rx/dropped", 0), ("/rx/stale_datagrams", 5)],
    }
    .holds();
}

#[test]
fn row_letter_d_is_three_for_each_swap_to_uhd() {
    Case {
        number: 45,
        emulator: &["--fault", "reorder:rx,every=100,limit=5"],
        way: "rx",
        uhd: [None, Some(0), Some(0), Some(15), Some(0), Some(0), Some(0), Some(0)],
        letters: ('D', 15),
        takt: &[("/rx/sequence_errors", 0), ("/rx/dropped", 0), ("/rx/reordered_datagrams", 5)],
    }
    .holds();
}

#[test] // UHD's count of dropped samples is then hundreds of times too high
fn row_letter_d_is_a_datagram_cut_short() {
    Case {
        number: 46,
        emulator: &["--fault", "corrupt:rx,every=100,where=length,limit=5"],
        way: "rx",
        uhd: [None, Some(0), Some(0), Some(5), Some(0), Some(0), Some(0), Some(0)],
        letters: ('D', 5),
        takt: &[("/rx/sequence_errors", 5), ("/rx/dropped", 1815), ("/rx/bad_datagrams", 5)],
    }
    .holds();
}

#[test]
fn row_letter_none_is_damage_to_samples() {
    Case {
        number: 47,
        emulator: &["--fault", "corrupt:rx,every=100,where=payload,limit=5"],
        way: "rx",
        uhd: NONE,
        letters: ('D', 0),
        takt: &[("/rx/sequence_errors", 0), ("/rx/dropped", 0), ("/rx/bad_datagrams", 0)],
    }
    .holds();
}

#[test] // and nothing but timeouts after it: the radio has stopped and UHD does not start it again
fn row_letter_o_is_one_overflow() {
    Case {
        number: 48,
        emulator: &["--fault", "overflow:rx,at=300,for=1ms"],
        way: "rx",
        uhd: [Some(0), Some(1), Some(0), Some(0), Some(0), Some(0), Some(0), None],
        letters: ('O', 1),
        takt: &[("/rx/overflows", 1), ("/rx/sequence_errors", 0), ("/rx/timeouts", 0)],
    }
    .holds();
}

#[test] // a radio that goes on by itself
fn row_letter_o_is_each_of_three_overflows() {
    Case {
        number: 49,
        emulator: &["--overflow", "continue", "--fault", "overflow:rx,every=500,for=1ms,limit=3"],
        way: "rx",
        uhd: [None, Some(3), Some(0), Some(0), Some(0), Some(0), Some(0), Some(0)],
        letters: ('O', 3),
        takt: &[("/rx/overflows", 3), ("/rx/sequence_errors", 0)],
    }
    .holds();
}

#[test]
fn row_letter_s_is_one_datagram_lost_on_the_way_out() {
    Case {
        number: 50,
        emulator: &["--fault", "lose:tx,every=100,limit=5"],
        way: "tx",
        uhd: [Some(0), Some(0), Some(5), Some(0), Some(0), Some(0), Some(0), Some(0)],
        letters: ('S', 5),
        takt: &[("/tx/sequence_errors", 5), ("/tx/underflows", 0), ("/tx/late", 0)],
    }
    .holds();
}

#[test]
fn row_letter_s_is_three_for_each_swap() {
    Case {
        number: 56,
        emulator: &["--fault", "reorder:tx,every=100,limit=5"],
        way: "tx",
        uhd: [Some(0), Some(0), Some(15), Some(0), Some(0), Some(0), Some(0), Some(0)],
        letters: ('S', 15),
        takt: &[("/tx/sequence_errors", 15), ("/tx/underflows", 0), ("/tx/late", 0)],
    }
    .holds();
}

#[test]
fn row_letter_u_is_one_underflow() {
    Case {
        number: 51,
        emulator: &["--fault", "stall:flow,at=+500ms,for=400ms"],
        way: "tx",
        uhd: [Some(0), Some(0), Some(0), Some(0), Some(1), Some(0), None, Some(0)],
        letters: ('U', 1),
        takt: &[("/tx/underflows", 1), ("/tx/sequence_errors", 0), ("/tx/late", 0)],
    }
    .holds();
}

#[test] // UHD waits for ever to hear of a datagram that is lost; takt gives them up after 100 ms and goes on
fn row_letter_u_is_a_stalled_way_out_after_which_uhd_sends_nothing() {
    Case {
        number: 52,
        emulator: &["--fault", "stall:tx,at=+500ms,for=500ms"],
        way: "tx",
        uhd: [Some(0), Some(0), Some(0), Some(0), Some(1), Some(0), None, Some(0)],
        letters: ('U', 1),
        takt: &[("/tx/underflows", 1), ("/tx/sequence_errors", 1), ("/tx/late", 0)],
    }
    .holds();
}

#[test] // one for each datagram of the burst
fn row_letter_l_is_a_datagram_after_its_time() {
    let late = Row {
        model: "n200",
        number: 53,
        needs: &["tx_timed_samples"],
        emulator: &["--fault", "delay:tx,every=1,by=1540ms"],
    };
    late.judged_by(|attempt| {
        let args = "--args addr=ADDR --rate 1e6 --nsamps 363";
        let run = attempt.run("tx_timed_samples", args).ok()?;
        prints(&run, 'L', 1)
    });
}

#[test]
fn row_letter_l_is_a_stream_command_after_its_time() {
    Row { model: "n200", number: 54, needs: &["rx_timed_samples"], emulator: &[] }.judged_by(|attempt| {
        let args = "--args addr=ADDR --rate 1e6 --nsamps 10000 --secs 0";
        attempt.run("rx_timed_samples", args).says("ERROR_CODE_LATE_COMMAND").map(drop)
    });
}
