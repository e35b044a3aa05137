"""documents_twin.py: the orders of documents and of rows of whole documents in plain Python, beside order_twin.py and
likewise written from docs/ORDER.md alone. Standard library only."""
from fractions import Fraction
from itertools import accumulate

from order_twin import G, MASK, MOST, Permutation, Phase, Plan, Refused, Skips, integers, mix, split_range

# ---- Plans of documents ----

ALL_SOURCES = 2**32 - 1


class Document:
    def __init__(self, source, number, part, offset, token, tokens):
        self.source, self.number, self.part = source, number, part  # its number in the source
        self.offset, self.token, self.tokens = offset, token, tokens  # first token in the dataset, and in the source


def documents_of(source, datasets, fractions=None, used=0):
    """The used documents of a source; `datasets`: of each, its documents' lengths."""
    out, number, token = [], 0, 0
    for part, lengths in enumerate(datasets):
        starts = [end - tokens for end, tokens in zip(accumulate(lengths), lengths)]
        begin, end = split_range(starts, sum(lengths), fractions, used) if fractions else (0, None)
        for start, tokens in zip(starts, lengths):
            if begin <= start and (end is None or start < end):
                out.append(Document(source, number, part, start, token + start, tokens))
            number += 1
        token += sum(lengths)
    return out


class DocumentPlan(Skips):
    """`documents`: of all sources; `epochs`: 0 for no limit; `used`: of each source, its datasets' used ranges."""

    def __init__(self, documents, length, epochs, seed, sequential, skips, used=()):
        super().__init__(skips)
        self.order, self.used, self.base = 2 + int(sequential), used, length
        self.limits, self.past = [None] * len(used), [(0, length, [])]
        if not documents:
            raise Refused("no document")
        self.documents, self.length, self.seed, self.sequential = documents, length, seed, sequential
        self.end = min(MOST, epochs * len(documents)) if epochs else MOST

    def document(self, n):
        epoch, i = divmod(n, len(self.documents))
        if not self.sequential:
            i = Permutation(len(self.documents), self.seed, ALL_SOURCES, epoch).forward(i)
        return self.documents[i]

    def row_tokens(self, document):
        return min(document.tokens, self.length + 1)

    def show(self, n):
        """source, epoch, document, part, offset, tokens"""
        d = self.document(n)
        return d.source, n // len(self.documents), d.number, d.part, d.offset, self.row_tokens(d)

    def pieces(self, n):
        """The source, and of each piece its first token there, tokens and inputs."""
        d = self.document(n)
        tokens = self.row_tokens(d)
        return d.source, [(d.token, tokens, max(tokens - 1, 0))]

    def find(self, source, first, count, epochs, until):
        """The samples that show a token of [first, first + count) of a source as an input."""
        out = []
        for epoch in range(epochs):
            p = Permutation(len(self.documents), self.seed, ALL_SOURCES, epoch)
            for i, d in enumerate(self.documents):
                inputs = max(self.row_tokens(d) - 1, 0)
                if d.source == source and max(d.token, first) < min(d.token + inputs, first + count):
                    out.append(epoch * len(self.documents) + (i if self.sequential else p.inverse(i)))
        return sorted(n for n in out if n < min(until, self.end))


# ---- Batches by tokens, version 1 ----

BATCHES = 2**32 - 2


