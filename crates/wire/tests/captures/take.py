#!/usr/bin/env python3
"""Takes uhd-4.3-rates.txt and uhd-4.3-samples.txt again: take.py TAKT [ADDR].

TAKT is the program `takt`; it emulates the radio. UHD is driven through its C library, and everything recorded is what
UHD put on the wire or made of what it got there. Needs libuhd and tshark, and the right to capture on loopback.
"""

import ctypes
import pathlib
import signal
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
FACTORS = [f for f in range(2, 513) if f <= 128 or (f <= 256 and f % 2 == 0) or f % 4 == 0]
SAMPLES = 8  # in a burst, each way


class StreamArgs(ctypes.Structure):
    _fields_ = [("cpu", ctypes.c_char_p), ("otw", ctypes.c_char_p), ("args", ctypes.c_char_p),
                ("channels", ctypes.POINTER(ctypes.c_size_t)), ("count", ctypes.c_int)]


class StreamCommand(ctypes.Structure):
    _fields_ = [("mode", ctypes.c_int), ("samples", ctypes.c_size_t), ("now", ctypes.c_bool),
                ("seconds", ctypes.c_int64), ("fraction", ctypes.c_double)]


class Uhd:
    def __init__(self):
        self.lib = ctypes.CDLL("libuhd.so.4.3.0")

    def __getattr__(self, name):
        function = getattr(self.lib, "uhd_" + name)

        def call(*arguments):
            error = function(*arguments)
            if error:
                raise SystemExit(f"uhd_{name}: error {error}")

        return call


