"""leat.PreTrainedTokenizer for sentencepiece models of classes that add special tokens themselves: all_special_ids and
what follows from it lacked them. tests/conformance/check_folders.py compares the lists with AutoTokenizer's."""
import json
import struct

import pytest

import leat

CONTROL, USERS = 3, 4


def piece(text, type, score):
    text = text.encode()
    return b"\x0a" + bytes([len(text)]) + text + b"\x15" + struct.pack("<f", score) + b"\x18" + bytes([type])


def model(*special):
    """A Unigram model whose first pieces have these names and types, one of them 2: the unknown token."""
    letters = ["\u2581", "a", "b", "\u2581a"]
    pieces = [piece(text, type, 0.0) for text, type in special] + [piece(c, 1, -1.0) for c in letters]
    trainer = b"\x18\x01\xc0\x02" + bytes([[type for _, type in special].index(2)])  # Unigram, and where it is
    return b"".join(b"\x0a" + bytes([len(p)]) + p for p in pieces) + b"\x12" + bytes([len(trainer)]) + trainer


T5 = ("<pad>", CONTROL), ("</s>", CONTROL), ("<unk>", 2), ("<u>", USERS)
BART = ("<unk>", 2), ("<s>", CONTROL), ("</s>", CONTROL)


def opened(folder, file, pieces, name, **options):
    (folder / file).write_bytes(model(*pieces))
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": name, **options}))
    return leat.PreTrainedTokenizer(folder)


def test_special_tokens_of_a_class(tmp_path):
    """Those of the model, also of users, and of T5Tokenizer."""
    t = opened(tmp_path, "spiece.model", T5, "T5Tokenizer", extra_ids=2)
    extra = ["<pad>", "</s>", "<u>", "<extra_id_0>", "<extra_id_1>"]
    assert t.extra_special_tokens == extra
    assert t.all_special_tokens == ["</s>", "<unk>", "<pad>", *extra[2:]]
    assert t.all_special_ids == t.convert_tokens_to_ids(t.all_special_tokens)
    ids = t("a<extra_id_1> b <u>").input_ids
    names = t.convert_ids_to_tokens(ids)
    assert "<extra_id_1>" in names and "<u>" in names
    assert t.get_special_tokens_mask(ids, already_has_special_tokens=True) == [
        int(name in t.all_special_tokens) for name in names]
    assert t.convert_ids_to_tokens(ids, skip_special_tokens=True) == [
        name for name in names if name not in t.all_special_tokens]


@pytest.mark.parametrize("name, file, pieces, some, count", [
    ("PegasusTokenizer", "spiece.model", T5, ["<mask_1>", "<unk_2>", "<unk_102>"], 102),
    ("MBartTokenizer", "sentencepiece.bpe.model", BART, ["ar_AR", "zh_CN", "<s>", "</s>"], 27),
    ("MBart50Tokenizer", "sentencepiece.bpe.model", BART, ["<s>", "</s>", "ar_AR", "sl_SI"], 54),
    ("NllbTokenizer", "sentencepiece.bpe.model", BART, ["<s>", "</s>"], 2)])
def test_classes(tmp_path, name, file, pieces, some, count):
    t = opened(tmp_path, file, pieces, name)
    assert [token for token in t.extra_special_tokens if token in some] == some
    assert len(t.extra_special_tokens) == count and not set(some) - set(t.all_special_tokens)


def test_files_list_others(tmp_path):
    """Then they are all, but MBart50Tokenizer's languages, which are in its vocabulary."""
    t = opened(tmp_path, "spiece.model", T5, "T5Tokenizer", extra_special_tokens=["<x>"])
    assert t.extra_special_tokens == ["<x>"]
    (tmp_path / "spiece.model").unlink()
    t = opened(tmp_path, "sentencepiece.bpe.model", BART, "MBart50Tokenizer", extra_special_tokens=["<x>", "fr_XX"])
    assert t.extra_special_tokens[:3] == ["<x>", "fr_XX", "ar_AR"] and len(t.extra_special_tokens) == 53


def test_saved(tmp_path):
    """A copy has a tokenizer.json, beside which tokenizer_config.json lists them."""
    (tmp_path / "from").mkdir()
    t = opened(tmp_path / "from", "spiece.model", T5, "T5Tokenizer", extra_ids=2)
    for extra in t.extra_special_tokens, ["<u>"]:
        t.extra_special_tokens = extra
        t.save_pretrained(tmp_path / "to")
        saved = leat.PreTrainedTokenizer(tmp_path / "to")
        assert saved.all_special_tokens == t.all_special_tokens and saved.extra_special_tokens == extra
