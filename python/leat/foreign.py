"""foreign.py: leat.import_dataset and leat.adopt make datasets from those of other tools.

_import_readers.py reads the sources and gives their ids as bunches of documents. The extension converts, checks and
writes a bunch without a Python object per document.

What was written is known by the number of documents alone, and each file is an input with a number. So a checkpoint
that is made at any moment says where the import is: in which file, and how many documents there were before it.
"""
from __future__ import annotations

import collections
import contextlib
import os

from leat import _leat
from leat._leat import Error, failure, show
from leat._pack_options import list_paths, open_tokenizer, read_created, read_token
from leat._values import flag, whole

Import = collections.namedtuple("Import", "output files bytes documents tokens ends_added was_finished mask")
Import.__doc__ = """What leat.import_dataset() has written; the names are those of `leat import --json`.

files, bytes  of the sources, on disk
ends_added    documents that lacked the end token; None: not known, since it was finished before
was_finished  with resume: nothing was left to do
mask          a column called like a mask ("labels", "loss_mask", ...), which was not taken, so all tokens are learned;
              or None. leat.import_dataset() also warns of it
"""

Adopted = collections.namedtuple("Adopted", "index documents tokens")
Adopted.__doc__ = """What leat.adopt() has written: the path of the index, which leat.open() takes, and what it has."""

CHECKPOINT_EVERY = 4 << 30  # bytes of files between checkpoints
REPLACE = 1  # LEAT_HINT_REPLACE of leat.h


# ---- Importing

class _Run:
    def __init__(self, core, output, sources, progress, facts):
        self.core, self.output, self.progress, self.facts = core, output, progress, facts
        self.files = [(source, i, file) for source in sources for i, file in enumerate(source.files)]
        self.total = sum(file.size for _, _, file in self.files)
        self.at = 0, 0  # (number of the file, number of documents before it)
        self.safe = 0
        self.stopping = False
        if core.note() is not None:
            import json
            self._take_note(json.loads(core.note()))

    def _take_note(self, note):
        if note.get("facts") != self.facts:
            self.core.suspend()
            raise failure("checkpoint", self.output,
                          f"the earlier run of {show(self.output)} had other sources or options, or "
                          "other versions of these files (size, time of modification); give the same or "
                          "start over", REPLACE)
        self.at = tuple(note["at"])
        self.core.restore(note["inputs"], note["ends_added"])

    def checkpoint(self):
        import json
        _, inputs, ends_added = self.core.counts()
        self.core.checkpoint(json.dumps({"facts": self.facts, "at": self.at, "inputs": inputs,
                                         "ends_added": ends_added}).encode())

    def _report_progress(self, done):
        if done - self.safe >= CHECKPOINT_EVERY:
            self.checkpoint()
            self.safe = done
        if self.progress is not None:
            self.stopping = True
            self.progress(done, self.total)
            self.stopping = False

    def copy(self):
        from leat._import_readers import DTYPES
        done = self.safe = sum(file.size for _, _, file in self.files[:self.at[0]])
        for number in range(self.at[0], len(self.files)):
            source, i, file = self.files[number]
            documents, inputs, _ = self.core.counts()
            if self.at[0] != number:
                self.at = number, documents
            if inputs == number:
                self.core.input(file.path, file.size)
            row = documents - self.at[1]
            bunches = source.bunches(i, row)
            with contextlib.closing(bunches):
                for bunch in bunches:
                    self.core.add(bunch.ids[0], DTYPES[bunch.dtype], bunch.ids[1], bunch.starts[0], bunch.wide,
                                  bunch.documents, file.path, row)
                    row += bunch.documents
                    self._report_progress(done + min(bunch.done, file.size))
            done += file.size
            self._report_progress(done)


def _is_wide(source):
    """Returns True if the ids of a source's first document have more than 2 bytes."""
    for number in range(len(source.files)):
        bunches = source.bunches(number, 0)
        with contextlib.closing(bunches):
            for bunch in bunches:
                if bunch.documents:
                    return int(bunch.dtype.lstrip("uint")) > 16
    return False


def _finished(output, files, options, vocabulary, end, tokenizer):
    """Returns (documents, tokens) of the dataset if it is what these arguments ask for, else None."""
    from leat.dataset import Dataset
    name = os.fsdecode(output)
    name = name.removesuffix(".leat").removesuffix(".tokens")
    if os.path.lexists(name + ".partial.checkpoint"):
        return None
    try:
        with Dataset(output) as dataset:
            info = dataset.info
            same = (info.parts == 1 and info.vocabulary == vocabulary and info.end_token == end and
                    info.begin_token is None and dataset.metadata == options and
                    dataset.stored_tokenizer == (tokenizer and tokenizer._core.stored()) and
                    [(i.path, i.bytes) for i in dataset.inputs] == [(f.path, f.size) for f in files])
            return (info.documents, info.tokens) if same else None
    except Error:
        return None


