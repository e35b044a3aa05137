"""_token_offsets.py: the offsets of a text's tokens: by what they spell (_offsets.py), or aligned with the text where a
normalizer changed it (_aligned.py); and as a post-processor leaves them."""
from __future__ import annotations

from leat import _aligned, _offsets as spelling
from leat._tokenizer_file import changes_text, trims_of


class TokenOffsets:
    """Of one tokenizer: its core, its parsed tokenizer.json or None, and the function that names an id."""

    def __init__(self, core, file, name_of):
        self._core, self._name_of = core, name_of
        # whether the text may reach the model changed, so that its tokens need not spell it
        self._changes = file is not None and changes_text(file)
        self._aligner = _aligned.Pipeline(file, lambda name: core.find(name.encode()) is not None) \
            if self._changes else None
        file = file or {}
        model = file.get("model", {})
        prefix = model.get("continuing_subword_prefix", "").encode() if model.get("type") == "WordPiece" else b""
        self._words_prefix = prefix if model.get("type") in ("WordPiece", "WordLevel") else None
        # of added tokens: (lstrip, rstrip)
        self._takes = {t["content"].encode("utf-8", "replace"): (t["lstrip"], t["rstrip"])
                       for t in file.get("added_tokens", ())}
        self._trims = trims_of(file.get("post_processor"))

    def spans(self, text, ids):
        """([begin, end) in characters, in bytes) of each token; NotImplementedError."""
        text = _utf8(text)
        entries = [self._core.token(i) for i in ids]
        try:
            return self._aligned(text, entries) if self._changes else self._spelled(text, entries)
        except spelling.Unspelled as e:
            number = min(e.args[0], len(ids) - 1)
            name = self._name_of(ids[number]) if ids else ""
            raise NotImplementedError(
                f"the offsets of this text's tokens are not known from {name!r} (token {number}) on: they do not spell "
                "what leat knows of the text's normalizer and pre-tokenizer") from None

    def _spelled(self, text, entries):
        spans = spelling.byte_spans(text, [(e[0], e[1], self._takes.get(e[0], (False, False)) if e[2] else None)
                                           for e in entries], self._words_prefix)
        return spelling.character_spans(text, spans), spans

    def _aligned(self, text, entries):
        """The same where a normalizer may have changed the text, or a token is unknown."""
        tokens = [("" if bytewise else own.decode("utf-8", "replace"), bytewise, own, added)
                  for own, bytewise, added, *_ in entries]
        spans = self._aligner.spans(text.decode(), tokens)
        try:  # to the byte, if all tokens spell the text all the same
            characters, inside = self._spelled(text, entries)
            if characters == spans:
                return characters, inside
        except spelling.Unspelled:
            pass
        places = [0]
        for character in text.decode():
            places.append(places[-1] + len(character.encode()))
        return spans, [(places[b], places[e]) for b, e in spans]

    def trimmed(self, text, ids, spans, before, after):
        """Offsets as the post-processor leaves them, with those of so many tokens of its own before and after."""
        characters, inside = spans
        names = [self._name_of(i) for i in ids]
        if self._trims and any(self._core.token(i)[2] for i in ids):
            # in the reference, an added token is called by its stretch of the text
            text = _utf8(text)
            names = [text[b:e].decode() if self._core.token(i)[2] else name
                     for i, name, (b, e) in zip(ids, names, inside)]
        for prefixed in self._trims:
            characters = spelling.trimmed(characters, names, prefixed)
        return [[(0, 0)] * before + list(part) + [(0, 0)] * after for part in (characters, inside)]


def _utf8(text):
    return text.encode() if isinstance(text, str) else bytes(text).decode("utf-8", "replace").encode()
