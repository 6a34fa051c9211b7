"""Tables as frames of pandas or Polars, whichever is there."""

from __future__ import annotations

import importlib
import importlib.util
import io
from typing import Any, Dict, List, Optional, Sequence

from ._errors import MissingError, OptionError

#: In the order in which they are looked for.
_LIBRARIES = ("pandas", "polars")


def library(name: Optional[str]) -> Any:
    """The module of this name, or the first that is installed."""
    if name is not None and name not in _LIBRARIES:
        raise OptionError(f"frames: {name!r} is not a library of frames", None, "give 'pandas' or 'polars'", "frames", repr(name))
    for wanted in _LIBRARIES if name is None else (name,):
        if importlib.util.find_spec(wanted) is not None:
            return importlib.import_module(wanted)
    missing = name or "pandas or polars"
    raise MissingError(f"{missing} is not installed", "tables are frames of pandas or Polars", f"pip install {name or 'pandas'}")


def of_csv(text: str, frames: Optional[str]) -> Any:
    """The frame of a table in CSV."""
    made = library(frames)
    if made.__name__ == "polars":
        # The types follow from all rows: a column may be empty at first.
        return made.read_csv(io.StringIO(text), infer_schema_length=None)
    return made.read_csv(io.StringIO(text))


def of_rows(rows: List[Dict[str, Any]], frames: Optional[str], columns: Sequence[str]) -> Any:
    """The frame of rows. ``columns``: those that are there even without a row, at the end."""
    made = library(frames)
    names = list(dict.fromkeys([*(name for row in rows for name in row if name not in columns), *columns]))
    whole = {name: [row.get(name) for row in rows] for name in names}
    return made.DataFrame(whole, strict=False) if made.__name__ == "polars" else made.DataFrame(whole)


def matplotlib() -> Any:
    """``matplotlib.pyplot``."""
    if importlib.util.find_spec("matplotlib") is None:
        raise MissingError("matplotlib is not installed", "figures are Matplotlib's", "pip install matplotlib")
    return importlib.import_module("matplotlib.pyplot")
