"""_marked.py: strings that know which of their characters stood in a conversation, and where. Templates treat them as
any str, and their marks follow each operation. So the text of a rendering is jinja2's, and each character says where it
comes from.

A string's marks are a str of the same length, a character for each of its own, whose number is DATA + GENERATED +
SOURCES * source. The source is the part of a message that the character stood in, or that it replaces (_learning.py
numbers the parts); 0: none. An operation that is not followed character by character marks all of its result: as data
if any of what it was made of is, and with the source that all of the conversation's strings in it have.
"""
from __future__ import annotations

import functools
import json
import re
import types

import jinja2
import jinja2.runtime
import jinja2.utils
import markupsafe

DATA, GENERATED, SOURCES = 1, 2, 4  # it stood in the conversation; {% generation %} wrote it
PARTS = 4  # sources of a message: source 1 + PARTS * message + part
_NONE = "\0"
_WORD = re.compile(r"[A-Za-z0-9_-]*")


# ---- Marks -----------------------------------------------------------------------------------------------------------

def marks_of(text):
    return text._marks if type(text) in (Marked, Safe) else _NONE * len(text)


# a mark's number, and what finds a run of it
_run_of = functools.lru_cache(maxsize=4096)(lambda mark: (ord(mark), re.compile(re.escape(mark) + "+").match))


def runs(text):
    """Returns (begin, end, number) of each stretch of characters with the same mark."""
    marks, at, out = marks_of(text), 0, []
    while at < len(marks):
        number, match = _run_of(marks[at])
        begin, at = match(marks, at).span()
        out.append((begin, at, number))
    return out


def _leaves(value):
    """Yields the strings and numbers of a conversation in a value."""
    kind = type(value)
    if kind in _LEAVES:
        yield value
    elif kind in (list, tuple):
        for item in value:
            yield from _leaves(item)
    elif kind is dict:
        for key, item in value.items():
            yield from _leaves(key)
            yield from _leaves(item)


def _has_leaf(value):
    kind = type(value)
    if kind is list or kind is tuple:
        return any(map(_has_leaf, value))
    if kind is dict:
        return any(map(_has_leaf, value)) or any(map(_has_leaf, value.values()))
    return kind in _LEAVES


