#!/usr/bin/env python3
"""Writes fuzz/seeds: one small packet of each kind, from the layouts in docs/reference: n200.md, x310.md,
emulator.md, cluster.md.

Written apart from the Rust code on purpose: a seed that the parser's own writer made would know only what it knows.
"""

import io
import json
import pathlib
import struct
import tarfile

HERE = pathlib.Path(__file__).parent / "seeds"


def words(*values):
    return struct.pack(f">{len(values)}I", *values)


def control(ident, body=b"", version=12, sequence=7):
    return (words(version, ord(ident), sequence) + body).ljust(36, b"\0")


def motherboard():
    image = bytearray(b"\xff" * 256)
    image[0x00:0x10] = struct.pack("<H", 0x0A10) + bytes.fromhex("00802f0a0b0c ffffff00 c0a80a02")
    image[0x12:0x16] = struct.pack("<HH", 4, 30518)
    image[0x17:0x3C] = b"\0" + b"EMU001".ljust(9, b"\0") + b"n200-emu".ljust(23, b"\0") + bytes.fromhex("c0a80a01")
    return bytes(image)


def daughterboard():
    image = bytearray(32)
    image[0:5] = struct.pack("<BHH", 0xDB, 0x54, 0)
    image[9:15] = b"F00D01"
    image[31] = -sum(image) & 0xFF
    return bytes(image)


def ptp(action, ident, data=b"", tlv=1):
    """A PTP management message: 0 GET, 2 RESPONSE (docs/reference/cluster.md)."""
    own, other = struct.pack(">QH", 0, 4711), b"\xff" * 10
    source, target = (own, other) if action == 0 else (b"\x02\0\0\xff\xfe\0\0\1\0\0", own)
    head = struct.pack(">BBHBBHqI10sHBB", 0x0D, 2, 54 + len(data), 0, 0, 0, 0, 0, source, 7, 4, 0x7F)
    return head + target + struct.pack(">BBBBHHH", 0, 0, action, 0, tlv, len(data) + 2, ident) + data


