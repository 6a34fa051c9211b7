"""Emulated USRPs as fixtures of a test suite.

A program that uses UHD, GNU Radio or SoapySDR is tested without a radio, and unmodified::

    import takt

    with takt.emulate("n200", source="tone:offset=100k") as radio:
        run_my_program(radio.args)          # "addr=127.x.y.z"
        burst, = radio.received(bursts=1)   # what it sent: time, frequency, rate, samples
        assert burst.time == 0.25
        assert radio.counts().errors == 0

For pytest there are the fixtures ``n200``, ``x310``, ``takt_emulate`` and ``takt_air``, and the marker ``takt``.
"""

from ._errors import EmulatorError, IncompleteError, NotSentError, OptionError, TaktError
from ._radio import Air, Burst, Counts, EmulatedRadio, air, emulate
from ._takt import __version__

__all__ = [
    "Air",
    "Burst",
    "Counts",
    "EmulatorError",
    "IncompleteError",
    "NotSentError",
    "OptionError",
    "EmulatedRadio",
    "TaktError",
    "air",
    "emulate",
]
