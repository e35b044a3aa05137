"""columns.py: leat.attach adds values beside tokens or documents to a finished dataset."""
from __future__ import annotations

from leat import _leat
from leat._lazy import need, numpy
from leat._values import choice, flag, shown
from leat.dataset import Dataset

# {dtype of numpy: type of column.h}
_NUMBERS = {"bool": "u8", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "int8": "i8",
            "int16": "i16", "int32": "i32", "int64": "i64", "float16": "f16", "bfloat16": "bf16", "float32": "f32",
            "float64": "f64"}


def attach(dataset, column, type, values, *, at="token", force=False):  # noqa: A002 (as in leat attach --column)
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
    force    replaces a column of this name

    Values are stored exactly, but floats are rounded to the nearest of a narrower type. Raises leat.Error, and adds
    nothing, for a wrong number of entries, or a value that the type does not hold, such as NaN for an integer.
    """
    np = numpy("leat.attach()")
    number, width = _leat.column_type(_text("type", type))
    place = ("token", "document").index(choice("at", at, ("token", "document")))
    owned = not isinstance(dataset, Dataset)
    dataset = Dataset(dataset) if owned else dataset
    try:
        writer = _leat.column_writer(dataset._native, _text("column", column), number, width, place,
                                     int(flag("force", force)))
        try:
            add = _Texts(np, writer, width) if number == _leat.COLUMN_TYPES["category"] else _Numbers(np, writer, width)
            for array in _arrays(values):
                add(array)
            add.finish()
        finally:
            writer.abandon()
    finally:
        if owned:
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
