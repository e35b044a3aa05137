#!/usr/bin/env python3
"""test_cache_fill.py: the copy of the rest of a dataset, with ranges of 16 KiB, so that there are many at once: killed
at any moment, gone on with after failures, which are said, alone and by two processes, after fork(), within the limit
of the cache, beside a process that is stopped (SIGSTOP). What is complete is right, byte for byte, and a damaged index
in the cache is fetched again."""
import fcntl
import json
import math
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import time

import checks
from checks import Locked, build, check
from s3_server import S3Server

leat, probe = build / "leat", build / "tiny" / "cache_probe"
folder = checks.own_folder("cache-fill", probe, room=True)
cache = folder / "node"
URL = "s3://b/corpus"
RANGE = 16384
REGION, BEYOND = 16384, 65536  # of the small build: LEAST_REGION pages, and BEYOND in cache_room.c
NARROW_ROWS, WIDTH = 2 * 8, 2  # in the two slots of a narrow probe; bytes per token


def begin(server, *words, **more):
    return checks.begin(server, folder, words, 1, LEAT_CACHE=str(cache), **more)


def end(server, process):
    out, said = process.communicate()
    server.settle()
    return out.decode().split("\n"), said.decode(), process.returncode


def fill(server, *words, **more):
    """A small limit, so that the loader announces little and the rest is for the ranges."""
    more = {"LEAT_CACHE_SIZE": "900MiB", **more}
    return begin(server, probe, URL, "0", "0", "1", "1", "wait", *words, **more)


def clear(server):
    server.settle()
    shutil.rmtree(cache, ignore_errors=True)
    server.fault_bytes = 0
    server.faults, server.fault_suffix, server.silent, server.spoken, server.requests = [], "", None, False, []


def inside(name):
    return next(cache.glob(f"*-*/{name}"), None)


def ranges(server):
    """How often each whole range of the rest was asked for."""
    asked = {}
    for _, _, path, headers in server.requests:
        first, last = headers.get("Range", "=0-0").partition("=")[2].split("-")
        if path.endswith(".tokens") and (int(last) - int(first) + 1 == RANGE or int(last) == SIZE - 1 and
                                         int(first) % RANGE == 0):
            asked[int(first)] = asked.get(int(first), 0) + 1
    return asked


def is_complete(what, *seen):
    check(what, inside("tokens") and not inside("map") and inside("tokens").read_bytes() == TOKENS, *seen)


def test_many_at_once(server):
    """What is complete is mapped, and can be viewed."""
    clear(server)
    view = probe, URL, "0", "1", "0", "1", "view"
    got = end(server, begin(server, *view))
    check("no view", got[2] == 1 and "is here: copy the tokens, or pull the dataset first" in got[1], got)
    clear(server)
    got = end(server, fill(server))
    is_complete("many ranges", got)
    check("each once at most", max(ranges(server).values()) == 1 and len(ranges(server)) > 20, ranges(server))
    got = end(server, begin(server, *view))
    check("a view", got[2] == 0, got)


def test_time_left(server):
    """The notice that batches are waited for says when the copy will be complete: here its last range never comes."""
    clear(server)
    server.faults, server.fault_suffix, server.silent = ["late"] * 10000, ".tokens", ("b/corpus.tokens", SIZE - 1)
    said = end(server, begin(server, probe, URL, "0", "0", "110", "1", "ordered", LEAT_CACHE_SIZE="900MiB"))[1]
    check("time left", re.search(r"its time: .*; the cache will be complete in about \d+ min\n", said), said)


def test_failures(server):
    """What fails is asked for again, what is here is not; the reason is in a notice."""
    clear(server)
    server.faults, server.fault_suffix, server.fault_bytes = ([""] * 6 + ["500"]) * 6, ".tokens", RANGE
    got = end(server, fill(server))
    is_complete("after failures", got)
    asked = ranges(server)
    check("it goes on where it stopped", sum(asked.values()) <= len(asked) + 6, asked)
    clear(server)
    server.faults, server.fault_suffix, server.fault_bytes = [""] * 10 + ["denied"] * 10000, ".tokens", RANGE
    process = begin(server, probe, URL, "0", "0", "1", "1", "notice")
    line = process.stderr.readline().decode()
    check("the reason", "notice: the cache cannot be filled now" in line and "denies access" in line, line)
    end(server, process)
    clear(server)
    server.faults, server.fault_suffix, server.fault_bytes = [""] * 10 + ["denied"] * 10000, ".tokens", RANGE
    process = fill(server)
    while process.poll() is None and len(server.faults) > 10000 - 10:
        time.sleep(0.01)
    many, began = len(server.requests), time.monotonic()
    time.sleep(1)
    more, passed = len(server.requests) - many, time.monotonic() - began
    # 6 in a second; if the machine takes longer for it, as many again each time that this doubles
    check("it asks ever more seldom", process.poll() is None and more <= 6 * (1 + math.log2(max(passed, 1))), more,
          passed)
    server.faults = []
    got = end(server, process)
    is_complete("when the server allows it again", got)


