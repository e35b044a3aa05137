"""mixture.py: weights of sources that change slowly (ramp), or as a run decides while it trains (Mixture)."""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from decimal import Context, Decimal, localcontext
from fractions import Fraction

from leat._own_file import own_file_regular, read_text
from leat._values import check_plan, choice, flag, instance, listed, path_of, shown, whole
from leat.batch import Batch
from leat.loader import Loader
from leat.plan import decimal
from leat.ranks import exchange

SHAPES = ("linear", "cosine")
FIRST_LINE = "leat changes 1\n"
_INFINITE = float("inf")
UNIT = 1 << 32  # losses are summed as whole multiples of 1 / UNIT
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582")


def _exact(weight):
    """Returns a weight as a fraction. Refuses weights whose fraction would take long to compute."""
    text = decimal(weight)
    if len(text) > 1000 or abs(int(text.lower().partition("e")[2] or 0)) > 1000:
        raise ValueError
    return Fraction(text)


def _shares(what, weights):
    """Returns weights as fractions of their sum."""
    try:
        values = [_exact(weight) for weight in weights]
    except (TypeError, ValueError, ArithmeticError):
        raise ValueError(f"the weights of {what} must be numbers, not {shown(weights):.300}") from None
    if min(values, default=0) < 0 or not any(values):
        raise ValueError(f"the weights of {what} must not be negative, and one must be above 0")
    return [value / sum(values) for value in values]


def _named(what, weights):
    """Returns (names or None, weights as shares)."""
    names = list(weights) if isinstance(weights, Mapping) else None
    values = weights.values() if names is not None else listed(f"{what} must be a list, or a dict by names", weights)
    return names, _shares(what, list(values))


def _loss(row, loss):
    """Returns the loss of a row as a whole multiple of 1 / UNIT."""
    try:
        return round(Fraction(float(loss)) * UNIT)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"the loss of row {row} of a batch must be a finite number, not {loss!r}") from None


def _short(value, digits):
    """Returns a fraction as a decimal with `digits` significant digits, rounded once, without trailing zeros."""
    rounded = Context(prec=digits).divide(Decimal(value.numerator), Decimal(value.denominator))
    return format(rounded.normalize(), "f")


def _half_cosine(part):
    """Returns (1 - cos(pi part)) / 2 by a series of decimals, which gives equal results on every machine."""
    with localcontext(Context(prec=45)):
        x = _PI * part.numerator / part.denominator
        term, total, n = Decimal(1), Decimal(1), 0
        while abs(term) > Decimal("1e-40"):
            n += 2
            term *= -x * x / (n * (n - 1))
            total += term
        return Fraction((1 - total) / 2)