def drive(address):
    """For sc16, then sc8, at each factor: set both rates, send a burst, receive a burst. Returns the floats received."""
    uhd, radio, sent_meta, got_meta = Uhd(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    uhd.usrp_make(ctypes.byref(radio), f"addr={address}".encode())
    none, zero, rate = ctypes.c_bool(False), ctypes.c_size_t(0), ctypes.c_double
    yes, wait, count = ctypes.c_bool(True), ctypes.c_double(1.0), ctypes.c_size_t()
    uhd.tx_metadata_make(ctypes.byref(sent_meta), none, ctypes.c_int64(0), rate(0.0), yes, yes)
    uhd.rx_metadata_make(ctypes.byref(got_meta))
    out = (ctypes.c_float * (2 * SAMPLES))(*[0.45, -0.3] * SAMPLES)
    into = (ctypes.c_float * (2 * SAMPLES))()
    floats = []
    for otw in (b"sc16", b"sc8"):
        rx, tx = ctypes.c_void_p(), ctypes.c_void_p()
        uhd.rx_streamer_make(ctypes.byref(rx))
        uhd.tx_streamer_make(ctypes.byref(tx))
        args = StreamArgs(b"fc32", otw, b"", (ctypes.c_size_t * 1)(0), 1)
        uhd.usrp_get_rx_stream(radio, ctypes.byref(args), rx)
        uhd.usrp_get_tx_stream(radio, ctypes.byref(args), tx)
        for factor in FACTORS:
            uhd.usrp_set_rx_rate(radio, rate(1e8 / factor), zero)
            uhd.usrp_set_tx_rate(radio, rate(1e8 / factor), zero)
            buffers = (ctypes.c_void_p * 1)(ctypes.addressof(out))
            uhd.tx_streamer_send(tx, buffers, ctypes.c_size_t(SAMPLES), ctypes.byref(sent_meta), wait, ctypes.byref(count))
            uhd.rx_streamer_issue_stream_cmd(
                rx, ctypes.byref(StreamCommand(ord("d"), SAMPLES, True, 0, 0.0)))
            buffers = (ctypes.c_void_p * 1)(ctypes.addressof(into))
            uhd.rx_streamer_recv(
                rx, buffers, ctypes.c_size_t(SAMPLES), ctypes.byref(got_meta), wait, none, ctypes.byref(count))
            assert count.value == SAMPLES, f"factor {factor}: {count.value} samples"
            floats.append(f"{into[0]:.9g}")
            time.sleep(0.002)
        uhd.rx_streamer_free(ctypes.byref(rx))
        uhd.tx_streamer_free(ctypes.byref(tx))
    uhd.usrp_free(ctypes.byref(radio))
    return floats


def payloads(capture, which):
    command = ["tshark", "-r", capture, "-Y", which, "-T", "fields", "-e", "udp.payload"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [bytes.fromhex(line) for line in text.split()]


def words(capture):
    """Rows of RX rate, RX scale, TX rate, TX scale: sc16 first, then sc8."""
    commands = [struct.unpack(">4I", p) for p in payloads(capture, "udp.dstport == 49159") if len(p) == 16]
    pokes = [(control & 0xFF, data) for _, _, control, data in commands if control & 0x100]
    wanted = [(register, data) for register, data in pokes if register in (50, 49, 162, 161)]
    rows, order = [], [50, 49, 162, 161]
    for at in range(len(wanted) - 3):
        group = wanted[at:at + 4]
        if [register for register, _ in group] == order:
            rows.append([data for _, data in group])
    first = [at for at, row in enumerate(rows) if row[0] == 0x201]  # factor 2, once a format
    assert len(first) == 2, first
    return [rows[at:at + len(FACTORS)] for at in first]


def record(takt, address):
    with tempfile.TemporaryDirectory() as directory:
        capture = f"{directory}/uhd.pcapng"
        radio = subprocess.Popen([takt, "emulate", "n200", "--addr", address], stdout=subprocess.PIPE, text=True)
        assert radio.stdout.readline().startswith("ready")
        shark = subprocess.Popen(
            ["tshark", "-q", "-i", "lo", "-f", f"udp and host {address}", "-w", capture], stderr=subprocess.DEVNULL)
        time.sleep(3)
        floats = drive(address)
        time.sleep(1)
        for process in (shark, radio):
            process.send_signal(signal.SIGINT)
            process.wait()
        rates = words(capture)
        sent = [p for p in payloads(capture, "udp.dstport == 49157") if len(p) > 16]
        # the two packets of one sample that every opening causes have no header yet
        got = [p for p in payloads(capture, "udp.srcport == 49156") if p[0] == 0x14]
    assert len(sent) == len(got) == len(floats) == 2 * len(FACTORS), (len(sent), len(got), len(floats))
    return rates, sent, got, floats


def main():
    rates, sent, got, floats = record(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "127.0.77.2")
    title = "# An unmodified UHD 4.3.0.0 (Debian 12) over loopback, at each of the 255 factors; see take.py."
    rate_lines = [title, "# factor, RX rate, RX scale sc16, TX rate, TX scale sc16, RX scale sc8, TX scale sc8; hexadecimal words"]
    sample_lines = [title, "# factor, then for sc16 and for sc8: TX I and Q sent for 0.45 - 0.3j, RX I received and its float"]
    for at, factor in enumerate(FACTORS):
        wide, narrow = rates[0][at], rates[1][at]
        assert (wide[0], wide[2]) == (narrow[0], narrow[2])
        rate_lines.append(" ".join([str(factor)] + [f"{word:x}" for word in wide + [narrow[1], narrow[3]]]))
        other = at + len(FACTORS)
        values = [factor, *struct.unpack(">hh", sent[at][8:12]), *struct.unpack(">h", got[at][16:18]), floats[at]]
        values += [*struct.unpack("bb", sent[other][8:10]), *struct.unpack("b", got[other][16:17]), floats[other]]
        sample_lines.append(" ".join(map(str, values)))
    (HERE / "uhd-4.3-rates.txt").write_text("\n".join(rate_lines) + "\n")
    (HERE / "uhd-4.3-samples.txt").write_text("\n".join(sample_lines) + "\n")


main()
