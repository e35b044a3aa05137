"""loader.py: batches of a plan, one after another.

The tuple _place says how far a loader is, and is always replaced as a whole. The library's loader (_native) prepares
batches ahead and has its own cursor after the last batch that it gave. Ctrl-C can raise between any two statements:
between the library giving a batch and the caller getting it, or while the library's loader is replaced. Then the two
cursors differ, or the library's loader is closed. So each call for a batch first compares them, and reopens the
library's loader at _place if needed. leat._leat.Turn lets one call run at a time, and stores the place of a batch while
it returns it.
"""
from __future__ import annotations

import contextlib
import numbers
import os
import warnings
from array import array
from collections.abc import Mapping

from leat import _leat
from leat._passes import NEXT, LoaderNotice, Passes, Place, last_of
from leat._styles import IGNORED, style_of
from leat._values import check_plan, choice, flag, instance, listed, shown, slice_options, whole
from leat.batch import BITS, DTYPES, OUTPUTS, Batch
from leat.frameworks import framework as framework_of
from leat.options import IO, Column, Device, Outputs, StatsFile, as_group
from leat.ranks import agree, group_of, rank_and_world

TYPE_CHECKING = False  # in place of typing.TYPE_CHECKING, because typing is slow to import
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, Literal

    from typing_extensions import Self

    from leat.plan import Plan

BALANCE = {"attention": 1}
DEAL = {"lanes": 2}
LOOK_EVERY = 64  # batches between two checks for notices
MOST_AHEAD = 256  # batches by tokens that a program may take ahead of the one it trains on


def _columns(given):
    """Returns the columns of a loader as the library takes them."""
    if isinstance(given, (str, bytes, Column)):
        given = (given,)
    made = tuple(as_group("a column", column, Column, True)._native()
                 for column in listed("columns must be names or leat.Column", given))
    names = [column[0] for column in made]
    for name in names:
        if name in OUTPUTS or names.count(name) > 1:
            raise ValueError(f"columns has {name!r} twice" if name not in OUTPUTS else
                             f"column {name} has the name of an output: attach it under another name")
    return made


def check_options(options):
    """Raises TypeError for options that leat.Loader does not have, before a loader is opened."""
    for name in options:
        if name not in Loader.__init__.__kwdefaults__:
            raise TypeError(f"leat.Loader has no option {name}")


def _weights(plan, given, outputs):
    """Returns the weights of sources in the loss as the library takes them: doubles, in the plan's order."""
    instance("source_weights", given, Mapping, "a dict from names of sources to their weights")
    if "loss_weights" not in outputs:
        raise ValueError("source_weights changes loss_weights alone, which is not among the outputs: name it there, "
                         "and weigh the loss with it")
    weights = array("d", [1]) * plan.info.sources
    for source, weight in given.items():
        if isinstance(weight, bool) or not isinstance(weight, numbers.Real):
            raise TypeError(f"the weight of {shown(source)} in source_weights must be a number, not {shown(weight)}")
        if weight != 0 and not 1e-30 <= weight <= 1e30:
            raise ValueError(f"the weight of {shown(source)} in source_weights must be 0, or from 1e-30 to 1e30, not "
                             f"{shown(weight)}")
        for number in plan._source_numbers(source):
            weights[number] = weight
    return weights.tobytes()


def _dealt(balance, deal):
    """Returns the library's number for how rows are dealt to ranks."""
    if balance is not None and deal is not None:
        raise TypeError("balance and deal exclude each other: give one of them")
    if deal is not None:
        return choice("deal", deal, DEAL)
    return 0 if balance is None else choice("balance", balance, BALANCE)


