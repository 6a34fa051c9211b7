"""Emulated radios: what a test starts, asks and stops."""

from __future__ import annotations

import json
import os
import time
import weakref
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Type, Union

import numpy as np
import numpy.typing as npt

from . import _takt, _toml
from ._errors import IncompleteError, NotSentError, OptionError

__all__ = ["Air", "Burst", "Counts", "EmulatedRadio", "air", "emulate"]

#: How long ``received`` waits between two looks, in seconds.
_PAUSE_S = 0.01


@dataclass(frozen=True, eq=False)
class Burst:
    """Samples that the program under test sent without a gap. A change of frequency or rate begins another one."""

    #: Time of the radio at the first sample, as the program has set it, in ticks of ``clock_hz``. Exact.
    tick: int
    #: Ticks in a second.
    clock_hz: int
    #: The radio frequency of 0 Hz, in Hz.
    frequency: float
    #: Samples a second.
    rate: float
    #: complex64; full scale is 1.
    samples: npt.NDArray[np.complex64]
    #: All of it has left: nothing more will be added.
    complete: bool

    @property
    def time(self) -> float:
        """Time of the radio at the first sample, in seconds."""
        return self.tick / self.clock_hz

    @property
    def end(self) -> float:
        """Time of the radio at which a further sample would have followed, in seconds."""
        return self.time + len(self.samples) / self.rate

    def __len__(self) -> int:
        return len(self.samples)

    def __repr__(self) -> str:
        rest = "" if self.complete else ", not complete"
        return (
            f"<Burst of {len(self.samples)} samples at {self.time:.9f} s, "
            f"{self.frequency / 1e6:.6f} MHz, {self.rate / 1e6:.6f} MS/s{rest}>"
        )


@dataclass(frozen=True)
class Counts:
    """Counts of a radio since it was started, all its channels together."""

    #: Packets and samples that it sent to the program: what was received.
    rx_packets: int
    rx_samples: int
    #: UHD's ``O``: the program was too slow to take samples, and the radio stopped.
    overruns: int
    #: Stream commands whose time had passed.
    late_commands: int
    #: Packets and samples that the program sent, and bursts that began.
    tx_packets: int
    tx_samples: int
    bursts: int
    #: UHD's ``U``: a burst ran out of samples.
    underruns: int
    #: UHD's ``L``: packets whose time had passed, which were not sent.
    late_packets: int
    #: UHD's ``S``: packets that were lost on the way or came in another order.
    sequence_errors: int
    #: Packets that were not sent, after any of these errors.
    dropped_packets: int
    #: How often each fault struck, by its text.
    faults: Dict[str, int]
    #: Datagrams that the emulated radio itself sent too late, so that a hardware radio might have done better.
    emulator_late: int
    #: All that ``takt emulate --json`` says of the radio.
    report: Dict[str, Any] = field(repr=False)

    @property
    def errors(self) -> int:
        """Overruns, underruns, late commands and packets, and sequence errors together."""
        return self.overruns + self.underruns + self.late_commands + self.late_packets + self.sequence_errors

    def __str__(self) -> str:
        faults = "".join(f", {text} {count} times" for text, count in self.faults.items())
        return (
            f"received {self.rx_samples} samples, {self.overruns} overruns, {self.late_commands} late commands; "
            f"sent {self.tx_samples} samples in {self.bursts} bursts, {self.underruns} underruns, "
            f"{self.late_packets} late packets, {self.sequence_errors} sequence errors{faults}"
        )


class _Stops:
    """Radios that stop at the end of a ``with`` block, at ``stop()``, or with the program."""

    def __init__(self, native: _takt.Radios) -> None:
        self._native = native
        self._finalizer = weakref.finalize(self, _stop_quietly, native)

    def stop(self) -> None:
        """Stops the radios. Bursts and counts can still be asked for. Further calls do nothing."""
        if self._finalizer.detach() is not None:
            self._native.stop()

    @property
    def running(self) -> bool:
        """Whether they still run."""
        return self._native.is_running()

    def wait(self) -> None:
        """Lets them run until Ctrl-C, for a radio that is to serve a program in another terminal."""
        try:
            while self.running:
                time.sleep(0.1)
        except KeyboardInterrupt:
            pass
        self.stop()

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        # An error of the block is the one to be seen.
        if kind is None:
            self.stop()
        elif self._finalizer.detach() is not None:
            _stop_quietly(self._native)


