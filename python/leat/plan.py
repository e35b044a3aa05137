"""plan.py: which tokens sample n is: a plan of sources, weights, lengths and a seed."""
from __future__ import annotations

from collections import namedtuple
from os import fsdecode
from types import SimpleNamespace

from leat import _leat
from leat._lazy import numpy
from leat._values import choice, is_name, listed, whole
from leat.dataset import ACCESS, Dataset

Sample = namedtuple("Sample", "n source window document offset part epoch length block token")
Sample.__doc__ = """One sample: n is its number; source, its place among the plan's sources; window, that of the source;
document, the one that holds the first token; offset, the first token's place in its token file; part, the dataset of a
list; epoch of the source; length in tokens; block of the source; token, the first token's position in the source's
dataset."""
Shown = namedtuple("Shown", "n source document first count path offset line id")
Shown.__doc__ = """A document that sample n shows, and tokens [first, first + count) of it that it shows; its input's
path, its byte offset there, line and id; None for each that is not known."""
Piece = namedtuple("Piece", "source part token count at document")
Piece.__doc__ = """A piece of a sample's row: count tokens of a source's dataset from token on, the first of which
stands at place `at` of the row; document, the one that holds the first token."""
Source = namedtuple("Source", "name blocks tokens dropped weight epochs dataset")
Source.__doc__ = """A source of a plan: blocks an epoch, tokens used and dropped, weight as an integer, most epochs (0:
no limit)."""

MOST_SAMPLES = 1 << 60


class PlanInfo(SimpleNamespace):
    """Facts of a plan: attributes."""


def decimal(weight):
    """A weight as the decimal it was written as: 0.3 is 3/10, not what a float makes of it, and so is float32's."""
    if weight is None:
        return None
    return repr(float(weight)) if isinstance(weight, float) else str(weight)


def _source(item):
    """(name, weight, epochs, dataset): of a name, a Dataset, or a tuple that begins with one."""
    if isinstance(item, Dataset) or is_name(item):
        item = (item,)
    if not isinstance(item, (tuple, list)) or not 1 <= len(item) <= 3:
        raise TypeError(f"a source is a name, (name, weight) or (name, weight, epochs), not {item!r}")
    name, weight, epochs = (*item, *(1, 0)[len(item) - 1:])
    epochs = whole("epochs of a source", epochs or 0)
    if isinstance(name, Dataset):
        return (name._names[0], decimal(weight), epochs, name._native)
    return fsdecode(name), decimal(weight), epochs, None


def _phase(item):
    """(begin, weights, seq_len): of a tuple (begin, weights[, seq_len])."""
    if not isinstance(item, (tuple, list)) or not 2 <= len(item) <= 3 or isinstance(item[1], (str, bytes)):
        raise TypeError("a phase is (begin, weights) or (begin, weights, seq_len), weights a list with one for each "
                        f"source, not {item!r}")
    begin, weights, *length = item
    weights = listed("the weights of a phase are a list", weights)
    return (whole("the begin of a phase", begin), ",".join(decimal(w) for w in weights),
            whole("seq_len of a phase", (length[0] or 0) if length else 0))


def _skip(item):
    if not isinstance(item, (tuple, list)) or len(item) != 2:
        raise TypeError(f"skip is a list of pairs (first, end), each of which leaves samples out; not of {item!r}")
    return whole("the first sample of a skip", item[0]), whole("the end of a skip", item[1])


