"""_offsets.py: where the tokens of a text stand in it, as a post-processor leaves them.

The extension gives ids only. The text of most tokens is enough to find their places: if the tokens between two added
ones together spell the text between these, each stands where it is spelled. Marks (U+2581) are spaces, <0xNN> are
bytes, and one space may have been put before. Words of WordPiece and WordLevel stand in the text with white space
between them. If tokens spell something else, because a normalizer has changed the text or a token is unknown, there are
no offsets, and the error names the cause.
"""
from __future__ import annotations

import re

from leat._documents import SURROGATE_PAIR
from leat._tokenizer_file import byte_letters, is_plain, trims_of

MARK = "\u2581".encode()
_BYTE = re.compile(rb"<0x([0-9A-F]{2})>")
_SPACES = re.compile(rb"(?:[ \t-\r]|\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f|"
                     rb"\xe3\x80\x80)*")

_SURROGATE = re.compile("[\ud800-\udfff]")


class _Unspelled(Exception):
    """The tokens do not spell the text; its argument says which token is the first that does not."""


def _byte_spans(text: bytes, pieces, words_prefix=None):
    """Returns [begin, end) in the UTF-8 of a text for each of its tokens.

    pieces        of each token (its bytes, whether these are the text's own, and for an added token whether it takes
                  the white space before and after it, else None)
    words_prefix  of a WordPiece model, b"" of WordLevel: words stand apart; None: tokens follow each other
    """
    bytewise = any(piece[1] for piece in pieces)
    plain, places = (text, None) if bytewise else _without_marks(text)
    parts = [(piece[0] if bytewise else _spelled(piece[0]), piece[2]) for piece in pieces]
    spans, at, i = [], 0, 0
    while i < len(parts):
        if parts[i][1] is not None:
            spans.append(_added(plain, at, parts[i], words_prefix is not None, i))
            i += 1
        elif words_prefix is not None:
            spans.append(_word(plain, at, parts[i][0], words_prefix, i))
            i += 1
        else:
            stop = next((k for k in range(i, len(parts)) if parts[k][1] is not None), len(parts))
            _segment(plain, at, [part[0] for part in parts[i:stop]], parts[stop:stop + 1], spans, i)
            i = stop
        at = spans[-1][1]
    # the last word was unknown, and its name looks like a part of a word
    if words_prefix is not None and _skip(plain, at) < len(plain):
        raise _Unspelled(max(len(parts) - 1, 0))
    return [(places[b], places[e]) for b, e in spans] if places else spans


def _without_marks(text):
    """Returns the text with spaces for marks, and where its bytes stand in the given text, or None without marks."""
    if MARK not in text:
        return text, None
    parts = text.split(MARK)
    places, at = [], 0
    for part in parts:
        places.extend(range(at, at + len(part) + 1))
        at += len(part) + len(MARK)
    return b" ".join(parts), places


def _spelled(text):
    byte = _BYTE.fullmatch(text)
    return bytes([int(byte.group(1), 16)]) if byte else text.replace(MARK, b" ")


def _segment(text, at, parts, following, spans, number):
    """Appends the spans of tokens that follow each other, perhaps with a space put before them."""
    joined = b"".join(parts)
    for cut in 0, 1:
        end = at + len(joined) - cut
        if text[at:end] == joined[cut:] and (joined[:cut] in (b"", b" ")) and _goes_on(text, end, following):
            break
    else:
        raise _Unspelled(number)
    place = at - cut
    for part in parts:
        spans.append((max(place, at), place + len(part)))
        place += len(part)


def _goes_on(text, at, following):
    if not following:
        return at == len(text)
    word, (left, _) = following[0]
    return text.startswith(word, _skip(text, at) if left else at)


def _skip(text, at):
    return _SPACES.match(text, at).end()


def _added(text, at, part, apart, number):
    word, (left, right) = part
    begin = _skip(text, at) if apart or left else at
    if not text.startswith(word, begin):
        raise _Unspelled(number)
    end = begin + len(word)
    return at if left else begin, _skip(text, end) if right else end


def _word(text, at, word, prefix, number):
    if prefix and word.startswith(prefix) and text.startswith(word[len(prefix):], at):
        return at, at + len(word) - len(prefix)
    begin = _skip(text, at)
    if not text.startswith(word, begin):
        raise _Unspelled(number)
    return begin, begin + len(word)


def _character_spans(text: bytes, spans):
    """Converts spans to characters by the rules of tokenizers: a token has all characters of which it has a byte, and a
    token that is only a space put before the text has the character after it."""
    first = [0] * (len(text) + 1)  # number of characters that begin before each byte
    count = 0
    for i, byte in enumerate(text):
        first[i] = count
        count += byte & 0xC0 != 0x80
    first[len(text)] = count
    inside = [i < len(text) and text[i] & 0xC0 == 0x80 for i in range(len(text) + 1)]
    out = []
    for begin, end in spans:
        left = first[begin] - inside[begin]
        out.append((left, first[end] if end > begin else min(left + 1, count)))
    return out


def _trimmed(offsets, names, prefixed):
    """Removes white space from the ends of spans, as post-processors with "trim_offsets" do. If `prefixed`, the first
    token may have had a space put before it, which is no white space of the text."""
    out = []
    for i, ((begin, end), name) in enumerate(zip(offsets, names)):
        leading, trailing = len(name) - len(_lstrip(name)), len(name) - len(_rstrip(name))
        if leading == 1 and prefixed and (i == 0 or begin == 0):
            leading = 0
        begin = min(begin + leading, end)
        if trailing and end >= trailing:
            end = max(end - trailing, begin)
        out.append((begin, end))
    return out


