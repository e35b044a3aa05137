"""_post_processor.py: what the post-processor of a tokenizer.json makes of the tokens of a text.

It is written down as pieces, in their order: (ids that it adds, or None for those of the text; their type).
"""
from __future__ import annotations

PLAIN = ((None, 0),)  # the text alone

# the options of those that tokenizers also reads as arrays, by the number of entries
_IN_ARRAYS = {2: ("sep", "cls"), 3: ("single", "pair", "special_tokens"),
              4: ("sep", "cls", "trim_offsets", "add_prefix_space")}


def laid_out(pieces, values, added=None):
    """The values of a text's tokens, between what it adds: its ids, or `added` for each of them."""
    out = []
    for own, _ in pieces:
        out += values if own is None else own if added is None else [added] * len(own)
    return out


def types_of(pieces, count):
    """The types of the tokens, for a text of `count`."""
    return [type for own, type in pieces for _ in range(count if own is None else len(own))]


def count_of_added(pieces):
    return sum(len(own) for own, _ in pieces if own is not None)


def pieces_of(processor, vocabulary, special):
    """What it makes of a text; without `special`, it adds nothing. The file may name tokens that are not there: all
    must be below `vocabulary`."""
    try:
        pieces = _pieces(processor, special, PLAIN)
        good = all(type(i) is int and 0 <= i < vocabulary for own, _ in pieces for i in own or ())
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        good = False
    if not good:
        raise ValueError("the tokens that the post-processor in tokenizer.json adds are not known: give "
                         "add_special_tokens=False" if special else "the post-processor in tokenizer.json is malformed")
    return pieces


def trims_of(processor):
    """For each post-processor that trims offsets, in their order: whether a space may have been put before a text."""
    kind, options = _kind(processor)
    if kind == "Sequence":
        return [trim for one in options["processors"] for trim in trims_of(one)]
    if kind not in ("ByteLevel", "RobertaProcessing") or not options.get("trim_offsets", True):
        return []
    return [bool(options.get("add_prefix_space", True))]


def _kind(processor):
    """Its kind and its options, by which it is known, whatever type is written; "" for none."""
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
    """tokenizers also reads {"NAME": null} for "NAME"."""
    return next(iter(value)) if isinstance(value, dict) and list(value.values()) == [None] else value


def as_object(values, names):
    """What is written as an array, with the names of its entries."""
    if isinstance(values, list) and len(values) != len(names):
        raise TypeError(values)
    return dict(zip(names, values)) if isinstance(values, list) else values


def _pieces(processor, special, before):
    """What it makes of `before`, which the one before it has left."""
    kind, options = _kind(processor)
    if processor is None or kind == "ByteLevel":
        return before
    if kind == "Sequence":
        for one in options["processors"]:
            before = _pieces(one, special, before)
        return before
    if len(before) != 1 or before[0][0] is not None:
        # the reference takes the tokens of a template for texts of their own
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
