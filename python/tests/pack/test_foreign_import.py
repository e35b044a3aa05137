"""leat.import_dataset() against Hugging Face datasets and pyarrow, which write in each of their forms, and leat has the
same documents. What is damaged, cut, of another kind or not ids is refused, with a sentence that names it, and nothing
is left. An import that is stopped anywhere goes on, to the same bytes. And leat.adopt(), from Megatron's files to raw
ones."""

import json
import os
import random
import sys

import leat
import numpy as np
import pytest
from imports import check, make_documents, refused
from leat import foreign


# ---- Arrow

@pytest.mark.parametrize("kind", ["uint16", "int32", "int64"])
def test_datasets(tmp_path, kind):
    datasets = pytest.importorskip("datasets")
    documents = make_documents(kind, 32000)
    ids = datasets.Value(kind)
    for name, value in (("list", datasets.Sequence(ids)), ("large", datasets.LargeList(ids))):
        features = datasets.Features({"text": datasets.Value("string"), "input_ids": value})
        made = datasets.Dataset.from_dict({"text": ["x"] * len(documents), "input_ids": documents}, features=features)
        made.save_to_disk(str(tmp_path / name), num_shards=3)
        check(tmp_path / name, documents, tmp_path)
    # a file of the cache, as map() leaves it
    mapped = made.map(lambda row: {"input_ids": row["input_ids"][::-1]}, cache_file_name=str(tmp_path / "cache.arrow"))
    check(tmp_path / "cache.arrow", [row[::-1] for row in documents], tmp_path)
    # a selection is flattened when it is saved
    mapped.shuffle(seed=1).select(range(100)).save_to_disk(str(tmp_path / "some"))
    check(tmp_path / "some", datasets.load_from_disk(str(tmp_path / "some"))["input_ids"][:], tmp_path)
    datasets.DatasetDict({"train": made}).save_to_disk(str(tmp_path / "dict"))
    refused("holds several splits of a dataset: name the folder of one", tmp_path / "dict", tmp_path, "unsupported")
    check(tmp_path / "dict/train", documents, tmp_path)
    (tmp_path / "some/state.json").write_text('{"_data_files": [], "_indices_data_files": [{"filename": "i.arrow"}]}')
    refused("the dataset is a selection of rows", tmp_path / "some", tmp_path, "unsupported")


def write_arrow(path, table, stream=False, batch=15, compression=None):
    import pyarrow as pa
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(str(path), table.schema, options=options) as out:
        out.write_table(table, max_chunksize=batch)
    return path


def table_of(documents, kind):
    """Beside a column of each kind that takes buffers of its own."""
    import pyarrow as pa
    n = len(documents)
    union = pa.UnionArray.from_dense(pa.array([0] * n, pa.int8()), pa.array(range(n), pa.int32()), [pa.array(range(n))])
    return pa.table({
        "none": pa.nulls(n), "flag": pa.array([i % 2 == 0 for i in range(n)]), "union": union,
        "word": pa.array([None if i % 7 == 0 else "w" * (i % 4) for i in range(n)]),
        "view": pa.array(["v" * 20] * n, pa.string_view()), "class": pa.array(["a", "b"] * n)[:n].dictionary_encode(),
        "deep": pa.array([{"a": [{"b": i}], "c": None} for i in range(n)]), "tokens": pa.array(documents, kind),
        "map": pa.array([[("k", i)] for i in range(n)], pa.map_(pa.string(), pa.int32())), "after": pa.array(range(n))})


@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
def test_pyarrow(tmp_path, compression):
    pa = pytest.importorskip("pyarrow")
    documents = [*make_documents(compression or "none", 32000), [], [7]]
    fixed = [[i, 2, 3] for i in range(40)]
    for stream in (False, True):
        for kind in (pa.list_(pa.int32()), pa.large_list(pa.uint64()), pa.list_(pa.int16())):
            path = write_arrow(tmp_path / "a.arrow", table_of(documents, kind), stream, 70, compression)
            check(path, documents, tmp_path)
        path = write_arrow(tmp_path / "a.arrow", table_of(fixed, pa.list_(pa.uint8(), 3)), stream, 15, compression)
        check(path, fixed, tmp_path)
    # sliced lists, whose offsets do not begin at 0 in memory
    feather = pytest.importorskip("pyarrow.feather")
    table = pa.table({"tokens": pa.array(documents, pa.list_(pa.int32()))})
    feather.write_feather(table.slice(17), tmp_path / "a.feather", compression=compression or "uncompressed")
    check(tmp_path / "a.feather", documents[17:], tmp_path)
    # a file without batches, also with its schema aligned to 64 bytes, as Rust's arrow does it
    for rows in (table, table.slice(0, 0)):
        plain = write_arrow(tmp_path / "b.arrow", rows).read_bytes()
        (tmp_path / "b.arrow").write_bytes(plain[:8] + bytes(56) + plain[8:])
        check(tmp_path / "b.arrow", documents[:len(rows)], tmp_path)


