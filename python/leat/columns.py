"""columns.py: leat.attach adds values beside tokens or documents to a finished dataset."""
from __future__ import annotations

import contextlib
import itertools
import os
import tempfile

from leat import _leat
from leat._lazy import need, numpy
from leat._values import choice, flag, shown, whole
from leat.dataset import Dataset

AT_ONCE = 1 << 16  # entries that are written at once

# {dtype of numpy: type of column.h}
_NUMBERS = {"bool": "u8", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "int8": "i8",
            "int16": "i16", "int32": "i32", "int64": "i64", "float16": "f16", "bfloat16": "bf16", "float32": "f32",
            "float64": "f64"}


def attach(dataset, column, type, values, *, at="token", part=None,  # noqa: A002 (as in leat attach --column)
           parts=None, places=None, default=None, force=False):
    """Adds a column, values beside each token or document, to a finished dataset. Its tokens are neither copied nor
    changed, and its identity and the states of runs stay. After a kill at any time the column is there and complete, or
    it is not there.

        leat.attach("corpus", "score", "f32", scores, at="document")
        leat.attach("corpus", "teacher_ids", "u32x8", (teacher(batch) for batch in batches))
        leat.open("corpus").column("score")

    dataset  its name, or an open leat.Dataset; one dataset of leat's own on this machine, not a list
    column   the name of the column: letters, digits, _ and -
    type     u8, u16, u32, i32, i64, f16, bf16 or f32, and x with the number of values per entry: "f32", "u32x8"; per
             document also category, for texts, of which at most 65536 differ
    values   an array [n, K], or [n] for one value per entry; or an iterable of such arrays, which need not fit in
             memory together: n entries in all, one per token (with begin and end tokens) or document, in their order.
             numpy's arrays, and what numpy.asarray() takes; texts for a category
    at       "token" or "document": what has an entry
    part     the number of a part of the dataset, from 0, and the number of parts: attaches the values of the documents
    parts    that attach_range() names. attach_commit() makes the column of the parts of all processes
    places   the number of the token or document of each entry of `values`, in any order, as a loader's output places
             says it: an array of the shape of `values` without its K, or an iterable with one for each of its arrays.
             Entries with -1 are left out; of several for one token, the last stays. They are put in order in a
             temporary file beside the dataset, of the column's size, and a byte of memory for each token
    default  with places: each number of the entries that are not given; None: all must be given
    force    replaces a column of this name

    Values are stored exactly, but floats are rounded to the nearest of a narrower type. Raises leat.Error, and adds
    nothing, for a wrong number of entries, or a value that the type does not hold, such as NaN for an integer.
    """
    np = numpy("leat.attach()")
    number, width = _leat.column_type(_text("type", type))
    place = ("token", "document").index(choice("at", at, ("token", "document")))
    if (part is None) != (parts is None):
        raise TypeError("part and parts must be given together")
    if parts is not None and places is not None:
        raise TypeError("places cannot go with part: give the values of a part in the order of its tokens")
    share = (0, 0) if parts is None else (whole("part", part), whole("parts", parts, 1))
    with _opened(dataset) as dataset:
        writer = _leat.column_writer(dataset._native, _text("column", column), number, width, place,
                                     int(flag("force", force)), *share)
        try:
            add = _Texts(np, writer, width) if number == _leat.COLUMN_TYPES["category"] else _Numbers(np, writer, width)
            if places is not None:
                entries = dataset.info.tokens if at == "token" else len(dataset)
                _Placed(add, entries, os.path.dirname(os.path.abspath(dataset.name)))(places, values, default)
            elif default is not None:
                raise TypeError("default needs places")
            else:
                for array in _arrays(values):
                    add(array)
            add.finish()
        finally:
            writer.abandon()


