"""leat.import_dataset() against MosaicML's streaming and litdata, which write in each of their forms, and leat has the
same documents. What is damaged, cut, of another kind or not ids is refused, with a sentence that names it, and nothing
is left. No pickle is run."""

import json
import os
import shutil
import sys
import types

import numpy as np
import pytest
from imports import check, make_documents, refused


def cut(path, size):
    with open(path, "r+b") as file:
        file.truncate(size)


# ---- MosaicML's streaming

def mds_writer():
    for name in ("vision", "multimodal"):  # datasets of pictures, which ask for torchvision
        sys.modules.setdefault(f"streaming.{name}", types.ModuleType(name))
    return pytest.importorskip("streaming.base").MDSWriter


def write_mds(out, documents, column, make, **options):
    with mds_writer()(out=str(out), columns={"a": "str", "tokens": column, "z": "float32"}, size_limit=1 << 15,
                      **options) as writer:
        for i, row in enumerate(documents):
            writer.write({"a": "x" * (i % 3), "tokens": make(row), "z": 0.5})
    return out


def as_array(dtype):
    return lambda row: np.array(row, dtype=dtype)


@pytest.mark.parametrize("compression", [None, "zstd", "gz:1", "bz2"])
@pytest.mark.parametrize("dtype", ["uint16", "int64"])
def test_mds(tmp_path, dtype, compression):
    documents = make_documents(dtype, 50000)
    for column, make in (("bytes", lambda row: np.array(row, dtype=dtype).tobytes()), ("ndarray", as_array(dtype)),
                         (f"ndarray:{dtype}", as_array(dtype))):
        out = write_mds(tmp_path / column.replace(":", "-"), documents, column, make, compression=compression)
        before = sorted(os.listdir(out))
        check(out, documents, tmp_path, column="tokens", dtype=dtype if column == "bytes" else None)
        assert sorted(os.listdir(out)) == before  # no file is written beside it


def test_mds_shaped(tmp_path):
    documents = [[i, i + 1, 7] for i in range(20)]
    check(write_mds(tmp_path / "a", documents, "ndarray:uint16:3", as_array("uint16")), documents, tmp_path)
    check(tmp_path / "a/index.json", documents, tmp_path)


def test_mds_refused(tmp_path):
    documents = [[1, 2, 300], [4]] * 40
    a = write_mds(tmp_path / "a", documents, "bytes", lambda row: np.array(row, dtype="uint16").tobytes())
    refused("the type of the ids in them is unknown: give dtype", a, tmp_path, "argument")
    refused("has no column \"ids\"; columns that can hold ids: tokens", a, tmp_path, "not-found", column="ids")
    refused("the column \"a\" does not hold lists of integers", a, tmp_path, "argument", column="a")
    refused("document 0 has 6 bytes, which is not a whole number of uint32", a, tmp_path, "documents", dtype="uint32")
    refused("unknown dtype \"float32\"", a, tmp_path, "argument", dtype="float32")
    b = write_mds(tmp_path / "b", documents, "ndarray", as_array("int32"))
    refused("its files give the type of their ids; leave dtype out", b, tmp_path, "argument", dtype="int32")
    refused("shard.00000.mds: token 2 of document 0 is 300, and the vocabulary has 300 entries", b, tmp_path, "token",
            vocabulary=300)
    refused("token 1 of document 0 is -1, and an id is never negative",
            write_mds(tmp_path / "c", [[1, -1]], "ndarray", as_array("int32")), tmp_path, "token")
    refused("holds arrays of float32, not lists of integers",
            write_mds(tmp_path / "d", [[1]], "ndarray:float32", as_array("float32")), tmp_path, "unsupported")
    refused("sample 0 is a tensor of 2 axes", write_mds(tmp_path / "e", [[[1], [2]]], "ndarray", as_array("int32")),
            tmp_path, "unsupported")
    cut(b / "shard.00000.mds", 500)
    refused("shard.00000.mds has 500 bytes, and its index says", b, tmp_path, "truncated")
    os.remove(b / "shard.00000.mds")
    refused("No such file", b, tmp_path, "no-file")
    shard = {"version": 2, "format": "mds", "column_names": ["a"], "column_encodings": ["ndarray:int8"],
             "column_sizes": [None], "compression": None, "hashes": [], "size_limit": None, "samples": 1,
             "raw_data": {"basename": "../shard", "bytes": 1, "hashes": {}}, "zip_data": None}
    for says, shards in (("names a file \"../shard\", which is not inside its folder", [shard]),
                         ("a shard has \"format\": \"json\", and only \"mds\" is", [{**shard, "format": "json"}]),
                         ("is cut or damaged", [{}])):
        (tmp_path / "index.json").write_text(json.dumps({"version": 2, "shards": shards}))
        refused(says, tmp_path, tmp_path)


def test_mds_damaged(tmp_path):
    documents = make_documents(1, 50000, 30)
    a = write_mds(tmp_path / "a", documents, "ndarray:int32", as_array("int32"), compression="zstd")
    packed = a / "shard.00000.mds.zstd"
    packed.write_bytes(packed.read_bytes()[:100])
    refused("shard.00000.mds.zstd is cut or damaged", a, tmp_path, "truncated")
    b = write_mds(tmp_path / "b", documents, "ndarray:int32", as_array("int32"))
    other = write_mds(tmp_path / "other", documents[:20], "ndarray:int32", as_array("int32"))
    index = json.loads((b / "index.json").read_text())
    index["shards"][0]["raw_data"]["bytes"] = os.path.getsize(other / "shard.00000.mds")
    (b / "index.json").write_text(json.dumps(index))
    shutil.copy(other / "shard.00000.mds", b)
    refused("samples, and its index says", b, tmp_path, "mismatch")


