#!/usr/bin/env python3
"""test_columns_arranged.py: columns through merging, splits, shuffling and deduplication, for any threads, little
memory and small buffers: whatever the order of the documents, each has the values that its record had, and its tokens
those that were attached to them. The id of a document says its record. The texts of a category, which the parts number
each in its own way, are numbered in the order in which they come up. What does not fit together is an error, and leaves
nothing."""
import json
import os
import struct
import subprocess
import tempfile

from dataset import Dataset
from programs import LEAT, SMALL, rng

folder = tempfile.mkdtemp(dir=os.environ.get("LEAT_TEST_TMP"))
os.chdir(folder)
COLUMNS = {"score": "f32", "all": "i64x3", "lang": "category", "tokens": "u32x4", "flag": "u8"}


def run(program, *words, code=0):
    done = subprocess.run([program, *words], capture_output=True, text=True)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done.stderr


def language(i):
    return ["en", "de", "", "été", "水"][i * 7 % 5] if i % 11 else f"of {i}"


def document_values(i):
    return {"score": struct.pack("<f", i / 4), "all": struct.pack("<3q", -i, 2**40 + i, i * i)}


def token_values(i, count):
    return {"tokens": b"".join(struct.pack("<4I", i, k, 4 * k, 2**32 - 1 - k) for k in range(count)),
            "flag": bytes((i + k) % 251 for k in range(count))}


def write_npy(name, dtype, shape, data):
    head = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(name, "wb") as f:
        f.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + data)


def pack(name, records):
    """Packs records, with their columns, and attaches those of their tokens."""
    with open("in.jsonl", "w") as f:
        f.write("".join(json.dumps({"id": str(i), "text": text, "score": i / 4, "all": [-i, 2**40 + i, i * i],
                                    "lang": language(i)}) + "\n" for i, text in records))
    words = [w for c in ("score:f32", "all:i64x3", "lang:category") for w in ("--column", c + ":document")]
    run(LEAT, "pack", "-t", "bytes", "--begin", "1", "--end", "0", "--force", "-o", name, "--id", "id", *words,
        "in.jsonl")
    made = [token_values(i, len(text) + 2) for i, text in records]
    count = sum(len(text) + 2 for _, text in records)
    for column, dtype, shape in ("tokens", "<u4", (count, 4)), ("flag", "|u1", (count,)):
        write_npy("values.npy", dtype, shape, b"".join(m[column] for m in made))
        run(LEAT, "attach", name, "--column", f"{column}:{COLUMNS[column]}", "values.npy")


def check(names, records):
    """Compares the columns of all datasets with those of the records that they must have together."""
    have = []
    for name in names:
        d = Dataset(name)
        ids = [int(document[4]) for document in d.documents()]
        values = [{**document_values(i), **token_values(i, b - a)} for i, a, b in zip(ids, d.starts, d.starts[1:])]
        texts = list(dict.fromkeys(map(language, ids)))
        for i, v in zip(ids, values):
            v["lang"] = struct.pack("<H", texts.index(language(i)))
        for column in COLUMNS:
            with open(f"{name}.{column}.column", "rb") as f:
                assert f.read() == b"".join(v[column] for v in values), (name, column)
        with open(f"{name}.lang.column-index", "rb") as f:
            index = f.read()
        ends = [len("".join(texts[:i + 1]).encode()) for i in range(len(texts))]
        assert index.endswith(struct.pack(f"<{len(ends)}I", *ends) + "".join(texts).encode()), name
        assert struct.unpack_from("<Q", index, 80) == (len(texts),), name
        assert "nothing is wrong" in subprocess.run([LEAT, "verify", name], capture_output=True, text=True).stdout
        have += [(i, bytes(d.tokens[a + 1:b - 1]).decode()) for i, a, b in zip(ids, d.starts, d.starts[1:])]
    assert sorted(have) == sorted(records), names
    assert not [n for n in os.listdir() if ".partial" in n]


def files(names):
    """The bytes of all files of the datasets, in memory."""
    out = {}
    for name in names:
        for suffix in [".tokens", ".leat"] + [f".{c}.{s}" for c in COLUMNS for s in ("column", "column-index")]:
            with open(name + suffix, "rb") as f:
                out[name[name.find("."):] + suffix if "." in name else suffix] = f.read()
    return out


records = [(i, f"{i}:" + "w" * (rng.randrange(40) if rng.random() < 0.97 else rng.randrange(3000)))
           for i in range(1, 701)]
