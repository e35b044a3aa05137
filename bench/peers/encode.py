#!/usr/bin/env python3
"""encode.py LEAT_BENCH [--megabytes N] [--repeat N] [--only WORD] [--programs A,B] [--texts FILE]

How fast one core makes ids of text: leat-bench encode, gigatoken, tiktoken and tokenizers, or other --programs (those
of OPENED below), each with every vocabulary at hand, on the English, multilingual and code corpora (LEAT_CORPORA,
LEAT_VOCAB; else ../shared/corpora and ../shared/vocab), or on --texts, JSON lines. The programs take turns, in another
order each time. Each measurement is a fresh process with one thread: a first pass over N (20) MB of documents in
memory, as strings if the program wants strings. It prints the median of N (5) repetitions with the least and the most,
in MB of UTF-8 text per second of CPU time (with several --threads: of time), and how long the vocabulary took to load.
All measurements of a line must give the same number of ids and the same checksum: the first measurement of each
program is compared with that of the first one. One with other ids, or that cannot run, is said and has no figure; if
it is one of the four named here, the exit code is 1.

tokenizers is measured twice: encode_batch, which most people call, and encode_batch_fast, which leaves out offsets.
The time of gigatoken includes its array of ids; that of leat includes the copy into one, whose pages have all been
touched before (the packer has no such array). --threads 2 measures those that can with two threads.

--warm 80 measures what a long run does most of its time: leat, leat from Python (encode_flat on Arrow strings; `make
python`) and gigatoken first encode 80 MB, untimed. Then they encode the next --megabytes ("new"), and the same text
four times more ("met": the best of these, since a cache may still grow in the first ones). All of them finish the 80 MB
before any timed pass, and take turns pass by pass, so that what slows the machine for a second slows them all. A rate
is a median, in MB per second of CPU time: leat, encode_flat, gigatoken. A ratio to gigatoken is taken in each
repetition; the median (least to most) is printed.

Exits with 77 if anything that it needs is missing. `make bench-encode-peers` runs it in a virtual environment of its
own, `make bench-encoders` with one of each other program (--python).
"""
import argparse
import array
import functools
import importlib.metadata
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

from measured import CORPORA, TEXTS, VOCAB, corpus, head, skip, spread, texts_of, unpacked

PROGRAMS = ("leat", "gigatoken", "tiktoken", "tokenizers", "tokenizers-fast")
BATCH = 64
WARM_PASSES = 5
THREADED = ("gigatoken", "quicktok", "tuetoken", "tokie", "fastokens")  # what --threads measures beside leat
OTHER = "OTHER ids"
ALONE = {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}

# name; what leat opens; the ranks of tiktoken; the file of tokenizers
VOCABULARIES = (
    ("gpt2", "gpt2", "r50k_base.tiktoken", "gpt2.tokenizer.json"),
    ("cl100k", "cl100k_base", "cl100k_base.tiktoken", "gpt4.tokenizer.json"),
    ("o200k", "o200k_base", "o200k_base.tiktoken", "gpt4o.tokenizer.json"),
    ("llama3_1", "llama3_1.tokenizer.json", None, "llama3_1.tokenizer.json"),
    ("qwen2_5", "qwen2_5.tokenizer.json", None, "qwen2_5.tokenizer.json"),
    ("deepseek_v3", "deepseek_v3.tokenizer.json", None, "deepseek_v3.tokenizer.json"),
    ("mistral_v1", "mistral_v1.tokenizer.json", None, "mistral_v1.tokenizer.json"),
    ("gemma2", "gemma2.tokenizer.json", None, "gemma2.tokenizer.json"),
)

# ---- One measurement, in a process of its own -----------------------------------------------------------------------


# each opens a vocabulary and returns a function of texts that gives their ids: a list for each, or all in one array


