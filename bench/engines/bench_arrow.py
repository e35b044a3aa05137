#!/usr/bin/env python3
"""bench_arrow.py [--megabytes N] [--runs N]: reading all tokens of a dataset by Dataset.arrow(columns=("tokens",))
beside a bare memcpy of the same pages: in turns, in one process, warm. Both copy the tokens to the same buffer."""
import argparse
import os
import statistics
import tempfile
import time

import leat
import numpy
import pyarrow

BUFFER_TOKENS = 1 << 23  # more than a batch has


def make(name, megabytes):
    draw = numpy.random.default_rng(1)
    with leat.Packer(name, "gpt2") as packer:
        left = megabytes * 500000
        while left > 0:
            lengths = draw.integers(20, 2000, 4000)
            offsets = numpy.concatenate([[0], numpy.cumsum(lengths)]).astype("i4")
            ids = draw.integers(0, 50000, offsets[-1], dtype="u2")
            packer.extend(pyarrow.table({"ids": pyarrow.ListArray.from_arrays(offsets, ids)}), text="ids", id=None)
            left -= len(ids)


def by_arrow(dataset, buffer):
    for batch in pyarrow.RecordBatchReader.from_stream(dataset.arrow(("tokens",))):
        tokens = batch["tokens"].values.to_numpy()
        numpy.copyto(buffer[:len(tokens)], tokens)


def by_memcpy(dataset, buffer):
    tokens = dataset.tokens
    for at in range(0, len(tokens), BUFFER_TOKENS // 2):
        some = tokens[at:at + BUFFER_TOKENS // 2]
        numpy.copyto(buffer[:len(some)], some)


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--megabytes", type=int, default=400)
    options.add_argument("--runs", type=int, default=9)
    given = options.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("LEAT_TEST_DISK")) as folder:
        name = os.path.join(folder, "made")
        make(name, given.megabytes)
        with leat.open(name) as dataset:
            buffer, seconds = numpy.zeros(BUFFER_TOKENS, "u2"), {by_memcpy: [], by_arrow: []}
            for run in range(given.runs + 1):  # the first warms
                for way, times in seconds.items():
                    began = time.perf_counter()
                    way(dataset, buffer)
                    if run > 0:
                        times.append(time.perf_counter() - began)
            size = 2 * dataset.info.tokens / 1e9
            for way, times in seconds.items():
                print(f"{way.__name__:10} {size / statistics.median(times):6.2f} GB/s"
                      f"  ({size / max(times):.2f} to {size / min(times):.2f})")
            shares = [a / b for a, b in zip(seconds[by_memcpy], seconds[by_arrow])]
            print(f"share      {statistics.median(shares):6.2f}       ({min(shares):.2f} to {max(shares):.2f})"
                  f"  {dataset.info.documents:,} documents")


main()
