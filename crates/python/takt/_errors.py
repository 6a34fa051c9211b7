"""Exceptions of takt: each says what went wrong, why, and the fix."""

from __future__ import annotations

from typing import Optional

__all__ = ["EmulatorError", "IncompleteError", "NotSentError", "OptionError", "TaktError"]


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
