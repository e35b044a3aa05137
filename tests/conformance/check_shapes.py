#!/usr/bin/env python3
"""check_shapes.py PROGRAM [--share ci|full] [--seed N]: tokenizer.json files that no library writes: parts without a
type or with another one, with members that are missing, given twice or of a wrong type, arrays in place of objects.
What tokenizers opens must open and give the same ids and text; what it refuses must be refused, unless it is in what
no document depends on. PROGRAM is ids_dump, built. Ends with "N passed, N failed, N skipped". 77: tokenizers is not
installed."""
import argparse
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

import ids_references as references

try:
    from tokenizers import Tokenizer
except ImportError as e:
    print(f"skipped: {e}")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(77)

FILES = {"ci": 3000, "full": 60000}
VOCAB = {t: i for i, t in enumerate(["a", "b", "ab", " ", "x", "A", "#b", ".", "_", "<unk>", "_a", "e"])}
BPE = {"type": "BPE", "vocab": VOCAB, "merges": ["a b", "_ a"]}
TEXTS = ["ab a", "  ab xb \u00e9 A.", "a", "x_a,b ab"]
IDS = [0, 3, 2, 1, 4, 4, 0]
# values of every kind; numbers that JSON's writer does not give are marked
JUNK = [None, True, False, 0, 1, -1, "@-0", 1.0, 2**32, 2**32 - 1, 2**64 - 1, 2**64, "@1e3", "", "x", "ab", "Removed",
        [], {}, ["x"], {"x": 1}, "NFC", {"NFC": None}, [True], "Left", {"String": "a"}, "ByteLevel",
        "Sequence", "first"]


class Pairs(list):
    """An object, which may have a member twice."""


