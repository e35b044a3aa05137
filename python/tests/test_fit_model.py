"""A small model that trains on rows of whole documents has the same loss at every step whether leat.Loader gives them,
by one loader or by a resumed one for each rank, or plain Python puts them together (tests/order/documents_twin.py, from
docs/ORDER.md alone): two sources with masks, phases with other weights and lengths, alignment, overlap, skips."""
import pathlib
import sys
from fractions import Fraction

import numpy as np
import pytest

import leat

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "order"))
import documents_twin as twin  # noqa: E402

BATCH, STEPS, IDS, WIDTH = 4, 14, 50, 8


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """Two datasets, and their documents: ids and bytes of the mask."""
    rng, folder, found = np.random.default_rng(25), tmp_path_factory.mktemp("sources"), []
    for name, count, longest in ("a", 60, 40), ("b", 25, 170):
        with leat.Packer(folder / name, "gpt2", store_mask=True) as packer:
            for length in rng.integers(1, longest, count):
                ids = rng.integers(0, IDS, length)
                packer.add(ids, mask=rng.integers(0, 4, length) / 3)
        d = leat.open(folder / name)
        ends = np.cumsum([len(document) for document in d.documents])
        masks = np.split(np.asarray(d.mask()), ends[:-1])
        found.append((str(folder / name), [(np.asarray(t).astype(int), m) for t, m in zip(d.documents, masks)]))
    return found


class Model:
    """A mean over the earlier tokens of a document, then a prediction; float64, trained by steepest descent."""

    def __init__(self):
        rng = np.random.default_rng(1)
        self.tokens, self.places = rng.normal(size=(IDS, WIDTH)), rng.normal(size=(512, WIDTH))
        self.out = rng.normal(size=(WIDTH, IDS))

    def step(self, rows):
        """The loss of a batch: rows of ids, labels, positions, documents and weights."""
        loss, d_tokens, d_out = 0.0, np.zeros_like(self.tokens), np.zeros_like(self.out)
        for ids, labels, places, documents, weights in rows:
            ids = np.where(ids < IDS, ids, 0)
            seen = np.tril(documents[:, None] == documents) / 1.0
            seen /= seen.sum(1, keepdims=True)
            hidden = seen @ self.tokens[ids] + self.places[places]
            odds = np.exp(hidden @ self.out)
            odds /= odds.sum(1, keepdims=True)
            learned = (labels >= 0) & (labels < IDS)
            at = np.flatnonzero(learned)
            loss -= float((weights[at] * np.log(odds[at, labels[at]])).sum())
            odds[at, labels[at]] -= 1
            odds *= np.where(learned, weights, 0)[:, None]
            d_out += hidden.T @ odds
            np.add.at(d_tokens, ids, seen.T @ (odds @ self.out.T))
        self.tokens -= 0.01 * d_tokens
        self.out -= 0.01 * d_out
        return loss


def plain_row(plan, documents, n):
    """Sample n, put together document by document."""
    stretch = [s for begin, s in plan.stretches if begin <= n][-1]
    source, epoch, row, _, _ = stretch.sample(n)
    fit, length, at = stretch.sources[source], stretch.length, 0
    ids, labels, places = np.zeros(length, int), np.full(length, -100), np.zeros(length, int)
    owner, weights = np.full(length, -1), np.zeros(length)
    for i, (d, first, count) in enumerate(fit.row(row, epoch, n)):
        tokens, mask = documents[source][d.number]
        context, end = fit.length - fit.step if first else 0, at + count
        ids[at:end] = tokens[first:first + count]
        places[at:end] = np.arange(count)
        owner[at:end] = i
        weights[at + context:end] = mask[first + context + 1:first + count + 1].astype(np.float32) / np.float32(255)
        labels[at:end] = np.where(weights[at:end] > 0, tokens[first + 1:first + count + 1], -100)
        at += fit.places(count)
    return ids, labels, places, owner, weights


def leat_rows(batch):
    return list(zip(*(np.asarray(array).astype(float if i == 4 else int) for i, array in enumerate(
        (batch.inputs, batch.labels, batch.position_ids, batch.document_ids, batch.loss_weights)))))


def check_row(given, plain):
    """What a model can see: the labels and weights, and where there are any, the ids, places and documents there."""
    assert np.array_equal(given[1], plain[1]) and np.array_equal(given[4], plain[4])
    for owner in range(plain[3].max() + 1):
        inside = plain[3] == owner
        assert np.array_equal(given[0][inside], plain[0][inside])
        assert np.array_equal(given[2][inside], plain[2][inside])
        assert len(set(given[3][inside])) == 1


@pytest.mark.parametrize("options, phases, skip", [
    ({}, [(0, 48, [2, 1])], []),
    ({"max-per-row": 3, "min-length": 4, "max-length": 150, "cut-length": 90}, [(0, 48, [1, 1]), (20, 48, [1, 3])], []),
    ({"align": 8, "overlap": 5}, [(0, 48, [1, 2]), (17, 48, [0, 1]), (29, 48, [3, 1])], [(3, 9), (21, 22)]),
    ({"align": 16}, [(0, 48, [1, 1]), (16, 32, [1, 1]), (32, 48, [1, 0])], []),
    ({"overlap": 31}, [(0, 48, [1, 1]), (20, 32, [2, 1])], [(18, 25)]),
], ids=["plain", "options", "align-overlap", "align-lengths", "overlap-lengths"])
def test_same_loss(sources, options, phases, skip):
    documents = [found for _, found in sources]
    by_twin = twin.FitPlan([twin.documents_of(i, [[len(t) for t, _ in d]]) for i, d in enumerate(documents)],
                           [(at, length, [Fraction(w) for w in weights]) for at, length, weights in phases],
                           [None, None], 7, skip, options=options)
    plan = leat.Plan([(name, w) for (name, _), w in zip(sources, phases[0][2])], phases[0][1], seed=7,
                     phases=[(at, weights, length) for at, length, weights in phases[1:]], skip=skip,
                     order=leat.fit(**{key.replace("-", "_"): value for key, value in options.items()}))
    outputs = ("inputs", "labels", "position_ids", "document_ids", "loss_weights")
    by_leat, by_hand, resumed = Model(), Model(), Model()
    for step, batch in zip(range(STEPS), leat.Loader(plan, BATCH, framework="numpy", outputs=outputs)):
        numbers = [by_twin.number(step * BATCH + i) for i in range(BATCH)]
        given, plain = leat_rows(batch), [plain_row(by_twin, documents, n) for n in numbers]
        assert [sample.n for sample in batch.samples] == numbers
        for one, other in zip(given, plain):
            check_row([array[:len(other[0])] for array in one], other)
        ranks = []
        for rank in range(2):  # each step by a loader that is resumed there
            loader = leat.Loader(plan, BATCH // 2, rank=rank, world=2, position=step * BATCH, framework="numpy",
                                 outputs=outputs)
            ranks += leat_rows(next(iter(loader)))
            loader.close()
        losses = by_leat.step(given), by_hand.step(plain), resumed.step(ranks)
        assert losses[0] == pytest.approx(losses[1], abs=1e-9) and losses[0] == losses[2]
    assert step == STEPS - 1 and losses[0] > 0