def test_mds_runs_no_pickle(tmp_path):
    """Only the column of the ids is decoded: a column of pickles would run what it says."""
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "trap"),)

    with mds_writer()(out=str(tmp_path / "a"), columns={"tokens": "ndarray", "other": "pkl"}) as writer:
        writer.write({"tokens": np.array([1, 2]), "other": Trap()})
    check(tmp_path / "a", [[1, 2]], tmp_path)
    assert not (tmp_path / "trap").exists()


# ---- litdata

ZSTD = {"compression": "zstd"}


def write_litdata(out, rows, tokens=False, **options):
    writers = pytest.importorskip("litdata.streaming.writer")
    loader = pytest.importorskip("litdata.streaming.item_loader").TokensLoader() if tokens else None
    writer = writers.BinaryWriter(str(out), chunk_bytes=1 << 15, item_loader=loader, **options)
    for i, row in enumerate(rows):
        writer[i] = row
    writer.done()
    writer.merge()
    return out


@pytest.mark.filterwarnings("ignore:An item was larger")
@pytest.mark.parametrize("options", [{}, ZSTD, {**ZSTD, "compression_level": "sample"},
                                     {**ZSTD, "compression_level": "chunk"}], ids=str)
def test_litdata(tmp_path, options):
    torch = pytest.importorskip("torch")
    documents = make_documents(str(options), 151000)
    kinds = {"item": lambda row: {"input_ids": torch.tensor(row), "n": len(row)},
             "array": lambda row: np.array(row, dtype=np.uint32), "list": lambda row: {"input_ids": row, "n": 1}}
    if options.get("compression_level", "chunk") == "chunk" and options != ZSTD:
        kinds["tokens"] = lambda row: torch.tensor(row, dtype=torch.int32)
    for kind, make in kinds.items():
        out = write_litdata(tmp_path / kind, map(make, documents), kind == "tokens", **options)
        before = sorted(os.listdir(out))
        check(out, documents, tmp_path)
        assert sorted(os.listdir(out)) == before


def test_litdata_as_its_reader(tmp_path):
    torch = pytest.importorskip("torch")
    documents = make_documents(3, 151000)
    write_litdata(tmp_path / "a", [{"input_ids": torch.tensor(row)} for row in documents])
    check(tmp_path / "a", documents, tmp_path)
    theirs = pytest.importorskip("litdata").StreamingDataset(str(tmp_path / "a"))
    assert [theirs[i]["input_ids"].tolist() for i in range(0, len(documents), 50)] == documents[::50]


def test_litdata_refused(tmp_path):
    torch = pytest.importorskip("torch")
    a = write_litdata(tmp_path / "a", [{"numbers": [1, 2], "scores": [0.5]}] * 9)
    check(a, [[1, 2]] * 9, tmp_path)
    refused("the column \"scores\" does not hold lists of integers", a, tmp_path, "argument", column="scores")
    refused("no column holds lists of integers", write_litdata(tmp_path / "b", [{"a": {"input_ids": [1]}}]), tmp_path,
            "unsupported")
    two = torch.tensor([1]), torch.tensor([2])
    refused("several leaves can hold ids, and they have no names", write_litdata(tmp_path / "c", [two]), tmp_path,
            "unsupported")
    d = write_litdata(tmp_path / "d", [torch.tensor([[1, 2]])])
    refused("sample 0 is a tensor of 2 axes, not a list of ids", d, tmp_path, "unsupported")
    refused("has no column \"ids\": its leaves have no names", d, tmp_path, "not-found", column="ids")
    e = write_litdata(tmp_path / "e", [torch.tensor([1, 2, 3])] * 9, tokens=True)
    chunk = e / "chunk-0-0.bin"
    whole = chunk.read_bytes()
    chunk.write_bytes(b"\x08" + whole[1:])
    refused("the places of its items are not those of 9 items", e, tmp_path, "mismatch")
    cut(chunk, 60)
    refused("chunk-0-0.bin has 60 bytes, and its index says", e, tmp_path, "truncated")
    index = json.loads((e / "index.json").read_text())
    index["config"]["encryption"] = {"algorithm": "fernet"}
    (e / "index.json").write_text(json.dumps(index))
    refused("the dataset is encrypted, which leat does not read", e, tmp_path, "unsupported")
    (e / "index.json").write_text('{"chunks": [], "config": null, "updated_at": "1.5"}')  # optimize() of nothing
    check(e, [], tmp_path)


def test_litdata_runs_no_pickle(tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "trap"),)

    torch = pytest.importorskip("torch")
    write_litdata(tmp_path / "a", [{"input_ids": torch.tensor([1, 2]), "other": Trap()}])
    shutil.rmtree(tmp_path / "trap", ignore_errors=True)  # if writing has run it
    check(tmp_path / "a", [[1, 2]], tmp_path)
    assert not (tmp_path / "trap").exists()
