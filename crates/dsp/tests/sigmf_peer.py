"""What the reference implementation of SigMF makes of recordings: `sigmf_peer.py check NAME...` or `sigmf_peer.py write NAME`."""

import json
import sys

import numpy
import sigmf
from sigmf import SigMFFile


def check(name):
    recording = sigmf.sigmffile.fromfile(name)
    recording.validate()
    samples = recording.read_samples()
    return {
        "samples": [[float(x.real), float(x.imag)] for x in samples],
        "sample_rate": recording.get_global_field("core:sample_rate"),
        "hw": recording.get_global_field("core:hw"),
        "captures": recording.get_captures(),
        "annotations": recording.get_annotations(),
    }


def write(name):
    samples = numpy.arange(16, dtype=numpy.int16)
    samples.tofile(name + ".sigmf-data")
    recording = SigMFFile(
        data_file=name + ".sigmf-data",
        global_info={"core:datatype": "ci16_le", "core:sample_rate": 48000.5, "core:version": sigmf.__specification__},
    )
    recording.add_capture(0, metadata={"core:frequency": 915e6, "core:datetime": "2026-11-21T01:18:00.25Z"})
    recording.add_capture(4, metadata={"core:frequency": 916e6})
    recording.add_annotation(2, 3, metadata={"core:label": "burst", "core:freq_lower_edge": 914.9e6, "core:freq_upper_edge": 915.1e6})
    recording.tofile(name + ".sigmf-meta")
    return {}


if __name__ == "__main__":
    action = {"check": check, "write": write}[sys.argv[1]]
    print(json.dumps([action(name) for name in sys.argv[2:]]))
