#!/usr/bin/env python3
"""encode.py LEAT_BENCH [--lookup] [--megabytes N] [--repeat N] [--only WORD] [--programs A,B] [--json FILE]

How fast one core makes ids of text: leat-bench encode, gigatoken, tiktoken and tokenizers, each with every vocabulary
at hand, on the English, multilingual and code corpora (LEAT_CORPORA, LEAT_VOCAB; else ../shared/corpora and
../shared/vocab). The programs take turns, in another order each time. Each measurement is a fresh process with one
thread: a first pass over N (20) MB of documents in memory, as strings if the program wants strings. It prints the
median of N (5) repetitions with the least and the most, in MB/s of UTF-8, and how long the vocabulary took to load.
All measurements of a line must give the same number of ids and the same checksum; otherwise it says so and exits with
1.

tokenizers is measured twice: encode_batch, which most people call, and encode_batch_fast, which leaves out offsets.
The time of gigatoken includes its array of ids; that of leat includes the copy into one, whose pages have all been
touched before (the packer has no such array). --threads 2 measures leat and gigatoken with two threads.

--warm 80 measures what a long run does most of its time: leat and gigatoken encode 80 MB, untimed, then the --megabytes
that follow these, and then the same once more ("met", the better of two passes). Rates are per second of CPU time.

--lookup measures models that look tokens up: leat-bench encode beside sentencepiece and tokenizers, with a Unigram
model of sentencepiece (32,000 tokens, its default normalizer), the same model as a tokenizer.json, and a WordPiece
model of 30,000 tokens with BERT's normalizer and pre-tokenizer. They are trained on the corpora, which takes some
minutes, and kept in --models FOLDER if it is given. Rates are per second of CPU time; tokenizers encodes only
--slow-megabytes (2), over which the ids are compared.

Exits with 77 if anything that it needs is missing. `make bench-encode-peers` and `make bench-encode-lookup` run it in
a virtual environment of its own.
"""
import argparse
import array
import functools
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

from measured import CORPORA, TEXTS, VOCAB, corpus, head, skip, spread, texts_of, unpacked

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

# of --lookup: name; the file that leat opens; who else does
MODELS = (("unigram", "unigram.model", "sentencepiece"), ("unigram-json", "unigram.json", "tokenizers-fast"),
          ("wordpiece", "wordpiece.json", "tokenizers-fast"))
TRAINING_BYTES = 6_000_000  # of each corpus

# ---- One measurement, in a process of its own -----------------------------------------------------------------------


def open_program(program, vocabulary, name):
    """A function of texts that gives their ids, a list for each; and the seconds to open the vocabulary."""
    if program == "tiktoken":
        import tiktoken
        from tiktoken.load import load_tiktoken_bpe
        from tiktoken_ext import openai_public
        begin = time.perf_counter()
        ranks = load_tiktoken_bpe(vocabulary)
        openai_public.load_tiktoken_bpe = lambda *a, **k: ranks
        openai_public.data_gym_to_mergeable_bpe_ranks = lambda *a, **k: ranks
        opened = tiktoken.Encoding(**getattr(openai_public, name)())
        encode = lambda texts: [opened.encode_ordinary(text) for text in texts]  # noqa: E731
    elif program == "sentencepiece":
        import sentencepiece
        begin = time.perf_counter()
        opened = sentencepiece.SentencePieceProcessor(model_file=vocabulary)
        encode = lambda texts: [opened.encode(text) for text in texts]  # noqa: E731
    elif program == "gigatoken":
        import gigatoken
        begin = time.perf_counter()
        encode = functools.partial(gigatoken.Tokenizer(vocabulary).encode_batch, parallel=int(name) > 1)
    else:
        import tokenizers
        begin = time.perf_counter()
        opened = tokenizers.Tokenizer.from_file(vocabulary)
        opened.encode_special_tokens = True
        batch = opened.encode_batch_fast if program == "tokenizers-fast" else opened.encode_batch
        encode = lambda texts: [one.ids for i in range(0, len(texts), BATCH)  # noqa: E731
                                for one in batch(texts[i:i + BATCH], add_special_tokens=False)]
    return encode, time.perf_counter() - begin


def words_of(program, lists):
    """All ids as little-endian words of 32 bits."""
    if program == "gigatoken":
        import awkward
        return awkward.to_numpy(awkward.flatten(lists)).astype("<u4").tobytes()
    words = array.array("I")
    for ids in lists:
        words.extend(ids)
    if sys.byteorder == "big":
        words.byteswap()
    return words.tobytes()


