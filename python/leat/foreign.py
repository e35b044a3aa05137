"""foreign.py: leat.import_dataset and leat.adopt make datasets of those of other tools."""
from __future__ import annotations

import collections

from leat import _leat
from leat._pack_options import list_paths, open_tokenizer, read_created, read_token
from leat._values import whole

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


def import_dataset(sources, output, tokenizer=None, *, pattern: str | None = None, vocabulary: int | None = None,
                   end: int | str | None = None, column: str | None = None, dtype: str | None = None,
                   force: bool = False, progress=None, created: int | None = None, resume: bool = False) -> Import:
    """Writes the dataset `output` from those of MosaicML's streaming, litdata or Hugging Face, like `leat import`.

    sources     a path or several: folders of MDS or litdata (with index.json), Arrow files, folders of save_to_disk()
    output      the name of the dataset
    tokenizer   that the ids are of, to be stored: a name, a path or a leat.Tokenizer; None: none
    pattern     for a *.tiktoken file whose name does not say it
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
    """
    tokenizer = None if tokenizer is None else open_tokenizer(tokenizer, pattern)
    made = _leat.import_dataset(
        output, list_paths(sources), tokenizer and tokenizer._core,
        0 if vocabulary is None else whole("vocabulary", vocabulary, 1, 2**32), read_token(tokenizer, "end", end),
        column, dtype, force, resume, read_created(created), progress)
    import os
    result = Import(os.fsdecode(output), *made)
    if result.mask is not None:
        import warnings
        warnings.warn(f"the column \"{result.mask}\" was not taken, so all tokens are learned; "
                      "leat.Packer.extend(..., mask=...) stores a mask", RuntimeWarning, stacklevel=2)
    return result


def adopt(name, output=None, tokenizer=None, *, pattern: str | None = None, end: int | str | None = None,
          force: bool = False, progress=None, created: int | None = None) -> Adopted:
    """Writes an index beside the tokens of another tool, which stay where they are, like `leat adopt`.

    name       of one dataset of another tool, as leat.open() takes it: PREFIX of Megatron's files, FILE.ds,
               "raw:FILE?dtype=u16"
    output     of the index; None: beside the tokens
    tokenizer  that the ids are of, to be stored; None: none
    end        the token that ends each document, an id or a token: raw:, llmc: and pbin: find documents by it, of
               others each is checked to end with it; None: as the name says
    force      replaces an existing index
    progress   a function that is called with (bytes done, bytes in all). An exception in it, or Ctrl-C, stops the work;
               the next call goes on from there
    created    time of creation to store, as in leat.pack()
    """
    tokenizer = None if tokenizer is None else open_tokenizer(tokenizer, pattern)
    index, documents, tokens = _leat.adopt(name, output, tokenizer and tokenizer._core,
                                           read_token(tokenizer, "end", end), force, read_created(created), progress)
    import os
    return Adopted(os.fsdecode(index), documents, tokens)
