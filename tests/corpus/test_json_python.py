#!/usr/bin/env python3
"""test_json_python.py: random records, whole and damaged, through our scanner and Python's json module: the same text
and id, and the same records refused for the same kind of reason.

Where Python differs from what leat promises, its answer is put right here, and nowhere else: it keeps surrogates
without a partner (leat: U+FFFD); its strings are code points, so that bytes that are not UTF-8 have to pass through it
as surrogates of their own (surrogateescape), apart from those that are escaped.
"""
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import time

build = os.environ.get("LEAT_BUILD", "build")
program = os.path.join(build, "tests/corpus/test_json_fields")
if not os.path.exists(program):
    print("skipped: no", program)
    sys.exit(77)
every = "LEAT_TEST_EVERY" in os.environ
# each run draws other records, of which a third is tried
seed = int(os.environ.get("LEAT_TEST_SEED") or (1 if every else time.time_ns() // 1000000))
print(f"LEAT_TEST_SEED={seed}")
rng = random.Random(seed)
LETTERS = ["a", "Z", "0", " ", "\\n", '\\"', "\\\\", "\\/", "\\b\\f\\r\\t", "\\u00e9", "\\u00E9", "\\ud83d\\ude00",
           "\\ud83d", "\\ude00", "é", "▁", "😀", "\\u0000", "\\u4e2d\\u6587", "\x7f", "a line of usual length, say, "]
NAMES = ["text", "id", "meta", "te\\u0078t", "\\u0069d", "body", "m\\u0065ta", "", "text.id", "Text"]
MALFORMED, NO_OBJECT, NO_FIELD, NO_STRING = 1, 2, 3, 4


def space():
    return rng.choice(["", "", "", "", " ", "\n\t", "\r "])


def string():
    letters = rng.sample(LETTERS, rng.choice([1, 3, len(LETTERS)]))
    return '"' + "".join(rng.choice(letters) for _ in range(rng.choice([0, 1, 3, 9, 40, 300]))) + '"'


def value(depth, kind=None):
    if kind is None:
        kind = rng.randrange(9 if depth < 4 else 6)
    if depth == 0 and rng.randrange(20):
        kind = 7
    if kind < 2:
        return string()
    if kind == 2:
        return rng.choice(["true", "false", "null", "NaN", "Infinity", "-Infinity"])
    if kind < 6:
        return rng.choice(["0", "-0", "12", "-7", "1.5", "3e2", "1E-2", "-2.25e+1", "18446744073709551616"])
    if kind == 6:
        return "[" + space() + ",".join(space() + value(depth + 1) + space() for _ in range(rng.randrange(4))) + "]"
    return "{" + space() + ",".join(member(depth) for _ in range(rng.randrange(8))) + space() + "}"


def member(depth):
    name = rng.choice(NAMES)
    usual = 7 if name.startswith("m") or (name == "text" and not rng.randrange(4)) else 0
    return space() + '"' + name + '"' + space() + ":" + space() + value(depth + 1, rng.choice([None, usual, usual]))


class Number(str):
    pass


class Wrong(Exception):
    pass


def follow(v, path):
    for name in path.split("."):
        if not isinstance(v, dict) or name not in v:
            return None, False
        v = v[name]
    return v, True


def encoded(s):
    """The bytes of a string: pairs that escapes made are joined, other surrogates replaced; raw bytes as they were."""
    s = re.sub("[\ud800-\udbff][\udc00-\udfff]", lambda m: m[0].encode("utf-16", "surrogatepass").decode("utf-16"), s)
    # raw bytes were put behind a private-use character before parsing
    s = re.sub("(?<!\U00100000)[\ud800-\udfff]", "\ufffd", s)
    return b"".join(p[:1].encode("utf-8", "surrogateescape") + p[1:].encode("utf-8")
                    if i else p.encode("utf-8") for i, p in enumerate(s.split("\U00100000")))


def by_python(data, text_path, id_path):
    # a byte that is not UTF-8 becomes a surrogate, which is marked so that it is not taken for an escaped one
    source = re.sub("([\udc80-\udcff])", "\U00100000\\1", data.decode("utf-8", "surrogateescape"))
    try:
        root = json.loads(source, parse_int=Number, parse_float=Number)
    except ValueError:
        return str(MALFORMED)
    if not isinstance(root, dict):
        return str(NO_OBJECT)
    text, there = follow(root, text_path)
    if not there:
        return str(NO_FIELD)
    if not isinstance(text, str) or isinstance(text, Number):
        return str(NO_STRING)
    ident, _ = follow(root, id_path)
    shown = '"' + encoded(ident).hex() + '"' if isinstance(ident, str) else "none"
    return '"' + encoded(text).hex() + '" ' + shown


def damage(data):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2])):
        at = rng.randrange(len(data) + 1)
        what = rng.randrange(4)
        if what == 0:
            data[at:at + 1] = b""
        elif what == 1:
            data[at:at] = bytes([rng.choice(b'",:[]{}\\0-.e1NI\x00\n\x80\xc3\xff a')])
        elif what == 2:
            data[at:at + 1] = bytes([rng.randrange(256)])
        else:
            data = data[:at]
    return bytes(data)


def check(text_path, id_path, count):
    records = []
    for _ in range(count):
        data = (space() + value(0) + space()).encode("utf-8")
        records.append(damage(data) if rng.randrange(3) == 0 else data)
    with tempfile.TemporaryDirectory(dir=os.environ.get("LEAT_TEST_TMP")) as folder:
        name = os.path.join(folder, "records")
        with open(name, "wb") as f:
            for data in records:
                f.write(struct.pack("<I", len(data)) + data)
        out = subprocess.run([program, text_path, id_path, name], stdout=subprocess.PIPE, check=True)
    lines = out.stdout.decode().splitlines()
    if len(lines) != len(records):
        raise SystemExit(f"{len(lines)} answers to {len(records)} records")
    bad = 0
    kinds = {}
    for data, line in zip(records, lines):
        want = by_python(data, text_path, id_path)
        kinds[want if len(want) == 1 else "found"] = kinds.get(want if len(want) == 1 else "found", 0) + 1
        if line != want and bad < 5:
            print(f"{data!r}\n  gives {line}\n  python {want}")
            bad += 1
    print(text_path, id_path, kinds)
    if bad or len(kinds) < 5:
        raise SystemExit(1)


check("text", "id", 6000 if every else 1600)
check("meta.text", "meta.id", 3000 if every else 800)
check("text.id", "text", 2000)  # fewer might have no text that is no string