SEEDS = {
    "n200_control": {
        "hello": control("a"),
        "hello_version_0": control("a", version=0, sequence=1),
        "hello_reply": control("A", bytes([192, 168, 10, 2])),
        "hello_reply_software": control("A", bytes([192, 168, 10, 2]) + b"takt software radio"),
        "spi": control("s", words(1, 0x5A01) + b"rf\x18\x01"),
        "spi_reply": control("S", words(0, 0x42)),
        "i2c_read": control("i", b"\x50\x01"),
        "i2c_read_reply": control("I", b"\x50\x01E"),
        "i2c_write": control("h", b"\x50\x02\x18E"),
        "i2c_write_reply": control("H", b"\x50\x02"),
        "register": control("r", words(0x5C30, 0) + b"\x01"),
        "register_reply": control("R", words(0, 0x000B0001)),
        "echo": control("l", words(756)).ljust(60, b"\0"),
        "echo_reply": control("L", words(60)),
        "huh": control(" "),
        "foreign_probe": words(5, 0, 0xFF, 0),
    },
    "n200_fifo": {
        "poke": words(1, 0x40010003, 0x00010114, 4),
        "timed_peek": words(2, 0x40120005, 0, 0xD585, 0x0002000A, 0),
        "ack": words(0x50010004, 0, 0x00010114, 0xFFFFFFFF),
    },
    "n200_rx": {
        "sc16": words(0x14100007, 3, 0, 0xD585, 0x3E800000, 0x3E800000, 0x00100000),
        "sc16_end_of_burst": words(0x14110006, 3, 0, 0xD585, 0x3E800000, 0x00100100),
        "sc8_odd": words(0x14120006, 4, 0, 0xD585, 0x3E010000, 0x00500500),
        "message": words(0x50130005, 3, 0, 0xD585, 8),
    },
    "n200_tx": {
        "sc16": words(0, 0x06000004, 0x3E800000, 0x3E800000, 0x00C00000),
        "timed": words(1, 0x06110005, 0, 0xD585, 0x3E800000, 0x00C00000),
        "end_of_burst": words(2, 0x05020003, 0, 0x00C00000),
        "sc8_odd": words(3, 0x04030003, 0x3E010000, 0x00C00400),
        "address": words(0, 0),
        "named_address": words(0, 0, 0xC0A80A01, 40000),
    },
    "n200_report": {
        "flow_control": words(0x50110006, 2, 0, 0xD585, 0x000F0000, 0xFFFFFFFF),
        "underflow": words(0x50120006, 2, 0, 0xD585, 0x00050002, 5),
        "resolved": words(0),
        "unresolved": words(0xFFFFFFFF),
    },
    "n200_eeprom": {"motherboard": motherboard(), "daughterboard": daughterboard()},
    "n200_words": {
        "start": words(0xE0000001, 0, 0),
        "timed": words(0x0000012C, 1, 2),
        "rate": words(0x307, 0x108AE, 0),
        "hertz": struct.pack(">d", 25e6) + words(0),
    },
    "lag": {
        "request": words(0x544C4147, 0x10000, 7, 0, 0, 1000).ljust(512, b"\0"),
        "punctual": words(0x544C4147, 0x10001, 7, 1000, *[0, 5] * 6, 2, 0),
        "late": words(0x544C4147, 0x10001, 7, 1000, *[0, 5] * 6, 3, 2, 0, 10, 0, 13, 0, 50, 0, 52),
    },
    "ptp": {
        "get_time_status": ptp(0, 0xC000),
        "current": ptp(2, 0x2001, struct.pack(">Hqq", 1, -1234 << 16, 5678 << 16)),
        "time_properties": ptp(2, 0x2003, struct.pack(">hBB", 37, 0x3C, 0x20)),
        "time_status": ptp(2, 0xC000, struct.pack(">qqiiHHQHi8s", -9, 1 << 60, 0, 0, 0, 0, 0, 0, 1, b"\x02\0\0\xff\xfe\0\0\1")),
        "port": ptp(2, 0xC004, b"\x02\0\0\xff\xfe\0\0\1" + struct.pack(">HBBB", 1, 9, 0, 4) + b"eth0\0"),
        "refused": ptp(2, 2, struct.pack(">HI", 0xC004, 0), tlv=2),
    },
    "samples": {
        "tone": words(*[0x3E800000, 0x00003E80, 0xC1800000, 0x0000C180] * 5) + b"\x01\x02\x03",
        "floats": struct.pack("<10f", 0.5, 1.5, -2.5, float("nan"), float("inf"), -1e9, 32767.5, -32768.5, 1e-40, 127.5),
    },
}



def step(port, wait, datagram):
    """A step of the script that the target n200_device plays: which port, 2^wait ticks later, what."""
    return bytes([port, wait, len(datagram)]) + datagram


CONTROL, FIFO, RX0, _RX1, TX = range(5)
HELLO = step(CONTROL, 10, control("a"))
HERE_I_AM = step(RX0, 10, words(0, 0)) + step(TX, 10, words(0, 0))


def poke(number, register, data):
    return step(FIFO, 10, words(number, 0x40010003 | number % 16 << 16, 0x00010000 | register, data))


