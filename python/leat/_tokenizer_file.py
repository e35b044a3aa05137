"""_tokenizer_file.py: reads the parts of a tokenizer.json that change what tokenizers returns but not how documents are
encoded, and the names of tokens."""
from __future__ import annotations

# options of a truncation, in the order of an array, which tokenizers also reads
TRUNCATION = ("direction", "max_length", "strategy", "stride")


def parsed(stored):
    """Returns the parsed file of a stored tokenizer if it is a tokenizer.json, else None."""
    import json
    name, _, file = stored
    if file is None or not name.endswith((".json", ".json.zst")):
        return None
    data = json.loads(unpacked(file) if file[:4] == b"\x28\xb5\x2f\xfd" else file)
    return data if "model" in data else None  # a tekken.json has no model


def facts_of(file):
    """Returns the facts of a tokenizer.json that are needed often, so that it is parsed once."""
    if file is None:
        return {}
    return {"tokens": len(file["model"]["vocab"]),
            **{name: file.get(name) for name in ("padding", "truncation", "post_processor")}}


def byte_letters():
    """Returns the letter for each byte in GPT-2's byte-level files."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {byte: byte for byte in plain}
    others = [byte for byte in range(256) if byte not in letters]
    letters.update((byte, 256 + i) for i, byte in enumerate(others))
    return letters


def _own_name(text, bytewise, letters):
    return text.decode("latin-1").translate(letters) if bytewise else text.decode("utf-8", "replace")


def names_of(core):
    """Returns ({name: id}, {id: name}) for all tokens, with the names that a tokenizer.json writes."""
    letters = byte_letters()
    names, ids = {}, {}
    for id, (text, bytewise, _, _, other) in core.tokens(False).items():
        name = _own_name(text, bytewise, letters)
        ids[name] = id  # of several tokens with one name, the last counts, as in tokenizers
        names[id] = name if other is None else other.decode()
    ids.update((text.decode("utf-8", "replace"), id) for id, (text, *_) in core.tokens(True).items())
    return ids, names


class Skipped(dict):
    """Maps an id to True if decoding leaves it out, and fills itself when asked. tokenizers compares names: it leaves
    out both of two tokens with one name, and misses special tokens whose names its normalizer has changed."""

    def __init__(self, core, special):
        self._core, self._special, self._letters = core, special, byte_letters()

    def __missing__(self, id):
        token = self._core.token(id) if 0 <= id < 2**32 else None
        if token is None:  # decoding refuses such an id, or leaves it out
            return False
        text, bytewise, _, special, other = token
        name = _own_name(text, bytewise, self._letters) if other is None else other.decode()
        self[id] = name in self._special or (special and other is None)
        return self[id]


def is_plain(file):
    """Returns True if model, normalizer and pre-tokenizer are written as tokenizers writes them. tokenizers also reads
    parts without a type, arrays in place of objects, and {"NAME": null} in place of "NAME"."""
    if "type" not in file["model"] and "merges" not in file["model"]:  # old files have byte-pair models without a type
        return False
    parts = [file.get("normalizer"), file.get("pre_tokenizer")]
    for part in parts:  # the loop appends to this list
        if part is None:
            continue
        if not isinstance(part, dict) or not isinstance(part.get("type"), str):
            return False
        if isinstance(part.get("behavior"), dict):
            return False
        for name in ("normalizers", "pretokenizers"):
            parts += part.get(name, ())
    return all(isinstance(token, dict) for token in file.get("added_tokens", ()))


def truncation_of(settings):
    """Returns the truncation of a file as options of enable_truncation(), or None if the file asks for none."""
    if settings is None:
        return None
    words = {"LongestFirst": "longest_first", "OnlyFirst": "only_first", "OnlySecond": "only_second", "Right": "right",
             "Left": "left"}

    try:
        settings = as_object(settings, TRUNCATION)
        return check_truncation({"max_length": settings["max_length"], "stride": settings["stride"],
                                 "strategy": words[name_of(settings["strategy"])],
                                 "direction": words[name_of(settings.get("direction", "Right"))]}, 0)
    except (AttributeError, KeyError, TypeError):
        raise ValueError("the truncation in tokenizer.json is malformed: call no_truncation()") from None


def check_truncation(truncation, added):
    """Raises ValueError for a truncation that tokenizers refuses or cannot do with `added` tokens added to a text."""
    for name in "max_length", "stride":
        if type(truncation[name]) is not int or truncation[name] < 0:
            raise ValueError(f"{name} must be a whole number, not {truncation[name]!r}")
    if truncation["strategy"] not in ("longest_first", "only_first"):
        raise ValueError(f"strategy must be \"longest_first\" or \"only_first\", not {truncation['strategy']!r}: leat "
                         "encodes single texts")
    if truncation["direction"] not in ("right", "left"):
        raise ValueError(f"direction must be \"right\" or \"left\", not {truncation['direction']!r}")
    room = truncation["max_length"] - added
    if room < truncation["stride"]:
        raise ValueError(f"max_length {truncation['max_length']}, without the {added} tokens around each text, is less "
                         f"than the stride {truncation['stride']}")
    return truncation


def unpacked(file):
    try:
        from compression import zstd  # Python 3.14
    except ImportError:
        try:
            import zstandard
        except ImportError:
            raise NotImplementedError(
                "a compressed tokenizer.json needs Python 3.14 or the package zstandard to find what it says of texts "
                "and padding: install one, or decompress the file") from None
        return zstandard.ZstdDecompressor().decompressobj().decompress(file)
    return zstd.decompress(file)


# ---- The post-processor: what it makes of the tokens of a text, as pieces in their order -----------------------------
# A piece is a pair: the ids that it adds, or None for the text's own ids; and their type.

PLAIN = ((None, 0),)  # the text alone

# Options of the post-processors that tokenizers also reads as arrays, by the length of the array.
_IN_ARRAYS = {2: ("sep", "cls"), 3: ("single", "pair", "special_tokens"),
              4: ("sep", "cls", "trim_offsets", "add_prefix_space")}


def laid_out(pieces, values, added=None):
    """Returns the values of a text's tokens, between the added tokens' values: their ids, or `added`."""
    out = []
    for own, _ in pieces:
        out += values if own is None else own if added is None else [added] * len(own)
    return out


def types_of(pieces, count):
    """Returns the types of all tokens for a text of `count` tokens."""
    return [type for own, type in pieces for _ in range(count if own is None else len(own))]


def count_of_added(pieces):
    return sum(len(own) for own, _ in pieces if own is not None)


def pieces_of(processor, vocabulary, special):
    """Returns the pieces that a post-processor makes of a text. Without `special`, it adds no tokens. All ids must be
    below `vocabulary`, because the file may name tokens that do not exist."""
    try:
        pieces = _pieces(processor, special, PLAIN)
        good = all(type(i) is int and 0 <= i < vocabulary for own, _ in pieces for i in own or ())
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        good = False
    if not good:
        raise ValueError("the tokens that the post-processor in tokenizer.json adds are not known: give "
                         "add_special_tokens=False" if special else "the post-processor in tokenizer.json is malformed")
    return pieces


def begin_of(processor, vocabulary, end):
    """Returns the token that is added before a text, if only `end` may be added after the text; else None."""
    try:
        around = [own for own, _ in pieces_of(processor, vocabulary, True)]
        text, = (i for i, own in enumerate(around) if own is None)
    except (NotImplementedError, ValueError):
        return None
    before, after = (sum(side, ()) for side in (around[:text], around[text + 1:]))
    return before[0] if len(before) == 1 and after in ((), (end,)) else None


def trims_of(processor):
    """Returns a flag for each post-processor that trims offsets: True if a space may have been put before a text."""
    kind, options = _kind(processor)
    if kind == "Sequence":
        return [trim for one in options["processors"] for trim in trims_of(one)]
    if kind not in ("ByteLevel", "RobertaProcessing") or not options.get("trim_offsets", True):
        return []
    return [bool(options.get("add_prefix_space", True))]


def _kind(processor):
    """Returns a post-processor's kind ("" for None) and its options. The options decide its kind, not the written
    type."""
    if isinstance(processor, list) and len(processor) in _IN_ARRAYS:
        processor = as_object(processor, _IN_ARRAYS[len(processor)])
    if not isinstance(processor, dict):
        return "", {}
    if {"sep", "cls"} <= processor.keys():
        long = {"trim_offsets", "add_prefix_space"} <= processor.keys()
        return "RobertaProcessing" if long else "BertProcessing", processor
    return next((kind for kind, option in (("TemplateProcessing", "single"), ("Sequence", "processors"))
                 if option in processor), "ByteLevel"), processor


def name_of(value):
    """Returns the name that a value means: tokenizers also reads {"NAME": null} for "NAME"."""
    return next(iter(value)) if isinstance(value, dict) and list(value.values()) == [None] else value


def as_object(values, names):
    """Turns an array into an object with these names."""
    if isinstance(values, list) and len(values) != len(names):
        raise TypeError(values)
    return dict(zip(names, values)) if isinstance(values, list) else values


def _pieces(processor, special, before):
    """Returns the pieces that a post-processor makes of `before`, the pieces of the one before it."""
    kind, options = _kind(processor)
    if processor is None or kind == "ByteLevel":
        return before
    if kind == "Sequence":
        for one in options["processors"]:
            before = _pieces(one, special, before)
        return before
    if len(before) != 1 or before[0][0] is not None:
        # The reference treats the tokens of a template as further texts.
        raise NotImplementedError("a Sequence of post-processors in tokenizer.json goes on after one that adds tokens "
                                  "or repeats the text, which leat does not support"
                                  + (": give add_special_tokens=False" if special else ""))
    if kind == "TemplateProcessing":
        return tuple(_piece(entry, options["special_tokens"]) for entry in options["single"]
                     if special or "Sequence" in entry)
    sides = (((options["cls"][1],), 0),), (((options["sep"][1],), 0),)
    text = before if kind == "BertProcessing" else PLAIN
    return (*sides[0], *text, *sides[1]) if special else text


def _piece(entry, tokens):
    if "Sequence" in entry:
        text = as_object(entry["Sequence"], ("id", "type_id"))
        if text["id"] != "A":
            raise ValueError(text)  # there is no second text
        return None, text["type_id"]
    token = as_object(entry["SpecialToken"], ("id", "type_id"))
    return tuple(as_object(tokens[token["id"]], ("id", "ids", "tokens"))["ids"]), token["type_id"]
