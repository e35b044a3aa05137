#!/usr/bin/env python3
"""test_cache.py: a dataset by its URL gives what the local one gives, through the node's cache: commands and batches,
by all engines, through servers that fail, with two processes on one cache, after kills at any moment, and with files of
the cache that somebody changed by hand. What cannot be had is an error that names the URL, never wrong tokens."""
import fcntl
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import time

import checks
from checks import Locked, build, check
from s3_server import ACCESS, SECRET, S3Server

leat, tiny, probe = build / "leat", build / "tiny" / "leat", build / "cache_probe"
folder = checks.own_folder("cache", probe, room=True)
cache = folder / "node"
AUTO, MAP, PREAD, ADVISE, URING = "01234"
LEASED, TRUSTED, READ = "012"
URL = "s3://b/corpus"


def begin(server, *words, place=cache):
    return checks.begin(server, folder, words, 3, LEAT_CACHE=str(place))


def end(server, process):
    out, said = process.communicate()
    server.settle()
    said = said.decode()
    check("no key is in a message", ACCESS not in said and SECRET not in said, said)
    return process.returncode, out, said


def run(server, *words, place=cache):
    return end(server, begin(server, *words, place=place))


def batches(server, name=URL, engine=AUTO, access=LEASED, *more):
    """The hashes of all batches, the numbers about the server, the exit code, what it said."""
    code, out, said = run(server, probe, name, engine, access, *(more or ["0"]))
    lines = out.decode().split("\n")[:-1]
    numbers = lines.pop().split(" ") if lines and " " in lines[-1] else []
    return lines, dict(zip(numbers[::2], numbers[1::2])), code, said


def clear(server=None):
    shutil.rmtree(cache, ignore_errors=True)
    if server:
        server.faults, server.fault_suffix, server.fault_spares, server.silent = [], "", (), None


def inside(name):
    found = list(cache.glob(f"*-*/{name}"))
    return found[0] if found else None


def test_commands(server):
    documents = [["cat", "--document", "7"], ["cat", "--tokens", "5000:7000"], ["find", "--id", "500"],
                 ["info"]]
    for command, *options in documents:
        wanted = run(server, leat, command, "corpus", *options)
        for program, names in (leat, (URL, URL + ".tokens", URL + ".leat")), (tiny, (URL,)):
            for name in names:
                clear(server)
                got = run(server, program, command, name, *options)
                same = got[1].replace(URL.encode(), b"corpus").replace(str(folder).encode() + b"/", b"") == wanted[1]
                check((command, options, name), got[0] == wanted[0] == 0 and (same or command == "info"), got, wanted)
    plan = ["order", "--seq-len", "64", "--count", "5", "--json", "--source"]
    wanted, got = run(server, leat, *plan, "corpus"), run(server, leat, *plan, URL)
    check("order", wanted[0] == got[0] == 0 and got[1] == wanted[1], got, wanted)
    for program in (leat, tiny):
        clear(server)
        for _ in range(2):
            code, out, said = run(server, program, "verify", URL)
            check("verify", code == 0 and b"nothing is wrong" in out, code, out, said)
    before = len(server.requests)
    run(server, leat, "verify", URL)
    check("what is here is not fetched again", len(server.requests) - before <= 4, len(server.requests) - before)


def test_lists(server):
    (folder / "two").write_text(f"{URL}\n{folder}/corpus\n")
    code, out, said = run(server, leat, "info", "@two", "--json")
    check("a list of both kinds", code == 0 and json.loads(out)["tokens"] == 2 * TOKENS, code, said)
    for number in range(5):  # the server lists two objects at once
        for suffix in (".leat", ".tokens"):
            server.objects[f"b/run/part-{number}{suffix}"] = server.objects["b/corpus" + suffix]
    server.objects["b/run/.hidden.leat"] = server.objects["b/run/x.partial.leat"] = b"no index"
    server.objects["b/run/deeper/y.leat"] = b"none either"
    code, out, said = run(server, leat, "info", "s3://b/run/", "--json")
    check("a folder", code == 0 and json.loads(out)["tokens"] == 5 * TOKENS, code, said)
    for parts, why in ((5, ""), (6, "is not finished: 5 of its 6 parts are there")):
        server.objects["b/run/leat-run"] = f"leat run 1\nparts {parts}\n".encode()
        code, out, said = run(server, leat, "info", "s3://b/run/", "--json")
        check("a run", code == (why != "") and why in said, code, said)
    server.objects["b/run/other.leat"] = b"not opened"
    code, out, said = run(server, leat, "info", "s3://b/run/")
    check("what is no part", code == 1 and "s3://b/run/other.leat is not a part" in said, code, said)
    for name, why in (("s3://b/none/", "holds no dataset"), (server.url + "/b/run/", "only buckets can be listed")):
        code, out, said = run(server, leat, "info", name)
        check(name, code == 1 and why in said, code, said)


