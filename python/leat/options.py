"""options.py: options that belong together, each group a small value that leat.Loader, leat.Plan or leat.pack() takes.

A group never changes; it can be compared, printed and pickled, and says when it is made which of its options is wrong.
Its options have the names that they have in C and on the command line: python/tests/test_names.py compares them all.
"""
from __future__ import annotations

import numbers
import os
from dataclasses import KW_ONLY, dataclass, fields

from leat._leat import LOADER_CHOICES
from leat._leat import PACK_OPTIONS
from leat._values import choice, flag, instance, is_name, listed, positive, read_size, shown, whole

TYPE_CHECKING = False  # in place of typing.TYPE_CHECKING, because typing is slow to import
if TYPE_CHECKING:
    from typing import Any, Callable, Iterable, Literal, Sequence

    from typing_extensions import TypedDict
else:
    class TypedDict:
        def __init_subclass__(cls, total=True):
            pass

ACCESS = {"leased": 0, "trusted": 1, "read": 2}
FORMATS = next(row[4] for row in PACK_OPTIONS if row[0] == "Files.format")
DTYPES = ("int64", "int32")
LEARN = {row[0][len("Chat."):]: row[4] for row in PACK_OPTIONS if row[0].startswith("Chat.") and row[4]}


class Group:
    """The base of all groups of options."""

    called = ""  # its name for users

    def __repr__(self) -> str:
        given = [f"{field.name}={shown(value)}" for field in fields(self)  # type: ignore[arg-type]
                 if (value := getattr(self, field.name)) is not field.default]
        return f"{self.called}({', '.join(given)})"

    def _check_flags(self, *names: str) -> None:
        for name in names:
            self._check(flag, name)

    def _of(self, name: str) -> str:
        return f"{name} of {self.called}"

    def _check(self, check: Any, name: str, *bounds: Any) -> None:
        check(self._of(name), getattr(self, name), *bounds)


def as_group(name: str, value: Any, kind: type[Any], short: bool = False) -> Any:
    """Returns the group that an option `name` gives. With `short`, its first option alone stands for it."""
    if isinstance(value, kind):
        return value
    if not short:
        raise TypeError(f"{name} must be a {kind.called}, not {shown(value)}")
    return kind(value)


RETRY_NEVER = 2**32 - 1  # LEAT_RETRY_NEVER


def opening(access: str, cache: Any, cache_size: Any, online: bool, retry_seconds: Any, of: str = "") -> tuple:
    """Returns the options of opening a dataset as the extension takes them."""
    seconds = 0
    if retry_seconds is not None:
        seconds = whole("retry_seconds" + of, retry_seconds, 0, RETRY_NEVER - 1) or RETRY_NEVER
    return (choice("access" + of, access, ACCESS), None if cache is None else os.fsencode(cache),
            0 if cache_size is None else read_size(cache_size, name="cache_size" + of), flag("online" + of, online),
            seconds)


# ---- Of a plan


@dataclass(frozen=True, repr=False)
class Opening(Group):
    """How a plan opens datasets that are given by name: the options of leat.open(), which says what they mean.

        leat.Plan("s3://bucket/web", 2048, open=leat.Opening(cache="/local/cache", cache_size="1TiB"))
    """

    _: KW_ONLY
    access: Literal["leased", "trusted", "read"] = "leased"
    cache: str | bytes | os.PathLike | None = None
    cache_size: int | str | None = None
    online: bool = False
    retry_seconds: int | None = None
    called = "leat.Opening"

    def __post_init__(self) -> None:
        self._native()

    def _native(self) -> tuple:
        return opening(self.access, self.cache, self.cache_size, self.online, self.retry_seconds,
                       f" of {self.called}")


class Order(Group):
    """The base of orders of leat.Plan that have settings."""

    order = ""  # its name, which means this order without settings

    def _settings(self) -> dict[str, Any]:
        """Returns the settings that are given, as the extension takes them."""
        return {field.name: int(value) if field.default is False else
                whole(self._of(field.name), value, 1)
                for field in fields(self)  # type: ignore[arg-type]
                if (value := getattr(self, field.name)) is not None}


