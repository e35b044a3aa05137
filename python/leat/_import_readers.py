"""_import_readers.py: reads datasets of other tools for leat.import_dataset(), by the packages that wrote them.

Each class lists the files of a source and yields the ids of a file as bunches: an array of integers, with the places
where documents start in it. Arrow's arrays are used where they lie in the file.
"""
from __future__ import annotations

import collections
import contextlib
import json
import os

from leat._leat import Error, failure
from leat._own_file import own_file, regular_file
from leat._values import shown_name as show, whole, without_secrets

BUNCH_DOCUMENTS, BUNCH_IDS = 1024, 1 << 20  # limits of a bunch that is made of single arrays
DTYPES = {"uint8": b"B", "uint16": b"H", "uint32": b"I", "uint64": b"Q",
          "int8": b"b", "int16": b"h", "int32": b"i", "int64": b"q"}
MASKS = "labels", "assistant_masks", "completion_mask", "loss_mask"
RESTORE = "; restore it from its source"

_File = collections.namedtuple("_File", "path size modified")

# `ids` and `starts` are (address, number of numbers); `wide`: starts have 8 bytes, else 4. `done`: bytes of the file
_Bunch = collections.namedtuple("_Bunch", "ids dtype starts wide documents done held")


def _package(name, install, path):
    """Imports a module of the package that reads a source."""
    from importlib import import_module
    try:
        return import_module(name)
    except ImportError as missing:
        raise ImportError(f"reading {show(path)} needs {name.partition('.')[0]} (pip install {install}), which cannot "
                          f"be imported: {missing}") from missing


@contextlib.contextmanager
def _reading(path, *errors):
    """Turns an exception of a reader into a leat.Error that names the file."""
    try:
        yield
    except Error:
        raise
    except FileNotFoundError as error:
        why = error.strerror or without_secrets(str(error))
        raise failure("no-file", path, f"cannot open {show(path)}: {why}") from None
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError, EOFError, *errors) as error:
        text = " ".join(show(without_secrets(str(error))).split())
        raise failure("truncated", path, f"{show(path)} is cut or damaged: {text[:300]}{RESTORE}") from error


def _file_of(path):
    with _reading(path):
        with open(path, "rb", opener=regular_file) as file:
            facts = os.fstat(file.fileno())
            return _File(path, facts.st_size, facts.st_mtime_ns)


def _file_in(folder, name, index):
    """Returns the path of a file that an index names. It must lie in the folder of the index, which is not trusted."""
    if not isinstance(name, str) or os.path.isabs(name) or not name or ".." in name.split("/"):
        raise failure("header", index,
                      f"{show(index)} names a file {show(json.dumps(name)[:200])}, which is not inside its "
                      "folder")
    return _file_of(os.path.join(folder, name))


def _check_size(file, size):
    if file.size != size:
        raise failure("truncated", file.path,
                      f"{show(file.path)} has {file.size} bytes, and its index says {size}: it is cut, or "
                      f"another file{RESTORE}")


def _choose(path, columns, wanted):
    """Returns (number of the column of ids, name of a column that looks like a mask or None). `columns` are pairs
    (name, whether it can hold ids); a column without a name has ""."""
    names = [name for name, holds in columns if holds and name]
    able = [i for i, (_, holds) in enumerate(columns) if holds]
    shown = show(path)
    for best in (wanted,) if wanted else ("input_ids", "tokens"):
        found = [i for i in able if columns[i][0] == best]
        if len(found) > 1:
            raise failure("unsupported", path,
                          f"{shown}: the column \"{show(best)}\" appears twice; write a file that has it "
                          "once")
        if found:
            able = found
            break
    else:
        if wanted and any(name == wanted for name, _ in columns):
            raise failure("argument", path, f"{shown}: the column \"{show(wanted)}\" does not hold lists of integers")
        if wanted and able and not names:
            raise failure("not-found", path,
                          f"{shown} has no column \"{show(wanted)}\": its leaves have no names; leave "
                          "column out")
        if wanted:
            raise failure("not-found", path,
                          f"{shown} has no column \"{show(wanted)}\"; columns that can hold ids: "
                          f"{show(', '.join(names)[:200]) or 'none'}")
        if not able:
            raise failure("unsupported", path,
                          f"{shown}: no column holds lists of integers (list views, dictionaries, and "
                          "lists inside another column, a dict or struct, are not read): if it has "
                          "texts, pack these")
        if len(able) > 1 and not names:
            raise failure("unsupported", path,
                          f"{shown}: several leaves can hold ids, and they have no names; write items "
                          "that are a dict of leaves")
        if len(able) > 1:
            raise failure("argument", path,
                          f"{shown}: several columns can hold ids; name one of them: "
                          f"{show(', '.join(names)[:200])}")
    # Labels with one class per document are no mask.
    masks = [name for i, (name, holds) in enumerate(columns)
             if i != able[0] and name in MASKS and (holds or name != "labels")]
    return able[0], masks[-1] if masks else None


