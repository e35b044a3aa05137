#!/usr/bin/env python3
"""test_run_damage.py: damage that is found while parts are joined. leat merge compares every page that it reads with
its hash, with --shuffle, --dedup and --split, too: code 3, a message with the page and the part, and no
dataset. It once gave damaged tokens hashes that were right."""
import os
import pathlib
import random
import shutil
import subprocess
import tempfile

os.environ.setdefault("LEAT_TEST_SEED", str(random.randrange(10**6)))  # each run tries others
from programs import LEAT, rng  # noqa: E402

PARTS = 3
fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else os.environ.get("LEAT_TEST_TMP")
folder = pathlib.Path(tempfile.mkdtemp(dir=fast)).resolve()
os.chdir(folder)


def leat(*words):
    return subprocess.run([LEAT, *map(str, words)], capture_output=True, text=True, check=False)


def done(*words):
    ran = leat(*words)
    assert ran.returncode == 0, (words, ran.stderr)


def write_texts(name, count, distinct, length):
    with open(name, "w", encoding="utf-8") as out:
        for _ in range(count):
            out.write('{"text":"text %s%d"}\n' % ("x" * rng.randrange(length), rng.randrange(distinct)))


def change(path, at):
    damaged = bytearray(path.read_bytes())
    damaged[at] ^= 0x10
    path.write_bytes(damaged)


def same(one, other):
    return all(pathlib.Path(one + s).read_bytes() == pathlib.Path(other + s).read_bytes() for s in (".tokens", ".leat"))


def check_merges():
    write_texts("long.jsonl", 600, 300, 400)
    done("pack", "-o", "whole", "-t", "bytes", "long.jsonl")
    done("pack", "--run", "merged", "--parts", PARTS, "-t", "bytes", "long.jsonl")
    for part in range(1, PARTS + 1):
        done("pack", "--run", "merged", "--part", part)
    tokens = folder / "merged/part-2.tokens"
    pages = (tokens.stat().st_size + 4095) // 4096
    assert pages > 10, pages
    for options in ([], ["--shuffle", "3"], ["--dedup"], ["--dedup", "--shuffle", "3"], ["--split", "a=0.3"]):
        for page in (0, 1, rng.randrange(2, pages - 1), pages - 2, pages - 1):
            change(tokens, page * 4096 + 7)
            ran = leat("merge", "-o", "made", *options, *(f"merged/part-{part}" for part in range(1, PARTS + 1)))
            change(tokens, page * 4096 + 7)
            ends = page in (0, pages - 1)  # which opening looks at
            wanted = "first or last page of" if ends else f"page {page} of"
            assert ran.returncode == 3 and wanted in ran.stderr and "merged/part-2.tokens" in ran.stderr, \
                (options, page, ran.returncode, ran.stderr)
            left = list(folder.glob("made*"))
            assert not left, left
    done("merge", "-o", "made", "merged")
    assert same("made", "whole")


check_merges()
shutil.rmtree(folder)