def attach_range(dataset, part, parts):
    """Returns (first document, count) of a part of a dataset, from 0 on, for attach(part=, parts=): documents of about
    `parts` equal numbers of tokens, one after another. A part may have none, and is attached all the same.

        first, count = leat.attach_range("corpus", rank, world)
    """
    with _opened(dataset) as dataset:
        return _leat.column_range(dataset._native, whole("part", part), whole("parts", parts, 1))


def attach_commit(dataset, column, *, parts, force=False):
    """Makes a column of its parts, when attach(part=, parts=) has attached all of them; one process does this. The
    parts are read, checked and copied, and removed when the column is there. After a kill at any time the column is
    there and complete, or it is not there and all parts are. `force` replaces a column of this name.

        leat.attach("corpus", "score", "f32", scores, at="document", part=rank, parts=world)
        leat.attach_commit("corpus", "score", parts=world)  # later, in one process
    """
    with _opened(dataset) as dataset:
        _leat.column_commit(dataset._native, _text("column", column), whole("parts", parts, 1),
                            int(flag("force", force)))


@contextlib.contextmanager
def _opened(dataset):
    """The dataset, or the one with this name until the block ends."""
    if isinstance(dataset, Dataset):
        yield dataset
        return
    dataset = Dataset(dataset)
    try:
        yield dataset
    finally:
        dataset.close()


def _text(name, value):
    if not isinstance(value, str) or "\0" in value:
        raise TypeError(f"{name} must be a str, not {shown(value)}")
    return value


def _arrays(values):
    """The arrays of an iterable, or the one that was given."""
    if isinstance(values, (str, bytes)):
        raise TypeError(f"values must be an array or an iterable of arrays, not {shown(values)}")
    if isinstance(values, (list, tuple)) and not any(hasattr(part, "shape") and len(part.shape) for part in values[:1]):
        return [values]
    if hasattr(values, "shape") or hasattr(values, "__array_interface__"):
        return [values]
    try:
        return iter(values)
    except TypeError:
        raise TypeError(f"values must be an array or an iterable of arrays, not {shown(values)}") from None


class _Numbers:
    """Adds arrays of numbers."""

    def __init__(self, np, writer, width):
        self.np, self.writer, self.width = np, writer, width
        self.entries = 0

    def __call__(self, values):
        array, kind = self.read(values)
        if array.shape[1:] not in ((self.width,), () if self.width == 1 else None):
            raise ValueError(f"values must have the shape [n, {self.width}]{' or [n]' if self.width == 1 else ''}, not "
                             f"{list(array.shape)} (from entry {self.entries} on)")
        self.writer.add(array.ctypes.data, len(array), _leat.COLUMN_TYPES[kind])
        self.entries += len(array)

    def read(self, values):
        """Returns a contiguous array of this machine's numbers, and the name of their type."""
        if str(getattr(values, "dtype", "")) == "torch.bfloat16":  # numpy has no such type: its bits are taken
            values = values.detach().cpu().contiguous().view(need("torch", "leat.attach()").int16).numpy()
            return self.np.ascontiguousarray(values), "bf16"
        try:
            array = self.np.asarray(values)
            kind = _NUMBERS.get(array.dtype.name)
        except (TypeError, ValueError) as why:
            raise TypeError(f"values must be arrays of numbers: {why}") from None
        if not kind or array.ndim == 0:
            raise TypeError(f"values must be arrays of numbers, not {shown(values)[:200]} (from entry {self.entries} "
                            "on)")
        return self.np.ascontiguousarray(array, array.dtype.newbyteorder("=")), kind

    def finish(self):
        self.writer.finish()


