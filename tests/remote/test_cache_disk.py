#!/usr/bin/env python3
"""test_cache_disk.py: the cache and its disk: full, with and without something to evict; one that cannot make the copy
durable, where filling comes to an end with a reason. And what holds it: nothing after a loader is closed, whatever it
had begun; a dataset that somebody holds whole keeps none of the others from being evicted; a child of fork() gets no
loader for a dataset with holes."""
import ctypes
import fcntl
import os
import random
import shutil
import struct
import subprocess
import sys
import threading
import time

import checks
from checks import Locked, build, check
from s3_server import S3Server

leat, probe, refuse_calls = build / "leat", build / "tiny" / "cache_probe", build / "refuse_calls"
folder = checks.own_folder("cache-disk", probe)
cache = folder / "node"
CORPUS, LARGE = "s3://b/corpus", "s3://b/large"
F_OFD_SETLK = 37
BEYOND = 65536  # bytes that are written beyond a limit between two looks, in a program of build/tiny


def begin(server, *words, limit=0, **more):
    variables = {"PATH": os.environ["PATH"], "LEAT_CACHE": str(cache), **server.environment(AWS_MAX_ATTEMPTS="2")}
    if limit:
        variables["LEAT_CACHE_SIZE"] = f"{limit // 1024}KiB"
    return subprocess.Popen(words, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=variables, text=True, **more)


def run(server, *words, **more):
    """Lines that were printed, what was said, the exit code."""
    process = begin(server, *words, **more)
    out, said = process.communicate()
    return out.split("\n"), said, process.returncode


def evicted(got):
    return int(got[0][-2].partition(" evicted ")[2].split(" ")[0])


def lock(path, kind, tries=1, size=0):
    file = open(path, "r+b")
    for left in range(tries, 0, -1):
        try:
            fcntl.fcntl(file, F_OFD_SETLK, struct.pack("hhqqi4x", kind, 0, 0, size, 0))
            return file
        except BlockingIOError:
            if left == 1:
                raise
            time.sleep(0.1)


def taken():
    return sum(p.stat().st_blocks * 512 for p in cache.glob("*-*/*"))


def test_closed(server):
    """A loader that is closed in the middle, with batches begun: all it held is released, the dataset still open."""
    for threads in "01":
        shutil.rmtree(cache, ignore_errors=True)
        with Locked(cache):
            process = begin(server, probe, CORPUS, "2", "0", "3", threads, "closed")
            line = ""
            while line not in ("closed\n", None) and process.poll() is None:
                line = process.stderr.readline()
            try:
                # what arrives now is still written, which holds it for a moment; what is leaked stays
                lock(next(cache.glob("*-*/tokens.partial")), fcntl.F_WRLCK, tries=300).close()
            except OSError as error:
                check(("nothing is held", threads), False, error)
            process.communicate("\n")
            check(("it ends", threads), process.returncode == 0)


def test_beside_a_held_one(server):
    """One dataset is held whole, as by a process that fills it, or as by many that read all of it; and all of it is
    older than the other's pages."""
    for size in (0, (folder / "large.tokens").stat().st_size):
        shutil.rmtree(cache, ignore_errors=True)
        with Locked(cache):
            run(server, probe, LARGE, "2", "0", "40")
            whole = taken()
            held = lock(next(cache.glob("*-*/tokens.partial")), fcntl.F_RDLCK, size=size)
            opened = open(next(cache.glob("*-*/in-use")), "w")
            fcntl.flock(opened, fcntl.LOCK_SH)
            limit = whole + SIZE // 2
            got = run(server, probe, CORPUS, "2", "0", "100", "1", "narrow", limit=limit)
            held.close()
            opened.close()
        check(("the other keeps to the limit", size), got[0][:-2] == BATCHES[:100] and evicted(got) > 0 and
              taken() < limit + 65536, taken(), limit, got[1:])


