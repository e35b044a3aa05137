"""run.py: leat.Run, a run in parts: many processes, on machines that share a folder, make one dataset."""
from __future__ import annotations

import collections
import os

from leat import _leat
from leat._leat import Error
from leat._pack_options import list_paths, now, open_tokenizer, pack_options, read_options, taken, takes
from leat._values import shown, whole
from leat.options import Files, MergeOptions, PlannedOptions, StepOptions, as_group
from leat.packing import Summary, joined, noting, packed, watching
from leat.pushed import PushedRun

TYPE_CHECKING = False  # in place of typing.TYPE_CHECKING, because typing is slow to import
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Unpack

STATES = ("done", "running", "dead", "stopped", "failed", "missing")  # enum leat_run_state of leat/run.h
FILES = (None, "plan", "shared", "beat", "unfinished", "part", "rejects", "input", "output")  # leat_run_file
MENDS = ("call", "again", "wait", "force", "limit", "accept", "restore", "create", "plan", "steps")
WAITS = ("nothing", "part", "all")  # enum leat_run_waits

Advice = collections.namedtuple("Advice", "file mend waits")
Advice.__doc__ = """What an error of a Run means (`advice` of leat.Error), and what to do.

file    what is damaged, missing or in the way: "plan", "shared", "beat", "unfinished", "part", "rejects", "input",
        "output"; None: nothing of the run
mend    what makes it right: "call" (other arguments), "again" (the same call: it may pass), "wait" (for the process
        that is at it), "force" (step(force=True)), "limit" (step() with a larger limit of rejects), "accept"
        (step(force=True) with a whole input, or a step that allows truncated ones), "restore" (the file as it was),
        "create" (Run.create() again), "plan" (another folder), "steps" (of the parts that are left)
waits   what cannot go on until then: "nothing", "part", "all"
"""

Part = collections.namedtuple(
    "Part", "part state tokens documents bytes total_bytes tokens_per_s host pid age reason")
Part.__doc__ = """Where a part stands; the names are those of `leat status --json`. None: it is done or missing, or not
known."""

Status = collections.namedtuple(
    "Status", "run parts done running dead stopped failed missing complete inputs input_bytes tokens documents "
              "share tokens_per_s seconds_left left items")
Status.__doc__ = """Where a run stands; the names are those of `leat status --json`.

done ... missing  how many parts are so
complete          the folder is a dataset
share             of the work that is done
left              the parts that are not done and that no process packs: "3,7-9"
items             a Part for each
"""


