#!/usr/bin/env python3
"""test_csv_python.py: tables through our reader of CSV and through Python's csv.reader(strict=True): all texts of a few
letters, quotes, commas and line ends, and large random ones, which tiny/leat packs with few and many threads, in small
and large units, compressed and in parts. The same fields of the same records; what csv refuses is rejected; a record
with another number of fields than the header is, too.

csv begins with the next line after an error, as leat does; a line without characters is no record.
"""
import csv
import io
import itertools
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import time

build = os.path.abspath(os.environ.get("LEAT_BUILD", "build"))
program = os.path.join(build, "tests/corpus/test_csv_records")
leat = os.path.join(build, "tiny/leat")
if not (os.path.exists(program) and os.path.exists(leat)):
    print("skipped: no", program, "or", leat)
    sys.exit(77)
every = "LEAT_TEST_EVERY" in os.environ
seed = int(os.environ.get("LEAT_TEST_SEED") or (1 if every else time.time_ns() // 1000000))
print(f"LEAT_TEST_SEED={seed}")
rng = random.Random(seed)
failures = 0
csv.field_size_limit(1 << 30)


def fail(*words):
    global failures
    failures += 1
    if failures < 10:
        print(*words)


def rows(text, delimiter, columns):
    """The records after the header: lists of fields, or None for what is rejected."""
    reader = csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=delimiter, strict=True)
    out = []
    header = False
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return out
        except csv.Error as error:
            # not csv's complaint of a carriage return within a line: io has cut the text there
            assert "expected after" in str(error) or "unexpected end of data" in str(error), error
            row = None
        if row == []:
            continue
        if header:
            out.append(row if row is not None and len(row) == columns else None)
        header = True


def words(records):
    return "".join("x " if r is None else "".join("." + f.encode("utf-8", "surrogateescape").hex() for f in r) + " "
                   for r in records)


def compare(texts, delimiter, columns):
    with tempfile.NamedTemporaryFile() as f:
        for text in texts:
            raw = text.encode("utf-8", "surrogateescape")
            f.write(struct.pack("<I", len(raw)) + raw)
        f.flush()
        got = subprocess.run([program, delimiter, str(columns), f.name], stdout=subprocess.PIPE, check=True)
    got = got.stdout.decode().split("\n")
    assert len(got) == len(texts) + 1
    for text, line in zip(texts, got):
        if line != words(rows(text, delimiter, columns)):
            fail(f"{text!r}, {columns} columns: {line!r} instead of {words(rows(text, delimiter, columns))!r}")


def header_of(columns, delimiter):
    return delimiter.join(f"c{i}" for i in range(columns))


def exhaust():
    longest = 6 if every else 5
    for columns in (1, 2, 3):
        for length in range(longest + 1):
            texts = [header_of(columns, ",") + "\n" + "".join(t)
                     for t in itertools.product('",\n\r ab', repeat=length)]
            if columns != 2 and not every:
                texts = texts[seed % 5::5]
            compare(texts, ",", columns)
    # what is before the header
    texts = [mark + "".join(t) + 'c0\n"a"\n' for mark in ("\ufeff", "") for n in range(3)
             for t in itertools.product("\r\n", repeat=n)]
    compare(texts, ",", 1)
    compare([t.replace(",", "\t") for t in ('c0,c1\n"a,b",c', 'c0,c1\na"b,"c"', 'c0,c1\n"a"b,c\nd,e')], "\t", 2)


# ---- Packed ---------------------------------------------------------------------------------------------------------

WORDS = ["a", "word", "é", "😀", '"', '""', ",", "\n", "\r\n", "\r", "\t", " ", "0", "long " * 40, "x" * 3000]


def field(odd):
    text = "".join(rng.choice(WORDS) for _ in range(rng.choice([0, 1, 2, 5, 30])))
    if rng.random() < odd:
        return text
    if rng.random() < .002:
        text *= 1 + 12000 // (len(text) + 1)
    if any(c in text for c in '",\t\r\n') or rng.random() < .2:
        return '"' + text.replace('"', '""') + '"'
    return text


def table(delimiter, bytes_, odd):
    out = [rng.choice(["\ufeff", ""]) + delimiter.join(("id", "text", "n"))]
    size = 0
    while size < bytes_:
        out.append(delimiter.join((str(len(out)), field(odd), str(rng.randrange(100)))))
        size += len(out[-1])
    end = rng.choice(["\n", "\r\n", "\r"])
    return end.join(out) + rng.choice(["", end])


def run(arguments, ok=(0, 1, 4)):
    done = subprocess.run([leat, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode in ok, (arguments, done.returncode, done.stderr)
    return done


def texts_of(name):
    raw = open(name + ".tokens", "rb").read()
    ids = struct.unpack(f"<{len(raw) // 2}H", raw)
    out, now = [], bytearray()
    for i in ids:
        if i < 256:
            now.append(i)
        else:
            out.append(bytes(now))
            now = bytearray()
    assert not now
    return out


def contents(name):
    return [open(name + end, "rb").read() if os.path.exists(name + end) else b""
            for end in (".tokens", ".leat", ".rejects.jsonl")]


def pack(folder, number):
    suffix, delimiter = rng.choice([("csv", ","), ("tsv", "\t")])
    odd = rng.choice([0, 0, .01, .2])
    text = table(delimiter, rng.choice([0, 100, 20000, 300000]), odd)
    path = os.path.join(folder, f"in{number}.{suffix}")
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write(text)
    want = [None if r is None else r[1].encode() for r in rows(text, delimiter, 3)]
    # tiny/leat takes no record of more than 32 KiB; without odd ones, the order of what is left is known
    out = os.path.join(folder, f"out{number}")
    common = ["pack", "-t", "bytes", "--id", "id", "--max-rejects", "100000000", "--allow-empty", "--allow-truncated"]
    run([*common, "--threads", "1", "-o", out, path])
    got = texts_of(out)
    rejects = [json.loads(line) for line in contents(out)[2].splitlines()]
    short = all(r is None or len(r) < 8000 for r in want) and "rejects" and not any(
        "32 KiB" in r["reason"] or "4 MiB" in r["reason"] for r in rejects)
    if short and got != [t for t in want if t is not None]:
        fail(f"{path}: other texts")
    if short and len(rejects) != want.count(None):
        fail(f"{path}: {len(rejects)} rejects instead of {want.count(None)}")
    raw = text.encode()
    for r in rejects:
        if raw[:r["offset"]].count(b"\n") + 1 != r["line"]:
            fail(f"{path}: the line of {r}")
    for options in (["--threads", "3"], ["--threads", "2", "--memory", "110M"], ["--memory", "400M"]):
        run([*common, *options, "-o", out + "b", "--force", path])
        if contents(out) != contents(out + "b"):
            fail(f"{path}: others with {options}")
    # more of them, compressed and not, in parts
    if os.path.exists(out + "b.leat"):
        os.remove(out + "b.leat")
    for part in "12":
        run([*common, "--part", f"{part}/2", "-o", f"{out}.p{part}", path, path])
    run([*common, "-o", out + ".twice", path, path])
    run(["merge", "--allow-empty", "-o", out + ".merged", out + ".p1", out + ".p2"])
    for end in (".tokens", ".leat"):
        if open(out + ".twice" + end, "rb").read() != open(out + ".merged" + end, "rb").read():
            fail(f"{path}: parts give another {end}")
    return short


exhaust()
with tempfile.TemporaryDirectory() as folder:
    shorts = sum(pack(folder, i) for i in range(40 if every else 8))
print(failures, "failures;", shorts, "tables of short records")
sys.exit(failures > 0)
