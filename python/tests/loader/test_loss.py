"""ignore_index is the number of labels without loss; what is refused."""
import numpy as np
import pytest

import leat


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Documents of random lengths."""
    rng, name = np.random.default_rng(3), tmp_path_factory.mktemp("loss") / "corpus"
    with leat.Packer(name, "gpt2") as packer:
        for _ in range(40):
            packer.add(rng.integers(0, 50000, rng.integers(0, 200)))
    return name


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


@pytest.mark.parametrize("order", ("fit", "documents"))
@pytest.mark.parametrize("slices", (None, (0, 1, "contiguous")))
def test_begin_tokens_that_differ(tmp_path, order, slices):
    """In orders that take documents from the index, each source has its own begin and end token; a token that is
    another source's begin token is learned. Padding is the same in batches and in rows read by number."""
    begins = {"none": None, "a": 50256, "b": 1000}
    for name, begin in begins.items():
        with leat.Packer(tmp_path / name, "gpt2", begin=begin, end=50256 if name == "a" else None) as packer:
            for i in range(1, 30):
                packer.add(np.where(np.arange(i) % 5 == 2, 1000, np.arange(i) + 7))
    plan = leat.Plan([str(tmp_path / name) for name in begins], 40, order=order, epochs=1)
    outputs = leat.Outputs(("inputs", "labels", "source_ids"), mask_begin=True, unshifted=True)
    loader = leat.Loader(plan, 4, rank=0, world=1, framework="numpy", outputs=outputs, last="padded",
                         **({"slice": slices} if slices else {}))
    seen = set()
    for batch in loader:
        for inputs, labels, source in zip(*map(np.asarray, (batch.inputs, batch.labels, batch.source_ids))):
            begin = [None, 50256, 1000][source.max()]
            seen.add((begin, bool((labels[inputs == 1000] == 1000).any())))
            assert begin is None or (labels[inputs == begin] == -100).all()
    assert seen >= {(None, True), (50256, True), (1000, False)} and (1000, True) not in seen
    usual = leat.Loader(plan, 1, rank=0, world=1, framework="numpy")
    for n, batch in zip(range(20), usual):
        inputs = np.asarray(batch.inputs)[0]
        assert np.asarray(leat.MapDataset(plan)[n][0]).tolist()[:len(inputs)] == inputs.tolist()
