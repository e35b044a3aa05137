"""spark.py: leat as a data source of Spark 4: df.write.format("leat") and spark.read.format("leat").

Spark pickles the classes here by reference: the package must be importable on its executors. A write is a leat.Run
that begins on the driver just before the first task starts. A task packs its partition as the part of its number, with
no Python object for a row, and sends a Piece as its message; the driver commits the messages in the order of
partitions. Tasks make no folder, so that one which outlives its job can leave nothing: its run is no more.
"""
from __future__ import annotations

import os
import pickle
from typing import Any, Iterator, Sequence

from leat._lazy import need

need("pyspark.sql", __name__, "pyspark[sql]")

import pyarrow
from pyspark import TaskContext
from pyspark.sql.datasource import (DataSource, DataSourceArrowWriter, DataSourceReader, InputPartition,
                                    WriterCommitMessage)
from pyspark.sql.pandas.types import to_arrow_schema

from leat._leat import Error
from leat._values import choice
from leat.dataset import Dataset, open as open_dataset
from leat.integrations import _sink
from leat.integrations._source import divide
from leat.run import Run

# options that Spark has under other names
_INSTEAD = {"force": 'mode("overwrite")', "append": 'mode("append") with option("extend", "true")'}


def register(session) -> None:
    """Makes the format "leat" known to a SparkSession, for

        df.write.format("leat").option("tokenizer", "gpt2").option("text", "body").mode("append").save("corpus")
        spark.read.format("leat").load("corpus")

    The mode of a write must be "append" (the dataset must not exist, unless `extend` is given) or "overwrite" (the old
    dataset stays readable until the new one is whole): Spark refuses all others for data sources in Python. Options are
    strings, in capitals or not; they are those of leat.Run, "none" for None, keep with one condition per line, without
    force and append, which are modes of Spark, and

    extend       "true": mode("append") adds to a dataset that exists, as a new list of parts with a new identity
    nulls        "skip" leaves out rows without a text; "error"
    memory       limit for a task's process; else 320 MiB more than it has when it begins

    The documents have the order of rows in `df`. A task encodes with spark.task.cpus threads. All columns of `df`
    travel to its Python worker: select those that are needed.

    Reading gives the columns of Dataset.arrow(), mask only where one is stored. As Spark has no unsigned numbers,
    tokens are array<int>, and mask array<smallint>. Of .schema("id string, text string") no other columns are read.

    columns      "id,text": the same, without their types
    partitions   how many tasks read, about as many tokens each; else 16 Mi tokens each
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
        options = _sink.read_options(given, {"extend": _sink.flag, "nulls": str})
        how = {name: options.pop(name, default) for name, default in
               (("memory", None), ("nulls", "error"))}
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

    def _reading(self) -> tuple[Dataset, dict[str, Any]]:
        given = dict(self.options)
        path = _path(given, "load")
        return open_dataset(path), _sink.read_named(given, {"columns": _columns, "partitions": int})

    def schema(self) -> str:
        dataset, options = self._reading()
        return ", ".join(f"{name} {_TYPES[name]}" for name in options.get("columns", _TYPES)
                         if name != "mask" or dataset.info.stores_mask or "columns" in options)

    def reader(self, schema) -> DataSourceReader:
        dataset, options = self._reading()
        for field in schema:
            if field.dataType.simpleString() != _TYPES.get(field.name):
                raise TypeError(f"no column {field.name} {field.dataType.simpleString()}; the columns are "
                                + ", ".join(f"{name} {kind}" for name, kind in _TYPES.items()))
        return Reader(dataset, schema, divide(dataset, options.get("partitions")))


# Spark's types of the columns that Dataset.arrow() has
_TYPES = {"number": "bigint", "id": "string", "source": "string", "tokens": "array<int>", "text": "string",
          "mask": "array<smallint>"}


def _columns(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    for name in names:
        choice("columns", name, _TYPES)
    return names


def _path(options: dict[str, Any], method: str) -> str:
    """Takes the path of an input or output out of the options: one that means the same in tasks, in other folders."""
    path = options.pop("path", None)
    if not path:
        raise ValueError(f"no path: give one to {method}()")
    path = path.removeprefix("file://")
    return path if "://" in path or path.startswith("@") else os.path.abspath(path)


# ---- Writing ----

class Message(WriterCommitMessage):
    """The message of a task: the piece that it has made, or None if it had no rows."""

    def __init__(self, piece):
        self.piece = piece


class Writer(DataSourceArrowWriter):
    """A run, and how its tasks pack. The run is opened where it is used, not where the writer is unpickled: Spark shows
    an error from there without its sentence."""

    def __init__(self, run, *, memory, nulls: str):
        self._run = pickle.dumps(run)
        self._memory, self._nulls = memory, nulls

    def write(self, iterator: Iterator[pyarrow.RecordBatch]) -> Message:
        task = TaskContext.get()
        return Message(_sink.pack(pickle.loads(self._run), task.partitionId(), iterator, threads=task.cpus(),
                                  memory=self._memory, nulls=self._nulls))

    def commit(self, messages: Sequence[Message]) -> None:
        _sink.commit(pickle.loads(self._run), [message.piece for message in messages])

    def abort(self, messages: Sequence[Message | None]) -> None:
        try:
            run = pickle.loads(self._run)
        except Error as error:
            if error.status in ("no-file", "state"):  # a commit without documents, or another run, has removed it
                return
            raise
        run.abort()


# ---- Reading ----

class Reader(DataSourceReader):
    """Documents of a dataset, a range for each partition."""

    def __init__(self, dataset: Dataset, schema, ranges: list[tuple[int, int]]):
        self._dataset, self._schema, self._ranges = pickle.dumps(dataset), schema, ranges

    def partitions(self) -> list[InputPartition]:
        return [InputPartition(one) for one in self._ranges]

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        if partition.value is None:  # what Spark makes of no partitions
            return
        first, count = partition.value
        wanted = to_arrow_schema(self._schema)
        rows = pickle.loads(self._dataset).arrow(self._schema.fieldNames(), first=first, count=count)
        for batch in pyarrow.RecordBatchReader.from_stream(rows):
            yield batch.cast(wanted)
