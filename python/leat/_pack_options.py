"""_pack_options.py: turns the arguments of leat.pack() and leat.Packer into those of the extension."""
from __future__ import annotations

from leat._leat import show
from leat._documents import has_arrow
from leat._values import choice, digits, instance, is_name, listed, path_of, read_size, whole
from leat.options import FORMATS, Chat, as_group
from leat.tokenizer import Tokenizer, is_fast

INVALID = {"replace": False, "reject": True}
WRITE = {"auto": 0, "cached": 1, "direct": 2}  # enum leat_write


def now():
    import time
    return time.monotonic()


def open_tokenizer(tokenizer):
    if isinstance(tokenizer, Tokenizer):
        return tokenizer
    return Tokenizer(tokenizer if is_fast(tokenizer) else path_of("tokenizer", tokenizer))


def chat_of(chat):
    """The leat.Chat of what `chat` gives; None for None."""
    return None if chat is None else as_group("chat", chat, Chat, True)


def list_paths(paths):
    if is_name(paths):
        return [paths]
    if has_arrow(paths):
        raise TypeError("leat.pack() takes files; leat.Packer takes tables")
    return listed("expected a path or a list of paths", paths)


def pack_options(tokenizer, *, format="auto", text="text", id="id", end="auto", begin="auto", special=False,
                 invalid_utf8="replace", threads=None, memory=None, shuffle=None, dedup=False, splits=(),
                 max_rejects="1%", resume=False, part=None, force=False, created=None, skip_unknown=False,
                 allow_binary=False, follow_links=False, keep=(), by=None, store_mask=False,
                 mask_field=None, chat=None, write="auto", split_of=None, include=(),
                 exclude=(), allow_empty=False, allow_truncated=False):
    """What pack_options_take() of the extension reads: (fields of struct leat_pack_options, its lists, renderers)."""
    form, way = choice("format", format, FORMATS), choice("invalid_utf8", invalid_utf8, INVALID)
    threads = 0 if threads is None else whole("threads", threads, 1, 4096)
    for name, field in (("text", text), ("id", id), ("by", by), ("mask_field", mask_field)):
        instance(name, field, (str, type(None)), "the name of a field")
    part, parts = _part(part)
    rejects, ppm = bound(max_rejects)
    seed = read_seed(shuffle)
    rendering, renderers = _rendering(chat_of(chat))
    return dict(format=form, text=text, id="" if id is None else id, end_token=_end(tokenizer, end, chat),
                begin_token=_begin(tokenizer, begin, end, chat), special=special, reject_invalid=way, threads=threads,
                memory=0 if memory is None else read_size(memory), max_rejects=rejects, max_rejects_ppm=ppm, part=part,
                parts=parts, shuffle=seed is not None, seed=seed or 0, dedup=dedup, resume=resume, force=force,
                created=read_created(created), skip_unknown=skip_unknown, allow_binary=allow_binary,
                follow_links=follow_links, by=by, store_mask=store_mask, mask_field=mask_field,
                write=choice("write", write, WRITE), split_of=split_of, allow_empty=allow_empty,
                allow_truncated=allow_truncated, **rendering), \
        dict(splits=list(splits), keep=_conditions(keep), include=list(include), exclude=list(exclude)), renderers


def _rendering(chat):
    if chat is None:
        return {}, None
    import os

    from leat._renderers import Renderers
    template = "" if chat.template == "tokenizer" else os.fsdecode(chat.template)  # "": the tokenizer's folder has it
    return dict(chat=template, messages=chat.messages, tools=chat.tools,
                chat_date=None if chat.date is None else str(chat.date), chat_seconds=chat.seconds or 0,
                skip_slow_chats=chat.skip_slow_chats, **chat._learning()), Renderers()


def _conditions(keep):
    keep = [keep] if isinstance(keep, str) else listed("keep must be a condition or a list of them", keep)
    for condition in keep:
        if not isinstance(condition, str) or "\0" in condition:
            raise TypeError(f"keep must be a condition like 'lang = en' or a list of them, not {condition!r}")
    return keep


def _token(tokenizer, name, token):
    if token is None or token == "none":
        return None
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
    """The same where the tokenizer need not be known."""
    if tokenizer is not None or token is None or token == "none":
        return _token(tokenizer, name, token)
    if isinstance(token, str) and digits(token) is None:
        raise ValueError(f"{name}={token!r} is not an id; to give it as text, name the tokenizer")
    return whole(name, digits(token) if isinstance(token, str) else token, 0, 2**32 - 1)


def _begin(tokenizer, begin, end, chat):
    if begin == "auto":  # whoever gives the end decides both, and a chat template writes its own
        begin = tokenizer.begin_token if end == "auto" and chat is None else None
    return _token(tokenizer, "begin", begin)


def _end(tokenizer, end, chat):
    if end != "auto" or chat is not None:
        return _token(tokenizer, "end", None if end == "auto" else end)
    if tokenizer.end_token is not None:
        return tokenizer.end_token
    maybe = ", ".join(f"{i} ({show(tokenizer.decode_single_token_bytes(i).decode('utf-8', 'replace'))})"
                      for i in tokenizer.end_candidates)
    raise ValueError(f"{show(tokenizer.name)} does not say which token ends a document: give end=ID, or end=None"
                     + (f"; it may be one of {maybe}" if maybe else ""))


def read_seed(shuffle):
    return None if shuffle is None else whole("shuffle", shuffle)


def bound(most):
    """(records, millionths of the records), one of them None."""
    import fractions
    if most is None:
        return None, None
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
    """Pairs of a name and a decimal fraction, which the library checks."""
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
    """A document's id as text. A float is refused: pandas makes floats of integers where one is missing."""
    if isinstance(id, bool) or (hasattr(id, "__float__") and not hasattr(id, "__index__")):
        raise TypeError(f"a document's id is a text or an integer, not {id!r}")
    return id if id is None or isinstance(id, (str, bytes)) else str(id)
