"""Sources of rows: source_ids in every style and order, Batch.sources, weights of sources against numpy's float32, and
what a loader says that it gave of each source (tests/loader/test_loader_sources.c adds that up)."""
import json
import os
import time

import numpy as np
import pytest
import torch

import leat
from leat.integrations import megatron

ORDERS = ["shuffled", "sequential", "documents", "fit", leat.fit(align=8), "megatron"]
OUTPUTS = ("source_ids", "loss_mask", "loss_weights", "labels")
WEIGHTS = {"b": 1 / 3, "c": 7, "a": 0}


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """Three datasets, by the last letter of their names; the second has a mask."""
    rng, folder = np.random.default_rng(59), tmp_path_factory.mktemp("sources")
    for name in "abc":
        with leat.Packer(folder / name, "gpt2", store_mask=name == "b") as packer:
            for length in rng.integers(1, 90, 90):
                packer.add(rng.integers(0, 50256, length), mask=rng.random(length) if name == "b" else None)
    return {name: str(folder / name) for name in "abc"}


def plan_of(names, order):
    limits = {"epochs": 1} if order != "megatron" else {"order": megatron.order(samples=200)}
    return leat.Plan([(name, weight) for name, weight in zip(names.values(), (1, 2, 1))], 64, 3,
                     **{"order": order, **limits})


def expected_ids(plan, batch):
    """Of each place, from the plan's own samples."""
    sources = [None if s is None else plan.order(s.n).source for s in batch.samples]
    assert batch.sources == sources
    return np.array([[source if source is not None and i < length else -1 for i in range(batch.length)]
                     for source, length in zip(sources, batch.lengths)])


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("dtype", ["int64", "int32"])
def test_ids_and_weights(names, order, dtype):
    plan = plan_of(names, order)
    by_name = {names[name]: weight for name, weight in WEIGHTS.items()}
    factor = np.array([by_name[source.name] for source in plan.sources], np.float32)
    options = dict(outputs=leat.Outputs(OUTPUTS, dtype=dtype), framework="numpy", last="padded", restart=False)
    plain, padded, counted = leat.Loader(plan, 7, **options), 0, 0
    for batch in leat.Loader(plan, 7, source_weights=by_name, **options):
        without, ids = next(plain), expected_ids(plan, batch)
        assert batch.source_ids.dtype == dtype and np.array_equal(batch.source_ids, ids)
        assert batch.loss_weights.dtype == "float32"
        assert np.array_equal(batch.loss_weights, without.loss_weights * np.where(ids < 0, np.float32(1), factor[ids]))
        assert np.array_equal(batch.loss_mask, without.loss_mask) and np.array_equal(batch.labels, without.labels)
        padded += batch.sources.count(None)
        counted += int((batch.loss_weights > 0).sum())
    assert counted > 1000 and padded == -len(plan) % 7


def test_styles(names):
    """Each style has source_ids; for transformers' models, beside what they take, with weights of the labels there."""
    plan, outputs = plan_of(names, "fit"), ("inputs", "labels", "source_ids")
    for batch, pair, named in zip(*(leat.Loader(plan, 4, outputs=outputs, style=style, steps=5)
                                    for style in ("batch", "tuple", "dict"))):
        ids = torch.from_numpy(expected_ids(plan, batch))
        for given in batch.source_ids, batch["source_ids"], batch[2], pair[2], named["source_ids"]:
            assert torch.equal(given, ids)
        assert torch.equal(batch.to(torch.int32).source_ids, ids.int())
    b = [source.name for source in plan.sources].index(names["b"])  # it has a mask
    for label in "labels", "shift_labels":
        asked, without = ("inputs", label, "position_ids", "source_ids", "loss_weights", "loss_mask"), 0
        loader = leat.Loader(plan, 4, style="huggingface", outputs=asked, source_weights={1: 0.25, 2: 3})
        for k, given in zip(range(8), loader):
            loss, ids = given[label] != -100, given["source_ids"]
            assert np.array_equal(ids, [np.where(row < 0, -1, plan.order(4 * k + i).source)
                                        for i, row in enumerate(ids.numpy())])
            assert torch.equal(given["loss_mask"], loss)
            weights = torch.tensor([1, 0.25, 3])[ids.clamp(min=0)] * loss
            assert torch.equal(given["loss_weights"][ids != b], weights[ids != b])
            assert (given["loss_weights"] <= weights).all()
            without += int((~loss & (ids != b)).sum())
        assert without > 0
    with pytest.raises(ValueError, match="no output document_ids: transformers' models do not take it"):
        leat.Loader(plan, 4, style="huggingface", outputs=("inputs", "labels", "document_ids"))
    borrowed = leat.Loader(plan, 4, outputs=leat.Outputs("source_ids", borrow=True), framework="numpy")
    into = leat.Loader(plan, 4, outputs="source_ids", buffers=True, framework="numpy")
    for batch, other, _ in zip(borrowed, into, range(5)):
        assert np.array_equal(batch.source_ids, expected_ids(plan, batch))
        assert np.array_equal(other.source_ids[:, :batch.length], batch.source_ids)
        assert (other.source_ids[:, batch.length:] == -1).all()