@dataclass(frozen=True, repr=False)
class fit(Order):
    """The order "fit" of leat.Plan with settings: rows of whole documents, leat.Plan("web", 2048, order=leat.fit(...)).
    In a source's place, rules of that source in place of the plan's: max_per_row, the lengths, and whole.

    max_per_row   at most so many documents, or parts of longer ones, in a row
    min_length, max_length    documents of fewer or more tokens are left out
    cut_length    only the first so many tokens of longer documents are used
    align         documents begin at multiples of it in a row, and at a row's start; it divides seq_len. The places
                  between have no loss: they belong to the document before them
    overlap       each row of a document longer than a row, except its first, begins with the last so many predictions
                  of the row before, as context without loss
    begin         True: a row that continues a document has the begin token first, in place of the document's token
                  there, which is the last label of the row before
    whole         True: no document is cut: those that a row does not hold, of more than seq_len + 1 tokens, are left
                  out. Not with cut_length
    """

    _: KW_ONLY
    max_per_row: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    cut_length: int | None = None
    align: int | None = None
    overlap: int | None = None
    begin: bool = False
    whole: bool = False
    called, order = "leat.fit", "fit"

    def __post_init__(self) -> None:
        self._check_flags("begin", "whole")
        self._settings()


@dataclass(frozen=True, repr=False)
class choose(Group):
    """Chooses documents of a source, in its place, by columns of one value per document: leat.Plan([("web", 3,
    leat.choose("score >= 0.7 and lang = 'en'", repeat="1 + 3 * (score > 0.95)"))], 2048).

    where    a condition, in the language of leat.pack(keep=): the plan shows the documents for which it holds, as if
             only these were there
    repeat   how often each epoch has them, 0 to 255: numbers and columns with + - * and brackets, in which a condition
             counts as 1 or 0. Copies stand directly after their document

    Floats are compared as the shortest decimals that give them; comparing NaN never holds. The choice belongs to the
    plan: its text has the choice's hash, and a state of another choice is refused.
    """

    where: str | None = None
    _: KW_ONLY
    repeat: str | None = None
    called = "leat.choose"

    def __post_init__(self) -> None:
        if self.where is None and self.repeat is None:
            raise ValueError("leat.choose needs where or repeat")
        for name in ("where", "repeat"):
            text = getattr(self, name)
            if text is not None and (not isinstance(text, str) or not text.strip() or "\0" in text):
                raise TypeError(f"{name} of leat.choose must be a text, not {shown(text)}")

    def _settings(self) -> dict[str, Any]:
        return {name: getattr(self, name).strip() for name in ("where", "repeat") if getattr(self, name) is not None}


@dataclass(frozen=True, repr=False)
class FIM(Group):
    """Fill-in-the-middle, for code: leat.Plan("code", 4096, fim=leat.FIM(0.5, 0.5, "<PRE>", "<MID>", "<SUF>")).

    With the probability `rate`, a row's part of a document is cut in three, and becomes PRE prefix SUF suffix MID
    middle or, with the probability `spm`, PRE SUF suffix MID prefix middle. It loses its last three tokens, so that
    rows keep their length. The plan's seed, the sample's number and the document decide, so the result is equal for
    any ranks, after each resume, and in plan.pieces(), plan.trace() and `leat show`.

    rate, spm   decimals from 0 to 1, as you write them
    prefix, middle, suffix   ids of tokens, or their names in the tokenizer that the first source's dataset stores
    """

    rate: Any
    spm: Any
    prefix: int | str
    middle: int | str
    suffix: int | str
    called = "leat.FIM"

    def __post_init__(self) -> None:
        for name in ("prefix", "middle", "suffix"):
            if not isinstance(getattr(self, name), str):
                self._check(whole, name, 0, 2**32 - 1)

    def _names(self) -> bool:
        return any(isinstance(token, str) for token in (self.prefix, self.middle, self.suffix))

    def _native(self, find: Any) -> dict[str, Any]:
        """Returns the options as the extension takes them. `find` returns the id of a name."""
        shares = {name: repr(float(share)) if isinstance(share, float) else str(share)
                  for name, share in (("rate", self.rate), ("spm", self.spm))}
        return dict(shares, **{name: find(token) if isinstance(token, str) else token for name, token in
                               (("prefix", self.prefix), ("middle", self.middle), ("suffix", self.suffix))})


