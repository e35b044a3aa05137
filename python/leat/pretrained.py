"""pretrained.py: leat.PreTrainedTokenizer, in the place of a (fast) tokenizer of transformers."""
from __future__ import annotations

import operator
import os
from collections.abc import Mapping

from leat import _pairs
from leat._batch_encoding import BatchEncoding, kind_of, tensor
from leat._classes import NAMED
from leat._post_processor import count_of_added
from leat._pretrained_chat import Conversations
from leat._pretrained_files import said_by
from leat.tokenizer import Tokenizer, either

TYPE_CHECKING = False  # `import leat` does without typing
if TYPE_CHECKING:
    from leat._added_token import AddedToken


class PreTrainedTokenizer(Conversations):
    """Encodes texts, pairs of texts and batches of them as a fast tokenizer of transformers does, with its words.

    tokenizer      a leat.Tokenizer, or the argument for one: of a folder, its tokenizer_config.json and
                   special_tokens_map.json name tokens
    column         the field with the texts, of a call with records (datasets.map(tokenizer, batched=True))
    padding_side, truncation_side
                   "right" or "left"; None: what tokenizer_config.json says, else tokenizer.json, else the class
    pad_token ...  names of tokens that files do not name, or name otherwise: bos_token, eos_token, unk_token,
                   sep_token, pad_token, cls_token, mask_token

    The ids are those of leat.Tokenizer (help() of it says which library's): where tokenizer.json and a
    class of transformers disagree, leat follows the file. A single surrogate in a text becomes U+FFFD; transformers
    refuses such a text. Missing: texts already split into words, strides and what truncation cuts off, adding tokens;
    and of what a call returns, words (word_ids() and its kin), an Encoding of each text (result[0]), token_to_chars()
    and its kin.

    split_special_tokens  whether special tokens in a text are ordinary text, where a call does not say it
    chat_template         what apply_chat_template() renders by: a template (Jinja), several by their names, or None
    """
    is_fast = True
    pad_token_type_id = 0
    # also of what earlier versions pickled
    name_or_path = ""
    split_special_tokens = False
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
        self.split_special_tokens = said["split_special_tokens"]
        self.chat_template = said["chat_template"]
        self.name_or_path = self.tokenizer.name if given else os.fspath(tokenizer)
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
        their paths. NotImplementedError for built-ins and other files that AutoTokenizer does not know. A token of the
        vocabulary that has been set as pad_token or its kin is then special for AutoTokenizer, which cuts texts at it,
        and not for leat; a warning says so."""
        from leat._pretrained_copy import save

        if legacy_format or filename_prefix or push_to_hub:
            raise NotImplementedError("leat only copies files: no legacy_format, filename_prefix or push_to_hub")
        source = None if self.tokenizer._from is None else _folder(self.tokenizer._from[0], self.tokenizer)
        now = {name: getattr(self, name) for name in ("padding_side", "truncation_side", "model_max_length",
                                                      "model_input_names", "clean_up_tokenization_spaces",
                                                      "extra_special_tokens", "split_special_tokens", "chat_template")}
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
        if token_ids_1 is not None:
            raise ValueError("ids that a call has made are one list, also of a pair: give no token_ids_1")
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

    def __call__(self, text=None, text_pair=None, text_target=None, text_pair_target=None, *,
                 add_special_tokens: bool = True, padding: bool | str = False, truncation: bool | str | None = None,
                 max_length: int | None = None, stride: int = 0, is_split_into_words: bool = False,
                 pad_to_multiple_of: int | None = None, return_attention_mask: bool | None = None,
                 return_token_type_ids: bool | None = None, return_overflowing_tokens: bool = False,
                 return_special_tokens_mask: bool = False, return_offsets_mapping: bool = False,
                 return_length: bool = False, return_tensors: str | None = None, padding_side: str | None = None,
                 split_special_tokens: bool | None = None, verbose: bool = True) -> BatchEncoding:
        """input_ids and attention_mask of a text, or lists of them of several texts: a list, a column of numpy, Arrow,
        pandas or Polars, or a mapping that has them as `column`.

        padding     True or "longest": to the longest text; "max_length": to max_length
        truncation  True, "longest_first" or "only_first": to max_length, the special tokens included. As in
                    transformers, max_length alone truncates, too, and model_max_length stands for it, which is that of
                    the files, or int(1e30): no limit
                    A max_length without room for the special tokens is refused; transformers then truncates nothing
        return_offsets_mapping
                    adds offset_mapping, in characters; NotImplementedError where offsets are not known
        return_tensors
                    "np" or "pt": arrays of numpy or tensors of PyTorch, of 64 bits, with a dimension for the texts also
                    of one text. Texts of different lengths need padding
        split_special_tokens
                    True: special tokens in a text are ordinary text; None: the attribute of this name
        With text_pair, or a list of tuples of two texts, pairs are encoded; truncation may be "only_second" then.
        text_target, is_split_into_words, stride and return_overflowing_tokens are refused: leat does not split words,
        and does not give what is cut off.
        """
        if is_split_into_words:
            raise NotImplementedError("leat takes no texts already split into words; use transformers for these")
        if text_target is not None or text_pair_target is not None:
            raise NotImplementedError("leat encodes texts, not targets: call it with the targets, too, and take their "
                                      "input_ids as labels")
        if stride or return_overflowing_tokens:
            raise NotImplementedError("leat does not give what truncation cuts off: no stride, and no "
                                      "return_overflowing_tokens; use transformers for these")
        if truncation is None and padding is False and max_length is not None:
            truncation = True
        max_length = self._most(max_length)
        if isinstance(text, Mapping):
            text = text[self.column]
        if text is None or isinstance(text, (int, float)):
            raise TypeError(f"a text is a str, and several are a list or a column of them, not {text!r}")
        one = isinstance(text, str)
        pairs = _pairs.pairs_of(text, text_pair)
        pieces = self.tokenizer._post_processor(bool(add_special_tokens), pairs is not None)
        keep = self._keep(truncation, max_length, count_of_added(pieces), pairs is not None)
        if keep is not None and _pads(padding) and pad_to_multiple_of and _whole(max_length) % pad_to_multiple_of:
            raise ValueError(f"truncation to {max_length} with padding to a multiple of {pad_to_multiple_of}: "
                             "max_length must be a multiple of pad_to_multiple_of")
        split = self.split_special_tokens if split_special_tokens is None else split_special_tokens
        rows = (self._rows([text] if one else text, pieces, keep, return_offsets_mapping, split) if pairs is None else
                _pairs.rows_of(self.tokenizer, pairs, pieces, keep, truncation, self.truncation_side,
                               return_offsets_mapping, split))
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
            out = BatchEncoding((name, tensor(return_tensors, value)) for name, value in out.items())
        elif one:  # as in transformers, `length` stays a list
            out = BatchEncoding((name, value if name == "length" else value[0]) for name, value in out.items())
        return out._of([(row["input_ids"], row["sequence_ids"], row.get("offset_mapping")) for row in rows],
                       self.tokenizer.id_to_token)

    def encode(self, text: str, text_pair: str | None = None, **options) -> list[int]:
        return self(text, text_pair, **options)["input_ids"]

    def tokenize(self, text: str, pair: str | None = None, add_special_tokens: bool = False) -> list[str]:
        """The tokens as the vocabulary writes them. transformers names two kinds by their place in the text: an added
        token with the white space that it took (" <mask>"), and an unknown one of Unigram by its characters."""
        return self.convert_ids_to_tokens(self.encode(text, pair, add_special_tokens=add_special_tokens))

    def _rows(self, texts, pieces, keep, offsets, split):
        """A dict of each text, with all that may be asked for. `keep`: how many of its own tokens may stay, or None."""
        rows = []
        cut = (slice(None) if keep is None else slice(0, keep) if self.truncation_side == "right" else
               slice(-keep if keep else 2**62, None))
        for encoding in self.tokenizer._cut_out(texts, pieces, cut, offsets, split):
            row = {"input_ids": encoding.ids, "attention_mask": encoding.attention_mask,
                   "token_type_ids": encoding.type_ids, "special_tokens_mask": encoding.special_tokens_mask,
                   "sequence_ids": [None if added else 0 for added in encoding.special_tokens_mask]}
            if offsets:
                row["offset_mapping"] = encoding.offsets
            rows.append(row)
        return rows

    def _most(self, length):
        """A call's max_length, or that of the model; None: there is no limit, for which transformers has 1e30."""
        length = self.model_max_length if length is None else length
        return None if isinstance(length, (int, float)) and length > 10**20 else length

    @staticmethod
    def _keep(truncation, length, added, pair):
        """How many ids of a text, or of a pair, may stay; None: all."""
        if truncation in (None, False, "do_not_truncate"):
            return None
        if truncation not in (True, "longest_first", "only_first", *(["only_second"] if pair else [])):
            raise ValueError(f"truncation must be True, \"longest_first\" or \"only_first\", not {truncation!r}"
                             + ("" if pair else ": these are single texts"))
        if length is None:
            return None
        keep = _whole(length) - added
        if keep < 0:
            raise ValueError(f"max_length {length} is less than the {added} tokens around each "
                             + ("pair" if pair else "text"))
        return keep

    @staticmethod
    def _length(padding, most, multiple, rows):
        if not _pads(padding):
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
        DataCollatorWithPadding. Of other names, such as labels, values stay as they are. Arrays and tensors give such
        again, if return_tensors says nothing."""
        if isinstance(encoded_inputs, (list, tuple)):
            encoded_inputs = {name: [one[name] for one in encoded_inputs] for name in encoded_inputs[0]} \
                if encoded_inputs else {}
        if "input_ids" not in encoded_inputs:
            raise ValueError(f"what is padded must have input_ids, not only {list(encoded_inputs)}")
        return_tensors = kind_of(encoded_inputs["input_ids"]) if return_tensors is None else return_tensors
        values = {name: _plain(value) for name, value in encoded_inputs.items()}
        one = bool(values["input_ids"]) and isinstance(values["input_ids"][0], int)
        count = 1 if one else len(values["input_ids"])
        rows = [{name: value if one else value[i] for name, value in values.items()} for i in range(count)]
        length = self._length(padding, self._most(max_length), pad_to_multiple_of, rows)
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
        return BatchEncoding((name, tensor(return_tensors, value)) for name, value in out.items())

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
        fill = {"input_ids": self.pad_token_id, "special_tokens_mask": 1, "offset_mapping": (0, 0),
                "sequence_ids": None}
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
            return [self.decode(one, skip_special_tokens, clean_up_tokenization_spaces) for one in ids]
        text = self.tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)
        cleans = self.clean_up_tokenization_spaces if clean_up_tokenization_spaces is None \
            else clean_up_tokenization_spaces
        for spaced in _SPACED if cleans and self.tokenizer._model_type() != "BPE" else ():
            text = text.replace(spaced, spaced.strip(" "))
        return text

    def batch_decode(self, sequences, skip_special_tokens: bool = False,
                     clean_up_tokenization_spaces: bool | None = None) -> list[str]:
        """The texts of lists of ids; of ids alone, a list of their one text, as in transformers 5."""
        text = self.decode(sequences, skip_special_tokens, clean_up_tokenization_spaces)
        return [text] if isinstance(text, str) else text

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

    def convert_tokens_to_string(self, tokens) -> str:
        """The text of tokens of the vocabulary; ValueError for others."""
        ids = [self.tokenizer.token_to_id(token) for token in tokens]
        if None in ids:
            raise ValueError(f"{list(tokens)[ids.index(None)]!r} is not a token of the vocabulary")
        return self.tokenizer.decode(ids, skip_special_tokens=False)

    def get_vocab(self) -> dict[str, int]:
        return self.tokenizer.get_vocab()

    @property
    def vocab(self) -> dict[str, int]:
        return self.get_vocab()

    def get_added_vocab(self) -> dict[str, int]:
        """The added tokens and their ids."""
        added = self.tokenizer._core.tokens(True)
        return {text.decode("utf-8", "replace"): id for id, (text, *_) in sorted(added.items())}

    @property
    def added_tokens_decoder(self) -> dict[int, AddedToken]:
        """The added tokens of a tokenizer.json by their ids, each with content, special, lstrip and the others. Not
        those that AutoTokenizer alone adds: ordinary tokens of the vocabulary that a file gives a name."""
        from leat._added_token import added_tokens_of

        return added_tokens_of(self.tokenizer._core, self.tokenizer._facts().get("added_tokens"))

    def num_special_tokens_to_add(self, pair: bool = False) -> int:
        """How many tokens a call puts around a text, or around and between those of a pair."""
        return count_of_added(self.tokenizer._post_processor(True, bool(pair)))

    @property
    def max_len_single_sentence(self) -> int:
        """What model_max_length leaves of a text."""
        return self.model_max_length - self.num_special_tokens_to_add()

    @property
    def max_len_sentences_pair(self) -> int:
        """What it leaves of a pair."""
        return self.model_max_length - self.num_special_tokens_to_add(True)

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


def _pads(padding):
    return padding not in (False, None, "do_not_pad")


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