def written(value):
    if isinstance(value, dict):
        value = Pairs(value.items())
    if isinstance(value, Pairs):
        return "{" + ",".join(f"{json.dumps(k)}:{written(v)}" for k, v in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    return value[1:] if isinstance(value, str) and value.startswith("@") else json.dumps(value)


class Maker:
    def __init__(self, seed):
        self.r = r = random.Random(seed)
        one = r.choice
        flag, text = lambda: one([True, False]), lambda: one(["", "x", "a", "ab", "_"])
        letter, number = lambda: one("xa_"), lambda: r.randrange(9)
        pattern = lambda: {one(["String", "Regex"]): one(["a", "b", "ab"])}
        behavior = lambda: one(["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"])
        bert = {"clean_text": flag, "handle_chinese_chars": flag, "strip_accents": lambda: one([None, True, False]),
                "lowercase": flag}
        metaspace = {"replacement": letter, "add_prefix_space": lambda: one([None, True]),
                     "prepend_scheme": lambda: one(["always", "never", "first"]),
                     "split": lambda: one([None, True, False]), "str_rep": lambda: one([None, "x"])}
        byte_level = {"add_prefix_space": flag, "trim_offsets": flag, "use_regex": flag}
        token = lambda: [text(), number()]
        replace = {"pattern": pattern, "content": text}
        pieces = lambda: [self.piece() for _ in range(r.randrange(4))]
        tokens = lambda: {k: self.maybe({"id": k, "ids": [1], "tokens": ["x"]}, 0.1) for k in "st"}
        listed = lambda family: lambda: [self.component(family, 0.12) for _ in range(one([0, 1, 1, 2]))]
        self.families = {
            "normalizer": {
                "BertNormalizer": bert, "Bert": bert, "Strip": {"strip_left": flag, "strip_right": flag},
                "StripAccents": {}, "NFC": {}, "NFD": {}, "NFKC": {}, "NFKD": {}, "Lowercase": {}, "Nmt": {},
                "Sequence": {"normalizers": listed("normalizer")}, "Replace": replace, "Prepend": {"prepend": text}},
            "pre_tokenizer": {
                "BertPreTokenizer": {}, "CharDelimiterSplit": {"delimiter": letter}, "Delimiter": {"delimiter": letter},
                "Metaspace": metaspace, "Whitespace": {}, "Sequence": {"pretokenizers": listed("pre_tokenizer")},
                "Split": {"pattern": pattern, "behavior": behavior, "invert": flag}, "Punctuation": {
                    "behavior": behavior}, "WhitespaceSplit": {}, "Digits": {"individual_digits": flag},
                "UnicodeScripts": {}, "FixedLength": {"length": lambda: r.randrange(1, 4)}},
            "decoder": {
                "BPEDecoder": {"suffix": text}, "ByteLevel": byte_level, "WordPiece": {"prefix": text, "cleanup": flag},
                "Metaspace": metaspace, "Sequence": {"decoders": listed("decoder")}, "Replace": replace, "Fuse": {},
                "CTC": {"pad_token": text, "word_delimiter_token": text, "cleanup": flag},
                "Strip": {"content": letter, "start": lambda: r.randrange(3), "stop": lambda: 0}, "ByteFallback": {}},
            "post_processor": {
                "RobertaProcessing": {"sep": token, "cls": token, "trim_offsets": flag, "add_prefix_space": flag},
                "BertProcessing": {"sep": token, "cls": token}, "ByteLevel": byte_level,
                "TemplateProcessing": {"single": pieces, "pair": pieces, "special_tokens": tokens},
                "Sequence": {"processors": listed("post_processor")}}}
        self.whole = {
            "truncation": {"direction": lambda: one(["Left", "Right"]), "max_length": number,
                           "strategy": lambda: one(["LongestFirst", "OnlyFirst", "OnlySecond"]), "stride": number},
            "padding": {"strategy": lambda: one(["BatchLongest", {"Fixed": 3}]), "direction": lambda: one(
                ["Left", "Right"]), "pad_to_multiple_of": lambda: one([None, 0, 8]), "pad_id": number, "pad_type_id":
                number, "pad_token": text},
            "added_tokens": {"id": number, "content": lambda: one(["zz", "ab"]), "single_word": flag, "lstrip": flag,
                             "rstrip": flag, "normalized": lambda: False, "special": flag}}

    def junk(self):
        return self.r.choice(JUNK)

    def piece(self):
        kind, ids = self.r.choice([("Sequence", ["A", "B", {"A": None}]), ("SpecialToken", ["s", "t"])])
        value = {"id": self.r.choice(ids), "type_id": 0}
        return {kind: list(value.values()) if self.r.random() < 0.2 else self.maybe(value, 0.04)}

    def maybe(self, value, rate):
        return self.changed(Pairs(value.items())) if self.r.random() < rate else value

    def changed(self, value):
        """An object or array with a member more, less, twice, of another kind or as a variant of serde's."""
        r, value = self.r, type(value)(value)
        at, kind = r.randrange(len(value)) if value else 0, r.randrange(6)
        named = isinstance(value, Pairs)
        if kind == 0 or not value:
            value.insert(r.randrange(len(value) + 1), ("extra", self.junk()) if named else self.junk())
        elif kind == 1:
            del value[at]
        elif kind == 2:
            value[at] = (value[at][0], self.junk()) if named else self.junk()
        elif kind == 3 and named:
            value.insert(at, (value[at][0], self.junk()))
        elif kind == 4 and named:
            r.shuffle(value)
        elif isinstance(value[at][1] if named else value[at], str):
            text = value[at][1] if named else value[at]
            value[at] = (value[at][0], {text: None}) if named else {text: None}
        return value

    def component(self, family, rate=0.6):
        r, rows = self.r, self.families[family]
        kind = r.choice(list(rows))
        members = lambda row: [(k, f()) for k, f in row.items()]
        value = Pairs([("type", kind), *members(rows[kind])])
        if r.random() >= rate:
            return value
        case = r.randrange(7)
        if case == 0:
            return Pairs(value[1:])
        if case == 1:
            return Pairs([("type", self.junk() if r.random() < 0.5 else r.choice(list(rows))), *value[1:]])
        if case == 2:
            value = Pairs(value[1:] + members(rows[r.choice(list(rows))]))
            r.shuffle(value)
            return Pairs([("type", r.choice(["Nope", kind, 5, None])), *value]) if r.random() < 0.5 else value
        if case in (3, 4):
            array = [v for _, v in (value if r.random() < 0.5 else value[1:])]
            return array if case == 3 else self.changed(array)
        return self.changed(value if case == 5 else Pairs(value[1:]))

    def model(self):
        r = self.r
        model = r.choice([
            BPE, {"type": "WordLevel", "vocab": VOCAB, "unk_token": "<unk>"},
            {"type": "Unigram", "vocab": [["<unk>", 0], ["a", -1], ["b", -1.5], ["ab", -2], [" ", -3]], "unk_id": 0},
            {"type": "WordPiece", "vocab": VOCAB, "unk_token": "<unk>", "continuing_subword_prefix": "#",
             "max_input_chars_per_word": 5},
            {"type": "BPE", "vocab": VOCAB, "merges": r.choice([["a b"], ["q q"], [["a", "b"]], 5, []]),
             "unk_token": "<unk>", "continuing_subword_prefix": r.choice(["#", None, ""]),
             "fuse_unk": r.choice([True, 5]),
             "dropout": r.choice([None, 0, 0.0, -1, 2, "@1e-60", "x"]),
             "max_input_chars_per_word": r.choice([5, "x"])}])
        model = Pairs(list(model.items())[r.random() < 0.7:])
        return self.changed(model) if r.random() < 0.5 else model

    def file(self):
        part = self.r.choice([*self.families, *self.whole, "model"])
        if part in self.families:
            value = self.component(part)
        elif part in self.whole:
            value = Pairs((k, f()) for k, f in self.whole[part].items())
            if self.r.random() < 0.3 and part != "added_tokens":
                value = [v for _, v in value]
            value = self.changed(value) if self.r.random() < 0.7 else value
            value = [value] if part == "added_tokens" else value
        else:
            return part, written({"model": self.model()})
        return part, written({part: value, "model": BPE})


def expected(text):
    """The answers of tokenizers; None if it refuses the file, or panics."""
    tokenizer = references.one(Tokenizer.from_str, text)
    if tokenizer is None or isinstance(tokenizer, references.Panic):
        return None
    tokenizer.no_truncation()
    tokenizer.no_padding()
    answers = [references.one(lambda x: tokenizer.encode(x, add_special_tokens=False).ids, x) for x in TEXTS]
    return answers + [references.one(lambda ids: tokenizer.decode(ids, skip_special_tokens=False), IDS)]


def answers_of(program, path):
    requests = b"".join(b"e" + struct.pack("<I", len(t.encode())) + t.encode() for t in TEXTS)
    requests += b"d" + struct.pack("<I", 4 * len(IDS)) + struct.pack(f"<{len(IDS)}I", *IDS)
    run = subprocess.run([program, path, "1"], input=requests, capture_output=True, check=False)
    if run.returncode == 3:
        return None
    answers, at = [], 0
    while at < len(run.stdout):
        status, size = struct.unpack_from("<II", run.stdout, at)
        answers.append(None if status else run.stdout[at + 8:at + 8 + size])
        at += 8 + size
    ids = [a and list(struct.unpack(f"<{len(a) // 4}I", a)) if a is not None else None for a in answers[:-1]]
    return [[] if i == b"" else i for i in ids] + [answers[-1] if answers[-1] is None else answers[-1].decode()]


def same(part, mine, theirs):
    if part in ("truncation", "padding", "post_processor"):  # no document depends on them
        return mine is not None or theirs is None
    if mine is None or theirs is None:
        return (mine is None) == (theirs is None)
    # ids that the model lacks are an error here
    return all(b is None or isinstance(b, references.Panic) or a == b for a, b in zip(mine, theirs[:-1])) and (
        part == "model" or isinstance(theirs[-1], references.Panic) or mine[-1] == theirs[-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--share", default="ci")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    maker, counts, opened = Maker(options.seed), [0, 0], 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "tokenizer.json")
        for _ in range(FILES[options.share]):
            part, text = maker.file()
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            with references.quiet():
                theirs = expected(text)
            mine = answers_of(options.program, path)
            good = same(part, mine, theirs)
            counts[not good] += 1
            opened += good and mine is not None
            if not good and counts[1] <= 20:
                print(f"FAILED {part}: {text}\n    leat      {mine}\n    reference {theirs}")
    print(f"{opened} files opened, {counts[0] - opened} refused by both")
    print("%d passed, %d failed, 0 skipped" % tuple(counts))
    sys.exit(1 if counts[1] else 0)


main()
