#!/usr/bin/env python3
"""remote.py BUILD [--folder FOLDER] [--rounds N] [--tokens N] [--only WORD]

What object storage costs, from a server on this machine (tests/remote/slow_server.c) that answers each request 30 ms
late and gives each connection 100 MB/s. Each goal has a line with what was measured:
  turns      requests one after another until the first batch of 64 windows of 4,096 tokens, with an empty cache
  steps      a batch each 100 ms, with an empty cache that nobody fills: how long next() took after the first batch
  pages      bytes read for those windows, per byte used
  copy       the rest of the dataset by the background, beside curl with as many connections and the same ranges
  cached     batches from the full cache, beside the local dataset
  slow       all tokens in stretches and shuffled, beside dd, from a file system that answers each read after 5 ms
             (tests/disks/far_disk.c) and from this machine's disk, of files that are not in memory
  order      the time to find a row's place, in stretches beside `shuffled`
  stretches  all tokens of a plan in stretches, and 1/16 of them by `shuffled`, from a server with 20 ms a request and
             200 MB/s in all, with an empty cache that nobody fills: requests and bytes, seconds, and the batches that
             were waited for, as fast as they come and with a batch each 20 ms
Needs curl for `copy`. FOLDER (build/remote) holds a dataset of --tokens numbers of 2 bytes, and its copies.
"""
import argparse
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

from load import forget, shares, spread

NEAR = "--stretch", "8MiB", "--mix", "16"
LENGTH, BATCH, RANGE, CONNECTIONS = 4096, 64, 8 << 20, 8
DELAY_MS, RATE = 30, 100  # of a request; of a connection, in MB/s