SEEDS["n200_device"] = {
    "hello": HELLO,
    "settings": HELLO + b"".join(poke(n, n * 4 % 256, 0xFFFFFFFF >> n) for n in range(32)),
    "samples": HELLO + HERE_I_AM + b"".join(step(TX, 14, words(n, 0x06000004 | n % 16 << 16, 1, 2, 3)) for n in range(8)),
}
SEEDS["udp_load"] = {
    "hello": b"TAKT" + bytes([1, 1, 0, 0]) + bytes(56),
    "alive": b"TAKT" + bytes([1, 8, 0, 3]) + bytes(16),
    "data": bytes([0xD1, 2]) + bytes(14),
    "plan": b'{"direction":"both","payload_bytes":64,"datagrams_per_s":1e4,"duration_ns":1000000000,"interval_ns":100000000,'
    b'"flows":1,"server_ahead_ns":0}',
    "flat-out": b'{"direction":"both","payload_bytes":64,"duration_ns":10001000000,"interval_ns":100000000,"flows":1,'
    b'"server_ahead_ns":0}',
    "shape": b'{"direction":"to_server","payload_bytes":64,"sizes":[18,548,1472],"datagrams_per_s":2e3,"ramp_from_per_s":0.5,'
    b'"burst":7,"datagrams":1000,"duration_ns":9000000000,"interval_ns":1000000000,"flows":2,"server_ahead_ns":-9}',
}
SEEDS["sigmf"] = {
    "recording": b'{"global":{"core:datatype":"ci16_le","core:version":"1.2.0","core:sample_rate":1e6,"core:hw":"N200"},'
    b'"captures":[{"core:sample_start":0,"core:frequency":9e8,"core:datetime":"2026-11-21T04:00:00Z"},'
    b'{"core:sample_start":700}],"annotations":[{"core:sample_start":3,"core:sample_count":4}],"more":[null,{"a":-1.5}]}',
}


def tar(members):
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in members.items():
            about = tarfile.TarInfo(name)
            about.size = len(data)
            archive.addfile(about, io.BytesIO(data))
    # The zeros that fill the last block of 20 records say nothing.
    return packed.getvalue().rstrip(b"\0") + bytes(1024)


TWO_CHANNELS = (
    b'{"global":{"core:datatype":"ri16_be","core:version":"1.2.0","core:num_channels":2,"core:offset":10},'
    b'"captures":[{"core:sample_start":11}]}'
)
NAMED = (
    b'{"global":{"core:datatype":"cu8","core:version":"1.2.0","core:dataset":"iq.bin","core:trailing_bytes":1},'
    b'"captures":[{"core:sample_start":0,"core:header_bytes":2}]}'
)
SEEDS["archive"] = {
    "folder": tar({"a/a.sigmf-meta": TWO_CHANNELS, "a/a.sigmf-data": bytes(range(16))}),
    "top": tar({"./a.sigmf-data": bytes(8), "./a.sigmf-meta": TWO_CHANNELS}),
    "named": tar({"a/a.sigmf-meta": NAMED, "a/iq.bin": bytes(range(9))}),
}
SEEDS["experiment"] = {
    "small": b'question = "?"\n[rounds]\ncount = { full = 2, quick = 1 }\n[[part]]\nname = "udp"\n'
    b'factors = { payload_bytes = [16, 64] }\nfixed = { workload = { kind = "udp", duration = "1s" } }\n',
}
SEEDS["options"] = {
    "fault": b"lose:rx,every=100,run=16,limit=5",
    "stall": b"stall:tx,at=+300ms,for=1ms",
    "source": b"tone:100k,amplitude=0.5",
    "sink": b"sigmf:/tmp/out",
    "network": b"192.168.10.0/24",
    "need": b"n200:25M:duplex:sc16",
}

# Which kernel, and then choices and lengths as crates/dsp/tests/support/hostile.rs reads them: 16 bits and a shift each.
SEEDS["coding"] = {
    "checks": bytes([0, 2]) + struct.pack("<HB", 3840, 0) + bytes(range(64)),
    "matching": bytes([1, 0, 0]) + struct.pack("<HBHBHB", 11580, 0, 9120, 0, 11580, 0) + bytes([0, 1, 0, 1, 1]),
    "turbo": bytes([2]) + struct.pack("<HB", 3856, 0) + bytes([1, 0, 1]),
    "convolutional": bytes([3, 1]) + struct.pack("<HB", 112, 0) + bytes(range(100, 200)),
    "interleavers": bytes([4, 2]) + struct.pack("<HB", 9120, 0) + bytes(range(64)),
    "shares": bytes([5]) + struct.pack("<HB", 9600, 0) + bytes([2]) + bytes([250, 6, 0x3C, 0x2D, 0, 0]) * 2 + bytes([0, 1, 0, 1]),
    "lte_matching": bytes([6, 1, 187]) + struct.pack("<HB", 20, 0) + bytes([1, 2]) + struct.pack("<HB", 9000, 0) + bytes([0, 1, 1]),
    "lte_symbols": bytes([7, 3]) + struct.pack("<HB", 160, 0) + struct.pack("<40f", *range(40)),
}

