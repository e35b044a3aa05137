"""_aligned.py: where the tokens of a text stand in it though a normalizer has changed it, as tokenizers has it.

Each character of a normalized text knows the stretch of the text that it comes from: that of the character that it
replaces, or, where one becomes several, that of the one before. So each normalizer here does what its namesake in
tokenizers does with these stretches. Nothing here decides the ids: the tokens are known, and if they do not spell what
these normalizers make, there is no answer (Unspelled). So a character that Python's Unicode knows otherwise gives no
wrong offsets. An unknown token spells nothing, so where one is, there is an answer only if nothing is in doubt.
"""
from __future__ import annotations

import base64
import itertools
import re
import struct
import unicodedata

from leat._offsets import Unspelled

_PUNCTUATION = set("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_HAN = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
        (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F))
IN_DOUBT = object()


class Aligned:
    """A text on its way: `marks` has (character, begin, end) of each, the latter in characters of the first text."""

    def __init__(self, text: str, at: int):
        self.marks = [(c, at + i, at + i + 1) for i, c in enumerate(text)]
        self.nothing = (at, at)  # where what has nothing before it comes from
        self.doubt = False  # whether some character may come from elsewhere

    def text(self) -> str:
        return "".join(mark[0] for mark in self.marks)

    def transform(self, changes, skipped: int = 0) -> None:
        """Replaces all by (character, change): 0 replaces a character, 1 comes on top, -n replaces one and drops n."""
        old, place, new = self.marks, skipped, []
        for character, change in changes:
            if change > 0:
                new.append((character, *(old[place - 1][1:] if place else self.nothing)))
            else:
                new.append((character, *old[place][1:]))
                place += 1 - change
        self.marks = new

    def filter(self, keep) -> None:
        self.marks = [mark for mark in self.marks if keep(mark[0])]

    def each(self, become) -> None:
        """Each character becomes some, at least one."""
        self.marks = [(c, *mark[1:]) for mark in self.marks for c in become(mark[0])]

    def prepend(self, text: str) -> None:
        if self.marks and text:
            self.marks = [(c, *self.marks[0][1:]) for c in text] + self.marks
        elif self.marks:  # the character then counts as one that was put before the first
            self.marks[0] = (self.marks[0][0], *self.nothing)

    def replace(self, pattern, content: str) -> None:
        new, last, text = [], 0, self.text()
        if re.search(r"\\[sS]", pattern.pattern) and re.search("[\x1c-\x1f]", text):
            raise Unspelled(0)  # white space for Python alone
        for match in pattern.finditer(text):
            new += self.marks[last:match.start()]
            new += [(c, *self.marks[match.end() - 1][1:]) for c in content]
            last = match.end()
        self.marks = new + self.marks[last:]


# ---- Normalizers ----------------------------------------------------------------------------------------------------

def _decomposed(text, form):
    """(character, change) in canonical order."""
    out, run = [], []
    for c in text:
        for i, part in enumerate(unicodedata.normalize(form, c)):
            if unicodedata.combining(part) == 0:
                out += sorted(run, key=lambda entry: unicodedata.combining(entry[0]))
                run = []
                out.append((part, int(i > 0)))
            else:
                run.append((part, int(i > 0)))
    return out + sorted(run, key=lambda entry: unicodedata.combining(entry[0]))


def _composed(entries):
    """Composes each with the last starter, if nothing between blocks it; that one then stands for one more."""
    out, starter, last = [], None, None
    for c, change in entries:
        kind = unicodedata.combining(c)
        joined = None
        if starter is not None and (last is None or (last < kind and last > 0)):
            joined = unicodedata.normalize("NFC", out[starter][0] + c)
        if joined is not None and len(joined) == 1:
            out[starter] = (joined, out[starter][1] + change - 1)
            continue
        if kind == 0:
            starter, last = len(out), None
        else:
            last = kind
        out.append((c, change))
    return out


def _is_mark(c):
    return unicodedata.category(c) in ("Mn", "Mc", "Me")


def _is_control(c):
    return c not in "\t\n\r" and unicodedata.category(c) in ("Cc", "Cf", "Co")


def _is_han(c):
    return any(low <= ord(c) <= high for low, high in _HAN)