class Server:
    def __init__(self, program, folder, *manners):
        self.process = subprocess.Popen([program, folder, *map(str, manners)], stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        self.lines = []
        threading.Thread(target=lambda: self.lines.extend(self.process.stdout), daemon=True).start()

    def take(self):
        """(came, ended, path, first, count) of each request since the last call, by the time when it came."""
        time.sleep(0.1)
        lines, self.lines[:] = self.lines[:], []
        requests = [line.split(" ") for line in lines]
        return sorted((float(c), float(e), p, int(f), int(n)) for c, e, p, f, n in requests)


class Measure:
    def __init__(self, o):
        self.o, self.folder = o, pathlib.Path(o.folder).resolve()
        self.leat, self.bench = (str(pathlib.Path(o.build).resolve() / n) for n in ("leat", "leat-bench"))
        self.cache, self.data = self.folder / "cache", self.folder / "data"
        self.data.mkdir(parents=True, exist_ok=True)
        self.name = str(self.data / f"counting-{o.tokens}")
        if not os.path.exists(self.name + ".leat"):
            self.run(self.bench + "-dev", "counting", "-o", self.name, "--tokens", str(o.tokens))
        self.serve(DELAY_MS, RATE)

    def serve(self, *manners):
        self.server = Server(pathlib.Path(self.o.build).resolve() / "slow_server", str(self.data), *manners)
        self.url = f"{self.server.url}/{pathlib.Path(self.name).name}"

    def stop(self):
        self.server.process.terminate()
        self.server.process.wait()

    def environment(self):
        return {**os.environ, "LEAT_CACHE": str(self.cache), "NO_PROXY": "*"}

    def run(self, *command, **more):
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              env=self.environment(), **more).stdout

    def load(self, name, *more):
        return json.loads(self.run(self.bench, "load", "--source", name, "--seq-len", str(LENGTH), "--batch",
                                   str(BATCH), "--json", *more))

    def clear(self, nobody_fills):
        """An empty cache. `nobody_fills`: as long as the result is open, the rest does not come."""
        shutil.rmtree(self.cache, ignore_errors=True)
        self.cache.mkdir(mode=0o700)
        self.server.take()
        if not nobody_fills:
            return None
        file = open(self.cache / "filling", "w")
        fcntl.flock(file, fcntl.LOCK_EX)
        return file

    def first(self, samples):
        """A plan of so many."""
        there = self.o.tokens // LENGTH
        return "--epochs", "1", *(("--skip", f"{samples}:{there}") if samples < there else ())

    # ---- The goals ----

    def windows(self, how):
        """The places of the first batch's windows, in bytes."""
        lines = self.run(self.leat, "order", "--source", self.name, "--seq-len", str(LENGTH), "--count", str(BATCH),
                         "--json", *how)
        return [json.loads(line)["pieces"][0]["token"] * 2 for line in lines.splitlines()]

    def turns(self):
        """A request's turn is one after the last turn of those that had ended when it came."""
        for name, how in ("shuffled", ()), ("in stretches", NEAR):
            places, found, first = self.windows(how), [], []
            for _ in range(self.o.rounds):
                with self.clear(True):
                    got = self.load(self.url, "--steps", "1", *how)
                requests, turns = self.server.take(), []
                for came, *_ in requests:
                    turns.append(1 + max((t for t, r in zip(turns, requests) if r[1] <= came), default=0))
                found.append(max(t for t, r in zip(turns, requests) if r[2].endswith(".tokens") and any(
                    r[3] < place + 2 * LENGTH + 2 and place < r[3] + r[4] for place in places)))
                first.append(got["first_batch_ms"])
            print(f"turns    {name}: {spread(found, 0)} until the first batch (goal: at most 3); the first batch after "
                  f"{spread(first, 0)} ms from opening the loader")

    def steps(self):
        waits, over = [], []
        count = 100
        for _ in range(self.o.rounds):
            with self.clear(True):
                got = self.load(self.url, "--work", "100", "--steps", str(count), *self.first(count * BATCH))
            waits.append(got["next_us"]["max"])
            over.append(sum(r[4] for r in self.server.take() if r[2].endswith(".tokens")) / (
                count * BATCH * LENGTH * 2))
        print(f"steps    {spread(waits)} us is the longest next() of {count - 1} after the first (goal: no wait)")
        print(f"pages    {spread(over, 3)} bytes read per byte used (goal: at most 1.5)")

    def copy(self):
        size, ours, curls = os.path.getsize(self.name + ".tokens"), [], []
        for _ in range(self.o.rounds):
            self.clear(False)
            process = subprocess.Popen([self.bench, "load", "--source", self.url, "--seq-len", "64", "--batch", "1",
                                        "--work", "200", "--steps", "100000"], env=self.environment(),
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while not list(self.cache.glob("*/tokens")):
                time.sleep(0.1)
            process.terminate()
            process.wait()
            requests = [r for r in self.server.take() if r[4] >= RANGE // 2]
            copied = sum(r[4] for r in requests)
            ours.append(copied / (max(r[1] for r in requests) - requests[0][0]) / 1e6)
            curls.append(self.curl(size))
        print(f"copy     {spread(ours, 0)} MB/s; curl with {CONNECTIONS} connections {spread(curls, 0)}; "
              f"{shares(ours, curls)} of it (goal: at least 0.9)")

    def curl(self, size):
        place = self.cache / "curl"
        place.mkdir()
        config = place / "config"
        config.write_text("".join(
            f"url = \"{self.url}.tokens\"\nrange = {at}-{min(at + RANGE, size) - 1}\noutput = \"{place}/{at}\"\n"
            for at in range(0, size, RANGE)))
        began = time.monotonic()
        self.run("curl", "-s", "-Z", "--parallel-max", str(CONNECTIONS), "-K", str(config))
        seconds = time.monotonic() - began
        assert sum(f.stat().st_size for f in place.iterdir() if f != config) == size
        shutil.rmtree(place)
        return size / seconds / 1e6

    def cached(self):
        if not list(self.cache.glob("*/tokens")):
            sys.exit("`cached` needs the copy that `copy` makes")
        rates = {self.url: [], self.name: []}
        for _ in range(max(5, self.o.rounds)):
            for name in rates:
                rates[name].append(self.load(name, "--steps", "8000")["tokens_per_s"] / 1e6)
        cached, local = rates.values()
        print(f"cached   {spread(cached, 0)} million tokens/s; local {spread(local, 0)}; "
              f"{shares(cached, local, 3)} of it (goal: at least 0.97)")

    def slow(self):
        build, at, name = pathlib.Path(self.o.build).resolve(), self.folder / "far", pathlib.Path(self.name).name
        far = str(build / "far_disk"), str(self.data), str(at), "5000", "60000"
        at.mkdir(exist_ok=True)
        for where, before, place in ("5 ms a read", far, str(at / name)), ("cold disk", (), self.name):
            rates = {None: [], NEAR: [], (): []}
            for _ in range(self.o.rounds):
                for how, found in rates.items():
                    forget(self.name + ".tokens")
                    began = time.monotonic()
                    if how is None:
                        self.run(*before, "dd", f"if={place}.tokens", "of=/dev/null", "bs=1M")
                        found.append(2 * self.o.tokens / (time.monotonic() - began) / 1e6)
                        continue
                    said = self.run(*before, self.bench, "load", "--source", place, "--seq-len", str(LENGTH), "--batch",
                                    str(BATCH), "--epochs", "1", "--steps", str(self.o.tokens), *how, "--json")
                    found.append(json.loads(said.splitlines()[0])["gb_per_s"] * 1e3)
            one, near, all_over = rates.values()
            print(f"slow     {where}: dd {spread(one, 0)} MB/s, in stretches {spread(near, 0)}, shuffled "
                  f"{spread(all_over, 0)}; in stretches {shares(near, one)} of dd (goal: at least 0.9)")

    def order(self):
        times = {NEAR: [], (): []}
        for _ in range(max(25, self.o.rounds)):
            for how in times:
                got = self.load(self.name, "--steps", "4000", *how)
                times[how].append(got["waits_s"]["order"] / (4000 * BATCH) * 1e9)
        near, all_over = times.values()
        print(f"order    {spread(near, 1)} ns a row in stretches, {spread(all_over, 1)} shuffled: "
              f"{shares(near, all_over)} of it (goal: at most 1.3)")

    def stretches(self):
        self.stop()
        self.serve(20, 200, 200)
        everything = self.o.tokens // LENGTH // BATCH
        print("stretches            a batch each  requests per MiB  bytes per byte   MB/s  first batch  waits over 1 ms"
              "  longest")
        for work in 0, 20:
            for name, steps, how in ((" ".join(NEAR), everything, NEAR), ("shuffled", everything // 16, ())):
                with self.clear(True):
                    got = self.load(self.url, "--work", str(work), "--steps", str(steps), *how,
                                    *self.first(steps * BATCH))
                requests = [r for r in self.server.take() if r[2].endswith(".tokens")]
                shown, waits = steps * BATCH * LENGTH * 2, got["next_us"]
                print(f"  {name:23} {work:5} ms {len(requests) / (shown / 2**20):14.2f} "
                      f"{sum(r[4] for r in requests) / shown:15.3f} {got['gb_per_s'] * 1e3:8.1f} "
                      f"{got['first_batch_ms']:9.0f} ms {sum(waits['counts'][11:]):6} of {steps:5} "
                      f"{waits['max'] / 1e3:8.0f} ms")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("--folder")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=1 << 29)
    parser.add_argument("--only", default="")
    o = parser.parse_args()
    o.folder = o.folder or os.path.join(o.build, "remote")
    m = Measure(o)
    try:
        for goal in (m.turns, m.steps, m.copy, m.cached, m.slow, m.order, m.stretches):
            if o.only in goal.__name__:
                goal()
    finally:
        m.stop()


if __name__ == "__main__":
    sys.exit(main())
