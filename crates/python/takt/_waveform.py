"""Waveforms: build, run, and components in Python."""

from __future__ import annotations

import functools
import json
import os
import threading
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union, overload

import numpy as np
import numpy.typing as npt

from . import _takt, _toml
from ._errors import ComponentError, OptionError, WaveformError

__all__ = ["Component", "NativeComponent", "Report", "Waveform", "component", "components"]

Array = npt.NDArray[Any]

#: Types of items, as NumPy has them. An item of ``c16`` is a row of two, I and Q.
_DTYPES: Dict[str, Any] = {
    "bit": np.uint8,
    "byte": np.uint8,
    "i16": np.int16,
    "c16": np.int16,
    "f32": np.float32,
    "c32": np.complex64,
    "llr": np.int8,
}


def _items_of(raw: npt.NDArray[np.uint8], item: str) -> Array:
    array: Array = raw.view(_DTYPES[item])
    return array.reshape(-1, 2) if item == "c16" else array


def _bytes_of(array: Any, item: str) -> npt.NDArray[np.uint8]:
    given = np.asarray(array)
    dimensions = 2 if item == "c16" else 1
    if given.ndim != dimensions or (item == "c16" and given.shape[1] != 2):
        shape = "rows of two integers" if item == "c16" else "one dimension"
        raise TypeError(f"an array of {item} has {shape}, but this one has the shape {given.shape}")
    if item not in ("c16", "c32") and np.iscomplexobj(given):
        raise TypeError(f"an array of {item} is real, but this one is complex")
    return np.ascontiguousarray(given, _DTYPES[item]).reshape(-1).view(np.uint8)


class Component:
    """A function on arrays that can be a component of a waveform. ``takt.component`` makes one; calling it calls the function."""

    def __init__(
        self,
        function: Callable[[Any], Any],
        input: Optional[str] = "c32",
        output: Optional[str] = "c32",
        items: Optional[int] = None,
        delay: Optional[int] = None,
    ) -> None:
        for option, item in (("input", input), ("output", output)):
            if item is not None and item not in _DTYPES:
                message = f"{option}: {item!r} is not a type of items"
                raise OptionError(message, None, f"give one of {', '.join(_DTYPES)}, or None", option, repr(item))
        if input is None and output is None:
            raise OptionError("a component needs an input or an output", None, "give input=\"c32\"", "input", "None")
        functools.update_wrapper(self, function)
        self.function = function
        self.input = input
        self.output = output
        self.items = items
        self.delay = delay

    def __call__(self, samples: Any) -> Any:
        return self.function(samples)

    def __repr__(self) -> str:
        return f"<component {getattr(self.function, '__name__', 'in Python')}: {self.input} to {self.output}>"


@overload
def component(function: Callable[[Any], Any]) -> Component: ...


@overload
def component(
    *,
    input: Optional[str] = "c32",
    output: Optional[str] = "c32",
    items: Optional[int] = None,
    delay: Optional[int] = None,
) -> Callable[[Callable[[Any], Any]], Component]: ...


def component(function: Optional[Callable[[Any], Any]] = None, **options: Any) -> Any:
    """Makes a component of a function on arrays.

    The function gets the packet of a slot as an array, and returns an array. Without an input it gets the number of the slot.
    ``input`` and ``output``: types of items (``"c32"``, ``"f32"``, ``"i16"``, ``"c16"``, ``"bit"``, ``"byte"``, ``"llr"``), or None
    for none. ``items``: the most that it returns in a slot; without it, as many as it gets. ``delay``: slots until its answer
    leaves; without it, 20 ms.
    """
    if function is not None:
        return Component(function, **options)
    return lambda wrapped: Component(wrapped, **options)


@dataclass(frozen=True)
class Report:
    """What a run found."""

    #: No slot was missed, no packet broken or dropped.
    clean: bool
    #: Slots that each component went through.
    slots: int
    #: Slots of components that were missed.
    misses: int
    #: Hash of what the sinks received: the same for any number of workers.
    output_hash: Optional[str]
    #: By name: what ``takt run --json`` says of each component, its ``results`` included.
    components: Dict[str, Dict[str, Any]] = field(repr=False)
    #: All that ``takt run --json`` says of a run.
    raw: Dict[str, Any] = field(repr=False)

    def results(self, name: str) -> Dict[str, Any]:
        """The results of a component. Those of one in Python count what it lost."""
        results: Dict[str, Any] = self.components[name]["results"]
        return results


