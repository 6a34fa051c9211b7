"""Radios: find them, open them, receive into arrays and send from arrays."""

from __future__ import annotations

import json
import math
import weakref
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _takt
from ._errors import GapError, NotReceivedError, OptionError

__all__ = ["Block", "FoundRadio", "Gap", "Radio", "Receiver", "Transmitter", "Tuned", "TxEvent", "find", "open"]

Samples = npt.NDArray[np.complex64]

#: How long samples may be late, in seconds of this host, before ``receive`` gives up.
_PATIENCE_S = 2.0

#: UHD's letters, and why each happens.
_GAPS = {
    "overflow": ("O", "the radio had no room left: this program read too slowly, and the radio started again"),
    "dropped": ("D", "packets were lost between the radio and this program"),
    "late": ("L", "the time at which the stream was to begin had passed when the command reached the radio"),
    "broken_chain": ("", "a chained command came too late"),
    "retimed": ("", "the radio's clock was set while it streamed"),
    "unmeasured": ("O", "samples are missing, and the radio does not say how many"),
    "unknown": ("", "the radio sent a message that takt has no name for"),
}


@dataclass(frozen=True)
class FoundRadio:
    """A radio that answered."""

    #: Its IP address: give it to ``takt.open``.
    addr: str
    #: Its product, such as ``N210r4``; None if it did not say.
    model: Optional[str]
    serial: Optional[str]
    name: Optional[str]
    #: ``free``, ``in_use`` or ``unsuitable``.
    state: str
    #: Why it is unsuitable.
    why: Optional[str]
    #: All that ``takt find --json`` says of it.
    raw: Dict[str, Any] = field(repr=False)


@dataclass(frozen=True)
class Gap:
    """Samples that are missing behind a block."""

    #: ``overflow``, ``dropped``, ``late``, ``broken_chain``, ``retimed``, ``unmeasured`` or ``unknown``.
    kind: str
    #: UHD's letter: ``O``, ``D``, ``L``, or nothing.
    letter: str
    #: Samples of each channel that are missing; None if nobody can say.
    lost: Optional[int]
    #: The channel that told of it.
    channel: Optional[int]

    def __str__(self) -> str:
        return "an unknown number of samples" if self.lost is None else f"{self.lost} samples"


@dataclass(frozen=True, eq=False)
class Block:
    """Samples without a gap."""

    #: complex64, full scale 1: one dimension for one channel, else a row a channel.
    samples: Samples
    #: Time of the radio at the first sample, in ticks of ``clock_hz``. Exact.
    tick: int
    #: Ticks in a second.
    clock_hz: int
    #: Samples a second.
    rate: float
    #: The gap behind this block; None if there is none.
    gap: Optional[Gap] = None
    #: The burst that was asked for ends with this block.
    ended: bool = False

    @property
    def time(self) -> float:
        """Time of the radio at the first sample, in seconds."""
        return self.tick / self.clock_hz

    @property
    def end(self) -> float:
        """Time of the radio at which a further sample would have followed, in seconds."""
        return self.time + len(self) / self.rate

    def __len__(self) -> int:
        return int(self.samples.shape[-1])

    def __repr__(self) -> str:
        rest = "" if self.gap is None else f", then {self.gap} missing"
        return f"<Block of {len(self)} samples at {self.time:.9f} s, {self.rate / 1e6:.6f} MS/s{rest}>"


@dataclass(frozen=True)
class Tuned:
    """How a radio was tuned, in Hz."""

    #: The radio frequency of 0 Hz of the samples.
    frequency: float
    #: The frequency of the oscillator.
    oscillator: float
    #: How far the DSP shifts the samples.
    shift: float


@dataclass(frozen=True)
class TxEvent:
    """A report of the radio about what it was sent."""

    #: ``burst_ack``, ``underrun`` (UHD's U), ``late`` (L), ``sequence_error`` (S) or ``unknown``.
    kind: str
    channel: int
    #: When, in ticks of ``clock_hz``.
    tick: int
    clock_hz: int

    @property
    def time(self) -> float:
        """When, in seconds of the radio."""
        return self.tick / self.clock_hz


