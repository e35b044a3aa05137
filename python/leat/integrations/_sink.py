"""_sink.py: code that the sinks of all engines share: options of a run as engines give them, one task's part, and the
commit. It knows no engine.

A sink begins a leat.Run in its driver and pickles it into tasks. A task packs its rows (pack()) and returns a Piece.
The driver commits the pieces (commit()), or aborts.
"""
from __future__ import annotations

import inspect
import os
from typing import Any, Iterable

from leat import _leat
from leat._documents import arrow_capsules
from leat.dataset import Dataset
from leat.options import refuse_empty
from leat.pushed import Piece, PushedRun

# memory for the vocabulary, up to 64 MiB, and for packing, in addition to what the worker already has
TASK_MEMORY = 320 << 20


def pack(run, key, tables: Iterable[Any], *, threads: int = 1, memory: int | str | None = None,
         nulls: str = "error") -> Piece | None:
    """Packs the rows of a task as the part `key`. Returns None without rows, which need no part. Tables are Arrow's, or
    anything that leat.Packer.extend() reads as such; empty tables may lack columns. `memory` bounds the whole process,
    as in leat.pack(); None means TASK_MEMORY more than it has now."""
    packer = None
    try:
        for table in tables:
            if getattr(table, "num_rows", 1) == 0:
                continue
            if packer is None:
                packer = run.part(key, threads, memory=memory or resident() + TASK_MEMORY)
            packer.extend(table, nulls=nulls)
        return packer.finish() if packer else None
    finally:
        if packer:
            packer.abandon()  # does nothing after finish()


def resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def check_columns(table, *, text: str = "text", id: str | None = "id", mask: str | None = None, chat=None,
                  pairs=None, **_other: Any) -> None:
    """Raises the error of a task if a table of this schema lacks columns that these options of a run name. With chat
    or pairs, only rows show that."""
    if chat is None and pairs is None:
        _leat.ArrowRows(arrow_capsules(table), text, id, id == "id", mask)


def commit(run, pieces: Iterable[Piece | None]) -> Dataset:
    """Commits the pieces in this order, without those of tasks that had no rows. Without any, the dataset has no
    document, if the run may be empty; else the run is aborted."""
    made = [piece for piece in pieces if piece is not None]
    if not made:
        try:
            refuse_empty(run.folder, run._fields)
        except ValueError:
            run.abort()
            raise
        with run.part("empty") as packer:
            pass
        made = [packer.piece]
    return run.commit(made)


def totals(pieces: Iterable[Piece | None]) -> dict[str, int]:
    """Returns the sums over all parts: documents, tokens, text_bytes, rejected."""
    made = [piece for piece in pieces if piece is not None]
    return {name: sum(getattr(piece, name) for piece in made)
            for name in ("documents", "tokens", "text_bytes", "rejected")}


# ---- Options that are strings, of engines that have no others ----

def read_options(given: dict[str, str], names: dict[str, Any] | None = None) -> dict[str, Any]:
    """Reads options of leat.Run from strings, for engines that have no other values. `names` maps further options to
    functions that read them."""
    return read_named(given, {**_readers(), **(names or {})})


def read_named(given: dict[str, str], known: dict[str, Any]) -> dict[str, Any]:
    """Reads options from strings. `known` maps each to a function that reads it. Names are compared without regard to
    capitals; an unknown name is a TypeError."""
    read = {}
    for name, value in given.items():
        low = name.lower()
        if low not in known:
            import difflib
            near = difflib.get_close_matches(low, known, 1)
            raise TypeError(f"unknown option {name!r}" + (f"; did you mean {near[0]!r}?" if near else
                                                          f"; known are {', '.join(sorted(known))}"))
        try:
            read[low] = known[low](value)
        except ValueError as error:
            raise ValueError(f"option {name}: {error}") from None
    return read


def _readers() -> dict[str, Any]:
    """A function for each option of leat.Run, by its type."""
    by_type = {"bool": flag, "str | None": _maybe, "int | None": int, "int | str | None": _number_or_text,
               "int | float | str | None": _number_or_text}
    readers: dict[str, Any] = {}
    for name, parameter in inspect.signature(PushedRun.__init__).parameters.items():
        if name not in ("self", "output"):
            readers[name] = by_type.get(parameter.annotation, str)
    readers.update(memory=str, keep=_list, split=_maybe)
    return readers


def flag(text: str) -> bool:
    low = text.lower()
    if low not in ("true", "false"):
        raise ValueError(f"must be true or false, not {text!r}")
    return low == "true"


def _maybe(text: str) -> str | None:
    return None if text.lower() == "none" else text


def _number_or_text(text: str) -> int | float | str | None:
    if text.isdigit():
        return int(text)
    try:
        return float(text)
    except ValueError:
        return _maybe(text)


def _list(text: str) -> list[str]:
    """Reads conditions, one per line."""
    return [line for line in text.splitlines() if line.strip()]

