"""Arrow's C interface: every layout of texts and ids, from every producer, and arrays that contradict their schema."""
import ctypes
import gc
import random
import sys

import pytest
from conftest import resident

import leat
from made_texts import SEED, texts

pa = pytest.importorskip("pyarrow")
import pyarrow.dataset  # noqa: E402, F401
import pyarrow.parquet  # noqa: E402, F401


@pytest.fixture
def packed(gpt2, tmp_path):
    """What extend() makes of an object: a list of documents' ids, the end token taken off, or texts' ids."""
    def pack(*objects, tokenizer=gpt2, **how):
        with leat.Packer(tmp_path / "out", tokenizer, end=None, force=True, threads=2) as packer:
            for one in objects:
                packer.extend(one, **how)
        from numpy import fromfile
        pack.packer = packer
        return fromfile(tmp_path / "out.tokens", dtype="<u2").tolist()

    pack.name = tmp_path / "out"
    return pack


SOME = texts(700, 40)


def flat(gpt2, some):
    return gpt2.encode_flat([t for t in some if t is not None])[0].tolist()


def layouts():
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()):
        yield str(kind), lambda some, kind=kind: pa.array(
            [t.encode() if "bin" in str(kind) and t is not None else t for t in some], kind)
    for index in (pa.int8(), pa.uint16(), pa.int32(), pa.uint64()):
        yield f"dictionary {index}", lambda some, index=index: pa.DictionaryArray.from_arrays(
            pa.array([None if t is None else i % 100 for i, t in enumerate(some)], index), pa.array(SOME[:100]))
    yield "dictionary of large", lambda some: pa.DictionaryArray.from_arrays(
        pa.array([None if t is None else i % 100 for i, t in enumerate(some)], pa.int16()),
        pa.array(SOME[:100], pa.large_string()))


@pytest.mark.parametrize("name, make", list(layouts()), ids=[name for name, _ in layouts()])
def test_layouts(gpt2, packed, name, make):
    """As a column, in a table, in nested structs; in chunks and slices; with and without nulls."""
    r = random.Random(SEED)
    given = [SOME[i % 100] for i in range(len(SOME))] if "dictionary" in name else SOME
    assert packed(make(SOME)) == flat(gpt2, given)
    assert packed(make(SOME).slice(13, 200)) == flat(gpt2, given[13:213])
    holes = [None if r.random() < 0.3 else t for t in SOME]
    want = flat(gpt2, [g if h is not None else None for g, h in zip(given, holes)])
    column = make(holes)
    assert packed(column, nulls="skip") == want and packed.packer.skipped == holes.count(None)
    chunks = pa.chunked_array([column.slice(0, 0), column.slice(0, 333), column.slice(333)])
    assert packed(chunks, nulls="skip") == want
    table = pa.table({"n": range(len(SOME)), "text": chunks})
    assert packed(table, nulls="skip") == want
    assert packed(table.to_reader(max_chunksize=50), nulls="skip") == want
    assert packed(table.to_batches(max_chunksize=70), nulls="skip") == want
    with pytest.raises(leat.Error, match=rf"column text: the text of row {holes.index(None)} is missing"):
        packed(table)
    inner = pa.StructArray.from_arrays([pa.array(range(len(SOME))), column], ["n", "body"])
    outer = pa.StructArray.from_arrays([inner], ["deep"], mask=pa.array([i % 7 == 3 for i in range(len(SOME))]))
    with_struct = [g if h is not None and i % 7 != 3 else None for i, (g, h) in enumerate(zip(given, holes))]
    assert packed(pa.table({"meta": outer}), text="meta.deep.body", nulls="skip") == flat(gpt2, with_struct)
    sliced = pa.table({"meta": outer.slice(100, 400)})
    assert packed(sliced, text="meta.deep.body", nulls="skip") == flat(gpt2, with_struct[100:500])
    assert packed(pa.record_batch({"x.text": column}), text="x.text", nulls="skip") == want


