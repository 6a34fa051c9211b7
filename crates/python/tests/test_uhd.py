"""UHD's Python API judges: small programs that know nothing of takt. At half speed, so that a machine with other work keeps up."""

import numpy as np
import pytest

import takt

pytestmark = pytest.mark.needs("uhd")


def frequency_of(samples, rate):
    """Frequency of the strongest line of a spectrum, in Hz."""
    spectrum = np.abs(np.fft.fft(samples * np.hanning(len(samples))))
    return np.fft.fftfreq(len(samples), 1 / rate)[np.argmax(spectrum)]


@pytest.mark.takt(source="tone:offset=100k,amplitude=0.5", speed=0.5)
def test_it_receives_the_tone_of_an_n200(n200, program, tmp_path):
    program("uhd_receive.py", n200.args, 10_000, 1e6, 900e6, tmp_path / "received.npy")
    samples = np.load(tmp_path / "received.npy")
    assert len(samples) == 10_000
    assert frequency_of(samples, 1e6) == pytest.approx(100e3, abs=200)
    assert np.abs(samples[1000:]).mean() == pytest.approx(0.5, abs=0.05)
    assert n200.counts().rx_samples >= 10_000


@pytest.mark.takt(source="tone:offset=-300k,amplitude=0.25", speed=0.5)
def test_it_receives_the_tone_of_an_x310(x310, program, tmp_path):
    program("uhd_receive.py", x310.args, 10_000, 2e6, 2400e6, tmp_path / "received.npy")
    samples = np.load(tmp_path / "received.npy")
    assert frequency_of(samples, 2e6) == pytest.approx(-300e3, abs=400)
    assert np.abs(samples[1000:]).mean() == pytest.approx(0.25, abs=0.03)


@pytest.mark.parametrize("model", ["n200", "x310"])
def test_what_it_sends_arrives_with_its_time_frequency_and_samples(model, takt_emulate, program):
    radio = takt_emulate(model, speed=0.5)
    program("uhd_beacon.py", "--args", radio.args)
    bursts = radio.received(bursts=3)
    assert [round(burst.time * burst.clock_hz) for burst in bursts] == [burst.tick for burst in bursts]
    assert [burst.time for burst in bursts] == pytest.approx([1.0, 1.1, 1.2], abs=1e-9)
    for burst in bursts:
        assert (len(burst), burst.rate, burst.complete) == (2000, 1e6, True)
        assert burst.frequency == pytest.approx(915e6, abs=1)
        assert burst.samples.dtype == np.complex64
        sent = 0.5 * np.exp(2j * np.pi * 0.1 * np.arange(2000))
        assert np.abs(burst.samples - sent).max() < 1e-3
    counts = radio.counts()
    assert (counts.bursts, counts.tx_samples, counts.errors) == (3, 6000, 0)


def test_faults_strike_the_program(takt_emulate, program, tmp_path):
    radio = takt_emulate("n200", faults=["lose:rx,every=10"], source="silence")
    program("uhd_receive.py", radio.args, 100_000, 1e6, 900e6, tmp_path / "received.npy")
    assert radio.counts().faults["lose:rx,every=10"] > 10


def test_more_than_is_kept_is_an_error_and_not_a_shorter_list(takt_emulate, program):
    radio = takt_emulate("n200", speed=0.5, keep_samples=3000)
    program("uhd_beacon.py", "--args", radio.args)
    with pytest.raises(takt.IncompleteError) as incomplete:
        radio.received(bursts=3)
    assert incomplete.value.message.startswith("3000 samples")
    assert "keep_samples=" in incomplete.value.fix
    assert radio.counts().tx_samples == 6000
