"""A flow graph of GNU Radio judges: it knows nothing of takt."""

import numpy as np
import pytest

pytestmark = pytest.mark.needs("gnuradio")


@pytest.mark.takt(source="tone:offset=200k,amplitude=0.5")
def test_a_flow_graph_receives_and_sends(n200, program, tmp_path):
    program("gnuradio_relay.py", n200.args, 50_000, tmp_path / "received.npy")
    received = np.load(tmp_path / "received.npy")
    assert len(received) == 50_000
    spectrum = np.abs(np.fft.fft(received[-8192:]))
    assert np.fft.fftfreq(8192, 1e-6)[np.argmax(spectrum)] == pytest.approx(200e3, abs=200)
    sent = n200.received()
    # UHD ends a burst that has no more samples with a packet of one zero.
    assert sum(map(len, sent)) in (50_000, 50_001)
    assert {burst.rate for burst in sent} == {1e6}
    assert sent[0].frequency == pytest.approx(910e6, abs=1)
    # Whether it ran dry in between is this host's affair: a tone all the same.
    longest = max(sent, key=len)
    assert np.abs(longest.samples).max() == pytest.approx(0.25, abs=0.01)