def test_engines(server):
    for engine in (AUTO, MAP, PREAD, ADVISE, URING):
        for access in (LEASED, TRUSTED) if engine == MAP else (LEASED,):  # the one that gives what it does not copy
            clear(server)
            got = batches(server, URL, engine, access)
            check(("cold", engine, access), got[0] == BATCHES and got[2] == 0, got[1:], len(got[0]))
            got = batches(server, URL, engine, access)
            check(("again", engine, access), got[0] == BATCHES and got[2] == 0, got[1:])
    clear(server)
    with Locked(cache):
        for engine in (URING, MAP, PREAD):
            got = batches(server, URL, engine, TRUSTED)
            check(("exact", engine), got[0] == BATCHES and got[2] == 0, got[1:])
            if engine == URING:
                check("a notice", "tokens still come from the server" in got[3], got[1:])
                check("a line for a log", ", remote " in got[3] and " requests, " in got[3], got[1:])
    clear(server)
    got = batches(server, URL, AUTO, LEASED, "0", "0")
    check("without a thread", got[0] == BATCHES, got[1:])
    clear(server)
    code, out, said = run(server, build / "leat-bench", "load", "--source", URL, "--seq-len", "512", "--batch", "8",
                          "--json", "--steps", "20")
    numbers = json.loads(out or "{}").get("remote", {})
    check("leat-bench load", code == 0 and numbers.get("requests", 0) > 0 and numbers.get("bytes", 0) > 0, code, said,
          numbers)


def test_slices(server):
    """Slices of rows, with labels ahead: what a row's other slices need of the server is left there."""
    words = ("--seq-len", "65536", "--batch", "4", "--slice", "1/8", "--ahead", "2", "--output", "i32", "--checksum",
             "--epochs", "1", "--json")
    local = json.loads(run(server, build / "leat-bench", "load", "--source", "corpus", *words)[1])
    clear(server)
    with Locked(cache):
        code, out, said = run(server, build / "leat-bench", "load", "--source", URL, *words)
        got = json.loads(out or "{}")
        check("slices", code == 0 and got.get("checksum") == local["checksum"], code, said, got)
        check("their bytes", 0 < got["remote"]["bytes"] < TOKENS * 2 / 3, got["remote"], TOKENS)
    clear(server)


def test_stretches(server):
    """A plan in stretches gives the rows of the local datasets, and fetches each page once, in few requests, of which
    those of the first batch are small; dealt by lanes, a rank fetches little but its own lanes."""
    sizes = {"near": 4 << 20, "other": 3 << 20}
    for name, tokens in sizes.items():
        run(server, build / "leat-bench-dev", "counting", "-o", name, "--tokens", str(tokens))
        for file in folder.glob(f"{name}.*"):
            server.objects[f"n/{file.name}"] = file.read_bytes()
    words = ("--seq-len", "2048", "--batch", "8", "--stretch", "128KiB", "--mix", "8", "--lanes", "4", "--epochs", "1",
             "--steps", "1000000", "--checksum", "--json")
    dealt = *words, "--world", "4", "--rank", "2", "--balance", "lanes"
    plan = words[:2] + words[4:12] + ("--count", "8", "--source", "near:2", "--source", "other", "--json")
    first = [json.loads(line) for line in run(server, leat, "order", *plan)[1].splitlines()]
    first = [(("near", "other")[row["source"]], row["pieces"][0]["token"] * 2) for row in first]
    whole = 2 * sum(sizes.values())
    for how, share, most in (words, 1, 140), (dealt, 1 / 4, 50):
        local, there = (("--source", f"{place}near:2", "--source", f"{place}other") for place in ("", "s3://n/"))
        local = json.loads(run(server, build / "leat-bench", "load", *local, *how)[1])
        clear(server)
        before = len(server.requests)
        with Locked(cache):
            code, out, said = run(server, build / "leat-bench", "load", *there, *how)
            got = json.loads(out or "{}")
            check("stretches", code == 0 and got.get("checksum") == local["checksum"], code, said, got)
            check("their bytes", 0.9 * share * whole < got["remote"]["bytes"] < 1.1 * share * whole, got["remote"])
            check("their requests", got["remote"]["requests"] < most, got["remote"])
            for name, token in first if how == words else ():
                asked = bytes_asked(server, before, name, token)
                check("the first batch", 0 < asked < 1 << 16, name, token, asked)
    clear(server)


