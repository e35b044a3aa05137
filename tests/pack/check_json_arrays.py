#!/usr/bin/env python3
"""check_json_arrays.py: random files that are one JSON array, in one line or laid out over many, with records that are
longer than a unit (of the build with small buffers), white space of any length, and records that are no objects: the
documents, ids, places and lines are those that Python's json module finds, plain, compressed, from standard input, in
shares, and resumed after a stop. Arrays that are damaged at any byte are packed up to there, and the byte is named.
"""
import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(here, "..", "python")]
from programs import LEAT, SMALL, rng  # noqa: E402

try:
    from leat_reader import Dataset
except ImportError:
    print("skipped: no numpy")
    sys.exit(77)
folder = tempfile.mkdtemp(dir=os.environ.get("LEAT_TEST_TMP"))
os.chdir(folder)


def leat(program, *words, code=0, data=None):
    done = subprocess.run([program, "pack", "-t", "bytes", "--id", "id", "--max-rejects", "100%", "--force", *words],
                          input=data, capture_output=True)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done.stderr.decode()


def word():
    return rng.choice(["a", "[", "]", "{", "}", ",", '"', "\\", "\n", "é", "😀", "\u0001", ":", "\\\"",
                       "words of text "])


def words(count):
    return "".join(word() for _ in range(min(count, 100))) * max(1, count // 100)


def value(depth=0):
    kind = rng.randrange(7 if depth < 3 else 4)
    if kind < 2:
        return "".join(word() for _ in range(rng.choice([0, 1, 5, 60])))
    if kind < 4:
        return rng.choice([0, -1.5, 1e30, None, True])
    if kind < 6:
        return {rng.choice(["a", "b\"", "text"]): value(depth + 1) for _ in range(rng.randrange(3))}
    return [value(depth + 1) for _ in range(rng.randrange(3))]


def record(long, first=False):
    if rng.random() < 0.05 and not first:
        return value()
    length = long if rng.random() < 0.05 else rng.choice([0, 1, 10, 300])
    r = {"other": value(), "text": words(length)}
    if rng.random() < 0.7:
        r["id"] = rng.choice([rng.randrange(10**9), "id %d" % rng.randrange(99)])
    return r


def space(long):
    if rng.random() < 0.01:
        return " \n\t\r\n" * (long // 5)
    return "".join(rng.choice(" \n\t\r") for _ in range(rng.choice([0, 0, 0, 1, 4])))


def make(count, long):
    """The bytes of an array, and the places of its records."""
    out, places, lines = bytearray(rng.choice([b"", b"\xef\xbb\xbf"])), [], 0

    def put(text):
        nonlocal lines
        out.extend(text.encode())
        lines += text.count("\n")

    put(space(9) + "[")  # and a record that is an object: so it is an array of records
    for i in range(count):
        put(("," if i else "") + space(long))
        places.append((len(out), lines))
        put(json.dumps(record(long, i == 0), indent=rng.choice([None, None, 1]), ensure_ascii=rng.random() < 0.5))
        put(space(long))
    put("]" + space(long))
    return bytes(out), places


def expected(data, places):
    tokens, rows = [], []
    for r, (offset, line) in zip(json.loads(data.decode("utf-8-sig")), places):
        if isinstance(r, dict) and isinstance(r.get("text"), str):
            tokens += [*r["text"].encode(), 256]
            rows.append((offset, line + 1, str(r.get("id", "")).encode()))
    return tokens, rows


def check(name, want):
    d = Dataset(name)
    tokens, rows = want
    assert len(d.tokens) == len(tokens), (name, len(d.tokens), len(tokens), open(name + ".rejects.jsonl").read()[:300])
    got = [d.origin(i) for i in range(len(rows))]
    assert [int(t) for t in d.tokens] == tokens, name
    assert [(o, l, i) for _, o, l, i in got] == rows, (name, [x for x in zip(got, rows) if x[0][1:] != x[1]][:3])


def same(a, b):
    for suffix in (".tokens", ".leat"):
        with open(a + suffix, "rb") as x, open(b + suffix, "rb") as y:
            assert x.read() == y.read(), (a, b, suffix)


def check_random():
    for count in (0, 1, 5, 200):
        data, places = make(count, 20000)
        want = expected(data, places)
        open("a.json", "wb").write(data)
        open("b.json.gz", "wb").write(gzip.compress(data))
        leat(LEAT, "-o", "a", "a.json")
        check("a", want)
        leat(SMALL, "-o", "small", "--threads", "3", "a.json")
        same("small", "a")
        leat(SMALL, "-o", "in", "--format", "jsonl", "-", data=data)
        check("in", want)
        said = subprocess.run([SMALL, "pack", "-t", "bytes", "-o", "z", "--force", "--id", "id", "--max-rejects",
                               "100%", "b.json.gz"], capture_output=True).stderr
        if b"which this build cannot read" not in said:
            check("z", want)


def check_shares():
    os.makedirs("in", exist_ok=True)
    for i in range(4):
        open(f"in/{i}.json", "wb").write(make(60, 3000)[0])
        open(f"in/{i}.jsonl", "w").write("".join(json.dumps(record(100)) + "\n" for _ in range(60)))
    leat(SMALL, "-o", "whole", "in")
    for part in range(1, 4):
        leat(SMALL, "-o", f"part{part}", "--part", f"{part}/3", "in")
    subprocess.run([LEAT, "merge", "--force", "-o", "merged", "part1", "part2", "part3"], check=True,
                   capture_output=True)
    same("merged", "whole")


def check_resume():
    data, _ = make(600, 3000)
    open("r.json", "wb").write(data)
    leat(SMALL, "-o", "r", "r.json")
    words, stops = ["--force"], 0
    for delay in (0.1, None):
        run = subprocess.Popen([SMALL, "pack", "-t", "bytes", "--id", "id", "--max-rejects", "100%", "-o", "again",
                                *words, "r.json"], stderr=subprocess.PIPE, stdout=subprocess.PIPE)
        if delay:
            time.sleep(delay)
            run.send_signal(signal.SIGTERM)
        said = run.communicate()[1]
        assert run.returncode in (0, 5, -signal.SIGTERM), said  # the last one: before it could be caught
        if run.returncode == 0:
            break
        stops += 1
        words = ["--resume"] if os.path.exists("again.partial.leat") else ["--force"]
    same("again", "r")
    print(stops, "stops")


def check_damage():
    data = b' [{"text":"one"},\n {"text":"two","x":[1,{}]} ]'
    first, second = data.index(b","), data.index(b"]}") + 2
    for cut in range(4, len(data), 3):
        said = leat(LEAT, "-o", "d", "--format", "jsonl", "-", data=data[:cut], code=1)
        assert f"ends at byte {cut} in the middle of its JSON array" in said, said
        assert len(Dataset("d").tokens) == 4 * ((cut >= first) + (cut >= second)), cut
    for bad, byte, documents in ((data + b"x", len(data), 2), (data.replace(b"},", b"} "), 19, 1),
                                 (data.replace(b",\n", b",,"), 17, 1),
                                 (data.replace(b"[1,{}]", b"[1,{]}"), data.index(b"{}]") + 1, 1),
                                 (data[:-1] + b",]", len(data), 2)):
        said = leat(LEAT, "-o", "d", "--format", "jsonl", "-", data=bad, code=1)
        assert f"the JSON array is broken at byte {byte}: " in said, (bad, said)
        assert len(Dataset("d").tokens) == 4 * documents, bad
    long = b'[{"text":"one"},{"text":"' + b"a" * (1 << 20) + b'"]'  # in a record that is in a file by then
    said = leat(SMALL, "-o", "d", "--format", "jsonl", "-", data=long, code=1)
    assert f"the JSON array is broken at byte {len(long) - 1}: " in said and len(Dataset("d").tokens) == 4, said
    # lines that are arrays of something else stay lines, each of which is rejected
    leat(LEAT, "-o", "d", "--format", "jsonl", "-", data=b'[1]\n{"text":"one"}\n')
    assert len(Dataset("d").tokens) == 4


try:
    check_random()
    check_shares()
    check_damage()
    check_resume()
finally:
    shutil.rmtree(folder)
