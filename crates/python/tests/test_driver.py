"""Radios that Python drives. UHD's Python API judges at the other end of an air, and NumPy's transform judges what was received."""

import math
import subprocess
import sys
import threading

import numpy as np
import pytest

import takt
from conftest import air_was_late, not_judged


def frequency_of(samples, rate):
    """Frequency of the strongest line of a spectrum, in Hz."""
    spectrum = np.abs(np.fft.fft(samples * np.hanning(len(samples))))
    return np.fft.fftfreq(len(samples), 1 / rate)[np.argmax(spectrum)]


@pytest.fixture
def opened(takt_emulate):
    """Emulates a radio at half speed, so that a machine with other work keeps up, and opens it."""
    radios = []

    def start(model="n200", **options):
        radio = takt.open(takt_emulate(model, **{"speed": 0.5, **options}))
        radios.append(radio)
        return radio

    yield start
    for radio in reversed(radios):
        radio.close()


def test_a_radio_is_found_at_its_address_and_says_what_it_is(takt_emulate):
    radio = takt_emulate("n200", serial="PY1", name="bench")
    (found,) = takt.find(radio.addr)
    assert (found.addr, found.serial, found.name, found.state, found.why) == (radio.addr, "PY1", "bench", "free", None)
    with takt.open(radio.args) as opened:
        assert (opened.model, opened.about["serial"], opened.clock_hz) == ("N200", "PY1", 100_000_000)
        assert takt.find(radio.addr)[0].state == "in_use"
    assert opened.closed and takt.find(radio.addr)[0].state == "free"


def test_nobody_at_an_address_is_an_empty_list_and_no_radio(takt_emulate):
    with takt.emulate("n200") as radio:
        addr = radio.addr
    assert takt.find(addr) == []
    with pytest.raises(takt.RadioError) as nobody:
        takt.open(addr)
    assert addr in nobody.value.message and "takt.emulate" in nobody.value.fix


@pytest.mark.parametrize(("model", "rate"), [("n200", 1e6), ("x310", 2e6)])
def test_a_tone_is_received_with_its_frequency_and_level(opened, model, rate):
    radio = opened(model, source="tone:offset=100k,amplitude=0.5")
    with radio.receiver(rate) as receiver:
        block = receiver.receive(20_000)
        after = receiver.receive(1000)
    assert block.samples.dtype == np.complex64 and block.samples.shape == (20_000,)
    assert frequency_of(block.samples[1000:], rate) == pytest.approx(100e3, abs=2 * rate / 19_000)
    assert np.abs(block.samples[1000:]).mean() == pytest.approx(0.5, abs=0.02)
    assert (block.gap, block.rate) == (None, rate)
    assert after.tick == block.tick + 20_000 * receiver.ticks_per_sample
    assert after.time == pytest.approx(block.end)


def test_two_channels_begin_together_in_rows(opened):
    radio = opened("x310", source="tone:offset=200k")
    with radio.receiver(1e6, channels=[0, 1]) as receiver:
        block = receiver.receive(5000)
    assert block.samples.shape == (2, 5000) and len(block) == 5000
    assert np.abs(block.samples[:, 1000:]).min() > 0.1


def test_a_burst_begins_at_its_time_and_ends(opened):
    radio = opened()
    radio.set_time(5.0)
    assert radio.time() >= 5.0
    with radio.receiver(1e6) as receiver:
        receiver.start(3000, time=6.0)
        blocks = list(receiver.blocks(2000))
    assert [len(block) for block in blocks if len(block)] == [2000, 1000]
    assert blocks[0].tick == 600_000_000 and blocks[-1].ended
    once = radio.receive(1000, 1e6)
    assert len(once) == 1000 and once.time > 6.0


def test_samples_go_into_an_array_of_the_caller(opened):
    out = np.zeros(4000, np.complex64)
    with opened(source="tone:amplitude=0.5").receiver(1e6) as receiver:
        block = receiver.receive_into(out[:3000])
    assert np.shares_memory(block.samples, out)
    assert np.abs(out[1000:3000]).min() > 0.4 and not out[3000:].any()


