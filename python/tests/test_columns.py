"""Columns: what leat.attach() writes is what an independent reader finds in the two files by FORMAT.md's words alone
(its hashes by xxhash), of every type, several widths, both places; leat.open() gives the values back; what is wrong
is refused and leaves the folder as it was."""
import json
import pathlib
import struct

import numpy as np
import pytest
from conftest import command

import leat

TYPES = {"u8": ("<u1", 1), "u16": ("<u2", 2), "u32": ("<u4", 3), "i32": ("<i4", 4), "i64": ("<i8", 5),
         "f16": ("<f2", 6), "bf16": ("<u2", 7), "f32": ("<f4", 8)}


def page_sum(data):
    """The page sum of FORMAT.md, and the hash of each page."""
    xxhash = pytest.importorskip("xxhash")
    total, hashes = 0, []
    for page in range(0, len(data), 4096):
        digest = xxhash.xxh3_128_intdigest(data[page:page + 4096])
        hashes.append(digest & 0xFFFFFFFF)
        total += xxhash.xxh3_128_intdigest(digest.to_bytes(16, "little") + struct.pack("<Q", page // 4096))
    return total % 2**128, hashes


class Reader:
    """A column by its files alone."""

    def __init__(self, name, column):
        xxhash = pytest.importorskip("xxhash")
        index = pathlib.Path(f"{name}.{column}.column-index").read_bytes()
        values = pathlib.Path(f"{name}.{column}.column").read_bytes()
        header = index[:128]
        (magic, version, kind, self.width, self.at, self.entries, self.identity, total, of_hashes, texts, text_bytes,
         text_hash, checksum) = struct.unpack("<8s4IQ16s16s16sQQ16s16s", header)
        assert (magic, version) == (b"leatcols", 1)
        assert int.from_bytes(checksum, "little") == xxhash.xxh3_128_intdigest(header[:112])
        self.sum, hashes = page_sum(values)
        stored = index[128:len(index) - text_bytes]
        assert stored == struct.pack(f"<{len(hashes)}I", *hashes)
        assert total == self.sum.to_bytes(16, "little") and of_hashes == page_sum(stored)[0].to_bytes(16, "little")
        area = index[len(index) - text_bytes:]
        ends = (0, *struct.unpack(f"<{texts}I", area[:4 * texts]))
        self.texts = [area[4 * texts:][a:b].decode() for a, b in zip(ends, ends[1:])]
        assert int.from_bytes(text_hash, "little") == (xxhash.xxh3_128_intdigest(area) if area else 0)
        name, dtype = next(((n, d) for n, (d, number) in TYPES.items() if number == kind), ("category", "<u2"))
        self.type = name
        self.values = np.frombuffer(values, dtype).reshape(self.entries, self.width)


@pytest.fixture
def dataset(tmp_path):
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(json.dumps({"text": "word " * (i % 7)}) + "\n" for i in range(3000)), encoding="utf-8")
    command("leat", "pack", "-t", "bytes", "-o", tmp_path / "data", path)
    return str(tmp_path / "data")


def folder(name):
    return sorted(path.name for path in pathlib.Path(name).parent.iterdir())


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("width", [1, 3, 256])
@pytest.mark.parametrize("at", ["token", "document"])
def test_types(dataset, kind, width, at):
    with leat.open(dataset) as d:
        entries = d.info.tokens if at == "token" and width < 256 else len(d)
        at = at if width < 256 else "document"
        values = np.random.default_rng(7).integers(0, 120, (entries, width))
        if kind in ("i32", "i64", "f32", "f16"):
            values -= 60
        given = values.astype(np.float32) if kind == "bf16" else values.astype(TYPES[kind][0])
        leat.attach(d, "made", f"{kind}x{width}", given, at=at)
        found = Reader(dataset, "made")
        assert (found.type, found.width, found.at, found.identity) == (kind, width, at == "document", d.info.identity)
        wanted = (given.view(np.uint32) >> 16).astype(np.uint16) if kind == "bf16" else given
        assert np.array_equal(found.values, wanted) and found.texts == []
        read = d.column("made")
        assert read.shape == ((entries, width) if width > 1 else (entries,)) and not read.flags.writeable
        assert np.array_equal(read.reshape(entries, width), wanted)
        assert d.columns == {"made": ("made", kind, width, at)}
        assert d.verify().bytes > given.nbytes // 2
        before = pathlib.Path(f"{dataset}.made.column").read_bytes()
        parts = np.array_split(values.astype(np.float64 if kind in ("bf16", "f32") else np.int64), 7)
        leat.attach(dataset, "made", f"{kind}x{width}", iter(parts), at=at, force=True)  # converted, in parts
        assert pathlib.Path(f"{dataset}.made.column").read_bytes() == before


def test_texts(dataset):
    texts = [["en", "de", "", "\u00e9\U0001f600"][i % 4] for i in range(3000)]
    leat.attach(dataset, "lang", "category", texts, at="document")
    found = Reader(dataset, "lang")
    assert found.type == "category" and found.texts == ["en", "de", "", "\u00e9\U0001f600"]
    with leat.open(dataset) as d:
        assert d.column("lang").tolist() == texts and d.columns["lang"].type == "category"
        pairs = np.array(texts + texts, dtype=object).reshape(3000, 2)
        leat.attach(d, "pairs", "categoryx2", [pairs[:1000], pairs[1000:]], at="document")
        assert np.array_equal(d.column("pairs"), pairs)


def test_arrays_of_others(dataset):
    count = 3000
    leat.attach(dataset, "swapped", "i32", np.arange(count, dtype=">i4"), at="document")
    leat.attach(dataset, "columns", "u16x2", np.asfortranarray(np.arange(2 * count).reshape(count, 2)), at="document")
    leat.attach(dataset, "truth", "u8", np.arange(count) % 2 == 0, at="document")
    with leat.open(dataset, access="read") as d:  # nothing is mapped
        assert np.array_equal(d.column("swapped"), np.arange(count))
        assert np.array_equal(d.column("columns").ravel(), np.arange(2 * count))
        assert np.array_equal(d.column("truth"), np.arange(count) % 2 == 0)
    torch = pytest.importorskip("torch")
    leat.attach(dataset, "bf16", "bf16", torch.arange(count, dtype=torch.bfloat16), at="document")
    with leat.open(dataset) as d:
        wanted = torch.arange(count, dtype=torch.bfloat16).view(torch.int16).numpy().view(np.uint16)
        assert np.array_equal(d.column("bf16"), wanted)


def test_array_outlives_dataset(dataset):
    leat.attach(dataset, "score", "f32", np.arange(3000), at="document")
    d = leat.open(dataset)
    score = d.column("score")
    d.close()
    del d
    assert score.sum() == 2999 * 1500


@pytest.mark.parametrize("how, error, says", [
    (dict(values=[1] * 2999), leat.Error, "column x has values for 2999 of the 3000 documents of "),
    (dict(values=np.zeros(3001)), leat.Error, "column x: more values than the 3000 documents of "),
    (dict(values=[0] * 7 + [300] + [0] * 2992), leat.Error, "document 7 has the value 300, which u8 does not hold"),
    (dict(values=[0.0] * 7 + [np.nan] + [0.0] * 2992), leat.Error, "document 7 has the value nan, which u8 does not"),
    (dict(values=np.zeros((3000, 2))), ValueError, r"values must have the shape \[n, 1\] or \[n\], not \[3000, 2\]"),
    (dict(values=np.zeros(3000), type="u8x2"), ValueError, r"values must have the shape \[n, 2\], not \[3000\]"),
    (dict(values=iter([np.zeros(10), np.zeros((2, 2))])), ValueError, r"not \[2, 2\] \(from entry 10 on\)"),
    (dict(values=["a"] * 3000), TypeError, "values must be arrays of numbers"),
    (dict(values=[1] * 3000, type="category"), TypeError, r"values of a category must be str, not 1 \(entry 0\)"),
    (dict(values=map(str, range(3))), TypeError, "values must be arrays of numbers"),
    (dict(values=5), TypeError, "values must be an array or an iterable of arrays, not 5"),
    (dict(values="abc"), TypeError, "values must be an array or an iterable of arrays"),
    (dict(column="a.b"), leat.Error, "a.b cannot be the name of a column"),
    (dict(column=5), TypeError, "column must be a str, not 5"),
    (dict(type="f64"), leat.Error, "unknown type of a column f64"),
    (dict(type=5), TypeError, "type must be a str, not 5"),
    (dict(at="row"), ValueError, "at must be one of token, document, not 'row'"),
    (dict(force=1), TypeError, "force must be True or False, not 1"),
    (dict(type="category", at="token"), leat.Error, "a category has an entry per document, not per token"),
    (dict(dataset="nothing"), leat.Error, "nothing.leat"),
])
def test_refused(dataset, how, error, says):
    before = folder(dataset)
    given = {**dict(dataset=dataset, column="x", type="u8", values=[1] * 3000, at="document"), **how}
    with pytest.raises(error, match=says):
        leat.attach(**given)
    assert folder(dataset) == before


def test_names(dataset):
    leat.attach(dataset, "score", "f32", np.arange(3000), at="document")
    with leat.open(dataset) as d:
        with pytest.raises(leat.Error, match="has no column scor; did you mean score") as raised:
            d.column("scor")
        assert raised.value.status == "not-found"
        with pytest.raises(leat.Error, match=r"already exists; .* \(force=True\)"):
            leat.attach(d, "score", "f32", np.arange(3000), at="document")
        with pytest.raises(TypeError, match="name must be the name of a column, not 5"):
            d.column(5)
    with leat.open([dataset, dataset]) as d:
        with pytest.raises(leat.Error, match="a list of 2 datasets has no columns"):
            d.column("score")
        with pytest.raises(leat.Error, match="has columns, which a list of datasets does not show"):
            d.columns  # noqa: B018
        with pytest.raises(leat.Error, match="a list of 2 datasets cannot have columns"):
            leat.attach(d, "x", "u8", [1] * 6000, at="document")
    for call in (lambda: leat.merge([dataset], f"{dataset}2"), lambda: leat.push(dataset, "s3://bucket/data"),
                 lambda: leat.export([dataset], f"{dataset}2", "megatron")):
        with pytest.raises(leat.Error, match="has columns .score., which (merg|export|push)ing would leave out"):
            call()


def test_identity_and_states_stay(dataset):
    plan = leat.Plan(dataset, 64, seed=1, epochs=1)
    loader = leat.Loader(plan, 2, framework="numpy", threads=0)
    next(loader)
    state, wanted = loader.state_dict(), next(loader).inputs.tobytes()
    before = leat.open(dataset).info.identity
    leat.attach(dataset, "score", "f32", np.arange(3000), at="document")
    assert leat.open(dataset).info.identity == before
    plan = leat.Plan(dataset, 64, seed=1, epochs=1)
    assert next(leat.Loader(plan, 2, framework="numpy", threads=0, state=state)).inputs.tobytes() == wanted


def test_damage(dataset):
    leat.attach(dataset, "score", "f32x3", np.zeros((3000, 3)), at="document")
    path = pathlib.Path(f"{dataset}.score.column")
    data = path.read_bytes()
    path.write_bytes(data[:9000] + b"x" + data[9001:])
    with leat.open(dataset) as d, pytest.raises(leat.Error, match="score.column: page 2 is damaged") as raised:
        d.verify()
    assert raised.value.file == str(path) and raised.value.report.damaged_others == 1
    path.unlink()
    with leat.open(dataset) as d, pytest.raises(leat.Error, match="score.column is missing, although its index is"):
        d.column("score")
