"""plan.py: a plan of sources, weights, lengths and a seed decides which tokens sample n has."""
from __future__ import annotations

from collections import namedtuple
from collections.abc import Mapping
from os import fsdecode
from types import SimpleNamespace

from leat import _leat
from leat._lazy import numpy
from leat._own_file import read_text
from leat._values import ROW_DOCUMENTS, choice, instance, is_name, listed, path_of, read_size, shown, whole
from leat.dataset import Dataset
from leat.options import FIM, Opening, Order, as_group, choose, fit
from leat.tokenizer import Tokenizer

Sample = namedtuple("Sample", "n source window document offset part epoch length block token")
Sample.__doc__ = """One sample.

n         its number
source    the number of its source in the plan
window    the number of its window in the source
document  the document that holds its first token; None if that is not known
offset    the position of its first token in that token's file
part      the number of that file's dataset in a list
epoch     the pass over the source
length    in tokens
block     the number of its block in the source
token     the position of its first token in the source's dataset
"""
Shown = namedtuple("Shown", "n source document first count path offset line id row row_group banned",
                   defaults=(None, None, False))
Shown.__doc__ = """Tokens [first, first + count) of a document, which sample n shows; and the document's input, its byte
offset there, its line and id, and of a Parquet file its row and row_group, as in Place; and whether the document is
banned in this sample. What is not known is None."""
Piece = namedtuple("Piece", "source part token count at document inputs literal", defaults=(None, None))
Piece.__doc__ = """A piece of a sample's row as it is shown: `count` tokens of a source's dataset from `token` on, at
places of the row from `at` on; `document` holds the first of them. `inputs` of them are inputs, the others only
labels. A token that the plan puts in (leat.FIM, leat.fit(begin=True)) has its id as `literal`, and None as `token`."""
Source = namedtuple("Source", "name blocks tokens dropped weight epochs dataset documents left_out cut")
Source.__doc__ = """A source of a plan: blocks per epoch, tokens used, tokens dropped, its weight as an integer, its
maximum of epochs (0: no limit), and its dataset. With order="fit", in rows of the first length: the documents that rows
have, those that its rules leave out, and those that do not lie in one row; else None."""

FitReport = namedtuple("FitReport", "seq_len documents predictions empty rows full_rows pieces max_pieces patterns "
                                    "padding cut lost window_rows window_cut window_lost left_out unused context "
                                    "fill")
FitReport.__doc__ = """What rows of seq_len predictions made of whole documents are, next to windows of that length.

documents, predictions   used; `empty` documents of fewer than two tokens have none
rows, full_rows          of an epoch; of these with nothing but a part of a longer document
pieces, max_pieces       of all rows, and of the one that has most
patterns                 different sets of lengths that rows have
padding, fill            places of all rows without a prediction, and the share of the others
cut, lost                documents that do not lie in one row; predictions not in a row with their document's beginning
window_rows, window_cut, window_lost   the same of windows
left_out, unused         documents too short or too long for the plan; predictions of these, and of what is cut off
context                  places that show a prediction again, without loss (overlap); they are not padding
"""

MOST_SAMPLES = 1 << 60
STOPS = {"all": 0, "first": 1}


class PlanInfo(SimpleNamespace):
    """The facts of a plan, as attributes."""


def decimal(weight):
    """Returns a weight as the decimal that was written: 0.3 is 3/10, not the nearest float, also as a float32."""
    if weight is None:
        return None
    return repr(float(weight)) if isinstance(weight, float) else str(weight)


def _joined(what, items):
    """Joins texts to a line, separated by commas."""
    for item in items:
        if any(sign in item for sign in ",\n\0"):
            raise ValueError(f"{what} must not hold a comma or a newline, as {shown(item)} does")
    return ",".join(items)


