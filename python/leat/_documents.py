"""_documents.py: the forms in which texts and ids are given: lists, arrays, Arrow tables, records."""
from __future__ import annotations

import re
import sys
from collections.abc import Mapping

SURROGATE_PAIR = re.compile(r"[\ud800-\udbff][\udc00-\udfff]")


def plain_ids(ids):
    """Returns ids as the extension takes them: a list or tuple, or bytes with the code of their type."""
    if isinstance(ids, (list, tuple)):
        return ids
    if isinstance(ids, (dict, set, frozenset)):
        raise TypeError(f"ids must be a list or an array of one dimension, not a {type(ids).__name__}")
    if getattr(ids, "ndim", 1) != 1:
        raise TypeError(f"ids must be a list or an array of one dimension, not of {ids.ndim}")
    try:
        view = memoryview(ids)
    except TypeError:
        return ids.tolist() if hasattr(ids, "tolist") else list(ids)
    code = view.format.lstrip("@=")
    if view.ndim != 1 or isinstance(ids, (bytes, bytearray)):
        raise TypeError("ids must be a list or an array of one dimension")
    if code[:1] in ("<", ">", "!"):
        if (code[0] == "<") != (sys.byteorder == "little"):
            return ids.tolist() if hasattr(ids, "tolist") else list(ids)
        # In formats with a byte order, sizes are standard: "l" has four bytes.
        code = {"l": "i", "L": "I"}.get(code[1:], code[1:])
    return view.tobytes(), code


def id_mask(mask, what="the mask"):
    """Returns a mask as bytes. Each number is 0 to 1, and becomes 0 to 255; only 0 becomes 0."""
    numbers = mask.tolist() if hasattr(mask, "tolist") else list(mask)
    # A list may hold numbers of numpy.
    numbers = [number.item() if hasattr(number, "item") else number for number in numbers]
    for n, number in enumerate(numbers):
        if not (number in (0, 1) if isinstance(number, int) else isinstance(number, float) and 0 <= number <= 1):
            raise ValueError(f"{what} has 0 or 1 for each id, or False and True, or a weight between them, not "
                             f"{number!r} (number {n})")
    return bytes(max(round(255 * number), number > 0) for number in numbers)


def _utf8_length(text, begin, end):
    """Counts the bytes of a stretch. A single surrogate becomes U+FFFD, which has as many bytes."""
    try:
        return len(text[begin:end].encode())
    except UnicodeEncodeError:
        if SURROGATE_PAIR.search(text):
            raise ValueError("a text with pairs of surrogates cannot have a mask: replace them by the characters they "
                             "mean") from None
        return len(text[begin:end].encode(errors="surrogatepass"))


def text_spans(text, spans):
    """Converts stretches of a text, counted in characters of a str or bytes of bytes, to bytes for the extension."""
    import array
    import operator
    pairs, at, done = array.array("Q"), 0, 0
    for span in spans if hasattr(spans, "__iter__") else [spans]:
        try:
            begin, end = map(operator.index, span)
        except (TypeError, ValueError):
            begin = end = -1
        if not at <= begin <= end <= len(text):
            raise ValueError(f"the mask of a text is a list of pairs [start, end) of places in it, in order and apart, "
                             f"not {list(span) if hasattr(span, '__iter__') else span!r} in a text of {len(text)}")
        if isinstance(text, bytes):
            pairs.extend((begin, end))
        else:
            done += _utf8_length(text, at, begin)
            pairs.append(done)
            done += _utf8_length(text, begin, end)
            pairs.append(done)
        at = end
    return pairs.tobytes()


def plain_texts(texts):
    """Returns texts as a list or tuple. It converts columns of Arrow, pandas and Polars, and arrays of numpy."""
    if isinstance(texts, (list, tuple, str, bytes)):
        return texts
    if isinstance(texts, Mapping) or hasattr(texts, "columns"):
        raise TypeError(f"{type(texts).__name__} is a table: pass the column that holds the texts")
    for way in "to_pylist", "to_list", "tolist":
        if hasattr(texts, way):
            return getattr(texts, way)()
    return list(texts)


def arrow_capsules(source):
    """Returns the capsules that an object exports by Arrow's C interface, or None for any other object."""
    if hasattr(source, "__arrow_c_stream__"):
        return source.__arrow_c_stream__()
    if hasattr(source, "__arrow_c_array__"):
        return source.__arrow_c_array__()
    return None


