"""check_order.py: compares the library's order of samples with its twins, which were written from docs/ORDER.md
alone, on PLANS random plans: sizes from 1 to 2^40 blocks, weights with 0 and 1e-9 among them, phases, lengths, limits,
skips, bans and splits; which are refused, every sample asked, and its inverse; and, if libxxhash can be loaded, whole
states. A tenth are plans of documents, a thirtieth of rows of whole documents, another of Megatron's order. An eighth
of all change rows (fill-in-the-middle). Plans with phases are changed, up to four times, at random samples, and asked
again.

The frozen vectors of that page are checked against the twin first, and by test_order_vectors.c against the library.

usage: check_order.py DUMP [SEED [PLANS]]     DUMP: the program that tests/order/order_dump.c is
"""
import os
import random
import subprocess
import sys
from fractions import Fraction

import deal_twin
import documents_twin
import fim_twin
import megatron_twin
import order_twin as twin
import state_twin
import vectors

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "pack"))
from dataset import hash128  # noqa: E402

WEIGHTS = ["0", "1", "1", "2", "0.5", "0.3", "0.25", "1e-9", "1e3", "0.333333", "17.25", ".1", "7"]


def random_size(r):
    return r.choice([1, 2, 3, r.randint(1, 50), r.randint(1, 3000), r.randint(1, 10**6), r.randint(1, 2**40)])


