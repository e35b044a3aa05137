#!/usr/bin/env python3
"""test_rejects_alike.py: texts that a tokenizer refuses, that are malformed, or both, short and long: the same
documents, reasons and samples of rejects, whether a text goes to ids whole or in chunks (as in the command with small
buffers), as a line, an element of an array, or a file; and so for lines that are no JSON.
"""
import gzip
import json
import os
import subprocess
import tempfile

from programs import LEAT, SMALL, rng

folder = tempfile.mkdtemp(dir=os.environ.get("LEAT_TEST_TMP"))
os.chdir(folder)

# "b" has no token, and nothing stands for it
WORDS = {"type": "WordLevel", "vocab": {"a": 0, "\ufffd": 1, "c": 2}, "unk_token": "<unk>"}
with open("words.json", "w") as f:
    json.dump({"pre_tokenizer": {"type": "Whitespace"}, "model": WORDS}, f)


def text():
    """Bytes, of which some are malformed."""
    words = [b"a"] * rng.choice([1, 10, 3000, 6000, 20000])
    for bad in (b"b", b"\xff", "\u00e9".encode()[:1], b"\xff \xff" * 20):
        if rng.random() < 0.25:
            words.insert(rng.choice([0, 1, len(words) // 2, len(words)]), bad)
    return b" ".join(words)


def run(program, threads, memory, options, names):
    return subprocess.run([program, "pack", "-t", "words.json", "--end", "none", "-o", "out", "--force", "--progress",
                           "never", "--max-rejects", "100%", "--threads", threads, "--memory", memory, *options,
                           *names], capture_output=True)


def pack(program, threads, memory, options, names):
    """With memory "least", what each refusal asks for: it counts what the process already takes, which differs by a
    little from run to run. With so little, the command with small buffers reads long lines twice, from the file."""
    done = run(program, threads, "1" if memory == "least" else memory, options, names)
    while memory == "least" and b"allow at least " in done.stderr:
        done = run(program, threads, done.stderr.decode().split("allow at least ")[1].split(" ")[0] + "MiB", options,
                   names)
    assert done.returncode == 0, (program, names, done.stderr)
    found = {}
    for suffix in (".tokens", ".rejects.jsonl"):
        path = "out" + suffix
        found[suffix] = open(path, "rb").read() if os.path.exists(path) else None
    return found


def check(names, rejected):
    for options in ([], ["--invalid-utf8", "reject"], ["--allow-binary"]):
        first = pack(LEAT, "1", "1GiB", options, names)
        assert first[".rejects.jsonl"], "nothing was rejected"
        rejected.update(json.loads(line)["reason"].partition(" at ")[0] for line in
                        first[".rejects.jsonl"].splitlines())
        for program, threads, memory in ((SMALL, "1", "1GiB"), (SMALL, "3", "1GiB"), (SMALL, "3", "least"),
                                         (LEAT, "8", "80MiB")):
            other = pack(program, threads, memory, options, names)
            same = [suffix for suffix in first if other[suffix] == first[suffix]]
            assert len(same) == len(first), (names, options, program, threads, memory, "only these are the same", same)


texts, rejected = [text() for _ in range(120)], set()
lines = b"".join(b'{"id":%d,"text":"%s"}\n' % (i, t) for i, t in enumerate(texts))
cut = b"".join((b'{"id":%d,"text":"%s"}' % (i, t))[:-rng.choice([1, 2, 3, 5000])] + rng.choice([b"\n", b"\r\n", b" \n"])
               for i, t in enumerate(texts))
for name, content in ("lines", lines), ("cut", cut):
    with open(name + ".jsonl", "wb") as f, gzip.open(name + ".jsonl.gz", "wb") as g:
        f.write(content)
        g.write(content)
with open("array.json", "wb") as f:
    f.write(b"[" + b",".join(b'{"text":"%s"}' % t for t in texts) + b"]")
os.mkdir("files")
for i, t in enumerate(texts):
    with open(f"files/{i:03}.txt", "wb") as f:
        f.write(t)
for names in (["lines.jsonl"], ["lines.jsonl.gz"], ["cut.jsonl"], ["cut.jsonl.gz"], ["array.json"], ["files"]):
    check(names, rejected)
assert len(rejected) >= 3, rejected
