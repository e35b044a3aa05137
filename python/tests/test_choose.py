"""Choosing documents: a plan with leat.choose shows, row by row and in every order, what a plan of a dataset shows that
was packed with --keep of the same condition and each document as often as `repeat` says; a brute-force judge agrees,
traces go both ways, and states, texts and errors are those of the choice."""
import json
import random

import numpy as np
import pytest
from conftest import command

import leat

ORDERS = ["sequential", "shuffled", "documents", "documents-sequential", "fit", leat.fit(align=8, min_length=9),
          leat.fit(overlap=5)]
WHERE = "score >= 0.7 and (lang = 'en' or lang = de)"
REPEAT = "1 + 3 * (score > 0.95) - (lang = 'de')"
LENGTH = 32
OUTPUTS = ("inputs", "labels", "position_ids", "document_ids")


def records():
    random.seed(5)
    return [{"text": f"{i} " + "word " * random.choice([0, 1, 3, 9, 9, 40]), "score": round(random.random(), 2),
             "lang": random.choice(["en", "de", "fr"]), "rank": random.randrange(-3, 9)} for i in range(2500)]


def kept(record):
    return record["score"] >= 0.7 and record["lang"] != "fr"


def copies(record):
    return kept(record) * (1 + 3 * (record["score"] > 0.95) - (record["lang"] == "de"))


def write(path, lines):
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("choose")
    every = write(path / "every.jsonl", records())
    again = write(path / "again.jsonl", [line for line in records() for _ in range(copies(line))])
    pack = ["leat", "pack", "-t", "bytes", "--end", "0", "-o"]
    command(*pack, path / "data", every)
    for column, kind in (("score", "f32"), ("lang", "category"), ("rank", "i64")):
        leat.attach(str(path / "data"), column, kind, [record[column] for record in records()], at="document")
    command(*pack, path / "kept", "--keep", WHERE, every)
    command(*pack, path / "again", again)
    return path


def rows(plan, **options):
    """All that a loader gives of the plan's first rows."""
    found = []
    with leat.Loader(plan, 8, style="dict", last="short",
                     outputs=(*OUTPUTS, *(["ahead_labels"] if "ahead" in options else [])), **options) as loader:
        for batch in loader:
            found.append({name: np.asarray(value).copy() for name, value in batch.items()})
            if len(found) == 150:
                break
    return found


def equal(a, b):
    assert len(a) == len(b) > 5
    for x, y in zip(a, b):
        assert x.keys() == y.keys()
        for name in x:
            np.testing.assert_array_equal(x[name], y[name], name)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("rule, packed", [(leat.choose(WHERE), "kept"), (leat.choose(WHERE, repeat=REPEAT), "again")])
def test_equals_packed(folder, order, rule, packed):
    options = dict(seed=3, epochs=2, order=order)
    chosen = leat.Plan([(folder / "data", 1, rule)], LENGTH, **options)
    other = leat.Plan([(folder / packed, 1)], LENGTH, **options)
    assert len(chosen) == len(other)
    equal(rows(chosen), rows(other))
    assert chosen.sources[0][1:4] == other.sources[0][1:4]
    if order in ("sequential", "shuffled"):
        equal(rows(chosen, ahead=4), rows(other, ahead=4))


def test_slices_and_blend(folder):
    """Slices of blocks, two sources, a change of length: the packed source beside another in place of the choice."""
    options = dict(seed=8, base_len=64, phases=[(512, [1, 2], 64)])
    rule = leat.choose(WHERE, repeat=REPEAT)
    chosen = leat.Plan([(folder / "data", 2, rule), (folder / "kept", 1)], 16, **options)
    other = leat.Plan([(folder / "again", 2), (folder / "kept", 1)], 16, **options)
    equal(rows(chosen), rows(other))


@pytest.mark.parametrize("order", ["shuffled", "sequential", "documents", "fit"])
def test_trace(folder, order):
    """Both ways: the samples that a document is traced to are those whose pieces show it, each once."""
    plan = leat.Plan([(folder / "data", 1, leat.choose(WHERE, repeat=REPEAT))], LENGTH, seed=4, epochs=2, order=order)
    starts, every, shown = np.array(plan.sources[0].dataset.starts()), records(), {}
    for n in range(len(plan)):
        pieces, length = plan.pieces(n), plan.order(n).length
        for piece, after in zip(pieces, [*pieces[1:], None]):
            inputs = piece.count - 1 if order == "fit" else (after.at if after else length) - piece.at
            first, end = np.searchsorted(starts, [piece.token, piece.token + inputs - 1], "right")
            for document in range(first - 1, end if inputs > 0 else first - 1):
                shown.setdefault(document, set()).add(n)
    for document in range(0, 2500, 31):
        found = [sample.n for sample in plan.trace(document=(0, document))]
        assert sorted(found) == sorted(shown.get(document, ())), document
        assert not found or copies(every[document])


