"""loader.py: batches of a plan, one after another."""
from __future__ import annotations

import warnings
from collections.abc import Mapping

from leat import _leat
from leat._pack_options import read_size
from leat._values import check_plan, check_state, choice, listed, whole
from leat.batch import BITS, DTYPES, OUTPUTS, Batch
from leat.frameworks import framework as framework_of
from leat.ranks import rank_and_world

ENGINES = {"auto": 0, "map": 1, "pread": 2, "advise": 3, "uring": 4}
APART = {"auto": 0, "always": 1, "never": 2}
ON_DAMAGE = {"error": 0, "mask": 1}
LAST = {"short": 0, "padded": 1, "dropped": 2}
ROWS = {"windows": 0, "documents": 1}  # the second is short for a plan of documents
STYLES = ("batch", "tuple", "dict", "huggingface")
HUGGINGFACE = {"inputs": "input_ids", "labels": "labels", "position_ids": "position_ids",
               "attention_mask": "attention_mask"}
LOOK_EVERY = 64  # batches, for notices


def batches_in(left, batch_size, rank, world, last):
    """How many batches a rank has of so many samples."""
    whole_batches, rest = divmod(max(left, 0), batch_size * world)
    if last == "padded":
        return whole_batches + (rest > 0)
    return whole_batches + (last == "short" and rest > rank * batch_size)


def _dtype(dtype, default):
    """Of "int64", torch.int64, numpy.int64 and numpy.dtype("int64")."""
    name = getattr(dtype, "name", None) or getattr(dtype, "__name__", None) or str(dtype)
    name = default if dtype is None else name.rpartition(".")[2]
    if name not in ("int64", "int32"):
        raise ValueError(f"dtype is int64 or int32, not {dtype!r}")
    return name


def check_options(options):
    """Those that a loader will be opened with, later."""
    for name in options:
        if name not in Loader.__init__.__kwdefaults__:
            raise TypeError(f"a leat.Loader has no option {name}")


