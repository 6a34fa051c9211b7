"""Values as TOML, for scene and waveform files that are made in Python."""

from __future__ import annotations

import json
from typing import Any, Mapping


def lines(keys: Mapping[str, Any]) -> str:
    """A line for each key."""
    return "".join(f"{text(key)} = {value(item)}\n" for key, item in keys.items())


def value(item: Any) -> str:
    """A value."""
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, (int, float)):
        return repr(item)
    if isinstance(item, Mapping):
        return "{" + ", ".join(f"{text(key)} = {value(inner)}" for key, inner in item.items()) + "}"
    if isinstance(item, (list, tuple)):
        return "[" + ", ".join(map(value, item)) + "]"
    return text(str(item))


def text(string: str) -> str:
    """A string, quoted."""
    return json.dumps(string, ensure_ascii=False).replace("\x7f", "\\u007f")
