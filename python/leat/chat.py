"""chat.py: conversations rendered by chat templates, by jinja2 itself, in the environment in which transformers renders
them: leat.chat.render(). leat.pack(chat=...) and `leat pack --chat` render by it, too, in processes of their own
(render.py), which need jinja2 and nothing else.
"""
from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

import jinja2
import jinja2.ext
import jinja2.meta
import jinja2.sandbox

from leat import _learning, _marked

_ROLES = {"human": "user", "gpt": "assistant"}  # names of roles in ShareGPT's form
_REASONING = ("reasoning_content", "thinking", "reasoning")  # members with the same meaning, the usual one first


class Generation(jinja2.ext.Extension):
    """Implements {% generation %}, whose text is learned, as the body of a call, as transformers does. A body that
    cannot tell the difference is that of a filter, which takes a tenth of a conversation's time less."""
    tags = {"generation"}
    name = "{% generation %}"  # of the filter: no name that a template can write

    def parse(self, parser):
        self.environment.has_generation = True
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        block = jinja2.nodes.FilterBlock(body, jinja2.nodes.Filter(None, self.name, [], [], None, None))
        special = jinja2.nodes.Name, jinja2.nodes.Break, jinja2.nodes.Continue
        if any(getattr(node, "name", "caller") in ("caller", "varargs", "kwargs") for node in block.find_all(special)):
            block = jinja2.nodes.CallBlock(self.call_method("_written"), [], [], body)
        return block.set_lineno(line)

    def _written(self, caller):
        return _marked.generated(caller())


class Namespace(jinja2.utils.Namespace):
    """The namespace() of transformers, without names that begin with an underscore."""

    def __init__(*args, **kwargs):
        self, args = args[0], args[1:]
        attributes = dict(*args, **kwargs)
        for name in attributes:
            Namespace._check(name)
        jinja2.utils.Namespace.__init__(self, attributes)

    def __setitem__(self, name, value):
        Namespace._check(name)
        jinja2.utils.Namespace.__setitem__(self, name, value)

    @staticmethod
    def _check(name):
        if isinstance(name, str) and name.startswith("_"):
            raise jinja2.exceptions.SecurityError(
                f"Chat templates cannot store underscore-prefixed attributes on a namespace, but got {name!r}. Please "
                "rename the attribute.")


class Dict:
    """dict() and dict.fromkeys() of a template."""
    __repr__ = _marked.unwritten

    def __call__(self, *args, **kwargs):
        return dict(*args, **kwargs)

    def fromkeys(self, *args, **kwargs):
        return dict.fromkeys(*args, **kwargs)


_SILENT = {base.__name__.lower(): type(base.__name__, (base,), {"__repr__": _marked.unwritten})
           for base in (jinja2.utils.Cycler, jinja2.utils.Joiner)}


def _raise_exception(message):
    raise jinja2.exceptions.TemplateError(f"{message}")


class Environment(_marked.Tracing, jinja2.sandbox.ImmutableSandboxedEnvironment):
    """The environment of transformers (utils/chat_template_utils.py), with strings that know where they come from."""
    has_generation = False

    def __init__(self, date=None):
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols],
                         optimized=False)  # constants are computed during rendering, which has limits
        self.filters["tojson"] = _marked.tojson
        self.globals.update(raise_exception=_raise_exception, strftime_now=self._strftime_now, dict=Dict(),
                            namespace=Namespace, **_SILENT)
        self._date = date
        self.trace()
        self.filters[Generation.name] = _marked.generated

    def _strftime_now(self, format):
        if self._date is None:
            raise _marked.Varies("it calls strftime_now(), which needs a date that does not change")
        return self._date.strftime(format)


# str.format() would reach every object of Python, unless the sandbox also replaces it in the filter attr.
if type(jinja2.sandbox.ImmutableSandboxedEnvironment().call_filter("attr", "", ["format"])) is type("".format):
    raise ImportError(f"jinja2 {jinja2.__version__} lets a template leave its sandbox: install 3.1.6 or newer")


