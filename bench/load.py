#!/usr/bin/env python3
"""load.py WHAT LEAT_BENCH NAME [--rounds N] ...: what the loader makes of dataset NAME (some GiB, which `leat-bench-dev
counting` makes). Measurements take turns; medians, with the least and the most. WHAT is

  sweep      batches from memory, for several sizes, engines and outputs, each beside the bare loop in the same run,
             without hashing (which a page costs only once), after as many rows as fill the page tables of some GiB
  storage    what storage gives, and what the loader makes of it:
               cold       random windows past the page cache (engine uring), beside fio with as many reads in flight of
                          the same aligned spans: requests per second, and CPU time per request; needs fio
               warming    from disk, taking a batch every 10 ms, while the background brings the file to memory in
                          sequence, beside reading it in sequence, with O_DIRECT and into the page cache
               hot        from memory: the time from opening to the first batch in fresh processes; how long next()
                          takes while the ring is full; memory of the process without its ring
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import time

LENGTH, BATCH = 2048, 32


def load(bench, name, *more, length=LENGTH, batch=BATCH):
    command = [bench, "load", "--source", name, "--seq-len", str(length), "--batch", str(batch), "--json", *more]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)


def spread(values, digits=2):
    return "%.*f (%.*f-%.*f)" % (digits, statistics.median(values), digits, min(values), digits, max(values))


def shares(values, whole, digits=2):
    return spread([a / b for a, b in zip(values, whole)], digits)


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


# ---- From memory -----------------------------------------------------------------------------------------------------

def sweep(o):
    rows = [(threads, batch, length, "map", output) for threads in (0, 1) for output in ("tokens", "i64")
            for batch, length in ((8, 512), (32, 2048), (8, 8192), (256, 2048))]
    rows += [(1, BATCH, LENGTH, engine, "tokens") for engine in ("pread", "advise", "uring")]
    found = {row: [] for row in rows}
    for _ in range(o.rounds):
        for threads, batch, length, engine, output in rows:
            found[threads, batch, length, engine, output].append(
                load(o.bench, o.name, "--engine", engine, "--output", output, "--threads", str(threads), "--bare",
                     "--warm-up", str(200000 // batch + 1), "--steps", str(o.tokens // batch // length + 1),
                     "--no-verify", length=length, batch=batch))
    print(f"{'threads':7} {'batch':>6} {'length':>6} {'engine':7} {'output':7} {'Mtok/s':>8} {'GB/s':>8} "
          f"{'CPU/bare':>21} {'time/bare':>21} {'p99 us':>9}")
    for (threads, batch, length, engine, output), all_of in found.items():
        rate, gb, p99 = (statistics.median(values) for values in (
            [x["tokens_per_s"] / 1e6 for x in all_of], [x["gb_per_s"] for x in all_of],
            [x["next_us"]["p99"] for x in all_of]))
        cpu = shares([x["cpu_s_per_mtok"] for x in all_of], [x["bare"]["cpu_s_per_mtok"] or 1 for x in all_of])
        print(f"{threads:<7} {batch:6} {length:6} {engine:7} {output:7} {rate:8.0f} {gb:8.2f} {cpu:>21} "
              f"{spread([x['bare']['ratio'] for x in all_of]):>21} {p99:9.1f}")


# ---- From storage ----------------------------------------------------------------------------------------------------

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


def cold(o, tokens, width):
    seconds = max(1, int(o.seconds))
    span = (LENGTH * width + 4096 - 1) // 4096 * 4096 + 4096
    rates, cpus, peer_rates, peer_cpus = [], [], [], []
    for k in range(o.rounds):
        # other places each time: below a virtual disk somebody may remember those of the round before
        peer = fio(tokens, span, 64, seconds, 2 * k + 1)
        peer_rates.append(peer[0])
        peer_cpus.append(peer[1])
        steps = max(100, int(peer[0] / BATCH * seconds))
        forget(tokens)
        got = load(o.bench, o.name, "--engine", "uring", "--no-verify", "--seed", str(2 * k + 2), "--steps", str(steps))
        windows = got["tokens_per_s"] / LENGTH
        rates.append(windows)
        cpus.append(got["cpu_s_per_mtok"] * LENGTH)
    print("cold: random windows of %d bytes in spans of %d, 64 and more in flight" % (LENGTH * width, span))
    print("  leat  %s requests/s   %s us CPU per request" % (spread(rates, 0), spread(cpus)))
    print("  fio   %s requests/s   %s us CPU per request" % (spread(peer_rates, 0), spread(peer_cpus)))
    print("  leat / fio: %s of the requests, %s of the CPU" % (shares(rates, peer_rates), shares(cpus, peer_cpus)))


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


def warming(o, tokens):
    ours, disk, cached = [], [], []
    for _ in range(o.rounds):
        disk.append(sequential(tokens, True))
        cached.append(sequential(tokens, False))
        forget(tokens)
        steps = max(20, int(min(o.seconds, 0.8 * os.path.getsize(tokens) / 1e6 / disk[-1]) * 95))
        got = load(o.bench, o.name, "--work", "10", "--steps", str(steps))
        ours.append(got["warmed_bytes"] / 1e6 / got["seconds"])
    print("warming while a batch is taken every 10 ms: %s MB/s" % spread(ours, 0))
    print("  the disk in sequence: %s MB/s; %s of it" % (spread(disk, 0), shares(ours, disk)))
    print("  the same into the page cache: %s MB/s; %s of it" % (spread(cached, 0), shares(ours, cached)))


def hot(o, tokens):
    warm(tokens)
    first = [load(o.bench, o.name, "--steps", "1")["first_batch_ms"] for _ in range(5 * o.rounds)]
    print("first batch after opening a hot file: %s ms" % spread(first))
    held = [load(o.bench, o.name, "--work", "2", "--steps", "1500") for _ in range(o.rounds)]
    print("next() with a full ring: p50 %s us, p99 %s us" % (
        spread([h["next_us"]["p50"] for h in held]), spread([h["next_us"]["p99"] for h in held])))
    print("memory in addition to the ring, with page tables: %s MiB" % spread(
        [h["memory_mib"] - h["ring_bytes"] / 2**20 for h in held]))


def storage(o):
    tokens = o.name + ".tokens"
    header = json.loads(subprocess.run([o.leat, "info", o.name, "--json"], check=True, stdout=subprocess.PIPE).stdout)
    if shutil.which("fio"):
        cold(o, tokens, header["width"])
    else:
        print("cold: skipped, fio is not installed")
    warming(o, tokens)
    hot(o, tokens)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("sweep", "storage"))
    parser.add_argument("bench")
    parser.add_argument("name")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tokens", type=int, default=1000000000, help="of each run (sweep)")
    parser.add_argument("--seconds", type=float, default=2, help="of each run (storage)")
    o = parser.parse_args()
    o.leat = os.path.join(os.path.dirname(o.bench), "leat")
    (sweep if o.what == "sweep" else storage)(o)


if __name__ == "__main__":
    main()
