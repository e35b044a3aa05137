"""_conversations.py: the forms in which leat.Packer takes conversations (chat) and pairs, as records of JSON."""
from __future__ import annotations

import itertools
import json

from leat._documents import follow, has_arrow, refuse_lazy
from leat._pack_options import read_id


class Conversations:
    """Turns conversations and pairs into records. `chat` is a leat.Chat, `pairs` a leat.Pairs; or None. `weight` is the
    field of weights; or None."""

    def __init__(self, chat, pairs, weight, conditions):
        self._messages = None if pairs else chat.messages
        self._tools = "tools" if chat and chat.tools is None else chat.tools if chat else ""
        self._members = {self._tools: bool(chat and chat.tools), weight or "": True}  # whether a table must have them
        if pairs:
            self._members |= {pairs.prompt: True, pairs.completion: True, "input" if pairs.alpaca else "": False}
        self._members.pop("", None)
        self._conditions = conditions

    def record(self, conversation):
        """Returns the record of a conversation: a list of messages, such a list as JSON, or a dict that has one."""
        record = self._record(conversation)
        if record is None:
            raise ValueError(f"the conversation has no {self._messages or 'pair'}")
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
                what = self._messages or "pair"
                raise ValueError(f"document {n} has no {what}; nulls=\"skip\" leaves such documents out")
            yield record if record is None else (record, read_id(given))

    def _record(self, conversation):
        record = {}
        if hasattr(conversation, "keys"):
            for name in self._members:
                value = follow(conversation, name, name.split("."))
                if value is not None:
                    self._put_member(record, name, _text(value))
            conversation = follow(conversation, self._messages, self._messages.split(".")) if self._messages else ()
        elif self._messages is None and conversation is not None:
            raise TypeError(f"a pair is a dict with its prompt and its completion, not {conversation!r}")
        if conversation is None:
            return None
        if self._messages:
            self._put_member(record, self._messages, self._messages_of(conversation))
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
        needed = {**self._members, **({self._messages: True} if self._messages else {})}
        needed[id or ""] = id not in (None, "id")
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