def _stop_quietly(native: _takt.Radios) -> None:
    try:
        native.stop()
    except Exception:
        pass


class EmulatedRadio(_Stops):
    """An emulated USRP that runs on threads of its own. ``takt.emulate`` starts it."""

    def __init__(self, native: _takt.Radios, number: int = 0, name: Optional[str] = None) -> None:
        super().__init__(native)
        if name is not None:
            # One of an air, which stops them all.
            self._finalizer.detach()
        self._number = number
        self._model, self._addr = native.addrs[number]
        self._name = name

    def __enter__(self) -> "EmulatedRadio":
        return self

    @property
    def model(self) -> str:
        """``n200`` or ``x310``."""
        return self._model

    @property
    def name(self) -> Optional[str]:
        """Its name in an air; None elsewhere."""
        return self._name

    @property
    def addr(self) -> str:
        """Its IPv4 address."""
        return self._addr

    @property
    def args(self) -> str:
        """Device arguments for UHD, GNU Radio and SoapySDR: ``addr=127.x.y.z``."""
        return f"addr={self._addr}"

    def received(self, channel: int = 0, *, bursts: Optional[int] = None, timeout: float = 30.0) -> List[Burst]:
        """The bursts that the program under test has sent so far.

        ``channel`` is the transmitter (an X310 has 0 and 1). With ``bursts`` this waits until so many have left to their end, at
        most ``timeout`` seconds of this host; then it fails with ``NotSentError``. If more was sent than is kept
        (``keep_samples``), it fails with ``IncompleteError``.
        """
        if bursts is not None:
            self._await(channel, bursts, timeout)
        sent, missing = self._native.sent(self._number, channel)
        if missing:
            raise IncompleteError(
                f"{missing} samples that were sent are not kept",
                "a radio keeps what is sent up to a limit, to bound its memory",
                "give keep_samples=, or call forget() between parts of a test",
            )
        return [
            Burst(tick, clock_hz, frequency, clock_hz / step, samples, complete)
            for tick, clock_hz, step, frequency, samples, complete in sent
        ]

    def _await(self, channel: int, bursts: int, timeout: float) -> None:
        until = time.monotonic() + timeout
        while True:
            have = self._native.complete_bursts(self._number, channel)
            if have >= bursts:
                return
            if time.monotonic() >= until or not self.running:
                counts = self.counts()
                raise NotSentError(
                    f"{have} of {bursts} bursts were sent within {timeout:g} s",
                    f"the radio {counts}",
                    "look at the program under test; give timeout= if it needs longer",
                )
            time.sleep(_PAUSE_S)

    def forget(self, channel: int = 0) -> None:
        """Forgets the bursts that were sent to their end, so that ``received`` begins anew."""
        self._native.forget(self._number, channel)

    def counts(self) -> Counts:
        """Its counts since it was started."""
        report = json.loads(self._native.summary())["devices"][self._number]
        rx = report["rx"]
        tx = report["tx"] if isinstance(report["tx"], list) else [report["tx"]]

        def total(parts: Sequence[Mapping[str, int]], key: str) -> int:
            return sum(part[key] for part in parts)

        return Counts(
            rx_packets=total(rx, "packets"),
            rx_samples=total(rx, "samples"),
            overruns=total(rx, "overflows"),
            late_commands=total(rx, "late"),
            tx_packets=total(tx, "packets"),
            tx_samples=total(tx, "samples"),
            bursts=total(tx, "bursts"),
            underruns=total(tx, "underflows"),
            late_packets=total(tx, "late"),
            sequence_errors=total(tx, "sequence_errors"),
            dropped_packets=total(tx, "dropped_packets"),
            faults=dict(report["faults"]),
            emulator_late=report["lag"]["over_limit"],
            report=report,
        )

    def __repr__(self) -> str:
        state = "" if self.running else ", stopped"
        return f"<{self._model} at {self._addr}{state}>"


