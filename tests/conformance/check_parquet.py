#!/usr/bin/env python3
"""check_parquet.py PROGRAM [--share ci|full]: leat's Parquet reader (parquet_dump.c) beside pyarrow, on files written
here: every encoding, codec, page version and pattern of nulls, dictionaries that fall back, small pages, nested
columns, kinds of ids, other writers where they are installed; read from start to end, and from each row on.

The last line counts: N passed, N failed, N skipped.
"""
import argparse
import itertools
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import uuid

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError as e:
    print(f"skipped: {e}")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(77)

parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("--share", default="full")
arguments = parser.parse_args()
rng = random.Random(int(os.environ.get("LEAT_TEST_SEED", "1")))
counts = {"passed": 0, "failed": 0, "skipped": 0}


def dump(paths, text="text", ident="id", options=()):
    """For each path the list of its (text, id), or the error's (status, sentence)."""
    done = subprocess.run([arguments.program, *options, text, ident, *paths], stdout=subprocess.PIPE)
    assert done.returncode == 0, done.returncode
    out, at = done.stdout, 0

    def value():
        nonlocal at
        size, = struct.unpack_from("<i", out, at)
        at += 4
        if size < 0:
            return None
        at += size
        return out[at - size:at]

    for _ in paths:
        status = out[at]
        at += 1
        if status:
            yield status, value().decode(errors="replace")
            continue
        rows, = struct.unpack_from("<Q", out, at)
        at += 8
        yield [(value(), value()) for _ in range(rows)]
    assert at == len(out)


def as_bytes(value):
    if value is None or isinstance(value, bytes):
        return value
    return str(value).encode()


def leaf(table, path):
    column = table.column(path.split(".")[0]).to_pylist()
    for name in path.split(".")[1:]:
        column = [v if v is None else v[name] for v in column]
    return [as_bytes(v) for v in column]


def check(name, path, got, text="text", ident="id"):
    """Compares what leat read with what pyarrow reads."""
    file = pq.ParquetFile(path, memory_map=False)
    table = file.read()
    want = list(zip(leaf(table, text), leaf(table, ident) if ident != "-" else [None] * len(table)))
    if got == want:
        counts["passed"] += 1
        return
    counts["failed"] += 1
    if isinstance(got, tuple):
        print(f"FAILED {name}: {got}")
    else:
        at = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
        print(f"FAILED {name}: {len(got)} rows of {len(want)}, the first that differs is {at}: "
              f"{str(got[at:at + 1])[:200]} instead of {str(want[at:at + 1])[:200]}")


WORDS = ["the", "Parquet", "é", "😀", "中文", "", " ", "\n", "row group", "x" * 300, "\x00", "prefix", "prefixes"]


def text(size):
    return " ".join(rng.choice(WORDS) for _ in range(size))


def texts(count, nulls):
    made = [text(rng.choice([0, 1, 2, 5, 30, 200])) for _ in range(count)]
    made = [rng.choice(made) if rng.random() < 0.3 else v for v in made]
    return [None if nulls(i) else v for i, v in enumerate(made)]