def tiktoken(ranks, name, _):
    import tiktoken as package
    from tiktoken.load import load_tiktoken_bpe
    from tiktoken_ext import openai_public
    loaded = load_tiktoken_bpe(ranks)
    openai_public.load_tiktoken_bpe = lambda *a, **k: loaded
    openai_public.data_gym_to_mergeable_bpe_ranks = lambda *a, **k: loaded
    opened = package.Encoding(**getattr(openai_public, name)())
    return lambda texts: [opened.encode_ordinary(text) for text in texts]


def gigatoken(file, _, threads):
    import gigatoken as package
    return functools.partial(package.Tokenizer(file).encode_batch, parallel=threads > 1)


def tokenizers(file, _, __, fast=False):
    import tokenizers as package
    opened = package.Tokenizer.from_file(file)
    opened.encode_special_tokens = True
    batch = opened.encode_batch_fast if fast else opened.encode_batch
    return lambda texts: [one.ids for i in range(0, len(texts), BATCH)
                          for one in batch(texts[i:i + BATCH], add_special_tokens=False)]


def quicktok(_, name, threads):
    import quicktok as package
    opened = package.get_encoding(name)
    return lambda texts: opened.encode_batch(texts, threads=threads)[0]


def tokie(file, _, __):
    import tokie as package
    opened = package.Tokenizer.from_json(file)
    return lambda texts: [one.ids for one in opened.encode_batch(texts, add_special_tokens=False)]


def fastokens(file, _, __):
    import fastokens as package
    import numpy
    opened = package.Tokenizer.from_file(file)
    return lambda texts: numpy.frombuffer(opened.encode_batch_flat(texts, False, True)[0], "<u4")


def bpe_openai(_, name, __):
    import bpe_openai as package
    opened = package.get_encoding(name)
    return lambda texts: [opened.encode_ordinary(text) for text in texts]


def wordchipper(ranks, name, _):
    """It would fetch the ranks; where it cannot, it leaves an empty file, and makes a token of each byte."""
    os.environ["XDG_CACHE_HOME"] = os.path.join(os.path.dirname(ranks), "cache")
    at = os.path.join(os.environ["XDG_CACHE_HOME"], "io.crates.wordchipper", "openai", name)
    os.makedirs(at, exist_ok=True)
    if not os.path.exists(os.path.join(at, name + ".tiktoken")):
        os.symlink(ranks, os.path.join(at, name + ".tiktoken"))
    import wordchipper as package
    options = package.TokenizerOptions.default()
    options.set_parallel(False)
    opened = package.Tokenizer.from_pretrained(name, options)
    return opened.encode_batch


def tuetoken(file, _, threads):
    import tuetoken as package
    opened = package.Tokenizer(file)
    return lambda texts: opened.encode_ordinary_to_buffer(texts, num_threads=threads)["data"]


# name: how it is opened; of a file of tokenizers ("json"), of ranks ("ranks") or a vocabulary of its own ("name"); the
# names of vocabularies that it has, where it does not take any file
TIKTOKEN = {"gpt2": "gpt2", "cl100k": "cl100k_base", "o200k": "o200k_base"}
OPENED = {
    "tiktoken": (tiktoken, "ranks", TIKTOKEN),
    "gigatoken": (gigatoken, "json", None),
    "tokenizers": (tokenizers, "json", None),
    "tokenizers-fast": (functools.partial(tokenizers, fast=True), "json", None),
    "quicktok": (quicktok, "name", {"cl100k": "cl100k_base", "o200k": "o200k_base", "llama3_1": "llama3",
                                    "qwen2_5": "qwen3"}),
    "tokie": (tokie, "json", None),
    "fastokens": (fastokens, "json", None),
    "bpe-openai": (bpe_openai, "name", {"cl100k": "cl100k_base", "o200k": "o200k_base"}),
    "wordchipper": (wordchipper, "ranks", {**TIKTOKEN, "gpt2": "r50k_base"}),
    "tuetoken": (tuetoken, "json", None),
}
PACKAGE = {"tokenizers-fast": "tokenizers", "quicktok": "quicktok-v1"}  # where it has another name


