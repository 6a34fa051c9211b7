"""Fixtures for pytest: each test has radios of its own, at addresses that no other test has.

``n200``, ``x310``
    An emulated radio. ``@pytest.mark.takt(source="silence", speed=0.1)`` gives it options.
``takt_emulate``, ``takt_air``
    As ``takt.emulate`` and ``takt.air``; the radios stop with the test.
``--takt-speed SPEED``
    The speed of all radios that name none: 0.1 for a machine that is too slow for real time.

If a test fails, the report says what its radios counted.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Iterator, List, Sequence, Union

import pytest

import takt

_RADIOS = pytest.StashKey[List[takt.EmulatedRadio]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("takt").addoption(
        "--takt-speed",
        metavar="SPEED",
        help="seconds of emulated radios in a second of this host, 0.001 to 100, or auto (default: 1)",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "takt(**options): options of the emulated radios of fixtures n200 and x310")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: "pytest.CallInfo[None]") -> Any:
    report = yield
    if report.failed and call.when == "call":
        for radio in item.stash.get(_RADIOS, []):
            report.sections.append((f"takt {radio.model} {radio.addr}", _told(radio)))
    return report


def _told(radio: takt.EmulatedRadio) -> str:
    try:
        bursts = [repr(burst) for channel in _channels(radio) for burst in radio.received(channel)]
        return "\n".join([f"the radio {radio.counts()}", *bursts[:20]])
    except takt.TaktError as error:
        return str(error)


def _channels(radio: takt.EmulatedRadio) -> range:
    return range(2 if radio.model == "x310" else 1)


def _usual(request: pytest.FixtureRequest) -> Dict[str, Any]:
    speed = request.config.getoption("--takt-speed")
    return {} if speed is None else {"speed": speed}


def _started(request: pytest.FixtureRequest, radios: List[takt.EmulatedRadio]) -> None:
    request.node.stash.setdefault(_RADIOS, []).extend(radios)


@pytest.fixture
def takt_emulate(request: pytest.FixtureRequest) -> Iterator[Callable[..., takt.EmulatedRadio]]:
    """Starts emulated radios as ``takt.emulate`` does; they stop with the test."""
    started: List[takt.EmulatedRadio] = []

    def emulate(model: str = "n200", **options: Any) -> takt.EmulatedRadio:
        radio = takt.emulate(model, **{**_usual(request), **options})
        started.append(radio)
        _started(request, [radio])
        return radio

    yield emulate
    _stop_all(started)


@pytest.fixture
def takt_air(request: pytest.FixtureRequest) -> Iterator[Callable[..., takt.Air]]:
    """Starts radios that receive each other as ``takt.air`` does; they stop with the test."""
    started: List[takt.Air] = []

    def air(*radios: Any, **options: Any) -> takt.Air:
        scene = takt.air(*radios, **{**_usual(request), **options})
        started.append(scene)
        _started(request, list(scene.values()))
        return scene

    yield air
    _stop_all(started)


def _stop_all(started: "Sequence[Union[takt.EmulatedRadio, takt.Air]]") -> None:
    """Stops all of them, then fails with the first that had ended by itself."""
    errors = []
    for radios in reversed(started):
        try:
            radios.stop()
        except takt.TaktError as error:
            errors.append(error)
    if errors:
        raise errors[0]


def _marked(request: pytest.FixtureRequest) -> Dict[str, Any]:
    options: Dict[str, Any] = {}
    # The closest marker comes first, and has the last word.
    for marker in reversed(list(request.node.iter_markers("takt"))):
        options.update(marker.kwargs)
    return options


@pytest.fixture
def n200(request: pytest.FixtureRequest, takt_emulate: Callable[..., takt.EmulatedRadio]) -> takt.EmulatedRadio:
    """An emulated USRP N200."""
    return takt_emulate("n200", **_marked(request))


@pytest.fixture
def x310(request: pytest.FixtureRequest, takt_emulate: Callable[..., takt.EmulatedRadio]) -> takt.EmulatedRadio:
    """An emulated USRP X310."""
    return takt_emulate("x310", **_marked(request))