class Looks:
    """Counts how often the cache's folder is opened: to look through all datasets."""
    OPEN, CLOSE, SELF = 0x20, 0x10, 0x40000000

    def __enter__(self):
        cache.mkdir(mode=0o700, exist_ok=True)
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd, self.count = libc.inotify_init1(os.O_CLOEXEC), 0
        # with what closes it, or else several would be told as one
        if self.fd < 0 or libc.inotify_add_watch(self.fd, os.fsencode(cache), self.OPEN | self.CLOSE) < 0:
            raise OSError(ctypes.get_errno(), "inotify")
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        return self

    def read(self):
        while True:
            events, at = os.read(self.fd, 65536), 0
            while at < len(events):
                _, mask, _, size = struct.unpack_from("iIII", events, at)
                name = events[at + 16:at + 16 + size].rstrip(b"\0")
                if name == b"end":
                    return
                self.count += mask & self.OPEN > 0 and mask & self.SELF > 0 and not name
                at += 16 + size

    def __exit__(self, *_):
        (cache / "end").touch()  # all that came before it is read
        self.thread.join()
        os.close(self.fd)


def fetched(server):
    """How many bytes of tokens were asked for."""
    ranges = [r[3]["Range"].removeprefix("bytes=").split("-") for r in server.requests
              if r[2].endswith(".tokens") and "Range" in r[3]]
    return sum(int(last) - int(first) + 1 for first, last in ranges)


