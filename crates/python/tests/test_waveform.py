"""Waveforms run from Python. NumPy computes what a component in Python must have computed, theory what a link must lose."""

import json
import math
import re
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import takt

ROOT = Path(__file__).parents[3]
BPSK = ROOT / "waveforms" / "bpsk.toml"
PAGE = ROOT / "docs" / "how-to" / "use-takt-from-python.md"


def test_a_waveform_file_loses_as_many_bits_as_theory_says():
    report = takt.Waveform.load(BPSK).run(200, clock="free", set={"channel.ebn0_db": 4.0})
    assert report.clean and (report.slots, report.misses) == (200, 0)
    results = report.results("sink")
    expected = 0.5 * math.erfc(math.sqrt(10 ** (4.0 / 10)))
    compared, errors = results["bits"], results["bit_errors"]
    assert compared == 200_000
    # Five standard deviations of a binomial count.
    assert abs(errors - compared * expected) < 5 * math.sqrt(compared * expected)


def test_the_program_computes_the_same(takt_program):
    done = subprocess.run(
        [takt_program, "run", str(BPSK), "--slots", "100", "--clock", "free", "--set", "channel.ebn0_db=4", "--json"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    theirs = json.loads(done.stdout)
    ours = takt.Waveform.load(BPSK).run(100, clock="free", set={"channel.ebn0_db": 4})
    assert ours.output_hash == theirs["output_hash"]
    assert ours.results("sink") == next(c["results"] for c in theirs["components"] if c["name"] == "sink")


def random_symbols(count=3000):
    noise = np.random.default_rng(7)
    return (noise.standard_normal((count, 64)) + 1j * noise.standard_normal((count, 64))).astype(np.complex64)


def between(function_component, symbols, slots, **run):
    """Runs a component between a source and a sink in Python: what the sink got."""
    got = []
    source = takt.Component(lambda slot: symbols[slot], input=None, items=symbols.shape[1], delay=3)
    sink = takt.Component(lambda samples: got.append(samples.copy()), output=None)
    waveform = takt.Waveform("between").add("source", source).add("it", function_component).add("sink", sink)
    report = waveform.chain("source", "it", "sink").run(slots, **run)
    return got, report


@takt.component(items=64, delay=4)
def double(samples):
    return 2 * samples


def test_a_component_in_python_computes_what_numpy_does():
    symbols = random_symbols()
    got, report = between(double, symbols, 200, clock="free")
    # The answers of the last slots are due behind the end: 3 slots of the source and 4 of the component.
    assert np.array_equal(np.concatenate(got), 2 * symbols[: 200 - 7].reshape(-1))
    assert report.results("it") == {"lost_packets": 0, "late_answers": 0, "wrong_lengths": 0}
    again = between(double, symbols, 200, clock="free")[1]
    assert again.output_hash == report.output_hash, "a free run computes the same every time"


def test_the_component_is_still_a_function():
    assert np.array_equal(double(np.ones(3)), 2 * np.ones(3))
    assert double.__name__ == "double" and "c32" in repr(double)


def test_a_component_of_five_lines_stands_in_the_documentation():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (block,) = [block for block in blocks if block.startswith("@takt.component")]
    lines = [line for line in block.splitlines() if line.strip()]
    assert len(lines) <= 5
    scope = {"takt": takt, "np": np}
    exec(block, scope)
    (made,) = [value for value in scope.values() if isinstance(value, takt.Component)]
    got, _ = between(made, random_symbols(), 100, clock="free")
    assert len(got) > 0


@pytest.mark.parametrize(
    "stalls",
    [lambda: time.sleep(0.05), lambda: sum(range(2_000_000))],
    ids=["sleeps", "keeps Python's lock"],
)
def test_a_slow_component_loses_its_own_packets_and_makes_nobody_late(stalls):
    @takt.component(input="f32", output="f32", items=1000, delay=2)
    def slow(samples):
        stalls()
        return samples

    waveform = takt.Waveform("slow", slot="2 ms")
    waveform.add("source", "null-source").add("copy", "copy").add("sink", "null-sink").chain("source", "copy", "sink")
    waveform.add("slow", slow).add("end", "null-sink").chain("source", "slow", "end")
    report = waveform.run(300)
    results = report.results("slow")
    assert results["lost_packets"] > 100 and results["late_answers"] > 100
    # The slot loop may be late because the host is busy. It is never late because of the component in Python.
    culprits = [miss["culprit"] for miss in report.raw["miss_list"]]
    assert [culprit for culprit in culprits if culprit.get("component") == "slow"] == []
    if report.misses == 0:
        assert report.components["copy"]["missing_packets"] == 0 and report.clean
    assert report.components["end"]["missing_packets"] > 100, "its consumer finds that packets are missing"


def test_a_component_that_raises_ends_the_run_and_is_named():
    @takt.component(items=64, delay=2)
    def broken(samples):
        raise ZeroDivisionError("of mine")

    with pytest.raises(takt.ComponentError) as error:
        between(broken, random_symbols(), 500, clock="free")
    assert error.value.message == "component it ended with ZeroDivisionError: of mine"
    assert isinstance(error.value.__cause__, ZeroDivisionError)


@pytest.mark.parametrize(
    ("answer", "says"),
    [(np.zeros((2, 2)), "one dimension"), ("text", "one dimension"), (np.array(["x"]), "complex")],
    ids=["shape", "text", "texts"],
)
def test_an_answer_that_is_no_packet_ends_the_run(answer, says):
    with pytest.raises(takt.ComponentError) as error:
        between(takt.Component(lambda samples: answer, items=64, delay=2), random_symbols(), 100, clock="free")
    assert isinstance(error.value, takt.WaveformError) and says in error.value.message


def test_an_answer_of_a_wrong_length_is_lost_and_counted():
    got, report = between(takt.Component(lambda samples: samples[:10], delay=2), random_symbols(), 50, clock="free")
    assert got == [] and report.results("it")["wrong_lengths"] > 40


def test_no_answer_is_no_packet_and_no_loss():
    every_second = takt.Component(lambda samples, n=iter(range(10**6)): samples if next(n) % 2 else None, items=64, delay=2)
    got, report = between(every_second, random_symbols(), 105, clock="free")
    assert len(got) == 50 and report.components["sink"]["missing_packets"] == 0


@pytest.mark.parametrize(
    ("item", "array"),
    [
        ("bit", np.array([0, 1, 1], np.uint8)),
        ("byte", np.arange(5, dtype=np.uint8)),
        ("i16", np.array([-5, 300], np.int16)),
        ("c16", np.array([[1, -2], [3, 4]], np.int16)),
        ("f32", np.array([0.5, -1.5], np.float32)),
        ("c32", np.array([1 + 2j, -3j], np.complex64)),
        ("llr", np.array([-128, 127], np.int8)),
    ],
)
def test_items_of_each_type_go_through(item, array):
    got = []
    source = takt.Component(lambda slot: array, input=None, output=item, items=len(array), delay=1)
    through = takt.Component(lambda items: items, input=item, output=item, delay=1)
    sink = takt.Component(lambda items: got.append(items.copy()), input=item, output=None)
    waveform = takt.Waveform("items").add("source", source).add("it", through).add("sink", sink)
    assert waveform.chain("source", "it", "sink").run(10, clock="free").clean
    assert len(got) >= 7
    for items in got:
        assert items.dtype == array.dtype and np.array_equal(items, array)


def test_python_and_takt_components_link_to_each_other():
    got = []
    waveform = takt.Waveform("mixed").add("bits", "bit-source", items=200).add("map", "bpsk-modulate")
    waveform.add("half", takt.Component(lambda x: x // 2, input="i16", output="i16", delay=2)).add("demap", "bpsk-demodulate")
    waveform.add("sink", takt.Component(lambda bits: got.append(bits.copy()), input="bit", output=None))
    assert waveform.chain("bits", "map", "half", "demap", "sink").run(40, clock="free").clean
    bits = takt.NativeComponent("bit-source", items=200)
    assert np.array_equal(np.concatenate(got), np.concatenate([bits() for _ in range(len(got))])) and len(got) == 38


def test_a_run_without_an_end_ends_when_it_is_stopped():
    got = []

    def takes(samples):
        got.append(len(samples))
        if len(got) == 10:
            waveform.stop()

    waveform = takt.Waveform("endless").add("a", "null-source", items=7)
    waveform.add("b", takt.Component(takes, input="f32", output=None)).chain("a", "b")
    report = waveform.run()
    assert report.slots >= 10 and set(got) == {7}
    waveform.stop()
    assert waveform.run(5).slots == 5, "a stop ends the runs of its time"


def test_several_workers_compute_the_same():
    def report(**workers):
        return takt.Waveform.load(BPSK).run(50, clock="free", set={"channel.ebn0_db": 2.0}, workers=workers)

    assert report(sink=1, channel=1).output_hash == report().output_hash
    assert len(report(sink=1).raw["workers"]) == 2


def test_a_component_of_takt_is_a_function_on_arrays():
    bits = np.random.default_rng(1).integers(0, 2, 1000).astype(np.uint8)
    modulate, demodulate = takt.NativeComponent("bpsk-modulate"), takt.NativeComponent("bpsk-demodulate")
    samples = modulate(bits)
    assert samples.dtype == np.int16 and set(np.unique(samples)) == {-4096, 4096}
    assert np.array_equal(demodulate(samples), bits)
    saxpy = takt.NativeComponent("saxpy", a=3.0, b=-1.0)
    assert np.allclose(saxpy(np.arange(10)), 3.0 * np.arange(10) - 1.0)
    assert takt.components()["saxpy"]["summary"] and "saxpy" in repr(saxpy)


def test_wrong_waveforms_are_refused_with_place_and_fix(tmp_path):
    file = tmp_path / "x.toml"
    file.write_text("name = 'x'\nslot = '1 parsec'\n[component.a]\ntype = 'copy'\n")
    wrong = [
        (lambda: takt.Waveform.load(file).run(1), "x.toml:2:8", "10 ms"),
        (lambda: takt.Waveform("x").add("a", "null-sorce").run(1), "null-sorce", "null-source"),
        (lambda: takt.Waveform("x").run(1), "component", ""),
        (lambda: takt.Waveform.load(BPSK).run(1, set={"channel.ebno_db": 1}), "ebno_db", "channel.ebn0_db=1"),
        (lambda: takt.Waveform.load(BPSK).run(1, set={"nonsense": 1}), "nonsense", ""),
        (lambda: takt.Waveform.load(BPSK).run(1, workers={"chanel": 1}), "chanel", "channel"),
        (lambda: takt.Waveform.load(BPSK).run(1, workers={"sink": 10_000}), "workers", "workers"),
        (lambda: takt.NativeComponent("saxpi"), "saxpi", "takt.components()"),
        (lambda: takt.NativeComponent("saxpy", c=1), "no parameter `c`", "a, b"),
        (lambda: takt.NativeComponent("saxpy", a={}), "no value", "a number"),
        (lambda: takt.NativeComponent("saxpy")(), "1 inputs", "in (f32)"),
        (lambda: takt.NativeComponent("saxpy")(np.ones((2, 2))), "this array", "one dimension"),
        (lambda: takt.NativeComponent("saxpy", longest=10)(np.ones(11)), "11 items", "at most 10"),
    ]
    for run, message, fix in wrong:
        with pytest.raises(takt.WaveformError) as refused:
            run()
        assert message in refused.value.message, refused.value
        assert fix in str(refused.value), refused.value
    for make in (lambda: takt.Component(abs, input="c64"), lambda: takt.Component(abs, input=None, output=None)):
        with pytest.raises(takt.OptionError):
            make()
    for option, value in (
        ("clock", "sundial"),
        ("slots", 0),
        ("slots", "many"),
        ("slots", 1.5),
        ("priority", 100),
        ("cores", [-1]),
        ("cores", ["all"]),
        ("workers", {"sink": -1}),
    ):
        with pytest.raises(takt.OptionError) as refused:
            takt.Waveform.load(BPSK).run(**{option: value})
        assert refused.value.option == option and refused.value.fix
    for slot in (float("nan"), -1.0, 1e-12, 1e300):
        with pytest.raises(takt.WaveformError):
            takt.Waveform.load(BPSK).run(1, slot=slot)


def test_an_isolated_component_is_refused_since_its_process_would_be_python():
    waveform = takt.Waveform("x").add("a", "null-source").add("b", "null-sink", isolated=True).chain("a", "b")
    with pytest.raises(takt.WaveformError) as refused:
        waveform.run(1)
    assert "b can't be isolated" in refused.value.message and "takt run" in refused.value.fix


def test_a_source_without_a_length_is_refused():
    waveform = takt.Waveform("x").add("a", takt.Component(lambda slot: None, input=None)).add("b", double).chain("a", "b")
    with pytest.raises(takt.WaveformError, match="how many items"):
        waveform.run(1)


@pytest.mark.parametrize("clock", ["wall", "free"])
def test_ctrl_c_ends_a_run_even_while_a_component_is_waited_for(interruptible, clock):
    code = (
        "import takt, time\n"
        "def waits(slot):\n    print('waits', flush=True)\n    time.sleep(1000)\n"
        "w = takt.Waveform('x').add('a', takt.Component(waits, input=None, items=1))\n"
        "w.add('b', takt.Component(len, output=None)).chain('a', 'b')\n"
        f"w.run(clock={clock!r})\n"
    )
    process = interruptible(code)
    assert process.stdout.readline() == "waits\n"
    process.send_signal(2)
    _, errors = process.communicate(timeout=120)
    assert "KeyboardInterrupt" in errors


def test_python_goes_on_while_a_waveform_runs():
    counted, ended = 0, threading.Event()

    def run():
        takt.Waveform.load(BPSK).run(100)
        ended.set()

    thread = threading.Thread(target=run)
    thread.start()
    while not ended.is_set():
        counted += 1
    thread.join()
    assert counted > 100
