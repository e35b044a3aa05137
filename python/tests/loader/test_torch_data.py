"""leat.IterableDataset and leat.MapDataset in torch's DataLoader and torchdata's StatefulDataLoader: the loader's
batches, with worker processes and without, and resumed anywhere."""
import copy

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader
from torchdata.stateful_dataloader import StatefulDataLoader

import leat


@pytest.fixture(scope="module")
def finite(corpus):
    return leat.Plan(corpus, 512, 5, epochs=1)


def own(plan, batch_size, **options):
    return [b.inputs.clone() for b in leat.Loader(plan, batch_size, **options)]


def same(batches, want):
    assert len(batches) == len(want)
    assert all(torch.equal(b["inputs"], w) for b, w in zip(batches, want))


@pytest.mark.parametrize("workers", [0, 1, 3])
@pytest.mark.parametrize("last", ["short", "padded", "dropped"])
def test_iterable(finite, workers, last):
    dataset = leat.IterableDataset(finite, 7, last=last)
    loader = DataLoader(dataset, batch_size=None, num_workers=workers)
    same(list(loader), own(finite, 7, last=last))
    assert len(loader) == len(dataset) == len(own(finite, 7, last=last))
    same(list(loader), own(finite, 7, last=last))


def test_iterable_ranks(finite):
    for rank in range(2):
        dataset = leat.IterableDataset(finite, 5, rank=rank, world=2, position=3)
        same(list(DataLoader(dataset, batch_size=None, num_workers=2)), own(finite, 5, rank=rank, world=2, position=3))


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("taken", [0, 1, 9, 10])
def test_stateful(corpus, workers, taken):
    """StatefulDataLoader's contract: a state from the middle, a new loader, the batches that follow."""
    plan = leat.Plan(corpus, 512, 5)
    want = leat.Loader(plan, 4)
    want = [next(want).inputs.clone() for _ in range(taken + 6)]

    def make():
        return StatefulDataLoader(leat.IterableDataset(plan, 4), batch_size=None, num_workers=workers)

    first = make()
    batches = iter(first)
    same([next(batches) for _ in range(taken)], want[:taken])
    state = first.state_dict()
    again = make()
    again.load_state_dict(state)
    batches_again = iter(again)
    same([next(batches_again) for _ in range(6)], want[taken:])
    same([next(batches) for _ in range(6)], want[taken:])


@pytest.mark.parametrize("before, after", [(2, 0), (0, 2), (3, 2), (1, 0)])
@pytest.mark.parametrize("taken, every", [(0, 1), (1, 1), (6, 1), (8, 5), (29, 1), (30, 1)])
def test_other_number_of_workers(finite, before, after, taken, every):
    """A state of StatefulDataLoader, given to the dataset, goes on with any number of workers: its own
    load_state_dict() wants the same ("State doesn't contain key '_num_yielded'")."""
    want = own(finite, 4)
    taken = min(taken, len(want))

    def make(workers):
        dataset = leat.IterableDataset(finite, 4)
        return dataset, StatefulDataLoader(dataset, batch_size=None, num_workers=workers,
                                           snapshot_every_n_steps=every)

    _, first = make(before)
    batches = iter(first)
    same([next(batches) for _ in range(taken)], want[:taken])
    dataset, again = make(after)
    dataset.load_state_dict(first.state_dict())
    same(list(again), want[taken:])


@pytest.mark.parametrize("name, value", [
    ("_steps_since_snapshot", -1), ("_steps_since_snapshot", 1.5), ("_steps_since_snapshot", True),
    ("_num_workers", 0), ("_num_workers", "2"), ("_last_yielded_worker_id", 5), ("_worker_snapshots", {}),
    ("_main_snapshot", {}), ("_snapshot", None), ("dataset_state", {}), ("position", 999)])
def test_stateful_states_that_were_changed(finite, name, value):
    """-1 went back a batch, and 0 workers were a ZeroDivisionError."""
    loader = StatefulDataLoader(leat.IterableDataset(finite, 4), batch_size=None, num_workers=1)
    next(iter(loader))
    state = loader.state_dict()
    leat.IterableDataset(finite, 4).load_state_dict(state)

    def changed(value_of):
        return {key: value if key == name else changed(one) if isinstance(one, dict) else one
                for key, one in value_of.items()}
    with pytest.raises((TypeError, ValueError), match=f"{name}.* must be|it has no|not a state_dict|position of the"):
        leat.IterableDataset(finite, 4).load_state_dict(changed(state))


