"""tokenizer.py: leat.Tokenizer is fast and token-exact, and replaces tiktoken's Encoding and tokenizers' Tokenizer.
leat.Encoding is its result for a text."""
from __future__ import annotations

import functools
import itertools
import operator
import os

from leat import _leat, _special
from leat._documents import arrow_capsules, plain_ids, plain_texts, refuse_lazy
from leat._leat import show
from leat._values import flag, shown, whole
from leat._tokenizer_file import (PLAIN, Skipped, begin_of, check_truncation, count_of_added, facts_of, laid_out,
                                  names_of, parsed, pieces_of, truncation_of, types_of)


class Encoding(list):
    """The ids of a text: a list of ints that also has the attributes of tokenizers' Encoding."""

    __slots__ = ("_tokenizer", "_pieces", "_offsets")

    def __init__(self, ids=(), tokenizer=None, pieces=PLAIN, offsets=None):
        super().__init__(ids)
        self._tokenizer = tokenizer
        self._pieces = pieces  # pieces as pieces_of() returns them
        self._offsets = offsets

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """[begin, end) of each token in characters of the text, as in tokenizers; needs encode(..., offsets=True)."""
        return self._spans(0)

    @property
    def byte_offsets(self) -> list[tuple[int, int]]:
        """[begin, end) of each token in the text's UTF-8. Together they cover all bytes of the text in order, unless a
        pre-tokenizer dropped white space."""
        return self._spans(1)

    def _spans(self, which):
        if self._offsets is None:
            raise AttributeError("offsets are only there after encode(..., offsets=True)")
        if callable(self._offsets):
            self._offsets = self._offsets()
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
        """The type that a post-processor gives to a token's text; 0 without a post-processor."""
        return types_of(self._pieces, self._of_text())

    @property
    def special_tokens_mask(self) -> list[int]:
        """1 for each token that a post-processor has put around the text, as in tokenizers; 0 for the text's."""
        return laid_out(self._pieces, [0] * self._of_text(), 1)

    @property
    def n_sequences(self) -> int:
        return 1

    @property
    def sequence_ids(self) -> list[int | None]:
        """0 for each token of the text; None for those that a post-processor has put around it."""
        return [None if added else 0 for added in self.special_tokens_mask]

    def token_to_sequence(self, token_index: int) -> int | None:
        return self.sequence_ids[token_index] if token_index < len(self) else None

    def token_to_chars(self, token_index: int) -> tuple[int, int] | None:
        """The characters of a token; None for one that is not of the text."""
        return None if self.token_to_sequence(token_index) is None else self.offsets[token_index]

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """The first token that has this character; None if no token has it."""
        return next((i for i, ((begin, end), own) in enumerate(zip(self.offsets, self.sequence_ids))
                     if own == sequence_index and begin <= char_pos < end), None)

    def _of_text(self):
        """The number of tokens that come from the text, which may be there several times."""
        times = sum(own is None for own, _ in self._pieces)
        return (len(self) - count_of_added(self._pieces)) // times if times else 0

    def __reduce__(self):
        offsets = self._offsets
        if callable(offsets):
            try:
                offsets = self._offsets = offsets()
            except NotImplementedError:  # a normalizer changes the text
                offsets = None
        return Encoding, (list(self), None, self._pieces, offsets)


class _Ids:
    """Ids in memory of the extension, for numpy arrays, which keep this object alive."""
    __slots__ = ("__array_interface__", "_memory")

    def __init__(self, memory, address: int, count: int):
        self._memory = memory  # freed with this object
        self.__array_interface__ = {"version": 3, "typestr": "=u4", "shape": (count,), "data": (address, False)}


def is_fast(tokenizer):
    """Returns True for a fast tokenizer of transformers or a tokenizers.Tokenizer."""
    return hasattr(getattr(tokenizer, "backend_tokenizer", tokenizer), "to_str")


