#!/usr/bin/env python3
"""test_page_cache.py: what is read once does not stay in the page cache: opening a dataset brings a few pages of its
tokens, and reading it past the page cache, in order or shuffled, no more; in a memory control group (version 1 or 2),
what the group holds of files stays small, too. Batches are the same as without a group. Inputs of `leat pack` that do
not fit into the group leave the page cache when they have been read; those that somebody has in memory stay.

Seen before: opening looked at the first and the last page through the map, for which the kernel read 8 MiB ahead
where the disk's setting says so, and reading in order went on with that: 88 MiB of 96 were tokens that nobody needed
again."""
import ctypes
import gzip
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
PAGE, TOKENS, ROOT = mmap.PAGESIZE, 24 << 20, pathlib.Path("/sys/fs/cgroup")
LIMIT = 64 << 20  # of the group: the dataset's 48 MiB are more than three quarters of what is left
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


def make_group():
    """A memory control group of our own, and the file with what it holds; nothing where that cannot be."""
    for parent, limit in ((ROOT / "memory", "memory.limit_in_bytes"), (ROOT, "memory.max")):
        group = parent / f"leat-test-{os.getpid()}"
        try:
            if (parent / "cgroup.procs").exists():
                group.mkdir()
                (group / limit).write_text(str(LIMIT))
                return group
        except OSError:
            pass
        if group.exists():
            group.rmdir()
    return None


def run(*words, group=None):
    def join():
        if group:
            (group / "cgroup.procs").write_text(str(os.getpid()))

    r = subprocess.run(words, cwd=folder, capture_output=True, preexec_fn=join)
    check(words, r.returncode == 0, r.stderr.decode()[-500:])
    return r.stdout


def held(group):
    numbers = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    return int(numbers.get("file", numbers.get("cache", 0)))


def load(engine, order, group=None):
    evict()
    words = ["--seq-len", "2048", "--batch", "16", "--steps", "480", "--order", order, "--engine", engine]
    told = json.loads(run(bench, "load", "--source", "counting", "--json", "--checksum", *words, group=group))
    return told["checksum"], told["engine"], resident(tokens)


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
group = make_group()
for order in "sequential", "shuffled":
    for engine in "uring", "advise":
        wanted, used, pages = load(engine, order)
        if engine == "uring" and used == "uring":
            check(("past the page cache", order), pages <= 256, pages)
        if group:
            again, used, pages = load(engine, order, group)
            check(("the same batches", order, engine), again == wanted, again, wanted)
            # rows of the slots were announced, the last ones are not dropped yet
            check(("in a group", order, engine), pages <= 2048 and held(group) <= 12 << 20, pages, held(group))


def pack(name):
    run(leat, "pack", "-o", "packed", "--force", "-t", "bytes", "--end", "none", "--memory", "64MiB", "--threads", "2",
        name, group=group)
    return resident(folder / name)


if group:
    lines = b"".join(b'{"text": "%s"}\n' % (b"%d " % i * 2000)[:2000] for i in range(48000))
    for limit in "memory.limit_in_bytes", "memory.max":
        if (group / limit).exists():
            (group / limit).write_text(str(112 << 20))
    (folder / "plain.jsonl").write_bytes(lines)
    (folder / "stream.jsonl.gz").write_bytes(gzip.compress(lines, 0))
    for name in "plain.jsonl", "stream.jsonl.gz":
        evict()
        check(("packed", name), (pages := pack(name)) <= 2048, pages)
    (folder / "plain.jsonl").read_bytes()
    check("packed, in memory", (pages := pack("plain.jsonl")) > 4096, pages)
    group.rmdir()
else:
    print("without a memory control group, which only root can make")
shutil.rmtree(folder)
sys.exit(1 if failures else 0)
