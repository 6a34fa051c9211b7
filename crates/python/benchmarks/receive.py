"""CPU time of receiving 25 MS/s into arrays of NumPy, beside that of `takt rate`, in one run.

    target/python/venv/bin/python crates/python/benchmarks/receive.py --program target/release/takt

A process of its own emulates an N200, as `takt emulate n200`. Both receivers take turns (A B A B), each in a process of its own. The
CPU time of a turn is user and system time of that process over the whole stream, its start excluded: `takt rate` says its own, and
Python reads the clock of its process. The goal is a ratio of at most 1.2. On a busy machine samples may be lost: then the turn says
so, and the comparison is of no worth.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time

import numpy as np

import takt


def of_python(addr, rate, seconds, block_samples):
    """CPU seconds, samples and lost samples of a turn in this process."""
    with takt.open(addr) as radio, radio.receiver(rate, gaps="data") as receiver:
        out = np.empty(block_samples, np.complex64)
        receiver.receive_into(out)
        samples = lost = 0
        begun, wall = time.process_time(), time.monotonic()
        while samples + lost < rate * seconds:
            block = receiver.receive_into(out)
            samples += len(block)
            lost += (block.gap.lost or 0) if block.gap else 0
        return {"cpu_s": time.process_time() - begun, "wall_s": time.monotonic() - wall, "samples": samples, "lost": lost}


def of_rate(program, addr, rate, seconds):
    """The same of `takt rate`."""
    command = [program, "rate", "--addr", addr, "--rx", str(rate), "--duration", f"{seconds}s", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(done.stdout + done.stderr)
    return read_rate(json.loads(done.stdout))


def read_rate(document):
    """What a document of `takt rate --json` says of a turn."""
    return {
        "cpu_s": document["cpu"]["host_seconds"],
        "wall_s": document["wall_s"],
        "samples": document["rx"]["samples"],
        "lost": document["rx"]["dropped"],
    }


def turn_of_python(addr, options):
    command = [sys.executable, __file__, "--turn", addr, "--rate", str(options.rate)]
    command += ["--seconds", str(options.seconds), "--block", str(options.block)]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="takt", help="the program takt")
    parser.add_argument("--rate", type=float, default=25e6)
    parser.add_argument("--seconds", type=float, default=5.0, help="length of a turn")
    parser.add_argument("--turns", type=int, default=5, help="turns of each")
    parser.add_argument("--block", type=int, default=96 * 363, help="samples of a call; the default is that of takt rate")
    parser.add_argument("--turn", metavar="ADDR", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.turn:
        print(json.dumps(of_python(options.turn, options.rate, options.seconds, options.block)))
        return
    addr = "127.0.65.25"
    emulator = subprocess.Popen([options.program, "emulate", "n200", "--addr", addr], stdout=subprocess.PIPE, text=True)
    try:
        emulator.stdout.readline()
        ratios = []
        for number in range(options.turns):
            turns = {
                "takt rate": of_rate(options.program, addr, options.rate, options.seconds),
                "python": turn_of_python(addr, options),
            }
            per_s = {name: turn["cpu_s"] / ((turn["samples"] + turn["lost"]) / options.rate) for name, turn in turns.items()}
            ratios.append(per_s["python"] / per_s["takt rate"])
            lost = {name: turn["lost"] for name, turn in turns.items()}
            print(f"turn {number + 1}: CPU s per s of stream {per_s}, lost {lost}, ratio {ratios[-1]:.2f}", flush=True)
        print(f"median ratio {statistics.median(ratios):.2f} of {len(ratios)} turns")
    finally:
        emulator.terminate()
        emulator.wait()


if __name__ == "__main__":
    main()