def measure_here(program, vocabulary, name, texts_path):
    """What --one does: prints what leat-bench encode --json does, as far as it is needed."""
    import xxhash
    texts = texts_of(texts_path)
    size = sum(len(text.encode()) for text in texts)
    if program == "gigatoken":
        texts = [text.encode() for text in texts]
    encode, load = open_program(program, vocabulary, name)
    begin, cpu = time.perf_counter(), time.process_time()
    lists = encode(texts)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    words = words_of(program, lists)
    print(json.dumps({"tokens": len(words) // 4, "checksum": xxhash.xxh3_64(words).hexdigest(), "bytes": size,
                      "seconds": seconds, "cpu_seconds": cpu, "load_ms": 1e3 * load}))


def measure_warm(vocabulary, warm_path, texts_path):
    """What leat-bench encode --warm --passes 3 --json does, by gigatoken."""
    import xxhash
    warm, texts = ([text.encode() for text in texts_of(path)] for path in (warm_path, texts_path))
    encode, _ = open_program("gigatoken", vocabulary, "1")
    encode(warm)
    seconds = []
    for _ in range(3):
        begin = time.process_time()
        lists = encode(texts)
        seconds.append(time.process_time() - begin)
    size = sum(map(len, texts))
    print(json.dumps({"checksum": xxhash.xxh3_64(words_of("gigatoken", lists)).hexdigest(),
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
    whole = unpacked(folder, corpus(name))
    if not whole:
        return None
    path = os.path.join(folder, f"{name}-{limit}.jsonl")
    head(whole, path, limit, lambda text: not special.search(text))
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
        beside = "" if program == "leat" or "leat" not in rate else \
            f"   leat is {statistics.median(rate['leat']) / statistics.median(rates):.2f} times as fast"
        print(f"  {program:16} {spread(rates, 1)} MB/s   loads in {spread([r['load_ms'] for r in results[program]])} ms"
              f"{beside}", flush=True)


def versions(packages):
    from importlib.metadata import version
    return ", ".join(f"{p} {version(p)}" for p in packages.split())


def run(options, folder):
    same_everywhere, records = True, []
    for text in TEXTS:
        path = cut_texts(folder, text, int(options.megabytes * 1e6))
        if not path:
            print(f"{text}: no {corpus(text)}")
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


def split_text(folder, name, megabytes):
    """The first documents of a corpus, and those after them, of so many MB each."""
    whole = cut_texts(folder, name, int(sum(megabytes) * 1e6))
    if not whole:
        return None
    paths, size = [os.path.join(folder, f"{name}-{part}.jsonl") for part in ("warm", "new")], 0
    with open(whole, encoding="utf-8") as lines, open(paths[0], "w", encoding="utf-8") as warm, \
            open(paths[1], "w", encoding="utf-8") as new:
        for line in lines:
            (warm if size < megabytes[0] * 1e6 else new).write(line)
            size += len(json.loads(line)["text"].encode())
    os.remove(whole)
    return paths


def run_warm(options, folder):
    all_same = True
    for text in TEXTS:
        paths = split_text(folder, text, (options.warm, options.megabytes))
        for name, _, _, file in VOCABULARIES if paths else ():
            file = options.only in f"{text} {name}" and unpacked(folder, os.path.join(VOCAB, file + ".zst"))
            if not file:
                continue
            leat = [options.leat_bench, "encode", "--json", "-t", file, "--warm", paths[0], "--passes", "3", paths[1]]
            commands = {"leat": leat,
                        "gigatoken": [sys.executable, os.path.abspath(__file__), "--one-warm", file, *paths]}
            results = {p: [] for p in commands}
            for _ in range(options.repeat):
                for program, command in commands.items():
                    results[program].append(measured(command, 1))
            same = len({r["checksum"] for some in results.values() for r in some}) == 1
            said = []
            for label, rate in (("new", lambda passes: passes[0]), ("met", lambda passes: max(passes[1:]))):
                leat, other = ([rate(r["passes_cpu"]) for r in results[p]] for p in commands)
                said.append(f"{label} {spread(leat)} / {spread(other)} MB/s, "
                            f"{statistics.median(leat) / statistics.median(other):.2f}x")
            print(f"{text:12} {name:12} {'; '.join(said)}{'' if same else '; DIFFERENT ids'}", flush=True)
            all_same = all_same and same
    return all_same


# ---- Models that look tokens up --------------------------------------------------------------------------------------

def training_lines(folder):
    r, lines = random.Random(1), []
    for name in TEXTS:
        whole = unpacked(folder, corpus(name)) or skip(f"no {corpus(name)}")
        documents = texts_of(whole)
        size = 0
        for text in r.sample(documents, len(documents)):
            size += len(text.encode())
            lines += [line for line in text.split("\n") if line.strip() and len(line) < 2000]
            if size > TRAINING_BYTES:
                break
    return r.sample(lines, len(lines))


def train_unigram(folder, lines):
    import sentencepiece
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_prefix=os.path.join(folder, "unigram"), vocab_size=32000,
        model_type="unigram", num_threads=1, minloglevel=2, max_sentence_length=20000)


def convert_unigram(folder):
    """The tokenizer.json that transformers makes of such a model."""
    from sentencepiece import sentencepiece_model_pb2
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
    file = sentencepiece_model_pb2.ModelProto()
    with open(os.path.join(folder, "unigram.model"), "rb") as f:
        file.ParseFromString(f.read())
    t = Tokenizer(models.Unigram([(p.piece, p.score) for p in file.pieces], unk_id=0, byte_fallback=False))
    t.normalizer = normalizers.Sequence([
        normalizers.Precompiled(file.normalizer_spec.precompiled_charsmap), normalizers.Strip(left=False, right=True),
        normalizers.Replace(Regex(" {2,}"), "\u2581")])
    t.pre_tokenizer = pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme="always")
    t.save(os.path.join(folder, "unigram.json"))


def train_wordpiece(folder, lines):
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=True)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.train_from_iterator(lines, trainers.WordPieceTrainer(
        vocab_size=30000, show_progress=False, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]))
    t.save(os.path.join(folder, "wordpiece.json"))