# ---- Of a loader


@dataclass(frozen=True, repr=False)
class Outputs(Group):
    """What a loader's batches have: leat.Loader(plan, 8, outputs=leat.Outputs(("inputs", "labels"), dtype="int32")).

    names          as in outputs=("inputs", "labels"); None: the usual ones of the style
    dtype          int64 or int32; None: int64, or int32 with jax
    unshifted      label i is token i instead of token i + 1, for models that shift labels themselves, and rows have one
                   token more than predictions, or with order "fit" one more for each document; None: only with style
                   "huggingface"
    mask_first     a document's first token is not used as a label; None: where style "huggingface" keeps documents
                   apart
    mask_row_first a row's second token, which its first place predicts, is not used as a label
    mask_begin     begin tokens are not used as labels
    borrow         arrays point into the loader's ring, without a copy (torch and numpy); they are valid until the next
                   batch is taken or batch.release() is called, and later show other numbers
    max_sequences  gives cu_seqlens a fixed length of max_sequences + 1, where its last number repeats; required with
                   borrow and buffers; None: the length that the batch needs
    """

    names: str | Iterable[str] | None = None
    _: KW_ONLY
    dtype: Any = None
    unshifted: bool | None = None
    mask_first: bool | None = None
    mask_row_first: bool = False
    mask_begin: bool = False
    borrow: bool = False
    max_sequences: int | None = None
    called = "leat.Outputs"

    def __post_init__(self) -> None:
        maybe = [name for name in ("unshifted", "mask_first") if getattr(self, name) is not None]
        self._check_flags("mask_row_first", "mask_begin", "borrow", *maybe)
        if self.names is not None and not isinstance(self.names, str):
            object.__setattr__(self, "names", tuple(listed("outputs must be names", self.names)))
        self._dtype("int64")
        if self.max_sequences is not None:
            self._check(whole, "max_sequences", 1)

    def _native(self) -> dict[str, Any]:
        return dict(mask_row_first=self.mask_row_first, mask_begin=self.mask_begin, borrow=self.borrow,
                    cu_seqlens_room=0 if self.max_sequences is None else self.max_sequences + 1)

    def _dtype(self, default: str) -> str:
        """Returns the name of a dtype: "int64", torch.int64, numpy.int64 or numpy.dtype("int64")."""
        name = getattr(self.dtype, "name", None) or getattr(self.dtype, "__name__", None) or str(self.dtype)
        name = default if self.dtype is None else name.rpartition(".")[2]
        if name not in DTYPES:
            raise ValueError(f"{self._of('dtype')} must be int64 or int32, not {self.dtype!r}")
        return name


