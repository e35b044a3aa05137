"""Who holds what, and for how long: views, documents, plans, batches, arrays outlive in any order what they were made
of; what is closed, released, given twice or of another type is refused and not followed. With numpy alone, so that it
runs under AddressSanitizer, where torch is slow (make check-python-asan)."""
import gc
import itertools
import os
import pickle
import random
import threading

import numpy as np
import pytest

import leat
from leat import _leat
from leat.batch import OUTPUTS, PLAIN
from leat._leat import LOADER_CHOICES

SEED = int(os.environ.get("LEAT_TEST_SEED", "1"))


@pytest.fixture(scope="module")
def ids(corpus):
    """All tokens, by another way than leat's."""
    return np.fromfile(corpus + ".tokens", "<u2")


def loader(corpus, batch_size=3, **options):
    plan = leat.Plan(corpus, 64, 5)
    return leat.Loader(plan, batch_size, framework="numpy", **options)


# ---- Datasets and plans


@pytest.mark.parametrize("access", ["leased", "trusted", "read"])
def test_arrays_outlive_their_dataset(corpus, ids, access):
    d = leat.open(corpus, access=access)
    starts, documents = d.starts(), d.documents
    some = [d.read(100, 50), d[3], documents[-1], next(iter(documents[4:6]))]
    if access != "read":
        some += [d.tokens[100:150], d.view(5, 10)]
    at = [100, starts[3], starts[17], starts[4], 100, 5]
    want = [ids[a:a + len(array)] for a, array in zip(at, some)]
    d.close()
    del d, documents
    gc.collect()
    leat.open(corpus).verify()  # other maps and threads, meanwhile
    for array, expected in zip(some, want):
        assert np.array_equal(array, expected)


def test_closed_dataset(corpus):
    d = leat.open(corpus)
    documents, plan = d.documents, leat.Plan(d, 64)
    d.close()
    d.close()
    for call in (lambda: d.read(0, 1), lambda: d.view(0, 1), lambda: documents[0], lambda: d.text(0), d.verify,
                 lambda: d.find(token=0), lambda: d.starts(), lambda: d.decode(0, 1), lambda: leat.Plan(d, 64)):
        with pytest.raises(ValueError, match="closed"):
            call()
    assert len(next(leat.Loader(plan, 2, framework="numpy")).inputs) == 2  # which needs it still
    assert pickle.loads(pickle.dumps(d)).info.tokens == 171241


def test_close_under_threads(corpus, ids):
    """Closed by one thread while others read, view, decode and verify: they finish, or are told."""
    for _ in range(20):
        d, told, wrong = leat.open(corpus), [], []

        def work(call, want):
            try:
                for _ in range(1000):
                    if not want(call()):
                        wrong.append(call)
            except ValueError as error:
                told.append(str(error))

        calls = [(lambda d=d: d.read(7, 90), lambda a: np.array_equal(a, ids[7:97])),
                 (lambda d=d: d.view(7, 90), lambda a: np.array_equal(a, ids[7:97])),
                 (lambda d=d: d.text(5), lambda text: text.startswith("CHAPTER") or text),
                 (lambda d=d: d.verify(threads=1), lambda report: report.damaged_pages == 0)]
        threads = [threading.Thread(target=work, args=call) for call in calls]
        for thread in threads:
            thread.start()
        d.close()
        for thread in threads:
            thread.join()
        assert not wrong and all("closed" in text for text in told), told


def test_parts_of_plans_outlive_them(corpus, ids):
    plan = leat.Plan([corpus, (leat.open(corpus), 2)], 64, 5)
    sources, samples, array = plan.sources, plan.order(0, 20), plan.samples(0, 20)
    rows = np.asarray(plan._native.rows(list(range(5)), 8))
    del plan
    gc.collect()
    assert [s.dataset.info.tokens for s in sources] == [171241] * 2
    assert [int(n) for n in array["n"]] == [s.n for s in samples] == list(range(20))
    for row, sample in zip(rows, samples):
        assert np.array_equal(row, ids[sample.token:sample.token + 65])
    view = sources[0].dataset.tokens
    sources.clear()
    gc.collect()
    assert np.array_equal(view, ids)


