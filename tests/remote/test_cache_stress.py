#!/usr/bin/env python3
"""test_cache_stress.py [SECONDS [SEED]]: several processes on one cache with limits of all sizes, by all engines, with
and without threads, through a server that fails now and then; some are killed (-9), some are stopped for a while, and
between the rounds files of the cache are damaged at random. Every batch that any of them gives is the local dataset's,
and what is not killed comes to its end, unless the server gave it a wrong index: it says so and ends. 4 seconds; the
argument makes it as long as one likes."""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import checks
from s3_server import S3Server

seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 4
seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(os.environ.get("LEAT_TEST_SEED", time.time()))
leat, probe = checks.build / "leat", checks.build / "tiny" / "cache_probe"
folder = checks.own_folder("cache-stress", probe, room=True)
cache = folder / "node"
chance = random.Random(seed)
PROCESSES = 4
wrong = []
counts = dict.fromkeys(("rounds", "ended", "killed", "refused", "stopped", "batches", "evicted", "complete"), 0)


def begin(server, name, engine, threads, limit, *more):
    variables = {"PATH": os.environ["PATH"], "LEAT_CACHE": str(cache), **server.environment()}
    if limit:
        variables["LEAT_CACHE_SIZE"] = f"{limit // 1024}KiB"
    with open(folder / f"out.{counts['rounds']}.{len(begun)}", "w+b") as out:
        process = subprocess.Popen([probe, name, engine, "2", "0", threads, *more], cwd=folder, env=variables,
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE)
        begun.append((process, pathlib.Path(out.name), (name, engine, threads, limit)))
    return process


def look(process, path, how):
    """What a process printed is how the dataset begins; unless it was killed, that is all of it."""
    said = process.stderr.read().decode(errors="replace")
    code = process.wait()
    lines = path.read_text().split("\n")
    path.unlink()
    killed = code == -signal.SIGKILL
    given = [line for line in lines[:-1] if " " not in line]
    want = BATCHES[how[0].partition("//b/")[2]]
    refused = code == 1 and ("what arrived from byte" in said or "the header of s3://" in said)
    counts["killed" if killed else "refused" if refused else "ended"] += 1
    counts["batches"] += len(given)
    if given != want[:len(given)] or not (killed or refused) and (code != 0 or len(given) != len(want)):
        at = next((i for i, line in enumerate(given) if line != want[i]), len(given))
        wrong.append((how, code, f"batch {at} of {len(want)}", said))
    if not killed and code == 0:
        counts["evicted"] += " evicted 0 " not in lines[-2]


def damage():
    """Nobody has it open: some bytes of some files become others, or a file is cut off."""
    for path in cache.glob("*-*/*"):
        if path.name in ("tokens", "in-use") or not path.stat().st_size or chance.random() < 0.5:
            continue
        with open(path, "r+b") as file:
            if path.name != "index.leat" and chance.random() < 0.1:
                file.truncate(chance.randrange(path.stat().st_size))
            for _ in range(5):
                file.seek(chance.randrange(path.stat().st_size or 1))
                file.write(bytes([chance.randrange(256)]))


def one_round(server):
    counts["rounds"] += 1
    if chance.random() < 0.3:
        shutil.rmtree(cache, ignore_errors=True)
    elif chance.random() < 0.5:
        damage()
    server.faults = [chance.choice(("503", "reset", "short", "wrong")) if chance.random() < 0.02 else ""
                     for _ in range(20000)]
    begun.clear()
    limits = [chance.choice((4096, SIZE // 10, SIZE // 4, SIZE, 3 * SIZE)) for _ in range(2)] + [0]
    shared = chance.choice(limits)  # most have the same, as ranks do
    for _ in range(PROCESSES):
        begin(server, chance.choice(list(URLS)), chance.choice("01234"), chance.choice("01"),
              shared if chance.random() < 0.7 else chance.choice(limits))
    while any(process.poll() is None for process, _, _ in begun):
        time.sleep(chance.random() / 5)
        process = chance.choice(begun)[0]
        if chance.random() < 0.15:
            process.kill()
            if len(begun) < 2 * PROCESSES:
                begin(server, chance.choice(list(URLS)), chance.choice("01234"), chance.choice("01"), shared)
        elif chance.random() < 0.15 and process.poll() is None:
            process.send_signal(signal.SIGSTOP)
            time.sleep(chance.random())
            process.send_signal(signal.SIGCONT)
            counts["stopped"] += 1
    for one in begun:
        look(*one)
    for path in cache.glob("*-*/tokens"):
        counts["complete"] += 1
        if path.read_bytes() not in URLS.values():
            wrong.append((path, "complete, but not the dataset"))


print("seed", seed)
begun = []
URLS = {f"s3://b/{name}": checks.pack(leat, folder, name, checks.texts(chance, count))
        for name, count in (("corpus", 700), ("other", 300))}
SIZE = len(URLS["s3://b/corpus"])
BATCHES = {}
with S3Server(checks.datasets(folder)) as server:
    for name in ("corpus", "other"):
        process = subprocess.run([probe, name, "2", "2", "0"], cwd=folder, capture_output=True)
        BATCHES[name] = process.stdout.decode().split("\n")[:-2]
    process = begin(server, "s3://b/corpus", "0", "0", 0)
    checks.need_libcurl(process.stderr.read().decode())
    end = time.monotonic() + seconds
    while time.monotonic() < end and not wrong:
        one_round(server)
    server.settle()
print(counts)
for one in wrong:
    print(*one, file=sys.stderr)
if not wrong:
    shutil.rmtree(folder)
sys.exit(1 if wrong or not counts["batches"] else 0)