records[7] = (8, "")
records[300] = (301, "z" * 30000)
for copy in range(20, 700, 30):
    records[copy] = (copy + 1, records[copy // 3][1])
parts = [records[:90], records[90:91], records[91:400], [], records[400:]]
names = [f"p{k}" for k in range(len(parts))]
for name, part in zip(names, parts):
    pack(name, part)
first = {}
for i, text in records:
    first.setdefault(text, (i, text))
few = list(first.values())
WAYS = [([], [""], records), (["--split", "v=0.2,t=0.1"], [".v", ".t", ""], records),
        (["--shuffle", "7"], [""], records), (["--dedup"], [""], few),
        (["--shuffle", "3", "--dedup", "--split", "v=0.3"], [".v", ""], few)]
for words, ends, want in WAYS:
    expected = None
    for program in LEAT, SMALL:
        for more in [], ["--memory", "64KiB", "--threads", "3"]:
            run(program, "merge", "--force", *words, *more, "-o", "out", *names)
            check(["out" + end for end in ends], want)
            made = files(["out" + end for end in ends])
            expected = expected or made
            assert made == expected, (program, words, more)
            for end in ends:
                for suffix in [".tokens", ".leat"] + [f".{c}.{s}" for c in COLUMNS for s in ("column", "column-index")]:
                    os.unlink(f"out{end}{suffix}")

# packed in that way at once, and in parts; the columns of tokens are attached afterwards
pack("whole", records)
os.rename("in.jsonl", "whole.jsonl")
for column in "tokens", "flag":
    for suffix in "column", "column-index":
        os.unlink(f"whole.{column}.{suffix}")
made_by = [w for c in ("score:f32", "all:i64x3", "lang:category") for w in ("--column", c + ":document")]
made_by += ["-t", "bytes", "--begin", "1", "--end", "0", "--force", "--id", "id", "whole.jsonl"]
DOCUMENTS = [".tokens"] + [f".{c}.{s}" for c in ("score", "all", "lang") for s in ("column", "column-index")]


def same(a, b, suffixes):
    for suffix in suffixes:
        with open(a + suffix, "rb") as x, open(b + suffix, "rb") as y:
            assert x.read() == y.read(), (a, b, suffix)


for words, ends, _ in WAYS[1:]:
    run(LEAT, "merge", "--force", *words, "-o", "merged", "whole")
    for program in LEAT, SMALL:
        run(program, "pack", *words, "-o", "packed", *made_by)
        for end in ends:  # an index of a column names its dataset, and one of an arranged dataset has a time
            same(f"packed{end}", f"merged{end}", [s for s in DOCUMENTS if not s.endswith("index")])
            run(LEAT, "verify", f"packed{end}")
    for name in [n for n in os.listdir() if n.startswith(("packed.", "merged."))]:
        os.unlink(name)
for k in 1, 2, 3:
    run(LEAT, "pack", "--part", f"{k}/3", "-o", f"share{k}", *made_by)
run(LEAT, "merge", "-o", "merged", "share1", "share2", "share3")
same("merged", "whole", [s for s in DOCUMENTS if not s.endswith("index")])

# a part of a list that was merged before, and a list
run(LEAT, "merge", "-o", "q", "p0", "p1")
with open("list", "w") as f:
    f.write("p2\np3\np4\n")
run(LEAT, "merge", "-o", "out", "q", "@list")
check(["out"], records)

# it is replaced by what is made of it
run(LEAT, "merge", "--force", "--shuffle", "4", "-o", "q", "q")
check(["q"], parts[0] + parts[1])


def refuse(sentence, *given, code):
    before = sorted(os.listdir())
    said = run(LEAT, "merge", "-o", "refused", *given, code=code)
    assert sentence in said and sorted(os.listdir()) == before, said


# what does not fit together
pack("r", records[:5])
write_npy("values.npy", "<f4", (5,), bytes(20))
run(LEAT, "attach", "r", "--column", "more:f32:document", "values.npy")
refuse("p0 has no column more, which r has: attach it, or, to go on without it, move r.more.column and "
       "r.more.column-index away first", "p0", "r", code=1)
refuse("p0 has no column more, which r has", "r", "p0", code=1)
for suffix in "column", "column-index":
    os.unlink(f"r.more.{suffix}")
run(LEAT, "attach", "r", "--force", "--column", "score:f16:document", "values.npy")
refuse("column score is f32x1 per document in p0.score.column-index, but f16x1 per document in r.score.column-index",
       "p0", "r", code=1)
run(LEAT, "attach", "r", "--force", "--column", "score:f32:document", "values.npy")
with open("r.score.column", "r+b") as f:
    f.write(b"\1")
refuse("r.score.column: page 0 is damaged", "p0", "r", code=3)

# a category may have 65,536 texts in all parts together, and no more
for k, begin, end in (0, 0, 40000), (1, 39000, 65536), (2, 65536, 65537):
    with open("in.jsonl", "w") as f:
        f.write("".join(f'{{"text":"","a":"{i}"}}\n' for i in range(begin, end)))
    run(LEAT, "pack", "-t", "bytes", "-o", f"many{k}", "--column", "a:category:document", "in.jsonl")
run(LEAT, "merge", "-o", "many", "many0", "many1")
with open("many.a.column-index", "rb") as f:
    assert f.read().endswith("".join(map(str, range(65536))).encode())
refuse("the datasets have more than 65536 texts", "many0", "many1", "many2", code=1)
