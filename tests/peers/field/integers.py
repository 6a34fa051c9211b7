#!/usr/bin/env python3
"""Receives the integers of a file, and sends them: UHD changes none of them.

integers.py ADDR FILE    FILE has samples of 16-bit integers, no two of which are equal

The radio is an emulator with --source file:path=FILE,loop. Where it puts what is sent is for others to look at.
"""

import sys

import numpy as np
import uhd

import radio

RATE = 1e6


def receive(usrp, words):
    """One and a half times the file, from whichever sample of it on."""
    rx = radio.receiver(usrp, RATE)
    came = np.zeros(len(words) * 3 // 2, np.uint32)
    rx.issue_stream_cmd(radio.finite(len(came)))
    radio.received(rx, came)
    first = np.flatnonzero(words == came[0])
    if len(first) != 1:
        radio.fail(f"the first sample is {came[0]:#010x}, which is not in the file")
    wanted = words[(first[0] + np.arange(len(came))) % len(words)]
    wrong = np.flatnonzero(came != wanted)
    if len(wrong):
        n = wrong[0]
        radio.fail(f"{len(wrong)} samples differ; sample {n} is {came[n]:#010x}, and {wanted[n]:#010x} in the file")


def send(usrp, words):
    tx = radio.transmitter(usrp, RATE)
    soon = usrp.get_time_now() + uhd.types.TimeSpec(0.5)
    left = tx.send(words, radio.burst(soon), radio.TIMEOUT_S)
    if left != len(words):
        radio.fail(f"{left} of {len(words)} samples were sent")
    radio.acknowledge(tx)


def main():
    addr, path = sys.argv[1:]
    words = np.fromfile(path, np.uint32)
    usrp = radio.opened(addr)
    receive(usrp, words)
    send(usrp, words)
    print("every integer came and was sent")


main()
