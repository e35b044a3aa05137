#!/usr/bin/env python3
"""make_files.py FOLDER: writes the files of tests/parquet/files: small Parquet files by pyarrow, DuckDB, Polars and
fastparquet, and beside each what pyarrow reads in its columns text and id, as JSON lines; a text that is null is a
member "null". Needs these packages; the tests read what is checked in."""
import json
import os
import random
import shutil
import sys

import pyarrow as pa
import pyarrow.parquet as pq

folder = sys.argv[1]
rng = random.Random(23)
WORDS = ["the", "of", "row group", "é", "😀", "中文", "\n", "\t", '"', "\\", "page", "prefix", "prefixes", "\x00"]


def words(count):
    return " ".join(rng.choice(WORDS) for _ in range(count))


def texts(rows, nulls=True):
    made = [words(rng.choice([0, 1, 2, 3, 8, 20])) for _ in range(rows)]
    made = [rng.choice(made) if rng.random() < 0.4 else text for text in made]
    return [None if nulls and i % 7 == 3 else text for i, text in enumerate(made)]


def table(rows, nulls=True):
    ids = [None if nulls and i % 5 == 4 else f"doc-{i // 3:04}" for i in range(rows)]
    return pa.table({"text": pa.array(texts(rows, nulls), pa.string()), "n": pa.array(range(rows), pa.int64()),
                     "id": pa.array(ids, pa.string())})


def path(name):
    return os.path.join(folder, name + ".parquet")


def write(name, made, **options):
    options = {"compression": "none", "use_dictionary": False, "write_page_checksum": True, "store_schema": False,
               "data_page_size": 300, **options}
    pq.write_table(made, path(name), **options)


write("plain", table(30), row_group_size=20)
write("plain_2", table(30), data_page_version="2.0", row_group_size=20)
write("dictionary", table(60), use_dictionary=True)
write("dictionary_2_snappy", table(60), use_dictionary=True, data_page_version="2.0", compression="snappy")
write("fall_back", table(80), use_dictionary=True, dictionary_pagesize_limit=100)
both = {"text": "DELTA_BYTE_ARRAY", "id": "DELTA_LENGTH_BYTE_ARRAY"}
write("delta", table(60), column_encoding=both)
write("delta_2_zstd", table(60), column_encoding=both, data_page_version="2.0", compression="zstd")
for codec in ("snappy", "gzip", "zstd", "lz4", "brotli"):
    write(codec, table(60), compression=codec, data_page_size=2000)
write("required", pa.table({"text": texts(40, False), "id": [i * 10000000019 for i in range(-20, 20)]},
                           pa.schema([pa.field("text", pa.string(), False), pa.field("id", pa.int64(), False)])),
      column_encoding={"id": "DELTA_BINARY_PACKED"})
write("split", pa.table({"text": texts(40), "id": pa.array([2**32 - 1 - i * 977 for i in range(40)], pa.uint32())}),
      column_encoding={"id": "BYTE_STREAM_SPLIT"})
write("empty", table(0))

import duckdb

made = table(60)
for version in ("V1", "V2"):
    duckdb.sql(f"COPY (FROM made) TO '{path('duckdb_' + version.lower())}' (FORMAT parquet, PARQUET_VERSION {version})")

import polars

polars.from_arrow(table(60)).write_parquet(path("polars"), data_page_size=500)

import fastparquet

fastparquet.write(path("fastparquet"), table(60).to_pandas(), compression="SNAPPY", row_group_offsets=25)

write("many", table(1500), row_group_size=37, compression="zstd", data_page_version="2.0", data_page_size=2000)

# columns of all types that conditions (--keep) are for, and others: the JSON lines have them too
TYPED = {"score": pa.float64(), "ratio": pa.float32(), "small": pa.int8(), "big": pa.uint64(), "number": pa.int64(),
         "lang": pa.string(), "flag": pa.bool_()}
rng = random.Random(4)


def typed(rows):
    made = {"text": [f"text {i}" for i in range(rows)], "id": [str(i) for i in range(rows)],
            "score": [rng.choice([None, 0.1, 3.0, -2.5, 1e300, 5e-324, 0.30000000000000004]) for _ in range(rows)],
            "ratio": [rng.choice([None, 0.1, 0.75, -3e-20]) for _ in range(rows)],
            "small": [rng.choice([None, -128, -1, 0, 7]) for _ in range(rows)],
            "big": [rng.choice([None, 2**64 - 1, 2**63, 5]) for _ in range(rows)],
            "number": [rng.choice([-2**63, 2**53 + 1, 2**53, 7]) for _ in range(rows)],
            "lang": [rng.choice([None, "en", "de", "", "7", 'e"n', "é"]) for _ in range(rows)],
            "flag": [rng.choice([None, True, False]) for _ in range(rows)]}
    return pa.table({name: pa.array(values, TYPED.get(name, pa.string())) for name, values in made.items()})


