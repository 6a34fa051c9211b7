#!/usr/bin/env python3
"""Retunes one side of a radio at random times while it receives its own signal, and finds the samples at which the tone changes.

timed.py ADDR WAY:RATE:COUNT ...    WAY is rx or tx, the side whose DSP is retuned; RATE is in samples/s

The radio is an emulator with --source loopback. Prints each change: side, rate, the sample at which it is due, Hz. The last line
says that every change was at its sample. An emulator of another --speed needs that number in the variable SPEED. With the printed seed in the variable SEED, the changes are the same again.
"""

import os
import random
import sys
import threading
import time

import numpy as np
import uhd

import radio

# The tone that is sent, in integers: TURNS of it in a table of PERIOD samples.
AMPLITUDE, PERIOD, TURNS = 16000, 64, 5
# By how much a sample may miss its tone: rounding, and the emulator's filter.
TOLERANCE = AMPLITUDE / 50
# Samples on each side of a change that are judged.
WINDOW = 400
# The loopback limits the band of what is sent around another frequency than the receiver's: 27 samples to each side. So what is
# retuned within the receiver's band fades in and out. Nothing else has any settling.
RINGING = 28
# Outside of the receiver's band.
FAR_HZ = 20e6
# From the commands to the first sample, from there to the first change, and after the last one.
LEAD_S, FIRST_S, REST_S = [seconds * radio.SPEED for seconds in (1.0, 0.15, 0.1)]


def gap_s(count):
    """From one change to the next, on average."""
    return min(0.1, 1.5 / count) * radio.SPEED


def planned(rate, clock, count, chance):
    """The changes: ticks after the first sample, and the frequency of the DSP from then on."""
    # Frequencies that both models have exactly: an X310's words have 24 bits.
    unit = clock / 2**24
    places = [round(hz / unit) * unit for hz in (0.0, 0.11 * rate, -0.17 * rate, FAR_HZ)]
    changes, at = [], places[0]
    for n in range(count):
        at = chance.choice([place for place in places if place != at])
        changes.append((int((FIRST_S + (n + 0.7 * chance.random()) * gap_s(count)) * clock), at))
    return changes


def table():
    turn = AMPLITUDE * np.exp(2j * np.pi * TURNS / PERIOD * np.arange(PERIOD))
    return np.rint(np.stack((turn.real, turn.imag), axis=1)).astype(np.int16).view(np.uint32).ravel()


def streamed(usrp, way, rate, clock, changes, samples):
    """What is received of the tone while the changes are commanded: complex samples."""
    tune = {"rx": usrp.set_rx_freq, "tx": usrp.set_tx_freq}
    for back in tune.values():
        back(radio.dsp(0.0))
    rx, tx = radio.receiver(usrp, rate), radio.transmitter(usrp, rate)
    words, metadata = np.zeros(samples, np.uint32), []
    # Somewhat longer than what is received of it.
    tone = np.tile(table(), samples // PERIOD + 40)
    start = usrp.get_time_now().to_ticks(clock) + int(LEAD_S * clock)
    begin = uhd.types.TimeSpec.from_ticks(start, clock)
    # Before the changes: an N200 executes its commands in order, and each waits for its time.
    rx.issue_stream_cmd(radio.finite(samples, begin))
    ready = threading.Barrier(3)

    def receive():
        ready.wait()
        metadata.append(radio.received(rx, words))

    def send():
        ready.wait()
        tx.send(tone, radio.burst(begin), radio.TIMEOUT_S)

    threads = [threading.Thread(target=work) for work in (receive, send)]
    for thread in threads:
        thread.start()
    ready.wait()
    # Each is in a single call of UHD by then: a tune that waits for room among the commands keeps all other Python waiting.
    time.sleep(0.2)
    for tick, hz in changes:
        usrp.set_command_time(uhd.types.TimeSpec.from_ticks(start + tick, clock))
        tune[way](radio.dsp(hz))
    usrp.clear_command_time()
    for thread in threads:
        thread.join()
    if not metadata:
        radio.fail("the stream was disturbed")
    first = metadata[0].time_spec.to_ticks(clock)
    if first != start:
        radio.fail(f"the first sample is of tick {first}, not {start}")
    radio.acknowledge(tx)
    parts = words.view(np.int16).astype(np.float64)
    return parts[0::2] + 1j * parts[1::2]


class Tone:
    """The tone as it is received around one frequency, at the level and phase of a stretch of samples."""

    def __init__(self, samples, begin, end, turns):
        self.turns = turns
        places = np.arange(begin + PERIOD, end - PERIOD)
        self.level = np.mean(samples[places] * np.exp(-2j * np.pi * turns * places))

    def missed_by(self, samples, begin, end):
        """The places of those samples that are not this tone's."""
        places = np.arange(begin, end)
        off = np.abs(samples[places] - self.level * np.exp(2j * np.pi * self.turns * places))
        return places[off > TOLERANCE]


def ringing(way, rate, places):
    """Samples to each side of a change between two frequencies that may be of neither tone."""
    within_band = [place for place in places if place != 0.0 and abs(place) < rate]
    return RINGING if way == "tx" and within_band else 0


def judge(samples, way, rate, clock, changes):
    """How many changes are not where they were commanded: at the first sample that is not before the tick."""
    step, wrong = round(clock / rate), 0
    places = [0.0] + [hz for _, hz in changes]
    edges = [0] + [-(-tick // step) for tick, _ in changes] + [len(samples)]
    stretches = zip(edges, edges[1:], places)
    tones = [Tone(samples, begin, end, TURNS / PERIOD + place / rate) for begin, end, place in stretches]
    for place, tone in zip(places, tones):
        level = 0.0 if abs(place) > rate else AMPLITUDE
        if abs(abs(tone.level) - level) > TOLERANCE:
            print(f"with the DSP at {place} Hz the tone has level {abs(tone.level):.0f}, not {level}")
            wrong += 1
    for n, (tick, hz) in enumerate(changes):
        due, room = edges[n + 1], ringing(way, rate, places[n : n + 2])
        not_old = tones[n].missed_by(samples, due - WINDOW, due + WINDOW)
        not_new = tones[n + 1].missed_by(samples, due - WINDOW, due + WINDOW)
        good = not np.any(not_old < due - room) and not np.any(not_new >= due + room)
        old_ends = not_old[0] if len(not_old) else "no sample"
        new_begins = not_new[-1] + 1 if len(not_new) else due - WINDOW
        print(
            f"change {way} {rate} {due} {hz!r} commanded at {tick / step:.3f}, old tone until {old_ends}, "
            f"new tone from {new_begins}{'' if good else '   WRONG'}"
        )
        wrong += not good
    return wrong


def main():
    addr, wrong = sys.argv[1], 0
    seed = int(os.environ.get("SEED") or int.from_bytes(os.urandom(4), "big"))
    print("seed", seed)
    chance = random.Random(seed)
    usrp = radio.opened(addr)
    clock = usrp.get_master_clock_rate()
    for run in sys.argv[2:]:
        way, rate, count = run.split(":")
        rate, count = int(rate), int(count)
        changes = planned(rate, clock, count, chance)
        samples = int((FIRST_S + count * gap_s(count) + REST_S) * rate)
        wrong += judge(streamed(usrp, way, rate, clock, changes, samples), way, rate, clock, changes)
    if wrong:
        radio.fail(f"{wrong} are wrong")
    print("every change at its sample")


main()