# ---- Single arrays, which become bunches

def _ids_of(value, path, number, dtype=None):
    """Converts a sample's ids to a numpy array, from an array, a tensor, a list, or bytes of this dtype."""
    import numpy as np
    if isinstance(value, (bytes, bytearray, memoryview)):
        if len(value) % np.dtype(dtype).itemsize:
            raise failure("documents", path,
                          f"{show(path)}: document {number} has {len(value)} bytes, which is not a whole "
                          f"number of {dtype}: its ids have another type, or the file is damaged")
        return np.frombuffer(value, dtype)
    ids = value.numpy() if hasattr(value, "numpy") else np.asarray(value, None if len(value) else np.int64)
    if ids.dtype.kind not in "iu":
        raise failure("record", path, f"{show(path)}: sample {number} is an array of {ids.dtype}, not of integers")
    if ids.ndim > 1:
        raise failure("unsupported", path,
                      f"{show(path)}: sample {number} is a tensor of {ids.ndim} axes, not a list of ids")
    return ids.reshape(-1)


def _bunch_of(ids, starts, done):
    """Makes a bunch of two numpy arrays."""
    return _Bunch((ids.ctypes.data, ids.size), ids.dtype.name, (starts.ctypes.data, starts.size),
                  starts.dtype.itemsize == 8, starts.size - 1, done, (ids, starts))


