"""order_twin.py: the order of samples in plain Python, written from docs/ORDER.md alone: slow, short, and without
anything in common with src/. Standard library only."""
from fractions import Fraction
from itertools import accumulate
from math import gcd

MASK = 2**64 - 1
G = 0x9E3779B97F4A7C15
MOST = 2**60


class Refused(Exception):
    """The plan makes no sense."""


# ---- Permutation, version 1 ----

def mix(z):
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
    return z ^ z >> 31


def shift(c, k, limit):
    v = (c ^ k) * 0xD6E8FEB86659FD93 & MASK
    v = (v ^ v >> 32) * 0xFF51AFD7ED558CCD & MASK
    return v * limit >> 64


def root_up(n):
    """The least integer that is not below the square root of n."""
    low, high = 0, 2**25
    while low < high:
        middle = (low + high) // 2
        if middle * middle >= n:
            high = middle
        else:
            low = middle + 1
    return low


class Permutation:
    def __init__(self, n, seed, source, epoch):
        self.n = n
        self.rows = root_up(n)
        self.rows += self.rows % 2
        self.columns = -(-n // self.rows)
        state = mix((mix((seed + G) & MASK) ^ source) + G & MASK)
        first = mix((state ^ epoch) + G & MASK)
        self.keys = [(first + r * G) & MASK for r in range(8 if n >= 65536 else 16)]

    def forward(self, x):
        while True:
            row, column = divmod(x, self.columns)
            for r in range(0, len(self.keys), 2):
                row = (row + shift(column, self.keys[r], self.rows)) % self.rows
                column = (column + shift(row, self.keys[r + 1], self.columns)) % self.columns
            x = row * self.columns + column
            if x < self.n:
                return x

    def inverse(self, x):
        while True:
            row, column = divmod(x, self.columns)
            for r in range(len(self.keys) - 2, -1, -2):
                column = (column - shift(row, self.keys[r + 1], self.columns)) % self.columns
                row = (row - shift(column, self.keys[r], self.rows)) % self.rows
            x = row * self.columns + column
            if x < self.n:
                return x


# ---- Blend, version 1 ----

class Node:
    def __init__(self, weight, age, source=None, left=None, right=None):
        self.weight, self.age, self.source, self.left, self.right = weight, age, source, left, right
        self.parent = None

    def first_draws(self, k):
        """How many of the first k draws are the left child's."""
        return (2 * k * self.left.weight + self.weight) // (2 * self.weight)


class Blend:
    def __init__(self, weights):
        nodes = [Node(w, age, source=i) for age, (i, w) in enumerate((i, w) for i, w in enumerate(weights) if w)]
        self.leaves = {node.source: node for node in nodes}
        age = len(nodes)
        while len(nodes) > 1:
            nodes.sort(key=lambda node: (node.weight, node.age))
            right, left = nodes[0], nodes[1]
            join = Node(left.weight + right.weight, age, left=left, right=right)
            left.parent = right.parent = join
            nodes[:2] = [join]
            age += 1
        self.root = nodes[0]

    def draw(self, k):
        node = self.root
        while node.source is None:
            left = node.first_draws(k)
            if node.first_draws(k + 1) > left:
                node, k = node.left, left
            else:
                node, k = node.right, k - left
        return node.source, k

    def place(self, source, c):
        node = self.leaves[source]
        while node.parent:
            up = node.parent
            if up.left is node:
                c = -(-(2 * c + 1) * up.weight // (2 * node.weight)) - 1
            else:
                c = (2 * c + 1) * up.weight // (2 * node.weight)
            node = up
        return c

    def counts(self, k):
        """Of each source with a weight: its draws among the first k."""
        out = {}
        todo = [(self.root, k)]
        while todo:
            node, share = todo.pop()
            if node.source is not None:
                out[node.source] = share
            else:
                left = node.first_draws(share)
                todo += [(node.left, left), (node.right, share - left)]
        return out


def integers(weights):
    """Fractions to integers without a common factor."""
    scale = 1
    for w in weights:
        scale = scale * w.denominator // gcd(scale, w.denominator)
    whole = [int(w * scale) for w in weights]
    factor = 0
    for w in whole:
        factor = gcd(factor, w)
    if factor == 0:
        raise Refused("no weight")
    whole = [w // factor for w in whole]
    if sum(whole) > 2**48:
        raise Refused("weights too fine")
    return whole


# ---- Splits, version 1 ----

def split_range(starts, tokens, fractions, used):
    """The used part of a dataset: `starts` are its documents' first tokens."""
    def boundary(fraction):
        wish = int(tokens * fraction)
        return min((s for s in starts if s >= wish), default=tokens) if wish < tokens else tokens
    return boundary(sum(fractions[:used], Fraction(0))) if used else 0, boundary(sum(fractions[:used + 1]))


# ---- Plans ----

class Source:
    """`ranges`: the used [begin, end) of each dataset."""

    def __init__(self, ranges, base):
        self.ranges = list(ranges)
        self.places = []  # (first block, blocks, begin)
        self.blocks = 0
        for begin, end in ranges:
            blocks = (end - begin - 1) // base if end > begin else 0
            self.places.append((self.blocks, blocks, begin))
            self.blocks += blocks

    def place(self, block, base):
        for part, (first, blocks, begin) in enumerate(self.places):
            if first <= block < first + blocks:
                return part, begin + (block - first) * base
        raise AssertionError


class Segment:
    """A stretch of a phase in which weights stay the same."""

    def __init__(self, first, weights, counts):
        self.first, self.counts = first, list(counts)
        self.blend = Blend(weights)


class Phase:
    def __init__(self, begin, pieces):
        self.begin, self.pieces = begin, pieces
        self.group = 1 if pieces == 1 else 16
        self.segments = []
        self.draws = None  # None: no end

    def size(self, group):
        return self.group if self.draws is None else min(self.group, self.draws - group * self.group)

    def draw(self, n):
        """(draw, piece) of sample n."""
        group, j = divmod(n - self.begin, self.group * self.pieces)
        size = self.size(group)
        return group * self.group + j % size, j // size

    def sample(self, draw, piece):
        group, inside = divmod(draw, self.group)
        return self.begin + group * self.group * self.pieces + piece * self.size(group) + inside


class Skips:
    """`skips`: [first, end) of samples that are left out."""

    def __init__(self, skips):
        self.skips = sorted(skips)

    def number(self, position):
        n = position
        for first, end in self.skips:
            if first <= n:
                n += end - first
        return n

    def position(self, n):
        return n - sum(min(end, n) - first for first, end in self.skips if first < n)


class Plan(Skips):
    """`sources`: Source; `phases`: (begin, length, weights as fractions), the first at 0; `limits`: epochs or None."""

    def __init__(self, sources, phases, limits, base, seed, sequential, skips):
        super().__init__(skips)
        self.sources, self.base, self.seed, self.sequential = sources, base, seed, sequential
        self.limits = [None if e is None else e * s.blocks for e, s in zip(limits, sources)]
        self.order, self.used = int(sequential), [s.ranges for s in sources]
        self.past = [(begin, length, integers(weights)) for begin, length, weights in phases]
        self.phases = []
        self.end = MOST
        for (_, _, weights) in phases:
            for w, s in zip(weights, sources):
                if w and s.blocks == 0:
                    raise Refused("a source without blocks")
        counts = [0] * len(sources)
        for i, (begin, length, weights) in enumerate(phases):
            if base % length:
                raise Refused("length")
            weights = list(weights) + [Fraction(0)] * (len(sources) - len(weights))
            following = phases[i + 1][0] if i + 1 < len(phases) else None
            counts = self.add_phase(Phase(begin, base // length), integers(weights), counts, following)

    def spent(self, source, counts):
        return self.limits[source] is not None and counts[source] >= self.limits[source]

    def add_phase(self, phase, weights, counts, following):
        weights = [0 if self.spent(i, counts) else w for i, w in enumerate(weights)]
        if not any(weights):
            raise Refused("no source left")
        # up to the next begin; a begin inside a block is refused below
        wanted = None if following is None else -(-(following - phase.begin) // phase.pieces)
        first = 0
        while any(weights) and (wanted is None or first < wanted):
            segment = Segment(first, weights, counts)
            phase.segments.append(segment)
            ends = [segment.blend.place(i, self.limits[i] - counts[i] - 1) + 1
                    for i, w in enumerate(weights) if w and self.limits[i] is not None]
            length = min(ends + ([] if wanted is None else [wanted - first]), default=None)
            if length is None or wanted is None and length >= MOST:
                first = None
                break
            for i, count in segment.blend.counts(length).items():
                counts[i] += count
            first += length
            weights = [0 if self.spent(i, counts) else w for i, w in enumerate(weights)]
        phase.draws = first
        self.end = MOST if first is None else min(MOST, phase.begin + first * phase.pieces)
        self.phases.append(phase)
        if following is not None:
            if following > self.end:
                raise Refused("begins after the end")
            cut = (following - phase.begin) % (phase.group * phase.pieces) != 0
            if cut and (any(weights) or following != self.end):
                raise Refused("cuts a group")
        return counts

    def sample(self, n):
        """(source, epoch, block, piece, pieces)"""
        phase = [p for p in self.phases if p.begin <= n][-1]
        draw, piece = phase.draw(n)
        segment = [s for s in phase.segments if s.first <= draw][-1]
        source, own = segment.blend.draw(draw - segment.first)
        epoch, i = divmod(segment.counts[source] + own, self.sources[source].blocks)
        if not self.sequential:
            i = Permutation(self.sources[source].blocks, self.seed, source, epoch).forward(i)
        return source, epoch, i, piece, phase.pieces

    def show(self, n):
        """source, epoch, window, part, offset, length: what a line of the vectors has."""
        source, epoch, block, piece, pieces = self.sample(n)
        part, token = self.sources[source].place(block, self.base)
        length = self.base // pieces
        return source, epoch, block * pieces + piece, part, token + piece * length, length

    def find(self, source, epoch, block):
        """The samples that show a block in an epoch, piece by piece; none: []."""
        blocks = self.sources[source].blocks
        i = block if self.sequential else Permutation(blocks, self.seed, source, epoch).inverse(block)
        own = epoch * blocks + i
        if self.limits[source] is not None and own >= self.limits[source]:
            return []
        for number, phase in enumerate(self.phases):
            for at, segment in enumerate(phase.segments):
                if source not in segment.blend.leaves or own < segment.counts[source]:
                    continue
                draw = segment.first + segment.blend.place(source, own - segment.counts[source])
                if at + 1 < len(phase.segments):
                    end = phase.segments[at + 1].first
                else:
                    end = phase.draws
                if end is None or draw < end:
                    samples = [phase.sample(draw, piece) for piece in range(phase.pieces)]
                    return samples if samples[-1] < self.end else []
        return []


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


# ---- Rows of whole documents, version 1 ----

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


FIT_OPTIONS = ["max-per-row", "min-length", "max-length", "cut-length", "align", "overlap"]


class FitPlan(Skips):
    """`documents`: of each source, the used ones; `phases` and `limits` as of Plan."""

    def __init__(self, documents, phases, limits, seed, skips, used=(), options={}):
        super().__init__(skips)
        self.options = [options.get(key, 0) for key in FIT_OPTIONS]
        self.options[4] = 0 if self.options[4] == 1 else self.options[4]
        self.order, self.used, self.base, self.seed, self.limits = 4, used, phases[0][1], seed, limits
        self.past = [(begin, length, integers(weights)) for begin, length, weights in phases]
        # drawn: of each source, the length of the last phase in which it had a weight, and how many rows it then had
        self.stretches, counts, before, drawn = [], [0] * len(documents), None, [None] * len(documents)
        for i, (begin, length, weights) in enumerate(phases):
            if before is None or before.length != length:
                fits = [Fit(d, length, seed, source, options) for source, d in enumerate(documents)]
                before = Plan.__new__(Plan)
                before.length, before.sources, before.seed, before.sequential = length, fits, seed, False
                before.limits = [None if e is None else e * f.blocks for e, f in zip(limits, fits)]
                before.phases, before.end = [], MOST
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


# ---- State ----

ORDERS = ["shuffled", "sequential", "documents", "documents-sequential", "fit", "megatron"]
RULES = {4: ",fit=1", 5: ",megatron=1"}  # of an order of its own


class Chain:
    """`hash128`: XXH3-128 of bytes, as a number."""

    def __init__(self, hash128):
        self.hash128, self.bytes = hash128, b"leat plan state\0"

    def step(self, *numbers):
        numbers = b"".join(n.to_bytes(8, "little") for n in numbers)
        self.bytes = self.hash128(self.bytes + numbers).to_bytes(16, "little")

    def low(self):
        return int.from_bytes(self.bytes[:8], "little")

    def high(self):
        return int.from_bytes(self.bytes[8:], "little")


def kept(hashes):
    """A line's count and hashes: at most 64 of them."""
    count = len(hashes)
    if count > 64:
        hashes = [hashes[i * count // 64 - 1] for i in range(1, 65)]
    return " ".join([str(count)] + [f"{h:016x}" for h in hashes])


def joined(skips):
    out = []
    for first, end in sorted(skips):
        if out and out[-1][1] == first:
            out[-1] = out[-1][0], end
        else:
            out.append((first, end))
    return out


def state(plan, position, damaged, identities, hash128):
    """The text of a state; `identities`: of each source, its datasets' 16 bytes."""
    end = plan.number(position - 1) + 1 if position else 0
    phases = [phase for i, phase in enumerate(plan.past) if i == 0 or phase[0] < end]
    weighted = [i + 1 for _, _, weights in phases for i, w in enumerate(weights) if w]
    sources, phase_hashes = [], []
    chain, skips = Chain(hash128), Chain(hash128)
    rule = RULES.get(plan.order, "")
    chain.step(1, 1, 1, plan.base, plan.seed, plan.order, *[1] * bool(rule))
    options = list(zip(FIT_OPTIONS, plan.options)) if plan.order == 4 else []
    options = [group for group in (options[:4], options[4:]) if any(value for _, value in group)]
    for group in options:
        chain.step(*(value for _, value in group))
    for number in range(max(weighted, default=len(plan.used))):
        for identity, used in zip(identities[number], plan.used[number]):
            chain.step(int.from_bytes(identity[:8], "little"), int.from_bytes(identity[8:], "little"), *used)
        limit = plan.limits[number]
        chain.step(len(plan.used[number]), MASK if limit is None else limit)
        if plan.order == 5:
            chain.step(*plan.settings(number))
        sources.append(chain.low())
    for begin, length, weights in phases:
        count = max((i + 1 for i, w in enumerate(weights) if w), default=0)
        chain.step(begin, length, count)
        for w in weights[:count]:
            chain.step(w)
        phase_hashes.append(chain.low())
    for skip in joined(plan.skips):
        if skip[0] < end:
            skips.step(*skip)
    chain.step(skips.low())
    text = (f"leat state 1\nposition {position}\nskipped {end - position}\ndamaged {damaged}\n"
            f"rules permutation=1,blend=1,split=1{rule}\nbase-len {plan.base}\nseed {plan.seed}\n"
            f"order {ORDERS[plan.order]}\n" + "".join(f"{k} {v}\n" for group in options for k, v in group) +
            f"sources {kept(sources)}\nphases {kept(phase_hashes)}\n"
            f"skips {skips.low():016x}\nfingerprint {chain.high():016x}{chain.low():016x}\n")
    return text + f"check {hash128(text.encode()) & MASK:016x}\n"
