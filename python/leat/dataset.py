"""dataset.py: an open dataset: its tokens, documents and texts, and where they came from."""
from __future__ import annotations

import ctypes
from collections import namedtuple
from os import fsdecode
from os.path import abspath
from types import SimpleNamespace

from leat import _leat
from leat._lazy import numpy
from leat._pack_options import read_id
from leat._values import choice, is_name, listed, shown, whole
from leat.options import opening

Part = namedtuple("Part", "name first_token tokens first_document documents first_input inputs identity")
Part.__doc__ = """One dataset of a list: its name, how many tokens, documents and inputs it has, and which number the
first of each has in the list."""
Input = namedtuple("Input", "path bytes documents tokens rejects hash")
Input.__doc__ = "A file that documents were packed from; `bytes` is its size on disk, `hash` the hash of these bytes."
Place = namedtuple("Place", "document first count input path offset line id row row_group", defaults=(None, None))
Place.__doc__ = """A document: its number, the position of its first token, and its number of tokens; and its origin:
number and path of the input, byte offset in it, line, id. What is not known is None. For a document from a Parquet
file, offset is its row and line its row_group + 1; row and row_group, counted from 0 as by `leat find --json`, say so
plainly, and are None for other inputs."""
Column = namedtuple("Column", "name type width at")
Column.__doc__ = """A column of a dataset: its name; the type of its values ("f32", ..., "category"); how many values an
entry has; and "token" or "document", which has an entry."""
Report = namedtuple("Report", "bytes damaged_pages damaged_others part page first_document documents unhashed_parts")
Report.__doc__ = """What Dataset.verify() has checked and found; part, page, first_document and documents describe the
first damaged page. unhashed_parts counts the datasets that store no hashes of their tokens; only ids and documents that
are invalid are found in these."""

ARROW_COLUMNS = ("number", "id", "source", "text", "tokens", "mask")  # in the order of enum documents_column


class Info(SimpleNamespace):
    """The facts of a dataset that `leat info` shows, as attributes."""


def open(name, *, access="leased", cache=None, cache_size=None, online=False,  # noqa: A001 (leat.open is its name)
         retry_seconds=None):
    """Opens a dataset, or several joined end to end.

    name    NAME, NAME.leat or NAME.tokens; a folder, which means all datasets in it, sorted by name; "@FILE", which
            names one dataset per line; a URL (s3://BUCKET/NAME, gs://, az://, hf://datasets/ORG/REPOSITORY/NAME,
            https://), which is read through a cache of this machine; or a list of such names
    access  "leased": files are mapped where the kernel grants a lease on them, so that a file that another process
            shrinks gives an error, not a crash. "trusted": files are mapped; nobody must change them. "read": files
            are never mapped
    cache   the folder of the cache of datasets on servers; None: the variable LEAT_CACHE, else ~/.cache/leat
    cache_size    what all of that cache may take, as in 2**40 or "1TiB"; what was not used for longest goes. None: the
            variable LEAT_CACHE_SIZE, else no limit
    online  True: an error if a server cannot be reached. False: then a complete copy in the cache is opened, unless the
            variable LEAT_ONLINE is 1
    retry_seconds    how long calls are tried again that fail with EIO, ESTALE, ETIMEDOUT, ESHUTDOWN or ENOTCONN on a
            network file system or FUSE, as while its server restarts. None: 60 s; 0: not at all. A RuntimeWarning says
            that a call waits (a LoaderNotice for a loader); Ctrl-C ends that

    Checks only what does not grow with the dataset; verify() checks everything.
    """
    return Dataset(name, access=access, cache=cache, cache_size=cache_size, online=online, retry_seconds=retry_seconds)


class Documents:
    """Documents of a dataset, as a sequence of arrays of tokens of the stored width, with their begin and end tokens.
    The arrays are views of the file where it is mapped. A slice is such a sequence too."""

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
            raise IndexError(f"no document {index}: there are {len(self._range)}") from None
        return self._dataset._array(*self._dataset._native.document(number))

    def __iter__(self):
        for number in self._range:
            yield self._dataset._array(*self._dataset._native.document(number))

    def __repr__(self):
        return f"<{len(self)} documents of {self._dataset!r}>"


