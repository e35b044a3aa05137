"""_as_others.py: what Tokenizer.as_tiktoken() and .as_tokenizers() return: tokenizers with the signatures, results and
errors of tiktoken's Encoding and of tokenizers' Tokenizer, for scripts that others wrote."""
from __future__ import annotations

from leat import _leat, _special
from leat.tokenizer import Tokenizer


class TiktokenEncoding(Tokenizer):
    """A tokenizer in the place of tiktoken's Encoding: encoding gives plain lists, and an id that is no token raises
    KeyError."""

    def encode_ordinary(self, text):
        return self._core.encode(text, False, _special.LIST)[0]

    def encode(self, text, *, allowed_special=frozenset(), disallowed_special="all"):
        return self._encode(text, allowed_special, disallowed_special, _special.LIST)

    def encode_ordinary_batch(self, text, *, num_threads=8):
        return list(map(list, super().encode_ordinary_batch(text, num_threads=num_threads)))

    def encode_batch(self, text, *, num_threads=8, allowed_special=frozenset(), disallowed_special="all"):
        return list(map(list, super().encode_batch(text, num_threads=num_threads, allowed_special=allowed_special,
                                                   disallowed_special=disallowed_special)))

    def decode_bytes(self, tokens):
        try:
            return super().decode_bytes(tokens)
        except _leat.Error as error:
            raise KeyError(str(error)) from None

    def decode(self, tokens, errors="replace"):
        return self.decode_bytes(tokens).decode("utf-8", errors)

    def decode_batch(self, batch, *, errors="replace", num_threads=8):
        return [self.decode(tokens, errors) for tokens in batch]


class TokenizersTokenizer(Tokenizer):
    """A tokenizer in the place of tokenizers' Tokenizer: each Encoding has offsets, which are made when asked for."""

    _lazy_offsets = True

    def encode(self, sequence, pair=None, is_pretokenized=False, add_special_tokens=True):
        return super().encode(sequence, pair, is_pretokenized, add_special_tokens, offsets=True)

    def encode_batch(self, input, is_pretokenized=False, add_special_tokens=True):
        return super().encode_batch(input, is_pretokenized, add_special_tokens, offsets=True)

    def encode_batch_fast(self, input, is_pretokenized=False, add_special_tokens=True):
        return self.encode_batch(input, is_pretokenized, add_special_tokens)

    def decode(self, ids, skip_special_tokens=True):
        return super().decode(ids, skip_special_tokens=skip_special_tokens)

    def decode_batch(self, sequences, skip_special_tokens=True):
        return [self.decode(ids, skip_special_tokens) for ids in sequences]

    def to_str(self, pretty=False):
        from leat._tokenizer_json import saved
        return saved(self)


def seen_as(cls, tokenizer, like):
    """Returns a tokenizer of another class with the same vocabulary and settings."""
    seen = cls.__new__(cls)
    seen.__dict__.update(tokenizer.__dict__, _like=like, _pieces={})
    return seen
