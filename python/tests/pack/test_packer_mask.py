"""leat.Packer's masks: of ids as 0 and 1, of texts as stretches of characters, of dicts and tables; and mistakes."""
import json
import random

import numpy as np
import pyarrow
import pytest

import leat
from made_texts import SEED


def masks(name):
    d = leat.open(name)
    assert d.info.stores_mask
    all_of_it, found = d.mask().tolist(), []
    for document in d.documents:
        found.append(all_of_it[:len(document)])
        del all_of_it[:len(document)]
    return found


def wanted(gpt2, text, spans):
    """A token counts if a character of which it has a byte is in a span."""
    owner = [n for n, c in enumerate(text) for _ in c.encode()]
    at, mask = 0, []
    for part in gpt2.decode_tokens_bytes(gpt2.encode_ordinary(text)):
        characters = owner[at:at + len(part)]
        at += len(part)
        mask.append(255 if any(a <= c < b for c in characters for a, b in spans) else 0)
    return mask + mask[-1:]


def test_ids(gpt2, name):
    with leat.Packer(name, gpt2, store_mask=True) as packer:
        packer.add([1, 2, 3], mask=[0, 1, True])
        packer.add(np.array([1, 2, 3], np.uint16), mask=np.array([True, False, False]))
        packer.add([5, 6], mask=np.array([0, 0]))
        packer.add([], mask=[])
        packer.add([7, 8])
        packer.add([7, 8, 9], mask=np.array([0, 0.001, 0.7], np.float32))
    assert masks(name) == [[0, 255, 255, 255], [255, 0, 0, 0], [0, 0, 0], [255], [255, 255, 255], [0, 1, 178, 178]]