def _is_space(c):
    return c.isspace() and not "\x1c" <= c <= "\x1f"  # which Rust does not count


def _bert(text, options):
    if options["clean_text"]:
        text.filter(lambda c: c not in "\0\ufffd" and not _is_control(c))
        text.each(lambda c: " " if _is_space(c) else c)
    if options["handle_chinese_chars"]:
        text.each(lambda c: f" {c} " if _is_han(c) else c)
    if options["lowercase"] if options["strip_accents"] is None else options["strip_accents"]:
        text.transform(_decomposed(text.text(), "NFD"))
        text.filter(lambda c: unicodedata.category(c) != "Mn")
    if options["lowercase"]:
        text.each(str.lower)


_JOINED = re.compile("[\u0e33\u0eb3\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff\U0001f1e6-\U0001f1ff"
                     "\U0001f3fb-\U0001f3ff]|[\t\n\r][\u0300-\u036f]")


def _clusters_in_doubt(text):
    """Whether a text may have other grapheme clusters than the expression below finds."""
    return bool(_JOINED.search(text)) or any(
        unicodedata.category(c)[0] in "MC" and c not in "\t\n\r" and not "\u0300" <= c <= "\u036f" for c in text)


def _classes_in_doubt(text):
    """Whether tokenizers, whose tables of marks, punctuation and controls are old, may see a character otherwise."""
    return any(c in "\u166d\u1734\u1885\u1886\u1cf2\u1cf3" or (
        unicodedata.category(c)[0] in "MPC" and unicodedata.category(c) not in ("Cn", "Cc", "Co") and
        unicodedata.ucd_3_2_0.category(c) == "Cn") for c in text)


class _Map:
    """sentencepiece's compiled map: a double array, and strings that end with a zero."""

    def __init__(self, blob):
        size = struct.unpack_from("<I", blob)[0]
        self._units = struct.unpack_from(f"<{size // 4}I", blob, 4)
        self._strings = blob[4 + size:]

    def find(self, text: str) -> str | None:
        """What the shortest key becomes that the text begins with."""
        units, place = self._units, 0
        place ^= self._offset(units[0])
        for byte in text.encode():
            place ^= byte
            unit = units[place] if place < len(units) else 0
            if unit & (1 << 31 | 0xFF) != byte:
                return None
            place ^= self._offset(unit)
            if unit >> 8 & 1:
                at = units[place] & (1 << 31) - 1
                return self._strings[at:self._strings.index(b"\0", at)].decode()
        return None

    @staticmethod
    def _offset(unit):
        return unit >> 10 << ((unit & 1 << 9) >> 6)

    def apply(self, text) -> None:
        changes = []
        text.doubt = text.doubt or _clusters_in_doubt(text.text())
        for cluster in re.findall(r"\r\n|.[\u0300-\u036f\u200c\u200d\ufe00-\ufe0f]*", text.text(), re.DOTALL):
            whole = self.find(cluster) if len(cluster.encode()) < 6 else None
            parts = [(cluster, whole)] if whole is not None else [(c, self.find(c)) for c in cluster]
            for part, found in parts:
                if found is None:
                    changes.append((part, 0))
                    continue
                changes += [(c, int(i >= len(part))) for i, c in enumerate(found)]
                if len(found) < len(part) and changes:
                    changes[-1] = (changes[-1][0], changes[-1][1] + len(found) - len(part))
        text.transform(changes)


def _pattern(value):
    if "String" in value:
        return re.compile(re.escape(value["String"]))
    if re.search(r"\\[^nrtsSdD]|\(\?|\[\^?\]?[^]]*\[|&&|[*+?}][+]|}\?|(?<!\[)\^|\$", value["Regex"]):
        raise Unspelled(0)  # Oniguruma's own
    try:
        pattern = re.compile(value["Regex"])
    except re.error:
        raise Unspelled(0) from None
    if pattern.search(""):
        raise Unspelled(0)  # it may find nothing
    return pattern


