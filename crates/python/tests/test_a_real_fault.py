"""A test suite of somebody's program, in thirty lines, finds real faults: a wrong time stamp and a lost burst."""

import pytest

pytestmark = pytest.mark.needs("uhd")

SUITE = '''
import subprocess, sys
import pytest

PROGRAM = {program!r}

@pytest.fixture
def beacon(n200):
    """Bursts that the beacon sends: three, a tenth of a second apart, at 915 MHz."""
    subprocess.run([*{prefix!r}, sys.executable, PROGRAM, "--args", n200.args, *{arguments!r}], check=True, timeout=120)
    assert n200.counts().errors == 0
    return n200.received()

def test_no_burst_is_lost(beacon):
    assert len(beacon) == 3

def test_each_burst_leaves_at_its_time(beacon):
    for number, burst in enumerate(beacon):
        assert burst.tick == (10 + number) * burst.clock_hz // 10

def test_it_stays_on_its_frequency(beacon):
    assert all(abs(burst.frequency - 915e6) < 1 for burst in beacon)

def test_it_is_not_too_loud(beacon):
    assert all(abs(burst.samples).max() <= 0.51 for burst in beacon)
'''


@pytest.mark.parametrize(
    ("fault", "found"),
    [
        ([], set()),
        (["--fault", "time"], {"test_each_burst_leaves_at_its_time"}),
        (["--fault", "burst"], {"test_no_burst_is_lost", "test_each_burst_leaves_at_its_time"}),
    ],
    ids=["right", "wrong time stamp", "lost burst"],
)
def test_the_suite_finds_what_is_wrong_and_nothing_else(pytester, fault, found):
    from conftest import PROGRAMS, ordinarily

    suite = SUITE.format(program=str(PROGRAMS / "uhd_beacon.py"), prefix=ordinarily([]), arguments=fault)
    assert len(suite.splitlines()) <= 30
    pytester.makepyfile(suite)
    # Half as fast: the program has more time to meet its time stamps, on a machine that has other work.
    outcome = pytester.runpytest_subprocess("-q", "-rA", "--takt-speed", "0.5")
    outcome.assert_outcomes(passed=4 - len(found), failed=len(found))
    for name in found:
        outcome.stdout.fnmatch_lines([f"FAILED *::{name}*"])
    if found:
        # The report says what the radio counted and received.
        outcome.stdout.fnmatch_lines(["*takt n200 127.*", "the radio received * samples*", "<Burst of 2000 samples at 1.*"])
