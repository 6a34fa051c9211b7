"""What the reference implementation of SigMF makes of recordings: `sigmf_peer.py check NAME...`, `sigmf_peer.py write NAME` or
`sigmf_peer.py forms FOLDER`."""

import json
import os
import sys
import warnings

import numpy
import sigmf
from sigmf import SigMFFile

# Fields of a namespace that a recording does not declare.
warnings.filterwarnings("error", message=".*undeclared.*")


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
        "extensions": recording.get_global_field("core:extensions"),
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


NUMBERS = ["f32", "f64", "i32", "i16", "u32", "u16", "i8", "u8"]
ORDERS = {"i8": [""], "u8": [""]}


def forms(folder):
    """Recordings in every form that it writes; of each what it reads back, channel by channel."""
    made = []
    for kind in "cr":
        for number in NUMBERS:
            for order in ORDERS.get(number, ["_le", "_be"]):
                for channels in (1, 3):
                    made.append(of_datatype(folder, kind + number + order, channels))
    made += [other_name(folder), later_start(folder), without_captures(folder), description(folder)]
    return made


def values(datatype, count):
    """Numbers over nearly all of the range, as they lie in a file."""
    component = sigmf.sigmffile.dtype_info(datatype)["component_dtype"]
    spread = numpy.linspace(-0.9, 0.9, count)
    if component.kind != "f":
        half = 2 ** (8 * component.itemsize - 1)
        spread = numpy.round(spread * (half - 1)) + (half if component.kind == "u" else 0)
    return spread.astype(component)


def of_datatype(folder, datatype, channels):
    name = os.path.join(folder, f"{datatype}-{channels}")
    parts = 2 if datatype[0] == "c" else 1
    values(datatype, 12 * channels * parts).tofile(name + ".sigmf-data")
    fields = {"core:datatype": datatype, "core:sample_rate": 1e6, "core:num_channels": channels}
    recording = SigMFFile(data_file=name + ".sigmf-data", global_info=fields)
    recording.add_capture(0, metadata={"core:frequency": 915e6})
    recording.tofile(name + ".sigmf-meta")
    # A recording of one channel is made an archive as well.
    archive = os.path.join(folder, f"archive-{datatype}.sigmf")
    if channels == 1:
        recording.archive(archive)
    return result([name] + ([archive] if channels == 1 else []), recording)


def other_name(folder):
    """Data with another name, a header and a trailer."""
    name, data = os.path.join(folder, "other"), os.path.join(folder, "capture 7.bin")
    with open(data, "wb") as out:
        out.write(b"HEADER.." + values("ci16_le", 40).tobytes() + b"TAIL")
    fields = {"core:datatype": "ci16_le", "core:sample_rate": 1e6, "core:dataset": "capture 7.bin", "core:trailing_bytes": 4}
    captures = [{"core:sample_start": 0, "core:header_bytes": 8}]
    metadata = {"global": fields, "captures": captures, "annotations": []}
    recording = SigMFFile(metadata=metadata, data_file=data)
    recording.tofile(name + ".sigmf-meta")
    return result([name], recording)


def later_start(folder):
    """A piece of a longer recording, whose first capture begins later than the piece."""
    name = os.path.join(folder, "later")
    values("ci8", 40).tofile(name + ".sigmf-data")
    fields = {"core:datatype": "ci8", "core:sample_rate": 1e6, "core:offset": 1000}
    recording = SigMFFile(data_file=name + ".sigmf-data", global_info=fields)
    recording.add_capture(1005, metadata={"core:frequency": 915e6})
    recording.tofile(name + ".sigmf-meta")
    return result([name], recording, begins=5)


def without_captures(folder):
    name = os.path.join(folder, "without")
    values("ci8", 40).tofile(name + ".sigmf-data")
    recording = SigMFFile(data_file=name + ".sigmf-data", global_info={"core:datatype": "ci8", "core:sample_rate": 1e6})
    recording.tofile(name + ".sigmf-meta")
    return result([name], recording)


def description(folder):
    """Metadata that call themselves alone, with their data beside them."""
    name = os.path.join(folder, "alone")
    values("ci8", 40).tofile(name + ".sigmf-data")
    fields = {"core:datatype": "ci8", "core:sample_rate": 1e6, "core:metadata_only": True}
    recording = SigMFFile(data_file=name + ".sigmf-data", global_info=fields)
    recording.tofile(name + ".sigmf-meta")
    return result([name], recording)


def result(names, recording, begins=0):
    samples = recording.read_samples()
    channels = samples.T if samples.ndim == 2 else [samples]
    parts = [[[float(x.real), float(x.imag)] for x in channel] for channel in channels]
    return {"names": names, "begins": begins, "channels": parts}


if __name__ == "__main__":
    action = {"check": check, "write": write, "forms": forms}[sys.argv[1]]
    print(json.dumps([action(name) for name in sys.argv[2:]]))
