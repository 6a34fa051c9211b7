"""The fixtures, in suites of their own."""

import sys


def test_markers_and_the_speed_of_the_command_line_reach_the_radios(pytester):
    pytester.makepyfile(
        """
        import pytest
        pytestmark = pytest.mark.takt(speed=0.25, serial="MODULE")

        @pytest.mark.takt(serial="CLOSEST")
        def test_marked(n200):
            report = n200.counts().report
            assert (report["serial"], report["speed"]) == ("CLOSEST", 0.25)

        def test_made(takt_emulate, takt_air):
            assert takt_emulate("x310").counts().report["speed"] == 0.5
            assert takt_air({"a": "n200"})["a"].counts().report["speed"] == 0.5

        def test_both(n200, x310):
            assert n200.addr != x310.addr and x310.model == "x310"
        """
    )
    pytester.runpytest_subprocess("-q", "--takt-speed", "0.5", "--strict-markers").assert_outcomes(passed=3)


def test_a_wrong_option_of_a_marker_is_an_error_with_its_fix(pytester):
    pytester.makepyfile("import pytest\n@pytest.mark.takt(sped=1)\ndef test_it(n200): pass")
    outcome = pytester.runpytest_subprocess("-q")
    outcome.assert_outcomes(errors=1)
    outcome.stdout.fnmatch_lines(["*an emulated radio has no option sped", "*did you mean speed?"])


def test_workers_of_xdist_share_this_host(pytester):
    pytester.makepyfile(
        """
        import pytest
        @pytest.mark.parametrize("number", range(8))
        def test_it(number, n200, x310):
            assert n200.running and x310.running
        """
    )
    outcome = pytester.runpytest_subprocess("-q", "-n", "3")
    outcome.assert_outcomes(passed=8)


def test_radios_stop_with_their_test(pytester):
    pytester.makepyfile(
        """
        kept = []
        def test_first(n200, takt_emulate):
            kept.extend([n200, takt_emulate("x310")])
        def test_second():
            assert not any(radio.running for radio in kept) and len(kept) == 2
        """
    )
    pytester.runpytest_subprocess("-q").assert_outcomes(passed=2)
    assert sys.version_info >= (3, 9)
