"""Receives 1 s through takt's module of SoapySDR from an emulated N200 whose source numbers the samples, and checks each of them.

receive.py DEVICE [LOSSES]: with LOSSES, so many losses have to be reported, each before the samples behind it.
"""

import sys

import numpy as np
import SoapySDR
from SoapySDR import SOAPY_SDR_CS16, SOAPY_SDR_HAS_TIME, SOAPY_SDR_OVERFLOW, SOAPY_SDR_RX

# The radio scales by 1 at this rate: integers of the wire are those of the source.
RATE = 781_250.0
STEP_NS = 1280


def numbers(samples):
    """The number in each sample: I has its lower 16 bits, Q the next 16."""
    parts = samples.view(np.uint16).astype(np.uint32)
    return parts[0::2] | parts[1::2] << 16


def main(device, losses):
    radio = SoapySDR.Device(device)
    radio.setSampleRate(SOAPY_SDR_RX, 0, RATE)
    assert radio.getSampleRate(SOAPY_SDR_RX, 0) == RATE
    stream = radio.setupStream(SOAPY_SDR_RX, SOAPY_SDR_CS16)
    assert radio.activateStream(stream) == 0
    buffer = np.zeros(2 * 4096, np.int16)
    read = told = gaps = 0
    origin = following = None
    while read < RATE or gaps < losses:
        result = radio.readStream(stream, [buffer], 4096, timeoutUs=2_000_000)
        if result.ret == SOAPY_SDR_OVERFLOW:
            told += 1
            continue
        assert result.ret > 0, result
        got = numbers(buffer[: 2 * result.ret])
        first = int(got[0])
        assert (got == first + np.arange(result.ret, dtype=np.uint32)).all(), "a read has no gap"
        if following not in (None, first):
            gaps += 1
            assert told >= gaps, "a loss that nobody told"
        assert result.flags & SOAPY_SDR_HAS_TIME
        zero = result.timeNs - first * STEP_NS
        origin = zero if origin is None else origin
        assert zero == origin, "the time stamp is that of the sample"
        following = first + result.ret
        read += result.ret
    radio.deactivateStream(stream)
    radio.closeStream(stream)
    print(f"{read} samples, {gaps} gaps, {told} overflows")


main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
