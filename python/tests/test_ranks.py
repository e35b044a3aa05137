"""Programs of two processes: with Lightning's ddp, Accelerate and transformers' Trainer. Their global batches are those
of one process, row by row; and so they are after a checkpoint, at the same number of processes and at another one."""
import os
import pathlib
import socket
import subprocess
import sys

import pytest

import leat
from ranks_program import BATCH, LENGTH

PROGRAM = pathlib.Path(__file__).with_name("ranks_program.py")


def start(words, environment):
    # none of the ranks that this process may have itself
    clean = {k: v for k, v in os.environ.items() if k not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}
    return subprocess.Popen([sys.executable, str(PROGRAM), *map(str, words)], env={**clean, **environment},
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def run(kind, corpus, out, steps, devices, resume="", save=""):
    """{step: the sums of the rows of all ranks, in their order}."""
    words = [kind, corpus, out, steps, devices, resume, save]
    if kind == "lightning" or devices == 1:  # which starts the others itself
        processes = [start(words, {})]
    else:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = str(free.getsockname()[1])
        processes = [start(words, {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(devices),
                                   "LOCAL_WORLD_SIZE": str(devices), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port})
                     for rank in range(devices)]
    told = [process.communicate()[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * len(processes), "\n".join(told)
    seen = {}
    for rank in range(devices):
        for line in pathlib.Path(f"{out}.{rank}").read_text(encoding="ascii").splitlines():
            step, *sums = map(int, line.split())
            seen.setdefault(step, []).extend(sums)
    return seen


@pytest.mark.parametrize("kind, again", [("lightning", (2,)), ("accelerate", (1,)), ("transformers", (1,))])
def test_two_processes(corpus, tmp_path, kind, again):
    pytest.importorskip(kind)
    loader = leat.Loader(leat.Plan(corpus, LENGTH, 5), 2 * BATCH, framework="numpy")
    want = {step: [int(n) for n in next(loader).inputs.sum(1)] for step in range(9)}
    folder = tmp_path / "run" / "checkpoint-5"  # as the Trainer calls it
    folder.parent.mkdir()
    first = run(kind, corpus, tmp_path / "first", 5, 2, save=folder)
    assert first == {step: want[step] for step in range(5)}
    for devices in again:
        after = run(kind, corpus, tmp_path / f"after{devices}", 9, devices, resume=folder)
        assert after == {step: want[step] for step in range(5, 9)}, devices
