"""_pack_options.py: turns the arguments of leat.pack() and leat.Packer into those of the extension."""
from __future__ import annotations

import collections
import os
from dataclasses import fields

from leat._leat import PACK_OPTIONS, show
from leat._documents import has_arrow
from leat._values import choice, digits, instance, is_name, listed, path_of, read_size, whole
from leat.options import Chat, Pairs, as_group
from leat.tokenizer import Tokenizer, is_fast

Row = collections.namedtuple("Row", "keyword kind member preset words least most")  # options_register() has it
ROWS = [Row._make(row) for row in PACK_OPTIONS]


# ---- Keywords


def takes(kind, **defaults):
    """Decorates a function whose last parameter is **options: gives it the keywords of a class of options.py, in the
    order of the table of options, for inspect.signature() and help(). `defaults` has the defaults of keywords that are
    not in the table."""
    import inspect
    usual = {row.keyword.rpartition(".")[2]: _default(row) for row in ROWS}
    types = {name: type for base in reversed(kind.__mro__) for name, type in base.__dict__.get(
        "__annotations__", {}).items()}
    names = sorted(types, key=lambda name: list(usual).index(name) if name in usual else len(usual))

    def named(function):
        before = inspect.signature(function)
        fixed = [one for one in before.parameters.values() if one.kind is not one.VAR_KEYWORD]
        function.keywords = {name: defaults.get(name, usual.get(name)) for name in names}
        function.__signature__ = before.replace(parameters=fixed + [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value, annotation=types[name])
            for name, value in function.keywords.items()])
        if kind.__dict__.get("__doc__"):
            function.__doc__ = (function.__doc__ or "").rstrip() + "\n    " + kind.__doc__
        return function
    return named


def _default(row):
    if row.kind in ("FLAG", "CHOICE", "TOKEN", "TEXTS"):
        return {"FLAG": False, "CHOICE": row.words and row.words[0], "TOKEN": "auto", "TEXTS": ()}[row.kind]
    return row.preset


def taken(function, options):
    """Returns all keywords of a function that takes() has decorated, with the values in `options` for those given."""
    keywords = function.keywords
    for name in options:
        if name not in keywords:
            raise TypeError(f"leat.{function.__qualname__}() got an unexpected keyword argument {name!r}")
    return {**keywords, **options}


# ---- What they are for the extension


def read_options(given):
    """Returns these keywords as pack_options_take() of the extension reads them: fields of struct leat_pack_options,
    and its lists."""
    fields, lists = {}, {}
    for row in ROWS:
        if row.keyword in given:
            value = given[row.keyword]
            read = _READ[row.kind](row, value) if row.kind in _READ else {row.member: value}
            (lists if row.kind in ("TEXTS", "SPLITS") else fields).update(read)
    return fields, lists


def pack_options(given, tokenizer, files=None):
    """Returns what read_options() makes of all options of leat.pack() and its kin, and the renderers of chats."""
    chat, pairs, renderers = chat_of(given["chat"]), pairs_of(given["pairs"]), None
    given = dict(given, chat=chat, weight=weight_of(given["weight"], chat),
                 end=_end_token(tokenizer, given["end"], chat),
                 begin=_begin_token(tokenizer, given["begin"], given["end"], chat))
    if "allow_binary" in given:  # an option of documents without files
        given["Files.allow_binary"] = given["allow_binary"]
    for group in filter(None, (files, chat, pairs)):
        given.update({f"{type(group).__name__}.{field.name}": getattr(group, field.name) for field in fields(group)})
    if chat:
        from leat._renderers import Renderers
        renderers = Renderers()
    return (*read_options(given), renderers)


_LIKE = {"keep": "a condition like 'lang = en'", "column": "a column like 'score=score:f32:document'"}
_READ = {
    "CHAT": lambda row, chat: {row.member: chat and _template(chat.template)},
    "CHOICE": lambda row, word: {row.member: row.words.index(choice(row.keyword, word, row.words))},
    "COUNT": lambda row, n: {row.member: 0 if n is None else whole(row.keyword, n, row.least, row.most)},
    "LIMIT": lambda row, most: dict(zip((row.member, row.member + "_ppm"), _limit(most))),
    "PART": lambda row, part: dict(zip((row.member, row.member + "s"), _part(part))),
    "SEED": lambda row, seed: {row.member: seed is not None, "seed": 0 if seed is None else whole(row.keyword, seed)},
    "SIZE": lambda row, size: {row.member: 0 if size is None else read_size(size)},
    "SPLITS": lambda row, split: {row.member: read_splits(split)},
    "TEXT": lambda row, text: {row.member: _text(row, text)},
    "TEXTS": lambda row, texts: {row.member: _strings(row.keyword, texts) if row.keyword in _LIKE else list(texts)},
    "TIME": lambda row, created: {row.member: read_created(created)},
}
_READ["THREADS"] = _READ["COUNT"]


def _template(name):
    return "" if name == "tokenizer" else os.fsdecode(name)  # "": the tokenizer's folder has it


def _text(row, text):
    if "." in row.keyword:  # a group has looked at it
        return None if text is None else str(text)
    instance(row.keyword, text, (str, type(None)), "the name of a field")
    return "" if text is None and row.keyword == "id" else text


def now():
    import time
    return time.monotonic()


def open_tokenizer(tokenizer):
    if isinstance(tokenizer, Tokenizer):
        return tokenizer
    return Tokenizer(tokenizer if is_fast(tokenizer) else path_of("tokenizer", tokenizer))


def chat_of(chat):
    """Returns the leat.Chat that the argument `chat` stands for, or None."""
    return None if chat is None else as_group("chat", chat, Chat, True)


