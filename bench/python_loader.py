#!/usr/bin/env python3
"""python_loader.py: what the Python package adds to a batch of the C loader, and what importing it takes.

    python bench/python_loader.py LEAT_BENCH [--tokens 100M] [--seq-len 2048] [--batch 32] [--rounds 5]

Each way of taking batches in Python is measured beside leat-bench load with the same output, in turns; the difference
of the medians, a batch, is the overhead. Small batches show it best: a second line has rows of 16 tokens.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import torch

import leat

WAYS = {
    "owned tensors": {},
    "borrowed tensors": {"borrow": True},
    "fixed buffers": {"buffers": True},
    "dict of tensors": {"style": "dict"},
    "numpy arrays": {"framework": "numpy"},
}


def c_loader(bench, name, seq_len, batch, steps, borrow):
    words = [bench, "load", "--source", name, "--seq-len", str(seq_len), "--batch", str(batch), "--output", "i64",
             "--steps", str(steps), "--warm-up", "200", "--json", *(["--borrow"] if borrow else [])]
    figures = json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)
    return figures["seconds"] / figures["steps"]


def python_loader(plan, batch, steps, options):
    with leat.Loader(plan, batch, notices=False, **options) as loader:
        for _ in range(200):
            next(loader)
        began = time.perf_counter()
        for _ in range(steps):
            next(loader)
        return (time.perf_counter() - began) / steps


def import_seconds():
    code = "import time; t = time.perf_counter(); import leat; print(time.perf_counter() - t)"
    return min(float(subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, text=True).stdout)
               for _ in range(10))


def compare(options, name, seq_len, batch, steps):
    plan = leat.Plan(name, seq_len)
    ways, beside = {way: [] for way in WAYS}, {False: [], True: []}
    for _ in range(options.rounds):
        for borrow in beside:
            beside[borrow].append(c_loader(options.leat_bench, name, seq_len, batch, steps, borrow))
        for way, more in WAYS.items():
            ways[way].append(python_loader(plan, batch, steps, more))
    print(f"B = {batch}, L = {seq_len}: us a batch       Python   C loader  overhead")
    for way, seconds in ways.items():
        python, c = statistics.median(seconds), statistics.median(beside["borrow" in WAYS[way]])
        print(f"  {way:32} {python * 1e6:10.1f} {c * 1e6:10.1f} {(python - c) * 1e6:9.1f}")


def size(text):
    return int(float(text[:-1]) * {"K": 1e3, "M": 1e6, "G": 1e9}[text[-1]]) if text[-1] in "KMG" else int(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("leat_bench")
    parser.add_argument("--tokens", type=size, default=100_000_000)
    parser.add_argument("--seq-len", type=int, default=2048)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, Python {sys.version.split()[0]}, {os.cpu_count()} cores")
    print(f"import leat: {import_seconds() * 1e3:.1f} ms, the least of 10")
    with tempfile.TemporaryDirectory() as folder:
        name = os.path.join(folder, "counting")
        subprocess.run([options.leat_bench + "-dev", "counting", "-o", name, "--tokens", str(options.tokens)],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        compare(options, name, options.seq_len, options.batch, options.steps)
        compare(options, name, 16, 4, 10 * options.steps)


if __name__ == "__main__":
    main()
