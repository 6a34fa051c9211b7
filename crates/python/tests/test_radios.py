"""Life and addresses of emulated radios, without any other program."""

import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

import takt


def test_a_radio_listens_until_its_block_ends():
    with takt.emulate("n200") as radio:
        assert radio.running and radio.model == "n200"
        assert radio.args == f"addr={radio.addr}" and radio.addr.startswith("127.")
        with pytest.raises(OSError):
            bound(radio.addr)
    assert not radio.running
    bound(radio.addr)
    assert (radio.received(), radio.counts().errors) == ([], 0), "it still answers"
    radio.stop()


def bound(addr, port=49152):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind((addr, port))


def test_a_radio_that_nobody_has_any_more_stops():
    addr = takt.emulate("n200").addr
    gc.collect()
    bound(addr)


def test_an_error_of_the_block_is_the_one_that_is_seen():
    with pytest.raises(ZeroDivisionError):
        with takt.emulate("x310") as radio:
            1 / 0
    assert not radio.running


def test_many_radios_at_once_have_addresses_of_their_own():
    radios = [takt.emulate(("n200", "x310")[number % 2], name=f"radio{number}") for number in range(24)]
    try:
        assert len({radio.addr for radio in radios}) == 24
        assert all(radio.running for radio in radios)
    finally:
        for radio in radios:
            radio.stop()


def test_an_address_that_is_taken_is_refused_and_says_how():
    with takt.emulate("n200") as radio:
        with pytest.raises(takt.OptionError) as refused:
            takt.emulate("n200", addr=radio.addr)
    assert refused.value.option == "addr" and radio.addr in refused.value.value
    assert "omit addr" in refused.value.fix
    with takt.emulate("n200", addr=radio.addr) as again:
        assert again.addr == radio.addr


def test_processes_that_start_radios_at_the_same_moment_share_this_host():
    code = "import takt, sys\nr = [takt.emulate('n200') for _ in range(4)]\nprint(*(x.addr for x in r), flush=True)\nsys.stdin.read()"
    started = [
        subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(3)
    ]
    addrs = [addr for process in started for addr in process.stdout.readline().split()]
    for process in started:
        process.communicate()
        assert process.returncode == 0
    assert len(set(addrs)) == 12


def test_ctrl_c_ends_what_waits_and_stops_the_radio(interruptible):
    code = "import takt\nwith takt.emulate('n200') as r:\n    print(r.addr, flush=True)\n    r.received(bursts=1, timeout=1000)\n"
    process = interruptible(code)
    addr = process.stdout.readline().strip()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert "KeyboardInterrupt" in errors
    bound(addr)


def test_ctrl_c_ends_a_radio_that_serves_others(interruptible):
    # It says so from inside of wait(): before, Ctrl-C would end the program.
    code = (
        "import takt, time\n"
        "r, sleep = takt.emulate('n200'), time.sleep\n"
        "time.sleep = lambda s: (print('waits', flush=True), sleep(s))\n"
        "r.wait()\n"
        "print(r.running, r.counts().bursts)\n"
    )
    process = interruptible(code)
    assert process.stdout.readline() == "waits\n"
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=120)
    assert (output.splitlines()[-1], process.returncode) == ("False 0", 0)


def test_python_goes_on_while_radios_start_and_stop():
    """Starting and stopping leave Python's lock to others: a thread counts meanwhile."""
    counted, enough = 0, threading.Event()

    def count():
        nonlocal counted
        while not enough.is_set():
            counted += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    seen = []
    for _ in range(5):
        before = counted
        takt.emulate("n200").stop()
        seen.append(counted > before)
    enough.set()
    thread.join()
    assert any(seen)


def test_a_forked_child_ends_without_its_parents_radio():
    code = (
        "import os, sys, takt\n"
        "radio = takt.emulate('n200')\n"
        "child = os.fork()\n"
        "if child == 0:\n    radio.stop(); del radio; sys.exit(3)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3\n"
        "print(radio.counts().errors, radio.running)\n"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.returncode) == ("0 True\n", 0), done.stderr


def test_nothing_sent_says_what_the_radio_saw():
    with takt.emulate("n200") as radio:
        with pytest.raises(takt.NotSentError) as late:
            radio.received(bursts=1, timeout=0)
        assert isinstance(late.value, TimeoutError)
        assert str(late.value).startswith("0 of 1 bursts") and "underruns" in late.value.reason


def test_a_channel_that_is_not_there_is_refused():
    with takt.emulate("n200") as radio, takt.emulate("x310") as wide:
        assert wide.received(1) == []
        for of, channel in ((radio, 1), (wide, 2)):
            with pytest.raises(takt.OptionError) as refused:
                of.received(channel)
            assert (refused.value.option, refused.value.value) == ("channel", str(channel))


def test_radios_of_an_air_have_names_and_addresses():
    with takt.air({"base": "n200", "phone": {"model": "x310", "source": "silence"}}, [("base", "phone")], speed=0.5) as air:
        assert list(air) == ["base", "phone"]
        assert [radio.model for radio in air.values()] == ["n200", "x310"]
        assert air["base"].addr != air["phone"].addr
        assert air["phone"].counts().report["name"] == "phone"
        assert air["base"].counts().report["speed"] == 0.5
    assert not air["base"].running


def test_an_air_is_read_from_a_file(tmp_path):
    with takt.emulate("n200") as taken:
        addr = taken.addr
    scene = tmp_path / "scene.toml"
    scene.write_text(f"[[radio]]\nname = 'only'\nmodel = 'n200'\naddr = '{addr}'\n")
    with takt.air(scene) as air:
        assert air["only"].addr == addr
    scene.write_text(f"[[radio]]\nname = 'only'\nmodle = 'n200'\naddr = '{addr}'\n")
    with pytest.raises(takt.OptionError) as refused:
        takt.air(scene)
    assert "scene.toml:3:1" in refused.value.message and "model" in refused.value.fix


def test_the_package_is_typed():
    assert os.path.isfile(os.path.join(os.path.dirname(takt.__file__), "py.typed"))
    assert os.path.isfile(os.path.join(os.path.dirname(takt.__file__), "_takt.pyi"))
