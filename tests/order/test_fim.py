#!/usr/bin/env python3
"""test_fim.py: fill-in-the-middle, by its twin (fim_twin.py, which test_twin.sh compares with the library): bodies
are changed, take each form and are cut as often as the rule says, independently of the next sample, document and
source; and with the same cuts Megatron's GPTFIMDataset gives the same tokens. That one is written down here as it
works, on tokens instead of characters: its decoding and encoding are left out, and its random numbers come from a
list."""
import random
import sys
from collections import Counter
from itertools import product

from fim_twin import Fim

IDS = (-1, -2, -3)  # PREFIX, MIDDLE, SUFFIX
failures = 0


def check(good, what):
    global failures
    if not good:
        failures += 1
        print(f"wrong: {what}")


def spread(counts, shares, what):
    """Chi-square of counts against the shares that they must have."""
    total = sum(counts.values())
    check(set(counts) <= set(shares), f"{what}: {set(counts) - set(shares)}")
    chi = sum((counts[cell] - total * share)**2 / (total * share) for cell, share in shares.items())
    freedom = len(shares) - 1
    most = freedom + 6 * (2 * freedom)**0.5 + 9
    print(f"{what}: chi2 {chi:.1f} of {freedom}, at most {most:.1f}")
    check(chi <= most, what)


def forms(rate, spm):
    return {None: 1 - rate, True: rate * spm, False: rate * (1 - spm)}


def test_shares(seed):
    kept = 9
    cuts = {(a, b): (1 if a == b else 2) / (kept + 1)**2 for a in range(kept + 1) for b in range(a, kept + 1)}
    for rate, spm in ((0.5, 0.5), (0.25, 0.75), (0.9, 0.1)):
        fim = Fim(str(rate), str(spm), IDS, seed)
        ways = {"samples": [(0, 5, n) for n in range(30000)], "documents": [(0, d, 5) for d in range(30000)],
                "sources": [(s, 5, 5) for s in range(30000)]}
        for way, places in ways.items():
            found = [fim.cut(kept + 3, *place) for place in places]
            spread(Counter(cut and cut[0] for cut in found), forms(rate, spm), f"forms by {way}, {rate}, {spm}")
            spread(Counter(cut[1:] for cut in found if cut), cuts, f"cuts by {way}, {rate}, {spm}")
            each = forms(rate, spm)
            spread(Counter(zip((cut and cut[0] for cut in found), (cut and cut[0] for cut in found[1:]))),
                   {(x, y): each[x] * each[y] for x, y in product(each, each)}, f"neighbours by {way}, {rate}, {spm}")
    for rate in ("0", "1"):
        changed = [Fim(rate, rate, IDS, seed).cut(9, 0, 0, n) for n in range(2000)]
        check(all(cut is None if rate == "0" else cut and cut[0] for cut in changed), f"a rate of {rate}")


# ---- Megatron's


class Drawn:
    """In the place of its RandomState: what it gives is given."""

    def __init__(self, numbers):
        self.numbers = list(numbers)

    def binomial(self, _, share):
        return self.numbers.pop(0)

    def randint(self, low, high, size):
        drawn = [self.numbers.pop(0) for _ in range(size)]
        assert all(low <= number < high for number in drawn)
        return drawn


def permute(sample, rng):
    """GPTFIMDataset._permute() of megatron-core, where a character is a token."""
    if not rng.binomial(1, None):
        return sample
    first, second = sorted(rng.randint(low=0, high=len(sample) + 1, size=2))
    prefix, middle, suffix = sample[:first], sample[first:second], sample[second:]
    pre, mid, suf = ([token] for token in IDS)
    if rng.binomial(1, None):
        return pre + suf + suffix + mid + prefix + middle
    return pre + prefix + suf + suffix + mid + middle


def permute_row(row, end, rngs):
    """Its way through a row: what lies between end tokens, each with a generator of its own here."""
    out, at = [], 0
    for place in [i for i, token in enumerate(row) if token == end] + [None]:
        segment = row[at:place]
        if segment or place is None:
            out += permute(segment, next(rngs)) if segment else []
        out += [end] if place is not None else []
        at = place + 1 if place is not None else at
    return out


def test_megatron(seed):
    r = random.Random(seed)
    end = 0
    for trial in range(400):
        fim, documents, at = Fim("0.7", "0.5", IDS, r.getrandbits(64), end=True), [], 0
        while at < 300:
            documents.append((at, r.choice([1, 2, 5, r.randint(4, 80)])))
            at += documents[-1][1]
        token = [end if any(n == s + size - 1 for s, size in documents) else n + 1 for n in range(at)]
        first, count = r.randrange(at - 60), 60
        ours, n = fim.row([(first, count)], 0, documents, trial)[0], trial
        short, rngs = [], []  # the row without what is left out, and what is drawn for each of its segments
        for number, (start, size) in enumerate(documents):
            low, high = max(start, first), min(start + size, first + count)
            if low >= high:
                continue
            ends = high == start + size
            body = list(range(low, high - ends))
            cut = fim.cut(len(body), 0, number, n)
            short += [token[i] for i in (body[:-3] if cut else body)] + [end] * ends
            if body:
                rngs.append(Drawn([0] if cut is None else [1, *r.sample(cut[1:], 2), cut[0]]))
        theirs = permute_row(short, end, iter(rngs))
        check([x[1] if isinstance(x, tuple) else token[x] for x in ours] == theirs, f"Megatron's row {trial}")


def main():
    seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    test_shares(seed)
    test_megatron(seed)
    sys.exit(1 if failures else 0)


main()