def test_a_gap_is_an_exception_with_all_that_came_before(opened):
    radio = opened(faults=["lose:rx,after=20,every=1000"], source="silence")
    with radio.receiver(1e6, packet_samples=100) as receiver:
        with pytest.raises(takt.GapError) as gap:
            while True:
                receiver.receive(1_000_000)
        after = receiver.receive(1000)
    error = gap.value
    assert (error.gap.kind, error.gap.letter) == ("dropped", "D") and error.gap.lost == 100
    assert len(error.block) > 0 and "100 samples missing" in str(error)
    step = receiver.ticks_per_sample
    assert after.tick == error.block.tick + (len(error.block) + error.gap.lost) * step, "it goes on behind the gap"


def test_gaps_are_data_by_choice_and_no_sample_is_unaccounted_for(opened):
    radio = opened(faults=["lose:rx,every=50"], source="silence")
    blocks = []
    with radio.receiver(1e6, packet_samples=100, gaps="data") as receiver:
        for block in receiver.blocks(3000):
            blocks.append(block)
            if sum(block.gap is not None for block in blocks) >= 3:
                break
    step = receiver.ticks_per_sample
    for block, after in zip(blocks, blocks[1:]):
        lost = block.gap.lost if block.gap else 0
        assert after.tick == block.tick + (len(block) + lost) * step
    assert receiver.closed and all(block.gap.lost >= 100 for block in blocks if block.gap)


def test_a_start_that_comes_too_late_is_a_gap_that_says_so(opened):
    radio = opened()
    radio.set_time(10.0)
    with radio.receiver(1e6) as receiver:
        receiver.start(1000, time=1.0)
        with pytest.raises(takt.GapError) as late:
            receiver.receive(1000)
    assert (late.value.gap.letter, late.value.gap.lost) == ("L", None)


def test_samples_that_do_not_come_are_an_exception(opened):
    radio = opened()
    with radio.receiver(1e6) as receiver:
        receiver.start(500)
        with pytest.raises(takt.NotReceivedError) as missing:
            while not receiver.receive(500).ended:
                pass
            receiver.receive(500, timeout=0.1)
    assert isinstance(missing.value, TimeoutError) and len(missing.value.block) == 0


@pytest.mark.parametrize("model", ["n200", "x310"])
def test_bursts_leave_at_their_ticks_with_their_samples(takt_emulate, model):
    emulated = takt_emulate(model, speed=0.5)
    tone = (0.5 * np.exp(0.2j * np.pi * np.arange(2500))).astype(np.complex64)
    with takt.open(emulated) as radio:
        base = radio.ticks() + radio.clock_hz
        with radio.transmitter(1e6) as transmitter:
            assert transmitter.send(tone, tick=base) == 2500
            # In two calls, and at once the burst that follows.
            step = transmitter.ticks_per_sample
            second = base + 5000 * step
            assert transmitter.send(tone[:1000], tick=second, more=True) == 1000
            assert transmitter.send(tone[1000:], tick=second + 1000 * step) == 1500
            acks = [transmitter.event(timeout=20.0) for _ in range(2)]
            assert [ack.kind for ack in acks] == ["burst_ack", "burst_ack"]
            assert transmitter.counts()["late"] == 0
        bursts = emulated.received(bursts=2)
    assert [burst.tick for burst in bursts] == [base, second]
    for burst in bursts:
        assert np.abs(burst.samples[:2500] - tone).max() < 1e-3
        assert burst.rate == 1e6


def test_a_burst_that_comes_too_late_is_reported(opened):
    radio = opened()
    radio.set_time(10.0)
    with radio.transmitter(1e6) as transmitter:
        transmitter.send(np.zeros(1000), time=1.0)
        event = transmitter.event(timeout=20.0)
    assert event.kind == "late"


def test_an_n200_is_tuned_and_says_how(opened):
    radio = opened(board="sbx")
    with radio.receiver(1e6):
        # Half of the rate beside the band, where its leakage does no harm.
        tuned = radio.tune(915e6)
    assert tuned.frequency == pytest.approx(915e6, abs=1) and tuned.oscillator == pytest.approx(915.5e6, abs=200e3)
    assert radio.tune(915e6, offset=0.0).shift == pytest.approx(0.0, abs=200e3)
    assert radio.set_gain(20.3) == pytest.approx(20.5, abs=0.5)
    radio.set_antenna("RX2")
    assert radio.tune(2.45e9, side="tx").frequency == pytest.approx(2.45e9, abs=1)


