#!/usr/bin/env python3
"""bench_task.py [TOKENIZER...]: what a task of an engine takes: CPU time of a part of one word, and the memory that a
part of 200 MB takes beyond what its worker had before."""
import json
import os
import pathlib
import pickle
import resource
import statistics
import sys
import tempfile
import time

import leat
import pyarrow
from alone import ROOT
from leat.integrations import _sink

PART_BYTES = 200_000_000


def task(tokenizer):
    run = leat.Run("run-" + tokenizer.replace("/", "-"), tokenizer)
    lines = pathlib.Path(ROOT / "examples/corpus/english.jsonl").read_text().splitlines()
    table = pyarrow.table({"text": [f"{json.loads(line)['text']} {n}" for n in range(60) for line in lines]})
    times = []
    for n in range(9):
        before = time.process_time()
        _sink.pack(pickle.loads(pickle.dumps(run)), n, [pyarrow.table({"text": ["word"]})])
        times.append(time.process_time() - before)
    before = _sink.resident()
    _sink.pack(run, "large", (table for _ in range(PART_BYTES // table.nbytes)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"{tokenizer:12} a part of one word {1000 * statistics.median(times):.0f} ms of CPU time; of "
          f"{PART_BYTES / 1e6:.0f} MB {(peak - before) / 2**20:.0f} MiB of memory")


with tempfile.TemporaryDirectory(dir=os.environ.get("LEAT_TEST_DISK")) as folder:
    os.chdir(folder)
    for name in sys.argv[1:] or ("gpt2", "o200k_base"):
        pid = os.fork()  # each in a process of its own, for its peak
        if pid == 0:
            task(name)
            sys.stdout.flush()
            os._exit(0)
        assert os.waitpid(pid, 0)[1] == 0, name
