#!/usr/bin/env python3
"""test_run_damage.py: damage that is found while parts are joined, and what to do then.

- leat merge compares every page that it reads with its hash, with --shuffle, --dedup, --split and --in-place, too: code
  3, a message with the page and the part, and no dataset. It once gave damaged tokens hashes that were right.
- Each file that the parts of a run leave for each other (deduplicated, split and shuffled) is changed in a byte, or cut
  short. It never changes the result: either a part fails and names the file, and what its message says to do leads to
  the bytes of one run, or nobody needed that byte. The advice once was to remove one file, after which parts waited for
  ever, or said that they were lost.
"""
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
os.environ.setdefault("LEAT_TEST_SEED", str(random.randrange(10**6)))  # each run tries others
from programs import LEAT, rng  # noqa: E402

PARTS = 3
EVERY = "LEAT_TEST_EVERY" in os.environ
fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else os.environ.get("LEAT_TEST_TMP")
folder = pathlib.Path(tempfile.mkdtemp(dir=fast)).resolve()
os.chdir(folder)


def leat(*words):
    return subprocess.run([LEAT, *map(str, words)], capture_output=True, text=True, check=False)


def done(*words):
    ran = leat(*words)
    assert ran.returncode == 0, (words, ran.stderr)


def write_texts(name, count, distinct, length):
    with open(name, "w", encoding="utf-8") as out:
        for _ in range(count):
            out.write('{"text":"text %s%d"}\n' % ("x" * rng.randrange(length), rng.randrange(distinct)))


def change(path, at):
    damaged = bytearray(path.read_bytes())
    damaged[at] ^= 0x10
    path.write_bytes(damaged)


def same(one, other):
    return all(pathlib.Path(one + s).read_bytes() == pathlib.Path(other + s).read_bytes() for s in (".tokens", ".leat"))


# ---- Pages of parts -------------------------------------------------------------------------------------------------

def check_merges():
    write_texts("long.jsonl", 600, 300, 400)
    done("pack", "-o", "whole", "-t", "bytes", "long.jsonl")
    done("pack", "--run", "merged", "--parts", PARTS, "-t", "bytes", "long.jsonl")
    for part in range(1, PARTS + 1):
        done("pack", "--run", "merged", "--part", part)
    tokens = folder / "merged/part-2.tokens"
    pages = (tokens.stat().st_size + 4095) // 4096
    assert pages > 10, pages
    for options in ([], ["--shuffle", "3"], ["--dedup"], ["--dedup", "--shuffle", "3"], ["--split", "a=0.3"],
                    ["--in-place"]):
        for page in (0, 1, rng.randrange(2, pages - 1), pages - 2, pages - 1):
            change(tokens, page * 4096 + 7)
            ran = leat("merge", "-o", "made", *options, *(f"merged/part-{part}" for part in range(1, PARTS + 1)))
            change(tokens, page * 4096 + 7)
            ends = page in (0, pages - 1)  # which opening looks at
            wanted = "first or last page of" if ends else f"page {page} of"
            assert ran.returncode == 3 and wanted in ran.stderr and "merged/part-2.tokens" in ran.stderr, \
                (options, page, ran.returncode, ran.stderr)
            left = list(folder.glob("made*"))
            assert not left, left
    done("merge", "-o", "made", "merged")
    assert same("made", "whole")


# ---- What parts leave for each other --------------------------------------------------------------------------------

def finish(run):
    """Packs all parts until the run is done. The first message of a part that failed; None: none did."""
    for _ in range(10):
        for part in range(1, PARTS + 1):
            ran = leat("pack", "--run", run, "--part", part)
            if ran.returncode != 0:
                return ran
        if '"complete": true' in leat("status", run, "--json").stdout:
            return None
    raise AssertionError("parts wait for ever: " + leat("status", run).stdout)


def follow(run, message):
    """Does what the message says."""
    at = re.search(r"; remove (.*), and pack (part (\d+)|all parts) again$", message)
    assert at, message
    what = at.group(1)
    files = re.match(r"(?:all|the) files (part-[\d.]*)\* of (\S+) and the folders in it(.*)$", what)
    if what == "it":
        os.unlink(re.search(r"(\S+/packed/part-\S+?)(?::| is | ends | has )", message).group(1))
    else:
        assert files and files.group(2) == str(folder / run), what
        kept = re.findall(r"\.(\w+)", files.group(3))
        for path in (folder / run).rglob(files.group(1) + "*"):
            if path.suffix[1:] not in kept:
                path.unlink()
    if at.group(3):
        ran = leat("pack", "--run", run, "--part", at.group(3))
        assert ran.returncode == 0, (message, ran.stderr)