class ArrowDocuments:
    """Documents of a dataset as a table of Arrow's PyCapsule interface, made by Dataset.arrow(). Each reader gets a
    stream of its own from the first document on."""

    __slots__ = ("_dataset", "_columns", "_range")

    def __init__(self, dataset, columns, first, count):
        self._dataset, self._columns, self._range = dataset, columns, (first, count)

    def __arrow_c_schema__(self):
        return _leat.documents_schema(self._dataset._native, self._columns)

    def __arrow_c_stream__(self, requested_schema=None):
        return _leat.documents_stream(self._dataset._native, self._columns, *self._range)

    def __repr__(self):
        return f"<documents of {self._dataset!r} as Arrow: {', '.join(ARROW_COLUMNS[n] for n in self._columns)}>"


class Dataset:
    """An open dataset, made by leat.open(). Any number of threads may use it. It can be pickled: the other process
    opens it by its name, and fails if that is another dataset by then. So the pickle holds the name as it was given,
    with what follows the ? of a URL; nothing else shows that. It closes itself when nothing uses it any more.

    len(d) is the number of documents; d[i], like d.documents[i], is the tokens of one; d[a:b] is a sequence of them.
    """

    __slots__ = ("_native", "_names", "_how", "_info", "__weakref__")

    def __init__(self, name, *, access="leased", cache=None, cache_size=None, online=False, retry_seconds=None):
        how = opening(access, cache, cache_size, online, retry_seconds)
        names = [name] if is_name(name) else listed("name must be a name or a list of names", name)
        self._names = [fsdecode(n) for n in names]
        self._how = dict(access=access, cache=cache, cache_size=cache_size, online=online,
                         retry_seconds=retry_seconds)
        self._native = _leat.open_dataset(self._names, how)
        self._info = None

    @classmethod
    def _wrap(cls, native, name, how):
        """Wraps a dataset that the library has opened."""
        self = cls.__new__(cls)
        self._names, self._how, self._native, self._info = [name], how, native, None
        return self

    def __reduce__(self):
        return _reopen, ([_from_root(name) for name in self._names], self._how, self.info.identity)

    def __repr__(self):
        return f"leat.open({self.name!r})"

    def __enter__(self):
        return self

    def __exit__(self, *why):
        self.close()

    def close(self):
        """Closes the files as soon as nothing made from them (views, plans, loaders) needs them any more."""
        self._native.close()

    @property
    def name(self):
        """The name that it was opened by, without what follows the ? of a URL; for a list, its names."""
        names = [_leat.show(name, True) for name in self._names]
        return names[0] if len(names) == 1 else names

    # ---- Facts

    @property
    def info(self):
        """Its facts: tokens, documents, inputs, parts, vocabulary, end_token, begin_token, token_width, identity,
        fingerprint, created, sizes, and what is stored about each document."""
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
        """The user's pairs of texts; for a list, those of its first dataset."""
        return self._native.metadata(0)

    @property
    def stored_tokenizer(self):
        """(name, pattern, the file's bytes or None) of the tokenizer that the index keeps; None if it keeps none."""
        return self._native.tokenizer()

    # ---- Tokens

    @property
    def tokens(self):
        """All tokens as a numpy array: a view of the mapped file, without a copy.

        Raises leat.Error, which says what to do, for files that are not mapped and for a list of datasets, which do
        not follow each other in memory. While such an array lives, the lease on the file cannot be given back to a
        process that wants to change it; access="trusted" takes no lease.
        """
        if self.info.tokens == 0:  # an empty dataset maps no file
            return self.read(0, 0)
        return numpy("Dataset.tokens").asarray(self._native.view(0, self.info.tokens))

    def read(self, first, count):
        """Copies tokens [first, first + count), across documents and datasets, to a numpy array of the stored width."""
        return numpy("Dataset.read()").asarray(self._native.read(first, count))

    def view(self, first, count):
        """Tokens [first, first + count) as a view of the mapped file; in a list, they must lie in one dataset."""
        return numpy("Dataset.view()").asarray(self._native.view(first, count))

    def _array(self, first, count):
        """Returns a view where possible, else a copy."""
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
        return Documents(self, range(self._count()))

    def __len__(self):
        return self._count()

    def __bool__(self):
        return self.info.documents != 0

    def _count(self):
        """The number of documents; leat.Error ("not-found") if it is not known."""
        if self.info.documents is None:
            self._native.starts(0, 0)
        return self.info.documents

    def __getitem__(self, index):
        return self.documents[index]

    def __iter__(self):
        return iter(self.documents)

    def starts(self, first=0, count=None):
        """Positions of the first tokens of `count` documents, as a numpy array. One document more than there are may be
        asked for; it starts at the number of tokens. None means all, and that one."""
        if count is None:
            count = max(self._count() + 1 - first, 0)
        return numpy("Dataset.starts()").asarray(self._native.starts(first, count))

    def mask(self, first=0, count=None):
        """The mask of `count` tokens (None: of the rest), a byte each, as a numpy array: 0 where a token is not to be
        learned. 255 where no mask is stored."""
        if count is None:
            count = max(self.info.tokens - first, 0)
        return numpy("Dataset.mask()").asarray(self._native.mask(first, count))

    # ---- Columns

    @property
    def columns(self):
        """The values beside its tokens or documents that leat.attach() has added, as {name: Column}; for a list, the
        columns that all its datasets have alike."""
        found = {}
        for column in _leat.columns(self._native):
            found.setdefault(Column(*column[1:]), []).append(column[0])
        return {column.name: column for column, parts in found.items() if len(parts) == self.info.parts}

    def column(self, name):
        """The values of a column, as a read-only numpy array [entries, width], or [entries] if the width is 1: a view
        of the mapped file, or a copy where files are not mapped. A list has the values of its datasets one after
        another, as a copy, and a column only if all of them have it, with one type and width. verify() checks the
        bytes; the view does not. bf16,
        which numpy lacks, is given as uint16: array.view(ml_dtypes.bfloat16). A category is given as texts, an array of
        str objects."""
        if not isinstance(name, str) or "\0" in name:
            raise TypeError(f"name must be the name of a column, not {shown(name)}")
        np = numpy("Dataset.column()")
        array, texts = _leat.column(self._native, name)
        array = np.asarray(array)
        if texts is not None:
            if len(array) and int(array.max()) >= len(texts):
                raise _leat.failure("record", name, f"column {name} has numbers of texts that are not there: attach it "
                                    "again")
            array = np.array(texts, dtype=object)[array] if texts else np.empty(array.shape, object)
        array.flags.writeable = False
        return array

    # ---- Texts

    def text(self, number, *, errors="replace"):
        """The text of a document without its begin and end tokens, decoded by the tokenizer that the dataset keeps.

        errors  what happens to bytes that are not UTF-8, as in bytes.decode()
        """
        first, count = self._native.document(self._number(number))
        begin, end = self.info.begin_token, self.info.end_token
        if begin is not None and count and self._one(first) == begin:
            first, count = first + 1, count - 1
        if end is not None and count and self._one(first + count - 1) == end:
            count -= 1
        return self._native.decode(first, count).decode("utf-8", errors)

    def decode(self, first, count):
        """The bytes that tokens [first, first + count) stand for; special tokens give their names."""
        return self._native.decode(first, count)

    def _one(self, position):
        """Returns a token, without numpy."""
        array = self._native.read(position, 1)
        return {2: ctypes.c_uint16, 4: ctypes.c_uint32}[self.info.token_width].from_address(array.address).value

    def _number(self, number):
        """Returns the number of a document from an index as sequences take it."""
        try:
            return range(self._count())[number]
        except IndexError:
            raise IndexError(f"no document {number}: there are {self.info.documents}") from None

    # ---- Documents as Arrow

    def arrow(self, columns=ARROW_COLUMNS, *, first=0, count=None):
        """Documents [first, first + count) (None: to the end) as a table that pyarrow.table(), Polars, DuckDB, Ray,
        Daft and all else that takes Arrow's C streams read a batch at a time, as often as they like.

            duckdb.sql("SELECT source, sum(len(tokens)) FROM documents GROUP BY source")  # documents = dataset.arrow()

        number  number of the document, int64
        id, source  its id, and the path of its input, as in place(); null where it is not known
        text    its text, as text() returns it
        tokens  its tokens as stored, with begin and end token: lists of uint16 or uint32, in place where the file is
                mapped
        mask    lists of uint8, one for each token: 255 where no mask is stored
        """
        columns = listed("columns must be a list of names", columns)
        numbers = tuple(ARROW_COLUMNS.index(choice("columns", name, ARROW_COLUMNS)) for name in columns)
        if not numbers or len(set(numbers)) < len(numbers):
            raise ValueError(f"columns must name one or more columns, each once, not {columns!r}")
        documents = self._count()
        if not 0 <= first <= documents:
            raise IndexError(f"no document {first}: there are {documents}")
        return ArrowDocuments(self, numbers, first, documents - first if count is None else count)

    # ---- Origins

    def place(self, number):
        """Where a document lies, and where it came from: a Place."""
        number = self._number(number)
        first, count = self._native.document(number)
        try:
            source, offset, line, identifier = self._native.origin(number)
        except _leat.Error as error:
            if error.status != "not-found":  # files of another tool do not record the origin
                raise
            source = offset = line = identifier = None
        path, size = (None, 0) if source is None else self._native.input(source)[:2]
        # An iterable may have such a name, too, but has no size.
        rows = line is not None and size > 0 and path.lower().endswith((".parquet", ".pq"))
        row, group = (offset, line - 1) if rows else (None, None)
        return Place(number, first, count, source, path, offset, line, identifier, row, group)

    def find(self, *, document=None, token=None, origin=None, id=None):  # noqa: A002 (the command's name)
        """Finds a document and returns its Place. Give one of:

        document  its number
        token     the position of one of its tokens
        origin    (input, offset): the path or number of an input, and the offset of a byte of its record there
        id        its id; finds the first document with this id, by a scan over all documents
        """
        if (document, token, origin, id).count(None) != 3:
            raise TypeError("find() needs exactly one of document, token, origin and id")
        if document is not None:
            return self.place(document)
        if token is not None:
            return self.place(self._native.documents_in(token, 1)[0])
        if id is not None:
            return self.place(self._native.find_id(read_id(id)))
        if isinstance(origin, (str, bytes)) or len(listed("origin must be a pair (input, offset)", origin)) != 2:
            raise TypeError(f"origin must be a pair (input, offset), not {shown(origin)}")
        source, offset = origin
        if not hasattr(source, "__index__"):
            source = self._native.find_input(source)
        return self.place(self._native.find_origin(source, offset))

    def text_hash(self, number):
        """XXH3-128 of a document's text as it was encoded, 16 bytes; leat.Error ("not-found") if it is not stored."""
        return self._native.text_hash(self._number(number))

    # ---- Checking

    def verify(self, *, threads=0, progress=None):
        """Checks every checksum and every rule of both files. Returns a Report if nothing is wrong; else raises
        leat.Error for the first damage, with the Report in its attribute `report`.

        threads   0: one per CPU that the process may use
        progress  a function that is called with (bytes done, bytes in all) now and then; an exception in it, like
                  Ctrl-C, stops the work
        """
        if progress is not None and not callable(progress):
            raise TypeError(f"progress must be a function of (done, total), not {progress!r}")
        facts, damage = self._native.verify(whole("threads", threads, 0, 4096), progress)
        report = Report(*facts)
        if damage is not None:
            damage.report = report
            raise damage
        return report

    def verify_range(self, first, count):
        """Checks the hash of every page that holds some of tokens [first, first + count); raises leat.Error."""
        self._native.verify_range(first, count)


def _from_root(name):
    """Returns the absolute name of a file, for processes in other folders. Names with a scheme, and lists, stay."""
    return abspath(name) if ":" not in name and not name.startswith("@") else name


def _reopen(names, how, identity):
    dataset = Dataset(names, **how)
    if dataset.info.identity != identity:
        name = _leat.show(names[0], True)
        raise _leat.failure("mismatch", name, f"{name} is another dataset by now than the one that was pickled: it has "
                            "other documents")
    return dataset
