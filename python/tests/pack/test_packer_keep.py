"""leat.Packer(keep=...) beside leat.pack(keep=...) of the same rows, tables as Parquet and dicts as lines of JSON: each
type with every operator, at random, with ids, masks and conversations; counts, checkpoints, parts that are pushed;
columns that contradict themselves; what has no fields. tests/pack/test_keep.py has the language of conditions."""
import datetime
import decimal
import json
import math
import os
import pickle
import random

import numpy as np
import pytest

import leat
from conftest import ROOT
from test_arrow import Crafted, array, i32, i64, schema

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet  # noqa: E402

SEED = int(os.environ.get("LEAT_TEST_SEED", "1"))
SIGNS = ("=", "==", "!=", "<", "<=", ">", ">=")
rng = random.Random(SEED)


def made_of(name):
    dataset = leat.open(name)
    many = range(dataset.info.documents)
    rejects = []
    if os.path.exists(f"{name}.rejects.jsonl"):
        with open(f"{name}.rejects.jsonl", encoding="utf-8") as f:
            rejects = [json.loads(line)["reason"] for line in f]
    return (dataset.read(0, dataset.info.tokens).tolist(), dataset.starts().tolist(), dataset.mask().tolist(),
            [dataset.place(i).id for i in many], rejects, dataset.metadata["leat.keep"])


@pytest.fixture
def both(tmp_path):
    """Checks that the rows of a file and those that give(packer) gives leave the same; returns the packer's summary,
    or None if both refuse the conditions."""
    def check(file, give, keep, tokenizer="bytes", **options):
        options = {"threads": 1, "allow_empty": True, "force": True, "progress": None, "max_rejects": None, **options}
        try:
            files = leat.pack(file, tmp_path / "files", tokenizer, keep=keep, **options)
        except leat.Error as error:
            assert error.status in ("unsupported", "not-found"), (keep, error)
            files = None
        del options["progress"]
        packer = leat.Packer(tmp_path / "given", tokenizer, keep=keep, **options)
        if files is None:
            with pytest.raises(leat.Error) as raised:
                give(packer)
            packer.abandon()
            assert raised.value.status in ("argument", "not-found"), keep
            return None
        with packer:
            give(packer)
        given = packer.summary
        for count in "kept_out", "documents", "rejected":
            assert getattr(given, count) == getattr(files, count), (keep, count)
        assert made_of(tmp_path / "given") == made_of(tmp_path / "files"), keep
        return given
    return check


# ---- Tables ----------------------------------------------------------------------------------------------------------

ROWS = 40
STRINGS = ["en", "", "de", "e", "é", "\U0001f600", "水", "1", "0.1", "en\0", "a\"b", "null"]
FLOATS = [0.0, -0.0, 0.1, 0.5, 0.30000000000000004, 0.3, 1e-5, 1e22, 5e-324, 3.0, 123456.789, math.inf, -math.inf,
          math.nan, 2.0**-44, 9007199254740993.0]


def holes(make):
    return [None if rng.random() < 0.2 else make() for _ in range(ROWS)]


def columns():
    strings = holes(lambda: rng.choice(STRINGS))
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary(), pa.binary_view()):
        yield str(kind), pa.array([t.encode() if "bin" in str(kind) and t is not None else t for t in strings], kind)
    for kind in (pa.int8(), pa.uint32()):
        yield f"codes_{kind}", pa.DictionaryArray.from_arrays(
            pa.array(holes(lambda: rng.randrange(len(STRINGS))), kind), pa.array(STRINGS[:-1] + [None]))
    yield "codes_of_numbers", pa.array(holes(lambda: rng.randrange(-3, 3)), pa.int16()).dictionary_encode()
    yield "codes_of_floats", pa.array(holes(lambda: rng.choice(FLOATS[:8]))).dictionary_encode()
    for bits in 8, 16, 32, 64:
        ends = [0, 1, 3, 2**(bits - 1) - 1]
        yield f"int{bits}", pa.array(holes(lambda: rng.choice([*ends, -1, -2**(bits - 1)])), f"int{bits}")
        yield f"uint{bits}", pa.array(holes(lambda: rng.choice([*ends, 2**bits - 1])), f"uint{bits}")
    yield "float32", pa.array(holes(lambda: rng.choice(FLOATS)), pa.float32())
    yield "float64", pa.array(holes(lambda: rng.choice(FLOATS)), pa.float64())
    inner = pa.StructArray.from_arrays([pa.array(holes(lambda: rng.choice(STRINGS))),
                                        pa.array(holes(lambda: rng.randrange(4)))], ["lang", "n"])
    yield "m", pa.StructArray.from_arrays([inner], ["deep"], mask=pa.array([i % 5 == 3 for i in range(ROWS)]))
    yield "bool", pa.array(holes(lambda: rng.random() < 0.5))
    yield "float16", pa.array(holes(lambda: 1.5)).cast(pa.float16())
    yield "decimal", pa.array(holes(lambda: decimal.Decimal("1.50")))
    yield "date", pa.array(holes(lambda: datetime.date(2020, 1, 1)))
    yield "time", pa.array(holes(lambda: datetime.datetime(2020, 1, 1)))


