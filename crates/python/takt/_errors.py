"""Exceptions of takt: each says what went wrong, why, and the fix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

if TYPE_CHECKING:
    from ._driver import Block, Gap

__all__ = [
    "ComponentError",
    "EmulatorError",
    "GapError",
    "IncompleteError",
    "MissingError",
    "NotReceivedError",
    "NotSentError",
    "OptionError",
    "ProgramError",
    "RadioError",
    "TaktError",
    "WaveformError",
]


class TaktError(Exception):
    """An error of takt. ``message`` says what went wrong, ``reason`` why, ``fix`` what to do; the last two may be None."""

    def __init__(self, message: str, reason: Optional[str] = None, fix: Optional[str] = None) -> None:
        super().__init__(message, reason, fix)
        self.message = message
        self.reason = reason
        self.fix = fix

    def __str__(self) -> str:
        lines = [self.message]
        lines += [f"  why   {self.reason}"] if self.reason else []
        lines += [f"  fix   {self.fix}"] if self.fix else []
        return "\n".join(lines)


class OptionError(TaktError, ValueError):
    """An option, or its value, makes no sense. ``option`` and ``value`` name them; ``value`` is text, as Python writes it."""

    def __init__(
        self,
        message: str,
        reason: Optional[str] = None,
        fix: Optional[str] = None,
        option: str = "",
        value: str = "",
    ) -> None:
        super().__init__(message, reason, fix)
        self.option = option
        self.value = value


class EmulatorError(TaktError, RuntimeError):
    """An emulated radio can't run, or has ended by itself."""


class NotSentError(TaktError, TimeoutError):
    """The program under test has not sent as many bursts as were awaited."""


class IncompleteError(TaktError, RuntimeError):
    """The program under test sent more than is kept: what was received has holes."""


class RadioError(TaktError, RuntimeError):
    """A radio can't do what was asked of it, or is gone."""


class GapError(RadioError):
    """Samples are missing. ``block`` has those before the gap, ``gap`` says how many are missing; the stream goes on behind it."""

    def __init__(self, message: str, reason: Optional[str], fix: Optional[str], block: "Block", gap: "Gap") -> None:
        super().__init__(message, reason, fix)
        self.block = block
        self.gap = gap


class NotReceivedError(RadioError, TimeoutError):
    """Samples did not come in time. ``block`` has those that did."""

    def __init__(self, message: str, reason: Optional[str], fix: Optional[str], block: "Block") -> None:
        super().__init__(message, reason, fix)
        self.block = block


class WaveformError(TaktError, RuntimeError):
    """A waveform is wrong, or can't run."""


class ComponentError(WaveformError):
    """A component in Python raised an exception, which is the cause of this one, or returned what no packet can be."""


class ProgramError(TaktError, RuntimeError):
    """The program ``takt`` is missing or failed."""


class MissingError(TaktError, ImportError):
    """An optional package is not installed."""
