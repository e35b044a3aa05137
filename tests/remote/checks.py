"""checks.py: what the tests of this folder share: checks, and leat run beside the server of the tests."""
import fcntl
import json
import os
import subprocess
import sys

failures = []


def need(probe, folder):
    """Ends the test as skipped without its program, or on a full disk: the cache leaves a 20th of it free."""
    disk = os.statvfs(folder.parent)
    if not probe.exists():
        why = f"no {probe}"
    elif (disk.f_bavail - disk.f_blocks // 20) * disk.f_frsize < 1 << 30:
        why = f"the cache would fill nothing: in {folder.parent}, less than a 20th of the disk and 1 GiB is free"
    else:
        return
    print(f"skipped: {why}", file=sys.stderr)
    sys.exit(77)


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
