#!/usr/bin/env python3
"""make_files.py: writes the datasets of tests/import/files with the real packages: mosaicml-streaming 0.13.0, litdata
0.2.76, datasets 5.2.0 and pyarrow 26.0.1. All hold the documents of documents.txt, but for those of fixed length, which
hold fixed.txt. Run it in an empty folder, to compare or to add; the files of tests/import/files are not made anew."""

import json
import pathlib
import random
import sys
import types

import datasets
import numpy as np
import pyarrow as pa
import torch
from litdata.streaming.item_loader import TokensLoader
from litdata.streaming.writer import BinaryWriter

for name in ("vision", "multimodal"):  # datasets of pictures, which ask for torchvision
    sys.modules[f"streaming.{name}"] = types.ModuleType(name)
from streaming import MDSWriter

OUT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
END = 256
rng = random.Random(24)


def make_documents():
    made = []
    for i in range(40):
        ids = [rng.choice([rng.randrange(END), END + 1 + rng.randrange(50000)]) for _ in range(rng.choice([1, 3, 60]))]
        made.append([*ids, END] if i % 3 else ids)
    return made


documents = make_documents()
fixed = [[rng.randrange(50000) for _ in range(8)] for _ in range(20)]


def text(name, rows):
    (OUT / name).write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))


def mds(name, column, make, rows=None, **more):
    columns = {"text": "str", "tokens": column, "weight": "int"}
    with MDSWriter(out=str(OUT / "mds" / name), columns=columns, size_limit=2048, **more) as out:
        for i, row in enumerate(rows or documents):
            out.write({"text": "word " * (i % 5), "tokens": make(row), "weight": i})


def litdata(name, make, rows=None, **more):
    writer = BinaryWriter(str(OUT / "litdata" / name), chunk_bytes=1600, **more)
    for i, row in enumerate(rows or documents):
        writer[i] = make(row)
    writer.done()
    writer.merge()


def saved(name, rows, value, **more):
    features = datasets.Features({"text": datasets.Value("string"), "input_ids": value,
                                  "labels": datasets.ClassLabel(names=["a", "b"])})
    table = {"text": [str(len(row)) for row in rows], "input_ids": rows, "labels": [i % 2 for i in range(len(rows))]}
    datasets.Dataset.from_dict(table, features=features).save_to_disk(str(OUT / "arrow" / name), **more)