class _Closes:
    """Something native that closes at the end of a ``with`` block, at ``close()``, or with the program."""

    _native: Any

    def _keep(self, native: Any) -> None:
        self._native = native
        self._finalizer = weakref.finalize(self, _close_quietly, native)

    def close(self) -> None:
        """Closes it. Further calls do nothing."""
        self._finalizer.detach()
        self._native.close()

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        return bool(self._native.is_closed())

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        # An error of the block is the one to be seen.
        if kind is None:
            self.close()
        else:
            self._finalizer.detach()
            _close_quietly(self._native)


def _close_quietly(native: Any) -> None:
    try:
        native.close()
    except Exception:
        pass


class _Stream(_Closes):
    """One direction of a radio."""

    def __init__(self, radio: "Radio", native: Any) -> None:
        # The streams of a radio end with it, so each keeps it.
        self._radio = radio
        self._keep(native)
        # Asked for in each call.
        self._rate, self._clock_hz, self._speed = float(native.rate_sps), int(native.clock_hz), float(native.speed)

    @property
    def rate(self) -> float:
        """Samples a second on each channel, exactly."""
        return self._rate

    @property
    def channels(self) -> int:
        """Number of channels."""
        return int(self._native.channels)

    @property
    def clock_hz(self) -> int:
        """Ticks of the radio's clock in a second."""
        return self._clock_hz

    @property
    def ticks_per_sample(self) -> int:
        """Ticks from one sample to the next."""
        return int(self._native.ticks_per_sample)

    def counts(self) -> Dict[str, Any]:
        """What the stream counted since it was made. Samples are per channel."""
        counts: Dict[str, Any] = json.loads(self._native.stats())
        return counts

    def _tick(self, time: Optional[float], tick: Optional[int]) -> Optional[int]:
        return _tick(time, tick, self.clock_hz)


class Receiver(_Stream):
    """Samples coming in. ``Radio.receiver`` makes one."""

    def __init__(self, radio: "Radio", native: Any, gaps: str) -> None:
        if gaps not in ("raise", "data"):
            raise OptionError(f"gaps: {gaps!r} is not a way to treat gaps", None, "give 'raise' or 'data'", "gaps", repr(gaps))
        super().__init__(radio, native)
        self._raises = gaps == "raise"
        self._started = False
        self._burst = False

    def __enter__(self) -> "Receiver":
        return self

    def start(self, samples: Optional[int] = None, *, time: Optional[float] = None, tick: Optional[int] = None) -> None:
        """Starts at a time of the radio, or at once: ``samples`` samples of each channel, or without an end."""
        at = self._tick(time, tick)
        if samples is None:
            self._native.start(at)
        else:
            self._native.burst(_count("samples", samples, 2**32 - 1), at)
        self._started, self._burst = True, samples is not None

    def stop(self) -> None:
        """Ends a stream. Samples that are on their way can still be received."""
        self._native.stop()

    def receive(self, samples: int, *, timeout: Optional[float] = None) -> Block:
        """The next ``samples`` samples of each channel, in an array of their own.

        Starts the stream if it was never started. A gap ends the block before it: with ``gaps="raise"`` this raises
        ``GapError``, with ``gaps="data"`` the block is shorter and ``Block.gap`` says what is missing. The next call goes on
        behind the gap. ``timeout``: seconds of this host; without it, as long as the samples take and 2 s.
        """
        out = np.empty((self.channels, _count("samples", samples)), np.complex64)
        return self._receive(out, timeout, self.channels == 1)

    def receive_into(self, out: Samples, *, timeout: Optional[float] = None) -> Block:
        """As ``receive``, into an array of yours: complex64, one dimension for one channel, else a row a channel."""
        if out.dtype != np.complex64 or out.ndim not in (1, 2) or not out.flags.c_contiguous or not out.flags.writeable:
            raise OptionError(
                f"out: the array of {out.dtype} in {out.ndim} dimensions can't be filled",
                "it has to be contiguous, writable, of complex64, and to have a row a channel or one dimension",
                f"give numpy.empty(({self.channels}, 10000), numpy.complex64)",
                "out",
                f"an array of {out.dtype}",
            )
        rows = out.reshape(1, -1) if out.ndim == 1 else out
        _count("out", rows.shape[1])
        return self._receive(rows, timeout, out.ndim == 1)

    def blocks(self, samples: int, *, timeout: Optional[float] = None) -> Iterator[Block]:
        """Blocks of ``samples`` samples, one after the other, until the burst ends or you stop asking."""
        while True:
            block = self.receive(samples, timeout=timeout)
            if len(block) or block.gap is not None:
                yield block
            if block.ended:
                return

    def _receive(self, out: Samples, timeout: Optional[float], flat: bool) -> Block:
        if not self._started:
            self.start()
        wanted, timeout = out.shape[-1], _timeout(timeout)
        patience = wanted / self._rate / self._speed + _PATIENCE_S if timeout is None else timeout
        count, tick, event = self._native.receive(out, patience)
        samples = out[0, :count] if flat else out[:, :count]
        if event is None and count == wanted:
            return Block(samples, tick, self._clock_hz, self._rate)
        kind, channel, lost = event or (None, None, None)
        ended = kind == "end_of_burst"
        gap = None if kind is None or ended else Gap(kind, _GAPS[kind][0], lost, channel)
        block = Block(samples, tick, self._clock_hz, self._rate, gap, ended)
        if gap is not None and self._raises:
            fix = "give gaps=\"data\" to go on; takt check says whether this host keeps up"
            raise GapError(f"a gap behind {block.end:.9f} s: {gap} missing", _GAPS[gap.kind][1], fix, block, gap)
        if count < wanted and event is None:
            fix = "look whether the radio still runs; give timeout= if it begins later"
            raise NotReceivedError(f"{count} of {wanted} samples came within {patience:g} s", None, fix, block)
        return block

    def __repr__(self) -> str:
        return f"<Receiver of {self.channels} channels, {self.rate / 1e6:.6f} MS/s>"