def test_killed(server):
    chance = random.Random(5)
    for number in range(2):
        clear(server)
        for _ in range(3):
            process = fill(server)
            enough = chance.randrange(10, 150)
            while process.poll() is None and len(server.requests) < enough:
                time.sleep(0.001)
            server.requests = []
            process.send_signal(signal.SIGKILL)
            end(server, process)
        if inside("map") and inside("tokens.partial"):
            marks, here = inside("map").read_bytes(), inside("tokens.partial").read_bytes()
            wrong = [i for i, m in enumerate(marks) if m and here[i * 4096:i * 4096 + 4096] !=
                     TOKENS[i * 4096:i * 4096 + 4096]]
            check(("what the map says", number), not wrong, wrong)
        got = end(server, fill(server))
        is_complete(("after kills", number), got)
        got = end(server, begin(server, probe, URL, "0", "0", "0"))
        check(("batches", number), got[0][:-2] == BATCHES, got[1:])


def test_two(server):
    clear(server)
    running = [fill(server) for _ in range(2)]
    for process in running:
        got = end(server, process)
        check("both see it complete", "complete 1" in got[0][1], got)
    is_complete("by two")
    clear(server)
    running = [fill(server) for _ in range(2)]
    while len(ranges(server)) < 10 and not inside("tokens"):
        time.sleep(0.001)
    running[0].kill()  # whichever fills: the other one goes on
    end(server, running[0])
    got = end(server, running[1])
    is_complete("the other one ends it", got)


def test_fork(server):
    """A child of fork() that lives on holds no lock: another process fills."""
    clear(server)
    server.silent = ("b/corpus.tokens", RANGE * 20)
    process = begin(server, probe, URL, "0", "0", "1", "1", "fork")
    child = int(process.stderr.readline().split()[1])
    process.wait()
    server.silent = None
    other = fill(server)
    try:
        is_complete("while a child of fork() lives", other.communicate(timeout=250))
    finally:
        os.kill(child, signal.SIGKILL)
        other.kill()
    process.communicate()


def test_removed(server):
    """Somebody removes the folder while it is filled: what is filled then has no name, and gives none to another."""
    clear(server)
    server.silent = ("b/corpus.tokens", RANGE * 20)
    process = fill(server)
    while len(ranges(server)) < 21 and process.poll() is None:
        time.sleep(0.01)
    place = inside("tokens.partial")
    place.unlink()
    place.write_bytes(bytes(SIZE))  # another process has begun it anew
    server.silent = None
    server.break_silence()
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.05)
    check("a file of zeros gets no name", not inside("tokens") or inside("tokens").read_bytes() == TOKENS)
    process.kill()
    end(server, process)


def test_stopped_holder(server):
    clear(server)
    server.faults, server.fault_suffix = ["", "silent"], ".leat"
    first = begin(server, leat, "info", URL, AWS_MAX_ATTEMPTS="9")
    while (server.faults or not inside("index.partial")) and first.poll() is None:
        time.sleep(0.01)
    os.kill(first.pid, signal.SIGSTOP)
    try:
        second = begin(server, probe, URL, "0", "0", "1")
        said = second.communicate(timeout=250)[1].decode()
        check("it names the one that is stopped", second.returncode == 1 and f"process {first.pid} " in said and
              "s3://b/corpus.leat" in said, said)
    finally:
        os.kill(first.pid, signal.SIGKILL)
        first.communicate()
    server.settle()
    check("and then", end(server, begin(server, leat, "info", URL))[2] == 0)