class Loader(Passes):
    """Iterates over the batches of a plan, for ever or to the end of a plan with `epochs`; a background thread prepares
    them.

    plan         a leat.Plan; plan.documents() for rows of whole documents, padded, longest first (fine-tuning)
    batch_size   rows for this rank; the global batch has batch_size * world rows, in consecutive positions of the plan.
                 With max_tokens the most rows of a batch, or None
    max_tokens   of whole documents (plan.documents()): batches have documents of like lengths, and rows times tokens of
                 the longest row are at most max_tokens, so that padding is little and every step costs nearly the same.
                 The loader's plan is then plan.by_tokens(max_tokens, ...): every rank gets a batch in each step, any
                 number of ranks goes on from a state, and len() is not known
    pool         with max_tokens: how many consecutive documents are put together by length; None: 4096
    rank, world  which rows are this process's: its place among the processes that share the data; or as `ranks`. In a
                 distributed program one of the two is required, because nothing is guessed
    ranks        (rank, world); a one-dimensional torch DeviceMesh of these processes (device_mesh["dp"]); or "ddp": all
                 processes share the data, counted by torch.distributed, or RANK and WORLD_SIZE
    balance      "attention": each global batch, of order "fit", is dealt to ranks by the squares of its documents'
                 lengths, so that attention takes all ranks nearly the same time; the global batch stays the same. All
                 ranks must say the same. stats() has "spread_mean" and "spread_by_chance". None: consecutive rows
    deal         "lanes": of a plan with lanes=, each rank gets the rows of its lanes, so that nodes do not all read
                 everything. All ranks must say the same; not with `balance`
    outputs      which of inputs, labels, position_ids, document_ids, loss_mask, loss_weights, attention_mask,
                 source_ids, cu_seqlens, places; None: inputs and labels, and in style "huggingface" also what keeps
                 documents apart; or a leat.Outputs, with their dtype, and whether they are borrowed
    columns      columns of tokens that each batch has too (leat.attach()), by name: names, or leat.Column(name, at=,
                 default=, widen=). All datasets of the plan must have them. Not for datasets on a server
    ignore_index what a label without loss is, a number below 0; nanochat's is -1. Style "huggingface" needs -100
    style        "batch": leat.Batch; "tuple" of the outputs in their order; "dict" by their names; "huggingface": a
                 dict as transformers' models take it, each prediction with its loss once (python/README.md, "Models of
                 transformers"); source_ids, loss_weights and loss_mask, which no model takes, are taken out of it
                 before: weights = batch.pop("loss_weights")
    framework    whose arrays: "torch", "numpy" or "jax"
    device       "cpu" or, with torch, "cuda": where the arrays are; written on the current stream; or a leat.Device
    buffers      True, or a dict of arrays by output (torch and numpy): all batches are written into the same arrays, at
                 the same addresses, as captured graphs need; shorter batches are padded
    last         what becomes of the last global batch if a finite plan ends inside of it. "padded": every rank gets
                 batch_size rows, of which Batch.real_rows count for the loss; the others are after the plan's end.
                 A rank that has none of the plan's rows gets a batch as long as the plan's last row.
                 "dropped": no rank gets it. "short": ranks get the rows that there are, so that some can have one batch
                 less than others, and a program with a collective in each step hangs. None: "padded" with several
                 ranks, else "short"
    source_weights   a dict from sources (their names, or numbers in Plan.sources) to factors of loss_weights, 0 or from
                 1e-30 to 1e30, such as the share that a source should have / the share that it has; others have 1. A
                 weight is a product of float32. It needs the output loss_weights, and is no part of the state: give it
                 again when a run resumes
    position     where to begin in the plan; state: a state_dict() to continue from instead
    restart      None: a `for` continues where the last one stopped, and at the plan's end begins again, with the same
                 rows. True: each `for` begins again, as for validation. False: at the plan's end it is an error
    steps        batches per `for`, for programs that count in epochs; the next `for` continues after them. After a
                 resume, the first `for` gives those that were left of the one in which the state was saved
    on_damage    "error"; or "mask": rows that are damaged on disk do not count for the loss
    io           how files are read, a leat.IO
    slice        (rank, count, layout), for context parallelism: this process's part of each row, as one of `count` that
                 share the rows of a rank. "contiguous"; "zigzag", as Megatron and torch cut rows for a causal mask; or
                 "zigzag-documents", each document of a row so, as Transformer Engine does: with leat.fit(align=2 *
                 count). Only this part is read and copied; its numbers are those of the whole row
    ahead        also labels for so many tokens after the next one (multi-token prediction): the output ahead_labels,
                 which `outputs` must then have
    threads      1: a background thread fills the ring; more, at most 64: further ones help it where the CPU copies
                 rows, which pays if training waits for that; 0: each batch is made when it is asked for
    stats_file   a file to which stats() are appended as a line of JSON each minute, with `time` and `rank`, which
                 `leat-bench report` draws; several ranks need a file each; or a leat.StatsFile
    notices      True: warns, once each, about what a person should know, such as that training waits for the loader

    Arrays are the consumer's and keep their values, unless they are borrowed or written into buffers. A loader has
    threads: it cannot be pickled or used after fork. Make one in each process, from a Plan. One thread at a time may
    take batches; a second one gets RuntimeError. After Ctrl-C a loader goes on: a next() that was interrupted has taken
    nothing.
    """

    def __init__(self, plan: Plan, batch_size: int | None = None, *, max_tokens: int | None = None,
                 pool: int | None = None, rank: int | None = None, world: int | None = None,
                 ranks: tuple[int, int] | Literal["ddp"] | Any = None, balance: Literal["attention"] | None = None,
                 deal: Literal["lanes"] | None = None,
                 outputs: str | Iterable[str] | Outputs | None = None,
                 columns: str | Column | Iterable[str | Column] = (), ignore_index: int = -100,
                 style: Literal["batch", "dict", "tuple", "huggingface"] = "batch",
                 framework: Literal["torch", "numpy", "jax"] = "torch", device: str | Device | Any = "cpu",
                 buffers: bool | Mapping[str, Any] | None = None,
                 last: Literal["short", "padded", "dropped"] | None = None, position: int = 0,
                 state: Mapping[str, Any] | None = None, restart: bool | None = None, steps: int | None = None,
                 on_damage: Literal["error", "mask"] = "error", io: IO = IO(),
                 slice: tuple[int, int, Literal["contiguous", "zigzag", "zigzag-documents"]]  # noqa: A002 (as in C)
                 | None = None, ahead: int = 0, source_weights: Mapping[str | int, float] | None = None,
                 threads: int = 1, stats_file: str | bytes | os.PathLike[Any] | StatsFile | None = None,
                 notices: bool = True) -> None:
        self.plan = check_plan(plan)
        if max_tokens is not None:
            self.plan = plan = plan.by_tokens(max_tokens, max_rows=batch_size, pool=pool)
        elif pool is not None:
            raise TypeError("pool needs max_tokens")
        elif plan.info.max_tokens and batch_size is not None:
            raise TypeError("the plan has batches by tokens, with max_rows of its own: leave batch_size out")
        elif batch_size is None and not plan.info.max_tokens:
            raise TypeError("batch_size is missing: how many rows a batch of this rank has")
        self._by_tokens, self._ends = plan.info.max_tokens > 0, {}  # _ends: cursors after the last batches
        if self._by_tokens and buffers:
            raise TypeError("buffers have a number of rows, which batches by tokens do not have")
        self.batch_size = plan.info.max_rows if self._by_tokens else whole("batch_size", batch_size, 1)
        self.rank, self.world = rank_and_world(rank, world, ranks)
        self._group = group_of(ranks)
        self._last, self.balance = last_of(last, self.world), balance or deal
        where, wanted = as_group("device", device, Device, True), as_group("outputs", outputs, Outputs, True)
        self._framework = framework_of(framework, where.name)
        self._borrow, self._notices = wanted.borrow, flag("notices", notices)
        self._restart = None if restart is None else flag("restart", restart)
        self._dtype = wanted._dtype(self._framework.default_dtype)
        if not self._framework.has(self._dtype):
            raise ValueError("jax has int64 only if jax_enable_x64 is set: set it, or use "
                             "outputs=leat.Outputs(dtype=\"int32\")")
        if (self._borrow or buffers) and not self._framework.changes:
            raise TypeError("jax's arrays cannot change: leat.Outputs(borrow=True) and buffers= are for torch and "
                            "numpy")
        ahead = whole("ahead", ahead, 0, 256)
        self.style, self._style = style, style_of(style, wanted.names, plan, ahead)
        self._columns = _columns(columns)
        self._given = self._style.given + tuple(column[0] for column in self._columns)
        self._all = OUTPUTS + tuple(column[0] for column in self._columns)
        if "places" in self._given and not self._framework.has("int64"):
            raise ValueError("places are int64, which jax has only if jax_enable_x64 is set: set it")
        ignore_index = whole("ignore_index", ignore_index, -2**31, -1)
        if style == "huggingface" and ignore_index != IGNORED:
            raise ValueError(f"style \"huggingface\" needs ignore_index={IGNORED}: transformers' models leave out no "
                             "other label")
        if self._style.warning and self._notices:
            warnings.warn(self._style.warning, LoaderNotice, stacklevel=2)
        if buffers is False:
            buffers = None
        if buffers is not None and buffers is not True and not isinstance(buffers, Mapping):
            raise TypeError(f"buffers must be True or a dict from outputs to arrays, not {shown(buffers)}")
        if self._borrow and buffers is not None:
            raise TypeError("borrow and buffers exclude each other: give one of them")
        if (self._borrow or buffers is not None) and "cu_seqlens" in self._given and wanted.max_sequences is None:
            raise TypeError("cu_seqlens with borrow or buffers needs leat.Outputs(max_sequences=N), the largest number "
                            "of stretches of one document that a batch may have")
        bits = sum(BITS[name] for name in self._style.given)
        own = self._style  # what the outputs leave to the style
        self._options = dict(
            as_group("io", io, IO)._native(), rank=self.rank, world=self.world,
            batch=0 if self._by_tokens else self.batch_size * self.world,
            balance=_dealt(balance, deal),
            on_damage=choice("on_damage", on_damage, _leat.LOADER_CHOICES["on_damage"]),
            last=_leat.LOADER_CHOICES["last"][self._last], ahead=ahead, **slice_options(slice),
            threads=whole("threads", threads, 0, 64), outputs=bits, number_bytes=8 if self._dtype == "int64" else 4,
            unshifted=own.unshifted if wanted.unshifted is None else wanted.unshifted,
            mask_first=own.mask_first if wanted.mask_first is None else wanted.mask_first,
            ignore_index=ignore_index, device=self._framework.library_device,
            driver=None if where.driver is None else os.fspath(where.driver), **wanted._native())
        if stats_file is not None:
            log = as_group("stats_file", stats_file, StatsFile, True)
            self._options.update(stats_file=os.fspath(log.path), stats_ms=max(1, round(1000 * log.seconds)))
        self._begin, self._steps = whole("position", position), None if steps is None else whole("steps", steps)
        if plan.info.positions is not None and self._begin > plan.info.positions:
            raise ValueError(f"position {position} is after the end of the plan, which has {len(plan)} samples")
        self._weights_given = source_weights
        self._source_weights = self._weights_of(plan)
        self._native = None
        self._closed = False  # by its user
        self._noticed_again = self._noticed_few = False
        self._failed = False  # the library's loader gives no more batches
        self._held = None  # the borrowed batch, if any
        self._unwritten = None  # a batch that could not be written to its arrays yet
        self._buffers = None
        self._place = Place(self._begin)
        if state is not None:
            self.load_state_dict(state)
        else:
            self._open()
        if buffers is not None:
            try:  # Buffers must take the longest row, which the library's loader knows.
                self._buffers = self._make_buffers(buffers)
            except BaseException:
                self.close()
                raise

    def _weights_of(self, plan):
        return None if self._weights_given is None else _weights(plan, self._weights_given, self._given)

    # ---- Opening and closing

    def _let_go(self):
        """Closes the library's loader. Work already on the current stream may still use the borrowed batch."""
        self._give_back()
        self._unwritten = None
        if self._native is not None:
            self._native.close()

    def _open(self):
        """Opens the library's loader at _place."""
        self._let_go()
        cursor, damaged = self._place[:2]
        state = self.plan.state(cursor, damaged) if damaged else None
        self._failed = False
        self._native = _leat.open_loader(
            self.plan._native, self._framework.dlpack_device,
            dict(self._options, position=cursor, state=state, source_weights=self._source_weights), self._columns)
        self._kinds = dict(zip((column[0] for column in self._columns), self._native.columns))
        if self._closed:  # another thread closed it meanwhile
            self._native.close()

    def _go_to(self, place):
        self._let_go()  # closed first, because a new place needs a new loader even at an equal cursor
        self._place = place
        self._closed = False
        self._open()

    def _opened(self):
        """Returns the library's loader, and opens it if an interrupt came while it was being opened."""
        if self._native.closed and not self._closed:
            self._alone(self._open)
        return self._native

    def close(self) -> None:
        """Stops the thread and frees the ring, which borrowed arrays keep alive until they are gone."""
        self._closed = True
        self._let_go()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *why: object) -> None:
        self.close()

    def __reduce__(self):
        raise TypeError("a leat.Loader cannot be sent to another process, because it has a thread and memory of its "
                        "own: send its leat.Plan, which can be pickled, and make a Loader there")

    def __repr__(self):
        closed = ", closed" if self._closed else ""
        return (f"<leat.Loader: {self.batch_size} rows of rank {self.rank} of {self.world}, cursor {self._place.cursor}"
                f"{closed}>")

    @contextlib.contextmanager
    def kept_place(self) -> Iterator[Self]:
        """Returns the loader to its present place at the end of a `with`, whatever was taken inside."""
        place = self._place
        try:
            yield self
        finally:
            self._alone(lambda: self._go_to(place))

    # ---- Changes

    def change(self, plan: Plan, *, group: Any | Literal[False] | None = None) -> None:
        """Continues with another plan, such as one of plan.change(), after the last batch that was given. The next
        batches and states are those of a loader opened with the new plan at this place; batches prepared beyond it are
        made again. leat.Error ("checkpoint") if the plan gave other samples up to here.

        All ranks must change to the same plan after the same batch. If ranks can compare their places and plans, all
        raise and keep the old plan when these differ or a rank knows that it cannot change. A later failure on a rank,
        such as a file that it cannot open, is raised there alone, after the others have changed.

        group  the processes to compare with: a group of torch.distributed; None: the mesh that the loader's `ranks`
               were, or all processes of torch.distributed if these are as many as the loader's ranks; else none. False:
               none
        """
        check_plan(plan)
        agree(self._group if group is None else group, self.world * self._options.get("slice_count", 1),
              self._place.cursor, plan,
              lambda: self._check_change(plan))
        self._alone(lambda: self._change(plan))

    def _check_change(self, plan):
        cursor = self._place.cursor
        if plan.info.order != self.plan.info.order:
            raise ValueError(f"the loader's rows are of order {self.plan.info.order}: rows of order {plan.info.order} "
                             "need a new leat.Loader")
        if any(getattr(plan.info, k) != getattr(self.plan.info, k) for k in ("max_tokens", "max_rows", "pool")):
            raise ValueError("the new plan has other max_tokens, max_rows or pool than the loader's: batches by other "
                             "tokens need a new leat.Loader")
        self._weights_of(plan)
        if cursor:
            plan.load_state(self.plan.state(cursor))
        if self._buffers is not None and plan.info.max_seq_len > self.plan.info.max_seq_len and \
                plan.info.max_seq_len > self._buffer_shape[1]:
            raise ValueError(f"the new plan has rows of {plan.info.max_seq_len} tokens, but the buffers have "
                             f"{self._buffer_shape[1]}")

    def _change(self, plan):
        before, weights_before, weights = self.plan, self._source_weights, self._weights_of(plan)
        if self._native.closed or self._failed or self._unwritten is not None or \
                self._native.cursor != self._place.cursor:
            self.plan, self._source_weights = plan, weights  # the library's loader is reopened when it is needed
            self._unwritten, self._failed = None, True
            return
        # The library's loader keeps its weights by source number; added sources get 1.
        ones = array("d", [1]) * max(plan.info.sources - before.info.sources, 0)
        keeps = weights is None or weights == weights_before + ones.tobytes()
        try:
            if keeps:
                self._native.change(plan._native)
        except _leat.Error as error:
            if error.status != "unsupported":  # "unsupported": rows of the new plan need more room
                raise
            keeps = False
        if not keeps:
            self._held = None  # borrowed arrays keep their ring alive
            self.plan, self._source_weights = plan, weights
            try:
                self._open()
            except BaseException:
                self.plan, self._source_weights = before, weights_before
                raise
        self.plan, self._source_weights = plan, weights

    # ---- Buffers

    def _kind(self, name):
        return self._kinds[name][0] if name in self._kinds else DTYPES[name] or self._dtype

    def _shape(self, name, rows, length, room):
        if name == "cu_seqlens":
            return (room,)
        if name in self._kinds and self._kinds[name][1] > 1:
            return (rows, length, self._kinds[name][1])
        return (self._options["ahead"], rows, length) if name == "ahead_labels" else (rows, length)

    def _make_buffers(self, buffers):
        length = self._native.max_length
        made = []
        for name in () if buffers is True else buffers:
            if name not in self._given:
                raise ValueError(f"buffers has {name!r}, which is not one of the outputs {', '.join(self._given)}")
        for name in self._all:
            if name not in self._given:
                made.append(None)
                continue
            shape = self._shape(name, self.batch_size, length, self._options["cu_seqlens_room"])
            if buffers is True:
                made.append(self._framework.empty(shape, self._kind(name)))
            else:
                if name not in buffers:
                    raise ValueError(f"buffers has no array for the output {name}")
                self._framework.check(buffers[name], name, shape, self._kind(name))
                made.append(buffers[name])
        if len({id(b) for b in made if b is not None}) < len(self._given):
            raise ValueError("two outputs have the same buffer")
        self._addresses = tuple(None if b is None else self._framework.address(b) for b in made)
        self._buffer_shape = (self.batch_size, length)
        return made

    # ---- Batches

    def _take(self):
        """Returns what next() gives, and the place after it, which becomes _place when the caller gets the batch."""
        place = self._place
        batch = None
        if self._steps is None or place.step < self._steps:
            self._prepare()
            try:
                with self._framework.range("leat.Loader.next"):
                    batch = self._next()
            except _leat.Error:
                self._failed = self._unwritten is None
                raise
        resumes = place.resumes if place.resumes == NEXT else 0
        if batch is None:
            self._place = place._replace(resumes=resumes, ended=True)
            raise StopIteration
        native = batch._native
        place = Place(native.cursor, native.damaged, place.batches + 1, place.step + 1, resumes)
        if self._by_tokens:
            self._ends = dict.fromkeys([*self._ends, place.cursor][-MOST_AHEAD:])
        if self._notices and place.batches % LOOK_EVERY == 0:
            self._warn()
        return self._style.make(batch), place

    def _prepare(self):
        """Makes the library's loader give the batch after _place."""
        if self._unwritten is not None and not self._unwritten.held:
            self._unwritten = None  # this batch was written, but its next() was interrupted
        if self._unwritten is None and not self._closed and (
                self._failed or self._native.closed or self._native.cursor != self._place.cursor):
            self._open()

    def _next(self):
        if self._borrow:
            return self._next_borrowed()
        if self._buffers is not None:
            return self._next_into(self._buffers, self._addresses, *self._buffer_shape)
        if not self._framework.on_host:
            return self._next_on_device()
        taken = self._native.take(self._framework.capsules)
        if taken is None:
            return None
        convert = self._framework.take if self._framework.capsules else self._framework.from_array
        return Batch(taken[0], [None if a is None else convert(a) for a in taken[1:]], self._given)

    def _to_write(self):
        """Returns the next batch, or the last one if it could not be written, for example because its stream was being
        captured. In that case the loader must not be reopened."""
        if self._unwritten is None:
            self._unwritten = self._native.next()
        return self._unwritten

    def _written(self, native, stream):
        native.release(stream)
        self._unwritten = None

    def _next_on_device(self):
        native = self._to_write()
        if native is None:
            return None
        room = self._options["cu_seqlens_room"] or native.sequences + 1
        made = [None if name not in self._given else
                self._framework.empty(self._shape(name, native.rows, native.length, room), self._kind(name))
                for name in self._all]
        addresses = tuple(None if t is None else self._framework.address(t) for t in made)
        stream = self._framework.stream()
        native.write(addresses, 0, 0, room if "cu_seqlens" in self._given else 0, stream)
        self._written(native, stream)
        return Batch(native, made, self._given)

    def _next_into(self, buffers, addresses, rows, length):
        native = self._to_write()
        if native is None:
            return None
        stream = self._framework.stream()
        native.write(addresses, rows, length, self._options["cu_seqlens_room"], stream)
        self._written(native, stream)
        return Batch(native, buffers, self._given)

    def _next_borrowed(self):
        self._give_back()
        native = self._native.next()
        if native is None:
            return None
        arrays = native.borrow(self._framework.stream())
        convert = self._framework.from_array
        self._held = Batch(native, [None if a is None else convert(a) for a in arrays], self._given,
                           self._framework.stream)
        return self._held

    def _give_back(self):
        """Releases the borrowed batch. Work already on the current stream may still use it."""
        if self._held is not None:
            self._held.release()
            self._held = None

    def __bool__(self):
        return True  # true also at the plan's end, and for a plan without end

    # ---- Statistics

    def stats(self) -> dict[str, Any]:
        """Statistics, as in struct leat_loader_stats of leat.h, with times in seconds: batches, tokens, next (how long
        it took to take a batch), waiting_share, engine, and how the thread spent its time; and `sources`, a dict for
        each source of the plan: its name, the share of the samples that the plan's weights give it now (also if it is
        spent, and others have its place), and what the loader gave of it, rows, tokens (inputs) and loss_tokens
        (predictions with loss), without rows of padding and masked ones. They are of this rank, and begin at 0 when a
        loader is made or its state is loaded: no state has them, since it is the same on all ranks. Add up those of all
        ranks: torch.distributed.all_reduce(torch.tensor([s["loss_tokens"] for s in loader.stats()["sources"]]))."""
        return self._opened().stats()

    def stats_line(self) -> str:
        """The statistics in one line, for a log."""
        return self._opened().stats_line()

    def _warn(self):
        while (text := self._native.notice()) is not None:
            warnings.warn(text, LoaderNotice, stacklevel=3)
