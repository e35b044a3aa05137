"""Columns: what leat.attach() writes is what an independent reader finds in the two files by FORMAT.md's words alone
(its hashes by xxhash), of every type, several widths, both places; leat.open() gives the values back; what is wrong
is refused and leaves the folder as it was."""
import json
import multiprocessing
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


def by(dataset, column):
    """What `leat info --by` counts, and what it prints for people."""
    printed = command("leat", "info", dataset, "--by", column)
    assert max(map(len, printed.splitlines())) <= 80
    return json.loads(command("leat", "info", dataset, "--by", column, "--json"))["histogram"], printed


@pytest.mark.parametrize("kind, values", [
    ("f32", lambda r, n: np.where(r.random(n) < 0.02, np.nan, np.round(r.beta(5, 2, n), 2))),  # 0.7 is at least 0.7
    ("f32", lambda r, n: np.r_[-np.inf, 1e30, np.inf, np.nan, r.normal(0, 1e-3, n - 4)]),
    ("f32", lambda r, n: np.full(n, np.nan)), ("f32", lambda r, n: np.full(n, 0.3)),
    ("f16", lambda r, n: np.exp(r.normal(3, 1, n))), ("f16", lambda r, n: r.random(n) * 1e-3),
    ("bf16", lambda r, n: -np.round(r.random(n) * 3, 1)),
    ("u8", lambda r, n: r.integers(0, 6, n)), ("u16", lambda r, n: r.integers(0, 2**16, n)),
    ("u32", lambda r, n: r.integers(2**31, 2**32, n)), ("i32", lambda r, n: r.integers(-2**31, 2**31, n)),
    ("i64", lambda r, n: 1_700_000_000 + r.integers(0, 30_000_000, n))])
def test_histogram(dataset, kind, values):
    values = values(np.random.default_rng(3), 3000)
    leat.attach(dataset, "x", kind, values, at="document")
    found, printed = by(dataset, "x")
    with leat.open(dataset) as d:
        stored, tokens = d.column("x"), np.array([len(document) for document in d])
    if kind == "bf16":
        stored = (stored.astype(np.uint32) << 16).view(np.float32)
    valued = stored[~np.isnan(stored)] if stored.dtype.kind == "f" else stored
    nan = np.isnan(stored) if stored.dtype.kind == "f" else np.zeros(3000, bool)
    assert found["nan"] == {"documents": nan.sum(), "tokens": tokens[nan].sum()} and ("NaN" in printed) == nan.any()
    if len(valued) and np.isfinite(valued).all():
        assert (found["least"], found["greatest"]) == (float(valued.min()), float(valued.max()))
    bounds = [-np.inf if b["from"] is None else b["from"] for b in found["bins"]]
    assert bounds == sorted(set(bounds)) and all(b == float(f"{b:.10g}") for b in bounds)
    assert len(bounds) < 25 and (len(bounds) > 6 or len(set(valued)) < 9 or kind == "f32")
    for row, bound in zip(found["bins"], bounds):
        with np.errstate(invalid="ignore"):
            if kind == "bf16":  # the nearest one that the type has
                step = 2.0 ** (np.floor(np.log2(abs(bound))) - 7) if 0 < abs(bound) < np.inf else 1
                bound = np.round(bound / step) * step
            left = ~nan & (stored >= np.array(bound).astype(stored.dtype) if np.isfinite(bound) else True)
        assert (row["documents_left"], row["tokens_left"]) == (left.sum(), tokens[left].sum()), row
    for row, after in zip(found["bins"], [*found["bins"][1:], {"documents_left": 0, "tokens_left": 0}]):
        assert row["documents"] == row["documents_left"] - after["documents_left"]
        assert row["tokens"] == row["tokens_left"] - after["tokens_left"]


def test_histogram_of_texts(dataset):
    texts = [f"{int(n)}" + "\u017c\u00f3\u0142" * (int(n) % 9)
             for n in np.random.default_rng(5).exponential(6, 3000)]
    leat.attach(dataset, "lang", "category", texts, at="document")
    found, printed = by(dataset, "lang")
    with leat.open(dataset) as d:
        tokens = [len(document) for document in d]
    wanted = {}
    for text, count in zip(texts, tokens):
        documents, sum_ = wanted.get(text, (0, 0))
        wanted[text] = documents + 1, sum_ + count
    rows = [(row["text"], (row["documents"], row["tokens"])) for row in found["bins"]]
    assert rows == sorted(wanted.items(), key=lambda one: (-one[1][0], one[0].encode()))
    assert printed.splitlines()[-1] == f"  ... and {len(rows) - 20} more (--json has them all)"


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
        with pytest.raises(leat.Error, match="a list of 2 datasets cannot have columns"):
            leat.attach(d, "x", "u8", [1] * 6000, at="document")
    for call in (lambda: leat.push(dataset, "s3://bucket/data"),
                 lambda: leat.export([dataset], f"{dataset}2", "megatron")):
        with pytest.raises(leat.Error, match="has columns .score., which (export|push)ing would leave out"):
            call()
    leat.merge([dataset], f"{dataset}2")
    with leat.open(f"{dataset}2") as d:
        assert np.array_equal(d.column("score"), np.arange(3000))


