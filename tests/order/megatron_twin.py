"""megatron_twin.py: Megatron's order in plain Python, written from docs/ORDER.md alone ("Megatron's order"): slow,
short, and without anything in common with src/. Standard library only; a Python float is a double, rounded operation
by operation."""
import math
import re
import struct

from order_twin import MASK, Refused, Skips

RANGES = ["train", "valid", "test"]
MOST = 2**32 - 3


def numpy_sum(x):
    if len(x) < 8:
        total = 0.0
        for value in x:
            total += value
        return total
    if len(x) <= 128:
        whole = len(x) - len(x) % 8
        r = x[:8]
        for i in range(8, whole):
            r[i % 8] += x[i]
        total = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
        for value in x[whole:]:
            total += value
        return total
    half = len(x) // 2
    half -= half % 8
    return numpy_sum(x[:half]) + numpy_sum(x[half:])


def normalize(x):
    total = numpy_sum(x)
    return [value / total for value in x]


class RandomState:
    def __init__(self, seed):
        self.words = [seed]
        for i in range(1, 624):
            before = self.words[-1]
            self.words.append((1812433253 * (before ^ before >> 30) + i) % 2**32)
        self.at = 624

    def draw(self):
        w = self.words
        if self.at == 624:
            for i in range(624):
                y = (w[i] & 0x80000000) | (w[(i + 1) % 624] & 0x7FFFFFFF)
                w[i] = w[(i + 397) % 624] ^ y >> 1 ^ (0x9908B0DF if y & 1 else 0)
            self.at = 0
        y = w[self.at]
        self.at += 1
        y ^= y >> 11
        y ^= y << 7 & 0x9D2C5680
        y ^= y << 15 & 0xEFC60000
        return y ^ y >> 18

    def shuffle(self, y):
        for i in range(len(y) - 1, 0, -1):
            mask = (1 << i.bit_length()) - 1
            j = self.draw() & mask
            while j > i:
                j = self.draw() & mask
            y[i], y[j] = y[j], y[i]
        return y


