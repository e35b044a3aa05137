"""Tokenizer.save(): a tokenizer.json made of a pattern, ranks and special tokens gives the ids that tiktoken gives for
them, in leat and in tokenizers."""
import collections
import random
import subprocess

import pytest
from conftest import BUILD

import leat

tiktoken = pytest.importorskip("tiktoken")
tokenizers = pytest.importorskip("tokenizers")

PIECES = ["  ", "\n", " ", "\r\n", "'s", "'S", "'\u017f", "don't", "ab", "ABC", "123456",
          "\u0663\u0664\u0665\u0666", "\u00e9", "\u00df", "\u6f22\u5b57", "\U0001f600", "\u0301",
          "--", "====", "\t", "!?",
          "<|endoftext|>", "x" * 9, " " * 50, "\u00a0", "\x85", "\u2028", "/"]


def texts(seed, count, pieces=PIECES):
    r = random.Random(seed)
    return ["".join(r.choice(pieces) for _ in range(r.randint(1, 40))) for _ in range(count)]


def check(tokenizer, reference, path, asked):
    """Writes it, and compares what all four give."""
    tokenizer.save(path)
    again, theirs = leat.Tokenizer(path), tokenizers.Tokenizer.from_file(str(path))
    assert again.special_tokens == tokenizer.special_tokens
    for text in asked:
        want = reference.encode(text, allowed_special="all")
        assert theirs.encode(text).ids == again.encode(text, add_special_tokens=False) == want, text
        assert again.encode_ordinary(text) == reference.encode_ordinary(text), text
        assert theirs.decode(want, skip_special_tokens=False) == text


@pytest.mark.parametrize("name", ["cl100k_base", "o200k_base"])
def test_built_in(tmp_path, name):
    one = leat.get_encoding(name)
    check(one, one, tmp_path / "tokenizer.json", texts(1, 400))
    # each character, in places that decide how patterns cut
    again = leat.Tokenizer(tmp_path / "tokenizer.json")
    each = [f"a{chr(c)}b {chr(c)}{chr(c)} 1{chr(c)}\n" for c in range(0x110000) if not 0xd800 <= c < 0xe000]
    asked = ["".join(each[at:at + 1000]) for at in range(0, len(each), 1000)]
    assert again.encode_ordinary_batch(asked) == one.encode_ordinary_batch(asked)


def trained(lines, size):
    """Ranks as byte-pair encoding learns them."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    lines = [[bytes([byte]) for byte in line.encode()] for line in lines]
    while len(ranks) < size:
        pairs = collections.Counter(pair for line in lines for pair in zip(line, line[1:]))
        best = max((pair for pair in pairs if b"".join(pair) not in ranks), key=pairs.__getitem__, default=None)
        if best is None:
            break
        ranks[b"".join(best)] = len(ranks)
        for line in lines:
            at = 0
            while at + 1 < len(line):
                if (line[at], line[at + 1]) == best:
                    line[at:at + 2] = [b"".join(best)]
                at += 1
    return ranks


@pytest.mark.parametrize("seed", range(24))
def test_random_ranks(tmp_path, seed):
    """Few letters, so that tokens overlap in every way; learnt ranks, and any tokens in any order. Every fourth has ids
    without a token before its special tokens."""
    r = random.Random(seed)
    letters = "ab" if seed % 2 else "abc"
    lines = ["".join(r.choice(letters) for _ in range(r.randint(3, 30))) for _ in range(60)]
    ranks = trained(lines, 256 + r.randint(3, 40))
    if seed % 3 == 0:
        tokens = [*{line[at:at + 2 + at % 7].encode() for line in lines for at in range(len(line) - 1)} - ranks.keys()]
        ranks = {bytes([byte]): byte for byte in range(256)}
        for token in r.sample(tokens, min(len(tokens), 40)):
            ranks[token] = len(ranks)
    first = len(ranks) + 7 * (seed % 4 == 0)
    how = dict(pat_str=r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]++[\r\n]*|"""
                       r"""\s*[\r\n]|\s+(?!\S)|\s+""",  # nanochat's
               mergeable_ranks=ranks, special_tokens={"<|bos|>": first, "<|user_start|>": first + 1})
    asked = texts(seed, 40, [*letters, *letters, " ", "<|bos|>"]) + ["a" * n for n in range(40)]
    check(leat.Tokenizer(name="own", **how), tiktoken.Encoding("own", **how), tmp_path / "tokenizer.json", asked)


