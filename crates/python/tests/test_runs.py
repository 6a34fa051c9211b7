"""Runs of the program takt as frames and figures. pandas, Polars and Python's own SQLite read the same numbers."""

import json
import sqlite3
import statistics
import subprocess

import pytest

import takt

#: A run of five seconds: two points of a load, three rounds each.
SMALL = """
question = "Does Python read it?"
[factors]
payload_bytes = [64, 1024]
[fixed]
path = "loopback"
direction = "from-host"
workload = { kind = "udp", offered = 1000, duration = "50ms", warm_up = "0s" }
[rounds]
count = { full = 3, quick = 1 }
order = { seed = 1 }
valid = { foreign_cpu_share_max = 1.0, steal_share_max = 1.0, repeats_max = 0 }
"""

SMALL_CHECK = """
question = "Does the check work?"
[rounds]
count = { full = 2, quick = 1 }
order = { seed = 1 }
valid = { foreign_cpu_share_max = 1.0, steal_share_max = 1.0, excluded_share_max = 1.0, repeats_max = 0, repeats_needed_max = 0 }
[[need]]
model = "n200"
mode = "rx"
rate_sps = 1e6
format = "sc16"
[[part]]
name = "sc16"
factors = { mode = ["rx"], rate_sps = [1e6] }
fixed = { workload = { kind = "rate", duration = "300ms", warm_up = "100ms" } }
"""


@pytest.fixture
def store(takt_program, tmp_path):
    """A store with a run."""
    (tmp_path / "x.toml").write_text(SMALL)
    run = takt.experiment(tmp_path / "x.toml", runs=tmp_path / "takt-runs")
    assert len(run.document()["rounds"]) == 6
    return tmp_path / "takt-runs"


def column(frame, name):
    """A column of either library, as a list."""
    return list(frame[name])


@pytest.mark.needs("pandas", "polars", "matplotlib")
def test_a_run_is_frames_and_a_figure(store, tmp_path):
    import matplotlib
    import pandas
    import polars

    (run,) = takt.runs(store)
    assert run.name and run.experiment in repr(run)
    records = run.records("pandas")
    assert isinstance(records, pandas.DataFrame) and len(records) == 6
    assert set(records["state"]) <= {"valid", "disturbed", "failed", "host_busy", "emulator_late"}
    again = run.records("polars")
    assert isinstance(again, polars.DataFrame) and again.height == 6
    assert column(again, "block") == column(records, "block")

    # The store itself, read by SQLite: as many rows, of the same states.
    with sqlite3.connect(f"file:{store / 'takt.db'}?mode=ro", uri=True) as database:
        states = sorted(state for (state,) in database.execute("select state from rounds"))
    assert sorted(column(records, "state")) == states

    estimates = run.estimates("pandas")
    assert {"part", "payload_bytes", "figure", "mean", "low", "high", "rounds"} <= set(estimates.columns)
    document = run.document()
    assert len(document["rounds"]) == 6 and document["run"]["id"] == run.name
    figure = shown_figure(estimates)
    for _, row in estimates[estimates["figure"] == figure].iterrows():
        assert row["low"] <= row["mean"] <= row["high"]
    polar = run.estimates("polars")
    assert column(polar, "mean")[0] == pytest.approx(column(estimates, "mean")[0], nan_ok=True)

    matplotlib.use("Agg")
    axes = run.plot(figure, "payload_bytes")
    path = tmp_path / "figure.png"
    axes.figure.savefig(path)
    assert path.read_bytes().startswith(b"\x89PNG") and axes.get_ylabel() == figure
    drawn = sorted(float(x) for container in axes.containers for x in container.lines[0].get_xdata())
    assert drawn == [64.0, 1024.0]
    for wrong in (lambda: run.plot("no-such", "payload_bytes"), lambda: run.plot(figure, "no-such")):
        with pytest.raises(takt.OptionError) as refused:
            wrong()
        assert refused.value.fix


def shown_figure(estimates):
    """A figure with a mean at each point."""
    means = estimates.dropna(subset=["mean"]).groupby("figure")["mean"].count()
    return means[means == 2].index[0]


@pytest.mark.needs("pandas")
def test_means_are_those_of_the_rounds(store, takt_program):
    (run,) = takt.runs(store)
    shown = json.loads(
        subprocess.run(
            [takt_program, "experiment", "show", run.name, "--runs", str(store), "--json"], capture_output=True, text=True
        ).stdout
    )
    compared = 0
    for point in shown["points"]:
        for figure in point["figures"]:
            if figure["mean"] and len(figure["rounds"]) >= 2:
                estimates = run.estimates("pandas")
                of_it = (estimates["figure"] == figure["name"]) & (estimates["payload_bytes"] == point["factors"]["payload_bytes"])
                assert float(estimates[of_it]["mean"].iloc[0]) == figure["mean"]["point"]
                if figure["mean"]["method"] == "t":
                    assert statistics.mean(figure["rounds"]) == pytest.approx(figure["mean"]["point"])
                    compared += 1
    assert compared > 0