def arrow_file(name, rows, kind, compression=None, stream=False, batch=15):
    """Beside a column of each kind that takes buffers of its own."""
    n = len(rows)
    table = pa.table({
        "none": pa.nulls(n),
        "flag": pa.array([i % 2 == 0 for i in range(n)]),
        "word": pa.array([None if i % 7 == 0 else "w" * (i % 4) for i in range(n)]),
        "class": pa.array(["ab"[i % 2] for i in range(n)]).dictionary_encode(),
        "deep": pa.array([{"a": [{"b": i}], "c": None} for i in range(n)]),
        "union": pa.UnionArray.from_dense(pa.array([0] * n, pa.int8()), pa.array(list(range(n)), pa.int32()),
                                          [pa.array(list(range(n)))]),
        "map": pa.array([[("k", i)] for i in range(n)], pa.map_(pa.string(), pa.int32())),
        "tokens": pa.array(rows, kind),
        "after": pa.array(range(n)),
    })
    (OUT / "arrow").mkdir(exist_ok=True, parents=True)
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with make(str(OUT / "arrow" / name), table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as out:
        for i in range(0, n, batch):
            out.write_table(table.slice(i, batch))


text("documents.txt", documents)
text("fixed.txt", fixed)

mds("bytes", "bytes", lambda row: np.array(row, dtype=np.uint16).tobytes())
mds("array", "ndarray", lambda row: np.array(row, dtype=np.uint32))
mds("typed", "ndarray:int64", lambda row: np.array(row, dtype=np.int64))
mds("shaped", "ndarray:uint16:8", lambda row: np.array(row, dtype=np.uint16), fixed)
mds("zstd", "ndarray:int32", lambda row: np.array(row, dtype=np.int32), compression="zstd:7", hashes=["xxh64"])

litdata("tokens", lambda row: torch.tensor(row, dtype=torch.int32), item_loader=TokensLoader())
litdata("tokens.zstd", lambda row: torch.tensor(row), item_loader=TokensLoader(), compression="zstd",
        compression_level="chunk")
litdata("numpy", lambda row: np.array(row, dtype=np.uint16), item_loader=TokensLoader())
litdata("items", lambda row: {"n": len(row), "input_ids": torch.tensor(row), "text": "x" * (len(row) % 4)})
litdata("frames", lambda row: {"input_ids": torch.tensor(row, dtype=torch.int32), "n": len(row)}, compression="zstd",
        compression_batch_size=4)
litdata("samples", lambda row: {"input_ids": torch.tensor(row), "n": len(row)}, compression="zstd",
        compression_level="sample")
litdata("lists", lambda row: {"n": len(row), "input_ids": row})
litdata("lists.zstd", lambda row: {"n": len(row), "input_ids": row}, compression="zstd")
litdata("floats", lambda row: {"numbers": row, "scores": [0.5]})
litdata("inside", lambda row: {"a": {"input_ids": row}, "scores": [0.5]}, fixed)
litdata("tuple", lambda row: (torch.tensor(row), torch.tensor(row)), fixed)
litdata("axes", lambda row: torch.tensor([row]))

saved("saved", documents, datasets.Sequence(datasets.Value("int32")), num_shards=3)
saved("saved.large", documents, datasets.LargeList(datasets.Value("int64")))
saved("saved.fixed", fixed, datasets.Sequence(datasets.Value("uint16"), length=8))
train = datasets.Dataset.from_dict({"input_ids": fixed})
datasets.DatasetDict({"train": train}).save_to_disk(str(OUT / "arrow" / "dict"))
arrow_file("stream.arrow", documents, pa.list_(pa.uint16()), stream=True)
arrow_file("file.arrow", documents, pa.list_(pa.int32()))
arrow_file("lz4.arrow", documents, pa.large_list(pa.int64()), compression="lz4")
arrow_file("zstd.arrow", documents, pa.list_(pa.uint32()), compression="zstd")
arrow_file("fixed.arrow", fixed, pa.list_(pa.int32(), 8), compression="zstd")
for name in ("input_ids", "tokens"):
    columns = [pa.array([[1, 2]], pa.list_(pa.int32())), pa.array([[3]], pa.list_(pa.int32()))]
    table = pa.Table.from_arrays(columns, names=[name, name])
    with pa.ipc.new_stream(str(OUT / "arrow" / f"twice_{name}.arrow"), table.schema) as out:
        out.write_table(table)
table = pa.table({"input_ids": [[1, 2], [3]], "labels": [[1, 2], [3]], "attention_mask": [[1, 1], [1]]})
with pa.ipc.new_stream(str(OUT / "arrow" / "masked.arrow"), table.schema) as out:
    out.write_table(table)
table = pa.table({"text": ["a", "b"], "lists": pa.array([[1], [2, 3]], pa.list_view(pa.int32())),
                  "numbers": pa.array([[1], [2]], pa.list_(pa.dictionary(pa.int8(), pa.int32()))),
                  "words": pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int8()), pa.array([[1], [2, 3]]))})
with pa.ipc.new_stream(str(OUT / "arrow" / "views.arrow"), table.schema) as out:
    out.write_table(table)
table = pa.table({"input_ids": pa.array([], pa.list_(pa.int32()))})
with pa.ipc.new_file(str(OUT / "arrow" / "none.arrow"), table.schema):
    pass
arrow_file("empty.arrow", [[], [5], [], []], pa.list_(pa.int32()))
arrow_file("nulls.arrow", [[1], None, [2]], pa.list_(pa.int32()))

# what changes with each run, and is not read
for path in OUT.rglob("index.json"):
    index = json.loads(path.read_text())
    index.pop("updated_at", None)
    path.write_text(json.dumps(index))
