//! UHD's own device test suite. It has no list for an N200: ours names its classes and what they get. For an X310 it has one.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

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

/// Cuts the suite's sleeps short, as [`LIST`] does, and then takes the suite's own list of the family.
const LIST_X3X0: &str = r#"
"""UHD's own device tests for the X3x0 family, with shorter sleeps."""

import time

full_sleep = time.sleep
time.sleep = lambda seconds: full_sleep(min(seconds, 0.1))

from devtest_x3x0 import *
"#;

#[test]
fn devtest_runs_its_nine_tests() {
    runs_nine(Row { model: "n200", number: 30, needs: &["python3", "benchmark_rate"], emulator: &[] }, LIST);
}

#[test]
fn devtest_before_an_x310_runs_its_own_list() {
    runs_nine(Row { model: "x310", number: 230, needs: &["python3", "benchmark_rate"], emulator: &[] }, LIST_X3X0);
}

/// Runs a list of ours in a copy of the suite.
fn runs_nine(row: Row, list: &str) {
    if !Path::new(DEVTEST).is_dir() {
        return takt_testing::skip(format!("{DEVTEST} is missing   (apt-get install uhd-host)"));
    }
    let folder = tempfile::tempdir().expect("a folder");
    let (tests, logs) = (folder.path().join("dt"), folder.path().join("logs"));
    fs::create_dir_all(&tests).expect("a folder");
    fs::create_dir_all(&logs).expect("a folder");
    for entry in fs::read_dir(DEVTEST).expect("devtest can be listed").flatten() {
        if entry.path().extension().is_some_and(|e| e == "py") {
            symlink(entry.path(), tests.join(entry.file_name())).expect("a link");
        }
    }
    fs::write(tests.join("devtest_ours.py"), list).expect("our list");
    row.judged_by(|attempt| {
        let (tests, logs) = (tests.display(), logs.display());
        let args = format!(
            "{tests}/run_testsuite.py --src-dir {tests} --devtest-pattern ours --args addr=ADDR \
             --build-dir /usr/libexec/uhd --log-dir {logs}"
        );
        attempt.run("python3", &args).ok()?.says("Ran 9 tests")?.says("\nOK").map(drop)
    });
}
