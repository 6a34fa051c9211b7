"""Metrics as Prometheus's own client for Python reads them.

python3 metrics_peer.py URL    prints a JSON object: each sample by its name and sorted labels, `name{label="value"}`
"""

import json
import math
import sys
import urllib.request

from prometheus_client.parser import text_string_to_metric_families


def key(name, labels):
    return name + "{" + ",".join(f'{label}="{labels[label]}"' for label in sorted(labels)) + "}"


def histogram(samples):
    """Each histogram of a family is cumulative, and its last bucket has all."""
    of = {}
    for sample in samples:
        labels = {label: value for label, value in sample.labels.items() if label != "le"}
        of.setdefault(key("", labels), []).append(sample)
    for series in of.values():
        buckets = [sample for sample in series if sample.name.endswith("_bucket")]
        ends = [float(sample.labels["le"]) for sample in buckets]
        counts = [sample.value for sample in buckets]
        assert ends == sorted(set(ends)) and math.isinf(ends[-1]), ends
        assert counts == sorted(counts), counts
        assert [sample.value for sample in series if sample.name.endswith("_count")] == counts[-1:]
        assert len([sample for sample in series if sample.name.endswith("_sum")]) == 1


def read(text):
    samples, names = {}, set()
    for family in text_string_to_metric_families(text):
        # Without a line that says so a type is "unknown", and the next family of a name is another one.
        assert family.type in ("counter", "gauge", "histogram") and family.documentation, family
        assert family.name not in names, family.name
        names.add(family.name)
        if family.type == "histogram":
            histogram(family.samples)
        for sample in family.samples:
            assert (family.type == "counter") == sample.name.endswith("_total"), sample
            # A sum that nobody adds up is no number.
            is_unknown = sample.name.endswith("_sum") and math.isnan(sample.value)
            assert family.type == "gauge" or sample.value >= 0 or is_unknown, sample
            assert key(sample.name, sample.labels) not in samples, sample
            samples[key(sample.name, sample.labels)] = None if is_unknown else sample.value
    return samples


if __name__ == "__main__":
    with urllib.request.urlopen(sys.argv[1], timeout=20) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4"), answer.headers
        print(json.dumps(read(answer.read().decode())))
