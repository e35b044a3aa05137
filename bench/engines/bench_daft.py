"""bench_daft.py [FILE.parquet]: the CPU time that a write to leat takes beyond Daft's reading of the same Parquet file,
against `leat pack --threads 1` of that file; its column `text` is packed with gpt2.

    PYTHONPATH=build/python build/engines-venv/bin/python bench/engines/bench_daft.py

Without a file it makes one of 64 MB of English of examples/corpus. Reading is a write to a sink that does nothing. Both
are on the native runner, in turn, in processes of their own, after a first write of one row; once with one part for
all, with one thread and with one for each CPU, and once with a part for each morsel."""
import json
import os
import statistics
import subprocess
import sys
import tempfile

from alone import make_parquet, pack_seconds

TIMES = 3
WAYS = {"reading": "Daft, nothing", "one": "Daft, leat, 1 thread", "all": "Daft, leat, all threads",
        "morsels": "Daft, leat, a part per morsel"}


def write_seconds(way, path, output):
    """CPU time of a write in this process."""
    import daft
    from daft.io.sink import WriteResult
    from leat.integrations.daft import Sink

    class Nothing(Sink):
        def start(self):
            pass

        def write(self, micropartitions):
            for part in micropartitions:
                yield WriteResult(None, 0, len(part))

        def finalize(self, write_results):
            return daft.recordbatch.MicroPartition.from_pydict({name: [0] for name in self.schema().column_names()})

    def sink(output):
        if way == "reading":
            return Nothing(output)
        return Sink(output, "gpt2", id=None, force=True, order="n" if way == "morsels" else None,
                    threads=None if way == "all" else 1)

    daft.from_pydict({"text": ["one"], "n": [1]}).write_sink(sink(output + "-first"))
    columns = ["text", "n"] if way == "morsels" else ["text"]
    before = os.times()
    daft.read_parquet(path).select(*columns).write_sink(sink(output))
    after = os.times()
    return after.user + after.system - before.user - before.system


def main():
    taken = {way: [] for way in (*WAYS, "pack")}
    with tempfile.TemporaryDirectory() as folder:
        path = sys.argv[1] if len(sys.argv) > 1 else f"{folder}/texts.parquet"
        if len(sys.argv) < 2:
            make_parquet(path, 64_000_000)
        for _ in range(TIMES):
            for way in WAYS:
                ran = subprocess.run([sys.executable, __file__, "--write", way, path, f"{folder}/{way}"], check=True,
                                     text=True, stdout=subprocess.PIPE, env={**os.environ, "DAFT_PROGRESS_BAR": "0"})
                taken[way].append(float(ran.stdout.splitlines()[-1]))
            taken["pack"].append(pack_seconds(path, f"{folder}/packed"))
    for way, all_of in taken.items():
        print(f"{WAYS.get(way, 'leat pack --threads 1'):30} "
              + ", ".join(f"{one:.2f}" for one in all_of) + " s of CPU time")
    middle = {way: statistics.median(all_of) for way, all_of in taken.items()}
    for way in ("one", "all", "morsels"):
        print(f"{WAYS[way]}, beyond nothing, to leat pack: {(middle[way] - middle['reading']) / middle['pack']:.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--write"]:
        print(write_seconds(*sys.argv[2:]))
    else:
        main()
