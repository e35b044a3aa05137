"""cat_command.py: the work of `leat cat --arrow` and `--parquet`. The command, which has read and checked its options,
becomes `python -m leat.cat_command FORMAT FILE COLUMNS FIRST LAST NAME`: documents [FIRST, LAST); COLUMNS may be "".
FILE is complete, or it is not there."""
from __future__ import annotations

import os
import sys

import leat
from leat._lazy import need
from leat._own_file import own_file
from leat.dataset import ARROW_COLUMNS
from leat.import_command import DONE, FAILED, WRONG, Interrupted, catch_interrupts, say

DAMAGED = 3  # enum cli_exit
DAMAGE = ("checksum", "truncated", "documents", "token", "header", "section", "mismatch")  # statuses that mean damage


def write(format, sink, documents):
    """Writes documents to a file of pyarrow, a batch at a time."""
    pyarrow = need("pyarrow", "leat cat --" + format)
    with pyarrow.RecordBatchReader.from_stream(documents) as reader:
        if format == "parquet":
            from pyarrow.parquet import ParquetWriter
            writer = ParquetWriter(sink, reader.schema)
        else:
            make = pyarrow.ipc.new_stream if sink is sys.stdout.buffer else pyarrow.ipc.new_file
            writer = make(sink, reader.schema)
        with writer:
            for batch in reader:
                writer.write_batch(batch)


def write_file(format, file, documents):
    """Writes the file under another name until it is complete."""
    if os.path.lexists(file):
        raise FileExistsError(f"{file} exists: choose another name, or remove it")
    partial = f"{file}.partial.{os.getpid()}"
    try:
        with open(partial, "xb", opener=own_file) as sink:
            write(format, sink, documents)
            sink.flush()
            os.fsync(sink.fileno())
        os.link(partial, file)  # fails if the file exists by now
    finally:
        if os.path.exists(partial):
            os.remove(partial)


def run(format, file, columns, first, last, name):
    with leat.open(name) as dataset:
        names = columns.split(",") if columns else [
            column for column in ARROW_COLUMNS if column != "mask" or dataset.info.stores_mask]
        documents, end = len(dataset), min(int(last), len(dataset))
        if int(first) > end or (int(last) != 2**64 - 1 and int(last) > documents):
            say(f"{name} has {documents} documents, numbered from 0: {first}:{last} reaches past the end")
            return FAILED
        table = dataset.arrow(names, first=int(first), count=end - int(first))
        try:
            if file == "-":
                write(format, sys.stdout.buffer, table)
                sys.stdout.flush()
            else:
                write_file(format, file, table)
        except OSError:  # pyarrow turns every error of a stream into OSError, also damage
            dataset.verify()
            raise
    return DONE


def main():
    catch_interrupts()
    try:
        return run(*sys.argv[1:])
    except Interrupted as stopped:
        return stopped.args[0]
    except leat.Error as error:
        say(error._plain)
        return DAMAGED if error.status in DAMAGE else FAILED
    except (ImportError, ValueError) as error:
        say(error)
        return WRONG
    except (OSError, MemoryError) as error:
        say(error or "out of memory")
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