class Transmitter(_Stream):
    """Samples going out. ``Radio.transmitter`` makes one."""

    def __enter__(self) -> "Transmitter":
        return self

    def send(
        self,
        samples: npt.ArrayLike,
        *,
        time: Optional[float] = None,
        tick: Optional[int] = None,
        more: bool = False,
        timeout: Optional[float] = None,
    ) -> int:
        """Sends a burst: its first sample at a time of the radio, or at once. Full scale is 1.

        ``samples`` has one dimension for one channel, else a row a channel. With ``more`` the burst goes on with the next call.
        Returns how many samples of each channel the radio took: fewer than given only after ``timeout`` seconds of this host.
        """
        try:
            array = np.ascontiguousarray(samples, np.complex64)
        except (TypeError, ValueError) as error:
            raise OptionError("samples: no array of complex numbers", str(error), "give an array", "samples", "an object") from None
        if array.ndim not in (1, 2):
            fix = f"give an array of one dimension, or of {self.channels} rows"
            raise OptionError(f"samples: an array of {array.ndim} dimensions can't be sent", None, fix, "samples", "an array")
        rows = array.reshape(1, -1) if array.ndim == 1 else array
        return int(self._native.send(rows, self._tick(time, tick), not more, _timeout(timeout)))

    def event(self, timeout: float = 0.0) -> Optional[TxEvent]:
        """The oldest report of the radio that you have not taken; waits up to ``timeout`` seconds of this host for one."""
        event = self._native.event(_timeout(timeout) or 0.0)
        if event is None:
            return None
        kind, channel, tick = event
        return TxEvent(kind, channel, tick, self.clock_hz)

    def __repr__(self) -> str:
        return f"<Transmitter of {self.channels} channels, {self.rate / 1e6:.6f} MS/s>"


