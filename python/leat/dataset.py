"""dataset.py: an open dataset: its tokens, documents, texts, and where they came from."""
from __future__ import annotations

from collections import namedtuple
from os import fsdecode
from types import SimpleNamespace

from leat import _leat
from leat._lazy import numpy
from leat._pack_options import read_id
from leat._values import choice, is_name, listed, whole

ACCESS = {"leased": 0, "trusted": 1, "read": 2}

Part = namedtuple("Part", "name first_token tokens first_document documents first_input inputs identity")
Part.__doc__ = "One dataset of a list: its name, and where its tokens, documents and inputs begin in the list."
Input = namedtuple("Input", "path bytes documents tokens rejects hash")
Input.__doc__ = "A file that documents were packed from; `bytes` as it lay on disk, `hash` of them."
Place = namedtuple("Place", "document first count input path offset line id")
Place.__doc__ = """A document: its number, its first token's position and how many tokens it has; and its origin: number
and path of the input, byte offset in it, line, id; None for each that is not known."""
Report = namedtuple("Report", "bytes damaged_pages damaged_others part page first_document documents")
Report.__doc__ = "What Dataset.verify() has checked and found; page, part and documents are of the first damaged page."


class Info(SimpleNamespace):
    """Facts of a dataset, as `leat info` shows them: attributes."""


def open(name, *, access="leased"):  # noqa: A001 (leat.open is its name)
    """Opens a dataset; or several, joined end to end.

    name    NAME, NAME.leat or NAME.tokens; a folder, which means every dataset in it in the order of their names;
            "@FILE", which names one dataset a line; or a list of such names.
    access  "leased" (default): files are mapped where the kernel grants a lease on them, so that somebody who shrinks
            one gives an error and not a crash. "trusted": mapped; nobody changes the files. "read": never mapped.

    Checks what does not grow with the dataset; verify() checks everything.
    """
    return Dataset(name, access=access)


class Documents:
    """Documents of a dataset as a sequence of arrays of tokens: of the stored width, end and begin tokens included;
    views of the map where the file is mapped. A slice is such a sequence too."""

    __slots__ = ("_dataset", "_range")

    def __init__(self, dataset, numbers):
        self._dataset = dataset
        self._range = numbers

    def __len__(self):
        return len(self._range)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return Documents(self._dataset, self._range[index])
        try:
            number = self._range[index]
        except IndexError:
            raise IndexError(f"there is no document {index} among {len(self._range)}") from None
        return self._dataset._array(*self._dataset._native.document(number))

    def __iter__(self):
        for number in self._range:
            yield self._dataset._array(*self._dataset._native.document(number))

    def __repr__(self):
        return f"<{len(self)} documents of {self._dataset!r}>"