@dataclass(frozen=True, repr=False)
class Column(Group):
    """A column of tokens (leat.attach()) in a loader's batches: leat.Loader(plan, 8, columns=("advantages",
    leat.Column("teacher_logprobs", at="labels", default=-1e4))).

    name     all datasets of the plan must have it, with one type and width
    at       "inputs": each place has the entry of the token that is its input; "labels": of the token that is its
             label, with loss or without
    default  each number of an entry where there is no token: padding, tokens that no dataset has, damaged rows
    widen    True: f16 and bf16 become float32
    """

    name: str
    _: KW_ONLY
    at: Literal["inputs", "labels"] = "inputs"
    default: float = 0
    widen: bool = False
    called = "leat.Column"

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.isprintable():
            raise TypeError(f"{self._of('name')} must be a str, not {shown(self.name)}")
        self._native()

    def _native(self) -> tuple:
        default = self.default
        if isinstance(default, bool) or not isinstance(default, numbers.Real):
            raise TypeError(f"{self._of('default')} must be a number, not {shown(default)}")
        try:
            made = float(default)
        except OverflowError:
            made = None
        if made is None or isinstance(default, int) and (abs(default) >= 2**64 or made != default):
            raise ValueError(f"{self._of('default')} must be a number that a float holds, not {shown(default)}")
        at = ("inputs", "labels").index(choice(self._of("at"), self.at, ("inputs", "labels")))
        return self.name, at, made, int(flag(self._of("widen"), self.widen))


@dataclass(frozen=True, repr=False)
class Device(Group):
    """Where a loader's arrays are, if there is more to say than device="cuda".

    name     "cpu" or, with torch, "cuda", "cuda:1" or a torch.device
    driver   the library to load as CUDA's driver; None: the system's, libcuda.so.1
    """

    name: Any = "cpu"
    _: KW_ONLY
    driver: str | bytes | os.PathLike | None = None
    called = "leat.Device"

    def __post_init__(self) -> None:
        if self.driver is not None and not is_name(self.driver):
            raise TypeError(f"{self._of('driver')} must be the name of a file, not {shown(self.driver)}")


@dataclass(frozen=True, repr=False)
class IO(Group):
    """How a loader reads: leat.Loader(plan, 8, io=leat.IO(engine="uring")). The batches are the same.

    engine      how tokens are read from files: "auto", "map", "pread", "advise" or "uring"
    apart       whether the disk writes rows of cold files straight into their slots, without a copy by the CPU: "auto"
                (on a GPU, for rows of at least 8 KiB), "always" or "never"
    verify      False: do not check the hashes and ids of the pages that are read
    slots       batches in the ring, 2 to 64; 0: chosen
    memory      the ring's size at most, in bytes or like "1GiB"; 0: chosen
    numa_node   the NUMA node of the ring and its threads, if the system allows; -1: the GPU's; -2: any
    """

    _: KW_ONLY
    engine: Literal["auto", "map", "pread", "advise", "uring"] = "auto"
    apart: Literal["auto", "always", "never"] = "auto"
    verify: bool = True
    slots: int = 0
    memory: int | str = 0
    numa_node: int = -1
    called = "leat.IO"

    def __post_init__(self) -> None:
        self._native()

    def _native(self) -> dict[str, Any]:
        return dict(engine=choice(self._of("engine"), self.engine, LOADER_CHOICES["engine"]),
                    apart=choice(self._of("apart"), self.apart, LOADER_CHOICES["apart"]),
                    verify=flag(self._of("verify"), self.verify),
                    slots=whole(self._of("slots"), self.slots, 0, 64),
                    memory=read_size(self.memory, 0, self._of("memory")),
                    numa_node=whole(self._of("numa_node"), self.numa_node, -2, 2**31 - 1))


@dataclass(frozen=True, repr=False)
class StatsFile(Group):
    """A file to which a loader appends its statistics, if there is more to say than its name.

    path      the file
    seconds   a line comes each so many seconds, and when the loader is closed
    """

    path: str | bytes | os.PathLike
    _: KW_ONLY
    seconds: float = 60.0
    called = "leat.StatsFile"

    def __post_init__(self) -> None:
        if not is_name(self.path):
            raise TypeError(f"{self._of('path')} must be the name of a file, not {shown(self.path)}")
        self._check(positive, "seconds")


# ---- Of leat.pack()


