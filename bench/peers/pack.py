#!/usr/bin/env python3
"""pack.py BUILD [--rounds N] [--megabytes N] [--megatron FOLDER [--megatron-python PYTHON]] [--files FILE,...]

From text to a dataset, whole programs with their start: leat pack, gigatoken's file reading with numpy.tofile (the best
path that it offers for the job: it writes no files itself), and, where a copy of Megatron-LM lies in FOLDER,
its tools/preprocess_data.py; all with gpt2, on all cores, over the same JSON lines, plain and .zst (gigatoken and
leat). In turns; medians, with the least and the most. Then what leat's unavoidable stages cost: the share of what they
allow that the run reached (leat-bench pack). The numbers of tokens must agree, but for the ends of documents.

Texts may hold strings of special tokens, which gigatoken takes for tokens: then it says how the numbers differ.

Megatron is measured on the first N (10) MB only, at its steady state: from a tenth of them to all; by a PYTHON that has
what it needs: torch, numpy, packaging, regex, six, einops, transformers, sentencepiece, tiktoken. The corpora are
those of LEAT_CORPORA, else of ../shared/corpora. 77: something that it needs is not there. Run by
`make bench-pack-peers`.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CORPORA = os.environ.get("LEAT_CORPORA", os.path.join(ROOT, "..", "shared", "corpora"))
VOCAB = os.environ.get("LEAT_VOCAB", os.path.join(ROOT, "..", "shared", "vocab"))
TEXTS = ("english", "multi", "code")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def gigatoken_here(vocabulary, path, out):
    """What --one does: files to arrays to disk."""
    import awkward
    import gigatoken
    import numpy
    tokenizer = gigatoken.Tokenizer(vocabulary)
    documents = tokenizer.encode_files(gigatoken.JsonlFileSource([path]))
    ids = awkward.to_numpy(awkward.flatten(documents))
    ids.astype(numpy.uint16).tofile(out)
    awkward.to_numpy(awkward.num(documents)).astype(numpy.int64).tofile(out + ".lengths")
    print(json.dumps({"tokens": int(ids.size), "documents": len(documents)}))


def timed(command, **more):
    began = time.perf_counter()
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **more).stdout
    return time.perf_counter() - began, out


def text_bytes(path):
    with open(path, encoding="utf-8") as lines:
        return sum(len(json.loads(line)["text"].encode()) for line in lines)


def spread(values, digits=0):
    return "%.*f (%.*f to %.*f)" % (digits, statistics.median(values), digits, min(values), digits, max(values))


def leat_once(build, path, out):
    seconds, got = timed([os.path.join(build, "leat"), "pack", "--json", "--force", "-t", "gpt2", "-o", out, path])
    summary = json.loads(got)
    return seconds, summary["tokens"] - summary["documents"]


def gigatoken_once(vocabulary, path, out):
    seconds, got = timed([sys.executable, os.path.abspath(__file__), "--one", vocabulary, path, out])
    return seconds, json.loads(got)["tokens"]


def compare(build, vocabulary, path, size, folder, rounds):
    """MB/s of text of both, round by round."""
    ours, theirs, counts = [], [], set()
    for k in range(rounds):
        for one in ((0, 1) if k % 2 == 0 else (1, 0)):
            seconds, tokens = leat_once(build, path, os.path.join(folder, "leat")) if one == 0 else \
                gigatoken_once(vocabulary, path, os.path.join(folder, "gigatoken"))
            (ours if one == 0 else theirs).append(size / 1e6 / seconds)
            counts.add(tokens)
    print(f"  leat       {spread(ours)} MB/s")
    faster = [a / b for a, b in zip(ours, theirs)]
    print(f"  gigatoken  {spread(theirs)} MB/s; leat is {spread(faster, 2)} times as fast")
    if len(counts) > 1:
        print(f"  DIFFERENT numbers of tokens: {sorted(counts)}")
    return ours, len(counts) == 1


def stages(build, path, folder, rounds):
    shares = []
    for _ in range(rounds):
        _, got = timed([os.path.join(build, "leat-bench"), "pack", "--json", "--force", "-t", "gpt2", "-o",
                        os.path.join(folder, "stages"), path])
        shares.append(100 * json.loads(got)["share_of_bound"])
    print(f"  leat-bench pack: {spread(shares)} % of what its stages' CPU time allows on these cores")


def megatron(o, folder, path, vocabulary_files):
    """Seconds of a whole run, which is to be begun in Megatron's own folder."""
    prefix, path, *files = map(os.path.abspath, (os.path.join(folder, "megatron"), path, *vocabulary_files))
    command = [o.megatron_python, os.path.abspath(os.path.join(o.megatron, "tools", "preprocess_data.py")),
               "--input", path, "--output-prefix", prefix, "--tokenizer-type", "GPT2BPETokenizer",
               "--vocab-file", files[0], "--merge-file", files[1], "--workers", str(os.cpu_count()), "--append-eod"]
    return timed(command, cwd=o.megatron)[0]