class Loader:
    """Batches of a plan, for ever or to the plan's end: an iterator, kept full by one background thread.

    plan         a leat.Plan
    batch_size   rows of this rank; the global batch has batch_size * world rows, in consecutive positions of the plan

    rank, world  this process's place among those that share the data; or
    mesh         a one-dimensional torch DeviceMesh of them (device_mesh["dp"]); or
    parallel     "ddp": every process is one, as torch.distributed or RANK and WORLD_SIZE count them. Nothing is
                 guessed: in a distributed program one of these must be given.

    outputs      which of inputs, labels, position_ids, document_ids, loss_mask, attention_mask, cu_seqlens
    style        "batch": leat.Batch; "tuple" of the outputs in their order; "dict" by their names; "huggingface": a
                 dict of input_ids, labels (unshifted), ... as transformers' models take them
    framework    whose arrays: "torch", "numpy" or "jax"
    device       "cpu" or "cuda": with torch, where they are; written on the current stream
    dtype        int64 or int32; None: int64, with jax int32
    unshifted    label i is token i and not token i + 1, for models that shift by themselves; None: of style
                 "huggingface" only
    mask_first   a document's first token is no label

    Arrays are the consumer's: they keep their values. Two faster ways, with torch and numpy:
    borrow       True: arrays point into the loader's ring, and hold until the next batch is taken or batch.release();
                 used later they show other numbers. Nothing is copied.
    buffers      True, or a dict of arrays by output: every batch is written into the same ones, at the same addresses,
                 as captured graphs need it; shorter batches are padded.
    max_sequences  room for cu_seqlens: with it, it always has max_sequences + 1 numbers, of which the last ones repeat.
                 Needed with borrow and buffers; without it there are as many as the batch has.

    rows         "windows": the plan's samples; "documents": the plan's documents whatever its order is, as
                 Plan(order="documents") has them: whole, padded, longest first (fine-tuning), of at most max_length
                 tokens
    last         what becomes of the last rows of a finite plan: "short", "padded" or "dropped"
    position     to begin at; state: a state_dict() to begin at instead
    restart      True: each `for` begins there again, as for validation. False: a `for` goes on where the last one
                 stopped
    steps        batches of one `for`, its length, for programs that count in epochs; the next `for` goes on behind
    on_damage    "error", or "mask": rows that are damaged on disk come without loss
    engine       how tokens come from the files: "auto", "map", "pread", "advise" or "uring"
    apart        whether the disk puts rows of cold files into their slots itself, without a copy by the CPU: "auto"
                 (on a GPU, of rows of 8 KiB or more), "always" or "never"; what a batch holds is the same
    threads      1: a background thread fills the ring; 0: each batch is made as it is asked for
    verify       False: the hashes of the pages that are read are not checked
    slots        batches of the ring, 2 to 64; memory: its most bytes, or "1GiB"; 0: chosen
    numa_node    where memory and thread shall be, if the system allows; -1: anywhere
    notices      what a person should know (that the loader is waited for, and why) comes as a warning, once each

    Not to be pickled, and of no use after fork: a loader has a thread. Make one in each process, from a Plan.
    """

    def __init__(self, plan, batch_size, *, rank=None, world=None, mesh=None, parallel=None,
                 outputs=("inputs", "labels"), style="batch", framework="torch", device="cpu", dtype=None,
                 unshifted=None, mask_first=False, borrow=False, buffers=None, max_sequences=None, rows="windows",
                 max_length=None, last="short", position=0, state=None, restart=False, steps=None, on_damage="error",
                 engine="auto", apart="auto", threads=1, verify=True, slots=0, memory=0, numa_node=-1, notices=True):
        self.plan, self.batch_size = check_plan(plan), whole("batch_size", batch_size, 1)
        self.rank, self.world = rank_and_world(rank, world, mesh, parallel)
        self._framework = framework_of(framework, device)
        self._given = self._check_outputs(outputs, style)
        self._style, self._borrow, self._restart, self._notices = style, bool(borrow), bool(restart), bool(notices)
        self._dtype = _dtype(dtype, self._framework.default_dtype)
        if not self._framework.has(self._dtype):
            raise ValueError("jax has int64 where jax_enable_x64 is set, which it is not: dtype is int32")
        if (borrow or buffers) and not self._framework.changes:
            raise TypeError("jax's arrays do not change: borrow= and buffers= are for torch and numpy")
        choice("rows", rows, ROWS)
        max_length = None if max_length is None else whole("max_length", max_length, 1)
        if rows == "documents":
            self.plan = plan = plan._documents(max_length)
        if buffers is False:
            buffers = None
        if buffers is not None and buffers is not True and not isinstance(buffers, Mapping):
            raise TypeError(f"buffers is True, or a dict from outputs to arrays, not {buffers!r}")
        if borrow and buffers is not None:
            raise TypeError("borrow and buffers are two ways: give one of them")
        if (borrow or buffers is not None) and "cu_seqlens" in self._given and max_sequences is None:
            raise TypeError("cu_seqlens with borrow or buffers needs max_sequences, the most stretches of one document "
                            "that a batch may have")
        room = 0 if max_sequences is None else whole("max_sequences", max_sequences, 1) + 1
        bits = sum(BITS[name] for name in self._given)
        self._options = dict(
            batch=self.batch_size * self.world, rank=self.rank, world=self.world,
            engine=choice("engine", engine, ENGINES), apart=choice("apart", apart, APART),
            on_damage=choice("on_damage", on_damage, ON_DAMAGE),
            last=choice("last", last, LAST), threads=whole("threads", threads, 0, 1), verify=int(bool(verify)),
            slots=whole("slots", slots, 0, 64),
            outputs=bits, borrow=int(self._borrow), number_bytes=8 if self._dtype == "int64" else 4,
            unshifted=int(style == "huggingface" if unshifted is None else bool(unshifted)),
            mask_first=int(bool(mask_first)), cu_seqlens_room=room,
            memory=read_size(memory, 0),
            numa_node=whole("numa_node", numa_node, -1, 2**31 - 1))
        self._last = last
        self._begin, self._steps = whole("position", position), None if steps is None else whole("steps", steps)
        if plan.info.positions is not None and self._begin > plan.info.positions:
            raise ValueError(f"position {position} lies behind the end of the plan, which has {len(plan)} samples")
        self._in_pass = False  # whether the next `for` goes on with a pass that a state was saved in
        self._native = None
        self._held = None  # the borrowed batch
        self._unwritten = None  # a batch that could not be written to where it was to go
        self._buffers = self._make_buffers(buffers) if buffers is not None else None
        self._reset(self._begin, 0)
        if state is not None:
            self.load_state_dict(state)
        else:
            self._open()

    def _check_outputs(self, outputs, style):
        given = (outputs,) if isinstance(outputs, str) else tuple(listed("outputs are names", outputs))
        choice("style", style, STYLES)
        for name in given:
            choice("an output", name, BITS)
            if style == "huggingface" and name not in HUGGINGFACE:
                raise ValueError(f"transformers' models do not take {name}")
        if not given or len(set(given)) != len(given):
            raise ValueError("outputs are named once each, and at least one")
        return given

    # ---- Opening and closing

    def _reset(self, cursor, damaged):
        self._cursor, self._damaged, self._given_batches, self._step = cursor, damaged, 0, 0

    def _open(self):
        self._give_back()
        self._unwritten = None
        if self._native is not None:
            self._native.close()
        state = None
        if self._damaged:
            state = self.plan.state(self._cursor, self._damaged)
        self._torn = False  # a Ctrl-C came between the library's batch and the count of it: begun again at the cursor
        self._native = _leat.open_loader(self.plan._native, state, self._framework.library_device,
                                         self._framework.dlpack_device, {**self._options, "position": self._cursor})

    def close(self):
        """Stops the thread and frees the ring; borrowed arrays keep it alive until they are gone."""
        self._give_back()
        self._unwritten = None
        self._native.close()

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.close()

    def __reduce__(self):
        raise TypeError("a leat.Loader has a thread and memory of its own, which cannot be sent to another process: "
                        "send its Plan (a leat.Plan can be pickled), and make a Loader there")

    def __repr__(self):
        closed = ", closed" if self._native is not None and self._native.closed else ""
        return (f"<leat.Loader: {self.batch_size} rows of rank {self.rank} of {self.world}, cursor {self._cursor}"
                f"{closed}>")

    # ---- Buffers

    def _kind(self, name):
        return DTYPES[name] or self._dtype

    def _make_buffers(self, buffers):
        length = self.plan.info.max_seq_len
        made = []
        for name in () if buffers is True else buffers:
            if name not in self._given:
                raise ValueError(f"buffers have {name!r}, which is not among the outputs: {', '.join(self._given)}")
        for name in OUTPUTS:
            if name not in self._given:
                made.append(None)
                continue
            shape = (self._options["cu_seqlens_room"],) if name == "cu_seqlens" else (self.batch_size, length)
            if buffers is True:
                made.append(self._framework.empty(shape, self._kind(name)))
            else:
                if name not in buffers:
                    raise ValueError(f"buffers have nothing for {name}, which is among the outputs")
                self._framework.check(buffers[name], name, shape, self._kind(name))
                made.append(buffers[name])
        if len({id(b) for b in made if b is not None}) < len(self._given):
            raise ValueError("two outputs have the same buffer")
        self._addresses = tuple(None if b is None else self._framework.address(b) for b in made)
        self._buffer_shape = (self.batch_size, length)
        return made

    # ---- Batches

    def __iter__(self):
        if self._restart and self._given_batches:
            self._reset(self._begin, 0)
            self._open()
        if not self._in_pass:
            self._step = 0
        self._in_pass = False
        return self

    def __next__(self):
        if self._steps is not None and self._step >= self._steps:
            raise StopIteration
        if self._torn:
            self._open()
        self._torn = True
        try:
            with self._framework.range("leat.Loader.next"):
                batch = self._next()
        except _leat.Error:
            self._torn = self._unwritten is None
            raise
        if batch is not None:
            native = batch._native
            self._cursor, self._damaged = native.cursor, native.damaged
            self._given_batches += 1
            self._step += 1
        self._torn = False
        if batch is None:
            raise StopIteration
        if self._notices and self._given_batches % LOOK_EVERY == 0:
            self._tell()
        return batch if self._style == "batch" else self._styled(batch)

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
        """The next batch; or the last one, if it could not be written: into a stream that is being captured, say. Then
        the loader must not be opened again, and need not."""
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
                self._framework.empty((room,) if name == "cu_seqlens" else (native.rows, native.length),
                                      self._kind(name)) for name in OUTPUTS]
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
        """The borrowed batch; what is on the current stream by now may still use it."""
        if self._held is not None:
            self._held.release()
            self._held = None

    def _styled(self, batch):
        if self._style == "tuple":
            return tuple(batch)
        if self._style == "dict":
            return dict(batch.items())
        return {HUGGINGFACE[name]: value for name, value in batch.items()}

    def __len__(self):
        """How many batches a `for` gives: `steps`, or as many as are left. TypeError of a plan without end."""
        if self._steps is not None and self.plan.info.positions is None:
            return self._steps
        left = self._left()
        return left if self._steps is None else min(left, self._steps)

    def _left(self):
        begin = self._begin if self._restart else self._cursor
        return batches_in(len(self.plan) - begin, self.batch_size, self.rank, self.world, self._last)

    def __bool__(self):
        return True  # at its end, and of a plan without one, too

    # ---- Checkpoints

    def state_dict(self, after=None):
        """Where the run stands after the last batch that was given; or after the given Batch, or a cursor, for programs
        that have taken batches ahead of the one they trained on. All ranks have the same, and any number of ranks can
        go on from it: what is saved is a position in the plan, and fingerprints of what led there."""
        cursor, damaged = self._cursor, self._damaged
        if after is not None:
            cursor = after.cursor if isinstance(after, Batch) else whole("after", after)
            damaged = after.damaged if isinstance(after, Batch) else damaged
        ahead = -(-(self._cursor - cursor) // self._options["batch"])
        return {"leat": 1, "position": cursor, "step": max(self._step - ahead, 0),
                "state": self.plan.state(cursor, damaged)}

    def load_state_dict(self, state):
        """Goes on from a state; leat.Error ("checkpoint") if the plan has not the same past."""
        check_state(state)
        if "state" not in state and self.plan.info.order.startswith("documents"):  # all that they had once
            self._reset(whole("position", state["position"]), 0)
        elif "state" not in state:
            raise ValueError("this is the state of a loader of documents (rows=\"documents\"); this one has windows")
        else:
            position, damaged, _ = self.plan.load_state(state["state"])
            self._reset(position, damaged)
        self._step = whole("step", state.get("step", 0))
        self._in_pass = True
        self._open()

    @property
    def cursor(self):
        """Position in the plan after the last batch that was given."""
        return self._cursor

    # ---- What it has done

    def stats(self):
        """Statistics, as struct leat_loader_stats in leat.h has them, times in seconds: batches, tokens, next (how long
        taking one took), waiting_share, engine, and where the thread's time went."""
        return self._native.stats()

    def stats_line(self):
        """The same in one line for a log."""
        return self._native.stats_line()

    def _tell(self):
        while (text := self._native.notice()) is not None:
            warnings.warn(text, LoaderNotice, stacklevel=3)


class LoaderNotice(UserWarning):
    """What a person should know of a loader: that it is waited for, and why."""
