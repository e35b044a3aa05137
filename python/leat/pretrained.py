"""pretrained.py: leat.PreTrainedTokenizer, in the place of a (fast) tokenizer of transformers."""
from __future__ import annotations

import operator
import os
from collections.abc import Mapping

from leat._classes import NAMED
from leat._post_processor import count_of_added
from leat._pretrained_files import said_by
from leat.tokenizer import Tokenizer, _refuse_pairs, either


class BatchEncoding(dict):
    """What a call returns: a dict whose values are attributes, too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def to(self, device, *, non_blocking: bool = False) -> BatchEncoding:
        """Moves the tensors of PyTorch to a device."""
        for name, value in self.items():
            if hasattr(value, "to"):
                self[name] = value.to(device, non_blocking=non_blocking)
        return self


class PreTrainedTokenizer:
    """Encodes single texts and batches of them as a fast tokenizer of transformers does, with its words.

    tokenizer      a leat.Tokenizer, or the argument for one: of a folder, its tokenizer_config.json and
                   special_tokens_map.json name tokens
    column         the field with the texts, of a call with records (datasets.map(tokenizer, batched=True))
    padding_side, truncation_side
                   "right" or "left"; None: what tokenizer_config.json says, else tokenizer.json, else the class
    pad_token ...  names of tokens that files do not name, or name otherwise: bos_token, eos_token, unk_token,
                   sep_token, pad_token, cls_token, mask_token

    The ids are those of leat.Tokenizer (help() of it says which library's): where tokenizer.json and a
    class of transformers disagree, leat follows the file. Missing: pairs of texts, texts
    already split into words, strides and what truncation cuts off, chat templates, adding tokens.
    """
    is_fast = True
    _extra: list[str] = []  # unless a file lists some
    clean_up_tokenization_spaces = False  # also of what earlier versions pickled

    def __init__(self, tokenizer, *, column: str = "text", padding_side: str | None = None,
                 truncation_side: str | None = None, **named):
        unknown = set(named) - set(NAMED)
        if unknown:
            raise TypeError(f"unknown argument {min(unknown)!r}; names of tokens are {', '.join(NAMED)}")
        given = isinstance(tokenizer, Tokenizer)
        self.tokenizer = (Tokenizer.from_stored(*tokenizer.stored(), like="tokenizers") if given else
                          Tokenizer(tokenizer, like="tokenizers"))
        self._follow_calls()
        folder = None if given else _folder(os.fspath(tokenizer), self.tokenizer)
        said = said_by(folder, self.tokenizer._facts())
        self.column = column
        self.padding_side = _side("padding_side", padding_side or said["padding_side"])
        self.truncation_side = _side("truncation_side", truncation_side or said["truncation_side"])
        self.model_max_length = said["model_max_length"]
        self.model_input_names = said["model_input_names"]
        self.clean_up_tokenization_spaces = said["clean_up_tokenization_spaces"]
        self._named = {**said["tokens"], **named}
        if said["extra_special_tokens"]:
            self._extra = said["extra_special_tokens"]

    @classmethod
    def from_pretrained(cls, name, **options) -> PreTrainedTokenizer:
        """AutoTokenizer's name for the constructor. Nothing is downloaded."""
        return cls(name, **options)

    def save_pretrained(self, save_directory, *, legacy_format: bool | None = None, filename_prefix: str | None = None,
                        push_to_hub: bool = False) -> tuple[str, ...]:
        """Copies the files to a folder, for leat and for AutoTokenizer, with the attributes that have been set since;
        their paths. NotImplementedError for built-ins and other files that AutoTokenizer does not know."""
        from leat._pretrained_copy import save

        if legacy_format or filename_prefix or push_to_hub:
            raise NotImplementedError("leat only copies files: no legacy_format, filename_prefix or push_to_hub")
        source = None if self.tokenizer._from is None else _folder(self.tokenizer._from[0], self.tokenizer)
        now = {name: getattr(self, name) for name in ("padding_side", "truncation_side", "model_max_length",
                                                      "model_input_names", "clean_up_tokenization_spaces",
                                                      "extra_special_tokens")}
        return save(self.tokenizer, source, {**now, "tokens": self._named}, os.fspath(save_directory))

    def __getattr__(self, name):
        """bos_token, bos_token_id and their kin."""
        known = name[:-3] if name.endswith("_id") else name
        if known not in self.__dict__.get("_named", ()):
            raise AttributeError(name)
        token = self._named[known]
        return token if known == name or token is None else self.tokenizer.token_to_id(token)

    def __setattr__(self, name, value):
        known = name[:-3] if name.endswith("_id") else name
        if known not in self.__dict__.get("_named", ()):
            super().__setattr__(name, value)
            return
        if value is not None and known != name and self.tokenizer.id_to_token(value) is None:
            raise ValueError(f"{value} is not the id of a token")
        token = None if value is None else str(value) if known == name else self.tokenizer.id_to_token(value)
        self._named = {**self._named, known: token}  # a copy has its own

    @property
    def special_tokens_map(self) -> dict[str, str]:
        """The named tokens, by bos_token and its kin."""
        return {name: token for name, token in self._named.items() if token is not None}

    @property
    def extra_special_tokens(self) -> list[str]:
        """Special tokens without a name of their own, as tokenizer_config.json lists them."""
        return list(self._extra)

    @extra_special_tokens.setter
    def extra_special_tokens(self, tokens) -> None:
        self._extra = [str(token) for token in tokens or ()]

    @property
    def extra_special_tokens_ids(self) -> list[int]:
        return self.convert_tokens_to_ids(self.extra_special_tokens)

    @property
    def all_special_tokens(self) -> list[str]:
        return list(dict.fromkeys([*self.special_tokens_map.values(), *self._extra]))

    @property
    def all_special_ids(self) -> list[int]:
        ids = self.convert_tokens_to_ids(self.all_special_tokens)
        return [i for i in ids if i is not None]  # of names that are in no vocabulary

    def get_special_tokens_mask(self, token_ids_0, token_ids_1=None, already_has_special_tokens: bool = False
                                ) -> list[int]:
        """1 for ids of special tokens; for collators, which give ids that a call has made."""
        _refuse_pairs(token_ids_1, False)
        if not already_has_special_tokens:
            raise NotImplementedError("give already_has_special_tokens=True, or ask a call for its mask with "
                                      "return_special_tokens_mask=True")
        special = set(self.all_special_ids)
        return [int(i in special) for i in _plain(token_ids_0)]

    def _follow_calls(self):
        """A call says what is cut and filled up, not the file."""
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    # ---- Encoding ----

    def __call__(self, text, text_pair=None, *, add_special_tokens: bool = True, padding: bool | str = False,
                 truncation: bool | str | None = None, max_length: int | None = None,
                 pad_to_multiple_of: int | None = None, return_attention_mask: bool | None = None,
                 return_token_type_ids: bool | None = None, return_special_tokens_mask: bool = False,
                 return_offsets_mapping: bool = False, return_length: bool = False,
                 return_tensors: str | None = None, padding_side: str | None = None,
                 verbose: bool = True) -> BatchEncoding:
        """input_ids and attention_mask of a text, or lists of them of several texts: a list, a column of numpy, Arrow,
        pandas or Polars, or a mapping that has them as `column`.

        padding     True or "longest": to the longest text; "max_length": to max_length
        truncation  True, "longest_first" or "only_first": to max_length, the special tokens included. As in
                    transformers, max_length alone truncates, too, and model_max_length of the files stands for it
                    A max_length without room for the special tokens is refused; transformers then truncates nothing
        return_offsets_mapping
                    adds offset_mapping, in characters; NotImplementedError where offsets are not known
        return_tensors
                    "np" or "pt": arrays of numpy or tensors of PyTorch, of 64 bits, with a dimension for the texts also
                    of one text. Texts of different lengths need padding
        `text_pair` is refused: leat encodes single texts.
        """
        _refuse_pairs(text_pair, False)
        if truncation is None and padding is False and max_length is not None:
            truncation = True
        max_length = self.model_max_length if max_length is None else max_length
        if isinstance(text, Mapping):
            text = text[self.column]
        one = isinstance(text, str)
        pieces = self.tokenizer._post_processor(bool(add_special_tokens))
        cut = self._cut(truncation, max_length, count_of_added(pieces))
        texts = [text] if one else text
        rows = self._rows(texts, pieces, cut, return_offsets_mapping)
        wanted = {"token_type_ids": return_token_type_ids, "attention_mask": return_attention_mask}
        names = ["input_ids"] + [name for name, want in wanted.items()
                                 if want or (want is None and name in self.model_input_names)]
        names += ["special_tokens_mask"] if return_special_tokens_mask else []
        names += ["offset_mapping"] if return_offsets_mapping else []
        length = self._length(padding, max_length, pad_to_multiple_of, rows)
        for row in rows:
            self._pad(row, length, padding_side)
        out = BatchEncoding((name, [row[name] for row in rows]) for name in names)
        if return_length:
            out["length"] = [len(row["input_ids"]) for row in rows]
        if return_tensors is not None:
            return BatchEncoding((name, _tensor(return_tensors, value)) for name, value in out.items())
        if one:  # as in transformers, `length` stays a list
            out = BatchEncoding((name, value if name == "length" else value[0]) for name, value in out.items())
        return out

    def encode(self, text: str, **options) -> list[int]:
        return self(text, **options)["input_ids"]

    def tokenize(self, text: str, *, add_special_tokens: bool = False) -> list[str]:
        return self.convert_ids_to_tokens(self.encode(text, add_special_tokens=add_special_tokens))

    def _rows(self, texts, pieces, cut, offsets):
        """A dict of each text, with all that may be asked for."""
        rows = []
        for encoding in self.tokenizer._cut_out(texts, pieces, cut, offsets):
            row = {"input_ids": encoding.ids, "attention_mask": encoding.attention_mask,
                   "token_type_ids": encoding.type_ids, "special_tokens_mask": encoding.special_tokens_mask}
            if offsets:
                row["offset_mapping"] = encoding.offsets
            rows.append(row)
        return rows

    def _cut(self, truncation, length, added):
        """What is left of a text's own ids."""
        if truncation in (None, False, "do_not_truncate") or length is None:
            return slice(None)
        if truncation not in (True, "longest_first", "only_first"):
            raise ValueError(f"truncation must be True, \"longest_first\" or \"only_first\", not {truncation!r}: leat "
                             "encodes single texts")
        keep = _whole(length) - added
        if keep < 0:
            raise ValueError(f"max_length {length} is less than the {added} tokens around each text")
        return slice(0, keep) if self.truncation_side == "right" else slice(-keep if keep else 2**62, None)

    @staticmethod
    def _length(padding, most, multiple, rows):
        if padding in (False, None, "do_not_pad"):
            return 0
        if padding not in (True, "longest", "max_length"):
            raise ValueError(f"padding must be True, False, \"longest\" or \"max_length\", not {padding!r}")
        if padding == "max_length" and most is None:
            return 0
        length = _whole(most) if padding == "max_length" else max((len(row["input_ids"]) for row in rows), default=0)
        return -(-length // multiple) * multiple if multiple else length

    def pad(self, encoded_inputs, padding: bool | str = True, max_length: int | None = None,
            pad_to_multiple_of: int | None = None, padding_side: str | None = None,
            return_attention_mask: bool | None = None, return_tensors: str | None = None,
            verbose: bool = True) -> BatchEncoding:
        """What a call gave for one text or several, or a list of what calls gave, filled up as a call does it; for
        DataCollatorWithPadding. Of other names, such as labels, values stay as they are."""
        if isinstance(encoded_inputs, (list, tuple)):
            encoded_inputs = {name: [one[name] for one in encoded_inputs] for name in encoded_inputs[0]} \
                if encoded_inputs else {}
        if "input_ids" not in encoded_inputs:
            raise ValueError(f"what is padded must have input_ids, not only {list(encoded_inputs)}")
        values = {name: _plain(value) for name, value in encoded_inputs.items()}
        one = bool(values["input_ids"]) and isinstance(values["input_ids"][0], int)
        count = 1 if one else len(values["input_ids"])
        rows = [{name: value if one else value[i] for name, value in values.items()} for i in range(count)]
        length = self._length(padding, self.model_max_length if max_length is None else max_length, pad_to_multiple_of,
                              rows)
        masks = "attention_mask" in self.model_input_names if return_attention_mask is None else return_attention_mask
        for row in rows:
            if masks:
                row.setdefault("attention_mask", [1] * len(row["input_ids"]))
            own = {name: row.pop(name) for name in _FILLED if name in row}
            self._pad(own, length, padding_side)
            row.update(own)
        out = BatchEncoding((name, rows[0][name] if one else [row[name] for row in rows])
                            for name in dict.fromkeys([*values, *(rows[0] if rows else ())]))
        if return_tensors is None:
            return out
        return BatchEncoding((name, _tensor(return_tensors, value)) for name, value in out.items())

    def _pad(self, row, length, side=None):
        side = self.padding_side if side is None else _side("padding_side", side)
        missing = length - len(row["input_ids"])
        if missing <= 0:
            return
        if self.pad_token_id is None:
            name = self._named["pad_token"]
            raise ValueError(f"the padding token {name!r} is not in the vocabulary: set pad_token" if name else
                             "no file names a padding token: give pad_token=NAME to leat.PreTrainedTokenizer(), or "
                             "set pad_token")
        fill = {"input_ids": self.pad_token_id, "special_tokens_mask": 1, "offset_mapping": (0, 0)}
        for name, values in row.items():
            more = [fill.get(name, 0)] * missing
            row[name] = values + more if side == "right" else more + values

    # ---- Decoding and the vocabulary ----

    def decode(self, ids=None, skip_special_tokens: bool = False, clean_up_tokenization_spaces: bool | None = None, *,
               token_ids=None):
        """The text of ids, or of one id; the texts of several lists. Spaces before punctuation are dropped where
        tokenizer_config.json, or the call, says so, but as in transformers never of byte-pair models. `token_ids` is
        transformers' name of `ids`."""
        ids = either("ids", ids, "token_ids", token_ids)
        if isinstance(ids, str):
            raise TypeError("ids must be whole numbers, not a str")
        ids = _plain(ids)
        if isinstance(ids, int):
            ids = [ids]
        if ids and not isinstance(ids[0], int):
            return self.batch_decode(ids, skip_special_tokens, clean_up_tokenization_spaces)
        text = self.tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)
        cleans = self.clean_up_tokenization_spaces if clean_up_tokenization_spaces is None \
            else clean_up_tokenization_spaces
        for spaced in _SPACED if cleans and self.tokenizer._model_type() != "BPE" else ():
            text = text.replace(spaced, spaced.strip(" "))
        return text

    def batch_decode(self, sequences, skip_special_tokens: bool = False,
                     clean_up_tokenization_spaces: bool | None = None) -> list[str]:
        return [self.decode(ids, skip_special_tokens, clean_up_tokenization_spaces) for ids in sequences]

    def convert_ids_to_tokens(self, ids, skip_special_tokens: bool = False):
        ids = _plain(ids)
        if isinstance(ids, int):
            return self.tokenizer.id_to_token(ids)
        special = set(self.all_special_ids) if skip_special_tokens else ()
        return [self.tokenizer.id_to_token(i) for i in ids if i not in special]

    def convert_tokens_to_ids(self, tokens):
        """Of a name that is no token, that of the unknown token, or None."""
        one = isinstance(tokens, str)
        ids = [self.tokenizer.token_to_id(token) for token in ([tokens] if one else tokens)]
        ids = [self.unk_token_id if i is None else i for i in ids]
        return ids[0] if one else ids

    def get_vocab(self) -> dict[str, int]:
        return self.tokenizer.get_vocab()

    @property
    def vocab_size(self) -> int:
        """Without added tokens."""
        return self.tokenizer.get_vocab_size(False)

    def __len__(self) -> int:
        return self.tokenizer.get_vocab_size()

    def __reduce__(self):
        return _restored, (type(self), dict(self.__dict__))


# what is filled up
_FILLED = ("input_ids", "token_type_ids", "attention_mask", "special_tokens_mask")
# from which the spaces go, in transformers' order
_SPACED = (" .", " ?", " !", " ,", " ' ", " n't", " 'm", " 's", " 've", " 're")


def _plain(value):
    """An array or a tensor as numbers and lists of Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value] if any(hasattr(one, "tolist") for one in value) else list(value)
    return list(value) if hasattr(value, "__iter__") and not isinstance(value, str) else value


def _restored(cls, values):
    tokenizer = cls.__new__(cls)
    tokenizer.__dict__.update(values)
    tokenizer._follow_calls()
    return tokenizer


def _folder(spec, tokenizer):
    """With the files beside the vocabulary: the folder that was named, or that of a model's id; None: a file was."""
    if tokenizer._path is not None and os.path.isdir(spec):
        return spec
    return None if tokenizer._path is None or os.path.exists(spec) else os.path.dirname(tokenizer._path)


def _tensor(kind, value):
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


def _whole(length):
    try:
        return operator.index(length)
    except TypeError:
        raise TypeError(f"max_length, or model_max_length in tokenizer_config.json, must be a whole number, not "
                        f"{length!r}") from None


def _side(name, value):
    if value not in ("right", "left"):
        raise ValueError(f"{name} must be \"right\" or \"left\", not {value!r}")
    return value
