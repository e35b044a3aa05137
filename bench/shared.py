#!/usr/bin/env python3
"""shared.py BUILD [--folder FOLDER] [--only WORD] [--processes N] [--datasets N] [--delays MS,MS]
    [--rounds N]

What datasets cost on a file server far away: a file system of this machine (tests/disks/far_disk.c, FUSE) that answers
each request late and counts what it is asked; the kernel may remember names and attributes for a second, as most of
FUSE lets it. Each goal has a line with what was measured:
  rows       cold windows of 2,048 tokens by announced reads, for each delay: read requests per row, bytes that were
             read twice, and rows/s as a share of (rows of all slots / delay); beside it what as many threads reach
             that do nothing but read the pages of such a row each. Medians and extremes of `--rounds` in turns
  documents  rows that are documents in random order, of 500 tokens on average: the same, with a cold index
  files      a plan with 1,000 files: metadata requests per file and process, opens included
  processes  N processes that open a loader on a list of datasets at the same moment: metadata requests and bytes of
             all, open files of the machine, and the time of the slowest until its first batch
Needs root and /dev/fuse. FOLDER (build/shared) holds the datasets.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import threading
import time

LENGTH = 2048


class Measure:
    def __init__(self, o):
        self.o, self.folder = o, pathlib.Path(o.folder).resolve()
        build = pathlib.Path(o.build).resolve()
        self.bench, self.far = str(build / "leat-bench"), str(build / "far_disk")
        self.data, self.at = self.folder / "data", self.folder / "at"
        for folder in (self.data, self.at):
            folder.mkdir(parents=True, exist_ok=True)

    def counting(self, name, tokens):
        path = self.data / name
        if not path.with_suffix(".leat").exists():
            subprocess.run([self.bench + "-dev", "counting", "-o", str(path), "--tokens", str(tokens)], check=True,
                           stdout=subprocess.DEVNULL)
        return path

    def listed(self, count):
        """A list of so many equal datasets, each with its own files; of 20,000 tokens, so an index of two pages."""
        first = self.counting("small-0", 20000)
        for i in range(1, count):
            for suffix in (".leat", ".tokens"):
                copy = self.data / f"small-{i}{suffix}"
                if not copy.exists():
                    shutil.copyfile(first.with_suffix(suffix), copy)
        name = f"list-{count}"
        (self.data / name).write_text("".join(f"small-{i}\n" for i in range(count)))
        return "@" + str(self.at / name)

    def run(self, delay_ms, *command):
        """What the command printed, a line of JSON each, and what was asked for it."""
        done = subprocess.run([self.far, str(self.data), str(self.at), str(int(1000 * delay_ms)), "1000", *command],
                              stdout=subprocess.PIPE, text=True)
        if done.returncode == 77:
            sys.exit(77)
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if done.returncode != 0 or not lines:
            sys.exit(f"{command}: code {done.returncode}")
        return lines[:-1], lines[-1]

    def load(self, source, steps, *more, batch):
        return (self.bench, "load", "--source", source, "--seq-len", str(LENGTH), "--batch", str(batch), "--steps",
                str(steps), "--warm-up", "0", "--json", *more)

    def say(self, what, text, goal=""):
        print(f"{what:10} {text}{f'  (goal: {goal})' if goal else ''}", flush=True)

    def rows(self):
        name, slots, steps = self.counting("large", 1 << 26).name, 64, 10000
        programs = {"leat": self.load(str(self.at / name), steps, "--slots", str(slots), "--engine", "advise",
                                      batch=1),
                    "bare": (sys.executable, __file__, "--bare", str(slots), str(steps),
                             f"{self.at / name}.tokens")}
        for delay in self.o.delays:
            speeds, requests, twice = {who: [] for who in programs}, 0, 0
            for _ in range(self.o.rounds):
                for who, program in programs.items():
                    (done,), asked = self.run(delay, *program)
                    speeds[who].append(steps / done["seconds"])
                    if who == "leat":
                        requests, twice = max(requests, asked["read"] / steps), max(twice, asked["read_twice"])
            share = {who: f" ({statistics.median(s) * delay / 1000 / slots:.0%} of {slots} per delay)" if delay else ""
                     for who, s in speeds.items()}
            text = {who: f"{statistics.median(s):,.0f} rows/s{share[who]}, {min(s):,.0f} to {max(s):,.0f}"
                    for who, s in speeds.items()}
            self.say("rows", f"{delay:g} ms: {requests:.3f} requests per row, {twice} bytes read twice; "
                     f"{text['leat']}; {slots} threads that only read: {text['bare']}",
                     "at most 1.1 and 0; at 5 ms at least 90 %")

    def documents(self):
        name, slots, steps = self.counting("large", 1 << 26).name, 64, 2000
        for delay in self.o.delays:
            speeds, requests = [], 0
            for _ in range(self.o.rounds):
                (done,), asked = self.run(delay, *self.load(str(self.at / name), steps, "--slots", str(slots),
                                                            "--engine", "advise", "--order", "documents", batch=1))
                speeds.append(steps / done["seconds"])
                requests = max(requests, asked["read"] / steps)
            share = f" ({statistics.median(speeds) * delay / 1000 / slots:.0%} of {slots} per delay)" if delay else ""
            self.say("documents", f"{delay:g} ms: {requests:.3f} requests per row; {statistics.median(speeds):,.0f} "
                     f"rows/s{share}, {min(speeds):,.0f} to {max(speeds):,.0f}", "at most 1.1")

    def files(self):
        _, asked = self.run(0, *self.load(self.listed(500), 4, batch=4))
        self.say("files", f"{asked['metadata'] / 1000:.3f} metadata requests per file of 1,000: {asked['lookup']} "
                 f"lookups, {asked['open']} opens, {asked['getattr']} getattr, {asked['statfs']} statfs", "at most 2")

    def processes(self):
        count, datasets = self.o.processes, self.o.datasets
        source = self.listed(datasets)
        program = [sys.executable, __file__, "--many", str(count), *self.load(source, 1, "--slots", "2", batch=4)]
        (many,), asked = self.run(0, *program)
        each = asked["metadata"] / count / datasets / 2
        self.say("processes", f"{count} on {datasets} datasets: {each:.3f} metadata requests per file and process "
                 f"({asked['metadata']:,} in all: {asked['open']:,} opens, {asked['lookup']:,} lookups, "
                 f"{asked['getattr']:,} getattr), {asked['read_bytes'] / 1e6:,.1f} MB "
                 f"in {asked['read']:,} reads, {asked['read_twice'] / 1e6:,.1f} MB of them twice; at most "
                 f"{many['descriptors']:,} open files; the slowest {many['slowest']:.1f} s, {many['failed']} failed",
                 "at most 2, none failed")


def bare(threads, count, path):
    """Reads the two pages of so many rows at random places."""
    fd = os.open(path, os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    places = iter(random.Random(7).sample(range(os.fstat(fd).st_size // 8192), count))

    def read():
        to = bytearray(8192)
        for place in places:  # Python's lock lets one thread at a time take one
            os.preadv(fd, [to], 8192 * place)

    running = [threading.Thread(target=read) for _ in range(threads)]
    began = time.monotonic()
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    print(json.dumps({"seconds": time.monotonic() - began}))


def many(count, command):
    """Runs so many at once; prints the time of the slowest, and the most descriptors that they had together."""
    began, ends, peak = time.monotonic(), [], [0]
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(count)]

    def look():
        while len(ends) < count:
            with open("/proc/sys/fs/file-nr") as f:
                peak[0] = max(peak[0], int(f.read().split()[0]))
            time.sleep(0.2)

    looking = threading.Thread(target=look)
    looking.start()
    for process in running:
        said = process.communicate()[1]
        if process.returncode != 0 and all(code == 0 for code, _ in ends):
            sys.stderr.write(said.decode())
        ends.append((process.returncode, time.monotonic() - began))
    looking.join()
    print(json.dumps({"slowest": max(t for _, t in ends), "failed": sum(code != 0 for code, _ in ends),
                      "descriptors": peak[0]}))


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("build")
    p.add_argument("--folder")
    p.add_argument("--only", default="")
    p.add_argument("--processes", type=int, default=256)
    p.add_argument("--datasets", type=int, default=2000)
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--delays", type=lambda text: [float(ms) for ms in text.split(",")], default=[0, 1, 5, 20])
    o = p.parse_args()
    o.folder = o.folder or os.path.join(o.build, "shared")
    measure = Measure(o)
    for what in ("rows", "documents", "files", "processes"):
        if o.only in what:
            getattr(measure, what)()


if sys.argv[1:2] == ["--many"]:
    many(int(sys.argv[2]), sys.argv[3:])
elif sys.argv[1:2] == ["--bare"]:
    bare(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
else:
    main()