COLUMNS = dict(columns())
UNCOMPARED = ("bool", "float16", "decimal", "date", "time")
SINGLE = [name for name in COLUMNS if name != "m"] + ["m.deep.lang", "m.deep.n"]
NUMBERS = ["0", "0.1", "3", "-1", "127", "18446744073709551615", "9223372036854775807", "1e-5", "0.3", "123456.789",
           "1e22", "16777216.5", "5.684341886080802e-14", "-9223372036854775808", "4e-324"]


def quoted(text):
    return json.dumps(text, ensure_ascii=rng.random() < 0.5)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Pieces of larger arrays, so that offsets count, and the same rows as Parquet."""
    made = pa.table({"text": [f"row {n}" for n in range(ROWS)], "id": [f"r{n}" for n in range(ROWS)], **COLUMNS})
    made = pa.concat_tables([made.slice(0, 7), made.slice(7, 0), made.slice(7)])
    path = tmp_path_factory.mktemp("keep") / "rows.parquet"
    plain = made
    for n, field in enumerate(made.schema):
        if pa.types.is_dictionary(field.type):
            plain = plain.set_column(n, field.name, made[field.name].cast(field.type.value_type))
        elif "view" in str(field.type):
            plain = plain.set_column(n, field.name, made[field.name].cast(
                pa.string() if "string" in str(field.type) else pa.binary()))
    pyarrow.parquet.write_table(plain, path, row_group_size=11)
    return made, path


@pytest.mark.parametrize("column", SINGLE)
def test_types(both, table, column):
    """Each type, with each sign and values of both kinds."""
    made, path = table
    conditions = [f"{column} exists"]
    for sign in SIGNS if column not in UNCOMPARED else ("=", "<"):
        values = [rng.choice(NUMBERS), quoted(rng.choice(STRINGS))]
        conditions += [f"{column} {sign} {value}" for value in values]
    conditions += [f"{column} >= {value}" for value in ("0", quoted("en"))]
    kept = set()
    for condition in conditions:
        summary = both(path, lambda packer: packer.extend(made), [condition])
        assert (summary is None) == (column in UNCOMPARED and "exists" not in condition), condition
        if summary:
            kept.add(summary.documents)
    assert len(kept) > 1 or column in UNCOMPARED
    assert ROWS not in kept


def test_random_conditions(both, table):
    """Several at once, of tables in batches, whose rows begin in the middle of arrays."""
    made, path = table
    for round in range(60):
        keep = []
        for _ in range(rng.randrange(1, 5)):
            column = rng.choice([c for c in SINGLE if c not in UNCOMPARED])
            value = rng.choice(NUMBERS) if "int" in column or "float" in column else quoted(rng.choice(STRINGS))
            keep.append(rng.choice([f"{column} exists", f"{column} {rng.choice(SIGNS)} {value}"]))
        both(path, lambda packer: packer.extend(made.to_batches(max_chunksize=5)), keep)


def test_columns_that_pack_refuses(tmp_path):
    """Lists and structs exist, or not; a column of type null has no value."""
    made = pa.table({"text": ["a", "b", "c"], "list": [[1], [], None], "s": pa.array([{"x": 1}, None, {"x": None}]),
                     "map": pa.array([[("a", 1)], None, []], pa.map_(pa.string(), pa.int64())), "none": pa.nulls(3)})
    for keep, want in (("list exists", 2), ("s exists", 2), ("map exists", 2), ("none exists", 0), ("none = 1", 0),
                       ("none != a", 0), ("s.x exists", 1)):
        with leat.Packer(tmp_path / "out", "bytes", keep=keep, allow_empty=True, force=True) as packer:
            packer.extend(made)
        assert (packer.summary.documents, packer.summary.kept_out) == (want, 3 - want), keep
    packer = leat.Packer(tmp_path / "none", "bytes", keep="list = 1")
    with pytest.raises(leat.Error, match="column list has type list, not strings or numbers that a condition can comp"):
        packer.extend(made)
    packer.abandon()
    for keep in ("lit = 1", "s.y = 1", "lit exists"):
        packer = leat.Packer(tmp_path / "none", "bytes", keep=keep)
        for rows in (made, made.slice(0, 0)):
            with pytest.raises(leat.Error, match=r"no column \S+; the columns are text \(string\), list \(list\)") as e:
                packer.extend(rows)
            assert e.value.status == "not-found"
        packer.abandon()
    packer = leat.Packer(tmp_path / "none", "bytes", keep="text = a")
    with pytest.raises(leat.Error, match="on the columns of a table, and this is a single column"):
        packer.extend(made["text"])
    packer.abandon()


def test_ids_and_masks(tmp_path):
    """Of what is kept out, neither a text nor ids nor a mask are looked at."""
    made = pa.table({"ids": [[1, 2], None, [1, -5], [7]], "mask": [[0, 1], [1], [0], [1]], "n": [1, 2, 2, 1]})
    with leat.Packer(tmp_path / "out", "bytes", keep="n = 1", store_mask=True, end=None, begin=None) as packer:
        assert packer.extend(made, text="ids", mask="mask", source="a") == 4
        assert packer.extend([{"ids": [3], "mask": [0], "n": 1}, {"ids": "wrong", "mask": 5}, {}], text="ids",
                             mask="mask", source="a") == 3
    dataset = leat.open(tmp_path / "out")
    assert dataset.read(0, 4).tolist() == [1, 2, 7, 3] and dataset.mask(0, 4).tolist() == [0, 255, 255, 0]
    assert [dataset.place(n).offset for n in range(3)] == [0, 3, 4] and packer.summary.kept_out == 4
    rows = pa.table({"text": ["a", None, None], "n": [1, 2, 1]})
    packer = leat.Packer(tmp_path / "none", "bytes", keep="n = 1", allow_empty=True)
    with pytest.raises(leat.Error, match="the text of row 2 is missing"):
        packer.extend(rows)
    with pytest.raises(ValueError, match="document 2 has no text"):
        packer.extend([{"text": "a", "n": 2}, {"n": 2}, {"n": 1}])
    packer.extend(rows, nulls="skip")
    packer.extend([{"n": 2}, {"text": "a", "n": 1}, {"n": 1}, None], nulls="skip")
    assert (packer.given, packer.skipped) == (2 + 2 + 2, 3)
    packer.extend([{"n": 2}, None], nulls="skip")
    packer.extend([None, {"n": 1}], nulls="skip")
    packer.extend([None], nulls="skip")
    packer.extend([{"text": "a", "n": 1}], skip=1)
    with pytest.raises(ValueError, match="a document has no text"):
        packer.extend([None])
    assert (packer.given, packer.skipped) == (7, 7)
    assert packer.finish().kept_out == 2 + 1 + 1 + 1


# ---- Dicts -----------------------------------------------------------------------------------------------------------

def value():
    return rng.choice([
        lambda: rng.choice([*STRINGS, "a\ud800", "\udc00b", "\ud83d\ude00", "�"]), lambda: rng.choice(FLOATS),
        lambda: rng.randrange(-3, 4), lambda: rng.choice([2**63, -2**63 - 1, 10**400, -10**1200, 2**64 - 1]),
        lambda: rng.choice([True, False, None]), lambda: rng.choice([[], [1], {"lang": "en"}, {}])])()


def test_dicts(both, tmp_path):
    for round in range(60):
        rows = [{"text": f"row {n}", "id": n} for n in range(30)]
        for row in rows:
            if rng.random() < 0.8:
                row["lang"] = value()
            if rng.random() < 0.8:
                row["m"] = {"lang": value(), "n": {"x": value()}} if rng.random() < 0.8 else value()
            if rng.random() < 0.2:
                row["m.lang"] = "en"  # which no path names
        (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        keep = []
        for _ in range(rng.choice([1, 1, 2, 3])):
            field = rng.choice(["lang", "m.lang", "m.n.x", "m", "nowhere"])
            want = rng.choice([rng.choice(NUMBERS), "1" + 400 * "0", quoted(rng.choice(STRINGS)), '"a\\ud800"'])
            keep.append(rng.choice([f"{field} exists", f"{field} {rng.choice(SIGNS)} {want}"]))
        both(tmp_path / "rows.jsonl", lambda packer: packer.extend(rows, text="text"), keep)


def test_values_of_numpy(tmp_path):
    rows = [{"text": "a", "x": np.float64(0.5)}, {"text": "b", "x": np.int32(1)}, {"text": "c", "x": np.array([1])},
            {"text": "d", "x": np.str_("1")}]
    with leat.Packer(tmp_path / "out", "bytes", keep="x > 0") as packer:
        packer.extend(rows)
        with pytest.raises(TypeError, match=r"a condition \(keep\) compares texts and numbers, not a date \(x: "):
            packer.extend([{"text": "e", "x": datetime.date(2020, 1, 1)}])
    assert (packer.summary.documents, packer.summary.kept_out) == (2, 2)
    with leat.Packer(tmp_path / "out", "bytes", keep="x exists", force=True) as packer:
        packer.extend([*rows, {"text": "e", "x": datetime.date(2020, 1, 1)}, {"text": "f"}])
    assert packer.summary.documents == 5


# ---- Counts, checkpoints, ends ---------------------------------------------------------------------------------------

def test_counts_and_checkpoints(tmp_path):
    """An iterator fails in the middle; a resumed packer goes on behind what was given, kept out or not."""
    rows = [{"text": f"row {n}", "n": n % 3} for n in range(10000)]

    def failing():
        yield from rows[:7001]
        raise OSError("gone")

    packer = leat.Packer(tmp_path / "out", "bytes", keep="n = 1", threads=2)
    assert packer.extend(rows[:100], source="a") == 100
    packer.checkpoint("so far")
    packer.extend(rows[100:300], source="a")  # lost
    packer.suspend()
    with pytest.raises(leat.Error, match="keep n = 1"):
        leat.Packer(tmp_path / "out", "bytes", keep="n = 2", resume=True)
    packer = leat.Packer(tmp_path / "out", "bytes", keep="n = 1", resume=True)
    assert packer.given == 100 and packer.sources == {"a": 100} and packer.note == "so far"
    with pytest.raises(OSError):
        packer.extend(failing(), source="a", skip=packer.given)
    assert packer.given == 7001 and packer.sources == {"a": 7001}
    packer.extend(pa.Table.from_pylist(rows), source="a", skip=packer.given)
    assert packer.given == 10000
    summary = packer.finish()
    assert (summary.documents, summary.kept_out) == (3333, 6667)
    dataset = leat.open(tmp_path / "out")
    assert [dataset.place(n).offset for n in range(3333)] == [n for n in range(10000) if n % 3 == 1]


def test_nothing_is_left(tmp_path):
    packer = leat.Packer(tmp_path / "out", "bytes", keep=["n > 5"])
    packer.extend([{"text": "a", "n": 1}] * 3)
    with pytest.raises(leat.Error, match='of the 3 records read, "n > 5" left out 3') as raised:
        packer.finish()
    assert raised.value.status == "empty"
    packer.abandon()
    assert not list(tmp_path.iterdir())
    with leat.Packer(tmp_path / "out", "bytes", keep=["n > 5"], allow_empty=True) as packer:
        packer.extend([{"text": "a", "n": 1}] * 3)
    assert len(leat.open(tmp_path / "out")) == 0


@pytest.mark.parametrize("documents", [["a"], [b"a"], [("a", 1)], [[1, 2]], [np.array([1])], iter(["a"])])
def test_without_fields(tmp_path, documents):
    packer = leat.Packer(tmp_path / "out", "bytes", keep=["lang = en", "m.n exists"])
    with pytest.raises(TypeError, match=r"conditions \(keep\) are on fields, lang, m.n: give extend\(\) dicts or"):
        packer.extend(documents)
    for one in ("a", b"a", [1], np.array([1])):
        with pytest.raises(TypeError, match=r"conditions \(keep\) are on fields, lang, m.n"):
            packer.add(one)
    with pytest.raises(TypeError, match="not str"):
        packer.extend([{"text": "a", "lang": "de"}, "b"])
    assert packer.given == 1
    packer.abandon()


@pytest.mark.parametrize("keep, why", [("lang", "at character 1 .*ask if it exists"), ("x = 1 || y = 2", "write or"),
                                       ("=a", "a field is missing"), (["x = 1", "x ="], "a value is missing")])
def test_wrong_conditions(tmp_path, keep, why):
    for make in leat.Packer, leat.Run:
        with pytest.raises(leat.Error, match=why):
            make(tmp_path / "out", "bytes", keep=keep)
        assert not list(tmp_path.iterdir())


def test_rows_of_one_packer(tmp_path):
    """The rows of a stream belong to the packer that has begun with them."""
    made = pa.table({"text": ["a"], "x": [1], "y": [1]})
    rows = leat._leat.ArrowRows(made.__arrow_c_stream__(), "text", None, True, None)
    packers = [leat.Packer(tmp_path / str(n), "bytes", keep=["x = 1", "y = 1"][:n]) for n in (1, 2)]
    assert packers[0]._core.add_arrow(rows, 0, False, None)
    with pytest.raises(leat.Error, match="begun by a packer with other conditions"):
        packers[1]._core.add_arrow(rows, 0, False, None)
    with pytest.raises(ValueError, match="1 values for the 2 fields of conditions"):
        packers[1]._core.judge([1])
    for packer in packers:
        packer.abandon()


# ---- Conversations ---------------------------------------------------------------------------------------------------

def test_conversations(both, tmp_path):
    pytest.importorskip("jinja2")
    template = ROOT / "tests" / "chat" / "templates" / "chatml.jinja"
    rows = [{"id": f"c{n}", "messages": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a" * n}],
             "score": rng.choice(FLOATS[:6]), "m": {"lang": rng.choice(["en", "de", None])}} for n in range(50)]
    rows[7]["messages"] = [{"role": None, "content": "x"}]
    (tmp_path / "c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    keep = ["score <= 0.1", "m.lang = en"]
    given = both(tmp_path / "c.jsonl", lambda packer: packer.extend(rows), keep, chat=leat.Chat(template))
    assert 0 < given.documents < 50
    both(tmp_path / "c.jsonl", lambda packer: [packer.add(row, id=row["id"]) for row in rows], keep,
         chat=leat.Chat(template))
    made = pa.Table.from_pylist(rows)
    made = made.set_column(made.schema.names.index("score"), "score", made["score"].cast(pa.float32()))
    pyarrow.parquet.write_table(made, tmp_path / "c.parquet")
    table_given = both(tmp_path / "c.parquet", lambda packer: packer.extend(made.to_batches(max_chunksize=9)), keep,
                       chat=leat.Chat(template))
    assert table_given.kept_out == given.kept_out
    assert both(tmp_path / "c.parquet", lambda packer: packer.extend(made), "lang = en",
                chat=leat.Chat(template)) is None
    packer = leat.Packer(tmp_path / "none", "bytes", keep=keep, chat=leat.Chat(template))
    for one in (rows[0]["messages"], json.dumps(rows[0]["messages"])):
        with pytest.raises(TypeError, match="conditions"):
            packer.add(one)
        with pytest.raises(TypeError, match="conditions"):
            packer.extend([one])
    packer.extend([None], nulls="skip")
    assert packer.skipped == 1
    packer.abandon()


# ---- Parts that are pushed -------------------------------------------------------------------------------------------

def test_run(both, table, tmp_path):
    made, path = table
    keep = ["int8 >= 0", "float32 < 0.5"]
    run = leat.Run(tmp_path / "run", "bytes", keep=keep)
    pieces = []
    for n in range(0, ROWS, 10):
        with pickle.loads(pickle.dumps(run)).part(n) as packer:
            packer.extend(made.slice(n, 10))
        pieces.append(packer.piece)
    dataset = run.commit(pieces)
    summary = leat.pack(path, tmp_path / "files", "bytes", keep=keep)
    assert sum(piece.kept_out for piece in pieces) == summary.kept_out > 0
    whole = leat.open(tmp_path / "files")
    assert dataset.read(0, dataset.info.tokens).tolist() == whole.read(0, whole.info.tokens).tolist()
    assert [dataset.place(n).id for n in range(len(dataset))] == [whole.place(n).id for n in range(len(whole))]


def test_run_of_nothing(tmp_path):
    rows = [{"text": "a", "n": 1}] * 2
    run = leat.Run(tmp_path / "run", "bytes", keep="n > 5")
    with pytest.raises(leat.Error, match="run with other options"):
        leat.Run(tmp_path / "run", "bytes", keep="n > 4")
    with run.part("a") as packer:
        packer.extend(rows)
    assert packer.piece.documents == 0 and packer.piece.kept_out == 2
    with pytest.raises(leat.Error, match="left out 2 rows of all parts") as raised:
        run.commit([packer.piece])
    assert raised.value.status == "empty"
    run.abort()
    run = leat.Run(tmp_path / "run", "bytes", keep="n > 5", allow_empty=True)
    with run.part("a") as packer:
        packer.extend(rows)
    assert len(run.commit([packer.piece])) == 0


# ---- Arrays that contradict themselves -------------------------------------------------------------------------------

def test_crafted_columns(tmp_path):
    """Numbers of good columns changed at random: an answer or an error, and no crash."""
    r = random.Random(SEED)
    packer = leat.Packer(tmp_path / "out", "bytes", keep=["x >= 1", "x = a", "y exists", "s.z < 0.5"])

    def texts():
        return array(2, [None, i32(0, 1, 3), b"abc"])

    def reals():
        return array(2, [None, i64(0, 1)])

    compared = [(b"u", [None, i32(0, 1, 3), b"abc"], None), (b"l", [None, i64(1, -1)], None),
                (b"L", [None, i64(1, 2)], None), (b"f", [b"\1", i32(0, 0x3f800000)], None),
                (b"g", [None, i64(0, 1)], None), (b"n", [], None),
                (b"c", [None, b"\0\1"], (b"u", texts)), (b"c", [None, b"\0\1"], (b"g", reals))]
    others = [(b"b", [None, b"\1"], None), (b"+s", [None], None), (b"w:2", [None, b"abcd"], None),
              (b"tdD", [None, i32(1, 2)], None), (b"+ud:0", [], None), (b"+r", [], None), (None, [None, b""], None)]

    def column(name, kinds, wrong):
        kind, buffers, codes = r.choice(kinds)
        length, held = 2, codes and codes[1]()
        if wrong:
            buffers = r.choice([buffers[:-1], [*buffers, None], [b and None for b in buffers], buffers])
            length = r.choice((2, 1, -1))
            held = r.choice((held, None))
        return (schema(kind, name=name, dictionary=codes and schema(codes[0])),
                array(length, buffers, dictionary=held))

    answered = 0
    for _ in range(800):
        wrong = r.choice((b"x", b"y", b"z", b"s", b"", b""))
        x, z = (column(name, compared if r.random() < 0.95 else others, name == wrong) for name in (b"x", b"z"))
        y = column(b"y", compared + others, wrong == b"y")
        whole = schema(b"+s", [schema(b"u"), x[0], y[0], schema(b"+s", [z[0]], name=b"s")])
        inner = array(r.choice((2, 1, 3)) if wrong == b"s" else 2, [None], [z[1]])
        try:
            packer.extend(Crafted(whole, array(2, [None], [texts(), x[1], y[1], inner])), id=None)
            answered += 1
        except leat.Error as error:
            assert error.status in ("argument", "not-found"), error
    assert 200 < answered < 600
    packer.abandon()
