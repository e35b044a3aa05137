"""deal="lanes", and balance="attention": the ranks of a leat.Loader have each global batch between them, and as many
batches as len() says; rows of whole documents with nearly equal sums of squared lengths."""
import json

import numpy as np
import pytest
from conftest import command

import leat

LENGTH = 600


def rows_of(batch):
    """The rows as bytes, and their sum of squared lengths by cu_seqlens."""
    inputs = np.asarray(batch.inputs)[:batch.real_rows]
    return [row.tobytes() for row in inputs], int((np.diff(np.asarray(batch.cu_seqlens)).astype(np.int64)**2).sum())


def loader_of(plan, rank, world, batch, **options):
    return leat.Loader(plan, batch // world, rank=rank, world=world, framework="numpy",
                       outputs=("inputs", "cu_seqlens"), restart=False, **options)


def plain(plan, batch):
    return [sorted(rows_of(b)[0]) for b in loader_of(plan, 0, 1, batch, last="short")]


@pytest.fixture
def plan(counting):
    return leat.Plan(counting, LENGTH, seed=5, order="fit", epochs=1)


@pytest.mark.parametrize("world", [1, 2, 5])
def test_all_ranks_have_the_global_batch(plan, world):
    batch = 8 * world
    expected = plain(plan, batch)
    for last in "padded", "short":
        loaders = [loader_of(plan, rank, world, batch, balance="attention", last=last) for rank in range(world)]
        lengths = [len(loader) for loader in loaders]
        steps = [list(loader) for loader in loaders]
        for k, rows in enumerate(expected):
            there = [rows_of(mine[k]) for mine in steps if k < len(mine)]
            assert sorted(row for mine, _ in there for row in mine) == rows
            squares = [square for _, square in there]
            if len(rows) == batch:
                assert max(squares) - min(squares) <= 0.04 * max(squares)
        assert [len(mine) for mine in steps] == [
            length_of(len(plan), batch, rank, last) for rank in range(world)]
        stats = loaders[0].stats()
        assert stats["spread_mean"] <= stats["spread_by_chance"] and (stats["spread_by_chance"] > 0.02) == (world > 1)
        for loader, length in zip(loaders, lengths):
            assert length == len(steps[loader.rank])
            loader.close()


def length_of(samples, batch, rank, last):
    return samples // batch + (samples % batch > (0 if last == "padded" else rank))


def test_order_prints_the_rows_of_a_rank(plan, tmp_path):
    text = tmp_path / "plan"
    text.write_text(plan.text)
    for world, batch, first in (2, 8, 0), (4, 24, 24), (3, 12, 12):
        for rank in range(world):
            loader = loader_of(plan, rank, world, batch, balance="attention", position=first)
            shown = command("leat", "order", "--plan", text, "--from", first, "--count", 2 * batch, "--batch", batch,
                            "--rank", rank, "--world", world, "--balance", "attention", "--json")
            there = [sample.n for _ in range(2) for sample in next(loader).samples]
            loader.close()
            assert [json.loads(line)["n"] for line in shown.splitlines()] == there


def test_lanes(counting):
    """The ranks have each global batch between them; most rows of a stretch are shown by one rank."""
    plan = leat.Plan(counting, 64, seed=5, epochs=1, stretch=4096, mix=2, lanes=4)
    expected = list(map(rows_by_place, loader_of_places(plan, 0, 1)))
    for world in 1, 2, 4:
        loaders = [loader_of_places(plan, rank, world, deal="lanes") for rank in range(world)]
        assert [len(loader) for loader in loaders] == [len(plan) // 16 + (len(plan) % 16 > r) for r in range(world)]
        steps = [list(map(rows_by_place, loader)) for loader in loaders]
        for k, rows in enumerate(expected):
            there = [row for mine in steps if k < len(mine) for row in mine[k].items()]
            assert sorted(there) == sorted(rows.items())
        shown = [np.bincount([place // 2048 for rows in mine for place in rows], minlength=147) for mine in steps]
        assert np.max(shown, axis=0).sum() > 0.7 * len(plan)


def loader_of_places(plan, rank, world, **options):
    return leat.Loader(plan, 16 // world, rank=rank, world=world, framework="numpy", restart=False, last="short",
                       outputs=("inputs", "places"), **options)


def rows_by_place(batch):
    rows = np.asarray(batch.inputs)[:batch.real_rows]
    return {int(places[0]): row.tobytes() for places, row in zip(np.asarray(batch.places), rows)}


def test_refused(plan, counting):
    with pytest.raises(ValueError, match="deal must be one of lanes, not 'stripes'"):
        leat.Loader(plan, 8, deal="stripes")
    with pytest.raises(TypeError, match="balance and deal exclude each other"):
        leat.Loader(plan, 8, deal="lanes", balance="attention")
    with pytest.raises(leat.Error, match="the plan has no stretches"):
        leat.Loader(plan, 8, deal="lanes")
    with pytest.raises(ValueError, match="balance must be one of attention, not 'length'"):
        leat.Loader(plan, 8, balance="length")
    with pytest.raises(leat.Error, match="rows of order shuffled cannot be dealt"):
        leat.Loader(leat.Plan(counting, LENGTH), 8, balance="attention")


def test_workers(plan):
    torch = pytest.importorskip("torch")
    dataset = leat.IterableDataset(plan, 8, balance="attention")
    assert len(list(torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=0))) == len(dataset)
    with pytest.raises(ValueError, match="balance and several workers exclude each other"):
        next(iter(torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=2)))
