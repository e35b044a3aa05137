"""_documents.py: the forms in which texts and ids are given: lists, arrays, Arrow tables, records."""
from __future__ import annotations

import sys


def plain_ids(ids):
    """Ids as the extension takes them: a list or tuple, or bytes with the code of their type."""
    if isinstance(ids, (list, tuple)):
        return ids
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
        # formats with a byte order have standard sizes: "l" is always four bytes
        code = {"l": "i", "L": "I"}.get(code[1:], code[1:])
    return view.tobytes(), code


def arrow_capsules(source):
    """The capsules that an object with Arrow's C interface exports; None for any other object."""
    if hasattr(source, "__arrow_c_stream__"):
        return source.__arrow_c_stream__()
    if hasattr(source, "__arrow_c_array__"):
        return source.__arrow_c_array__()
    return None


def has_arrow(source) -> bool:
    """Whether it has Arrow's C interface; arrays of numpy and jax count as ids, even if they have it."""
    return hasattr(source, "__arrow_c_stream__") or (hasattr(source, "__arrow_c_array__")
                                                     and not hasattr(source, "__array_interface__"))


def tables_of(documents):
    """The Arrow tables of a Hugging Face dataset; anything else as it is."""
    if type(documents).__module__.partition(".")[0] == "datasets" and hasattr(documents, "with_format"):
        return documents.with_format("arrow").iter(batch_size=1000)
    return documents


def is_pair(item):
    return isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], (str, bytes))


def follow(record, name, way):
    if name in record:
        return record[name]
    for step in way:
        if not hasattr(record, "get"):
            return None
        record = record.get(step)
        if record is None:
            return None
    return record