@dataclass(frozen=True, repr=False)
class Files(Group):
    """Inputs of leat.pack(), if there is more to say than their names: leat.pack(leat.Files("data/", split_of="train"),
    "corpus").

    paths         a path or several, as leat.pack() takes them
    format        "auto", "jsonl" (objects in lines, in an array, or one after another), "csv", "tsv", "parquet" or
                  "text" (each file is one document)
    split_of      which split of folders from the Hugging Face Hub is packed: "train", "validation", "test" or another,
                  as datasets finds it in README.md or by names; "all": every file; None: inputs of several splits, or
                  of a split and of none, are refused. (`split` of leat.pack() is something else: it divides what is
                  packed)
    include       a pattern or several: of folders, only files that match one are packed. A pattern without a slash is
                  compared with names ("*.jsonl"), one with a slash with paths below the folder ("en/**")
    exclude       a pattern or several: files of folders that match one are not packed
    skip_unknown  leaves out files of folders that may hold texts and cannot be read, instead of failing
    allow_binary  packs what does not look like UTF-8 text too, instead of failing, or of rejecting such a text
    follow_links  also packs the targets of symbolic links that lead out of the folder; else such links are left out
    """

    paths: Any
    _: KW_ONLY
    format: Literal["auto", "jsonl", "text", "parquet", "csv", "tsv"] = "auto"
    split_of: str | None = None
    include: str | Sequence[str] = ()
    exclude: str | Sequence[str] = ()
    skip_unknown: bool = False
    allow_binary: bool = False
    follow_links: bool = False
    called = "leat.Files"

    def __post_init__(self) -> None:
        self._check(choice, "format", FORMATS)
        self._check_flags(*(field.name for field in fields(self) if field.default is False))
        if self.split_of is not None and not isinstance(self.split_of, str):
            raise TypeError(f"{self._of('split_of')} must be the name of a split, or \"all\", not "
                            f"{shown(self.split_of)}")

        for name in ("include", "exclude"):
            patterns = getattr(self, name)
            patterns = (patterns,) if isinstance(patterns, str) else tuple(patterns)
            if not all(isinstance(p, str) and "\0" not in p for p in patterns):
                raise TypeError(f"{self._of(name)} must be a pattern like '*.jsonl' or a list of them, "
                                f"not {shown(getattr(self, name))}")
            object.__setattr__(self, name, patterns)


@dataclass(frozen=True, repr=False)
class Chat(Group):
    """How conversations are rendered, if there is more to say than chat="tokenizer": leat.pack("chats.jsonl", "chats",
    chat=leat.Chat("tokenizer", messages="turns")).

    template  a file with a chat template, or "tokenizer" for that of its folder
    messages  the field that has the conversation
    tools     the field that holds its tools, a list of dicts or a string that holds one as JSON; None: "tools", if
              there is one; "": none
    date      the date that strftime_now() of the template writes, a date or "2026-01-31"; None: a template that calls
              it is refused
    seconds   how long rendering one conversation may take (10); one that takes longer ends the run
    skip_slow_chats  rejects conversations that take longer; which these are depends on the machine
    learn     what training learns: "assistant" (all answers), "last" (the last one), "final" (what follows the last
              answer's reasoning and tool calls) or "all" (every token)
    learn_reasoning, learn_tool_calls   "no": of learned answers these are not learned
    learn_end the tokens that end learned turns: "all", "last" (the last turn's) or "no"
    message_weight  the member of messages that says how much each is learned, over `learn`: true, false or a number
              from 0 to 1; None: train, training, loss, loss_mask, weight and loss_scale; "none": no member
    weight    as `weight` of leat.pack()
    """

    template: str | bytes | os.PathLike
    _: KW_ONLY
    messages: str = "messages"
    tools: str | None = None
    date: Any = None
    seconds: int | None = None
    skip_slow_chats: bool = False
    learn: Literal["assistant", "last", "final", "all"] = "assistant"
    learn_reasoning: Literal["yes", "no"] = "yes"
    learn_tool_calls: Literal["yes", "no"] = "yes"
    learn_end: Literal["all", "last", "no"] = "all"
    message_weight: str | None = None
    weight: str | None = None
    called = "leat.Chat"

    def __post_init__(self) -> None:
        self._check_flags(*(field.name for field in fields(self) if field.default is False))
        self._check(instance, "template", (str, bytes, os.PathLike), "a file or \"tokenizer\"")
        self._check(instance, "messages", str, "the name of a field")
        self._check(instance, "tools", (str, type(None)), "the name of a field")
        if self.seconds is not None:
            self._check(whole, "seconds", 1, 86400)
        for name, values in LEARN.items():
            self._check(choice, name, values)
        for name in ("message_weight", "weight"):
            self._check(instance, name, (str, type(None)), "the name of a field")


