#!/usr/bin/env python3
"""check_json_arrays.py: random files that are one JSON array, or one object after another, in one line or laid out over
many, with records that are longer than a unit (of the build with small buffers), white space of any length or none, and
records that are no objects: the documents, ids, places and lines are those that Python's json module finds, plain,
compressed, from standard input, in shares, and resumed after a stop. What is damaged at any byte is packed up to there,
and the byte is named. What lies in lines is read as lines, though a line is broken.
"""
import glob
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [here, os.path.join(here, "..", "..", "examples")]
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


open("empty.json.gz", "wb").write(gzip.compress(b""))
GZIP = subprocess.run([SMALL, "pack", "-t", "bytes", "-o", "empty", "empty.json.gz"],
                      capture_output=True).returncode == 0


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


def make(count, long, array=True):
    """The bytes of an array, or of objects one after another, and the places of the records."""
    out, places, lines = bytearray(rng.choice([b"", b"\xef\xbb\xbf"])), [], 0

    def put(text):
        nonlocal lines
        out.extend(text.encode())
        lines += text.count("\n")

    put(space(9) + "[" * array)  # and a record that is an object: so it is an array of records
    for i in range(count):
        put(("," if i and array else "") + space(long if i or array else 9))
        places.append((len(out), lines))
        indent = rng.choice([None, None, 1]) if i or array else 1  # the first lines say that it is not lines
        put(json.dumps(record(long, i == 0), indent=indent, ensure_ascii=rng.random() < 0.5))
        put(space(long))
        if not array and out[-1:] not in b' \n\t\r"]}':
            put("\n")  # after a number or a word
    put("]" * array + space(long))
    return bytes(out), places


def values(data, array):
    """As Python finds them."""
    text = data.decode("utf-8-sig")
    if array:
        return json.loads(text)
    found, at = [], 0
    while text[at:at + 1].isspace() or at < len(text):
        if text[at].isspace():
            at += 1
            continue
        one, at = json.JSONDecoder().raw_decode(text, at)
        found.append(one)
    return found


def expected(data, places, array=True):
    tokens, rows = [], []
    all_of_them = values(data, array)
    assert len(all_of_them) == len(places), (len(all_of_them), len(places))
    for r, (offset, line) in zip(all_of_them, places):
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
    for count, array in ((0, True), (1, True), (5, True), (200, True), (1, False), (5, False), (200, False)):
        data, places = make(count, 20000, array)
        want = expected(data, places, array)
        open("a.json", "wb").write(data)
        open("b.json.gz", "wb").write(gzip.compress(data))
        leat(LEAT, "-o", "a", "a.json")
        check("a", want)
        leat(SMALL, "-o", "small", "--threads", "3", "a.json")
        same("small", "a")
        leat(SMALL, "-o", "in", "--format", "jsonl", "-", data=data)
        check("in", want)
        if GZIP:
            leat(SMALL, "-o", "z", "b.json.gz")
            check("z", want)


def check_shares():
    os.makedirs("in", exist_ok=True)
    for i in range(4):
        open(f"in/{i}.json", "wb").write(make(60, 3000, i % 2 == 0)[0])
        open(f"in/{i}.jsonl", "w").write("".join(json.dumps(record(100)) + "\n" for _ in range(60)))
    leat(SMALL, "-o", "whole", "in")
    for part in range(1, 4):
        leat(SMALL, "-o", f"part{part}", "--part", f"{part}/3", "in")
    subprocess.run([LEAT, "merge", "--force", "-o", "merged", "part1", "part2", "part3"], check=True,
                   capture_output=True)
    same("merged", "whole")


def check_resume(array):
    """Too many rejects stop a run where they are, in the middle of its input."""
    data, _ = make(600, 3000, array)
    open("r.json", "wb").write(data)
    open("r.json.gz", "wb").write(gzip.compress(data, 1))
    for name in ("r.json", "r.json.gz") if GZIP else ("r.json",):
        leat(SMALL, "-o", "r", name)
        for left in glob.glob("again.*"):
            os.unlink(left)
        code, allowed, resume = 4, 5, []
        while code == 4:
            run = subprocess.run([SMALL, "pack", "-t", "bytes", "--id", "id", "--max-rejects", str(allowed), "-o",
                                  "again", *resume, name], capture_output=True)
            code, allowed, resume = run.returncode, 2 * allowed, ["--resume"]
            assert code in (0, 4), run.stderr
        assert allowed > 10, allowed
        same("again", "r")


