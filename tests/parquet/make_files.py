#!/usr/bin/env python3
"""make_files.py FOLDER: writes the files of tests/parquet/files: small Parquet files by pyarrow, DuckDB, Polars and
fastparquet, and beside each what pyarrow reads in its columns text and id, as JSON lines; a text that is null is a
member "null". Needs these packages; the tests read what is checked in."""
import json
import os
import random
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


for name in sorted(os.listdir(folder)):
    if name.endswith(".parquet"):
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