@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_state_where_workers_iterate(corpus, way):
    """It was silently that of the beginning, in the process that only receives the batches."""
    dataset = leat.IterableDataset(leat.Plan(corpus, 512, 5), 4)
    batches = iter(DataLoader(dataset, batch_size=None, num_workers=1, multiprocessing_context=way))
    next(batches)
    with pytest.raises(RuntimeError, match="StatefulDataLoader"):
        dataset.state_dict()
    del batches
    own_batches = iter(dataset)
    next(own_batches)
    state = dataset.state_dict()
    assert state["position"] == 4
    next(iter(DataLoader(dataset, batch_size=None, num_workers=1, multiprocessing_context=way)))
    with pytest.raises(RuntimeError, match="StatefulDataLoader"):
        dataset.state_dict()
    dataset.load_state_dict(state)
    assert dataset.state_dict()["position"] == 4
    copied = copy.deepcopy(dataset)
    assert copied.state_dict()["position"] == 4
    assert torch.equal(next(iter(copied))["inputs"], next(iter(leat.Loader(dataset.plan, 4, position=4))).inputs)


def test_loader_is_stateful_itself(corpus):
    """leat.Loader has what torchdata asks of a Stateful."""
    from torchdata.stateful_dataloader.stateful import Stateful

    assert isinstance(leat.Loader(leat.Plan(corpus, 512), 4), Stateful)


def test_iterable_arguments(finite, corpus):
    with pytest.raises(ValueError, match="dict"):
        leat.IterableDataset(finite, 4, style="batch")
    with pytest.raises(TypeError):
        len(leat.IterableDataset(leat.Plan(corpus, 512), 4))
    with pytest.raises(leat.Error):
        leat.IterableDataset(finite, 4).load_state_dict(leat.Loader(leat.Plan(corpus, 256), 4).state_dict())


@pytest.mark.parametrize("collate", [None, leat.MapDataset.collate])
@pytest.mark.parametrize("workers", [0, 2])
def test_map(finite, collate, workers):
    dataset = leat.MapDataset(finite)
    loader = DataLoader(dataset, batch_size=6, collate_fn=collate, num_workers=workers)
    want = list(leat.Loader(finite, 6))
    got = list(loader)
    assert len(got) == len(want)
    for (inputs, labels), batch in zip(got, want):
        assert torch.equal(inputs, batch.inputs) and torch.equal(labels, batch.labels)


def test_map_items(finite, corpus):
    dataset = leat.MapDataset(finite, dtype=torch.int32)
    inputs, labels = dataset[17]
    assert inputs.dtype == torch.int32 and torch.equal(inputs[1:], labels[:-1])
    assert torch.equal(inputs.long(), next(leat.Loader(finite, 1, position=17)).inputs[0])
    assert len(dataset) == len(finite)
    for bad in (-1, len(dataset)):
        with pytest.raises(IndexError):
            dataset[bad]
    with pytest.raises(TypeError):
        dataset[1.5]
    with pytest.raises(ValueError, match="no end"):
        leat.MapDataset(leat.Plan(corpus, 512))
    assert len(leat.MapDataset(leat.Plan(corpus, 512), samples=1000)) == 1000
    with pytest.raises(ValueError):
        leat.MapDataset(finite, samples=10**6)


def test_grain(finite):
    grain = pytest.importorskip("grain.python")
    source = leat.GrainSource(finite)
    assert isinstance(source, grain.RandomAccessDataSource)
    data = grain.MapDataset.source(source).batch(6, drop_remainder=False)
    want = list(leat.Loader(finite, 6, framework="numpy", outputs=leat.Outputs(dtype="int32")))
    assert len(data) == len(want)
    for k, batch in enumerate(data.to_iter_dataset()):
        assert np.array_equal(batch["inputs"], want[k].inputs) and np.array_equal(batch["labels"], want[k].labels)
    with pytest.raises(IndexError):
        source[len(source)]
    assert "seed=5" in repr(source)
