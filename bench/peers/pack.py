#!/usr/bin/env python3
"""pack.py BUILD [--rounds N] [--megabytes N] [--only WORD]

From text to a dataset, whole programs with their start, gpt2, on all cores: leat pack, and gigatoken reading files
with numpy.tofile after it (its best path for the job: it writes no files itself), over the same JSON lines, plain and
.zst. In turns; medians, with the least and the most. leat-bench pack then gives the share that the run reached of what
its steps allow.

The same texts in Parquet (Snappy and zstd, row groups of 10,000 rows): leat, also on the plain JSON lines, in the same
turns; pyarrow's column given to gigatoken; gigatoken's own reader; and datatrove, on the first N MB only and in steady
state, from a tenth of them to all, since it starts a process and loads packages first.

The numbers of tokens must agree, except for the ends of documents. Texts may hold strings of special tokens, which
gigatoken takes for tokens: then it says how the numbers differ.

packers.py measures Megatron and others. The corpora are those of LEAT_CORPORA, else of ../shared/corpora. Exits with
77 if anything that it needs is missing. `make bench-pack-peers` runs it.
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

import measured
from measured import spread, texts_of

# ---- What runs in a process of its own -------------------------------------------------------------------------------

def write_arrays(documents, out):
    """An awkward array of ids, as two files."""
    import awkward
    import numpy
    ids = awkward.to_numpy(awkward.flatten(documents))
    ids.astype(numpy.uint16).tofile(out)
    awkward.to_numpy(awkward.num(documents)).astype(numpy.int64).tofile(out + ".lengths")
    print(json.dumps({"tokens": int(ids.size), "documents": len(documents)}))


def gigatoken(vocabulary, path, out):
    import gigatoken as package
    source = package.ParquetFileSource if path.endswith(".parquet") else package.JsonlFileSource
    write_arrays(package.Tokenizer(vocabulary).encode_files(source([path])), out)


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


HERE = {f.__name__: f for f in (gigatoken, pyarrow_rows, datatrove_rows)}


def timed(command):
    began = time.perf_counter()
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    seconds = time.perf_counter() - began
    if done.returncode:
        sys.exit(f"{command[0]}: {done.stderr.decode('utf-8', 'replace').strip() or f'exit code {done.returncode}'}")
    return seconds, done.stdout


def make_room(out):
    """Removes what the last run wrote: whoever replaces it has to free its pages."""
    for path in glob.glob(out + "*"):
        shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)


def leat_once(build, path, out):
    make_room(out)
    seconds, got = timed([os.path.join(build, "leat"), "pack", "--json", "--force", "-t", "gpt2", "-o", out, path])
    summary = json.loads(got)
    return seconds, summary["tokens"] - summary["documents"]


def once(name, vocabulary, path, out):
    make_room(out)
    seconds, got = timed([sys.executable, os.path.abspath(__file__), "--one", name, vocabulary, path, out])
    return seconds, json.loads(got.splitlines()[-1])["tokens"]


def compare(build, vocabulary, path, size, folder, rounds):
    """MB/s of text of both, round by round."""
    ours, theirs, counts = [], [], set()
    for k in range(rounds):
        for one in ((0, 1) if k % 2 == 0 else (1, 0)):
            seconds, tokens = leat_once(build, path, os.path.join(folder, "leat")) if one == 0 else \
                once("gigatoken", vocabulary, path, os.path.join(folder, "gigatoken"))
            (ours if one == 0 else theirs).append(size / 1e6 / seconds)
            counts.add(tokens)
    print(f"  leat       {spread(ours)} MB/s")
    faster = [a / b for a, b in zip(ours, theirs)]
    print(f"  gigatoken  {spread(theirs)} MB/s; leat is {spread(faster, 2)} times as fast")
    if len(counts) > 1:
        print(f"  DIFFERENT numbers of tokens: {sorted(counts)}")
    return len(counts) == 1


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
    for text in texts_of(plain):
        if size >= limit:
            break
        texts.append(text)
        size += len(text.encode())
    pyarrow.parquet.write_table(pyarrow.table({"text": texts}), out, compression=codec, row_group_size=10000)
    return size


def compare_rows(o, vocabulary, plain, folder, codec):
    path = os.path.join(folder, "rows.parquet")
    size = write_rows(plain, path, codec)
    print(f"{os.path.basename(plain)} as .parquet ({codec}), {size / 1e6:.0f} MB of text, gpt2, {os.cpu_count()} cores")
    rates, counts = {name: [] for name in ("leat", "lines", "pyarrow_rows", "gigatoken")}, set()
    for k in range(o.rounds):
        for name in list(rates)[::1 if k % 2 == 0 else -1]:
            out = os.path.join(folder, name)
            seconds, tokens = (leat_once(o.build, path, out) if name == "leat" else
                               leat_once(o.build, plain, out) if name == "lines" else
                               once(name, vocabulary, path, out))
            rates[name].append(size / 1e6 / seconds)
            counts.add(tokens)
    print(f"  leat                 {spread(rates['leat'])} MB/s")
    for name, shown in (("lines", "leat, JSON lines    "),
                        ("pyarrow_rows", "pyarrow + gigatoken "), ("gigatoken", "gigatoken's reader  ")):
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
        (few, _), (many, tokens) = (once("datatrove_rows", vocabulary, path, out) for path in paths)
        rates.append((sizes[1] - sizes[0]) / 1e6 / max(many - few, 1e-9))
    _, expected = leat_once(o.build, paths[1], os.path.join(folder, "same"))
    print(f"  datatrove            {spread(rates, 2)} MB/s in steady state, without its start; leat is "
          f"{statistics.median(ours) / statistics.median(rates):.0f} times as fast"
          f"{'' if tokens == expected else f'; DIFFERENT numbers of tokens: {tokens} and {expected}'}")


def main():
    if sys.argv[1:2] == ["--one"]:
        return HERE[sys.argv[2]](*sys.argv[3:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--megabytes", type=float, default=10)
    parser.add_argument("--only", default="")
    o = parser.parse_args()
    same = True
    with tempfile.TemporaryDirectory(dir=o.build) as folder:
        model = os.path.join(measured.VOCAB, "gpt2.tokenizer.json.zst")
        vocabulary = measured.unpacked(folder, model) or measured.skip(f"no {model}")
        for text in measured.TEXTS:
            packed = measured.corpus(text)
            plain = measured.unpacked(folder, packed) if o.only in text else None
            if not plain:
                continue
            size = sum(len(one.encode()) for one in texts_of(plain))
            for path in (plain, packed):
                print(f"{text}, {'.jsonl' if path == plain else '.jsonl.zst'}, {size / 1e6:.0f} MB of text, gpt2, "
                      f"{os.cpu_count()} cores")
                same = compare(o.build, vocabulary, path, size, folder, o.rounds) and same
                steps(o.build, path, folder, o.rounds)
            for codec in ("snappy", "zstd"):
                same = compare_rows(o, vocabulary, plain, folder, codec) and same
            os.remove(plain)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