NULLS = {"none": lambda i: False, "all": lambda i: True, "every third": lambda i: i % 3 == 0,
         "runs": lambda i: i // 40 % 2 == 0, "some": lambda i: rng.random() < 0.1, "first": lambda i: i == 0}


def table(rows, nulls):
    return pa.table({"n": pa.array(range(rows), pa.int64()), "text": pa.array(texts(rows, nulls), pa.string()),
                     "id": pa.array([f"id-{i // 2:05}" if i % 7 else None for i in range(rows)], pa.string())})


def matrix(folder):
    """Every encoding by every codec, page version and pattern of nulls."""
    codecs = ["none", "snappy", "gzip", "brotli", "lz4", "zstd"]
    encodings = ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", "dictionary", "fall back"]
    for encoding, codec, version, nulls in itertools.product(encodings, codecs, ["1.0", "2.0"], NULLS):
        if arguments.share == "ci" and rng.random() < 0.6:
            continue
        rows = rng.choice([0, 1, 2, 9, 64, 400, 1000])
        options = {"use_dictionary": encoding in ("dictionary", "fall back"), "compression": codec,
                   "data_page_version": version, "data_page_size": rng.choice([64, 4096, 1 << 20]),
                   "row_group_size": rng.choice([1, 7, 100, 1000]) if rows else 1,
                   "write_page_checksum": rng.random() < 0.5,
                   "dictionary_pagesize_limit": 500 if encoding == "fall back" else 1 << 20}
        if not options["use_dictionary"]:
            options["column_encoding"] = {"text": encoding, "id": encoding}
        path = os.path.join(folder, f"{len(os.listdir(folder))}.parquet")
        pq.write_table(table(rows, NULLS[nulls]), path, **options)
        yield f"{encoding}, {codec}, pages {version}, nulls {nulls}", path, "text", "id"


def kinds(folder):
    """Types of texts and ids, nested columns, required ones, empty values."""
    rows = 300
    plain = texts(rows, NULLS["none"])
    columns = {
        "binary": pa.array([v.encode() for v in plain], pa.binary()),
        "large": pa.array(plain, pa.large_string()),
        "view": pa.array(plain, pa.string_view()),
        "category": pa.array(plain, pa.string()).dictionary_encode(),
        "fixed": pa.array([struct.pack("<Q", i * 977) for i in range(rows)], pa.binary(8)),
        "meta": pa.array([None if i % 5 == 0 else
                          {"deep": None if i % 7 == 0 else {"text": v if i % 3 else None, "n": i}}
                          for i, v in enumerate(plain)],
                         pa.struct([("deep", pa.struct([("text", pa.string()), ("n", pa.int32())]))])),
        "i32": pa.array([(i - 150) * 10000019 % (1 << 31) * (-1) ** i for i in range(rows)], pa.int32()),
        "i64": pa.array([None if i % 9 == 0 else (i - 150) * (1 << 55) for i in range(rows)], pa.int64()),
        "u32": pa.array([(1 << 32) - 1 - i for i in range(rows)], pa.uint32()),
        "u64": pa.array([(1 << 64) - 1 - i for i in range(rows)], pa.uint64()),
        "u8": pa.array([i % 256 for i in range(rows)], pa.uint8()),
        "i16": pa.array([i - 150 for i in range(rows)], pa.int16()),
    }
    both = pa.table(columns)
    pairs = [("binary", "i32"), ("large", "i64"), ("view", "u32"), ("category", "u64"), ("fixed", "u8"),
             ("meta.deep.text", "i16"), ("large", "meta.deep.n"), ("large", "large"), ("large", "-")]
    for encoding in ("dictionary", "PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"):
        special = {}
        if encoding != "dictionary":
            special = {c: encoding for c in ("i32", "i64", "u32", "u64", "u8", "i16", "meta.deep.n")}
            if encoding == "BYTE_STREAM_SPLIT":
                special["fixed"] = encoding
        path = os.path.join(folder, f"kinds-{encoding}.parquet")
        pq.write_table(both, path, use_dictionary=encoding == "dictionary", column_encoding=special or None,
                       row_group_size=77, data_page_size=600)
        for t, i in pairs:
            yield f"{encoding} of {t} and {i}", path, t, i
    required = pa.table({"text": plain, "id": list(range(rows))},
                        pa.schema([pa.field("text", pa.string(), False), pa.field("id", pa.int64(), False)]))
    path = os.path.join(folder, "required.parquet")
    pq.write_table(required, path, data_page_size=100)
    yield "required columns", path, "text", "id"


def uuids(folder):
    made = [uuid.UUID(int=rng.getrandbits(128)) for _ in range(50)]
    path = os.path.join(folder, "uuid.parquet")
    pq.write_table(pa.table({"text": ["t"] * 50, "id": pa.array([u.bytes for u in made], pa.uuid())}), path)
    got, = dump([path])
    right = got == [(b"t", str(u).encode()) for u in made]
    counts["passed" if right else "failed"] += 1
    if not right:
        print("FAILED UUIDs:", str(got)[:300])


def wide(folder):
    """Many columns, and many row groups."""
    many = 20000 if arguments.share == "ci" else 1000000
    path = os.path.join(folder, "wide.parquet")
    columns = {f"column {i}": pa.array([i], pa.int32()) for i in range(many)}
    columns.update(text=pa.array(["here"]), id=pa.array([7]))
    pq.write_table(pa.table(columns), path, compression="none", use_dictionary=False, write_statistics=False,
                   store_schema=False)
    got, = dump([path])
    right = got == [(b"here", b"7")]
    counts["passed" if right else "failed"] += 1
    if not right:
        print(f"FAILED {many} columns:", got)
    os.remove(path)
    path = os.path.join(folder, "groups.parquet")
    groups = 3000 if arguments.share == "ci" else 100000
    made = pa.table({"text": [str(i) for i in range(groups)], "id": list(range(groups))})
    pq.write_table(made, path, row_group_size=1)
    yield f"{groups} row groups", path, "text", "id"


def long_group(folder):
    """One row group of many rows, which no list here holds."""
    rows = 100000 if arguments.share == "ci" else 10000000
    path = os.path.join(folder, "long.parquet")
    ids = pa.array(range(rows))
    pq.write_table(pa.table({"text": ids.cast(pa.string()), "id": ids}), path, row_group_size=rows)
    assert pq.ParquetFile(path).num_row_groups == 1
    with subprocess.Popen([arguments.program, "text", "id", path], stdout=subprocess.PIPE) as reader:
        right = reader.stdout.read(9) == struct.pack("<BQ", 0, rows)
        for first in range(0, rows, 10000):
            want = b"".join(struct.pack(f"<i{len(t)}s", len(t), t) * 2
                            for t in (b"%d" % i for i in range(first, min(first + 10000, rows))))
            right = right and reader.stdout.read(len(want)) == want
        right = right and not reader.stdout.read(1)
    counts["passed" if right and reader.returncode == 0 else "failed"] += 1
    if not right:
        print(f"FAILED a row group of {rows} rows")
    os.remove(path)


def others(folder):
    """Files of other writers."""
    rows = 500
    made = table(rows, NULLS["some"])

    def duckdb(path, codec):
        import duckdb
        duckdb.register("made", made)
        version = rng.choice(["V1", "V2"])
        duckdb.sql(f"COPY (FROM made) TO '{path}' (FORMAT parquet, CODEC {codec}, PARQUET_VERSION {version}, "
                   "ROW_GROUP_SIZE 200)")

    def polars(path, codec):
        import polars
        polars.from_arrow(made).write_parquet(path, compression=codec, row_group_size=200, data_page_size=1000)

    def fastparquet(path, codec):
        import fastparquet
        fastparquet.write(path, made.to_pandas(), compression=codec, row_group_offsets=200)

    for writer, codecs in ((duckdb, ["uncompressed", "snappy", "gzip", "zstd", "lz4_raw", "brotli"]),
                           (polars, ["uncompressed", "snappy", "gzip", "zstd", "lz4", "brotli"]),
                           (fastparquet, ["UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD", "LZ4_RAW", "BROTLI"])):
        for codec in codecs:
            path = os.path.join(folder, f"{writer.__name__}-{codec}.parquet")
            try:
                writer(path, codec)
            except ImportError as e:
                print(f"skipped {writer.__name__}: {e}")
                counts["skipped"] += 1
                break
            yield f"{writer.__name__}, {codec}", path, "text", "id"


LEAVES = [pa.string(), pa.large_string(), pa.int32(), pa.int64(), pa.uint64(), pa.uint8(), pa.float64(), pa.float32(),
          pa.bool_()]


def nested_kind(depth):
    how = rng.random()
    if depth == 0 or how < 0.35:
        return rng.choice(LEAVES)
    if how < 0.7:
        return pa.list_(pa.field("element", nested_kind(depth - 1), rng.random() < 0.7))
    names = rng.sample(["a", "b", "role", "element", "list", "array"], rng.choice([1, 2, 3]))
    return pa.struct([pa.field(name, nested_kind(depth - 1), rng.random() < 0.7) for name in names])


def number(kind):
    value = rng.choice([rng.random(), 0.0, -0.0, 1e16, 9999999999999998.0, 1e-5, 0.0001, 123456.5,
                        float(rng.randrange(-10**6, 10**6)), struct.unpack("<d", rng.randbytes(8))[0]])
    if kind == pa.float32():
        value = struct.unpack("<f", struct.pack("<f", value))[0] if abs(value) < 1e38 else 0.5
    return value


def nested_value(field):
    kind = field.type
    if field.nullable and rng.random() < 0.2:
        return None
    if pa.types.is_list(kind):
        return [nested_value(kind.value_field) for _ in range(rng.choice([0, 1, 2, 5, rng.choice([0, 40])]))]
    if pa.types.is_struct(kind):
        return {part.name: nested_value(part) for part in kind}
    if pa.types.is_boolean(kind):
        return rng.random() < 0.5
    if pa.types.is_floating(kind):
        return number(kind)
    if pa.types.is_integer(kind):
        least = 0 if pa.types.is_unsigned_integer(kind) else -2**(kind.bit_width - 1)
        return rng.randrange(least, least + 2**kind.bit_width)
    return "".join(rng.choice("ab\n\"\\é😀\x00\x07\t\v ") for _ in range(rng.choice([0, 1, 5, rng.choice([2, 300])])))


def nested(folder):
    """Lists and groups of any shape, as the JSON that Python writes of them."""
    for i in range(100 if arguments.share == "ci" else 2000):
        kind = nested_kind(4)
        while not pa.types.is_nested(kind):
            kind = nested_kind(4)
        field = pa.field("messages", kind, rng.random() < 0.7)
        rows = [nested_value(field) for _ in range(rng.choice([0, 1, 3, 50, 300]))]
        made = pa.table({"messages": pa.array(rows, kind)}, pa.schema([field]))
        path = os.path.join(folder, "nested.parquet")
        pq.write_table(made, path, data_page_version=rng.choice(["1.0", "2.0"]), use_dictionary=rng.random() < 0.5,
                       compression=rng.choice(["none", "snappy", "zstd"]), data_page_size=rng.choice([50, 500, 10**6]),
                       write_batch_size=rng.choice([1, 7, 1024]), row_group_size=rng.choice([10, 100, 10**6]),
                       use_compliant_nested_type=rng.random() < 0.7, store_schema=rng.random() < 0.5)
        want = [json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() if row is not None else None
                for row in made.column("messages").to_pylist()]
        for options in (("-j",), ("-j", "-r")):
            got, = dump([path], "messages", "-", options)
            right = got == [(row, None) for row in want]
            counts["passed" if right else "failed"] += 1
            if not right:
                print(f"FAILED nested {i} {options}, {kind}: {str(got)[:300]}")


REFUSED = {
    "a missing column": (dict(text=["a"], id=["b"]), "body", "id", "has no column body; its columns are text, id"),
    "a list": (dict(text=[["a"]], id=["b"]), "text", "id", "is a list"),
    "inside a list": (dict(text=[[{"a": "b"}]], id=["b"]), "text.list.element.a", "id", "is in a list"),
    "a group": (dict(text=[{"a": "b"}], id=["b"]), "text", "id", "name one, as text.NAME"),
    "a text of numbers": (dict(text=[1], id=["b"]), "text", "id", "does not hold texts"),
    "an id of floats": (dict(text=["a"], id=[1.5]), "text", "id", "does not hold ids"),
    "an id of dates": (dict(text=["a"], id=pa.array([1], pa.date32())), "text", "id", "does not hold ids"),
}


def refused(folder):
    for name, (columns, t, i, sentence) in REFUSED.items():
        path = os.path.join(folder, "refused.parquet")
        pq.write_table(pa.table(columns), path)
        got, = dump([path], t, i)
        right = isinstance(got, tuple) and sentence in got[1]
        counts["passed" if right else "failed"] += 1
        if not right:
            print(f"FAILED {name}: {str(got)[:300]}")


with tempfile.TemporaryDirectory() as folder:
    for group in (matrix, kinds, wide, others):
        cases = list(group(folder))
        for options in ((), ("-r",)):
            for (t, i), same in itertools.groupby(sorted(cases, key=lambda c: c[2:]), key=lambda c: c[2:]):
                same = list(same)
                for at in range(0, len(same), 100):
                    some = same[at:at + 100]
                    for case, got in zip(some, dump([c[1] for c in some], t, i, options)):
                        check(f"{case[0]} {options}", case[1], got, t, i)
            if group is wide:
                break
    long_group(folder)
    uuids(folder)
    nested(folder)
    refused(folder)
print(f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
sys.exit(1 if counts["failed"] else 0)