write("typed", typed(60), use_dictionary=["lang", "small", "score"], compression="snappy", row_group_size=40)
write("typed_split", typed(40), column_encoding={"score": "BYTE_STREAM_SPLIT", "ratio": "BYTE_STREAM_SPLIT",
                                                 "small": "DELTA_BINARY_PACKED", "lang": "DELTA_BYTE_ARRAY"})

# conversations, and what else a column that is a list or a group may hold: beside each what pyarrow reads, as JSON
rng = random.Random(25)
CALL = pa.struct({"name": pa.string(), "arguments": pa.string(), "n": pa.int32()})
MESSAGE = pa.struct({"role": pa.string(), "content": pa.string(), "calls": pa.list_(CALL), "weight": pa.float64(),
                     "learn": pa.bool_(), "tags": pa.list_(pa.list_(pa.string()))})


def maybe(make, share=0.2):
    return None if rng.random() < share else make()


def some(make, most=3):
    return [make() for _ in range(rng.randrange(most + 1))]


def call():
    return {"name": maybe(lambda: words(1)), "arguments": maybe(lambda: words(3)), "n": maybe(lambda: rng.randrange(9))}


def message():
    return {"role": maybe(lambda: rng.choice(["user", "assistant"])), "content": maybe(lambda: words(5)),
            "calls": maybe(lambda: some(lambda: maybe(call))), "weight": maybe(lambda: rng.choice([0.5, 3.0, -0.25])),
            "learn": maybe(lambda: rng.random() < 0.5),
            "tags": maybe(lambda: some(lambda: maybe(lambda: some(lambda: maybe(lambda: words(1))))))}


def conversations(rows, make=lambda: maybe(lambda: some(lambda: maybe(message))), kind=pa.list_(MESSAGE)):
    return pa.table({"id": [str(i) for i in range(rows)], "messages": pa.array([make() for _ in range(rows)], kind)})


def strict(kind):
    """The type, without nulls at any depth."""
    if pa.types.is_list(kind):
        return pa.list_(pa.field("element", strict(kind.value_type), False))
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(f.name, strict(f.type), False) for f in kind])
    return kind


write("nested_pages", conversations(60), write_batch_size=5, row_group_size=40)
write("nested_2", conversations(60), data_page_version="2.0", compression="zstd", use_dictionary=True)
write("nested_old", conversations(30), use_compliant_nested_type=False, compression="snappy")
maybe, keep = lambda make, share=0: make(), maybe
required = conversations(30).column("messages").to_pylist()
maybe = keep
KIND = strict(pa.list_(MESSAGE))
write("nested_required", pa.table({"messages": pa.array(required, KIND)},
                                  pa.schema([pa.field("messages", KIND, False)])))
write("nested_group", conversations(30, lambda: maybe(message), MESSAGE))
write("nested_spans", conversations(30, lambda: some(lambda: [rng.randrange(50), rng.randrange(99)]),
                                    pa.list_(pa.list_(pa.int64(), 2))))
made = conversations(60)
duckdb.sql(f"COPY (FROM made) TO '{path('nested_duckdb')}' (FORMAT parquet)")
polars.from_arrow(made).write_parquet(path("nested_polars"), data_page_size=500)

# conversations to be packed, and texts with a mask, as JSON lines, too
rng = random.Random(26)


def turns():
    return [{"role": ["user", "assistant"][i % 2], "content": maybe(lambda: words(rng.choice([0, 3, 30])), 0.02)}
            for i in range(rng.choice([1, 2, 2, 3, 4, 9]))]


