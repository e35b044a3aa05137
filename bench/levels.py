#!/usr/bin/env python3
"""levels.py FOLDER [--rounds N] [--tokens N] FILE.jsonl...

A table of what CPUs of lower levels get. FOLDER has a folder of programs per level (`make bench-levels` links them),
which use no higher level. For each FILE: encoding with two tokenizers, and finding records; then verifying and loading
a dataset of counting tokens from memory. One thread each, in turns over N rounds; medians, for encoding in CPU time.
Fails if levels give different ids or batches. Skips levels that this CPU lacks.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

LEVELS = {"PLAIN": "x86-64", "AVX2": "AVX2", "AVX512": "AVX-512", "AVX512_VBMI": "AVX-512 VBMI"}
NEEDS = {"PLAIN": [], "AVX2": ["avx2", "bmi2"], "AVX512": ["avx512bw", "avx512cd"], "AVX512_VBMI": ["avx512_vbmi2"]}


def run(program, *arguments):
    command = [program, *arguments, "--json"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def verify_rate(program, name):
    return run(program, "dataset", "--runs", "3", name)["verifying"][0]["bytes_per_s"]["median"] / 1e9


def measurements(files, counting):
    """Name, and a function of a program that gives a number and what must be equal at all levels."""
    for path in files:
        base = os.path.basename(path)
        for tokenizer in ("gpt2", "o200k_base"):
            def encode(program, tokenizer=tokenizer, path=path):
                r = run(program, "encode", "-t", tokenizer, path)
                return r["bytes"] / r["cpu_seconds"] / 1e6, r["checksum"]
            yield "encode %s, %s, MB/s" % (tokenizer, base), encode

        def scan(program, path=path):
            r = run(program + "-dev", "scan", "--runs", "1", path)
            return r["scan_mb_per_s"], (r["records"], r["text_bytes"])
        yield "find records, %s, MB/s" % base, scan

    yield "verify, GB/s", lambda program: (verify_rate(program, counting), None)

    def load(program):
        batches = ("load", "--source", counting, "--seq-len", "2048", "--batch", "32", "--output", "i64",
                   "--threads", "0", "--no-verify")
        r = run(program, *batches, "--steps", "400", "--warm-up", "100")
        return r["tokens_per_s"] / 1e6, run(program, *batches, "--steps", "20", "--checksum")["checksum"]
    yield "batches as i64, million tokens/s", load


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", default="200M")
    a = parser.parse_args()
    with open("/proc/cpuinfo") as f:
        flags = f.read().split()
    levels = [level for level in LEVELS if all(flag in flags for flag in NEEDS[level])]
    programs = {level: os.path.join(a.folder, level, "leat-bench") for level in levels}
    with tempfile.TemporaryDirectory(dir=a.folder) as folder:
        counting = os.path.join(folder, "counting")
        subprocess.run([programs["PLAIN"] + "-dev", "counting", "-o", counting, "--tokens", a.tokens], check=True,
                       stdout=subprocess.DEVNULL)
        print("| |", " | ".join(LEVELS[level] for level in levels), "|")
        print("|---" * (len(levels) + 1) + "|")
        for name, measure in measurements(a.files, counting):
            results = {level: [] for level in levels}
            for _ in range(a.rounds):
                for level in levels:
                    results[level].append(measure(programs[level]))
            if len({same for level in levels for _, same in results[level]}) != 1:
                sys.exit("levels.py: %s: not the same result at all levels" % name)
            rates = (statistics.median(rate for rate, _ in results[level]) for level in levels)
            print("| %s | %s |" % (name, " | ".join("%.3g" % rate for rate in rates)), flush=True)


if __name__ == "__main__":
    main()