def _normalize(text, normalizer):
    kind = normalizer["type"]
    if kind == "Sequence":
        for one in normalizer["normalizers"]:
            _normalize(text, one)
    elif kind in ("NFD", "NFKD"):
        text.transform(_decomposed(text.text(), kind))
    elif kind in ("NFC", "NFKC"):
        text.transform(_composed(_decomposed(text.text(), kind.replace("C", "D"))))
    elif kind == "Lowercase":
        text.each(str.lower)
    elif kind == "StripAccents":
        text.filter(lambda c: not _is_mark(c))
    elif kind == "BertNormalizer":
        _bert(text, normalizer)
    elif kind == "Strip":
        marks = text.marks
        while normalizer["strip_right"] and marks and _is_space(marks[-1][0]):
            marks = marks[:-1]
        while normalizer["strip_left"] and marks and _is_space(marks[0][0]):
            marks = marks[1:]
        text.marks = marks
    elif kind == "Replace":
        text.replace(_pattern(normalizer["pattern"]), normalizer["content"])
    elif kind == "Prepend":
        text.prepend(normalizer["prepend"])
    elif kind == "Precompiled":
        _Map(base64.b64decode(normalizer["precompiled_charsmap"])).apply(text)
    elif kind != "ByteLevel":
        raise Unspelled(0)


# ---- Pre-tokenizers -------------------------------------------------------------------------------------------------

_CUTS = ("Split", "Digits", "Punctuation", "FixedLength")  # cut only, and their cuts are not made


def _split(pieces, apart, alone=lambda c: False):
    """Cuts at characters that are `apart`, and drops them; those that are `alone` are pieces of their own."""
    out = []
    for piece in pieces:
        part = []
        for mark in piece:
            if apart(mark[0]) or alone(mark[0]):
                out += [part] if part else []
                part = []
                out += [[mark]] if alone(mark[0]) else []
            else:
                part.append(mark)
        out += [part] if part else []
    return out


def _is_punctuation(c):
    return c in _PUNCTUATION or unicodedata.category(c)[0] == "P"


def _is_word(c):
    return unicodedata.category(c)[0] in "LM" or unicodedata.category(c) in ("Nd", "Nl", "Pc") or (
        c in "\u200c\u200d" or "\u24b6" <= c <= "\u24e9" or "\U0001f130" <= c <= "\U0001f149" or
        "\U0001f150" <= c <= "\U0001f169" or "\U0001f170" <= c <= "\U0001f189")


def _before(pieces, mark):
    """Cuts before each mark."""
    out = []
    for piece in pieces:
        cuts = [0, *(i for i in range(1, len(piece)) if piece[i][0] == mark), len(piece)]
        out += [piece[a:b] for a, b in zip(cuts, cuts[1:])]
    return out


def _prefixed(piece, text):
    aligned = Aligned("", 0)
    aligned.marks = piece
    aligned.prepend(text)
    return aligned.marks


def _kinds(part):
    """Of a normalizer or pre-tokenizer and its parts, in order."""
    if not part:
        return []
    parts = part.get("normalizers", part.get("pretokenizers"))
    return [kind for one in parts for kind in _kinds(one)] if part["type"] == "Sequence" else [part["type"]]


def _pretokenize(pieces, pre):
    """Pieces after a pre-tokenizer; cuts that only decide on ids are not made."""
    kind = pre["type"]
    if kind == "Sequence":
        for one in pre["pretokenizers"]:
            pieces = _pretokenize(pieces, one)
    elif kind == "WhitespaceSplit":
        pieces = _split(pieces, _is_space)
    elif kind == "BertPreTokenizer":
        pieces = _split(pieces, _is_space, _is_punctuation)
    elif kind == "Whitespace":
        if any(unicodedata.category(mark[0]) == "Cn" for piece in pieces for mark in piece):
            raise Unspelled(0)  # a letter, perhaps, of a later Unicode than Python's
        pieces = [list(part) for piece in _split(pieces, _is_space)
                  for _, part in itertools.groupby(piece, lambda mark: _is_word(mark[0]))]
    elif kind == "Metaspace":
        mark, scheme = pre["replacement"], pre["prepend_scheme"]
        pieces = [[(mark if c == " " else c, b, e) for c, b, e in piece] for piece in pieces]
        pieces = [piece if piece[0][0] == mark or scheme == "never" or (scheme == "first" and piece[0][1] > 0) else
                  _prefixed(piece, mark) for piece in pieces]
        pieces = _before(pieces, mark) if pre.get("split", True) else pieces
    elif kind == "ByteLevel":
        pieces = [_prefixed(piece, " ") if pre["add_prefix_space"] and piece[0][0] != " " else piece
                  for piece in pieces]
    elif kind not in _CUTS or pre.get("behavior") == "Removed":
        raise Unspelled(0)
    return pieces


