#!/usr/bin/env python3
"""records.py BUILD [--megabytes 50] [--rounds 5]: what conditions, --by and --mask-field add to packing by one thread.

Records have five members, id, lang, score, meta.url and text, and a mask of the text's first half: English of the
corpora (LEAT_CORPORA), cut to texts of 430 and of 2,500 bytes, as JSON lines, and as Parquet where pyarrow is
installed. `leat-bench pack` packs them in turns without options and with each; printed are the CPU time of all steps,
and, as ratios of medians, what it takes with the options. --by is that of a part (--part 1/1), which only marks
documents.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers"))
import measured

OPTIONS = {"none": [],
           "three conditions": ["--keep", "lang != xx", "--keep", "score >= 0", "--keep", "meta.url exists"],
           "by": ["--by", "lang", "--part", "1/1"], "mask": ["--mask-field", "mask"]}


def records(texts, length, limit):
    size = number = 0
    for text in texts:
        for at in range(0, len(text) - length + 1, length):
            piece = text[at:at + length]
            record = {"id": f"record-{number}", "lang": ("en", "de")[number % 2],
                      "score": (number * 7919 % 50000) / 1e4, "meta": {"url": f"https://example.org/{number}"},
                      "text": piece, "mask": [[0, len(piece) // 2]]}
            size += len(piece.encode())
            number += 1
            yield record
            if size >= limit:
                return


def files(folder, texts, megabytes):
    try:
        from pyarrow import Table, parquet
    except ImportError:
        parquet = None
    for length in (430, 2500):
        made = list(records(texts, length, megabytes * 1e6))
        name = os.path.join(folder, f"texts of {length} bytes.jsonl")
        with open(name, "w", encoding="utf-8") as lines:
            lines.writelines(json.dumps(record) + "\n" for record in made)
        yield name
        if parquet:
            name = name.removesuffix("jsonl") + "parquet"
            parquet.write_table(Table.from_pylist(made), name, compression="zstd")
            yield name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--megabytes", type=float, default=50)
    parser.add_argument("--rounds", type=int, default=5)
    o = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        corpus = measured.unpacked(folder, measured.corpus("english"))
        if not corpus:
            measured.skip("no corpora")
        print(f"{o.rounds} rounds in turns; CPU seconds without options (least to most), and ratios of medians")
        for name in files(folder, measured.texts_of(corpus), o.megabytes):
            for tokenizer in ("bytes", "gpt2"):
                found = {label: [] for label in OPTIONS}
                for _ in range(o.rounds):
                    for label, options in OPTIONS.items():
                        told = subprocess.run(
                            [os.path.join(o.build, "leat-bench"), "pack", "-t", tokenizer, "--threads", "1", "--force",
                             "--json", "-o", os.path.join(folder, "out"), *options, name],
                            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
                        found[label].append(sum(json.loads(told)["cpu_seconds"].values()))
                plain = measured.statistics.median(found["none"])
                ratios = ", ".join(f"{label} {measured.statistics.median(times) / plain:.2f}"
                                   for label, times in found.items() if label != "none")
                print(f"{os.path.basename(name)}, {tokenizer}: {measured.spread(found['none'], 3)} s; {ratios}",
                      flush=True)


if __name__ == "__main__":
    main()
