"""A flow graph of GNU Radio, knowing nothing of takt: receives at one frequency, sends a tone at another."""

import sys

import numpy as np
from gnuradio import analog, blocks, gr, uhd

args, samples, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
RATE = 1e6


class Relay(gr.top_block):
    def __init__(self):
        super().__init__("relay")
        source = uhd.usrp_source(args, uhd.stream_args(cpu_format="fc32", channels=[0]))
        source.set_samp_rate(RATE)
        source.set_center_freq(900e6, 0)
        sink = uhd.usrp_sink(args, uhd.stream_args(cpu_format="fc32", channels=[0]), "")
        sink.set_samp_rate(RATE)
        sink.set_center_freq(910e6, 0)
        self.received = blocks.vector_sink_c()
        self.connect(source, blocks.head(gr.sizeof_gr_complex, samples), self.received)
        tone = analog.sig_source_c(RATE, analog.GR_COS_WAVE, 50e3, 0.25)
        self.connect(tone, blocks.head(gr.sizeof_gr_complex, samples), sink)


relay = Relay()
relay.run()
np.save(path, np.array(relay.received.data(), dtype=np.complex64))
