#!/usr/bin/env python3
"""order.py: how long it takes until the samples of a training run are known, and in how much memory: leat's plan of
order megatron beside the indexes of megatron-core, which are built and saved at the first start and mapped at later
ones. The one source has documents of 1 to 2 L - 1 tokens; only its .idx is written, the .bin is a hole. Each start
is a process of its own, in turns; modules are imported before the clock starts. Memory is the peak of anonymous
memory above that (/proc/PID/status), read 200 times per second. Both must have the same samples: 1,000 of them are
compared.

    order.py [--samples 1e7] [--seq-len 1024] [--rounds 3] [--epochs 1] [--folder DIR] [--json]
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

KINDS = {"megatron": "megatron-core, first start", "cached": "megatron-core, from its cache", "leat": "leat"}


def write(prefix, documents, length):
    """A dataset of Megatron without its tokens."""
    import numpy
    lengths = numpy.random.default_rng(1).integers(1, 2 * length, documents, dtype=numpy.int32)
    starts = numpy.zeros(documents, dtype=numpy.int64)
    numpy.cumsum(lengths[:-1], out=starts[1:])
    with open(prefix + ".idx", "wb") as file:
        file.write(b"MMIDIDX\0\0" + (1).to_bytes(8, "little") + b"\x08" + documents.to_bytes(8, "little")
                   + (documents + 1).to_bytes(8, "little"))
        for array in (lengths, starts * 2, numpy.arange(documents + 1, dtype=numpy.int64)):
            array.tofile(file)
    with open(prefix + ".bin", "wb") as file:
        file.truncate(2 * int(lengths.sum(dtype=numpy.int64)))


def start_megatron(prefix, samples, length):
    """Builds Megatron's dataset, and returns what gives the first token of a sample."""
    import logging
    import types
    import warnings

    import numpy
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    from megatron.core.datasets.blended_megatron_dataset_builder import BlendedMegatronDatasetBuilder
    from megatron.core.datasets.gpt_dataset import GPTDataset, GPTDatasetConfig

    tokenizer = types.SimpleNamespace(vocab_size=50257, eod=50256, unique_identifiers={})
    config = GPTDatasetConfig(random_seed=1234, sequence_length=length, blend=([prefix], None), split="1,0,0",
                              reset_position_ids=False, reset_attention_mask=False, eod_mask_loss=False,
                              create_attention_mask=False, tokenizer=tokenizer, path_to_cache=prefix + ".cache")
    yield
    data = BlendedMegatronDatasetBuilder(GPTDataset, [samples, None, None], lambda: True, config).build()[0]

    def first(n):
        document, offset = data.sample_index[data.shuffle_index[n]]
        return int(data.dataset.index.sequence_pointers[data.document_index[document]] // 2 + numpy.int64(offset))

    yield len(data), first


def start_leat(prefix, samples, length):
    import leat
    from leat.integrations import megatron
    yield
    plan = leat.Plan(prefix, length, 1234, order=megatron.order(samples=samples), split="1,0,0")
    yield len(plan), lambda n: plan.order(n).token


def child(kind, prefix, samples, length):
    """Says when it is ready, starts when it is told to, and prints seconds, samples and some first tokens."""
    import random
    start = (start_leat if kind == "leat" else start_megatron)(prefix, samples, length)
    next(start)
    print("ready", flush=True)
    sys.stdin.readline()
    begin = time.perf_counter()
    count, first = next(start)
    seconds = time.perf_counter() - begin
    print(json.dumps({"seconds": seconds, "samples": count}), flush=True)
    sys.stdin.readline()  # what follows is not measured
    r = random.Random(1)
    print(json.dumps([first(r.randrange(count)) for _ in range(1000)]), flush=True)


def anonymous(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("RssAnon"))


def measure(kind, prefix, samples, length):
    words = [sys.executable, __file__, "--child", kind, prefix, str(samples), str(length)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        if process.stdout.readline() != "ready\n":
            sys.exit(f"{kind} does not start")
        before = peak = anonymous(process.pid)
        process.stdin.write("\n")
        process.stdin.flush()
        os.set_blocking(process.stdout.fileno(), False)
        while not (line := process.stdout.readline()):
            if process.poll() is not None:
                sys.exit(f"{kind} failed")
            peak = max(peak, anonymous(process.pid))
            time.sleep(0.005)
        after = anonymous(process.pid)
        os.set_blocking(process.stdout.fileno(), True)
        process.stdin.write("\n")
        process.stdin.flush()
        tokens = json.loads(process.stdout.readline())
    return {**json.loads(line), "peak": max(peak, after) - before, "kept": after - before}, tokens


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=float, default=1e7)
    parser.add_argument("--seq-len", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--folder")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    samples, rounds = int(given.samples), {kind: [] for kind in KINDS}
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        prefix = os.path.join(folder, "data")
        write(prefix, int(1.01 * samples / given.epochs) + 2, given.seq_len)
        want = None
        for _ in range(given.rounds):
            shutil.rmtree(prefix + ".cache", ignore_errors=True)
            for kind, found in rounds.items():
                numbers, tokens = measure(kind, prefix, samples, given.seq_len)
                want = want or (numbers["samples"], tokens)
                if (numbers["samples"], tokens) != want:
                    sys.exit(f"{kind} has other samples")
                found.append(numbers)
    for kind, found in rounds.items():
        seconds = sorted(numbers["seconds"] for numbers in found)
        peak, kept = (max(numbers[key] for numbers in found) for key in ("peak", "kept"))
        if given.json:
            print(json.dumps({"kind": kind, "samples": want[0], "epochs": given.epochs, "seconds": seconds,
                              "peak": peak, "kept": kept}))
        else:
            print(f"{KINDS[kind]:30} {want[0]} samples: {statistics.median(seconds):7.2f} s ({seconds[0]:.2f} to "
                  f"{seconds[-1]:.2f}), peak {peak / 2**20:6.0f} MiB, kept {kept / 2**20:6.0f} MiB")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    else:
        main()
