#!/usr/bin/python3
"""GNU Radio's side: `gnuradio_side.py receive FILE CHANNELS STEP SAMPLES WAY` splits a band of 25 MS/s and prints CPU time and amplitudes;
`gnuradio_side.py transmit` makes one of channels.

WAY: `pfb` (polyphase channelizer, or synthesizer), `xlating-fir`, `xlating-fft` (one block a channel; to receive), `resampler` (rotator and
rational resampler a channel), or `floor` (the source alone).
"""
import json
import math
import resource
import sys

import numpy
from gnuradio import blocks, filter, gr
from gnuradio.fft import window
from gnuradio.filter import firdes, pfb

WIDE_RATE = 25e6


def cpu_ns():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return int((used.ru_utime + used.ru_stime) * 1e9)


def transmitter(sink, file, channels, step, samples, way):
    """The graph that sends the file on each channel."""
    factor, rate = step // 4, 100e6 / step
    taps = firdes.low_pass_2(factor, WIDE_RATE, 0.45 * rate, 0.1 * rate, 80, window.WIN_BLACKMAN_hARRIS)
    graph = gr.top_block()
    tone = numpy.fromfile(file, numpy.complex64).tolist()
    head = blocks.head(gr.sizeof_gr_complex, samples)
    if way == "floor":
        graph.connect(blocks.vector_source_c(tone, True), head, sink)
        return graph
    source = blocks.vector_source_c(tone, True)
    if way == "pfb":
        bank = filter.pfb_synthesizer_ccf(factor, taps, False)
        bank.set_channel_map([(k - channels // 2) % factor for k in range(channels)])
        for k in range(channels):
            graph.connect(source, (bank, k))
        graph.connect(bank, head, sink)
        return graph
    total = blocks.add_cc()
    for k in range(channels):
        block = filter.rational_resampler_ccf(factor, 1, taps)
        rotator = blocks.rotator_cc(2 * math.pi * (k - channels // 2) * rate / WIDE_RATE)
        graph.connect(source, block, rotator, (total, k))
    graph.connect(total, head, sink)
    return graph


def tone_amplitude(samples, hz):
    """Seen through a Hann window."""
    weights = numpy.hanning(len(samples))
    turns = numpy.exp(-2j * math.pi * hz / WIDE_RATE * numpy.arange(len(samples)))
    return abs((samples * turns * weights).sum() / weights.sum())


def transmit(file, channels, step, samples, way):
    graph = transmitter(blocks.null_sink(gr.sizeof_gr_complex), file, channels, step, samples, way)
    before = cpu_ns()
    graph.run()
    spent = cpu_ns() - before
    # A run of its own, which nobody times, looks at the samples that leave.
    kept, rate, amplitudes = blocks.vector_sink_c(), 100e6 / step, []
    if way != "floor":
        length = 100 * step
        transmitter(kept, file, channels, step, 2 * length, way).run()
        sent = numpy.array(kept.data())[length:]
        amplitudes = [tone_amplitude(sent, (k - channels // 2 + 0.1) * rate) for k in (0, channels - 1)]
    print(json.dumps({"cpu_ns": spent, "samples": samples, "amplitudes": amplitudes}))


def main():
    direction, file, channels, step, samples, way = sys.argv[1:]
    channels, step, samples = int(channels), int(step), int(samples)
    if direction == "transmit":
        return transmit(file, channels, step, samples, way)
    decimation, rate = step // 4, 100e6 / step
    # The manual's example of the channelizer recommends this; the filter has 36 samples of the channel.
    taps = firdes.low_pass_2(1, WIDE_RATE, 0.45 * rate, 0.1 * rate, 80, window.WIN_BLACKMAN_hARRIS)
    centres = [(k - channels // 2) * rate for k in range(channels)]

    graph = gr.top_block()
    source = blocks.vector_source_c(numpy.fromfile(file, numpy.complex64).tolist(), True)
    head = blocks.head(gr.sizeof_gr_complex, samples)
    graph.connect(source, head)
    sink = blocks.null_sink(gr.sizeof_gr_complex)
    # The first and the last channel are judged.
    judged = [blocks.probe_signal_c(), blocks.probe_signal_c()]
    outputs = []
    if way == "floor":
        graph.connect(head, (sink, 0))
    elif way == "pfb":
        bank = pfb.channelizer_ccf(decimation, taps)
        # Without tags the channels that nobody wants need not be put out, which is faster.
        bank.pfb.set_tag_propagation_policy(gr.TPP_DONT)
        bank.set_channel_map([(k - channels // 2) % decimation for k in range(channels)])
        graph.connect(head, bank)
        outputs = [(bank, k) for k in range(channels)]
    else:
        for centre in centres:
            if way == "xlating-fir":
                block = filter.freq_xlating_fir_filter_ccf(decimation, taps, centre, WIDE_RATE)
                graph.connect(head, block)
            elif way == "xlating-fft":
                block = filter.freq_xlating_fft_filter_ccc(decimation, taps, centre, WIDE_RATE)
                graph.connect(head, block)
            else:
                rotator = blocks.rotator_cc(-2 * math.pi * centre / WIDE_RATE)
                # The resampler needs so many samples at once, and GNU Radio does not know it beforehand.
                rotator.set_min_output_buffer(4 * len(taps))
                block = filter.rational_resampler_ccf(1, decimation, taps)
                graph.connect(head, rotator, block)
            outputs.append((block, 0))
    for k, output in enumerate(outputs):
        graph.connect(output, (sink, k))
    for output, probe in zip((outputs[0], outputs[-1]) if outputs else (), judged):
        graph.connect(output, probe)

    before = cpu_ns()
    graph.run()
    spent = cpu_ns() - before
    amplitudes = [abs(probe.level()) for probe in judged] if outputs else []
    print(json.dumps({"cpu_ns": spent, "samples": samples, "amplitudes": amplitudes}))


main()
