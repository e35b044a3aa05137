"""check_steps.py SEED STEPS: so many steps of leat.Loader, each a global batch, through random changes of state, world
and plan. Every row of every rank is compared, inputs and labels, with what the twins of tests/order/ say, which were
written from docs/ORDER.md alone, and with the tokens that were packed.

A story has a random plan (shuffled, sequential or fit) and goes on for up to 3,000 steps, of which about every tenth is
followed by an event: the ranks are closed, and as many others or fewer or more, with another batch size, go on from the
state of one of them; or from an older state, with the plan of then; the plan changes at a sample to come (weights,
sources, length of rows), or documents of it are banned, in the open loaders or in new ones, from a state.
"""
import os
import pickle
import random
import sys
import tempfile
import time
from fractions import Fraction

import numpy as np

import leat

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "order"))
import documents_twin  # noqa: E402
import order_twin as twin  # noqa: E402

WEIGHTS = ["0", "1", "1", "2", "0.5", "0.3", "0.25", "1e-3", "7", "17.25"]
r = random.Random(int(sys.argv[1]))
wanted = int(sys.argv[2])
totals = dict.fromkeys(("steps", "rows", "stories", "states", "older states", "changes", "bans", "refused by both"), 0)


class Data:
    """A dataset, and what was packed into it."""

    def __init__(self, folder, number):
        self.name = f"{folder}/{number}"
        self.lengths = [r.choice([1, 2, r.randint(1, 30), r.randint(1, 200)]) for _ in range(r.randint(10, 80))]
        self.ends = np.cumsum(self.lengths)
        self.tokens = np.array([r.randrange(50257) for _ in range(self.ends[-1])], np.int64)
        with leat.Packer(self.name, "gpt2", end=None, begin=None) as packer:
            for document in np.split(self.tokens, self.ends[:-1]):
                packer.add(document.astype(np.uint32))


class Model:
    """The twin of a plan, and how it changes. A change makes another one."""

    def __init__(self, order, base, seed, sources, phases, skips, bans=()):
        self.order, self.base, self.seed, self.skips, self.bans = order, base, seed, skips, list(bans)
        self.sources, self.phases = list(sources), list(phases)  # (data, epochs); (begin, length, weights)
        limits = [epochs for _, epochs in self.sources]
        if order == "fit":
            documents = [documents_twin.documents_of(i, [data.lengths]) for i, (data, _) in enumerate(self.sources)]
            self.twin = documents_twin.FitPlan(documents, self.phases, limits, seed, skips)
        else:
            of = [twin.Source([(0, len(data.tokens))], base) for data, _ in self.sources]
            self.twin = twin.Plan(of, self.phases, limits, base, seed, order == "sequential", skips)
        # in every source of the name, also in those that a change adds
        self.banned = twin.Bans([(start, i, documents) for start, name, documents in self.bans
                                 for i, (data, _) in enumerate(self.sources) if data.name == name])
        self.positions = None if self.twin.end == twin.MOST else self.twin.position(self.twin.end)

    def row(self, position):
        """Inputs and labels."""
        n = self.twin.number(position)
        source, pieces = self.twin.pieces(n)
        data = self.sources[source][0]
        inputs = np.concatenate([data.tokens[first:first + count] for first, _, count in pieces])
        labels = np.concatenate([data.tokens[first + 1:first + count + 1] for first, _, count in pieces])
        if self.bans:
            at = np.concatenate([np.arange(first + 1, first + count + 1) for first, _, count in pieces])
            documents = np.searchsorted(data.ends, at, "right")
            labels[[self.banned.banned(source, int(d), n) for d in documents]] = -100
        return inputs, labels

    def place(self, n):
        """The first sample from n on at which the plan can change."""
        while True:
            begin, length, _ = [phase for phase in self.phases if phase[0] <= n][-1]
            unit = 1 if self.order == "fit" or self.base == length else 16 * self.base // length
            at = begin - (begin - n) // unit * unit
            if not [phase for phase in self.phases if n < phase[0] <= at]:
                return at
            n = at

    def change(self, at, weights, added, length):
        """`weights`: of the sources that there are, None: as before; `added`: (data, weight, epochs)."""
        _, before, old = [phase for phase in self.phases if phase[0] <= at][-1]
        old = list(old) + [Fraction(0)] * (len(self.sources) - len(old))
        new = [w if given is None else Fraction(given) for w, given in zip(old, weights)]
        phases = [phase for phase in self.phases if phase[0] < at]
        phases.append((at, length or before, new + [Fraction(w) for _, w, _ in added]))
        sources = self.sources + [(data, epochs) for data, _, epochs in added]
        return Model(self.order, self.base, self.seed, sources, phases, self.skips, self.bans)

    def ban(self, ban):
        return Model(self.order, self.base, self.seed, self.sources, self.phases, self.skips, [*self.bans, ban])


