"""Ctrl-C at any place inside of a leat.Packer: it has counted the documents that it has added, no more or fewer, and a
packer that is resumed goes on to the same dataset.

What went wrong: documents were counted by Python code after the call that added them. An interrupt in between made a
checkpoint that was a document short, and a resumed run added that one again; rows without a text that nulls="skip"
leaves out counted before the rows ahead of them were added, and those were lost."""
import json
import os
import pathlib
import tempfile

import pytest

import leat
from test_interrupts import every_place

pa = pytest.importorskip("pyarrow")

ROWS = [f"text {n} " * (n + 1) for n in range(5)]
SPARSE = [{"text": ROWS[0]}, {"text": None}, {"text": ROWS[1], "id": 7}, {"text": None}, {"text": ROWS[2]}]
TABLE = pa.table({"text": [ROWS[0], None, ROWS[3]], "id": ["a", "b", "c"]})


@pytest.fixture
def folder(tmp_path):
    """A folder in memory, if there is one: thousands of packers would wait for the disk, which is not the question."""
    if not os.path.isdir("/dev/shm"):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        yield pathlib.Path(name)


def adds(packer):
    for row in ROWS[packer.sources.get("s", 0):3]:
        packer.add(row, source="s")
    for n in range(packer.sources.get("t", 0), 2):
        packer.add([n, n + 1], id=n, source="t")


def extends(packer, rows, **options):
    packer.extend(rows, source="s", skip=packer.sources.get("s", 0), **options)


FEEDS = {
    "adds": adds,
    "texts": lambda packer: extends(packer, ROWS),
    "ids": lambda packer: extends(packer, [[1, 2], [3], [4, 5]]),
    "dicts": lambda packer: extends(packer, SPARSE, nulls="skip"),
    "table": lambda packer: extends(packer, TABLE, nulls="skip"),
    "tables": lambda packer: extends(packer, [TABLE, TABLE], nulls="skip"),
}
CONDITION = "n > 1"  # the feeds of rows of which it keeps some out
KEPT = {
    "kept dicts": lambda packer: extends(packer, [{"text": row, "n": n} for n, row in enumerate(ROWS[:3])]),
    "kept ids": lambda packer: extends(packer, [{"ids": [n], "n": n} for n in range(3)], text="ids"),
    "kept table": lambda packer: extends(packer, pa.table({"text": ROWS[:3], "n": [1, 2, 3]})),
}


def opened(name, resume=False, keep=()):
    return leat.Packer(name, "bytes", resume=resume, threads=1, created=1, keep=keep)


def taken(name):
    """The files of a dataset, which are removed."""
    paths = [name.with_suffix(suffix) for suffix in (".tokens", ".leat")]
    contents = [path.read_bytes() for path in paths]
    for path in paths:
        path.unlink()
    return contents


@pytest.mark.parametrize("feed", [*FEEDS, *KEPT])
def test_no_document_is_lost(feed, folder):
    keep = [CONDITION] if feed in KEPT else []
    feed = {**FEEDS, **KEPT}[feed]
    with opened(folder / "whole", keep=keep) as packer:
        feed(packer)
    whole = taken(folder / "whole"), packer.given, packer.skipped, packer.sources, packer.summary.kept_out
    assert (packer.summary.kept_out > 0) == bool(keep)
    for n, interrupt in enumerate(every_place()):
        packer = opened(folder / "out", keep=keep)
        with interrupt:
            feed(packer)
            packer.checkpoint("a note")
        if n % 2 == 0:  # as at the end of a `with`
            packer.checkpoint(packer.note)
            packer.suspend()
            packer = opened(folder / "out", resume=True, keep=keep)
        with packer:
            feed(packer)
        counts = packer.given, packer.skipped, packer.sources, packer.summary.kept_out
        assert (taken(folder / "out"), *counts) == whole


class Checkpoints:
    """The core of a packer, and the notes of the checkpoints that it has made."""

    def __init__(self, core):
        self.core, self.notes = core, []

    def checkpoint(self, state):
        self.core.checkpoint(state)
        self.notes.append(json.loads(state)["note"])

    def __getattr__(self, name):
        return getattr(self.core, name)


def test_a_note_does_not_go_back(folder):
    """The checkpoint that ends an interrupted `with` has the note of the last one, or of one that was to be made."""
    notes = ["one", "two", "three", "four", "five"]
    for interrupt in every_place():
        packer = opened(folder / "out")
        packer._core = made = Checkpoints(packer._core)
        with interrupt:
            for note in notes:
                packer.checkpoint(note)
        before = len(made.notes)
        packer.checkpoint(packer.note)
        assert made.notes[:before] == notes[:before]
        assert made.notes[before] in ([""] + notes)[before:before + 2]
        packer.abandon()
