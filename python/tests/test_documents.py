"""Dataset.arrow(): what readers of Arrow get of each document is what the Dataset itself says."""
import gc
import os
import shutil
import subprocess
import sys
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import ROOT, command

import leat
from leat.command import program

ALL = ("number", "id", "source", "text", "tokens", "mask")


@pytest.fixture(autouse=True)
def own_python(monkeypatch):
    """That of the command, which becomes it."""
    monkeypatch.setenv("LEAT_PYTHON", sys.executable)


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


# ---- leat cat --arrow and --parquet ----

@pytest.mark.parametrize("kind", ["arrow", "parquet"])
def test_cat_writes_tables(made, tmp_path, kind):
    file = str(tmp_path / "documents")
    command("leat", "cat", made, f"--{kind}", file, "--document", "5:40")
    found = pq.read_table(file) if kind == "parquet" else pa.ipc.open_file(file).read_all()
    wanted = pa.table(leat.open(made).arrow(ALL[:5], first=5, count=35))
    assert found.cast(wanted.schema).equals(wanted) and os.listdir(tmp_path) == ["documents"]
    for words, code, sentence in ((["--columns", "txt"], 2, "columns must be one of"), (["--ids"], 2, "combined"),
                                  (["--document", "5000"], 1, "past the end"), ([], 1, "exists")):
        done = subprocess.run([program("leat"), "cat", made, f"--{kind}", file, *words], capture_output=True, text=True)
        assert done.returncode == code and sentence in done.stderr, done
    assert os.listdir(tmp_path) == ["documents"]


def test_cat_writes_a_stream_to_stdout(made):
    done = subprocess.run([program("leat"), "cat", made, "--arrow", "-", "--columns", "id,tokens"],
                          capture_output=True, check=True)
    assert pa.ipc.open_stream(done.stdout).read_all().equals(pa.table(leat.open(made).arrow(("id", "tokens"))))


def test_cat_of_damage_leaves_no_file(made, tmp_path):
    for suffix in (".leat", ".tokens"):
        shutil.copy(made + suffix, str(tmp_path / "bad") + suffix)
    with open(tmp_path / "bad.leat", "r+b") as index:
        index.seek(100)
        index.write(b"damage")
    done = subprocess.run([program("leat"), "cat", tmp_path / "bad", "--arrow", tmp_path / "x"], capture_output=True,
                          text=True)
    assert done.returncode == 3 and "damaged" in done.stderr and not (tmp_path / "x").exists(), done


def test_cat_tells_damage_that_the_stream_meets(made, tmp_path):
    """Of an index that opens, but whose documents cannot be read."""
    for suffix in (".leat", ".tokens"):
        shutil.copy(made + suffix, str(tmp_path / "bad") + suffix)
    index = bytearray((tmp_path / "bad.leat").read_bytes())
    for at in range(4096, len(index), 4096):  # a page of the index after another
        (tmp_path / "bad.leat").write_bytes(index[:at] + bytes(64) + b"\xff" * 64 + index[at + 128:])
        try:
            pa.table(leat.open(tmp_path / "bad").arrow(("id", "tokens")))
        except leat.Error:
            continue  # found when it is opened
        except OSError:
            break
    else:
        pytest.fail("no damage that a stream meets")
    done = subprocess.run([program("leat"), "cat", tmp_path / "bad", "--arrow", tmp_path / "x", "--columns",
                           "id,tokens"], capture_output=True, text=True)
    assert done.returncode == 3 and not (tmp_path / "x").exists(), done