class Case:
    """A random plan: its lines for the library, its twin, and what is asked of both. `least`: its sources are written
    documents, none of fewer tokens."""

    def __init__(self, r, least=None):
        self.r, self.least = r, least or 0
        self.base = r.choice([1, 2, 6, 12, 60, 2048])
        self.lengths = [length for length in range(1, self.base + 1) if self.base % length == 0]
        self.lengths = [length for length in self.lengths if self.base // length <= 12]
        self.lines = []
        self.phases, self.skips, self.fractions, self.used = [], [], None, 0
        self.sequential = r.random() < 0.15
        self.epochs = r.choice([None] * 8 + [1, 2, 5])
        self.seed = r.choice([0, 1, 2**64 - 1, r.getrandbits(64)])
        small = r.random() < 0.5 or least is not None
        self.documents = small and r.random() < 0.05 or least is not None
        if self.documents:
            self.make_split()
        self.counts = []
        self.make_sources(small)
        self.make_phases(small)
        self.make_stretches(small)
        self.make_skips()
        self.make_bans(self.counts)

    def make_split(self):
        r = self.r
        parts = r.choice([["0.9", "0.1"], ["0.5", "0.25", "0.25"], ["0.7"], ["1"], ["0.123456789", "0.3", "1e-3"]])
        self.fractions = [Fraction(f) for f in parts]
        self.used = r.randrange(len(parts))
        self.lines.append("line split " + ",".join(f"part{i}={f}" for i, f in enumerate(parts)))
        self.lines.append(f"line use part{self.used}")

    def make_source(self, lines):
        """Adds a source, whose data is a line; its weight and its limit of epochs."""
        r, i = self.r, len(self.sources)
        if self.documents:
            lengths = [max(self.least, r.choice([0, 1, r.randint(1, 300), r.randint(1, 4000)]))
                       for _ in range(r.randint(1, 40))]
            self.counts.append(len(lengths))
            starts = [sum(lengths[:k]) for k in range(len(lengths))]
            ranges = [twin.split_range(starts, sum(lengths), self.fractions, self.used)]
            lines.append(f"docs s{i} " + ",".join(map(str, lengths)))
        else:
            sizes = [(r.randint(1, 60) if self.small else random_size(r)) * self.base + r.randint(0, self.base)
                     for _ in range(r.choice([1, 1, 1, 2, 5, 40]))]
            ranges = [(0, size) for size in sizes]
            lines.append(f"data s{i} " + "+".join(map(str, sizes)))
        self.sources.append(twin.Source(ranges, self.base))
        weight = r.choice(WEIGHTS)
        own = r.choice([None] * 5 + [1, 2, 3])
        self.limits.append(min((e for e in (own, self.epochs) if e is not None), default=None))
        return weight, own

    def make_sources(self, small):
        self.sources, self.limits, weights, self.small = [], [], [], small
        source_lines = []
        for i in range(self.r.choice([1, 2] if self.documents else [1, 1, 2, 3, 5, 9])):
            weight, own = self.make_source(self.lines)
            weights.append(weight)
            source_lines.append(f"line source s{i}:{weight}" + (f":{own}" if own else ""))
        self.lines += source_lines
        self.first_weights = [Fraction(w) for w in weights]

    def make_phases(self, small):
        r = self.r
        length = r.choice(self.lengths)
        self.lines += [f"line seq-len {length}", f"line base-len {self.base}", f"line seed {self.seed}",
                       f"line order {'sequential' if self.sequential else 'shuffled'}"]
        if self.epochs:
            self.lines.append(f"line epochs {self.epochs}")
        self.stop_first = r.random() < (0.4 if any(self.limits) else 0.02)
        if self.stop_first:
            self.lines.append("line stop first")
        self.phases.append((0, length, self.first_weights))
        begin = 0
        for _ in range(r.choice([0, 0, 1, 1, 2, 5])):
            pieces = self.base // length
            unit = 1 if pieces == 1 else 16 * pieces
            begin += unit * r.randint(1, 30 if small else 2**r.randint(1, 40))
            if r.random() < 0.03:
                begin += 1  # mostly unlawful
            weights = [r.choice(WEIGHTS) for _ in range(r.randint(1, len(self.sources)))]
            line = f"line at {begin}:{','.join(weights)}"
            if r.random() < 0.5:
                length = r.choice(self.lengths)
                line += f":len={length}"
            self.lines.append(line)
            self.phases.append((begin, length, [Fraction(w) for w in weights]))

    def make_stretches(self, small):
        r, self.stretches = self.r, None
        if self.sequential or not small or r.random() < 0.6:
            return
        largest = max([source.blocks for source in self.sources])
        stretch = self.base * 2 * r.randint(1, max(largest // r.choice([1, 2, 5, 20]), 1)) + r.randint(0, self.base)
        there = -(-largest * self.base * 2 // stretch)
        lanes = r.choice([1, 1, 2, 3, r.randint(1, max(there, 1))])
        mix = r.randint(1, max(there // lanes, 1)) + (r.random() < 0.1)
        self.stretches = stretch, mix, lanes
        self.lines += [f"line stretch {stretch}", f"line mix {mix}", f"line lanes {lanes}"]

    def make_skips(self):
        r = self.r
        at = 0
        for _ in range(r.choice([0, 0, 1, 3])):
            first = at + r.randint(0, 100)
            at = first + r.randint(1, 60)
            self.skips.append((first, at))
        for first, end in r.sample(self.skips, len(self.skips)):
            self.lines.append(f"line skip {first}:{end}")

    def make_bans(self, documents):
        """`documents`: of each source, how many it has."""
        r = self.r
        self.bans = []
        for _ in range(r.choice([0, 1, 4, 30]) if sum(documents) else 0):
            source = r.choice([i for i, count in enumerate(documents) if count])
            start, lists, texts = r.choice([0, r.randint(0, 50), r.randint(0, 2**r.randint(1, 59))]), [], []
            for _ in range(r.choice([1, 1, 5])):
                first = r.randrange(documents[source])
                last = min(first + r.choice([0, 0, 1, 9]), documents[source] - 1)
                lists += range(first, last + 1)
                texts.append(f"{first}-{last}" if last > first or r.random() < 0.1 else str(first))
            self.bans.append((start, source, lists))
            self.lines.append(f"line ban {start}:s{source}:{','.join(texts)}")

    def ban_questions(self, documents):
        r, bans = self.r, twin.Bans(self.bans)
        for _ in range(10 if self.bans else 1):
            source = r.randrange(len(documents))
            document, n = r.randrange(documents[source] + 1), r.choice([0, r.randint(0, 60), r.randrange(2**59)])
            yield f"banned {source} {document} {n}", str(int(bans.banned(source, document, n)))

    def plan(self):
        if self.stop_first and not any(self.limits):
            raise twin.Refused("nothing is ever spent")
        return twin.Plan(self.sources, self.phases, self.limits, self.base, self.seed, self.sequential, self.skips,
                         self.stop_first, self.stretches)

    def questions(self, plan):
        """Pairs of a question and the twin's answer."""
        r = self.r
        places = [0, 1, 2, plan.end - 1, plan.end] + [r.randrange(plan.end) for _ in range(6)]
        places += [r.randrange(min(plan.end, 2**r.randint(1, 45))) for _ in range(12)]
        for p in plan.phases:
            places += [p.begin - 1, p.begin, p.begin + 1, p.begin + r.randrange(200)]
            places += [p.sample(s.first, 0) for s in p.segments if s.first] + [s.first for s in p.segments]
        for n in places:
            if 0 <= n < plan.end:
                yield f"sample {n}", " ".join(map(str, plan.show(n)))
            elif n == plan.end:
                yield f"sample {n}", "none"
        for _ in range(5):
            position = r.randrange(500)
            n = plan.number(position)
            shown = f"{n} " + " ".join(map(str, plan.show(n))) if n < plan.end else "none"
            yield f"position {position}", shown
            yield f"number {position}", str(n)
            n = r.randrange(600)
            inside = [(first, end) for first, end in self.skips if first <= n < end]
            yield f"skipped {n}", f"{plan.position(n)} {len(inside)}"
        for _ in range(3 if self.stretches else 0):
            lanes = self.stretches[2]
            world = r.choice([w for w in range(1, lanes + 1) if lanes % w == 0])
            batch = world * r.choice([1, 2, 3, 8])
            position = r.choice([0, r.randrange(300), max(plan.position(plan.end) - r.randint(0, 9), 0)])
            rows = [n for n in map(plan.number, range(position, position + batch)) if n < plan.end]
            ranks = deal_twin.deal_lanes([plan.lane(n) for n in rows], lanes, batch, world)
            yield f"lanes {position} {batch} {world}", " ".join(f"{rank}.0" for rank in ranks)
        for _ in range(8):
            source = r.randrange(len(self.sources))
            if plan.sources[source].blocks:
                block, epoch = r.randrange(plan.sources[source].blocks), r.choice([0, 0, 1, 2, r.randrange(10**6)])
                found = plan.find(source, epoch, block)
                yield f"find {source} {epoch} {block}", " ".join(["found"] + [str(n) for n in found])
                if found:  # the twin agrees with itself
                    assert plan.sample(found[-1])[:4] == (source, epoch, block, len(found) - 1)


    # ---- Changes

    def unit(self, length):
        """A change comes a multiple of so many samples after its phase begins."""
        return 1 if self.base == length else 16 * self.base // length

    def change(self, plan):
        """Changes the plan at a random sample: the lines that ask for it, and the sample."""
        r, lines, added = self.r, [], []
        begin, length, _ = r.choice(self.phases)
        span = max(min(plan.end - begin, 2**r.randint(1, 40)), 1)
        unit = self.unit(length)
        at = min(begin + r.randrange(span) // unit * unit + (r.random() < 0.02), twin.MOST - 1)
        before = [phase for phase in self.phases if phase[0] <= at][-1]
        weights = list(before[2]) + [Fraction(0)] * (len(self.sources) - len(before[2]))
        for _ in range(r.choice([0, 0, 0, 1, 1, 2])):
            i = len(self.sources)
            weight, own = self.make_source(lines)
            added.append(f"s{i}:{weight}:{own or 0}:{':'.join(map(str, self.rules_of_added(i)))}")
            weights.append(Fraction(weight))
        given = [r.choice([""] * 3 + WEIGHTS) for _ in range(r.randint(1, len(weights)))]
        if r.random() < 0.2:
            given = []
        for i, weight in enumerate(given):
            weights[i] = Fraction(weight) if weight else weights[i]
        new = r.choice([0, 0, self.new_length()])
        lines.append(f"change {at} {new} {','.join(given) or '-'} {' '.join(added)}")
        self.phases = [phase for phase in self.phases if phase[0] < at] + [(at, new or before[1], weights)]
        return lines, at

    def new_length(self):
        return self.r.choice(self.lengths)

    def rules_of_added(self, number):
        return 0, 0, 0


class DocumentCase:
    """The same of a plan of documents."""

    def __init__(self, r, least=0):
        self.r, self.least = r, least
        self.lines = []
        self.length = r.choice([1, 2, 7, 20, 4000])
        self.sequential = r.random() < 0.3
        self.epochs = r.choice([0, 0, 1, 2, 5])
        self.seed = r.choice([0, 1, 2**64 - 1, r.getrandbits(64)])
        self.fractions, self.used = None, 0
        if r.random() < 0.4:
            parts = r.choice([["0.9", "0.1"], ["0.5", "0.25", "0.25"], ["0.7"], ["1"], ["0.123456789", "0.3", "1e-3"]])
            self.fractions, self.used = [Fraction(f) for f in parts], r.randrange(len(parts))
            self.lines += ["line split " + ",".join(f"part{i}={f}" for i, f in enumerate(parts)),
                           f"line use part{self.used}"]
        self.sources = [self.datasets() for _ in range(r.choice([1, 1, 2, 4]))]
        for i, datasets in enumerate(self.sources):
            self.lines.append(f"docs s{i} " + "+".join(",".join(map(str, lengths)) for lengths in datasets))
        own = [r.choice(["", ":1", ":3", ":none"]) for _ in self.sources]
        self.lines += [f"line source s{i}:{r.choice(WEIGHTS) if i else 1}{epochs}" for i, epochs in enumerate(own)]
        self.lines += [f"line seq-len {self.length}", f"line seed {self.seed}", f"line epochs {self.epochs}",
                       "line order documents" + ("-sequential" if self.sequential else "")]
        self.by_tokens = None
        if r.random() < 0.4:
            self.by_tokens = [self.length + r.choice([0, 1, 1, 7, 300]), r.choice([0, 0, 1, 3]),
                              r.choice([0, 1, 5, 40])]
            keys = "max-tokens", "max-rows", "pool"
            self.lines += [f"line {key} {value}" for key, value in zip(keys, self.by_tokens)]
        self.skips = []
        Case.make_skips(self)
        Case.make_bans(self, self.counts())

    def counts(self):
        return [sum(map(len, datasets)) for datasets in self.sources]

    def datasets(self):
        r = self.r
        longest = r.choice([1, 3, 3, 30, 4000])
        longest = max(longest, self.least)
        out = [[r.randint(self.least, longest) for _ in range(r.choice([0, 1, 2, r.randint(1, 12), r.randint(1, 60)]))]
               for _ in range(r.choice([1, 1, 2, 4]))]
        for lengths in out:
            if lengths and self.least == 0 and r.random() < 0.3:
                # documents without tokens at the ends, where splits are undecided
                lengths[:0] = [0] * r.randint(0, 2)
                lengths += [0] * r.randint(0, 2)
        return out

    def plan(self):
        documents, used = [], []
        for i, datasets in enumerate(self.sources):
            documents += documents_twin.documents_of(i, datasets, self.fractions, self.used)
            starts = [[sum(lengths[:k]) for k in range(len(lengths))] for lengths in datasets]
            used.append([twin.split_range(s, sum(lengths), self.fractions, self.used) if self.fractions
                         else (0, sum(lengths)) for s, lengths in zip(starts, datasets)])
        plain = (documents, self.length, self.epochs, self.seed, self.sequential, self.skips, used)
        if self.by_tokens:
            return documents_twin.TokensPlan(self.by_tokens, *plain)
        return documents_twin.DocumentPlan(*plain)

    def questions(self, plan):
        r = self.r
        count = len(plan.documents)
        places = [0, 1, 2, count - 1, count, plan.end - 1, plan.end] + [r.randrange(plan.end) for _ in range(6)]
        for n in places + [r.randrange(min(plan.end, 3 * count)) for _ in range(8)]:
            yield f"row {n}", " ".join(map(str, plan.show(n))) if n < plan.end else "none"
            if n < plan.end:
                yield f"in-batch {n}", str(plan.plain(n)[1] if self.by_tokens else 0)
        for _ in range(5):
            position = r.randrange(500)
            n = plan.number(position)
            yield f"row-at {position}", f"{n} " + " ".join(map(str, plan.show(n))) if n < plan.end else "none"
            yield f"number {position}", str(n)
            n = r.randrange(600)
            inside = [(first, end) for first, end in self.skips if first <= n < end]
            yield f"skipped {n}", f"{plan.position(n)} {len(inside)}"
        for _ in range(6):
            source, epochs = r.randrange(len(self.sources)), r.choice([1, 1, 2, 3])
            tokens = sum(map(sum, self.sources[source]))
            first = r.randint(0, tokens)
            size = min(r.choice([1, 1, 5, 100]), tokens - first)
            until = min(r.choice([plan.end, r.randrange(2 * count + 1)]), (epochs + 1) * count + 5000)
            found = plan.find(source, first, size, epochs, until)
            yield f"shown {source} {first} {size} {epochs} {until}", " ".join(["shown"] + [str(n) for n in found])


class FitCase(DocumentCase):
    """The same of a plan of rows of whole documents, with phases of any length."""

    def __init__(self, r, least=0):
        super().__init__(r, least)
        if len(self.sources) > 2:
            self.sources = self.sources[:2]
        made = ("line source", "line seq-len", "line order", "line ban", "docs", "line max-tokens", "line max-rows",
                "line pool")
        kept = [line for line in self.lines if not line.startswith(made)]
        self.lines = [f"docs s{i} " + "+".join(",".join(map(str, lengths)) for lengths in datasets)
                      for i, datasets in enumerate(self.sources)] + [line for line in kept if line != "line epochs 0"]
        own = [r.choice([None, None, None, 1, 2]) for _ in self.sources]
        weights = [r.choice(WEIGHTS) if i else "1" for i in range(len(self.sources))]
        self.lines += [f"line source s{i}:{w}" + (f":{e}" if e else "") for i, (w, e) in enumerate(zip(weights, own))]
        self.limits = [min((e for e in (e, self.epochs) if e), default=None) for e in own]
        self.stop_first = any(self.limits) and r.random() < 0.4
        self.lines += ["line stop first"] * self.stop_first
        longest = r.choice([1, 5, 60, 4000])
        self.options = {key: r.randint(0, longest) for key in documents_twin.FIT_OPTIONS[:4] if r.random() < 0.2}
        if r.random() < 0.1:
            self.options["whole"] = 1
        align, shortest = r.choice([1, 1, 2, 3, 8]), 1
        if r.random() < 0.4:
            self.options["align"] = align
            shortest = r.choice([1, 10])
            self.options["overlap"] = r.randint(0, shortest * align - (r.random() < 0.95))
        self.length *= align * shortest
        self.phases = [(0, self.length, [Fraction(w) for w in weights])]
        self.lines += [f"line seq-len {self.length}", "line order fit"]
        self.lines += [f"line {key} {value}" for key, value in self.options.items()]
        self.own = {}
        for number in range(len(self.sources)):
            self.draw_rules(number)
        begin = 0
        # lengths that come back, between which sources keep their places
        again = [self.length, align * r.randint(shortest, 30)]
        for _ in range(r.choice([0, 0, 1, 2, 3, 6]) if not any(self.limits) or r.random() < 0.3 else 0):
            begin += r.randint(1, 30)
            weights = [r.choice(WEIGHTS + ["0"] * 3) for _ in self.sources]
            if not any(Fraction(w) for w in weights):
                weights[r.randrange(len(weights))] = "1"
            length = r.choice([*again, *again, align * r.randint(shortest, 30), align * r.randint(shortest, 5000)])
            self.lines.append(f"line at {begin}:{','.join(weights)}:len={length}")
            self.phases.append((begin, length, [Fraction(w) for w in weights]))
        Case.make_bans(self, self.counts())

    change = Case.change

    def draw_rules(self, number):
        """Draws rules for a source alone, and returns them as the text has them."""
        r, most = self.r, self.r.choice([2, 60, self.length, self.length + 1, 4000])
        rules = {key: 1 if key == "whole" else r.randint(1, most) for key in documents_twin.OF_SOURCES
                 if r.random() < (0.3 if key != "cut-length" else 0.1)} if r.random() < 0.4 else {}
        if rules:
            self.own[number] = rules
            text = ",".join(f"{key}={value}" for key, value in r.sample(list(rules.items()), len(rules)))
            self.lines.append(f"line fit {number}:{text}")
        return rules

    def rules_of_added(self, number):
        lines, self.lines = self.lines, []
        rules = {key: value for key, value in self.draw_rules(number).items()
                 if key in ("max-per-row", "max-length", "whole")}
        self.lines = lines
        self.own[number] = rules
        return [rules.get(key, 0) for key in ("max-per-row", "max-length", "whole")]

    def unit(self, length):
        return 1

    def new_length(self):
        return self.options.get("align", 1) * self.r.randint(1, 300)

    def make_source(self, lines):
        datasets, i = self.datasets(), len(self.sources)
        self.sources.append(datasets)
        lines.append(f"docs s{i} " + "+".join(",".join(map(str, lengths)) for lengths in datasets))
        own = self.r.choice([None, None, None, 1, 2])
        self.limits.append(min((e for e in (own, self.epochs) if e), default=None))
        return self.r.choice(WEIGHTS), own

    def plan(self):
        documents, used = [], []
        for datasets in self.sources:
            documents.append(documents_twin.documents_of(len(documents), datasets, self.fractions, self.used))
            starts = [[sum(lengths[:k]) for k in range(len(lengths))] for lengths in datasets]
            used.append([twin.split_range(s, sum(lengths), self.fractions, self.used) if self.fractions
                         else (0, sum(lengths)) for s, lengths in zip(starts, datasets)])
        return documents_twin.FitPlan(documents, self.phases, self.limits, self.seed, self.skips, used, self.options,
                                      self.stop_first, self.own)

    def questions(self, plan):
        r = self.r
        places = [0, 1, 2, plan.end - 1, plan.end, r.randrange(plan.end)] + [r.randrange(120) for _ in range(20)]
        for begin, _, _ in self.phases:
            places += [max(begin - 1, 0), begin]
        for n in places:
            yield f"pieces {n}", " ".join(map(str, plan.show(n))) if n < plan.end else "none"
        for _ in range(20 if self.options.get("overlap") else 4):
            source, epochs = r.randrange(len(self.sources)), r.choice([1, 2, 3, 1000])
            tokens = sum(map(sum, self.sources[source]))
            first = r.randint(0, tokens)
            size = min(r.choice([1, 1, 5, 100, 5000]), tokens - first)
            until = r.randrange(200)
            found = plan.find(source, first, size, epochs, until)
            yield f"shown {source} {first} {size} {epochs} {until}", " ".join(["shown"] + [str(n) for n in found])
        for _ in range(6):
            world, each = r.choice([1, 2, 3, 4, 5, 6, 7, 8]), r.choice([1, 2, 3, 4, 8, 17])
            position = r.choice([0, r.randrange(100), max(plan.position(plan.end) - r.randint(0, 9), 0)])
            costs = deal_twin.costs_of(plan, position, world * each)
            yield f"deal {position} {world * each} {world}", dealt(costs, world)
        for _ in range(6):
            world, each = r.choice([1, 2, 3, 8, 64]), r.choice([1, 2, 3, 5, 8, 16, 17])
            most = r.choice([1, 3, 100, 2**48])
            rows = world * (each if world <= 8 else min(each, 8))
            costs = [r.choice([r.randint(0, most), int(most**r.random())]) for _ in range(rows)]
            yield f"share {world} " + ",".join(map(str, costs)), dealt(costs, world)


def dealt(costs, world):
    return " ".join(f"{rank}.{cost}" for rank, cost in zip(deal_twin.deal(costs, world), costs))


class MegatronCase(DocumentCase):
    """The same of a plan of Megatron's order."""

    def __init__(self, r, least=0):
        self.r, self.least = r, least
        self.length = r.choice([1, 2, 7, 20, 300])
        self.seed = r.choice([None, 0, 1234, 2**32 - 1, r.getrandbits(32)])
        self.fractions = None
        self.sources = [self.datasets() for _ in range(r.choice([1, 1, 2, 3, 20]))]
        self.weights = [r.choice(WEIGHTS) for _ in self.sources] if r.random() < 0.5 else None
        tokens = sum(sum(map(sum, s)) for s in self.sources)
        self.samples = r.choice([None, 1, r.randint(1, 9 * tokens // self.length + 1)])
        if self.samples and self.samples * self.length > 20000:
            self.samples = 20000 // self.length
        self.split = r.choice([None, "969, 30, 1", "1,1,1", "8,1,1", "99.5,.5", ".1,.7,.2"])
        self.use = r.choice([None, "train", "valid", "test"]) if self.split else None
        self.surplus = r.choice([None, "0", "0.05", "1"])
        self.lines = [f"docs s{i} " + "+".join(",".join(map(str, lengths)) for lengths in datasets)
                      for i, datasets in enumerate(self.sources)]
        self.lines += [f"line source s{i}" + (f":{self.weights[i]}" if self.weights else "")
                       for i in range(len(self.sources))]
        self.lines += [f"line seq-len {self.length}", "line order megatron"]
        for key, value in (("seed", self.seed), ("samples", self.samples), ("split", self.split), ("use", self.use),
                           ("mid-level-dataset-surplus", self.surplus)):
            if value is not None:
                self.lines.append(f"line {key} {value}")
        self.skips = []
        self.make_skips()
        Case.make_bans(self, self.counts())

    make_skips = Case.make_skips

    def plan(self):
        if self.weights and any(not Fraction(w) for w in self.weights):
            raise twin.Refused("a weight of 0")
        used = [[(0, sum(lengths)) for lengths in datasets] for datasets in self.sources]
        return megatron_twin.MegatronPlan([sum(datasets, []) for datasets in self.sources], self.weights, self.length,
                                          1234 if self.seed is None else self.seed, self.samples, self.split, self.use,
                                          self.surplus or "0.005", self.skips, used)

    def questions(self, plan):
        r = self.r
        for n in [0, 1, plan.end - 1, plan.end] + [r.randrange(plan.end) for _ in range(20)]:
            yield f"window {n}", " ".join(map(str, plan.show(n))) if n < plan.end else "none"
        for _ in range(3):
            source, epochs = r.randrange(len(self.sources)), r.choice([1, 2, 1000])
            tokens = sum(map(sum, self.sources[source]))
            first = r.randint(0, tokens)
            size = min(r.choice([1, 1, 5, 100, 5000]), tokens - first)
            until = r.randrange(200)
            found = plan.find(source, first, size, epochs, until)
            yield f"shown {source} {first} {size} {epochs} {until}", " ".join(["shown"] + [str(n) for n in found])


class ChangedCase:
    """Another case whose plan changes rows."""

    def __init__(self, r, kind):
        self.r = r
        begin, end = r.random() < (0.8 if kind is FitCase else 0.5), r.random() < 0.5
        self.case = kind(r, begin + end)
        self.bans = self.case.bans
        marks = "b" * begin + "e" * end
        docs = [line.split(" ") for line in self.case.lines if line.startswith("docs ")]
        rate = r.choice(["1", "1", "0.5", "0.25", "0", "1e-18", "0.999999999999999999"])
        spm = r.choice(["0.5", "1", "0"])
        ids = r.sample(range(65536), 3)
        self.lines = [f"docs {name} {marks}:{lengths}" for _, name, lengths in docs]
        self.lines += [line for line in self.case.lines if not line.startswith("docs ")]
        self.begin = 2 if kind is FitCase and r.random() < 0.7 else None  # the begin token that rows go on with
        self.refused = self.begin and not begin and not self.only_whole()
        if self.begin:
            self.case.options["begin"] = 1
            self.lines.append("line begin 1")
        self.only_begin = self.begin and r.random() < 0.5
        rate = "0" if self.only_begin else rate
        self.lines += [f"line fim {rate},{spm},{','.join(map(str, ids))}"] * (not self.only_begin)
        self.fim = fim_twin.Fim(rate, spm, ids, None, begin, end)
        self.documents = []
        for _, _, lengths in docs:
            lengths = [int(x) for dataset in lengths.split("+") for x in dataset.split(",") if x]
            self.documents.append([(sum(lengths[:i]), x) for i, x in enumerate(lengths)])

    def only_whole(self):
        """Whether no source's documents are cut, so that rows never go on with one."""
        return all(self.case.own.get(n, {}).get("whole", self.case.options.get("whole"))
                   for n in range(len(self.case.sources)))

    def plan(self):
        if self.refused:
            raise twin.Refused("no begin token")
        plan = self.case.plan()
        self.fim.seed, plan.fim = plan.seed, None if self.only_begin else self.fim
        return plan

    def counts(self):
        return self.case.counts() if callable(self.case.counts) else self.case.counts

    def row(self, plan, n):
        """Of each token of a row: it, and whether it is an input."""
        source, pieces = plan.pieces(n)
        rows = self.fim.row([piece[:2] for piece in pieces], source, self.documents[source], n, self.begin)
        return source, [(token, i < inputs) for row, (_, _, inputs) in zip(rows, pieces) for i, token in enumerate(row)]

    def questions(self, plan):
        r = self.r
        for n in [0, 1, 2, plan.end - 1] + [r.randrange(min(plan.end, 2**r.randint(1, 45))) for _ in range(4)]:
            if n < plan.end:
                words = [(f"={token[1]}" if isinstance(token, tuple) else str(token)) + "'" * (not shown)
                         for token, shown in self.row(plan, n)[1]]
                yield f"stretches {n}", " ".join(["stretches"] + words)
        for question, answer in self.case.questions(plan):
            if question.startswith("shown "):  # those of them that show it still
                _, _, first, count, *_ = map(int, question.split()[1:2] + question.split()[1:])
                kept = [n for n in answer.split()[1:] if any(shown and not isinstance(t, tuple) and
                        first <= t < first + count for t, shown in self.row(plan, int(n))[1])]
                answer = " ".join(["shown"] + kept)
            yield question, answer


def states(r, plan, bans):
    """Pairs of a question and a function of the library's answer, which begins with the datasets' identities."""
    most = plan.position(plan.end) if plan.end < twin.MOST else 2**59
    for position in (0, 1, r.randrange(700), r.randrange(2**r.randint(1, 50)), most):
        def answer(got, position=min(position, most), damaged=r.getrandbits(20)):
            identities = [[bytes.fromhex(i) for i in source.split(",")] for source in got.split("|")[0].split()]
            text = state_twin.state(plan, position, damaged, identities, hash128, bans)
            return got.split("|")[0] + "|" + text.replace("\n", "|")
        yield f"state {min(position, most)} {answer.__defaults__[1]}", answer


def changes(case, plan):
    """Changes the plan again and again: pairs of what is asked and the answer; None: it is no question."""
    for _ in range(case.r.choice([0, 1, 2, 4]) if hasattr(case, "phases") else 0):
        before = plan
        lines, at = case.change(plan)
        yield from ((line, None) for line in lines[:-1])
        try:
            plan = case.plan()
        except twin.Refused:
            yield lines[-1], "refused"
            return
        yield lines[-1], end_of(plan)
        for n in {0, at - 1, case.r.randrange(at)} if at else ():
            assert plan.show(n) == before.show(n)  # the twin agrees with itself
        yield from case.questions(plan)
        if hash128(b"") is not None:
            yield from states(case.r, plan, twin.Bans(case.bans))


def end_of(plan):
    if plan.end == twin.MOST:
        return "open 0 0"
    return f"open {plan.end} {plan.position(plan.end)}"


def main():
    dump = sys.argv[1]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    plans = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    r = random.Random(seed)
    with open("docs/ORDER.md", encoding="utf-8") as page:
        differ, count = vectors.wrong(page.read())
    for line in differ:
        print(f"docs/ORDER.md: the twin has another answer: {line}")
    if differ or count < 50:
        sys.exit(f"{count} vectors, {len(differ)} of them not the twin's")
    print(f"LEAT_TEST_SEED={seed}", file=sys.stderr)
    asked, expected, refused = [], [], 0
    for number in range(plans):
        if number % 8 == 1:
            case = ChangedCase(r, r.choice([Case, DocumentCase, FitCase, FitCase, MegatronCase]))
        else:
            case = MegatronCase(r) if number % 30 == 18 else FitCase(r) if number % 30 == 8 else \
                DocumentCase(r) if number % 10 == 9 else Case(r)
        asked += case.lines + ["open"]
        expected += [None] * len(case.lines)
        try:
            plan = case.plan()
        except twin.Refused:
            refused += 1
            expected.append("refused")
        else:
            expected.append(end_of(plan))
            questions = list(case.questions(plan))
            counts = case.counts() if callable(case.counts) else case.counts
            questions += Case.ban_questions(case, counts) if counts else []
            if hash128(b"") is not None:
                questions += states(r, plan, twin.Bans(case.bans))
            for question, answer in [*questions, *changes(case, plan)]:
                asked.append(question)
                expected.append(answer)
        asked.append("end")
        expected.append(None)
    run = subprocess.run([dump], input="\n".join(asked) + "\n", capture_output=True, text=True)
    answers = iter(run.stdout.splitlines())
    wrong = run.returncode
    last = 0
    for i, (question, answer) in enumerate(zip(asked, expected)):
        if question == "end":
            last = i + 1
        if answer is None:
            continue
        got = next(answers, "nothing")
        if callable(answer):
            answer = answer(got)
        if got != answer and not (answer == "refused" and got.startswith("refused ")):
            wrong += 1
            if wrong < 5:
                print(f"{question}: the library says \"{got}\", the twin \"{answer}\", of this plan:")
                print("\n".join(asked[last:i]))
    answered = sum(1 for answer in expected if answer is not None)
    print(f"{plans} plans, {refused} of them refused by both, {answered} answers, {wrong} wrong; {run.stderr}")
    sys.exit(1 if wrong or refused > plans // 2 else 0)


main()
