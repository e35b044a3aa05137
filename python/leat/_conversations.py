"""_conversations.py: the forms in which leat.Packer(chat=...) takes conversations, as records of JSON."""
from __future__ import annotations

import itertools
import json

from leat._documents import follow, has_arrow, refuse_lazy
from leat._pack_options import read_id


class Conversations:
    """Turns conversations into records. `messages` and `tools` are the names of fields, as in leat.pack()."""

    def __init__(self, messages, tools, conditions):
        self._messages, self._tools = messages, "tools" if tools is None else tools
        self._tools_needed = bool(tools)
        self._conditions = conditions

    def record(self, conversation):
        """Returns the record of a conversation: a list of messages, such a list as JSON, or a dict that has one."""
        record = self._record(conversation)
        if record is None:
            raise ValueError(f"the conversation has no {self._messages}")
        return record

    def records(self, documents, id, skip, nulls):
        """Yields pairs (record, id) for extend(), None for a row without a conversation, False for a rejected row."""
        for n, (conversation, given, kept) in enumerate(itertools.islice(self._rows(documents, id), skip, None)):
            if kept is None and self._conditions and conversation is not None:
                kept = self._conditions.hold(conversation)
            if kept is not None and not kept:
                yield False
                continue
            record = self._record(conversation)
            if record is None and nulls == "error":
                raise ValueError(f"document {n} has no {self._messages}; nulls=\"skip\" leaves such documents out")
            yield record if record is None else (record, read_id(given))

    def _record(self, conversation):
        tools = None
        if hasattr(conversation, "keys"):
            tools = follow(conversation, self._tools, self._tools.split(".")) if self._tools else None
            conversation = follow(conversation, self._messages, self._messages.split("."))
        if conversation is None:
            return None
        record = {}
        self._put_member(record, self._messages, self._messages_of(conversation))
        if tools is not None:
            self._put_member(record, self._tools, _text(tools))
        text = json.dumps(record, ensure_ascii=False, default=_plain)
        try:
            return text.encode()
        except UnicodeEncodeError:  # an unpaired surrogate, which leat takes as JSON escapes it
            return json.dumps(record, default=_plain).encode()

    @staticmethod
    def _put_member(record, name, value):
        *way, last = name.split(".")
        for step in way:
            record = record.setdefault(step, {})
        record[last] = value

    @staticmethod
    def _messages_of(conversation):
        if isinstance(conversation, (str, bytes)):
            try:
                return json.loads(conversation)
            except ValueError:
                return _text(conversation)  # the run will reject it
        if not hasattr(conversation, "__iter__"):
            raise TypeError(f"a conversation is a list of dicts, one as JSON, or a dict that has one, not "
                            f"{conversation!r}")
        return list(conversation)

    def _rows(self, documents, id):
        """Yields (conversation or dict that has one, id, whether conditions hold or None if that is not known)."""
        for document in [documents] if has_arrow(documents) else documents:
            refuse_lazy(document)
            if has_arrow(document):
                for row, kept in self._rows_of_table(document, id):
                    yield row, follow(row, id, id.split(".")) if id else None, kept
            elif isinstance(document, tuple) and len(document) == 2 and not hasattr(document[1], "keys"):
                yield *document, None
            else:
                has_id = id and hasattr(document, "keys")
                yield document, follow(document, id, id.split(".")) if has_id else None, None

    def _rows_of_table(self, table, id):
        """Yields a dict of the requested columns for each row, and whether conditions hold."""
        try:
            import pyarrow
        except ImportError as why:
            raise ImportError("leat.Packer(chat=...) reads tables by pyarrow: pip install pyarrow, or give dicts") \
                from why
        if hasattr(table, "__arrow_c_stream__"):
            batches = pyarrow.RecordBatchReader.from_stream(table)
        else:
            batches = [pyarrow.record_batch(table)]
        needed = {self._messages: True, self._tools: self._tools_needed, id or "": id not in (None, "id")}
        for batch in batches:
            columns = []
            for name, must_be_there in needed.items():
                column = next((c for c in (name, name.split(".")[0]) if c in batch.schema.names), None)
                if column is None and must_be_there:
                    raise ValueError(f"the table has no column {name}")
                columns += [column] * (column is not None)
            kept = self._conditions.of_batch(batch) if self._conditions else itertools.repeat(None)
            yield from zip(batch.select(list(dict.fromkeys(columns))).to_pylist(), kept)


def _text(value):
    return value.decode() if isinstance(value, bytes) else value


def _plain(value):
    """Converts a value of numpy or Arrow to a list or number, for json.dumps()."""
    for way in "tolist", "as_py":
        if hasattr(value, way):
            return getattr(value, way)()
    if hasattr(value, "keys"):
        return dict(value)
    raise TypeError(f"a conversation holds what JSON can say, not {type(value).__name__}")
