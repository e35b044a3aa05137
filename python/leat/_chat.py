"""_chat.py: conversations rendered by chat templates, for leat.PreTrainedTokenizer.apply_chat_template().

What a template gets, and what becomes of its text, is as in transformers; the rendering itself is that of leat.pack(),
which gets all variables as JSON. What JSON cannot say is refused.
"""
from __future__ import annotations

import dataclasses
import functools
import os
import re
import sys
import warnings
from collections.abc import Mapping
from typing import Any

from leat._marked import learned_in
from leat.chat import Template

FILE, FOLDER = "chat_template.jinja", "additional_chat_templates"
_GENERATION = re.compile(r"\{\%-?\s*generation\s*-?\%\}")
_REASONING = ("reasoning_content", "thinking", "reasoning")  # members with the same meaning, the usual one first
_TAG = "CONTINUE_FINAL_MESSAGE_TAG "


# ---- Templates ----

def templates_of(folder, setting):
    """What the files of a folder have: a template, or several by their names; None: none. `setting` is what its
    tokenizer_config.json says, which counts without files of templates."""
    found = {"default": os.path.join(folder, FILE)} if os.path.isfile(os.path.join(folder, FILE)) else {}
    more = os.path.join(folder, FOLDER)
    for name in sorted(os.listdir(more)) if os.path.isdir(more) else ():
        if name.endswith(".jinja"):
            found[name.removesuffix(".jinja")] = os.path.join(more, name)
    if found:
        texts = {name: _text_of(path) for name, path in found.items()}
        return texts["default"] if list(texts) == ["default"] else texts
    if isinstance(setting, (list, tuple)):
        return {one["name"]: one["template"] for one in setting}
    return setting


def _text_of(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def chosen(own, given, tools):
    """The template of a call: `own` is the attribute, `given` the argument, a template or the name of one."""
    if isinstance(own, dict):
        if given is not None:
            return own.get(given, given)
        if tools is not None and "tool_use" in own:
            return own["tool_use"]
        if "default" not in own:
            raise ValueError(f"no chat template is called \"default\": give chat_template=NAME, one of "
                             f"{', '.join(sorted(own))}")
        return own["default"]
    if given is None and own is None:
        raise ValueError("the files of this tokenizer have no chat template: give chat_template=TEMPLATE, or set the "
                         "attribute")
    return own if given is None else given


def _parse(template):
    return Template(template)


_parsed: Any = functools.lru_cache(maxsize=32)(_parse)


# ---- What a template gets ----

def _plain(value):
    """A value as transformers shows it to a template: of JSON's types, or the name of another type."""
    if value is None or type(value) in (str, int, float, bool):
        return value
    for kind, plain in (str, str.__str__), (int, int.__int__), (float, float.__float__):
        if isinstance(value, kind):  # an enum and its kin
            return plain(value)
    if isinstance(value, Mapping):
        return {_name(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, tuple):
        raise NotImplementedError("a tuple in what a chat template gets: leat gives it lists, use one")
    if "numpy" in sys.modules and isinstance(value, sys.modules["numpy"].generic):
        return _plain(value.item())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if callable(getattr(value, "model_dump", None)):
        return _plain(value.model_dump())
    return f"<{type(value).__name__}>"


def _name(key):
    if not isinstance(key, str):
        raise NotImplementedError(f"{key!r} as a key in what a chat template gets: leat gives it strings as keys")
    return str.__str__(key)


def are_many(conversation):
    """Whether these are several conversations, not one."""
    if isinstance(conversation, (list, tuple)) and not conversation:
        raise ValueError("an empty conversation: a chat template needs a message")
    return isinstance(conversation, (list, tuple)) and isinstance(conversation[0], (list, tuple))


def _messages(conversation):
    """The messages of a conversation, without members that are None."""
    if not hasattr(conversation, "__iter__"):
        raise TypeError(f"a conversation is a list of dicts with role and content, not {_short(conversation)}")
    messages = []
    for message in conversation:
        if not hasattr(message, "items"):
            raise TypeError("a conversation is a list of dicts with role and content, and several are a list of such "
                            f"lists, not of another type: {_short(message)} is not a message")
        messages.append(_plain({name: value for name, value in message.items() if value is not None}))
        reasoning = next((messages[-1][name] for name in _REASONING if messages[-1].get(name) is not None), None)
        if reasoning is not None:
            messages[-1] = {"thinking": reasoning, **messages[-1], "reasoning_content": reasoning}
    return messages


def _tools(tools):
    if tools is None:
        return None
    if isinstance(tools, (str, bytes)):
        raise TypeError("tools are a list of dicts, not a text: json.loads() makes one of JSON")
    tools = list(tools)  # an iterator gives them only once
    for tool in tools:
        if not isinstance(tool, dict):
            raise TypeError(f"a tool is a dict, its JSON schema, not {_short(tool)}; "
                            "transformers.utils.get_json_schema() makes one of a function")
    return _plain(tools)


def _documents(documents):
    for document in () if documents is None else documents:
        if not isinstance(document, dict):
            raise TypeError(f"a document is a dict with title and text, not {_short(document)}")
    return _plain(documents)


def _short(value):
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:80]}... ({type(value).__name__})"


