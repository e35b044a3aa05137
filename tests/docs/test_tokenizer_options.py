#!/usr/bin/env python3
"""test_tokenizer_options.py: the table of components and options in docs/tokenizers.md is true and complete: it has
exactly the components that the loader knows; for each row a tokenizer.json with all its options opens and encodes; and
what it says is refused is refused with that sentence."""
import base64
import json
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
LEAT = os.path.abspath(os.path.join(os.environ.get("LEAT_BUILD", "build"), "leat"))
STATIONS = os.path.join(TOP, "tokenize_tools", "tokenizer", "load", "load_hf_stations.c")

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
METASPACE = {"type": "Metaspace", "replacement": "_", "prepend_scheme": "always", "split": True}
BERT = {"type": "BertProcessing", "sep": ["a", 0], "cls": ["b", 1]}
STRING, REGEX = {"String": "a"}, {"Regex": "a+"}
VOCAB = {"a": 0, "b": 1, "ab": 2, "<unk>": 3}
BPE = {"type": "BPE", "vocab": VOCAB, "merges": [["a", "b"]], "unk_token": "<unk>", "continuing_subword_prefix": None,
       "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False, "dropout": None}
ADDED = {"id": 4, "content": "<x>", "single_word": False, "lstrip": False, "rstrip": False, "normalized": True,
         "special": False}
MAP = base64.b64encode(b"\0\4\0\0" + b"\0" * 1025).decode()  # a trie of nothing, an empty string
A = {"Sequence": {"id": "A", "type_id": 0}}

# for each part, what opens: one or more for each component; those without options have a type only
OPENS = {
    "model": [BPE, {**BPE, "dropout": 0.0},
              {"type": "Unigram", "vocab": [["<unk>", 0.0], ["a", -1.5]], "unk_id": 0, "byte_fallback": False},
              {"type": "WordPiece", "vocab": VOCAB, "unk_token": "<unk>", "continuing_subword_prefix": "##",
               "max_input_chars_per_word": 100},
              {"type": "WordLevel", "vocab": VOCAB, "unk_token": "<unk>"}],
    "normalizer": [{"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None,
                    "lowercase": True},
                   {"type": "Strip", "strip_left": True, "strip_right": True},
                   {"type": "Replace", "pattern": STRING, "content": "b"},
                   {"type": "Replace", "pattern": REGEX, "content": "b"},
                   {"type": "Prepend", "prepend": "a"}, {"type": "Precompiled", "precompiled_charsmap": MAP},
                   {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]}],
    "pre_tokenizer": [BYTE_LEVEL, {"type": "Split", "pattern": STRING, "behavior": "Isolated", "invert": False},
                      {"type": "Split", "pattern": REGEX, "behavior": "MergedWithNext", "invert": True},
                      {"type": "Digits", "individual_digits": True}, {"type": "Punctuation", "behavior": "Contiguous"},
                      {"type": "CharDelimiterSplit", "delimiter": "a"}, {"type": "FixedLength", "length": 65535},
                      METASPACE, {**METASPACE, "prepend_scheme": "first"},
                      {"type": "Sequence", "pretokenizers": [{"type": "Whitespace"}, BYTE_LEVEL]}],
    "decoder": [BYTE_LEVEL, {"type": "Strip", "content": "a", "start": 1, "stop": 0}, METASPACE,
                {"type": "Replace", "pattern": STRING, "content": "b"},
                {"type": "Replace", "pattern": REGEX, "content": "b"},
                {"type": "WordPiece", "prefix": "##", "cleanup": True}, {"type": "BPEDecoder", "suffix": "</w>"},
                {"type": "CTC", "pad_token": "a", "word_delimiter_token": "|", "cleanup": True},
                {"type": "Sequence", "decoders": [{"type": "Fuse"}, {"type": "ByteFallback"}]}],
    "post_processor": [{"type": "TemplateProcessing", "single": [A], "pair": [A], "special_tokens": {}}, BERT,
                       {**BERT, "type": "RobertaProcessing", "trim_offsets": True, "add_prefix_space": True},
                       BYTE_LEVEL, {"type": "Sequence", "processors": [BYTE_LEVEL, BERT]}],
    "added_tokens": [[ADDED]],
}

