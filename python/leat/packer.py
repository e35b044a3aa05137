"""packer.py: leat.Packer makes a dataset from texts and ids that a program has in memory."""
from __future__ import annotations

import sys
import warnings

from leat import _leat
from leat._leat import Error
from leat._pack_options import (chat_of, now, open_tokenizer, pack_options, pairs_of, read_id, taken, takes,
                                weight_of)
from leat._values import instance, path_of, shown, whole
from leat._packed_columns import PackedColumns
from leat.options import PackerOptions
from leat.packing import Summary, summarize
from leat._documents import (Conditions, arrow_capsules, follow, has_arrow, id_mask, is_lazy_frame, is_pair, plain_ids,
                             refuse_file_names, refuse_lazy, tables_of, text_spans)

TYPE_CHECKING = False  # as typing has it, whose import takes time
if TYPE_CHECKING:
    from typing_extensions import Unpack


class Packer:
    """Packs texts or ids that a program has in memory into the dataset `output`, in the order given.

        with leat.Packer("corpus", "o200k_base") as packer:
            packer.add("a document")
            packer.extend(pyarrow.parquet.ParquetFile("part.parquet").iter_batches())
        print(packer.summary.tokens)

    Options are those of leat.pack(), and:

    keep                as in leat.pack(), for rows with fields: dicts and tables, which extend() takes, and
                        conversations in dicts. A dict is judged as its line of JSON, a table as its columns in
                        Parquet; a column of type null has no values, and "exists" can be asked of all columns. `given`
                        counts a row that is left out, whose text may be missing, and so does summary.kept_out
    allow_binary        packs what does not look like UTF-8 text too, instead of rejecting such a text
    store_mask          store a mask: which tokens training learns to predict. add() and extend() say it; all that they
                        say nothing about are learned
    column              columns to make, as in leat.pack(): add(columns=) has their values, or the fields of dicts and
                        tables; "teacher=logits:f32x8" has values for each id. Not with chat or pairs
    resume              continue from the last checkpoint, if any; `given`, `sources` and `note` say where it is
    checkpoint_seconds  extend() makes a checkpoint whenever so many seconds have passed; None: never
    chat                as in leat.pack(): the documents are conversations, which jinja2 renders in processes of their
                        own, one for each thread, so that one that takes longer than leat.Chat(seconds=...) can be
                        ended. Tokens, mask and rejects are those of leat.pack() of the same conversations in JSON lines
    pairs, weight       as in leat.pack(): a document is a dict with these fields, or a row of a table. A weight is of a
                        conversation or a pair; a text has `mask`

    The end of the `with` block finishes the dataset. An exception suspends the packer: the last checkpoint is kept for
    resume=True (with force=True if the run replaces a dataset); without a checkpoint, no file remains. Ctrl-C makes a
    checkpoint first. The packer's own threads encode the documents, so an error may come from a document that was given
    earlier. Calls release the GIL, and wait while the threads are busy. Use a packer in one thread at a time, and only
    in the process that made it.
    """

    _summary: Summary | None

    @takes(PackerOptions)
    def __init__(self, output, tokenizer="gpt2", **options: Unpack[PackerOptions]):
        given = taken(Packer.__init__, options)
        self._began = now()
        self._output = path_of("output", output)
        self.tokenizer = open_tokenizer(tokenizer)
        given.update(chat=chat_of(given["chat"]), pairs=pairs_of(given["pairs"]))
        native = pack_options(given, self.tokenizer)
        self._core = _leat.Packer(output, self.tokenizer._core, native)
        self._set(given, given["checkpoint_seconds"], native[1]["column"])
        self._take_note(self._core.note())
        try:
            self._warn(3)
        except RuntimeWarning:
            self._core.suspend()
            raise

    def _set(self, given, checkpoint_seconds, columns=()):
        self._chats = None
        self._columns = PackedColumns(columns)
        self._conditions = Conditions(self._core)
        if given["chat"] is not None or given["pairs"] is not None:
            from leat._conversations import Conversations
            self._chats = Conversations(given["chat"], given["pairs"], weight_of(given["weight"], given["chat"]),
                                        self._conditions)
        self._every = checkpoint_seconds
        self._last = now()
        self._summary = None
        self._note = ""

    def _warn(self, stacklevel):
        """Gives what the library has noticed since the last call as warnings."""
        for sentence in self._core.notices():
            warnings.warn(sentence, RuntimeWarning, stacklevel=stacklevel)

    def _take_note(self, note):
        import json
        if note is None:
            return
        try:
            state = json.loads(note)
            self._core.restore(state["given"], state["skipped"], dict(state["sources"]))
            self._note = state["note"]
        except (ValueError, KeyError, TypeError):
            self._core.suspend()
            raise ValueError(f"the checkpoint of {shown(self._output)} was not made by a leat.Packer") from None

    @property
    def given(self) -> int:
        """How many documents were given so far, including those before a resumed checkpoint, and those that `keep` has
        left out."""
        return self._core.given()[0]

    @property
    def skipped(self) -> int:
        """How many rows without a text extend(nulls="skip") has left out."""
        return self._core.given()[1]

    @property
    def sources(self) -> dict[str, int]:
        """How many rows each source has given. To continue: extend(rows, source=name, skip=packer.sources.get(name, 0))
        """
        return self._core.given()[2]

    @property
    def note(self) -> str:
        """The note of the last checkpoint, made or resumed from; empty without one."""
        return self._note

    @property
    def summary(self) -> Summary:
        """What the run did, once it is finished."""
        if self._summary is None:
            raise AttributeError("the packer has not been finished")
        return self._summary

    # ---- Documents ----

    def add(self, document, *, id: str | int | None = None, source: str | None = None, mask=None,
            columns=None) -> None:
        """Adds a document: a str, bytes (UTF-8), or a list or array of ids. With chat, a conversation: a list of dicts
        with role and content, one as JSON, or a dict that has one by the name `messages`, and perhaps tools.

        id      the document's id, by which `leat find --id` finds it
        source  where it comes from, like an input's path: the dataset keeps it, with the number of the row in it
        mask    with store_mask: which tokens are learned. For ids a list or array of 0 and 1, one per id, or of weights
                between them (loss_weights of a batch), which are stored in 255ths; for a text a list of [start, end)
                stretches that are learned, in characters of a str and in bytes of bytes, in order and apart, or empty:
                a token is learned if any part of it is in one. A text whose tokens cannot be traced to its characters
                is rejected. None: all are learned, as is the end token of a document without tokens
        columns with `column`: {name: value} for each column. Per document a number, K numbers, or a str for a category;
                per token, for ids alone, an array or list [n] or [n, K]. Begin and end tokens get zeros. A value that
                the type does not hold is an error, and the document is not added
        """
        source = None if source is None else path_of("source", source)
        if has_arrow(document) or is_lazy_frame(document):
            raise TypeError("add() takes one document, a str, bytes or ids: pass a table to extend()")
        if self._chats:
            self._refuse_choice(mask, "text")
            self._columns.values(self.given, columns)
            if self._conditions and not self._conditions.hold(document):
                self._core.add_some(iter([False]), source, False)
                return
            self._core.add_text(self._chats.record(document), read_id(id), source, None)
            return
        if self._conditions:
            self._conditions.refuse(document)
        self._add_document(document, id, source, mask, columns)

    def _add_document(self, document, id=None, source=None, mask=None, columns=None):
        if not isinstance(document, (list, tuple)):
            refuse_file_names(document)
        add, document, mask = self._way(document, mask)
        add(document, read_id(id), source, mask, self._columns.values(self.given, columns))

    def extend(self, documents, *, text: str = "text", id: str | None = "id", source: str | None = None, skip: int = 0,
               nulls: str = "error", mask: str | None = None) -> int:
        """Adds many documents; returns how many.

        documents  an iterable of str, of bytes, of pairs (text, id), of dicts, or of lists or arrays of ids; or
                   anything with Arrow's C stream interface (pyarrow, Polars, DuckDB) or a Hugging Face dataset, which
                   are read without a Python object per document; or an iterable of such tables, like
                   ParquetFile.iter_batches()
        text       the column or key of the texts: string, large_string, string_view, binary or dictionaries of these;
                   or lists of ids. A dot selects a field of a struct: "meta.text"
        id         the column or key of the documents' ids, texts or integers, if it exists; None: no ids
        source     where they come from, as in add()
        skip       leaves out so many documents at the start; after an error, `given` of them were taken
        nulls      what to do with rows without a text, and documents that are None: "error" or "skip"
        mask       with store_mask: the key of each dict's mask, as for add(); or the column of a table of lists of ids
                   with lists of 0 and 1, of bool, or of weights (float32, float64). None: all tokens are learned

        With `column`, documents are dicts, or tables, which pyarrow reads row by row: each column's FIELD is a key of
        them, and without `keep`, a table's column.

        With chat, documents are conversations as add() takes them, pairs (conversation, id), or tables, which pyarrow
        reads row by row: their column `messages` has lists of structs, or JSON. `text` and `mask` do not apply.
        """
        if nulls not in ("error", "skip"):
            raise ValueError(f"nulls must be \"error\" or \"skip\", not {nulls!r}")
        source = None if source is None else path_of("source", source)
        for name, field in (("text", text), ("id", id), ("mask", mask)):
            instance(name, field, str if name == "text" else (str, type(None)), "the name of a field")
        if isinstance(documents, (str, bytes)):
            raise TypeError("extend() takes many documents: pass a single one to add()")
        refuse_lazy(documents)
        if not (has_arrow(documents) or hasattr(documents, "__iter__") or hasattr(documents, "__getitem__")):
            raise TypeError(f"extend() takes an iterable of documents, not {shown(documents)}")
        if hasattr(documents, "keys") and not has_arrow(documents):
            raise TypeError("extend() takes an iterable of documents, not a dict; pass one of its splits")
        if isinstance(documents, (list, tuple)):
            refuse_file_names(documents)
        skip = whole("skip", skip, most=sys.maxsize)
        before = self.given
        if self._chats:
            self._refuse_choice(mask, text)
            records = self._chats.records(tables_of(documents), id, skip, nulls)
            while self._core.add_some(records, source, nulls == "skip"):
                self._checkpoint_if_due()
            return self.given - before
        how = dict(text=text, id=id, source=source, skip=skip, nulls=nulls, mask=mask)
        if self._columns.columns:
            rows = self._columns.rows(tables_of(documents), text, id, mask, tables=not self._conditions)
            self._extend_some(rows, **how)
        elif has_arrow(documents):
            self._extend_table(documents, **how)
        else:
            self._extend_some(tables_of(documents), **how)
        return self.given - before

    @staticmethod
    def _refuse_choice(mask, text):
        if mask is not None or text != "text":
            raise TypeError("the fields of a conversation are named by leat.Chat(..., messages=..., tools=...), those "
                            "of a pair by leat.Pairs(prompt=..., completion=...), and they say what is learned: text "
                            "and mask do not apply")

    def _way(self, document, mask):
        if isinstance(document, (str, bytes)):
            return self._core.add_text, document, None if mask is None else text_spans(document, mask)
        if isinstance(document, (list, tuple)) and document and isinstance(document[0], (str, bytes)):
            raise TypeError("add() takes one document: pass several to extend()")
        try:
            ids = plain_ids(document)
        except TypeError:
            if hasattr(document, "__iter__"):
                raise
            raise TypeError(f"a document is a str, bytes, or ids, not {document!r}") from None
        return self._core.add_ids, ids, None if mask is None else id_mask(mask)

    def _extend_table(self, table, text, id, source, skip, nulls, mask):
        """Adds a table. Returns how many rows of `skip` remain to be left out."""
        rows = _leat.ArrowRows(arrow_capsules(table), text, id, id == "id", mask)
        passed = 0
        while True:
            before = rows.count()
            more = self._core.add_arrow(rows, skip, nulls == "skip", source)
            passed += rows.count() - before
            if not more:
                return max(0, skip - passed)
            self._checkpoint_if_due()

    def _extend_some(self, documents, text, id, source, skip, nulls, mask):
        import itertools
        iterator = iter(documents)
        for first in iterator:
            break
        else:
            return
        refuse_lazy(first)
        if not isinstance(first, (list, tuple)):
            refuse_file_names(first)
        iterator = itertools.chain([first], iterator)
        if has_arrow(first):
            for table in iterator:
                skip = self._extend_table(table, text, id, source, skip, nulls, mask)
            return
        iterator, of_dicts, content = self._peek_documents(itertools.islice(iterator, skip, None), text, nulls)
        if self._conditions and content is not None and not of_dicts:
            self._conditions.refuse(content)
        of_texts = isinstance(content, (str, bytes, type(None)))
        if mask is not None or (of_dicts and (self._columns.columns or not of_texts)):
            self._extend_singly(iterator, text, id, source, nulls, mask)
            return
        if of_dicts:
            iterator = self._of_dicts(iterator, text, id, nulls)
        elif not of_texts:
            for n, document in enumerate(iterator):
                self._add_or_skip(document, nulls, f"document {n} has no ids", source=source)
            return
        while self._core.add_some(iterator, source, nulls == "skip"):
            self._checkpoint_if_due()

    def _peek_documents(self, iterator, text, nulls):
        """Peeks into the iterator. Returns (iterator of all documents, whether they are dicts, content of the first
        document that has any). If a missing text is an error, this is the first that no condition rejects."""
        import itertools
        head, of_dicts, content = [], False, None
        for document in iterator:
            head.append(document)
            if document is None and (nulls == "skip" or self._conditions):
                continue
            of_dicts = hasattr(document, "keys")
            content = follow(document, text, text.split(".")) if of_dicts else document
            if is_pair(content):
                content = content[0]
            if content is not None or (nulls == "error" and not self._conditions):
                break
        return itertools.chain(head, iterator), of_dicts, content

    def _add_or_skip(self, document, nulls, otherwise, **how):
        if document is not None:
            self._add_document(document, **how)
        elif nulls == "skip":
            self._core.add_some(iter([None]), how["source"], True)
        else:
            raise ValueError(f"{otherwise}; nulls=\"skip\" leaves such documents out")
        self._checkpoint_if_due()

    def _extend_singly(self, dicts, text, id, source, nulls, mask):
        """Adds dicts one by one: those with ids, or with a text or ids and a mask."""
        for n, record in enumerate(dicts):
            if record is None:
                record = {}
            elif self._conditions and not self._conditions.hold(record):
                self._core.add_some(iter([False]), source, False)
                continue
            if not hasattr(record, "keys"):
                raise TypeError(f"{'mask' if mask else 'text'}={mask or text!r} names a key of dicts or a column of a "
                                f"table, not of {record!r}")
            document = follow(record, text, text.split("."))
            marks = follow(record, mask, mask.split(".")) if mask else None
            if mask and marks is None and document is not None:
                raise ValueError(f"document {n} has no {mask}")
            self._add_or_skip(document, nulls, f"document {n} has no {text}", source=source, mask=marks,
                              columns=self._columns.of_row(record) if document is not None else None,
                              id=follow(record, id, id.split(".")) if id else None)

    def _of_dicts(self, dicts, text, id, nulls):
        """Yields pairs for add_some(), None for a row that is left out, and False for one that conditions reject."""
        way, id_way = text.split("."), id.split(".") if id else []
        for n, record in enumerate(dicts):
            if self._conditions and record is not None and not self._conditions.hold(record):
                yield False
                continue
            value = None if record is None else follow(record, text, way)
            if value is None:
                if nulls == "error":
                    raise ValueError(f"document {n} has no {text}; nulls=\"skip\" leaves such documents out")
                yield None
                continue
            yield value, read_id(follow(record, id, id_way)) if id else None

    # ---- Checkpoints and the end ----

    def checkpoint(self, note: str = "") -> None:
        """Waits until everything is durably written: Packer(resume=True) continues from here. Keeps the note."""
        import json
        instance("note", note, str)
        given, skipped, sources = self._core.given()
        state = {"given": given, "skipped": skipped, "note": note, "sources": list(sources.items())}
        # set first, so that no interrupt leaves an older note in the last checkpoint
        before, self._note = self._note, note
        try:
            self._core.checkpoint(json.dumps(state).encode())
        except Error:
            self._note = before
            raise
        self._last = now()

    def _checkpoint_if_due(self):
        if self._every is not None and now() - self._last >= self._every:
            self.checkpoint(self._note)

    def finish(self) -> Summary:
        """Writes what is left, and gives the dataset its name. If this fails, suspend or abandon the packer."""
        return self._finish()

    def _finish(self):
        if self._summary is None:
            report = dict(self._core.finish(), inputs=len(self.sources))
            self._summary = summarize(self._output, report, [], [], now() - self._began)
            self._warn(4)
        return self._summary

    def suspend(self) -> None:
        """Ends without finishing, and keeps the last checkpoint for resume=True; without one, no file remains."""
        self._core.suspend()

    def abandon(self) -> None:
        """Ends without finishing, and removes everything that was written."""
        self._core.abandon()

    def __repr__(self):
        state = "finished" if self._summary else "ended" if self._core.ended() else "open"
        return f"<leat.Packer of {shown(self._output)}: {self.given} documents given, {state}>"

    def __enter__(self) -> Packer:
        return self

    def __exit__(self, kind, error, trace):
        if self._core.ended():
            return
        try:
            if kind is None:
                self._finish()
            elif issubclass(kind, KeyboardInterrupt):
                self.checkpoint(self._note)
        except Error:
            if kind is None:
                raise
            # otherwise the exception already raised says more
        finally:
            self._core.suspend()

    def __del__(self):
        core = getattr(self, "_core", None)  # None if the output could not be opened
        if core is not None and not core.ended():
            warnings.warn(f"the leat.Packer of {shown(self._output)} was neither finished nor suspended",
                          ResourceWarning, source=self)

    def __reduce__(self):
        raise TypeError("a leat.Packer cannot be pickled: it belongs to the process that writes the dataset")