class Story:
    """A plan, its model, its ranks, and where they are."""

    def __init__(self, data):
        self.data = data
        order = r.choice(["shuffled", "shuffled", "sequential", "fit"])
        base = r.choice([6, 12, 24])
        self.lengths = [5, 8, 12, 33] if order == "fit" else [n for n in (2, 3, 4, 6, 12, 24) if base % n == 0]
        length = r.choice(self.lengths)
        seed, skips, at = r.getrandbits(64), [], 0
        for _ in range(r.choice([0, 0, 1, 3])):
            first = at + r.randint(0, 100)
            at = first + r.randint(1, 60)
            skips.append((first, at))
        # the first source has a weight and no limit: the plan has an end only where a change takes the weight away
        sources = [(one, r.choice([None, None, 1, 2]) if i else None)
                   for i, one in enumerate(r.sample(data, r.randint(1, 3)))]
        weights = [r.choice(WEIGHTS) if i else "1" for i in range(len(sources))]
        self.model = Model(order, base, seed, sources, [(0, length, [Fraction(w) for w in weights])], skips)
        options = {} if order == "fit" else dict(base_len=base)
        self.plan = leat.Plan([(one.name, w, epochs) for (one, epochs), w in zip(sources, weights)], length, seed,
                              order=order, skip=skips, **options)
        self.position, self.ranks, self.kept = 0, [], []
        self.open(None)

    def close(self):
        for rank in self.ranks:
            rank.close()

    def open(self, state):
        """Another world, from a state."""
        self.close()
        self.world, self.batch = r.choice([1, 1, 2, 3, 5]), r.choice([1, 2, 3, 8])
        plan = pickle.loads(pickle.dumps(self.plan)) if r.random() < 0.2 else self.plan
        way = r.random() < 0.5
        self.ranks = [leat.Loader(plan, self.batch, rank=rank, world=self.world, framework="numpy", notices=False,
                                  threads=r.choice([0, 0, 0, 1]), io=leat.IO(slots=r.choice([0, 2, 3])),
                                  state=state if way else None) for rank in range(self.world)]
        for rank in self.ranks if state is not None and not way else ():
            rank.load_state_dict(state)

    def state(self):
        state = r.choice(self.ranks).state_dict()
        assert state["position"] == self.position
        return state

    def step(self):
        """False: the plan is at its end."""
        rows = self.world * self.batch
        if self.model.positions is not None and self.position + rows > self.model.positions:
            return False
        for number, rank in enumerate(self.ranks):
            batch = next(rank)
            inputs, labels = batch.inputs, batch.labels
            assert len(inputs) == self.batch
            for i in range(self.batch):
                want, learned = self.model.row(self.position + number * self.batch + i)
                size = len(want)
                assert batch.lengths[i] == size, (batch.lengths, size)
                assert np.array_equal(inputs[i, :size], want), (inputs[i], want)
                assert np.array_equal(labels[i, :size], learned), (labels[i], learned)
                assert (labels[i, size:] == -100).all()
        self.position += rows
        totals["rows"] += rows
        return True

    def use(self, plan, model):
        """Goes on with another plan, in the open loaders or in others."""
        state = self.state()
        self.plan, self.model = plan, model
        if r.random() < 0.3:
            self.open(state)
        else:
            for rank in self.ranks:
                rank.change(plan, group=False)

    def change(self):
        at = self.model.place(self.model.twin.number(self.position) + r.choice([0, 0, r.randint(0, 60)]))
        weights = [r.choice([None, None, *WEIGHTS]) for _ in self.model.sources]
        if r.random() < 0.8:
            weights[0] = r.choice(["1", "0.3"])
        added = [(one, r.choice(WEIGHTS), r.choice([None, None, 1, 3])) for one in r.sample(self.data, 1)
                 if r.random() < 0.3 and len(self.model.sources) < 6]
        length = r.choice([None, None, r.choice(self.lengths)])
        try:
            model = self.model.change(at, weights, added, length)
        except twin.Refused:
            model = None
        try:
            plan = self.plan.change(at, weights=weights, seq_len=length,
                                    add=[(one.name, w, epochs) for one, w, epochs in added])
        except (leat.Error, ValueError) as error:
            assert model is None, error
            totals["refused by both"] += 1
            return
        assert model is not None, "the twin refuses this change"
        self.use(plan, model)
        totals["changes"] += 1

    def ban(self):
        start = self.model.twin.number(self.position) + r.choice([0, 0, r.randint(0, 60)])
        # among others one that the sample shows at which the ban starts
        shown = min(start, self.model.twin.end - 1)
        source, pieces = self.model.twin.pieces(shown)
        data = self.model.sources[source][0]
        documents = [*r.sample(range(len(data.lengths)), 2), int(np.searchsorted(data.ends, pieces[0][0] + 1, "right"))]
        self.use(self.plan.ban([(data.name, d) for d in documents], start=start),
                 self.model.ban((start, data.name, documents)))
        totals["bans"] += 1

    def event(self):
        pick = r.random()
        if pick < 0.4:
            self.open(self.state())
            totals["states"] += 1
        elif pick < 0.5 and self.kept:
            self.plan, self.model, self.position, state = r.choice(self.kept)
            self.open(state)
            totals["older states"] += 1
        elif pick < 0.8:
            self.change()
        elif pick < 0.9:
            self.ban()
        if r.random() < 0.2:
            self.kept.append((self.plan, self.model, self.position, self.state()))


def said():
    return ", ".join(f"{count} {name}" for name, count in totals.items())


print(f"LEAT_TEST_SEED={sys.argv[1]}, {wanted} steps", flush=True)
began = time.monotonic()
with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
    data = [Data(folder, number) for number in range(6)]
    while totals["steps"] < wanted:
        story = Story(data)
        totals["stories"] += 1
        for _ in range(r.randint(1, 3000)):
            if totals["steps"] == wanted or not story.step():
                break
            totals["steps"] += 1
            if r.random() < 0.1:
                story.event()
            if totals["steps"] % 100000 == 0:
                print(f"{time.monotonic() - began:.0f} s: {said()}", flush=True)
        story.close()
print(f"{time.monotonic() - began:.0f} s: {said()}: all as the twins say")
