#!/usr/bin/env python3
"""Asks again and again for a finite number of samples.

captures.py ADDR COUNT    prints that each of COUNT captures, up to 2000 samples long, had what was requested and no more
"""

import os
import random
import sys

import numpy as np
import uhd

import radio

LONGEST = 2000


def main():
    addr, count = sys.argv[1], int(sys.argv[2])
    seed = int(os.environ.get("SEED") or int.from_bytes(os.urandom(4), "big"))
    print("seed", seed)
    chance = random.Random(seed)
    usrp = radio.opened(addr)
    rx = radio.receiver(usrp, 1e6)
    # With room for more: the call returns early only at the end of a burst.
    words = np.zeros(LONGEST + 100, np.uint32)
    for n in range(count):
        samples = chance.randint(1, LONGEST)
        rx.issue_stream_cmd(radio.finite(samples))
        metadata = uhd.types.RXMetadata()
        came = rx.recv(words, metadata, radio.TIMEOUT_S)
        if came != samples or metadata.error_code != uhd.types.RXMetadataErrorCode.none:
            radio.fail(f"capture {n}: {came} samples, not {samples}: {metadata.strerror()}")
    print("every capture is complete")


main()
