#!/usr/bin/env python3
"""encode_lookup.py LEAT_BENCH [--models FOLDER] [--megabytes N] [--slow-megabytes N] [--repeat N] [--only WORD]

How fast one core makes ids of text with models that look tokens up: leat-bench encode beside sentencepiece and
tokenizers, with a Unigram model of sentencepiece (32,000 tokens, its default normalizer), the same model as a
tokenizer.json, and a WordPiece one of 30,000 tokens with BERT's normalizer and pre-tokenizer. They are trained on the
corpora (LEAT_CORPORA, else ../shared/corpora), which takes some minutes, and kept in FOLDER, if one is given.

The programs take turns, each measurement in a fresh process on one thread: a first pass over N (20) MB of documents
that lie in memory, for tokenizers N (2) MB. Prints MB/s of UTF-8 by the time of the CPU, the median of N (3) with the
least and the most, and the ratio to leat. On the first 2 MB, the ids must be the same in all; else it says so, and
exits with 1. 77: something that it needs is not there. Run by `make bench-encode-lookup`.
"""
import argparse
import array
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

import encode

TRAINING_BYTES = 6_000_000  # of each corpus
# name; the file that leat opens; who else does, with which
MODELS = (("unigram", "unigram.model", "sentencepiece"), ("unigram-json", "unigram.json", "tokenizers"),
          ("wordpiece", "wordpiece.json", "tokenizers"))

# ---- The models -----------------------------------------------------------------------------------------------------


def training_lines():
    r, lines = random.Random(1), []
    for name in encode.TEXTS:
        path = os.path.join(encode.CORPORA, f"large_{name}.jsonl.zst")
        if not os.path.exists(path):
            encode.skip(f"there is no {path}")
        with subprocess.Popen(["zstd", "-dcq", path], stdout=subprocess.PIPE) as p:
            documents = [json.loads(line)["text"] for line in p.stdout]
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


def make_models(folder):
    if all(os.path.exists(os.path.join(folder, name)) for _, name, _ in MODELS):
        return
    lines = training_lines()
    train_unigram(folder, lines)
    convert_unigram(folder)
    train_wordpiece(folder, lines)

# ---- One measurement, in a process of its own -----------------------------------------------------------------------


def measure_here(program, model, texts_path):
    """What --one does: prints what leat-bench encode --json does, as far as it is needed."""
    import xxhash
    with open(texts_path, encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    if program == "sentencepiece":
        import sentencepiece
        tokenizer = sentencepiece.SentencePieceProcessor(model_file=model)
        begin = time.process_time()
        lists = [tokenizer.encode(text) for text in texts]
    else:
        some, _ = encode.open_tokenizers(model, True)
        begin = time.process_time()
        lists = []
        for i in range(0, len(texts), encode.BATCH):
            lists += some(texts[i:i + encode.BATCH])
    seconds, checksum = time.process_time() - begin, xxhash.xxh3_64()
    for ids in lists:
        words = array.array("I", ids)
        if sys.byteorder == "big":
            words.byteswap()
        checksum.update(words.tobytes())
    print(json.dumps({"checksum": checksum.hexdigest(), "cpu_seconds": seconds,
                      "bytes": sum(len(t.encode()) for t in texts)}))

# ---- All of them -----------------------------------------------------------------------------------------------------


def measure(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, env={**os.environ, **encode.ALONE}, check=True)
    return json.loads(done.stdout)


def compare(options, model, peer, texts, few):
    """Measurements of both in turns, and whether the ids of the few texts are the same."""
    leat = [options.leat_bench, "encode", "--json", "-t", model]
    other = [sys.executable, os.path.abspath(__file__), "--one", peer, model, texts if peer == "sentencepiece" else few]
    results = {"leat": [], peer: []}
    for _ in range(options.repeat):
        results["leat"].append(measure([*leat, texts]))
        results[peer].append(measure(other))
    same = measure([*leat, few if peer == "tokenizers" else texts])["checksum"] == results[peer][0]["checksum"]
    return results, same


def run(options, folder):
    make_models(options.models or folder)
    all_same = True
    for text in encode.TEXTS:
        few = os.path.join(folder, f"few-{text}.jsonl")
        os.rename(encode.cut_texts(folder, text, int(options.slow_megabytes * 1e6)), few)
        texts = encode.cut_texts(folder, text, int(options.megabytes * 1e6))
        for name, file, peer in MODELS:
            if options.only not in f"{text} {name}":
                continue
            results, same = compare(options, os.path.join(options.models or folder, file), peer, texts, few)
            rates = {p: sorted(r["bytes"] / r["cpu_seconds"] / 1e6 for r in some) for p, some in results.items()}
            ratio = statistics.median(rates["leat"]) / statistics.median(rates[peer])
            print(f"{text:8} {name:13}" + "".join(
                f"{p} {statistics.median(r):.1f} MB/s ({r[0]:.1f} to {r[-1]:.1f})   " for p, r in rates.items()) +
                  f"{ratio:.1f} times as fast" + ("" if same else "   DIFFERENT ids"), flush=True)
            all_same = all_same and same
    return all_same


def main():
    if len(sys.argv) == 5 and sys.argv[1] == "--one":
        return measure_here(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[1])
    parser.add_argument("leat_bench")
    parser.add_argument("--models", help="where models are kept")
    parser.add_argument("--megabytes", type=float, default=20)
    parser.add_argument("--slow-megabytes", type=float, default=2)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="", help="lines whose text and model hold this: \"english unigram\"")
    options = parser.parse_args()
    options.leat_bench = os.path.abspath(options.leat_bench)
    try:
        import google.protobuf  # noqa: F401, the model's file is read with it
        import sentencepiece  # noqa: F401
        import tokenizers  # noqa: F401
        import xxhash  # noqa: F401
    except ImportError as e:
        encode.skip(str(e))
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(0 if run(options, folder) else 1)


if __name__ == "__main__":
    main()