class Plan:
    """Which tokens sample n is, for good: a function of these arguments and n alone, not of ranks, threads or machine.

    sources   a name (as of leat.open), a Dataset, or a list of these and of tuples (name, weight) and (name, weight,
              epochs); or a dict from names to weights. Weights are read as the decimals they are written as. epochs
              limits the passes over a source.
    seq_len   tokens of a sample; the labels need one more, which is read besides
    seed      another seed is another order
    base_len  tokens of a block, a multiple of every length, where phases change the length
    split, use   contiguous parts of each dataset: split="train=0.99,valid=0.01" or a dict, use="train"
    phases    changes: (begin, weights) or (begin, weights, seq_len) from sample `begin` on
    skip      samples that are left out: (first, end)
    order     "shuffled" or "sequential": windows of seq_len tokens, as the seed shuffles them or in the files' order;
              "documents" or "documents-sequential": whole documents, one per row, of at most seq_len tokens and one
              more, without weights and phases
    epochs    a finite pass: no source more often; None: without end

    A plan never changes; it can be shared by threads, and pickled. docs/ORDER.md has the rules.
    """

    __slots__ = ("_native", "_made", "_info", "_access", "__weakref__")

    def __init__(self, sources, seq_len, seed=0, *, base_len=None, split=None, use=None, phases=(), skip=(),
                 order="shuffled", epochs=None, access="leased"):
        choice("order", order, _leat.ORDERS)
        if isinstance(sources, Dataset) or is_name(sources):
            sources = [sources]
        else:
            sources = listed("sources are a name, a list, or a dict from names to weights",
                             sources.items() if isinstance(sources, dict) else sources)
        if isinstance(split, dict):
            split = ",".join(f"{name}={decimal(share)}" for name, share in split.items())
        for name, text in (("split", split), ("use", use)):
            if text is not None and not isinstance(text, str):
                raise TypeError(f"{name} is a str, not {text!r}")
        phases, skip = listed("phases are a list", phases), listed("skip is a list", skip)
        seq_len, seed = whole("seq_len", seq_len, 1), whole("seed", seed)
        self._native = _leat.open_plan(
            [_source(s) for s in sources], [_phase(p) for p in phases], [_skip(s) for s in skip], seq_len,
            0 if base_len is None else whole("base_len", base_len, 1), seed, split, use, _leat.ORDERS.index(order),
            0 if epochs is None else whole("epochs", epochs, 1), choice("access", access, ACCESS))
        self._made = (_make, (sources, seq_len, seed, dict(base_len=base_len, split=split, use=use, phases=phases,
                                                           skip=skip, order=order, epochs=epochs, access=access)))
        self._access = access
        self._info = None

    @classmethod
    def parse(cls, text, *, skip=(), epochs=None, label="plan", access="leased"):
        """A plan from its text (docs/ORDER.md, "Plan text"), which leaves out besides what `skip` says, as Plan's, and,
        if the text gives it no end, ends after `epochs`; `label` names it in messages."""
        self = cls.__new__(cls)
        for first, end in map(_skip, listed("skip is a list", skip)):
            text += f"\nskip {first}:{end}"
        if epochs is not None:
            text += f"\nepochs {whole('epochs', epochs, 1)}"
        self._native = _leat.parse_plan(text, label, choice("access", access, ACCESS))
        self._made = (_parse, (text, label, access))
        self._access = access
        self._info = None
        return self

    @classmethod
    def load(cls, path, *, skip=(), epochs=None, access="leased"):
        """A plan from a file with its text, as `leat order --print-plan` writes it; `skip` and `epochs` as of parse().
        """
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return cls.parse(file.read(), skip=skip, epochs=epochs, label=fsdecode(path), access=access)

    def _reordered(self, order, seq_len):
        """The same sources, seed, split and epochs in another order; 0: with the same seq_len."""
        plan = type(self).__new__(type(self))
        plan._native = self._native.reorder(_leat.ORDERS.index(order), seq_len)
        plan._made = (_reorder, (self, order, seq_len))
        plan._access = self._access
        plan._info = None
        return plan

    def _documents(self, max_length):
        """Whole documents of at most so many tokens (None: seq_len), shuffled if this plan's order is."""
        order = self.info.order
        if order.startswith("documents") and max_length in (None, self.seq_len):
            return self
        return self._reordered("documents-sequential" if order.endswith("sequential") else "documents",
                               0 if max_length is None else max_length)

    def __reduce__(self):
        return self._made

    def __repr__(self):
        names = ", ".join(repr(s.name) for s in self.sources[:4])
        return f"<leat.Plan of {names}{', ...' if self.info.sources > 4 else ''}: seq_len {self.seq_len}, " \
               f"seed {self.info.seed}, {self.info.positions or 'endless'} samples>"

    # ---- Facts

    @property
    def text(self):
        """The plan as text, the same for plans that mean the same; leat.Plan.parse() and the command read it."""
        if self._made[0] is _make:
            for source in self._made[1][0]:
                dataset = source if isinstance(source, Dataset) else source[0] if isinstance(source, tuple) else None
                if isinstance(dataset, Dataset) and len(dataset._names) > 1:
                    raise ValueError("a source is a list of names, which a plan's text cannot hold: write them into a "
                                     "file, a name a line, and name it \"@FILE\"")
        return self._native.text()

    @property
    def info(self):
        """samples and positions (None: without end), seed, order, seq_len, max_seq_len, base_len, sources, phases,
        token_width, and the versions of the rules."""
        if self._info is None:
            self._info = PlanInfo(**self._native.info())
        return self._info

    @property
    def seq_len(self):
        """Tokens of a sample, in the first phase."""
        return self.info.seq_len

    @property
    def sources(self):
        """The sources, as Source tuples."""
        found = [self._native.source(i) for i in range(self.info.sources)]
        return [Source(*s[:-1], Dataset._wrap(s[-1], s[0], self._access)) for s in found]

    def __len__(self):
        """How many samples are shown; TypeError of a plan without end."""
        if self.info.positions is None:
            raise TypeError("this plan has no end")
        return self.info.positions

    def __bool__(self):
        return True  # also of a plan without end, which has no length

    # ---- Samples

    def order(self, n, count=None):
        """Sample number n: a Sample; with a count, a list of those from n on that are not skipped, and numbered below
        n + count."""
        if count is None:
            return Sample(*self._native.sample(n))
        end = n + count
        position = self._native.position(n)[0]
        most = min(end, MOST_SAMPLES) - n
        numbers = (self._native.number(p) for p in range(position, position + most))
        found = []
        for number in numbers:
            if number >= end or (self.info.samples is not None and number >= self.info.samples):
                break
            found.append(Sample(*self._native.sample(number)))
        return found

    def samples(self, position, count):
        """Samples of positions [position, position + count) as a numpy array with the fields n, source, window, offset,
        part, epoch, length, block, token, slice: for many at once. Fewer come where the plan ends."""
        np = numpy("Plan.samples()")
        position, count = whole("position", position), whole("count", count)
        if self.info.positions is not None:  # there may be many fewer than there would be room for
            count = min(count, max(self.info.positions - position, 0))
        fields = _leat.sample_fields()
        array = np.asarray(self._native.samples(position, count))
        kind = np.dtype({"names": [f[0] for f in fields], "formats": [f"=u{f[2]}" for f in fields],
                         "offsets": [f[1] for f in fields], "itemsize": array.shape[1]})
        return array.reshape(-1).view(kind)

    def pieces(self, n):
        """What the row of sample n is made of: a list of Piece, in the order of the row."""
        sources, found = self.sources, []
        for piece in map(Piece._make, self._native.pieces(n)):
            if piece.document is None:
                first = sources[piece.source].dataset._native.documents_in(piece.token, 1)[0]
                piece = piece._replace(document=first)
            found.append(piece)
        return found

    def number(self, position):
        """The number of the sample that is shown at a position: they differ where samples are skipped."""
        return self._native.number(position)

    def position(self, n):
        """The position of sample n; of a skipped one, that of the next that is shown."""
        return self._native.position(n)[0]

    # ---- The way back

    def trace(self, *, document=None, epochs=None, until=None, step=None, batch=None, samples=None):
        """What samples show, or which samples show something; one of:

        document=(source, number)   the samples that show a document of a source (its position, or name), as a list of
                                    Sample: in the first `epochs` passes over the source, or numbered below `until`
        step=s, batch=B             the documents of global batch s of B rows, as a list of Shown
        samples=(a, b)              the documents of samples a up to and without b, likewise
        """
        if (document, step, samples).count(None) != 2:
            raise TypeError("trace() needs one of document, step and samples")
        for name, pair, of in (("document", document, "(source, number)"), ("samples", samples, "(first, end)")):
            if pair is not None and not (isinstance(pair, (tuple, list)) and len(pair) == 2):
                raise TypeError(f"{name} is a pair {of}, not {pair!r}")
        if document is not None:
            return self._trace_document(*document, epochs, until)
        if step is not None:
            if batch is None:
                raise TypeError("trace(step=...) needs batch, the rows of a global batch")
            step, batch = whole("step", step), whole("batch", batch, 1)
            positions = range(step * batch, (step + 1) * batch)
            if self.info.positions is not None:
                positions = range(positions.start, min(positions.stop, self.info.positions))
            return self._shown(Sample(*self._native.sample(self._native.number(p))) for p in positions)
        return self._shown(self.order(samples[0], samples[1] - samples[0]))

    def _trace_document(self, source, number, epochs, until):
        if not hasattr(source, "__index__"):
            names = [s.name for s in self.sources]
            if source not in names:
                raise ValueError(f"the plan has no source called {source!r}")
            source = names.index(source)
        first, count = self._native.source(source)[-1].document(number)
        if count == 0:
            return []
        return [Sample(*s) for s in self._native.trace(source, first, count, epochs, until)]

    def _shown(self, found):
        sources = [s.dataset for s in self.sources]
        shown = []
        for sample in found:
            pieces = list(map(Piece._make, self._native.pieces(sample.n)))
            for i, piece in enumerate(pieces):
                dataset = sources[piece.source]
                end = pieces[i + 1].at if i + 1 < len(pieces) else sample.length
                end += piece.token - piece.at  # of the tokens that are inputs
                number, count = dataset._native.documents_in(piece.token, end - piece.token) if end > piece.token \
                    else (0, 0)
                for place in map(dataset.place, range(number, number + count)):
                    first = max(piece.token - place.first, 0)
                    tokens = min(end - place.first, place.count) - first
                    if tokens > 0:  # empty documents between are not shown
                        shown.append(Shown(sample.n, piece.source, place.document, first, tokens, place.path,
                                           place.offset, place.line, place.id))
        return shown

    # ---- States

    def state(self, position, damaged=0):
        """The state of a run that has shown `position` samples, as text to be saved with a checkpoint."""
        return self._native.state_save(position, damaged)

    def load_state(self, text):
        """(position, damaged, skipped) of a state; leat.Error ("checkpoint") if this plan has not the same past."""
        return self._native.state_load(text)


def _make(sources, seq_len, seed, options):
    return Plan(sources, seq_len, seed, **options)


def _parse(text, label, access):
    return Plan.parse(text, label=label, access=access)


def _reorder(plan, order, seq_len):
    return plan._reordered(order, seq_len)
