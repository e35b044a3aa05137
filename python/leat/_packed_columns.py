"""_packed_columns.py: the values that leat.Packer's documents have for columns."""
from __future__ import annotations

from leat import _leat
from leat._documents import follow, has_arrow
from leat._lazy import need, numpy
from leat._values import shown
from leat.columns import _Numbers


class PackedColumns:
    """The columns of a packer, which has checked them: NAME=FIELD:TYPE[xK], and :document for one per document."""

    def __init__(self, given):
        self.columns = [_PackedColumn(text) for text in given]

    def values(self, document, columns):
        """Returns the values of a document, {name: value}, as add_text() and add_ids() take them; None without columns.
        """
        unknown = set(columns or ()) - {column.name for column in self.columns}
        if unknown:
            raise ValueError(f"document {document}: the packer makes no column {shown(min(unknown))}")
        return [column.value(document, columns) for column in self.columns] or None

    def of_row(self, row):
        """Returns {name: value} of a dict's fields, without those that it lacks."""
        found = {column.name: follow(row, column.field, column.field.split(".")) for column in self.columns}
        return {name: value for name, value in found.items() if value is not None}

    def rows(self, documents, *fields, tables):
        """Yields documents, and, if tables are taken, a dict for each row of one, with these fields and those of
        columns."""
        names = {name.split(".")[0] for name in (*fields, *(column.field for column in self.columns)) if name}
        for document in [documents] if has_arrow(documents) else documents:
            if not has_arrow(document):
                yield document
                continue
            if not tables:
                raise ValueError("keep judges no tables beside column: pass dicts, as of to_pylist()")
            arrow = need("pyarrow", "leat.Packer(column=...) of tables")
            stream = hasattr(document, "__arrow_c_stream__")
            batches = arrow.RecordBatchReader.from_stream(document) if stream else [arrow.record_batch(document)]
            for batch in batches:
                yield from batch.select([name for name in batch.schema.names if name in names]).to_pylist()


class _PackedColumn:
    def __init__(self, text):
        self.per_document = text.endswith(":document")
        head, _, kind = text.removesuffix(":document").removesuffix(":token").rpartition(":")
        self.name, named, field = head.partition("=")
        self.field = field if named else self.name
        self.type, self.width = _leat.column_type(kind)
        self.is_text = self.type == _leat.COLUMN_TYPES["category"]
        self.numbers = None

    def value(self, document, columns):
        """Returns (bytes, entries, type) of a document; type 0 is a text."""
        if columns is None or self.name not in columns:
            raise ValueError(f"document {document} has no value for the column {self.name}")
        value = columns[self.name]
        where = f"document {document}, column {self.name}"
        if self.is_text:
            if not isinstance(value, str):
                raise TypeError(f"{where}: a category takes a str, not {shown(value)[:200]}")
            return value.encode(errors="surrogatepass"), 1, 0
        self.numbers = self.numbers or _Numbers(numpy("leat.Packer(column=...)"), None, self.width)
        try:
            array, kind = self.numbers.read(value if hasattr(value, "__len__") and getattr(value, "shape", True) != ()
                                            else [value])
        except TypeError as why:
            raise TypeError(f"{where}: {why}") from None
        flat = array.size == self.width if self.per_document else array.size % self.width == 0
        if not flat or array.shape[1:] not in ((), (self.width,)):
            wanted = "one number" if self.width == 1 else f"{self.width} numbers"
            raise ValueError(f"{where}: {wanted} per {'document' if self.per_document else 'id'} needed, not an array "
                             f"of the shape {list(array.shape)}")
        return array.tobytes(), array.size // self.width, _leat.COLUMN_TYPES[kind]