class Dataset:
    """An open dataset: made by leat.open(). Any number of threads may use it; it can be pickled (the other process
    opens it by its name), and closes itself when nothing uses it any more.

    len(d) is the number of documents; d[i] and d.documents[i] are tokens of one, d[a:b] is a sequence of them.
    """

    __slots__ = ("_native", "_names", "_access", "_info", "__weakref__")

    def __init__(self, name, *, access="leased"):
        number = choice("access", access, ACCESS)
        names = [name] if is_name(name) else listed("a dataset is opened by its name, or a list of names", name)
        self._names = [fsdecode(n) for n in names]
        self._access = access
        self._native = _leat.open_dataset(self._names, number)
        self._info = None

    @classmethod
    def _wrap(cls, native, name, access):
        """Of a dataset that the library has opened."""
        self = cls.__new__(cls)
        self._names, self._access, self._native, self._info = [name], access, native, None
        return self

    def __reduce__(self):
        return _reopen, (self._names, self._access)

    def __repr__(self):
        return f"leat.open({self.name!r})"

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.close()

    def close(self):
        """Closes the files as soon as nothing that was made of it (views, plans, loaders) needs them."""
        self._native.close()

    @property
    def name(self):
        """The name it was opened by; a list's names."""
        return self._names[0] if len(self._names) == 1 else self._names

    # ---- Facts

    @property
    def info(self):
        """Its facts: tokens, documents, inputs, parts, vocabulary, end_token, begin_token, token_width, identity,
        fingerprint, created, sizes, what is stored of each document."""
        if self._info is None:
            self._info = Info(**self._native.info())
        return self._info

    @property
    def parts(self):
        """The datasets of a list, as Part tuples; one for a single dataset."""
        return [Part(*self._native.part(i)) for i in range(self.info.parts)]

    @property
    def inputs(self):
        """What it was packed from, as Input tuples."""
        return [Input(*self._native.input(i)) for i in range(self.info.inputs)]

    @property
    def metadata(self):
        """The user's pairs of text; of a list, those of the first dataset."""
        return self._native.metadata(0)

    @property
    def stored_tokenizer(self):
        """(name, pattern, the file's bytes or None) of the tokenizer that is kept in the index; None: none is."""
        return self._native.tokenizer()

    # ---- Tokens

    @property
    def tokens(self):
        """All tokens as a numpy array: a view of the mapped file, nothing is copied.

        Not for a list of datasets, which do not follow each other in memory (use read(), or open its parts), nor for
        files that are not mapped: leat.Error says what to do. While such an array lives, a lease on the file cannot be
        given back to somebody who wants to change it; access="trusted" asks for none.
        """
        if self.info.tokens == 0:  # nothing is mapped
            return self.read(0, 0)
        return numpy("Dataset.tokens").asarray(self._native.view(0, self.info.tokens))

    def read(self, first, count):
        """Tokens [first, first + count) as a numpy array of the stored width: a copy; across documents and datasets."""
        return numpy("Dataset.read()").asarray(self._native.read(first, count))

    def view(self, first, count):
        """The same as a view of the map; they must lie in one dataset of a list."""
        return numpy("Dataset.view()").asarray(self._native.view(first, count))

    def _array(self, first, count):
        """A view where that can be had."""
        try:
            return self.view(first, count)
        except _leat.Error as error:
            if error.status not in ("not-mapped", "unsupported", "range"):
                raise
        return self.read(first, count)

    # ---- Documents

    @property
    def documents(self):
        """The documents, as a sequence of arrays of tokens."""
        return Documents(self, range(self.info.documents))

    def __len__(self):
        return self.info.documents

    def __getitem__(self, index):
        return self.documents[index]

    def __iter__(self):
        return iter(self.documents)

    def starts(self, first=0, count=None):
        """Positions of the first tokens of `count` documents as a numpy array; one more than there are may be asked,
        whose start is the number of tokens. count None: all, and that one."""
        if count is None:
            count = self.info.documents + 1 - first
        return numpy("Dataset.starts()").asarray(self._native.starts(first, count))

    def text(self, number, *, errors="replace"):
        """The text of a document, by the tokenizer that the dataset keeps, without its begin and end tokens.

        errors is what bytes that are no UTF-8 become, as of bytes.decode().
        """
        first, count = self._native.document(self._number(number))
        begin, end = self.info.begin_token, self.info.end_token
        if begin is not None and count and int(self._one(first)) == begin:
            first, count = first + 1, count - 1
        if end is not None and count and int(self._one(first + count - 1)) == end:
            count -= 1
        return self._native.decode(first, count).decode("utf-8", errors)

    def decode(self, first, count):
        """The bytes that tokens [first, first + count) stand for; special tokens by their names."""
        return self._native.decode(first, count)

    def _one(self, position):
        return self.read(position, 1)[0]

    def _number(self, number):
        """Of a document, as a sequence's index."""
        try:
            return range(self.info.documents)[number]
        except IndexError:
            raise IndexError(f"there is no document {number} among {self.info.documents}") from None

    # ---- Origins

    def place(self, number):
        """Where a document lies, and where it came from: a Place."""
        number = self._number(number)
        first, count = self._native.document(number)
        source, offset, line, identifier = self._native.origin(number)
        path = None if source is None else self._native.input(source)[0]
        return Place(number, first, count, source, path, offset, line, identifier)

    def find(self, *, document=None, token=None, origin=None, id=None):  # noqa: A002 (the command's name)
        """The Place of the document that is looked for, by one of:

        document  its number
        token     the position of one of its tokens
        origin    (input, offset): the path or number of an input, and a byte of the record in it
        id        its id string; the first one, by a scan over all documents
        """
        if (document, token, origin, id).count(None) != 3:
            raise TypeError("find() needs one of document, token, origin and id")
        if document is not None:
            return self.place(document)
        if token is not None:
            return self.place(self._native.documents_in(token, 1)[0])
        if id is not None:
            return self.place(self._native.find_id(read_id(id)))
        if isinstance(origin, (str, bytes)) or len(listed("origin is a pair (input, offset)", origin)) != 2:
            raise TypeError(f"origin is a pair (input, offset), not {origin!r}")
        source, offset = origin
        if not hasattr(source, "__index__"):
            source = self._native.find_input(source)
        return self.place(self._native.find_origin(source, offset))

    def text_hash(self, number):
        """XXH3-128 of a document's text as it was encoded, 16 bytes; leat.Error ("not-found") where none are stored."""
        return self._native.text_hash(self._number(number))

    # ---- Checking

    def verify(self, *, threads=0, progress=None):
        """Checks every checksum and every rule of both files; threads 0: as many as the process may run on.

        progress(done, total) is called with bytes now and then; what it raises, and Ctrl-C, stops the work. Returns a
        Report if nothing is wrong, else raises the first damage as leat.Error, whose attribute `report` has the Report.
        """
        if progress is not None and not callable(progress):
            raise TypeError(f"progress is a function of (done, total), not {progress!r}")
        facts, damage = self._native.verify(whole("threads", threads, 0, 4096), progress)
        report = Report(*facts)
        if damage is not None:
            damage.report = report
            raise damage
        return report

    def verify_range(self, first, count):
        """Checks the hash of every page that tokens [first, first + count) touch; raises leat.Error."""
        self._native.verify_range(first, count)


def _reopen(names, access):
    return Dataset(names, access=access)