def gpt2_files(folder, vocabulary):
    """vocab.json and merges.txt, as Megatron wants them."""
    with open(vocabulary, encoding="utf-8") as file:
        model = json.load(file)["model"]
    paths = os.path.join(folder, "vocab.json"), os.path.join(folder, "merges.txt")
    with open(paths[0], "w", encoding="utf-8") as file:
        json.dump(model["vocab"], file)
    with open(paths[1], "w", encoding="utf-8") as file:
        file.write("#version: 0.2\n")
        for merge in model["merges"]:
            file.write((merge if isinstance(merge, str) else " ".join(merge)) + "\n")
    return paths


def head(path, out, limit):
    size = 0
    with open(path, encoding="utf-8") as lines, open(out, "w", encoding="utf-8") as to:
        for line in lines:
            if size >= limit:
                break
            size += len(json.loads(line)["text"].encode())
            to.write(line)
    return size


def check_megatron(o, folder, path):
    """Whether what it has just made are the bytes of leat's token file."""
    name = os.path.join(folder, "same")
    timed([os.path.join(o.build, "leat"), "pack", "--force", "-t", "gpt2", "-o", name, path])
    with open(name + ".tokens", "rb") as ours, open(os.path.join(folder, "megatron_text_document.bin"), "rb") as theirs:
        if ours.read() != theirs.read():
            raise SystemExit(f"Megatron's tokens of {path} differ from leat's")


def compare_megatron(o, vocabulary, path, folder, ours):
    files = gpt2_files(folder, vocabulary)
    few, many = os.path.join(folder, "few.jsonl"), os.path.join(folder, "many.jsonl")
    small, large = head(path, few, o.megabytes * 1e5), head(path, many, o.megabytes * 1e6)
    rates = []
    for _ in range(o.rounds):
        t_small, t_large = (megatron(o, folder, p, files) for p in (few, many))
        check_megatron(o, folder, many)
        if t_large > t_small:
            rates.append((large - small) / 1e6 / (t_large - t_small))
    if len(rates) < o.rounds:
        print("  Megatron   its start varies more than the text takes: --megabytes with more would tell")
    if rates:
        print(f"  Megatron   {spread(rates, 2)} MB/s in steady state, without its start; leat is "
              f"{statistics.median(ours) / statistics.median(rates):.0f} times as fast; the same bytes")


def main():
    if len(sys.argv) == 5 and sys.argv[1] == "--one":
        return gigatoken_here(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--megabytes", type=float, default=10)
    parser.add_argument("--megatron")
    parser.add_argument("--megatron-python", default=sys.executable)
    parser.add_argument("--only", default="")
    o = parser.parse_args()
    compressed = os.path.join(VOCAB, "gpt2.tokenizer.json.zst")
    if not os.path.exists(compressed) or not shutil.which("zstd"):
        skip(f"there is no {compressed}, or no command zstd")
    same = True
    with tempfile.TemporaryDirectory(dir=o.build) as folder:
        vocabulary = os.path.join(folder, "gpt2.json")
        subprocess.run(["zstd", "-dqf", compressed, "-o", vocabulary], check=True)
        for text in TEXTS:
            packed = os.path.join(CORPORA, f"large_{text}.jsonl.zst")
            if not os.path.exists(packed) or o.only not in text:
                continue
            plain = os.path.join(folder, text + ".jsonl")
            subprocess.run(["zstd", "-dqf", packed, "-o", plain], check=True)
            size = text_bytes(plain)
            for path in (plain, packed):
                print(f"{text}, {'.jsonl' if path == plain else '.jsonl.zst'}, {size / 1e6:.0f} MB of text, gpt2, "
                      f"{os.cpu_count()} cores")
                ours, equal = compare(o.build, vocabulary, path, size, folder, o.rounds)
                same = same and equal
                stages(o.build, path, folder, o.rounds)
                if path == plain and o.megatron:
                    compare_megatron(o, vocabulary, path, folder, ours)
            os.remove(plain)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
