"""order_twin.py: the order of samples in plain Python, written from docs/ORDER.md alone: slow, short, and without
anything in common with src/. Standard library only. documents_twin.py, megatron_twin.py and state_twin.py go on."""
from fractions import Fraction
from functools import lru_cache
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


# ---- Stretches, version 1 ----

@lru_cache(maxsize=64)
def in_stretches(blocks, size, mix, lanes, seed, source, epoch):
    """The blocks of a source in the order of an epoch, one by one."""
    size = min(size, blocks)
    whole = blocks // size
    order = Permutation(whole, seed, source + 2**62, epoch)
    stretches = [order.forward(q) for q in range(whole)] + [whole] * (blocks % size > 0)
    streams = []
    for lane in range(lanes):
        own, stream = stretches[lane::lanes], []
        for first in range(0, len(own), mix):
            pool = [b for s in own[first:first + mix] for b in range(s * size, min((s + 1) * size, blocks))]
            key = epoch * (whole + 1) + lane + lanes * first
            shuffled = Permutation(len(pool), seed, source + 3 * 2**61, key & MASK)
            stream += [pool[shuffled.forward(i)] for i in range(len(pool))]
        streams.append(stream)
    even = min(map(len, streams))
    return [stream[i] for i in range(even) for stream in streams] + [b for stream in streams for b in stream[even:]]


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


class Bans:
    """`bans`: (start, source, documents), as lines of a plan's text give them."""

    def __init__(self, bans=()):
        self.starts = {}
        for start, source, documents in bans:
            for d in documents:
                self.starts[source, d] = min(start, self.starts.get((source, d), start))

    def banned(self, source, document, n):
        return self.starts.get((source, document), n + 1) <= n

    def past(self, end, sources):
        """The bans that start before sample `end`, of the first `sources` sources, as (source, start, first, end)."""
        out = []
        for source, start, d in sorted((source, start, d) for (source, d), start in self.starts.items()):
            if start >= end or source >= sources:
                continue
            if out and out[-1][:2] == (source, start) and out[-1][3] == d:
                out[-1] = source, start, out[-1][2], d + 1
            else:
                out.append((source, start, d, d + 1))
        return out


class Plan(Skips):
    """`sources`: Source; `phases`: (begin, length, weights as fractions), the first at 0; `limits`: epochs or None;
    `stretches`: (bytes, mix, lanes) and how many bytes a token has."""

    locality = None  # stretch, mix, lanes

    def __init__(self, sources, phases, limits, base, seed, sequential, skips, stop_first=False, stretches=None,
                 width=2):
        super().__init__(skips)
        self.locality = stretches
        if stretches:
            self.size, largest = stretches[0] // (base * width), max(source.blocks for source in sources)
            if not 0 < self.size <= largest or stretches[1] * stretches[2] > -(-largest // self.size):
                raise Refused("stretches")
        self.stop_first, self.stopped = stop_first, False
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

    def left(self, weights, counts):
        """The weights of the sources that are not spent; none, if the plan ends with the first that is."""
        spent = [w and self.spent(i, counts) for i, w in enumerate(weights)]
        if self.stop_first and any(spent):
            self.stopped = True
            return [0] * len(weights)
        return [0 if s else w for s, w in zip(spent, weights)]

    def add_phase(self, phase, weights, counts, following):
        weights = self.left(weights, counts)
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
            weights = self.left(weights, counts)
        phase.draws = first
        self.end = MOST if first is None else min(MOST, phase.begin + first * phase.pieces)
        self.phases.append(phase)
        if following is not None:
            if following > self.end or self.stopped:
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
        blocks = self.sources[source].blocks
        epoch, i = divmod(segment.counts[source] + own, blocks)
        if self.locality:
            i = in_stretches(blocks, self.size, *self.locality[1:], self.seed, source, epoch)[i]
        elif not self.sequential:
            i = Permutation(blocks, self.seed, source, epoch).forward(i)
        return source, epoch, i, piece, phase.pieces

    def lane(self, n):
        """The lane of stretches that sample n is shown in."""
        source, epoch, block, _, _ = self.sample(n)
        blocks = self.sources[source].blocks
        size, lanes = min(self.size, blocks), self.locality[2]
        order = Permutation(blocks // size, self.seed, source + 2**62, epoch)
        stretch = block // size
        return (order.inverse(stretch) if stretch < blocks // size else stretch) % lanes

    def show(self, n):
        """source, epoch, window, part, offset, length: what a line of the vectors has."""
        source, epoch, block, piece, pieces = self.sample(n)
        part, token = self.sources[source].place(block, self.base)
        length = self.base // pieces
        return source, epoch, block * pieces + piece, part, token + piece * length, length

    def pieces(self, n):
        """The source, and of each piece its first token, tokens and inputs; the source is one dataset."""
        source, _, _, _, offset, length = self.show(n)
        return source, [(offset, length + 1, length)]

    def find(self, source, epoch, block):
        """The samples that show a block in an epoch, piece by piece; none: []."""
        blocks = self.sources[source].blocks
        if self.locality:
            i = in_stretches(blocks, self.size, *self.locality[1:], self.seed, source, epoch).index(block)
        else:
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