def _source(item):
    """Returns (name, weight, epochs, dataset, rules) for a name, a Dataset, or a tuple that begins with one."""
    if isinstance(item, Dataset) or is_name(item):
        item = (item,)
    given = tuple(item) if isinstance(item, (tuple, list)) else ()
    rules = [rule for rule in given if isinstance(rule, (fit, choose))]
    words = given[:len(given) - len(rules)]
    last = not any(isinstance(word, (fit, choose)) for word in words)
    if not 1 <= len(words) <= 3 or not last or len(set(map(type, rules))) < len(rules):
        raise TypeError("a source must be a name, (name, weight) or (name, weight, epochs), and each of these tuples "
                        f"may end in a leat.fit, a leat.choose, or both, not {shown(item)}")
    name, weight, epochs = (*words, *(None, 0)[len(words) - 1:])
    rules = {option: value for rule in rules for option, value in rule._settings().items()}
    epochs = whole("epochs of a source", epochs or 0)
    if isinstance(name, Dataset):
        return name._names[0], decimal(weight), epochs, name._native, rules
    return fsdecode(path_of("the name of a source", name)), decimal(weight), epochs, None, rules


def _phase(item, names):
    """Returns (start, weights, seq_len) for a tuple (start, weights[, seq_len]). `names` are the sources' names."""
    if not isinstance(item, (tuple, list)) or not 2 <= len(item) <= 3 or isinstance(item[1], (str, bytes)):
        raise TypeError("a phase must be (start, weights) or (start, weights, seq_len), with a list of weights, one "
                        f"per source, not {shown(item)}")
    start, weights, *length = item
    if isinstance(weights, Mapping):
        weights = by_names("the weights of a phase", weights, names, 0)
    weights = listed("the weights of a phase must be a list", weights)
    return (whole("the start of a phase", start), _joined("a weight", [str(decimal(w)) for w in weights]),
            whole("seq_len of a phase", (length[0] or 0) if length else 0))


def _change(at, weights, add, seq_len, names):
    """Returns a change as the extension takes it, and appends its sources to `names`, those of the plan's sources."""
    if weights is not None and not isinstance(weights, Mapping):
        fields = listed("weights must be a list, or a dict by names of sources", weights)
    else:
        fields = None
    added = [_source(item) for item in add]
    names += [source[0] for source in added]
    if fields is None:
        fields = by_names("weights", weights or {}, names, None)
    texts = ["" if weight is None else decimal(weight) for weight in fields]
    return (whole("at", at), _joined("a weight", texts) if any(texts) else None, added,
            0 if seq_len is None else whole("seq_len", seq_len, 1))


def by_names(what, weights, names, rest):
    """Returns weights by names as a list in the order of the sources. Sources that are not named have `rest`."""
    for name in weights:
        if names.count(name) != 1:
            some = "several sources are" if name in names else "no source is"
            raise ValueError(f"{what}: {some} called {shown(name)}; the sources are {', '.join(names)}")
    return [weights.get(name, rest) for name in names]


def _skip(item):
    if not isinstance(item, (tuple, list)) or len(item) != 2:
        raise TypeError("skip must be a list of pairs (first, end) of sample numbers; "
                        f"{shown(item)} is not such a pair")
    return whole("the first sample of a skip", item[0]), whole("the end of a skip", item[1])


class BanLines(str):
    """Bans as lines of a plan's text."""

    __slots__ = ()


def _ban_lines(bans, names, start):
    """Returns BanLines from a file of bans, or from tuples (source, document[, start]). `names` are the sources' names,
    `start` counts for tuples without one."""
    if isinstance(bans, BanLines):
        return bans
    if is_name(bans):
        return BanLines(read_text(bans, "a file of bans"))
    lines = {}
    for item in listed("bans must be a file, or a list of (source, document) or (source, document, start)", bans):
        if not isinstance(item, (tuple, list)) or not 2 <= len(item) <= 3:
            raise TypeError(f"a ban must be (source, document) or (source, document, start), not {shown(item)}")
        source, document, begin = (*item, start)[:3]
        if begin is None:
            raise TypeError("ban() needs start, the sample from which on the documents have no loss")
        name = fsdecode(source) if is_name(source) else names[whole("the number of a banned source", source, 0,
                                                                    len(names) - 1)]
        if "\n" in name or "\0" in name:
            raise ValueError(f"a ban is of a source's name, which has no newline: not of {shown(name)}")
        begin, document = whole("the start of a ban", begin), whole("the number of a banned document", document)
        lines.setdefault((begin, name), []).append(str(document))
    return BanLines("".join(f"ban {begin}:{name}:{','.join(numbers)}\n" for (begin, name), numbers in lines.items()))


