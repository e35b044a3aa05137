"""row_files.py: rows of a plan as files, for trainers that take only these. leat.export() does it, and the command
`leat export --plan`, which has read and checked its options, becomes
`python -m leat.row_files TO OUTPUT PLAN FIRST COUNT MEMORY FORCE PROGRESS JSON`; COUNT may be "".

A row holds all tokens of its pieces, also the last token of each, which is a label only: these trainers cut it off or
shift the labels themselves. The loader's rows of leat.Outputs(unshifted=True) are so; label i is token i.

Several parts are made at once: loaders deal the plan's rows as to ranks, each makes a group of rows in a thread of its
own, and the groups are written in the order of the plan. Each loader has a group here and two in its ring, so
that --memory says how large groups are. Files are read, not mapped: maps would count as memory of the process."""
from __future__ import annotations

import json
import os
import re
import sys
import time
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

from leat import _leat
from leat._lazy import need, numpy
from leat._own_file import own_file
from leat._values import choice, flag, path_of, read_size, shown, whole
from leat.import_command import DONE, FAILED, WRONG, Interrupted, Progress, catch_interrupts, counted, duration, say, \
    size_of
from leat.loader import Loader
from leat.options import IO, Outputs
from leat.plan import Plan

ExportedRows = namedtuple("ExportedRows", "output to rows tokens learned bytes")
ExportedRows.__doc__ = """What leat.export() has written of a plan: rows, their tokens, how many of these have loss as
labels, and the bytes of all files."""

FORMATS = "packed-parquet", "arrow-dataset"
PARTS = 4
GROUP_ROWS = 500
OWN_BYTES, LEAST_MEMORY = 160 << 20, 176 << 20  # of Python with pyarrow, and with groups
TOKEN_BYTES = 80  # of a token of a group, in all its forms; 60 were measured
SHARD_BYTES = 500 << 20  # datasets has files of this size
FILE_OF_FOLDER = re.compile(r"data-\d+\.arrow|dataset_info\.json|state\.json")
DAMAGE = ("checksum", "truncated", "documents", "token", "header", "section", "mismatch")


def packed_parquet(np, tokens, weights, starts, first):
    """The columns of Megatron-Bridge's packed files: the mask stands at the place that predicts a token, thus one place
    before it, and the last token of a document predicts none."""
    mask = np.zeros(len(tokens), np.int8)
    mask[:-1] = weights[1:]
    return {"input_ids": tokens, "loss_mask": mask, "seq_start_id": (starts - first).astype(np.int32)}


def arrow_dataset(np, tokens, weights, starts, first):
    """The columns that trainers of datasets take, who shift labels themselves: the label of a token is itself."""
    lengths = np.diff(starts, append=len(tokens)).astype(np.int32)
    places = np.arange(len(tokens), dtype=np.int32) - np.repeat(starts, lengths).astype(np.int32)
    return {"input_ids": tokens, "labels": np.where(weights > 0, tokens, -100).astype(np.int32),
            "position_ids": places, "seq_lengths": lengths}


COLUMNS = dict(zip(FORMATS, (packed_parquet, arrow_dataset)))


def group_of(pyarrow, batch, to, count):
    """The first `count` rows of a batch as a table, their tokens, and how many of these are learned."""
    np = numpy("leat.export()")
    lengths = np.asarray(batch.lengths[:count], np.int64)
    ends = np.cumsum(lengths)
    width, rows = np.asarray(batch.inputs).shape[1], len(lengths)
    held = np.arange(width) < lengths[:, None]
    tokens, weights = (np.asarray(values)[:rows][held] for values in (batch.inputs, batch.loss_weights))
    if ((weights != 0) & (weights != 1)).any():
        raise ValueError(f"{to} has no weights of tokens: a mask with others than 0 and 1 cannot be written")
    borders = np.asarray(batch.cu_seqlens, np.int64)[:-1]
    row, place = borders // width, borders % width
    within = (row < rows) & (place < lengths[np.minimum(row, rows - 1)])
    row, place = row[within], place[within]
    first = (ends - lengths)[row]
    weights[first + place] = 0  # no token of its own document comes before it in the row
    columns = COLUMNS[to](np, tokens, weights, first + place, first)
    counts = np.bincount(row, minlength=rows)
    arrays = {}
    for name, values in columns.items():
        each = counts if name in ("seq_start_id", "seq_lengths") else lengths
        offsets = np.concatenate(([0], np.cumsum(each))).astype(np.int32)
        arrays[name] = pyarrow.ListArray.from_arrays(offsets, values)
    return pyarrow.table(arrays), len(tokens), int(weights.sum())