def words_of(lists):
    """All ids as little-endian words of 32 bits."""
    if hasattr(lists, "layout"):
        import awkward
        lists = awkward.to_numpy(awkward.flatten(lists))
    if hasattr(lists, "astype"):
        return lists.astype("<u4").tobytes()
    words = array.array("I")
    for ids in lists:
        words.extend(ids)
    if sys.byteorder == "big":
        words.byteswap()
    return words.tobytes()


def measure_here(program, vocabulary, name, threads, texts_path):
    """What --one does: prints what leat-bench encode --json does, as far as it is needed."""
    import xxhash
    texts = texts_of(texts_path)
    size = sum(len(text.encode()) for text in texts)
    if program == "gigatoken":
        texts = [text.encode() for text in texts]
    begin = time.perf_counter()
    encode = OPENED[program][0](vocabulary, name, int(threads))
    load = time.perf_counter() - begin
    begin, cpu = time.perf_counter(), time.process_time()
    lists = encode(texts)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    words = words_of(lists)
    version = importlib.metadata.version(PACKAGE.get(program, program))
    print(json.dumps({"version": version, "tokens": len(words) // 4, "bytes": size,
                      "checksum": xxhash.xxh3_64(words).hexdigest(), "seconds": seconds,
                      "cpu_seconds": cpu, "load_ms": 1e3 * load}))


def encode_flat(vocabulary, texts_of_all):
    """leat from Python, on Arrow strings: the arguments of each call."""
    import leat
    import pyarrow
    opened = leat.Tokenizer(vocabulary)
    columns = [pyarrow.array([text.decode() for text in texts]) for texts in texts_of_all]
    return lambda column: opened.encode_flat(column, num_threads=1)[0], columns


def measure_warm(program, vocabulary, *paths):
    """What leat-bench encode --warm --passes 5 --paced --json does, from Python."""
    import xxhash
    warm, texts = ([text.encode() for text in texts_of(path)] for path in paths)
    size = sum(map(len, texts))
    if program == "encode_flat":
        encode, (warm, texts) = encode_flat(vocabulary, (warm, texts))
    else:
        encode = gigatoken(vocabulary, None, 1)
    encode(warm)
    seconds = []
    for _ in range(WARM_PASSES):
        print(flush=True)
        if not sys.stdin.readline():
            sys.exit("standard input ended")
        begin = time.process_time()
        lists = encode(texts)
        seconds.append(time.process_time() - begin)
    print(json.dumps({"checksum": xxhash.xxh3_64(words_of(lists)).hexdigest(),
                      "passes_cpu": [size / s / 1e6 for s in seconds]}))


# ---- All of them -----------------------------------------------------------------------------------------------------

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
    """The first documents of a corpus without strings of special tokens; the path of their JSON lines."""
    special = re.compile("|".join(map(re.escape, sorted(special_strings(folder)))) or "(?!)")
    whole = name if os.path.exists(name) else unpacked(folder, corpus(name))
    if not whole:
        return None
    path = os.path.join(folder, f"{os.path.basename(name)}-{limit}.jsonl")
    head(whole, path, limit, lambda text: not special.search(text))
    if whole != name:
        os.remove(whole)
    return path


def commands_of(folder, o, row, texts_path):
    """The command of each program that can do it."""
    name, spec, ranks, file = row
    file = unpacked(folder, os.path.join(VOCAB, file + ".zst"))
    ranks = ranks and unpacked(folder, os.path.join(VOCAB, ranks + ".zst"))
    commands = {}
    if file or not spec.endswith(".json"):
        commands["leat"] = [o.leat_bench, "encode", "--json", "--threads", str(o.threads), "-t",
                            file if spec.endswith(".json") else spec, texts_path]
    for program in o.programs.split(","):
        _, kind, known = OPENED.get(program, (None, None, {}))
        path = {"json": file, "ranks": ranks, "name": "-"}.get(kind)
        if path and (known is None or name in known) and (o.threads == 1 or program in THREADED):
            commands[program] = [o.pythons.get(program, sys.executable), os.path.abspath(__file__), "--one", program,
                                 path, (known or {}).get(name, name), str(o.threads), texts_path]
    return {p: c for p, c in commands.items() if p in o.programs.split(",")}


