#!/usr/bin/env python3
"""nfs.py BUILD [--only WORD] [--delay MS] [--rounds N]

Datasets on NFS 4.2: the kernel's server and client on this machine, in network and mount namespaces of their own, with
answers that come MS milliseconds late (tc netem). A line for each of:
  rows      cold windows of 2,048 tokens, one per batch, 64 slots: READ requests per row; rows/s and their share of
            (slots / delay); the median and the extremes of N rounds
  files     a plan with 1,000 files: requests for metadata per file
  restart   the server is stopped for 20 s while a loader reads: it goes on, with the same bytes
  adopted   the same, with tokens of another tool that have an index
  list      the server is stopped before a list of 20 datasets is opened, and for 20 s
  pack      the server is stopped for 20 s while leat pack reads: the same tokens
  replaced  the server is stopped while a loader reads, and then while leat pack does, and has another file under the
            name when it is back: an error with the file's name, or the same bytes
  unexport  an export is taken back for 8 s while a loader reads: the client is told EACCES, and an error names the file
Exit code 1 if one of the last six is not as it says. Needs root, tc and Debian's nfs-kernel-server and nfs-common, and
a kernel with nfsd, nfsv4 and sch_netem.
"""
import argparse
import contextlib
import hashlib
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

EXPORT = ("ro,fsid=0,no_root_squash,insecure,no_subtree_check", "127.0.0.1:/srv/nfs")
METADATA = "OPEN", "OPEN_NOATTR", "LOOKUP", "GETATTR", "ACCESS", "STATFS", "READDIR"
SERVER, CLIENT = pathlib.Path("/srv/nfs"), pathlib.Path("/srv/leat-nfs")


def call(*command, **more):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, **more).stdout


def serve(threads):
    call("rpc.nfsd", "-N", "3", str(threads), stderr=subprocess.DEVNULL)
    if threads:
        with contextlib.suppress(OSError):  # there is no grace to end
            pathlib.Path("/proc/fs/nfsd/v4_end_grace").write_text("Y")


def set_up(delay):
    """A server of an empty folder in memory, and whatever it keeps, for this process and its children alone."""
    for folder in SERVER, CLIENT:
        folder.mkdir(parents=True, exist_ok=True)
    call("ip", "link", "set", "lo", "up")
    call("mount", "-t", "tmpfs", "nfs-state", "/var/lib/nfs")
    for name in "rpc_pipefs", "v4recovery":
        pathlib.Path("/var/lib/nfs", name).mkdir()
    for name in "etab", "rmtab":
        pathlib.Path("/var/lib/nfs", name).touch()
    call("mount", "-t", "nfsd", "nfsd", "/proc/fs/nfsd")
    call("mount", "-t", "rpc_pipefs", "rpc_pipefs", "/var/lib/nfs/rpc_pipefs")
    call("mount", "-t", "tmpfs", "served", str(SERVER))
    call("exportfs", "-i", "-o", *EXPORT)
    call("rpc.mountd", "-N", "3", stderr=subprocess.DEVNULL)
    pathlib.Path("/proc/fs/nfsd/nfsv4gracetime").write_text("10")
    serve(8)
    call("tc", "qdisc", "add", "dev", "lo", "root", "netem", "limit", "100000", "delay", f"{delay * 500:.0f}us")


def mount():
    """Anew: the client has forgotten all names and bytes."""
    if os.path.ismount(CLIENT):
        call("umount", str(CLIENT))
    call("mount.nfs4", "127.0.0.1:/", str(CLIENT), "-o", "ro,vers=4.2,soft,timeo=20,retrans=1")


def asked():
    """Requests since the mount, by name."""
    text = pathlib.Path("/proc/self/mountstats").read_text()
    text = text[text.index(f" mounted on {CLIENT} "):]
    return {name: int(count) for name, count in re.findall(r"^\s+([A-Z_]+): (\d+) ", text, re.M)}


def load(bench, source, steps, *more):
    return [bench, "load", "--source", str(source), "--seq-len", "2048", "--steps", str(steps), "--engine", "advise",
            "--json", *more]