# sentence: what is refused with it
REFUSED = {
    "dropout": {"model": {**BPE, "dropout": 0.1}},
    "is not supported": {"model": {**BPE, "dropout": 1}},
    "an empty Prepend before ByteLevel is not supported": {
        "normalizer": {"type": "Prepend", "prepend": ""}, "pre_tokenizer": BYTE_LEVEL},
    '"length" must be 1 to 65535': {"pre_tokenizer": {"type": "FixedLength", "length": 65536}},
    "two added tokens have the same text": {
        "normalizer": {"type": "Lowercase"}, "added_tokens": [ADDED, {**ADDED, "id": 5, "content": "<X>"}]},
    "becomes empty when normalized": {
        "normalizer": {"type": "Replace", "pattern": {"String": "<x>"}, "content": ""}, "added_tokens": [ADDED]},
}
failures = []


def fail(*words):
    failures.append(" ".join(map(str, words)))


def rows():
    """(part, component, options, the sentences of the last column)"""
    with open(os.path.join(TOP, "docs", "tokenizers.md"), encoding="utf-8") as f:
        table = re.search(r"\| part \| component .*?\n\n", f.read(), re.S).group()
    for line in table.strip().splitlines()[2:]:
        cells = [cell.strip() for cell in line.strip()[1:-1].split("|")]
        yield cells[0], cells[1], set(re.findall(r"`(\w+)`", re.sub(r"\([^)]*\)", "", cells[2]))), \
            re.findall("`([^`]+)`", cells[3])


def known():
    """{part: components} of the loader's tables, where Sequence has no reader."""
    with open(STATIONS, encoding="utf-8") as f:
        source = f.read()
    rows = {part: re.search(r"%s_rows\[\] = \{(.*?)\};" % part, source, re.S).group(1)
            for part in ("normalizer", "pre_tokenizer", "decoder")}
    return {part: set(re.findall(r'^    \{ "(\w+)",', text, re.M)) | {"Sequence"} for part, text in rows.items()}


def encode(folder, parts):
    """What leat encode says of a file with these parts: (exit code, stderr)."""
    path = os.path.join(folder, "tokenizer.json")
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"version": "1.0", "model": BPE, **parts}, f)
    p = subprocess.run([LEAT, "encode", "-t", path], input=b"ab 12", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       check=False)
    return p.returncode, p.stderr.decode()


def main():
    if not os.path.exists(LEAT):
        print("skipped: no leat in the build", file=sys.stderr)
        sys.exit(77)
    listed, said, used = {}, set(), set()
    with tempfile.TemporaryDirectory() as folder:
        for part, component, options, sentences in rows():
            listed.setdefault(part, set()).add(component)
            said.update(sentences)
            if part == "added_tokens":
                samples = [(ADDED, [ADDED])]
            else:
                samples = [(s, s) for s in OPENS[part] if s["type"] == component]
                samples = samples or [({"type": component}, {"type": component})]
            for sample, value in samples:
                if set(sample) - {"type"} != options:
                    fail(part, component, "has in the page the options", options, "and not", set(sample) - {"type"})
                code, words = encode(folder, {part: value})
                used.add(json.dumps(value))
                if code != 0:
                    fail(part, component, "is refused:", words)
        for sentence in sorted(said | set(REFUSED)):
            if sentence not in said or sentence not in REFUSED:
                fail("only the page, or only this test, has the sentence", sentence)
                continue
            code, words = encode(folder, REFUSED[sentence])
            if code == 0 or sentence not in words:
                fail("exit code", code, "and not the sentence", sentence, ":", words)
        code, words = encode(folder, {"model": {**OPENS["model"][2], "alpha": 0.1, "nbest_size": 64}})
        if code != 0:
            fail("options that no file has are refused:", words)
        for part in known():
            code, words = encode(folder, {part: {"type": "Unheard"}})
            if code == 0 or "Unheard" not in words:
                fail("an unknown", part, "is not refused by its name:", words)
    for part, components in known().items():
        if listed.get(part) != components:
            fail(part, "of the page and the loader differ:", listed.get(part, set()) ^ components)
    if {m["type"] for m in OPENS["model"]} != listed["model"]:
        fail("other models:", listed["model"])
    unused = [s for part in OPENS for s in OPENS[part] if json.dumps(s) not in used]
    if unused:
        fail("without a row:", unused)
    for failure in failures:
        print(failure, file=sys.stderr)
    sys.exit(1 if failures else 0)


main()
