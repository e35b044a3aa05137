#!/usr/bin/env python3
"""test_columns.py: columns that leat pack makes, against Python: random records with numbers of all types, lists and
texts, as lines, as an array and as CSV, longer than a unit, for any threads and small buffers, with conditions and
lengths that leave documents out. A value that its type does not hold rejects its record, with the reason; without
columns, a dataset has the bytes that it had."""
import csv
import json
import math
import os
import struct
import subprocess
import sys
import tempfile

from dataset import Dataset
from programs import LEAT, SMALL, rng

folder = tempfile.mkdtemp(dir=os.environ.get("LEAT_TEST_TMP"))
os.chdir(folder)
INTEGERS = {"u8": "B", "u16": "H", "u32": "I", "i32": "i", "i64": "q"}


def leat(*words, program=LEAT, code=0):
    done = subprocess.run([program, "pack", "-t", "bytes", "--max-rejects", "100%", "--force", *words],
                          capture_output=True, text=True)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done.stdout if code == 0 else done.stderr


def bfloat16(x):
    """The upper half of the f32 nearest to a double, ties to even."""
    if x and math.isfinite(x):
        m, e = math.frexp(x)
        x = math.ldexp(round(m * 256), e - 8) if e > -126 else math.ldexp(round(math.ldexp(x, 133)), -133)
        if abs(x) >= 2.0**128:
            return None
    return struct.pack("<f", x)[2:]


