"""Radios, emulated radios, waveforms and runs of takt.

A program that uses UHD, GNU Radio or SoapySDR is tested without a radio, and unmodified::

    import takt

    with takt.emulate("n200", source="tone:offset=100k") as radio:
        run_my_program(radio.args)          # "addr=127.x.y.z"
        burst, = radio.received(bursts=1)   # what it sent: time, frequency, rate, samples
        assert burst.time == 0.25
        assert radio.counts().errors == 0

For pytest there are the fixtures ``n200``, ``x310``, ``takt_emulate`` and ``takt_air``, and the marker ``takt``.

A radio, emulated or not, is received from and sent to with arrays::

    with takt.open("192.168.10.2") as radio:
        radio.tune(915e6)
        block = radio.receive(10_000, rate=1e6)

A waveform runs slot by slot, with components in Python where you like::

    @takt.component
    def gain(samples):
        return 2 * samples

And ``takt.check`` and ``takt.runs`` ask the program ``takt`` whether this host keeps up, and read what was measured.
"""

from ._driver import Block, FoundRadio, Gap, Radio, Receiver, Transmitter, Tuned, TxEvent, find
from ._driver import open as open
from ._errors import (
    ComponentError,
    EmulatorError,
    GapError,
    IncompleteError,
    MissingError,
    NotReceivedError,
    NotSentError,
    OptionError,
    ProgramError,
    RadioError,
    TaktError,
    WaveformError,
)
from ._radio import Air, Burst, Counts, EmulatedRadio, air, emulate
from ._runs import CheckResult, Fix, Run, check, experiment, runs, study
from ._takt import __version__
from ._waveform import Component, NativeComponent, Report, Waveform, component, components

# ``open`` is left out: ``from takt import *`` must not hide Python's.
__all__ = [
    "Air",
    "Block",
    "Burst",
    "CheckResult",
    "Component",
    "ComponentError",
    "Counts",
    "EmulatedRadio",
    "EmulatorError",
    "Fix",
    "FoundRadio",
    "Gap",
    "GapError",
    "IncompleteError",
    "MissingError",
    "NativeComponent",
    "NotReceivedError",
    "NotSentError",
    "OptionError",
    "ProgramError",
    "Radio",
    "RadioError",
    "Receiver",
    "Report",
    "Run",
    "TaktError",
    "Transmitter",
    "Tuned",
    "TxEvent",
    "Waveform",
    "WaveformError",
    "air",
    "check",
    "component",
    "components",
    "emulate",
    "experiment",
    "find",
    "runs",
    "study",
]