def test_null_column(packed):
    table = pa.table({"text": pa.nulls(5)})
    assert packed(table, nulls="skip") == [] and packed.packer.skipped == 5


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
@pytest.mark.parametrize("large", [False, True])
def test_lists_of_ids(packed, kind, large):
    lists = [[1, 2, 3], [], [100], None, list(range(120))]
    of = (pa.large_list if large else pa.list_)(getattr(pa, kind)())
    column = pa.array(lists, of)
    want = [1, 2, 3, 100, *range(120)]
    assert packed(pa.table({"input_ids": column}), text="input_ids", nulls="skip") == want
    assert packed(column.slice(1), nulls="skip") == want[3:]
    with pytest.raises(leat.Error, match="number 1 of a list is missing"):
        packed(pa.array([[1, None]], of))
    if kind[0] == "i":
        with pytest.raises(leat.Error, match="is not an id"):
            packed(pa.array([[-1]], of))
    if kind[-2:] == "64":
        with pytest.raises(leat.Error, match="is not an id"):
            packed(pa.array([[2**40]], of))
    if "8" not in kind and kind != "int16":
        with pytest.raises(leat.Error, match="id 60000 is not below"):
            packed(pa.array([[60000]], of))


@pytest.mark.parametrize("ids, want", [
    (pa.array(["a", "b", None]), ["a", "b", None]), (pa.array([5, -6, 7], pa.int8()), ["5", "-6", "7"]),
    (pa.array([2**64 - 1, 0, None], pa.uint64()), ["18446744073709551615", "0", None]),
    (pa.array(["x", "y", "x"]).dictionary_encode(), ["x", "y", "x"]),
])
def test_ids_of_documents(packed, ids, want):
    import subprocess
    from leat.command import program
    packed(pa.table({"text": ["a", "b", "c"], "key": ids}), id="key", source="a.parquet")
    for i, id in enumerate(want):
        told = subprocess.run([program("leat"), "find", packed.name, "--document", str(i)], capture_output=True,
                              text=True, check=True).stdout
        assert (f"id        {id}\n" in told) == (id is not None), told
        assert f"byte      {i}\n" in told and f"line      {i + 1}\n" in told and "a.parquet" in told


def test_no_rows_yet(gpt2, tmp_path):
    """A LazyFrame was "not subscriptable", a ParquetFile "not iterable"."""
    table = pa.table({"text": SOME})
    pa.parquet.write_table(table, tmp_path / "rows.parquet")
    packer = leat.Packer(tmp_path / "none", gpt2)
    for given, way in ((pa.parquet.ParquetFile(tmp_path / "rows.parquet"), "iter_batches"),
                       (pa.dataset.dataset(tmp_path / "rows.parquet"), "to_batches")):
        with pytest.raises(TypeError, match=f"is not an iterable of documents: pass its {way}"):
            packer.extend(given)
    polars = pytest.importorskip("polars")
    frame = polars.LazyFrame({"text": SOME})
    for call in (packer.extend, gpt2.encode_batch, gpt2.encode_ordinary_batch, gpt2.encode_flat):
        with pytest.raises(TypeError, match="a LazyFrame has no rows yet: pass frame.collect()"):
            call(frame)
    with pytest.raises(TypeError, match="no rows yet"):
        packer.extend([frame])
    with pytest.raises(TypeError, match="pass a table to extend"):
        packer.add(frame)
    packer.abandon()


def test_producers(gpt2, packed, tmp_path):
    """The same rows from pyarrow, Parquet, Polars, DuckDB, pandas and datasets."""
    want = flat(gpt2, SOME)
    table = pa.table({"id": range(len(SOME)), "text": SOME})
    pa.parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=100)
    file = pa.parquet.ParquetFile(tmp_path / "rows.parquet")
    assert packed(file.iter_batches(batch_size=64)) == want
    assert packed(pa.dataset.dataset(tmp_path / "rows.parquet").scanner().to_reader()) == want
    polars = pytest.importorskip("polars")
    frame = polars.read_parquet(tmp_path / "rows.parquet")
    assert packed(frame) == want and packed(frame["text"]) == want
    assert packed(frame.with_columns(polars.col("text").cast(polars.Categorical))) == want
    assert packed(frame.lazy().collect_batches(chunk_size=64)) == want
    duckdb = pytest.importorskip("duckdb")
    if "\x00" not in "".join(SOME):
        assert packed(duckdb.sql(f"select * from '{tmp_path}/rows.parquet'")) == want
    assert packed(duckdb.sql(f"select id, text from '{tmp_path}/rows.parquet' order by id")) == want
    pandas = pytest.importorskip("pandas")
    assert packed(pandas.read_parquet(tmp_path / "rows.parquet")) == want
    datasets = pytest.importorskip("datasets")
    data = datasets.Dataset.from_parquet(str(tmp_path / "rows.parquet"), cache_dir=str(tmp_path / "cache"))
    assert packed(data) == want
    assert packed(data.select(range(len(SOME) - 1, -1, -1))) == flat(gpt2, SOME[::-1])
    assert packed(data.to_iterable_dataset()) == want
    with pytest.raises(TypeError, match="one of its splits"):
        packed(datasets.DatasetDict(train=data))
    assert packed(table, frame, data) == want * 3


