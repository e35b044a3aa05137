"""imports.py: what the tests of leat.import_dataset() share."""
import random

import leat
import pytest


def make_documents(seed, top, count=300):
    rng = random.Random(seed)
    return [[rng.randrange(top) for _ in range(rng.choice([1, 3, 50, 700]))] for _ in range(count)]


def check(source, documents, tmp_path, **options):
    made = leat.import_dataset(source, tmp_path / "made", force=True, **options)
    assert made.documents == len(documents) and made.tokens == sum(map(len, documents)), source
    with leat.Dataset(tmp_path / "made") as d:
        for i, document in enumerate(documents):
            assert d[i].tolist() == document, (source, i)
        d.verify()


def refused(says, source, tmp_path, status=None, **options):
    with pytest.raises(leat.Error) as raised:
        leat.import_dataset(source, tmp_path / "refused", **options)
    assert says in str(raised.value), str(raised.value)
    assert status in (None, raised.value.status), raised.value.status
    assert not list(tmp_path.glob("refused*"))