BYTES = {bytes([byte]): byte for byte in range(256)}


@pytest.mark.parametrize("pattern", [
    r"\p{N}{1,3}+\p{N}|.", r"\p{N}{2}?\p{N}|.", r"\p{N}{1,3}?|\s+", r"\pL+|\s++$|\s+(?!\S)|\s", r"^\s|a+$|[^\s-]+",
    r"(?:ab?)+?|(?>a+)b|(?<=b)1|(?<!1) |[\r\n\]\[a-c]+|\P{L}", r"a{1,}|(b)*c|1|\d{2}", r"(?i:x|[a-c]+)+"])
def test_patterns(tmp_path, pattern):
    """Also text that the pattern does not match, which is dropped."""
    how = dict(pat_str=pattern, mergeable_ranks=BYTES | {b"ab": 256, b"12": 257, b" \n": 258}, special_tokens={})
    one, theirs, path = leat.Tokenizer(name="own", **how), tiktoken.Encoding("own", **how), tmp_path / "tokenizer.json"
    one.save(path)
    again, other = leat.Tokenizer(path), tokenizers.Tokenizer.from_file(str(path))
    for text in texts(3, 400, ["ab", "a", "b", "ABX", "1", "123", "\u0663", " ", "\n", "-", "]", "\u017f", "c"]):
        assert again.encode_ordinary(text) == other.encode(text).ids == theirs.encode(text), (pattern, text)


@pytest.mark.parametrize("pattern", [
    r"\w+", r"\bb", r"(?s:.)", r"(?i)a", r"(a)\1", r"\Ka", r"[[:alpha:]]", r"[a&&b]", r"\x41", r"(?i:\p{Lu})",
    "(?i:\u00e4)", r"[a-\d]", r"a{,3}", r"a**"])
def test_patterns_that_differ(tmp_path, pattern):
    try:
        one = leat.Tokenizer(name="own", pat_str=pattern, mergeable_ranks=BYTES, special_tokens={})
    except leat.Error:
        return  # which leat does not open at all
    with pytest.raises(ValueError, match="has no certain equal"):
        one.save(tmp_path / "tokenizer.json")
    assert not (tmp_path / "tokenizer.json").exists()


def test_refused(tmp_path):
    path = tmp_path / "tokenizer.json"
    how = dict(pat_str="(?:.|\\n)", special_tokens={})
    with pytest.raises(ValueError, match="lacks the byte 0x41"):
        leat.Tokenizer(name="own", mergeable_ranks={k: v for k, v in BYTES.items() if k != b"A"}, **how).save(path)
    with pytest.raises(ValueError, match="would also be one in texts"):
        leat.Tokenizer(name="own", pat_str=r"\p{L}+|\s+", mergeable_ranks=BYTES, special_tokens={"bos": 300}).save(path)
    with pytest.raises(ValueError, match="the same id"):
        leat.get_encoding("o200k_harmony").save(path)
    with pytest.raises(NotImplementedError, match="has no pattern and ranks"):
        leat.Tokenizer("bytes").save(path)
    assert not path.exists()


def test_saved_again_and_packed(tmp_path):
    """A tokenizer.json is written as it is; and the command packs with it."""
    one = leat.Tokenizer(name="own", pat_str=r"\p{L}+|\s+", mergeable_ranks=BYTES | {b"ab": 256},
                         special_tokens={"<|bos|>": 257})
    one.save(tmp_path / "tokenizer.json")
    written = leat.Tokenizer(tmp_path / "tokenizer.json")
    written.save(tmp_path / "again.json")
    assert leat.Tokenizer(tmp_path / "again.json").fingerprint == written.fingerprint
    (tmp_path / "a.txt").write_text("ab abc")
    subprocess.run([BUILD / "leat", "pack", "-o", tmp_path / "tokens", "-t", tmp_path / "tokenizer.json", "--begin",
                    "<|bos|>", "--end", "<|bos|>", tmp_path / "a.txt"], check=True)
    assert leat.open(tmp_path / "tokens")[0].tolist() == [257, *one.encode("ab abc"), 257]
