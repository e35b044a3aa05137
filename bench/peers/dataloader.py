#!/usr/bin/env python3
"""dataloader.py: PyTorch's DataLoader over numpy.memmap beside leat-bench load and leat.Loader (if the package leat can
be imported), in turns, over the same counting tokens: inputs and labels as int64, random windows. DataLoader is
measured as it is usually written, with a row per item, and batched (__getitems__); without workers and with them,
with prefetch_factor and persistent workers. Batches are checked before the clock starts: token p of the dataset is a
known function of p.

    dataloader.py LEAT_BENCH [--tokens 500M] [--seq-len 2048] [--batch 32] [--seconds 3] [--workers 0,1,2,4] [--json]

With --device cuda, every loader delivers to that GPU; DataLoader pins its batches (pin_memory), and to(device,
non_blocking=True) copies them, as is usual.

    dataloader.py LEAT_BENCH --overhead [--steps 3000]

What the Python package adds to a batch of the C loader, and how long importing it takes: each way of taking batches
beside leat-bench load with the same output, in turns; the difference of the medians. It shows best with small batches:
a second table has rows of 16 tokens.
"""
import argparse
import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import measured

try:
    import numpy
    import torch
    import torch.utils.data
except ImportError as missing:
    print(f"skipped: {missing}", file=sys.stderr)
    sys.exit(77)
try:
    import leat
except ImportError:
    leat = None


def counting(places):
    """bench/data/counting.h, for tokens of two bytes."""
    z = places.astype(numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15)
    z ^= z >> numpy.uint64(32)
    z *= numpy.uint64(0xD6E8FEB86659FD93)
    z ^= z >> numpy.uint64(32)
    return (z & numpy.uint64(0xFFFF)).astype(numpy.int64)


class Windows(torch.utils.data.Dataset):
    """A row: its inputs, its labels, its number."""

    def __init__(self, path, length):
        self.tokens = numpy.memmap(path, dtype="<u2", mode="r")
        self.length = length
        self.count = (len(self.tokens) - 1) // length

    def __len__(self):
        return self.count

    def __getitem__(self, number):
        begin = number * self.length
        row = torch.from_numpy(self.tokens[begin:begin + self.length + 1].astype(numpy.int64))
        return row[:-1], row[1:], number


class BatchedWindows(Windows):
    """A batch at once: its tokens, of which inputs and labels are views, and its numbers."""

    def __getitems__(self, numbers):
        rows = numpy.empty((len(numbers), self.length + 1), dtype=numpy.int64)
        for i, number in enumerate(numbers):
            begin = number * self.length
            rows[i] = self.tokens[begin:begin + self.length + 1]
        return torch.from_numpy(rows), torch.tensor(numbers)


def as_it_is(batch):
    return batch


def on_host(rows):
    return rows.cpu().numpy() if hasattr(rows, "cpu") else rows


def arrived(o):
    """Waits until all batches have arrived on the device."""
    if o.device != "cpu":
        torch.cuda.synchronize(o.device)


def check(inputs, labels, places):
    """Whether the rows are those that begin at these tokens."""
    for row, place in enumerate(places):
        want = counting(numpy.arange(place, place + len(inputs[row]) + 1))
        if not (numpy.array_equal(on_host(inputs[row]), want[:-1]) and
                numpy.array_equal(on_host(labels[row]), want[1:])):
            sys.exit(f"the row at token {place} is wrong")


