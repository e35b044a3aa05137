"""_tokenizer_json.py: writes a tokenizer.json from the parts of tiktoken's Encoding: a pattern, ranks and special
tokens.

The file must give the ids of the ranks, in tokenizers as in leat. Three things differ between the two libraries:

Merges. tiktoken merges, of all neighbours whose bytes together are a token, those of the lowest rank, the first of
several. A tokenizer.json lists pairs instead, each with a rank of its own. So every way to cut a token into two tokens
is a pair, in the order of the tokens' ranks. (If two pairs of one token overlapped in a text, as (ab, a) and (a, ba)
in "ababa", their order would matter. None did, of 4,000 random sets of ranks: an earlier merge always stands in the
way.)

Patterns. tiktoken's are fancy-regex's, those of a tokenizer.json Oniguruma's. Both mean the same by most of what
patterns are made of; _Pattern translates what has another form, and refuses the rest.

Text that the pattern does not match is dropped by tiktoken; so the file's pre-tokenizer removes it."""
from __future__ import annotations

import json
import re

from leat._tokenizer_file import byte_letters


def tokenizer_json(pat_str: str, mergeable_ranks: dict[bytes, int], special_tokens: dict[str, int]) -> str:
    letters = byte_letters()
    missing = [byte for byte in range(256) if bytes([byte]) not in mergeable_ranks]
    if missing:
        raise ValueError(f"mergeable_ranks lacks the byte 0x{missing[0]:02x}: a tokenizer.json would drop it")
    if len({*mergeable_ranks.values(), *special_tokens.values()}) != len(mergeable_ranks) + len(special_tokens):
        raise ValueError("two tokens have the same id, which a tokenizer.json cannot say")
    names = {token: token.decode("latin-1").translate(letters) for token in mergeable_ranks}
    tokens = sorted(mergeable_ranks, key=mergeable_ranks.__getitem__)
    merges = [[names[token[:at]], names[token[at:]]] for token in tokens for at in range(1, len(token))
              if token[:at] in names and token[at:] in names]
    vocabulary = {names[token]: mergeable_ranks[token] for token in tokens}
    special = sorted(special_tokens.items(), key=lambda item: item[1])
    # tokenizers numbers added tokens from the size of the vocabulary on, unless the vocabulary has them.
    if [id for _, id in special] != list(range(len(tokens), len(tokens) + len(special))):
        for name, id in special:
            if vocabulary.setdefault(name, id) != id:
                raise ValueError(f"the special token {name!r} is also the name of token {vocabulary[name]} in a "
                                 "tokenizer.json")
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    bytewise = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    return json.dumps({
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": id, "content": name, **flags} for name, id in special],
        "normalizer": None,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": _Pattern(pat_str).translated()}, "behavior": "Removed",
             "invert": True}, bytewise]},
        "post_processor": None,
        "decoder": {**bytewise, "add_prefix_space": True, "use_regex": True},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": True,
                  "vocab": vocabulary, "merges": merges}}, ensure_ascii=False, indent=1)