def test_arrow_refused(tmp_path):
    pa = pytest.importorskip("pyarrow")
    lists = pa.array([[1], [2, 3]], pa.list_(pa.int32()))

    def write(stream=True, **columns):
        return write_arrow(tmp_path / "a.arrow", pa.table(columns), stream)

    refused("the column of ids has nulls", write(ids=pa.array([[1], None])), tmp_path, "unsupported")
    refused("the column of ids has nulls", write(ids=pa.array([[1], [None]])), tmp_path, "unsupported")
    refused("several columns can hold ids; name one of them: a, b", write(a=lists, b=lists), tmp_path, "argument")
    dictionary = pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int8()), lists)
    view = pa.array([[1], [2, 3]], pa.list_view(pa.int32()))
    # pyarrow's cast of views to lists loses numbers, so none is made
    path = write(text=pa.array(["a", "b"]), view=view, dictionary=dictionary)
    refused("no column holds lists of integers (list views, dictionaries", path, tmp_path, "unsupported")
    refused("the column \"view\" does not hold lists of integers", path, tmp_path, "argument", column="view")
    for name in ("input_ids", "tokens"):
        twice = pa.Table.from_arrays([lists, lists], names=[name, name])
        write_arrow(tmp_path / "twice.arrow", twice)
        refused(f"the column \"{name}\" appears twice", tmp_path / "twice.arrow", tmp_path, "unsupported")
    refused("is not a folder of", tmp_path, tmp_path, "unsupported")
    (tmp_path / "a.arrow.zst").write_bytes(b"\050\265\057\375 and more")
    refused("is compressed as a whole, which is not imported", tmp_path / "a.arrow.zst", tmp_path, "unsupported")
    refused("cannot open", tmp_path / "missing", tmp_path, "no-file")
    refused("at least one source", [], tmp_path, "argument")


@pytest.mark.parametrize("stream", [True, False])
def test_arrow_cut(tmp_path, stream):
    """Wherever a file ends too early, and whatever follows its end, it is refused."""
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"tokens": pa.array([[i, 7] for i in range(60)], pa.list_(pa.int32()))})
    path = write_arrow(tmp_path / "a.arrow", table, stream)
    whole = path.read_bytes()
    for size in range(8, len(whole)):
        path.write_bytes(whole[:size])
        refused("a.arrow", path, tmp_path, "truncated")
    path.write_bytes(whole + whole)  # the second one was lost
    refused("if it holds several streams, write each to a file", path, tmp_path, "truncated")
    path.write_bytes(whole + b"more\n")
    refused("5 bytes follow" if stream else "bytes follow", path, tmp_path, "truncated")


def test_arrow_damaged(tmp_path):
    """A flipped bit gives an error or other numbers, and never a crash."""
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"tokens": pa.array([[i, 7] for i in range(60)], pa.list_(pa.int32())), "t": ["x"] * 60})
    path = write_arrow(tmp_path / "a.arrow", table)
    whole, rng = bytearray(path.read_bytes()), random.Random(5)
    outcomes = set()
    for _ in range(600):
        at, bit = rng.randrange(len(whole)), 1 << rng.randrange(8)
        whole[at] ^= bit
        path.write_bytes(whole)
        whole[at] ^= bit
        try:
            outcomes.add(leat.import_dataset(path, tmp_path / "made", force=True).documents > 0)
        except leat.Error as error:
            outcomes.add(error.status)
            assert "a.arrow" in str(error) and error.file == str(path)
    assert {True, "truncated"} <= outcomes


# ---- What all have