# Which component, two bytes for each parameter left at its default, and then packets as crates/phy/tests/support/hostile.rs
# reads them.
SEEDS["components"] = {f"with_defaults_{n}": bytes([n] + [0] * 16) + bytes(range(256)) for n in range(0, 32, 3)}


def dhcp(op, kind, options=b"", yours=0):
    fixed = struct.pack(">BBBBIHHIIII", op, 1, 6, 0, 7, 0, 0x8000, 0, yours, 0, 0) + bytes.fromhex("02746b000001") + bytes(202)
    return fixed + bytes([99, 130, 83, 99, 53, 1, kind]) + options + b"\xff"


SEEDS["dhcp"] = {
    "discover": dhcp(1, 1),
    "offer": dhcp(2, 2, bytes([1, 4, 255, 255, 255, 0, 3, 4, 10, 0, 1, 1, 51, 4, 255, 255, 255, 255, 54, 4, 10, 0, 1, 1]), 0x0A000102),
    "request": dhcp(1, 3, bytes([50, 4, 10, 0, 1, 2, 54, 4, 10, 0, 1, 1])),
    "ack": dhcp(2, 5, bytes([54, 4, 10, 0, 1, 1, 0, 0, 12, 3]) + b"box", 0x0A000102),
    "nak": dhcp(2, 6, bytes([54, 4, 10, 0, 1, 1])),
}



def le(*values):
    return struct.pack(f"<{len(values)}Q", *values)


# From the test vectors of docs/internals/x310.md, clause 17.
SEEDS["chdr"] = {
    "ask": le(0x280000, 0x0100000000020001, 0x401, 0x300, 0),
    "answer": le(0x0000000400200001, 0x0100000000010001, 1, 0x1041C00200010500),
    "set_up": le(0x1500600000, 0x0100000000040003, 0, 0x10200, 0x3000C0606, 0x2000000100605, 0x140604, 0xFFFFFF00180603, 0x1C0602, 0xB00080601, 0x300, 0),
    "read": le(0x0080000100180002, 0x0000000101100000, 0x0000000002F00004),
    "acknowledged": le(0x0080000000180001, 0x0000000281100000, 0x8010180402F00004),
    "message": le(0x0080000000200001, 0x0000000240101004, 54661, 0x0000000301F00000),
    "command": le(0x0040000000180003, 0x0000FFFFFF000002, 0x20000),
    "status": le(0x0020000100280004, 0x0000400000000002, 0x42FFFFFF, 0x80C70, 0),
    "timed": le(0x00E0000000180003, 0x180C34, 0x09C63DBB00003E80),
    "last": le(0x02C00009000C0002)[:8] + b"\1\2\3\4",
}
SEEDS["x310"] = {
    "hello": words(1, 0x6B8B4567, 0, 0),
    "peek": words(9, 1, 0xA010, 0),
    "poke": words(5, 2, 0xA210, 5),
    "frame": words(1, 4004),
    "motherboard": struct.pack("<HHHH", 11, 0x7862, 7, 0) + bytes(range(100)),
}


def steps(*script):
    """Port, wait and datagram of each step, as fuzz_targets/x310_device.rs reads them."""
    return b"".join(bytes([port, wait, len(datagram)]) + datagram for port, wait, datagram in script)