def test_decimals_and_missing_values(tmp_path):
    """Floats count as their shortest decimals, also 16-bit ones; comparing NaN holds never, infinity is above all."""
    write(tmp_path / "in.jsonl", [{"text": "abc"} for _ in range(8)])
    command("leat", "pack", "-t", "bytes", "-o", tmp_path / "data", tmp_path / "in.jsonl")
    values = np.array([0.7, 0.3, np.nan, np.inf, -np.inf, -0.0, 1e-40, 3e38])
    name = str(tmp_path / "data")
    for kind in ("f32", "bf16"):
        leat.attach(name, kind, kind, values.astype(np.float32), at="document")
    leat.attach(name, "f16", "f16", np.array([0.7, 0.3, np.nan, np.inf, -np.inf, -0.0, 6e-8, 65504], np.float16),
                at="document")
    leat.attach(name, "i64", "i64", np.array([2**63 - 1, -2**63, 0, 1, -1, 2, 3, 4]), at="document")
    leat.attach(name, "u8", "u8", np.array([255, 0, 1, 2, 3, 4, 5, 6], np.uint8), at="document")

    def chosen(where, **rule):
        try:
            plan = leat.Plan([(name, 1, leat.choose(where, **rule))], 8, order="documents-sequential", epochs=1)
        except leat.Error as error:
            assert "has no document" in str(error)
            return []
        return [plan.order(n).block for n in range(len(plan))]

    for kind in ("f32", "bf16", "f16"):
        assert chosen(f"{kind} = 0.7") == [0] and chosen(f"{kind} >= 0.7") == [0, 3, 7]
        assert chosen(f"{kind} < 0.3") == [4, 5, 6] and chosen(f"{kind} != 0.3") == [0, 3, 4, 5, 6, 7]
        assert chosen(f"not {kind} exists") == [2] and chosen(f"{kind} = 0") == [5]
        assert chosen(f"{kind} * 2 = 1.4") == [0] and chosen(f"{kind} + 0 <= 0.7") == [0, 1, 5, 6]
    assert chosen("i64 < 9223372036854775807") == [1, 2, 3, 4, 5, 6, 7]
    assert chosen("i64 >= 9223372036854775807") == [0] and chosen("i64 < 9223372036854775808") == list(range(8))
    assert chosen("i64 = -9223372036854775808") == [1] and chosen("i64 > 1e30") == [] == chosen("i64 = 1.5")
    assert chosen("u8 < 300") == list(range(8)) and chosen("u8 > 254") == [0] and chosen("u8 = 'a'") == []
    assert chosen(None, repeat="u8 * (u8 < 3)") == [2, 3, 3]
    assert chosen("u8 < 2", repeat="2") == [1, 1, 2, 2]


def test_state_text_and_change(folder):
    def plan(*rules, **options):
        return leat.Plan([(folder / "data", 1, *rules)], LENGTH, seed=1, **options)

    one, other = plan(leat.choose("score > 0.5")), plan(leat.choose("score > 0.6"))
    with leat.Loader(one, 4) as loader:
        next(iter(loader))
        state = loader.state_dict()
    with leat.Loader(plan(leat.choose("score > 0.50")), 4) as loader:
        loader.load_state_dict(state)
    for wrong in (other, plan(), plan(leat.choose("score > 0.5", repeat="2"))):
        with leat.Loader(wrong, 4) as loader, pytest.raises(leat.Error, match="another choice of documents"):
            loader.load_state_dict(state)
    line = next(line for line in one.text.splitlines() if line.startswith("chosen"))
    assert "\nwhere 0:score > 0.5\n" in one.text
    again = leat.Plan.parse(one.text)
    assert again.text == one.text and again.pieces(3) == one.pieces(3)
    with pytest.raises(leat.Error, match="its columns have changed"):
        leat.Plan.parse(one.text.replace(line, "chosen 0:0123456789abcdef"))
    changed = one.change(at=8, weights=[0], add=[(folder / "data", 1, leat.choose("score > 0.6"))])
    assert [changed.pieces(n) for n in range(8)] == [one.pieces(n) for n in range(8)]
    assert leat.Plan.parse(changed.text).pieces(9) == changed.pieces(9)
    assert {piece.source for n in range(8, 16) for piece in changed.pieces(n)} == {1}
    with leat.Loader(changed, 4) as loader:
        loader.load_state_dict(state)


def test_bans_and_fit_report(folder):
    rule = leat.choose(WHERE, repeat=REPEAT)
    every = records()
    document = next(i for i, record in enumerate(every) if copies(record) > 1)
    plan = leat.Plan([(folder / "data", 1, rule)], LENGTH, order="documents", epochs=1)
    banned = plan.ban([(0, document)], start=0)
    shown = banned.trace(document=(0, document))
    assert len(shown) == copies(every[document])
    assert all(banned.trace(samples=(x.n, x.n + 1))[0].banned for x in shown)
    reports = [leat.Plan([source], LENGTH, order="fit").fit_report(64)
               for source in ((folder / "data", 1, rule), (folder / "again", 1))]
    assert reports[0] == reports[1]


def test_refused(folder):
    def refused(message, *args, error=leat.Error, order="shuffled", **options):
        with pytest.raises(error, match=message):
            leat.Plan([(folder / "data", 1, leat.choose(*args, **options))], LENGTH, order=order)

    refused("no column scor; did you mean score", "scor > 1")
    refused("no document that score > 2 chooses", "score > 2")
    refused("repeat is below 0 for document", repeat="0 - 1")
    refused("repeat is no whole number for document", repeat="score")
    refused("too large for document [0-9]+ of .*from 0 to 255", repeat="16 * 16")
    refused("wrong at character", "score >")
    refused("wrong at character", repeat="1 + lang = 'en'")
    refused("every order but megatron", "score > 0.5", order="megatron")
    with pytest.raises(ValueError, match="needs where or repeat"):
        leat.choose()
    with pytest.raises(TypeError, match="a source must be"):
        leat.Plan([(folder / "data", leat.choose("score > 1"), leat.choose("score > 1"))], LENGTH)
    tokens = leat.open(folder / "data").info.tokens
    leat.attach(str(folder / "data"), "each", "u8", np.zeros(tokens, np.uint8))
    refused("a value per token: documents are chosen", "each = 0")