def pack(name, texts, **options):
    path = pathlib.Path(f"{name}.jsonl")
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), encoding="utf-8")
    leat.pack([str(path)], name, "bytes", **options)
    return name


def make(tmp_path, name, count, seed):
    """Packs documents of 0 to 30 letters, and gives them a column of each kind; returns the dataset's name and a dict
    of what the columns hold, the twin."""
    random = np.random.default_rng(seed)
    texts = ["".join(random.choice(list("abc"), random.integers(0, 31))) for _ in range(count)]
    path = str(tmp_path / name)
    pack(path, texts)
    with leat.open(path) as d:
        tokens = d.info.tokens
    twin = {"score": random.random(count).astype(np.float32),
            "top": random.integers(0, 2**32, (tokens, 3), np.uint32),
            "lang": np.array([f"lang{n}" for n in random.integers(seed, seed + 40, count)], object)}
    leat.attach(path, "score", "f32", twin["score"], at="document")
    leat.attach(path, "top", "u32x3", twin["top"])
    leat.attach(path, "lang", "category", twin["lang"], at="document")
    return path, twin


def test_lists(tmp_path):
    """A list has the values of its parts one after another; before, it had none."""
    made = [make(tmp_path, f"part{i}", (700, 1, 300)[i], 20 * i) for i in range(3)]
    with leat.open([name for name, _ in made]) as d:
        assert {name: column[1:] for name, column in d.columns.items()} == {
            "score": ("f32", 1, "document"), "top": ("u32", 3, "token"), "lang": ("category", 1, "document")}
        for name in ("score", "top", "lang"):
            assert np.array_equal(d.column(name), np.concatenate([twin[name] for _, twin in made]))
        d.verify()
        leat.attach(made[0][0], "one", "u8", np.zeros(700), at="document")
        assert "one" not in d.columns
        with pytest.raises(leat.Error, match="part1 has no column one; it has lang and others") as raised:
            d.column("one")
        assert raised.value.status == "not-found"
    leat.attach(made[1][0], "one", "u8x2", np.zeros((1, 2)), at="document")
    leat.attach(made[2][0], "one", "u8x2", np.zeros((300, 2)), at="document")
    with leat.open([name for name, _ in made]) as d:
        assert "one" not in d.columns
        says = "one is u8x1 per document in .*part0.one.column-index, but u8x2 per document in .*part1.one.column-index"
        with pytest.raises(leat.Error, match=says) as raised:
            d.column("one")
        assert raised.value.status == "incompatible"


def test_texts_of_lists(tmp_path):
    """A category of a list has at most 65,536 texts together."""
    names = [pack(str(tmp_path / name), ["a"] * 40000) for name in "ab"]
    leat.attach(names[0], "key", "category", [f"a{i}" for i in range(40000)], at="document")
    leat.attach(names[1], "key", "category", [f"b{i % 25536}" for i in range(40000)], at="document")
    with leat.open(names) as d:
        assert d.column("key")[-1] == f"b{39999 % 25536}"
    leat.attach(names[1], "key", "category", [f"b{i % 25537}" for i in range(40000)], at="document", force=True)
    with leat.open(names) as d, pytest.raises(leat.Error, match="have more than 65536 texts or 64 MiB of text"):
        d.column("key")


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


