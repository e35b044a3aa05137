"""fim_twin.py: fill-in-the-middle in plain Python, beside order_twin.py and likewise written from docs/ORDER.md
alone."""
from fractions import Fraction

from documents_twin import begun
from order_twin import G, MASK, Permutation, mix


class Fim:
    """`rate` and `spm`: Fractions; `ids`: of PREFIX, MIDDLE and SUFFIX; `begin`, `end`: whether documents have such a
    token."""

    def __init__(self, rate, spm, ids, seed, begin=False, end=False):
        self.rate, self.spm = (int(Fraction(share) * 10**18) for share in (rate, spm))
        self.ids, self.seed, self.begin, self.end = ids, seed, begin, end

    def draws(self, source, document, n):
        key = Permutation(1, self.seed, source + 2**62, n).keys[0]
        return [mix((key + (4 * document + i) * G) & MASK) for i in range(4)]

    def cut(self, tokens, source, document, n):
        """None if a body of so many tokens is not changed; else whether it gets the form SPM, and the cuts."""
        u = self.draws(source, document, n)
        if tokens < 4 or u[0] * 10**18 >> 64 >= self.rate:
            return None
        return (u[1] * 10**18 >> 64 < self.spm, *sorted(x * (tokens - 2) >> 64 for x in u[2:]))

    def changed(self, body, source, document, n):
        """A body after its change: of tokens, and ("id", sentinel); None if it is not changed."""
        cut = self.cut(len(body), source, document, n)
        if cut is None:
            return None
        spm, a, b = cut
        kept = body[:-3]
        prefix, middle, suffix = kept[:a], kept[a:b], kept[b:]
        pre, mid, suf = ([("id", i)] for i in self.ids)
        if spm:
            return pre + suf + suffix + mid + prefix + middle
        return pre + prefix + suf + suffix + mid + middle

    def fragment(self, tokens, source, document, start, length, n):
        """A fragment's tokens (numbers in the source, rising; the first may be ("id", begin token)) after the change;
        its document has tokens [start, start + length)."""
        head = int(isinstance(tokens[0], tuple) or self.begin and tokens[0] == start)
        tail = int(self.end and tokens[-1] == start + length - 1 and len(tokens) > head)
        body = tokens[head:len(tokens) - tail]
        changed = self.changed(body, source, document, n)
        return tokens if changed is None else tokens[:head] + changed + tokens[len(tokens) - tail:]

    def row(self, pieces, source, documents, n, begin=None):
        """The tokens of each piece after the change. `pieces`: of each, its first token in the source, and tokens;
        `documents`: of all documents of the source, (start, length); `begin`: as of documents_twin.begun()."""
        out = []
        for first, count in pieces:
            tokens = []
            for number, (start, length) in enumerate(documents):
                here = list(range(max(start, first), min(start + length, first + count)))
                if here:
                    tokens += self.fragment(begun(here, start, begin), source, number, start, length, n)
            out.append(tokens)
        return out
