#!/usr/bin/env python3
"""load_foreign.py LEAT_BENCH NAME [--rounds N] [--tokens N] [--cold-batches N]

Does the loader read files of other tools as fast as leat's own? Dataset NAME (`leat-bench-dev counting` makes one) is
exported beside it, and the same windows are loaded in turns from all of them: hot, from memory, by copies alone, and
cold, past the page cache by io_uring, without checks of pages, which only leat's own have. Tokens per second and CPU
time per token, relative to leat's own in the same round: medians, with the least and the most.
"""
import argparse
import os
import subprocess
import sys

from load_storage import BATCH, LENGTH, forget, load, spread, warm

# (name, what leat export needs, how the loader names it, the file that holds the tokens)
KINDS = [("leat", None, "{}", "{}.tokens"),
         ("raw", ["raw", "{}.raw"], "raw:{}.raw?dtype=u16", "{}.raw"),
         ("Megatron", ["megatron", "{}_megatron"], "{}_megatron", "{}_megatron.bin")]


def compare(title, kinds, bench, rounds, *options, before=None):
    rates, cpus = {kind[0]: [] for kind in kinds}, {kind[0]: [] for kind in kinds}
    for k in range(rounds):
        for kind, _, name, tokens in kinds[k % len(kinds):] + kinds[:k % len(kinds)]:
            if before:
                before(tokens)
            got = load(bench, name, "--no-verify", "--seed", str(k + 1), *options)
            rates[kind].append(got["tokens_per_s"])
            cpus[kind].append(got["cpu_s_per_mtok"])
    print(title)
    for kind in rates:
        print("  %-9s %s Mtok/s; of leat's own: %s, CPU time %s" % (
            kind, spread([v / 1e6 for v in rates[kind]], 0),
            *(spread([v / w for v, w in zip(of[kind], of["leat"])]) for of in (rates, cpus))))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("bench")
    parser.add_argument("name")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--tokens", type=int, default=1000000000)
    parser.add_argument("--cold-batches", type=int, default=500)
    o = parser.parse_args()
    leat = os.path.join(os.path.dirname(o.bench), "leat")
    kinds = [(kind, made and [part.format(o.name) for part in made], name.format(o.name), tokens.format(o.name))
             for kind, made, name, tokens in KINDS]
    for _, made, _, _ in kinds[1:]:
        subprocess.run([leat, "export", "--force", "--to", made[0], "-o", made[1], o.name], check=True,
                       stdout=subprocess.DEVNULL)
    for _, _, _, tokens in kinds:
        forget(tokens)  # all come into the page cache in the same way: its pages may be large or small
        warm(tokens)
    steps = str(o.tokens // (LENGTH * BATCH) + 1)
    for threads in "0", "1":
        compare("hot, %s" % ("inline" if threads == "0" else "with a thread"), kinds, o.bench, o.rounds,
                "--engine", "map", "--threads", threads, "--warm-up", str(200000 // BATCH), "--steps", steps)
    compare("cold, random windows of %d tokens" % LENGTH, kinds, o.bench, o.rounds,
            "--engine", "uring", "--steps", str(o.cold_batches), before=forget)


if __name__ == "__main__":
    sys.exit(main())
