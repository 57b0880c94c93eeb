# SPDX-License-Identifier: Apache-2.0
"""openmetrics.py - a strict reader of OpenMetrics 1.0, as far as we use it."""

import re

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\n"])*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)")
SUFFIXES = {"gauge": ("",), "counter": ("_total",), "info": ("_info",),
            "histogram": ("_bucket", "_count", "_sum")}


def read(text):
    """{(sample, labels): value}, labels as they are written; ValueError."""
    if not text.endswith("\n# EOF\n") or "\n\n" in text:
        raise ValueError("it does not end with EOF, or has an empty line")
    samples, families, current = {}, {}, None
    for line in text.split("\n")[:-2]:
        if line.startswith("# "):
            current = read_comment(line, families, current)
            continue
        found = SAMPLE.fullmatch(line)
        if not found or current is None:
            raise ValueError(line)
        name, labels, value = found.groups()
        suffixes = SUFFIXES[families[current]["TYPE"]]
        key = (name, labels or "")
        if not name.startswith(current) or key in samples or \
                name[len(current):] not in suffixes:
            raise ValueError(line)
        samples[key] = float(value)
    check_histograms(samples, families)
    return samples


def read_comment(line, families, current):
    """The family that it is about. Those lines come before its samples."""
    _, kind, name, rest = line.split(" ", 3)
    if name != current:
        if name in families:
            raise ValueError(f"not in one piece: {line}")
        families[name] = {}
    if kind not in ("TYPE", "UNIT", "HELP") or kind in families[name]:
        raise ValueError(line)
    families[name][kind] = rest
    if kind == "TYPE" and rest not in SUFFIXES or \
            kind == "UNIT" and not name.endswith("_" + rest):
        raise ValueError(line)
    return name


def check_histograms(samples, families):
    for name, family in families.items():
        if family["TYPE"] != "histogram":
            continue
        series = {}
        for (sample, labels), value in samples.items():
            if sample == name + "_bucket":
                rest, _, bound = labels.rpartition('le="')
                series.setdefault(rest.rstrip(","), []).append(
                    (float(bound.rstrip('"')), value))
        for labels, buckets in series.items():
            if buckets != sorted(buckets) or \
                    [count for _, count in buckets] != \
                    sorted(count for _, count in buckets) or \
                    buckets[-1] != (float("inf"),
                                    samples[name + "_count", labels]):
                raise ValueError(f"{name}{{{labels}}}: {buckets}")
