#!/usr/bin/env python3
"""test_cache_places.py: where the cache lies, and what a process finds there: a folder that is named by any of the
variables, or cannot be written; a copy that is cut off while it is open, replaced on the server, locked, removed, or
known without its server; objects on servers that are no copies of whole datasets; a disk that cannot free parts of
files. A dataset was waited for without end if the process that removes it from the cache was stopped."""
import fcntl
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import sys
import time

import checks
from checks import Locked, build, check
from s3_server import S3Server

golden = pathlib.Path(__file__).resolve().parent.parent / "golden"
leat, probe = build / "leat", build / "tiny" / "cache_probe"
folder = checks.own_folder("cache-places", probe, room=True)
refuse_calls = build / "refuse_calls"
cache = folder / "node"
URL = "s3://b/corpus"
PAGE, RANGE = 4096, 16384
ALL = "0", "0", "0"  # of the probe's arguments: engine, access, batches
WAIT = "0", "0", "1", "1", "wait"
LOCK = "hhqqi4x"  # of fcntl's locks of open files
F_OFD_SETLK = 37


def begin(server, *words, **more):
    return checks.begin(server, folder, words, 1, **{"LEAT_CACHE": str(cache), **more})


def end(server, process):
    out, said = process.communicate()
    server.settle()
    return out.decode().split("\n"), said.decode(), process.returncode


def run(server, *words, **more):
    return end(server, begin(server, *words, **more))


def clear(server):
    server.settle()
    shutil.rmtree(cache, ignore_errors=True)
    server.faults, server.fault_suffix, server.fault_bytes, server.silent = [], "", 0, None


def inside(name):
    found = list(cache.glob(f"*-*/{name}"))
    return found[0] if found else None


def test_variables(server):
    """Without LEAT_CACHE, where others keep their caches; without a home, an error that says what to set."""
    home, other = folder / "home", folder / "other"
    clear(server)
    for variables, place in (({"XDG_CACHE_HOME": str(other), "HOME": str(home)}, other / "leat"),
                             ({"XDG_CACHE_HOME": "other", "HOME": str(home)}, home / ".cache" / "leat"),
                             ({"HOME": str(home)}, home / ".cache" / "leat")):
        got = run(server, leat, "info", URL, LEAT_CACHE="", **variables)
        check(variables, got[2] == 0 and len(list(place.glob("*-*/index.leat"))) == 1, got)
        check(("nowhere else", variables), len(list(folder.glob("*/**/index.leat"))) == 1)
        for used in (home, other):
            shutil.rmtree(used, ignore_errors=True)
    got = run(server, leat, "info", URL, LEAT_CACHE="")
    check("no home", got[2] != 0 and "no folder for the cache of remote datasets: set LEAT_CACHE to one" in got[1], got)


def test_read_only(server):
    """A folder that cannot be written is good enough if all is in it."""
    script = 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" || exit 77; exec "$@"'
    clear(server)
    run(server, probe, URL, *WAIT)
    got = run(server, "unshare", "-rm", "sh", "-c", script, cache, probe, URL, *ALL)
    if got[2] == 77 or "unshare" in got[1]:
        print("no file system of its own here:", got[1].strip().split("\n")[-1], file=sys.stderr)
        return
    check("all is there", got[0][:-2] == BATCHES and got[2] == 0, got[1:])
    clear(server)
    with Locked(cache):
        run(server, leat, "info", URL)
    got = run(server, "unshare", "-rm", "sh", "-c", script, cache, probe, URL, *ALL)
    check("something is missing", got[2] == 1 and "the cache of remote datasets cannot be written; set LEAT_CACHE" in
          got[1] and "in-use" in got[1] and "Read-only file system" in got[1], got)