def measured(command, threads):
    """What it prints; {"not_measured": why} if it cannot run."""
    alone = {**ALONE, "RAYON_NUM_THREADS": str(threads)}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **alone})
    if done.returncode:
        return {"not_measured": (done.stderr.decode("utf-8", "replace").strip() or "it ended").split("\n")[-1][:200]}
    return json.loads(done.stdout)


def compare(commands, repeat, threads):
    """The measurements of each program; and why one has none: it cannot run, or has other ids than the first."""
    results, why, names = {p: [] for p in commands}, {}, list(commands)
    for i in range(repeat):
        for program in names[i % len(names):] + names[:i % len(names)]:
            if program not in why:
                results[program].append(measured(commands[program], threads))
                why.update({program: r["not_measured"] for r in results[program][-1:] if "not_measured" in r})
        if i == 0:
            of = {p: (r[0]["tokens"], r[0]["checksum"], r[0]["bytes"]) for p, r in results.items() if p not in why}
            first = next(iter(of.values()), None)
            why.update({p: f"{OTHER}: {work[0]} tokens, not {first[0]}" for p, work in of.items() if work != first})
    return {p: some for p, some in results.items() if p not in why}, why


def show(results, threads):
    key = "cpu_seconds" if threads == 1 else "seconds"
    rate = {p: [r["bytes"] / r[key] / 1e6 for r in some] for p, some in results.items()}
    for program, rates in rate.items():
        beside = "" if program == "leat" or "leat" not in rate else \
            f"   leat is {statistics.median(rate['leat']) / statistics.median(rates):.2f} times as fast"
        name = f"{program} {results[program][0].get('version', '')}"
        print(f"  {name:22} {spread(rates, 1)} MB/s   loads in {spread([r['load_ms'] for r in results[program]])} ms"
              f"{beside}", flush=True)


def run(options, folder):
    same_everywhere, measured_any = True, False
    for text in [options.texts] if options.texts else TEXTS:
        path = cut_texts(folder, text, int(options.megabytes * 1e6))
        if not path:
            print(f"{text}: no {corpus(text)}")
            continue
        for row in VOCABULARIES:
            commands = commands_of(folder, options, row, path)
            if not commands or options.only not in f"{text} {row[0]}":
                continue
            results, why = compare(commands, options.repeat, options.threads)
            first = next(iter(results.values()), [{"bytes": 0, "tokens": 0}])[0]
            print(f"{text}, {row[0]}: {first['bytes']} bytes, {first['tokens']} tokens")
            show(results, options.threads)
            for program, reason in why.items():
                print(f"  {program:16} not measured: {reason}")
                same_everywhere &= program not in PROGRAMS
            measured_any = True
    if not measured_any:
        skip(f"no vocabulary or no corpus at {VOCAB} and {CORPORA}")
    return same_everywhere


def split_text(folder, name, megabytes):
    """The first documents of a corpus, and those after them, of so many MB each."""
    whole = cut_texts(folder, name, int(sum(megabytes) * 1e6))
    if not whole:
        return None
    paths, size = [os.path.join(folder, f"{part}.jsonl") for part in ("warm", "new")], 0
    with open(whole, encoding="utf-8") as lines, open(paths[0], "w", encoding="utf-8") as warm, \
            open(paths[1], "w", encoding="utf-8") as new:
        for line in lines:
            (warm if size < megabytes[0] * 1e6 else new).write(line)
            size += len(json.loads(line)["text"].encode())
    os.remove(whole)
    return paths


def wait_for(running, program):
    """Until a program is ready for its next pass."""
    if running[program].stdout.readline() != "\n":
        sys.exit(f"{program} failed")


