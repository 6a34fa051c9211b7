"""GNU Radio's Soapy source before takt's module: it finds the emulator's tone, 100 kHz above the middle, at its level."""

import sys

import numpy as np
from gnuradio import blocks, gr, soapy

RATE = 1e6
COUNT = 200_000

graph = gr.top_block()
source = soapy.source(sys.argv[1], "fc32", 1, "", "", [""], [""])
source.set_sample_rate(0, RATE)
source.set_frequency(0, 915e6)
source.set_gain(0, 10.0)
source.set_antenna(0, "RX2")
head, sink = blocks.head(gr.sizeof_gr_complex, COUNT), blocks.vector_sink_c()
graph.connect(source, head, sink)
graph.run()

samples = np.array(sink.data(), np.complex64)[COUNT // 2 :]
spectrum = np.abs(np.fft.fft(samples * np.hanning(len(samples))))
hertz = np.fft.fftfreq(len(samples), 1 / RATE)[np.argmax(spectrum)]
assert abs(hertz - 100e3) < 20, hertz
assert source.get_frequency(0) - 915e6 < 1 and source.get_antenna(0) == "RX2"
print(f"{hertz:.0f} Hz, level {np.abs(samples).mean():.3f}")