def test_names(server):
    """URLs that name nothing, and objects that are no copy of a whole dataset."""
    server.objects["b/elsewhere.leat"] = (golden / "valid/elsewhere.leat").read_bytes()
    server.objects["b/elsewhere.tokens"] = (golden / "valid/elsewhere.bin").read_bytes()[-5200:]
    for kind, name in (("valid", "unknown_ignorable"), ("valid", "no_documents"), ("invalid", "token_sum_wrong")):
        for suffix in (".leat", ".tokens"):
            server.objects[f"b/{name}{suffix}"] = (golden / kind / (name + suffix)).read_bytes()
    clear(server)
    for name, code, why in (("s3://", 2, "s3://: no bucket"), ("s3:///a", 2, "s3:///a: no bucket"),
                            ("s3://b/elsewhere", 1, "s3://b/elsewhere.leat is an index for tokens in another tool's")):
        got = run(server, leat, "info", name)
        check(name, got[2] == code and why in got[1] and not list(cache.glob("*-*")), got)
    got = run(server, leat, "info", "s3://b/no_documents", "--json")
    check("no documents", got[2] == 0 and json.loads(got[0][0])["tokens"] == 0, got)
    for damage in (True, False):  # of a section that this version does not know
        index = (golden / "valid/unknown_ignorable.leat").read_bytes()
        at = index.index(b"what is this?")
        server.objects["b/unknown_ignorable.leat"] = index[:at] + b"W" + index[at + 1:] if damage else index
        got = run(server, leat, "verify", "s3://b/unknown_ignorable")
        check(("unknown", damage), got[2] == (3 if damage else 0) and damage == (
            f"s3://b/unknown_ignorable.leat: the bytes from number {at} on arrived damaged 3 times" in got[1]), got)
    clear(server)
    got = run(server, probe, "s3://b/token_sum_wrong", *WAIT)
    check("a wrong sum", got[2] == 0 and not inside("tokens") and
          "all of s3://b/token_sum_wrong was fetched 3 times, but cannot be kept" in got[1] and
          "the pages match their hashes, but not the sum of all" in got[1] and "verify the dataset where it" in got[1],
          got)


def test_offline(server):
    """Without its server: all pages, which nobody has checked as a whole; a map that is cut off; no index."""
    clear(server)
    with Locked(cache):
        run(server, leat, "verify", URL)
    for what, act, why in (
        ("all pages", lambda: None, "the cache has all pages of s3://b/corpus.tokens, but they were never checked as "
         "a whole, and its server cannot be reached"),
        ("a cut map", lambda: os.truncate(inside("map"), 1), "the cache has 0.0 KiB of the "),
        ("no index", lambda: inside("index.leat").unlink(), "")
    ):
        act()
        server.faults = ["503"] * 100
        got = run(server, leat, "info", URL)
        server.faults = []
        check(what, got[2] == 1 and "503" in got[1] and (why in got[1] if why else "the cache has" not in got[1]), got)


def test_replaced(server):
    """A complete copy is that of what the server had: what it has now is fetched as if there was none."""
    clear(server)
    old = {f"b/corpus.{part}": server.objects[f"b/corpus.{part}"] for part in ("leat", "tokens")}
    run(server, probe, URL, *WAIT)
    check("complete", inside("tokens"))
    server.objects.update({f"b/corpus.{part}": server.objects[f"b/other.{part}"] for part in ("leat", "tokens")})
    got = run(server, probe, URL, *ALL)
    check("the new one", got[2] == 0 and got[0][:-2] == run(server, probe, "other", "2", "2", "0")[0][:-2], got[1:])
    server.objects.update(old)


