"""datatrove.py: leat.integrations.datatrove.Pack, the last step of a datatrove pipeline, which makes a dataset of its
documents; and Read, a first step that reads one.

A rank is a part of a leat.Run. No rank knows the executor's folder, nor whether it is the last: so each leaves a file
RANK-of-RANKS.piece beside its part, and a rank that finds all of them commits the run and removes them. Ranks run again
that were killed, and their new pieces replace the old. One that was killed after the commit finds a finished dataset:
it packs its documents once more, in a folder for temporary files, and compares.
"""
from __future__ import annotations

import contextlib
import functools
import inspect
import json
import os
import pickle
import tempfile
from typing import Any

from leat._lazy import need

need("datatrove", __name__, "datatrove")

import leat
from datatrove.data import Document, DocumentsPipeline
from datatrove.io import get_datafolder
from datatrove.pipeline.base import PipelineStep
from datatrove.utils.batching import batched
from datatrove.utils.logging import logger
from leat._own_file import write_to
from leat.options import refuse_empty
from leat.integrations import _sink, _source

BATCH = 1024  # documents that are packed before the next step gets them
# options that read further fields of a document, besides its text and id
FIELDS = ("mask", "pairs", "weight", "chat", "keep")


class Pack(PipelineStep):
    """Packs the documents of a pipeline into the dataset `output`, on datatrove's executors.

        LocalPipelineExecutor([ParquetReader("texts"), Pack("corpus", "gpt2")], tasks=64, logging_dir="logs").run()

    output     a folder that all ranks share, or s3://BUCKET/FOLDER, gs:// or az://, which datatrove (fsspec) must
               be able to open, too
    tokenizer  a name or a path, as all ranks find it
    id         "id": the id of each document; another name: that field of its metadata; None: no ids
    threads    number of threads that encode, for each rank
    memory     limit for the process of a rank; None: 320 MiB more than it has when it begins
    options    those of leat.Run except force and append. Fields that they name are those of the metadata, `text` and
               `id`

    The order is that of ranks. Documents go on to the next step, if any. Ranks that the executor's completions list are
    skipped; the last of the others commits. If all are done and there is no dataset, because somebody has removed the
    folder, remove the executor's logging_dir, too. Statistics: documents, tokens, rejects, doc_len, and the time.
    """

    type = "🔢 - TOKENIZER"
    name = "🌿 leat"

    def __init__(self, output: str | os.PathLike, tokenizer: str | os.PathLike = "gpt2", *, id: str | None = "id",
                 threads: int = 1, memory: int | str | None = None, **options: Any):
        super().__init__()
        if options.get("force"):
            raise TypeError("no rank knows whether another one has begun the new run: remove the folder instead of "
                            "force=True")
        if options.get("append"):
            raise TypeError("no rank knows whether the documents of this run are appended already: pack them into a "
                            "folder of their own, and open both: leat.open([old, new])")
        if "text" in options:
            raise TypeError("the text of a document is its `text`: no text= applies")
        inspect.signature(leat.Run).bind(output, tokenizer, id=id, **options)
        self.output, self.tokenizer = os.fspath(output), os.fspath(tokenizer)
        if "://" not in self.output:  # absolute, because ranks may run in other folders
            self.output = os.path.abspath(self.output)
        if os.path.isfile(self.tokenizer):
            self.tokenizer = os.path.abspath(self.tokenizer)
        self.id, self.threads, self.memory, self.options = id, threads, memory, options

    def run(self, data: DocumentsPipeline, rank: int = 0, world_size: int = 1) -> DocumentsPipeline:
        key, pieces = f"{rank:05d}-of-{world_size:05d}", _Pieces(self.output, world_size)
        with contextlib.ExitStack() as stack:
            run, finished = self._begin_part(pieces, key, stack)
            packer = run.part(key, self.threads, memory=self.memory or _sink.resident() + _sink.TASK_MEMORY)
            stack.callback(packer.abandon)  # does nothing after finish()
            for batch in batched(data or (), BATCH):
                with self.track_time(unit="batch"):
                    packer.extend(self._rows(batch))
                    length = self.stats["doc_len"].update
                    for document in batch:
                        length(len(document.text))
                yield from batch
            with self.track_time(unit="batch"):
                piece = packer.finish()
                if finished:
                    pieces.check(piece)
                else:
                    self._commit_if_last(run, piece, pieces)
        for label, value in (("documents", piece.documents), ("tokens", piece.tokens), ("rejects", piece.rejected)):
            self.stat_update(label, value=value, unit="task")

    def _begin_part(self, pieces, key, stack):
        """Begins a part. Returns (run, False), or if this rank's part is already committed, (a run in a temporary
        folder, True)."""
        begin = functools.partial(leat.Run, tokenizer=self.tokenizer, id=self.id, **self.options)
        try:
            run = begin(self.output)
        except leat.Error as error:
            if error.status != "exists" or key not in pieces.committed()[1]:
                raise
            return begin(stack.enter_context(tempfile.TemporaryDirectory())), True
        pieces.remove([key + ".piece"])  # the piece of an earlier attempt, which may have had other documents
        return run, False

    def _rows(self, batch):
        if any(self.options.get(name) for name in FIELDS):
            return [{**document.metadata, "text": document.text, "id": document.id} for document in batch]
        if self.id == "id":
            return [(document.text, document.id) for document in batch]
        return [(document.text, self.id and document.metadata.get(self.id)) for document in batch]

    @staticmethod
    def _commit_if_last(run, piece, pieces):
        """Commits if all pieces are there. Several ranks may find them at a time, because equal commits succeed."""
        pieces.write(piece)
        found = pieces.of_all(piece)
        if found:
            if not any(one.documents or one.rejected or one.kept_out for one in found):
                refuse_empty(run.folder, run._fields)
            try:
                run.commit(found)
            except leat.Error as error:
                if error.status != "exists":
                    raise
        elif pieces.committed()[0] != _run_of(piece):
            logger.info(f"{piece.key} is packed in {run.folder}; the last rank commits")
            return
        pieces.check(piece)


