#!/usr/bin/python3
"""A spectrum in GNU Radio: spectrum.py ADDR FREQUENCY RATE ROWS prints ROWS lines of powers in dB, each of 512 bins.

An ordinary program of UHD: it does not know that its radio is shared.
"""
import math
import sys

from gnuradio import blocks, fft, gr, uhd
from gnuradio.fft import window

BINS, AVERAGED = 512, 64


def main():
    addr, frequency, rate, rows = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
    top = gr.top_block()
    radio = uhd.usrp_source(f"addr={addr}", uhd.stream_args(cpu_format="fc32", channels=[0]))
    radio.set_samp_rate(rate)
    radio.set_center_freq(frequency)
    head = blocks.head(gr.sizeof_gr_complex, BINS * AVERAGED * rows)
    shape = window.blackmanharris(BINS)
    transform = fft.fft_vcc(BINS, True, shape, True)
    kept = blocks.vector_sink_f(BINS)
    top.connect(radio, head, blocks.stream_to_vector(gr.sizeof_gr_complex, BINS), transform)
    top.connect(transform, blocks.complex_to_mag_squared(BINS), kept)
    top.run()
    powers, scale = kept.data(), 1.0 / (BINS * sum(w * w for w in shape))
    for row in range(rows):
        sums = [0.0] * BINS
        for n in range(row * AVERAGED, (row + 1) * AVERAGED):
            for bin, power in enumerate(powers[n * BINS:(n + 1) * BINS]):
                sums[bin] += power
        print(" ".join(f"{10 * math.log10(s * scale / AVERAGED + 1e-20):.1f}" for s in sums))


main()