class Tokenizer:
    """Encodes text to the ids that the vocabulary's reference library gives, and decodes ids.

    spec     a built-in name: "bytes", or one of list_encoding_names(); a path to a tokenizer.json, *.tiktoken,
             tekken.json, tokenizer.model, or vocab.json beside merges.txt (each also as .zst), or to a folder that
             holds one; a Hugging Face model's ORG/NAME[@REVISION], in the local hub cache or else fetched into it; or a
             fast tokenizer of transformers, or a tokenizers.Tokenizer, as it is at that moment
    pattern  the name of the pattern, for a *.tiktoken file whose name does not imply it
    pat_str, mergeable_ranks, special_tokens, explicit_n_vocab
             make a tokenizer of a program's own, as tiktoken's Encoding does; `spec` or `name` is its name
    like     which library's rules apply where they differ: "tiktoken" or "tokenizers"

    Methods have the names of tiktoken's Encoding and tokenizers' Tokenizer, and encode() returns a list that also has
    the attributes of tokenizers' Encoding. as_tiktoken() and as_tokenizers() return tokenizers whose signatures and
    results are those of one library. `like` changes three things:

    - Strings of special tokens in a text. "tiktoken": they raise ValueError, unless allowed_special or
      disallowed_special say otherwise. "tokenizers": they become these tokens, unless encode_special_tokens is True.
    - The tokens that a tokenizer.json puts around a text (its post-processor). "tiktoken": not added. "tokenizers":
      added, unless add_special_tokens=False.
    - Special tokens in decode(). "tiktoken": they give their names. "tokenizers": they are left out, unless
      skip_special_tokens=False.

    Offsets come with encode(..., offsets=True), where the tokens of a text spell it. Where a normalizer has changed the
    text, or a token is unknown, they are refused, with the first such token and the normalizer.

    Missing of tokenizers: word_ids and the like of an Encoding, pairs of texts, texts already split into words,
    padding, what truncation cuts off, training, changing a tokenizer (add_tokens(), setters of its components),
    post_process(). Missing of tiktoken: plugins (tiktoken_ext).

    So replace `tiktoken.get_encoding("o200k_base")` by `leat.get_encoding("o200k_base")` or
    `leat.Tokenizer("o200k_base")`, and `Tokenizer.from_file(path)` by `leat.Tokenizer.from_file(path)`.

    A tokenizer never changes, apart from encode_special_tokens, truncation and no_padding(), and threads can share it.
    Calls release the GIL. It can be pickled, with these; unpickling opens the same file again, and raises ValueError if
    that has changed.
    """

    _lazy_offsets = False

    def __init__(self, spec=None, *, pattern: str | None = None, like: str = "tiktoken", name: str | None = None,
                 pat_str: str | None = None, mergeable_ranks: dict[bytes, int] | None = None,
                 special_tokens: dict[str, int] | None = None, explicit_n_vocab: int | None = None):
        if like not in ("tiktoken", "tokenizers"):
            raise ValueError(f"like must be \"tiktoken\" or \"tokenizers\", not {like!r}")
        if pat_str is not None or mergeable_ranks is not None:
            if pattern is not None or (spec is None) == (name is None):
                raise TypeError("pat_str and mergeable_ranks come with one name and no pattern")
            from leat._ranks import core_of
            self._set(core_of(spec if name is None else name, pat_str, mergeable_ranks, special_tokens or {},
                              explicit_n_vocab), like)
            return
        if spec is None or name is not None or special_tokens is not None or explicit_n_vocab is not None:
            raise TypeError("give a spec alone, or a name with pat_str, mergeable_ranks and special_tokens")
        if pattern is None and is_fast(spec):
            backend = getattr(spec, "backend_tokenizer", spec)
            self._set(_leat.Tokenizer(None, None, "tokenizer.json", backend.to_str().encode()), like)
            self._end_with(getattr(spec, "eos_token", None))
            return
        path = os.fspath(spec)
        self._set(_leat.Tokenizer(path, pattern), like)
        # The path of a file is kept absolute, for processes that unpickle it in another folder. Built-ins, which take
        # precedence over files of their name, and models are kept by name.
        if self._path is not None and os.path.exists(path):
            path = os.path.abspath(path)
        self._from = (path, pattern)
        if path == "r50k_base":  # r50k_base is another name of the built-in gpt2
            self._name = path

    def _set(self, core, like):
        self._core = core
        self._like = like
        self._vocabulary, self._end, self._fingerprint, self._candidates, self._begin, self._path = core.info()
        self._from, self._name = None, core.stored()[0]
        self._ranks = self._unstable = None
        self._tables = self._special = self._skipped = self._known = None
        self._offsets = self._sum = self._model_tokens = None
        self._pieces = {}
        self._file_truncation = self._truncation = False  # False until it is read: the truncation of the file counts
        self._padding_ignored = self.encode_special_tokens = False

    def _end_with(self, text):
        """Lets the token with this text end documents. None keeps the vocabulary's own end token."""
        end = None if text is None else self._core.find(text.encode())
        if end is not None and end != self._end:
            begin = begin_of(self._facts().get("post_processor"), self._vocabulary, end)
            self._end, self._begin, self._candidates = end, begin, ()

    @classmethod
    def from_file(cls, path, *, pattern: str | None = None) -> Tokenizer:
        """Like tokenizers' Tokenizer.from_file(), with the rules of that library."""
        return cls(path, pattern=pattern, like="tokenizers")

    @classmethod
    def from_pretrained(cls, identifier: str) -> Tokenizer:
        """Like tokenizers' Tokenizer.from_pretrained(), which looks into the local hub cache first, then at the Hub."""
        return cls(identifier, like="tokenizers")

    @classmethod
    def from_stored(cls, name: str, pattern: str, file: bytes | None, *, like: str = "tiktoken") -> Tokenizer:
        """Opens the tokenizer that a dataset keeps: from_stored(*dataset.stored_tokenizer)."""
        self = cls.__new__(cls)
        self._set(_leat.Tokenizer(None, pattern or None, name, file), like)
        return self

    def as_tiktoken(self) -> Tokenizer:
        """This tokenizer with the signatures, results and errors of tiktoken's Encoding."""
        from leat._as_others import TiktokenEncoding, seen_as
        return seen_as(TiktokenEncoding, self, "tiktoken")

    def as_tokenizers(self) -> Tokenizer:
        """This tokenizer with the signatures and results of tokenizers' Tokenizer; offsets are made when asked for."""
        from leat._as_others import TokenizersTokenizer, seen_as
        return seen_as(TokenizersTokenizer, self, "tokenizers")

    def __reduce__(self):
        changed = {name: self.__dict__[name] for name in ("encode_special_tokens", "_truncation", "_padding_ignored",
                                                          "_end", "_begin", "_candidates")}
        if self._from is None:
            return _restored, (type(self), self._core.stored(), self._like), changed
        return _reopened, (type(self), *self._from, self._like, self._fingerprint, self._file_sum()), changed

    def _file_sum(self):
        """Returns a hash of the whole file. The fingerprint leaves out its post-processor and truncation."""
        if self._sum is None:
            import hashlib
            self._sum = hashlib.sha256(self._core.stored()[2] or b"").digest()
        return self._sum

    def __repr__(self):
        return f"<leat.Tokenizer {shown(self.name)}, {self._vocabulary} ids>"

    # ---- What it is ----

    @property
    def name(self) -> str:
        """The name of the built-in, or of the file without its folder."""
        return self._name

    @property
    def n_vocab(self) -> int:
        """The highest id plus 1."""
        return self._vocabulary

    @property
    def max_token_value(self) -> int:
        return self._vocabulary - 1

    @property
    def fingerprint(self) -> str:
        """A hash of the vocabulary and everything else that decides how text is encoded, whatever the file's form."""
        return self._fingerprint.hex()

    @property
    def end_token(self) -> int | None:
        """The token that ends a document; None if the tokenizer does not say: see end_candidates."""
        return self._end

    @property
    def begin_token(self) -> int | None:
        """The token that begins a document: the one that the post-processor of a tokenizer.json puts before each text,
        if it puts nothing but perhaps end_token after it; else None."""
        return self._begin

    @property
    def end_candidates(self) -> list[int]:
        """If end_token is None: tokens with a name that suggests one."""
        return list(self._candidates)

    @property
    def eot_token(self) -> int:
        """end_token; KeyError if it is None."""
        if self._end is None:
            raise KeyError(f"{show(self.name)} does not say which token ends a document")
        return self._end

    @property
    def special_tokens(self) -> dict[str, int]:
        """The ids of the special tokens, by their names."""
        if self._special is None:
            self._special = {text.decode("utf-8", "replace"): id
                             for id, (text, _, _, special, _) in self._core.tokens(True).items() if special}
            # an id of o200k_harmony has two texts, and the core gives only one
            for text in "<|endofprompt|>", "<|reserved_200018|>":
                if self._core.find(text.encode()) in self._special.values():
                    self._special[text] = self._core.find(text.encode())
        return dict(self._special)

    @property
    def special_tokens_set(self) -> set[str]:
        return set(self.special_tokens)

    def is_special_token(self, token: int) -> bool:
        entry = self._core.token(operator.index(token))
        return entry is not None and entry[3]

    def stored(self) -> tuple[str, str, bytes | None]:
        """(name, pattern, the file's bytes) as a dataset keeps them; None instead of the bytes for a built-in."""
        return self._core.stored()

    def save(self, path) -> None:
        """Writes the tokenizer as a tokenizer.json, which gives the same ids in leat and in tokenizers: the file that
        it was opened from, or one that is made of a pattern, ranks and special tokens (those of a program's own, a
        *.tiktoken, a tekken.json, or a built-in encoding of tiktoken). ValueError if that cannot be said exactly, as
        with a pattern that tokenizers reads in another way; NotImplementedError for other kinds."""
        from leat._own_file import own_file
        from leat._tokenizer_json import saved
        text = saved(self)
        with open(path, "w", encoding="utf-8", opener=own_file) as file:
            file.write(text)

    # ---- Encoding ----

    def encode_ordinary(self, text) -> Encoding:
        """Encodes a text; strings of special tokens are ordinary text."""
        return Encoding(self._core.encode(text, False, _special.LIST)[0], self)

    def encode(self, text=None, pair=None, is_pretokenized: bool = False, add_special_tokens: bool | None = None, *,
               sequence=None, allowed_special=None, disallowed_special=None, offsets: bool = False) -> Encoding:
        """Encodes a text: a str, or bytes as UTF-8, with U+FFFD for invalid bytes.

        allowed_special     strings of special tokens that become these tokens: a collection, or "all"
        disallowed_special  strings that raise ValueError if the text has them: a collection, or "all" for all special
                            tokens that are not allowed. Strings in neither are ordinary text
        add_special_tokens  True or False selects the rules of tokenizers for this call: strings of special tokens
                            become these tokens; True also adds the tokens of the post-processor
        offsets             True: the result has `offsets` and `byte_offsets`, as in tokenizers. NotImplementedError
                            where the tokens do not spell the text: a normalizer has changed it, or one is unknown

        `sequence` is tokenizers' name of `text`. `pair` and `is_pretokenized` are refused: leat encodes single texts.
        """
        _refuse_pairs(pair, is_pretokenized)
        text = either("text", text, "sequence", sequence)
        if self._by_tokenizers(add_special_tokens, allowed_special, disallowed_special):
            return self._around([self._core.encode(text, not self.encode_special_tokens, _special.LIST)[0]],
                                add_special_tokens, [text] if offsets else None)[0]
        ids = self._encode(text, allowed_special, disallowed_special, _special.LIST)
        return Encoding(ids, self, offsets=self._places().all_of(text, ids) if offsets else None)

    def encode_to_numpy(self, text, *, allowed_special=None, disallowed_special=None):
        """Like encode(), always by tiktoken's rules, with the ids in a numpy array of uint32."""
        import numpy
        ids = self._encode(text, allowed_special, disallowed_special, _special.BYTES)
        return numpy.frombuffer(ids, dtype=numpy.uint32) if len(ids) else numpy.empty(0, dtype=numpy.uint32)

    def encode_ordinary_batch(self, texts, *, num_threads: int | None = None) -> list[Encoding]:
        """encode_ordinary() for many texts; num_threads None: one per core."""
        refuse_lazy(texts)
        lists, _ = self._core.encode_batch(plain_texts(texts), False, threads_of(num_threads), _special.LIST, False)
        return [Encoding(ids, self) for ids in lists]

    def encode_batch(self, texts=None, is_pretokenized: bool = False, add_special_tokens: bool | None = None, *,
                     input=None, num_threads: int | None = None, allowed_special=None, disallowed_special=None,
                     offsets: bool = False) -> list[Encoding]:
        """encode() for many texts: a list, an array of numpy, a column of Arrow, pandas or Polars; num_threads None:
        one per core. `input` is tokenizers' name of `texts`."""
        _refuse_pairs(None, is_pretokenized)
        texts = either("texts", texts, "input", input)
        refuse_lazy(texts)
        threads, texts = threads_of(num_threads), plain_texts(texts)
        if self._by_tokenizers(add_special_tokens, allowed_special, disallowed_special):
            lists, _ = self._core.encode_batch(texts, not self.encode_special_tokens, threads, _special.LIST, False)
            return self._around(lists, add_special_tokens, texts if offsets else None)
        if offsets:
            return [self.encode(text, allowed_special=allowed_special, disallowed_special=disallowed_special,
                                offsets=True) for text in texts]
        allowed, disallowed = _special.sets(allowed_special, disallowed_special)
        if allowed and allowed != "all":  # if only some are allowed, each text is cut at them
            return [Encoding(self._encode(text, allowed_special, disallowed_special, _special.LIST), self)
                    for text in texts]
        if disallowed and disallowed != "all":
            for text in texts:
                _special.look_for(disallowed, text)
        lists, with_special = self._core.encode_batch(texts, allowed == "all", threads, _special.LIST, False)
        if disallowed == "all":
            for i in with_special:
                _special.look_for(self.special_tokens, texts[i])
        return [Encoding(ids, self) for ids in lists]

    # tokenizers' name for encoding without offsets
    encode_batch_fast = encode_batch

    def encode_flat(self, texts, *, column: str = "text", special: bool = False, num_threads: int | None = None,
                    out=None):
        """Encodes many texts to two numpy arrays (ids, offsets): text i has ids[offsets[i]:offsets[i + 1]].

        texts    a list of str or bytes; or anything with Arrow's C stream interface (tables of pyarrow, Polars,
                 DuckDB), of which `column` is read in place, without a Python object per text
        special  True: strings of special tokens become these tokens; False: they are ordinary text
        out      an array of numpy, uint32 or int32, for the ids, of which a view is returned. ValueError, with the
                 number of ids, if it is too small; encodings of tiktoken need at most one id per byte of UTF-8
        """
        import numpy
        threads, special = threads_of(num_threads), flag("special", special)
        there = () if out is None else _memory_of(numpy, out)
        refuse_lazy(texts)
        stream = arrow_capsules(texts)
        if stream is not None:
            (ids, offsets), _ = self._core.encode_arrow(stream, column, special, threads, _special.BYTES, True,
                                                        *there)
        else:
            (ids, offsets), _ = self._core.encode_batch(texts, special, threads, _special.BYTES, True, *there)
        if there:
            if ids[2] > len(out):
                raise ValueError(f"out has room for {len(out)} ids, but these texts have {ids[2]}")
            return out[:ids[2]], numpy.frombuffer(offsets, dtype=numpy.int64)
        return numpy.asarray(_Ids(*ids)), numpy.frombuffer(offsets, dtype=numpy.int64)

    def encode_single_token(self, text_or_bytes) -> int:
        """The id of the token with exactly this text; KeyError if no token has it."""
        text = text_or_bytes.encode() if isinstance(text_or_bytes, str) else bytes(text_or_bytes)
        found = self._core.find(text)
        if found is None:
            raise KeyError(text_or_bytes)
        return found

    def encode_with_unstable(self, text: str, *, allowed_special=None, disallowed_special=None
                             ) -> tuple[list[int], list[list[int]]]:
        """Returns the ids that stay whatever is appended to the text, and the sequences that its end may become, in any
        order.

        tiktoken, too, calls this function unstable. It needs the package regex, as tiktoken does.
        """
        ids = self._encode(text, allowed_special, disallowed_special, _special.LIST)
        tail = _special.after_last(self.special_tokens, _special.sets(allowed_special, None)[0], text)
        stable, rest = self._end_of_text().split(tail, ids)
        return stable, self._end_of_text().completions(rest)

    def _encode_bytes(self, text: bytes) -> list[int]:
        return self._end_of_text().encode_bytes(text)

    def _encode_single_piece(self, text_or_bytes) -> list[int]:
        from leat._ranks import encode_piece
        text = text_or_bytes.encode() if isinstance(text_or_bytes, str) else bytes(text_or_bytes)
        return encode_piece(text, self._mergeable_ranks) if text else []

    def _end_of_text(self):
        if self._unstable is None:
            from leat._ranks import Unstable
            self._unstable = Unstable(self, self._pat_str)
        return self._unstable

    # ---- Decoding ----

    def decode_bytes(self, tokens) -> bytes:
        """The bytes that the ids stand for, perhaps not whole characters; special tokens give their names."""
        return self._core.decode(plain_ids(tokens))

    def decode(self, tokens=None, errors: str = "replace", *, ids=None, skip_special_tokens: bool | None = None) -> str:
        """The text of ids; `errors` as in bytes.decode(), for ids that start or end inside a character. By the rules of
        tokenizers, whose name of `tokens` is `ids`, ids that are no tokens are left out; else they raise leat.Error."""
        tokens = either("tokens", tokens, "ids", ids)
        if not isinstance(errors, str):  # decode(ids, True) of tokenizers
            skip_special_tokens, errors = errors, "replace"
        tokens = tokens if hasattr(tokens, "__len__") else list(tokens)
        by_tokenizers = skip_special_tokens is not None or self._like == "tokenizers"
        if skip_special_tokens is None:
            skip_special_tokens = self._like == "tokenizers"
        if skip_special_tokens:
            if self._skipped is None:
                self._skipped = Skipped(self._core, self.special_tokens_set)
            tokens = [i for i in map(operator.index, tokens) if not self._skipped[i]]
        try:
            text = self.decode_bytes(tokens)
        except _leat.Error:
            if not by_tokenizers:
                raise
            text = self.decode_bytes([i for i in map(operator.index, tokens) if self._core.token(i) is not None])
        return text.decode("utf-8", errors)

    def decode_batch(self, batch=None, errors: str = "replace", *, sequences=None,
                     skip_special_tokens: bool | None = None, num_threads: int | None = None) -> list[str]:
        """decode() for many; `sequences` is tokenizers' name of `batch`."""
        return [self.decode(tokens, errors, skip_special_tokens=skip_special_tokens)
                for tokens in either("batch", batch, "sequences", sequences)]

    def decode_bytes_batch(self, batch, *, num_threads: int | None = None) -> list[bytes]:
        return [self.decode_bytes(tokens) for tokens in batch]

    def decode_single_token_bytes(self, token: int) -> bytes:
        """The bytes that one token stands for; KeyError if there is no such id."""
        entry = self._core.token(operator.index(token))
        if entry is None:
            raise KeyError(token)
        return entry[0]

    def decode_tokens_bytes(self, tokens) -> list[bytes]:
        return [self.decode_single_token_bytes(token) for token in tokens]

    def decode_with_offsets(self, tokens) -> tuple[str, list[int]]:
        """The text, and for each token the number of the character in which it starts."""
        parts, offsets, characters = self.decode_tokens_bytes(tokens), [], 0
        for part in parts:
            offsets.append(max(0, characters - (len(part) > 0 and 0x80 <= part[0] < 0xC0)))
            characters += sum(1 for byte in part if not 0x80 <= byte < 0xC0)
        return b"".join(parts).decode("utf-8", "strict"), offsets

    def token_byte_values(self) -> list[bytes]:
        """The bytes of all tokens except special ones, sorted."""
        return sorted(text for text, _, _, special, _ in self._core.tokens(False).values() if not special)

    # ---- What tiktoken's Encoding keeps ----

    @property
    def _special_tokens(self) -> dict[str, int]:
        return self.special_tokens

    @property
    def _mergeable_ranks(self) -> dict[bytes, int]:
        if self._ranks is None:
            self._ranks = {text: id for id, (text, _, added, special, _) in self._core.tokens(False).items()
                           if not added and not special}
        return self._ranks

    @property
    def _pat_str(self) -> str:
        from leat._ranks import pattern_of
        pattern = pattern_of(self._core.stored())
        if pattern is None:
            raise AttributeError(f"{show(self.name)} has no pattern as tiktoken's encodings do")
        return pattern

    # ---- The vocabulary, as a tokenizer.json writes it ----

    def token_to_id(self, token: str) -> int | None:
        return self._names()[0].get(token)

    def id_to_token(self, id: int) -> str | None:
        return self._names()[1].get(operator.index(id))

    def get_vocab(self, with_added_tokens: bool = True) -> dict[str, int]:
        if with_added_tokens:
            return dict(self._names()[0])
        file = self._tokenizer_json()
        if file is not None:
            vocab = file["model"]["vocab"]
            return dict(vocab) if isinstance(vocab, dict) else {text: id for id, (text, _) in enumerate(vocab)}
        return {name: id for id, name in self._names()[1].items() if not self._core.token(id)[2]}

    def get_vocab_size(self, with_added_tokens: bool = True) -> int:
        """How many tokens there are; n_vocab is larger if there are unused ids."""
        if with_added_tokens:
            return len(self._names()[1])
        if self._model_tokens is None:
            self._model_tokens = self._facts().get("tokens") or len(self.get_vocab(False))
        return self._model_tokens

    def num_special_tokens_to_add(self, is_pair: bool = False) -> int:
        _refuse_pairs(is_pair or None, False)
        return count_of_added(self._post_processor(True))

    @property
    def truncation(self) -> dict | None:
        """How texts are cut by the rules of tokenizers, as enable_truncation() takes it; None: they are not."""
        truncation = self._truncation
        if truncation is False:
            if self._file_truncation is False:
                self._file_truncation = truncation_of(self._facts().get("truncation"))
            truncation = self._file_truncation
        return dict(truncation) if truncation else None

    def enable_truncation(self, max_length: int, stride: int = 0, strategy: str = "longest_first",
                          direction: str = "right") -> None:
        """Like tokenizers' enable_truncation(): encode() and encode_batch(), by the rules of tokenizers, give at most
        max_length ids, with those of the post-processor. `stride` is for what is cut off, which leat does not give."""
        self._truncation = check_truncation({"max_length": max_length, "stride": stride, "strategy": strategy,
                                             "direction": direction}, self.num_special_tokens_to_add())

    def no_truncation(self) -> None:
        """Ignores the truncation that a tokenizer.json asks for, and ends that of enable_truncation()."""
        self._truncation = None

    def no_padding(self) -> None:
        """Ignores the padding that a tokenizer.json asks for."""
        self._padding_ignored = True

    def _names(self):
        if self._tables is None:
            self._tables = names_of(self._core)
        return self._tables

    def _encode(self, text, allowed, disallowed, form):
        return _special.encode(self._core, lambda: self.special_tokens, text, allowed, disallowed, form)

    # ---- By the rules of tokenizers: post-processor, truncation, padding, offsets ----

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
                offsets = functools.partial(self._spans_of, text, ids, pieces, cut)
                offsets = offsets if self._lazy_offsets else offsets()
            out.append(Encoding(laid_out(pieces, ids[cut]), self, pieces, offsets))
        return out

    def _spans_of(self, text, ids, pieces, cut):
        spans = self._places().spans(text, ids)
        trimmed = self._places().trimmed(ids[cut], [s[cut] for s in spans])
        return [laid_out(pieces, values, (0, 0)) for values in trimmed]

    def _cut(self, added):
        """Returns how many of a text's own ids truncation leaves."""
        truncation = check_truncation(self.truncation, added)
        keep = truncation["max_length"] - added
        return slice(0, keep) if truncation["direction"] == "right" else slice(-keep if keep else 2**62, None)

    def _places(self):
        if self._offsets is None:
            from leat._offsets import TokenOffsets
            self._offsets = TokenOffsets(self._core, self._tokenizer_json(), self.id_to_token)
        return self._offsets

    def _tokenizer_json(self):
        """Returns the parsed file if it is a tokenizer.json, else None."""
        return parsed(self._core.stored())

    def _facts(self):
        if self._known is None:
            self._known = facts_of(self._tokenizer_json())
        return self._known

    def _post_processor(self, special):
        """Returns the pieces of a text as pieces_of() does, with special tokens or without."""
        if special not in self._pieces:
            self._pieces[special] = pieces_of(self._facts().get("post_processor"), self._vocabulary, special)
        return self._pieces[special]


