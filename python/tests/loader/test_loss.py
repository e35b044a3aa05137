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