SEEDS["x310_device"] = {
    # Advertise as endpoint 1, give endpoint 0 the id 2, set its output up, answer, and start the radio of slot A.
    "receive": steps(
        (2, 1, le(0x280000, 0x0100000000020001, 0x101, 0x300, 0)),
        (2, 1, le(0x400000, 0x0100000000040001, 0, 0x10200, 0x700040602, 0x200000601, 0x300, 0)),
        (2, 1, le(0x480000, 0x0100000000040001, 0, 0x10200, 0x1000C0603, 0x2000000100602, 0xB00080601, 0x300, 0)),
        (2, 1, le(0x0020000000280002, 0x0000400000000001, 0xFFFFFF, 0, 0)),
        (2, 1, le(0x0080000000180002, 0x0000000100100003, 0x00000010_01F00400)),
        (2, 1, le(0x0080000000180002, 0x0000000100100004, 0x00000002_01F01014)),
        (2, 20, le(0x0020000000280002, 0x0000400000000001, 0xFFFFFF, 8, 0)),
    ),
    "claim": steps((0, 1, words(5, 1, 0x6018, 7)), (0, 27, words(9, 2, 0x6014, 0)), (1, 3, words(1, 4004))),
    "transmit": steps(
        (2, 1, le(0x400000, 0x0100000000040001, 0, 0x10200, 0x700040602, 0x200000601, 0x300, 0)),
        (2, 1, le(0x0040000000180002, 1, 64)),
        (2, 1, le(0x00C0000000180002, 1, 2)),
        (2, 1, le(0x02C0000200180002, 1, 2)),
    ),
}


def frame(fragment=0x4000, checksum=0xBCF2, payload=b"takt?", kind=0x0800):
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, 28 + len(payload), 0, fragment, 64, 17, 0, 0x0A000001, 0x0A000002)
    total = sum(struct.unpack(">10H", ip))
    total = (total & 0xFFFF) + (total >> 16)
    ip = ip[:10] + struct.pack(">H", ~total & 0xFFFF) + ip[12:]
    udp = struct.pack(">HHHH", 0x1000, 9, 8 + len(payload), checksum)
    return bytes.fromhex("020000000002020000000001") + struct.pack(">H", kind) + ip + udp + payload


SEEDS["frame"] = {
    "takt": frame(),
    "padded": frame() + bytes(13),
    "no_checksum": frame(checksum=0),
    "empty": frame(checksum=0, payload=b""),
    "fragment": frame(fragment=0x2000),
    "tagged": frame(kind=0x8100),
}


def checksum(data):
    total = sum(struct.unpack(f">{(len(data) + 1) // 2}H", data + bytes(len(data) % 2)))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def icmp(kind=3, code=3, about=None, total=None):
    """From 10.0.0.2 to 10.0.0.1, about the front of a datagram that went the other way (RFC 792)."""
    about = frame()[14:42] if about is None else about
    message = struct.pack(">BBHI", kind, code, 0, 0) + about
    message = message[:2] + struct.pack(">H", checksum(message)) + message[4:]
    total = 20 + len(message) if total is None else total
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, total, 0, 0, 64, 1, 0, 0x0A000002, 0x0A000001)
    ip = ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:]
    return bytes.fromhex("020000000001 020000000002 0800") + ip + message


SEEDS["icmp"] = {
    "no_port": icmp(),
    "no_host": icmp(code=1),
    "padded": icmp() + bytes(13),
    "echo_reply": icmp(kind=0, code=0, about=b"takt?"),
    "cut": icmp(about=frame()[14:36]),
    "longer_than_it_is": icmp(total=200),
}


def bridge(trailer, items=b"", first=0, count=3):
    padded = items + bytes(-len(items) % 4)
    words_in_all = 6 + len(padded) // 4
    head = struct.pack(">IIIQ", 0x14D00000 | count << 16 | words_in_all, 7, 60, first)
    return head + padded + struct.pack(">I", trailer)


