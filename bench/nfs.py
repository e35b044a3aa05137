#!/usr/bin/env python3
"""nfs.py BUILD [--only WORD] [--delay MS] [--rounds N]

Datasets on NFS 4.2: the kernel's server and client on this machine, in network and mount namespaces of their own, with
answers that come MS milliseconds late (tc netem). A line for each of:
  rows      cold windows of 2,048 tokens, one per batch, 64 slots: READ requests per row; rows/s and their share of
            (slots / delay); the median and the extremes of N rounds
  files     a plan with 1,000 files: requests for metadata per file
  restart   the server is stopped for some seconds while a loader reads: does it go on, with the same bytes?
  unexport  the same, with an export that is taken back: the client is told EACCES, which is not tried again
Needs root, tc and Debian's nfs-kernel-server and nfs-common, and a kernel with nfsd, nfsv4 and sch_netem.
"""
import argparse
import contextlib
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
        self.o, self.bench = o, str(pathlib.Path(o.build).resolve() / "leat-bench")

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

    def failing(self, name, stop, start):
        source, seconds = self.counting("large", 1 << 25), 8
        words = ("--batch", "16", "--checksum", "--slots", "4")
        wanted = json.loads(call(*load(self.bench, SERVER / "large", 1000, *words)))["checksum"]
        mount()
        began = time.monotonic()
        program = subprocess.Popen(load(self.bench, source, 1000, *words), text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        time.sleep(0.7)
        stop()
        early = program.poll() is not None
        time.sleep(seconds)
        start()
        out, said = program.communicate()
        got = "no" if program.returncode else "the same" if json.loads(out)["checksum"] == wanted else "OTHER"
        print(f"{name:10} {'it had ended before; ' if early else ''}{seconds} s without: code {program.returncode}, "
              f"{got} bytes, {time.monotonic() - began:.1f} s in all; {said.strip()[:400]}",
              flush=True)

    def restart(self):
        self.failing("restart", lambda: serve(0), lambda: serve(8))

    def unexport(self):
        def stop():
            call("exportfs", "-u", EXPORT[1])
            call("exportfs", "-f")
        self.failing("unexport", stop, lambda: call("exportfs", "-i", "-o", *EXPORT))


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
        for what in ("rows", "files", "restart", "unexport"):
            if o.only in what:
                getattr(measure, what)()
    finally:
        subprocess.run(["umount", "-f", str(CLIENT)])
        serve(0)


main()
