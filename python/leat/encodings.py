"""encodings.py: leat.get_encoding() and its kin: tiktoken's encodings by their names, and by the names of models.

The tables of models are those of tiktoken 0.14.0 (tiktoken/model.py); test_encodings.py compares them.
"""
from __future__ import annotations

from leat.tokenizer import Tokenizer

_NAMES = ("gpt2", "r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony")

_MODELS = {
    "o200k_base": "o1 o3 o4-mini gpt-5 gpt-4.1 gpt-4o",
    "cl100k_base": "gpt-4 gpt-3.5-turbo gpt-3.5 gpt-35-turbo davinci-002 babbage-002 text-embedding-ada-002 "
                   "text-embedding-3-small text-embedding-3-large",
    "p50k_base": "text-davinci-003 text-davinci-002 code-davinci-002 code-davinci-001 code-cushman-002 "
                 "code-cushman-001 davinci-codex cushman-codex",
    "p50k_edit": "text-davinci-edit-001 code-davinci-edit-001",
    "r50k_base": "text-davinci-001 text-curie-001 text-babbage-001 text-ada-001 davinci curie babbage ada "
                 "text-similarity-davinci-001 text-similarity-curie-001 text-similarity-babbage-001 "
                 "text-similarity-ada-001 text-search-davinci-doc-001 text-search-curie-doc-001 "
                 "text-search-babbage-doc-001 text-search-ada-doc-001 code-search-babbage-code-001 "
                 "code-search-ada-code-001",
    "gpt2": "gpt2 gpt-2",
}

# The first prefix that a name begins with counts.
_PREFIXES = (
    ("o1-", "o200k_base"), ("o3-", "o200k_base"), ("o4-mini-", "o200k_base"), ("gpt-5", "o200k_base"),
    ("gpt-4.5-", "o200k_base"), ("gpt-4.1-", "o200k_base"), ("chatgpt-4o-", "o200k_base"), ("gpt-4o-", "o200k_base"),
    ("gpt-4-", "cl100k_base"), ("gpt-3.5-turbo-", "cl100k_base"), ("gpt-35-turbo-", "cl100k_base"),
    ("gpt-oss-", "o200k_harmony"), ("ft:gpt-4o", "o200k_base"), ("ft:gpt-4", "cl100k_base"),
    ("ft:gpt-3.5-turbo", "cl100k_base"), ("ft:davinci-002", "cl100k_base"), ("ft:babbage-002", "cl100k_base"))

_encodings: dict[str, Tokenizer] = {}

_OTHERS = ("for any other vocabulary, download its tokenizer.json, *.tiktoken, tekken.json or tokenizer.model and give "
           "the path to leat.Tokenizer()")


def list_encoding_names() -> list[str]:
    """The names of tiktoken's encodings, all of which are built in."""
    return list(_NAMES)


def get_encoding(encoding_name: str) -> Tokenizer:
    """Like tiktoken.get_encoding(): the built-in of this name, the same object for every call.

    Never downloads, and never gives another vocabulary than the one that is named: ValueError says what to do instead.
    """
    if not isinstance(encoding_name, str):
        raise ValueError(f"the name of an encoding must be a str, not {encoding_name!r}")
    if encoding_name not in _NAMES:
        model = _of_model(encoding_name)
        raise ValueError(f"unknown encoding {encoding_name!r}: "
                         + (f"this is a model, so use leat.encoding_for_model({encoding_name!r})" if model else
                            f"the built-in ones are {', '.join(_NAMES)}; {_OTHERS}"))
    return _opened(encoding_name)


def encoding_name_for_model(model_name: str) -> str:
    """Like tiktoken.encoding_name_for_model(); KeyError for models that it does not know."""
    name = _of_model(model_name)
    if name is None:
        raise KeyError(f"no built-in encoding for a model {model_name!r} of OpenAI's; {_OTHERS}")
    return name


def encoding_for_model(model_name: str) -> Tokenizer:
    """Like tiktoken.encoding_for_model(): the encoding of a model of OpenAI's; KeyError for others."""
    return get_encoding(encoding_name_for_model(model_name))


def _opened(name):
    if name not in _encodings:
        _encodings.setdefault(name, Tokenizer(name))
    return _encodings[name]


def _of_model(model):
    for name, models in _MODELS.items():
        if model in models.split():
            return name
    return next((name for prefix, name in _PREFIXES if model.startswith(prefix)), None)