class Air(_Stops, Mapping[str, EmulatedRadio]):
    """Emulated radios that receive each other, by their names. ``takt.air`` starts them."""

    def __init__(self, native: _takt.Radios, names: Sequence[str]) -> None:
        super().__init__(native)
        self._radios = {name: EmulatedRadio(native, number, name) for number, name in enumerate(names)}

    def __enter__(self) -> "Air":
        return self

    def __getitem__(self, name: str) -> EmulatedRadio:
        return self._radios[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._radios)

    def __len__(self) -> int:
        return len(self._radios)

    def __repr__(self) -> str:
        return f"<air of {', '.join(map(repr, self._radios.values()))}>"


def emulate(model: str = "n200", **options: Any) -> EmulatedRadio:
    """Starts an emulated radio, ``n200`` or ``x310``, at a free loopback address.

    The options are those of ``takt emulate``: ``source``, ``sink``, ``faults``, ``speed``, ``board`` and so on. It runs until the
    end of a ``with`` block, ``stop()``, or the end of the program.
    """
    return EmulatedRadio(_takt.emulate(model, options))


#: A link of an air: (from, to), or a mapping with the keys of a scene file.
Link = Union[Tuple[str, str], Mapping[str, Any]]


def air(
    radios: Union[str, "os.PathLike[str]", Mapping[str, Union[str, Mapping[str, Any]]]],
    links: Sequence[Link] = (),
    *,
    seed: Optional[int] = None,
    latency_us: Optional[int] = None,
    **options: Any,
) -> Air:
    """Starts radios that receive each other.

    ``radios`` is the path of a scene file, or maps names to a model (``"n200"``) or to the keys of a radio in such a file
    (``{"model": "n200", "source": "silence"}``). ``links`` names who is received by whom. A radio without ``addr`` gets a free
    loopback address. ``options`` are those of all radios: ``speed``, ``engine``, ``keep_samples`` and so on.
    """
    if isinstance(radios, (str, os.PathLike)):
        given = {"links": links, "seed": seed, "latency_us": latency_us}
        for option, value in given.items():
            if value:
                raise OptionError(f"{option}: the scene file sets it", None, f"write {option} into the file", option, repr(value))
        path = os.fspath(radios)
        with open(path, encoding="utf-8") as file:
            scene = file.read()
        native = _takt.air(scene, path, [], options)
        return Air(native, _names(native))
    scene, free = _scene(radios, links, seed, latency_us)
    native = _takt.air(scene, None, free, options)
    return Air(native, list(radios))


def _names(native: _takt.Radios) -> List[str]:
    return [device["name"] for device in json.loads(native.summary())["devices"]]


def _scene(
    radios: Mapping[str, Union[str, Mapping[str, Any]]],
    links: Sequence[Link],
    seed: Optional[int],
    latency_us: Optional[int],
) -> Tuple[str, List[int]]:
    """The same as a scene file, and the numbers of the radios without an address."""
    head = {key: value for key, value in {"seed": seed, "latency_us": latency_us}.items() if value is not None}
    tables, free = [_toml.lines(head)], []
    for number, (name, radio) in enumerate(radios.items()):
        keys: Dict[str, Any] = {"name": name, **({"model": radio} if isinstance(radio, str) else radio)}
        if "addr" not in keys:
            free.append(number)
            keys["addr"] = f"127.0.0.{number % 254 + 1}"
        tables.append("[[radio]]\n" + _toml.lines(keys))
    for link in links:
        keys = dict(link) if isinstance(link, Mapping) else dict(zip(("from", "to"), link))
        tables.append("[[link]]\n" + _toml.lines(keys))
    return "\n".join(tables), free

