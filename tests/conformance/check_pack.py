#!/usr/bin/env python3
"""check_pack.py LEAT [--share ci|full] [--seed N]

leat pack with the vocabularies of the reference packages, over random corpora with every oddity that inputs have (those
of tests/pack/) and over the samples (LEAT_CORPORA or ../shared/corpora), against Python's json and gzip and the
reference: the same tokens, documents, origins, inputs and rejects. LEAT is the command; one that is built with small
pieces beside it (tiny/leat) packs every second corpus. Ends with "N passed, N failed, N skipped": one for each
vocabulary. 77: a reference is not installed.
"""
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "pack"))
try:
    import ids_pieces
    import ids_references as references
    import ids_texts as texts
except ImportError as e:
    print(f"skipped: {e}")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(77)
from comparing import Wrong, check, compare, read_rejects
from corpora import Corpus
from reference import Options, Packed

BUILT_IN = os.path.join(texts.ROOT, "tokenize_tools", "tokenizer", "data")
VOCAB = os.environ.get("LEAT_VOCAB", os.path.join(texts.ROOT, "..", "shared", "vocab"))
SAMPLES = ("sample_nasty", "sample_multi", "sample_code", "sample_english")


def plain(folder, place, name):
    """A vocabulary, uncompressed; None where it is not at hand."""
    path, to = os.path.join(place, name + ".zst"), os.path.join(folder, name)
    if not shutil.which("zstd") or not os.path.exists(path):
        return None
    subprocess.run(["zstd", "-dqf", path, "-o", to], check=True)
    return to


def vocabularies(folder, share):
    """Name and reference; None for what is not at hand."""
    for name, built_in in (("r50k_base", "gpt2"), ("cl100k_base", "cl100k_base"), ("o200k_base", "o200k_base")):
        path = plain(folder, BUILT_IN, name + ".tiktoken")
        yield "built-in " + built_in, path and references.Tiktoken(built_in, path, name)
    for name in ("mistral_v1", "qwen2_5") if share == "ci" else ("mistral_v1", "qwen2_5", "llama3_1", "gemma2", "gpt2"):
        path = plain(folder, VOCAB, name + ".tokenizer.json")
        yield name + ".tokenizer.json", path and references.HuggingFace(path)
    path = os.path.join(folder, "made.model")
    with open(path, "wb") as f:
        f.write(ids_pieces.train_model(texts.training_lines([])))
    yield "a model made by sentencepiece", references.SentencePiece(path)


def encoder(reference):
    def encode(text):
        ids = reference.encode([text.decode()], 0)[0]
        if ids is None or isinstance(ids, references.Panic):
            raise Wrong("the reference has no answer for %.100r" % text)
        return ids
    return encode


def pack(leat, folder, reference, options, corpus_args, packed, stdin=None):
    args = [leat, "pack", "-t", reference.spec, "-o", "out", "--force", "--text", options.text, "--id", options.id,
            "--end", "none", "--max-rejects", "100%", "--allow-binary", "--memory", "512Mi", "--progress", "never",
            "--invalid-utf8", "reject" if options.reject_invalid else "replace", *corpus_args]
    p = subprocess.run(args, cwd=folder, input=stdin or b"", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    check(p.returncode == 0, "exit code %d: %s" % (p.returncode, p.stderr.decode()))
    compare(os.path.join(folder, "out"), packed, read_rejects(os.path.join(folder, "out.rejects.jsonl")))


def random_corpus(r, leat, folder, reference):
    options = Options(text=r.choice(["text", "meta.body"]), reject_invalid=r.random() < 0.3, end=None,
                      allow_binary=True, encode=encoder(reference))
    corpus = Corpus(r, folder, options, r.choice([300, 3000, 30000]), ["zst"] if shutil.which("zstd") else [], True)
    packed = Packed(options)
    for path, raw, kind in corpus.items:
        packed.add(path, raw, kind)
    pack(leat, folder, reference, options, ["--format", corpus.format, "--threads", str(r.randrange(1, 4)),
                                            *corpus.words], packed, corpus.stdin)


def sample(leat, folder, reference, name, share):
    """The sample as it is; a share of its lines, uncompressed."""
    path = os.path.join(texts.CORPORA, name + ".jsonl.zst")
    options, packed = Options(end=None, allow_binary=True, encode=encoder(reference)), None
    if not os.path.exists(path) or not shutil.which("zstd"):
        return
    data = subprocess.run(["zstd", "-dcq", path], stdout=subprocess.PIPE, check=True).stdout
    if share == "ci":
        data = b"".join(line + b"\n" for line in data.split(b"\n")[::8] if line)
    with open(os.path.join(folder, name + ".jsonl"), "wb") as f:
        f.write(data)
    packed = Packed(options)
    packed.add(name + ".jsonl", data, "jsonl")
    pack(leat, folder, reference, options, [name + ".jsonl"], packed)


def one(name, reference, leats, top, share, seed):
    for case in range(6 if share == "ci" else 100):
        folder = os.path.join(top, "case")
        os.makedirs(folder)
        try:
            random_corpus(random.Random("%s %d %d" % (name, seed, case)), leats[case % len(leats)], folder, reference)
        except Wrong as wrong:
            raise Wrong("corpus %d: %s" % (case, wrong)) from None
        finally:
            shutil.rmtree(folder)
    for word in SAMPLES[:2] if share == "ci" else SAMPLES:
        sample(leats[0], top, reference, word, share)


def main():
    a = argparse.ArgumentParser()
    a.add_argument("leat")
    a.add_argument("--share", choices=("ci", "full"), default="full")
    a.add_argument("--seed", type=int, default=1)
    a = a.parse_args()
    leat = os.path.abspath(a.leat)
    tiny = os.path.join(os.path.dirname(leat), "tiny", "leat")
    leats = [leat, tiny] if os.path.exists(tiny) else [leat]
    counts = [0, 0, 0]
    with tempfile.TemporaryDirectory() as top:
        for name, reference in vocabularies(top, a.share):
            result = 2
            if reference:
                try:
                    one(name, reference, leats, top, a.share, a.seed)
                    result = 0
                except Wrong as wrong:
                    print("FAILED pack, %s: %s" % (name, wrong))
                    result = 1
            counts[result] += 1
            print("%s pack, %s" % (("passed", "failed", "skipped")[result], name), flush=True)
    print("%d passed, %d failed, %d skipped" % tuple(counts))
    return 1 if counts[1] else 0 if counts[0] else 77


sys.exit(main())
