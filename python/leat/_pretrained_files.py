"""_pretrained_files.py: the files beside a vocabulary that transformers reads, and what they say of a tokenizer."""
from __future__ import annotations

import os

from leat._classes import NAMED, PAD_LEFT, class_of, inputs_of, tokens_of
from leat._post_processor import as_object, name_of
from leat._tokenizer_file import PADDING, TRUNCATION

CONFIG, MAP, MODEL, WHOLE = "tokenizer_config.json", "special_tokens_map.json", "config.json", "tokenizer.json"


def read(folder, name):
    import json

    path = os.path.join(folder, name)
    if not os.path.isfile(path):
        return {}
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def said_by(folder, whole, kind=None):
    """What the files of a folder make of the attributes of a tokenizer; None: there are none. `whole` has the padding
    and the truncation of a tokenizer.json, which say what is said nowhere else. `kind`: a class, in place of the one
    that the files name."""
    settings, model = (_settings(folder), read(folder, MODEL)) if folder else ({}, {})
    padding, truncation = _part(whole, "padding", PADDING), _part(whole, "truncation", TRUNCATION)
    kind = class_of(settings, model, whole.get("byte_level")) if kind is None else kind
    usual = tokens_of(kind)
    extra = settings.get("extra_special_tokens") or []
    named = extra if isinstance(extra, dict) else {}
    said = _named({**settings, **named}, named)
    if said.keys() <= set(NAMED):  # transformers writes them a second time
        said.update(settings.get("model_specific_special_tokens", {}))
    if usual.get("pad_token") is None:
        usual["pad_token"] = padding.get("pad_token")
    of_class = "left" if kind in PAD_LEFT.split() else "right"
    tokens = {**dict.fromkeys(NAMED), **usual, **said}
    return {"padding_side": settings.get("padding_side", _side(padding, of_class)),
            "truncation_side": settings.get("truncation_side", _side(truncation, "right")),
            "model_max_length": _longest(settings.get("model_max_length", settings.get("max_len"))),
            "model_input_names": settings.get("model_input_names", inputs_of(kind)),
            "clean_up_tokenization_spaces": bool(settings.get("clean_up_tokenization_spaces", False)),
            "split_special_tokens": bool(settings.get("split_special_tokens", False)),
            "chat_template": _templates(folder, settings.get("chat_template")) if folder else None,
            "tokens": tokens, "extra_special_tokens": _extra([] if named else extra, folder, whole)}


def _templates(folder, setting):
    from leat._chat import templates_of  # it needs json, which `import leat` is to do without

    return templates_of(folder, setting)


def made_of_parts(folder, whole):
    """Whether leat made the tokenizer.json, of a sentencepiece model and what lies beside it."""
    return whole.get("extra") is not None and not (folder and any(
        os.path.isfile(os.path.join(folder, name)) for name in (WHOLE, WHOLE + ".zst")))


def _extra(listed, folder, whole):
    if made_of_parts(folder, whole):
        return list(dict.fromkeys(whole["extra"]))
    return [text_of(token) for token in listed]


def _part(whole, name, names):
    """What is malformed is refused where it is used."""
    try:
        return dict(as_object(whole.get(name), names) or {})
    except (TypeError, ValueError):
        return {}


def _side(part, other):
    side = name_of(part.get("direction"))
    return side.lower() if isinstance(side, str) else other


def _settings(folder):
    """As transformers reads them: special_tokens_map.json comes first, but not beside a list of all added tokens."""
    found = read(folder, CONFIG)
    extra = found.get("extra_special_tokens") or found.get("additional_special_tokens")
    if "added_tokens_decoder" not in found:
        other = read(folder, MAP)
        found.update(other)
        more = other.get("extra_special_tokens")
        if isinstance(more, list) and isinstance(extra, list):
            extra = extra + [token for token in more if token not in extra]
        else:
            extra = more or extra or other.get("additional_special_tokens")
    found["extra_special_tokens"] = extra
    return found


def _named(settings, extra):
    """The tokens that have names: the usual ones, which may be missing, and those of a model, such as image_token."""
    return {name: text_of(value) for name, value in settings.items() if name in NAMED or name in extra or (
        name.endswith("_token") and isinstance(text_of(value), str))}


def text_of(token):
    return token.get("content") if isinstance(token, dict) else token


def _longest(value):
    """As transformers has it: a huge number for none. A whole number may be written as 2.0."""
    if value is None:
        return int(1e30)
    return int(value) if isinstance(value, float) and value.is_integer() else value