class Radio(_Closes):
    """An N200, N210 or X310 that this program owns until it is closed. ``takt.open`` opens one."""

    _native: _takt.OpenRadio

    def __init__(self, native: _takt.OpenRadio, addr: str) -> None:
        self._keep(native)
        self._addr = addr
        self._about: Dict[str, Any] = json.loads(native.about())

    def __enter__(self) -> "Radio":
        return self

    @property
    def addr(self) -> str:
        """Its address."""
        return self._addr

    @property
    def model(self) -> str:
        """``N200`` or ``X310``."""
        return str(self._about["model"])

    @property
    def about(self) -> Dict[str, Any]:
        """Product, serial number, name, versions of firmware and FPGA, clock."""
        return dict(self._about)

    @property
    def clock_hz(self) -> int:
        """Ticks of its clock in a second."""
        return int(self._about["clock_hz"])

    @property
    def speed(self) -> float:
        """Seconds of the radio in a second of this host: another than 1 only of an emulated radio."""
        return self._native.speed()

    def tune(self, frequency: float, *, side: str = "rx", channel: int = 0, offset: Optional[float] = None) -> Tuned:
        """Tunes a side (``"rx"``, ``"tx"``): ``frequency`` in Hz comes to 0 Hz of the samples.

        ``offset``: how far above it the oscillator goes, in Hz. Without it, takt keeps its leakage out of the band, if it knows the
        rate: make the receiver or transmitter first. takt tunes no X310. The two receive channels of an N200 share an oscillator.
        """
        offset = None if offset is None else _number("offset", offset, "1e6")
        channel = _channels([channel])[0]
        return Tuned(*self._native.tune(_text("side", side, "rx"), channel, _number("frequency", frequency, "915e6"), offset))

    def set_gain(self, gain: float, *, side: str = "rx") -> float:
        """Sets a gain, in dB, to the nearest that the boards have, which is returned."""
        return self._native.set_gain(_text("side", side, "rx"), _number("gain", gain, "20.0"))

    def set_antenna(self, name: str, *, side: str = "rx") -> None:
        """Connects a side to an antenna, such as ``"RX2"``."""
        self._native.set_antenna(_text("side", side, "rx"), _text("name", name, "RX2"))

    def ticks(self) -> int:
        """Its time now, in ticks."""
        return self._native.ticks()

    def time(self) -> float:
        """Its time now, in seconds."""
        return self.ticks() / self.clock_hz

    def set_time(self, time: Optional[float] = None, *, tick: Optional[int] = None) -> None:
        """Sets its time at once, in seconds or ticks. Streams that run report it as a gap of no samples."""
        at = _tick(time, tick, self.clock_hz)
        self._native.set_ticks(0 if at is None else at)

    def receiver(
        self,
        rate: float,
        *,
        channels: Sequence[int] = (0,),
        gaps: str = "raise",
        wire: str = "sc16",
        packet_samples: Optional[int] = None,
        buffer_bytes: Optional[int] = None,
    ) -> Receiver:
        """Makes a receive stream, which its first ``receive`` starts. ``rate``: samples a second, exactly.

        ``gaps``: ``"raise"`` for an exception, ``"data"`` for blocks that say so. ``wire``: ``"sc16"`` or ``"sc8"``.
        """
        packet_samples = None if packet_samples is None else _count("packet_samples", packet_samples)
        buffer_bytes = None if buffer_bytes is None else _count("buffer_bytes", buffer_bytes)
        rate, wire = _number("rate", rate, "1e6"), _text("wire", wire, "sc16")
        native = self._native.receiver(rate, _channels(channels), wire, packet_samples, buffer_bytes)
        return Receiver(self, native, gaps)

    def transmitter(
        self,
        rate: float,
        *,
        channels: Sequence[int] = (0,),
        wire: str = "sc16",
        packet_samples: Optional[int] = None,
    ) -> Transmitter:
        """Makes a transmit stream. ``rate``: samples a second, exactly."""
        packet_samples = None if packet_samples is None else _count("packet_samples", packet_samples)
        rate, wire = _number("rate", rate, "1e6"), _text("wire", wire, "sc16")
        return Transmitter(self, self._native.transmitter(rate, _channels(channels), wire, packet_samples))

    def receive(
        self, samples: int, rate: float, *, channels: Sequence[int] = (0,), time: Optional[float] = None, **options: Any
    ) -> Block:
        """Receives ``samples`` samples once, at a time of the radio, or at once. ``options`` are those of ``receiver``."""
        with self.receiver(rate, channels=channels, **options) as receiver:
            receiver.start(samples, time=time)
            return receiver.receive(samples)

    def __repr__(self) -> str:
        return f"<{self.model} at {self._addr}{', closed' if self.closed else ''}>"


