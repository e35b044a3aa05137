#!/usr/bin/env python3
"""encode.py LEAT_BENCH [--megabytes N] [--repeat N] [--only WORD] [--programs A,B] [--json FILE]

How fast one core makes ids of text: leat-bench encode, gigatoken, tiktoken and tokenizers, each with every vocabulary
at hand, on the English, multilingual and code corpora (LEAT_CORPORA, LEAT_VOCAB; else ../shared/corpora and
../shared/vocab). The programs take turns, in another order each time, every measurement in a fresh process on one
thread: a first pass over N (20) MB of documents that lie in memory, as strings where the program wants strings. Prints
the median of N (5) repetitions with the least and the most, in MB/s of UTF-8, and how long the vocabulary took to load.
The number of ids and their checksum must be the same in all measurements of a line; else it says so, and exits with 1.

tokenizers is measured twice: encode_batch, which most people call, and encode_batch_fast, which leaves out offsets.
The time of gigatoken includes its array of ids; leat's includes the copy into one, of which all pages have been touched
before (the packer has no such array). --threads 2 measures leat and gigatoken with that
many. 77: something that it needs is not there. Run by `make bench-encode-peers`, in a virtual environment of its own.
"""
import argparse
import array
import json
import os
import re
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
PROGRAMS = ("leat", "gigatoken", "tiktoken", "tokenizers", "tokenizers-fast")
BATCH = 64
ALONE = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}

# name; what leat opens; the ranks and the encoding of tiktoken; the file of tokenizers
VOCABULARIES = (
    ("gpt2", "gpt2", ("r50k_base.tiktoken", "gpt2"), "gpt2.tokenizer.json"),
    ("cl100k", "cl100k_base", ("cl100k_base.tiktoken", "cl100k_base"), "gpt4.tokenizer.json"),
    ("o200k", "o200k_base", ("o200k_base.tiktoken", "o200k_base"), "gpt4o.tokenizer.json"),
    ("llama3_1", "llama3_1.tokenizer.json", None, "llama3_1.tokenizer.json"),
    ("qwen2_5", "qwen2_5.tokenizer.json", None, "qwen2_5.tokenizer.json"),
    ("deepseek_v3", "deepseek_v3.tokenizer.json", None, "deepseek_v3.tokenizer.json"),
    ("mistral_v1", "mistral_v1.tokenizer.json", None, "mistral_v1.tokenizer.json"),
    ("gemma2", "gemma2.tokenizer.json", None, "gemma2.tokenizer.json"),
)

# ---- One measurement, in a process of its own -----------------------------------------------------------------------


def open_tiktoken(path, name):
    import tiktoken
    from tiktoken.load import load_tiktoken_bpe
    from tiktoken_ext import openai_public
    begin = time.perf_counter()
    ranks = load_tiktoken_bpe(path)
    openai_public.load_tiktoken_bpe = lambda *a, **k: ranks
    openai_public.data_gym_to_mergeable_bpe_ranks = lambda *a, **k: ranks
    encoding = tiktoken.Encoding(**getattr(openai_public, name)())
    return encoding.encode_ordinary, time.perf_counter() - begin


def open_tokenizers(path, fast):
    from tokenizers import Tokenizer
    begin = time.perf_counter()
    tokenizer = Tokenizer.from_file(path)
    load = time.perf_counter() - begin
    tokenizer.encode_special_tokens = True
    encode = tokenizer.encode_batch_fast if fast else tokenizer.encode_batch
    return lambda some: [e.ids for e in encode(some, add_special_tokens=False)], load


def open_gigatoken(path):
    import gigatoken
    begin = time.perf_counter()
    tokenizer = gigatoken.Tokenizer(path)
    return tokenizer, time.perf_counter() - begin