def cpu_seconds():
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def figures(waits, seconds, cpu, o):
    """Of so many batches."""
    tokens = len(waits) * o.batch * o.seq_len
    waits.sort()
    return {"mtok_per_s": tokens / seconds / 1e6, "cpu_ms_per_mtok": cpu * 1e9 / tokens,
            "p50_ms": waits[len(waits) // 2] * 1e3, "p99_ms": waits[len(waits) * 99 // 100] * 1e3}


def take_for(o, take):
    """How long each call took, and all of them until their batches had arrived."""
    waits = []
    began = now = time.perf_counter()
    while now - began < o.seconds:
        take()
        waits.append(time.perf_counter() - now)
        now = time.perf_counter()
    arrived(o)
    return waits, time.perf_counter() - began


def measure_torch(path, o, batched, workers, more):
    dataset = (BatchedWindows if batched else Windows)(path, o.seq_len)
    if batched:
        more = {**more, "collate_fn": as_it_is}
    loader = torch.utils.data.DataLoader(dataset, batch_size=o.batch, shuffle=True, drop_last=True, num_workers=workers,
                                         generator=torch.Generator().manual_seed(1),
                                         pin_memory=o.device != "cpu", **more)
    cpu_before = cpu_seconds()
    iterator = iter(loader)

    def take():
        nonlocal iterator
        try:
            *parts, numbers = next(iterator)
        except StopIteration:
            iterator = iter(loader)
            *parts, numbers = next(iterator)
        if o.device != "cpu":
            parts = [part.to(o.device, non_blocking=True) for part in parts]
        return (parts[0][:, :-1], parts[0][:, 1:], numbers) if batched else (*parts, numbers)

    for _ in range(5):
        inputs, labels, numbers = take()
        check(inputs, labels, [number * o.seq_len for number in numbers.tolist()])
    cpu_checked = cpu_seconds() if workers == 0 else None
    waits, seconds = take_for(o, take)
    # workers' time is known when they have ended; it has the checked batches in it, which are few
    iterator = loader = None
    gc.collect()
    return figures(waits, seconds, cpu_seconds() - (cpu_checked if cpu_checked is not None else cpu_before), o)


def check_leat(batch):
    check(batch.inputs, batch.labels, [sample.token for sample in batch.samples])


def measure_python(name, o, more):
    """leat.Loader in this process, as a training loop takes its batches."""
    loader = leat.Loader(leat.Plan(name, o.seq_len, 1), o.batch, device=o.device, notices=False, **more)
    for _ in range(5):
        check_leat(next(loader))
    cpu_before = cpu_seconds()
    waits, seconds = take_for(o, lambda: next(loader))
    cpu = cpu_seconds() - cpu_before
    check_leat(next(loader))
    loader.close()
    return figures(waits, seconds, cpu, o)


def load(o, name, output, steps, *more):
    words = [o.leat_bench, "load", "--source", name, "--seq-len", str(o.seq_len), "--batch", str(o.batch), "--output",
             output, "--steps", str(steps), "--json", *more, *(["--device", o.device] if o.device != "cpu" else [])]
    return json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)


def measure_leat(name, o, output, threads, more):
    def run(steps):
        return load(o, name, output, steps, "--threads", str(threads), *more)

    rate = run(500)["steps"] / max(run(500)["seconds"], 1e-6)
    r = run(max(500, int(rate * o.seconds)))
    return {"mtok_per_s": r["tokens_per_s"] / 1e6, "cpu_ms_per_mtok": r["cpu_s_per_mtok"] * 1e3,
            "p50_ms": r["next_us"]["p50"] / 1e3, "p99_ms": r["next_us"]["p99"] / 1e3}


def cases(name, o):
    """Names, and what measures them."""
    yield "leat, stored u16, inline", lambda: measure_leat(name, o, "tokens", 0, [])
    yield "leat, stored u16, a thread", lambda: measure_leat(name, o, "tokens", 1, [])
    yield "leat, i64 pair, inline", lambda: measure_leat(name, o, "i64", 0, [])
    yield "leat, i64 pair, a thread", lambda: measure_leat(name, o, "i64", 1, [])
    yield "leat, i64 pair, a thread, borrowed", lambda: measure_leat(name, o, "i64", 1, ["--borrow"])
    if leat:
        yield "leat.Loader, i64 pair, owned, inline", lambda: measure_python(name, o, {"threads": 0})
        yield "leat.Loader, i64 pair, owned, a thread", lambda: measure_python(name, o, {})
        borrowed = {"outputs": leat.Outputs(borrow=True)}
        yield "leat.Loader, i64 pair, borrowed, a thread", lambda: measure_python(name, o, borrowed)
    for workers in o.workers:
        for batched in (False, True):
            for more in [{}] if workers == 0 else [{}, {"prefetch_factor": 4, "persistent_workers": True}]:
                words = "".join(f", {key}={value}" for key, value in more.items())
                yield (f"DataLoader, {'batched' if batched else 'plain'}, {workers} workers{words}",
                       lambda b=batched, w=workers, m=more: measure_torch(name + ".tokens", o, b, w, m))


# ---- What Python adds ------------------------------------------------------------------------------------------------

def ways_of_python():
    return {"owned tensors": {}, "borrowed tensors": {"outputs": leat.Outputs(borrow=True)},
            "fixed buffers": {"buffers": True}, "dict of tensors": {"style": "dict"},
            "numpy arrays": {"framework": "numpy"}}


WARM_UP = 200  # batches


def take_steps(plan, o, options):
    """Seconds for a batch."""
    with leat.Loader(plan, o.batch, notices=False, **options) as loader:
        for _ in range(WARM_UP):
            next(loader)
        began = time.perf_counter()
        for _ in range(o.steps):
            next(loader)
        return (time.perf_counter() - began) / o.steps


def import_seconds():
    code = "import time; t = time.perf_counter(); import leat; print(time.perf_counter() - t)"
    return min(float(subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, text=True).stdout)
               for _ in range(10))