def places(path):
    size = path.stat().st_size
    return sorted({rng.randrange(8), *(rng.randrange(8, min(size, 80)) for _ in range(2)), rng.randrange(size),
                   rng.randrange(size // 2, size)})


def damages(path, count):
    """`count` of them. If there are several, one is in what only a checksum covers. All by make check-every."""
    places_of = places(path)
    found = [(f"byte {at}", lambda at=at: change(path, at)) for at in places_of]
    found += [(f"cut to {size}", lambda size=size: os.truncate(path, size))
              for size in (rng.randrange(80), path.stat().st_size - 1)]
    if EVERY:
        return found
    deep = [found.pop(len(places_of) - 1)] if count > 1 else []
    return deep + rng.sample(found, count - len(deep))


def kind_of(name):
    return name.rsplit("part-", 1)[1].split(".", 1)[1]


def try_damage(before, options, name, found, count):
    path = folder / "run" / name
    for what, damage in damages(folder / before / name, count):
        shutil.rmtree("run", ignore_errors=True)
        shutil.copytree(before, "run")
        damage_in_run(path, before, name, damage)
        case = (options, before, name, what)
        ran = finish("run")
        if ran:
            found.add(kind_of(name))
            assert f"/{name}" in ran.stderr, (case, ran.stderr)
            assert ran.returncode in (1, 3), (case, ran.returncode, ran.stderr)
            follow("run", ran.stderr.strip())
            again = finish("run")
            assert again is None, (case, ran.stderr, again.stderr)
        for split in ("", ".a") if "--split" in options else ("",):
            done("merge", "--force", "-o", "made" + split, "run/" + split[1:])
            assert same("made" + split, "one" + split), case


def damage_in_run(path, before, name, damage):
    """`damage` was made for the kept file: it is moved to the run's."""
    kept = (folder / before / name).read_bytes()
    damage()
    shutil.copyfile(folder / before / name, path)
    (folder / before / name).write_bytes(kept)


def check_run(options, steps, wanted):
    for made in folder.glob("one*"):
        made.unlink()
    shutil.rmtree("run", ignore_errors=True)
    done("pack", "-o", "one", "-t", "bytes", *options, "short.jsonl")
    done("pack", "--run", "run", "--parts", PARTS, "-t", "bytes", *options, "short.jsonl")
    found = set()
    # all parts have done the step; one has done the next as well
    for step in range(steps):
        if step > 0:
            done("pack", "--run", "run", "--part", 2)
            shutil.copytree("run", f"kept-{2 * step - 1}")
        for part in range(1, PARTS + 1):
            if step == 0 or part != 2:
                done("pack", "--run", "run", "--part", part)
        if step < steps - 1:
            shutil.copytree("run", f"kept-{2 * step}")
    for before in sorted(path.name for path in folder.glob("kept-*")):
        files, tried = sorted((folder / before).glob("packed/part-[13].*")), set()
        for path in rng.sample(files, len(files)):
            kind = kind_of(path.name)
            if path.suffix == ".beat" or path.stat().st_size == 0:
                continue
            if EVERY or kind not in tried & found:  # that of one part, unless nobody has needed such a file so far
                tried.add(kind)
                try_damage(before, options, f"packed/{path.name}", found, 2 if steps == 3 else 1)
        shutil.rmtree(before)
    assert wanted <= found, (options, found)


check_merges()
write_texts("short.jsonl", 120, 70, 60)
check_run(["--dedup", "--split", "a=0.3"], 3, {"hashes", "same"})
check_run(["--shuffle", "5"], 3, {"counts", "scattered", "scattered.leat"})
# the same files once more, with more to look at them
check_run(["--dedup", "--shuffle", "5", "--split", "a=0.3"], 5,
          {"hashes", "same", "counts", "scattered", "scattered.leat"})
shutil.rmtree(folder)
