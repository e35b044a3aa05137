"""What a loader takes the loss of: rows of repeated n-grams are those that OLMo-core's instance filter leaves out (with
olmo_core itself where it can be imported, else a count of the copies); ignore_index, and what is refused."""
import numpy as np
import pytest

import leat

try:
    from olmo_core.data.utils import find_periodic_sequences
except ImportError:
    find_periodic_sequences = None


def left_out(ids):
    """Whether 1 to 13 ids stand 32 times in succession."""
    if find_periodic_sequences:
        return any(found.times >= 32 for found in find_periodic_sequences(ids, max_period=13, min_period=1))
    for period in range(1, 14):
        run = 0
        for same in ids[period:] == ids[:-period]:
            run = run + 1 if same else 0
            if run == 31 * period:
                return True
    return False


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Random ids, among them 30 to 33 copies of 1 to 15 ids, of which some have one id that differs; few ids, too."""
    rng, name = np.random.default_rng(3), tmp_path_factory.mktemp("loss") / "corpus"
    with leat.Packer(name, "gpt2") as packer:
        for number in range(400):
            ids = rng.integers(0, 50000, rng.integers(0, 200))
            copies = np.tile(rng.integers(0, 50000 if number % 3 else 2, rng.integers(1, 16)), rng.integers(30, 34))
            copies = np.concatenate([copies, copies[:rng.integers(0, 16)]])
            if number % 4 == 0:
                copies[rng.integers(0, len(copies))] = 7
            packer.add(np.concatenate([ids, copies, rng.integers(0, 50000, rng.integers(0, 30))]))
    return name


@pytest.mark.parametrize("order", ["shuffled", "documents"])
def test_repeats(corpus, order):
    plan = leat.Plan(corpus, 640, order=order, epochs=1, seed=2)
    outputs = leat.Outputs(("inputs", "labels"), mask_repeats=True)
    dataset, without, rows = leat.open(corpus), 0, 0
    for batch in leat.Loader(plan, 4, framework="numpy", outputs=outputs, ignore_index=-1, restart=False, last="short"):
        for sample, labels in zip(batch.samples, batch.labels):
            ids = dataset.read(sample.token, sample.length + (order == "documents"))
            gone = left_out(np.asarray(ids, dtype=np.int64))
            assert ((labels[:sample.length] == -1) == gone).all() and (labels[sample.length:] == -1).all()
            without, rows = without + gone, rows + 1
    assert rows == len(plan) and rows / 10 < without < rows * 0.9


def test_repeats_in_slices(corpus):
    """Slices have no labels where the whole row has none, also of rows with tokens of the plan's own."""
    outputs = leat.Outputs(("inputs", "labels", "ahead_labels"), mask_repeats=True)
    for fim in None, leat.FIM(rate=0.5, spm=0.5, prefix=1, middle=2, suffix=3):
        plan = leat.Plan(corpus, 640, order="fit", epochs=1, seed=2, fim=fim)
        options = {"framework": "numpy", "outputs": outputs, "ahead": 2, "restart": False, "last": "short"}
        whole, *slices = (leat.Loader(plan, 4, **options, slice=slice)
                          for slice in (None, (0, 2, "contiguous"), (1, 2, "contiguous")))
        without = 0
        for batch, *parts in zip(whole, *slices):
            for name in outputs.names:
                assert np.array_equal(batch[name], np.concatenate([part[name] for part in parts], axis=-1)), name
            for sample, labels in zip(batch.samples, batch.labels):
                row = np.concatenate([leat.open(corpus).read(p.token, p.count) if p.literal is None else [p.literal]
                                      for p in plan.pieces(sample.n)]).astype(np.int64)
                assert (labels == -100).all() == left_out(row)
                without += left_out(row)
        assert len(plan) / 10 < without < len(plan) * 0.9


def test_ignore_index(corpus):
    plan = leat.Plan(corpus, 64, order="fit")
    usual, other = (next(iter(leat.Loader(plan, 8, framework="numpy", ignore_index=i))).labels for i in (-100, -1))
    assert (usual == -100).any() and np.array_equal(np.where(usual == -100, -1, usual), other)
    with pytest.raises(ValueError, match="needs ignore_index=-100"):
        leat.Loader(plan, 8, style="huggingface", ignore_index=-1)
    with pytest.raises(ValueError, match="ignore_index"):
        leat.Loader(plan, 8, ignore_index=3)
    with pytest.raises(leat.Error, match="no begin token"):
        leat.Loader(plan, 8, outputs=leat.Outputs(mask_begin=True))
