"""spark.py: leat as a data source of Spark 4: df.write.format("leat") and spark.read.format("leat").

Spark pickles the classes here by reference: the package must be importable on its executors. A write is a leat.Run
that begins on the driver just before the first task starts. A task packs its partition as the part of its number, with
no Python object for a row, and sends a Piece as its message; the driver commits the messages in the order of partitions.
Tasks make no folder, so that one which outlives its job can leave nothing: its run is no more.
"""
from __future__ import annotations

import pickle
from typing import Any, Iterator, Sequence

import pyarrow
from pyspark import TaskContext
from pyspark.sql.datasource import (DataSource, DataSourceArrowWriter, DataSourceReader, InputPartition,
                                    WriterCommitMessage)
from pyspark.sql.pandas.types import to_arrow_schema

from leat._leat import Error
from leat.integrations import _sink
from leat.run import Run

# what Spark itself says in other words
_INSTEAD = {"force": 'mode("overwrite")', "append": 'mode("append") with option("extend", "true")'}


def register(session) -> None:
    """Makes the format "leat" known to a SparkSession.

        df.write.format("leat").option("tokenizer", "gpt2").option("text", "body").mode("append").save("corpus")

    Options of a write are those of leat.Run by their names, as strings (without regard to capitals, "none" for None),
    but for force and append, which are modes of Spark, and

    extend       "true": mode("append") adds to a dataset that exists, as a new list of parts with a new identity
    nulls        "skip" leaves out rows without a text; "error"
    allow_empty  "true": a table without rows becomes a dataset without documents
    memory       of a task's process, at most; else 320 MiB more than it has when it begins

    The mode must be "append" (the dataset does not exist yet, unless `extend`) or "overwrite" (the old dataset stays
    readable until the new one is whole): Spark refuses all others for data sources in Python. A task encodes with
    spark.task.cpus threads. All columns of `df` travel to its Python worker: select those that are needed.
    """
    session.dataSource.register(Source)


class Source(DataSource):
    """The format "leat"; see register()."""

    @classmethod
    def name(cls) -> str:
        return "leat"

    def writer(self, schema, overwrite: bool) -> DataSourceArrowWriter:
        given = dict(self.options)
        path = _path(given, "save")
        for name, instead in _INSTEAD.items():
            if name in given:
                raise TypeError(f"option {name!r} is {instead} in Spark")
        options = _sink.read_options(given, {"extend": _sink.flag, "nulls": str, "allow_empty": _sink.flag})
        how = {name: options.pop(name, default) for name, default in
               (("memory", None), ("nulls", "error"), ("allow_empty", False))}
        extend = options.pop("extend", False)
        if extend and overwrite:
            raise TypeError('option "extend" belongs to mode("append"), not to mode("overwrite")')
        _sink.check_columns(to_arrow_schema(schema).empty_table(), **options)
        if extend:
            options["append"] = True
        try:
            run = Run(path, force=overwrite, **options)
        except Error as error:
            if error.status != "exists":
                raise
            raise FileExistsError(f'{error}; in Spark, mode("overwrite") replaces a dataset, and '
                                  'option("extend", "true") appends to it') from None
        return Writer(run, **how)


def _path(options: dict[str, Any], method: str) -> str:
    """Takes the path of an input or output out of the options."""
    path = options.pop("path", None)
    if not path:
        raise ValueError(f"no path: give one to {method}()")
    return path.removeprefix("file://")


# ---- Writing ----

class Message(WriterCommitMessage):
    """What a task has made; None: it had no rows."""

    def __init__(self, piece):
        self.piece = piece


class Writer(DataSourceArrowWriter):
    """A run, and how its tasks pack. The run is opened where it is used, not where the writer is unpickled: Spark shows
    an error from there without its sentence."""

    def __init__(self, run, *, memory, nulls: str, allow_empty: bool):
        self._run = pickle.dumps(run)
        self._memory, self._nulls, self._allow_empty = memory, nulls, allow_empty

    def write(self, iterator: Iterator[pyarrow.RecordBatch]) -> Message:
        task = TaskContext.get()
        return Message(_sink.pack(pickle.loads(self._run), task.partitionId(), iterator, threads=task.cpus(),
                                  memory=self._memory, nulls=self._nulls))

    def commit(self, messages: Sequence[Message]) -> None:
        _sink.commit(pickle.loads(self._run), [message.piece for message in messages], allow_empty=self._allow_empty)

    def abort(self, messages: Sequence[Message | None]) -> None:
        try:
            run = pickle.loads(self._run)
        except Error as error:
            if error.status == "no-file":  # a commit without documents has removed it
                return
            raise
        run.abort()
