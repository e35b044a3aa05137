"""pushed.py: a leat.Run whose parts are pushed by the tasks of an engine such as Ray or Spark."""
from __future__ import annotations

import collections
import dataclasses
import os

from leat import _leat
from leat._pack_options import chat_of, now, open_tokenizer, pack_options, pairs_of, taken, takes
from leat._values import flag, instance, listed, path_of, read_size, shown, whole
from leat.dataset import Dataset, open as open_dataset
from leat.options import PushedOptions
from leat.packer import Packer

TYPE_CHECKING = False  # in place of typing.TYPE_CHECKING, because typing is slow to import
if TYPE_CHECKING:
    from typing import Any

    from typing_extensions import Unpack

_OF_RUN: Any = object()  # as the run says

Piece = collections.namedtuple("Piece", "key documents tokens text_bytes rejected kept_out line")
Piece.__doc__ = """What an attempt at a part has made. Pass it to Run.commit(). It is small, and can be pickled.

key                 of the part
documents, tokens   that it has
text_bytes          of the texts that were given
rejected            documents that could not be packed
kept_out            rows that a condition of `keep` left out
line                all of it, as the library reads it: a line for each dataset, which are several if the run has splits
"""


class PushedRun:
    """The part of leat.Run that takes documents; see there."""

    folder: str
    parts: int
    _core: Any
    _pushed: Any = None  # None if the run's parts read inputs
    _fields: dict[str, Any]
    _ended: bool

    @takes(PushedOptions, append=False)
    def __init__(self, output, tokenizer="gpt2", **options: Unpack[PushedOptions]):
        given = taken(PushedRun.__init__, options)
        tokenizer = open_tokenizer(tokenizer)
        if tokenizer._from is None:
            raise TypeError("the tasks of a run open the tokenizer by its name: give a name or a path")
        chat = given["chat"] = chat_of(given["chat"])
        if chat is not None and chat.template != "tokenizer":
            given["chat"] = dataclasses.replace(chat, template=os.path.abspath(chat.template))
        given["pairs"] = pairs_of(given["pairs"])
        masks = flag("store_mask", given["store_mask"]) or given["mask"] is not None
        columns = ("text", "id", "mask")  # which extend() takes
        native = pack_options({**{name: value for name, value in given.items() if name not in columns},
                               "store_mask": masks}, tokenizer)
        spec, pattern = tokenizer._from
        self._push_to(_leat.PushedRun(path_of("output", output), tokenizer._core, spec, pattern, native,
                                      flag("append", given["append"])), given)

    def _push_to(self, pushed, fields):
        self._pushed, self._fields, self._ended = pushed, fields, False
        self.folder, self.parts, self._core = pushed.folder(), 0, None

    def _open_run(self):
        if self._pushed is None:
            raise TypeError("the parts of this run read its inputs: step() packs them, and nothing is pushed"
                            if self.parts else
                            "Run.open() gives no columns to push with: use leat.Run(output, ...), or pickle that")
        return self._pushed

    def part(self, key, threads: int = 1, *, memory: int | str | None = None, scratch=None) -> PartPacker:
        """Starts an attempt at the part `key`: a leat.Packer whose finish() returns a Piece, for commit().

        key      letters, digits and -_.=, or an integer
        threads  number of threads that encode
        memory   at most; None: as planned
        scratch  for a run in a bucket: a folder of this machine in which the part is made; None: that of tempfile
        """
        run = self._open_run()
        if scratch is None and "://" in self.folder:
            import tempfile
            scratch = tempfile.gettempdir()
        renderers = None
        if self._fields["chat"] is not None:
            from leat._renderers import Renderers
            renderers = Renderers()
        core = run.push(str(key), whole("threads", threads, 1, 4096),
                        0 if memory is None else read_size(memory),
                        None if scratch is None else path_of("scratch", scratch), renderers)
        return PartPacker._of_part(core, self.folder, str(key), self._fields)

    def commit(self, pieces) -> Dataset:
        """Makes the folder the dataset of these parts, in this order, and returns it. All other attempts are swept, and
        fail when they are finished. Succeeds again with the same pieces; with others it is leat.Error ("exists").
        leat.Error ("rejects"): more records of all parts were rejected than the run allows. Then nothing is
        committed: abort(), or begin the same run with another limit and commit the same pieces. With `split`,
        leat.open(FOLDER/NAME) opens the split NAME from then on."""
        pieces = [instance("a piece", piece, Piece, "a Piece") for piece in listed("pieces must be a list", pieces)]
        self._open_run().commit([line for piece in pieces for line in piece.line.split("\n")])
        self._ended = True
        return open_dataset(self.folder)

    def abort(self) -> None:
        """Ends the run, which must not be committed, and removes all of it. A dataset that was there before stays."""
        if self._pushed is None and self.parts == 0:  # a run of Run.open()
            _leat.PushedRun(self.folder).abort()
            return
        self._open_run().abort()
        self._ended = True

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None and self._pushed is not None and not self._ended:
            self.abort()

    def __reduce__(self):
        if self._pushed is None:
            return type(self).open, (self.folder,)
        return _reopen, (type(self), self.folder, self._fields, self._pushed.number())


def _reopen(cls, output, fields, number):
    """Opens the run that was pickled. Error ("state") if another run is in the folder by now."""
    run = cls.__new__(cls)
    run._push_to(_leat.PushedRun(output, number=number), fields)
    return run


class PartPacker(Packer):
    """A leat.Packer of one attempt at a part of a leat.Run: extend() takes the run's columns, and finish() returns a
    Piece. The end of a `with` block finishes it; an exception leaves nothing of it. It has no checkpoints."""

    _key: str
    _fields: dict[str, Any]
    _piece: Piece | None

    @classmethod
    def _of_part(cls, core, output, key, fields):
        self = cls.__new__(cls)
        self._began, self._output, self._core = now(), output, core
        self._key, self._fields = key, fields
        self._piece = None
        self._set(fields, None)
        return self

    @property
    def piece(self) -> Piece:
        """What the attempt has made, once it is finished."""
        if self._piece is None:
            raise AttributeError("the part has not been finished")
        return self._piece

    def extend(self, documents, *, text: str = _OF_RUN, id: str | None = _OF_RUN, source: str | None = None,
               skip: int = 0, nulls: str = "error", mask: str | None = _OF_RUN) -> int:
        given: dict[str, Any] = dict(text=text, id=id, mask=mask)
        if self._chats:
            del given["text"], given["mask"]
        given = {name: self._fields[name] if value is _OF_RUN else value for name, value in given.items()}
        return super().extend(documents, source=source, skip=skip, nulls=nulls, **given)

    def finish(self) -> Any:
        """The Piece. Writes what is left; sends it, if the run is in a bucket. If this fails, abandon the packer."""
        if self._piece is None:
            report, line = self._core.finish()
            self._piece = Piece(self._key, report["documents"], report["tokens"], report["text_bytes"],
                                report["rejects"], report["kept_out"], line)
        return self._piece

    def __exit__(self, kind, error, trace):
        if self._core.ended():
            return
        try:
            if kind is None:
                self.finish()
        finally:
            self._core.abandon()

    def __repr__(self):
        state = "finished" if self._piece else "ended" if self._core.ended() else "open"
        return f"<leat.Packer of the part {self._key!r} of {shown(self._output)}: {self.given} documents given, " \
               f"{state}>"