def test_width_and_places(tmp_path):
    pa = pytest.importorskip("pyarrow")
    narrow = write_arrow(tmp_path / "n.arrow", pa.table({"tokens": pa.array([[1], [2, 3]], pa.list_(pa.uint16()))}))
    wide = write_arrow(tmp_path / "w.arrow", pa.table({"tokens": pa.array([[1], [2, 3]], pa.list_(pa.int32()))}))
    for sources, width, options in ((narrow, 2, {}), (wide, 4, {}), ([narrow, wide], 4, {}),
                                    (wide, 2, {"vocabulary": 50307})):
        leat.import_dataset(sources, tmp_path / "made", force=True, **options)
        with leat.Dataset(tmp_path / "made") as d:
            assert d.info.token_width == width
    leat.import_dataset([narrow, wide], tmp_path / "made", force=True)
    with leat.Dataset(tmp_path / "made") as d:
        place = d.place(3)
        assert (place.path, place.offset) == (str(wide), 1)
        assert d.find(origin=(str(wide), 1)).document == 3


def test_ends_and_tokenizer(tmp_path):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"tokens": pa.array([[1, 2], [3, 50256], []], pa.list_(pa.int64()))})
    with pa.ipc.new_file(str(tmp_path / "a.arrow"), table.schema) as out:
        out.write_table(table)
    done = []
    made = leat.import_dataset([tmp_path / "a.arrow"] * 2, tmp_path / "made", "gpt2", end="<|endoftext|>",
                               progress=lambda *at: done.append(at))
    assert made.ends_added == 4 and made.files == 2 and made.tokens == 12 and made.mask is None
    assert done[-1] == (made.bytes, made.bytes)
    with leat.Dataset(tmp_path / "made") as d:
        assert [x.tolist() for x in d] == [[1, 2, 50256], [3, 50256], [50256]] * 2
        assert d.info.end_token == 50256 and d.info.token_width == 2
    assert not made.was_finished
    again = leat.import_dataset([tmp_path / "a.arrow"] * 2, tmp_path / "made", "gpt2", end="<|endoftext|>", resume=True)
    assert again == made._replace(ends_added=None, was_finished=True)
    with pytest.raises(leat.Error, match="already exists"):
        leat.import_dataset(tmp_path / "a.arrow", tmp_path / "made")
    with pytest.raises(ValueError, match="name the tokenizer"):
        leat.import_dataset(tmp_path / "a.arrow", tmp_path / "made", end="x", force=True)
    with pytest.raises(leat.Error, match="vocabulary has 50000 entries"):
        leat.import_dataset(tmp_path / "a.arrow", tmp_path / "made", vocabulary=50000, force=True)
    with leat.Dataset(tmp_path / "made") as d:  # as it was
        assert len(d) == 6


def test_mask(tmp_path):
    """A column called like a mask was left out without a word; nor did labels that were asked for let one be seen."""
    pa = pytest.importorskip("pyarrow")
    lists = pa.array([[1, 1]], pa.list_(pa.int32()))
    for columns, column, mask in ((["input_ids", "assistant_masks"], None, "assistant_masks"),
                                  (["loss_mask", "labels"], "labels", "loss_mask"),
                                  (["labels", "loss_mask"], "labels", "loss_mask")):
        table = pa.table({name: lists for name in columns})
        with pa.ipc.new_stream(str(tmp_path / "a.arrow"), table.schema) as out:
            out.write_table(table)
        with pytest.warns(RuntimeWarning, match=f"\"{mask}\" was not taken, so all tokens are learned") as said:
            made = leat.import_dataset(tmp_path / "a.arrow", tmp_path / "made", column=column, force=True)
        assert made.mask == mask and made.tokens == 2 and said[0].filename == __file__
    # labels that are one class for each document are no mask
    write_arrow(tmp_path / "a.arrow", pa.table({"input_ids": lists, "labels": [1]}))
    assert leat.import_dataset(tmp_path / "a.arrow", tmp_path / "made", force=True).mask is None