class Measure:
    def __init__(self, o):
        build = pathlib.Path(o.build).resolve()
        self.o, self.wrong, self.bench, self.leat = o, 0, str(build / "leat-bench"), str(build / "leat")

    def counting(self, name, tokens):
        if not (SERVER / f"{name}.leat").exists():
            call(self.bench + "-dev", "counting", "-o", str(SERVER / name), "--tokens", str(tokens))
        return CLIENT / name

    def rows(self):
        source, slots, steps, speeds, reads = self.counting("large", 1 << 25), 64, 4000, [], []
        for _ in range(self.o.rounds):
            mount()
            done = json.loads(call(*load(self.bench, source, steps, "--batch", "1", "--slots", str(slots))))
            speeds.append(steps / done["seconds"])
            reads.append(asked()["READ"] / steps)
        speed = statistics.median(speeds)
        print(f"rows       {self.o.delay:g} ms: {max(reads):.3f} READ requests per row, {speed:,.0f} rows/s "
              f"({speed * self.o.delay / 1000 / slots:.0%} of {slots} per delay), {min(speeds):,.0f} to "
              f"{max(speeds):,.0f}", flush=True)

    def files(self):
        self.counting("small-0", 20000)
        for i in range(1, 500):
            for suffix in ".leat", ".tokens":
                shutil.copyfile(SERVER / f"small-0{suffix}", SERVER / f"small-{i}{suffix}")
        (SERVER / "list").write_text("".join(f"small-{i}\n" for i in range(500)))
        mount()
        call(*load(self.bench, f"@{CLIENT / 'list'}", 4, "--batch", "4"))
        counts = asked()
        told = ", ".join(f"{counts[name]} {name}" for name in METADATA if counts.get(name))
        all_of_them = sum(counts.get(name, 0) for name in METADATA)
        print(f"files      {all_of_them / 1000:.3f} requests for metadata per file of 1,000: {told}", flush=True)

    def failing(self, name, program, result, wanted, stop, start, seconds=20, late=0, may_fail=""):
        """Runs a program, and stops the server when it has read on from `late` READ requests (0: before it begins).
        `may_fail`: it may also end with an error that has this in it."""
        mount()
        if late == 0:
            stop()
        began = time.monotonic()
        running = subprocess.Popen(program, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while late > 0 and running.poll() is None and asked().get("READ", 0) < late:
            time.sleep(0.02)
        early = running.poll() is not None
        if late > 0:
            stop()
        time.sleep(seconds)
        start()
        out, said = running.communicate()
        got = "no" if running.returncode else "the same" if result(out) == wanted else "OTHER"
        right = not early and (got == "the same" or (got == "no" and may_fail and may_fail in said))
        self.wrong += not right
        print(f"{name:10} {'' if right else 'WRONG: '}{'it had ended before; ' if early else ''}{seconds} s without: "
              f"code {running.returncode}, {got} bytes, {time.monotonic() - began:.1f} s in all; {said.strip()[-400:]}",
              flush=True)

    def loads(self, name, source, wanted_of, **more):
        def result(out):
            return json.loads(out)["checksum"]

        steps, words = more.pop("steps", 1000), ("--batch", "16", "--checksum", "--slots", "4")
        wanted = result(call(*load(self.bench, wanted_of, steps, *words)))
        self.failing(name, load(self.bench, source, steps, *words), result, wanted,
                     more.pop("stop", lambda: serve(0)), more.pop("start", lambda: serve(8)), **more)

    def restart(self):
        self.loads("restart", self.counting("large", 1 << 25), SERVER / "large", late=200)

    def adopted(self):
        self.counting("large", 1 << 25)
        if not (SERVER / "foreign.bin").exists():
            shutil.copyfile(SERVER / "large.tokens", SERVER / "foreign.bin")
            call(self.leat, "adopt", f"raw:{SERVER / 'foreign.bin'}?dtype=u16&end=0", "--progress", "never")
        self.loads("adopted", CLIENT / "foreign.bin", SERVER / "foreign.bin", late=200)

    def list(self):
        self.counting("small-0", 20000)
        for i in range(1, 10):
            for suffix in ".leat", ".tokens":
                shutil.copyfile(SERVER / f"small-0{suffix}", SERVER / f"small-{i}{suffix}")
        (SERVER / "list20").write_text("".join(f"small-{i % 10}\n" for i in range(20)))
        self.loads("list", f"@{CLIENT / 'list20'}", f"@{SERVER / 'list20'}")

    def packs(self, name, **more):
        def result(_):
            return hashlib.sha256(pathlib.Path("/srv/packed.tokens").read_bytes()).digest()

        def words(folder):
            return [self.leat, "pack", "-o", "/srv/packed", "--force", "-t", "bytes", "--end", "none", "--threads", "2",
                    "--progress", "never", str(folder / "texts.jsonl")]

        if not (SERVER / "texts.jsonl").exists():
            lines = (b'{"text": "%s"}\n' % (b"%d " % i * 1000)[:1000] for i in range(200000))
            (SERVER / "texts.jsonl").write_bytes(b"".join(lines))
        call(*words(SERVER))
        self.failing(name, words(CLIENT), result, result(""), more.pop("stop", lambda: serve(0)), lambda: serve(8),
                     late=20, **more)

    def pack(self):
        self.packs("pack")

    def replaced(self):
        def replace(name):
            def stop():
                serve(0)
                path, other = SERVER / name, SERVER / "other"
                other.write_bytes(path.read_bytes()[::-1])
                other.rename(path)
            return stop

        self.loads("replaced", self.counting("large", 1 << 25), SERVER / "large", stop=replace("large.tokens"),
                   late=200, may_fail=str(CLIENT / "large.tokens"))
        self.packs("replaced", stop=replace("texts.jsonl"), may_fail=str(CLIENT / "texts.jsonl"))
        for name in "large.tokens", "large.leat", "texts.jsonl":
            (SERVER / name).unlink()

    def unexport(self):
        def stop():
            call("exportfs", "-u", EXPORT[1])
            call("exportfs", "-f")
        self.loads("unexport", self.counting("large", 1 << 25), SERVER / "large", stop=stop,
                   start=lambda: call("exportfs", "-i", "-o", *EXPORT), seconds=8, late=200, may_fail=str(CLIENT))


def main():
    p = argparse.ArgumentParser(usage=__doc__)
    p.add_argument("build")
    p.add_argument("--only", default="")
    p.add_argument("--delay", type=float, default=5)
    p.add_argument("--rounds", type=int, default=5)
    o = p.parse_args()
    if os.environ.get("LEAT_NFS_ALONE") != "1":
        os.environ["LEAT_NFS_ALONE"] = "1"
        os.execvp("unshare", ["unshare", "--net", "--mount", sys.executable, *sys.argv])
    set_up(o.delay)
    measure = Measure(o)
    try:
        for what in ("rows", "files", "restart", "adopted", "list", "pack", "replaced", "unexport"):
            if o.only in what:
                getattr(measure, what)()
    finally:
        subprocess.run(["umount", "-f", str(CLIENT)])
        serve(0)
    sys.exit(measure.wrong > 0)


main()