def test_small_limit(server):
    """A limit of less than what is in use: each page that was needed looked through the whole cache for something to
    evict, which took a core, and nobody heard of it."""
    for limit in (2 * SIZE, 8192):
        shutil.rmtree(cache, ignore_errors=True)
        with Locked(cache), Looks() as looks:
            server.requests = []
            got = run(server, probe, CORPUS, "2", "0", "0", limit=limit)
        said = "notice: the cache uses " in got[1] and \
            "KiB, more than its limit of 8.0 KiB (LEAT_CACHE_SIZE): indexes" in got[1]
        check(("small limit", limit), got[0][:-2] == BATCHES and said == (limit == 8192), got[1:])
        # each look opens it twice, for what other datasets take, and for parts to evict; and it comes earlier if what
        # is written next does not fit into the rest
        most = 3 * (fetched(server) // BEYOND) + 20
        check(("how often it looks for something to evict", limit), 0 < looks.count <= most, looks.count, most)


def test_child(server):
    shutil.rmtree(cache, ignore_errors=True)
    with Locked(cache):
        got = run(server, probe, CORPUS, "2", "0", "0", "1", "child")
    check("a child opens it itself", got[2] == 1 and "open it in each process" in got[1] and got[0] == [""], got)


def on_a_small_disk(server, kib, *words, beside="", **more):
    """Runs a command whose cache is a file system of its own, of so many KiB; `beside`: what a shell does there."""
    shutil.rmtree(cache, ignore_errors=True)
    cache.mkdir(mode=0o700)
    script = f'mount -t tmpfs -o size={kib}k,mode=700 tmpfs "$0" || exit 77; {beside} "$@"; code=$?; ' \
             'ls -s "$0"/*-*/tokens 2>/dev/null >&2; exit $code'
    return run(server, "unshare", "-rm", "sh", "-c", script, cache, *words, **more)


def test_full(server):
    """A disk with room for a part: the oldest goes, batches are right, the copy is not begun. One with room for nothing
    but the index, and one without even that: a sentence that names the folder's variable."""
    index = -(-(folder / "large.leat").stat().st_size // 1024)
    got = on_a_small_disk(server, index + 1300, probe, LARGE, "2", "0", "45", "1")
    if got[2] == 77 or "unshare" in got[1]:
        print("no file system of its own here:", got[1].strip().split("\n")[-1], file=sys.stderr)
        return
    check("a part of it", got[0][:-2] == LARGE_BATCHES[:45] and evicted(got) > 0 and got[2] == 0, got)
    got = on_a_small_disk(server, index + 1300, probe, LARGE, "2", "0", "1", "1", "notice")
    check("why it is not copied", got[2] == 0 and "the cache has no room for all of s3://b/large" in got[1], got)
    for room in (8, index + 24):
        got = on_a_small_disk(server, room, probe, LARGE, "2", "0", "0", "1")
        given = [line for line in got[0] if line and " " not in line]
        check(("no room", room), got[2] == 1 and "set LEAT_CACHE to a folder on another disk" in got[1] and
              "No space left on device; free some space" in got[1] and given == LARGE_BATCHES[:len(given)], got)


def test_filled_meanwhile(server):
    """Another program takes the rest of the disk while the copy is under way: the copy ends, and what it had is evicted
    for what batches need."""
    size, index = ((folder / f"large.{part}").stat().st_size // 1024 for part in ("tokens", "leat"))
    # until the shell that has begun it ends, which may be before it sees so much of the copy
    beside = f'(n=0; while kill -0 $$ 2>/dev/null && [ "${{n:-0}}" -lt {size // 3} ]; do sleep 0.005; ' \
             'n=$(ls -s "$0"/*-*/tokens.partial 2>/dev/null | cut -d" " -f1); done; ' \
             'kill -0 $$ 2>/dev/null && exec dd if=/dev/zero of="$0"/other bs=64k 2>/dev/null) &'
    got = on_a_small_disk(server, (size + index) * 115 // 100 + 300, probe, LARGE, "2", "0", "0", "1", beside=beside)
    check("all batches", got[2] == 77 or "unshare" in got[1] or
          got[0][:-2] == LARGE_BATCHES and (evicted(got) > 0 or " complete 1 " in got[0][-2]) and got[2] == 0,
          got[1:], len(got[0]))  # complete: the other program came too late


def test_not_durable(server):
    """All of it is fetched three times; then it ends, with the reason. Without sync_file_range() nothing is missing."""
    for call in ("sync_file_range", "fsync"):
        shutil.rmtree(cache, ignore_errors=True)
        with Locked(cache):
            run(server, probe, CORPUS, "2", "0", "1")  # the index is here, and durable
        before = len(server.requests)
        got = run(server, refuse_calls, "EPERM", call, probe, CORPUS, "2", "0", "0", "1", "wait")
        if got[2] == 77:
            print("no filters here", file=sys.stderr)
            return
        complete = list(cache.glob("*-*/tokens"))
        if call == "fsync":
            check("it ends", got[0][:-2] == BATCHES and got[2] == 0 and not complete and
                  "the cache is no longer filled: all of s3://b/corpus was fetched 3 times" in got[1], got[1:])
            most = 3 * (SIZE // 16384 + SIZE // 4096 + 2)  # each time in ranges, and what a batch waits for in pages
            check("and asks for no more than that", len(server.requests) - before <= most,
                  len(server.requests) - before)
        else:
            check(call, got[0][:-2] == BATCHES and complete and complete[0].read_bytes() == TOKENS, got[1:])
    got = run(server, probe, CORPUS, "2", "0", "0", "1", "wait")
    complete = list(cache.glob("*-*/tokens"))
    check("and afterwards", complete and complete[0].read_bytes() == TOKENS, got)


chance = random.Random(1)
TOKENS = checks.pack(leat, folder, "corpus", checks.texts(chance, 700))
checks.pack(leat, folder, "large", checks.texts(chance, 4000))
SIZE = len(TOKENS)
with S3Server(checks.datasets(folder)) as server:
    checks.need_libcurl(run(server, leat, "info", CORPUS)[1])
    BATCHES, LARGE_BATCHES = (run(server, probe, name, "2", "2", "0")[0][:-2] for name in ("corpus", "large"))
    checks.run_tests((test_closed, test_beside_a_held_one, test_small_limit, test_child, test_full,
                      test_filled_meanwhile, test_not_durable), server)
    server.settle()
checks.finish(folder)