class Parquet:
    """A file that is complete or not there."""

    def __init__(self, pyarrow, output):
        from pyarrow.parquet import ParquetWriter
        self._make, self._output, self._partial = ParquetWriter, output, f"{output}.partial"
        if os.path.isdir(output):
            raise IsADirectoryError(f"{output} is a folder: choose another name for the file")
        self._sink, self._writer = open(self._partial, "wb", opener=own_file), None

    def add(self, table):
        self._writer = self._writer or self._make(self._sink, table.schema, compression="zstd")
        self._writer.write_table(table, row_group_size=len(table) or 1)

    def finish(self):
        self._writer.close()
        size = self._sink.tell()
        self._sink.flush()
        os.fsync(self._sink.fileno())
        self._sink.close()
        os.replace(self._partial, self._output)
        return size

    def remove(self):
        if self._writer is not None:
            self._writer.close()
        self._sink.close()
        if os.path.exists(self._partial):
            os.remove(self._partial)


def files_of(folder):
    """The files of a folder that Folder has written. Any other file in it is an error: nothing else is removed."""
    if os.path.islink(folder) or not os.path.isdir(folder):
        raise FileExistsError(f"{folder} exists, and is no folder of rows: remove it, or choose another name")
    names = os.listdir(folder)
    for name in names:
        if not FILE_OF_FOLDER.fullmatch(name):
            raise FileExistsError(f"{folder} has another file than those of a dataset of rows, {shown(name)}: remove "
                                  "it, or choose another name")
    return [os.path.join(folder, name) for name in names]


def remove_folder(folder):
    """Removes a folder that Folder has written, if it exists."""
    if os.path.lexists(folder):
        for path in files_of(folder):
            os.remove(path)
        os.rmdir(folder)


class Folder:
    """A folder as Dataset.save_to_disk() writes it, complete or not there."""

    def __init__(self, pyarrow, output):
        self._pyarrow, self._output, self._partial = pyarrow, output, f"{output}.partial"
        self._files, self._sink, self._writer, self._bytes = [], None, None, 0
        if os.path.lexists(output):
            files_of(output)  # what cannot be replaced is refused before the work
        remove_folder(self._partial)
        os.mkdir(self._partial)

    def add(self, table):
        if self._sink is None:
            self._files.append(f"data-{len(self._files):05}.arrow")
            self._sink = open(os.path.join(self._partial, self._files[-1]), "xb", opener=own_file)
            self._writer = self._pyarrow.ipc.new_stream(self._sink, table.schema)
        self._writer.write_table(table)
        if self._sink.tell() >= SHARD_BYTES:
            self._end_file()

    def _end_file(self):
        self._writer.close()
        self._bytes += self._sink.tell()
        self._sink.flush()
        os.fsync(self._sink.fileno())
        self._sink.close()
        self._sink = None

    def finish(self):
        if self._sink is not None:
            self._end_file()
        state = {"_data_files": [{"filename": name} for name in self._files], "_fingerprint": os.urandom(8).hex(),
                 "_format_columns": None, "_format_kwargs": {}, "_format_type": None, "_output_all_columns": False,
                 "_split": None}
        for name, facts in (("dataset_info.json", {}), ("state.json", state)):
            with open(os.path.join(self._partial, name), "x", encoding="utf-8", opener=own_file) as file:
                json.dump(facts, file)
                self._bytes += file.tell()
        remove_folder(self._output)
        os.rename(self._partial, self._output)
        return self._bytes

    def remove(self):
        if self._sink is not None:
            self._sink.close()
        remove_folder(self._partial)


