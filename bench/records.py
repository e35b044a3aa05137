#!/usr/bin/env python3
"""records.py BUILD [--megabytes 50] [--rounds 5]: what conditions, --by and --mask-field add to packing by one thread.

Records have five members, id, lang, score, meta.url and text, and a mask of the text's first half: English of the
corpora (LEAT_CORPORA), cut to texts of 430 and of 2,500 bytes, as JSON lines, as CSV, and as Parquet where pyarrow is
installed. `leat-bench pack` packs them in turns without options and with each; printed are the CPU time of all steps,
and, as ratios of medians, what it takes with the options, and beside JSON lines. --by is that of a part (--part 1/1),
which only marks documents.
"""
import argparse
import csv
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
        names = [name, name.removesuffix("jsonl") + "csv"]
        with open(names[1], "w", encoding="utf-8", newline="") as table:
            rows = csv.writer(table)
            rows.writerow(["id", "lang", "score", "meta.url", "text", "mask"])
            rows.writerows([r["id"], r["lang"], r["score"], r["meta"]["url"], r["text"], json.dumps(r["mask"])]
                           for r in made)
        if parquet:
            names.append(name.removesuffix("jsonl") + "parquet")
            parquet.write_table(Table.from_pylist(made), names[2], compression="zstd")
        yield names


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
        for names in files(folder, measured.texts_of(corpus), o.megabytes):
            for tokenizer in ("bytes", "gpt2"):
                found = {(name, label): [] for name in names for label in OPTIONS}
                for _ in range(o.rounds):
                    for name, label in found:
                        told = subprocess.run(
                            [os.path.join(o.build, "leat-bench"), "pack", "-t", tokenizer, "--threads", "1", "--force",
                             "--json", "-o", os.path.join(folder, "out"), *OPTIONS[label], name],
                            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
                        found[name, label].append(sum(json.loads(told)["cpu_seconds"].values()))
                middle = {key: measured.statistics.median(times) for key, times in found.items()}
                for name in names:
                    plain = middle[name, "none"]
                    ratios = [f"{label} {middle[name, label] / plain:.2f}" for label in OPTIONS if label != "none"]
                    if name != names[0]:
                        ratios.append(f"beside JSON lines {plain / middle[names[0], 'none']:.2f}")
                    print(f"{os.path.basename(name)}, {tokenizer}: {measured.spread(found[name, 'none'], 3)} s; "
                          f"{', '.join(ratios)}", flush=True)


if __name__ == "__main__":
    main()
