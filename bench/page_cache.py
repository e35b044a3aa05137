#!/usr/bin/env python3
"""page_cache.py BUILD NAME [--limit MIB] [--rounds N] [--also BENCH]
page_cache.py BUILD TEXT --pack OUT [--limit MIB] [--rounds N] [--also LEAT]

What reading the dataset NAME once costs in a memory control group of --limit MiB (96), by announced reads, in order and
shuffled: CPU time per million tokens (the least of N rounds) and what the group holds of files at its end. --also: in
turns with another leat-bench. With --pack, what packing TEXT to OUT (-t bytes) costs in CPU seconds, and what stays of
TEXT. Needs root; control groups of version 1 or 2.
"""
import argparse
import json
import os
import pathlib
import subprocess


def make_group(limit):
    """A group of our own, and which version it is of."""
    root = pathlib.Path("/sys/fs/cgroup")
    for parent, name, version in (root / "memory", "memory.limit_in_bytes", 1), (root, "memory.max", 2):
        if (parent / "cgroup.procs").exists():
            group = parent / f"leat-bench-{os.getpid()}"
            group.mkdir()
            (group / name).write_text(str(limit))
            return group, version
    raise SystemExit("no memory control group")


def held(group):
    numbers = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    return int(numbers.get("file", numbers.get("cache", 0)))


def read(bench, name, order, group):
    for suffix in ".tokens", ".leat":
        fd = os.open(name + suffix, os.O_RDONLY)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)
    done = subprocess.run([bench, "load", "--source", name, "--seq-len", "2048", "--batch", "16", "--steps", "1500",
                           "--order", order, "--engine", "advise", "--json"], stdout=subprocess.PIPE, check=True,
                          preexec_fn=lambda: (group / "cgroup.procs").write_text(str(os.getpid())))
    return 1000 * json.loads(done.stdout)["cpu_s_per_mtok"], held(group) / 2**20


def pack(leat, text, out, group):
    fd = os.open(text, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)
    before = os.times()
    subprocess.run([leat, "pack", "-o", out, "--force", "-t", "bytes", "--end", "none", "--memory", "96MiB",
                    "--progress", "never", text], stdout=subprocess.DEVNULL, check=True,
                   preexec_fn=lambda: (group / "cgroup.procs").write_text(str(os.getpid())))
    after = os.times()
    pages = subprocess.run(["fincore", "-b", "-n", "-o", "RES", text], stdout=subprocess.PIPE, check=True).stdout
    return after[2] + after[3] - before[2] - before[3], int(pages) / 2**20, held(group)


def main_pack(o, group, version):
    leats = [str(pathlib.Path(o.build) / "leat")] + ([o.also] if o.also else [])
    rounds = [[pack(leat, o.name, o.pack, group) for leat in leats] for _ in range(o.rounds)]
    for leat, figures in zip(leats, zip(*rounds)):
        print(f"{leat}: {min(f[0] for f in figures):.2f} s of CPU, {max(f[1] for f in figures):.1f} MiB of the input "
              f"and {max(f[2] for f in figures) / 2**20:.1f} MiB of all files held (control group version {version}, "
              f"{o.limit} MiB)", flush=True)


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("build")
    p.add_argument("name")
    p.add_argument("--limit", type=int, default=96)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--also")
    p.add_argument("--pack")
    o = p.parse_args()
    group, version = make_group(o.limit << 20)
    benches = [str(pathlib.Path(o.build) / "leat-bench")] + ([o.also] if o.also else [])
    try:
        if o.pack:
            return main_pack(o, group, version)
        for order in "sequential", "shuffled":
            rounds = [[read(bench, o.name, order, group) for bench in benches] for _ in range(o.rounds)]
            for bench, figures in zip(benches, zip(*rounds)):
                print(f"{order:10} {bench}: {min(cpu for cpu, _ in figures):.2f} ms of CPU per million tokens, "
                      f"{max(mib for _, mib in figures):.1f} MiB of files held (control group version {version}, "
                      f"{o.limit} MiB)", flush=True)
    finally:
        group.rmdir()


main()
