"""mypy reads the package and a program that uses it."""

import subprocess
import sys

PROGRAM = '''
import numpy as np
import takt

with takt.open("192.168.10.2") as radio:
    tuned: takt.Tuned = radio.tune(915e6)
    with radio.receiver(1e6, gaps="data") as receiver:
        block: takt.Block = receiver.receive(100)
        lost = block.gap.lost if block.gap else 0
        reveal_type(block.time)

@takt.component
def gain(samples: "np.ndarray[tuple[int], np.dtype[np.complex64]]") -> object:
    return 2 * samples

report: takt.Report = takt.Waveform("x").add("gain", gain).run(10)
reveal_type(takt.check(quick=True).holds)
takt.open(addr=3, frce=True)
'''


def test_a_program_is_checked_by_the_types(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    lines = done.stdout.splitlines()
    errors = [line for line in lines if " error: " in line]
    assert len(errors) == 1 and 'keyword argument "frce"' in errors[0], done.stdout + done.stderr
    assert sum("note: Revealed type" in line for line in lines) == 2


def test_the_package_itself_is_consistent(tmp_path):
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "-p", "takt"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_page_names_all_that_is_public():
    import inspect
    from pathlib import Path

    import takt

    page = (Path(__file__).parents[3] / "docs" / "reference" / "python.md").read_text()
    names = [name for name in [*takt.__all__, "open"] if name not in page]
    methods = [
        f"{kind.__name__}.{name}"
        for kind in (takt.Radio, takt.Receiver, takt.Transmitter, takt.Waveform, takt.Run, takt.NativeComponent)
        for name, _ in inspect.getmembers(kind)
        if not name.startswith("_") and name not in page
    ]
    assert (names, methods) == ([], [])