def test_stopped(tmp_path, monkeypatch):
    """An import that is stopped at any place and goes on, as often as one likes, writes the bytes of one that was not.
    With other sources or options, or another version of a file, it does not go on."""
    pa = pytest.importorskip("pyarrow")
    documents = make_documents(1, 50000, 60)
    kinds = pa.list_(pa.int32()), pa.list_(pa.int32(), 3), pa.large_list(pa.int64())
    sources = [write_arrow(tmp_path / f"{i}.arrow", table_of(
        [[1, 2, 3]] * 60 if i == 1 else documents, kind), i == 0, 7) for i, kind in enumerate(kinds)]
    monkeypatch.setattr(foreign, "CHECKPOINT_EVERY", 5000)
    calls = []

    def stop_at(n):
        def progress(*at):
            calls.append(at)
            if len(calls) == n:
                raise KeyError(n)

        calls.clear()
        return progress

    def files(name):
        return (tmp_path / f"{name}.leat").read_bytes(), (tmp_path / f"{name}.tokens").read_bytes()

    how = {"end": 50256, "vocabulary": 50257}
    whole = leat.import_dataset(sources, tmp_path / "whole", progress=stop_at(0), **how)
    wanted, every = files("whole"), len(calls)
    assert every > 25
    for n in range(1, every + 1):
        with pytest.raises(KeyError):
            leat.import_dataset(sources, tmp_path / "part", progress=stop_at(n), force=True, **how)
        made = leat.import_dataset(sources, tmp_path / "part", resume=True, force=True, **how)
        assert files("part") == wanted and made == whole._replace(output=str(tmp_path / "part"))
    os.remove(tmp_path / "part.leat")
    os.remove(tmp_path / "part.tokens")
    stops = 0
    while not (tmp_path / "part.leat").exists():
        try:
            leat.import_dataset(sources, tmp_path / "part", progress=stop_at(2), resume=True, **how)
        except KeyError:
            stops += 1
    assert files("part") == wanted and stops > 10

    def goes_on(sources=sources, **other):
        with pytest.raises(leat.Error, match="other sources or options|run was started with|token") as raised:
            leat.import_dataset(sources, tmp_path / "part", resume=True, force=True, **{**how, **other})
        assert raised.value.status == "checkpoint"

    with pytest.raises(KeyError):
        leat.import_dataset(sources, tmp_path / "part", progress=stop_at(5), force=True, **how)
    goes_on(sources[:2])
    goes_on(end=300)
    goes_on(column="tokens")
    before = os.stat(sources[2])
    os.utime(sources[2], ns=(1, 1))
    goes_on()
    os.utime(sources[2], ns=(before.st_atime_ns, before.st_mtime_ns))
    leat.import_dataset(sources, tmp_path / "part", resume=True, force=True, **how)
    assert files("part") == wanted
    # a finished one is what is asked for, or exists
    assert leat.import_dataset(sources, tmp_path / "part", resume=True, **how).was_finished
    for other in ({"end": 300}, {"end": None}, {"column": "tokens"}, {"vocabulary": 60000}):
        with pytest.raises(leat.Error, match="already exists"):
            leat.import_dataset(sources, tmp_path / "part", resume=True, **{**how, **other})
    with pytest.raises(leat.Error, match="already exists"):
        leat.import_dataset(sources[:2], tmp_path / "part", resume=True, **how)


def test_missing_package(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "a.arrow").write_bytes(b"ARROW1\0\0")
    with pytest.raises(ImportError, match=r"needs pyarrow \(pip install pyarrow\)"):
        leat.import_dataset(tmp_path / "a.arrow", tmp_path / "made")
    for name, package, key in (("streaming", "mosaicml-streaming", "shards"), ("litdata", "litdata", "chunks")):
        monkeypatch.setitem(sys.modules, name, None)
        for module in [module for module in sys.modules if module.startswith(f"{name}.")]:
            monkeypatch.delitem(sys.modules, module)
        (tmp_path / "index.json").write_text(json.dumps({key: [{}]}))
        with pytest.raises(ImportError, match=rf"needs {name} \(pip install {package}\)"):
            leat.import_dataset(tmp_path, tmp_path / "made")


def test_adopt(tmp_path):
    documents = [[*row, 7] for row in make_documents("adopt", 6)]
    np.concatenate([np.array(x, dtype="<u2") for x in documents]).tofile(tmp_path / "t.bin")
    made = leat.adopt(f"raw:{tmp_path}/t.bin?dtype=u16", end=7, tokenizer="gpt2")
    assert made == (f"{tmp_path}/t.bin.leat", len(documents), sum(map(len, documents)))
    with leat.Dataset(made.index) as d:
        assert [x.tolist() for x in d] == documents and d.info.end_token == 7
        d.verify()
    with pytest.raises(leat.Error, match="already exists"):
        leat.adopt(f"raw:{tmp_path}/t.bin?dtype=u16&end=7")

    with pytest.raises(leat.Error, match="already has an index"):
        leat.adopt(tmp_path / "t.bin", end=7)

    def stop(done, total):
        raise KeyError(done)

    with pytest.raises(KeyError):
        leat.adopt(f"raw:{tmp_path}/t.bin?dtype=u16", tmp_path / "other", end=7, progress=stop)
    assert leat.adopt(f"raw:{tmp_path}/t.bin?dtype=u16", tmp_path / "other", end=7).documents == len(documents)
