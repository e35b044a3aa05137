#!/usr/bin/env python3
"""test_loader_order.py: the bytes that leat-bench load delivers are those at the places that `leat order` prints, read
here from the token files alone: for all engines and outputs, ranks, begins, with and without a thread, on the host and
by way of a GPU that the stand-in driver plays. Needs leat and
leat-bench of $LEAT_BUILD."""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

build = os.path.abspath(os.environ.get("LEAT_BUILD", "build"))
seed = int(os.environ.get("LEAT_TEST_SEED", "1"), 0)
tmp = tempfile.mkdtemp(dir=os.environ.get("LEAT_TEST_TMP"))


def run(*words):
    done = subprocess.run(list(map(str, words)), cwd=tmp, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: exit code {done.returncode}: {done.stderr.decode()}")
    return done.stdout.decode()


def leat(*words):
    return run(build + "/leat", *words)


def bench(*words):
    return run(build + "/leat-bench", *words)


def token_file(source, part):
    return os.path.join(tmp, source[part] + ".tokens")


def expected(sources, width, plan, begin, steps, batch, rank, world):
    """The rows of `steps` batches from sample `begin` on, by leat order."""
    out = b""
    lines = leat("order", *plan, "--from", begin, "--count", steps * batch, "--json")
    rows = [json.loads(line) for line in lines.splitlines()]
    for i, row in enumerate(rows):
        if (i % batch) // (batch // world) != rank:
            continue
        with open(token_file(sources[row["source"]], row.get("part", 0)), "rb") as f:
            f.seek(row["offset"] * width)
            out += f.read((row["length"] + 1) * width)
    return out


def one(sources, width, plan, rng, engine, output):
    world = rng.choice([1, 1, 2, 3])
    batch = world * rng.randint(1, 6)
    rank = rng.randrange(world)
    begin = rng.choice([0, rng.randrange(300)])
    steps = rng.randint(1, 12)
    words = ["load", *plan, "--from", begin, "--steps", steps, "--batch", batch, "--rank", rank, "--world", world,
             "--engine", engine, "--output", output, "--threads", rng.choice([0, 1, 2, 5]), "--dump", "dump", "--json"]
    if output != "views":
        words += rng.choice([[], ["--device", "cuda", "--driver", f"{build}/fake_cuda/libfake_cuda.so"]])
    words += rng.choice([[], ["--borrow"], ["--no-verify"], ["--slots", 2], ["--synthetic", "--rounds", 1]])
    figures = json.loads(bench(*words))
    want = expected(sources, width, plan, begin, steps + ("--synthetic" in words), batch, rank, world)
    with open(os.path.join(tmp, "dump"), "rb") as f:
        got = f.read()
    if got != want:
        at = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
        sys.exit(f"seed {seed}: {' '.join(map(str, words))}: {len(got)} bytes of {len(want)}, wrong from byte {at} on")
    if figures["tokens"] != len(want) // width - figures["steps"] * (batch // world) and "--synthetic" not in words:
        sys.exit(f"{' '.join(map(str, words))}: tells of {figures['tokens']} tokens")


def main():
    print(f"LEAT_TEST_SEED={seed}", file=sys.stderr)
    rng = random.Random(seed)
    with open("include/leat/loader.h", encoding="utf-8") as f:
        engines = [name.lower() for name in re.findall(r"^    LEAT_ENGINE_(\w+) = ", f.read(), re.M)]
    for width in (2, 4):
        for name, tokens in (("a", 60000), ("b", 20000), ("c", 7000)):
            run(build + "/leat-bench-dev", "counting", "-o", f"{name}{width}", "--tokens", tokens, "--width", width,
                "--document-length", 80)
        with open(os.path.join(tmp, f"list{width}"), "w", encoding="ascii") as f:
            f.write(f"b{width}\nc{width}\n")
        sources = [[f"a{width}"], [f"b{width}", f"c{width}"]]
        plan = ["--source", f"a{width}:2", "--source", f"@list{width}:1", "--seq-len", 64, "--seed", seed]
        for engine in engines:
            for output in ("tokens", "i32", "i64", "packed"):
                one(sources, width, plan, rng, engine, output)
        one(sources, width, plan, rng, "auto", "views")


main()