def _count(option: str, value: int, most: int = 2**40) -> int:
    """A number of something, at least 1."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or not 1 <= value <= most:
        fix = f"give {option} from 1 to {most}, such as {option}=10000"
        raise OptionError(f"{option}: {value!r} is not a number from 1 to {most}", None, fix, option, repr(value))
    return int(value)


def _number(option: str, value: float, example: str) -> float:
    """A number that is none of infinity and NaN."""
    real = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not real or not math.isfinite(value):
        raise OptionError(f"{option}: {value!r} is not a number", None, f"give {option}={example}", option, repr(value))
    return float(value)


def _timeout(value: Optional[float]) -> Optional[float]:
    seconds = None if value is None else _number("timeout", value, "1.0")
    if seconds is not None and seconds < 0:
        raise OptionError(f"timeout: {value!r} is below 0", None, "give timeout=1.0, in seconds", "timeout", repr(value))
    return seconds


def _text(option: str, value: str, example: str) -> str:
    if not isinstance(value, str):
        raise OptionError(f"{option}: {value!r} is not a text", None, f"give {option}={example!r}", option, repr(value))
    return value


def _channels(channels: Sequence[int]) -> bytes:
    try:
        return bytes(channels)
    except (TypeError, ValueError):
        message = f"channels: {channels!r} is not a list of channels"
        raise OptionError(message, None, "give channels=[0] or channels=[0, 1]", "channels", repr(channels)) from None


def _tick(time: Optional[float], tick: Optional[int], clock_hz: int) -> Optional[int]:
    if time is not None and tick is not None:
        raise OptionError("time and tick are the same setting", None, "give one of them", "tick", repr(tick))
    if time is None and tick is None:
        return None
    option, value = ("tick", tick) if time is None else ("time", time)
    at = tick if time is None else round(_number("time", time, "1.0") * clock_hz)
    if not isinstance(at, (int, np.integer)) or not 0 <= at < 2**63:
        raise OptionError(f"{option}: {value!r} is not a time of the radio, or before 0", None, "give a time of the radio", option, repr(value))
    return int(at)


def find(addr: Optional[str] = None) -> List[FoundRadio]:
    """Radios on this host's networks, or the one at an address.

    The search leaves radios alone that others use. It does not see loopback, where emulated radios are: give their address.
    """
    found = []
    for radio in json.loads(_takt.find(None if addr is None else _text("addr", addr, "192.168.10.2"))):
        state = radio["state"]
        found.append(
            FoundRadio(
                addr=radio["addr"],
                model=radio.get("model"),
                serial=radio.get("serial"),
                name=radio.get("name"),
                state=state["kind"],
                why=state.get("why"),
                raw=radio,
            )
        )
    return found


def open(
    addr: Union[str, Any],
    *,
    force: bool = False,
    transmit: bool = False,
    reference: str = "internal",
    calibration: str = "off",
    engine: str = "mmsg",
    frame_bytes: Optional[int] = None,
    master_clock: Optional[float] = None,
) -> Radio:
    """Opens the radio at an address (or an ``EmulatedRadio``), and owns it until it is closed.

    ``force`` takes it from another host. ``transmit`` allows to transmit with a radio that is not emulated. ``reference``:
    ``"internal"``, ``"external"`` or ``"mimo"``. ``calibration``: ``"uhd"`` applies the calibration files of takt and UHD when an
    N200 is tuned. ``engine``: the packet engine. ``master_clock``: of an X310, 200e6 or 184.32e6 Hz.
    """
    addr = str(getattr(addr, "addr", addr))
    options = {
        "force": bool(force),
        "transmit": bool(transmit),
        "reference": _text("reference", reference, "internal"),
        "calibration": _text("calibration", calibration, "off"),
        "engine": _text("engine", engine, "mmsg"),
        "frame_bytes": None if frame_bytes is None else _count("frame_bytes", frame_bytes),
        "master_clock": None if master_clock is None else _number("master_clock", master_clock, "200e6"),
    }
    return Radio(_takt.open(addr, options), addr)
