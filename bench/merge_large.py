#!/usr/bin/env python3
"""merge_large.py LEAT [DIR]: what `leat merge --dedup --shuffle` of a run's folder takes for more documents than this
machine's disk may hold. It packs two numbers of synthetic documents in parts (a tenth repeat the text of an earlier
one), merges each, and extrapolates linearly to --at documents. Each merge gets the same share of --memory as its
documents are of --at, so it sorts on the disk in as many runs and buckets as the large one would.

Documents have --tokens tokens of 2 bytes; each takes about 100 bytes more for its place, line and hash. Longer
documents also take the time to read and write their tokens, three times each.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

GIB = 1 << 30


def write_texts(path, documents, tokens):
    """A tenth of the texts comes again, anywhere; -t bytes makes a token of each byte, and one of the end."""
    texts = max(1, documents - documents // 10)
    with open(path, "w", encoding="ascii", buffering=1 << 20) as out:
        for first in range(0, documents, 100000):
            out.write("".join('{"text":"%0*d"}\n' % (tokens - 1, n * 7919 % texts)
                              for n in range(first, min(first + 100000, documents))))


def temporary_bytes(pid):
    """On the disk, of files without names that the process has open."""
    found = 0
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            at = os.stat(f"/proc/{pid}/fd/{fd}")
        except OSError:
            continue
        found += at.st_blocks * 512 if at.st_nlink == 0 else 0
    return found


def measure(words):
    """Seconds, the most memory, and the most bytes of temporary files."""
    began = time.monotonic()
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        most, ended = [0], threading.Event()

        def watch():
            while not ended.wait(0.05):
                try:
                    most[0] = max(most[0], temporary_bytes(process.pid))
                except OSError:  # it has just ended
                    return

        thread = threading.Thread(target=watch)
        thread.start()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        ended.set()
        thread.join()
    if process.returncode != 0:
        sys.exit(f"{' '.join(words)} ended with code {process.returncode}")
    return {"seconds": time.monotonic() - began, "cpu": used.ru_utime + used.ru_stime, "memory": used.ru_maxrss * 1024,
            "temporary": most[0]}


def dataset_bytes(folder, name):
    return sum(path.stat().st_size for path in pathlib.Path(folder).glob(f"{name}*") if path.suffix != ".jsonl")


def try_size(leat, folder, documents, options):
    run, out = f"{folder}/run", f"{folder}/out"
    write_texts(f"{folder}/in.jsonl", documents, options.tokens)
    leat_quietly = lambda *words: subprocess.run([leat, *words], check=True, stdout=subprocess.DEVNULL)
    leat_quietly("pack", "--run", run, "--parts", str(options.parts), "-t", "bytes", f"{folder}/in.jsonl")
    for part in range(1, options.parts + 1):
        leat_quietly("pack", "--run", run, "--part", str(part))
    os.remove(f"{folder}/in.jsonl")
    memory = options.memory * documents // options.at
    found = measure([leat, "merge", "-o", out, run, "--dedup", "--shuffle", "1", "--memory", str(memory)])
    found["parts"] = dataset_bytes(run, "part-")
    found["output"] = dataset_bytes(folder, "out.")
    found["documents"] = documents
    found["limit"] = memory
    shutil.rmtree(run)
    for path in pathlib.Path(folder).glob("out.*"):
        path.unlink()
    return found


def show(name, documents, one):
    print(f"{name:12} {documents:13,} {one['parts'] / GIB:9.2f} {one['output'] / GIB:9.2f} "
          f"{one['temporary'] / GIB:9.2f} "
          f"{one['limit'] / (1 << 20):10,.1f} {one['memory'] / (1 << 20):10,.1f} {one['seconds']:10,.1f}"
          f" {one['cpu']:10,.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("leat")
    parser.add_argument("dir", nargs="?", help="on the disk to measure; default: where temporary files go")
    parser.add_argument("--documents", type=int, nargs=2, default=[2000000, 10000000])
    parser.add_argument("--tokens", type=int, default=32, help="of a document")
    parser.add_argument("--parts", type=int, default=8)
    parser.add_argument("--at", type=int, default=1000000000, help="documents to extrapolate to")
    parser.add_argument("--memory", type=int, default=2 * GIB, help="--memory of a merge of that many")
    options = parser.parse_args()
    if options.documents[0] >= options.documents[1]:
        parser.error("the second size must be larger than the first")
    print(f"{options.tokens} tokens a document, {options.parts} parts; GiB of parts, output and temporary files; "
          "MiB of --memory and resident")
    print(f"{'':12} {'documents':>13} {'parts':>9} {'output':>9} {'temporary':>9} {'--memory':>10} {'resident':>10} "
          f"{'seconds':>10} {'CPU s':>10}")
    found = []
    for documents in options.documents:
        with tempfile.TemporaryDirectory(prefix="leat-merge-", dir=options.dir) as folder:
            found.append(try_size(options.leat, folder, documents, options))
        show("measured", documents, found[-1])
    a, b = found
    share = (options.at - b["documents"]) / (b["documents"] - a["documents"])
    large = {key: b[key] + share * (b[key] - a[key]) for key in b}
    show("extrapolated", options.at, large)


if __name__ == "__main__":
    main()
