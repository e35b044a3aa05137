"""leat.Packer's columns: per document and per token, of add(), dicts and tables, against numpy's bytes and those of
leat.attach(); after resuming; with documents that are cut or rejected; and mistakes."""
import random

import numpy as np
import pyarrow
import pytest

import leat
from made_texts import SEED

COLUMN = ["score:f32:document", "ids=teacher.ids:u32x3", "lang:category:document", "pair:i32x2:document", "w:f16"]


def made(count=300):
    rng, draw = random.Random(SEED), np.random.default_rng(SEED)
    for _ in range(count):
        n = rng.choice([0, 1, 2, 5, 300])
        yield {"input": draw.integers(0, 256, n).tolist(), "score": rng.choice([1, 0.1, -2.5e9]),
               "teacher": {"ids": draw.integers(0, 2 ** 32, (n, 3), np.uint32)}, "lang": rng.choice(["en", "été", ""]),
               "pair": [rng.randrange(-2 ** 31, 2 ** 31), 7], "w": draw.random(n, np.float32)}


def columns_of(row):
    return {"score": row["score"], "ids": row["teacher"]["ids"], "lang": row["lang"], "pair": row["pair"],
            "w": row["w"]}


def per_token(rows, name, width, kind, around):
    """The bytes of a column: what packing puts around each document has zeros."""
    begin, end = (np.zeros((n, width), kind) for n in around)
    return b"".join(np.concatenate([begin, columns_of(row)[name].astype(kind).reshape(-1, width), end]).tobytes()
                    for row in rows)


def check(name, rows, around=(0, 1)):
    with open(f"{name}.score.column", "rb") as file:
        assert file.read() == np.array([row["score"] for row in rows], "<f4").tobytes()
    with open(f"{name}.pair.column", "rb") as file:
        assert file.read() == np.array([row["pair"] for row in rows], "<i4").tobytes()
    with open(f"{name}.ids.column", "rb") as file:
        assert file.read() == per_token(rows, "ids", 3, "<u4", around)
    with open(f"{name}.w.column", "rb") as file:
        assert file.read() == per_token(rows, "w", 1, "<f2", around)
    data = leat.open(name)
    assert data.column("lang").tolist() == [row["lang"] for row in rows]
    data.verify()


@pytest.mark.parametrize("begin, around", [(None, (0, 1)), (1, (1, 1))])
def test_add(name, begin, around):
    rows = list(made())
    with leat.Packer(name, "bytes", column=COLUMN, begin=begin) as packer:
        for row in rows:
            packer.add(np.array(row["input"], np.uint16), columns=columns_of(row))
    check(name, rows, around)


def test_as_attached(name):
    rows = list(made())
    with leat.Packer(name, "bytes", column=COLUMN) as packer:
        packer.extend(rows, text="input", id=None)
    check(name, rows)
    files = [f"{name}.{column}.column" for column in ("score", "ids", "lang", "pair", "w")]
    before = {}
    for path in files:
        for suffix in ("", "-index"):
            with open(path + suffix, "rb") as file:
                before[path + suffix] = file.read()
    zero = np.zeros((1, 3), np.uint32)
    attach = dict(at="document", force=True)
    leat.attach(name, "score", "f32", [row["score"] for row in rows], **attach)
    leat.attach(name, "pair", "i32x2", [row["pair"] for row in rows], **attach)
    leat.attach(name, "lang", "category", [row["lang"] for row in rows], **attach)
    leat.attach(name, "ids", "u32x3", (np.concatenate([row["teacher"]["ids"], zero]) for row in rows), force=True)
    leat.attach(name, "w", "f16", (np.append(row["w"], np.float32(0)) for row in rows), force=True)
    for path, content in before.items():
        with open(path, "rb") as file:
            assert file.read() == content, path


def test_table(name):
    rows = [dict(row, teacher={"ids": row["teacher"]["ids"].tolist()}, w=row["w"].tolist()) for row in made(60)]
    table = pyarrow.Table.from_pylist(rows)
    with leat.Packer(name, "bytes", column=COLUMN) as packer:
        assert packer.extend(table.to_batches(max_chunksize=7), text="input", id=None) == 60
    check(name, list(made(60)))