def shape_of_groups(memory, row_tokens, count):
    """How many rows a group has, and how many groups are made at once: as `memory` allows. A group has at least one
    row, so that what rows need beyond `memory` is used all the same."""
    held = (memory - OWN_BYTES) // (TOKEN_BYTES * row_tokens)
    parts = max(min(PARTS, held), 1)
    return max(min(GROUP_ROWS, held // parts, -(-count // parts)), 1), parts


def groups_of(plan, first, count, to, memory):
    """The rows of a plan in groups, in their order: (table, tokens, learned tokens)."""
    pyarrow = need("pyarrow", "leat.export()")
    rows, parts = shape_of_groups(memory, plan.info.max_seq_len, count)
    outputs = Outputs(("inputs", "loss_weights", "cu_seqlens"), dtype="int32", unshifted=True)
    io = IO(engine="advise", slots=2)
    loaders = [Loader(plan, rows, ranks=(part, parts), position=first, outputs=outputs, framework="numpy", io=io,
                      last="padded", restart=False, notices=False) for part in range(parts)]

    def ask(number):
        return pool.submit(lambda: group_of(pyarrow, next(loaders[number % parts]), to,
                                            min(rows, count - number * rows)))

    with ThreadPoolExecutor(parts) as pool:
        asked = -(-count // rows)
        waiting = [ask(number) for number in range(min(parts, asked))]
        for number in range(asked):
            made = waiting.pop(0).result()
            if number + parts < asked:
                waiting.append(ask(number + parts))
            yield made


def export_rows(plan, output, to, *, first=0, count=None, memory="512MiB", force=False, progress=None):
    """Writes rows of a plan: see leat.export()."""
    choice("to", to, FORMATS)
    pyarrow, output = need("pyarrow", "leat.export()"), os.fsdecode(path_of("output", output)).rstrip("/")
    memory = read_size(memory, LEAST_MEMORY)
    first, positions = whole("first", first), plan.info.positions
    if plan.info.order.startswith("documents"):
        raise ValueError("the rows of this plan are single documents, which Dataset.arrow() gives: "
                         'take order="fit" or an order of windows')
    if count is None and positions is None:
        raise ValueError("the plan has no end: say how many rows are to be written (count), or limit its epochs")
    if first > (positions if positions is not None else first):
        raise ValueError(f"the plan has {positions} rows: none is numbered {first}")
    count = whole("count", count) if count is not None else positions - first
    count = min(count, positions - first) if positions is not None else count
    if count == 0:
        raise ValueError("no rows are to be written: the plan has none from there on, or count is 0")
    if os.path.lexists(output) and not flag("force", force):
        raise FileExistsError(f"{output} exists: choose another name, or replace it (force, --force)")
    sink = Parquet(pyarrow, output) if to == "packed-parquet" else Folder(pyarrow, output)
    rows = tokens = learned = 0
    try:
        for table, more_tokens, more_learned in groups_of(plan, first, count, to, memory):
            sink.add(table)
            rows, tokens, learned = rows + len(table), tokens + more_tokens, learned + more_learned
            if progress is not None:
                progress(rows, count)
        size = sink.finish()
    except BaseException:
        sink.remove()
        raise
    return ExportedRows(output, to, rows, tokens, learned, size)


def run(to, output, plan, first, count, memory, force, progress, as_json):
    bar, began = Progress(progress, "export", lambda rows: counted(rows, "row")), time.monotonic()
    try:
        made = export_rows(Plan.load(plan), output, to, first=int(first), count=int(count) if count else None,
                           memory=memory, force=force == "1", progress=bar)
    finally:
        bar.end()
    seconds = time.monotonic() - began
    if as_json == "1":
        print(json.dumps(dict(made._asdict(), seconds=seconds)))
    else:
        print(f"{_leat.show(made.output)}: {counted(made.rows, 'row')} of {counted(made.tokens, 'token')}, "
              f"{made.learned:,} of them learned, in {size_of(made.bytes)} in {duration(seconds)}.")
    return DONE


def main():
    catch_interrupts()
    try:
        return run(*sys.argv[1:])
    except Interrupted as stopped:
        return stopped.args[0]
    except leat_error() as error:
        say(error._plain)
        return 3 if error.status in DAMAGE else FAILED
    except (ImportError, ValueError) as error:
        say(error)
        return WRONG
    except (OSError, MemoryError) as error:
        say(error or "out of memory")
        return FAILED


def leat_error():
    import leat
    return leat.Error


if __name__ == "__main__":
    sys.exit(main())