class Run(PushedRun):
    """A run in parts: many processes, on machines that see the same folder, make one dataset of it.

    If parts read inputs: Run.create() plans it, Run.open() opens it anywhere; step() packs a part, or goes on with
    it; status() says where all stand; join() makes one dataset of them, the bytes that leat.pack() alone would write.

        run = leat.Run.create("/shared/run", "corpus/", "gpt2", parts=64)      # once
        leat.Run.open("/shared/run").step(7)                                   # anywhere, as often as need be
        leat.Run.open("/shared/run").join("/shared/corpus")                    # when all are done

    A step may be killed at any moment. leat.Error has `advice` (an Advice), which says what to do. The GIL is released.

    If tasks push documents: leat.Run() begins the run.

        run = leat.Run("corpus", "o200k_base")               # in the driver

        def task(key, batches, run):                         # in each task: a Run can be pickled
            with run.part(key) as packer:
                packer.extend(batches)                       # Arrow tables, or what leat.Packer takes
            return packer.piece

        dataset = run.commit(pieces)                         # in the driver: in the order of this list

    output              a folder that all processes share, or s3://BUCKET/FOLDER, gs:// or az://
    text, id, mask      the columns of tables, or keys of dicts, that Packer.extend() takes; mask stores one, as
                        `store_mask` does
    other options       as in leat.Packer; commit() judges the limit of rejects, and whether `keep` leaves a document,
                        for the whole run
    split               as in leat.pack(): the folder is the dataset of the rest, and FOLDER/NAME that of each split
    force               replace what is there: another run, or, when this one is committed, a finished dataset
    append              if a finished dataset is there, commit() makes a new list: its parts, then these. Tokenizer, end
                        and begin token and the names of splits must be the same. The dataset as it was stays open to
                        leat.open() by its list, output/leat-run.list.RUN

    Several attempts at one part may live at once, each with files of its own; those count that commit() names, and
    equal documents give equal bytes, whichever attempt that is. Until then the folder is no dataset; then
    leat.open(output) opens it as one, without a second copy of any token. What died is swept by commit(), abort(), or
    the same run when it begins again. As a context manager, a Run that ends with an exception is aborted.
    """

    folder: str  # absolute path, or a URL
    parts: int  # number of parts; 0 if parts are pushed
    _core: Any
    _files: int
    _bytes: int
    _splits: list[tuple[str, str]]
    _chat: bool

    @classmethod
    def _of(cls, core) -> Run:
        self = cls.__new__(cls)
        self._core = core
        self.folder, self.parts, self._files, self._bytes, self._splits, self._chat = _leat.run_info(core)
        return self

    @classmethod
    @takes(PlannedOptions)
    def create(cls, folder: str | os.PathLike, inputs, tokenizer="gpt2", *, parts: int,
               from_: str | os.PathLike | None = None, **options: Unpack[PlannedOptions]) -> Run:
        """Plans a run in `folder`, which is made if need be. The same call again opens the run that is there.

        inputs           as leat.pack() takes them, but no standard input
        tokenizer        as in leat.pack(): the parts open it by its name where they are packed
        parts            how many: part n is the n-th share of the inputs' bytes
        from_            the folder from which relative names count; None: the current one
        other options    those of leat.pack() that all parts share; each step may have others of threads, memory and
                         write, and another limit of rejects. With split, FOLDER/NAME is a dataset, too; truncated
                         inputs that are allowed here are accepted in every step
        """
        others: dict[str, Any] = dict(options)
        for name in ("shuffle", "dedup"):
            if others.pop(name, None) not in (None, False):
                raise TypeError(f"no part of a run knows the others: {name} belongs to join()")
        given = taken(Run.create, others)
        opened = open_tokenizer(tokenizer)
        if opened._from is None:
            raise TypeError("the parts of a run open the tokenizer by its name: give a name or a path")
        files = as_group("inputs", inputs, Files, True)
        notices: list[tuple] = []
        spec, pattern = opened._from
        core = _guard(_leat.run_create, folder, list_paths(files.paths), opened._core, spec, pattern, from_,
                      whole("parts", parts, 1, 1000000), pack_options(given, opened, files),
                      noting(notices))
        return cls._of(core)

    @classmethod
    def open(cls, folder: str | os.PathLike) -> Run:
        """Opens the run of a folder."""
        return cls._of(_guard(_leat.run_open, folder))

    def _read(self):
        """Returns the run's capsule. Refuses a run whose parts are pushed."""
        if self.parts == 0:
            raise TypeError("the parts of this run are pushed: part() begins one, and commit() makes them a dataset")
        return self._core

    @takes(StepOptions, chat_seconds=None, max_rejects="planned", progress="auto")
    def step(self, part: int, **options: Unpack[StepOptions]) -> Summary:
        """Packs a part, from 1, or goes on with it; returns a Summary (was_finished: it was done before).
        Arguments as in leat.pack(); what is not given is as planned. force starts the part over."""
        core = self._read()
        given = taken(Run.step, options)
        seconds = given["Chat.seconds"] = given.pop("chat_seconds")
        if seconds is not None:
            whole("chat_seconds", seconds, 1, 86400)
        native = read_options({name: value for name, value in given.items() if value != "planned"})
        renderers = None
        if self._chat:
            from leat._renderers import Renderers
            renderers = Renderers()
        began = now()
        notices: list[tuple] = []
        bar, watch = watching(given["progress"])
        try:
            name, report, infos, text_before = _guard(_leat.run_step, core, whole("part", part, 0, 2**32 - 1),
                                                      (*native, renderers), watch, noting(notices))
        finally:
            if bar:
                bar.close()
        summary = packed(name, report, infos, self._splits, now() - began, text_before, notices)
        folder, file = os.path.split(name)
        return summary._replace(splits=[{**made, "output": os.path.join(folder, split, file)}
                                        for (split, _), made in zip(self._splits, summary.splits)])

    def status(self) -> Status:
        """Where all parts stand, by what is in the folder."""
        counts, complete, items, tokens, documents, share, rate, seconds, left = _guard(
            _leat.run_status, self._read())
        return Status._make([self.folder, self.parts, *counts, complete, self._files, self._bytes, tokens,
                             documents, share, rate, seconds if seconds >= 0 else None, left,
                             [_part(i + 1, *item) for i, item in enumerate(items)]])

    @takes(MergeOptions)
    def join(self, output: str | os.PathLike, **options: Unpack[MergeOptions]) -> Summary:
        """Joins the parts to the dataset `output`, when all are done; arguments as in leat.merge()."""
        began = now()
        given = taken(Run.join, options)
        fields, lists = read_options(given)
        made: list[tuple] = []
        result = _guard(_leat.run_join, self._read(), output, lists["splits"], fields, given["progress"], [].append,
                        made.append)
        return joined(output, result, made, lists["splits"], now() - began)

    def __repr__(self) -> str:
        return f"leat.Run.open({shown(self.folder)})"


def _guard(call, *arguments):
    """Calls the extension, and gives an Error's advice its names."""
    try:
        return call(*arguments)
    except BaseException as e:
        error = e if isinstance(e, Error) else e.__cause__
        advice = getattr(error, "advice", None)
        if advice is not None and not isinstance(advice, Advice):
            error.advice = Advice(FILES[advice[0]], MENDS[advice[1]], WAITS[advice[2]])
        raise


def _part(number: int, facts: dict, rate: float, age: float, host: str, reason: str) -> Part:
    state = STATES[facts["state"]]
    if state in ("done", "missing"):
        return Part._make([number, state, facts["tokens"], facts["documents"], *[None] * 7])
    total = facts["total_bytes"]
    return Part(number, state, facts["tokens"], facts["documents"], facts["bytes"],
                None if total == 0 and facts["bytes"] > 0 else total, rate if state == "running" else 0.0, host,
                facts["pid"], age, reason or None)