@dataclass(frozen=True, repr=False)
class Pairs(Group):
    """Records that are a prompt and its completion, which is learned: leat.pack("pairs.jsonl", "pairs",
    pairs=leat.Pairs(prompt="question", completion="answer")).

    prompt, completion  their fields: texts, which are encoded as one, a token that holds any byte of the completion
                        being learned; with `chat` lists of messages. None: "prompt" and "completion", with alpaca
                        "instruction" and "output"
    alpaca              records have instruction, input (may be empty) and output, and get the prompt of Stanford's
                        Alpaca
    """

    _: KW_ONLY
    prompt: str | None = None
    completion: str | None = None
    alpaca: bool = False
    called = "leat.Pairs"

    def __post_init__(self) -> None:
        self._check_flags("alpaca")
        for name, usual in ("prompt", "instruction"), ("completion", "output"):
            self._check(instance, name, (str, type(None)), "the name of a field")
            if getattr(self, name) is None:
                object.__setattr__(self, name, usual if self.alpaca else name)


# ---- Keywords of leat.pack() and its kin, which take() of _pack_options.py reads


class OutputOptions(TypedDict, total=False):
    allow_empty: bool
    force: bool
    memory: int | str | None
    created: int | None


def refuse_empty(folder, options):
    """Raises ValueError for a run that got no documents, unless its options allow an empty dataset."""
    if not options["allow_empty"]:
        raise ValueError(f"no documents: {folder} is not made (allow_empty=True makes an empty dataset)")


class MergeOptions(OutputOptions, total=False):
    """shuffle, dedup, split, threads, memory, force, created   as in pack()
    progress  a function that is called with (bytes done, bytes in all) about ten times per second
    allow_empty  makes the dataset of a run of whose records `keep` has left none; else that is an error
    """

    shuffle: int | None
    dedup: bool
    split: Any
    threads: int | None
    progress: Callable[[int, int], Any] | None


class PackingOptions(OutputOptions, total=False):
    keep: str | Iterable[str]
    invalid_utf8: str
    pairs: Any
    weight: str | None
    max_length: int | None
    too_long: str
    chat: Any
    end: int | str | None
    begin: int | str | None
    special: bool
    write: str
    max_rejects: int | float | str | None


class PackerOptions(PackingOptions, total=False):
    column: str | Iterable[str]
    allow_binary: bool
    store_mask: bool
    threads: int | None
    resume: bool
    checkpoint_seconds: float | None


class PushedOptions(PackingOptions, total=False):
    text: str
    id: str | None
    mask: str | None
    allow_binary: bool
    store_mask: bool
    split: Any
    append: bool


class PlannedOptions(PackingOptions, total=False):
    text: str
    id: str | None
    mask_field: str | None
    split: Any
    by: str | None
    threads: int | None
    allow_truncated: bool


class StepOptions(TypedDict, total=False):
    threads: int | None
    memory: int | str | None
    write: str
    max_rejects: int | float | str | None
    allow_truncated: bool
    force: bool
    chat_seconds: int | None
    created: int | None
    progress: Any