def overhead(o, name):
    print(f"torch {torch.__version__}, Python {sys.version.split()[0]}, {os.cpu_count()} cores")
    print(f"import leat: {import_seconds() * 1e3:.1f} ms, the least of 10")
    for o.seq_len, o.batch, o.steps in (o.seq_len, o.batch, o.steps), (16, 4, 10 * o.steps):
        plan = leat.Plan(name, o.seq_len)
        options_of = ways_of_python()
        ways, beside = {way: [] for way in options_of}, {False: [], True: []}
        for _ in range(o.rounds):
            for borrow, found in beside.items():
                got = load(o, name, "i64", o.steps, "--warm-up", str(WARM_UP), *(["--borrow"] if borrow else []))
                found.append(got["seconds"] / got["steps"])
            for way, options in options_of.items():
                ways[way].append(take_steps(plan, o, options))
        print(f"B = {o.batch}, L = {o.seq_len}: us per batch     Python   C loader  overhead")
        for way, seconds in ways.items():
            python, c = statistics.median(seconds), statistics.median(beside["outputs" in options_of[way]])
            print(f"  {way:32} {python * 1e6:10.1f} {c * 1e6:10.1f} {(python - c) * 1e6:9.1f}")


# ---- All of them -----------------------------------------------------------------------------------------------------

def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("leat_bench")
    parser.add_argument("--tokens", type=measured.number, default=500_000_000)
    parser.add_argument("--seq-len", type=int, default=2048)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--workers", type=lambda text: [int(w) for w in text.split(",")], default=[0, 1, 2, 4])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", default="cpu", help="where the batches go: cpu, or cuda")
    parser.add_argument("--folder", help="for the dataset; default: a temporary one")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--overhead", action="store_true", help="what Python adds to a batch")
    parser.add_argument("--steps", type=int, default=3000, help="batches of a run, of --overhead")
    o = parser.parse_args()
    torch.set_num_threads(1)  # with more, threads spin at barriers on a busy machine
    with tempfile.TemporaryDirectory(dir=o.folder) as folder:
        name = measured.counting(o.leat_bench, folder, o.tokens)
        if o.overhead:
            return overhead(o, name)
        results = {}
        for _ in range(o.rounds):  # in turns, so that all see the same machine
            for label, measure in cases(name, o):
                results.setdefault(label, []).append(measure())
    # of each case the round of median speed
    medians = {label: sorted(rounds, key=lambda r: r["mtok_per_s"])[len(rounds) // 2]
               for label, rounds in results.items()}
    if o.json:
        print(json.dumps({"torch": torch.__version__, "device": o.device, "batch": o.batch, "seq_len": o.seq_len,
                          "cases": medians}))
        return None
    print(f"torch {torch.__version__}, numpy {numpy.__version__}, {os.cpu_count()} cores, to {o.device}; "
          f"B = {o.batch}, L = {o.seq_len}, {o.rounds} rounds in turns")
    print(f"{'':70} {'Mtok/s':>9} {'CPU ms/Mtok':>12} {'p50 ms':>8} {'p99 ms':>8}")
    for label, r in medians.items():
        print(f"{label:70} {r['mtok_per_s']:9.1f} {r['cpu_ms_per_mtok']:12.2f} {r['p50_ms']:8.3f} {r['p99_ms']:8.3f}")
    return print_ratios(results)


def print_ratios(results):
    """leat against the best of each kind of DataLoader, round by round."""
    ours = [label for label in results if label.startswith("leat")]
    theirs = [label for label in results if label.startswith("DataLoader")]
    for kind, peers in (("without workers", [p for p in theirs if ", 0 workers" in p]),
                        ("with workers", [p for p in theirs if ", 0 workers" not in p])):
        if not peers:
            continue
        print(f"against the best DataLoader {kind}, median (least to most) of the rounds: tokens per second; CPU per "
              "token")
        for label in ours:
            rounds = range(len(results[label]))
            speed = sorted(results[label][k]["mtok_per_s"] / max(results[p][k]["mtok_per_s"] for p in peers)
                           for k in rounds)
            cpu = sorted(min(results[p][k]["cpu_ms_per_mtok"] for p in peers) / results[label][k]["cpu_ms_per_mtok"]
                         for k in rounds)
            middle = len(speed) // 2
            print(f"  {label:40} {speed[middle]:6.1f}x ({speed[0]:.1f} to {speed[-1]:.1f});  1/{cpu[middle]:.1f} "
                  f"(1/{cpu[0]:.1f} to 1/{cpu[-1]:.1f})")


if __name__ == "__main__":
    main()