def test_slow_holder(server):
    """One that waits for the server, and is not stopped, is waited for."""
    clear(server)
    before = len(server.requests)
    server.silent = ("b/corpus.leat", (folder / "corpus.leat").stat().st_size - 1)  # for good, however long all takes
    first = begin(server, leat, "info", URL, AWS_MAX_ATTEMPTS="9")
    while (len(server.requests) < before + 2 or not inside("index.partial")) and first.poll() is None:
        time.sleep(0.01)
    second = begin(server, probe, URL, "0", "0", "1")
    time.sleep(3)
    check("it waits", second.poll() is None)
    server.silent = None
    first.kill()
    first.communicate()
    _, said, code = end(server, second)
    check("and takes over", code == 0, said)


def test_index(server):
    for complete in (False, True):
        clear(server)
        end(server, fill(server) if complete else begin(server, probe, URL, "0", "0", "1"))
        index = inside("index.leat")
        whole = index.read_bytes()
        for at in range(4096, len(whole), len(whole) // 3):
            index = inside("index.leat")
            index.write_bytes(whole[:at] + bytes([whole[at] ^ 255]) + whole[at + 1:])
            got = end(server, begin(server, probe, URL, "0", "0", "0"))
            check(("damaged index", complete, at), got[0][:-2] == BATCHES, got[1:])


def taken(name="*"):
    return sum(p.stat().st_blocks * 512 for p in cache.glob(f"*-*/{name}"))


def most_held():
    """The most bytes that a probe with two slots holds at once: the regions around rows that follow each other, and
    around a later one, which is announced just then."""
    said = subprocess.run([leat, "order", "--source", "corpus", "--seq-len", "512", "--epochs", "1", "--count", "9999",
                           "--json"], cwd=folder, check=True, capture_output=True).stdout
    pieces = [json.loads(line)["pieces"] for line in said.splitlines()]
    rows = [{region for p in row for region in range(p["token"] * WIDTH // REGION,
                                                     ((p["token"] + p["count"]) * WIDTH - 1) // REGION + 1)}
            for row in pieces]
    return REGION * (max(len(set().union(*rows[i:i + NARROW_ROWS])) for i in range(len(rows))) +
                     max(len(row) for row in rows))


def evicted(got):
    return int(got[0][-2].partition(" evicted ")[2].split(" ")[0])


def marks_are_right():
    """What the map promises is in the file."""
    marks, here = inside("map").read_bytes(), inside("tokens.partial").read_bytes()
    return all(marks[i] != 1 or here[i * 4096:i * 4096 + 4096] == TOKENS[i * 4096:i * 4096 + 4096]
               for i in range((SIZE + 4095) // 4096))


def test_evicting(server):
    """By all engines, two jobs at once with one limit, which is a tenth of the tokens, while a third one is killed
    again and again, and with a limit so small that nothing can stay: always the right batches."""
    least = (folder / "corpus.leat").stat().st_size
    for engine, threads in (("1", "1"), ("2", "0"), ("3", "1"), ("4", "1")):
        clear(server)
        got = end(server, begin(server, probe, URL, engine, "1", "0", threads,
                                LEAT_CACHE_SIZE=f"{SIZE // 3 // 1024}KiB"))
        check(("evicting", engine), got[0][:-2] == BATCHES and evicted(got) > 0, got[1:])
    for limit in (least + SIZE // 10, 4096):
        clear(server)
        words, narrow = (probe, URL, "0", "0", "0"), ("1", "narrow")
        running = [begin(server, *words, *narrow, LEAT_CACHE_SIZE=f"{limit // 1024}KiB") for _ in range(2)]
        chance = random.Random(limit)
        for _ in range(4):
            killed = begin(server, *words, LEAT_CACHE_SIZE=f"{limit // 1024}KiB")
            time.sleep(chance.random() / 2)
            killed.kill()
            killed.communicate()
        both = [end(server, process) for process in running]
        check(("two jobs", limit), all(got[0][:-2] == BATCHES for got in both) and sum(map(evicted, both)) > 0, both)
        check(("what the map says", limit), marks_are_right())
        with open(inside("map"), "r+b") as file:  # a page is missing: the next process looks for what can go
            file.write(b"\0")
        got = end(server, begin(server, *words, *narrow, LEAT_CACHE_SIZE=f"{limit // 1024}KiB"))
        most = max(limit, most_held() + taken() - taken("tokens.partial")) + BEYOND
        check(("no more than is being read", limit), taken() <= most, taken(), most, limit, got[1:])
    end(server, begin(server, probe, URL, "0", "0", "0", "1", "wait"))
    is_complete("and without a limit it becomes complete")


def test_holder(server):
    """What a process reads is not evicted by another: it is stopped in the middle of a run, with slots announced."""
    clear(server)
    with Locked(cache):
        first = begin(server, probe, URL, "2", "0", "0")
        lines = [first.stdout.readline() for _ in range(20)]
        os.kill(first.pid, signal.SIGSTOP)
        out, said = begin(server, probe, URL, "2", "0", "0", LEAT_CACHE_SIZE=f"{SIZE // 4 // 1024}KiB").communicate()
        other = out.decode().split("\n")
        os.kill(first.pid, signal.SIGCONT)
        lines += first.stdout.readlines()
        got = end(server, first)
    check("beside one that holds", other[:-2] == BATCHES and evicted([other]) > 0, said)
    check("what it held stayed right", [line.decode()[:-1] for line in lines[:-1]] == BATCHES, got[1:])


def test_stopped_evictor(server):
    """A lock that a stopped process has on a part is an error with a reason after a while, not a hang."""
    clear(server)
    with Locked(cache):
        end(server, begin(server, probe, URL, "0", "0", "5"))
        with open(inside("tokens.partial"), "r+b") as file:
            fcntl.fcntl(file, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))  # F_OFD_SETLK
            got = end(server, begin(server, probe, URL, "0", "0", "0"))
        check("it says so", got[2] == 1 and "is making room in the cache" in got[1], got)
        got = end(server, begin(server, probe, URL, "0", "0", "0"))
        check("and goes on without it", got[0][:-2] == BATCHES, got[1:])


def test_offline(server):
    """A complete copy opens without its server, with a notice; one that is not says what is missing."""
    clear(server)
    end(server, begin(server, probe, URL, "0", "0", "1"))
    if inside("tokens"):
        inside("tokens").rename(inside("tokens").with_name("tokens.partial"))
    server.faults, server.fault_suffix = ["503"] * 100000, ""
    got = end(server, begin(server, probe, URL, "0", "0", "0"))
    check("an incomplete one", got[2] == 1 and "503" in got[1] and
          re.search(rf"has [\d.]+ [KM]iB of the {SIZE / 2**20:.1f} MiB of s3://b/corpus\.tokens", got[1]), got)
    clear(server)
    end(server, fill(server))
    server.faults, server.fault_suffix = ["503"] * 100000, ""
    got = end(server, begin(server, probe, URL, "0", "0", "0", "1", "notice"))
    check("a complete one", got[0][:-2] == BATCHES and got[2] == 0 and "s3://b/corpus could not be reached" in got[1],
          got)
    got = end(server, begin(server, leat, "info", URL))
    check("info says so", got[2] == 0 and "could not be reached" in "".join(got[0]), got)
    got = end(server, begin(server, probe, URL, "0", "0", "0", "1", "online"))
    check("unless that is not wanted", got[2] == 1 and "503" in got[1], got)
    check("which the error says", "the cache has a complete copy, but the option online, or LEAT_ONLINE=1" in got[1],
          got)
    for words, more in ((("info", "--online", URL), {}), (("info", URL), {"LEAT_ONLINE": "1"}),
                        (("order", "--source", URL, "--seq-len", "64", "--count", "1", "--online"), {})):
        got = end(server, begin(server, leat, *words, **more))
        check(("neither by", words, more), got[2] == 1 and "503" in got[1], got)
    got = end(server, begin(server, leat, "info", "s3://b/small"))
    check("another name", got[2] == 1 and "s3://b/small.leat" in got[1], got)
    server.faults = ["denied"] * 100000
    got = end(server, begin(server, leat, "info", URL))
    check("a server that answers decides", got[2] == 1 and "denies access" in got[1], got)


def test_options(server):
    """--cache and --cache-size are the variables of these names."""
    clear(server)
    place = folder / "elsewhere"
    shutil.rmtree(place, ignore_errors=True)
    for words in (("info", URL), ("find", URL, "--document", "3"), ("cat", URL, "--document", "3"), ("verify", URL),
                  ("order", "--source", URL, "--seq-len", "64", "--count", "1"),
                  ("show", URL, "--document", "3"), ("fit", URL), ("merge", "-o", "merged", "--force", URL),
                  ("export", "--to", "raw", "-o", "raw.bin", "--force", URL)):
        got = end(server, begin(server, leat, *words, "--cache", place, "--cache-size", "1GiB"))
        check(words, (got[2] == 0 or (words[0] == "fit" and "corpus.fit cannot be written beside a URL" in got[1]))
              and list(place.glob("*-*/index.leat")) and
              not cache.exists(), got)
        shutil.rmtree(place, ignore_errors=True)
    got = end(server, begin(server, build / "leat-bench", "load", "--source", URL, "--seq-len", "512", "--batch", "8",
                            "--steps", "9", "--cache", place))
    check("leat-bench load", got[2] == 0 and place.exists() and not cache.exists(), got)
    for size, why in (("0", "is too small"), ("lots", "is not a number")):
        got = end(server, begin(server, leat, "info", URL, "--cache-size", size))
        check(size, got[2] == 2 and "--cache-size" in got[1] and why in got[1], got)


def test_limit(server):
    """Nothing makes the cache larger than its limit; others' copies go only if that suffices."""
    clear(server)
    limit = SIZE // 2
    check("what is held at once fits", most_held() + BEYOND < limit)
    got = end(server, begin(server, probe, URL, "0", "0", "0", "1", "narrow", LEAT_CACHE_SIZE=f"{limit // 1024}KiB"))
    check("exact reads stay below", taken() <= limit and got[0][:-2] == BATCHES and evicted(got) > 0 and
          not inside("tokens"), taken(), limit, got[1:])
    got = end(server, begin(server, probe, URL, "0", "0", "0"))
    check("and without a limit all is right", got[0][:-2] == BATCHES, got[1:])
    clear(server)
    check("another copy", end(server, begin(server, probe, "s3://b/small", "0", "0", "1", "1", "wait"))[2] == 0)
    small = inside("tokens")
    all_but_enough = f"{SIZE * 95 // 100 // 1024}KiB"
    process = begin(server, probe, URL, "0", "0", "1", "1", "notice", LEAT_CACHE_SIZE=all_but_enough)
    line = process.stderr.readline().decode()  # says that it has tried
    check("it is not removed for nothing", small.exists() and "the cache has no room for all of" in line, line)
    process.kill()
    end(server, process)


def test_turns(server):
    """While another process makes room, what it is about to remove looks open: that is waited for."""
    clear(server)
    with Locked(cache):
        end(server, begin(server, probe, URL, "0", "0", "0"))
    enough = taken() // 1024 + 8
    clear(server)
    end(server, begin(server, probe, "s3://b/small", "0", "0", "1", "1", "wait"))
    small = inside("tokens")
    with Locked(cache):
        with Locked(cache, "room"), Locked(cache, small.with_name("in-use").relative_to(cache)):
            process = begin(server, probe, URL, "0", "0", "0", LEAT_CACHE_SIZE=f"{enough}KiB")
            time.sleep(1)
        got = end(server, process)
    check("then there is room", got[0][:-2] == BATCHES and not small.exists(), got[1:])


def test_keys(server):
    """In a bucket ? and # are parts of a name."""
    clear(server)
    for name in ("what?", "a#b", "v?x=1#2"):
        for suffix in (".leat", ".tokens"):
            server.objects[f"b/{name}{suffix}"] = server.objects["b/small" + suffix]
        for text in (name, name + ".leat", name + ".tokens"):
            got = end(server, begin(server, leat, "info", f"s3://b/{text}"))
            check(text, got[2] == 0, got)
        got = end(server, begin(server, probe, f"s3://b/{name}", "0", "0", "1"))
        check(("trained on", name), got[2] == 0, got)
        out = folder / f"pulled{len(name)}"
        got = end(server, begin(server, leat, "pull", f"s3://b/{name}", out))
        check(("pull", name), got[2] == 0 and out.with_suffix(".tokens").read_bytes() ==
              server.objects["b/small.tokens"], got)


chance = random.Random(1)
TOKENS = checks.pack(leat, folder, "corpus", checks.texts(chance, 700))
checks.pack(leat, folder, "small", checks.texts(chance, 50))
SIZE = len(TOKENS)
with S3Server(checks.datasets(folder)) as server:
    checks.need_libcurl(end(server, begin(server, leat, "info", URL))[1])
    BATCHES = end(server, begin(server, probe, "corpus", "2", "2", "0"))[0][:-2]
    checks.run_tests((test_many_at_once, test_time_left, test_failures, test_killed, test_two, test_fork, test_removed,
                      test_stopped_holder, test_slow_holder, test_index, test_limit, test_turns, test_keys,
                      test_evicting, test_holder, test_stopped_evictor, test_offline, test_options), server)
checks.finish(folder)
