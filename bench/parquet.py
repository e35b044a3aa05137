#!/usr/bin/env python3
"""parquet.py BUILD [--rounds 9] [--threads 1] [--only WORD] [--leat PROGRAM]: Parquet beside JSON lines, in CPU time.

The corpora (LEAT_CORPORA) as JSON lines, plain and .zst, and as Parquet by pyarrow: Snappy and zstd with row groups of
10,000 rows, and what pyarrow writes without options; all with a dictionary that is given up after 1 MiB. `leat pack` of
each in turns, gpt2: user and system time of the process, least and median, and how many times that of JSON lines.
--leat: another program, in the same turns, as one from before a change.
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers"))
import measured


def files(folder, text):
    """By what they are called; the first is JSON lines."""
    import pyarrow
    import pyarrow.parquet
    packed = measured.corpus(text)
    plain = measured.unpacked(folder, packed)
    if not plain:
        return {}
    table = pyarrow.table({"text": measured.texts_of(plain)})
    found = {".jsonl": plain, ".jsonl.zst": packed}
    for name, options in (("Snappy", {"row_group_size": 10000}), ("zstd", {"row_group_size": 10000,
                          "compression": "zstd"}), ("without options", {})):
        found[".parquet, " + name] = os.path.join(folder, f"{name}.parquet")
        pyarrow.parquet.write_table(table, found[".parquet, " + name], **options)
    return found


def cpu_seconds(leat, threads, path, out):
    process = subprocess.Popen([leat, "pack", "-t", "gpt2", "--threads", str(threads), "--force", "-o", out, path],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{leat} pack {path} failed")
    return used.ru_utime + used.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--leat")
    o = parser.parse_args()
    programs = [os.path.join(o.build, "leat")] + ([o.leat] if o.leat else [])
    print(f"CPU seconds of {o.rounds} rounds in turns, least and median, and times those of JSON lines; gpt2, "
          f"{o.threads} threads")
    for text in measured.TEXTS:
        if o.only not in text:
            continue
        with tempfile.TemporaryDirectory(dir=o.build) as folder:
            found = {(program, name): (path, []) for name, path in files(folder, text).items() for program in programs}
            for _ in range(o.rounds):
                for (program, _), (path, seconds) in found.items():
                    seconds.append(cpu_seconds(program, o.threads, path, os.path.join(folder, "out")))
            for (program, name), (_, seconds) in found.items():
                lines = found[program, ".jsonl"][1]
                least, middle = min(seconds), statistics.median(seconds)
                print(f"{text}{name}{', --leat' if program == o.leat else ''}: {least:.3f}, {middle:.3f} s; "
                      f"{least / min(lines):.2f}, {middle / statistics.median(lines):.2f}", flush=True)


if __name__ == "__main__":
    main()
