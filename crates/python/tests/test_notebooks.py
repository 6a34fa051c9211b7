"""Each notebook runs from its first cell to its last, in a Python of its own."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


def cells(path):
    """The code of each cell."""
    notebook = json.loads(path.read_text())
    assert notebook["nbformat"] == 4
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_there_are_five_and_none_has_stale_output():
    assert len(NOTEBOOKS) == 5
    for path in NOTEBOOKS:
        code = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
        assert not any(cell["outputs"] for cell in code), path
        assert any("assert " in "".join(cell["source"]) for cell in code), f"{path} checks nothing"


@pytest.mark.needs("matplotlib", "pandas")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, takt_program, tmp_path):
    run_cells(cells(path), tmp_path)


@pytest.mark.needs("matplotlib")
def test_ten_lines_of_the_documentation_receive_and_plot_a_spectrum(tmp_path):
    page = Path(__file__).parents[3] / "docs" / "how-to" / "use-takt-from-python.md"
    example = next(block for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL) if "plt.plot" in block)
    assert len([line for line in example.splitlines() if line.strip()]) <= 10
    # The tone is where it was made.
    check = "\nassert abs(np.fft.fftshift(np.fft.fftfreq(8192, 1e-6))[np.abs(spectrum).argmax()] - 100e3) < 500\n"
    run_cells([example + check], tmp_path)
    assert (tmp_path / "spectrum.png").read_bytes().startswith(b"\x89PNG")


def run_cells(code, folder):
    """Runs them in a Python of their own. They share their names, as in a kernel, and a traceback names the cell."""
    script = "import json, sys\nscope = {'__name__': '__main__'}\n" + (
        "for number, code in enumerate(json.load(sys.stdin), 1):\n    exec(compile(code, f'cell {number}', 'exec'), scope)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        input=json.dumps(code),
        cwd=folder,
        env={**os.environ, "MPLBACKEND": "Agg", "MPLCONFIGDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
