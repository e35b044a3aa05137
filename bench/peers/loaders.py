#!/usr/bin/env python3
"""loaders.py LEAT_BENCH [--python NAME=PYTHON]...: the same work through other loaders: batches of rows of L + 1 tokens
as int64 inputs and labels, shuffled, from one set of counting tokens (loaders_made.py). Every run is a process of its
own, by the Python that has its package (NAME is a file of bench/peers/loaders/), in turns; medians are printed.

A first process of each loader only checks, at the consumer: each row has the tokens of a place that rows may begin at,
and none comes twice. Then come, in other processes: tokens per second and CPU time of all processes, without the
beginnings of further epochs; their memory at the end, without mapped files; the start, from the process's own to the
first batch, with imports; the resume, the same from a state that was saved, whose first batch must be the one that the
saved run gave next. What cannot run says so. `make
bench-loaders` makes the environments.

    loaders.py LEAT_BENCH [--only leat --only Grain] [--tokens 100M] [--seconds 3] [--rounds 3] [--json] [--keep FILE]
"""
import time

BEGAN = time.perf_counter()
import argparse  # noqa: E402
import hashlib  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import pickle  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402

import measured  # noqa: E402
from loaders_made import LOADERS, tokens_of  # noqa: E402

CHECKED = 8  # batches
FIGURES = [("Mtok/s", "mtok_per_s", ".1f"), ("CPU ms/Mtok", "cpu_ms_per_mtok", ".2f"), ("start s", "start_s", ".2f"),
           ("resume s", "resume_s", ".2f"), ("MiB", "memory_mib", ".0f")]

# ---- A run: a process of its own


def numbers(array):
    import numpy
    return numpy.asarray(array)


def check_rows(o, inputs, labels, known):
    """Ends the process where a row has no place in the tokens, or one that has come before."""
    import numpy
    rows = numpy.concatenate([numbers(inputs), numbers(labels)[:, -1:]], axis=1)
    if numbers(inputs).dtype != numpy.int64 or rows.shape != (o.batch, o.seq_len + 1) or \
            not numpy.array_equal(rows[:, 1:], numbers(labels)):
        sys.exit("inputs and labels are not the rows that were asked for")
    tokens = known["tokens"]
    for row in rows:
        place = known["places"].get(row[:8].astype("<u2").tobytes())
        if place is None or not numpy.array_equal(tokens[place:place + o.seq_len + 1], row):
            sys.exit("a row has other tokens than the dataset")
        if place in known["seen"]:
            sys.exit(f"the row at token {place} came twice")
        known["seen"].add(place)


def check(o):
    """What --run --check does."""
    tokens = tokens_of(o)
    step = o.seq_len + (o.run == "litdata")
    known = {"tokens": tokens, "seen": set(), "places": {tokens[at:at + 8].tobytes(): at
                                                         for at in range(0, len(tokens) - o.seq_len, step)}}
    batches, _ = LOADERS[o.run][1](o, None)
    for _ in range(CHECKED):
        check_rows(o, *next(batches), known)
    return {"checked": len(known["seen"])}


def hash_of(batch):
    return hashlib.sha256(b"".join(numbers(array).tobytes() for array in batch)).hexdigest()


def run(o):
    """What --run does: the loader's figures; --resume FILE: only the start from that state."""
    make = LOADERS[o.run][1]
    state = pickle.load(open(o.resume, "rb")) if o.resume else None
    batches, save = make(o, state)
    batch = next(batches)
    start = time.perf_counter() - BEGAN
    if o.resume:
        return {"resume_s": start, "hash": hash_of(batch)}
    for _ in range(3):
        batch = next(batches)
    with open(o.state, "wb") as file:  # after this batch
        pickle.dump(save(), file)
    result, count = {"start_s": start, "hash": hash_of(next(batches))}, 0
    del batch
    cpu, began = measured.cpu_seconds(os.getpid()), time.perf_counter()
    while count == 0 or time.perf_counter() - began < o.seconds:
        try:
            next(batches)
            count += 1
        except StopIteration:  # another epoch: what beginning takes does not count
            cpu_before, before = measured.cpu_seconds(os.getpid()), time.perf_counter()
            batches, _ = make(o, None)
            next(batches)
            cpu += measured.cpu_seconds(os.getpid()) - cpu_before
            began += time.perf_counter() - before
    seconds = time.perf_counter() - began
    made = count * o.batch * o.seq_len
    return {**result, "mtok_per_s": made / seconds / 1e6,
            "cpu_ms_per_mtok": (measured.cpu_seconds(os.getpid()) - cpu) * 1e9 / made,
            "memory_mib": measured.memory_mib(os.getpid())}