def bytes_asked(server, before, name, at):
    """The bytes of the request that brought this byte of a dataset's tokens; 0: none did."""
    for _, _, path, headers in server.requests[before:]:
        first, _, last = headers.get("Range", "").removeprefix("bytes=").partition("-")
        if path.endswith(f"/{name}.tokens") and first and int(first) <= at <= int(last):
            return int(last) - int(first) + 1
    return 0


def window_pages(server, samples):
    """The pages around the first windows."""
    lines = run(server, leat, "order", "--source", "corpus", "--seq-len", "512", "--count", str(samples), "--json")[1]
    pages = set()
    for line in lines.decode().splitlines():
        first = json.loads(line)["pieces"][0]["token"] * 2
        pages.update(range(first // 4096, (first + 513 * 2 - 1) // 4096 + 1))
    return pages


def asked_pages(server, before):
    """Those of the tokens that were asked for since there were so many requests."""
    asked = set()
    for _, _, path, headers in server.requests[before:]:
        first, _, last = headers.get("Range", "").removeprefix("bytes=").partition("-")
        if path.endswith(".tokens") and first != last:
            asked.update(range(int(first) // 4096, int(last) // 4096 + 1))
    return asked


def test_ahead(server):
    """While the first window does not come, those of many more batches than there are slots are asked for."""
    clear(server)
    wanted, before = window_pages(server, 64 * 8), len(server.requests)
    server.silent = ("b/corpus.tokens", 4096 * min(window_pages(server, 1)))
    with Locked(cache):
        process, began, asked = begin(server, probe, URL, AUTO, LEASED, "1"), time.monotonic(), set()
        while not wanted <= asked and process.poll() is None and time.monotonic() - began < 120:
            time.sleep(0.01)
            asked = asked_pages(server, before)
        process.kill()
        end(server, process)
    check("windows of 64 batches are asked for", wanted <= asked, len(wanted), len(wanted - asked))
    clear(server)


def test_exact(server):
    """A few batches of a dataset need a few pages of it."""
    clear(server)
    # two batches, sixteen slots and 64 batches beyond them, of eight windows; up to two pages between them come along
    pages, before = window_pages(server, (2 + 16 + 64) * 8), len(server.requests)
    between = {p + i for p in pages for i in (1, 2) if pages.intersection(range(p + i + 1, p + 4))}
    with Locked(cache):
        got = batches(server, URL, AUTO, LEASED, "2")
        check("two batches", got[0] == BATCHES[:2], got)
        more = asked_pages(server, before) - pages - between
        check("nothing that nobody asked for", not more and len(pages | between) < TOKENS * 2 / 4096 * 0.9, more, got)
    got = batches(server, URL, AUTO, LEASED, "1", "1", "wait")
    check("the rest arrives", got[0] == BATCHES[:1] and inside("tokens") and not inside("map"), got)
    check("the memory of a range is given back", int(got[1]["mapped"]) < 8 << 20, got)
    check("its bytes", inside("tokens").read_bytes() == server.objects["b/corpus.tokens"])
    before = len(server.requests)
    got = batches(server)
    check("it is local now", got[0] == BATCHES and len(server.requests) - before <= 4, got[1:])


def test_faults(server):
    for faults in (["503", "500"], ["", "", "", "reset"] * 3, ["", "", "", "short", "wrong"] * 4,
                   ["", "", "wrong", "wrong"], ["", "", "", "", "later"]):
        for engine in (AUTO, PREAD) if "wrong" in faults else (AUTO,):
            clear(server)
            server.faults, server.fault_suffix = list(faults), ".tokens"
            got = batches(server, URL, engine)
            check((faults, engine), got[0] == BATCHES and got[2] == 0, got[1:], len(got[0]))
    for n in range(5):  # a wrong byte in an answer for the index, also its header, ended the opening
        clear(server)
        server.faults, server.fault_suffix = [""] * n + ["wrong"], ".leat"
        got = batches(server)
        check(("answer for the index", n), got[0] == BATCHES, got[1:], len(got[0]))
    for faults, why in ((["wrong"] * 10000, "arrived damaged 3 times"),
                                (["denied"] * 10000, "denies access"),
                                (["500"] * 10000, "500 InternalError, 3 times"),
                                (["changed"], "has changed while it was read")):
        for start in (1, 30):  # while it is opened, and in the middle
            clear(server)
            objects = dict(server.objects)
            with Locked(cache):
                server.faults, server.fault_suffix = [""] * start + faults, ".tokens"
                got = batches(server)
            server.objects = objects
            check((faults[0], start), got[2] == 1 and got[0] == BATCHES[:len(got[0])] and len(got[0]) < len(BATCHES) and
                  (why in got[3] or faults[0] == "wrong" and start == 1 and "does not match" in got[3]) and
                  "s3://b/corpus.tokens" in got[3], got)
            clear(server)
    check("and nothing remains of it", batches(server)[0] == BATCHES)
    clear(server)
    before = len(server.requests)
    server.faults, server.fault_suffix = ["much later"] * 2, ".leat"
    code, _, said = run(server, build / "tiny" / "cache_probe", URL, AUTO, LEASED, "1")
    asked = [r[0] for r in server.requests[before:] if r[2].endswith(".leat")]
    # a second here; that it is one in all tries together, test_due.c sees
    check("what a server can ask to wait is bounded", code == 0 and asked[1] - asked[0] >= 1, code, said, asked)
    clear(server)
    server.faults, server.fault_suffix = ["", *["wrong"] * 20], ".leat"
    code, _, said = run(server, leat, "info", URL)
    check("a damaged index", code == 3 and "s3://b/corpus.leat" in said and not inside("index.leat"), code, said)
    clear(server)
    code, _, said = run(server, leat, "info", "s3://b/none")
    check("nothing there", code == 1 and "s3://b/none.leat does not exist" in said, code, said)


def test_verify(server):
    """Damage on the server is named as that of a file is, by page and documents: once these were "0 pages, 2 other
    places". An object that is replaced meanwhile is no damage, but a failure, and so it is for cat and pull."""
    good = dict(server.objects)
    for program in (leat, tiny):
        for pages in ([3], [1, 2, 5]):
            tokens = bytearray(good["b/corpus.tokens"])
            for page in pages:
                tokens[4096 * page + 100] ^= 1
            (folder / "bad.tokens").write_bytes(tokens)
            (folder / "bad.leat").write_bytes(good["b/corpus.leat"])
            wanted = run(server, program, "verify", "bad", "--json")
            server.objects["b/corpus.tokens"] = bytes(tokens)
            clear(server)
            got = run(server, program, "verify", URL, "--json")
            server.objects = dict(good)
            first, second = json.loads(wanted[1]), json.loads(got[1])
            keys = ["ok", "status", "damaged_pages", "page", "first_document", "documents", "damaged_others"]
            check(("verify", pages), got[0] == wanted[0] == 3 and all(first[key] == second[key] for key in keys), got,
                  wanted)
            check(("its sentence", pages), f"s3://b/corpus.tokens: page {pages[0]} arrived damaged 3 times" in got[2],
                  got)
            code, out, said = run(server, program, "verify", URL)
            check("damage that has gone", code == 0, code, out, said)
    for words in (["verify", URL], ["cat", "--tokens", "0:60000", URL]):
        for start in (1, 2):
            clear(server)
            objects = dict(server.objects)
            with Locked(cache):
                server.faults, server.fault_suffix = [""] * start + ["changed"], ".tokens"
                code, out, said = run(server, leat, *words)
            server.objects = objects
            check(("changed", words, start), code == 1 and "has changed while it was read" in said and
                  b"is damaged" not in out, code, out, said)
    clear(server)


def test_bench(server):
    """What has holes, but none where it is read, asks for nothing: that was "0 requests, 0 bytes"."""
    clear(server)
    load = build / "leat-bench", "load", "--source", URL, "--seq-len", "64", "--batch", "2", "--steps", "2"
    with Locked(cache):
        run(server, leat, "verify", URL)  # brings all, but names no file
        code, out, said = run(server, *load)
    nothing = b"  server   no requests: all that was needed was in the cache\n"
    check("nothing was asked", code == 0 and nothing in out, code, out, said)
    clear(server)
    with Locked(cache):  # who fills could have been first
        code, out, said = run(server, *load)
    check("something was asked", code == 0 and b" again), " in out and nothing not in out, code, out, said)


def test_closing(server):
    """Whatever the server does, who takes no more batches need not wait for it."""
    clear(server)
    first = window_pages(server, 8)
    with Locked(cache):
        server.faults, server.fault_suffix = ["silent"] * 10000, ".tokens"
        server.fault_spares = [4096 * page for page in {0} | first]
        began = time.monotonic()
        got = batches(server, URL, AUTO, LEASED, "1")
        check("closing", got[0] == BATCHES[:1] and time.monotonic() - began < 40, got, time.monotonic() - began)
        check("some never got an answer", len(server.faults) < 10000)
    clear(server)


def test_together(server):
    clear(server)
    running = [begin(server, probe, URL, engine, access, "0")
               for engine, access in ((AUTO, LEASED), (PREAD, READ), (MAP, TRUSTED))]
    for process in running:
        out, said = process.communicate()
        check("together", out.decode().split("\n")[:-2] == BATCHES, process.returncode, said)
    server.settle()


def test_killed(server):
    """The first process to come after a kill may find anything, and gives the right batches."""
    for number in range(4):
        clear(server)
        size = len(server.objects["b/corpus.tokens"])
        process = begin(server, probe, URL, AUTO, LEASED, "0")
        enough = size * number // 4
        while process.poll() is None:
            tokens = inside("tokens.partial") or inside("index.partial")
            try:
                if tokens and tokens.stat().st_blocks * 512 >= enough:
                    break
            except FileNotFoundError:
                break
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        server.settle()
        check(("after a kill", number), batches(server)[0] == BATCHES)


def change(path, at, count, what=None):
    with open(path, "r+b") as f:
        f.seek(at)
        found = f.read(count)
        f.seek(at)
        f.write(bytes(255 - b for b in found) if what is None else what * count)


def test_changed_by_hand(server):
    size = len(server.objects["b/corpus.tokens"])

    def partial():
        clear(server)
        with Locked(cache):
            batches(server, URL, AUTO, LEASED, "40")
    for what, act in (
        ("tokens", lambda: [change(inside("tokens.partial"), at, 1) for at in range(0, size, 4096)]),
        ("a map that promises everything", lambda: change(inside("map"), 0, (size + 4095) // 4096, b"\1")),
        ("a map of other bytes", lambda: change(inside("map"), 0, (size + 4095) // 4096, b"\2")),
        ("a cut map", lambda: os.truncate(inside("map"), 1)),
        ("cut tokens", lambda: os.truncate(inside("tokens.partial"), size // 2)),
        ("no map", lambda: inside("map").unlink()),
        ("no tokens", lambda: inside("tokens.partial").unlink()),
        ("another index", lambda: change(inside("index.leat"), 100, 8)),
    ):
        partial()
        act()
        got = batches(server)
        check(what, got[0] == BATCHES, got[1:])
    clear(server)
    batches(server, URL, AUTO, LEASED, "1", "1", "wait")
    change(inside("tokens"), size // 2, 1)
    got = batches(server)
    check("damage of a complete one", got[2] == 1 and "is damaged" in got[3] and str(cache) in got[3] and
          "; remove its folder in the cache to fetch it again" in got[3], got[1:])
    code, _, said = run(server, leat, "verify", URL)
    check("and verified", code == 3 and str(cache).encode() in _ and "remove its folder in the cache" in said,
          code, _, said)
    os.truncate(inside("tokens"), 4096)
    code, _, said = run(server, leat, "info", URL)
    check("a complete one that is cut", code == 3 and "remove its folder" in said, code, said)
    clear(server)


def test_room(server):
    """Room for two: the one that nobody has open, and was opened longest ago, goes; one that is open stays."""
    size = sum(len(server.objects["b/corpus" + s]) for s in (".leat", ".tokens"))
    objects = {}
    for name in ("x", "y", "z"):
        checks.pack(leat, folder, name, [*text, name], ids=True)
        objects.update({f"b/{name}{s}": (folder / (name + s)).read_bytes() for s in (".leat", ".tokens")})
    server.objects.update(objects)

    def fill(name, limit):
        process = subprocess.Popen([probe, f"s3://b/{name}", AUTO, LEASED, "1", "1", "wait"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, cwd=folder, env={
                                       "PATH": os.environ["PATH"], "LEAT_CACHE": str(cache), "LEAT_CACHE_SIZE": limit,
                                       **server.environment(AWS_MAX_ATTEMPTS="3")})
        return end(server, process)

    def complete():
        return sorted(p.parent.name for p in cache.glob("*-*/tokens"))

    clear(server)
    two = f"{size * 5 // 2 // 1024}KiB"
    kept = {}
    for name in ("x", "y"):
        before = complete()
        code, _, said = fill(name, two)
        kept[name] = [p for p in complete() if p not in before]
        check(("room for", name), code == 0 and len(kept[name]) == 1, code, said, complete())
    os.utime(cache / kept["x"][0] / "in-use", (1, 1))
    check("room for a third", fill("z", two)[0] == 0 and len(complete()) == 2, complete())
    check("the oldest has gone", not (cache / kept["x"][0]).exists() and kept["y"][0] in complete(), complete())
    os.utime(cache / kept["y"][0] / "in-use", (1, 1))
    with open(cache / kept["y"][0] / "in-use") as file:
        fcntl.flock(file, fcntl.LOCK_SH)  # as one that has it open
        check("what is open stays", fill("x", two)[0] == 0 and kept["y"][0] in complete(), complete())
    code, out, said = run(server, probe, "s3://b/corpus", AUTO, LEASED, "0")
    check("and all are right", out.decode().split("\n")[:len(BATCHES)] == BATCHES, code, said)
    for limit in ("lots", "12GB", "0"):
        code, _, said = fill("x", limit)
        check(limit, code == 1 and "a size like 500GiB" in said, code, said)
    clear(server)


def test_full(server):
    """A disk without room, as a limit of the size of files gives it."""
    clear(server)
    process = subprocess.Popen([leat, "info", URL], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, env={
        "PATH": os.environ["PATH"], "LEAT_CACHE": str(cache), **server.environment()},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)), restore_signals=False)
    code, _, said = end(server, process)
    check("a full disk", code == 1 and "LEAT_CACHE" in said and "tokens.partial" in said, code, said)
    check("and then", batches(server)[0] == BATCHES)


def test_folders(server):
    clear(server)
    (folder / "file").write_text("")
    for place, why in ((folder / "file", "cannot be written"), ("/proc/leat/cache", "cannot be written")):
        code, _, said = run(server, leat, "info", URL, place=place)
        check(place, code == 1 and why in said and "LEAT_CACHE" in said, code, said)


text = checks.texts(random.Random(1), 1500)
checks.pack(leat, folder, "corpus", text, ids=True)
with S3Server(checks.datasets(folder)) as server:
    checks.need_libcurl(run(server, leat, "info", URL)[2])
    TOKENS = json.loads(run(server, leat, "info", "corpus", "--json")[1])["tokens"]
    BATCHES = batches(server, "corpus", PREAD, READ)[0]
    checks.run_tests((test_commands, test_lists, test_engines, test_slices, test_stretches, test_exact, test_ahead,
                      test_faults, test_verify, test_bench, test_closing, test_together, test_killed,
                      test_changed_by_hand, test_room, test_full, test_folders), server)
checks.finish(folder)