def has_arrow(source) -> bool:
    """Returns True for objects with Arrow's C interface, except arrays of numpy and jax, which count as ids."""
    return hasattr(source, "__arrow_c_stream__") or (hasattr(source, "__arrow_c_array__")
                                                     and not hasattr(source, "__array_interface__"))


# suffixes of files that hold a corpus
_FILES = tuple(f".{name}{pressed}" for name in ("parquet", "jsonl", "ndjson", "jsonlines", "json", "txt", "csv", "tsv",
                                                "arrow", "feather", "orc")
               for pressed in ("", ".zst", ".gz", ".bz2", ".xz", ".lz4"))


def is_file_name(text) -> bool:
    """Returns True for a str with the suffix of a corpus file. Bytes are always a text."""
    return isinstance(text, str) and text.lower().endswith(_FILES) and len(text) < 4096 and "\n" not in text


def refuse_file_names(documents):
    """Raises TypeError if documents are names of files: all items of a list, or a single name that exists."""
    import os
    if isinstance(documents, (list, tuple)):
        first = documents[0] if documents else None
        wrong = is_file_name(first) and (os.path.isfile(first) or all(map(is_file_name, documents)))
    else:
        first = documents
        wrong = is_file_name(first) and os.path.isfile(first)
    if wrong or isinstance(first, os.PathLike):
        from leat._values import shown
        path = os.fspath(first)
        raise TypeError(
            f"{shown(path)} is the name of a file, not a text: leat.pack() reads files of texts, JSON and CSV, and "
            "pyarrow.parquet.ParquetFile(path).iter_batches() gives extend() the rows of Parquet; as bytes, a name is "
            "taken as a text")


def refuse_lazy(documents):
    """Raises TypeError for lazy frames, and says how to compute their rows."""
    if is_lazy_frame(documents):
        raise TypeError("a LazyFrame has no rows yet: pass frame.collect(), or for more rows than memory holds "
                        "frame.collect_batches()")
    if not has_arrow(documents) and not hasattr(documents, "__iter__"):
        for way in "iter_batches", "to_batches":
            if hasattr(documents, way):
                raise TypeError(f"{type(documents).__name__} is not an iterable of documents: pass its {way}()")


def is_lazy_frame(documents) -> bool:
    """Returns True for a LazyFrame of Polars."""
    return type(documents).__name__ == "LazyFrame" and hasattr(documents, "collect")


def tables_of(documents):
    """Returns the Arrow tables of a Hugging Face dataset, and any other object unchanged."""
    if type(documents).__module__.partition(".")[0] == "datasets" and hasattr(documents, "with_format"):
        return documents.with_format("arrow").iter(batch_size=1000)
    return documents


def is_pair(item):
    """Returns True for a pair of a text, or None for a missing one, and its id."""
    return isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], (str, bytes, type(None)))


def follow(record, name, way):
    return record[name] if name in record else member(record, way)


def member(record, way):
    """Returns the value that a path of names leads to in a record of JSON, or None if it leads nowhere."""
    for step in way:
        if not hasattr(record, "get"):
            return None
        record = record.get(step)
        if record is None:
            return None
    return record


class Conditions:
    """Judges dicts and tables by the conditions (keep) of a packer. It is false if the packer has none."""

    def __init__(self, core):
        self._core = core
        self._fields = [(path, path.split("."), compared) for path, compared in core.fields()]

    def __bool__(self):
        return bool(self._fields)

    def refuse(self, document):
        raise TypeError(f"conditions (keep) are on fields, {', '.join(path for path, _, _ in self._fields)}: give "
                        f"extend() dicts or tables, not {type(document).__name__}")

    def hold(self, record) -> bool:
        """Returns True if all conditions hold for the line of JSON that json.dumps() makes of a dict."""
        if not hasattr(record, "keys"):
            self.refuse(record)
        return self._core.judge([_comparable(path, member(record, way)) if compared else member(record, way)
                                 for path, way, compared in self._fields])

    def of_batch(self, batch):
        """Judges all rows of an Arrow batch, and returns a byte for each: 1 if all conditions hold, else 0."""
        from leat._leat import ArrowRows
        return self._core.judge_arrow(ArrowRows(arrow_capsules(batch)))


def _comparable(path, value):
    if value is None or isinstance(value, (str, int, float, bytes, list, tuple)) or hasattr(value, "keys"):
        return value
    if hasattr(value, "tolist"):  # a number of numpy
        return value.tolist()
    raise TypeError(f"a condition (keep) compares texts and numbers, not a {type(value).__name__} ({path}: {value!r})")