class PackOptions(PlannedOptions, total=False):
    """
    Text
    text, id      the fields of a JSON record, with dots for fields of objects (a field that has dots in its own name
                  cannot be named); id=None: no ids
    keep          a condition or several, all of which must hold for a record or row, else it is left out: "lang = en",
                  "score >= 3 and not (meta.url exists or up - 2 * down < 0)"; signs: = (or ==) != < <= > >=. Numbers
                  are compared with numbers, exactly, other values (bare or in quotes) with strings; none holds for a
                  missing field, a null or another type. If no document is left, leat.Error (status "empty") says so,
                  and no dataset is made; but a part of a run may be empty, and merge() judges the whole
    invalid_utf8  "replace" or "reject"
    mask_field    the field of a JSON record that lists the stretches of its text that training learns, as
                  [begin, end) in characters; stored as a mask: a token is learned if any part of it is in one
    pairs         a leat.Pairs: records are pairs of a prompt and its completion, which is learned
    weight        the field of a number from 0 to 1 that says how much its record counts: it multiplies the record's
                  mask, rounded to 255ths. A record without it, or with another value, is rejected
    column        columns to make, as in "score=meta.score:f32:document" (NAME=FIELD:TYPE[xK]:document) or a list of
                  them: a value for each document, beside the dataset; see docs/columns.md. A record without a value
                  that the type holds is rejected
    max_length    limit for the tokens of a document, begin and end tokens included; None: no limit
    too_long      a longer document is rejected ("reject"), its first tokens are kept ("cut"), or, with chat, it becomes
                  several of whole turns, each with the system message ("split"); a turn too long by itself is rejected
    chat          a file with a chat template, or "tokenizer" for that of its folder, or a leat.Chat: records are
                  conversations, lists of dicts with role and content in the field `messages`; what the assistant says
                  is learned. jinja2 renders them, in processes of their own, one for each thread

    Tokens
    end, begin    the token after and before each document: an id, a token, or None. "auto" is the tokenizer's
                  end_token, and its begin_token if both are "auto"; with chat it is None for both
    special       True: strings of special tokens in texts become these tokens; False: they stay text, and are counted

    Output
    shuffle       a seed: shuffles the documents over the whole corpus
    dedup         keeps only the first of documents with the same text
    split         {"valid": 0.01} or "valid=0.01": also makes OUTPUT.valid, chosen by a hash of each text
    by            a field of JSON records or a column of Parquet files, as for `id`: makes a dataset OUTPUT.VALUE for
                  each of its values, which is what packing the records with that value alone gives. Records without a
                  value are rejected, more than 1,024 values refused. The Summary's `outputs` lists the datasets
    allow_empty   makes the dataset also if `keep` leaves no document
    force         replaces an existing output
    threads       None: all cores
    memory        bound on the memory of the process, in bytes or like "4GiB"; None: 2 GiB, plus whole GiB already held,
                  but in control groups at most three quarters of what they leave
    write         how tokens get to the disk: "cached" in the page cache, where training finds them next; "direct" past
                  it, with less CPU time; "auto": directly what comes after a quarter of the free memory, or after
                  1 GiB with more than 8 threads
    created       time of creation to store, in seconds since 1970; None: SOURCE_DATE_EPOCH of the environment, or none
    progress      a function that takes a Progress, called about ten times per second; True: a tqdm bar; "auto": a bar
                  if tqdm is installed and stderr is a terminal; None: nothing

    Many machines, and failures
    part          (i, n) or "i/n": only the i-th of n shares of the inputs; leat.merge() joins the results
    resume        continues a run that was stopped or killed
    max_rejects   stops the run after more rejects than this number, or share of the records ("1%", 0.01); None: never
    allow_truncated  warns of an input that is cut off or broken, instead of failing when all is packed; what is
                  readable is packed. Later, with resume=True, it accepts what was packed

    Ctrl-C, or an exception in `progress`, stops the run so that resume=True can continue it. leat.Error's attribute
    `resumable` says whether that is possible after another failure, and `damaged` which inputs were cut off or broken,
    as in the Summary. The GIL is released.
    """

    column: str | Iterable[str]
    shuffle: int | None
    dedup: bool
    part: Any
    resume: bool
    progress: Any