@pytest.mark.parametrize("kind", ["u32x3", "bf16x2", "f32"])
def test_places(dataset, kind):
    """Entries in any order, in batches, some of them twice or of no token, are in the tokens' order; what is not given
    has the default, or is counted."""
    torch = pytest.importorskip("torch")
    with leat.open(dataset) as d:
        entries = d.info.tokens
    rng, width = np.random.default_rng(3), int(kind.partition("x")[2] or 1)
    values = rng.integers(0, 100, (entries, width)).astype(np.float32 if "f" in kind else np.uint32)
    order = np.append(rng.permutation(entries), rng.integers(0, entries, 100))
    order = np.append(order, np.full(-len(order) % 40, -1)).reshape(-1, 4, 10)
    given = values[order]  # -1 gives some entry, which is left out
    given = given if width > 1 else given[..., 0]
    arrays = [torch.from_numpy(g).bfloat16() for g in given] if kind.startswith("bf16") else list(given)
    leat.attach(dataset, "made", kind, arrays, places=list(order))
    stored = (values.view(np.uint32) >> 16).astype(np.uint16) if kind.startswith("bf16") else values
    assert np.array_equal(Reader(dataset, "made").values, stored)
    some = order[:-(len(order) // 2)].reshape(-1)
    left = np.setdiff1d(np.arange(entries), some)
    with pytest.raises(ValueError, match=f"{len(left)} of {entries} entries are not given, .* number {left[0]}:"):
        leat.attach(dataset, "made", kind, arrays[:len(order) - len(order) // 2],
                    places=list(order[:-(len(order) // 2)]), force=True)
    leat.attach(dataset, "half", kind, arrays[:len(order) - len(order) // 2], places=list(order[:-(len(order) // 2)]),
                default=1)
    stored = stored.copy()
    stored[left] = 0x3F80 if kind.startswith("bf16") else 1
    assert np.array_equal(Reader(dataset, "half").values, stored)
    leat.attach(dataset, "unsigned", "u8", np.ones(2, np.uint8), places=np.arange(2, dtype=np.uint64), default=0)
    assert Reader(dataset, "unsigned").values.ravel()[:4].tolist() == [1, 1, 0, 0]
    before = folder(dataset)
    for places, words in (([entries], f"place {entries} is not one of {entries}"), ([-2], "place -2"), ([0.5], "whole"),
                          ([[1, 2]], "shape")):
        with pytest.raises(ValueError, match=words):
            leat.attach(dataset, "wrong", "u8", np.zeros(1, np.uint8), places=np.array(places))
    with pytest.raises(ValueError, match="each other"):
        leat.attach(dataset, "wrong", "u8", [np.zeros(1, np.uint8)], places=[np.zeros(1, int)] * 2)
    for default in ([], [1, 2], np.array([], np.uint8)):
        with pytest.raises(TypeError, match="default must be one number"):
            leat.attach(dataset, "wrong", "u8", np.zeros(1, np.uint8), places=np.zeros(1, int), default=default)
    with pytest.raises(TypeError, match="default needs places"):
        leat.attach(dataset, "wrong", "u8", np.zeros(entries, np.uint8), default=0)
    assert folder(dataset) == before


def test_places_of_texts(dataset):
    with leat.open(dataset) as d:
        order = np.random.default_rng(3).permutation(len(d))
        texts = np.array([["low", "high"][i % 2] for i in order], object)
        leat.attach(d, "grade", "category", texts[:-1], at="document", places=order[:-1], default="none")
        wanted = np.array([["low", "high"][i % 2] for i in range(len(d))], object)
        wanted[order[-1]] = "none"
        assert np.array_equal(d.column("grade"), wanted)


def attach_part(dataset, part, parts):
    first, count = leat.attach_range(dataset, part, parts)
    with leat.open(dataset) as d:
        ends = np.cumsum([0, *map(len, d)])
    numbers = np.arange(ends[first], ends[first + count])
    share = dict(part=part, parts=parts)
    leat.attach(dataset, "token", "u32x2", [np.stack([numbers, numbers * 3], 1)], **share)
    leat.attach(dataset, "lang", "category", [f"lang{n % 40}" for n in range(first, first + count)][::-1],
                at="document", **share)


def test_parts(dataset):
    """Processes attach a part each; what is committed is what one process attaches, texts in any order."""
    parts = 7
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        pool.starmap(attach_part, [(dataset, part, parts) for part in range(parts)])
    with leat.open(dataset) as d:
        assert not d.columns
        lengths = np.array([len(document) for document in d])
        starts = np.cumsum(lengths) - lengths
        ranges = [leat.attach_range(d, part, parts) for part in range(parts)]
        first = [int((starts < lengths.sum() * part // parts).sum()) for part in range(parts)]
        assert ranges == [(a, b - a) for a, b in zip(first, [*first[1:], len(d)])]
        for column in ("token", "lang"):
            leat.attach_commit(d, column, parts=parts)
        assert np.array_equal(d.column("token"), np.arange(d.info.tokens)[:, None] * [1, 3])
        wanted = np.concatenate([np.arange(a, a + n)[::-1] for a, n in ranges])
        assert d.column("lang").tolist() == [f"lang{n % 40}" for n in wanted]
        assert len(Reader(dataset, "lang").texts) == 40
        d.verify()
        for call, error, words in (
                (lambda: leat.attach_commit(d, "more", parts=2), leat.Error, "part 0 of 2 of column more is missing"),
                (lambda: leat.attach_range(d, 2, 2), leat.Error, "no part 2 of 2"),
                (lambda: leat.attach(d, "more", "u8", [], part=0), TypeError, "part and parts must be given together"),
                (lambda: leat.attach(d, "more", "u8", [], part=0, parts=1, places=[]), TypeError, "places cannot go"),
                (lambda: leat.attach(d, "token", "u8", [], part=0, parts=9), leat.Error, "already exists")):
            with pytest.raises(error, match=words):
                call()
    assert [name for name in folder(dataset) if "of" in name] == []


def test_packed(tmp_path, monkeypatch):
    """leat.pack(column=) makes the columns of its records, as NumPy has them."""
    monkeypatch.chdir(tmp_path)
    records = [{"text": "a" * n, "score": n / 7, "lang": ("en", "de")[n % 2], "top": [n, -n]} for n in range(50)]
    with open("in.jsonl", "w") as f:
        f.write("".join(json.dumps(r) + "\n" for r in records))
    leat.pack("in.jsonl", "packed", "bytes", column=["score:f16:document", "language=lang:category:document",
                                                     "top:i32x2:document"])
    d = leat.open("packed")
    assert np.array_equal(d.column("score"), np.array([r["score"] for r in records], np.float16))
    assert list(d.column("language")) == [r["lang"] for r in records]
    assert np.array_equal(d.column("top"), [r["top"] for r in records])
    leat.pack("in.jsonl", "packed", "bytes", column="score:f32:document", force=True)
    assert list(leat.open("packed").columns) == ["score"]
    with pytest.raises(TypeError, match="column must be a column like 'score=score:f32:document' or a list of them"):
        leat.pack("in.jsonl", "packed", "bytes", column=[7])
    with pytest.raises(leat.Error, match="score would have values per token, which a text does not have"):
        leat.pack("in.jsonl", "packed", "bytes", column="score:f32", force=True)


def test_packed_parquet(tmp_path, monkeypatch):
    """Columns of Parquet become what leat.attach() makes of their arrays, to the last bit; a null, or a list of another
    length, rejects its row, and a column of another kind is refused."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    n = 500
    single = np.ldexp(rng.integers(-2**24, 2**24, n), rng.integers(-40, -10, n)).astype(np.float32)
    single[:5] = [np.nan, np.inf, -np.inf, -0.0, 1 + 2**-8]  # the last lies between two numbers of bf16
    ids = rng.integers(-2**63, 2**63 - 1, n)
    pairs = rng.normal(size=(n, 2)).astype(np.float32)
    names = [["low", "high", "été"][i] for i in rng.integers(0, 3, n)]
    table = {"text": ["x"] * n, "single": single, "ids": ids, "pairs": list(pairs), "grade": names,
             "meta": [{"double": float(v) / 3} for v in single], "truth": [True] * n}
    pq.write_table(pa.table(table), "in.parquet", row_group_size=90)
    kinds = {"half": "single:bf16", "whole": "ids:i64", "two": "pairs:f16x2", "deep": "meta.double:f32",
             "grade": "grade:category"}
    leat.pack("in.parquet", "packed", "bytes", column=[f"{name}={kind}:document" for name, kind in kinds.items()])
    with leat.open("packed") as d:
        stored = {name: Reader("packed", name).values for name in kinds}
        for name, values in (("half", single), ("whole", ids), ("two", pairs),
                             ("deep", np.array([m["double"] for m in table["meta"]]))):
            leat.attach(d, "twin", kinds[name].rpartition(":")[2], values, at="document")
            assert stored[name].tobytes() == Reader("packed", "twin").values.tobytes(), name
            leat.attach(d, "twin", "u8", np.zeros(n, np.uint8), at="document", force=True)
            for suffix in "column", "column-index":
                pathlib.Path(f"packed.twin.{suffix}").unlink()
        assert list(d.column("grade")) == names
    pq.write_table(pa.table({"text": ["a", "b", "c"], "v": [[1, 2], None, [3]]}), "some.parquet")
    assert leat.pack("some.parquet", "some", "bytes", column="v:u8x2:document", max_rejects="100%").rejected == 2
    assert Reader("some", "v").values.tolist() == [[1, 2]]
    for column, words in (("grade:f32", "holds no numbers"), ("truth:u8", "holds no numbers"),
                          ("single:category", "does not hold texts"), ("sing:f32", "no column")):
        with pytest.raises(leat.Error, match=words):
            leat.pack("in.parquet", "wrong", "bytes", column=column + ":document")
