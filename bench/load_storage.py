#!/usr/bin/env python3
"""load_storage.py LEAT_BENCH NAME [--rounds N] [--seconds S]

What the loader makes of storage, beside what storage gives: dataset NAME (a few GiB, of `leat-bench-dev counting`) is
read
  cold       in random windows past the page cache (engine uring), beside fio with as many reads in flight of the same
             aligned spans: requests a second, and CPU time of a request
  warming    from disk, taking a batch each 10 ms, while the background brings the file to memory in sequence, beside
             reading it in sequence, with O_DIRECT and into the page cache
  hot        from memory: the time from open to the first batch in fresh processes; how long next() takes while a ring
             is full; memory of the process besides its ring
Rounds alternate between the loader and the other side; medians, with the least and the most. Needs fio for `cold`.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

LENGTH, BATCH = 2048, 32


def load(bench, name, *more):
    command = [bench, "load", "--source", name, "--seq-len", str(LENGTH), "--batch", str(BATCH), "--json", *more]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)


def forget(path):
    """Takes the file out of the page cache."""
    fd = os.open(path, os.O_RDONLY)
    os.fdatasync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def warm(path):
    """Reads the file into the page cache."""
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 24):
            pass


def spread(values, digits=2):
    return "%.*f (%.*f-%.*f)" % (digits, statistics.median(values), digits, min(values), digits, max(values))


def fio(path, span, depth, seconds, seed):
    command = ["fio", "--name=spans", "--filename=" + path, "--readonly", "--direct=1", "--rw=randread",
               "--bs=%d" % span, "--blockalign=4096", "--norandommap", "--iodepth=%d" % depth, "--ioengine=io_uring",
               "--fixedbufs", "--registerfiles", "--randseed=%d" % seed, "--time_based", "--runtime=%d" % seconds,
               "--output-format=json"]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    job = json.loads(out)["jobs"][0]
    rate = job["read"]["iops"]
    # fio gives shares of its thread's time
    return rate, (job["usr_cpu"] + job["sys_cpu"]) / 100 / rate * 1e6


def cold(bench, name, tokens, width, rounds, seconds):
    span = (LENGTH * width + 4096 - 1) // 4096 * 4096 + 4096
    rates, cpus, peer_rates, peer_cpus = [], [], [], []
    for k in range(rounds):
        # other places each time: below a virtual disk somebody may remember those of the round before
        peer = fio(tokens, span, 64, seconds, 2 * k + 1)
        peer_rates.append(peer[0])
        peer_cpus.append(peer[1])
        steps = max(100, int(peer[0] / BATCH * seconds))
        forget(tokens)
        got = load(bench, name, "--engine", "uring", "--no-verify", "--seed", str(2 * k + 2), "--steps", str(steps))
        windows = got["tokens_per_s"] / LENGTH
        rates.append(windows)
        cpus.append(got["cpu_s_per_mtok"] * LENGTH)
    print("cold: random windows of %d bytes in spans of %d, 64 and more in flight" % (LENGTH * width, span))
    print("  leat  %s requests/s   %s us CPU a request" % (spread(rates, 0), spread(cpus)))
    print("  fio   %s requests/s   %s us CPU a request" % (spread(peer_rates, 0), spread(peer_cpus)))
    print("  leat / fio: %s of the requests, %s of the CPU" % (
        spread([a / b for a, b in zip(rates, peer_rates)]), spread([a / b for a, b in zip(cpus, peer_cpus)])))


def sequential(path, direct):
    """MB/s of reads of 1 MiB, four in flight by as many processes of dd: past the page cache, or into it."""
    size = os.path.getsize(path) >> 20
    forget(path)
    began = time.monotonic()
    count = max(64, min(size // 4, 4096))
    command = ["dd", "if=" + path, "of=/dev/null", "bs=1M", "count=%d" % count, *(["iflag=direct"] if direct else [])]
    jobs = [subprocess.Popen(command + ["skip=%d" % (k * count)], stderr=subprocess.DEVNULL) for k in range(4)]
    for j in jobs:
        j.wait()
    return 4 * count * 1.048576 / (time.monotonic() - began)


def warming(bench, name, tokens, rounds, seconds):
    ours, disk, cached = [], [], []
    for _ in range(rounds):
        disk.append(sequential(tokens, True))
        cached.append(sequential(tokens, False))
        forget(tokens)
        steps = max(20, int(min(seconds, 0.8 * os.path.getsize(tokens) / 1e6 / disk[-1]) * 95))
        got = load(bench, name, "--work", "10", "--steps", str(steps))
        ours.append(got["warmed_bytes"] / 1e6 / got["seconds"])
    print("warming while a batch is taken each 10 ms: %s MB/s" % spread(ours, 0))
    print("  the disk in sequence: %s MB/s; %s of it" % (spread(disk, 0), spread([a / b for a, b in zip(ours, disk)])))
    print("  the same into the page cache: %s MB/s; %s of it" % (
        spread(cached, 0), spread([a / b for a, b in zip(ours, cached)])))


def hot(bench, name, tokens, rounds):
    warm(tokens)
    first = [load(bench, name, "--steps", "1")["first_batch_ms"] for _ in range(5 * rounds)]
    print("first batch after opening a hot file: %s ms" % spread(first))
    held = [load(bench, name, "--work", "2", "--steps", "1500") for _ in range(rounds)]
    print("next() with a full ring: p50 %s us, p99 %s us" % (
        spread([h["next_us"]["p50"] for h in held]), spread([h["next_us"]["p99"] for h in held])))
    print("memory besides the ring, with page tables: %s MiB" % spread(
        [h["memory_mib"] - h["ring_bytes"] / 2**20 for h in held]))


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("bench")
    parser.add_argument("name")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2)
    o = parser.parse_args()
    tokens = o.name + ".tokens"
    header = json.loads(subprocess.run([os.path.join(os.path.dirname(o.bench), "leat"), "info", o.name, "--json"],
                                       check=True, stdout=subprocess.PIPE).stdout)
    if shutil.which("fio"):
        cold(o.bench, o.name, tokens, header["width"], o.rounds, max(1, int(o.seconds)))
    else:
        print("cold: skipped, fio is not installed")
    warming(o.bench, o.name, tokens, o.rounds, o.seconds)
    hot(o.bench, o.name, tokens, o.rounds)


if __name__ == "__main__":
    sys.exit(main())
