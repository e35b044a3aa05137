"""_ranks.py: encodes by ranks alone, like tiktoken's Encoding, pieces of bytes and texts that may continue."""
from __future__ import annotations

import heapq

from leat import _leat

# Copied from tiktoken (tiktoken_ext/openai_public.py); test_encodings.py compares the ids.
_GPT2 = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""
_CL100K = (r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|"""
           r"""\s*[\r\n]|\s+(?!\S)|\s""")
_O200K = "|".join((
    r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
    r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?""",
    r"""\p{N}{1,3}""", r""" ?[^\s\p{L}\p{N}]+[\r\n/]*""", r"""\s*[\r\n]+""", r"""\s+(?!\S)""", r"""\s+"""))
_PATTERNS = {"gpt2": _GPT2, "r50k_base": _GPT2, "p50k_base": _GPT2, "p50k_edit": _GPT2, "cl100k_base": _CL100K,
             "o200k_base": _O200K, "o200k_harmony": _O200K}

_SPACE = b" \n\t"


def file_of(pat_str, mergeable_ranks, special_tokens) -> bytes:
    """Returns the content of a file that holds the arguments of tiktoken's Encoding, for the core and for datasets."""
    import base64
    import json
    lines = b"".join(b"%s %d\n" % (base64.b64encode(token), rank)
                     for token, rank in sorted(mergeable_ranks.items(), key=lambda item: item[1]))
    return json.dumps({"pat_str": pat_str, "mergeable_ranks": lines.decode(),
                       "special_tokens": special_tokens}).encode()


def pattern_of(stored) -> str | None:
    """Returns the pattern of a stored tokenizer, or None if it does not follow tiktoken."""
    import json
    name, pattern, file = stored
    if file is None or pattern:
        return _PATTERNS.get(pattern or name)
    if file.lstrip()[:1] == b"{":
        data = json.loads(file)
        return data.get("pat_str") or data.get("config", {}).get("pattern")
    return _PATTERNS.get(name.removesuffix(".zst").removesuffix(".tiktoken"))


def encode_piece(piece: bytes, ranks) -> list[int]:
    """Returns the ids of a piece: its own token if there is one, else the tokens that its bytes merge to."""
    return [ranks[piece]] if piece in ranks else merged(piece, ranks)


def merged(piece: bytes, ranks) -> list[int]:
    """Merges the bytes of a piece. Each step merges the pair of the lowest rank, the first of several."""
    begins = [True] * len(piece)  # whether a part begins at a byte; where it ends, and where the one before it begins:
    after = [*range(1, len(piece) + 1), len(piece)]
    before = list(range(-1, len(piece)))
    heap = [(ranks[piece[i:i + 2]], i, i + 2) for i in range(len(piece) - 1) if piece[i:i + 2] in ranks]
    heapq.heapify(heap)
    while heap:
        _, i, end = heapq.heappop(heap)
        middle = after[i]
        if not begins[i] or middle >= len(piece) or after[middle] != end:
            continue
        begins[middle] = False
        after[i] = end
        before[end] = i
        for at in (before[i], i):
            if at >= 0 and after[at] < len(piece):
                pair = piece[at:after[after[at]]]
                if pair in ranks:
                    heapq.heappush(heap, (ranks[pair], at, at + len(pair)))
    ids, i = [], 0
    while i < len(piece):
        ids.append(ranks[piece[i:after[i]]])
        i = after[i]
    return ids


class Unstable:
    """The end of a text, whose tokens may change when the text continues."""

    def __init__(self, tokenizer, pattern):
        from leat._lazy import need
        self.tokenizer, self.ranks = tokenizer, tokenizer._mergeable_ranks
        self.names = {id: token for token, id in self.ranks.items()}
        self.sorted = sorted(self.ranks)
        regex = need("regex", "text that ends inside a piece")
        self.pieces = regex.compile(pattern)

    def _is_space(self, id):
        return id in self.names and all(byte in _SPACE for byte in self.names[id])

    def split(self, text, ids):
        """Returns (ids before the text's last piece, bytes of that piece and of the white space before it)."""
        last = None
        for last in self.pieces.finditer(text):
            pass
        count = len(encode_piece(last.group().encode(), self.ranks)) if last else 0
        if count and self._is_space(ids[-count]):
            while count < len(ids) and self._is_space(ids[-count - 1]):
                count += 1
        stable = ids[:len(ids) - count]
        return stable, b"".join(self.names[id] for id in ids[len(stable):])

    def encode_bytes(self, data):
        """Encodes bytes that are not UTF-8. As in tiktoken, the bytes after the last whole piece are one piece."""
        try:
            return self.tokenizer.encode_ordinary(data.decode())
        except UnicodeDecodeError as wrong:
            text = data[:wrong.start].decode()
        ids, rest = self.split(text, self.tokenizer.encode_ordinary(text).ids)
        rest += data[len(text.encode()):]
        return ids + (encode_piece(rest, self.ranks) if rest else [])

    def _from(self, prefix):
        from bisect import bisect_left
        at = bisect_left(self.sorted, prefix)
        while at < len(self.sorted) and self.sorted[at].startswith(prefix):
            yield self.sorted[at]
            at += 1

    def _first(self, ids, length):
        """Returns the first ids that together have at least `length` bytes."""
        some = []
        for id in ids:
            some.append(id)
            length -= len(self.names[id])
            if length <= 0:
                break
        return tuple(some)

    def completions(self, rest):
        """Returns the sequences of tokens whose text may begin with `rest`."""
        if not rest:
            return []
        found = {(self.ranks[token],) for token in self._from(rest)}
        for i in range(1, len(rest)):
            for token in self._from(rest[i:]):
                possible = rest[:i] + token
                try:
                    ids = self.tokenizer.encode_ordinary(possible.decode())
                except UnicodeDecodeError:
                    ids = merged(possible, self.ranks)
                found.add(self._first(ids, len(rest)))
        last = rest.decode("utf-8", "ignore")[-1:]
        size = len(last.encode())
        if last.isspace() and last not in "\x1c\x1d\x1e\x1f" and rest.endswith(last.encode()) and len(rest) > size:
            found.add((*merged(rest[:-size], self.ranks),
                       *merged(rest[-size:], self.ranks)))
        return [list(ids) for ids in found]


def core_of(name, pat_str, mergeable_ranks, special_tokens, size):
    """Makes the extension's tokenizer from a program's own ranks, with the arguments of tiktoken's Encoding."""
    if pat_str is None or mergeable_ranks is None:
        raise TypeError("pat_str and mergeable_ranks come together")
    if size is not None:
        highest = max([*mergeable_ranks.values(), *special_tokens.values()], default=-1)
        if size != len(mergeable_ranks) + len(special_tokens) or size != highest + 1:
            raise ValueError(f"explicit_n_vocab is {size}, but there are {len(mergeable_ranks)} ranks and "
                             f"{len(special_tokens)} special tokens, with ids up to {highest}")
    return _leat.Tokenizer(None, None, name, file_of(pat_str, mergeable_ranks, special_tokens))
