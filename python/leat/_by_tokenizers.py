"""_by_tokenizers.py: what leat.Tokenizer does by the rules of tokenizers: the file's post-processor, truncation and
padding, offsets."""
from __future__ import annotations

import itertools
import os

from leat._encoding import Encoding
from leat._leat import show
from leat._post_processor import count_of_added, laid_out, pieces_of
from leat._tokenizer_file import check_truncation, facts_of, parsed


class ByTokenizers:
    """A part of Tokenizer, which has all attributes."""

    def _by_tokenizers(self, add, allowed, disallowed):
        given = allowed is not None or disallowed is not None
        if add is not None and given:
            raise TypeError("add_special_tokens is tokenizers' argument, allowed_special and disallowed_special are "
                            "tiktoken's: give one or the other")
        return add is not None or (self._like == "tokenizers" and not given)

    def _around(self, lists, add, texts=None):
        pieces = self._post_processor(add or add is None)
        cut = self._cut(count_of_added(pieces)) if self.truncation else slice(None)
        return self._laid_out(lists, pieces, cut, itertools.repeat(None) if texts is None else texts)

    def _laid_out(self, lists, pieces, cut, texts):
        if not self._padding_ignored and self._facts().get("padding"):
            raise NotImplementedError(f"{show(self.name)} asks for padding, which leat does not support: call "
                                      "no_padding()")
        out = []
        for ids, text in zip(lists, texts):
            offsets = None
            if text is not None:
                spans = self._places().spans(text, ids)
                trimmed = self._places().trimmed(ids[cut], [s[cut] for s in spans])
                offsets = [laid_out(pieces, values, (0, 0)) for values in trimmed]
            out.append(Encoding(laid_out(pieces, ids[cut]), self, pieces, offsets))
        return out

    def _cut(self, added):
        """What is left of a text's own ids."""
        truncation = check_truncation(self.truncation, added)
        keep = truncation["max_length"] - added
        return slice(0, keep) if truncation["direction"] == "right" else slice(-keep if keep else 2**62, None)

    def _places(self):
        if self._offsets is None:
            from leat._token_offsets import TokenOffsets
            self._offsets = TokenOffsets(self._core, self._tokenizer_json(), self.id_to_token)
        return self._offsets

    def _tokenizer_json(self):
        """The parsed file if it is a tokenizer.json, else None."""
        return parsed(self._core.stored())

    def _facts(self):
        if self._known is None:
            self._known = facts_of(self._tokenizer_json())
        return self._known

    def _model_type(self):
        """As a tokenizer.json calls it; of a sentencepiece model without one, Unigram."""
        return self._facts().get("type") or (
            "WordPiece" if "vocab.txt" in self.name else "Unigram" if ".model" in self.name else "BPE")

    def _post_processor(self, special):
        """The pieces of a text, as _post_processor.py has them; with special tokens or without."""
        if special not in self._pieces:
            self._pieces[special] = pieces_of(self._facts().get("post_processor"), self._vocabulary, special)
        return self._pieces[special]


def threads_of(count):
    if count is None:
        count = len(os.sched_getaffinity(0))
    if count < 1:
        raise ValueError(f"num_threads must be at least 1, not {count}")
    return min(int(count), 4096)
