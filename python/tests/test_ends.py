"""Programs of several processes go to the end of a plan in step: all ranks get the same number of batches, `len()` says
that number on each, no sample is lost or shown twice, and means over ranks are those of one process.

Before, one rank got a batch less than the other, which then waited in a collective for ever; and the Trainer gave the
last batch of an evaluation, which is shorter, the weight of a whole one. A rank without a row of the last batch got
arrays of length 1, which collectives did not put together with those of the others."""
import itertools
import json
import pathlib
import types

import pytest
import torch

import leat
from processes import run_ranks

PROGRAM = pathlib.Path(__file__).with_name("ends_program.py")


# ---- In one process: every number of ranks and every tail


def in_turn(workers):
    """The batches of worker processes in the order of a DataLoader."""
    return [batch for round_of in itertools.zip_longest(*workers) for batch in round_of if batch is not None]


def by_loader(plan, batch_size, **options):
    loader = leat.Loader(plan, batch_size, threads=0, outputs=("inputs", "labels"), **options)
    length = len(loader)
    return length, list(loader)


def by_dataset(count):
    def batches(plan, batch_size, monkeypatch, **options):
        dataset = leat.IterableDataset(plan, batch_size, threads=0, **options)
        workers = []
        for number in range(count):
            info = types.SimpleNamespace(id=number, num_workers=count) if count > 1 else None
            with monkeypatch.context() as patch:
                patch.setattr(torch.utils.data, "get_worker_info", lambda info=info: info)
                workers.append(list(dataset))
        return len(dataset), in_turn(workers)
    return batches


@pytest.mark.parametrize("rows", ["windows", "documents"])
@pytest.mark.parametrize("world", [1, 2, 3, 4, 5])
def test_in_step(corpus, rows, world, monkeypatch):
    """What a rank gets of `left` samples, two rows per batch: by a Loader, and by a dataset with 1 to 3 workers."""
    plan = leat.Plan(corpus, 16, 5, epochs=1)
    if rows == "documents":
        plan = plan.documents()
    total = len(plan)
    for left in range(min(4 * world + 1, total) + 1):
        options = dict(world=world, position=total - left)
        got = [by_loader(plan, 2, rank=rank, **options) for rank in range(world)]
        steps = -(-left // (2 * world))
        assert [(length, len(batches)) for length, batches in got] == [(steps, steps)] * world, left
        for step, batches in enumerate(zip(*(batches for _, batches in got))):
            for batch in batches:
                assert batch.real_rows == int((batch.labels != -100).any(1).sum())
            assert sum(batch.real_rows for batch in batches) == min(left - step * 2 * world, 2 * world)
            assert {batch.cursor for batch in batches} == {min(total - left + (step + 1) * 2 * world, total)}
            if world > 1:
                assert [batch.rows for batch in batches] == [2] * world
                if rows == "windows":
                    assert {batch.inputs.shape for batch in batches} == {(2, 16)}
        numbers = [s.n for _, batches in got for batch in batches for s in batch.samples if s is not None]
        assert len(numbers) == len(set(numbers)) == left
        for count in (1, 2, 3):
            for rank, (length, want) in enumerate(got):
                told, batches = by_dataset(count)(plan, 2, monkeypatch, rank=rank, **options)
                assert told == len(batches) == length, (left, count, rank)
                for batch, other in zip(batches, want):
                    assert torch.equal(batch["inputs"], other.inputs) and torch.equal(batch["labels"], other.labels)


def test_what_is_asked_for_counts(corpus):
    """Ranks out of step, or fewer rows, only for those who ask."""
    plan = leat.Plan(corpus, 16, 5, epochs=1)
    options = dict(position=len(plan) - 9, threads=0)
    lengths = {last: [len(leat.Loader(plan, 2, rank=rank, world=2, last=last, **options)) for rank in range(2)]
               for last in (None, "padded", "short", "dropped")}
    assert lengths == {None: [3, 3], "padded": [3, 3], "short": [3, 2], "dropped": [2, 2]}
    assert [len(leat.IterableDataset(plan, 2, rank=1, world=2, last=last, **options)) for last in lengths] == \
        [3, 3, 2, 2]
    assert [batch.rows for batch in leat.Loader(plan, 2, **options)] == [2, 2, 2, 2, 1]


def test_state_of_documents(corpus):
    """A dataset of documents took the length and the states of the plan's windows."""
    plan = leat.Plan(corpus, 64, 5, epochs=1).documents()
    want = list(leat.Loader(plan, 8, style="dict"))
    dataset = leat.IterableDataset(plan, 8)
    assert len(dataset) == len(want)
    batches = iter(dataset)
    next(batches)
    again = leat.IterableDataset(plan, 8)
    again.load_state_dict(dataset.state_dict())
    assert torch.equal(next(iter(again))["inputs"], want[1]["inputs"])


# ---- In two processes


@pytest.mark.parametrize("kind", ["loader", "dataset", "lightning", "transformers"])
def test_two_processes_end_together(corpus, tmp_path, kind):
    """13 samples in global batches of 6: of the last one, rank 0 has one row of three, and rank 1 none."""
    if kind in ("lightning", "transformers"):
        pytest.importorskip(kind)

    def run(ranks):
        out = tmp_path / f"{ranks}"
        run_ranks(PROGRAM, [kind, corpus, out, 13, ranks, 6 // ranks], 1 if kind == "lightning" else ranks, 200)
        return [json.loads(pathlib.Path(f"{out}.{rank}").read_text(encoding="ascii")) for rank in range(ranks)]

    one, = run(1)
    assert (one["length"], one["batches"], one["rows"]) == (3, 3, 13)
    first, second = run(2)
    assert [(r["length"], r["batches"], r["rows"]) for r in (first, second)] == [(3, 3, 7), (3, 3, 6)]
    assert first["loss"] == second["loss"] == pytest.approx(one["loss"], rel=1e-5)