def test_skip(gpt2, packed):
    table = pa.table({"text": SOME})
    for skip in (0, 1, 99, 100, 101, 250, 699, 700, 5000):
        want = flat(gpt2, SOME[skip:])
        assert packed(table.to_reader(max_chunksize=100), skip=skip) == want
        assert packed(table.to_batches(max_chunksize=100), skip=skip) == want
        assert packed(iter(SOME), skip=skip) == want


def test_wrong_schemas(gpt2, packed):
    for table, match in (
            (pa.table({"body": ["a"], "n": [1]}), r"no column text; the columns are body \(string\), n \(integer\)"),
            (pa.table({"text": [1.5]}), "type float64, not texts"), (pa.table({"text": [True]}), "type bool"),
            (pa.table({"text": [5]}), "type integer"), (pa.table({"text": [[["a"]]]}), "type list"),
            (pa.table({"text": [{"a": "b"}]}), "type struct"), (pa.table({"text": [["a"]]}), "type list"),
            (pa.table({"text": pa.array([1, 2]).dictionary_encode()}), "dictionary of integer"),
            (pa.table({"text": pa.RunEndEncodedArray.from_arrays([2], ["a"])}), "run-end"),
            (pa.table({"text": ["a"], "id": [1.5]}), "column id has type float64"),
            (pa.array([1, 2]), "type integer")):
        with pytest.raises(leat.Error, match=match) as e:
            packed(table)
        assert e.value.status in ("argument", "not-found")
    with pytest.raises(leat.Error, match="no column key"):
        packed(pa.table({"text": ["a"]}), id="key")
    assert packed(pa.table({"text": ["a"], "id": [1.5]}), id=None) == gpt2.encode("a")
    with pytest.raises(leat.Error, match="column text has type float64"):
        gpt2.encode_flat(pa.table({"text": [1.5]}))


def test_producer_that_fails(gpt2, packed):
    def batches():
        yield pa.record_batch({"text": ["a"]})
        raise RuntimeError("the disk is on fire")

    reader = pa.RecordBatchReader.from_batches(pa.schema([("text", pa.string())]), batches())
    with pytest.raises(leat.Error, match="the Arrow stream failed.*on fire"):
        packed(reader)
    reader = pa.RecordBatchReader.from_batches(pa.schema([("text", pa.string())]), batches())
    with pytest.raises(leat.Error, match="on fire"):
        gpt2.encode_flat(reader)
    with pytest.raises(RuntimeError, match="on fire"):
        packed(batches())


def test_consumed_already(gpt2):
    class Again:
        def __init__(self):
            self.capsule = pa.table({"text": ["a"]}).__arrow_c_stream__()

        def __arrow_c_stream__(self, requested_schema=None):
            return self.capsule

    again = Again()
    assert gpt2.encode_flat(again)[0].tolist() == gpt2.encode("a")
    with pytest.raises(ValueError, match="consumed already"):
        gpt2.encode_flat(again)


# ---- Arrays that no honest producer makes ---------------------------------------------------------------------------

