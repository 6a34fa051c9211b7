"""Shared by the tests: programs of others, run as somebody would, and skips that are failures in CI."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

PROGRAMS = Path(__file__).parent / "programs"
#: A program that hangs fails; a slow machine does not.
HANG_S = 120

FIXES = {"uhd": "apt-get install python3-uhd", "gnuradio": "apt-get install gnuradio"}


def missing(module):
    """Whether this Python lacks a module. Another process looks: UHD starts threads."""
    return subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True).returncode != 0


_missing = {}


@pytest.fixture(autouse=True)
def _needs(request):
    for marker in request.node.iter_markers("needs"):
        for module in marker.args:
            if _missing.setdefault(module, missing(module)):
                skip(f"{module} is not installed: {FIXES[module]}")


def skip(why):
    """Skips on record, as takt_testing::skip does; where nothing may be skipped, a failure."""
    if os.environ.get("TAKT_NO_SKIP", "0") not in ("", "0"):
        pytest.fail(why)
    if record := os.environ.get("TAKT_TEST_RECORD"):
        with open(record, "a") as file:
            file.write(f"SKIPPED: crates/python/tests: {why}\n")
    pytest.skip(why)


def pytest_terminal_summary(terminalreporter):
    """The line by which ./test counts."""
    if os.environ.get("PYTEST_XDIST_WORKER") or not os.environ.get("TAKT_TEST_RECORD"):
        return
    passed, bad = (sum(len(terminalreporter.stats.get(key, [])) for key in keys) for keys in (["passed"], ["failed", "error"]))
    terminalreporter.write_line(f"test result: {'FAILED' if bad else 'ok'}. {passed} passed; {bad} failed; 0 ignored")


def ordinarily(command):
    """A command that can't raise its priority: UHD's control thread spins, and at real-time priority leaves two cores no time."""
    drop = ["setpriv", "--bounding-set", "-sys_nice", "--inh-caps", "-sys_nice"]
    limit = ["prlimit", "--rtprio=0"]
    return [*limit, *(drop if os.geteuid() == 0 else []), *command]


@pytest.fixture
def program():
    """Runs one of the programs under test to its end; what it printed."""

    def run(name, *arguments):
        command = ordinarily([sys.executable, str(PROGRAMS / name), *map(str, arguments)])
        done = subprocess.run(command, capture_output=True, text=True, timeout=HANG_S)
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    return run
