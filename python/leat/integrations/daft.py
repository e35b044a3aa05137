"""daft.py: Daft writes a dataset (Sink), and reads one (read())."""
from __future__ import annotations

import asyncio
import functools
import os
from typing import Any, AsyncIterator, Iterable, Iterator

from leat._lazy import need

need("daft", __name__, "daft")

import daft
import pyarrow
import pyarrow.compute
from daft.io.sink import DataSink, WriteResult
from daft.io.source import DataSource, DataSourceTask
from daft.recordbatch import MicroPartition, RecordBatch

from leat._values import read_size
from leat.dataset import ARROW_COLUMNS, Dataset, open as open_dataset
from leat.integrations import _sink, _source
from leat.pushed import Piece
from leat.run import Run

COUNTS = ("documents", "tokens", "text_bytes", "rejected", "parts")


class Sink(DataSink):
    """Writes the documents of a daft.DataFrame to the dataset `output`, a folder that all nodes share, or
    s3://BUCKET/FOLDER, gs:// or az://.

        with Sink("corpus", "o200k_base", text="body", id="url") as sink:
            documents.write_sink(sink).show()
        print(sink.dataset.info.tokens)

    output, tokenizer  as in leat.Run, and so are all other `options`
    text, id           the columns that have them; id=None: no ids
    order              a column whose values give the order of the documents; None: any order
    nulls              "skip" leaves out rows without a text; "error" fails
    threads            number of threads that encode; None: on the native runner, which writes one thing at a time, as
                       many as this process has CPUs; on Ray, where a node runs a task on each CPU, 1
    memory             limit for a process; None: as leat.pack() on the native runner; on Ray, and with `order`,
                       320 MiB more than the process has when a part begins

    write_sink() returns a row with documents, tokens, text_bytes, rejected and parts. Then `dataset` is the opened
    dataset, and `pieces` what the parts are made of.

    Order: Daft keeps none when it writes, so without `order` the documents are the same each time, and their order is
    not. With `order`, parts are put in the order of their first values. Values must ascend within a part, and no two
    parts may share any: this is so after documents.sort(column), without descending, and without into_batches() after
    it; and where a column of numbers was collected before, so that it ascends in each morsel. Otherwise, nothing is
    written, and the error says what to do.

    Parts: without `order`, the native runner makes one. Otherwise, a part is a morsel: a row group of a Parquet file,
    a partition of a sort() or distinct(). Each part is two files, and takes some milliseconds: where row groups have
    less than some megabytes, documents.into_batches(100_000) joins them, if no order is asked for.

    Daft does not say when a query failed. The `with` block removes what was written if an exception leaves it, and so
    does abort(). Without these, and after the driver was killed, the folder does not open as a dataset; the same
    program begins the run again, from the start, and removes what is left of it. On Ray, a worker that dies is tried
    again; of several attempts at a part exactly one counts, even if all of them finish. If only the commit fails, as
    when a server cannot be reached, the parts stay: `sink.run.commit(sink.pieces)` tries again.
    """

    run: Any = None  # the leat.Run, from the start of a query to its commit
    dataset: Dataset | None = None
    pieces: list[Piece] | None = None
    _packer: Any = None  # the packer of the one part that the native runner makes
    _here: bool = True  # True in the process that made the sink, where the native runner calls it, one call at a time

    def __init__(self, output, tokenizer="gpt2", *, text: str = "text", id: str | None = "id", order: str | None = None,
                 nulls: str = "error", threads: int | None = None,
                 memory: int | str | None = None, **options: Any):
        self._begin = functools.partial(Run, output, tokenizer, text=text, id=id, **options)
        self._order, self._nulls, self._threads = order, nulls, threads
        self._memory = None if memory is None else read_size(memory)

    def name(self) -> str:
        return "leat"

    def schema(self) -> daft.Schema:
        return daft.Schema.from_pydict({name: daft.DataType.int64() for name in COUNTS})

    def start(self) -> None:
        self.abort()  # removes the remains of a failed query
        self.run, self.dataset, self.pieces = self._begin(), None, None

    def write(self, micropartitions: Iterable[MicroPartition]) -> Iterator[WriteResult[Any]]:
        """Packs tables. Yields (piece, first value, last value), or None if the rows went to the one part."""
        for part in micropartitions:
            table = part.to_arrow()
            if table.num_rows == 0:
                continue
            threads = self._threads or (len(os.sched_getaffinity(0)) if self._here else 1)
            result = None
            if self._here and self._order is None:
                if self._packer is None:
                    self._packer = self.run.part("all", threads, memory=self._memory)
                self._packer.extend(table, nulls=self._nulls)
            else:
                ends = (None, None) if self._order is None else _ends(table, self._order)
                result = (_sink.pack(self.run, os.urandom(8).hex(), [table], threads=threads, memory=self._memory,
                                     nulls=self._nulls), *ends)
            yield WriteResult(result, table.nbytes, table.num_rows)

    def finalize(self, write_results: list[WriteResult[Any]]) -> MicroPartition:
        if self._packer is not None:
            self.pieces, self._packer = [self._packer.finish()], None
        else:
            parts = [written.result for written in write_results]
            if self._order is not None:
                parts.sort(key=lambda part: part[1:])
                self._check_ranges(parts)
            self.pieces = [piece for piece, _, _ in parts]
        self.dataset = _sink.commit(self.run, self.pieces)
        self.run = None
        counts = dict(_sink.totals(self.pieces), parts=len(self.pieces))
        return MicroPartition.from_pydict({name: [counts[name]] for name in COUNTS})

    def _check_ranges(self, parts):
        for (_, _, last), (_, first, _) in zip(parts, parts[1:]):
            if not last < first:
                self.abort()
                raise ValueError(f"order={self._order!r}: one part ends with {last!r}, and another one begins with "
                                 f"{first!r}, so parts cannot be put in order: sort by {self._order} last, with "
                                 f".sort({self._order!r}).write_sink(...)")

    def abort(self) -> None:
        """Removes what a failed query has written. Does nothing after a successful query."""
        packer, run, self._packer, self.run = self._packer, self.run, None, None
        if packer is not None:
            packer.abandon()
        if run is not None:
            run.abort()

    def __enter__(self) -> Sink:
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None and self.pieces is None:
            self.abort()

    def __getstate__(self):
        return dict(self.__dict__, _begin=None, _packer=None, _here=False, dataset=None, pieces=None)