def test_cut_while_open(server):
    """Somebody cuts off files that a process has open: it fetches again what it has not yet seen there. What it has
    seen in the tokens, and has to read from there, is an error."""
    for name, size in (("map", 0), ("tokens.partial", 0), ("map", RANGE // PAGE), ("tokens.partial", RANGE)):
        clear(server)
        with Locked(cache):
            run(server, probe, URL, "0", "0", "60")
            process = begin(server, probe, URL, *ALL, "1", "wait")
            lines = [process.stdout.readline()]
            os.kill(process.pid, signal.SIGSTOP)
            os.truncate(inside(name), size)
            os.kill(process.pid, signal.SIGCONT)
        lines = [line.decode()[:-1] for line in lines + process.stdout.readlines()][:-1]
        got = end(server, process)
        if name == "map" or got[2] == 0:
            check((name, size), lines == BATCHES and got[2] == 0 and inside("tokens") and
                  inside("tokens").read_bytes() == TOKENS, got[1:])
        else:
            # what it has fetched again by then makes the file longer
            end_at = re.search(r"truncated: s3://b/corpus\.tokens ends at byte (\d+), but was longer", got[1])
            check((name, size), lines == BATCHES[:len(lines)] and end_at and size <= int(end_at[1]) < SIZE, got[1:])


def lock(path, kind, first, count):
    file = open(path, "r+b")
    fcntl.fcntl(file, F_OFD_SETLK, struct.pack(LOCK, kind, 0, first, count, 0))
    return file


def test_part_locked(server):
    """While another process evicts a part, nobody copies the rest; then it goes on."""
    clear(server)
    with Locked(cache):
        run(server, probe, URL, "0", "0", "1")
        held = lock(inside("tokens.partial"), fcntl.F_WRLCK, SIZE - 1, 1)
        process = begin(server, probe, URL, *WAIT, LEAT_CACHE_SIZE="900MiB")
        process.stdout.readline()
    time.sleep(1.5)  # it tries once a second
    check("it waits", process.poll() is None and inside("tokens.partial") and not inside("tokens"))
    held.close()
    got = end(server, process)
    check("and goes on", got[2] == 0 and inside("tokens") and inside("tokens").read_bytes() == TOKENS, got)


def test_removing(server):
    """Who opens a dataset that is being removed waits for that, but not for a process that is stopped."""
    clear(server)
    run(server, leat, "info", URL)
    with Locked(cache, inside("in-use").relative_to(cache)):
        process = begin(server, leat, "info", URL)
        time.sleep(0.5)
        check("it waits", process.poll() is None)
        shutil.rmtree(inside("in-use").parent)
    got = end(server, process)
    check("and goes on", got[2] == 0 and inside("index.leat"), got)
    with Locked(cache, inside("in-use").relative_to(cache)):
        got = run(server, probe, URL, *ALL)
    check("it says so", got[2] == 1 and "s3://b/corpus: a process that is removing it from the cache has made no "
          "progress for two minutes; is a process that uses the cache stopped?" in got[1], got)


def test_no_holes(server):
    """A disk on which no part of a file can be freed: a limit cannot be kept, which is said."""
    clear(server)
    with Locked(cache):
        got = run(server, refuse_calls, "EIO", "fallocate", probe, URL, *ALL,
                  LEAT_CACHE_SIZE=f"{SIZE // 3 // 1024}KiB")
    if got[2] == 77:
        print("no filters here", file=sys.stderr)
        return
    check("it says so", got[2] == 1 and "the cache of remote datasets cannot stay within its limit" in got[1] and
          "cannot free a part of" in got[1], got)


def test_failing_disk(server):
    """What was written does not reach the disk: all is fetched three times, then the reason is said."""
    clear(server)
    got = run(server, refuse_calls, "EIO", "sync_file_range", probe, URL, *WAIT)
    check("it says so", got[2] == 77 or got[2] == 0 and not inside("tokens") and "cannot be kept" in got[1] and
          "tokens.partial to the disk: Input/output error" in got[1] and "look at the disk" in got[1], got)


def test_numbers(server):
    """A region of the map that was used has a number, even if nothing was evicted from it. 0 is what a map has that was
    cut off and grew: if it counted, pages that were known before an eviction were trusted, and rows had zeros."""
    clear(server)
    with Locked(cache):
        run(server, probe, URL, "0", "0", "60")
    pages = -(-SIZE // PAGE)
    regions = list(struct.iter_unpack("=II", inside("map").read_bytes()[-(-pages // 8) * 8:]))
    used = [number for number, when in regions if when > 0]
    check("numbers", len(used) > 1 and all(used), regions)


def test_cut_again_and_again(server):
    """A map that somebody cuts off all the time: pages are fetched more than once, and are right; with a limit, nobody
    may hear of what was evicted, and finds by its hash that it is not there. One that is cut off before all is
    copied."""
    for more in ({}, {"LEAT_CACHE_SIZE": f"{SIZE // 3 // 1024}KiB"}):
        clear(server)
        with Locked(cache):
            run(server, probe, URL, "0", "0", "60")
            process = begin(server, probe, URL, *ALL, **more)
            while process.poll() is None:
                os.truncate(inside("map"), 0)
        got = end(server, process)
        lines = got[0][:-2]
        whole = lines == BATCHES and got[2] == 0
        check(more, whole or more and got[2] == 1 and lines == BATCHES[:len(lines)], got[1:])
    clear(server)
    with Locked(cache):
        run(server, probe, URL, "0", "0", "60")
        process = begin(server, probe, URL, *WAIT, LEAT_CACHE_SIZE="900MiB")
        process.stdout.readline()
        for _ in range(10):  # until nothing that was announced is under way, most likely
            os.truncate(inside("map"), 0)
            time.sleep(0.05)
    got = end(server, process)
    check("a copy", got[2] == 0 and inside("tokens") and inside("tokens").read_bytes() == TOKENS, got)


FULL = """
import fcntl, os, pathlib, struct, subprocess, sys, time
cache, until, *words = sys.argv[1:]
os.chdir(cache)
with open("filling", "a") as nobody:
    fcntl.flock(nobody, fcntl.LOCK_EX)
    few = {**os.environ, "LEAT_CACHE_SIZE": "900MiB"}  # nothing is asked for long before it is needed
    subprocess.run([*words, "20", "1", "narrow"], check=True, capture_output=True, env=few)
    path = next(pathlib.Path(".").glob("*-*/tokens.partial"))
    rest = os.statvfs(".")
    pathlib.Path("other").write_bytes(bytes(rest.f_bavail * rest.f_bsize))
    with open(path, "r+b") as file:
        fcntl.fcntl(file, %d, struct.pack("%s", fcntl.F_RDLCK, 0, 0, 0, 0))
        process = subprocess.Popen([*words, "0", "1", "narrow"])
        time.sleep(1)
        if until == "end":
            process.wait()
    sys.exit(process.wait())
"""


def test_full_beside_a_copy(server):
    """On a full disk, while another process holds all of the file to complete it: it gives that back, which is waited
    for; but not without end."""
    script = 'mount -t tmpfs -o size=900k,mode=700 tmpfs "$0" || exit 77; exec "$@"'
    for until in ("soon", "end"):
        clear(server)
        cache.mkdir(mode=0o700)
        got = run(server, "unshare", "-rm", "sh", "-c", script, cache, sys.executable, "-c", FULL %
                  (F_OFD_SETLK, LOCK), cache, until, probe, URL, "2", "0")
        if got[2] == 77 or "unshare" in got[1]:
            print("no file system of its own here:", got[1].strip().split("\n")[-1], file=sys.stderr)
            return
        if until == "soon":
            check("it goes on", got[2] == 0 and got[0][:-2] == BATCHES, got)
        else:
            check("it ends", got[2] == 1 and "set LEAT_CACHE to a folder on another disk" in got[1] and
                  "No space left on device" in got[1], got)


def test_two_failures(server):
    """Two datasets that cannot be copied: the reason is said once, and all batches come."""
    (folder / "two").write_text("s3://b/corpus\ns3://b/other\n")
    for _ in range(200):  # on a busy machine, all batches may often have come before the copies fail
        clear(server)
        server.faults, server.fault_suffix, server.fault_bytes = ["denied"] * 10000, ".tokens", RANGE
        got = run(server, probe, "@two", *ALL, LEAT_CACHE_SIZE="900MiB")
        if "cannot be filled" in got[1] or got[2] != 0:
            break
    check("the reason", got[2] == 0 and got[1].count("the cache cannot be filled now") == 1 and
          "denies access" in got[1], got[1:])


def test_many_regions(server):
    """Of more parts than one eviction looks at, those go that were used longest ago."""
    clear(server)
    tokens, pages = server.objects["b/many.tokens"], -(-len(server.objects["b/many.tokens"]) // PAGE)
    count, at = -(-len(tokens) // RANGE), (pages + 7) // 8 * 8
    with Locked(cache):
        run(server, leat, "info", "s3://b/many")
        ranks = [i * 7919 % count for i in range(count)]
        first = (int(time.time()) - 100000) << 5
        inside("tokens.partial").write_bytes(tokens)
        with open(inside("map"), "r+b") as file:
            file.write(bytes(i % 4 < 3 for i in range(pages)))  # of each part a page is missing, and has to come
            file.seek(at)
            file.write(b"".join(struct.pack("<II", 1, first + 2 * rank & 0xffffffff | 1) for rank in ranks))
        taken = sum(p.stat().st_blocks * 512 for p in cache.glob("*-*/*"))
        got = run(server, probe, "s3://b/many", "2", "0", "1", "1", "narrow",
                  LEAT_CACHE_SIZE=f"{taken * 95 // 100 // 1024}KiB")
        marks = inside("map").read_bytes()
    gone = {rank for i, rank in enumerate(ranks) if not marks[i * RANGE // PAGE]}
    check("the oldest", got[2] == 0 and 8 <= len(gone) < count // 2 and max(gone) <= len(gone) + 50, got, len(gone),
          sorted(gone)[-3:])


chance = random.Random(1)
TOKENS = checks.pack(leat, folder, "corpus", checks.texts(chance, 300))
checks.pack(leat, folder, "other", checks.texts(chance, 200))
checks.pack(leat, folder, "many", [chance.randbytes(1 << 18).hex() for _ in range(40)])
SIZE = len(TOKENS)
with S3Server(checks.datasets(folder)) as server:
    checks.need_libcurl(run(server, leat, "info", URL)[1])
    BATCHES = run(server, probe, "corpus", "2", "2", "0")[0][:-2]
    checks.run_tests((test_variables, test_read_only, test_names, test_offline, test_replaced, test_cut_while_open,
                      test_part_locked, test_removing, test_no_holes, test_failing_disk, test_numbers,
                      test_cut_again_and_again, test_full_beside_a_copy, test_two_failures, test_many_regions), server)
checks.finish(folder)
