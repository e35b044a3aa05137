#!/usr/bin/env python3
"""test_pull.py: leat pull gives the same two files or says why not: through answers that are cut short, wrong bytes,
a dataset that changes meanwhile, kills at any moment, and what somebody changed in the files of a stopped pull. Until
all is here, no dataset of the name exists."""
import random
import signal
import time

import checks
from checks import Commands, check
from s3_server import S3Server

leat = checks.build / "tiny" / "leat"  # ranges of 8 KiB
folder = checks.own_folder("pull", leat)
commands = Commands(leat, folder)


def pull(server, *words):
    return commands.end(server, commands.begin(server, "pull", *words))


def here(name):
    return [(folder / f"{name}.{suffix}").read_bytes() if (folder / f"{name}.{suffix}").exists() else None
            for suffix in ("leat", "tokens")]


def left(name):
    return sorted(p.name for p in folder.iterdir() if p.name.startswith(name + "."))


def check_pulled(what, server, name, result, source="b/corpus"):
    code, summary, said = result
    whole = here(name) == [server.objects[source + ".leat"], server.objects[source + ".tokens"]]
    check(what, code == 0 and whole and left(name) == [f"{name}.leat", f"{name}.tokens"], code, said, left(name))
    return summary


def check_refused(what, name, result, status, why):
    code, _, said = result
    check(what, code == status and why in said and here(name) == [None, None], code, said, left(name))


def test_whole(server):
    summary = check_pulled("a pull", server, "one", pull(server, "s3://b/corpus", "one"))
    bytes_of = sum(len(b) for b in here("one"))
    check("its summary", summary["bytes"] == bytes_of and summary["kept"] < 4096 and summary["retries"] == 0, summary)
    code, _, said = pull(server, "s3://b/corpus", "one")
    check("one is there", code == 1 and "one.leat already exists" in said and "--force" in said, said)
    (folder / "one.tokens").write_bytes(b"")
    check_pulled("replacing it", server, "one", pull(server, "s3://b/corpus.tokens", "one", "--force"))
    server.open_buckets = {"b"}
    check_pulled("by http", server, "web", pull(server, server.url + "/b/corpus?x=1", "web", "--connections", "1"))
    server.open_buckets = set()
    check_pulled("an empty one", server, "none", pull(server, "s3://b/empty", "none"), "b/empty")


def test_faults(server):
    for number, faults in enumerate((["reset", "short", "503"], ["wrong"], ["", "wrong", "wrong"])):
        server.faults, server.fault_suffix = ["", *faults], ".tokens"
        check_pulled(faults, server, f"f{number}", pull(server, "s3://b/corpus", f"f{number}"))
    server.faults = [""] + ["wrong"] * 20
    check_refused("damage", "d", pull(server, "s3://b/corpus", "d"), 3, "arrived damaged 3 times")
    server.faults, server.fault_suffix = ["", ""] + ["wrong"] * 20, ".leat"
    check_refused("damage of the index", "i", pull(server, "s3://b/corpus", "i"), 3, "on was damaged 3 times")
    server.faults = ["", "", "", "denied"]
    check_refused("a section that is denied", "i", pull(server, "s3://b/corpus", "i"), 1, "denies access")
    # one wrong byte of the index ended a pull, though the server's file is right
    for n in range(6):
        server.faults = [""] * n + ["wrong"]
        check_pulled(f"answer {n} for the index", server, f"x{n}", pull(server, "s3://b/corpus", f"x{n}"))
    server.faults = []
    check_pulled("damage that has gone", server, "d", pull(server, "s3://b/corpus", "d"))
    before = server.objects["b/corpus.tokens"]
    for server.ignores_conditions in (False, True):
        server.faults, server.fault_suffix = ["", "", "changed"], ".tokens"
        check_refused("a change", "c", pull(server, "s3://b/corpus", "c"), 1, "has changed while it was read")
        server.objects["b/corpus.tokens"] = before
    server.ignores_conditions = False
    server.faults, server.fault_suffix = [], ""
    check_refused("nothing there", "n", pull(server, "s3://b/no", "n"), 1, "s3://b/no.leat does not exist")
    server.objects["b/short.leat"] = server.objects["b/corpus.leat"]
    server.objects["b/short.tokens"] = before[:-2]
    check_refused("files of different runs", "n", pull(server, "s3://b/short", "n"), 3, "s3://b/short.tokens has")


def test_stopped(server):
    """The second range never comes; the others do."""
    for name, signal_number, wanted in (("k", signal.SIGKILL, -9), ("t", signal.SIGTERM, 5)):
        server.faults, server.silent = [], ("b/corpus.tokens", 8192)
        process = commands.begin(server, "pull", "s3://b/corpus", name)
        tokens = folder / f"{name}.partial.tokens"
        enough = len(server.objects["b/corpus.tokens"]) * 2 // 3
        while process.poll() is None and (not tokens.exists() or tokens.stat().st_blocks * 512 < enough):
            time.sleep(0.02)
        code, _, said = pull(server, "s3://b/corpus", name)
        check("two at once", code == 1 and "another process" in said, code, said)
        process.send_signal(signal_number)
        code, _, said = commands.end(server, process)
        check("stopped", code == wanted and here(name) == [None, None], code, said)
        check("what is left", ("remove what is left: rm -r t.partial.*\n" in said) == (name == "t"), said)
        with open(tokens, "r+b") as f:
            f.write(b"damage")
        server.silent = None
        summary = check_pulled("going on", server, name, pull(server, "s3://b/corpus", name))
        kept = summary.get("kept", 0)
        tokens = len(server.objects["b/corpus.tokens"])
        check("what was right is kept", tokens // 2 < kept < len(server.objects["b/corpus.leat"]) + tokens - 8192, kept)


def test_left(server):
    """What another pull, or anybody, has left in the files of a pull."""
    index, tokens = server.objects["b/corpus.leat"], server.objects["b/corpus.tokens"]
    (folder / "p.partial.leat").write_bytes(b"\xff" * len(index))
    check_pulled("bytes of another index", server, "p", pull(server, "s3://b/corpus", "p"))
    (folder / "h.partial.leat").write_bytes(index)
    (folder / "h.tokens").write_bytes(tokens)
    summary = check_pulled("killed between two names", server, "h", pull(server, "s3://b/corpus", "h"))
    check("all of it is kept", summary.get("kept", 0) > len(tokens) + len(index) - 8192, summary)
    with open(folder / "m.partial.leat", "wb") as f:  # one piece of 8 KiB is not here yet
        f.write(index[:16384])
        f.seek(24576)
        f.write(index[24576:])
    before = len(server.requests)
    summary = check_pulled("a piece of a section", server, "m", pull(server, "s3://b/corpus", "m"))
    again = [h.get("Range") for _, _, p, h in server.requests[before:] if p.endswith(".leat")]
    check("only that piece is brought", "bytes=16384-24575" in again and len(again) < 16, again, len(index))


words = random.Random(1)
text = ["".join(words.choices("abcdefgh ", k=words.randrange(2000 if i < 200 else 5))) for i in range(5000)]
checks.pack(leat, folder, "corpus", text, ids=True)
checks.pack(leat, folder, "empty", [])
with S3Server(checks.datasets(folder)) as server:
    checks.need_libcurl(pull(server, "s3://b/none", "x")[2])
    checks.run_tests((test_whole, test_faults, test_stopped, test_left), server)
checks.finish(folder)