def _words_apart(text, word):
    """Whether no letter touches a word, wherever the text has it."""
    ends = [at for match in re.finditer(f"(?={re.escape(word)})", text)
            for at in (match.start() - 1, match.start() + len(word))]
    return not any(_is_word(text[at]) or unicodedata.category(text[at]) == "Cn" for at in ends if 0 <= at < len(text))


# ---- Tokens ---------------------------------------------------------------------------------------------------------

class Pipeline:
    """What a tokenizer.json does to a text before its model."""

    def __init__(self, file):
        model = file.get("model", {})
        self._normalizer, self._pre = file.get("normalizer"), file.get("pre_tokenizer")
        self._kind = model.get("type") or "BPE"
        self._prefix = model.get("continuing_subword_prefix") or ""
        self._suffix = model.get("end_of_word_suffix") or ""
        self._fuse = self._kind == "Unigram" or bool(model.get("fuse_unk"))
        vocab, unknown = model.get("vocab", ()), model.get("unk_token")
        if self._kind == "Unigram":
            unknown = vocab[model["unk_id"]][0] if model.get("unk_id") is not None else None
            vocab = [entry[0] for entry in vocab]
        self._unknown, self._vocab = unknown, frozenset(vocab)
        self._added = {t["content"]: t for t in file.get("added_tokens", ())}
        # where a letter touches one, no token is found, and none in it
        self._single_words = [text for text, token in self._added.items() if token["single_word"]]
        normalizers, pres = _kinds(self._normalizer), _kinds(self._pre)
        kinds = normalizers + pres
        after = kinds[kinds.index("ByteLevel") + 1:] if "ByteLevel" in kinds else ()
        # something sees the letters of bytes; or what has no script is dropped at the beginning
        self._unseen = any(kind not in _CUTS for kind in after) or "UnicodeScripts" in pres
        # unknown tokens reach to a cut, and not all cuts are made; or they are of the letters of bytes
        self._loose = "ByteLevel" in kinds or any(kind in _CUTS for kind in pres) and (
            self._kind in ("WordPiece", "WordLevel") or bool(self._prefix or self._suffix))

    def spans(self, text: str, tokens):
        """(begin, end, what tokenizers calls it) in characters for (name, whether its text is bytes, its bytes, whether
        it is added) of each. It is called by its name: None; or what is before is IN_DOUBT."""
        # an added token that the text does not have is the model's, as unknown ones are
        tokens = [(name, bytewise, own, added and own.decode("utf-8", "replace") in text)
                  for name, bytewise, own, added in tokens]
        if self._unseen or not all(_words_apart(text, word) for word in self._single_words if word in text):
            raise Unspelled(0)
        spans: list[tuple[int, int, str | None]] = []
        at = i = 0
        while i < len(tokens) or at < len(text):
            stop = next((k for k in range(i, len(tokens)) if tokens[k][3]), len(tokens))
            at = self._run(text, at, tokens, i, stop, spans)
            i = stop + 1
        return spans

    def _is_models(self, name):
        return name == self._unknown or re.fullmatch("<0x[0-9A-F]{2}>", name)

    def _run(self, text, at, tokens, first, stop, spans):
        """Tokens up to an added one, and this one; where the rest of the text begins."""
        if stop == len(tokens):
            spans += self._match(text[at:], at, tokens[first:stop], first)
            return len(text)
        name = tokens[stop][2].decode()
        added = self._added.get(name)
        if added is None or (added["normalized"] and self._normalizer):
            raise Unspelled(stop)
        place = text.find(name, at)
        while place >= 0:
            begin, end = place, place + len(name)
            while added["lstrip"] and begin > at and _is_space(text[begin - 1]):
                begin -= 1
            while added["rstrip"] and end < len(text) and _is_space(text[end]):
                end += 1
            try:
                found = self._match(text[at:begin], at, tokens[first:stop], first)
            except Unspelled:
                place = text.find(name, place + 1)
                continue
            spans += found + [(begin, end, text[begin:end])]
            return end
        raise Unspelled(first)

    def _match(self, segment, at, tokens, number):
        aligned = Aligned(segment, at)
        if self._normalizer:
            _normalize(aligned, self._normalizer)
        if (aligned.doubt or self._loose) and any(name == self._unknown for name, *_ in tokens):
            raise Unspelled(number)
        pieces = [aligned.marks] if aligned.marks else []
        if self._pre:
            pieces = _pretokenize(pieces, self._pre)
        spans = []
        for piece in pieces:
            done = 0
            while done < len(piece) and number + len(spans) < number + len(tokens):
                done = self._token(piece, done, tokens, spans, number)
            if done < len(piece):
                raise Unspelled(number + len(spans))
        if len(spans) < len(tokens):
            raise Unspelled(number + len(spans))
        for i, (name, *_) in enumerate(tokens):
            if name == self._unknown:
                begin = spans[i - 1][1] - at if i > 0 else 0
                end = spans[i + 1][0] - at if i + 1 < len(spans) else len(segment)
                if _classes_in_doubt(segment[begin:end]):
                    spans[i] = (*spans[i][:2], IN_DOUBT)
        return spans

    def _token(self, piece, done, tokens, spans, number):
        """Adds the spans of the next token, or of those that share its characters; where the next begins."""
        name, bytewise, own, _ = tokens[len(spans)]
        called = None
        if bytewise:
            return self._bytes(piece, done, tokens, spans, number)
        if name == self._unknown:
            end = self._unknown_end(piece, done)
            if end == done:
                raise Unspelled(number + len(spans))
            called = "".join(mark[0] for mark in piece[done:end]) if self._kind == "Unigram" else None
        elif self._is_models(name) and not self._spelled(piece, done, name):
            return self._fallback(piece, done, tokens, spans, number)
        else:
            if self._prefix and name.startswith(self._prefix) and (done > 0 or self._kind == "BPE"):
                name = name[len(self._prefix):] if done > 0 else ""
            if self._suffix and name.endswith(self._suffix):
                name = name[:-len(self._suffix)]
            added = self._added.get(name)
            if not name or not self._spelled(piece, done, name) or (added and (added["lstrip"] or added["rstrip"])):
                raise Unspelled(number + len(spans))  # or the space beside it is its own
            end = done + len(name)
        spans.append((piece[done][1], piece[end - 1][2], called))
        return end

    @staticmethod
    def _spelled(piece, done, name):
        return "".join(mark[0] for mark in piece[done:done + len(name)]) == name

    def _unknown_end(self, piece, done):
        if self._kind in ("WordPiece", "WordLevel"):
            return len(piece)
        end = done
        while end < len(piece) and (end == done or self._fuse) and (
                piece[end][0] == self._unknown or piece[end][0] not in self._vocab):
            end += 1
        return end

    def _fallback(self, piece, done, tokens, spans, number):
        """Bytes of one character each."""
        for byte in piece[done][0].encode():
            if len(spans) == len(tokens) or tokens[len(spans)][0] != f"<0x{byte:02X}>":
                raise Unspelled(number + len(spans))
            spans.append((*piece[done][1:], None))
        if self._kind == "Unigram" and len(spans) < len(tokens) and re.fullmatch("<0x..>", tokens[len(spans)][0]):
            raise Unspelled(number + len(spans))  # each then has the characters of all
        return done + 1

    def _bytes(self, piece, done, tokens, spans, number):
        """Tokens of bytes, up to one that ends with a character."""
        used, own = 0, tokens[len(spans)][2]
        first = done
        while True:
            data = piece[done][0].encode()[used:]
            part = own[:len(data)]
            if data[:len(part)] != part or not part:
                raise Unspelled(number + len(spans))
            own, used = own[len(part):], used + len(part)
            whole = len(part) == len(data)
            if not own:
                spans.append((piece[first][1], piece[done][2], None))
                if whole:
                    return done + 1
                if len(spans) == len(tokens):
                    raise Unspelled(number + len(spans) - 1)
                own, first = tokens[len(spans)][2], done
            if whole:
                done, used = done + 1, 0
                if done == len(piece):
                    raise Unspelled(number + len(spans))