def pairs_of(pairs):
    """Returns the leat.Pairs that the argument `pairs` is, or None."""
    return None if pairs is None else as_group("pairs", pairs, Pairs, False)


def weight_of(weight, chat):
    """Returns the field of weights, which a leat.Chat may name."""
    if chat is None or chat.weight is None:
        return weight
    if weight is not None:
        raise ValueError("weight and leat.Chat(weight=...) name the same field: give one of them")
    return chat.weight


def list_paths(paths):
    if is_name(paths):
        return [paths]
    if has_arrow(paths):
        raise TypeError("leat.pack() takes files; leat.Packer takes tables")
    return listed("expected a path or a list of paths", paths)


def _strings(keyword, strings):
    strings = [strings] if isinstance(strings, str) else listed(f"{keyword} must be {_LIKE[keyword].split(' like')[0]} "
                                                                "or a list of them", strings)
    for string in strings:
        if not isinstance(string, str) or "\0" in string:
            raise TypeError(f"{keyword} must be {_LIKE[keyword]} or a list of them, not {string!r}")
    return strings


def _token(tokenizer, name, token):
    if token is None or token == "none":
        return None
    if isinstance(token, str) and token.lower() in "no off false null nil none yes on true auto".split():
        raise ValueError(f"{name}={token!r} looks like a keyword: {name}=None means no such token; give one of this "
                         "text by its id")
    if isinstance(token, str) and digits(token) is None:
        found = tokenizer._core.find(token.encode())
        if found is None:
            raise ValueError(f"{name}={token!r}: {show(tokenizer.name)} has no such token")
        return found
    token = whole(name, digits(token) if isinstance(token, str) else token)
    if token >= tokenizer.n_vocab:
        raise ValueError(f"{name}={token}: the highest id of {show(tokenizer.name)} is {tokenizer.n_vocab - 1}")
    return token


def read_token(tokenizer, name, token):
    """Returns the id of a token, as _token() does. The tokenizer may be None if no token is given by its text."""
    if tokenizer is not None or token is None or token == "none":
        return _token(tokenizer, name, token)
    if isinstance(token, str) and digits(token) is None:
        raise ValueError(f"{name}={token!r} is not an id; to give it as text, name the tokenizer")
    return whole(name, digits(token) if isinstance(token, str) else token, 0, 2**32 - 1)


def _begin_token(tokenizer, begin, end, chat):
    if begin == "auto":  # "auto" counts only if `end` is "auto", too; a chat template writes its own token
        begin = tokenizer.begin_token if end == "auto" and chat is None else None
    return _token(tokenizer, "begin", begin)


def _end_token(tokenizer, end, chat):
    if end != "auto" or chat is not None:
        return _token(tokenizer, "end", None if end == "auto" else end)
    if tokenizer.end_token is not None:
        return tokenizer.end_token
    maybe = ", ".join(f"{i} ({show(tokenizer.decode_single_token_bytes(i).decode('utf-8', 'replace'))})"
                      for i in tokenizer.end_candidates)
    raise ValueError(f"{show(tokenizer.name)} does not say which token ends a document: give end=ID, or end=None"
                     + (f"; it may be one of {maybe}" if maybe else ""))


def _limit(most):
    """Returns a limit as (records, millionths of the records), of which one is None."""
    import fractions
    if most is None:
        return None, 1000000
    try:
        if isinstance(most, str) and most.endswith("%"):
            share = fractions.Fraction(most[:-1]) / 100
        elif isinstance(most, float):
            share = fractions.Fraction(repr(most))
        else:
            return whole("max_rejects", int(most) if isinstance(most, str) else most), None
    except (ValueError, ZeroDivisionError):
        share = -1
    if not 0 <= share <= 1:
        raise ValueError(f"max_rejects={most!r} is neither a number of records nor a share: write 10, \"1%\" or 0.01")
    return None, int(share * 1000000)


def _part(part):
    if part is None:
        return 0, 0
    try:
        i, n = map(digits, part.split("/")) if isinstance(part, str) else part
        i, n = whole("part", i), whole("part", n)
    except (TypeError, ValueError):
        i, n = 0, 0
    if not 1 <= i <= n <= 1000000:
        raise ValueError(f"part={part!r} is not one of n shares: write (1, 8) or \"1/8\"")
    return i, n


def read_splits(split):
    """Returns pairs of a name and a decimal fraction, which the library checks."""
    if split is None:
        return []
    if isinstance(split, str):
        split = dict(one.split("=", 1) if "=" in one else (one, "") for one in split.split(","))
    try:
        return [(str(name), _decimal(fraction)) for name, fraction in dict(split).items()]
    except (TypeError, ValueError, ArithmeticError):
        raise TypeError("split must be a dict from names to fractions, like {\"valid\": 0.01}, or \"valid=0.01\", not "
                        f"{split!r}") from None


def _decimal(number):
    import decimal
    if isinstance(number, str):
        return number
    return format(decimal.Decimal(repr(float(number)) if isinstance(number, float) else str(number)), "f")


def read_created(created):
    import os
    if created is not None:
        return whole("created", created, most=2**63 - 1)
    text = os.environ.get("SOURCE_DATE_EPOCH", "")
    if text and (digits(text) is None or int(text) >= 2**63):
        raise ValueError(f"the environment variable SOURCE_DATE_EPOCH must be seconds since 1970, not {text!r}")
    return int(text or 0)


def read_id(id):
    """Returns a document's id as text. Refuses a float, because pandas turns integers into floats if one is missing."""
    if isinstance(id, bool) or (hasattr(id, "__float__") and not hasattr(id, "__index__")):
        raise TypeError(f"a document's id is a text or an integer, not {id!r}")
    return id if id is None or isinstance(id, (str, bytes)) else str(id)
