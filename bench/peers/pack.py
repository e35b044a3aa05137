#!/usr/bin/env python3
"""pack.py BUILD [--rounds N] [--megabytes N] [--megatron FOLDER [--megatron-python PYTHON]] [--files FILE,...]

From text to a dataset, whole programs with their start: leat pack, gigatoken's file reading with numpy.tofile (the best
path that it offers for the job: it writes no files itself), and, where a copy of Megatron-LM lies in FOLDER, its
tools/preprocess_data.py; all with gpt2, on all cores, over the same JSON lines, plain and .zst (gigatoken and leat). In
turns; medians, with the least and the most. The same texts in Parquet (Snappy and zstd, row groups of 10,000 rows):
leat, also on the plain JSON lines, in the same turns; pyarrow's column given to gigatoken, gigatoken's own reader, and
datatrove (on the first N MB only: it starts a process and loads packages first; so at its steady state, as Megatron).
Then what leat's unavoidable steps cost: the share of what they allow that the run reached (leat-bench pack). The
numbers of tokens must agree, but for the ends of documents.

Texts may hold strings of special tokens, which gigatoken takes for tokens: then it says how the numbers differ.

Megatron is measured on the first N (10) MB only, at its steady state: from a tenth of them to all; by a PYTHON that has
what it needs: torch, numpy, packaging, regex, six, einops, transformers, sentencepiece, tiktoken. The corpora are those
of LEAT_CORPORA, else of ../shared/corpora. 77: something that it needs is not there. Run by `make bench-pack-peers`.
"""
import argparse
import glob
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
    import gigatoken
    tokenizer = gigatoken.Tokenizer(vocabulary)
    write_arrays(tokenizer.encode_files(gigatoken.JsonlFileSource([path])), out)


def write_arrays(documents, out):
    """An awkward array of ids, as two files."""
    import awkward
    import numpy
    ids = awkward.to_numpy(awkward.flatten(documents))
    ids.astype(numpy.uint16).tofile(out)
    awkward.to_numpy(awkward.num(documents)).astype(numpy.int64).tofile(out + ".lengths")
    print(json.dumps({"tokens": int(ids.size), "documents": len(documents)}))


def gigatoken_rows(vocabulary, path, out):
    import gigatoken
    tokenizer = gigatoken.Tokenizer(vocabulary)
    write_arrays(tokenizer.encode_files(gigatoken.ParquetFileSource([path])), out)


def pyarrow_rows(vocabulary, path, out):
    """A row group at a time, as memory does not hold a corpus."""
    import awkward
    import gigatoken
    import pyarrow.parquet
    tokenizer, documents = gigatoken.Tokenizer(vocabulary), []
    file = pyarrow.parquet.ParquetFile(path)
    for group in range(file.num_row_groups):
        documents.append(tokenizer.encode_batch(file.read_row_group(group, ["text"])["text"].to_pylist()))
    write_arrays(awkward.concatenate(documents), out)