def _lstrip(name):
    at = 0
    while at < len(name) and (name[at] == "\u0120" or _is_space(name[at])):
        at += 1
    return name[at:]


def _rstrip(name):
    at = len(name)
    while at > 0 and (name[at - 1] == "\u0120" or _is_space(name[at - 1])):
        at -= 1
    return name[:at]


def _is_space(character):
    return character.isspace() and not "\x1c" <= character <= "\x1f"  # Rust does not count these


# ---- Of one tokenizer ------------------------------------------------------------------------------------------------

class TokenOffsets:
    """Finds offsets for one tokenizer: its core, its parsed tokenizer.json or None, and a function that names ids."""

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
        # A space that is put before the text but dropped as unknown shifts the reference's offsets.
        self._drops_space = model.get("type", "BPE") == "BPE" and model.get("unk_token") is None and \
            _puts_space(file.get("pre_tokenizer")) and "\u0120" not in model["vocab"]

    def _also_ordinary(self, vocab):
        """Returns the added tokens that take white space and are also in the vocabulary: as words, they take none."""
        vocab = vocab if isinstance(vocab, dict) else {text for text, _ in vocab}
        letters = byte_letters()
        return {text for text, t in self._added.items() if t["single_word"] and (t["lstrip"] or t["rstrip"])
                and (t["content"] in vocab or text.decode("latin-1").translate(letters) in vocab)}

    def spans(self, text, ids):
        """Returns ([begin, end) in characters, [begin, end) in bytes, another name that tokenizers uses or None) for
        each token. Raises NotImplementedError if the tokens do not spell the text."""
        text = _utf8(text)
        entries = [self._core.token(i) for i in ids]
        if self._changed_by:
            raise NotImplementedError(f"the offsets of tokens are not known, since the {self._changed_by} of this "
                                      "tokenizer may change texts; tokenizers has them")
        try:
            if self._odd or self._drops_space:
                raise _Unspelled(0)
            self._refuse_shared_space(entries)
            return self._spelled(text, entries)
        except _Unspelled as e:
            raise self._not_known(ids, e.args[0]) from None

    def _not_known(self, ids, number):
        number = min(number, len(ids) - 1)
        name = self._name_of(ids[number]) if ids else ""
        return NotImplementedError(f"the offsets of this text's tokens are not known from {name!r} (token {number}) "
                                   "on: they do not spell the text; tokenizers has them")

    def _refuse_shared_space(self, entries):
        """Refuses two added tokens whose shared white space is ambiguous. tokenizers searches for tokens that are not
        normalized first, so such a second token takes the space that both would take."""
        added = [self._added.get(entry[0]) if entry[2] else None for entry in entries]
        for number, (a, b) in enumerate(zip(added, added[1:])):
            if a and b and a["rstrip"] and a["normalized"] and b["lstrip"] and not b["normalized"]:
                raise _Unspelled(number)

    def _spelled(self, text, entries):
        pieces = []
        for number, (own, bytewise, added, *_) in enumerate(entries):
            if self._words_prefix is not None and not added and own == self._unknown_word:
                raise _Unspelled(number)  # even if the text contains its name
            if added and own in self._either:
                raise _Unspelled(number)
            token = self._added.get(own, {"lstrip": False, "rstrip": False}) if added else None
            pieces.append((own, bytewise, (token["lstrip"], token["rstrip"]) if token else None))
        spans = _byte_spans(text, pieces, self._words_prefix)
        called = [text[b:e].decode("utf-8", "replace") if entry[2] else None for entry, (b, e) in zip(entries, spans)]
        return _character_spans(text, spans), spans, called

    def all_of(self, text, ids):
        """Returns the offsets of a text that no post-processor changes."""
        return self.spans(text, ids)[:2]

    def trimmed(self, ids, spans):
        """Returns the offsets that the post-processor leaves: (in characters, in bytes)."""
        characters, inside, called = spans
        names = [self._name_of(i) if other is None else other for i, other in zip(ids, called)]
        for prefixed in self._trims:
            characters = _trimmed(characters, names, prefixed)
        return list(characters), list(inside)


def _parts(part):
    """Yields the normalizers or pre-tokenizers that one consists of."""
    more = part and (part.get("normalizers") or part.get("pretokenizers"))
    return [one for each in more for one in _parts(each)] if more else [part] if part else []


def _names(part):
    return [str(one["type"]) for one in _parts(part)]


def _keeps(pre, words):
    """Returns True if the pre-tokenizers give the model the unchanged text. Bytes written as letters, spaces put
    before, and for a model of words the white space between words do not count as changes. Neither does what is
    removed, since the other tokens do not spell the text, unless a space that is put before replaces one."""
    kinds = {one["type"] for one in _parts(pre)}
    if any(one.get("behavior") == "Removed" for one in _parts(pre)) and (words or _puts_space(pre)):
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
    except UnicodeEncodeError:  # one character per surrogate, so that offsets count as the caller does
        if SURROGATE_PAIR.search(text):
            raise NotImplementedError("the offsets of a text with pairs of surrogates are not known: replace them by "
                                      "the characters they mean") from None
        return _SURROGATE.sub("\ufffd", text).encode()
