"""check_order.py: compares the library's order of samples with order_twin.py, which was written from docs/ORDER.md
alone, on thousands of random plans: sizes from 1 to 2^40 blocks, weights with 0 and 1e-9 among them, phases, lengths,
limits, skips and splits; which are refused, every sample asked, and its inverse. A tenth are plans of documents.

The frozen vectors of that page are checked against the twin first, and by test_order_vectors.c against the library.

usage: check_order.py DUMP [SEED [PLANS]]     DUMP: the program that tests/order/order_dump.c is
"""
import random
import subprocess
import sys
from fractions import Fraction

import order_twin as twin
import vectors

WEIGHTS = ["0", "1", "1", "2", "0.5", "0.3", "0.25", "1e-9", "1e3", "0.333333", "17.25", ".1", "7"]


def random_size(r):
    return r.choice([1, 2, 3, r.randint(1, 50), r.randint(1, 3000), r.randint(1, 10**6), r.randint(1, 2**40)])


class Case:
    """A random plan: its lines for the library, its twin, and what is asked of both."""

    def __init__(self, r):
        self.r = r
        self.base = r.choice([1, 2, 6, 12, 60, 2048])
        self.lengths = [length for length in range(1, self.base + 1) if self.base % length == 0]
        self.lengths = [length for length in self.lengths if self.base // length <= 12]
        self.lines = []
        self.phases, self.skips, self.fractions, self.used = [], [], None, 0
        self.sequential = r.random() < 0.15
        self.epochs = r.choice([None] * 8 + [1, 2, 5])
        self.seed = r.choice([0, 1, 2**64 - 1, r.getrandbits(64)])
        small = r.random() < 0.5
        self.documents = small and r.random() < 0.05
        if self.documents:
            self.make_split()
        self.make_sources(small)
        self.make_phases(small)
        self.make_skips()

    def make_split(self):
        r = self.r
        parts = r.choice([["0.9", "0.1"], ["0.5", "0.25", "0.25"], ["0.7"], ["1"], ["0.123456789", "0.3", "1e-3"]])
        self.fractions = [Fraction(f) for f in parts]
        self.used = r.randrange(len(parts))
        self.lines.append("line split " + ",".join(f"part{i}={f}" for i, f in enumerate(parts)))
        self.lines.append(f"line use part{self.used}")

    def make_sources(self, small):
        r = self.r
        self.sources, self.limits, weights = [], [], []
        self.source_lines = []
        for i in range(r.choice([1, 2] if self.documents else [1, 1, 2, 3, 5, 9])):
            if self.documents:
                lengths = [r.choice([0, 1, r.randint(1, 300), r.randint(1, 4000)]) for _ in range(r.randint(1, 40))]
                starts = [sum(lengths[:k]) for k in range(len(lengths))]
                ranges = [twin.split_range(starts, sum(lengths), self.fractions, self.used)]
                self.lines.append(f"docs s{i} " + ",".join(map(str, lengths)))
            else:
                sizes = [(r.randint(1, 60) if small else random_size(r)) * self.base + r.randint(0, self.base)
                         for _ in range(r.choice([1, 1, 1, 2, 5, 40]))]
                ranges = [(0, size) for size in sizes]
                self.lines.append(f"data s{i} " + "+".join(map(str, sizes)))
            self.sources.append(twin.Source(ranges, self.base))
            weight = r.choice(WEIGHTS)
            own = r.choice([None] * 5 + [1, 2, 3])
            self.limits.append(min((e for e in (own, self.epochs) if e is not None), default=None))
            weights.append(weight)
            self.source_lines.append(f"line source s{i}:{weight}" + (f":{own}" if own else ""))
        self.lines += self.source_lines
        self.first_weights = [Fraction(w) for w in weights]

    def make_phases(self, small):
        r = self.r
        length = r.choice(self.lengths)
        self.lines += [f"line seq-len {length}", f"line base-len {self.base}", f"line seed {self.seed}",
                       f"line order {'sequential' if self.sequential else 'shuffled'}"]
        if self.epochs:
            self.lines.append(f"line epochs {self.epochs}")
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

    def make_skips(self):
        r = self.r
        at = 0
        for _ in range(r.choice([0, 0, 1, 3])):
            first = at + r.randint(0, 100)
            at = first + r.randint(1, 60)
            self.skips.append((first, at))
        for first, end in r.sample(self.skips, len(self.skips)):
            self.lines.append(f"line skip {first}:{end}")

    def plan(self):
        return twin.Plan(self.sources, self.phases, self.limits, self.base, self.seed, self.sequential, self.skips)

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
        for _ in range(8):
            source = r.randrange(len(self.sources))
            if plan.sources[source].blocks:
                block, epoch = r.randrange(plan.sources[source].blocks), r.choice([0, 0, 1, 2, r.randrange(10**6)])
                found = plan.find(source, epoch, block)
                yield f"find {source} {epoch} {block}", " ".join(["found"] + [str(n) for n in found])
                if found:  # the twin agrees with itself
                    assert plan.sample(found[-1])[:4] == (source, epoch, block, len(found) - 1)


class DocumentCase:
    """The same of a plan of documents."""

    def __init__(self, r):
        self.r = r
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
        self.skips = []
        Case.make_skips(self)

    def datasets(self):
        r = self.r
        longest = r.choice([1, 3, 3, 30, 4000])
        out = [[r.randint(0, longest) for _ in range(r.choice([0, 1, 2, r.randint(1, 12), r.randint(1, 60)]))]
               for _ in range(r.choice([1, 1, 2, 4]))]
        for lengths in out:
            if lengths and r.random() < 0.3:  # documents without tokens at the ends, where splits are undecided
                lengths[:0] = [0] * r.randint(0, 2)
                lengths += [0] * r.randint(0, 2)
        return out

    def plan(self):
        documents = []
        for i, datasets in enumerate(self.sources):
            documents += twin.documents_of(i, datasets, self.fractions, self.used)
        return twin.DocumentPlan(documents, self.length, self.epochs, self.seed, self.sequential, self.skips)

    def questions(self, plan):
        r = self.r
        count = len(plan.documents)
        places = [0, 1, 2, count - 1, count, plan.end - 1, plan.end] + [r.randrange(plan.end) for _ in range(6)]
        for n in places + [r.randrange(min(plan.end, 3 * count)) for _ in range(8)]:
            yield f"row {n}", " ".join(map(str, plan.show(n))) if n < plan.end else "none"
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
            until = r.choice([plan.end, r.randrange(2 * count + 1)])
            found = plan.find(source, first, size, epochs, until)
            yield f"shown {source} {first} {size} {epochs} {until}", " ".join(["shown"] + [str(n) for n in found])


def end_of(plan):
    if plan.end == twin.MOST:
        return "open 0 0"
    return f"open {plan.end} {plan.position(plan.end)}"


def main():
    dump = sys.argv[1]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    plans = int(sys.argv[3]) if len(sys.argv) > 3 else 3000
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
        case = DocumentCase(r) if number % 10 == 9 else Case(r)
        asked += case.lines + ["open"]
        expected += [None] * len(case.lines)
        try:
            plan = case.plan()
        except twin.Refused:
            refused += 1
            expected.append("refused")
        else:
            expected.append(end_of(plan))
            for question, answer in case.questions(plan):
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
        if got != answer and not (answer == "refused" and got.startswith("refused ")):
            wrong += 1
            if wrong < 5:
                print(f"{question}: the library says \"{got}\", the twin \"{answer}\", of this plan:")
                print("\n".join(asked[last:i]))
    answered = sum(1 for answer in expected if answer is not None)
    print(f"{plans} plans, {refused} of them refused by both, {answered} answers, {wrong} wrong; {run.stderr}")
    sys.exit(1 if wrong or refused > plans // 2 else 0)


main()