def test_texts(gpt2, name):
    rng = random.Random(SEED)
    given = []
    for _ in range(60):
        words = ["water ", "été", "水車", "\n", " mill", "🌊", "12"]
        text = "".join(rng.choices(words, k=rng.randrange(1, 20)))
        cuts = sorted(rng.sample(range(len(text) + 1), 2 * rng.randrange(1 + len(text) // 2)))
        given.append((text, list(zip(cuts[::2], cuts[1::2]))))
    with leat.Packer(name, gpt2, store_mask=True) as packer:
        for text, spans in given:
            packer.add(text, mask=spans)
        assert packer.extend([{"text": t, "loss": [list(s) for s in spans]} for t, spans in given], mask="loss") == 60
        packer.add("été".encode(), mask=[(0, 1)])
        packer.add("water mill", mask=[(0, 0), (2, 2), (6, 8), (8, 8), (10, 10)])  # empty ones mean nothing
    want = [wanted(gpt2, *g) for g in given]
    assert masks(name) == want + want + [wanted(gpt2, "été", [(0, 1)]), wanted(gpt2, "water mill", [(6, 8)])]


def test_tables(gpt2, name):
    table = pyarrow.table({"input_ids": pyarrow.array([[1, 2], [], [3]], pyarrow.list_(pyarrow.int32())),
                           "loss": pyarrow.array([[0, 1], [], [0]], pyarrow.list_(pyarrow.int8()))})
    with leat.Packer(name, gpt2, store_mask=True) as packer:
        packer.extend(table, text="input_ids", mask="loss")
        packer.extend(table.to_pylist(), text="input_ids", mask="loss")
    assert masks(name) == 2 * [[0, 255, 255], [255], [0, 0]]


def test_table_weights(gpt2, name):
    """Columns of bool and of floats give the bytes that add() gives, in any slice of a table."""
    rng = np.random.default_rng(25)
    lengths = rng.integers(0, 40, 50)
    ids = pyarrow.array([rng.integers(0, 999, n).tolist() for n in lengths], pyarrow.large_list(pyarrow.int64()))
    loss = [rng.choice([0.0, 1e-9, 0.1, 0.3, 0.5, 0.7, 1.0], n).tolist() for n in lengths]
    for kind in pyarrow.bool_(), pyarrow.float32(), pyarrow.float64():
        given = [[w > 0.5 for w in part] for part in loss] if kind == pyarrow.bool_() else loss
        table = pyarrow.table({"ids": ids, "loss": pyarrow.array(given, pyarrow.list_(kind))}).slice(3, 44)
        with leat.Packer(name, gpt2, store_mask=True, force=True) as packer:
            packer.extend(table, text="ids", mask="loss")
            packer.extend(table.to_pylist(), text="ids", mask="loss")
        found = masks(name)
        assert len(found) == 88 and found[:44] == found[44:]
        assert len({mark for mask in found for mark in mask}) == (2 if kind == pyarrow.bool_() else 7)


@pytest.mark.parametrize("document, mask, message", [
    ([1, 2], [1], "the mask has 1 numbers, for 2 ids"), ([1], [2], "has 0 or 1 for each id"),
    ([1], [1.5], "has 0 or 1 for each id"), ([1], [float("nan")], "or a weight between them"),
    ("text", [(2, 1)], "in order and apart"), ("text", [(5, 5)], "in a text of 4"),
    ("text", [(0, 2), (1, 3)], "in order and apart"),
    ("text", [(0, 5)], "in a text of 4"), ("text", [0, 1], "list of pairs"), ("text", 5, "list of pairs"),
    ("text", [[0]], "list of pairs"), ("text", [(0.0, 1.0)], "list of pairs"),
    ("\ud83d\ude00b c", [(2, 3)], "pairs of surrogates")])
def test_mistakes(gpt2, name, document, mask, message):
    packer = leat.Packer(name, gpt2, store_mask=True)
    with pytest.raises(ValueError, match=message):
        packer.add(document, mask=mask)
    packer.abandon()


def test_numbers(gpt2, name):
    """Numbers of numpy, each by itself; places in a text with a single surrogate; rows without a text."""
    with leat.Packer(name, gpt2, store_mask=True, end="none") as packer:
        packer.add([1, 2], mask=[np.int64(0), np.int64(1)])
        packer.add([1, 2, 3], mask=[np.float32(0.5), np.bool_(1), np.bool_(0)])
        packer.add("ab", mask=[[np.int64(0), np.int64(2)]])
        packer.add("ab", mask=np.array([[0, 2]]))
        packer.add("a\ud800b", mask=[[2, 3]])
        rows = [{"text": [1], "m": [0]}, {"text": None, "m": None}, None, {"text": [2], "m": [1]}]
        assert packer.extend(rows, mask="m", nulls="skip") == 2 and packer.skipped == 2
    assert masks(name) == [[0, 255], [128, 255, 0], [255], [255], [0, 0, 255], [0], [255]]


def test_table_mistakes(gpt2, name):
    ids = pyarrow.array([[1, 2]], pyarrow.list_(pyarrow.int32()))
    packer = leat.Packer(name, gpt2, store_mask=True)
    for loss, message in (([[1]], "another length"), ([[1, 2]], "must be 0, 1"), ([None], "missing")):
        table = pyarrow.table({"input_ids": ids, "loss": pyarrow.array(loss, pyarrow.list_(pyarrow.int32()))})
        with pytest.raises(leat.Error, match=message):
            packer.extend(table, text="input_ids", mask="loss")
    for loss in [1, 1.01], [1, -0.1], [1, float("nan")]:
        table = pyarrow.table({"input_ids": ids, "loss": [[float(w) for w in loss]]})
        with pytest.raises(leat.Error, match="number 1 of a mask must be 0, 1"):
            packer.extend(table, text="input_ids", mask="loss")
    with pytest.raises(leat.Error, match="number 1 of a mask is missing"):
        packer.extend(pyarrow.table({"input_ids": ids, "loss": [[0.5, None]]}), text="input_ids", mask="loss")
    with pytest.raises(leat.Error, match="not lists of integers|texts"):
        packer.extend(pyarrow.table({"input_ids": [[0.5, 1.0]], "loss": [[1, 1]]}), text="input_ids", mask="loss")
    with pytest.raises(leat.Error, match="give texts with masks as dicts"):
        packer.extend(pyarrow.table({"text": ["a"], "loss": [[1]]}), mask="loss")
    with pytest.raises(TypeError, match="names a key of dicts"):
        packer.extend(["a"], mask="loss")
    with pytest.raises(ValueError, match="document 0 has no loss"):
        packer.extend([{"text": "a"}], mask="loss")
    packer.abandon()


def test_without_store_mask(gpt2, name):
    packer = leat.Packer(name, gpt2)
    with pytest.raises(leat.Error, match="stores none"):
        packer.add([1], mask=[1])
    packer.abandon()


def test_pack(gpt2, name, tmp_path):
    lines, chats, template = tmp_path / "lines.jsonl", tmp_path / "chats.jsonl", tmp_path / "t.jinja"
    lines.write_text(json.dumps({"text": "été water", "loss": [[0, 3]]}) + "\n")
    chats.write_text(json.dumps({"talk": [{"role": "user", "content": "water"},
                                          {"role": "assistant", "content": " mill"}]}) + "\n")
    template.write_text("{% for m in messages %}{{ m.role }}:{{ m.content }}<|endoftext|>\n{% endfor %}")
    leat.pack(lines, name, gpt2, mask_field="loss")
    assert masks(name) == [wanted(gpt2, "été water", [(0, 3)])]
    # no end token: the template has one
    leat.pack(chats, name, gpt2, chat=leat.Chat(template, messages="talk"), force=True)
    d = leat.open(name)
    assert d.text(0) == "user:water<|endoftext|>\nassistant: mill<|endoftext|>\n"
    learned = [int(i) for i, m in zip(d.documents[0], d.mask()) if m]
    assert learned == gpt2.encode(" mill<|endoftext|>", allowed_special="all")
    with pytest.raises(leat.Error, match="name the file of one"):
        leat.pack(chats, name, gpt2, chat=leat.Chat("tokenizer", messages="talk"), force=True)