class _Pattern:
    """Translates an expression of fancy-regex to Oniguruma."""

    _ESCAPES = set("rntf")
    _REPEAT = re.compile(r"[*+?]|\{(\d+)(?:(,)(\d*))?\}")

    def __init__(self, text):
        self._text, self._at, self._folds = text, 0, 0

    def _refuse(self, what):
        raise ValueError(f"{what} in the pattern, at character {self._at}, has no certain equal in a tokenizer.json: "
                         f"{self._text!r}")

    def _accept(self, text):
        if self._text.startswith(text, self._at):
            self._at += len(text)
            return True
        return False

    def translated(self):
        out = self._alternatives()
        if self._at < len(self._text):
            self._refuse("this parenthesis")
        return out

    def _alternatives(self):
        out = ""
        while self._at < len(self._text) and self._text[self._at] != ")":
            out += "|" if self._accept("|") else self._repeated()
        return out

    def _repeated(self):
        from_, atom = self._at, self._atom()
        found = self._REPEAT.match(self._text, self._at)
        if not found:
            return atom
        if self._text[from_] in "^$" or self._text.startswith(("(?=", "(?!", "(?<"), from_):
            self._refuse("this repetition")
        self._at = found.end()
        atom += found[0]
        if found[1] is None:
            atom += "?" if self._accept("?") else "+" if self._accept("+") else ""
        elif self._accept("+"):  # Oniguruma would repeat the repetition
            atom = f"(?>{atom})"
        elif self._accept("?") and found[2] and found[3] != found[1]:  # {n}? means {n}, but Oniguruma makes it optional
            atom += "?"
        if self._REPEAT.match(self._text, self._at):
            self._refuse("this repetition")
        return atom

    def _atom(self):
        if self._accept("("):
            return self._group()
        if self._accept("["):
            return self._class()
        if self._accept("^"):
            return r"\A"  # in Oniguruma, ^ and $ match at lines
        if self._accept("$"):
            return r"\z"
        character = self._text[self._at]
        if character in "{}*+?]":
            self._refuse(repr(character))
        return self._character()

    def _group(self):
        kind = next((kind for kind in ("?:", "?>", "?=", "?!", "?<=", "?<!", "?i:") if self._accept(kind)), "")
        if not kind and self._accept("?"):
            self._refuse("this group")
        self._folds += kind == "?i:"
        inner = self._alternatives()
        self._folds -= kind == "?i:"
        if not self._accept(")"):
            self._refuse("a missing parenthesis")
        return f"({kind}{inner})"

    def _class(self):
        out = "[" + ("^" if self._accept("^") else "")
        first = True
        while not self._accept("]"):
            if self._at >= len(self._text):
                self._refuse("a missing bracket")
            character = self._text[self._at]
            if character == "[" or self._text.startswith(("&&", "--", "~~"), self._at) or (
                    character == "-" and not first and self._text[self._at + 1:self._at + 2] != "]"):
                self._refuse(repr(character))
            out += self._character()
            first = False
            if self._text[self._at:self._at + 1] == "-" and self._text[self._at + 1:self._at + 2] not in ("]", "["):
                self._at += 1
                out += "-" + self._character()
        if first:
            self._refuse("an empty class")
        return out + "]"

    def _character(self):
        """Translates a character or an escape of a class."""
        if not self._accept("\\"):
            character = self._text[self._at]
            self._at += 1
            if self._folds and not character.isascii():
                self._refuse("a character beyond ASCII without regard to case")
            return character
        found = re.compile(r"([pP])(?:\{\^?(\w+)\}|(\w))|[sSdD]").match(self._text, self._at)
        if found:
            if self._folds and found[1]:
                self._refuse("a property without regard to case")
            self._at = found.end()
            return f"\\{found[1]}{{{found[3]}}}" if found[3] else f"\\{found[0]}"
        character = self._text[self._at:self._at + 1]
        if character not in self._ESCAPES and (not character.isascii() or character.isalnum() or not character):
            self._refuse(f"\\{character}")
        if character in "<>":
            self._refuse(f"\\{character}")  # word boundaries
        self._at += 1
        return f"\\{character}"


def saved(tokenizer) -> str:
    """Returns the text that Tokenizer.save() writes."""
    file = tokenizer._tokenizer_json()
    if file is not None:
        return json.dumps(file, ensure_ascii=False, indent=1)
    try:
        pattern = tokenizer._pat_str
    except AttributeError:
        raise NotImplementedError(f"{tokenizer.name} has no pattern and ranks to write as a tokenizer.json") from None
    text = tokenizer_json(pattern, tokenizer._mergeable_ranks, tokenizer.special_tokens)
    again = type(tokenizer).from_stored("tokenizer.json", "", text.encode())
    for name in tokenizer.special_tokens:  # a special token's name may be an ordinary token of the vocabulary
        if again.encode_ordinary(name) != tokenizer.encode_ordinary(name):
            raise ValueError(f"the special token {name!r} would also be one in texts: give it the id after the last "
                             "rank")
    return text