def check_damage():
    data = b' [{"text":"one"},\n {"text":"two","x":[1,{}]} ]'
    first, second = data.index(b","), data.index(b"]}") + 2
    for cut in range(4, len(data), 3):
        said = leat(LEAT, "-o", "d", "--format", "jsonl", "-", data=data[:cut], code=1)
        assert f"-, at byte {cut}: it ends in the middle of its JSON array" in said, said
        assert len(Dataset("d").tokens) == 4 * ((cut >= first) + (cut >= second)), cut
    for bad, byte, documents in ((data + b"x", len(data), 2), (data.replace(b"},", b"} "), 19, 1),
                                 (data.replace(b",\n", b",,"), 17, 1),
                                 (data.replace(b"[1,{}]", b"[1,{]}"), data.index(b"{}]") + 1, 1),
                                 (data[:-1] + b",]", len(data), 2)):
        said = leat(LEAT, "-o", "d", "--format", "jsonl", "-", data=bad, code=1)
        assert f"-, at byte {byte}: its JSON array is broken: " in said, (bad, said)
        assert len(Dataset("d").tokens) == 4 * documents, bad
    long = b'[{"text":"one"},{"text":"' + b"a" * (1 << 20) + b'"]'  # in a record that is in a file by then
    said = leat(SMALL, "-o", "d", "--format", "jsonl", "-", data=long, code=1)
    assert f"-, at byte {len(long) - 1:,}: its JSON array is broken: " in said and len(Dataset("d").tokens) == 4, said
    # lines that are arrays of something else stay lines, each of which is rejected
    leat(LEAT, "-o", "d", "--format", "jsonl", "-", data=b'[1]\n{"text":"one"}\n')
    assert len(Dataset("d").tokens) == 4


def check_damaged_objects():
    data = b' {"text":\n"one"}{"text":"two","x":[1,{}]} \n'
    first, second = data.index(b"}") + 1, data.index(b"]}") + 2
    for cut in range(data.index(b"\n") + 2, len(data)):
        code = 0 if cut == first or cut >= second else 1
        said = leat(LEAT, "-o", "d", "--format", "jsonl", "-", data=data[:cut], code=code)
        begun = 1 if cut < first else first
        assert code == 0 or (f"-, at byte {cut}: it ends in the middle of its JSON, in the record that begins at byte "
                             f"{begun}") in said, said
        assert len(Dataset("d").tokens) == 4 * ((cut >= first) + (cut >= second)), cut
    for bad, byte, documents in ((data + b"]", len(data), 2), (data.replace(b"}{", b"},{"), first, 1),
                                 (data.replace(b"[1,{}]", b"[1,{]}"), data.index(b"{}]") + 1, 1)):
        said = leat(LEAT, "-o", "d", "--format", "jsonl", "-", data=bad, code=1)
        assert f"-, at byte {byte}: its JSON is broken: " in said, (bad, said)
        assert len(Dataset("d").tokens) == 4 * documents, bad
    # one whose brackets fit, and that is not JSON all the same, is rejected, and the next one is packed
    leat(LEAT, "-o", "d", "--format", "jsonl", "-", data=data.replace(b'"two",', b'"two" ') + b'{"text":"six"}\n5 nul')
    assert len(Dataset("d").tokens) == 8
    assert [json.loads(line)["offset"] for line in open("d.rejects.jsonl")] == [first, len(data) + 15, len(data) + 17]


def check_layouts():
    """Which files are lines and which are objects, by their first bytes; as (bytes, documents that are packed)."""
    one, long = b'{"text":"one"}', b'{"text":"' + b"a" * 5000 + b'"}'
    last = b'{"text":\n"one"}\n'  # a document only where objects may go over lines
    for data, documents in ((one + b"\n" + last, 1), (one + b"\r\n \n" + one + last, 1), (one + one, 2),
                            (last + one + b"\n" + one, 3), (one + one + b" \r\n\n", 2),
                            # two objects on a line of several are one reject, as any broken line
                            (one + one + b"\n" + one + b"\n", 1), (one + b"\n" + one + one + b"\n" + one, 2),
                            (b"\xef\xbb\xbf\n" + one + b"\t" + one, 2), (b"{\n}" + one, 1),
                            (long + one, 2), (long + b" \n" + last, 1), (long + last, 0),
                            (b"\n" * 5000 + last, 0), (b" " * 3000 + last, 1),
                            # 4096 first bytes that are lines, 256 KiB that are one line
                            (long.replace(b"a" * 5000, b"a" * 4080) + b"\n" + last, 1),
                            (long.replace(b"a" * 5000, b"a" * 300000) + one, 0),
                            (long.replace(b"a" * 5000, b"a" * 262000) + one, 2),
                            # lines of which the first is broken stay lines
                            (one[:-1] + b"\n" + one + b"\n" + last, 1), (one[:5] + b"\n" + one + b"\n" + last, 1),
                            (one + b" 5\n" + one + b"\n", 1), (one + b",\n" + one + b"\n", 1),
                            (one + b"\n{\n", 1), (one + b'\n{"text":\n', 1), (b'"a"\n' + last, 0),
                            (b"{]\n" + one + b"\n" + last, 1), (b"{\n{", 0)):
        for program in (LEAT, SMALL):
            open("l.json", "wb").write(data)
            leat(program, "-o", "l", "l.json")
            got = sum(int(t) == 256 for t in Dataset("l").tokens)
            assert got == documents, (program, data[:60], len(data), got, documents)


try:
    check_random()
    check_shares()
    check_damage()
    check_damaged_objects()
    check_layouts()
    check_resume(True)
    check_resume(False)
finally:
    shutil.rmtree(folder)