def measure_gigatoken(vocabulary, texts_path, threads):
    """Its time and ids; the ids one after another."""
    import awkward
    import numpy
    with open(texts_path, encoding="utf-8") as file:
        texts = [json.loads(line)["text"].encode() for line in file]
    tokenizer, load = open_gigatoken(vocabulary)
    begin = time.perf_counter()
    lists = tokenizer.encode_batch(texts, parallel=threads > 1)
    seconds = time.perf_counter() - begin
    ids = awkward.to_numpy(awkward.flatten(lists)).astype(numpy.uint32)
    return ids.astype("<u4").tobytes(), sum(map(len, texts)), seconds, load


def measure_here(program, vocabulary, name, texts_path):
    """What --one does: prints what leat-bench encode --json does, as far as it is needed."""
    import xxhash
    if program == "gigatoken":
        words, size, seconds, load = measure_gigatoken(vocabulary, texts_path, int(name))
        print(json.dumps({"tokens": len(words) // 4, "checksum": xxhash.xxh3_64(words).hexdigest(), "bytes": size,
                          "seconds": seconds, "load_ms": 1e3 * load}))
        return
    with open(texts_path, encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    if program == "tiktoken":
        encode, load = open_tiktoken(vocabulary, name)
        begin = time.perf_counter()
        lists = [encode(text) for text in texts]
    else:
        encode, load = open_tokenizers(vocabulary, program == "tokenizers-fast")
        begin = time.perf_counter()
        lists = []
        for i in range(0, len(texts), BATCH):
            lists += encode(texts[i:i + BATCH])
    seconds = time.perf_counter() - begin
    checksum = xxhash.xxh3_64()
    for ids in lists:
        words = array.array("I", ids)
        if sys.byteorder == "big":
            words.byteswap()
        checksum.update(words.tobytes())
    print(json.dumps({"tokens": sum(map(len, lists)), "checksum": checksum.hexdigest(), "seconds": seconds,
                      "bytes": sum(len(t.encode()) for t in texts), "load_ms": 1e3 * load}))


# ---- All of them -----------------------------------------------------------------------------------------------------

def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def unpacked(folder, path):
    """The file without zstd; None where it is not there."""
    if not os.path.exists(path):
        return None
    to = os.path.join(folder, os.path.basename(path).removesuffix(".zst"))
    if not os.path.exists(to):
        subprocess.run(["zstd", "-dqf", path, "-o", to], check=True)
    return to


def special_strings(folder):
    """Those of all vocabularies: gigatoken always takes them for tokens, which no packer wants."""
    found = set()
    for _, _, _, name in VOCABULARIES:
        path = unpacked(folder, os.path.join(VOCAB, name + ".zst"))
        if path:
            with open(path, encoding="utf-8") as file:
                found |= {t["content"] for t in json.load(file)["added_tokens"] if t["special"]}
    return found


def cut_texts(folder, name, limit):
    """The first documents of a corpus without strings of special tokens, `limit` bytes of text and a little more; the
    path of their JSON lines."""
    special = re.compile("|".join(map(re.escape, sorted(special_strings(folder)))) or "(?!)")
    whole = unpacked(folder, os.path.join(CORPORA, f"large_{name}.jsonl.zst"))
    if not whole:
        return None
    path, size = os.path.join(folder, name + ".jsonl"), 0
    with open(whole, encoding="utf-8") as lines, open(path, "w", encoding="utf-8") as out:
        for line in lines:
            if size >= limit:
                break
            text = json.loads(line)["text"]
            if special.search(text):
                continue
            size += len(text.encode())
            out.write(json.dumps({"text": text}) + "\n")
    os.remove(whole)
    return path


def commands_of(folder, leat_bench, row, texts_path, programs, threads):
    """The command of each program that can do it."""
    name, spec, ranks, file = row
    file = unpacked(folder, os.path.join(VOCAB, file + ".zst"))
    ranks_path = ranks and unpacked(folder, os.path.join(VOCAB, ranks[0] + ".zst"))
    spec = file if spec.endswith(".json") else spec
    here = [sys.executable, os.path.abspath(__file__), "--one"]
    commands = {}
    if spec:
        commands["leat"] = [leat_bench, "encode", "--json", "--threads", str(threads), "-t", spec, texts_path]
    if ranks_path:
        commands["tiktoken"] = [*here, "tiktoken", ranks_path, ranks[1], texts_path]
    if file:
        commands["gigatoken"] = [*here, "gigatoken", file, str(threads), texts_path]
    if threads > 1:
        return {p: c for p, c in commands.items() if p in programs and p in ("leat", "gigatoken")}
    if file:
        commands["tokenizers"] = [*here, "tokenizers", file, name, texts_path]
        commands["tokenizers-fast"] = [*here, "tokenizers-fast", file, name, texts_path]
    return {p: c for p, c in commands.items() if p in programs}


def measured(command, threads):
    alone = {**ALONE, "RAYON_NUM_THREADS": str(threads)}
    done = subprocess.run(command, stdout=subprocess.PIPE, env={**os.environ, **alone}, check=True)
    return json.loads(done.stdout)


def compare(commands, repeat, threads):
    """The measurements of each program, and whether all made the same ids."""
    results, names = {p: [] for p in commands}, list(commands)
    for i in range(repeat):
        for program in names[i % len(names):] + names[:i % len(names)]:
            results[program].append(measured(commands[program], threads))
    works = {(r["tokens"], r["checksum"], r["bytes"]) for some in results.values() for r in some}
    return results, len(works) == 1


def show(results):
    rate = {p: [r["bytes"] / r["seconds"] / 1e6 for r in some] for p, some in results.items()}
    for program, rates in rate.items():
        loads = [r["load_ms"] for r in results[program]]
        middle = statistics.median(rates)
        beside = "" if program == "leat" or "leat" not in rate else \
            f"   leat is {statistics.median(rate['leat']) / middle:.2f} times as fast"
        print(f"  {program:16} {middle:7.1f} MB/s ({min(rates):.1f} to {max(rates):.1f})   loads in "
              f"{statistics.median(loads):6.0f} ms ({min(loads):.0f} to {max(loads):.0f}){beside}", flush=True)


def versions():
    from importlib.metadata import version
    return ", ".join(f"{p} {version(p)}" for p in ("gigatoken", "tiktoken", "tokenizers"))


def run(options, folder):
    same_everywhere, records = True, []
    for text in TEXTS:
        path = cut_texts(folder, text, int(options.megabytes * 1e6))
        if not path:
            print(f"{text}: there is no large_{text}.jsonl.zst at {CORPORA}")
            continue
        for row in VOCABULARIES:
            commands = commands_of(folder, options.leat_bench, row, path, options.programs.split(","), options.threads)
            if not commands or options.only not in f"{text} {row[0]}":
                continue
            results, same = compare(commands, options.repeat, options.threads)
            first = next(iter(results.values()))[0]
            print(f"{text}, {row[0]}: {first['bytes']} bytes, {first['tokens']} tokens")
            show(results)
            if not same:
                same_everywhere = False
                print("  DIFFERENT ids: " + "; ".join(f"{p} {r['tokens']} tokens, {r['bytes']} bytes, {r['checksum']}"
                                                      for p, some in results.items() for r in some[:1]))
            records.append({"text": text, "vocabulary": row[0], "results": results, "same": same})
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(records, file, indent=1)
    if not records:
        skip(f"no vocabulary or no corpus at {VOCAB} and {CORPORA}")
    return same_everywhere


def main():
    if len(sys.argv) == 6 and sys.argv[1] == "--one":
        return measure_here(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("leat_bench")
    parser.add_argument("--megabytes", type=float, default=20)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="", help="lines whose text and vocabulary hold this: \"english gpt2\"")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--json", help="all measurements, to this file")
    options = parser.parse_args()
    options.leat_bench = os.path.abspath(options.leat_bench)
    try:
        import xxhash  # noqa: F401, the measuring processes need it
        print(f"{versions()}; {options.threads} thread{'s' * (options.threads > 1)}, first pass, "
              f"{options.repeat} repetitions, medians (least to most)")
    except ImportError as e:
        skip(str(e))
    if not shutil.which("zstd"):
        skip("there is no command zstd")
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(0 if run(options, folder) else 1)


if __name__ == "__main__":
    main()