class Source:
    """`sequences`: (first token in the list, length) of each that is used, numbered from `first` on."""

    def __init__(self, sequences, first, length, wanted, seed):
        self.sequences, self.first, self.wanted, self.length = sequences, first, wanted, length
        epoch = sum(size for _, size in sequences)
        if epoch == 0:
            raise Refused("no tokens")
        self.epochs = 1 if wanted is None else max(1, -(-(wanted * length + 1) // epoch))
        self.samples = (self.epochs * epoch - 1) // length
        if not 1 <= self.samples <= MOST or self.epochs * len(sequences) > MOST:
            raise Refused("too few tokens, or too many")
        self.separate = self.samples
        if self.epochs > 1:
            before, each = ((self.epochs - 1) * epoch - 1) // length, (epoch - 1) // length
            if wanted - before < int(0.80 * float(each)):
                self.separate = before
        random, count = RandomState(seed), len(sequences)
        if self.separate < self.samples:
            order = random.shuffle(list(range(count)) * (self.epochs - 1)) + random.shuffle(list(range(count)))
            self.begins = self.places(order)
            self.rows = random.shuffle(list(range(self.separate))) + \
                random.shuffle(list(range(self.separate, self.samples)))
        else:
            order = random.shuffle(list(range(count)) * self.epochs)
            self.begins = self.places(order)
            self.rows = random.shuffle(list(range(self.samples)))
        self.order = order

    def places(self, order):
        out, at = [], 0
        for sequence in order:
            out.append(at)
            at += self.sequences[sequence][1]
        return out

    def pieces(self, row):
        """(first token, count) of each piece of a row."""
        begin, end, out = row * self.length, (row + 1) * self.length + 1, []
        for at, sequence in zip(self.begins, self.order):
            first, size = self.sequences[sequence]
            low, high = max(begin, at), min(end, at + size)
            if low < high:
                out.append((first + low - at, high - low))
        return out


class MegatronPlan(Skips):
    """`sources`: of each, the lengths of its sequences; `weights` None or decimals as texts; `split` None or a text."""

    def __init__(self, sources, weights, length, seed, samples, split, use, surplus, skips=(), used=()):
        super().__init__(skips)
        self.order, self.base, self.seed, self.used, self.limits = 5, length, seed, used, [None] * len(sources)
        self.past = [(0, length, [])]
        blends = len(sources) > 1 or (weights is not None and split is not None)
        self.weights, wanted, total = [0.0] * len(sources), [None if blends else samples] * len(sources), 0
        if weights is not None and samples is None:
            raise Refused("weights without a number of samples")
        if blends and weights is not None:
            self.weights = normalize([float(w) for w in weights])
            asked = [math.ceil(float(samples) * w) for w in self.weights]
            wanted, total = [math.ceil(float(a) * (1.0 + float(surplus))) for a in asked], sum(asked)
        self.sources = []
        for lengths, n in zip(sources, wanted):
            first, end = self.range_of(len(lengths), split, use)
            begins = [sum(lengths[:i]) for i in range(len(lengths))]
            self.sources.append(Source(list(zip(begins, lengths))[first:end], first, length, n, seed))
        sizes = [s.samples for s in self.sources]
        self.end, self.blend = sizes[0], None
        if blends:
            if weights is None:
                total = min(samples or sum(sizes), sum(sizes))
                again = normalize([float(s) for s in sizes])
            else:
                again = normalize(self.weights)
            spend = weights is None and samples is None
            if spend:
                again = [float(s) / float(sum(sizes)) for s in sizes]
            self.end, self.blend = total, self.make_blend(again, sizes, total, spend)

    @staticmethod
    def range_of(count, split, use):
        if split is None:
            return 0, count
        x = [float(n) for n in re.findall("[.0-9]+", split)]
        f = normalize(x + [0.0] * (3 - len(x)))
        b = [0.0]
        for value in f:
            b.append(b[-1] + value)
        i = RANGES.index(use or "train")
        if b[i + 1] <= b[i]:
            raise Refused("an empty range")
        return round(b[i] * float(count)), round(b[i + 1] * float(count))

    @staticmethod
    def make_blend(weights, sizes, total, spend):
        counts, out = [0] * len(weights), []
        for n in range(total):
            best = None
            for i, w in enumerate(weights):
                if spend and counts[i] == sizes[i]:
                    continue
                behind = w * float(max(n, 1)) - float(counts[i])
                if best is None or behind > best[0]:
                    best = behind, i
            i = best[1]
            if counts[i] == sizes[i]:
                raise Refused("a source has too few samples")
            out.append((i, counts[i]))
            counts[i] += 1
        return out

    def show(self, n):
        """source, epoch, row, and for each piece its first token and how many"""
        source, draw = self.blend[n] if self.blend is not None else (0, n)
        s = self.sources[source]
        row = s.rows[draw]
        return (source, 0 if row < s.separate else s.epochs - 1, row,
                *(f"{first}.{count}" for first, count in s.pieces(row)))

    def pieces(self, n):
        """The source, and of each piece its first token there, tokens and inputs."""
        source, draw = self.blend[n] if self.blend is not None else (0, n)
        s = self.sources[source]
        pieces = [(first, count, count) for first, count in s.pieces(s.rows[draw])]
        return source, pieces[:-1] + [(*pieces[-1][:2], pieces[-1][1] - 1)]

    def find(self, source, first, count, epochs, until):
        """The samples that show a token of [first, first + count) of a source as an input."""
        out = []
        for n in range(min(until, self.end)):
            shown, epoch, row, *_ = self.show(n)
            inputs = self.sources[shown].pieces(row)
            inputs[-1] = inputs[-1][0], inputs[-1][1] - 1
            if shown == source and epoch < epochs and \
                    any(max(at, first) < min(at + size, first + count) for at, size in inputs):
                out.append(n)
        return out

    def settings(self, source):
        """The numbers of a source that a state keeps in addition."""
        s = self.sources[source]
        bits = struct.unpack("<Q", struct.pack("<d", self.weights[source]))[0]
        return s.first, s.first + len(s.sequences), MASK if s.wanted is None else s.wanted, self.end, bits
