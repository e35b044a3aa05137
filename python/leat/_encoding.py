"""_encoding.py: leat.Encoding, what leat.Tokenizer gives for a text."""
from __future__ import annotations

from leat._post_processor import PLAIN, count_of_added, laid_out, types_of


class Encoding(list):
    """The ids of a text: a list of ints that also has the attributes of tokenizers' Encoding."""

    __slots__ = ("_tokenizer", "_pieces", "_offsets")

    def __init__(self, ids=(), tokenizer=None, pieces=PLAIN, offsets=None):
        super().__init__(ids)
        self._tokenizer = tokenizer
        self._pieces = pieces  # see _post_processor.py
        self._offsets = offsets

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """Of each token, [begin, end) in characters of the text, as in tokenizers; of encode(..., offsets=True)."""
        return self._spans(0)

    @property
    def byte_offsets(self) -> list[tuple[int, int]]:
        """Of each token, [begin, end) in the text's UTF-8: all of them, one after another, are its bytes, unless a
        normalizer changed the text, or a pre-tokenizer dropped white space."""
        return self._spans(1)

    def _spans(self, which):
        if self._offsets is None:
            raise AttributeError("offsets are only there after encode(..., offsets=True)")
        return list(self._offsets[which])

    @property
    def ids(self) -> list[int]:
        return list(self)

    @property
    def tokens(self) -> list[str]:
        """Each token as a tokenizer.json writes it. tokenizers names two kinds by their place in the text: an added
        token with the white space that it took, and an unknown one of Unigram by the characters that are unknown."""
        if self._tokenizer is None:
            raise AttributeError("these ids have lost their tokenizer, as copies do: use Tokenizer.id_to_token()")
        return [self._tokenizer.id_to_token(i) or "" for i in self]

    @property
    def attention_mask(self) -> list[int]:
        return [1] * len(self)

    @property
    def type_ids(self) -> list[int]:
        """What a post-processor calls the text that a token is of; without one, 0."""
        return types_of(self._pieces, self._of_text())

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for the tokens that a post-processor has put around the text, as in tokenizers; not for those in it."""
        return laid_out(self._pieces, [0] * self._of_text(), 1)

    def _of_text(self):
        """How many tokens are the text's, which may be there several times."""
        times = sum(own is None for own, _ in self._pieces)
        return (len(self) - count_of_added(self._pieces)) // times if times else 0

    def __reduce__(self):
        return Encoding, (list(self), None, self._pieces, self._offsets)
