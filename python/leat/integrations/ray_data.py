"""ray_data.py: Ray Data writes a dataset (Datasink), and reads one (Datasource)."""
from __future__ import annotations

import functools
import os
from typing import Any, Iterable, Iterator, Sequence

from leat._lazy import need

need("ray.data", __name__, "ray[data]")

import pyarrow
import ray.data
from ray.data.block import BlockAccessor, BlockMetadata
from ray.data.datasource import ReadTask

from leat._values import read_size, shown_name, whole
from leat.dataset import Dataset, open as open_dataset
from leat.integrations import _sink, _source
from leat.pushed import Piece
from leat.run import Run


class Datasink(ray.data.Datasink):
    """Writes the documents of a ray.data.Dataset to the dataset `output`, a folder that all nodes share, or
    s3://BUCKET/FOLDER, gs:// or az://.

        sink = Datasink("corpus", "o200k_base", text="body", id="url")
        documents.write_datasink(sink)
        print(sink.dataset.info.tokens, sink.written["rejected"])

    output, tokenizer    as in leat.Run, and so are all other `options`
    nulls                "skip" leaves out rows without a text; "error" fails
    min_bytes_per_write  bytes of blocks, by their size in memory, that a task gets at least: Ray joins small blocks, as
                         a filter or a shuffle leaves them, so that a part is not tiny. More makes fewer parts, of which
                         there should be at most 10,000. None: Ray joins nothing, and writes in the tasks that read or
                         map; each of these makes a part, and holds all of its rows in memory
    threads              number of threads that encode in a task: give write_datasink() as many CPUs, by
                         ray_remote_args={"num_cpus": 4}
    memory               limit for a task's worker; None: 320 MiB more than it has when it begins

    The run begins when the sink is made, on the driver: a wrong option, or an `output` that is a finished dataset,
    fails there, before Ray does anything. After write_datasink(), `dataset` is the opened dataset, `pieces` what the
    tasks have made, and `written` their documents, tokens, text_bytes and rejected. Ray's own bar shows the progress.

    Order: parts are in the order of tasks, and that is the order of the rows if Ray's
    DataContext.get_current().execution_options.preserve_order is True. Then the same rows in the same blocks give the
    same bytes. Otherwise, Ray makes tasks of what is ready first: the documents are the same, their order is not.

    A task whose worker or node dies is tried again, as often as that happens; ray_remote_args={"max_retries": 3} bounds
    it. One that raises is not, unless DataContext.retried_map_errors and max_map_retries say so. Of several attempts at
    a part, even if all of them finish, exactly one counts, and equal rows give equal bytes. If a task fails for good,
    there is no dataset: all parts are removed. What Ray skips by DataContext.max_errored_blocks is missing in it.

    A driver that dies, or is stopped by Ctrl-C, leaves a folder that does not open. The same program begins the run
    again, from the start, and removes what is left of it. If only the commit fails, as when a server cannot be reached,
    the parts stay: `sink.run.commit(sink.pieces)` tries again, `sink.run.abort()` removes them.
    """

    run: Run | None
    dataset: Dataset | None
    pieces: list[Piece] | None

    def __init__(self, output, tokenizer="gpt2", *, nulls: str = "error",
                 min_bytes_per_write: int | str | None = 64 << 20, threads: int = 1, memory: int | str | None = None,
                 **options: Any):
        self._min_bytes = None if min_bytes_per_write is None else read_size(min_bytes_per_write)
        self._how: dict[str, Any] = dict(nulls=nulls, threads=threads,
                                         memory=None if memory is None else read_size(memory))
        self._begin = functools.partial(Run, output, tokenizer, **options)
        self.run, self.dataset, self.pieces = self._begin(), None, None

    def on_write_start(self, schema=None) -> None:
        self.dataset = self.pieces = None
        if self.run is None:  # the sink is used again
            self.run = self._begin()

    def write(self, blocks: Iterable[Any], ctx) -> Piece | None:
        tables = (BlockAccessor.for_block(block).to_arrow() for block in blocks)
        return _sink.pack(self.run, ctx.task_idx, tables, **self._how)

    def on_write_complete(self, write_result) -> None:
        self.pieces = sorted((piece for piece in write_result.write_returns if piece is not None),
                             key=lambda piece: int(piece.key))
        self.dataset = _sink.commit(self.run, self.pieces)
        self.run = None

    def on_write_failed(self, error: Exception) -> None:
        if self.run is not None and not self.pieces:
            self.run.abort()
            self.run = None

    @property
    def written(self) -> dict[str, int]:
        """The documents, tokens, text_bytes and rejected of all parts."""
        return _sink.totals(self.pieces or [])

    @property
    def min_bytes_per_write(self) -> int | None:
        return self._min_bytes

    def get_name(self) -> str:
        return "leat"


class Datasource(ray.data.Datasource):
    """Documents of the dataset `name`, which all nodes see, for ray.data.read_datasource(): a row for each.

        documents = ray.data.read_datasource(Datasource("corpus", columns=("id", "text")))

    columns       number, id, source, text, tokens, mask, as in Dataset.arrow()
    first, count  documents [first, first + count); None: to the end

    Tasks read ranges of about as many tokens each, as many as Ray asks for (override_num_blocks). With
    execution_options.preserve_order the rows come in the order of the documents.
    """

    def __init__(self, name, *, columns: Sequence[Any] = ("id", "text"), first: int = 0, count: int | None = None):
        super().__init__()
        name = os.fspath(name)
        self._name = name if "://" in name else os.path.abspath(name)
        self._dataset = open_dataset(self._name)
        self._columns = tuple(columns)
        self._schema = pyarrow.RecordBatchReader.from_stream(self._dataset.arrow(columns, first=first, count=0)).schema
        left = len(self._dataset) - first
        self._first, self._count = first, left if count is None else min(whole("count", count), left)

    def get_read_tasks(self, parallelism: int, per_task_row_limit: int | None = None,
                       data_context=None) -> list[ReadTask]:
        def task(first, count):
            read = functools.partial(_read, self._name, self._dataset.info.identity, self._columns, first, count)
            about = BlockMetadata(num_rows=count, size_bytes=self._estimate(count), exec_stats=None,
                                  input_files=[shown_name(self._name)])
            return ReadTask(read, about, self._schema, per_task_row_limit)

        return [task(*part) for part in _source.divide(self._dataset, parallelism, self._first, self._count)]

    def estimate_inmemory_data_size(self) -> int:
        return self._estimate(self._count)

    def _estimate(self, documents: int) -> int:
        of_token = {"text": 5, "tokens": self._dataset.info.token_width, "mask": 1}
        each = sum(of_token.get(name, 0) for name in self._columns) * self._dataset.info.tokens
        return documents * (each // len(self._dataset) + 16 * len(self._columns)) if documents else 0

    def get_name(self) -> str:
        return "leat"


def _read(name: str, identity: bytes, columns: tuple[Any, ...], first: int, count: int) -> Iterator[Any]:
    with open_dataset(name) as dataset:
        if dataset.info.identity != identity:
            raise RuntimeError(f"{shown_name(name)} was replaced by another dataset while it was read: read it again")
        for batch in pyarrow.RecordBatchReader.from_stream(dataset.arrow(columns, first=first, count=count)):
            yield pyarrow.Table.from_batches([batch])