def datatrove_rows(vocabulary, path, out):
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import ParquetReader
    from datatrove.pipeline.tokens import DocumentTokenizer
    shutil.rmtree(out, ignore_errors=True)
    folder, name = os.path.split(path)
    LocalPipelineExecutor([ParquetReader(folder, glob_pattern=name),
                           DocumentTokenizer(out, vocabulary, shuffle_documents=False)], tasks=1, logging_dir=out).run()
    size = sum(os.path.getsize(os.path.join(out, f)) for f in os.listdir(out) if f.endswith(".ds"))
    print("\n" + json.dumps({"tokens": size // 2}))


HERE = {f.__name__: f for f in (gigatoken_rows, pyarrow_rows, datatrove_rows)}


def timed(command, **more):
    began = time.perf_counter()
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **more).stdout
    return time.perf_counter() - began, out


def text_bytes(path):
    with open(path, encoding="utf-8") as lines:
        return sum(len(json.loads(line)["text"].encode()) for line in lines)


def spread(values, digits=0):
    return "%.*f (%.*f to %.*f)" % (digits, statistics.median(values), digits, min(values), digits, max(values))


def make_room(out):
    """Removes what the last run wrote: whoever replaces it has to free its pages."""
    for path in glob.glob(out + "*"):
        shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)


def leat_once(build, path, out):
    make_room(out)
    seconds, got = timed([os.path.join(build, "leat"), "pack", "--json", "--force", "-t", "gpt2", "-o", out, path])
    summary = json.loads(got)
    return seconds, summary["tokens"] - summary["documents"]


def gigatoken_once(vocabulary, path, out):
    make_room(out)
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


def steps(build, path, folder, rounds):
    shares = []
    for _ in range(rounds):
        make_room(os.path.join(folder, "steps"))
        _, got = timed([os.path.join(build, "leat-bench"), "pack", "--json", "-t", "gpt2", "-o",
                        os.path.join(folder, "steps"), path])
        shares.append(100 * json.loads(got)["share_of_bound"])
    print(f"  leat-bench pack: {spread(shares)} % of what its steps' CPU time allows on these cores")


# ---- Parquet --------------------------------------------------------------------------------------------------------

def write_rows(plain, out, codec, limit=float("inf")):
    """The first `limit` bytes of text; returns how many."""
    import pyarrow
    import pyarrow.parquet
    texts, size = [], 0
    with open(plain, encoding="utf-8") as lines:
        for line in lines:
            if size >= limit:
                break
            texts.append(json.loads(line)["text"])
            size += len(texts[-1].encode())
    pyarrow.parquet.write_table(pyarrow.table({"text": texts}), out, compression=codec, row_group_size=10000)
    return size


def rows_once(name, vocabulary, path, out):
    seconds, got = timed([sys.executable, os.path.abspath(__file__), "--rows", name, vocabulary, path, out])
    return seconds, json.loads(got.splitlines()[-1])["tokens"]


def compare_rows(o, vocabulary, plain, folder, codec):
    path = os.path.join(folder, "rows.parquet")
    size = write_rows(plain, path, codec)
    print(f"{os.path.basename(plain)} as .parquet ({codec}), {size / 1e6:.0f} MB of text, gpt2, {os.cpu_count()} cores")
    rates, counts = {name: [] for name in ("leat", "lines", "pyarrow_rows", "gigatoken_rows")}, set()
    for k in range(o.rounds):
        for name in list(rates)[::1 if k % 2 == 0 else -1]:
            out = os.path.join(folder, name)
            seconds, tokens = (leat_once(o.build, path, out) if name == "leat" else
                               leat_once(o.build, plain, out) if name == "lines" else
                               rows_once(name, vocabulary, path, out))
            rates[name].append(size / 1e6 / seconds)
            counts.add(tokens)
    print(f"  leat                 {spread(rates['leat'])} MB/s")
    for name, shown in (("lines", "leat, JSON lines    "),
                        ("pyarrow_rows", "pyarrow + gigatoken "), ("gigatoken_rows", "gigatoken's reader  ")):
        faster = [a / b for a, b in zip(rates["leat"], rates[name])]
        print(f"  {shown} {spread(rates[name])} MB/s; leat is {spread(faster, 2)} times as fast")
    if len(counts) > 1:
        print(f"  DIFFERENT numbers of tokens: {sorted(counts)}")
    compare_datatrove(o, vocabulary, plain, folder, codec, rates["leat"])
    os.remove(path)
    return len(counts) == 1


def compare_datatrove(o, vocabulary, plain, folder, codec, ours):
    paths = [os.path.join(folder, name + ".parquet") for name in ("few", "many")]
    sizes = [write_rows(plain, path, codec, o.megabytes * by) for path, by in zip(paths, (1e5, 1e6))]
    out, rates = os.path.join(folder, "datatrove"), []
    for _ in range(o.rounds):
        (few, _), (many, tokens) = (rows_once("datatrove_rows", vocabulary, path, out) for path in paths)
        rates.append((sizes[1] - sizes[0]) / 1e6 / max(many - few, 1e-9))
    _, expected = leat_once(o.build, paths[1], os.path.join(folder, "same"))
    print(f"  datatrove            {spread(rates, 2)} MB/s in steady state, without its start; leat is "
          f"{statistics.median(ours) / statistics.median(rates):.0f} times as fast"
          f"{'' if tokens == expected else f'; DIFFERENT numbers of tokens: {tokens} and {expected}'}")


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
    if len(sys.argv) == 6 and sys.argv[1] == "--rows":
        return HERE[sys.argv[2]](*sys.argv[3:])
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
                steps(o.build, path, folder, o.rounds)
                if path == plain and o.megatron:
                    compare_megatron(o, vocabulary, path, folder, ours)
            for codec in ("snappy", "zstd"):
                same = compare_rows(o, vocabulary, plain, folder, codec) and same
            os.remove(plain)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
