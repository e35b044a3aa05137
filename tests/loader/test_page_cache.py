#!/usr/bin/env python3
"""test_page_cache.py: what is read once does not stay in the page cache: opening a dataset brings a few pages of its
tokens, and reading it past the page cache, in order or shuffled, no more; in a memory control group (version 1 or 2),
what the group holds of files stays small, too. Batches are the same as without a group, and where the kernel refuses
all advice. Inputs of `leat pack` that do not fit into the group, plain, compressed or Parquet, leave the page cache
when they have been read; those that somebody has in memory stay. `--page-cache` limits that without a group, and what
the tokens leave there.

Seen before: opening looked at the first and the last page through the map, for which the kernel read 8 MiB ahead
where the disk's setting says so, and reading in order went on with that: 88 MiB of 96 were tokens that nobody needed
again."""
import ctypes
import gzip
import hashlib
import json
import mmap
import os
import pathlib
import shutil
import struct
import subprocess
import sys

build = pathlib.Path(os.environ.get("LEAT_BUILD", "build")).resolve()
folder = pathlib.Path(os.environ.get("LEAT_TEST_DISK", "/var/tmp")) / "page_cache"
leat, bench, dev = build / "leat", build / "leat-bench", build / "leat-bench-dev"
no_advice = build / "refuse_calls", "EPERM", "fadvise64"
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


def load(engine, order, group=None, refused=()):
    evict()
    words = ["--seq-len", "2048", "--batch", "16", "--steps", "480", "--order", order, "--engine", engine]
    told = json.loads(run(*refused, bench, "load", "--source", "counting", "--json", "--checksum", *words, group=group))
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
can_refuse = subprocess.run([*no_advice, "true"]).returncode == 0
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
            if can_refuse and engine == "advise":
                again, used, pages = load(engine, order, group, no_advice)
                check(("without advice", order), again == wanted and pages > 4096, again, wanted, pages)


def varint(n):
    return bytes([n & 127 | 128]) + varint(n >> 7) if n > 127 else bytes([n])


def thrift(value):
    """The kind and the bytes of a value in thrift's compact protocol: a dict is a struct, by the numbers of fields."""
    if isinstance(value, int):
        return 6, varint(value << 1)
    if isinstance(value, bytes):
        return 8, varint(len(value)) + value
    if isinstance(value, list):
        items = [thrift(v) for v in value]
        return 9, bytes([15 << 4 | items[0][0]]) + varint(len(items)) + b"".join(data for _, data in items)
    out, last = b"", 0
    for at, (kind, data) in ((at, thrift(v)) for at, v in value.items()):
        out, last = out + bytes([at - last << 4 | kind]) + data, at
    return 12, out + b"\0"


def write_parquet(path, texts, per_group):
    """A column "text" of required strings, plain, one page in each row group; numbers are those of parquet.thrift."""
    out, groups = bytearray(b"PAR1"), []
    for first in range(0, len(texts), per_group):
        some, at = texts[first:first + per_group], len(out)
        data = b"".join(struct.pack("<I", len(text)) + text for text in some)
        out += thrift({1: 0, 2: len(data), 3: len(data), 5: {1: len(some), 2: 0, 3: 3, 4: 3}})[1] + data
        of = {1: 6, 2: [0], 3: [b"text"], 4: 0, 5: len(some), 6: len(out) - at, 7: len(out) - at, 9: at}
        groups.append({1: [{2: at, 3: of}], 2: len(out) - at, 3: len(some)})
    schema = [{4: b"schema", 5: 1}, {1: 6, 3: 0, 4: b"text", 6: 0}]
    end = thrift({1: 1, 2: schema, 3: len(texts), 4: groups})[1]
    path.write_bytes(out + end + struct.pack("<I", len(end)) + b"PAR1")


def pack(name, refused=(), more=(), group=None):
    run(*refused, leat, "pack", "-o", "packed", "--force", "-t", "bytes", "--end", "none", "--memory", "64MiB",
        "--threads", "2", *more, name, group=group)
    return resident(folder / name)


def packed():
    return [hashlib.sha256((folder / name).read_bytes()).digest() for name in ("packed.tokens", "packed.leat")]


texts = [(b"%d " % i * 2000)[:2000] for i in range(48000)]
lines = b"".join(b'{"text": "%s"}\n' % text for text in texts)
(folder / "plain.jsonl").write_bytes(lines)
write_parquet(folder / "rows.parquet", texts, 1000)
pack("plain.jsonl", more=("--write", "direct"))
can_direct = resident(folder / "packed.tokens") <= 1024
for name in "plain.jsonl", "rows.parquet":
    evict()
    pages, tokens_of = pack(name), packed()
    check(("packed, there is room", name), pages > 16384, pages)
    evict()
    pages = pack(name, more=("--page-cache", "8MiB"))
    tokens_left = resident(folder / "packed.tokens")
    check(("a limit of --page-cache", name), pages <= 4096 and (tokens_left <= 4096 or not can_direct), pages,
          tokens_left)
    check(("the same bytes", name), packed() == tokens_of)
if group:
    for limit in "memory.limit_in_bytes", "memory.max":
        if (group / limit).exists():
            (group / limit).write_text(str(112 << 20))
    (folder / "stream.jsonl.gz").write_bytes(gzip.compress(lines, 0))
    for name in "plain.jsonl", "stream.jsonl.gz", "rows.parquet":
        evict()
        check(("packed", name), (pages := pack(name, group=group)) <= 2048, pages)
    wanted = packed()
    if can_refuse:
        evict()
        pages = pack("rows.parquet", no_advice, group=group)
        check("packed without advice", packed() == wanted and pages > 4096, pages)
    (folder / "plain.jsonl").read_bytes()
    check("packed, in memory", (pages := pack("plain.jsonl", group=group)) > 4096, pages)
    group.rmdir()
else:
    print("without a memory control group, which only root can make")
shutil.rmtree(folder)
sys.exit(1 if failures else 0)
