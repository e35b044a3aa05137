"""_encoding.py: leat.Encoding, what leat.Tokenizer gives for a text."""
from __future__ import annotations


class Encoding(list):
    """The ids of a text: a list of ints that also has the attributes of tokenizers' Encoding."""

    __slots__ = ("_tokenizer", "_before", "_after", "_offsets")

    def __init__(self, ids=(), tokenizer=None, before: int = 0, after: int = 0, offsets=None):
        super().__init__(ids)
        self._tokenizer = tokenizer
        self._before, self._after = before, after
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
        """Each token as a tokenizer.json writes it."""
        if self._tokenizer is None:
            raise AttributeError("these ids have lost their tokenizer, as copies do: use Tokenizer.id_to_token()")
        return [self._tokenizer.id_to_token(i) or "" for i in self]

    @property
    def attention_mask(self) -> list[int]:
        return [1] * len(self)

    @property
    def type_ids(self) -> list[int]:
        return [0] * len(self)

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for the tokens that a post-processor has put around the text, as in tokenizers; not for those in it."""
        last = len(self) - self._after
        return [int(i < self._before or i >= last) for i in range(len(self))]

    def __reduce__(self):
        return Encoding, (list(self), None, self._before, self._after, self._offsets)