def test_resume(name):
    rows = list(made())
    packer = leat.Packer(name, "bytes", column=COLUMN)
    packer.extend(rows[:120], text="input", id=None)
    packer.checkpoint()
    packer.extend(rows[120:200], text="input", id=None)
    packer.suspend()
    with leat.Packer(name, "bytes", column=COLUMN, resume=True) as packer:
        assert packer.given == 120
        packer.extend(rows[120:], text="input", id=None)
    check(name, rows)


def test_too_long(name):
    rows = list(made())
    short = [row for row in rows if len(row["input"]) < 6]
    with leat.Packer(name, "bytes", column=COLUMN, max_length=6, max_rejects=None) as packer:
        packer.extend(rows, text="input", id=None)
    check(name, short)
    assert packer.summary.rejected == len(rows) - len(short) > 0
    cut = [dict(row, teacher={"ids": row["teacher"]["ids"][:5]}, w=row["w"][:5]) for row in rows]
    with leat.Packer(name, "bytes", column=COLUMN, max_length=6, too_long="cut", force=True) as packer:
        packer.extend(rows, text="input", id=None)
    check(name, cut)


def test_texts(name):
    with leat.Packer(name, "bytes", column="score:u8:document", keep="score < 9", max_rejects=None,
                     invalid_utf8="reject") as packer:
        packer.extend([{"text": "a", "score": 1}, {"text": "b", "score": 9}, {"text": b"\xff", "score": 2},
                       {"text": "", "score": 3}, {"text": "c", "score": 4}])
    with open(f"{name}.score.column", "rb") as file:
        assert list(file.read()) == [1, 3, 4]
    assert len(leat.open(name)) == 3


@pytest.mark.parametrize("column, document, columns, sentence", [
    ("x:u8", [1, 2], {"x": [1]}, "column x has 1 entries for 2 ids"),
    ("x:u8", [1, 2], {"x": [1, 256]}, "document 1: column x: u8 does not hold value 0 of its entry 1"),
    ("x:u8x2", [1, 2], {"x": [[1, 2], [3, -1]]}, "document 1: column x: u8 does not hold value 1 of its entry 1"),
    ("x:u8x2", [1], {"x": [1, 2, 3]}, "document 1, column x: 2 numbers per id needed"),
    ("x:u8:document", [1], {"x": [1, 2]}, "document 1, column x: one number per document needed"),
    ("x:u8:document", [1], {"x": 0.5}, "document 1: column x: u8 does not hold"),
    ("x:u8:document", [1], {}, "document 1 has no value for the column x"),
    ("x:u8:document", [1], {"x": 1, "y": 1}, "document 1: the packer makes no column 'y'"),
    ("x:f32:document", [1], {"x": 2 ** 24 + 1}, "document 1: column x: f32 does not hold"),
    ("x:category:document", [1], {"x": 3}, "document 1, column x: a category takes a str"),
    ("x:category:document", [1], {"x": "é" * 513}, "text 0 is longer than 1024 bytes"),
    ("x:category:document", [1], {"x": "\ud800"}, "text 0 is not UTF-8"),
    ("x:u8", "text", {"x": [1, 2, 3, 4]}, "column x has values per token, which a text does not have"),
])
def test_mistakes(name, column, document, columns, sentence):
    good = [1] if isinstance(document, str) else document
    fine = {"x": "a" if "category" in column else [1, 2] if "x2" in column else 1}
    if "document" not in column:
        fine = {"x": [fine["x"]] * len(good)}
    packer = leat.Packer(name, "bytes", column=column)
    packer.add(good, columns=fine)
    with pytest.raises((leat.Error, ValueError, TypeError)) as raised:
        packer.add(document, columns=columns)
    assert sentence in str(raised.value)
    packer.add(good, columns=fine)  # the packer goes on
    packer.finish()
    assert len(leat.open(name)) == 2


def test_refused(name):
    with pytest.raises(leat.Error, match="conversations or pairs makes no columns"):
        leat.Packer(name, "bytes", column="x:u8:document", pairs=leat.Pairs(prompt="a", completion="b"))
    with pytest.raises((leat.Error, ValueError), match="f33"):
        leat.Packer(name, "bytes", column="x:f33:document")
    with leat.Packer(name, "bytes", column="x:u8:document", keep="x < 3") as packer:
        with pytest.raises(ValueError, match="keep judges no tables"):
            packer.extend(pyarrow.table({"text": ["a"], "x": [1]}))
        packer.extend([{"text": "a", "x": 1}])
