"""Shared by the tests: programs of others, run as somebody would, and skips that are failures in CI."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

PROGRAMS = Path(__file__).parent / "programs"
#: A program that hangs fails; a slow machine does not.
HANG_S = 120

FIXES = {
    "uhd": "apt-get install python3-uhd",
    "gnuradio": "apt-get install gnuradio",
    **{package: f"pip install {package}" for package in ("pandas", "polars", "matplotlib")},
}


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
    say("SKIPPED", why)
    pytest.skip(why)


def not_judged(why):
    """Says on record that an outcome is worth nothing, as takt_testing::not_judged does. The record counts against a limit."""
    say("NOT JUDGED", why)
    pytest.skip(f"not judged: {why}")


def say(kind, why):
    if record := os.environ.get("TAKT_TEST_RECORD"):
        with open(record, "a") as file:
            file.write(f"{kind}: crates/python/tests: {why}\n")


def air_was_late(air):
    """Whether an air lost samples since this host was too slow for it: the emulators' own account."""
    signals = [radio.counts().report["signals"] for radio in air.values()]
    sinks = [sink for one in signals for sink in (one["sink"] if isinstance(one["sink"], list) else [one["sink"]])]
    return sum(sink.get("late_samples") or 0 for sink in sinks)


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


@pytest.fixture
def interruptible():
    """Starts a Python of its own that Ctrl-C reaches, even where this one was started by a shell in the background."""
    started = []

    def start(code):
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def _takt():
    """The program ``takt``: that of the environment, or the one that was built here."""
    built = [Path(__file__).parents[3] / "target" / profile / "takt" for profile in ("release", "debug")]
    given = os.environ.get("TAKT_PROGRAM")
    return next((str(path) for path in [*([Path(given)] if given else []), *built] if path.is_file()), None)


@pytest.fixture
def takt_program(monkeypatch):
    """The path of the program takt, which this package finds, too."""
    path = _takt()
    if path is None:
        skip("the program takt is not built: cargo build --release")
    monkeypatch.setenv("TAKT_PROGRAM", path)
    return path