SEEDS["bridge"] = {
    "whole": bridge(0x40F40000, bytes(range(8))),
    "first": bridge(0x40F40400, bytes(range(8))),
    "final_padded": bridge(0x40F40F00, b"takt?", first=2),
    "missed": bridge(0x40F00000),
    "clock_request": words(0x54434C4B, 0x10000, 7, 0, 0, 0, 0, 0),
    "clock_reply": words(0x54434C4B, 0x10001, 7, 0, 0, 1000, 0, 2000),
}

def message(**parts):
    return json.dumps({"protocol": 2, **parts}).encode()


ORDER = {
    "run": "bpsk-7", "placing": 1, "file": "bpsk.toml", "text": "name = 'bpsk'", "slot_ns": 1_000_000, "set": ["channel.ebn0_db=3"],
    "latency": "fixed", "hop_slots": 2, "slots": 1000, "fifo_priority": 50, "manager": "manager-7", "first_stream": 112,
    "workers": [{"node": "a", "cpu": 1, "components": ["source", "sink"]}],
}
BEGIN = {"run": "bpsk-7", "reference": "a", "clock": "10.0.0.1:7000", "samples": {"a": "10.0.0.1:7001"}}
STOP = {"ask": "stop", "run": "bpsk-7", "manager": None}
BALLOT = {"placing": 1, "manager": "manager-7"}
GIVEN = {"cluster": "lab", "node": "a", "moment": {"life": 7, "at_ns": 1}, "number": 9, "order": STOP}

PTP = {"epoch_ptp_ns": 1_800_000_000_000_000_000, "grandmaster": 7, "bound_ns": 5_000}
SEEDS["control"] = {
    "describe": message(body={"ask": "describe"}),
    "progress": message(body={"ask": "progress", "run": "bpsk-7"}),
    "unsigned": message(body=STOP),
    "sealed": message(order={"text": json.dumps(GIVEN), "certificate": "-----BEGIN CERTIFICATE-----\n", "signature": "MEUC"}),
    "version": json.dumps({"protocol": 3, "body": {}}).encode(),
    "given": json.dumps(GIVEN).encode(),
    "open": json.dumps({"ask": "open", **ORDER}).encode(),
    "prepare": json.dumps({"ask": "prepare", "after": BALLOT, "order": {**ORDER, "placing": 2, "slots": None}}).encode(),
    "adopt": json.dumps({"ask": "adopt", "run": "bpsk-7", "after": BALLOT, "next": {**BALLOT, "placing": 2}, "voters": ["a", "m"]}).encode(),
    "recall": json.dumps({"ask": "recall", "run": "bpsk-7"}).encode(),
    "start": json.dumps({"ask": "start", **BEGIN, "in_ns": 400_000_000, "epoch_ns": None}).encode(),
    "change": json.dumps({"ask": "change", **BEGIN, "next": {**BALLOT, "placing": 2}, "at": 100, "epoch_ns": 1}).encode(),
    "open_by_ptp": json.dumps({"ask": "open", **ORDER, "slot_clock": "ptp"}).encode(),
    "start_by_ptp": json.dumps({"ask": "start", **BEGIN, "in_ns": 1, "epoch_ns": 1, "ptp": PTP}).encode(),
    "stop": json.dumps(STOP).encode(),
    "start_agent": json.dumps({"ask": "start_agent", "version": "0.1.0", "cores": 2}).encode(),
    "heartbeat": json.dumps({"from": "b", "sent_ns": 7, "received": {"a": 900, "m": 1}, "supports": BALLOT}).encode(),
    "write_agent": json.dumps({"ask": "write_agent", "agent": 7, "input": "eyJkbyI6ImhlbGxvIn0K", "end": False}).encode(),
}

