"""Options that make no sense: each exception names option, value, what was expected, and a fix."""

import pytest

import takt

WRONG = [
    # option, value, in the message, in the fix
    ("speed", 0, "0.001 to 100", "speed=0.1"),
    ("speed", float("nan"), "0.001 to 100", "speed=0.1"),
    ("speed", True, "0.001 to 100", "speed=0.1"),
    ("speed", "fast", "0.001 to 100", "speed=0.1"),
    ("speed", [1], "0.001 to 100", "speed=0.1"),
    ("addr", "localhost", "an IPv4 address", 'addr="127.0.0.1"'),
    ("addr", b"127.0.0.1", "an IPv4 address", 'addr="127.0.0.1"'),
    ("board", "sbxx", "a board", "wbx"),
    ("gpsdo", 1, "True or False", "gpsdo=True"),
    ("gpsdo", "yes", "True or False", "gpsdo=True"),
    ("imperfect", -1, "a seed", "imperfect=7"),
    ("imperfect", 1 << 64, "a seed", "imperfect=7"),
    ("imperfect", 1.5, "a seed", "imperfect=7"),
    ("imperfect", True, "a seed", "imperfect=7"),
    ("faults", 7, "a fault or a list", "lose:rx"),
    ("faults", [7], "a fault or a list", "lose:rx"),
    ("faults", ["loose:rx,every=10"], "unknown fault `loose", "lose:rx,every=10"),
    ("faults", ["lose:rx,every=0"], "every", "faults="),
    ("source", "tnoe", "unknown source `tnoe`", 'source="tone"'),
    ("source", None, None, None),
    ("source", "x\0y", "unknown source", "source="),
    ("sink", "sigmf:", "needs the path", "sink="),
    ("overflow", "ignore", "hardware or continue", "continue"),
    ("uhd", "3.15", "4.3 to 4.11", "4.11"),
    ("beat_us", 0, "1 to 10000", "beat_us=200"),
    ("beat_us", 10**30, "1 to 10000", "beat_us=200"),
    ("keep_samples", -5, "a number of samples", "keep_samples="),
    ("fpga", "eleven", "MAJOR.MINOR", "11.1"),
    ("hardware", 1 << 16, "a 16-bit revision", "0x0a01"),
    ("engine", "warp", "warp", "omit engine"),
    ("allow", ["everywhere"], "networks", "192.168.10.0/24"),
    ("priority", 100, "1 to 99", "priority=50"),
    ("cores", "all", "a list of CPU numbers", "cores=[1]"),
]


@pytest.mark.parametrize(("option", "value", "message", "fix"), WRONG, ids=lambda part: str(part)[:24].replace("\0", "0"))
def test_a_wrong_value_is_refused_by_name(option, value, message, fix):
    if message is None:
        # As if it were omitted.
        takt.emulate("n200", **{option: value}).stop()
        return
    with pytest.raises(takt.OptionError) as refused:
        takt.emulate("n200", **{option: value})
    error = refused.value
    assert error.option == option
    shown = value[0] if isinstance(value, list) and isinstance(value[0], str) else value
    assert repr(shown) in error.value or str(shown) in error.value
    assert message in str(error)
    assert fix in error.fix
    assert isinstance(error, ValueError) and isinstance(error, takt.TaktError)


def test_an_option_that_there_is_not_is_refused_with_the_one_meant():
    with pytest.raises(takt.OptionError) as refused:
        takt.emulate("n200", fautls=["lose:rx"])
    assert (refused.value.option, refused.value.fix) == ("fautls", "did you mean faults?")
    with pytest.raises(takt.OptionError) as refused:
        takt.emulate("n200", colour="red")
    assert refused.value.value == "'red'" and "keep_samples" in refused.value.fix


def test_what_the_other_model_has_is_refused():
    for model, option, value in [("x310", "gpsdo", True), ("n200", "uhd", "4.11"), ("n200", "board", "ubx")]:
        with pytest.raises(takt.OptionError) as refused:
            takt.emulate(model, **{option: value})
        assert refused.value.option == option
        assert str(refused.value).startswith(f"an {model} has no {option}")


def test_a_model_that_there_is_not_is_refused():
    with pytest.raises(takt.OptionError) as refused:
        takt.emulate("b210")
    assert (refused.value.option, refused.value.value) == ("model", "'b210'")
    assert "n200 and x310" in refused.value.reason


def test_long_values_do_not_hide_the_message():
    with pytest.raises(takt.OptionError) as refused:
        takt.emulate("n200", board="ü" * 100_000)
    assert len(str(refused.value)) < 400


@pytest.mark.parametrize(
    ("radios", "links", "message", "fix"),
    [
        ({"base": "n200"}, [("bsae", "base")], "no radio is called `bsae`", "did you mean `base`?"),
        ({"base": "b210"}, [], "b210", "n200"),
        ({"base": {"model": "n200", "gain": 3}}, [], "gain", ""),
        ({"base": "n200", "other": "n200"}, [("base", "other"), ("base", "other")], "two links", "tap"),
        ({"base": {"model": "n200", "faults": ["loose:rx"]}}, [], "faults", "lose:rx"),
        ({}, [], "radio", "radio"),
    ],
)
def test_an_air_that_makes_no_sense_is_refused(radios, links, message, fix):
    with pytest.raises(takt.TaktError) as refused:
        takt.air(radios, links)
    assert message in refused.value.message and fix in refused.value.fix


def test_what_belongs_to_one_radio_is_not_for_all_of_an_air():
    with pytest.raises(takt.OptionError) as refused:
        takt.air({"base": "n200"}, source="silence")
    assert refused.value.option == "source"


def test_every_exception_has_message_reason_and_fix_in_its_text():
    error = takt.TaktError("it broke", "somebody pulled", "push")
    assert str(error) == "it broke\n  why   somebody pulled\n  fix   push"
    assert str(takt.EmulatorError("it broke")) == "it broke"