WRONG = [
    (lambda radio: radio.receiver(22e6), "rate", "rate=20000000 or rate=25000000"),
    (lambda radio: radio.transmitter(22e6), "rate", "rate=20000000 or rate=25000000"),
    (lambda radio: radio.receiver(1e6, channels=[7]), "channels", "0 to 1"),
    (lambda radio: radio.receiver(1e6, channels=[-1]), "channels", "channels=[0]"),
    (lambda radio: radio.receiver(1e6, gaps="ignore"), "gaps", "'raise' or 'data'"),
    (lambda radio: radio.receiver(1e6, wire="sc12"), "wire", "sc16"),
    (lambda radio: radio.tune(10.0), "frequency", "from"),
    (lambda radio: radio.set_gain(400.0), "gain", "from"),
    (lambda radio: radio.set_antenna("J1"), "antenna", "RX2"),
    (lambda radio: radio.set_gain(1.0, side="left"), "side", "'rx' or 'tx'"),
    (lambda radio: radio.receive(0, 1e6), "samples", "samples=10000"),
    (lambda radio: radio.set_time(-1.0), "time", "a time of the radio"),
    (lambda radio: radio.set_time(1.0, tick=3), "tick", "one of them"),
    (lambda radio: radio.receiver(1e6, packet_samples=10**6), "packet_samples", "1 to 363"),
    (lambda radio: radio.receiver(1e6, packet_samples=-1), "packet_samples", "from 1"),
    (lambda radio: radio.receiver("1M"), "rate", "rate=1e6"),
    (lambda radio: radio.receiver(math.nan), "rate", "rate=1e6"),
    (lambda radio: radio.tune("915e6"), "frequency", "frequency=915e6"),
    (lambda radio: radio.tune(915e6, offset=math.inf), "offset", "offset=1e6"),
    (lambda radio: radio.tune(915e6, offset=1e12), "frequency", "from"),
    (lambda radio: radio.set_antenna(7), "name", "RX2"),
    (lambda radio: radio.set_time(math.nan), "time", "time=1.0"),
    (lambda radio: radio.set_time(1e30), "time", "a time of the radio"),
    (lambda radio: radio.set_time(tick=1.5), "tick", "a time of the radio"),
    (lambda radio: radio.receiver(1e6).start(2**40), "samples", "4294967295"),
    (lambda radio: radio.receiver(1e6).receive(10, timeout=-1), "timeout", "timeout=1.0"),
    (lambda radio: radio.transmitter(1e6).send("abc"), "samples", "an array"),
    (lambda radio: radio.transmitter(1e6).send(np.zeros((2, 2, 2))), "samples", "one dimension"),
    (lambda radio: takt.open(radio.addr, frame_bytes=-1), "frame_bytes", "from 1"),
    (lambda radio: takt.open("nowhere"), "addr", "192.168.10.2"),
    (lambda radio: takt.open(radio.addr, reference="gps"), "reference", "'internal'"),
    (lambda radio: takt.open(radio.addr, engine="warp"), "engine", "'mmsg'"),
    (lambda radio: takt.open(radio.addr, master_clock=1e6), "master_clock", "200000000 or 184320000"),
]


def test_a_wrong_value_is_refused_by_name_with_a_fix(opened):
    radio = opened(board="sbx")
    for wrong, option, fix in WRONG:
        with pytest.raises(takt.OptionError) as refused:
            wrong(radio)
        assert refused.value.option == option, refused.value
        assert fix in str(refused.value), refused.value


@pytest.mark.parametrize("out", [np.zeros(10), np.zeros((3, 10), np.complex64), np.zeros(20, np.complex64)[::2]], ids=["real", "rows", "stride"])
def test_an_array_that_does_not_suit_is_refused(opened, out):
    with opened().receiver(1e6) as receiver:
        with pytest.raises(takt.OptionError) as refused:
            receiver.receive_into(out)
    assert "complex64" in refused.value.fix


def test_what_an_x310_lacks_is_said(opened):
    with pytest.raises(takt.RadioError) as lacking:
        opened("x310").tune(915e6)
    assert "X310" in lacking.value.message and "streams work without" in lacking.value.fix


def test_a_radio_in_use_is_refused_unless_forced(takt_emulate):
    emulated = takt_emulate("n200")
    code = f"import takt, sys\nr = takt.open({emulated.addr!r})\nprint('mine', flush=True)\nsys.stdin.read()\n"
    other = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdout.readline() == "mine\n"
    with pytest.raises(takt.RadioError) as used:
        takt.open(emulated)
    assert "in use by another host" in used.value.message and "force=True" in used.value.fix
    takt.open(emulated, force=True).close()
    other.communicate()