def import_dataset(sources, output, tokenizer=None, *, vocabulary: int | None = None,
                   end: int | str | None = None, column: str | None = None, dtype: str | None = None,
                   force: bool = False, progress=None, created: int | None = None, resume: bool = False) -> Import:
    """Writes the dataset `output` from those of MosaicML's streaming, litdata or Hugging Face, like `leat import`.

    sources     a path or several: folders of MDS or litdata (with index.json), Arrow files, folders of save_to_disk().
                They are read by the packages mosaicml-streaming, litdata and pyarrow
    output      the name of the dataset
    tokenizer   the one that made the ids, to be stored: a name, a path or a leat.Tokenizer; None: none
    vocabulary  every id is below it; up to 65,536 an id takes 2 bytes. None: the tokenizer's; without one 65,536 for
                ids of 1 and 2 bytes, else 2**31
    end         the token that ends each document, an id or a token; it is added to those that lack it; None: none
    column      the column or key of the ids; None: input_ids or tokens, or the only one that can hold ids
    dtype       the type of ids in a column of bytes (MDS): "uint16", "int64", ...
    force       replaces an existing dataset; without resume it starts over
    progress    a function that is called with (bytes done, bytes in all). An exception in it, or Ctrl-C, stops the work
    created     time of creation to store, as in leat.pack()
    resume      goes on where a run of this output was stopped; if none was, begins. If the dataset is finished and is
                what these arguments ask for, nothing is left to do

    Each row, sample or item is a document; its place is the file and its number in it, from 0.
    """
    from leat._import_readers import DTYPES, open_source  # imported here because `import leat` does not need it
    tokenizer = None if tokenizer is None else open_tokenizer(tokenizer)
    if dtype is not None and dtype not in DTYPES:
        raise failure("argument", None,
                      f"unknown dtype \"{show(str(dtype)[:40])}\": use uint16, uint32, int32, int64 or "
                      "another integer type of NumPy")
    if vocabulary is not None:
        vocabulary = whole("vocabulary", vocabulary, 1, 2**32)
    elif tokenizer is not None:
        vocabulary = tokenizer.n_vocab
    end = read_token(tokenizer, "end", end)
    paths = list_paths(sources)
    if not paths:
        raise failure("argument", None, "import_dataset() needs at least one source")
    opened = [open_source(path, column, dtype) for path in paths]
    if dtype is not None and not any(source.took_dtype for source in opened):
        raise failure("argument", paths[0],
                      f"{show(os.fsdecode(paths[0]))}: its files give the type of their ids; leave "
                      "dtype out")
    if vocabulary is None:
        vocabulary = 2**31 if any(_is_wide(source) for source in opened) else 65536
    masks = [source.mask for source in opened if source.mask]
    made = _copy_sources(opened, output, tokenizer, vocabulary, end, {"leat.column": column, "leat.dtype": dtype},
                         force, progress, read_created(created), resume)
    result = Import._make((os.fsdecode(output), *made, masks[-1] if masks else None))
    if result.mask is not None:
        import warnings
        warnings.warn(f"the column \"{result.mask}\" was not taken, so all tokens are learned; "
                      "leat.Packer.extend(..., mask=...) stores a mask", RuntimeWarning, stacklevel=2)
    return result


def _copy_sources(sources, output, tokenizer, vocabulary, end, options, force, progress, created, resume):
    """Imports the sources. Returns (files, bytes, documents, tokens, ends added or None, was finished)."""
    import hashlib
    import json
    files = [file for source in sources for file in source.files]
    options = {key: value for key, value in options.items() if value is not None}
    facts = hashlib.sha256(json.dumps([options, files]).encode("utf-8", "surrogatepass")).hexdigest()
    size = sum(file.size for file in files)
    try:
        core = _leat.Importer(output, tokenizer and tokenizer._core, vocabulary, end, flag("force", force),
                              flag("resume", resume), created)
    except Error as error:
        # A finished dataset is accepted even in a folder that is read-only.
        if resume and not force and error.status in ("exists", "permission"):
            found = _finished(output, files, options, vocabulary, end, tokenizer)
            if found is not None:
                return len(files), size, *found, None, True
        raise
    run = _Run(core, os.fsdecode(output), sources, progress, facts)
    try:
        for key, value in options.items():
            core.metadata(key, value)
        run.copy()
        _, _, ends_added = core.counts()
        documents, tokens = core.finish()
    except BaseException as error:
        # Ctrl-C or the caller's own function stopped the import, which can continue from here.
        if run.stopping or not isinstance(error, Exception):
            with contextlib.suppress(Error):
                run.checkpoint()
        core.suspend()
        raise
    return len(files), size, documents, tokens, ends_added, False


def adopt(name, output=None, tokenizer=None, *, end: int | str | None = None, force: bool = False, progress=None,
          created: int | None = None) -> Adopted:
    """Writes an index next to the tokens of another tool, which stay where they are, like `leat adopt`.

    name       one dataset of another tool, as leat.open() takes it: PREFIX of Megatron's files, FILE.ds,
               "raw:FILE?dtype=u16"
    output     the name of the index; None: next to the tokens
    tokenizer  the one that made the ids, to be stored; None: none
    end        the token that ends each document, an id or a token: it divides raw:, llmc: and pbin: into documents; in
               others each document is checked to end with it; None: as the name says
    force      replaces an existing index
    progress   a function that is called with (bytes done, bytes in all). An exception in it, or Ctrl-C, stops the work;
               the next call goes on from there
    created    time of creation to store, as in leat.pack()
    """
    tokenizer = None if tokenizer is None else open_tokenizer(tokenizer)
    index, documents, tokens = _leat.adopt(name, output, tokenizer and tokenizer._core,
                                           read_token(tokenizer, "end", end), flag("force", force),
                                           read_created(created), progress)
    return Adopted(os.fsdecode(index), documents, tokens)
