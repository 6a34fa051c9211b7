"""Runs in a store: their records and estimates as frames, their figures, and ``check``."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence

from . import _frames, _program
from ._errors import OptionError
from ._program import Path

__all__ = ["CheckResult", "Fix", "Run", "check", "experiment", "runs", "study"]

#: Columns of a frame of estimates behind those of the factors.
_ESTIMATE = ("figure", "mean", "low", "high", "level", "n", "rounds", "warning")


class Run:
    """A run of an experiment, a check or a study. ``takt.runs`` lists them."""

    def __init__(self, about: Dict[str, Any], store: str, program: Optional[Path]) -> None:
        #: All that ``takt experiment list --json`` says of it.
        self.about = about
        self._store = store
        self._program = program

    @property
    def name(self) -> str:
        """Its name in the store."""
        return str(self.about["id"])

    @property
    def experiment(self) -> str:
        """The name of its experiment."""
        return str(self.about["experiment"])

    def records(self, frames: Optional[str] = None) -> Any:
        """A frame with a row for each round, and a column for each number and text of its record.

        ``frames``: ``"pandas"`` or ``"polars"``; without it, the first that is installed. Rounds that do not count are in it, too:
        column ``state`` is ``valid`` for those that do.
        """
        _frames.library(frames)
        return _frames.of_csv(self._output("experiment", "export", self.name, "--format", "csv"), frames)

    def estimates(self, frames: Optional[str] = None) -> Any:
        """A frame with a row for each figure of each point: the mean over rounds, and its interval as takt computes it.

        Columns: ``part``, a column for each factor, then ``figure``, ``mean``, ``low``, ``high``, ``level``, ``n``, ``rounds``,
        ``warning``. A mean of fewer than two rounds is missing.
        """
        _frames.library(frames)
        return _frames.of_rows(self._estimates(), frames, _ESTIMATE)

    def document(self) -> Dict[str, Any]:
        """The whole run as JSON, histograms included."""
        document: Dict[str, Any] = self._json("experiment", "export", self.name, "--format", "json")
        return document

    def report(self) -> Dict[str, Any]:
        """What a check or a study found, as ``takt report --json`` says."""
        document: Dict[str, Any] = self._json("report", self.name, good=(0, 1))
        return document

    def plot(self, figure: str, x: str, *, part: Optional[str] = None, ax: Any = None) -> Any:
        """Draws a figure over a factor with Matplotlib, a line for each combination of the others; returns the axes."""
        rows = [row for row in self._estimates() if row["figure"] == figure and (part is None or row["part"] == part)]
        self._must_have("figure", figure, rows, {row["figure"] for row in self._estimates()} if not rows else set())
        factors = [name for name in rows[0] if name not in _ESTIMATE and name != "part"]
        self._must_have("x", x, x in factors, set(factors))
        pyplot = _frames.matplotlib()
        axes = pyplot.subplots()[1] if ax is None else ax
        lines: Dict[str, List[Dict[str, Any]]] = {}
        for row in rows:
            others = [f"{name} {row[name]}" for name in factors if name != x]
            lines.setdefault(", ".join([row["part"], *others]), []).append(row)
        for label, line in lines.items():
            there = [row for row in line if row["mean"] is not None]
            means = [row["mean"] for row in there]
            below = [row["mean"] - row["low"] for row in there]
            above = [row["high"] - row["mean"] for row in there]
            axes.errorbar([row[x] for row in there], means, yerr=[below, above], marker="o", capsize=3, label=label)
        axes.set_xlabel(x)
        axes.set_ylabel(figure)
        if len(lines) > 1:
            axes.legend()
        return axes

    @staticmethod
    def _must_have(option: str, value: str, there: Any, known: "set[str]") -> None:
        if not there:
            fix = f"give one of {', '.join(sorted(known))}" if known else None
            raise OptionError(f"{option}: the run has no {value}", None, fix, option, repr(value))

    def _estimates(self) -> List[Dict[str, Any]]:
        rows = []
        for point in self._json("experiment", "show", self.name)["points"]:
            for figure in point["figures"]:
                mean = figure["mean"] or {}
                rows.append(
                    {
                        "part": point["part"],
                        **point["factors"],
                        "figure": figure["name"],
                        "mean": mean.get("point"),
                        "low": mean.get("low"),
                        "high": mean.get("high"),
                        "level": mean.get("level"),
                        "n": mean.get("n"),
                        "rounds": len(figure["rounds"]),
                        "warning": figure["warning"],
                    }
                )
        return rows

    def _output(self, *arguments: str) -> str:
        return _program.output_of(self._program, [*arguments, "--runs", self._store])

    def _json(self, *arguments: str, good: Sequence[int] = (0,)) -> Any:
        return _program.json_of(self._program, [*arguments, "--runs", self._store], good)

    def __repr__(self) -> str:
        return f"<Run {self.name} of {self.experiment}: {self.about['rounds']} rounds>"


def runs(store: Path = "takt-runs", *, program: Optional[Path] = None) -> List[Run]:
    """The runs in a folder of results, as ``takt experiment list`` says. Needs the program ``takt``."""
    store = os.fspath(store)
    listed = _program.json_of(program, ["experiment", "list", "--runs", store])
    return [Run(about, store, program) for about in listed]


def experiment(
    file: Path,
    *,
    quick: bool = False,
    addr: Optional[str] = None,
    transmit: bool = False,
    resume: bool = False,
    runs: Path = "takt-runs",
    program: Optional[Path] = None,
) -> Run:
    """Runs an experiment file: ``takt experiment run``. Needs the program ``takt``. Ctrl-C ends it, and ``resume`` goes on."""
    return _measured(["experiment", "run", os.fspath(file)], quick, addr, transmit, resume, runs, program)


def study(
    name: str,
    *,
    quick: bool = False,
    resume: bool = False,
    runs: Path = "takt-runs",
    program: Optional[Path] = None,
) -> Run:
    """Repeats a published study: ``takt paper NAME``. ``Run.report`` has what it found. Needs the program ``takt``."""
    return _measured(["paper", name], quick, None, False, resume, runs, program)


def _measured(
    command: Sequence[str],
    quick: bool,
    addr: Optional[str],
    transmit: bool,
    resume: bool,
    store: Path,
    program: Optional[Path],
) -> Run:
    flags = {"--quick": quick, "--transmit": transmit, "--resume": resume}
    arguments = [*command, "--runs", os.fspath(store), *(flag for flag, given in flags.items() if given)]
    arguments += ["--addr", addr] if addr is not None else []
    name = _program.json_of(program, arguments, good=(0, 1))["run"]
    return next(run for run in runs(store, program=program) if run.name == name)


@dataclass(frozen=True)
class Fix:
    """Something to change on this host."""

    #: The change, the command or the setting, and the expected gain.
    what: str
    how: str
    gain: str
    #: ``safe``, ``consent`` or ``advice``.
    kind: str
    #: The doctor's rule: ``takt doctor --explain ID``.
    id: Optional[str]


@dataclass(frozen=True)
class CheckResult:
    """The answer of a check."""

    #: ``holds``, ``fails`` or ``unknown``, over all needs.
    answer: str
    #: Why.
    reasons: List[str]
    #: What to change, the most helpful first.
    fixes: List[Fix]
    #: Limits of the answer.
    does_not_say: List[str]
    #: The name of its run: ``takt.runs`` has its records.
    run: str
    #: All that ``takt check --json`` says.
    raw: Dict[str, Any] = field(repr=False)

    @property
    def holds(self) -> bool:
        """The host keeps up. False for "no" and for "not known"; ``answer`` tells them apart."""
        return self.answer == "holds"

    def __str__(self) -> str:
        lines = [self.answer, *(f"  why   {reason}" for reason in self.reasons)]
        return "\n".join([*lines, *(f"  fix   {fix.what}: {fix.how}" for fix in self.fixes)])


def check(
    *needs: str,
    quick: bool = False,
    addr: Optional[str] = None,
    transmit: bool = False,
    reference: Optional[str] = None,
    resume: bool = False,
    runs: Path = "takt-runs",
    file: Optional[Path] = None,
    program: Optional[Path] = None,
) -> CheckResult:
    """Whether this host keeps up with a radio: ``takt check``, which this runs. Needs the program ``takt``.

    ``needs``: rates that must hold, such as ``"n200:25M:rx"``. ``quick`` takes about two minutes. Without ``addr``, takt emulates a
    radio on this machine. ``file``: your own copy of the experiment. Ctrl-C ends it, and ``resume`` goes on.
    """
    arguments = ["check", "--runs", os.fspath(runs)]
    for need in needs:
        arguments += ["--need", need]
    flags = {"--quick": quick, "--transmit": transmit, "--resume": resume}
    arguments += [flag for flag, given in flags.items() if given]
    for option, value in (("--addr", addr), ("--reference", reference), ("--file", file)):
        arguments += [option, os.fspath(value)] if value is not None else []
    document = _program.json_of(program, arguments, good=(0, 1))
    return result_of(document)


def result_of(document: Dict[str, Any]) -> CheckResult:
    """The result in a document of ``takt check --json``."""
    verdict = document["verdict"]
    fixes = [
        Fix(what=fix["what"], how=fix["how"], gain=fix["gain"], kind=fix["kind"], id=fix["id"]) for fix in verdict.get("fixes", [])
    ]
    return CheckResult(verdict["answer"], verdict["says"], fixes, verdict["does_not_say"], document["run"], document)