def test_a_closed_stream_and_a_closed_radio_say_so(opened):
    radio = opened()
    receiver = radio.receiver(1e6)
    receiver.close()
    receiver.close()
    with pytest.raises(takt.RadioError, match="the receiver is closed"):
        receiver.receive(10)
    radio.close()
    with pytest.raises(takt.RadioError, match="the radio is closed"):
        radio.time()


def test_python_goes_on_while_samples_are_waited_for_and_one_thread_uses_a_stream(opened):
    counted, refused = 0, []
    with opened(speed=0.1).receiver(195312.5) as receiver:
        receiver.receive(100)
        waits = threading.Thread(target=lambda: receiver.receive(20_000, timeout=60.0))
        waits.start()
        while waits.is_alive():
            counted += 1
            try:
                receiver.counts()
            except takt.RadioError as error:
                refused.append(error.message)
        waits.join()
    assert counted > 10 and "the receiver is in use by another call" in refused


def test_ctrl_c_ends_a_receive(interruptible):
    code = (
        "import takt\n"
        "with takt.emulate('n200') as e, takt.open(e) as r, r.receiver(1e6) as rx:\n"
        "    rx.start(10, time=1000.0)\n"
        "    print('waits', flush=True)\n"
        "    rx.receive(10)\n"
    )
    process = interruptible(code)
    assert process.stdout.readline() == "waits\n"
    process.send_signal(2)
    _, errors = process.communicate(timeout=120)
    assert "KeyboardInterrupt" in errors


def test_a_forked_child_leaves_the_radio_to_its_parent(takt_emulate):
    code = (
        "import os, sys, takt\n"
        f"radio = takt.open({takt_emulate('n200').addr!r})\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    try:\n        radio.time()\n    except takt.RadioError as error:\n        print(error.message, flush=True)\n"
        "    del radio\n    sys.exit(3)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3\n"
        "print(radio.time() > 0, flush=True)\n"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout == "the radio belongs to the process that forked this one\nTrue\n", done.stderr


@pytest.mark.needs("uhd")
def test_bursts_of_uhd_are_received_at_their_distance(takt_air, program):
    air = takt_air({"base": "n200", "phone": "n200"}, [("base", "phone")], speed=0.5, latency_us=50_000)
    beacon = threading.Thread(target=program, args=("uhd_beacon.py", "--args", air["base"].args))
    with takt.open(air["phone"]) as radio:
        radio.tune(915e6)
        heard = []
        with radio.receiver(1e6, gaps="data") as receiver:
            receiver.start()
            beacon.start()
            # UHD sets its own clock to 0, so the bursts are told by their distance.
            while beacon.is_alive() or not heard:
                block = receiver.receive(10_000)
                strong = np.flatnonzero(np.abs(block.samples) > 0.1)
                heard.extend(block.tick + strong * receiver.ticks_per_sample)
        beacon.join()
    if late := air_was_late(air):
        not_judged(f"{late} samples came too late into the air")
    ticks = np.array(heard)
    starts = ticks[np.flatnonzero(np.diff(ticks, prepend=-(10**9)) > 1_000_000)]
    assert len(starts) == 3
    # An edge rises over the samples of the receiver's filter.
    assert np.diff(starts) == pytest.approx([10_000_000, 10_000_000], abs=2 * receiver.ticks_per_sample)


@pytest.mark.needs("uhd")
def test_a_tone_is_received_by_uhd(takt_air, program, tmp_path):
    air = takt_air({"base": "n200", "phone": "n200"}, [("base", "phone")], speed=0.5, latency_us=50_000)
    tone = (0.5 * np.exp(2j * np.pi * 0.125 * np.arange(40_000))).astype(np.complex64)
    heard = threading.Event()

    def send():
        with takt.open(air["base"]) as radio, radio.transmitter(1e6) as transmitter:
            radio.tune(915e6, side="tx")
            while not heard.is_set():
                transmitter.send(tone, more=True)
            transmitter.send(tone[:1])

    sends = threading.Thread(target=send)
    sends.start()
    try:
        program("uhd_receive.py", air["phone"].args, 20_000, 1e6, 915e6, tmp_path / "received.npy")
    finally:
        heard.set()
        sends.join()
    samples = np.load(tmp_path / "received.npy")
    assert frequency_of(samples[2000:], 1e6) == pytest.approx(125e3, abs=200)