class Plan:
    """Decides which tokens sample n has, by these arguments and n alone: ranks, threads and machine do not matter.

    sources   a name (as in leat.open), a Dataset, or a list of these and of tuples (name, weight) and (name, weight,
              epochs); or a dict from names to weights. A weight counts as the decimal that you write. epochs limits the
              passes over a source. A tuple may end in a leat.choose, which chooses documents by columns, such as
              ("web", 3, leat.choose("score > 0.7")); and with order="fit" in a leat.fit: rules of this source alone,
              such as ("chat", 1, leat.fit(whole=True, max_length=8192))
    seq_len   tokens per sample; one more is read for the labels
    seed      another seed gives another order; None: 0, or with order="megatron" Megatron's 1234
    base_len  tokens per block, a multiple of all lengths, if phases change the length
    split, use   contiguous ranges of each dataset: split="train=0.99,valid=0.01" or a dict, use="train"
    phases    changes: (start, weights) or (start, weights, seq_len) from sample `start` on, with weights as a list or a
              dict from names; leat.ramp() gives those of a slow change
    skip      samples to leave out: (first, end)
    bans      documents whose tokens have no loss: (source, document) or (source, document, start), from sample `start`
              on, with the source's name or number and the document's number in its dataset; or a file that
              `leat trace --ban` wrote. Samples and their numbers stay
    order     "shuffled" or "sequential": windows of seq_len tokens, shuffled by the seed or in the files' order.
              "documents" or "documents-sequential": whole documents, one per row, cut to seq_len tokens and one more,
              without weights and phases. "fit", or leat.fit() with settings: rows of seq_len tokens of whole documents,
              put together so that nearly nothing stays empty; only longer documents are cut, and other documents meet
              in each epoch. "megatron", or leat.integrations.megatron.order() with settings: megatron-core's samples,
              each of them. It takes Megatron's settings: split="969,30,1", use "train", "valid" or "test", weights for
              all sources or for none
    epochs    a finite plan with at most so many passes over each source; None: without end
    fim       fill-in-the-middle, a leat.FIM: cuts documents in three, and puts them together again in another order
    stop      what ends a plan with limits of epochs: "all", when all sources have had theirs (the others share the
              weight of those that have), or "first", with the last sample of the first one
    stretch, mix, lanes   for servers and slow disks, with order="shuffled": each source is read in stretches of so many
              bytes ("8MiB", or a number), which come in another order in each epoch, and the windows of `mix` of them
              are shuffled together. lanes: streams of stretches that take turns
    open      how datasets are opened, a leat.Opening: for datasets on servers, for example

    A plan never changes. Threads can share it, and it can be pickled. docs/ORDER.md has the rules.
    """

    __slots__ = ("_native", "_made", "_info", "_how", "__weakref__")

    def __init__(self, sources, seq_len, seed=None, *, base_len=None, split=None, use=None, phases=(), skip=(), bans=(),
                 order="shuffled", epochs=None, fim=None, stop="all", stretch=None, mix=64, lanes=1,
                 open=Opening()):  # noqa: A002 (as in C)
        kind = choice("order", order.order if isinstance(order, Order) else order, _leat.ORDERS)
        settings = order._settings() if isinstance(order, Order) else {}
        if isinstance(sources, Dataset) or is_name(sources):
            sources = [sources]
        else:
            sources = listed("sources must be a name, a list, or a dict from names to weights",
                             sources.items() if isinstance(sources, dict) else sources)
        if isinstance(split, dict):
            split = _joined("a range of the split", [f"{name}={decimal(share)}" for name, share in split.items()])
        for name, text in (("split", split), ("use", use)):
            instance(name, text, (str, type(None)))
        phases, skip = listed("phases must be a list", phases), listed("skip must be a list", skip)
        if seed is None:
            seed = 1234 if kind == "megatron" else 0
        seq_len, seed = whole("seq_len", seq_len, 1), whole("seed", seed)
        sizes = dict(base_len=base_len, epochs=epochs)
        if stretch is not None:
            settings = {**settings, "stretch": read_size(stretch, 1, "stretch"), "mix": whole("mix", mix, 1),
                        "lanes": whole("lanes", lanes, 1)}
        elif (mix, lanes) != (64, 1):
            raise TypeError("mix and lanes need stretch")
        self._how = as_group("open", open, Opening)
        given = [_source(s) for s in sources]
        names = [source[0] for source in given]
        bans = _ban_lines(bans, names, 0)
        self._info = None

        def opened(changes):
            return _leat.open_plan(
                given, [_phase(p, names) for p in phases], [_skip(s) for s in skip],
                self._how._native(), dict(
                    seq_len=seq_len, seed=seed, split=split, use=use, bans=bans or None,
                    order=_leat.ORDERS.index(kind), stop=choice("stop", stop, STOPS), **settings,
                    **changes,
                    **{name: whole(name, value, 1) for name, value in sizes.items() if value is not None}))

        if fim is None:
            self._native = opened({})
        else:
            as_group("fim", fim, FIM)
            if fim._names():
                self._native = opened({})
            self._native = opened(fim._native(self._token))
        self._made = (_make_plan, (sources, seq_len, seed, dict(
            sizes, split=split, use=use, phases=phases, skip=skip, bans=bans, order=order, fim=fim, stop=stop,
            stretch=stretch, mix=mix, lanes=lanes, open=open)))

    def _token(self, name):
        """Returns the id of a token by its name in the tokenizer that the first source's dataset stores."""
        source = self.sources[0]
        stored = source.dataset.stored_tokenizer
        if stored is None:
            raise ValueError(f"{source.name} stores no tokenizer that knows {name!r}: give leat.FIM ids of its tokens")
        try:
            return Tokenizer.from_stored(*stored).encode_single_token(name)
        except KeyError:
            raise ValueError(f"the tokenizer of {source.name}, {stored[0]}, has no token {name!r} for leat.FIM"
                             ) from None

    @classmethod
    def parse(cls, text, *, skip=(), epochs=None, label="plan", open=Opening()):  # noqa: A002
        """A plan from its text (docs/ORDER.md, "Plan text").

        skip    samples to leave out, in addition to those of the text
        epochs  ends the plan after so many passes, if the text gives it no end
        label   names the plan in messages
        open    how its datasets are opened, a leat.Opening
        """
        self = cls.__new__(cls)
        for first, end in map(_skip, listed("skip must be a list", skip)):
            text += f"\nskip {first}:{end}"
        if epochs is not None:
            text += f"\nepochs {whole('epochs', epochs, 1)}"
        self._how = as_group("open", open, Opening)
        self._native = _leat.parse_plan(text, path_of("label", label), self._how._native())
        self._made = (_parse, (text, label, self._how))
        self._info = None
        return self

    @classmethod
    def load(cls, path, *, skip=(), epochs=None, open=Opening()):  # noqa: A002
        """A plan from a file with its text, as `leat order --print-plan` prints it; the options as in parse()."""
        text = read_text(path_of("path", path), "a plan")
        return cls.parse(text, skip=skip, epochs=epochs, label=fsdecode(path), open=open)

    def _made_of(self, native, *made):
        """Returns a Plan for one that the library made from this one."""
        plan = type(self).__new__(type(self))
        plan._native, plan._made, plan._how, plan._info = native, made, self._how, None
        return plan

    def _reordered(self, order, seq_len):
        """Returns a plan with these sources, seed, split and epochs in another order. seq_len 0 keeps the length."""
        return self._made_of(self._native.reorder(_leat.ORDERS.index(order), seq_len), _reorder,
                             (self, order, seq_len))

    # ---- Changes

    def change(self, at, *, weights=None, add=(), stop=(), seq_len=None):
        """A plan that gives the samples below `at` of this one, and changes from sample `at` on. Each source goes on
        where it stopped: nothing of it is repeated or lost. Phases that begin after `at` are dropped; skips stay. It is
        a plan like any other: its text has the changes, states from before `at` are its own, too, and
        leat.Loader.change() lets a loader go on with it.

        at       a sample number. Where phases show slices of blocks, a change must not cut one: change_place()
        weights  a dict from names of sources, or a list in their order (None in it: as before). Sources that are not
                 named keep their weight
        add      a name, or a list of sources as leat.Plan takes them, which have weight 0 before `at`
        stop     names of sources that get weight 0
        seq_len  another length
        """
        stop = [stop] if isinstance(stop, str) else listed("stop must be a list of names", stop)
        if stop:
            if weights is not None and not isinstance(weights, Mapping):
                raise TypeError("stop goes with weights by names: give those of a list as 0")
            weights = {**(weights or {}), **dict.fromkeys(stop, 0)}
        add = [add] if isinstance(add, Dataset) or is_name(add) else listed("add must be a name, or a list of sources",
                                                                            add)
        return self._changed([(at, weights, add, seq_len)])

    def change_place(self, n):
        """The first sample from n on at which a change may begin: n, unless phases show slices of blocks."""
        return self._native.change_place(whole("n", n))

    def _changed(self, changes):
        names = [source.name for source in self.sources]
        plan = self._derived(self._native.change([_change(*change, names) for change in changes], self._how._native()))
        base, before = self._made[1] if self._made[0] is _changed else (self, [])
        plan._made = (_changed, (base, [*before, *changes]))
        return plan

    def replay(self, text, label="changes"):
        """The plan with the changes of a text (docs/ORDER.md, "Changes"), such as the log of a leat.Mixture."""
        plan = self._derived(self._native.change_text(instance("text", text, str), path_of("label", label),
                                                      self._how._native()))
        plan._made = (_replay, (self, text, label))
        return plan

    def _derived(self, native):
        plan = type(self).__new__(type(self))
        plan._native, plan._how, plan._info = native, self._how, None
        return plan

    def ban(self, documents, start=None):
        """A plan that is this one with further bans: tokens of these documents have no loss from sample `start` on.
        What a run has shown before that sample is the same, so it resumes at `start` or before it.

        documents  (source, document), with the source's name or number, as trace() gives them; or
                   (source, document, start); or a file of bans, which has the starts itself
        """
        start = None if start is None else whole("start", start)
        lines = _ban_lines(documents, [s.name for s in self.sources], start)
        return self._made_of(self._native.ban(lines), _ban, (self, lines))

    def documents(self, max_length=None):
        """A plan of whole documents, cut to max_length tokens and one more (None: seq_len), of the same sources, seed,
        split and epochs: for fine-tuning. Shuffled if this plan's order is."""
        order = self.info.order
        max_length = None if max_length is None else whole("max_length", max_length, 1)
        if order.startswith("documents") and not self.info.max_tokens and max_length in (None, self.seq_len):
            return self
        return self._reordered("documents-sequential" if order.endswith("sequential") else "documents",
                               0 if max_length is None else max_length)

    def by_tokens(self, max_tokens, *, max_rows=None, pool=None):
        """This plan, of an order of documents, in batches by tokens: a batch has documents of like lengths, and rows
        times tokens of the longest row (at most seq_len + 1) are at most max_tokens. leat.Loader(max_tokens=) makes
        such a plan itself. Sample numbers are others than this plan's.

        max_rows  at most so many rows in a batch
        pool      how many consecutive samples are put together by length; None: 4096
        """
        sizes = dict(max_rows=max_rows, pool=pool)
        sizes = {name: 0 if value is None else whole(name, value, 1) for name, value in sizes.items()}
        plan = type(self).__new__(type(self))
        plan._native = self._native.by_tokens(whole("max_tokens", max_tokens, 1), *sizes.values())
        plan._made = (_by_tokens, (self, max_tokens, max_rows, pool))
        plan._how = self._how
        plan._info = None
        return plan

    def __reduce__(self):
        return self._made

    def __repr__(self):
        names = ", ".join(shown(s.name) for s in self.sources[:4])
        return f"<leat.Plan of {names}{', ...' if self.info.sources > 4 else ''}: seq_len {self.seq_len}, " \
               f"seed {self.info.seed}, {self.info.positions or 'endless'} samples>"

    # ---- Facts

    @property
    def text(self):
        """The plan as text, equal for plans with equal samples; leat.Plan.parse() and the command read it."""
        made = self._made
        while made[0] in (_changed, _replay):
            for _, _, add, _ in made[1][1] if made[0] is _changed else ():
                self._check_text(add)
            made = made[1][0]._made
        if made[0] is _make_plan:
            self._check_text(made[1][0])
        return self._native.text()

    @staticmethod
    def _check_text(sources):
        for source in sources:
            dataset = source if isinstance(source, Dataset) else source[0] if isinstance(source, tuple) else None
            if isinstance(dataset, Dataset) and len(dataset._names) > 1:
                raise ValueError("a source is a list of names, which a plan's text cannot hold: write them to a file, "
                                 "one name per line, and give \"@FILE\"")

    @property
    def info(self):
        """Its facts: samples and positions (None: without end), seed, order, seq_len, max_seq_len, base_len, sources,
        phases, token_width, and the versions of the rules."""
        if self._info is None:
            self._info = PlanInfo(**self._native.info())
        return self._info

    @property
    def seq_len(self):
        """Tokens per sample, in the first phase."""
        return self.info.seq_len

    @property
    def sources(self):
        """The sources, as Source tuples."""
        found = [self._native.source(i) for i in range(self.info.sources)]
        return [Source(*s[:6], Dataset._wrap(s[6], s[0], vars(self._how)), *s[7:]) for s in found]

    def __len__(self):
        """How many samples the plan shows; TypeError if it has no end."""
        if self.info.positions is None:
            raise TypeError("this plan has no end")
        return self.info.positions

    def __bool__(self):
        return True  # true also for a plan without end, which has no length

    # ---- Samples

    def order(self, n, count=None):
        """Sample n as a Sample; with a count, a list of the samples n to n + count - 1 that are not skipped."""
        n = whole("n", n)
        if count is None:
            return Sample(*self._native.sample(n))
        end = n + whole("count", count)
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
        """Samples at positions [position, position + count), fewer at the plan's end, as a numpy array with the fields
        n, source, window, offset, part, epoch, length, block, token, slice."""
        np = numpy("Plan.samples()")
        position, count = whole("position", position), whole("count", count)
        if self.info.positions is not None:  # the plan may have far fewer samples than count
            count = min(count, max(self.info.positions - position, 0))
        fields = _leat.sample_fields()
        array = np.asarray(self._native.samples(position, count))
        kind = np.dtype({"names": [f[0] for f in fields], "formats": [f"=u{f[2]}" for f in fields],
                         "offsets": [f[1] for f in fields], "itemsize": array.shape[1]})
        return array.reshape(-1).view(kind)

    def pieces(self, n):
        """The pieces of sample n's row as it is shown: a list of Piece, in the order of the row."""
        sources, found = self.sources, []
        for piece in map(Piece._make, self._native.pieces(whole("n", n))):
            dataset = sources[piece.source].dataset
            if piece.document is None and dataset.info.documents is not None:
                piece = piece._replace(document=dataset._native.documents_in(piece.token, 1)[0])
            found.append(piece)
        return found

    def number(self, position):
        """The number of the sample at a position; it differs from the position if samples are skipped."""
        return self._native.number(whole("position", position))

    def position(self, n):
        """The position of sample n; for a skipped sample, the position of the next one that is shown."""
        return self._native.position(whole("n", n))[0]

    def _rows(self, positions, number_bytes, outputs, to, mask_first=False):
        """Returns outputs (of _values.ROW_OUTPUTS) of the samples at these positions, for datasets that are indexed by
        number. `to` makes each array from a native one. Inputs and labels share memory if labels are the next
        inputs."""
        if set(outputs) <= {"inputs", "labels"} and not mask_first and not self._native.labels_apart():
            whole = to(self._native.rows(positions, number_bytes))
            found = {"inputs": whole[:, :-1], "labels": whole[:, 1:]}
        else:
            documents = any(name in ROW_DOCUMENTS for name in outputs)
            made = [to(array) for array in self._native.rows_apart(positions, number_bytes, documents, mask_first)]
            found = dict(zip(("inputs", "labels", "loss_weights", *ROW_DOCUMENTS), made))
            found["loss_mask"] = found["loss_weights"] > 0
        return tuple(found[name] for name in outputs)

    # ---- Rows of whole documents

    def fit_report(self, seq_len=None, source=0):
        """What order="fit" makes of a source of this plan, whatever its own order: a FitReport. It reads where all
        documents start.

        seq_len  predictions of a row; None: those of the plan's first phase
        source   its number, or its name
        """
        seq_len = self.seq_len if seq_len is None else whole("seq_len", seq_len, 1)
        facts = self._native.fit_report(self._source_number(source), seq_len)
        places = facts["rows"] * seq_len
        return FitReport(seq_len=seq_len, fill=1 - facts["padding"] / places if places else 1.0, **facts)

    # ---- From documents to samples and back

    def trace(self, *, document=None, epochs=None, until=None, step=None, batch=None, samples=None):
        """Finds which samples show a document, or which documents samples show. Give one of:

        document=(source, number)   the samples that show document `number` of a source (its number or name), as a list
                                    of Sample: in the first `epochs` passes over the source, or below sample `until`
        step=s, batch=B             the documents in global batch s (counted from 0) of B rows, as a list of Shown
        samples=(a, b)              the documents in samples a to b - 1, as a list of Shown
        """
        if (document, step, samples).count(None) != 2:
            raise TypeError("trace() needs exactly one of document, step and samples")
        for name, pair, of in (("document", document, "(source, number)"), ("samples", samples, "(first, end)")):
            if pair is not None and not (isinstance(pair, (tuple, list)) and len(pair) == 2):
                raise TypeError(f"{name} must be a pair {of}, not {shown(pair)}")
        if document is not None:
            return self._trace_document(*document, epochs, until)
        if step is not None:
            if batch is None:
                raise TypeError("trace(step=...) needs batch, the number of rows in a global batch")
            if self.info.max_tokens:
                raise ValueError("step counts rows, but the plan has batches by tokens: give samples=(a, b)")
            step, batch = whole("step", step), whole("batch", batch, 1)
            positions = range(step * batch, (step + 1) * batch)
            if self.info.positions is not None:
                positions = range(positions.start, min(positions.stop, self.info.positions))
            return self._shown(Sample(*self._native.sample(self._native.number(p))) for p in positions)
        first, end = (whole(f"the {which} of samples", n) for which, n in zip(("first", "end"), samples))
        return self._shown(self.order(first, max(end - first, 0)))

    def _source_number(self, source):
        """Returns the number of a source, given its number or name."""
        return source if hasattr(source, "__index__") else self._source_numbers(source)[0]

    def _source_numbers(self, source):
        """Returns the numbers of all sources with this name or number."""
        count = self.info.sources
        if hasattr(source, "__index__"):
            return [whole("the number of a source", source, 0, count - 1)]
        names = [self._native.source(i)[0] for i in range(count)]
        if source not in names:
            known = ", ".join(map(repr, names[:10])) + (f" and {count - 10} more" if count > 10 else "")
            raise ValueError(f"the plan has no source called {shown(source)}: it has {known}")
        return [i for i, name in enumerate(names) if name == source]

    def _trace_document(self, source, number, epochs, until):
        source = self._source_number(source)
        first, count = self._native.source(source)[6].document(whole("the number of a document", number))
        if count == 0:
            return []
        limits = [None if limit is None else whole("epochs or until", limit) for limit in (epochs, until)]
        return [Sample(*s) for s in self._native.trace(source, first, count, *limits)]

    def _shown(self, found):
        sources = [s.dataset for s in self.sources]
        shown = []
        for sample in found:
            for piece in map(Piece._make, self._native.pieces(sample.n)):
                if piece.literal is not None or piece.inputs == 0:
                    continue
                dataset = sources[piece.source]
                end = piece.token + piece.inputs
                number, count = dataset._native.documents_in(piece.token, piece.inputs)
                for place in map(dataset.place, range(number, number + count)):
                    first = max(piece.token - place.first, 0)
                    tokens = min(end - place.first, place.count) - first
                    if tokens > 0:  # empty documents in between are left out
                        banned = self._native.banned(piece.source, place.document, sample.n)
                        shown.append(Shown(sample.n, piece.source, place.document, first, tokens, place.path,
                                           *place[5:], banned=banned))
        return shown

    # ---- States

    def state(self, position, damaged=0):
        """The state of a run that has shown `position` samples, as text to save with a checkpoint."""
        return self._native.state_save(whole("position", position), whole("damaged", damaged))

    def load_state(self, text):
        """(position, damaged, skipped) of a state; leat.Error ("checkpoint") if this plan gave other samples before."""
        return self._native.state_load(instance("a state", text, str))


def _make_plan(sources, seq_len, seed, options):
    return Plan(sources, seq_len, seed, **options)


def _parse(text, label, how):
    return Plan.parse(text, label=label, open=how)


def _by_tokens(plan, max_tokens, max_rows, pool):
    return plan.by_tokens(max_tokens, max_rows=max_rows, pool=pool)


def _reorder(plan, order, seq_len):
    return plan._reordered(order, seq_len)


def _changed(plan, changes):
    return plan._changed(changes)


def _replay(plan, text, label):
    return plan.replay(text, label)


def _ban(plan, lines):
    return plan.ban(lines)
