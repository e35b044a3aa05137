"""Dataset.arrow(): what readers of Arrow get of each document is what the Dataset itself says."""
import gc
import shutil
import threading

import numpy as np
import pyarrow as pa
import pytest
from conftest import ROOT

import leat

ALL = ("number", "id", "source", "text", "tokens", "mask")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Documents with and without id, source and text; empty ones, and one that is not UTF-8."""
    name = str(tmp_path_factory.mktemp("documents") / "made")
    with leat.Packer(name, "gpt2") as packer:
        for n in range(3000):
            packer.add(f"document {n} " * (n % 7), id=f"id {n}" if n % 3 else None,
                       source=f"file {n // 1000}" if n % 2 else None)
        packer.add([64, 187, 186, 65])  # bytes that are not UTF-8
        packer.add([], id="of no tokens")
    return name


def check(dataset, columns=ALL, first=0, count=None):
    """Compares with the methods of the Dataset, one document after another."""
    table = pa.table(dataset.arrow(columns, first=first, count=count))
    table.validate(full=True)
    assert table.column_names == list(columns)
    last = len(dataset) if count is None else min(len(dataset), first + count)
    assert len(table) == last - first
    for n, row in enumerate(table.to_pylist(), first):
        place = dataset.place(n)
        ways = {"number": lambda: n, "id": lambda: place.id, "source": lambda: place.path,
                "text": lambda: dataset.text(n), "tokens": lambda: dataset[n].tolist(),
                "mask": lambda: dataset.mask(place.first, place.count).tolist()}
        assert row == {name: ways[name]() for name in columns}, n
    return table


def test_rows_are_the_documents(made):
    dataset = leat.open(made)
    table = check(dataset)
    assert table.schema.field("tokens").type == pa.list_(pa.uint16())
    assert table["text"][3000].as_py() == "a\ufffd\ufffdb" and table["id"].null_count == 1001
    check(dataset, ("tokens", "id"), first=2990)
    check(dataset, ("source",), first=7, count=20)
    check(dataset, ("text",), first=len(dataset))


def test_of_a_list_a_wide_one_a_mask_and_none(made, wide, tmp_path):
    two = leat.open([made, made])
    assert len(check(two, ("number", "id", "tokens"), first=2000, count=3000)) == 3000
    table = check(leat.open(wide), ("tokens", "mask"))
    assert table.schema.field("tokens").type == pa.list_(pa.uint32())
    masked = leat.open(ROOT / "tests/golden/valid/mask")
    check(masked, ("mask", "tokens"))
    with leat.Packer(str(tmp_path / "none"), "gpt2"):
        pass
    check(leat.open(tmp_path / "none"))


def test_of_files_that_are_read_and_of_other_tools(made, tmp_path):
    check(leat.open(made, access="read"), ("tokens", "text"))
    leat.export(made, str(tmp_path / "other"), to="megatron")
    other = leat.open(f"megatron:{tmp_path / 'other'}")
    check(other, ("number", "id", "source", "tokens", "mask"))
    with pytest.raises(leat.Error, match="tokenizer"):
        pa.table(other.arrow())


def test_tokens_are_in_place(made):
    dataset = leat.open(made)
    batch = next(iter(pa.RecordBatchReader.from_stream(dataset.arrow(("tokens",)))))
    assert batch["tokens"].values.buffers()[1].address == dataset.tokens.ctypes.data


def test_batches_outlive_all_else(made):
    dataset = leat.open(made)
    reader = pa.RecordBatchReader.from_stream(dataset.arrow(("tokens", "text")))
    first = reader.read_next_batch()
    dataset.close()
    column = first["tokens"]
    rest = reader.read_all()
    del reader, first, dataset
    gc.collect()
    assert column[1].as_py() == leat.open(made)[1].tolist() and len(rest) + len(column) >= 3002


def test_each_reader_has_its_own_stream(made):
    documents, found = leat.open(made).arrow(), []

    def read():
        found.append(pa.table(documents))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(table.equals(found[0]) for table in found) and len(found) == 4
    assert pa.schema(documents).equals(found[0].schema)


def test_batches_are_bounded(tmp_path):
    """By documents and by tokens; a document that has more alone is a batch."""
    draw = np.random.default_rng(1)
    with leat.Packer(str(tmp_path / "long"), "gpt2", end=None) as packer:
        for size in (5 << 20, 1, 3 << 20, 3 << 20, 0, 4 << 20):
            packer.add(draw.integers(0, 50000, size, dtype=np.uint32))
        packer.extend([[n % 50000] for n in range(40000)])
    dataset = leat.open(tmp_path / "long")
    sizes = [(len(b), len(b["tokens"].values)) for b in pa.RecordBatchReader.from_stream(dataset.arrow(("tokens",)))]
    assert sum(rows for rows, _ in sizes) == 40006 and sum(tokens for _, tokens in sizes) == dataset.info.tokens
    assert all(rows == 1 or (rows <= 16384 and tokens <= 4 << 20) for rows, tokens in sizes), sizes


@pytest.mark.parametrize("given, error", [
    (dict(columns=("tokenz",)), "columns must be one of number"), (dict(columns=()), "one or more"),
    (dict(columns=("id", "id")), "each once"), (dict(first=-1), "no document -1"), (dict(first=10**6), "no document"),
    (dict(columns="tokens"), "columns must be"), (dict(count=-1), "-1 is not a number")])
def test_mistakes(made, given, error):
    with pytest.raises((ValueError, IndexError, OverflowError, TypeError), match=error):
        pa.table(leat.open(made).arrow(**given))


def test_damage_ends_the_stream(made, tmp_path):
    """A file that is shorter than its index says is an error of the reader, with leat's sentence."""
    for suffix in (".leat", ".tokens"):
        shutil.copy(made + suffix, str(tmp_path / "cut") + suffix)
    dataset = leat.open(tmp_path / "cut", access="read")
    with open(tmp_path / "cut.tokens", "r+b") as file:
        file.truncate(100)
    with pytest.raises(OSError, match="cut.tokens"):
        pa.table(dataset.arrow(("tokens",)))