SEEDS["metrics"] = {
    "get": b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:9477\r\nAccept: text/plain;version=0.0.4;q=0.3,*/*;q=0.2\r\n\r\n",
    "head": b"HEAD /metrics?name[]=takt HTTP/1.0\r\n\r\n",
    "cut": b"GET /metrics HTTP/1.1\r\nHost: a\r\nUser-Age",
    "many": b"GET /metrics HTTP/1.1\r\n" + b"a: b\r\n" * 70 + b"\r\n",
    "other": b"PUT / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc",
}

# LTE: TS 36.212 section 5.3.3, TS 36.321 section 6.1, TS 36.331 section 6.2.2, and the forms of crates/lte-link/README.md.
def grant(bits, bandwidth=2):
    return bytes([bandwidth]) + struct.pack("<Q", bits)


SEEDS["lte_messages"] = {
    # Format 1A, 25 blocks: flag 1, localised, a run of nine bits, MCS 9, process 1, new, version 0, power 1.
    "compact": grant(0b1_0_000011010_01001_001_1_00_01_00),
    "uplink": grant(0b0_0_000110101_01010_1_01_011_0_0),
    "bitmap": grant(0b0_1111111111111_01001_001_1_00_01),
    # Bandwidth 100, PHICH 1, frame 512.
    "broadcast": grant(5 << 21 | 2 << 18 | 128 << 10, 5),
}
SYSTEM_INFORMATION = bytes([1]) + struct.pack(">I", 0xDEADBEEF) + bytes([3]) + struct.pack(">H", 22) \
    + bytes([5, 2, 64, 10, 48, 20, 2, 4, 1, 4]) + b"takt"
RESPONSE = bytes([0x45, 0x04, 0xD0, 0x68, 0x0C, 0x12, 0x34])
SETUP = struct.pack(">BIBBBBHBBHH", 1, 7, 0, 0, 10, 1, 2, 10, 2, 3, 9)
PDUS = {
    "system_information": SYSTEM_INFORMATION,
    "response": RESPONSE,
    "back_off_and_two": bytes([0x82, 0xC5, 0x7F]) + RESPONSE[1:] + RESPONSE[1:],
    "mac_with_timing": bytes([0x3D, 0x23, 3, 0x1F, 31, 1, 2, 3, 0, 0, 0, 0]),
    "mac_with_message": bytes([0x3C, 0x00]) + b"\0" * 6 + SETUP,
    "setup": SETUP,
    "complete": struct.pack(">BII", 3, 7, 9),
    "rlc_whole": bytes([0xC0, 0, 5]) + b"packet",
    "rlc_segment": bytes([0xB0, 0, 5, 1, 44]) + b"packet",
    "rlc_status": struct.pack(">BHHHH", 0, 9, 5, 0, 0xFFFF),
}
SEEDS["lte_pdus"] = {name: bytes([2]) + pdu for name, pdu in PDUS.items()}
SEEDS["lte_bearer"] = {
    "packets_and_status": bytes([0, 0, 1, 3, 195, 4, 60]) + b"".join(
        bytes([6, len(PDUS[name])]) + PDUS[name] for name in ("rlc_whole", "rlc_segment", "rlc_status")
    ),
    "unacknowledged": bytes([1, 0, 3, 6, 9]) + PDUS["rlc_whole"] + bytes([4, 60]),
}
SEEDS["lte_link"] = {
    name: bytes([2, 0]) + b"".join(bytes([gap, len(pdu)]) + pdu for pdu in PDUS.values())
    for name, gap in (("at_once", 0), ("while_attached", 90))
}
SEEDS["lte_receivers"] = {
    "cell": bytes([5, 0, 1, 2]),
    "silence_and_search": bytes([0, 0, 0, 0]),
    "noise_with_pulses": struct.pack("<HBBQHHBBBHHBQQ", 5, 1, 1, 7, 100, 50, 0, 9, 200, 700, 3, 1, 0x7FC00000, 0x7F800000),
    "loud_cell": struct.pack("<HBBHHBB", 0, 1, 2, 0, 1919, 6, 100),
}

for target, seeds in SEEDS.items():
    (HERE / target).mkdir(parents=True, exist_ok=True)
    for name, seed in seeds.items():
        (HERE / target / name).write_bytes(seed)