class TokensPlan(DocumentPlan):
    """`by_tokens`: max-tokens, max-rows and pool, the last two 0 if not given."""

    def __init__(self, by_tokens, *plain):
        super().__init__(*plain)
        self.tokens, rows, pool = by_tokens
        self.pool = pool or 4096
        self.rows = min(rows or MOST, self.tokens // 2, self.pool)
        if not self.length < self.tokens <= 2**30 or self.pool > 2**20:
            raise Refused("a row longer than a batch, or too large")
        self.by_tokens, self.made = (1, self.tokens, self.rows, self.pool), {}

    def counted(self, n):
        return max(self.row_tokens(self.document(n)), 2)

    def arranged(self, pool):
        """Of each sample of a pool, its number in the plain order, and its row in its batch."""
        if pool not in self.made:
            numbers = range(pool * self.pool, min((pool + 1) * self.pool, self.end))
            batches = [[]]
            for n in sorted(numbers, key=lambda n: (self.row_tokens(self.document(n)), n)):
                if len(batches[-1]) == self.rows or (len(batches[-1]) + 1) * self.counted(n) > self.tokens:
                    batches.append([])
                batches[-1].append(n)
            p = Permutation(len(batches), self.seed, BATCHES, pool)
            order = [k if self.sequential else p.forward(k) for k in range(len(batches))]
            self.made[pool] = [(n, row) for k in order for row, n in enumerate(reversed(batches[k]))]
        return self.made[pool]

    def plain(self, n):
        return self.arranged(n // self.pool)[n % self.pool]

    def show(self, n):
        return super().show(self.plain(n)[0])

    def pieces(self, n):
        return super().pieces(self.plain(n)[0])

    def find(self, source, first, count, epochs, until):
        plain = set(super().find(source, first, count, epochs, MOST))
        return [n for n in range(min(until, self.end)) if self.plain(n)[0] in plain]


# ---- Rows of whole documents, versions 1 and 2 ----

class Fit:
    """The rows of a source's documents (Document, the used ones) in rows of `length` places. `options`: by their keys
    in a plan's text."""

    def __init__(self, documents, length, seed, source, options):
        self.length, self.seed, self.source, self.options = length, seed, source, options
        most = options.get("max-per-row") or length
        self.full, self.rests = [], {}
        self.align, context = options.get("align") or 1, options.get("overlap", 0)
        if length % self.align or context >= length:
            raise Refused("align or overlap do not go with the length")
        self.step = length - context
        for d in sorted(documents, key=lambda d: d.tokens):
            rest, first = self.predictions(d), 0
            while rest >= length:
                self.full.append((d, first))
                rest, first = rest - self.step, first + self.step
            if rest > (context if first else 0):
                self.rests.setdefault(rest, []).append(d)
        groups = []  # [rows, free room, {length: pieces}, all pieces], oldest first
        for piece in sorted(self.rests, reverse=True):
            left, places = len(self.rests[piece]), self.places(piece)
            while left:
                fits = [g for g in groups if g[0] and g[1] >= places and g[3] < most]
                group = min(fits, key=lambda g: g[1]) if fits else [left, length, {}, 0]
                q = min(group[1] // places, most - group[3])
                rows = min(left // q, group[0])
                if rows:
                    groups.append([rows, group[1] - q * places, {**group[2], piece: q}, group[3] + q])
                    group[0] -= rows
                    left -= rows * q
                if left and group[0]:
                    groups.append([1, group[1] - left * places, {**group[2], piece: left}, group[3] + left])
                    group[0] -= 1
                    left = 0
        self.patterns, base, first = [], dict.fromkeys(self.rests, 0), len(self.full)
        for rows, _, held, _ in groups:
            if rows:
                self.patterns.append((first, [(piece, q, base[piece]) for piece, q in held.items()]))
                first += rows
                for piece, q in held.items():
                    base[piece] += rows * q
        self.blocks = first  # U

    def predictions(self, d):
        if d.tokens < self.options.get("min-length", 0) or 0 < self.options.get("max-length", 0) < d.tokens:
            return 0
        if self.options.get("whole") and d.tokens - 1 > self.length:
            return 0
        return max(min(d.tokens, self.options.get("cut-length") or d.tokens) - 1, 0)

    def places(self, piece):
        return -(-piece // self.align) * self.align

    def row(self, row, epoch, n):
        """Of each piece of sample n: its document, first prediction, and predictions."""
        if row < len(self.full):
            return [(*self.full[row], self.length)]
        first, held = [p for p in self.patterns if p[0] <= row][-1]
        pieces = []
        for piece, q, base in sorted(held, reverse=True):
            p = Permutation(len(self.rests[piece]), self.seed, self.source + (piece << 32), epoch)
            for rank in range(base + (row - first) * q, base + (row - first + 1) * q):
                d = self.rests[piece][p.forward(rank)]
                pieces.append((d, self.predictions(d) - piece, piece))
        key = Permutation(1, self.seed, self.source + 2**63, n).keys[0]
        for k in range(len(pieces) - 1, 0, -1):
            other = mix((key + k * G) & MASK) * (k + 1) >> 64
            pieces[k], pieces[other] = pieces[other], pieces[k]
        return pieces


FIT_OPTIONS = ["max-per-row", "min-length", "max-length", "cut-length", "align", "overlap", "begin", "whole"]
OF_SOURCES = [key for key in FIT_OPTIONS if key not in ("align", "overlap", "begin")]


def begun(tokens, start, begin):
    """The tokens of a piece (numbers in the source, rising) of a document that begins at `start`, with ("id", begin)
    where the begin token goes; begin None: it goes nowhere."""
    return tokens if begin is None or tokens[0] == start else [("id", begin)] + tokens[1:]


class FitPlan(Skips):
    """`documents`: of each source, the used ones; `phases` and `limits` as of Plan; `own`: rules of single sources, by
    their numbers."""

    def __init__(self, documents, phases, limits, seed, skips, used=(), options={}, stop_first=False, own={}):
        super().__init__(skips)
        self.rules = [{**options, **own.get(source, {})} for source in range(len(documents))]
        self.has_rules = [{k: v for k, v in rules.items() if v} != {k: v for k, v in options.items() if v}
                          for rules in self.rules]
        for rules in self.rules:
            if rules.get("whole") and rules.get("cut-length"):
                raise Refused("whole documents that are cut")
        self.options = [options.get(key, 0) for key in FIT_OPTIONS]
        self.options[4] = 0 if self.options[4] == 1 else self.options[4]
        self.order, self.used, self.base, self.seed, self.limits = 4, used, phases[0][1], seed, limits
        self.past = [(begin, length, integers(weights)) for begin, length, weights in phases]
        # drawn: of each source, the length of the last phase in which it had a weight, and how many rows it then had
        self.stretches, counts, before, drawn = [], [0] * len(documents), None, [None] * len(documents)
        for i, (begin, length, weights) in enumerate(phases):
            if before is None or before.length != length:
                fits = [Fit(d, length, seed, source, self.rules[source]) for source, d in enumerate(documents)]
                before = Plan.__new__(Plan)
                before.length, before.sources, before.seed, before.sequential = length, fits, seed, False
                before.limits = [None if e is None else e * f.blocks for e, f in zip(limits, fits)]
                before.phases, before.end = [], MOST
                before.stop_first, before.stopped = stop_first, False
                self.stretches.append((begin, before))
            weights = list(weights) + [Fraction(0)] * (len(fits) - len(weights))
            if any(w and not f.blocks for w, f in zip(weights, fits)):
                raise Refused("a source without rows")
            for source, (w, f) in enumerate(zip(weights, fits)):
                if w:
                    old_length, old_rows = drawn[source] or (length, f.blocks)
                    if old_length != length:
                        counts[source] = -(-counts[source] // old_rows) * f.blocks
                    drawn[source] = length, f.blocks
            following = phases[i + 1][0] if i + 1 < len(phases) else None
            counts = before.add_phase(Phase(begin, 1), integers(weights), list(counts), following)
        self.end = before.end

    def show(self, n):
        """source, epoch, row, places, and for each piece its document, first token in its dataset, and tokens"""
        stretch = [s for begin, s in self.stretches if begin <= n][-1]
        source, epoch, row, _, _ = stretch.sample(n)
        pieces = stretch.sources[source].row(row, epoch, n)
        return (source, epoch, row, sum(stretch.sources[source].places(count) for _, _, count in pieces),
                *(f"{d.number}.{d.offset + first}.{count + 1}" for d, first, count in pieces))

    def pieces(self, n):
        """As of DocumentPlan."""
        stretch = [s for begin, s in self.stretches if begin <= n][-1]
        source, epoch, row, _, _ = stretch.sample(n)
        return source, [(d.token + first, count + 1, count)
                        for d, first, count in stretch.sources[source].row(row, epoch, n)]

    def find(self, source, first, count, epochs, until):
        """The samples that show a token of [first, first + count) of a source as an input."""
        out = set()
        for n in range(min(until, self.end)):
            stretch = [s for begin, s in self.stretches if begin <= n][-1]
            shown, epoch, row, _, _ = stretch.sample(n)
            if shown == source and epoch < epochs:
                for d, at, size in stretch.sources[source].row(row, epoch, n):
                    if max(d.token + at, first) < min(d.token + at + size, first + count):
                        out.add(n)
        return sorted(out)
