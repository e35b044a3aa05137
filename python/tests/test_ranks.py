"""Programs of two processes: with Lightning's ddp, Accelerate and transformers' Trainer. Their global batches are those
of one process, row by row; and so they are after a checkpoint, at the same number of processes and at another one."""
import pathlib

import pytest

import leat
from processes import run_ranks
from ranks_program import BATCH, LENGTH

PROGRAM = pathlib.Path(__file__).with_name("ranks_program.py")


def run(kind, corpus, out, steps, devices, resume="", save=""):
    """{step: the sums of the rows of all ranks, in their order}."""
    words = [kind, corpus, out, steps, devices, resume, save]
    run_ranks(PROGRAM, words, 1 if kind == "lightning" else devices)  # which starts the others itself
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