def spans(text):
    cuts = sorted(rng.sample(range(len(text) + 1), 2 * rng.randrange(1 + len(text) // 20)))
    return [list(pair) for pair in zip(cuts[::2], cuts[1::2])]


made = [{"id": f"c{i}", "text": words(rng.choice([1, 5, 20])), "messages": maybe(turns, 0.05)} for i in range(120)]
made = [{**row, "loss": maybe(lambda: spans(row["text"]), 0.05)} for row in made]
write("chat", pa.Table.from_pylist(made), row_group_size=25, compression="snappy")
with open(os.path.join(folder, "chat.jsonl"), "w") as f:
    for row in made:
        f.write(json.dumps(row) + "\n")

# conversations about as long as one may be in the tiny build
write("chat_long", pa.Table.from_pylist([{"messages": [{"role": "user", "content": "ab " * times}]}
                                         for times in (1, 5000, 10500, 11000)]), compression="zstd")

# texts that are long in the tiny build, and begin with most of the one before
length = words(4000)
write("long", pa.table({"text": [length[:5], length, length + " again", None, "last"], "id": list("abcde")}),
      compression="snappy", column_encoding={"text": "DELTA_BYTE_ARRAY"}, data_page_size=1 << 20)

# a column that cannot be null, in a group that can
made = [{"id": "0", "text": "abc", "meta": {"loss": [[0, 1]]}}, {"id": "1", "text": "def", "meta": None},
        {"id": "2", "text": "ghi", "meta": {"loss": []}}]
LOSS = pa.list_(pa.field("element", pa.list_(pa.field("element", pa.int64(), False)), False))
write("below_null", pa.Table.from_pylist(made, pa.schema(
    [("id", pa.string()), ("text", pa.string()), ("meta", pa.struct([pa.field("loss", LOSS, False)]))])))
with open(os.path.join(folder, "below_null.jsonl"), "w") as f:
    for row in made:
        f.write(json.dumps(row) + "\n")

# conversations with tools, as strings that hold them
rng = random.Random(27)
TOOLS = [{"type": "function", "function": {"name": "ring", "description": 'a "bell"\n', "parameters": {}}},
         {"name": "f"}]
held = [json.dumps(TOOLS), json.dumps(TOOLS[1:], indent=1), "[]", None, "", " null\n", "none", '{"name": "f"}', "[1"]
made = [{"id": f"t{i}", "messages": [{"role": "user", "content": words(9)}], "tools": rng.choice(held[:6]) if i % 4
         else held[i // 4 % len(held)]} for i in range(60)]
write("chat_tools", pa.Table.from_pylist(made), row_group_size=25, compression="snappy")
with open(os.path.join(folder, "chat_tools.jsonl"), "w") as f:
    for row in made:
        f.write(json.dumps(row) + "\n")

# a row per group: an id that is too long, a long text that ends within a character, and spans that are no JSON
made = [{"id": "a", "text": b"abc", "spans": "[[0, 1]]"}, {"id": "i" * 70000, "text": b"def", "spans": "[]"},
        {"id": "c", "text": b"long text " * 9000 + b"\xe4\xb8", "spans": "[]"},
        {"id": "d", "text": b"ghi", "spans": "0, 1]"}, {"id": "e", "text": b"jkl", "spans": "[[1, 2]]"}]
write("refused", pa.Table.from_pylist(made, pa.schema([("id", pa.string()), ("text", pa.binary()),
                                                       ("spans", pa.string())])), row_group_size=1, compression="zstd")

# pages that the tiny build has no room for before it is this file's turn, behind small row groups; and many row groups
write("outgrows", pa.table({"text": [f"text {i} " + "ab " * (60000 if i in (13, 25) else i) for i in range(30)]}),
      compression="zstd", row_group_size=3, data_page_size=1 << 20)
write("groups", pa.table({"text": [f"text {i}" for i in range(700)]}), row_group_size=1, write_statistics=False)

write("pages", pa.table({"text": [f"é {i} " * (i % 9) for i in range(80)], "id": [f"doc-{i}" for i in range(80)]}),
      write_batch_size=8, compression="snappy")

# malformed texts, whose order in the dictionary is not that of their rows; it is large enough to be lent to units
kinds = [b"first \xff" * 40000, b"second \xff" * 40000, b"first \xff" * 40000, b"good", None]
write("malformed", pa.table({"text": pa.array(kinds * 10, pa.binary())}), use_dictionary=True, compression="zstd")

# what Spark and Dask write as _metadata: the row groups of other files
others = []
pq.write_to_dataset(table(9), os.path.join(folder, "others"), metadata_collector=others)
pq.write_metadata(table(0).schema, path("described"), others)
shutil.rmtree(os.path.join(folder, "others"))

for name in sorted(os.listdir(folder)):
    if name in ("chat.parquet", "chat_long.parquet", "chat_tools.parquet", "below_null.parquet", "described.parquet",
                "refused.parquet", "outgrows.parquet", "groups.parquet", "malformed.parquet"):
        continue
    if name.startswith("nested") and name.endswith(".parquet"):
        rows = pq.read_table(os.path.join(folder, name), columns=["messages"]).column("messages").to_pylist()
        with open(os.path.join(folder, name[:-len("parquet")] + "jsonl"), "w") as f:
            for row in rows:
                f.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
    elif name.endswith(".parquet"):
        columns = ["text", "id"] + (list(TYPED) if name.startswith("typed") else [])
        rows = pq.read_table(os.path.join(folder, name), columns=columns).to_pylist()
        with open(os.path.join(folder, name[:-len("parquet")] + "jsonl"), "w") as f:
            for row in rows:
                row = {k: v.decode() if isinstance(v, bytes) else v for k, v in row.items()}
                if row.get("ratio"):
                    row["ratio"] = float(f"{row['ratio']:.6g}")  # as the shortest decimal of 32 bits
                if row["text"] is None:
                    row = {"null": "", "id": row["id"]}
                f.write(json.dumps(row) + "\n")
