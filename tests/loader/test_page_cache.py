#!/usr/bin/env python3
"""test_page_cache.py: what is read once does not stay in the page cache: opening a dataset brings a few pages of its
tokens, and reading it past the page cache, in order or shuffled, no more.

Seen before: opening looked at the first and the last page through the map, for which the kernel read 8 MiB ahead
where the disk's setting says so, and reading in order went on with that: 88 MiB of 96 were tokens that nobody needed
again."""
import ctypes
import json
import mmap
import os
import pathlib
import shutil
import subprocess
import sys

build = pathlib.Path(os.environ.get("LEAT_BUILD", "build")).resolve()
folder = pathlib.Path(os.environ.get("LEAT_TEST_DISK", "/var/tmp")) / "page_cache"
leat, bench, dev = build / "leat", build / "leat-bench", build / "leat-bench-dev"
PAGE, TOKENS = mmap.PAGESIZE, 24 << 20
failures = 0
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mincore.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def check(what, fine, *seen):
    global failures
    if not fine:
        failures += 1
        print(f"{what}:", *seen, file=sys.stderr)


def skip(why):
    shutil.rmtree(folder, ignore_errors=True)
    print(f"skipped: {why}", file=sys.stderr)
    sys.exit(77)


def resident(path):
    """Pages of a file that are in memory."""
    size = os.path.getsize(path)
    fd = os.open(path, os.O_RDONLY)
    at, seen = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0), (ctypes.c_ubyte * -(-size // PAGE))()
    libc.mincore(at, size, seen)
    libc.munmap(at, size)
    os.close(fd)
    return sum(byte & 1 for byte in bytes(seen))


def evict():
    for path in folder.glob("*.*"):
        fd = os.open(path, os.O_RDONLY)
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)


def run(*words):
    r = subprocess.run(words, cwd=folder, capture_output=True)
    check(words, r.returncode == 0, r.stderr.decode()[-500:])
    return r.stdout


for program in leat, bench, dev:
    if not program.exists():
        skip(f"no {program}")
shutil.rmtree(folder, ignore_errors=True)
folder.mkdir(parents=True)
tokens = folder / "counting.tokens"
run(dev, "counting", "-o", "counting", "--tokens", str(TOKENS))
evict()
if resident(tokens) > 0:
    skip(f"{folder.parent} keeps its files in memory")
run(leat, "info", "counting")
check("opening", resident(tokens) <= 64, resident(tokens))
for order in "sequential", "shuffled":
    evict()
    told = json.loads(run(bench, "load", "--source", "counting", "--json", "--seq-len", "2048", "--batch", "16",
                          "--steps", "480", "--order", order, "--engine", "uring"))
    pages = resident(tokens)
    check(("past the page cache", order), told["engine"] != "uring" or pages <= 256, pages)
shutil.rmtree(folder)
sys.exit(1 if failures else 0)