def ramp(from_, to, start, end, shape="linear", *, step=None, digits=4):
    """Returns phases for leat.Plan(phases=...) that lead from one mixture to another. The phase that begins at sample n
    has the weights of the curve at n, from `from_` at `start` to exactly `to` at `end`. Both mixtures count as shares
    of their sums. Weights are decimals of few digits, equal on every machine.

        leat.Plan({"web": 9, "code": 1}, 4096, phases=leat.ramp({"web": 9, "code": 1}, {"web": 5, "code": 5},
                                                                1_000_000, 5_000_000, "cosine"))

    from_, to   weights as lists in the order of the sources, or as dicts by their names
    start, end  sample numbers. Before `start` the plan's own weights hold (a ramp from sample 0 begins with them)
    shape       "linear" or "cosine"
    step        samples of a phase; None: so that there are at most 1024. Where samples are slices of blocks, a multiple
                of 16 base_len / seq_len
    digits      of each weight, from the first that is not 0
    """
    start, end, digits = whole("start", start), whole("end", end, 1), whole("digits", digits, 1, 9)
    if end <= start:
        raise ValueError(f"the ramp ends at sample {end}, not after its start at {start}")
    choice("shape", shape, SHAPES)
    step = -(-(end - start) // 1024) if step is None else whole("step", step, 1)
    (names, before), (other, after) = _named("from_", from_), _named("to", to)
    if (names is None) != (other is None) or names is None and len(before) != len(after):
        raise ValueError("from_ and to must both be dicts, or lists of one weight for each source")
    if names is not None:
        every = list(dict.fromkeys([*names, *other]))
        before, after = ([dict(zip(keys, values)).get(name, Fraction(0)) for name in every]
                         for keys, values in ((names, before), (other, after)))
        names = every
    phases = []
    for n in [*range(start, end, step), end]:
        part = Fraction(n - start, end - start)
        if shape == "cosine":
            part = _half_cosine(part) if n < end else Fraction(1)
        weights = [_short(a + (b - a) * part, digits) for a, b in zip(before, after)]
        if n > 0:
            phases.append((n, weights if names is None else dict(zip(names, weights))))
    return phases


def _whole_row(loader):
    """Returns True if this process has the first slice of its rows, and so counts them for all that share them."""
    return loader._options.get("slice_rank", 0) == 0


class Mixture:
    """The weights of a run's sources, decided while it trains, so that the same run can be replayed bit for bit.

        mixture = leat.Mixture(plan, "run.changes", every=100)
        loader = leat.Loader(mixture.plan, 8, rank=rank, world=world)
        for batch in loader:
            mixture.add(batch, train_step(batch))           # the losses of its rows
            mixture.step(loader, decide)                    # decide(weights, losses): new weights

    Each `every` steps, step() asks decide() on rank 0, sends the weights to all ranks, rounds them, and changes plan
    and loader from the next batch on. Each change is a line of the log, which is on the disk before that batch is
    given. The log is a text of changes (docs/ORDER.md): for `leat order --change run.changes`, and plan.replay(text).

    plan    the plan that the run begins with, without phases; afterwards, as an attribute, with all changes so far: of
            the loader to open
    log     the file of changes. Rank 0 writes it, and all ranks read it when a run goes on
    every   steps between decisions
    digits  of each weight, from the first that is not 0
    state   state_dict() of a checkpoint, to go on from there, at any world size. What the log has beyond it is decided
            again
    replay  True: nothing is decided or written: the changes are those of the log
    group   as in leat.Loader.change(): the processes that share the data
    """

    def __init__(self, plan, log, *, every=1, digits=4, state=None, replay=False, group=None):
        if check_plan(plan).info.phases > 1:
            raise ValueError("the plan of a leat.Mixture has no phases: its weights are decided")
        self._log, self._group, self._replay = os.fspath(path_of("log", log)), group, flag("replay", replay)
        self._every, self._digits = whole("every", every, 1), whole("digits", digits, 1, 9)
        sources = plan.sources
        self._names = [source.name for source in sources]
        if len(set(self._names)) < len(self._names):
            raise ValueError("two sources of a leat.Mixture have one name")
        # Since the last decision: the number of steps, and the sums of losses and numbers of rows, of this rank and of
        # a loaded state.
        changes, self._steps, *self._had = self._read_state(state)
        self._sums, self._counts = [0] * len(sources), [0] * len(sources)
        self._lines = self._read()
        if not self._replay:
            if self._lines and state is None:
                raise FileExistsError(f"{self._log} has the changes of a run: give the state of a checkpoint to go on "
                                      "with it, replay=True to repeat it, or another name")
            if len(self._lines) < changes:
                raise ValueError(f"{self._log} has {len(self._lines)} changes, but the state comes after {changes}: it "
                                 "is not the log of this run")
            self._lines = self._lines[:changes]
        self.plan = plan.replay(FIRST_LINE + "".join(self._lines), self._log) if self._lines else plan
        given = [source.weight for source in sources]
        if self._lines and not self._replay:
            given = self._lines[-1].strip().partition(":")[2].split(",")
            if len(given) != len(sources):
                raise ValueError(f"the last change of {self._log} that the state knows has no weight for each source, "
                                 "as a leat.Mixture writes it")
        self._weights = _shares(self._log, given)

    def _read_state(self, state):
        """Returns (changes, steps, sums, counts) of a state_dict(). None means the start of a run."""
        if state is None:
            return 0, 0, None, None
        if not isinstance(state, Mapping) or not {"changes", "steps", "sums", "counts"} <= set(state):
            raise ValueError("this is not a state_dict() of a leat.Mixture")
        lists = [[whole(f"{name} of the state", number, least, _INFINITE) for number in listed(
                  f"{name} of the state must be a list", state[name])]
                 for name, least in (("sums", -_INFINITE), ("counts", 0))]
        if any(len(numbers) != len(self._names) for numbers in lists):
            raise ValueError(f"the state is not of this plan: it has sums or counts of other than {len(self._names)} "
                             "sources")
        return *(whole(f"{name} of the state", state[name]) for name in ("changes", "steps")), *lists

    # ---- The log

    def _read(self):
        """Returns the whole lines of the log, without a last line that was cut off."""
        try:
            lines = read_text(self._log, "a log of changes").splitlines(True)
        except FileNotFoundError:
            if self._replay:
                raise
            return []
        if lines and not FIRST_LINE.startswith(lines[0]):  # the first line may be cut off
            raise ValueError(f"{self._log} is not a log of changes: its first line is not {FIRST_LINE.strip()!r}")
        return [line for line in lines[1:] if line.endswith("\n")]

    def _write(self):
        """Writes these lines as the log, durably. Usually it appends one line."""
        text = (FIRST_LINE + "".join(self._lines)).encode("ascii")
        new = not os.path.exists(self._log)
        with open(self._log, "w+b" if new else "r+b", opener=own_file_regular) as file:
            has = file.read()
            same = len(os.path.commonprefix([has, text]))
            file.seek(same)
            file.write(text[same:])
            file.truncate()
            file.flush()
            os.fsync(file.fileno())
        if new:
            folder = os.open(os.path.dirname(os.path.abspath(self._log)), os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    # ---- What the ranks say

    def _exchange(self, loader, value):
        processes = loader.world * loader._options.get("slice_count", 1)
        told = exchange(self._group, processes, value)
        if len(told) != processes:
            raise ValueError(f"a leat.Mixture needs all {processes} processes to decide: initialize torch.distributed "
                             "for them, or give their group")
        return told

    def add(self, batch, losses):
        """Counts the losses of a batch's rows, one number each, for their sources. They are summed in whole numbers of
        2^-32, so that the sum over rows and ranks does not depend on their order, and so not on the world size. With
        slices, each process gives its slices' parts of these losses, which add up to them: the loss of the slice's
        places, divided by the number of the row's."""
        losses = listed("losses must be a list or an array", losses.tolist() if hasattr(losses, "tolist") else losses)
        samples = instance("batch", batch, Batch, "a leat.Batch").samples
        if len(losses) != len(samples):
            raise ValueError(f"{len(losses)} losses for a batch of {len(samples)} rows: give each row one, also those "
                             "of padding")
        for source, loss in [(sample.source, _loss(row, loss)) for row, (sample, loss) in enumerate(
                zip(samples, losses)) if sample is not None]:
            self._sums[source] += loss
            self._counts[source] += 1

    def _total(self, loader):
        """Returns the sums and counts of all ranks since the last decision."""
        instance("loader", loader, Loader, "a leat.Loader")
        counts = self._counts if _whole_row(loader) else [0] * len(self._counts)  # each row counts once
        said = [*self._exchange(loader, (self._sums, counts)), *[self._had] * (self._had[0] is not None)]
        return tuple([sum(column) for column in zip(*lists)] for lists in zip(*said))

    # ---- Decisions

    def step(self, loader, decide):
        """Ends a step of training on all ranks. Every `every` steps, it calls decide(weights, losses) and changes the
        weights to the result, which has a weight for each source. Both arguments are dicts by names of sources:
        weights are shares of 1; losses are means over the rows of all ranks since the last decision, without sources
        that had no rows. Returns True if decide() was called."""
        instance("loader", loader, Loader, "a leat.Loader")
        instance("decide", decide, Callable, "a function")
        self._steps += 1
        ended = self.plan.info.positions is not None and loader.cursor >= self.plan.info.positions
        if self._replay or self._steps % self._every or ended:
            return False
        sums, counts = self._total(loader)
        self._had, self._sums, self._counts = (None, None), [0] * len(sums), [0] * len(sums)
        weights, failure, decided = None, None, None
        if loader.rank == 0 and _whole_row(loader):
            losses = {name: total / UNIT / count for name, total, count in zip(self._names, sums, counts) if count}
            try:
                weights = self._rounded(decide(dict(zip(self._names, map(float, self._weights))), losses))
            except Exception as error:  # the other ranks wait, so they get the exception, too
                failure = error
            decided = weights, failure and f"{type(failure).__name__}: {failure}"
        weights, words = next(filter(None, self._exchange(loader, decided)))
        if failure is not None:
            raise failure
        if words is not None:
            raise ValueError(f"rank 0 could not decide: {words}")
        self._set(loader, weights)
        return True

    def _rounded(self, weights):
        instance("what decide() gives", weights, Mapping, "a dict from names of sources to weights")
        if set(weights) != set(self._names):
            raise ValueError(f"a weight for each of the sources {', '.join(self._names)} is needed, not for "
                             f"{', '.join(map(str, weights)) or 'none'}")
        return [_short(share, self._digits) for share in _shares("decide()", [weights[n] for n in self._names])]

    def _set(self, loader, weights):
        place = self.plan.change_place(self.plan.number(loader.cursor))
        plan = self.plan.change(place, weights=weights)
        loader.change(plan, group=self._group)
        self._lines.append(f"at {place}:{','.join(weights)}\n")
        if loader.rank == 0 and _whole_row(loader):
            self._write()
        self._exchange(loader, None)  # no rank continues before the line is on the disk
        self.plan = plan
        self._weights = _shares(self._log, weights)

    # ---- Checkpoints

    def state_dict(self, loader):
        """Returns what to save with the loader's state: how many changes the log has, and what counts for the next
        decision. All ranks must call it, and get equal results."""
        sums, counts = self._total(loader)
        return {"changes": len(self._lines), "steps": self._steps, "sums": sums, "counts": counts}
