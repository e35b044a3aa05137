"""_token_offsets.py: the offsets of a text's tokens, by what they spell (_offsets.py), as a post-processor leaves them.
Where a normalizer has changed the text, tokens spell another one: there are no offsets then, and the error names it."""
from __future__ import annotations

import re

from leat import _offsets as spelling
from leat._documents import SURROGATE_PAIR
from leat._post_processor import trims_of
from leat._tokenizer_file import byte_letters, is_plain

_SURROGATE = re.compile("[\ud800-\udfff]")


class TokenOffsets:
    """Of one tokenizer: its core, its parsed tokenizer.json or None, and the function that names an id."""

    def __init__(self, core, file, name_of):
        self._core, self._name_of, self._changed_by = core, name_of, None
        self._odd = file is not None and not is_plain(file)
        if self._odd:
            return
        file = file or {}
        model = file.get("model", {})
        prefix = model.get("continuing_subword_prefix", "").encode() if model.get("type") == "WordPiece" else b""
        self._words_prefix = prefix if model.get("type") in ("WordPiece", "WordLevel") else None
        if file.get("normalizer"):
            self._changed_by = f"normalizer ({', '.join(_names(file['normalizer']))})"
        elif file and not _keeps(file.get("pre_tokenizer"), self._words_prefix is not None):
            self._changed_by = f"pre-tokenizer ({', '.join(_names(file.get('pre_tokenizer'))) or 'none'})"
        self._unknown_word = str(model.get("unk_token")).encode("utf-8", "replace")
        self._added = {t["content"].encode("utf-8", "replace"): t for t in file.get("added_tokens", ())}
        self._either = self._also_ordinary(model.get("vocab", ()))
        self._trims = trims_of(file.get("post_processor"))
        # a space that is put before the text, but dropped as unknown, moves the reference's offsets
        self._drops_space = model.get("type", "BPE") == "BPE" and model.get("unk_token") is None and \
            _puts_space(file.get("pre_tokenizer")) and "\u0120" not in model["vocab"]

    def _also_ordinary(self, vocab):
        """Added tokens that take white space, and that a word can be made of, too: then they take none."""
        vocab = vocab if isinstance(vocab, dict) else {text for text, _ in vocab}
        letters = byte_letters()
        return {text for text, t in self._added.items() if t["single_word"] and (t["lstrip"] or t["rstrip"])
                and (t["content"] in vocab or text.decode("latin-1").translate(letters) in vocab)}

    def spans(self, text, ids):
        """([begin, end) in characters, in bytes, what tokenizers calls it if not by its name, else None) of each token;
        NotImplementedError."""
        text = _utf8(text)
        entries = [self._core.token(i) for i in ids]
        if self._changed_by:
            raise NotImplementedError(f"the offsets of tokens are not known, since the {self._changed_by} of this "
                                      "tokenizer may change texts; tokenizers has them")
        try:
            if self._odd or self._drops_space:
                raise spelling.Unspelled(0)
            self._refuse_shared_space(entries)
            return self._spelled(text, entries)
        except spelling.Unspelled as e:
            raise self._not_known(ids, e.args[0]) from None

    def _not_known(self, ids, number):
        number = min(number, len(ids) - 1)
        name = self._name_of(ids[number]) if ids else ""
        return NotImplementedError(f"the offsets of this text's tokens are not known from {name!r} (token {number}) "
                                   "on: they do not spell the text; tokenizers has them")

    def _refuse_shared_space(self, entries):
        """Of two added tokens side by side, tokenizers looks for those first that are not normalized. So such a second
        one has the white space between both, if both would take it."""
        added = [self._added.get(entry[0]) if entry[2] else None for entry in entries]
        for number, (a, b) in enumerate(zip(added, added[1:])):
            if a and b and a["rstrip"] and a["normalized"] and b["lstrip"] and not b["normalized"]:
                raise spelling.Unspelled(number)

    def _spelled(self, text, entries):
        pieces = []
        for number, (own, bytewise, added, *_) in enumerate(entries):
            if self._words_prefix is not None and not added and own == self._unknown_word:
                raise spelling.Unspelled(number)  # even where the text has its name
            if added and own in self._either:
                raise spelling.Unspelled(number)
            token = self._added.get(own, {"lstrip": False, "rstrip": False}) if added else None
            pieces.append((own, bytewise, (token["lstrip"], token["rstrip"]) if token else None))
        spans = spelling.byte_spans(text, pieces, self._words_prefix)
        called = [text[b:e].decode("utf-8", "replace") if entry[2] else None for entry, (b, e) in zip(entries, spans)]
        return spelling.character_spans(text, spans), spans, called

    def all_of(self, text, ids):
        """Those of a text that no post-processor changes."""
        return self.spans(text, ids)[:2]

    def trimmed(self, ids, spans):
        """Offsets as the post-processor leaves them: (in characters, in bytes)."""
        characters, inside, called = spans
        names = [self._name_of(i) if other is None else other for i, other in zip(ids, called)]
        for prefixed in self._trims:
            characters = spelling.trimmed(characters, names, prefixed)
        return list(characters), list(inside)


def _parts(part):
    """The normalizers or pre-tokenizers of which one consists."""
    more = part and (part.get("normalizers") or part.get("pretokenizers"))
    return [one for each in more for one in _parts(each)] if more else [part] if part else []


def _names(part):
    return [str(one["type"]) for one in _parts(part)]


def _keeps(pre, words):
    """Whether the model gets a text as it is, but for bytes that stand as letters, and spaces put before; or of a model
    of words, but for white space between them."""
    kinds = {one["type"] for one in _parts(pre)}
    if any(one.get("behavior") == "Removed" for one in _parts(pre)):
        return False
    cuts = {"ByteLevel", "Split", "Digits", "Punctuation"}
    return ("ByteLevel" in kinds and kinds <= cuts and not words) or (
        words and bool(kinds) and kinds <= {"Whitespace", "WhitespaceSplit", "BertPreTokenizer"})


def _puts_space(pre):
    if not pre:
        return False
    return any(map(_puts_space, pre.get("pretokenizers", ()))) or (
        pre["type"] == "ByteLevel" and pre.get("add_prefix_space", True))


def _utf8(text):
    if not isinstance(text, str):
        return bytes(text).decode("utf-8", "replace").encode()
    try:
        return text.encode()
    except UnicodeEncodeError:  # a character for each surrogate, so that offsets count as the caller does
        if SURROGATE_PAIR.search(text):
            raise NotImplementedError("the offsets of a text with pairs of surrogates are not known: replace them by "
                                      "the characters they mean") from None
        return _SURROGATE.sub("\ufffd", text).encode()