def _gathered(arrays, file, count):
    """Yields bunches of single arrays, of which the file has `count`. All ids of a bunch have one type."""
    import numpy as np
    held, documents, room = [], 0, BUNCH_IDS

    def bunch():
        starts = np.cumsum([0, *map(len, held)], dtype=np.uint64)
        return _bunch_of(np.concatenate(held), starts, file.size * documents // max(count, 1))

    for ids in arrays:
        if held and (ids.dtype != held[0].dtype or len(held) == BUNCH_DOCUMENTS or len(ids) > room):
            yield bunch()
            held, room = [], BUNCH_IDS
        held.append(ids)
        documents += 1
        room -= len(ids)
    if held:
        yield bunch()


# ---- Arrow

class _Arrow:
    """Arrow files (IPC streams and files, Feather 2), and folders that Hugging Face datasets saved. A row is a
    document: the column of its ids is one of lists of integers."""

    took_dtype = False

    def __init__(self, path, files, column, dtype):
        self.pa = _package("pyarrow", "pyarrow", path)
        self.files, self.column = files, column
        self.mask = None
        for file in files[:1]:
            with self._open(file) as (source, start):
                self._find_column(file.path, source, start)

    @contextlib.contextmanager
    def _open(self, file):
        """Returns a file's bytes, and where the stream starts in them: an IPC file is a stream with a frame."""
        with _reading(file.path, self.pa.ArrowException):
            if file.size == 0:
                raise ValueError("it is empty")
            with self.pa.memory_map(file.path) as source:
                head, start = source.read(64), 0
                if head.startswith(b"ARROW1\0\0"):
                    start = 8
                    while start < 64 and head[start:start + 8] == bytes(8):  # arrow-rs aligns the stream to 64 bytes
                        start += 8
                yield source, start

    def _find_column(self, path, source, start):
        """Returns the number of the column of ids in the schema."""
        types = self.pa.types
        source.seek(start)
        schema = self.pa.ipc.open_stream(source).schema

        def holds(kind):
            lists = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
            return lists and types.is_integer(kind.value_type) and getattr(kind, "list_size", 1) > 0

        number, mask = _choose(path, [(f.name, holds(f.type)) for f in schema], self.column)
        self.mask = self.mask or mask
        return number

    def bunches(self, number, skip):
        file, pa = self.files[number], self.pa
        with self._open(file) as (source, start):
            only = pa.ipc.IpcReadOptions(included_fields=[self._find_column(file.path, source, start)])
            source.seek(start)
            for batch in pa.ipc.open_stream(source, options=only):
                rows = batch.column(0)
                if skip >= len(rows):
                    skip -= len(rows)
                    continue
                yield self._bunch(file, rows.slice(skip), source.tell())
                skip = 0
            self._check_end(file, source, start > 0)

    def _bunch(self, file, rows, done):
        rows.validate()
        if self.pa.types.is_fixed_size_list(rows.type):
            from array import array
            size = rows.type.list_size
            held = array("Q", range(0, size * len(rows) + 1, size))
            ids, starts, wide = rows.flatten(), held.buffer_info(), True
        else:
            ids, held = rows.values, rows.offsets
            starts, wide = _numbers(held), held.type.bit_width == 64
        if rows.null_count or ids.null_count:
            raise failure("unsupported", file.path,
                          f"{show(file.path)}: the column of ids has nulls; write it without them")
        return _Bunch(_numbers(ids), str(ids.type), starts, wide, len(rows), done, (rows, ids, held))

    def _check_end(self, file, source, framed):
        """Checks that the stream ends with the file: pyarrow reads a stream that was cut between two batches without an
        error, and ignores bytes after the stream's end."""
        end = source.tell()
        source.seek(max(end - 8, 0))
        tail, rest = source.read(8), source.read()
        if tail != b"\xff\xff\xff\xff\0\0\0\0":
            raise failure("truncated", file.path,
                          f"{show(file.path)} is cut: the Arrow data say that more follows, and the file "
                          f"ends before it does{RESTORE}")
        footer = rest[-6:] == b"ARROW1" and int.from_bytes(rest[-10:-6], "little") == len(rest) - 10
        if not footer if framed else rest:
            raise failure("truncated", file.path,
                          f"{show(file.path)}: the Arrow data end at byte {end}, and {len(rest)} bytes "
                          "follow, which are not a footer: it is cut; or if it holds several streams, "
                          "write each to a file")


def _numbers(array):
    """Returns (address, count) of the numbers of an Arrow array, whose type is known to be primitive."""
    data = array.buffers()[1]
    width = array.type.bit_width // 8
    return (data.address + array.offset * width if data is not None and len(array) else 0), len(array)


def _saved_files(folder, state):
    """Returns the files that state.json of save_to_disk() lists."""
    index = os.path.join(folder, "state.json")
    files = state.get("_data_files")
    if state.get("_indices_data_files") or state.get("_indices_files"):
        raise failure("unsupported", index,
                      f"{show(index)}: the dataset is a selection of rows: save it after "
                      "flatten_indices()")
    with _reading(index):
        return [_file_in(folder, f["filename"], index) for f in files]


# ---- MosaicML's streaming

class _Mds:
    """Folders of MosaicML's streaming (MDS): index.json, and shards, compressed or not. A sample is a document. Columns
    other than that of the ids are read as bytes: none is unpickled."""

    def __init__(self, index, folder, facts, column, dtype):
        self.read = _package("streaming.base.format", "mosaicml-streaming", folder).reader_from_json
        self.index, self.dtype, self.took_dtype, self.mask = index, dtype, False, None
        self.files, self.shards = [], facts["shards"]
        with _reading(index):
            for number, shard in enumerate(self.shards):
                if shard["format"] != "mds":
                    raise failure("unsupported", index,
                                  f"{show(index)}: a shard has \"format\": "
                                  f"\"{show(str(shard['format'])[:40])}\", and only \"mds\" is "
                                  "imported; texts in JSON lines can be packed")
                if number == 0:
                    self._choose(folder, shard, column)
                if any(shard[key] != self.shards[0][key] for key in ("column_names", "column_encodings",
                                                                     "column_sizes")):
                    raise failure("unsupported", index,
                                  f"{show(index)}: shard {number} has columns that differ from those of "
                                  "the first one; import them apart")
                self.files.append(self._file(folder, shard))

    def _choose(self, folder, shard, column):
        names, encodings = shard["column_names"], shard["column_encodings"]
        if not len(names) == len(encodings) == len(shard["column_sizes"]):
            raise ValueError("\"column_names\", \"column_encodings\" and \"column_sizes\" differ in length")
        kinds = [encoding.partition(":")[0] for encoding in encodings]
        self.number, self.mask = _choose(folder, [(n, k in ("bytes", "ndarray")) for n, k in zip(names, kinds)], column)
        self.name = names[self.number]
        self.encodings = ["bytes"] * len(names)
        self.encodings[self.number] = encodings[self.number]
        self.took_dtype = kinds[self.number] == "bytes"
        if self.took_dtype and self.dtype is None:
            raise failure("argument", folder,
                          f"{show(folder)}: its column holds bytes, and the type of the ids in them is "
                          "unknown: give dtype")
        of = encodings[self.number].split(":")[1:]
        if of and (of[0] not in DTYPES or "," in "".join(of[1:])):
            raise failure("unsupported", folder,
                          f"{show(folder)}: its column holds arrays of {show(':'.join(of)[:40])}, not "
                          "lists of integers")

    def _file(self, folder, shard):
        """Returns the decompressed file if a reader has left one, else the compressed one."""
        raw, packed = shard["raw_data"]["basename"], shard.get("zip_data")
        if packed and not os.path.exists(os.path.join(folder, raw)):
            return _file_in(folder, packed["basename"], self.index)
        return _file_in(folder, raw, self.index)

    def bunches(self, number, skip):
        import tempfile
        shard, file = self.shards[number], self.files[number]
        with contextlib.ExitStack() as stack:
            path, size = file.path, shard["raw_data"]["bytes"]
            if shard.get("zip_data") and path.endswith(shard["zip_data"]["basename"]):
                # the reader needs a file
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="leat-import-"))
                unpack = _package("streaming.base.compression", "mosaicml-streaming", path).decompress
                path = os.path.join(folder, os.path.basename(shard["raw_data"]["basename"]))
                with _reading(file.path, Exception), open(file.path, "rb") as packed, \
                        open(path, "wb", opener=own_file) as plain:
                    plain.write(unpack(shard["compression"], packed.read()))
            _check_size(file._replace(size=os.path.getsize(path)), size)
            with open(path, "rb") as plain:
                samples = int.from_bytes(plain.read(4), "little")
            if samples != shard["samples"]:
                raise failure("mismatch", file.path,
                              f"{show(file.path)} has {samples} samples, and its index says "
                              f"{shard['samples']}: they come from different runs, or the file is damaged")
            alone = dict(shard, column_encodings=self.encodings,
                         raw_data=dict(shard["raw_data"], basename=os.path.basename(path)))
            with _reading(file.path):
                reader = self.read(os.path.dirname(path), None, alone)
            yield from _gathered(self._samples(reader, file, skip, samples), file, samples)

    def _samples(self, reader, file, skip, samples):
        for i in range(skip, samples):
            with _reading(file.path):
                value = reader.get_item(i)[self.name]
            yield _ids_of(value, file.path, i, self.dtype)


