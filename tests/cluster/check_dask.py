#!/usr/bin/env python3
"""check_dask.py LEAT: the lines of docs/clusters.md for dask.distributed, on a cluster of two worker processes, of
which one is killed in the middle: the run's folder is merged to the bytes of one run."""
import filecmp
import os
import signal
import subprocess
import sys
import tempfile

try:
    from dask.distributed import Client, LocalCluster
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)

LEAT = os.path.abspath(sys.argv[1])
PARTS = 12


def pack(part, victim):
    """Packs a part of the run; or dies, if it is the worker's first try of this one."""
    if part == victim and not os.path.exists("died"):
        open("died", "w").close()
        os.kill(os.getpid(), signal.SIGKILL)
    subprocess.run([LEAT, "pack", "--run", "run", "--part", str(part)], check=True, stdout=subprocess.DEVNULL)


def main():
    with tempfile.TemporaryDirectory(prefix="leat-dask-") as folder:
        os.chdir(folder)
        with open("text.jsonl", "w") as text:
            text.writelines('{"text":"line %d"}\n' % i for i in range(1000))
        quiet = {"check": True, "stdout": subprocess.DEVNULL}
        subprocess.run([LEAT, "pack", "-o", "one", "-t", "bytes", "--shuffle", "3", "text.jsonl"], **quiet)
        subprocess.run([LEAT, "pack", "--run", "run", "--parts", str(PARTS), "-t", "bytes", "text.jsonl"], **quiet)
        with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
            with Client(cluster) as client:
                client.gather(client.map(pack, range(1, PARTS + 1), victim=5, pure=False))
        assert os.path.exists("died")
        subprocess.run([LEAT, "merge", "-o", "all", "run", "--shuffle", "3"], **quiet)
        for suffix in (".tokens", ".leat"):
            assert filecmp.cmp("one" + suffix, "all" + suffix, shallow=False), f"other bytes: all{suffix}"
        os.chdir("/")


if __name__ == "__main__":
    main()
