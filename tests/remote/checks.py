"""checks.py: what the tests of this folder share: a folder of their own, datasets in it, checks, and leat run beside
the server of the tests."""
import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

build = pathlib.Path(os.environ.get("LEAT_BUILD", "build")).resolve()
temporary = pathlib.Path(os.environ.get("LEAT_TEST_TMP", "/tmp"))
failures = []


def skip(why):
    print(f"skipped: {why}", file=sys.stderr)
    sys.exit(77)


def own_folder(name, *programs, room=False):
    """An empty folder. The test ends as skipped without these programs and, if it needs room, on a full disk: the cache
    leaves a 20th of it free."""
    for program in programs:
        if not program.exists():
            skip(f"no {program}")
    disk = os.statvfs(temporary)
    if room and (disk.f_bavail - disk.f_blocks // 20) * disk.f_frsize < 1 << 30:
        skip(f"the cache would fill nothing: in {temporary}, less than a 20th of the disk and 1 GiB is free")
    folder = temporary / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def texts(chance, count, longest=2000):
    return ["".join(chance.choices("abcdefgh ", k=chance.randrange(longest))) for _ in range(count)]


def pack(leat, folder, name, texts, ids=False):
    """Makes a dataset of these texts, with a token for each byte; returns its tokens."""
    records = ({"text": text, "id": str(i)} if ids else {"text": text} for i, text in enumerate(texts))
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    subprocess.run([leat, "pack", "-t", "bytes", "--end", "none", "-o", name, f"{name}.jsonl"], cwd=folder, check=True,
                   capture_output=True)
    return (folder / f"{name}.tokens").read_bytes()


def datasets(folder):
    """The files of a folder's datasets as objects of the bucket b."""
    return {f"b/{p.name}": p.read_bytes() for p in folder.iterdir() if p.suffix in (".leat", ".tokens")}


def need_libcurl(said):
    """Ends the test as skipped if a command has said that this build cannot reach servers."""
    if any(why in said for why in ("need libcurl", "built without", "made without", "cannot be loaded")):
        skip("no libcurl")


def run_tests(tests, *arguments):
    """Runs the tests whose names have $ONLY_TEST; with $TIMES, it prints their seconds."""
    for test in tests:
        if os.environ.get("ONLY_TEST", "") in test.__name__:
            began = time.monotonic()
            test(*arguments)
            if os.environ.get("TIMES"):
                print(test.__name__, round(time.monotonic() - began, 2), file=sys.stderr)


def finish(folder):
    """Ends the test."""
    shutil.rmtree(folder)
    sys.exit(1 if failures else 0)


def check(what, fine, *seen):
    if not fine:
        failures.append(what)
        print(f"{what}:", *seen, file=sys.stderr)


def begin(server, folder, words, tries, **more):
    """Starts a program in a folder, with a server's keys."""
    return subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={
        "PATH": os.environ["PATH"], **server.environment(AWS_MAX_ATTEMPTS=str(tries)), **more})


class Locked:
    """A file of the cache, locked as by another process. If that is "filling", others only read exactly what they
    need."""

    def __init__(self, cache, name="filling"):
        self.cache, self.name = cache, name

    def __enter__(self):
        self.cache.mkdir(mode=0o700, exist_ok=True)
        self.file = open(self.cache / self.name, "a")
        fcntl.flock(self.file, fcntl.LOCK_EX)

    def __exit__(self, *_):
        self.file.close()


class Commands:
    """Several commands at once, each with --json. What the tests call s3:// is of the scheme that the server has."""

    def __init__(self, leat, folder):
        self.leat, self.folder, self.running = leat, folder, []

    def begin(self, server, *words):
        process = begin(server, self.folder, [
            self.leat, *(word.replace("s3://", f"{server.scheme}://") for word in words), "--json", "--progress",
            "never"], 3)
        self.running.append(process)
        return process

    def end(self, server, process):
        """Its exit code, what it printed, what it said."""
        out, said = process.communicate()
        self.running.remove(process)
        if not self.running:
            server.settle()
        said = said.decode().replace(f"{server.scheme}://", "s3://")
        check("no key is in a message", not any(secret in said for secret in server.secrets), said)
        return process.returncode, json.loads(out) if out else {}, said