class Waveform:
    """A waveform: components, and links between them. Build it here, or read a file with ``Waveform.load``."""

    def __init__(self, name: str, slot: str = "1 ms") -> None:
        """``slot``: the length of a slot, with its unit."""
        self._file = f"<{name}>"
        self._text = _toml.lines({"name": name, "slot": slot})
        self._tables: List[str] = []
        self._python: Dict[int, Tuple[str, Component]] = {}
        self._halts: List[_takt.Halt] = []

    @classmethod
    def load(cls, path: Union[str, "os.PathLike[str]"]) -> "Waveform":
        """Reads a waveform file. Components and links may be added."""
        waveform = cls("file")
        waveform._file = os.fspath(path)
        with open(path, encoding="utf-8") as file:
            waveform._text = file.read().rstrip("\n") + "\n"
        return waveform

    def add(self, name: str, kind: Union[str, Component, Callable[[Any], Any]], **params: Any) -> "Waveform":
        """Adds a component: a type of takt's (``takt.components()`` lists all) with its parameters, or one in Python."""
        keys: Dict[str, Any] = {}
        if isinstance(kind, str):
            keys = {"type": kind, **params}
        else:
            made = kind if isinstance(kind, Component) else Component(kind)
            call = len(self._python)
            self._python[call] = (name, made)
            keys = {"type": "python", "call": call, "input": made.input or "none", "output": made.output or "none"}
            keys.update({"items": made.items} if made.items is not None else {})
            keys.update({"delay": made.delay} if made.delay is not None else {})
            # Such as on_miss and budget, which all components have.
            keys.update(params)
        self._tables.append(f"[component.{_toml.text(name)}]\n" + _toml.lines(keys))
        return self

    def link(self, start: str, end: str, delay: int = 0) -> "Waveform":
        """Links an output (``"component.port"``, or ``"component"`` where it has one) to an input."""
        self._tables.append("[[link]]\n" + _toml.lines({"from": start, "to": end, "delay": delay}))
        return self

    def chain(self, *names: str) -> "Waveform":
        """Links each component to the next."""
        for start, end in zip(names, names[1:]):
            self.link(start, end)
        return self

    @property
    def text(self) -> str:
        """The waveform file. One with components in Python runs in this program only."""
        return "\n".join([self._text, *self._tables])

    def run(
        self,
        slots: Optional[int] = None,
        *,
        clock: str = "wall",
        set: Optional[Mapping[str, Any]] = None,
        cores: Sequence[int] = (),
        workers: Optional[Mapping[str, int]] = None,
        priority: Optional[int] = None,
        slot: Optional[float] = None,
    ) -> Report:
        """Runs it, for a number of slots or until ``stop()``, and returns what it found. Ctrl-C ends it without a report.

        ``clock``: ``"wall"`` begins each slot in time; ``"free"`` begins it when the last has ended, so that nothing is late or
        lost. ``set``: parameters to change, ``{"channel.ebn0_db": 7.0}``. ``workers``: numbers of the workers of components that do
        not run on worker 0. ``cores``: a core for each worker. ``priority``: of ``SCHED_FIFO``; without it, 50 if the host grants
        it under a clock, and 0 asks for none. ``slot``: another length of a slot, in seconds.
        """
        if clock not in ("wall", "free"):
            raise OptionError(f"clock: {clock!r} is not a clock", None, "give 'wall' or 'free'", "clock", repr(clock))
        for option, value, least, most in (("slots", slots, 1, 2**62), ("priority", priority, 0, 99)):
            if value is not None and (not isinstance(value, int) or not least <= value <= most):
                fix = f"give {option} from {least} to {most}"
                raise OptionError(f"{option}: {value!r} is out of range", None, fix, option, repr(value))
        for option, numbers in (("cores", list(cores)), ("workers", list((workers or {}).values()))):
            if not all(isinstance(number, int) and 0 <= number < 2**31 for number in numbers):
                message = f"{option}: {numbers!r} are not numbers of {option}"
                raise OptionError(message, None, f"give whole numbers from 0 in {option}=", option, repr(numbers))
        options = {
            "slots": slots,
            "clock": clock,
            "cores": list(cores),
            "workers": dict(workers or {}),
            "priority": priority,
            "changes": [f"{name}={_written(value)}" for name, value in (set or {}).items()],
            "slot": slot,
        }
        halt = _takt.Halt()
        calls = {call: _Calls(name, made, halt) for call, (name, made) in self._python.items()}
        lines = {call: one.line for call, one in calls.items()}
        self._halts.append(halt)
        try:
            for one in calls.values():
                one.thread.start()
            raw = json.loads(_takt.run_waveform(self.text, self._file, options, lines, halt))
            # Packets that still wait are executed: a sink gets all that was given to it.
            for one in calls.values():
                one.end()
        finally:
            self._halts.remove(halt)
            for one in calls.values():
                one.line.close()
        for one in calls.values():
            one.check()
        named = {entry["name"]: entry for entry in raw["components"]}
        return Report(raw["clean"], raw["slots"], raw["misses"], raw["output_hash"], named, raw)

    def stop(self) -> None:
        """Ends all runs of it in good order: each returns its report. Call it from another thread, or from a component in Python."""
        for halt in list(self._halts):
            halt.request()

    def __repr__(self) -> str:
        return f"<Waveform {self._file}>"