def test_a_check_is_a_function_with_a_result(takt_program, tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(SMALL_CHECK)
    result = takt.check(file=file, quick=True, runs=tmp_path / "runs")
    assert result.answer in ("holds", "fails", "unknown")
    assert result.holds == (result.answer == "holds") and result.answer in str(result)
    assert result.reasons and result.does_not_say and result.raw["verdict"]["says"] == result.reasons
    (run,) = takt.runs(tmp_path / "runs")
    assert run.name == result.run
    assert run.report()["verdict"]["answer"] == result.answer


def test_fixes_of_a_check_are_read():
    from takt._runs import result_of

    fix = {"id": "rmem-max", "what": "a larger buffer", "how": "sysctl", "kind": "safe", "gain": "more", "gain_sps": 1.0}
    verdict = {"answer": "fails", "says": ["too slow"], "does_not_say": [], "fixes": [fix]}
    result = result_of({"verdict": verdict, "run": "r"})
    assert not result.holds and result.fixes[0].id == "rmem-max" and "sysctl" in str(result)


def test_errors_of_the_program_are_exceptions_with_its_reason_and_fix(takt_program, tmp_path):
    with pytest.raises(takt.ProgramError) as refused:
        takt.check("n200:1parsec", runs=tmp_path)
    assert refused.value.message and refused.value.fix
    with pytest.raises(takt.ProgramError) as missing:
        takt.check(file=tmp_path / "none.toml", runs=tmp_path)
    assert "none.toml" in str(missing.value)


def test_a_missing_program_is_said(monkeypatch, tmp_path):
    monkeypatch.delenv("TAKT_PROGRAM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    for call in (lambda: takt.check(), lambda: takt.runs(tmp_path), lambda: takt.check(program="./nothing")):
        with pytest.raises(takt.ProgramError) as missing:
            call()
        assert "there is no program" in missing.value.message and "TAKT_PROGRAM" in missing.value.fix


def test_missing_packages_are_said(monkeypatch):
    import importlib.util

    from takt import _frames

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    for call, package in ((lambda: _frames.library(None), "pandas"), (_frames.matplotlib, "matplotlib")):
        with pytest.raises(takt.MissingError) as missing:
            call()
        assert missing.value.fix == f"pip install {package}" and isinstance(missing.value, ImportError)
    with pytest.raises(takt.OptionError):
        _frames.library("excel")


def test_ctrl_c_ends_a_check_in_good_order(takt_program, interruptible, tmp_path):
    # It stands for the program: it tells when it runs, and that it was asked to end.
    program = tmp_path / "takt"
    program.write_text("#!/bin/sh\ntrap 'echo ended >> \"$0.log\"; exit 2' INT\necho runs > \"$0.log\"\nwhile :; do sleep 0.05; done\n")
    program.chmod(0o755)
    code = (
        "import takt, threading, time, os, signal\n"
        f"log = {str(program) + '.log'!r}\n"
        "def press():\n"
        "    while not os.path.exists(log) or not open(log).read():\n        time.sleep(0.01)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Thread(target=press).start()\n"
        f"takt.check(program={str(program)!r})\n"
    )
    process = interruptible(code)
    _, errors = process.communicate(timeout=120)
    assert "KeyboardInterrupt" in errors
    assert (tmp_path / "takt.log").read_text().split() == ["runs", "ended"]


def test_a_study_is_run_by_its_name(tmp_path):
    program = tmp_path / "takt"
    program.write_text(
        '#!/bin/sh\necho "$@" >> "$0.log"\n'
        "case $1 in paper) echo '{\"run\": \"r1\"}';; *) echo '[{\"id\": \"r0\", \"rounds\": 1}, {\"id\": \"r1\", \"experiment\": \"aloe\"}]';; esac\n"
    )
    program.chmod(0o755)
    run = takt.study("aloe", quick=True, resume=True, runs=tmp_path, program=program)
    assert (run.name, run.experiment) == ("r1", "aloe")
    first, second = (tmp_path / "takt.log").read_text().splitlines()
    assert first == f"paper aloe --runs {tmp_path} --quick --resume --json"
    assert second == f"experiment list --runs {tmp_path} --json"