def stored(value, kind):
    """The bytes of a number, or None if the type does not hold it."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    if kind in INTEGERS:
        try:
            return struct.pack("<" + INTEGERS[kind], int(value)) if int(value) == value else None
        except (struct.error, OverflowError, ValueError):
            return None
    if isinstance(value, int) and value.bit_length() <= 64 and float(value) != value:
        return None
    try:
        made = bfloat16(float(value)) if kind == "bf16" else struct.pack({"f16": "<e", "f32": "<f"}[kind], float(value))
    except OverflowError:
        return None
    back = {"bf16": lambda: struct.unpack("<f", b"\0\0" + made), "f16": lambda: struct.unpack("<e", made),
            "f32": lambda: struct.unpack("<f", made)}[kind]
    exact = isinstance(value, int) and value.bit_length() <= 64
    return None if made is None or (exact and back()[0] != value) else made


def number():
    return rng.choice([lambda: rng.randrange(-3, 300), lambda: rng.randrange(2**12), lambda: rng.uniform(-2, 2),
                       lambda: float(rng.randrange(200)), lambda: rng.choice([2**31, 65504, 65520, 2**24 + 1, 2**63 - 1,
                                                                              -2**63, 2**64, 1e300, 1e-45, -0.0]),
                       lambda: math.ldexp(rng.random(), rng.randrange(-150, 130))])()


COLUMNS = [("a", "u8", 1), ("b", "f32", 1), ("c", "f16", 3), ("d", "bf16", 1), ("e", "i64", 2), ("lang", "category", 1)]
LANGUAGES = ["en", "de", "", "été", 'a "quoted" one', "\\", "水"]


def made():
    easy = rng.random() < 0.7  # most records have only values that their columns hold
    one = (lambda: rng.randrange(200)) if easy else number
    record = {"text": "x" * rng.randrange(300), "a": one(), "meta": {"b": one()}, "c": [one() for _ in range(3)],
              "d": one(), "e": [rng.randrange(-2**63, 2**63) if easy else number() for _ in range(2)],
              "lang": rng.choice(LANGUAGES)}
    if rng.random() < 0.05:
        del record[rng.choice(["a", "c", "lang"])]
    if rng.random() < 0.05:
        record[rng.choice("ad")] = rng.choice(["7", None, True, [1], {}])
    if rng.random() < 0.05:
        record["c"] = rng.choice([[1, 2], [1, 2, 3, 4], [], 7, [1, None, 3], [1, "2", 3], [[1, 2, 3]]])
    return record


def field(record, name):
    return record["meta"]["b"] if name == "b" else record.get(name)


def row(record):
    """The bytes of each column, or None for a record that is rejected."""
    out = []
    for name, kind, width in COLUMNS:
        value = field(record, name)
        if kind == "category":
            if not isinstance(value, str):
                return None
            out.append(value)
            continue
        values = value if width > 1 else [value]
        if not isinstance(values, list) or len(values) != width:
            return None
        values = [stored(v, kind) for v in values]
        if None in values:
            return None
        out.append(b"".join(values))
    return out


def check(name, records):
    """Compares all columns of a dataset with those of records that it must have."""
    rows = [row(record) for record in records]
    assert Dataset(name).document_count == len(rows), (Dataset(name).document_count, len(rows))
    for i, (column, kind, _) in enumerate(COLUMNS):
        want = [r[i] for r in rows]
        if kind == "category":
            texts = list(dict.fromkeys(want))
            want = [struct.pack("<H", texts.index(text)) for text in want]
            with open(f"{name}.{column}.column-index", "rb") as f:
                assert f.read().endswith("".join(texts).encode())
        with open(f"{name}.{column}.column", "rb") as f:
            assert f.read() == b"".join(want), (name, column)
    assert "nothing is wrong" in subprocess.run([LEAT, "verify", name], capture_output=True, text=True).stdout


records = [made() for _ in range(400)]
records.insert(200, dict(made(), text="y" * 40000, a=1, meta={"b": 1}, c=[0, 1, 2], d=0.1, e=[-1, 1], lang="en"))
lines = [json.dumps(record, ensure_ascii=rng.random() < 0.5) for record in records]
with open("lines.jsonl", "w") as f:
    f.write("\n".join(lines) + "\n")
with open("array.json", "w") as f:
    f.write("[\n" + ",\n".join(lines) + "]\n")
with open("table.csv", "w", newline="") as f:
    out = csv.writer(f)
    out.writerow(["text", "a", "meta.b", "c", "d", "e", "lang"])
    for record in records:
        out.writerow([record["text"][:300], *(v if isinstance(v, str) else json.dumps(v) for v in (
            record.get("a"), record["meta"]["b"], record.get("c"), record["d"], record["e"])), record.get("lang", "")])
# a table has no types, and no missing fields
tabled = [{**{"lang": ""}, **r, **{k: float(r[k]) if r.get(k) == "7" else r.get(k) for k in "ad"}} for r in records]
good = [record for record in records if row(record)]
assert 100 < len(good) < 390
words = [word for name, kind, width in COLUMNS for word in (
    "--column", f"{name}={'meta.b' if name == 'b' else name}:{kind}{f'x{width}' * (width > 1)}:document")]
for program in LEAT, SMALL:
    for threads in "1", "3":
        for name, want in ("lines.jsonl", good), ("array.json", good), ("table.csv", [r for r in tabled if row(r)]):
            leat("-o", "out", *words, "--threads", threads, name, program=program)
            check("out", want)
        leat("-o", "out", *words, "--keep", "lang = en", "--max-length", "200", "--threads", threads, "lines.jsonl",
             program=program)
        check("out", [r for r in good if r["lang"] == "en" and len(r["text"]) < 200])
        leat("-o", "out", *words, "--max-length", "100", "--too-long", "cut", "lines.jsonl", program=program)
        check("out", good)
        leat("-o", "out", "--prompt", "lang", "--completion", "text", *words, "--threads", threads, "lines.jsonl",
             program=program)
        check("out", [r for r in good if program == LEAT or len(r["text"]) < 300])  # a pair is taken whole
assert Dataset("out").metadata()[b"leat.columns"].decode().split("\n") == words[1::2]

# without columns, nothing is left of those that are replaced
leat("-o", "plain", "lines.jsonl")
leat("-o", "out", "lines.jsonl")
assert sorted(n for n in os.listdir() if n.startswith("out.")) == ["out.leat", "out.tokens"]
for suffix in ".leat", ".tokens":
    with open("out" + suffix, "rb") as f, open("plain" + suffix, "rb") as g:
        assert f.read() == g.read()

# what is wrong with a record, and the reason
WRONG = [("a:u8", "{}", 'the record has no "a" for the column a'),
         ("a:u8", '{"a":256}', '"a" has the value 256, which u8 does not hold: it is for the column a'),
         ("a:u8", '{"a":-1}', '"a" has the value -1, which u8 does not hold: it is for the column a'),
         ("a:u8", '{"a":1.5}', '"a" has the value 1.5, which u8 does not hold: it is for the column a'),
         ("a:u8", '{"a":NaN}', '"a" has the value NaN, which u8 does not hold: it is for the column a'),
         ("x=a:f32", '{"a":1e39}', '"a" has the value 1e39, which f32 does not hold: it is for the column x'),
         ("x=a:f32", '{"a":1e999}', '"a" has the value 1e999, which f32 does not hold: it is for the column x'),
         ("x=a:f32", '{"a":16777217}', '"a" has the value 16777217, which f32 does not hold: it is for the column x'),
         ("a:f32", '{"a":"7"}', '"a" is not a number: it is for the column a'),
         ("a:f32", '{"a":null}', '"a" is not a number: it is for the column a'),
         ("a:f32", '{"a":[7]}', '"a" is not a number: it is for the column a'),
         ("a:f32x2", '{"a":7}', '"a" is not a list of numbers: it is for the column a'),
         ("a:f32x2", '{"a":[7]}', '"a" has 1 values, not 2: it is for the column a'),
         ("a:f32x2", '{"a":[7,8,9]}', '"a" has 3 values, not 2: it is for the column a'),
         ("a:f32x2", '{"a":[7,null]}', '"a" has a value that is not a number: it is for the column a'),
         ("a:f32x2", '{"a":[7,' + " " * 200 + "8]}", '"a" is a list that is too long: it is for the column a'),
         ("a:category", '{"a":7}', '"a" is not a string: it is for the column a'),
         ("a:category", '{"a":"' + "z" * 1025 + '"}', '"a" is longer than 1024 bytes: it is for the column a'),
         ("a:category", b'{"a":"\xff"}', '"a" is not UTF-8: it is for the column a')]
for column, record, reason in WRONG:
    with open("wrong.jsonl", "wb") as f:
        f.write((record if isinstance(record, bytes) else record.encode())[:-1] + b"%s\"text\":\"q\"}\n" %
                (b"" if record == "{}" else b","))
    leat("-o", "wrong", "--column", column + ":document", "wrong.jsonl")
    with open("wrong.rejects.jsonl") as f:
        assert json.loads(f.readline())["reason"] == reason, (record, reason)

# a category may have 65,536 texts, and no more
for n, code in (65536, 0), (65537, 2):
    with open("many.jsonl", "w") as f:
        f.write("".join(f'{{"text":"","a":"{i}"}}\n' for i in range(n)))
    said = leat("-o", "many", "--column", "a:category:document", "many.jsonl", code=code)
assert "column a: its field has more than 65536 different texts, which is too many for a category" in said, said

# another run may not go on with this one
leat("-o", "out", "--column", "lang:category:document", "lines.jsonl")
for column, code in ("lang:category:document", 0), ("x=lang:category:document", 1):
    done = subprocess.run([LEAT, "pack", "-t", "bytes", "--max-rejects", "100%", "--resume", "-o", "out", "--column",
                           column, "lines.jsonl"], capture_output=True)
    done.returncode == code or sys.exit(f"resuming with {column}: {done.stderr}")