def test_weights_by_number_and_mistakes(names):
    plan = leat.Plan([names["a"], (names["b"], 1), (names["a"], 1)], 64, epochs=1)

    def weights(given):
        found = {}
        with leat.Loader(plan, 4, outputs=("loss_weights", "source_ids"), framework="numpy", source_weights=given,
                         restart=False) as loader:
            for batch in loader:
                for source in set(batch.sources):
                    found[source] = max(found.get(source, 0), batch.loss_weights[batch.source_ids == source].max())
        return [found[source] for source in range(3)]

    assert weights({}) == [1, 1, 1]
    assert weights({names["a"]: 2, 1: np.float32(0.5)}) == [2, 0.5, 2]  # a name is that of all sources that have it
    assert weights({2: 1e30, 0: 1e-30}) == [np.float32(1e-30), 1, np.float32(1e30)]
    for given, wrong, words in (({"d": 1}, ValueError, f"no source called 'd': it has {names['a']!r}, {names['b']!r}"),
                                ({3: 1}, ValueError, "from 0 to 2"), ({0: -1}, ValueError, "must be 0, or from 1e-30"),
                                ({0: float("nan")}, ValueError, "must be 0, or"), ({0: "1"}, TypeError, "a number"),
                                ([1, 2, 3], TypeError, "must be a dict")):
        with pytest.raises(wrong) as caught:
            leat.Loader(plan, 4, source_weights=given, outputs="loss_weights")
        assert words in str(caught.value)
    for options in {}, {"style": "huggingface"}:  # it had no effect
        with pytest.raises(ValueError, match="loss_weights alone, which is not among the outputs"):
            leat.Loader(plan, 4, source_weights={0: 2}, **options)


def test_counts_of_a_resumed_loader(names):
    """They are no part of the state, which ranks share, and begin at 0."""
    plan = plan_of(names, "shuffled")
    with leat.Loader(plan, 4, source_weights={0: 2}, outputs=("inputs", "loss_weights")) as loader:
        for _ in range(6):
            next(loader)
        state = loader.state_dict()
        assert sum(s["rows"] for s in loader.stats()["sources"]) == 24
        loader.load_state_dict(state)
        assert sum(s["rows"] for s in loader.stats()["sources"]) == 0
        next(loader)
        assert sum(s["rows"] for s in loader.stats()["sources"]) == 4
    with leat.Loader(plan, 4) as other:
        for _ in range(6):
            next(other)
        assert other.state_dict() == state


def test_stats_file(names, tmp_path):
    """Lines have what stats() has, with names of any bytes: those that are no UTF-8 are U+FFFD."""
    odd = os.fsencode(tmp_path) + b"/\xc3\xa9 \"a\\\xff\x01"
    leat.merge([names["a"]], odd)
    plan, path = leat.Plan([(odd, 1), (names["c"], 3)], 64, 3, phases=[(16, [1, 0])]), tmp_path / "run.jsonl"
    with leat.Loader(plan, 4, stats_file=leat.StatsFile(path, seconds=1e-3)) as loader:
        for _ in range(6):
            next(loader)
            time.sleep(2e-3)
        stats = loader.stats()["sources"]
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [s["name"] for s in lines[-1]["sources"]] == [f"{tmp_path}/é \"a\\\ufffd\x01", names["c"]]
    for given, want in zip(lines[-1]["sources"], stats):
        assert {**given, "name": want["name"]} == want
    assert len(lines) > 3 and lines[-1]["batches"] == 6
    for line in lines:
        assert [s["share"] for s in line["sources"]] == ([0.25, 0.75] if line["batches"] <= 4 else [1, 0])
    assert "other_sources" not in lines[-1]


def test_weights_over_changes(names):
    """Weights of sources are by name: also where a change adds sources, or goes to a plan that has them elsewhere."""
    a, b, c = names.values()
    options = dict(outputs=("loss_weights", "source_ids"), framework="numpy", source_weights={a: 0.5, c: 3})

    def check(loader, plan):
        assert loader.plan is plan
        factor = np.array([{a: 0.5, b: 1, c: 3}[source.name] for source in plan.sources], np.float32)
        seen = set()
        for _ in range(20):
            batch = next(loader)
            weights, of = batch.loss_weights.max(axis=1), batch.sources
            seen.update(of)
            assert all(w == factor[s] or s == [x.name for x in plan.sources].index(b) for w, s in zip(weights, of))
        assert seen == set(range(plan.info.sources))

    first, other, none = leat.Plan([a, c], 64, 3), leat.Plan([c, b, a], 64, 3), leat.Plan([a, b], 64, 3)
    loader = leat.Loader(first, 4, **options)
    loader.change(other)  # before the first batch, all plans have the same past
    loader.change(first)  # fewer sources
    check(loader, first)
    more = first.change(loader.cursor, add=b)
    loader.change(more)
    check(loader, more)
    again = more.change(loader.cursor, add=[(c, 2)])  # a second source of a name that has a weight
    loader.change(again)
    check(loader, again)
    loader = leat.Loader(other, 4, **options)
    with pytest.raises(ValueError, match="no source called"):
        loader.change(none)
    check(loader, other)
