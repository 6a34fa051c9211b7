"""Sends through takt's module of SoapySDR: a burst at a time, one too late, one without an end. Then compares the emulator's recording.

send.py DEVICE          sends
send.py --compare BASE  compares BASE.sigmf-data and BASE.sigmf-meta with what was sent
"""

import json
import sys

import numpy as np
import SoapySDR
from SoapySDR import (
    SOAPY_SDR_CF32,
    SOAPY_SDR_END_BURST,
    SOAPY_SDR_HAS_TIME,
    SOAPY_SDR_TIME_ERROR,
    SOAPY_SDR_TIMEOUT,
    SOAPY_SDR_TX,
    SOAPY_SDR_UNDERFLOW,
)

RATE = 1_000_000.0
COUNT = 20_000
SAMPLES = (0.5 * np.exp(2j * np.pi * 0.01 * np.arange(COUNT))).astype(np.complex64)


def reported(radio, stream, wanted):
    """The first report of this kind. Others may come before it: each late datagram has one."""
    timeouts = 0
    while timeouts < 50:
        status = radio.readStreamStatus(stream, timeoutUs=200_000)
        timeouts += status.ret == SOAPY_SDR_TIMEOUT
        if status.ret == wanted and (wanted != 0 or status.flags & SOAPY_SDR_END_BURST):
            return status
        assert status.ret in (0, SOAPY_SDR_TIMEOUT, SOAPY_SDR_UNDERFLOW, SOAPY_SDR_TIME_ERROR), status
    raise AssertionError(f"no report {wanted}")


def written(radio, stream, flags, time_ns=0):
    done = 0
    while done < COUNT:
        result = radio.writeStream(stream, [SAMPLES[done:]], COUNT - done, flags, time_ns, 1_000_000)
        assert result.ret > 0, result
        done += result.ret
        flags &= ~SOAPY_SDR_HAS_TIME


def send(device):
    radio = SoapySDR.Device(device)
    radio.setSampleRate(SOAPY_SDR_TX, 0, RATE)
    radio.setFrequency(SOAPY_SDR_TX, 0, 915e6)
    stream = radio.setupStream(SOAPY_SDR_TX, SOAPY_SDR_CF32)
    assert radio.activateStream(stream) == 0
    radio.setHardwareTime(1_000_000_000)
    ends = SOAPY_SDR_END_BURST
    written(radio, stream, ends | SOAPY_SDR_HAS_TIME, 1_500_000_000)
    status = reported(radio, stream, 0)
    assert status.flags & SOAPY_SDR_HAS_TIME and status.timeNs >= 1_500_000_000, status
    written(radio, stream, ends | SOAPY_SDR_HAS_TIME, 1_100_000_000)
    reported(radio, stream, SOAPY_SDR_TIME_ERROR)
    written(radio, stream, 0)
    reported(radio, stream, SOAPY_SDR_UNDERFLOW)
    radio.deactivateStream(stream)
    radio.closeStream(stream)


def compare(base):
    meta = json.load(open(base + ".sigmf-meta"))
    assert meta["global"]["core:sample_rate"] == RATE, meta["global"]
    first = meta["captures"][0]
    assert first["core:sample_start"] == 0 and abs(first["core:frequency"] - 915e6) < 1, first
    kinds = {"ci16_le": (np.int16, 32767.0), "cf32_le": (np.float32, 1.0)}
    kind, scale = kinds[meta["global"]["core:datatype"]]
    parts = np.fromfile(base + ".sigmf-data", kind, 2 * COUNT).astype(np.float64) / scale
    assert len(parts) == 2 * COUNT
    worst = np.abs(parts[0::2] + 1j * parts[1::2] - SAMPLES).max()
    assert worst < 1e-4, worst
    print(f"{COUNT} samples, at most {worst:.1e} apart")


compare(sys.argv[2]) if sys.argv[1] == "--compare" else send(sys.argv[1])