# ---- All of them


def measure(name, o, checking):
    """A check, or a run and its resume; {"not_measured": why} if it cannot run."""
    python = o.pythons.get(LOADERS[name][0], sys.executable)
    if not os.path.exists(python):
        return {"not_measured": f"its packages cannot be installed: there is no {python}"}
    with tempfile.TemporaryDirectory() as folder:
        state = os.path.join(folder, "state")
        words = [python, os.path.abspath(__file__), o.leat_bench, "--run", name, "--name", o.name, "--folder", o.folder,
                 "--seq-len", str(o.seq_len), "--batch", str(o.batch), "--seconds", str(o.seconds),
                 "--workers", str(o.workers), "--state", state]
        result = {}
        for more in [["--check"]] if checking else [[], ["--resume", state]]:
            try:
                done = subprocess.run(words + more, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                                      timeout=o.most_seconds)
            except subprocess.TimeoutExpired:
                hung = f"it did not end within {o.most_seconds} s"
                return {**result, "no_resume" if result else "not_measured": hung}
            if done.returncode:
                said = done.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
                return {**result, "no_resume" if result else "not_measured": said[:200]}
            said = json.loads(done.stdout.decode().strip().split("\n")[-1])
            if result and said["hash"] != result["hash"]:
                return {**result, "no_resume": "the first batch after the resume is another one"}
            result.update(said)
    return result


def size(text):
    return int(float(text[:-1]) * {"K": 1e3, "M": 1e6, "G": 1e9}[text[-1]]) if text[-1] in "KMG" else int(text)


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("leat_bench")
    parser.add_argument("--python", action="append", default=[], help="NAME=PYTHON")
    parser.add_argument("--tokens", type=size, default=100_000_000)
    parser.add_argument("--seq-len", type=int, default=2048)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--workers", type=int, default=0, help="of those that are no DataLoader")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--most-seconds", type=int, default=1800, help="of a process; one that hangs is ended")
    parser.add_argument("--folder", help="for the data; default: a temporary one")
    measured.add_options(parser)
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    for name in "run", "name", "state", "resume":
        parser.add_argument(f"--{name}", help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    o = options()
    if o.run:
        print(json.dumps(check(o) if o.check else run(o)))
        return
    o.pythons = dict(word.split("=", 1) for word in o.python)
    with tempfile.TemporaryDirectory(dir=o.folder) as folder:
        o.folder, o.name = folder, os.path.join(folder, "counting")
        subprocess.run([o.leat_bench + "-dev", "counting", "-o", o.name, "--tokens", str(o.tokens)], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        names = [name for name in LOADERS if not o.only or any(name.startswith(only) for only in o.only)]
        rounds = {name: [measure(name, o, True)] for name in names}
        for _ in range(o.rounds):  # in turns, so that all see the same machine
            for name in names:
                if not any("not_measured" in x for x in rounds[name]):
                    rounds[name].append(measure(name, o, False))
    measured.say(o, {"work": "loading", "tokens": o.tokens, "seq_len": o.seq_len, "batch": o.batch,
                     "rounds": o.rounds, "machine": measured.machine(o.leat_bench),
                     "peers": [{"name": name, **measured.medians(all_of, [key for _, key, _ in FIGURES])}
                               for name, all_of in rounds.items()]}, FIGURES)


if __name__ == "__main__":
    main()