class _Pieces:
    """The pieces of all ranks, in a file for each, in the run's folder until the commit."""

    def __init__(self, output, ranks):
        self.folder = get_datafolder(output)
        self.keys = [f"{rank:05d}-of-{ranks:05d}" for rank in range(ranks)]

    def write(self, piece):
        write_to(self.folder.fs, f"{self.folder.path}/{piece.key}.piece", json.dumps(piece).encode())

    def names(self):
        self.folder.fs.invalidate_cache()
        return self.folder.list_files(recursive=False, glob_pattern="*.piece")

    def of_all(self, mine):
        """Returns the pieces of all ranks in this rank's run, in the order of ranks. It returns none if a file is
        missing, or was cut off when a process was killed."""
        wanted = [key + ".piece" for key in self.keys]
        found = []
        if set(wanted) <= set(self.names()):
            with contextlib.suppress(FileNotFoundError, ValueError):
                for name in wanted:
                    with self.folder.open(name, "r") as file:
                        found.append(leat.Piece(*json.load(file)))
        return found if [_run_of(piece) for piece in found] == [_run_of(mine)] * len(wanted) else []

    def remove(self, names):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                self.folder.rm_file(name)

    def committed(self):
        """Returns the run that made the folder's list (FORMAT.md, 12), and the checksums of its parts by key."""
        try:
            with self.folder.open("leat-run.list", "r") as file:
                lines = [line.split() for line in file]
        except FileNotFoundError:
            return None, {}
        return lines[1][1], {line[1].rpartition(".")[0]: line[2] for line in lines if line[0] == "part"}

    def check(self, piece):
        """Checks that the dataset has exactly this part; then no piece is needed."""
        if self.committed()[1].get(piece.key) != piece.line.split()[6]:
            raise ValueError(f"{self.folder.path} is a finished dataset with another part {piece.key} than this rank "
                             "makes: choose another folder, or remove it and the executor's logging_dir")
        self.remove(self.names())


def _run_of(piece):
    return piece.line.split()[5]


class Read(PipelineStep):
    """Reads the documents of the dataset `name`, in its order; each rank about as many tokens as the others. Fields of
    the metadata: number (of the document in the dataset) and source."""

    type = "📖 - READER"
    name = "🌿 leat"

    def __init__(self, name: str | os.PathLike):
        super().__init__()
        self.dataset = os.fspath(name)
        if "://" not in self.dataset:  # ranks may run in other folders
            self.dataset = os.path.abspath(self.dataset)
        self.pickled = None
        try:
            with leat.open(name) as dataset:  # all ranks read this dataset, or fail
                self.pickled = pickle.dumps(dataset)
        except leat.Error as error:
            if error.status != "no-file":  # an earlier executor will make it
                raise

    def run(self, data: DocumentsPipeline = None, rank: int = 0, world_size: int = 1) -> DocumentsPipeline:
        yield from data or ()
        with pickle.loads(self.pickled) if self.pickled else leat.open(self.dataset) as dataset:
            first, count = [*_source.divide(dataset, world_size), *[(0, 0)] * world_size][rank]
            for number in range(first, first + count):
                place = dataset.place(number)
                document = Document(dataset.text(number), place.id or f"{leat._leat.show(self.dataset, True)}/{number}",
                                    metadata={"number": number, "source": place.path})
                self.update_doc_stats(document)
                yield document