class _Placed:
    """Adds entries in the order of their numbers. `add` adds arrays in order."""

    def __init__(self, add, entries, folder):
        self.add, self.entries, self.folder = add, entries, folder
        self.given = add.np.zeros(entries, bool)
        self.kind = self.values = None

    def __call__(self, places, values, default):
        end = object()
        for numbers, some in itertools.zip_longest(_arrays(places), _arrays(values), fillvalue=end):
            if numbers is end or some is end:
                raise ValueError("places and values must have an array for each other's")
            self.put(self.add.np.asarray(numbers), *self.add.read(some))
        missing = self.entries - int(self.given.sum())
        if missing and default is None:
            raise ValueError(f"{missing} of {self.entries} entries are not given, the first of them number "
                             f"{int(self.given.argmin())}: give them, or a default")
        if default is not None:
            default = self.add.read([[default] * self.add.width])
            if default[0].shape != (1, self.add.width):
                raise TypeError("default must be one number, or one text for a category")
        self.write(default)

    def put(self, numbers, values, kind):
        if numbers.size == 0:  # an empty list is an array of floats
            numbers = numbers.astype(int)
        if numbers.dtype.kind not in "iu" or values.shape not in (
                (*numbers.shape, self.add.width), numbers.shape if self.add.width == 1 else None):
            raise ValueError(f"places must be whole numbers, an entry of values each: places have the shape "
                             f"{list(numbers.shape)} and values {list(values.shape)}")
        if self.kind not in (None, kind):
            raise ValueError(f"values with places must have one type, not {self.kind} and {kind}")
        numbers = numbers.ravel()
        wrong = (numbers < -1) | (numbers >= self.entries) if numbers.dtype.kind == "i" else numbers >= self.entries
        if wrong.any():
            raise ValueError(f"place {numbers[wrong.argmax()]} is not one of {self.entries} entries, nor -1")
        if self.kind is None:
            self.kind = kind
            with tempfile.TemporaryFile(dir=self.folder) as file:  # the map keeps it
                # a full disk must not show when the map is written to
                os.posix_fallocate(file.fileno(), 0, max(self.entries * self.add.width * values.itemsize, 1))
                self.values = self.add.np.memmap(file, values.dtype, "w+", shape=(self.entries, self.add.width))
        real = numbers >= 0
        self.values[numbers[real]] = values.reshape(-1, self.add.width)[real]
        self.given[numbers[real]] = True

    def write(self, default):
        """Adds stretches of entries that are all given, or all not."""
        np, begin = self.add.np, 0
        while begin < self.entries:
            given = self.given[begin:begin + AT_ONCE]
            count = int((given != given[0]).argmax()) or len(given)
            values, kind = (self.values[begin:begin + count], self.kind) if given[0] else (
                np.repeat(default[0], count, axis=0), default[1])
            values = np.ascontiguousarray(values)
            self.add.writer.add(values.ctypes.data, count, _leat.COLUMN_TYPES[kind])
            begin += count


class _Texts(_Numbers):
    """Adds arrays of texts as numbers of the texts, which are numbered as they come."""

    def __init__(self, np, writer, width):
        super().__init__(np, writer, width)
        self.numbers = {}

    def read(self, values):
        array = self.np.asarray(values, dtype=object)
        if array.ndim == 0:
            raise TypeError(f"values must be arrays of texts, not {shown(values)[:200]}")
        texts = array.ravel().tolist()
        wrong = next((i for i, text in enumerate(texts) if not isinstance(text, str)), None)
        if wrong is not None:
            raise TypeError(f"values of a category must be str, not {shown(texts[wrong])[:200]} (entry "
                            f"{self.entries + wrong // self.width})")
        numbers = [self.numbers.setdefault(text, len(self.numbers)) for text in texts]
        if len(self.numbers) > 65536:
            raise ValueError(f"a category has at most 65536 texts (entry {self.entries} and those after it add more)")
        return self.np.array(numbers, self.np.uint16).reshape(array.shape), "u16"

    def finish(self):
        ends, texts = [], []
        for text in self.numbers:
            try:
                texts.append(text.encode())
            except UnicodeEncodeError as why:
                raise ValueError(f"values have a text that is not UTF-8: {why}") from None
            ends.append((ends[-1] if ends else 0) + len(texts[-1]))
        self.writer.texts(b"".join(texts), ends)
        self.writer.finish()