def make_models(folder, scratch):
    if all(os.path.exists(os.path.join(folder, name)) for _, name, _ in MODELS):
        return
    lines = training_lines(scratch)
    train_unigram(folder, lines)
    convert_unigram(folder)
    train_wordpiece(folder, lines)


def compare_lookup(options, model, peer, texts, few):
    """Measurements of both in turns, and whether the ids of the few texts are the same."""
    leat = [options.leat_bench, "encode", "--json", "-t", model]
    peers = texts if peer == "sentencepiece" else few
    other = [sys.executable, os.path.abspath(__file__), "--one", peer, model, "", peers]
    results = {"leat": [], peer: []}
    for _ in range(options.repeat):
        results["leat"].append(measured([*leat, texts], 1))
        results[peer].append(measured(other, 1))
    return results, measured([*leat, peers], 1)["checksum"] == results[peer][0]["checksum"]


def run_lookup(options, folder):
    models = options.models or folder
    make_models(models, folder)
    all_same = True
    for text in TEXTS:
        few, texts = (cut_texts(folder, text, int(n * 1e6)) for n in (options.slow_megabytes, options.megabytes))
        for name, file, peer in MODELS:
            if options.only not in f"{text} {name}":
                continue
            results, same = compare_lookup(options, os.path.join(models, file), peer, texts, few)
            rates = {p: [r["bytes"] / r["cpu_seconds"] / 1e6 for r in some] for p, some in results.items()}
            ratio = statistics.median(rates["leat"]) / statistics.median(rates[peer])
            print(f"{text:8} {name:13}" + "".join(f"{p} {spread(r, 1)} MB/s   " for p, r in rates.items()) +
                  f"{ratio:.1f} times as fast" + ("" if same else "   DIFFERENT ids"), flush=True)
            all_same = all_same and same
    return all_same


def main():
    if len(sys.argv) == 6 and sys.argv[1] == "--one":
        return measure_here(*sys.argv[2:])
    if len(sys.argv) == 5 and sys.argv[1] == "--one-warm":
        return measure_warm(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("leat_bench", type=os.path.abspath)
    parser.add_argument("--lookup", action="store_true")
    parser.add_argument("--models", help="where models are kept, of --lookup")
    parser.add_argument("--slow-megabytes", type=float, default=2, help="of text for tokenizers, of --lookup")
    parser.add_argument("--warm", type=float, default=0, help="MB of text that are encoded before")
    parser.add_argument("--megabytes", type=float, default=20)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="", help="lines whose text and vocabulary hold this: \"english gpt2\"")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--json", help="all measurements, to this file")
    options = parser.parse_args()
    try:  # what the measuring processes need
        import xxhash  # noqa: F401
        if options.lookup:
            import google.protobuf  # noqa: F401
            import sentencepiece  # noqa: F401
        print(f"{versions('sentencepiece tokenizers' if options.lookup else 'gigatoken tiktoken tokenizers')}; "
              f"{options.threads} thread{'s' * (options.threads > 1)}, first pass, {options.repeat} repetitions, "
              "medians (least to most)")
    except ImportError as e:
        skip(str(e))
    with tempfile.TemporaryDirectory() as folder:
        what = run_lookup if options.lookup else run_warm if options.warm else run
        sys.exit(0 if what(options, folder) else 1)


if __name__ == "__main__":
    main()
