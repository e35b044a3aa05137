#!/usr/bin/env python3
"""new_words.py LEAT_BENCH [--warm 80] [--megabytes 20] [--repeat 3] [--only WORD]

What words cost that a byte-level vocabulary has not met, and what gigatoken's speed leaves for them: of each
vocabulary and corpus (LEAT_CORPORA, LEAT_VOCAB), --warm MB of text, and the --megabytes that follow these.
`leat-bench-dev stages --warm` and gigatoken take turns; of each, the best of --repeat counts.

In cycles per pretoken: the whole of new text, the same text once it is met, and the goal, 2 (many languages: 3.5)
times gigatoken's speed over the new text. In cycles per new word: what it costs beyond one that is met, what its
merging and adding to the cache take, the same once more right away (nothing waits for memory then), and what the goal
leaves for all of that. Exits with 77 without what it needs.
"""
import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers"))
import encode
import measured

GOALS = {"english": 2, "multi": 3.5, "code": 2}
PLACES = ("new, %", "whole", "met", "goal", "cost", "merging", "once more", "left")
BYTE_LEVEL = encode.VOCABULARIES[:6]


def stages(command):
    """By place, but for the goal."""
    said = encode.needed(command, 1)
    cycles = {stage: ns * said["cycles_per_ns"] for stage, ns in said["ns_per_pretoken"].items()}
    share = said["missed"] / said["pretokens"]
    return {"new, %": 100 * share, "whole": cycles["encoder"], "met": cycles["met"],
            "merging": cycles["merge"] / share, "once more": cycles["merge_again"] / share,
            "ghz": said["cycles_per_ns"], "bytes": said["bytes"] / said["pretokens"]}


def verdict(row):
    if row["whole"] <= row["goal"]:
        return "reached"
    if row["left"] <= 0:
        return "not with words that cost nothing"
    if row["left"] < max(row["once more"], row["cost"] - (row["merging"] - row["once more"])):
        return "not with merging that waits for nothing"
    return f"if a new word costs {100 * (1 - row['left'] / row['cost']):.0f} % less"


def measure(o, text, file, paths):
    ours = [o.leat_bench + "-dev", "stages", "--json", "-t", file, "--runs", "2", "--warm", *paths]
    theirs = [sys.executable, encode.__file__, "--one-warm", "gigatoken", file, *paths]
    runs, rates = [], []
    for _ in range(o.repeat):
        runs.append(stages(ours))
        rates.append(encode.one_at_a_time({"gigatoken": theirs}, 0)["gigatoken"]["passes_cpu"][0])
    row = {key: min(run[key] for run in runs) for key in runs[0]}
    row["goal"] = row["bytes"] * 1e3 * row["ghz"] / (GOALS[text] * max(rates))
    row["cost"] = (row["whole"] - row["met"]) * 100 / row["new, %"]
    row["left"] = (row["goal"] - row["met"]) * 100 / row["new, %"]
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("leat_bench", type=os.path.abspath)
    parser.add_argument("--warm", type=float, default=80)
    parser.add_argument("--megabytes", type=float, default=20)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="", help="lines whose text and vocabulary hold this: \"english gpt2\"")
    o = parser.parse_args()
    print(f"{'':24}" + "".join(f"{place:>10}" for place in PLACES))
    with tempfile.TemporaryDirectory() as folder:
        for text in measured.TEXTS:
            paths = encode.split_text(folder, text, (o.warm, o.megabytes)) or \
                measured.skip(f"no {measured.corpus(text)}")
            for name, _, _, file in BYTE_LEVEL:
                if o.only not in f"{text} {name}":
                    continue
                path = measured.unpacked(folder, os.path.join(measured.VOCAB, file + ".zst"))
                if path:
                    row = measure(o, text, path, paths)
                    print(f"{text + ' ' + name:24}" + f"{row['new, %']:10.2f}" + "".join(
                        f"{row[place]:10.1f}" for place in PLACES[1:4]) + "".join(
                        f"{row[place]:10.0f}" for place in PLACES[4:]) + "  " + verdict(row), flush=True)


if __name__ == "__main__":
    main()
