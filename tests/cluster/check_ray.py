#!/usr/bin/env python3
"""check_ray.py: leat.ray.pack() on a real Ray cluster of three nodes on this machine: a node that dies under its parts,
a part that is killed, and arguments that are wrong. The merged dataset has the bytes of one run."""
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
import leat.ray
from leat.command import program

CORPUS = pathlib.Path("examples/corpus/english.jsonl").resolve()


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
        with open("text.jsonl", "wb") as text:
            for _ in range(200):
                text.write(CORPUS.read_bytes())
        subprocess.run([program("leat"), "pack", "-o", "one", "-t", "gpt2", "--progress", "never", "text.jsonl"],
                       check=True, stdout=subprocess.DEVNULL)
        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": 80 << 20})
        nodes = [cluster.add_node(num_cpus=1, object_store_memory=80 << 20) for _ in range(2)]
        ray.init(address=cluster.address, log_to_driver=False)
        did = []
        thread = threading.Thread(target=disturb, args=(cluster, nodes[0], pathlib.Path("all.run"), did))
        thread.start()
        made = leat.ray.pack("text.jsonl", "all", "gpt2", parts=8)
        thread.join()
        assert did == ["part", "node"], did
        assert made["documents"] > 0 and made["tokens"] > 0, made
        for suffix in (".tokens", ".leat"):
            assert filecmp.cmp("one" + suffix, "all" + suffix, shallow=False), f"other bytes: all{suffix}"
        arranged = ["--dedup", "--shuffle", "3", "--split", "valid=0.1"]
        subprocess.run([program("leat"), "pack", "-o", "two", "-t", "gpt2", "--progress", "never", *arranged,
                        "text.jsonl"], check=True, stdout=subprocess.DEVNULL)
        made = leat.ray.pack("text.jsonl", "arranged", "gpt2", parts=4, dedup=True, shuffle=3, split="valid=0.1")
        assert [one["output"] for one in made["splits"]] == [os.path.abspath("arranged.valid")], made
        for name in ("", ".valid"):
            for suffix in (".tokens", ".leat"):
                assert filecmp.cmp(f"two{name}{suffix}", f"arranged{name}{suffix}", shallow=False), name + suffix
        made = leat.ray.pack("text.jsonl", "later", "gpt2", parts=2, split="valid=0.1")
        assert [one["output"] for one in made["splits"]] == [os.path.abspath("later.valid")], made
        made = leat.ray.pack("text.jsonl", "apart", "gpt2", parts=4, split="valid=0.1", merge=False)
        assert made["complete"] and pathlib.Path("apart.run/valid/part-4.leat").exists(), made
        try:
            leat.ray.pack("text.jsonl", "wrong", "gpt2", parts=2, text="body")
            raise AssertionError("a field that is not there was packed")
        except leat.Error as error:
            assert error.field == "body" and error.file == "text.jsonl", error
        with open("broken.jsonl", "wb") as text:
            for _ in range(200):
                text.write(CORPUS.read_bytes() + b"{broken\n" * 20)
        try:
            leat.ray.pack("broken.jsonl", "wrong", "gpt2", parts=2)
            raise AssertionError("broken records were packed")
        except leat.ray.PackError as error:
            assert sorted(error.parts) == [1, 2] and "2 of 2 parts failed" in str(error), error
            assert "more than allowed" in error.parts[1], error
        try:
            leat.ray.pack("text.jsonl", "wrong", "gpt2", parts=2, txt="body")
            raise AssertionError("an unknown option was taken")
        except TypeError as error:
            assert "txt" in str(error), error
        ray.shutdown()
        cluster.shutdown()


main()
