"""The program ``takt``, which checks and keeps runs: this package calls it, and reads its JSON."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
from typing import Any, List, Optional, Sequence, Union

from ._errors import ProgramError

Path = Union[str, "os.PathLike[str]"]

#: How long an interrupted program may take to clean up, in seconds.
_CLEAN_UP_S = 30.0


def path_of(program: Optional[Path]) -> str:
    """The program: the one given, that of the variable ``TAKT_PROGRAM``, or the one in ``PATH``."""
    wanted = os.fspath(program) if program is not None else os.environ.get("TAKT_PROGRAM") or "takt"
    found = shutil.which(wanted)
    if found is None:
        raise ProgramError(
            f"there is no program {wanted}",
            "checks and runs are the work of the program takt, which this package does not contain",
            "install takt (docs/how-to/install.md), or give its path: program=, or the variable TAKT_PROGRAM",
        )
    return found


def output_of(program: Optional[Path], arguments: Sequence[str], good: Sequence[int] = (0,)) -> str:
    """Runs the program, without a shell, and returns what it printed. Ctrl-C ends it in good order."""
    command: List[str] = [path_of(program), *arguments]
    # A group of its own: Ctrl-C reaches it through this program alone, once.
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        output, errors = process.communicate()
    except BaseException:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=_CLEAN_UP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        raise
    if process.returncode not in good:
        raise _failed(arguments, output, errors, process.returncode)
    return output


def json_of(program: Optional[Path], arguments: Sequence[str], good: Sequence[int] = (0,)) -> Any:
    """Runs the program with ``--json``, and returns its document. A document that says why it failed is an exception."""
    output = output_of(program, [*arguments, "--json"], [*good, 2])
    document = _document(output)
    if document is None or (isinstance(document, dict) and set(document) == {"error", "why", "fix"}):
        raise _failed(arguments, output, "takt printed no JSON", 2)
    return document


def _document(output: str) -> Any:
    try:
        return json.loads(output)
    except ValueError:
        return None


def _failed(arguments: Sequence[str], output: str, errors: str, code: int) -> ProgramError:
    document = _document(output)
    if isinstance(document, dict) and "error" in document:
        return ProgramError(document["error"], ": ".join(document.get("why", [])) or None, document.get("fix"))
    return ProgramError(f"takt {' '.join(arguments)} ended with {code}", errors.strip()[-2000:] or None, None)