def passes_in_turns(running, first):
    names, said = list(running), {}
    for p in names:
        wait_for(running, p)
    for i in range(WARM_PASSES):
        for p in names[(first + i) % len(names):] + names[:(first + i) % len(names)]:
            print(file=running[p].stdin, flush=True)
            if i + 1 < WARM_PASSES:
                wait_for(running, p)
            else:
                said[p] = json.loads(running[p].communicate()[0])
    return said


def one_at_a_time(commands, first):
    """Runs programs that wait for a line before each pass, one pass of one program at a time; another one goes first in
    each pass. Returns the JSON of each."""
    running = {}
    try:
        for p, command in commands.items():
            running[p] = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                          env={**os.environ, **ALONE})
        return passes_in_turns(running, first)
    finally:
        for one in running.values():
            one.kill()
            one.wait()


def compare_warm(commands, repeat):
    """Runs the commands so many times; returns whether all ids were the same, and the text to print."""
    rounds = [one_at_a_time(commands, i) for i in range(repeat)]
    said = []
    for label, rate in (("new", lambda passes: passes[0]), ("met", lambda passes: max(passes[1:]))):
        rates = {p: [rate(r[p]["passes_cpu"]) for r in rounds] for p in commands}
        beside = [spread([a / b for a, b in zip(rates[p], rates["gigatoken"])], 2) for p in ("leat", "encode_flat")]
        said.append(f"{label} {' / '.join(f'{statistics.median(rates[p]):.0f}' for p in commands)} MB/s = "
                    f"{'x and '.join(beside)}x")
    return len({r[p]["checksum"] for r in rounds for p in commands}) == 1, "; ".join(said)


def run_warm(options, folder):
    os.environ["PYTHONPATH"] = os.path.join(os.path.dirname(options.leat_bench), "python")
    all_same = True
    for text in [options.texts] if options.texts else TEXTS:
        paths = split_text(folder, text, (options.warm, options.megabytes))
        for name, _, _, file in VOCABULARIES if paths else ():
            file = options.only in f"{text} {name}" and unpacked(folder, os.path.join(VOCAB, file + ".zst"))
            if not file:
                continue
            here = [sys.executable, os.path.abspath(__file__), "--one-warm"]
            same, said = compare_warm({
                "leat": [options.leat_bench, "encode", "--json", "-t", file, "--warm", paths[0], "--passes",
                         str(WARM_PASSES), "--paced", paths[1]],
                "encode_flat": [*here, "encode_flat", file, *paths],
                "gigatoken": [*here, "gigatoken", file, *paths]}, options.repeat)
            print(f"{text:12} {name:12} {said}{'' if same else '; DIFFERENT ids'}", flush=True)
            all_same = all_same and same
    return all_same


def main():
    if len(sys.argv) == 7 and sys.argv[1] == "--one":
        return measure_here(*sys.argv[2:])
    if len(sys.argv) == 6 and sys.argv[1] == "--one-warm":
        return measure_warm(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("leat_bench", type=os.path.abspath)
    parser.add_argument("--warm", type=float, default=0, help="MB of text that are encoded before")
    parser.add_argument("--megabytes", type=float, default=20)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="", help="lines whose text and vocabulary hold this: \"english gpt2\"")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--python", action="append", default=[], help="PROGRAM=PYTHON: which has its package")
    parser.add_argument("--texts", help="JSON lines; instead of the corpora")
    options = parser.parse_args()
    options.pythons = dict(word.split("=", 1) for word in options.python)
    try:  # what the measuring processes need
        import xxhash  # noqa: F401
        print(f"{options.threads} thread{'s' * (options.threads > 1)}, {'' if options.warm else 'first pass, '}"
              f"{options.repeat} repetitions, medians (least to most)")
    except ImportError as e:
        skip(str(e))
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(0 if (run_warm if options.warm else run)(options, folder) else 1)


if __name__ == "__main__":
    main()