def _ends(table, column) -> tuple[Any, Any]:
    """Returns the first and the last value of a column that must ascend."""
    values = table[column].combine_chunks()
    if values.null_count:
        raise ValueError(f"order={column!r}: a row has no {column}")
    if not pyarrow.compute.all(pyarrow.compute.less_equal(values[:-1], values[1:]), min_count=0).as_py():
        raise ValueError(f"order={column!r}: the values do not ascend where Daft has rows together: sort by {column} "
                         f"last, with .sort({column!r}).write_sink(...)")
    return values[0].as_py(), values[-1].as_py()


def read(name, columns=ARROW_COLUMNS, *, tasks: int | None = None) -> daft.DataFrame:
    """The documents of a dataset as a daft.DataFrame, which reads them when it is executed, and only those columns that
    it needs.

        read("corpus").where(daft.col("source") == "wiki.jsonl").select("id", "tokens")

    name     as in leat.open(), or an open Dataset; all nodes must be able to open it
    columns  of number, id, source, text, tokens, mask, as Dataset.arrow() has them
    tasks    how many read; None: one for about 16 million tokens
    """
    dataset = name if isinstance(name, Dataset) else open_dataset(name)
    return _Source(dataset, tuple(columns), tasks).read()


class _Documents:
    """Columns of a range of documents, for a source and its tasks."""

    def __init__(self, dataset, columns, tasks=None, first=0, count=None):
        self._dataset, self._columns, self._tasks = dataset, columns, tasks
        self._arrow = functools.partial(dataset.arrow, columns, first=first, count=count)
        # computed here, because an error in `schema` would get lost in Daft
        self._schema = daft.Schema.from_pyarrow_schema(pyarrow.schema(self._arrow()))

    @property
    def schema(self) -> daft.Schema:
        return self._schema


class _Source(_Documents, DataSource):
    name = "leat"

    async def get_tasks(self, pushdowns) -> AsyncIterator[_Task]:
        wanted = self._columns
        if pushdowns.columns is not None:
            needed = {*pushdowns.columns, *pushdowns.filter_required_column_names()}
            wanted = tuple(name for name in wanted if name in needed)
        for first, count in _source.divide(self._dataset, self._tasks):
            yield _Task(self._dataset, wanted or self._columns[:1], None, first, count)


class _Task(_Documents, DataSourceTask):
    async def read(self) -> AsyncIterator[RecordBatch]:
        batches = iter(pyarrow.RecordBatchReader.from_stream(self._arrow()))
        while (batch := await asyncio.to_thread(next, batches, None)) is not None:  # all tasks share one event loop
            yield RecordBatch.from_arrow_record_batches([batch], batch.schema)
