#!/usr/bin/env python3
"""rows.py LEAT_BENCH NAME [--rounds N] [--seq-len L]: what a row takes that is more or less than a row: slices for
context parallelism, labels ahead, fill-in-the-middle; and dealt rows and rows of whole documents beside each other. All
from memory, in turns with whole plain rows; medians, with the least and the most. CPU time is that of the process for a
row; bytes are those that are copied into slots."""
import argparse
import statistics

from load import load, spread

CASES = {
    "windows": ((), "windows"),
    "slice 3/8, contiguous": (("--slice", "3/8", "--layout", "contiguous"), "windows"),
    "slice 3/8, zigzag": (("--slice", "3/8", "--layout", "zigzag"), "windows"),
    "2 labels ahead": (("--ahead", "2"), "windows"),
    "fill-in-the-middle, half": (("--fim", "0.5,0.5,1,2,3"), "windows"),
    "fit": (("--order", "fit"), "fit"),
    "fit, dealt to 8 ranks": (("--order", "fit", "--world", "8", "--balance", "attention"), "fit of 8"),
    "fit of 8": (("--order", "fit", "--world", "8"), "fit of 8"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench")
    parser.add_argument("name")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seq-len", type=int, default=65536)
    parser.add_argument("--tokens", type=float, default=256e6, help="of whole rows, in each measurement")
    o = parser.parse_args()
    batch = 32
    steps = max(4, int(o.tokens / o.seq_len / batch))
    found = {case: [] for case in CASES}
    for _ in range(o.rounds):
        for case, (words, _) in CASES.items():
            world = 8 if "--world" in words else 1
            got = load(o.bench, o.name, "--steps", str(steps), "--warm-up", str(steps // world), "--no-verify",
                       "--output", "i64", *words, length=o.seq_len, batch=batch * world)
            places = o.seq_len // (8 if "--slice" in words else 1)
            found[case].append((got["cpu_s_per_mtok"] * places, got["copied_bytes"]))
    print(f"rows of {o.seq_len} tokens, {batch} of a rank in a batch, {steps} batches")
    print(f"{'':28} {'CPU us a row':>26} {'of a whole one':>20} {'bytes copied, of it':>20}")
    for case, (_, beside) in CASES.items():
        times, sizes = zip(*found[case])
        whole_times, whole_sizes = zip(*found[beside])
        print(f"{case:28} {spread(times):>26} {spread([a / b for a, b in zip(times, whole_times)]):>20} "
              f"{statistics.median(sizes) / statistics.median(whole_sizes):20.3f}")


if __name__ == "__main__":
    main()
