#!/usr/bin/env python3
"""test_mask_field.py: --mask-field against Python: random texts with random stretches, of which the bytes' tokenizer
shows each byte, as lines and as an array, longer than a unit, for any threads and small buffers; records that say it
wrongly are rejected, with the reason, and so are records too long for it, texts that are not traced among some that
are, and inputs that have no fields."""
import json
import os
import subprocess
import sys
import tempfile

from dataset import Dataset
from programs import LEAT, SMALL, rng

NFC = os.path.abspath("tests/tokenizer/vectors/nfc.json")
folder = tempfile.mkdtemp(dir=os.environ.get("LEAT_TEST_TMP"))
os.chdir(folder)


def leat(*words, program=LEAT, code=0, tokenizer="bytes"):
    done = subprocess.run([program, "pack", "-t", tokenizer, "--end", "0", "--max-rejects", "100%", "--force", *words],
                          capture_output=True, text=True)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done.stdout if code == 0 else done.stderr


def made():
    """A text, its spans, and the mask that they are, with that of the end token."""
    text = "".join(rng.choices(["water ", "été", "水車", "\n", "🌊", "\"", "\\", "x" * 300], k=rng.randrange(30)))
    cuts = sorted(rng.choices(range(len(text) + 1), k=2 * rng.randrange(1 + len(text) // 2)))  # some are empty
    spans = list(zip(cuts[::2], cuts[1::2]))
    learned = [any(a <= n < b for a, b in spans) for n in range(len(text))]
    mask = b"".join(bytes([255 * known]) * len(c.encode()) for known, c in zip(learned, text))
    return text, spans, mask + (mask[-1:] or b"\xff")


def masks(name):
    d = Dataset(name)
    return [d.sections["mask"][a:b] for a, b in zip(d.starts, d.starts[1:])]


documents = [made() for _ in range(200)] + [("y" * 20000 + "é", [(0, 1), (19999, 20001)],
                                             b"\xff" + bytes(19998) + b"\xff\xff\xff\xff")]
rng.shuffle(documents)
records = [json.dumps({"meta": {"loss": spans}, "text": text, "loss": 7}, ensure_ascii=rng.random() < 0.5,
                      indent=rng.choice([None, 1])).replace("\n", "") for text, spans, _ in documents]
with open("lines.jsonl", "w") as f:
    f.write("\n".join(records) + "\n")
with open("array.json", "w") as f:
    f.write("[\n" + ",\n".join(records) + "]\n")
want = [mask for _, _, mask in documents]
for program in LEAT, SMALL:
    for threads in "1", "3":
        for name in "lines.jsonl", "array.json":
            leat("-o", "out", "--mask-field", "meta.loss", "--threads", threads, name, program=program)
            assert masks("out") == want, (program, threads, name)
            assert Dataset("out").metadata()[b"leat.mask"] == b"meta.loss"

# what is wrong with a record, and the reason
WRONG = [('{"text":"a"}', 'the record has no "loss" that says what is learned'),
         *((f'{{"text":"abc","loss":{value}}}', "is not a list of [begin, end] places in the text")
           for value in ("7", "null", '"a"', "{}", "[1]", "[[0]]", "[[0,1,2]]", "[[2,1]]",
                         "[[2,2],[1,3]]", "[[0,2],[1,1]]", "[[0,2],[1,3]]",
                         "[[0,1.5]]", "[[0,1e0]]", "[[-1,2]]", "[[0,99999999999999999999]]", '[["0",1]]',
                         "[[0,true]]")),
         ('{"text":"abc","loss":[[0,4]]}', "a span of the mask ends at 4, after the text, which has 3 characters"),
         ('{"text":"abc","loss":[[4,4]]}', "a span of the mask ends at 4, after the text, which has 3 characters"),
         ('{"text":"","loss":[[0,1]]}', "after the text, which has 0 characters"),
         ('{"text":"a","loss":[[0,2]]}', "after the text, which has 1 character\n")]
for record, reason in WRONG:
    with open("wrong.jsonl", "w") as f:
        f.write(record + '\n{"text":"abc","loss":[ [ 0 , 1 ] , [1,2]]}\n')
    leat("-o", "wrong", "--mask-field", "loss", "wrong.jsonl")
    assert masks("wrong") == [b"\xff\xff\0\0"], record
    with open("wrong.rejects.jsonl") as f:
        assert reason in json.loads(f.readline())["reason"] + "\n", record
with open("wrong.jsonl", "wb") as f:
    f.write(b'{"text":"a\xff","loss":[[0,1]]}\n')
leat("-o", "wrong", "--mask-field", "loss", "wrong.jsonl")
with open("wrong.rejects.jsonl") as f:
    assert "is not valid UTF-8" in f.read()

# some texts' tokens cannot be traced: the others are what they are without these, which are encoded with them
traced = [rng.random() < 0.5 for _ in range(600)]
lines = [json.dumps({"text": ("\u00e9" if good else "e\u0301") + f" number {n}", "loss": [[0, 1 + n % 5]]})
         for n, good in enumerate(traced)]
for name, some in ("mixed", lines), ("traced", [line for line, good in zip(lines, traced) if good]):
    with open(name + ".jsonl", "w") as f:
        f.write("\n".join(some))
for program in LEAT, SMALL:
    for name in "mixed", "traced":
        leat("-o", name, "--mask-field", "loss", name + ".jsonl", program=program, tokenizer=NFC)
    assert masks("mixed") == masks("traced")
    with open("mixed.tokens", "rb") as f, open("traced.tokens", "rb") as g:
        assert f.read() == g.read()
    with open("mixed.rejects.jsonl") as f:
        rejects = [json.loads(line) for line in f]
    assert [r["line"] for r in rejects] == [n + 1 for n, good in enumerate(traced) if not good]
    assert all("cannot be traced" in r["reason"] for r in rejects)
    # what is rejected, though its first tokens would have fit, is not counted as cut: it was
    report = json.loads(leat("-o", "cut", "--mask-field", "loss", "--max-length", "4", "--too-long", "cut", "--json",
                             "mixed.jsonl", program=program, tokenizer=NFC))
    assert report["too_long"] == report["documents"] == sum(traced), report

# a record too long for it is rejected whatever its kind, and a long line of blanks is no record
long = '{"loss":[[0,1]],"text":"' + "z" * 33000 + '"}'
for name, text in ("long.jsonl", " " * 40000 + "\n" + long + '\n{"text":"q","loss":[]}'), ("long.json", f"[{long}]"):
    with open(name, "w") as f:
        f.write(text)
    leat("-o", "long", "--mask-field", "loss", name, program=SMALL)
    assert masks("long") == ([b"\0\0"] if name == "long.jsonl" else [])
    with open("long.rejects.jsonl") as f:
        assert [("too long" in json.loads(line)["reason"]) for line in f] == [True]

# only JSON records have fields
with open("plain.txt", "w") as f:
    f.write("text")
assert "plain.txt has no fields for masks: it is" in leat("-o", "plain", "--mask-field", "loss", "plain.txt", code=2)
# another run may not go on with this one
leat("-o", "out", "--mask-field", "meta.loss", "lines.jsonl")
for words, code in (["--mask-field", "meta.loss"], 0), (["--mask-field", "loss"], 1), ([], 1):
    subprocess.run([LEAT, "pack", "-t", "bytes", "--end", "0", "--max-rejects", "100%", "--resume", "-o", "out", *words,
                    "lines.jsonl"], capture_output=True).returncode == code or sys.exit(f"resuming with {words}")