def _mark_of(value, others=False):
    """Returns one mark for all that is made of a value. With `others`, a template's string in it has no source."""
    found = set()
    for leaf in _leaves(value):
        found.update(map(ord, set(leaf._marks)) if isinstance(leaf, str) else (leaf._mark,))
    if not found:
        return 0
    source = 0 if others and _has_plain(value) else _common({mark // SOURCES for mark in found})
    return any(mark & DATA for mark in found) + GENERATED * all(mark & GENERATED for mark in found) + SOURCES * source


def _common(sources):
    """Returns one source for several: the first part of a single message, or none for several messages."""
    same = 0 not in sources and len({(source - 1) // PARTS for source in sources}) == 1
    return min(sources) if same else 0


def _has_plain(value):
    if type(value) in (list, tuple):
        return any(map(_has_plain, value))
    return any(map(_has_plain, value.values())) if type(value) is dict else type(value) is str and value != ""


def _spread(text, value, others=False):
    mark = _mark_of(value, others) if text else 0
    return Marked(text, chr(mark) * len(text)) if mark else text


def generated(text):
    """Marks all of a text as written by {% generation %}."""
    marks = "".join([chr(mark | GENERATED) * (end - begin) for begin, end, mark in runs(text)])
    return Safe(text, marks=marks) if isinstance(text, markupsafe.Markup) else Marked(text, marks)


def marked(value, source=0, numbers=False):
    """Marks a value of a conversation and all in it, with `numbers` also those. A word as a key counts as the
    template's."""
    kind = type(value)
    if kind is str:
        return Marked(value, chr(DATA + SOURCES * source) * len(value))
    if kind is dict:
        return {unmarked_word(marked(key, source, numbers)): marked(item, source, numbers)
                for key, item in value.items()}
    if kind is list or kind is tuple:
        return kind([marked(item, source, numbers) for item in value])
    return _counted(value, DATA + SOURCES * source) if numbers else value


def unmarked_word(text):
    """Removes the marks of a plain word, which counts as the template's because <|ROLE|> is often one token."""
    return str.__str__(text)[:] if type(text) is Marked and _WORD.fullmatch(text) else text


def join(parts):
    """Joins all that a template writes to one text, in place of jinja2's "".join()."""
    parts = list(parts)
    text = "".join(parts)
    for part in parts:
        if type(part) is Marked:
            return Marked(text, "".join([p._marks if type(p) is Marked else _NONE * len(p) for p in parts]))
    return text


# ---- Strings ---------------------------------------------------------------------------------------------------------

class Marked(str):
    __slots__ = ("_marks",)

    def __new__(cls, text, marks=None):
        self = str.__new__(cls, text)
        self._marks = _NONE * len(self) if marks is None else marks
        return self

    def __str__(self):
        return self

    def __add__(self, other):
        if type(other) is str or type(other) is Marked:
            return Marked(str.__add__(self, other), self._marks + marks_of(other))
        return NotImplemented

    def __radd__(self, other):
        return Marked(str.__add__(other, self), _NONE * len(other) + self._marks) if type(other) is str else \
            NotImplemented

    def __mul__(self, times):
        return Marked(str.__mul__(self, times), self._marks * times)

    __rmul__ = __mul__

    def __getitem__(self, at):
        return Marked(str.__getitem__(self, at), self._marks[at])

    def __iter__(self):
        return map(Marked, str.__iter__(self), self._marks)

    def removeprefix(self, prefix, /):
        text = str.removeprefix(self, prefix)
        return Marked(text, self._marks[len(self) - len(text):])

    def removesuffix(self, suffix, /):
        text = str.removesuffix(self, suffix)
        return Marked(text, self._marks[:len(text)])

    def splitlines(self, keepends=False):
        return self._pieces(str.splitlines(self, keepends), map(len, str.splitlines(self, True)))

    def partition(self, sep, /):
        return tuple(self._pieces(pieces := str.partition(self, sep), map(len, pieces)))

    def rpartition(self, sep, /):
        return tuple(self._pieces(pieces := str.rpartition(self, sep), map(len, pieces)))

    def split(self, sep=None, maxsplit=-1):
        return self._split(str.split(self, sep, maxsplit), sep)

    def rsplit(self, sep=None, maxsplit=-1):
        return self._split(str.rsplit(self, sep, maxsplit), sep)

    def _split(self, pieces, sep):
        if sep is not None:
            return self._pieces(pieces, (len(piece) + len(sep) for piece in pieces))
        at, out = 0, []
        # Each piece begins with a character that is no white space, or at the beginning of the text.
        for piece in pieces:
            at = str.find(self, piece, at)
            out.append(Marked(piece, self._marks[at:at + len(piece)]))
            at += len(piece)
        return out

    def _pieces(self, pieces, steps):
        at, out = 0, []
        for piece, step in zip(pieces, steps):
            out.append(Marked(piece, self._marks[at:at + len(piece)]))
            at += step
        return out

    def replace(self, old, new, count=-1, /):
        """Replaces as str does. New text belongs to the part whose characters it replaces or separates."""
        text = str.replace(self, old, new, count)
        if type(new) is not Marked and not self._marks.strip(_NONE):
            return Marked(text)
        own, left, at, out = marks_of(new), count, 0, []
        while left != 0 and (found := str.find(self, old, at)) >= 0:
            if old:
                out += self._marks[at:found], _as_beside(own, self._marks[found:found + len(old)], any)
                at = found + len(old)
            else:
                out.append(_as_beside(own, self._marks[max(at - 1, 0):at + 1], all))
                if at == len(self):
                    at += 1
                    break
                out.append(self._marks[at])
                at += 1
            left -= 1
        return Marked(text, "".join(out) + self._marks[at:])

    def join(self, items, /):
        items = [item for item in items]
        text, out, before = str.join(self, items), [], ""
        marks = [marks_of(item) for item in items]
        after = [""] * len(marks)  # the first mark after each item
        for i in range(len(marks) - 2, -1, -1):
            after[i] = marks[i + 1][:1] or after[i + 1]
        for i, mark in enumerate(marks):
            out.append(mark)
            before = mark[-1:] or before
            if i + 1 < len(marks):
                out.append(_as_beside(self._marks, before + after[i], all))
        return Marked(text, "".join(out))


def _as_beside(own, beside, how):
    """Returns the marks of text that a template put beside other text, or in its place. If any or all (`how`) of the
    other characters have a source or are generated, the new text gets their source."""
    marks = [ord(mark) // GENERATED * GENERATED for mark in beside]
    if not own or not marks or not how(marks):
        return own
    mark = SOURCES * _common({mark // SOURCES for mark in marks if mark})
    mark += GENERATED * all(mark & GENERATED for mark in marks)
    return "".join([chr(ord(one) & DATA | mark) for one in own]) if mark else own


def _follow(name, follow):
    plain = getattr(str, name)

    def method(self, *args, **kwargs):
        text = plain(self, *args, **kwargs)
        return follow(self, text, *args) if type(text) is str else text

    method.__name__ = name
    setattr(Marked, name, method)


def _stripped(self, text, *chars):
    at = len(self) - len(str.lstrip(self, *chars))
    return Marked(text, self._marks[at:at + len(text)])


def _same_length(self, text, *_):
    return Marked(text, self._marks) if len(text) == len(self) else _spread(text, self)


def _spread_over(self, text, *rest):
    return _spread(text, (self, *rest))


_follow("rstrip", lambda self, text, *_: Marked(text, self._marks[:len(text)]))
for _name in ("strip", "lstrip"):
    _follow(_name, _stripped)
for _name in ("lower", "upper", "swapcase", "capitalize", "title", "casefold"):
    _follow(_name, _same_length)
for _name in ("center", "ljust", "rjust", "zfill", "expandtabs", "translate", "__mod__"):
    _follow(_name, _spread_over)


class Safe(markupsafe.Markup):
    """The result of the filters `safe` and `escape` for a marked string. Everything made from it counts as data."""
    __slots__ = ("_marks",)

    def __new__(cls, base="", encoding=None, errors="strict", marks=None):
        self = super().__new__(cls, base) if encoding is None else super().__new__(cls, base, encoding, errors)
        self._marks = chr(DATA) * len(self) if marks is None else marks
        return self

    def __add__(self, other):
        return self._with(super().__add__(other), other, True)

    def __radd__(self, other):
        return self._with(super().__radd__(other), other, False)

    def _with(self, text, other, after):
        if text is NotImplemented or len(text) != len(self) + len(other):
            return text
        return Safe(text, marks=self._marks + marks_of(other) if after else marks_of(other) + self._marks)


class _Number:
    """A number of an answer; its text is a part of the answer."""

    def __str__(self):
        text = type(self).__base__.__repr__(self)
        return Marked(text, chr(self._mark) * len(text))


class Int(int, _Number):
    __str__ = _Number.__str__


class Float(float, _Number):
    __str__ = _Number.__str__


def _counted(number, mark):
    kind = {int: Int, float: Float}.get(type(number))
    if kind:
        number = kind(number)
        number._mark = mark
    return number


_LEAVES = {Marked, Safe, Int, Float}


def _count(kind, name):
    def method(number, *others):
        own = float if any(type(other) is float for other in others) else kind.__base__
        return _counted(getattr(own, name)(own(number), *others), number._mark)

    setattr(kind, name, method)


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "rfloordiv", "mod",
              "rmod", "neg", "pos", "abs"):
    _count(Int, f"__{_name}__")
    _count(Float, f"__{_name}__")


# ---- What jinja2 does with them --------------------------------------------------------------------------------------

class Varies(jinja2.exceptions.TemplateError):
    """The template's text would differ from run to run."""


def varies(what, how):
    def refuse(*_, **__):
        raise Varies(f"it {what} whose {how} differs from run to run")

    return refuse


_unordered = varies("makes a set,", "order")
unwritten = varies("writes an object, such as a method without its brackets,", "text")


class Unwritten:
    """A function or an iterator, whose text in Python has its address and must not be written."""
    __repr__ = unwritten

    def __init__(self, value):
        self._value = value

    def __call__(self, *args, **kwargs):
        return self._value(*args, **kwargs)

    def __iter__(self):
        return iter(self._value)


MAX_SAFE = 1000  # answers of the sandbox that are kept
_MISSING = object()
_OF_DICTS = frozenset(dir(dict))
_FUNCTIONS: tuple[type, ...] = (types.BuiltinMethodType, types.FunctionType, types.MethodType, type,
                                jinja2.runtime.BlockReference)
_PLAIN = {Marked, str, bool, int, dict, list, jinja2.Undefined}  # types of most values
_OWN = (jinja2.utils.Cycler, jinja2.runtime.LoopContext)  # iterators with members


def _checked(value):
    if type(value) in _PLAIN:
        return value
    if isinstance(value, _FUNCTIONS) or (hasattr(type(value), "__next__") and not isinstance(value, _OWN)):
        return Unwritten(value)
    return value


class Tracing:
    """A sandboxed environment whose functions, filters and operators follow marks."""
    concat = staticmethod(join)
    intercepted_binops = frozenset("%-")

    def trace(self):
        """Wraps the filters and globals of the environment, which must be complete."""
        self.finalize = _finalize
        self._safe = {}
        self.filters["random"] = varies("uses |random,", "result")
        for name, function in self.filters.items():
            self.filters[name] = _traced(function, name)
        for name, value in self.globals.items():
            self.globals[name] = _checked(value)

    def getattr(self, obj, attribute):
        if type(obj) is dict and attribute not in _OF_DICTS:  # as in the sandbox, attributes come before members
            value = obj.get(attribute, _MISSING)
            if type(value) in _PLAIN:
                return value
            return self.undefined(obj=obj, name=attribute) if value is _MISSING else _checked(value)
        return _checked(super().getattr(obj, attribute))

    def is_safe_attribute(self, obj, attr, value):
        """Asks the sandbox, whose answer depends on the type of the object and on the name, once for both."""
        try:
            return self._safe[type(obj), attr]
        except KeyError:
            if len(self._safe) == MAX_SAFE:
                self._safe.clear()
            return self._safe.setdefault((type(obj), attr), super().is_safe_attribute(obj, attr, value))

    def getitem(self, obj, argument):
        return _checked(super().getitem(obj, argument))

    def call(self, context, function, /, *args, **kwargs):
        function = function._value if type(function) is Unwritten else function
        owner = getattr(getattr(function, "__wrapped__", function), "__self__", None)
        if not isinstance(owner, str):
            return super().call(context, function, *args, **kwargs)
        for name in "_loop_vars", "_block_vars":  # what jinja2 hands over of the template's variables
            kwargs.pop(name, None)
        if type(owner) is not Marked and not _has_leaf([args, kwargs]):
            return function(*args, **kwargs)
        if type(owner) is str and type(getattr(function, "__self__", None)) is str:
            function = getattr(Marked(owner), function.__name__)
        text = function(*args, **kwargs)
        if type(text) is str or function.__name__ in ("format", "format_map"):
            return _spread(str.__str__(text)[:], [owner, args, kwargs])
        return text

    def call_binop(self, context, operator, left, right):
        text = self.binop_table[operator](left, right)
        if type(text) is set:
            _unordered()
        return _spread(text, [left, right]) if type(text) is str else text


def prepare(template):
    """Wraps the functions of a compiled template."""
    template.root_render_func.__globals__["str_join"] = lambda items: join(map(str, items))


@jinja2.pass_context  # keeps jinja2 from computing constants when it reads the template
def _finalize(_, value):
    """Checks a value that is about to become text."""
    kind = type(value)
    if kind is Safe:
        return Marked(str.__str__(value)[:], value._marks)
    return _spread(str(value), value, True) if kind in (list, tuple, dict) else value


def _traced(function, name):
    counts = name in ("int", "float", "sum", "round")

    @functools.wraps(function)
    def filter(*args, **kwargs):
        if name == "join" or (name == "replace" and _has_leaf([args, kwargs])):  # they call methods of the value
            args, kwargs = _for_methods(name, args, kwargs)
        text = function(*args, **kwargs)
        if not (counts or isinstance(text, str)) or not _has_leaf([args, kwargs]):
            return _checked(text)
        if isinstance(text, markupsafe.Markup):
            source = next((arg for arg in args if isinstance(arg, str)), "")
            same = type(source) in (Marked, Safe) and str.__eq__(source, text)
            return Safe(text, marks=source._marks if same else chr(_mark_of([args, kwargs])) * len(text))
        if name == "indent":
            text = "".join([text, ""])
        if counts:
            mark = _mark_of([args, kwargs])
            return _counted(text, mark) if mark >= SOURCES else text
        return _spread(text, [args, kwargs]) if type(text) is str else _checked(text)

    return filter


def _for_methods(name, args, kwargs):
    args = list(args)
    if name == "replace":
        args[1] = Marked(args[1]) if type(args[1]) is str else args[1]
    elif len(args) > 2:
        args[2] = Marked(args[2]) if type(args[2]) is str else args[2]
    else:
        kwargs = {**kwargs, "d": Marked(kwargs.get("d", ""))}
    return args, kwargs


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    """Writes JSON as the filter of transformers does."""
    text = json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
    mark = _mark_of(x, True)
    if not mark or mark >= SOURCES:
        return Marked(text, chr(mark) * len(text)) if mark else text
    encoder = json.JSONEncoder(ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def quoted(value):
        quote = json.encoder.encode_basestring_ascii if ensure_ascii else json.encoder.encode_basestring
        return _quoted(value, quote)

    try:  # Python's own writer, which gets marked strings
        parts = json.encoder._make_iterencode({}, encoder.default, quoted, encoder.indent, float.__repr__,
                                              encoder.key_separator, encoder.item_separator, sort_keys, False, False)
        traced = join(parts(x, 0))
    except (TypeError, AttributeError):  # a Python with another writer
        traced = None
    return traced if traced == text else Marked(text, chr(DATA) * len(text))


def _quoted(value, quote):
    text, marks = quote(value), marks_of(value)
    if not marks.strip(_NONE):
        return text
    if len(text) != len(value) + 2:
        marks = "".join(mark * (len(quote(c)) - 2) for c, mark in zip(str.__iter__(value), marks))
    return Marked(text, marks[:1] + marks + marks[-1:])
