#!/usr/bin/env python3
"""check_ray.py: a run in parts as docs/clusters.md has it, on a real Ray cluster of three nodes on this machine: a node
dies under its parts, and a part is killed. The merged dataset has the bytes of one run."""
import filecmp
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time

try:
    import ray
    from ray.cluster_utils import Cluster
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)
import leat
from leat.command import program

CORPUS = pathlib.Path("examples/corpus/english.jsonl").resolve()


@ray.remote(num_cpus=1, max_retries=3, retry_exceptions=True)
def pack(run, part):
    leat.Run.open(run).step(part, threads=1, progress=None)


def wait_until(what):
    while not what():
        time.sleep(0.1)


def beats(run):
    """The processes that pack now, as the run's folder names them."""
    for beat in run.glob("part-*.beat"):
        said = dict(line.split(" ", 1) for line in beat.read_text().splitlines() if " " in line)
        if said.get("state") == "running" and "pid" in said:
            yield int(said["pid"])


def disturb(cluster, node, run, did):
    """Kills a part, then a node with all its parts, while others run."""
    wait_until(lambda: list(run.glob("part-*.partial.tokens")))
    for pid in beats(run):
        try:
            os.kill(pid, signal.SIGKILL)
            did.append("part")
            break
        except ProcessLookupError:
            pass
    cluster.remove_node(node, allow_graceful=False)
    did.append("node")


def main():
    with tempfile.TemporaryDirectory(prefix="leat-ray-") as folder:
        os.chdir(folder)
        with open("text.jsonl", "wb") as out:
            for _ in range(200):
                out.write(CORPUS.read_bytes())
        text = os.path.abspath("text.jsonl")
        subprocess.run([program("leat"), "pack", "-o", "one", "-t", "gpt2", "--progress", "never", text],
                       check=True, stdout=subprocess.DEVNULL)
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 80 << 20})
        nodes = [cluster.add_node(num_cpus=1, object_store_memory=80 << 20) for _ in range(2)]
        ray.init(address=cluster.address, log_to_driver=False)
        did = []
        thread = threading.Thread(target=disturb, args=(cluster, nodes[0], pathlib.Path("all.run"), did))
        thread.start()
        run = os.path.abspath("all.run")
        leat.Run.create(run, text, "gpt2", parts=8)
        ray.get([pack.remote(run, part) for part in range(1, 9)])
        thread.join()
        assert did == ["part", "node"], did
        made = leat.Run.open(run).join(os.path.abspath("all"))
        assert made.documents > 0 and made.tokens > 0, made
        for suffix in (".tokens", ".leat"):
            assert filecmp.cmp("one" + suffix, "all" + suffix, shallow=False), f"other bytes: all{suffix}"
        ray.shutdown()
        cluster.shutdown()


main()