# ---- Helpers --------------------------------------------------------------------------------------------------------

def _restored(cls, stored, like):
    return cls.from_stored(*stored, like=like)


def threads_of(count):
    return min(len(os.sched_getaffinity(0)) if count is None else whole("num_threads", count, 1), 4096)


def _reopened(cls, spec, pattern, like, fingerprint, file_sum):
    tokenizer = cls(spec, pattern=pattern, like=like)
    if tokenizer._fingerprint != fingerprint:
        raise ValueError(f"{shown(spec)} now holds another vocabulary than when the tokenizer was pickled")
    if tokenizer._file_sum() != file_sum:
        raise ValueError(f"{shown(spec)} has changed since the tokenizer was pickled: not its vocabulary, but perhaps "
                         "its post-processor or truncation")
    return tokenizer


def _memory_of(numpy, out):
    """Returns the address of an array's memory and the number of ids that it holds."""
    if not isinstance(out, numpy.ndarray) or out.dtype not in (numpy.uint32, numpy.int32) or out.ndim != 1 or not (
            out.flags.c_contiguous and out.flags.writeable and out.flags.aligned):
        raise TypeError(f"out must be a writable, contiguous array of numpy, uint32 or int32, not {shown(out)[:200]}")
    return out.ctypes.data, len(out)


def either(name, value, other_name, other):
    """Returns an argument that has two names: that of leat and tiktoken, and that of another library."""
    if value is not None and other is not None:
        raise TypeError(f"{other_name} is another name of {name}: give one of them")
    return value if other is None else other


def _refuse_pairs(pair, is_pretokenized):
    if pair is not None or is_pretokenized:
        raise NotImplementedError("leat encodes only single texts: no pairs, and no texts already split into words; "
                                  "use transformers for these")