# ---- litdata

class _Litdata:
    """Folders that litdata's optimize() writes: index.json, and chunks. An item is a document: ids and nothing else
    (TokensLoader), or a tensor, array or list in a dict. Other leaves are read as bytes: none is unpickled."""

    took_dtype = False

    def __init__(self, index, folder, facts, column, dtype):
        self.index, self.mask, self.files, self.chunks = index, None, [], facts["chunks"]
        if not self.chunks:  # The index of an empty folder does not describe its items.
            return
        self.package = _package("litdata", "litdata", folder)
        with _reading(index):
            config = self.config = facts["config"]
            if config.get("encryption") is not None:
                raise failure("unsupported", index,
                              f"{show(index)}: the dataset is encrypted, which leat does not read")
            self.tokens = config.get("item_loader") == "TokensLoader"
            self.whole = config.get("compression") if config.get("compression_level") is None else None
            self._choose(folder, column)
            for chunk in self.chunks:
                self.files.append(_file_in(folder, chunk["filename"], index))
                for number in "chunk_size", "chunk_bytes":
                    whole(number, chunk[number])

    def _choose(self, folder, column):
        """Finds the leaf of the ids. Returns its number and its key in a dict of leaves."""
        formats, keys = self.config["data_format"], self._keys()
        types = self.config.get("types")
        if not isinstance(formats, list) or not all(isinstance(f, str) for f in formats):
            raise ValueError("\"data_format\" is not a list of strings")

        def holds(kind, key):
            if kind == "json":  # a list of Python, if its key says that it has ids
                of = types.get(key) if isinstance(types, dict) else None
                return key != "" and (not isinstance(of, dict) or of == {"type": "list", "value": "int"})
            name, _, number = kind.partition(":")
            return name in ("tensor", "numpy") or (name.startswith("no_header_") and self._dtype(name, number))

        names = keys if keys and len(keys) == len(formats) else [""] * len(formats)
        self.number, self.mask = _choose(folder, [(n, holds(f, n)) for n, f in zip(names, formats)], column)
        self.key = names[self.number]
        if self.tokens and (len(formats) > 1 or not formats[0].startswith("no_header_")):
            raise ValueError("\"data_format\" is not one list of ids, as TokensLoader has it")
        self.formats = ["bytes"] * len(formats)
        self.formats[self.number] = formats[self.number]

    @staticmethod
    def _dtype(name, number):
        """Returns the name of the integer type with this number in litdata, or None."""
        from litdata.constants import _NUMPY_DTYPES_MAPPING, _TORCH_DTYPES_MAPPING
        types = {"no_header_tensor": _TORCH_DTYPES_MAPPING, "no_header_numpy": _NUMPY_DTYPES_MAPPING}.get(name, {})
        found = str(types.get(int(number) if number.isdigit() else None)).removeprefix("torch.")
        return found if found in DTYPES else None

    def _keys(self):
        """Returns the keys that data_spec lists, or None if items are not dicts. data_spec is JSON in a string:
        [1, {"type": "builtins.dict", "context": "[\\"input_ids\\"]"}]."""
        spec = json.loads(self.config.get("data_spec") or "null")
        if not isinstance(spec, list) or len(spec) != 2 or spec[1].get("type") != "builtins.dict":
            return None
        return json.loads(spec[1]["context"])

    def bunches(self, number, skip):
        import tempfile
        chunk, file = self.chunks[number], self.files[number]
        with contextlib.ExitStack() as stack:
            path = file.path
            if self.whole:
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="leat-import-"))
                path = os.path.join(folder, "chunk.bin")
                from litdata.streaming.compression import _COMPRESSORS
                if self.whole not in _COMPRESSORS:
                    raise failure("unsupported", file.path,
                                  f"{show(file.path)} is compressed by {show(self.whole)}, which "
                                  "litdata cannot find (pip install zstd)")
                with _reading(file.path, Exception):
                    _COMPRESSORS[self.whole].decompress_file(file.path, path)
            _check_size(file._replace(size=os.path.getsize(path)), chunk["chunk_bytes"])
            if self.tokens:
                yield self._tokens(path, file, chunk["chunk_size"], skip)
            else:
                items = self._items(path, file, number, skip)
                yield from _gathered(items, file, chunk["chunk_size"])

    def _tokens(self, path, file, count, skip):
        """Reads a chunk, which has the number of its items, their places, and their ids. litdata's own loader gives
        blocks of one length instead of items."""
        import numpy as np
        dtype = np.dtype(self._dtype(*self.formats[0].split(":")))
        data = np.fromfile(path, np.uint8)
        first = 8 + 4 * count
        places = data[:first].view(np.uint32).astype(np.int64) if data.size >= first else np.zeros(1, np.int64)
        if places[0] != count or places[-1] != data.size or places[1] != first or np.any(np.diff(places[1:]) < 0):
            raise failure("mismatch", file.path,
                          f"{show(file.path)}: the places of its items are not those of {count} items, as "
                          f"its index says: they come from different runs, or the file is damaged")
        if np.any((places[1:] - first) % dtype.itemsize):
            raise failure("documents", file.path,
                          f"{show(file.path)}: an item is not a whole number of {dtype.name}: its ids "
                          "have another type, or the file is damaged")
        starts = ((places[1 + skip:] - first) // dtype.itemsize).astype(np.uint64)
        return _bunch_of(data[first:].view(dtype), starts, file.size)

    def _items(self, path, file, number, skip):
        from litdata.streaming.item_loader import PyTreeLoader
        from litdata.streaming.serializers import _get_serializers
        from litdata.utilities._pytree import treespec_loads
        with _reading(file.path):
            loader = PyTreeLoader()
            spec = self.config.get("data_spec")
            loader.setup(dict(self.config, data_format=self.formats, data_spec=spec and treespec_loads(spec)),
                         self.chunks, _get_serializers(None))
        for i in range(skip, self.chunks[number]["chunk_size"]):
            with _reading(file.path, Exception):
                item = loader.load_item_from_chunk(i, number, path, 0, os.path.getsize(path))
                value = self._leaf(item)
            yield _ids_of(value, file.path, i)

    def _leaf(self, item):
        if self.key != "":
            return item[self.key]
        return item[self.number] if isinstance(item, (list, tuple)) and len(self.formats) > 1 else item


# ---- What a path holds

def _json_of(folder, name):
    """Returns (path, content) of a JSON file, given by path or folder. Content is None if the file is missing."""
    path = folder if os.path.basename(folder) == name else os.path.join(folder, name)
    if not os.path.isfile(path):
        return path, None
    with _reading(path), open(path, encoding="utf-8") as file:
        facts = json.load(file)
        if not isinstance(facts, dict):
            raise ValueError("it is not a JSON object")
        return path, facts


def open_source(path, column, dtype):
    path = os.fsdecode(path)
    index, facts = _json_of(path, "index.json")
    for kind, key in ((_Mds, "shards"), (_Litdata, "chunks")):
        if facts is not None and isinstance(facts.get(key), list):
            return kind(index, os.path.dirname(index), facts, column, dtype)
    if os.path.isdir(path):
        _, state = _json_of(path, "state.json")
        if state is not None:
            return _Arrow(path, _saved_files(path, state), column, dtype)
        if os.path.isfile(os.path.join(path, "dataset_dict.json")):
            raise failure("unsupported", path,
                          f"{show(path)} holds several splits of a dataset: name the folder of one")
    else:
        file = _file_of(path)
        with open(path, "rb") as opened:
            head = opened.read(8)
        if head == b"ARROW1\0\0" or (len(head) == 8 and head[:4] == b"\xff\xff\xff\xff"):
            return _Arrow(path, [file], column, dtype)
        if path.endswith((".zst", ".zstd", ".gz", ".bz2", ".xz", ".lz4")):
            raise failure("unsupported", path,
                          f"{show(path)} is compressed as a whole, which is not imported: decompress it "
                          "first; compressed texts are packed as they are")
    raise failure("unsupported", path,
                  f"{show(path)} is not a folder of MosaicML's streaming or litdata (with index.json), "
                  "nor an Arrow file (of version 0.15 or later) or a folder of Hugging Face datasets; "
                  "texts are packed, and files of Megatron and others need no import")