class Template:
    """A chat template. `date`: what strftime_now() writes, a datetime or as text ("2026-01-31"); `has_generation`:
    whether the template says by {% generation %} what is learned."""

    def __init__(self, text: str, date: datetime | str | None = None):
        environment: Any = Environment(datetime.fromisoformat(date) if isinstance(date, str) else date)
        tree = environment.parse(text)
        self.has_generation = environment.has_generation
        self.names = jinja2.meta.find_undeclared_variables(tree)
        used = {(type(node), node.name) for node in tree.find_all((jinja2.nodes.Name, jinja2.nodes.Filter))}
        for name, node in ("lipsum()", (jinja2.nodes.Name, "lipsum")), ("|random", (jinja2.nodes.Filter, "random")):
            if node in used:
                _marked.varies(f"uses {name},", "result")()
        self.needs_date = date is None and (jinja2.nodes.Name, "strftime_now") in used
        self._template = environment.from_string(text)
        _marked.prepare(self._template)

    def render(self, messages, tools=None, documents=None, add_generation_prompt=False, **variables):
        """Returns the text, whose marks _marked.marks_of() gives. Values of `messages`, `tools` and `documents` count
        as data wherever the template writes them."""
        shown = [self._shown(number, as_role_and_content(message)) for number, message in enumerate(messages)]
        return self._template.render(
            messages=shown, tools=tools and _marked.marked(tools), documents=documents and _marked.marked(documents),
            add_generation_prompt=add_generation_prompt, **variables)

    @staticmethod
    def _shown(number, message):
        """Returns a message as transformers shows it to templates: without None, and with reasoning by all its
        names."""
        answer = message.get("role") == "assistant"
        shown = {key: _learning.shown(number, key, value, answer)
                 for key, value in message.items() if value is not None}
        if "role" in shown:
            shown["role"] = _marked.unmarked_word(shown["role"])
        reasoning = next((shown[name] for name in _REASONING if name in shown), None)
        if reasoning is not None:
            shown = {"thinking": reasoning, **shown, "reasoning_content": reasoning}
        return shown


def as_role_and_content(message):
    """Returns a message with `role` and `content`, which ShareGPT's form calls `from` and `value`."""
    if message.get("role") is not None or "from" not in message or "value" not in message:
        return message
    message = dict(message)
    role = message.pop("from")
    message["role"] = _ROLES.get(role, role) if isinstance(role, str) else role
    message["content"] = message.pop("value")
    return message


class Rendered(NamedTuple):
    """What leat.chat.render() returns. `learned`: the stretches of the text, (begin, end) in characters, that training
    learns, without the tokens that end turns."""
    text: str
    learned: list[tuple[int, int]]


_templates = functools.lru_cache(maxsize=32)(Template)


def _plain(value):
    """Copies a value to the types that JSON has."""
    if value is None or type(value) in (str, int, float, bool):
        return value
    for kind, plain in (str, str.__str__), (int, int.__int__), (float, float.__float__):
        if isinstance(value, kind):  # an enum or another subclass
            return plain(value)
    if isinstance(value, Mapping):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(_plain, value)) if type(value) in (list, tuple) else list(map(_plain, value))
    raise TypeError(f"a chat template gets what JSON can say, not {type(value).__name__}")


def render(template: str, messages, tools=None, *, documents=None, add_generation_prompt: bool = False,
           date: datetime | str | None = None, learn: str = "assistant", learn_reasoning: str = "yes",
           learn_tool_calls: str = "yes", message_weight: str | None = None, **variables) -> Rendered:
    """Renders a conversation, a list of dicts with role and content, or from and value, by a chat template; returns the
    text that transformers' apply_chat_template(tokenize=False) returns, and what of it training learns.

    template    the text of the template (Jinja)
    tools       a list of dicts, JSON schemas; documents: a list of dicts
    date        what strftime_now() of the template writes: a datetime or as text, "2026-01-31". None: a template that
                calls it is refused
    learn, learn_reasoning, learn_tool_calls, message_weight    what is learned, as in leat.Chat
    variables   what else the template gets: bos_token="<s>", enable_thinking=False

    ValueError: the weight of a message is neither true, false nor a number from 0 to 1.
    jinja2.exceptions.TemplateError and other exceptions are the template's; TemplateError also if what it writes would
    differ from run to run (|random, lipsum(), a method without its brackets).
    """
    made = _templates(template, date)
    if made.needs_date:
        raise ValueError("the chat template calls strftime_now(): give the date that it writes, date=\"YYYY-MM-DD\"")
    learning = _learning.Learning(learn, learn_reasoning, learn_tool_calls, message_weight=message_weight)
    learning.strict = False
    messages, variables = _plain(messages), _plain(variables)
    text = made.render(messages, _plain(tools), _plain(documents), add_generation_prompt, **variables)
    messages = list(map(as_role_and_content, messages))
    stretches = learning.choose(_learning.Turns(made, variables), messages, text, _marked.runs(text))
    return Rendered(str.__str__(text), [(one.begin, one.end) for one in stretches if one.weight])