def _written(value: Any) -> str:
    """A value as the command line has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


class _Calls:
    """The thread that executes a component in Python: its packets wait for it, and nobody else does."""

    def __init__(self, name: str, made: Component, halt: _takt.Halt) -> None:
        self.line = _takt.Line()
        self.thread = threading.Thread(target=self._execute, name=f"takt {name}", daemon=True)
        self._name = name
        self._made = made
        self._halt = halt
        self._error: Optional[BaseException] = None

    def _execute(self) -> None:
        try:
            while (packet := self.line.take()) is not None:
                slot, raw = packet
                given = slot if self._made.input is None else _items_of(raw, self._made.input)
                answer = self._made.function(given)
                if self._made.output is not None:
                    empty: Any = np.empty((0, 2) if self._made.output == "c16" else 0, _DTYPES[self._made.output])
                    self.line.give(slot, _bytes_of(empty if answer is None else answer, self._made.output))
        except BaseException as error:
            self._error = error
            self._halt.request()
        finally:
            self.line.close()

    def end(self) -> None:
        """Waits until all that was given is executed."""
        # In steps, so that Ctrl-C works.
        while self.thread.is_alive():
            self.thread.join(0.1)

    def check(self) -> None:
        """Raises what the function raised."""
        if self._error is not None:
            kind = type(self._error).__name__
            raise ComponentError(
                f"component {self._name} ended with {kind}: {self._error}",
                "its function in Python raised an exception, and the run was stopped",
                None,
            ) from self._error


class NativeComponent:
    """One of takt's components as a function on arrays. Each call is a slot; what the component remembers, it keeps."""

    def __init__(self, kind: str, *, longest: int = 65536, **params: Any) -> None:
        """``longest``: items of the longest array that it is given."""
        self._native = _takt.SingleComponent(kind, params, longest)
        self._kind = kind
        self._inputs, self._outputs = self._native.ports()

    def __call__(self, *arrays: npt.ArrayLike) -> Any:
        """An array for each input; returns that of the output, or a tuple of several. An output without a packet is None."""
        if len(arrays) != len(self._inputs):
            names = ", ".join(f"{name} ({item})" for name, item in self._inputs) or "none"
            raise WaveformError(f"{self._kind} has {len(self._inputs)} inputs, but got {len(arrays)} arrays", None, f"give one array for each input: {names}")
        try:
            packets = [_bytes_of(array, item) for array, (_, item) in zip(arrays, self._inputs)]
        except TypeError as error:
            raise WaveformError(f"{self._kind} can't take this array", str(error), None) from None
        answers = self._native.execute(packets)
        given = [None if raw is None else _items_of(raw, item) for raw, (_, item) in zip(answers, self._outputs)]
        return given[0] if len(given) == 1 else tuple(given)

    def results(self) -> Dict[str, Any]:
        """Its results so far."""
        results: Dict[str, Any] = json.loads(self._native.results())
        return results

    def __repr__(self) -> str:
        return f"<takt component {self._kind}>"


def components() -> Dict[str, Dict[str, Any]]:
    """All types of components by name: a sentence about each, and its parameters."""
    return {kind["name"]: kind for kind in json.loads(_takt.component_types())}
