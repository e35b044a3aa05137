#!/usr/bin/env python3
"""test_mask_arranged.py: masks through --part and merge, shuffling, deduplication, splits and --by: each document keeps
the mask that it was packed with, however long it is and however little memory there is; parts joined are the bytes of a
single run, and arranging while packing or while merging gives the same. A dataset without a mask beside one with gets
255, and the metadata count what is learned. Each text is unique or has copies with the same mask, so that a text says
its mask."""
import json
import os
import subprocess
import tempfile

from dataset import Dataset
from programs import LEAT, SMALL, rng

folder = tempfile.mkdtemp(dir=os.environ.get("LEAT_TEST_TMP"))
os.chdir(folder)


def run(program, *words, code=0):
    done = subprocess.run([program, *words], capture_output=True, text=True)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done.stderr


def pack(program, *words, tokens=("--begin", "1", "--end", "0")):
    run(program, "pack", "-t", "bytes", *tokens, "--mask-field", "loss", "--force", *words)


def read(name):
    with open(name + ".leat", "rb") as index, open(name + ".tokens", "rb") as tokens:
        return index.read(), tokens.read()


def check(names, count, fixed=1):
    """All documents of the datasets, with the masks of their texts."""
    have = []
    for name in names:
        d = Dataset(name)
        learned = json.loads(d.metadata()[b"leat.learned"])
        assert learned == {"tokens": sum(map(bool, d.sections["mask"])), "by_role": {}, "documents_without": sum(
            not any(d.sections["mask"][a:b]) for a, b in zip(d.starts, d.starts[1:]))}, (name, learned)
        for a, b in zip(d.starts, d.starts[1:]):
            text, mask = bytes(d.tokens[a + fixed:b - fixed]), d.sections["mask"][a:b]
            want = masks[text]
            assert mask == (want[:1] or b"\xff") * fixed + want + (want[-1:] or b"\xff") * fixed, (names, text[:50])
            have.append(text)
    assert len(have) == count, (names, len(have), count)
    assert sorted(have) == sorted(texts) or set(have) == set(texts) and count == len(set(texts)), names
    for name in names:
        run(LEAT, "verify", name)


masks, texts, records = {}, [], []
for number in range(400):
    text = f"{number}:" + "wä" * (rng.randrange(40) if rng.random() < 0.97 else rng.randrange(9000))
    if number in (7, 8):
        text = "" if number == 7 else "z" * 150000  # longer than what is written at once
    cuts = sorted(rng.sample(range(len(text) + 1), 2 * rng.randrange(1 + min(len(text), 40) // 2)))
    spans = list(zip(cuts[::2], cuts[1::2]))
    learned = bytearray(len(text))
    for a, b in spans:
        learned[a:b] = b"\1" * (b - a)
    masks[text.encode()] = b"".join(bytes([255 * k]) * len(c.encode()) for k, c in zip(learned, text))
    for _ in range(2 if number % 9 == 0 else 1):
        texts.append(text.encode())
        records.append(json.dumps({"text": text, "loss": spans, "lang": rng.choice(["a", "b"])}))
order = list(range(len(records)))
rng.shuffle(order)
all_texts = texts

for program in LEAT, SMALL:
    # the small one takes no records of more than 32 KiB
    taken = [i for i in order if program == LEAT or len(records[i]) < 30000]
    texts = [all_texts[i] for i in taken]
    many, few = len(texts), len(set(texts))
    with open("in.jsonl", "w") as f:
        f.write("".join(records[i] + "\n" for i in taken))
    pack(program, "-o", "whole", "in.jsonl")
    check(["whole"], many)
    # parts
    for i in range(1, 4):
        pack(program, "-o", f"p{i}", "--part", f"{i}/3", "in.jsonl")
    run(program, "merge", "--force", "-o", "joined", "p1", "p2", "p3")
    assert read("joined") == read("whole")
    # arranged, in one run or of parts
    for words, names, count in ((["--shuffle", "7"], [""], many), (["--dedup"], [""], few),
                                (["--split", "valid=0.2"], [".valid", ""], many),
                                (["--shuffle", "3", "--dedup", "--split", "t=0.1,v=0.3"], [".t", ".v", ""], few)):
        for memory in ([], ["--memory", "64KiB"]):
            pack(program, "-o", "out", *words, "in.jsonl")
            check(["out" + n for n in names], count)
            run(program, "merge", "--force", *words, *memory, "-o", "merged", "p1", "p2", "p3")
            assert [read("merged" + n) for n in names] == [read("out" + n) for n in names], (program, words, memory)
    # by values, with shuffling
    pack(program, "-o", "by", "--by", "lang", "--shuffle", "5", "in.jsonl")
    check(["by.a", "by.b"], many)
    # without begin and end token, and of width 4
    pack(program, "-o", "bare", "--shuffle", "7", "in.jsonl", tokens=["--end", "none"])
    check(["bare"], many, fixed=0)

pack(LEAT, "-o", "whole", "in.jsonl")

# a dataset without a mask beside one with: all of its tokens are learned
with open("plain.jsonl", "w") as f:
    f.write('{"text": "all of it"}\n')
run(LEAT, "pack", "-t", "bytes", "--begin", "1", "--end", "0", "-o", "plain", "plain.jsonl")
for both in (["plain", "whole"], ["whole", "plain"]):
    run(LEAT, "merge", "--force", "-o", "mixed", *both)
    masks[b"all of it"] = b"\xff" * 9
    texts.append(b"all of it")
    check(["mixed"], many + 1)
    texts.pop()

# a run in many parts, which are split as they are packed, and deduplicated as they are merged
run(LEAT, "pack", "-t", "bytes", "--begin", "1", "--end", "0", "--mask-field", "loss", "--run", "split", "--parts", "2",
    "--split", "valid=0.2", "in.jsonl")
for part in "1", "2":
    run(LEAT, "pack", "--run", "split", "--part", part)
run(LEAT, "merge", "-o", "run", "split", "--dedup")
run(LEAT, "merge", "-o", "run.valid", "split/valid", "--dedup")
check(["run", "run.valid"], few)
pack(LEAT, "-o", "out", "--dedup", "--split", "valid=0.2", "in.jsonl")
assert [read("run"), read("run.valid")] == [read("out"), read("out.valid")]

# runs in a folder, joined or arranged as they are merged, also in blocks of a few tokens
for program in LEAT, SMALL:
    name = "small" if program == SMALL else "large"
    run(program, "pack", "-t", "bytes", "--begin", "1", "--end", "0", "--mask-field", "loss", "--run", name, "--parts",
        "3", "in.jsonl")
    for part in "1", "2", "3":
        run(program, "pack", "--run", name, "--part", part)
    for number, way in enumerate((["--shuffle", "4"], ["--shuffle", "9", "--dedup"], [])):
        run(program, "merge", *way, "-o", f"{name}{number}", name)
        pack(program, "-o", "out", *way, "in.jsonl")
        assert read(f"{name}{number}") == read("out"), (name, way)
        check(["out"], few if "--dedup" in way else many)