# ---- Rendering ----

def rendered(template, conversations, tools, documents, variables, continued, masks):
    """[(text, where each {% generation %} begins and ends in it)] of conversations. `continued` is the member of the
    last message that is to be continued, or None; `masks`: whether the places are needed."""
    if not isinstance(template, str):
        raise TypeError(f"a chat template is a str, not {_short(template)}")
    if masks and not _GENERATION.search(template):
        warnings.warn("the chat template has no {% generation %}: assistant_masks are all 0", stacklevel=4)
    parsed = _parsed(template)
    variables = {**_plain(variables), "tools": _tools(tools), "documents": _documents(documents)}
    out = []
    for conversation in conversations:
        messages = _messages(conversation)
        final = _tag(messages, continued, template) if continued else None
        text = parsed.render(**{**variables, "messages": messages})
        places = learned_in(text) if parsed.has_generation else []
        text = str.__str__(text)[:]
        out.append((text if final is None else _cut(text, final), places))
    return out


def _tag(messages, member, template):
    """Marks the end of what is to be continued; the text before it."""
    final = messages[-1].get(member) if messages else None
    if final is None:
        raise ValueError(f"continue_final_message: the last message has no {member!r} to continue")
    same = [name for name in _REASONING if messages[-1].get(name) == final] if member in _REASONING else [member]
    if not any(name in template for name in same):
        raise ValueError(f"continue_final_message: the chat template does not write {member!r}")
    if not isinstance(final, list):
        for name in same:
            messages[-1][name] = _tagged(final)
        return final
    for block in reversed(final):
        if "text" in block:
            final, block["text"] = block["text"], _tagged(block["text"])
            return final
    raise ValueError("continue_final_message: the last message has no text to continue")


def _tagged(text):
    if not isinstance(text, str):
        raise TypeError(f"continue_final_message: what is continued must be a text, not {_short(text)}")
    return text + _TAG


def _cut(text, final):
    """What the template has written up to the end of what is to be continued."""
    at = text.rfind(_TAG.strip())
    if at < 0 or final.strip() not in text:
        raise ValueError("continue_final_message: the chat template does not write the last message as it stands:\n"
                         + text)
    return text[:at] if text[at:].startswith(_TAG) else text[:at].rstrip()


# ---- Masks ----

def mask_of(sequences, offsets, places):
    """1 for the tokens that touch what {% generation %} wrote, by transformers' rule. `sequences` has 0 for the tokens
    of the text; tokenizer_kwargs may have put another one behind it."""
    count = len(sequences)
    mask = [0] * count
    first = {}  # the first token in which a character is
    for token, (begin, end) in enumerate(offsets):
        for at in range(begin, end) if sequences[token] == 0 else ():
            first.setdefault(at, token)
    for begin, end in places:
        if end == 0:  # nothing was written; transformers fails
            continue
        start, last = first.get(begin), first.get(end - 1)
        if start is None:  # cut off, and so are the others
            break
        for token in range(start, last + 1 if last else count):  # token 0 counts as none, too
            mask[token] = 1
    return mask
