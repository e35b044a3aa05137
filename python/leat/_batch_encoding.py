"""_batch_encoding.py: what a call of leat.PreTrainedTokenizer returns, and its tensors."""
from __future__ import annotations

from collections.abc import Callable


class BatchEncoding(dict):
    """What a call returns: a dict whose values are attributes, too, with some of the methods of transformers'. Those
    that speak of texts (tokens(), sequence_ids(), char_to_token()) are lost in copies and by pad()."""

    _texts: list  # of each, or each pair: ids, the number of the text that each comes of or None, offsets or None
    _name: Callable[[int], str | None]  # the name of an id; set together with _texts

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def __missing__(self, name):
        if isinstance(name, int):
            raise NotImplementedError("leat keeps no Encoding of each text: ask for input_ids, tokens() and their kin, "
                                      "or use leat.Tokenizer.encode_batch()")
        raise KeyError(name)

    def __reduce__(self):
        return BatchEncoding, (dict(self),)

    def _of(self, texts, name):
        self._texts, self._name = texts, name
        return self

    @property
    def data(self) -> BatchEncoding:
        """transformers' name of the dict itself."""
        return self

    def _text(self, number):
        if "_name" not in self.__dict__:
            raise ValueError("which texts this was made of is not known: only what a call returned knows it, not a "
                             "copy, nor what pad() returned")
        return self._texts[number]

    def tokens(self, batch_index: int = 0) -> list[str]:
        """The tokens of a text, as PreTrainedTokenizer.tokenize() has them."""
        return [self._name(i) or "" for i in self._text(batch_index)[0]]

    def sequence_ids(self, batch_index: int = 0) -> list[int | None]:
        """0 for a token of the text, of a pair 0 or 1, None for those around it."""
        return list(self._text(batch_index)[1])

    def word_ids(self, batch_index: int = 0):
        raise NotImplementedError("leat does not know which word of a text a token is of: offset_mapping of "
                                  "return_offsets_mapping=True says where it is; or use transformers")

    def char_to_token(self, batch_or_char_index: int, char_index: int | None = None, sequence_index: int = 0
                      ) -> int | None:
        """The number of the token in which this character is, of text 0 if only the character is given; None: of no
        token. After a call with return_offsets_mapping=True."""
        number, at = (0, batch_or_char_index) if char_index is None else (batch_or_char_index, char_index)
        _, sequences, offsets = self._text(number)
        if offsets is None:
            raise NotImplementedError("the places of tokens are only known after a call with "
                                      "return_offsets_mapping=True")
        found = (token for token, (begin, end) in enumerate(offsets)
                 if begin <= at < end and sequences[token] == sequence_index)
        return next(found, None)

    def convert_to_tensors(self, tensor_type: str | None = None, prepend_batch_axis: bool = False) -> BatchEncoding:
        """Makes the values arrays of numpy ("np") or tensors of PyTorch ("pt"); None: leaves them."""
        for name, value in self.items() if tensor_type is not None else ():
            if prepend_batch_axis:
                value = [value]
            self[name] = value if hasattr(value, "dtype") else tensor(tensor_type, value)
        return self

    def to(self, device, *, non_blocking: bool = False) -> BatchEncoding:
        """Moves the tensors of PyTorch to a device."""
        for name, value in self.items():
            if hasattr(value, "to"):
                self[name] = value.to(device, non_blocking=non_blocking)
        return self


def tensor(kind, value):
    if kind not in ("np", "pt"):
        raise ValueError(f"return_tensors must be \"np\" or \"pt\", not {kind!r}")
    if isinstance(value, list) and len({len(row) for row in value if isinstance(row, list)}) > 1:
        raise ValueError("texts of different lengths do not make a tensor: use padding=True")
    import numpy

    array = numpy.array(value)
    array = array.astype(numpy.int64) if array.dtype.kind in "iub" or array.size == 0 else array
    if kind == "pt" and array.dtype.kind == "f":  # PyTorch's usual kind
        array = array.astype(numpy.float32)
    if kind == "np":
        return array
    import torch

    return torch.from_numpy(array)


def kind_of(value):
    """Of which kind a tensor is, or the first of several; None: of none."""
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    return "pt" if type(first).__module__ == "torch" else "np" if hasattr(first, "dtype") else None