def test_failing_halves(corpus, tmp_path):
    """What is open already when opening the rest fails is closed; names and texts go."""
    (tmp_path / "broken.leat").write_bytes(b"leat" * 2000)
    (tmp_path / "broken.tokens").write_bytes(b"")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        for bad in ([corpus, str(tmp_path / "broken")], [corpus, (corpus, "x")], [corpus, (corpus, 1, -1)],
                    [corpus, (corpus, 1, 2, 3)], [corpus, None], [], [(leat.open(corpus), 1), "/nowhere"]):
            with pytest.raises((leat.Error, TypeError, ValueError)):
                leat.Plan(bad, 64)
        with pytest.raises((leat.Error, ValueError, TypeError)):
            leat.Plan(corpus, 64, phases=[(5, "1")], skip=[(5,)])
        with pytest.raises(leat.Error):
            leat.open([corpus, str(tmp_path / "broken")])
    del bad
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


# ---- Loaders


@pytest.mark.parametrize("seed", [SEED + k for k in range(4)])
def test_batches_in_any_order(corpus, ids, seed):
    """Batches, their arrays and loaders are kept, dropped, and closed at random; what is kept keeps its values."""
    r = random.Random(seed)
    loaders, kept = [], []
    for _ in range(400):
        act = r.randrange(10)
        if act == 0 or not loaders:
            loaders.append(loader(corpus, r.choice([1, 3, 8]), outputs=PLAIN, threads=r.choice([0, 1, 3]),
                                  position=r.randrange(99),
                                  io=leat.IO(engine=r.choice(list(LOADER_CHOICES["engine"])))))
        elif act == 1:
            loaders.pop(r.randrange(len(loaders)))
        elif act == 2 and kept:
            del kept[r.randrange(len(kept)):]
        elif act == 3:
            one = r.choice(loaders)
            one.close()
            loaders.remove(one)
        else:
            batch = next(r.choice(loaders))
            arrays = list(batch)
            kept.append((batch if r.random() < 0.5 else None, arrays, batch.samples))
        if kept:
            _, arrays, samples = r.choice(kept)
            for row, label, sample in zip(arrays[0], arrays[1], samples):
                assert np.array_equal(row, ids[sample.token:sample.token + 64])
                assert np.array_equal(label, ids[sample.token + 1:sample.token + 65])


def test_borrowed_outlives_everything(corpus):
    """A borrowed array may not be used any more, but is memory as long as it is there."""
    kept = []
    for k in range(20):
        one = loader(corpus, 4, outputs=leat.Outputs(PLAIN, borrow=True, max_sequences=50), io=leat.IO(slots=2),
                     threads=k % 2)
        for _ in range(k):
            batch = next(one)
            kept.append(list(batch)[k % 7])
            if k % 3:
                batch.release()
                batch.release()
        if k % 2:
            one.close()
        del one
    gc.collect()
    assert all(int(array.sum()) >= -100 * array.size for array in kept)


def test_released_and_closed(corpus):
    one = loader(corpus, 2)
    batch = one._native.next()
    tokens = np.asarray(batch.tokens())
    addresses = (None,) * len(OUTPUTS)
    batch.release(None)
    batch.release(None)
    assert batch.lengths() == [64, 64] and len(batch.samples()) == 2 and not batch.held
    for call in (batch.tokens, lambda: batch.borrow(None), lambda: batch.write(addresses, 0, 0, 0, None)):
        with pytest.raises(ValueError, match="released"):
            call()
    native = one._native
    one.close()
    assert native.closed and tokens.sum() >= 0
    for call in (native.next, lambda: native.take(False), native.stats, native.stats_line):
        with pytest.raises(ValueError, match="closed"):
            call()
    assert native.notice() is None


