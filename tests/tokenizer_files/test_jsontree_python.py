#!/usr/bin/env python3
"""test_jsontree_python.py: random JSON texts, whole and damaged, through our reader and Python's: the same values, and
the same texts refused (but for what Python takes beyond the standard: NaN, lone surrogates, depth)."""
import json
import os
import random
import subprocess
import sys
import tempfile

build = os.environ.get("LEAT_BUILD", "build")
program = os.path.join(build, "tests/tokenizer_files/test_jsontree")
if not os.path.exists(program):
    print("skipped: no", program)
    sys.exit(77)
seed = int(os.environ.get("LEAT_TEST_SEED", "1"))
print(f"LEAT_TEST_SEED={seed}")
rng = random.Random(seed)
LETTERS = ["a", "Z", "0", " ", "\\n", '\\"', "\\\\", "\\/", "\\u00e9", "\\ud83d\\ude00", "é", "▁", "😀", "\\u0000"]


def space():
    return rng.choice(["", "", "", " ", "\n\t", "\r "])


def string():
    return '"' + "".join(rng.choice(LETTERS) for _ in range(rng.choice([0, 1, 3, 9, 40]))) + '"'


def value(depth):
    kind = rng.randrange(8 if depth < 5 else 6)
    if kind < 2:
        return string()
    if kind == 2:
        return rng.choice(["true", "false", "null"])
    if kind < 6:
        return rng.choice(["0", "-0", "12", "-7", "1.5", "3e2", "1E-2", "-2.25e+1", "18446744073709551616"])
    if kind == 6:
        return "[" + space() + ",".join(space() + value(depth + 1) + space() for _ in range(rng.randrange(4))) + "]"
    members = (space() + string() + space() + ":" + space() + value(depth + 1) for _ in range(rng.randrange(4)))
    return "{" + space() + ",".join(members) + space() + "}"


class Number(str):
    pass


def shown(v):
    if isinstance(v, Number):
        return str(v)
    if isinstance(v, str):
        return '"' + v.encode("utf-8").hex() + '"'
    if v is None or isinstance(v, bool):
        return {None: "null", True: "true", False: "false"}[v]
    if isinstance(v, tuple):
        return "{" + "".join(shown(k) + ":" + shown(x) + "," for k, x in v[0]) + "}"
    return "[" + "".join(shown(x) + "," for x in v) + "]"


def by_python(data):
    def refuse(_):
        raise ValueError("a constant")
    try:
        return shown(json.loads(data.decode("utf-8"), parse_int=Number, parse_float=Number, parse_constant=refuse,
                                object_pairs_hook=lambda pairs: (pairs,)))
    except (ValueError, RecursionError):
        return "invalid"


def damage(data):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2])):
        at = rng.randrange(len(data) + 1)
        what = rng.randrange(3)
        if what == 0:
            data[at:at + 1] = b""
        elif what == 1:
            data[at:at] = bytes([rng.choice(b'",:[]{}\\0-.e1\x00\n\x80\xc3\xff a')])
        else:
            data = data[:at]
    return bytes(data)


with tempfile.TemporaryDirectory() as folder:
    texts, paths = [], []
    for i in range(4000):
        data = (space() + value(0) + space()).encode("utf-8")
        texts.append(damage(data) if i % 2 else data)
        paths.append(os.path.join(folder, str(i)))
        with open(paths[-1], "wb") as f:
            f.write(texts[-1])
    failed = 0
    for i in range(0, len(paths), 500):
        done = subprocess.run([program] + paths[i:i + 500], capture_output=True, check=True)
        lines = done.stdout.decode().split("\n")
        for data, ours in zip(texts[i:i + 500], lines):
            python = by_python(data)
            # Python takes one half of a surrogate pair; it cannot be shown as UTF-8, so it counts as invalid above
            if ours != python:
                failed += 1
                print("differs:", data, "ours", ours, "Python's", python)
sys.exit(1 if failed else 0)
