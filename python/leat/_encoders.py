"""_encoders.py: what `leat-bench compare` measures: encoders of other libraries beside leat's. Each measurement is a
process of its own with one thread, so that no cache of an earlier one helps: `main(PROGRAM, FOLDER, SPEC, PATTERN)`.
FOLDER has the documents (texts.bin, ends.npy) and tokenizer.json where leat can write one. The process leaves
PROGRAM.ids.npy and PROGRAM.ends.npy there, and prints JSON: seconds and version, or not_measured, the reason.

To add a library: a function that opens the vocabulary and returns a function from texts to one list of ids each, and
its row in ENCODERS."""
from __future__ import annotations

import base64
import functools
import importlib.metadata
import json
import os
import re
import time

import numpy

import leat
from leat._leat import show
from leat._own_file import own_file


class Unable(Exception):
    """Says why a library cannot open this vocabulary."""


def _file(folder):
    path = os.path.join(folder, "tokenizer.json")
    if not os.path.exists(path):
        raise Unable("it needs a tokenizer.json, and leat cannot write one for this vocabulary")
    return path


def _is_json(file):
    return file is not None and file.lstrip()[:1] == b"{"


def _ranks(folder, tokenizer):
    """Writes the ranks as a *.tiktoken file and returns its path."""
    path = os.path.join(folder, "ranks.tiktoken")
    with open(path, "w", encoding="ascii", opener=own_file) as file:
        for text, rank in tokenizer._mergeable_ranks.items():
            file.write(f"{base64.b64encode(text).decode()} {rank}\n")
    return path


def _leat(folder, spec, pattern):
    return functools.partial(leat.Tokenizer(spec, pattern=pattern).encode_flat, num_threads=1)


def _gigatoken(folder, spec, pattern):
    import gigatoken
    own = leat.Tokenizer(spec, pattern=pattern)
    name, stored_pattern, file = own.stored()
    scheme = re.match("gpt2|r50k|cl100k|o200k", stored_pattern or name)
    if scheme and not _is_json(file):
        opened = gigatoken.Tokenizer.from_tiktoken(_ranks(folder, own), scheme[0])
    else:
        opened = gigatoken.Tokenizer(_file(folder))
    return lambda texts: opened.encode_batch([text.encode() for text in texts], parallel=False)


def _tiktoken(folder, spec, pattern):
    import tiktoken
    own = leat.Tokenizer(spec, pattern=pattern)
    try:
        opened = tiktoken.Encoding(own.name, pat_str=own._pat_str, mergeable_ranks=own._mergeable_ranks,
                                   special_tokens=own.special_tokens)
    except AttributeError as error:
        raise Unable("it needs a pattern and ranks, which this vocabulary does not have") from error
    return lambda texts: [opened.encode_ordinary(text) for text in texts]


def _tokenizers(folder, spec, pattern):
    import tokenizers
    opened = tokenizers.Tokenizer.from_file(_file(folder))
    return lambda texts: [one.ids for one in opened.encode_batch_fast(texts, add_special_tokens=False)]


def _sentencepiece(folder, spec, pattern):
    import sentencepiece
    file = leat.Tokenizer(spec, pattern=pattern).stored()[2]
    if file is None or _is_json(file):
        raise Unable("it needs a file of sentencepiece (tokenizer.model)")
    try:
        opened = sentencepiece.SentencePieceProcessor(model_proto=file)
    except RuntimeError as error:
        raise Unable("the vocabulary is not a file of sentencepiece (tokenizer.model)") from error
    return lambda texts: opened.encode(texts, num_threads=1)


ENCODERS = {"leat": _leat, "gigatoken": _gigatoken, "tiktoken": _tiktoken, "tokenizers": _tokenizers,
            "sentencepiece": _sentencepiece}


def version_of(program):
    """Returns the version of a library, or None if it is not installed."""
    try:
        return leat.__version__ if program == "leat" else importlib.metadata.version(program)
    except importlib.metadata.PackageNotFoundError:
        return None


def _flat(result):
    """Returns all ids in one array, and each document's end, from encode_flat()'s pair, an awkward array or lists."""
    if isinstance(result, tuple):
        return result[0], result[1][1:]
    if hasattr(result, "layout"):
        import awkward
        return awkward.to_numpy(awkward.flatten(result)), numpy.cumsum(awkward.to_numpy(awkward.num(result)))
    return (numpy.fromiter((i for ids in result for i in ids), dtype=numpy.uint32),
            numpy.cumsum([len(ids) for ids in result]))


def main(program, folder, spec, pattern):
    with open(os.path.join(folder, "texts.bin"), "rb") as file:
        data = file.read()
    ends = numpy.load(os.path.join(folder, "ends.npy")).tolist()
    texts = [data[begin:end].decode() for begin, end in zip([0, *ends], ends)]
    try:
        encode = ENCODERS[program](folder, spec, pattern or None)
        encode(["a"])  # first imports of the library, which are not measured
        began = time.perf_counter()
        result = encode(texts)
        seconds = time.perf_counter() - began
    except Unable as why:
        print(json.dumps({"not_measured": str(why)}))
        return
    except Exception as error:  # the library's reason to refuse this vocabulary or text
        print(json.dumps({"not_measured": show(f"{type(error).__name__}: {error}".split("\n")[0][:300])}))
        return
    for name, array in zip(("ids", "ends"), _flat(result)):
        numpy.save(os.path.join(folder, f"{program}.{name}.npy"), array)
    print(json.dumps({"seconds": seconds, "version": version_of(program)}))