class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
Schema._fields_ = [("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p),
                   ("flags", ctypes.c_int64), ("n_children", ctypes.c_int64),
                   ("children", ctypes.POINTER(ctypes.POINTER(Schema))), ("dictionary", ctypes.POINTER(Schema)),
                   ("release", RELEASE), ("private_data", ctypes.c_void_p)]
Array._fields_ = [("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64),
                  ("n_buffers", ctypes.c_int64), ("n_children", ctypes.c_int64),
                  ("buffers", ctypes.POINTER(ctypes.c_void_p)), ("children", ctypes.POINTER(ctypes.POINTER(Array))),
                  ("dictionary", ctypes.POINTER(Array)), ("release", RELEASE), ("private_data", ctypes.c_void_p)]

NOTHING = RELEASE(lambda pointer: None)
NEW = ctypes.pythonapi.PyCapsule_New
NEW.restype, NEW.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Crafted:
    """An object with __arrow_c_array__, whose structs are written here; it keeps all memory."""

    def __init__(self, schema, array):
        self.schema, self.array = schema, array

    def __arrow_c_array__(self, requested_schema=None):
        # copies, since what is taken over is marked as released
        self.given = Schema.from_buffer_copy(self.schema), Array.from_buffer_copy(self.array)
        return (NEW(ctypes.addressof(self.given[0]), b"arrow_schema", None),
                NEW(ctypes.addressof(self.given[1]), b"arrow_array", None))


KEPT = []


def pointers(kind, items):
    made = (ctypes.POINTER(kind) * max(1, len(items)))(*(ctypes.pointer(i) if i is not None else None for i in items))
    KEPT.append(made)
    return made


def schema(format, children=(), name=b"text", dictionary=None):
    s = Schema(format=format, name=name, n_children=len(children), release=NOTHING)
    if children:
        s.children = pointers(Schema, children)
    if dictionary is not None:
        s.dictionary = ctypes.pointer(dictionary)
    KEPT.append(s)
    return s


def array(length, buffers, children=(), dictionary=None, **others):
    a = Array(length=length, n_buffers=len(buffers), n_children=len(children), release=NOTHING)
    held = []
    for b in buffers:
        if b is not None:
            b = ctypes.create_string_buffer(bytes(b), max(1, len(b)))
            KEPT.append(b)
            b = ctypes.addressof(b)
        held.append(b)
    a.buffers = (ctypes.c_void_p * max(1, len(held)))(*held)
    KEPT.append(a.buffers)
    if children:
        a.children = pointers(Array, children)
    if dictionary is not None:
        a.dictionary = ctypes.pointer(dictionary)
    if others.pop("no_buffers", False):
        a.buffers = None
    for name, value in others.items():
        setattr(a, name, value)
    KEPT.append(a)
    return a


def i32(*numbers):
    return b"".join(n.to_bytes(4, sys.byteorder, signed=True) for n in numbers)


def i64(*numbers):
    return b"".join(n.to_bytes(8, sys.byteorder, signed=True) for n in numbers)


def good():
    return array(2, [None, i32(0, 1, 3), b"abc"])


def crafted():
    u = schema(b"u")
    yield "fine", u, good(), None
    yield "no offsets and no rows", u, array(0, [None, None, None]), None
    yield "no bytes and only empty texts", u, array(1, [None, i32(0, 0), None]), None
    yield "falling offsets", u, array(2, [None, i32(0, 2, 1), b"abc"]), "ends before it starts"
    yield "an offset below zero", u, array(1, [None, i32(-1, 1), b"abc"]), "ends before it starts"
    yield "a length below zero", u, array(-1, [None, i32(0, 1), b"abc"]), "length or offset"
    yield "an offset that overflows", u, array(2, [None, i32(0, 1, 3), b"abc"], offset=2**63 - 1), "length or offset"
    yield "too few buffers", u, array(2, [None, i32(0, 1, 3)]), "buffers of its type"
    yield "buffers missing", u, array(2, [None, i32(0, 1, 3), b"abc"], no_buffers=True), "buffers of its type"
    yield "offsets missing", u, array(2, [None, None, b"abc"]), "offsets are missing"
    yield "bytes missing", u, array(2, [None, i32(0, 1, 3), None]), "bytes are missing"
    yield "children of none", u, array(2, [None, i32(0, 1, 3), b"abc"], n_children=1), "children of its type"
    s = schema(b"+s", [schema(b"u")])
    yield "a table", s, array(2, [None], [good()]), None
    yield "a short child", s, array(3, [None], [good()]), "too short"
    yield "a short child behind an offset", s, array(2, [None], [good()], offset=1), "too short"
    yield "no child", s, array(2, [None], [None]), "missing or too short"
    yield "fewer children", s, array(2, [None]), "missing or too short"
    yield "no buffers of a struct", s, array(2, [], [good()]), "buffers of its type"
    d = schema(b"c", dictionary=schema(b"u"))
    yield "a dictionary", d, array(3, [None, b"\1\0\1"], dictionary=good()), None
    yield "an index past the dictionary", d, array(1, [None, b"\2"], dictionary=good()), "outside of its values"
    yield "an index below zero", d, array(1, [None, b"\xff"], dictionary=good()), "outside of its values"
    yield "no dictionary", d, array(1, [None, b"\0"]), "dictionary is missing"
    yield "no indices", d, array(1, [None, None], dictionary=good()), "values are missing"
    v = schema(b"vu")
    long = i32(13) + b"abcd" + i32(0, 0)
    yield "a view", v, array(1, [None, long, b"abcdefghijklm", i64(13)]), None
    yield "a view that is in itself", v, array(1, [None, i32(3) + b"abc" + bytes(9), None]), None
    for what, where in (("of a buffer that is not there", (1, 0)), ("past its buffer", (0, 1)), ("before it", (0, -1))):
        views = i32(13) + b"abcd" + i32(*where)
        yield f"a view {what}", v, array(1, [None, views, b"x" * 13, i64(13)]), "past its buffer"
    yield "a view with a length below zero", v, array(1, [None, i32(-5) + bytes(12), b"x" * 13, i64(13)]), "below zero"
    yield "no lengths of buffers", v, array(1, [None, long, b"abcdefghijklm", None]), "lengths of its buffers"
    ints = schema(b"+l", [schema(b"i", name=b"item")])
    numbers = array(3, [None, i32(1, 2, 3)])
    yield "a list", ints, array(2, [None, i32(0, 1, 3)], [numbers]), None
    yield "a list past its numbers", ints, array(2, [None, i32(0, 1, 4)], [numbers]), "after its numbers"
    yield "a list without numbers", ints, array(1, [None, i32(0, 1)], [array(3, [None, None])]), "numbers of its lists"
    yield "a list without child", ints, array(1, [None, i32(0, 1)]), "children of its type"
    yield "a list of falling offsets", ints, array(2, [None, i32(0, 2, 1)], [numbers]), "ends before it starts"
    yield "no format", schema(None), good(), "has type none"
    yield "a dictionary of a dictionary", schema(b"c", dictionary=schema(b"c", dictionary=schema(b"u"))), \
        array(1, [None, b"\0"], dictionary=array(1, [None, b"\0"], dictionary=good())), "not texts"


CRAFTED = list(crafted())


@pytest.mark.parametrize("what, s, a, match", CRAFTED, ids=[c[0] for c in CRAFTED])
def test_crafted(packed, what, s, a, match):
    if match is None:
        packed(Crafted(s, a))
    else:
        with pytest.raises(leat.Error, match=match):
            packed(Crafted(s, a))


def test_random_arrays(gpt2, packed):
    """Numbers of good arrays changed at random: an answer or an error, and no crash. Offsets stay within the bytes,
    which the interface does not let anybody check."""
    r = random.Random(SEED)
    for _ in range(600):
        offsets = [r.choice((0, 1, 2, 3, 3, -1)) for _ in range(4)]
        buffers = [None, i32(*offsets), b"abc"][:r.choice((2, 3, 3, 3))]
        child = array(r.randrange(-1, 4), buffers, offset=r.choice((0, 0, 1)))
        if child.offset + max(0, child.length) > 3:
            child.length = 3 - child.offset
        one = array(r.randrange(-1, 4), [None], [child][:r.choice((0, 1, 1, 1))], offset=r.choice((0, 0, 1, 2**62)))
        try:
            packed(Crafted(schema(b"+s", [schema(b"u")]), one))
        except leat.Error:
            pass


def test_nothing_leaks(gpt2, packed):
    table = pa.table({"text": SOME, "id": range(len(SOME))})
    holes = pa.table({"text": [*SOME, None]})

    def work(rounds):
        for _ in range(rounds):
            gpt2.encode_flat(table)
            for wrong in (holes, pa.table({"text": [1.5]}), pa.table({"x": ["a"]})):
                with pytest.raises(leat.Error):
                    gpt2.encode_flat(wrong)
        packed(table, table.to_reader(max_chunksize=50))
        with pytest.raises(leat.Error):
            packed(holes)
        gc.collect()

    work(30)
    work(30)
    before = resident()
    work(200)
    assert resident() - before < 12 << 20