def test_close_inside_a_for(corpus):
    one = loader(corpus, 2)
    with pytest.raises(ValueError, match="closed"):
        for k, _ in enumerate(one):
            if k == 3:
                one.close()


def test_close_by_another_thread(corpus):
    """While a batch is waited for: it comes, or the loader says that it is closed."""
    for k in range(30):
        one, told = loader(corpus, 1000, io=leat.IO(slots=2), threads=k % 2), []

        def take(one=one, told=told):
            try:
                while True:
                    next(one)
            except (ValueError, leat.Error) as error:
                told.append(str(error))

        thread = threading.Thread(target=take)
        thread.start()
        one.close()
        thread.join()
        assert "closed" in told[0]


# ---- Arrays


def test_capsules(corpus):
    """DLPack's capsules are taken, taken twice, dropped, and never taken; versions 0 and 1."""
    array = leat.open(corpus)._native.view(0, 100)
    for version in (None, (0, 8), (1, 0), (9, 9)):
        for _ in range(10):
            array.__dlpack__(max_version=version)
    want = np.asarray(array)
    gc.collect()
    assert np.array_equal(want, np.fromfile(corpus + ".tokens", "<u2", 100)) and not want.flags.writeable
    assert np.array_equal(np.from_dlpack(array), want)
    with pytest.raises(BufferError):
        array.__dlpack__(copy=True)
    for wrong in (5, (), ("x",), object()):
        with pytest.raises((TypeError, IndexError, ValueError)):
            array.__dlpack__(max_version=wrong)
    batch = next(loader(corpus, 2))
    for kind, one in ((np.int64, batch.inputs), (np.int64, batch.labels)):
        again = np.from_dlpack(one)
        assert again.dtype == kind and np.shares_memory(again, one)


def test_views_cannot_be_written(corpus):
    d = leat.open(corpus)
    for array in (d.tokens, d.view(0, 10)):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    copy = d.read(0, 10)
    copy[0] += 1
    assert d.read(0, 1)[0] != copy[0]


# ---- Types


def test_wrong_types_everywhere(corpus):
    """Every call of the extension with arguments that it does not expect: an exception, and nothing else."""
    values = [None, -1, 2**64, 1.5, "x", "\0", "\udcff", b"x", (), (1, 2, 3), [], [None], {}, object(), corpus]
    core = leat.Tokenizer("bytes")._core
    objects = [leat.open(corpus)._native, leat.Plan(corpus, 64)._native, loader(corpus)._native,
               loader(corpus)._native.next(), leat.open(corpus)._native.view(0, 5), core]
    functions = [getattr(_leat, name) for name in ("open_dataset", "open_plan", "parse_plan", "open_loader", "pack",
                                                   "merge", "Tokenizer", "ArrowRows", "Packer")]
    ends = {"close", "release"}
    for thing in objects:
        names = [name for name in dir(thing) if not name.startswith("_") or name == "__dlpack__"]
        functions += [getattr(thing, name) for name in names if name not in ends and callable(getattr(thing, name))]
    r = random.Random(SEED)
    refused = 0
    for function in functions:
        some = [*itertools.product(values, repeat=1), *((a, b) for a in values for b in values[:9])]
        some += [tuple(r.choice(values) for _ in range(count)) for count in (3, 4, 5, 6, 10, 11) for _ in range(40)]
        for arguments in some:
            # addresses are believed: what cannot be one is tried only
            if getattr(function, "__name__", "") in ("write", "borrow") and any(type(a) is int for a in arguments):
                continue
            try:
                function(*arguments)
            except (TypeError, ValueError, OverflowError, MemoryError, BufferError, IndexError, leat.Error):
                refused += 1
    assert refused > 1000
    gc.collect()
