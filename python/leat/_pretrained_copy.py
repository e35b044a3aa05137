"""_pretrained_copy.py: PreTrainedTokenizer.save_pretrained(): copies of a tokenizer's files in another folder.

A copy is what was read, but for attributes that have been set since: these are written into it.
"""
from __future__ import annotations

import json
import os
import warnings

from leat._chat import FILE, FOLDER
from leat._classes import class_of
from leat._pretrained_files import CONFIG, MAP, MODEL, WHOLE, made_of_parts, said_by, text_of
from leat._tokenizer_file import json_of, parsed

_VOCABULARIES = ("vocab.txt", "vocab.json", "spiece.model", "sentencepiece.bpe.model", "spm.model", "tokenizer.model")
_FILES = (WHOLE, *_VOCABULARIES, "merges.txt", "added_tokens.json", CONFIG, MAP, MODEL, FILE)


def save(tokenizer, source, now, target):
    """Writes the files of a leat.Tokenizer, and those that stand beside it in the folder `source`, if it is one, with
    the attributes `now`, as said_by() has them; their paths."""
    files = _files(tokenizer, source)
    config, other, model = (json.loads(files.get(name, "{}")) for name in (CONFIG, MAP, MODEL))
    before, byte_level = said_by(source, tokenizer._facts()), tokenizer._facts().get("byte_level")
    # a config.json is the model's, and only taken along where the class hangs on it
    apart = "tokenizer_class" in config and class_of(config, {}, byte_level) == class_of(config, model, byte_level)
    if WHOLE in files and not apart:
        config["tokenizer_class"], apart = "PreTrainedTokenizerFast", True
        before = said_by(source, tokenizer._facts(), "")
    if made_of_parts(source, tokenizer._facts()):  # else nothing beside the tokenizer.json would list them
        before = {**before, "extra_special_tokens": None}
    _warn_of_new(before["tokens"], now["tokens"], tokenizer)
    _put(config, other, before, now)
    if now["chat_template"] != before["chat_template"]:
        _put_template(files, config, other, now["chat_template"])
    for name, content in (CONFIG, config), (MAP, other):
        if content != json.loads(files.get(name, "{}")):
            files[name] = (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()
    there = {name for name in (*_FILES, *_templates(target)) if os.path.exists(os.path.join(target, name))}
    if apart or MODEL in there:
        files.pop(MODEL, None)
    _refuse(there - {MODEL} - set(files), target)
    return _write(files, target)


def _files(tokenizer, source):
    """{name: bytes}; a tokenizer.json is as it was opened, whatever has become of its file."""
    whole = parsed(tokenizer.stored()) is not None
    if not whole and (source is None or os.path.basename(tokenizer._path) not in _VOCABULARIES):
        raise NotImplementedError(f"{tokenizer!r} cannot be saved for transformers, which needs a tokenizer.json, or a "
                                  f"folder with one of {', '.join(_VOCABULARIES)}")
    files = {}
    for name in (*_FILES, *_templates(source)) if source is not None else ():
        path = os.path.join(source, name)
        if os.path.isfile(path):
            with open(path, "rb") as f:
                files[name] = f.read()
    if whole:
        files[WHOLE] = json_of(tokenizer.stored())
    return files


def _templates(folder):
    """The names of its files of chat templates, but for the usual one."""
    more = os.path.join(folder, FOLDER)
    names = sorted(os.listdir(more)) if os.path.isdir(more) else ()
    return [os.path.join(FOLDER, name) for name in names if name.endswith(".jinja")]


def _warn_of_new(before, now, tokenizer):
    """Of ordinary tokens that have got a name, and so become special where transformers opens what is saved."""
    added = {text.decode("utf-8", "replace") for text, *_ in tokenizer._core.tokens(True).values()}
    for name, token in now.items():
        if token is not None and token != before.get(name) and token not in added:
            warnings.warn(f"{name} {token!r} is an ordinary token of this vocabulary, but AutoTokenizer will take it "
                          "for a special one in what is saved, and cut texts at it: leat does not", stacklevel=4)


def _put(config, other, before, now):
    """Writes what is not as before into tokenizer_config.json, and into special_tokens_map.json, which comes first."""
    changed = {name: now[name] for name in now if name not in ("tokens", "chat_template") and now[name] != before[name]}
    if "extra_special_tokens" in changed:
        if isinstance(config.get("extra_special_tokens"), dict):
            raise NotImplementedError("tokenizer_config.json has extra_special_tokens with names, and so has no place "
                                      "for a list of others")
        for file in config, other:
            file.pop("additional_special_tokens", None)
    changed.update((name, token) for name, token in now["tokens"].items() if token != before["tokens"].get(name))
    for name, value in changed.items():
        also = [file for file in (other, config.get("extra_special_tokens")) if isinstance(file, dict) and name in file]
        for file in [config, *also]:
            if name not in file or text_of(file[name]) != value:  # else it may say more of the token
                file[name] = value


def _put_template(files, config, other, template):
    """Writes a chat template, or several, in place of those that were read: files of templates come first."""
    for name in [name for name in files if name == FILE or name.startswith(FOLDER)]:
        del files[name]
    for file in config, other:
        file.pop("chat_template", None)
    if isinstance(template, dict):
        config["chat_template"] = [{"name": name, "template": text} for name, text in template.items()]
    elif template is not None:
        files[FILE] = template.encode()


def _refuse(others, target):
    if others:
        raise FileExistsError(f"{target} already has {min(others)}, which would be read together with what is saved: "
                              "remove it, or choose another folder")


def _write(files, target):
    for name, content in files.items():  # what may be in use is replaced, not written over
        path = os.path.join(target, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".partial", "wb") as f:
            f.write(content)
        os.replace(path + ".partial", path)
    return tuple(os.path.join(target, name) for name in files)
