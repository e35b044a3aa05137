"""_offsets.py: where the tokens of a text stand in it.

The extension gives ids only. But what most tokens say of themselves is enough: if the tokens between two added ones,
put together, spell the text between these, each of them stands where it is spelled. Marks (U+2581) are spaces, <0xNN>
are bytes, and one space may have been put before. Words of WordPiece and WordLevel stand in the text with white space
between them. Where tokens spell something else, because a normalizer has changed the text, or a token is unknown,
there is no answer (Unspelled).
"""
from __future__ import annotations

import re

MARK = "\u2581".encode()
_BYTE = re.compile(rb"<0x([0-9A-F]{2})>")
_SPACES = re.compile(rb"(?:[ \t-\r]|\xc2[\x85\xa0]|\xe1\x9a\x80|\xe2\x80[\x80-\x8a\xa8\xa9\xaf]|\xe2\x81\x9f|"
                     rb"\xe3\x80\x80)*")


class Unspelled(Exception):
    """The tokens do not spell the text; its argument says which token is the first that does not."""


def byte_spans(text: bytes, pieces, words_prefix=None):
    """[begin, end) in the UTF-8 of a text for each of its tokens.

    pieces        of each token (its bytes, whether these are the text's own, and for an added token whether it takes
                  the white space before and after it, else None)
    words_prefix  of a WordPiece model, b"" of WordLevel: words stand apart; None: tokens follow each other
    """
    bytewise = any(piece[1] for piece in pieces)
    plain, places = (text, None) if bytewise else _without_marks(text)
    parts = [(piece[0] if bytewise else _spelled(piece[0]), piece[2]) for piece in pieces]
    spans, at, i = [], 0, 0
    while i < len(parts):
        if parts[i][1] is not None:
            spans.append(_added(plain, at, parts[i], words_prefix is not None, i))
            i += 1
        elif words_prefix is not None:
            spans.append(_word(plain, at, parts[i][0], words_prefix, i))
            i += 1
        else:
            stop = next((k for k in range(i, len(parts)) if parts[k][1] is not None), len(parts))
            _segment(plain, at, [part[0] for part in parts[i:stop]], parts[stop:stop + 1], spans, i)
            i = stop
        at = spans[-1][1]
    if words_prefix is not None and _skip(plain, at) < len(plain):  # the last word was unknown, and called like a part
        raise Unspelled(max(len(parts) - 1, 0))
    return [(places[b], places[e]) for b, e in spans] if places else spans


def _without_marks(text):
    """The text with spaces for marks, and where its bytes stand in the text; None if there are no marks."""
    if MARK not in text:
        return text, None
    parts = text.split(MARK)
    places, at = [], 0
    for part in parts:
        places.extend(range(at, at + len(part) + 1))
        at += len(part) + len(MARK)
    return b" ".join(parts), places


def _spelled(text):
    byte = _BYTE.fullmatch(text)
    return bytes([int(byte.group(1), 16)]) if byte else text.replace(MARK, b" ")


def _segment(text, at, parts, following, spans, number):
    """Adds the spans of tokens that follow each other, perhaps with a space put before them."""
    joined = b"".join(parts)
    for cut in 0, 1:
        end = at + len(joined) - cut
        if text[at:end] == joined[cut:] and (joined[:cut] in (b"", b" ")) and _goes_on(text, end, following):
            break
    else:
        raise Unspelled(number)
    place = at - cut
    for part in parts:
        spans.append((max(place, at), place + len(part)))
        place += len(part)


def _goes_on(text, at, following):
    if not following:
        return at == len(text)
    word, (left, _) = following[0]
    return text.startswith(word, _skip(text, at) if left else at)


def _skip(text, at):
    return _SPACES.match(text, at).end()


def _added(text, at, part, apart, number):
    word, (left, right) = part
    begin = _skip(text, at) if apart or left else at
    if not text.startswith(word, begin):
        raise Unspelled(number)
    end = begin + len(word)
    return at if left else begin, _skip(text, end) if right else end


def _word(text, at, word, prefix, number):
    if prefix and word.startswith(prefix) and text.startswith(word[len(prefix):], at):
        return at, at + len(word) - len(prefix)
    begin = _skip(text, at)
    if not text.startswith(word, begin):
        raise Unspelled(number)
    return begin, begin + len(word)


def character_spans(text: bytes, spans):
    """[begin, end) in characters, as tokenizers has it: a token has all characters of which it has a byte; one that
    stands for nothing but a space put before has the character after it."""
    first = [0] * (len(text) + 1)  # how many characters begin before a byte
    count = 0
    for i, byte in enumerate(text):
        first[i] = count
        count += byte & 0xC0 != 0x80
    first[len(text)] = count
    inside = [i < len(text) and text[i] & 0xC0 == 0x80 for i in range(len(text) + 1)]
    out = []
    for begin, end in spans:
        left = first[begin] - inside[begin]
        out.append((left, first[end] if end > begin else min(left + 1, count)))
    return out


def trimmed(offsets, names, prefixed):
    """Without the white space around tokens, as post-processors with "trim_offsets" leave them; `prefixed`: the first
    may have had a space put before, which is no white space of the text."""
    out = []
    for i, ((begin, end), name) in enumerate(zip(offsets, names)):
        leading, trailing = len(name) - len(_lstrip(name)), len(name) - len(_rstrip(name))
        if leading == 1 and prefixed and (i == 0 or begin == 0):
            leading = 0
        begin = min(begin + leading, end)
        if trailing and end >= trailing:
            end = max(end - trailing, begin)
        out.append((begin, end))
    return out


def _lstrip(name):
    at = 0
    while at < len(name) and (name[at] == "\u0120" or _is_space(name[at])):
        at += 1
    return name[at:]


def _rstrip(name):
    at = len(name)
    while at > 0 and (name[at - 1] == "\u0120" or _is_space(name[at - 1])):
        at -= 1
    return name[:at]


def _is_space(character):
    return character.isspace() and not "\x1c" <= character <= "\x1f"  # which Rust does not count
