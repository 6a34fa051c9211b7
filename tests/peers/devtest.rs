//! UHD's own device test suite. It has no list for an N200: ours names its classes and what they get. For an X310 it has one.
//!
//! Each group of a list runs alone, before a radio of its own: whatever disturbs minutes of tests disturbs one group, and only that
//! one is repeated.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use takt_host::affinity::own_cpus;

use crate::peer::Attempt;
use crate::row::Row;

const DEVTEST: &str = "/usr/libexec/uhd/tests/devtest";

/// For the N200. Without a `products` key: discovery reports no product for this family, and the suite would look it up. The suite sleeps
/// twice 15 s a test, for an X300 to forget its last user, which an N200 does at once: our list cuts these short.
const LIST: &str = r#"
"""Device tests for the N2x0 family."""

import time

full_sleep = time.sleep
time.sleep = lambda seconds: full_sleep(min(seconds, 0.1))

from benchmark_rate_test import uhd_benchmark_rate_test
from gpio_test import gpio_test
from list_sensors_test import list_sensors_test
from rx_samples_to_file_test import rx_samples_to_file_test
from test_messages_test import test_messages_test
from test_pps_test import uhd_test_pps_test
from tx_bursts_test import uhd_tx_bursts_test
from tx_waveforms_test import uhd_tx_waveforms_test
from usrp_probe_test import uhd_usrp_probe_test

uhd_benchmark_rate_test.tests = {
    "duplex": {
        "duration": 2,
        "direction": "tx,rx",
        "chan": "0",
        "rate": 1e6,
        "acceptable-underruns": 0,
        "acceptable-late": 0,
        "acceptable-dropped-samples": 0,
        "acceptable-overruns": 0,
        "acceptable-sequence-errors": 0,
    },
}
rx_samples_to_file_test.tests = {"default": {"duration": 1, "subdev": "A:0", "rate": 5e6}}
uhd_tx_waveforms_test.tests = {"chan0": {"chan": "0"}}
uhd_test_pps_test.tests = {"default": {"source": "external"}}
"#;

/// Cuts the suite's sleeps short, as [`LIST`] does, and then takes the suite's own list of the family. Both ways at once it asks
/// for at most `DUPLEX_SPS` a channel.
const LIST_X3X0: &str = r#"
"""UHD's own device tests for the X3x0 family, with shorter sleeps."""

import time

full_sleep = time.sleep
time.sleep = lambda seconds: full_sleep(min(seconds, 0.1))

from devtest_x3x0 import *

for name, case in uhd_benchmark_rate_test.tests.items():
    if case["direction"] == "tx,rx":
        case["rate"] = min(case["rate"], DUPLEX_SPS)
"#;

/// Behind a list: leaves CHOSEN of it. Each is a class, or one case of the class that measures rates. The suite may have nothing that
/// ALL lacks.
const ONLY: &str = r#"
import unittest

tests = [name for name, one in globals().items() if isinstance(one, type) and issubclass(one, unittest.TestCase)]
cases = {"uhd_benchmark_rate_test." + case: of for case, of in uhd_benchmark_rate_test.tests.items()}
found = [name for name in tests if name != "uhd_benchmark_rate_test"] + list(cases)
if sorted(found) != sorted(ALL):
    raise RuntimeError("the suite has %s" % sorted(found))
uhd_benchmark_rate_test.tests = {name.partition(".")[2]: of for name, of in cases.items() if name in CHOSEN}
for name in tests:
    if name not in [chosen.partition(".")[0] for chosen in CHOSEN]:
        del globals()[name]
"#;

/// Classes that both radios are tested by, beside that of rates.
const CLASSES: [&str; 7] = [
    "gpio_test",
    "list_sensors_test",
    "rx_samples_to_file_test",
    "test_messages_test",
    "uhd_test_pps_test",
    "uhd_tx_bursts_test",
    "uhd_tx_waveforms_test",
];

#[test]
fn devtest_runs_its_nine_tests() {
    let row = Row { model: "n200", number: 30, needs: &["python3", "benchmark_rate"], emulator: &[] };
    let all = CLASSES.iter().chain(&["uhd_usrp_probe_test", "uhd_benchmark_rate_test.duplex"]);
    runs_each(&row, LIST, &[all.map(|&name| name.to_owned()).collect()]);
}

#[test]
fn devtest_before_an_x310_runs_its_own_list() {
    let row = Row { model: "x310", number: 230, needs: &["python3", "benchmark_rate"], emulator: &[] };
    let rates = |ways: &[&str], speed: &str| -> Vec<String> {
        ways.iter().map(|way| format!("uhd_benchmark_rate_test.{way}_{speed}")).collect()
    };
    let (one_way, duplex) = (
        ["tx_chan0", "tx_chan1", "all_tx_chans", "rx_chan0", "rx_chan1", "all_rx_chans"],
        ["siso_chan0", "siso_chan1", "mimo"],
    );
    let (send, receive) = one_way.split_at(3);
    let classes = CLASSES.iter().chain(&["bitbang_test"]).map(|&name| name.to_owned()).collect();
    let slow = [rates(&one_way, "slow"), rates(&duplex, "slow")].concat();
    runs_each(&row, LIST_X3X0, &[classes, slow, rates(send, "fast"), rates(receive, "fast"), rates(&duplex, "fast")]);
}

/// Runs each group of a list alone, in a copy of the suite.
fn runs_each(row: &Row, list: &str, groups: &[Vec<String>]) {
    if !Path::new(DEVTEST).is_dir() {
        return takt_testing::skip(format!("{DEVTEST} is missing   (apt-get install uhd-host)"));
    }
    let folder = tempfile::tempdir().expect("a folder");
    for entry in fs::read_dir(DEVTEST).expect("devtest can be listed").flatten() {
        if entry.path().extension().is_some_and(|e| e == "py") {
            symlink(entry.path(), folder.path().join(entry.file_name())).expect("a link");
        }
    }
    // Both ways at the suite's 25 MS/s, the emulator and UHD need more than two cores.
    let duplex_sps: u32 = if own_cpus().len() < 4 { 5_000_000 } else { 25_000_000 };
    let all = groups.concat();
    for chosen in groups {
        let text = format!("DUPLEX_SPS = {duplex_sps}\n{list}\nCHOSEN = {chosen:?}\nALL = {all:?}\n{ONLY}");
        fs::write(folder.path().join("devtest_ours.py"), text).expect("our list");
        row.judged_by(|attempt| runs_one(attempt, folder.path(), chosen));
    }
}

/// Each attempt keeps its results in a folder of its own: the suite reads what is there.
fn runs_one(attempt: &Attempt, suite: &Path, chosen: &[String]) -> Result<(), String> {
    let logs = tempfile::tempdir().map_err(|e| e.to_string())?;
    let (suite, logs) = (suite.display(), logs.path().display());
    let args = format!(
        "{suite}/run_testsuite.py --src-dir {suite} --devtest-pattern ours --args addr=ADDR --build-dir /usr/libexec/uhd \
         --log-dir {logs}"
    );
    let classes: BTreeSet<&str> = chosen.iter().filter_map(|name| name.split('.').next()).collect();
    let ran = format!("Ran {} test", classes.len());
    attempt.run("python3", &args).ok()?.says(&ran)?.says("\nOK").map(drop)
}
