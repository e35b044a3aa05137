"""_special.py: strings of special tokens in texts, by tiktoken's rules.

The functions take `special`, a function that returns the ids of the special tokens by their names.
"""
from __future__ import annotations

import re
import sys

LIST, BYTES = 0, 1  # the form of ids


def sets(allowed, disallowed):
    """Returns both arguments, each as "all" or a set. `disallowed` "all" means all tokens that are not allowed."""
    allowed = "all" if allowed == "all" else frozenset(allowed or ())
    disallowed = "all" if disallowed is None or disallowed == "all" else frozenset(disallowed)
    return allowed, frozenset() if allowed == disallowed == "all" else disallowed


def pattern_of(names):
    """Returns a pattern that finds the longest of these names at each place, or None without names."""
    return re.compile("|".join(map(re.escape, sorted(names, key=len, reverse=True)))) if names else None


def encode(core, special, text, allowed, disallowed, form):
    """Returns the ids of a text. ValueError if it has a string that is disallowed."""
    allowed, disallowed = sets(allowed, disallowed)
    if not allowed and disallowed == "all":  # In the usual case, it searches only if the encoder met a special string.
        ids, met = core.encode(text, False, form)
        if met:
            look_for(special(), text)
        return ids
    if disallowed:
        look_for(special().keys() - allowed if disallowed == "all" else disallowed, text)
    if allowed == "all" or not allowed:
        return core.encode(text, allowed == "all", form)[0]
    return _encode_with(core, special(), allowed, text, form)


def look_for(disallowed, text):
    if not disallowed:
        return
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    found = re.search("|".join(map(re.escape, disallowed)), text)
    if found:
        token = found.group()
        raise ValueError(
            f"the text contains {token!r}, which is a special token or disallowed: give allowed_special="
            f"{{{token!r}}} to encode it as that token, or disallowed_special=() to encode it as ordinary text "
            "(texts from others should not make special tokens unnoticed)")


def _encode_with(core, special, allowed, text, form):
    """Encodes with only the allowed special tokens: cuts the text at them, and encodes the rest as ordinary text."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "replace")
    pattern = pattern_of(allowed & special.keys())
    ids = core.encode("", False, form)[0]
    at = 0
    for found in pattern.finditer(text) if pattern else ():
        if found.start() > at:
            ids += core.encode(text[at:found.start()], False, form)[0]
        one = special[found.group()]
        ids += [one] if form == LIST else one.to_bytes(4, sys.byteorder)
        at = found.end()
    if at < len(text):
        ids += core.encode(text[at:], False, form)[0]
    return ids


def after_last(special, allowed, text):
    """Returns the text after the last of the allowed special tokens."""
    pattern = pattern_of(special.keys() if allowed == "all" else allowed & special.keys())
    last = 0
    for found in pattern.finditer(text) if pattern else ():
        last = found.end()
    return text[last:]
