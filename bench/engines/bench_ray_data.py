#!/usr/bin/env python3
"""bench_ray_data.py [BUILD] [--megabytes 100] [--rounds 3]: CPU time that leat.integrations.ray_data.Datasink adds to
Ray Data, beside `leat pack --threads 1` of the same Parquet file.

Ray (one CPU, on this machine) reads English of the corpora (LEAT_CORPORA) and writes it, in turns, to a sink that does
nothing and to leat. Counted is the CPU time of the calls of the sink, in the driver and in the tasks, where Ray has the
blocks in memory before; and, which varies far more, of the driver and all of Ray's processes together. It runs in the
environment of `make check-engines`, with PYTHONPATH=BUILD/python.
"""
import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "peers"))
import measured
import pyarrow
import pyarrow.parquet
import ray

from leat.integrations import ray_data


FILES = 8


class Timed:
    """A sink that counts the CPU seconds of its calls."""

    seconds = 0.0

    def write(self, blocks, ctx):
        blocks = list(blocks)
        before = time.process_time()
        written = super().write(iter(blocks), ctx)
        with open(os.path.join(self.times, str(ctx.task_idx)), "w") as file:
            file.write(str(time.process_time() - before))
        return written

    def on_write_complete(self, result):
        before = time.process_time()
        super().on_write_complete(result)
        self.seconds = time.process_time() - before
        for name in os.listdir(self.times):
            with open(os.path.join(self.times, name)) as file:
                self.seconds += float(file.read())


class Nothing(ray.data.Datasink):
    def write(self, blocks, ctx):
        return sum(block.num_rows for block in blocks)

    @property
    def min_bytes_per_write(self):
        return 64 << 20


class TimedNothing(Timed, Nothing):
    pass


class TimedLeat(Timed, ray_data.Datasink):
    pass


def write(texts, make):
    """CPU seconds: of the sink, of all."""
    before, mine = measured.cpu_seconds(os.getpid()), time.process_time()
    sink = make()
    began = time.process_time() - mine
    with tempfile.TemporaryDirectory() as sink.times:
        ray.data.read_parquet(texts).write_datasink(sink)
    return began + sink.seconds, measured.cpu_seconds(os.getpid()) - before


def pack(build, texts, folder):
    """CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([os.path.join(build, "leat"), "pack", "-t", "gpt2", "--threads", "1", "--force", "--progress",
                    "never", "-o", os.path.join(folder, "packed"), *texts], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default="build")
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    o = parser.parse_args()
    os.environ["PYTHONPATH"] = os.path.join(os.path.abspath(o.build), "python")
    with tempfile.TemporaryDirectory(dir=os.environ.get("LEAT_TEST_DISK")) as folder:
        corpus = measured.unpacked(folder, measured.corpus("english"))
        if not corpus:
            measured.skip("no corpora")
        lines = os.path.join(folder, "texts.jsonl")
        size = measured.head(corpus, lines, o.megabytes * 1e6)
        table = pyarrow.table({"text": measured.texts_of(lines)})
        texts = [os.path.join(folder, f"texts-{n}.parquet") for n in range(FILES)]
        for n, name in enumerate(texts):
            first, end = (at * table.num_rows // FILES for at in (n, n + 1))
            pyarrow.parquet.write_table(table.slice(first, end - first), name, compression="zstd")
        ray.init("local", num_cpus=1, object_store_memory=1 << 30, include_dashboard=False, log_to_driver=False)
        ray.data.DataContext.get_current().enable_progress_bars = False
        found = {name: [] for name in ("nothing", "leat", "pack")}
        makes = {"nothing": TimedNothing,
                 "leat": lambda: TimedLeat(os.path.join(folder, "out"), "gpt2", force=True)}
        for n in range(o.rounds + 1):  # the first one, in which workers start, does not count
            row = {name: write(texts, make) for name, make in makes.items()}
            row["pack"] = pack(o.build, texts, folder)
            for name, seconds in row.items() if n else ():
                found[name].append(seconds)
        sink, everything = zip(*found["leat"])
        print(f"{size / 1e6:.0f} MB of text, gpt2, CPU seconds, medians of {o.rounds} rounds (least to most)")
        for name, seconds in (("leat pack --threads 1", found["pack"]), ("calls of leat's sink", sink),
                              ("all of Ray, to leat", everything),
                              ("all of Ray, to nothing", [both for _, both in found["nothing"]])):
            print(f"  {name:24} {measured.spread(seconds, 2)}")
        print(f"  {'sink over pack':24} {statistics.median(sink) / statistics.median(found['pack']):.2f}")


main()
